"""Planning a run on records of one's own: how many questions, at what price, and which ones first."""
