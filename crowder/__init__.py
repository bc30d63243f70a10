"""crowder: crowdsourced entity resolution, in the terms of Mazumdar and Saha (AAAI 2017).

n records fall into k unknown clusters. A crowd answers questions of the form "do these two records refer to the same
entity?". Similarities w, drawn from a density f_g within clusters and f_r between them, suggest which pair to ask about
next. How many questions are needed?

>>> import crowder as cr
>>> model = cr.dist2(0.2)                                    # the pair (f_g, f_r)
>>> round(cr.L(model, 10), 6)                                # probability that a non-match exceeds ten matches
0.00384
>>> data = cr.datasets.synthetic([20, 10, 5], model, rng=7)  # similarities and true clusters
>>> edge = cr.edge_ordering(data.similarity, cr.Truth(data.labels), rng=7)
>>> node = cr.node_ordering(data.similarity, cr.Truth(data.labels), rng=7)
>>> cr.ideal_queries([20, 10, 5]) <= min(edge.n_queries, node.n_queries)
True
>>> float(edge.recall(data.labels)[-1])
1.0

The modules: `models` and `theory` define f_g, f_r and L_{g,r}; `orderings` chooses the questions,
`oracles` answer them, and `resolution` holds the result of a run; `counting` has exact expected counts and bounds;
`datasets`, `similarity` and `cora` provide data; `experiments` repeats runs. `beyond` extends the paper, `scale` reads
candidate pairs from files larger than memory, and `practice` is for your own records; no other module imports these.
"""

import importlib
from typing import TYPE_CHECKING

from crowder import datasets, models, similarity
from crowder.counting.bounds import edge_bound, evidence_bound, node_bound
from crowder.counting.expected import expected_queries
from crowder.models import SimilarityModel, dist1, dist2, uniform
from crowder.oracles import Faulty, MajorityVote, Truth
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering, edge_ordering, node_ordering
from crowder.resolution import Resolution, ideal_queries, ideal_recall
from crowder.theory import L

if TYPE_CHECKING:
    from crowder import experiments
    from crowder.beyond.answers import Answers
    from crowder.beyond.audit import Audit, Audited
    from crowder.beyond.error_rates import ErrorRates
    from crowder.beyond.evidence_ordering import EvidenceOrdering, evidence_ordering
    from crowder.beyond.noisy_ordering import NoisyOrdering, Resolved
    from crowder.beyond.resolve import resolve
    from crowder.beyond.stopping import Stopped, Stopping
    from crowder.counting.exact import expected_queries_exact
    from crowder.datasets import synthetic_candidates
    from crowder.practice import journal
    from crowder.practice.journal import Journal
    from crowder.practice.parquet import chunks_from_parquet, write_candidates
    from crowder.practice.plan import Plan
    from crowder.practice.record_file import read_records
    from crowder.practice.scored_pairs import from_pairs
    from crowder.practice.stream_ordering import StreamOrdering
    from crowder.synthetic_pairs import synthetic_candidates

__version__ = "2.0.0.dev0"

#: The modules of names that many users never need and that are slow to load; each is imported on first use.
_LATER = {
    "Answers": "crowder.beyond.answers",
    "ErrorRates": "crowder.beyond.error_rates",
    "Audit": "crowder.beyond.audit",
    "Audited": "crowder.beyond.audit",
    "EvidenceOrdering": "crowder.beyond.evidence_ordering",
    "Journal": "crowder.practice.journal",
    "NoisyOrdering": "crowder.beyond.noisy_ordering",
    "Plan": "crowder.practice.plan",
    "Resolved": "crowder.beyond.noisy_ordering",
    "Stopped": "crowder.beyond.stopping",
    "Stopping": "crowder.beyond.stopping",
    "StreamOrdering": "crowder.practice.stream_ordering",
    "chunks_from_parquet": "crowder.practice.parquet",
    "evidence_ordering": "crowder.beyond.evidence_ordering",
    "expected_queries_exact": "crowder.counting.exact",
    "experiments": "crowder.experiments",
    "from_pairs": "crowder.practice.scored_pairs",
    "journal": "crowder.practice.journal",
    "read_records": "crowder.practice.record_file",
    "resolve": "crowder.beyond.resolve",
    "synthetic_candidates": "crowder.synthetic_pairs",
    "write_candidates": "crowder.practice.parquet",
}

__all__ = [
    "Answers",
    "Audit",
    "Audited",
    "EdgeOrdering",
    "ErrorRates",
    "EvidenceOrdering",
    "Faulty",
    "Journal",
    "L",
    "MajorityVote",
    "NodeOrdering",
    "NoisyOrdering",
    "Ordering",
    "Plan",
    "Resolution",
    "Resolved",
    "SimilarityModel",
    "Stopped",
    "Stopping",
    "StreamOrdering",
    "Truth",
    "chunks_from_parquet",
    "datasets",
    "dist1",
    "dist2",
    "edge_bound",
    "edge_ordering",
    "evidence_bound",
    "evidence_ordering",
    "expected_queries",
    "expected_queries_exact",
    "experiments",
    "from_pairs",
    "ideal_queries",
    "ideal_recall",
    "journal",
    "models",
    "node_bound",
    "node_ordering",
    "read_records",
    "resolve",
    "similarity",
    "synthetic_candidates",
    "uniform",
    "write_candidates",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'crowder' has no attribute {name!r}")
    module = importlib.import_module(_LATER[name])
    value = module if name in ("experiments", "journal") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
