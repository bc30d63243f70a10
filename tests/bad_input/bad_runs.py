"""Bad input to audits, stopping, evidence ordering, streams and the journal."""

from math import nan

from bad_material import Row, V, asking, crowd, edge, new, pairs_of

import crowder as cr
import crowder_tool
from crowder.beyond import audit
from crowder.beyond.others import MemberVotes, control_queries

MODEL = cr.dist1(0.2)


def empty():
    return crowder_tool.Journal(None, new())


def placing(**changed):
    return cr.beyond.PlacingOrdering(**{"similarity": V, "delta": 0.1, "rng": 7} | changed)


def simulate(**changed):
    return cr.beyond.simulate_placing(
        **{"weights": [[1, 2], [2, 1]], "labels": [0, 1, 0], "delta": 0.1, "rng": 7} | changed
    )


def placed(**changed):
    return cr.beyond.Placed([[0, 1]], [True], [0, 0, 0], **{"accepted": [[2, 0]], "after": [1]} | changed)


def ask(**changed):
    return crowder_tool.ask_all(**{"crowd": crowd, "pairs": [(0, 1)], "journal": empty(), "pause": 0} | changed)


TABLE = {
    "An audit": [
        Row(lambda: cr.beyond.Audit(V, rng=7),
            TypeError, "ordering must be an edge, node, evidence or other ordering, not"),
        Row(lambda: cr.beyond.Audit(cr.beyond.Audit(edge(), rng=7), rng=7),
            ValueError, "ordering must not be an Audit itself"),
        Row(lambda: cr.beyond.Audit(asking(), rng=7), ValueError, "ordering must not have asked"),
        Row(lambda: cr.beyond.Audit(placing(), rng=7), ValueError, "ordering must join records by answers only, but"),
        Row(lambda: cr.beyond.Audit(edge(), recall=1, rng=7), ValueError, "recall must be between 0 and 1, not 1"),
        Row(lambda: cr.beyond.Audit(edge(), rng=None), ValueError, "pass rng="),
        Row(lambda: cr.beyond.Audited([], [], [0], found=-1), ValueError, "found must be at least 0, not -1"),
        Row(lambda: audit.audit_cost([3, 0]), ValueError, "cluster sizes must be positive integers, not [3, 0]"),
    ],
    "Stopping": [
        Row(lambda: cr.beyond.Stopping(edge(), MODEL, delta=1), ValueError, "delta must be in [0, 1), not 1"),
        Row(lambda: cr.beyond.Stopping(edge(), MODEL, delta=0.1, odds=0),
            ValueError, "odds must be a finite number, at least"),
        Row(lambda: cr.beyond.Stopping(edge(), MODEL, delta=0.1, odds=10**400), ValueError, "odds must be a finite"),
        Row(lambda: cr.beyond.Stopped([], [], [0, 1], declared=[[0, 2]], chance=[0.1]),
            ValueError, "declared: row 0, (0, 2), must be two different records out of 2, from 0"),
        Row(lambda: cr.beyond.Stopped([], [], [0, 1], declared=[[0, 1]], chance=[nan]), ValueError, "chance must be"),
        Row(lambda: cr.beyond.Stopping(edge(), "dist1", delta=0.1), TypeError, "model must be a SimilarityModel, such"),
        Row(lambda: cr.beyond.Stopping(cr.EdgeOrdering(pairs_of((0, 1, 0.5)), rng=7), MODEL, delta=0.1),
            ValueError, "ordering must have every pair"),
        Row(lambda: cr.beyond.Stopping(cr.beyond.Stopping(edge(), MODEL, delta=0.1), MODEL, delta=0.1),
            ValueError, "ordering must not be an audit or a stopping"),
        Row(lambda: cr.beyond.Stopping(cr.beyond.Audit(edge(), rng=7), MODEL, delta=0.1),
            ValueError, "ordering must not be an audit or a stopping"),
        Row(lambda: cr.beyond.Stopping(asking(), MODEL, delta=0.1), ValueError, "ordering must not have asked"),
        Row(lambda: cr.beyond.Stopping(placing(), MODEL, delta=0.1),
            ValueError, "ordering must join records by answers only, but PlacingOrdering joins some without a"),
    ],
    "Placing ordering": [
        Row(lambda: placing(delta=1.5), ValueError, "delta must be in [0, 1], not 1.5"),
        Row(lambda: placing(delta=nan), ValueError, "delta must be in [0, 1], not nan"),
        Row(lambda: placing(delta=True), ValueError, "delta must be in [0, 1], not True"),
        Row(lambda: placing(delta=0), ValueError, "delta must be greater than 0 without a model"),
        Row(lambda: placing(rng=None), ValueError, "pass rng=, a seed or a numpy.random.Generator: the order of"),
        Row(lambda: placing(model=0.2), TypeError, "model must be a SimilarityModel, such as"),
        Row(lambda: placing(similarity=pairs_of((0, 1, 0.5))), ValueError, "similarity must have every pair"),
        Row(lambda: placing(similarity=[0.9, nan, 0.1]), ValueError, "similarity of pair (0, 2) is nan, not in"),
        Row(lambda: placing(bins=0), ValueError, "bins must be at least 1, not 0"),
        Row(lambda: placing(bins=2.0), TypeError, "bins must be a whole number, not 2.0"),
        Row(lambda: placing(bins=10**9), ValueError, "bins must be at most 10,000, not 1000000000"),
        Row(lambda: placing(bins=[0.5, 0.5]), ValueError, "bins must be their number, or edges that rise inside"),
        Row(lambda: placing(bins=[0.5, 1]), ValueError, "bins must be their number, or edges that rise inside"),
        Row(lambda: placing(bins=[0.5, nan]), ValueError, "bins must be their number, or edges that rise inside"),
        Row(lambda: placing(bins=[[0.5]]), ValueError, "bins must be their number, or edges that rise inside"),
        Row(lambda: placing(bins=[[0.5], [0.5, 0.6]]), TypeError, "bins must be a whole number, not [[0.5],"),
        Row(lambda: placing(bins=["half"]), TypeError, "bins must be real numbers, not ['half']"),
        Row(lambda: simulate(delta=1.5), ValueError, "delta must be in [0, 1], not 1.5"),
        Row(lambda: simulate(delta=0), ValueError, "delta must be greater than 0 without a model"),
        Row(lambda: simulate(rng=None), ValueError, "pass rng=, a seed or a numpy.random.Generator: the counts"),
        Row(lambda: simulate(labels=[0, nan, 1]), ValueError, "label of record 1 is NaN"),
        Row(lambda: simulate(weights=[1, 2]), ValueError, "weights must be two lists of weights, at least 0"),
        Row(lambda: simulate(weights=[[1, 2], [1, -1]]), ValueError, "weights must be two lists of weights"),
        Row(lambda: simulate(weights=[[1, 2], [0, 0]]), ValueError, "weights must be two lists of weights"),
        Row(lambda: simulate(weights=[[1, nan], [1, 1]]), ValueError, "weights must be two lists of weights"),
        Row(lambda: simulate(weights=[[1, 2], [1]]), TypeError, "weights must be real numbers, not [[1, 2], [1]]"),
        Row(lambda: simulate(weights="dist1"), TypeError, "weights must be real numbers, not 'dist1'"),
        Row(lambda: simulate(believed=[[1, 2, 3], [1, 1, 1]]), ValueError, "believed must have as many values as"),
        Row(lambda: simulate(weights=MODEL), TypeError, "weights must be real numbers, not SimilarityModel"),
        Row(lambda: placed(accepted=[[0, 3]]), ValueError, "accepted: row 0, (0, 3), must be two different records"),
        Row(lambda: placed(after=[2]), ValueError, "after must be a number of questions, not falling, for each"),
        Row(lambda: placed(after=[0.5]), ValueError, "after must be a number of questions, not falling, for each"),
        Row(lambda: placed(after=[nan]), ValueError, "after must be a number of questions, not falling, for each"),
        Row(lambda: placed(after=[0, 1]), ValueError, "after must be a number of questions, not falling, for each"),
    ],
    "Evidence ordering": [
        Row(lambda: cr.beyond.EvidenceOrdering(V),
            ValueError, "pass rng=, a seed or a numpy.random.Generator: random ties"),
        Row(lambda: cr.beyond.EvidenceOrdering(V, form="sum", rng=7), ValueError, "form must be one of auto, pairs,"),
        Row(lambda: cr.beyond.EvidenceOrdering(pairs_of((0, 1, 0.5)), rng=7),
            ValueError, "similarity must have every pair"),
        Row(lambda: cr.beyond.EvidenceOrdering(V, 0.2, rng=7), TypeError, "model must be a SimilarityModel, such as"),
        Row(lambda: cr.beyond.EvidenceOrdering(V, rng=7).evidence(2), ValueError, "w must be"),
        Row(lambda: cr.beyond.EvidenceOrdering(V, rng=7).evidence([[0.1], [0.2, 0.3]]), TypeError, "w must be real"),
    ],
    "Strategies of other papers": [
        Row(lambda: MemberVotes(None, 3, edge()), TypeError, "oracle must be callable"),
        Row(lambda: MemberVotes(crowd, 3, V), TypeError, "ordering must be an ordering, such as NodeOrdering, not"),
        Row(lambda: MemberVotes(crowd, 3, edge(), early="no"), TypeError, "early must be True or False, not 'no'"),
        Row(lambda: MemberVotes(lambda i, j: "no", 3, edge())(0, 1), TypeError, "the answer to (0, 1) must be True or"),
        Row(lambda: MemberVotes(crowd, 3, edge()).second_look([0, 0], rng=7), ValueError, "labels must have an entry"),
        Row(lambda: next(control_queries([nan] * 3, crowd, rng=7)), ValueError, "similarity of pair (0, 1) is nan"),
        Row(lambda: next(control_queries(V, lambda i, j: "no", rng=7)), TypeError, "the answer to (0, 1) must be True"),
        Row(lambda: next(control_queries(V, crowd, errors=(0, 0.1), rng=7)),
            ValueError, "false_yes of errors must be a rate of errors in (0, 1/2), not 0"),
        Row(lambda: next(cr.beyond.hybrid_ordering(V, crowd, theta=2, rng=7)), ValueError, "theta must be in [0, 1]"),
        Row(lambda: next(cr.beyond.hybrid_ordering(pairs_of((0, 1, 0.5)), crowd, rng=7)),
            ValueError, "similarity must have every pair"),
        Row(lambda: next(cr.beyond.member_votes(V, crowd, votes=2, rng=7)), ValueError, "votes must be an odd number"),
        Row(lambda: next(cr.beyond.most_similar_once(V, crowd, unasked=0.1, rng=7)),
            ValueError, "unasked must be a finite number, from -inf to 0, not 0.1"),
    ],
    "The journal, as far as `test_journal` has not": [
        Row(lambda: crowder_tool.Journal(crowd, None), TypeError, "path must"),
        Row(lambda: crowder_tool.Journal(None, new())(0, 1), TypeError, "oracle must"),
        Row(lambda: crowder_tool.Journal(crowd, "\ud800"), ValueError, "path must be the name of a file, not"),
        Row(lambda: crowder_tool.Journal(crowd, new(), like=3), TypeError, "like must be the name of a file, not 3"),
        Row(lambda: empty().begin(None), TypeError, "ordering must be an ordering, such as EdgeOrdering, not None"),
        Row(lambda: empty().record(5), TypeError, "votes must be rows (i, j, same, worker), not 5"),
        Row(lambda: empty().record([], [(0, 1)]), ValueError, "gone must be (i, j, worker), not (0, 1) in row 0"),
        Row(lambda: empty().lease(None, "ann", 60), TypeError, "pairs must be rows (i, j), not None"),
        Row(lambda: empty().lease([(0, 1)], 5, 60), TypeError, "the holder must be text, so that a journal can hold"),
        Row(lambda: empty().lease([(0, 1)], "ann", nan), ValueError, "seconds must be a finite number, at least 0"),
        Row(lambda: empty().release(pairs=[5]), ValueError, "pairs must be (i, j), not 5 in row 0"),
    ],
    "Many questions at once": [
        Row(lambda: ask(crowd=None), TypeError, "oracle must be callable, not None"),
        Row(lambda: ask(pairs=5), TypeError, "pairs must be rows (i, j), not 5"),
        Row(lambda: ask(pairs=[(0, 1), 5]), ValueError, "pairs must be (i, j), not 5 in row 1"),
        Row(lambda: ask(journal=None), TypeError, "journal must be a Journal, not None"),
        Row(lambda: ask(parallel=0), ValueError, "parallel must be at least 1, not 0"),
        Row(lambda: ask(retries=-1), ValueError, "retries must be at least 0, not -1"),
        Row(lambda: ask(pause="1"), TypeError, "pause must be a real number, not '1'"),
        Row(lambda: ask(cap=nan), ValueError, "cap must be a finite number, at least 0, not nan"),
    ],
}  # fmt: skip
