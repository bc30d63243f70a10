"""crowder: crowdsourced entity resolution, in the vocabulary of Mazumdar and Saha (AAAI 2017).

n records fall into k unknown clusters. A crowd answers "do these two refer to the same entity?"; similarities w, drawn
from a density f_g inside clusters and f_r across them, say which pair to ask about next. How many questions will it be?

>>> import crowder as cr
>>> model = cr.dist2(0.2)                                    # the pair (f_g, f_r)
>>> round(cr.L(model, 10), 6)                                # chance that a cross pair beats ten inner ones
0.00384
>>> data = cr.datasets.synthetic([20, 10, 5], model, rng=7)  # similarities and the clusters they hide
>>> edge = cr.edge_ordering(data.similarity, cr.Truth(data.labels), rng=7)
>>> node = cr.node_ordering(data.similarity, cr.Truth(data.labels), rng=7)
>>> cr.ideal_queries([20, 10, 5]) <= min(edge.n_queries, node.n_queries)
True
>>> float(edge.recall(data.labels)[-1])
1.0

Where things live. The model: `densities`, `models` (f_g and f_r), `theory` (L_{g,r}). The heuristics: `orderings`
(`pairs`, `sorting` and `engine` do the work), `resolution` (what a run leaves behind), `oracles`, `journal` (answers
kept on disk). The theorems: `counts` and `rationals` (exact expected counts; `connectivity`, `arrivals` and `limits`
beside them), `bounds`, `lower`, `games`, `certain`, `enumeration` (all orders of a few pairs), `votes`. Beyond the
paper: `weighing`, evidence summed and learned (`loglik` and `learned` do the work). Data: `recordfile` (your own
records), `similarity`, `datasets`, `experiments`. The book: `claims` (verdicts from `evidence`), `published` (the
paper's numbers), `figures`, `interactive` (pictures with controls), `watching` and `stepper` (a run, step by step).
"""

from crowder import (
    claims,
    datasets,
    densities,
    enumeration,
    experiments,
    figures,
    interactive,
    models,
    published,
    similarity,
    stepper,
    theory,
    watching,
)
from crowder.bounds import edge_bound, node_bound
from crowder.counts import expected_queries
from crowder.journal import Journal
from crowder.models import SimilarityModel, dist1, dist2, uniform
from crowder.oracles import Faulty, MajorityVote, Truth
from crowder.orderings import EdgeOrdering, NodeOrdering, edge_ordering, node_ordering
from crowder.rationals import expected_queries_exact, expected_queries_symbolic
from crowder.recordfile import read_records
from crowder.resolution import Resolution, ideal_queries, ideal_recall
from crowder.theory import L, L_symbolic
from crowder.weighing import EvidenceOrdering, evidence_ordering

__version__ = "0.1.0"

__all__ = [
    "EdgeOrdering",
    "EvidenceOrdering",
    "Faulty",
    "Journal",
    "L",
    "L_symbolic",
    "MajorityVote",
    "NodeOrdering",
    "Resolution",
    "SimilarityModel",
    "Truth",
    "claims",
    "datasets",
    "densities",
    "dist1",
    "dist2",
    "edge_bound",
    "edge_ordering",
    "enumeration",
    "evidence_ordering",
    "expected_queries",
    "expected_queries_exact",
    "expected_queries_symbolic",
    "experiments",
    "figures",
    "ideal_queries",
    "ideal_recall",
    "interactive",
    "models",
    "node_bound",
    "node_ordering",
    "published",
    "read_records",
    "similarity",
    "stepper",
    "theory",
    "uniform",
    "watching",
]
