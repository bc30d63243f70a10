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

To read the modules in order: `models` defines f_g, f_r and L. `pairs` puts the candidate pairs in order; `engine` keeps
what answers imply and chooses the next question; `orderings` has the two heuristics built from these. `oracles` has
crowds that answer, and `resolution` the result of a run. `counting` has exact expected counts and bounds. `similarity`,
`datasets` and `cora` provide data, `crowds` the answers of people, and `experiments` repeats runs. `beyond` extends the
paper; none of the others imports it. `checks` has what all of them need.
"""

import importlib
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from crowder import crowds, datasets, models, similarity
from crowder.counting.bounds import edge_bound, evidence_bound, node_bound
from crowder.counting.expected import expected_queries
from crowder.models import L, SimilarityModel, dist1, dist2, uniform
from crowder.oracles import Faulty, MajorityVote, Truth
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering, edge_ordering, node_ordering
from crowder.resolution import Resolution, ideal_queries, ideal_recall

if TYPE_CHECKING:
    from crowder import beyond, experiments
    from crowder.counting.exact import expected_queries_exact

__version__ = "2.0.0.dev0"

__all__ = [
    "EdgeOrdering", "Faulty", "L", "MajorityVote", "NodeOrdering", "Ordering", "Resolution", "SimilarityModel", "Truth",
    "beyond", "crowds", "datasets", "dist1", "dist2", "edge_bound", "edge_ordering", "evidence_bound",
    "expected_queries", "expected_queries_exact", "experiments", "ideal_queries", "ideal_recall", "models",
    "node_bound", "node_ordering", "similarity", "uniform",
]  # fmt: skip


#: Names that are slow to load and rarely needed, and the module that is imported on first use.
_LAZY = {
    "beyond": "crowder.beyond",
    "experiments": "crowder.experiments",
    "expected_queries_exact": "crowder.counting.exact",
}

for _name, _package in (("experiments", "joblib"), ("expected_queries_exact", "sympy")):
    if find_spec(_package) is None:  # `from crowder import *` takes every name in the list
        __all__.remove(_name)

if not TYPE_CHECKING:  # otherwise every name would pass for an attribute

    def __getattr__(name):
        if name not in _LAZY:
            raise AttributeError(f"module 'crowder' has no attribute {name!r}")
        try:
            module = importlib.import_module(_LAZY[name])
        except ImportError as error:
            if sys._getframe(1).f_globals["__name__"] == "importlib._bootstrap":
                raise  # `from crowder import name` would replace what an AttributeError says
            raise AttributeError(f"crowder.{name} cannot be loaded: {error}") from error
        return getattr(module, name, module)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
