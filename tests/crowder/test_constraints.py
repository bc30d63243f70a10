"""Known answers and tables without duplicates: held against the enumeration of all partitions of a few records."""

import re
from itertools import combinations

import numpy as np
import pytest
from naive import clusterings
from scipy import sparse

import crowder as cr
from crowder.constraints import constrained
from crowder.pairs import candidates

MODEL = cr.dist1(0.3)

ORDERINGS = {
    "edge": lambda x: cr.EdgeOrdering(x, rng=3),
    "node": lambda x: cr.NodeOrdering(x, rng=3),
    "node in any order": lambda x: cr.NodeOrdering(x, order="random", rng=3),
    "node by index": lambda x: cr.NodeOrdering(x, ties="index"),
    "node by priority": lambda x: cr.NodeOrdering(x, ties=np.arange(len(x.listed()[0]))),
    "audit of edge": lambda x: cr.beyond.Audit(cr.EdgeOrdering(x, rng=3), recall=0.999, rng=3),
    "audit of node": lambda x: cr.beyond.Audit(cr.NodeOrdering(x, rng=3), recall=0.999, rng=3),
}
DENSE = {
    "evidence": lambda x: cr.beyond.EvidenceOrdering(x, MODEL, rng=3),
    "evidence by records": lambda x: cr.beyond.EvidenceOrdering(x, MODEL, form="records", rng=3),
    "learned evidence": lambda x: cr.beyond.EvidenceOrdering(x, rng=3),
    "stopping of edge": lambda x: cr.beyond.Stopping(cr.EdgeOrdering(x, rng=3), MODEL, delta=0.0),
    "stopping of evidence": lambda x: cr.beyond.Stopping(cr.beyond.EvidenceOrdering(x, rng=3), MODEL, delta=0.0),
}


def instance(rng, dense):
    """Random similarities and constraints, and all partitions that the constraints allow."""
    n = int(rng.integers(2, 6))
    pairs = np.array(list(combinations(range(n), 2)))
    values = rng.integers(0, 4, len(pairs)) / 4  # with ties
    if not dense:
        kept = rng.random(len(pairs)) < 0.7
        i, j = pairs[kept].T
        similarity = candidates(sparse.coo_array((values[kept], (i, j)), shape=(n, n)))
    else:
        similarity, kept = candidates(values), np.ones(len(pairs), bool)
    possible = np.array(list(clusterings(n)))
    tables = rng.integers(0, rng.integers(1, 4), n) if rng.random() < 0.8 else None
    if tables is not None:
        possible = [p for p in possible if all(p[i] != p[j] for i, j in pairs if tables[i] == tables[j])]
    truth = possible[rng.integers(len(possible))]
    known = None
    if rng.random() < 0.7:
        about = pairs[rng.random(len(pairs)) < 0.3]
        about = np.where(rng.random((len(about), 1)) < 0.5, about, about[:, ::-1])
        known = about, np.array([truth[i] == truth[j] for i, j in about], bool)
        possible = [p for p in possible if all((p[i] == p[j]) == s for (i, j), s in zip(*known, strict=True))]
    return constrained(similarity, known, tables), [tuple(pair) for pair in pairs[kept].tolist()], possible


def both(possible, pair):
    """Whether the records may be the same, and may be different."""
    return len({bool(p[pair[0]] == p[pair[1]]) for p in possible}) == 2


@pytest.mark.parametrize(
    "name, dense", [(name, False) for name in ORDERINGS] + [(name, True) for name in [*ORDERINGS, *DENSE]]
)
def test_exactly_the_open_pairs_are_asked(name, dense):
    # The clusterings that agree with the answers, the known ones and the tables are enumerated: a question must have
    # two possible answers, and at the end no candidate pair may have.
    rng, asked = np.random.default_rng(11), 0
    for _ in range(80):
        similarity, pairs, allowed = instance(rng, dense)
        for truth in allowed if len(allowed) < 8 else [allowed[i] for i in rng.integers(len(allowed), size=8)]:
            ordering, possible = (ORDERINGS | DENSE)[name](similarity), allowed
            while (pair := ordering.ask()) is not None:
                assert both(possible, pair)
                same = bool(truth[pair[0]] == truth[pair[1]])
                ordering.tell(pair, same)
                possible = [p for p in possible if (p[pair[0]] == p[pair[1]]) == same]
                for i, j in combinations(range(ordering.n), 2):
                    assert ordering.settled(i, j) != both(possible, (i, j))
                if isinstance(ordering, cr.beyond.Audit):  # its limits count the open pairs
                    weight, count = ordering._units(ordering._knowledge)
                    assert weight @ count == sum(both(possible, other) for other in pairs)
            assert not any(both(possible, other) for other in pairs)
            result = ordering.resolution
            assert ordering.n_queries == len(result.queries)
            assert all(result.clusters[i] == result.clusters[j] for i, j in pairs if truth[i] == truth[j])
            assert result.recall(truth)[-1] <= 1 == result.precision(truth)[-1]
            if dense:
                assert result.recall(truth)[-1] == 1
            run = (ORDERINGS | DENSE)[name](similarity).run(cr.Truth(truth))  # the loop of a truth asks the same
            assert run.queries.tolist() == result.queries.tolist()
            asked += ordering.n_queries
    assert asked > 100


