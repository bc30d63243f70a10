"""Results of a build, as data and as text for pages: ledger, printed numbers, versions, licences."""
