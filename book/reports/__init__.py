"""What the build found, as data and as text for pages: ledger, printed numbers, versions, licences, planted faults."""
