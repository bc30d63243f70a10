"""Planning a run on your own records: the number of questions, their cost, and which questions to ask first."""
