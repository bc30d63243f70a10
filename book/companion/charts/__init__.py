"""Charts of one chapter or two: the replay of a run, the stepper, the explorer of expected counts."""
