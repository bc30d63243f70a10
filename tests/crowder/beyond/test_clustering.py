"""The likeliest clusters, exact against enumeration and moves against exact; and how likely a decision is wrong."""

from itertools import combinations

import numpy as np
import pytest
from naive import clusterings

from crowder.beyond.clustering import (
    EXACT,
    TELLING,
    _merge,
    certainty,
    correlation,
    exact,
    improve,
    likeliest,
    most,
    most_urgent,
    probable,
    score,
    sums_tell,
    tally,
    weak_cuts,
)


def random_evidence(n, rng):
    evidence = rng.normal(size=(n, n))
    return evidence + evidence.T


def naive_score(evidence, cost, labels):
    inside = sum(evidence[i, j] for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j])
    return inside + cost * len(set(labels))


@pytest.mark.parametrize("n", range(1, 8))
def test_exact_is_the_best_of_all_partitions(n):
    rng = np.random.default_rng(n)
    for cost in (0.0, 0.7, -0.4):  # a negative cost is a prior against clusters
        evidence = random_evidence(n, rng)
        best = max(naive_score(evidence, cost, labels) for labels in clusterings(n))
        found = exact(evidence, cost)
        assert naive_score(evidence, cost, found.tolist()) == pytest.approx(best)
        assert score(evidence, cost, found) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_reaches_the_best_clusters_of_ten_records(seed):
    """They are more than `likeliest` enumerates. Half of the pairs are answered, one in six wrongly: what is best need
    not be what was planted."""
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(3), [5, 3, 2])
    wrong, asked = rng.random((2, 10, 10))
    same = (labels[:, None] == labels) != (wrong < 1 / 6)
    evidence = np.triu(np.where(same, 2.0, -1.5) * (asked < 1 / 2), 1)
    evidence += evidence.T
    found = likeliest(evidence, 0.0, start=np.arange(10), rng=rng, starts=8)
    assert len(evidence) > EXACT
    assert score(evidence, 0.0, found) == pytest.approx(score(evidence, 0.0, exact(evidence, 0.0)))


def test_local_moves_never_lose_and_end_where_no_single_change_gains():
    rng = np.random.default_rng(3)
    for _ in range(20):
        n, cost = 12, rng.choice([0.0, 1.0])
        evidence, labels = random_evidence(n, rng), rng.integers(12, size=12)
        before = score(evidence, cost, labels)
        improve(evidence, cost, labels, rng.permutation(n))
        end = score(evidence, cost, labels)
        assert end >= before
        for i in range(n):  # no record gains by moving
            for to in range(n):
                moved = labels.copy()
                moved[i] = to
                assert score(evidence, cost, moved) <= end + 1e-6
        for a, b in combinations(np.unique(labels), 2):  # no two clusters gain by merging
            assert score(evidence, cost, np.where(labels == a, b, labels)) <= end + 1e-6


def test_clusters_are_merged_in_order_of_what_they_gain():
    # Against sums over all pairs of records, added up anew before each merge; without ties, there is one order.
    rng = np.random.default_rng(4)
    for cost in (0.0, 0.7):
        for _ in range(20):
            evidence, labels = random_evidence(8, rng), np.arange(8)
            np.fill_diagonal(evidence, 0)
            naive, most = [{i} for i in range(8)], np.inf
            while most > cost:
                gains = {(a, b): evidence[np.ix_(list(naive[a]), list(naive[b]))].sum()
                         for a, b in combinations(range(len(naive)), 2)}  # fmt: skip
                a, b = max(gains, key=gains.get, default=(0, 0))
                most = gains.get((a, b), -np.inf)
                if most > cost:
                    naive[a] |= naive.pop(b)
            _merge(evidence, cost, evidence.copy(), np.ones(8, np.int64), labels)
            assert sorted(map(sorted, naive)) == sorted(np.flatnonzero(labels == a).tolist() for a in np.unique(labels))


