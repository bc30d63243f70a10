"""The cora bibliography: reading and checking its records, and the similarities shipped with crowder."""
