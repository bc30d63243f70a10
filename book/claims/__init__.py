"""What is left of the old modules of claims, until every chapter has its own evidence."""
