"""The number of questions: exact expected counts, upper and lower bounds, enumeration of small instances."""
