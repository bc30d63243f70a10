"""What is claimed and whether it holds: evidence, verdicts, the paper's printed numbers."""
