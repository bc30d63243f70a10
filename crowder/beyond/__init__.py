"""Beyond the paper: evidence ordering, stopping early, crowds that err."""
