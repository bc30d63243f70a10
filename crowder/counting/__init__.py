"""How many questions: exact expected counts, bounds above and below, small instances in full."""
