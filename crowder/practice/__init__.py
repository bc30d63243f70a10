"""What a team with records and a crowd needs: journals, streams of pairs, record files, many settings, plans."""