@pytest.mark.parametrize(("cost", "clusters"), [(0.5, 1), (2.0, 2)])
def test_a_group_leaves_if_another_cluster_gains_more_than_is_lost(cost, clusters):
    # Two groups of four with the evidence 3 - 2 = 1 between them; a record that left its group would lose 6.
    evidence = np.zeros((8, 8))
    evidence[:4, :4] = evidence[4:, 4:] = 2.0
    evidence[0, 4] = evidence[4, 0] = 3.0
    evidence[1, 5] = evidence[5, 1] = -2.0
    labels = np.zeros(8, np.int64)
    improve(evidence, cost, labels, np.arange(8))
    assert len(set(labels)) == clusters and len(set(labels[:4])) == len(set(labels[4:])) == 1


def test_records_without_positive_evidence_stay_alone():
    labels = likeliest(-np.ones((4, 4)), 0.0, start=np.zeros(4, np.int64), rng=np.random.default_rng(0))
    assert len(set(labels)) == 4
    assert likeliest(np.zeros((0, 0)), 0.0, start=np.arange(0), rng=np.random.default_rng(0)).shape == (0,)


@pytest.fixture
def state():
    """Evidence of ten records in clusters 0, 3 and 7."""
    rng = np.random.default_rng(1)
    s, e = rng.normal(size=(2, 10, 10))
    return s + s.T, e + e.T, rng.choice([0, 3, 7], size=10)


def naive(s, e, base, rho, here, there):
    """λ of two groups of records, by its definition."""
    across = [(i, j) for i in here for j in there]
    return base + sum(s[p] for p in across) + sum(e[p] for p in across) / (1 + rho * (len(across) - 1))


def members(labels, name):
    return np.flatnonzero(labels == name).tolist()


@pytest.mark.parametrize("by_sums", [True, False])
def test_the_most_urgent_pair_of_clusters_by_its_definition(state, by_sums):
    """With the damped sum of similarities and all pairs, or with the most similar pair and the smaller cluster."""
    s, e, labels = state
    unasked, size = np.ones((10, 10)), np.bincount(labels, minlength=10)
    sums = tally(s, labels), tally(e, labels), most(e, labels)
    urgency, wrong = {}, []
    for a, b in combinations(np.unique(labels), 2):
        here, there = members(labels, a), members(labels, b)
        odds = naive(s, e, -3.0, 0.5, here, there)
        wrong.append(min(odds, 0) + np.log(len(here) * len(there)))
        if by_sums:
            urgency[b, a] = wrong[-1]
        else:
            odds = naive(s, 0 * e, -3.0, 0.5, here, there) + e[np.ix_(here, there)].max()
            urgency[b, a] = min(odds, 0) + np.log(min(len(here), len(there)))
    for pair in sorted(urgency, key=urgency.get, reverse=True):  # one after the other is excluded
        a, b, value = most_urgent(*sums, unasked, size, -3.0, 0.5, -np.inf, by_sums, False)
        assert {a, b} == set(pair) and value == pytest.approx(urgency[pair])
        unasked[a, b] = unasked[b, a] = 0
    nothing = (-1, -1, -np.inf)
    assert most_urgent(*sums, unasked, size, -3.0, 0.5, -np.inf, by_sums, False) == nothing
    unasked[:] = 1  # whether it is left alone depends on the expected number of wrong pairs in either case
    for least, asks in ((max(wrong) - 1e-6, True), (max(wrong) + 1e-6, False)):
        assert (most_urgent(*sums, unasked, size, -3.0, 0.5, least, by_sums, False) != nothing) == asks