def test_a_match_sets_apart_what_shares_a_table_with_any_record_of_its_component():
    # Records 0 and 2 are of one table, and no candidate pair; the matches 0-1 and 2-3 imply the answer about 1 and 3.
    similarity = sparse.coo_array(([0.9, 0.8, 0.7], ([0, 2, 1], [1, 3, 3])), shape=(4, 4))
    ordering = cr.EdgeOrdering(constrained(candidates(similarity), tables=[0, 1, 0, 2]), rng=3)
    assert ordering.run(cr.Truth([0, 0, 1, 1])).queries.tolist() == [[0, 1], [2, 3]]


def test_stopping_declares_open_pairs():
    # What a tolerance leaves is declared different: exactly one pair of records for every two components that may still
    # be one, by enumeration.
    rng, left = np.random.default_rng(14), 0
    for _ in range(150):
        similarity, pairs, possible = instance(rng, True)
        truth = possible[rng.integers(len(possible))]
        ordering = cr.beyond.Stopping(cr.EdgeOrdering(similarity, rng=3), MODEL, delta=0.6, odds=1)
        while (pair := ordering.ask()) is not None:
            assert both(possible, pair)
            same = bool(truth[pair[0]] == truth[pair[1]])
            ordering.tell(pair, same)
            possible = [p for p in possible if (p[pair[0]] == p[pair[1]]) == same]
        run = ordering.resolution
        records = range(len(truth))
        component = [min(j for j in records if all(p[i] == p[j] for p in possible)) for i in records]
        expected = {frozenset((component[i], component[j])) for i, j in pairs if both(possible, (i, j))}
        assert {frozenset((component[i], component[j])) for i, j in run.declared} == expected
        assert len(run.declared) == len(expected)
        left += len(expected)
    assert left > 50


def test_edge_ordering_is_the_naive_one():
    # Two roads to the same questions: the pairs by falling similarity, asked if both answers are still possible.
    rng = np.random.default_rng(12)
    for _ in range(200):
        similarity, _, possible = instance(rng, rng.random() < 0.5)
        truth, expected = possible[rng.integers(len(possible))], []
        for code in cr.EdgeOrdering(similarity, ties="index")._walk.codes:
            pair = int(code >> 32), int(code & 0xFFFFFFFF)
            if both(possible, pair):
                expected.append(pair)
                same = truth[pair[0]] == truth[pair[1]]
                possible = [p for p in possible if (p[pair[0]] == p[pair[1]]) == same]
        run = cr.EdgeOrdering(similarity, ties="index").run(cr.Truth(truth))
        assert [tuple(pair) for pair in run.queries.tolist()] == expected


def test_known_matches_count_from_the_start():
    pairs = constrained(candidates([0.5] * 6), ([[0, 1], [1, 2]], [True, True]))
    run = cr.EdgeOrdering(pairs, rng=1).run(cr.Truth([0, 0, 0, 0]))
    assert run.n_queries == 1 and run.recall([0, 0, 0, 0]).tolist() == [0.5, 1.0]
    assert run.precision([0, 0, 1, 1]).tolist() == [1 / 3, 1 / 3]  # wrong: the known match of 1 and 2


def contradictory(rng):
    """Constraints at random, and whether some partition satisfies them."""
    n = int(rng.integers(2, 6))
    about = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 7))])
    same, tables = rng.random(len(about)) < 0.5, rng.integers(0, 3, n)
    return n, about, same, tables


def consistent(n, about, same, tables):
    return any(
        all((p[i] == p[j]) == s for (i, j), s in zip(about, same, strict=True))
        and all(p[i] != p[j] for i, j in combinations(range(n), 2) if tables[i] == tables[j])
        for p in clusterings(n)
    )


def test_contradictions_are_found_and_named():
    # Refused if and only if no partition satisfies all; the row that the error names is the first that cannot hold.
    rng, refused = np.random.default_rng(13), 0
    for _ in range(400):
        n, about, same, tables = contradictory(rng)
        plain = candidates(np.zeros(n * (n - 1) // 2))
        if consistent(n, about, same, tables):
            constrained(plain, (about, same), tables)
            continue
        with pytest.raises(ValueError, match="contradicts earlier rows or the tables") as caught:
            constrained(plain, (about, same), tables)
        row = int(re.search(r"row (\d+)", str(caught.value))[1])
        assert consistent(n, about[:row], same[:row], tables)
        assert not consistent(n, about[: row + 1], same[: row + 1], tables)
        refused += 1
    assert refused > 100


def test_no_answer_puts_two_records_of_one_table_together():
    pairs = constrained(candidates([0.5] * 6), tables=[0, 0, 1, 1])
    rows = [(0, 1, "yes"), (0, 2, "yes"), (1, 3, "yes"), (2, 3, "yes")]
    joined, apart = (cr.beyond.resolve(rows, taken, rng=1).clusters for taken in ([0.5] * 6, pairs))
    assert len(set(joined.tolist())) == 1  # all four, by these answers alone
    assert apart[0] != apart[1] and apart[2] != apart[3]
