"""For your own records and crowd: journals, record files, question sheets, and plans."""
