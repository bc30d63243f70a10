"""Many runs: repeat, sweep, summarise."""
