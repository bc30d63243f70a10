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

To read the modules in order: `models` and `theory` define f_g, f_r and L. `pairs` has the candidate pairs, which
`sorting` puts in order; `engine` keeps what answers imply and chooses the next question; `orderings` are the two
heuristics made of these (`constraints`: with answers or tables known beforehand). `oracles` answer, and `resolution` is
the result of a run. `counting` has exact expected counts and bounds. `similarity`, `datasets` and `cora` provide data,
and `experiments` repeats runs. `beyond` extends the paper; `practice` is for records of your own. None of the others
imports these two.
"""

import importlib
from typing import Any

from crowder import datasets, models, similarity
from crowder.counting.bounds import edge_bound, evidence_bound, node_bound
from crowder.counting.expected import expected_queries
from crowder.models import SimilarityModel, dist1, dist2, uniform
from crowder.oracles import Faulty, MajorityVote, Truth
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering, edge_ordering, node_ordering
from crowder.resolution import Resolution, ideal_queries, ideal_recall
from crowder.theory import L

__version__ = "2.0.0.dev0"

__all__ = [
    "EdgeOrdering", "Faulty", "L", "MajorityVote", "NodeOrdering", "Ordering", "Resolution", "SimilarityModel", "Truth",
    "beyond", "datasets", "dist1", "dist2", "edge_bound", "edge_ordering", "evidence_bound",
    "expected_queries", "expected_queries_exact", "experiments", "ideal_queries", "ideal_recall", "models",
    "node_bound", "node_ordering", "practice", "similarity", "uniform",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What is slow to load, and needed by few, is imported on first use."""
    if name in ("beyond", "experiments", "practice"):
        return importlib.import_module(f"crowder.{name}")
    if name == "expected_queries_exact":
        return importlib.import_module("crowder.counting.exact").expected_queries_exact
    raise AttributeError(f"module 'crowder' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