def test_sums_or_the_largest_by_their_definition():
    """Over free pairs, with ties of one half; the largest only if it is right often enough, and sums are not."""
    chosen = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, labels = 12, np.unique(rng.integers(4, size=12), return_inverse=True)[1]
        values, free = np.zeros((n, n)), np.zeros((n, n), bool)
        upper = np.triu_indices(n, 1)
        same = labels[upper[0]] == labels[upper[1]]
        high = 9 * same * (rng.random(len(same)) < (0.3, 0.6, 0.7, 0.8)[seed % 4])
        values[upper] = np.maximum(high, rng.integers(4, size=len(same)))
        free[upper] = rng.random(len(same)) < 0.9
        values, free = values + values.T, free | free.T
        right = np.zeros(2)
        count = 0
        for i in range(n):
            x = [values[i, free[i] & (labels == a)] for a in range(labels.max() + 1)]
            for a in range(labels.max() + 1):
                if a != labels[i] and min(len(x[a]), len(x[labels[i]])) > 1:
                    scores = [[v.sum() / (1 + 0.5 * (len(v) - 1)), v.max()] for v in (x[labels[i]], x[a])]
                    right += (np.sign(np.subtract(*scores).round(12)) + 1) / 2
                    count += 1
        share = right / max(count, 1)
        expected = count == 0 or share[1] <= max(share[0], TELLING[0]) or share[0] >= TELLING[1]
        assert sums_tell(values, free, labels, 0.5) == expected
        chosen.add((bool(share[1] > share[0]), bool(share[1] > TELLING[0]), bool(share[0] >= TELLING[1])))
    assert chosen >= {(True, True, False), (True, True, True), (True, False, False), (False, True, False)}


def test_cuts_and_probabilities(state):
    s, e, labels = state
    sums = tally(s, labels), tally(e, labels), np.bincount(labels)
    weak, number, parent, order = weak_cuts(s, e, labels, -1.0, 0.5, s)
    sides = {}
    for top in np.flatnonzero(parent != -1):
        below = {top}
        for x in order:
            if parent[x] in below:
                below.add(x)
        rest = [x for x in members(labels, labels[top]) if x not in below]
        assert weak[top] == pytest.approx(naive(s, e, -1.0, 0.5, sorted(below), rest))
        assert number[top] == len(below)
        sides[top] = below
    chance = probable(*sums, labels, -1.0, 0.5, weak, parent, order)
    for i, j in combinations(range(10), 2):
        if labels[i] == labels[j]:  # the weakest of the cuts that separate the two
            odds = min(weak[top] for top, below in sides.items() if (i in below) != (j in below))
        else:
            odds = naive(s, e, -1.0, 0.5, members(labels, labels[i]), members(labels, labels[j]))
        assert chance[i, j] == chance[j, i] == pytest.approx(1 / (1 + np.exp(-odds)))


def test_how_sure_a_place_is_by_its_definition(state):
    """λ of a record and a cluster is without the record itself; a record may be alone."""
    s, e = (x - np.diag(np.diag(x)) for x in state[:2])  # nothing about a record and itself
    clusters = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 0])
    of = [members(clusters, c) for c in range(4)]
    for r, sure in enumerate(certainty(s, e, -1.0, 0.3, clusters)):
        rest = [[i for i in there if i != r] for there in of]
        weights = [np.exp(naive(s, e, -1.0, 0.3, [r], there)) if there else 1.0 for there in rest]
        alone = 1.0 if rest[clusters[r]] else 0.0  # counted above if its cluster has no other record
        assert sure == pytest.approx(weights[clusters[r]] / (sum(weights) + alone))


def test_the_correlation_is_that_of_two_values_of_a_record_with_one_cluster(state):
    _, e, labels = state
    clusters = np.unique(labels, return_inverse=True)[1]
    groups = [e[i, clusters == c] for i in range(10) for c in set(clusters) - {clusters[i]} if sum(clusters == c) > 1]
    every = np.concatenate(groups)
    two = [(x - every.mean()) * (y - every.mean()) for group in groups for x, y in combinations(group, 2)]
    assert correlation(e, clusters) == pytest.approx(np.mean(two) / every.var())


def test_the_correlation_is_one_where_nothing_says_otherwise():
    assert correlation(np.zeros((3, 3)), np.arange(3)) == 1.0  # every record alone
    assert correlation(np.full((4, 4), 0.1), np.array([0, 0, 1, 1])) == 1.0  # all values equal
    values = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [1, 2, 0, 0], [1, 2, 0, 0.0]])
    assert correlation(values, np.array([0, 1, 2, 2])) == pytest.approx(1.0)  # two values of a cell are equal
