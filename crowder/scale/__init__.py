"""Edge and node ordering over candidate pairs in files that may be larger than memory."""
