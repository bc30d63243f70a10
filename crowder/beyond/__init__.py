"""Past the paper: an ordering by summed evidence, stopping early, crowds that err."""
