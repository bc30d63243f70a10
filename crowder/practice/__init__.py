"""For your own records and crowd: journals, streams of pairs, record files, sweeps of many settings, and plans."""
