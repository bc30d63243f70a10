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

Where things live, each folder importing only from those before it: `model` (f_g and f_r, L_{g,r}), `asking` (the
orderings, who answers, the journal that keeps answers, what a run leaves behind), `counting` (exact expected counts,
bounds), `data` (your own records, similarities, cora, synthetic), `trials` (many runs), `plan` (a run foreseen),
`page` (tables, figures and charts of a chapter), `ledger` (verdicts from evidence, the paper's printed numbers).
"""

from crowder.asking import journal
from crowder.asking.journal import Journal
from crowder.asking.oracles import Faulty, MajorityVote, Truth
from crowder.asking.orderings import EdgeOrdering, NodeOrdering, edge_ordering, node_ordering
from crowder.asking.resolution import Resolution, ideal_queries, ideal_recall
from crowder.asking.stopping import Stopped, Stopping
from crowder.asking.stream import StreamOrdering
from crowder.asking.weighing import EvidenceOrdering, evidence_ordering
from crowder.counting import enumeration
from crowder.counting.bounds import edge_bound, node_bound
from crowder.counting.counts import expected_queries
from crowder.counting.rationals import expected_queries_exact, expected_queries_symbolic
from crowder.data import datasets, similarity
from crowder.data.blocking import blocked
from crowder.data.parquet import chunks_from_parquet, number_records, write_candidates
from crowder.data.recordfile import read_records
from crowder.ledger import claims, published
from crowder.model import densities, models, theory
from crowder.model.models import SimilarityModel, dist1, dist2, uniform
from crowder.model.theory import L, L_symbolic
from crowder.page import figures, interactive, stepper, watching
from crowder.plan.planner import Plan
from crowder.trials import experiments

__version__ = "1.0.0"

__all__ = [
    "EdgeOrdering",
    "EvidenceOrdering",
    "Faulty",
    "Journal",
    "L",
    "L_symbolic",
    "MajorityVote",
    "NodeOrdering",
    "Plan",
    "Resolution",
    "SimilarityModel",
    "Stopped",
    "Stopping",
    "StreamOrdering",
    "Truth",
    "blocked",
    "chunks_from_parquet",
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
    "journal",
    "models",
    "node_bound",
    "node_ordering",
    "number_records",
    "published",
    "read_records",
    "similarity",
    "stepper",
    "theory",
    "uniform",
    "watching",
    "write_candidates",
]
