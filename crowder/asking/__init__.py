"""Asking a crowd: the orderings, who answers, what is kept, and what a run leaves behind."""
