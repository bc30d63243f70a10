"""Records: a user's own, cora, synthetic ones; the similarities of their pairs."""
