"""The tests of the tool. They need `crowder` and nothing else of this repository."""
