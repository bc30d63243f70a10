"""Beyond the paper: evidence ordering, stopping and auditing a run, and crowds that err.

`EvidenceOrdering` uses all similarities between two groups, and `PlacingOrdering` places records by them, some without
a question; `simulate_placing` counts its questions for more records than fit in a matrix. `Stopping` ends a run when
the pairs left are unlikely to match, `Audit` when a sample shows that few matches are left. For crowds that err,
`Answers` keeps all answers, `ErrorRates` says how reliable they are, `NoisyOrdering` chooses its questions by them, and
`resolve` turns them into clusters. `hybrid_ordering`, `member_votes`, `most_similar_once` and `edge_then_noisy` are
other strategies, to compare with.
"""

from crowder.beyond.answers import Answers
from crowder.beyond.audit import Audit, Audited
from crowder.beyond.errors import ErrorRates
from crowder.beyond.evidence import EvidenceOrdering
from crowder.beyond.noisy import NoisyOrdering, Resolved, resolve
from crowder.beyond.others import edge_then_noisy, hybrid_ordering, member_votes, most_similar_once
from crowder.beyond.placing import Placed, PlacingOrdering, simulate_placing
from crowder.beyond.stopping import Stopped, Stopping

__all__ = [
    "Answers", "Audit", "Audited", "ErrorRates", "EvidenceOrdering", "NoisyOrdering", "Placed", "PlacingOrdering",
    "Resolved", "Stopped", "Stopping", "edge_then_noisy", "hybrid_ordering", "member_votes", "most_similar_once",
    "resolve", "simulate_placing",
]  # fmt: skip
