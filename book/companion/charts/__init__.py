"""Interactive charts: the replay of a run, the stepper, the explorer of expected counts, sliders, drawn races."""
