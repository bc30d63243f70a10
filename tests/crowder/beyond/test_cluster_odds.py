"""Log-odds between clusters: sums kept while records move, and probabilities against their definitions."""

from itertools import combinations

import numpy as np
import pytest

from crowder.beyond.cluster_odds import certainty, correlation, most_urgent, move, probable, tally
from crowder.beyond.clustering import weak_cuts


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


def test_sums_between_clusters_follow_the_records_that_move(state):
    s, _, labels = state
    sums = tally(s, labels)
    for i, to in [(0, 3), (4, 9), (5, 9), (0, 7), (9, 0)]:
        move(s, sums, labels, i, to)
        labels[i] = to
        apart = ~np.eye(10, dtype=bool)
        np.testing.assert_allclose(sums[apart], tally(s, labels)[apart], atol=1e-12)


def test_the_most_urgent_pair_of_clusters_is_that_with_the_most_expected_wrong_pairs(state):
    s, e, labels = state
    sums, unasked, size = (tally(s, labels), tally(e, labels)), np.ones((10, 10)), np.bincount(labels, minlength=10)
    urgency = {}
    for a, b in combinations(np.unique(labels), 2):
        here, there = members(labels, a), members(labels, b)
        urgency[b, a] = min(naive(s, e, -3.0, 0.5, here, there), 0) + np.log(len(here) * len(there))
    for pair in sorted(urgency, key=urgency.get, reverse=True):  # one after the other is excluded
        a, b, value = most_urgent(*sums, unasked, size, -3.0, 0.5, False)
        assert {a, b} == set(pair) and value == pytest.approx(urgency[pair])
        unasked[a, b] = unasked[b, a] = 0
    assert most_urgent(*sums, unasked, size, -3.0, 0.5, False) == (-1, -1, -np.inf)


def test_cuts_and_probabilities(state):
    s, e, labels = state
    sums = tally(s, labels), tally(e, labels), np.bincount(labels)
    weak, pairs, parent, order = weak_cuts(s, e, labels, -1.0, 0.5, s)
    sides = {}
    for top in np.flatnonzero(parent != -1):
        below = {top}
        for x in order:
            if parent[x] in below:
                below.add(x)
        rest = [x for x in members(labels, labels[top]) if x not in below]
        assert weak[top] == pytest.approx(naive(s, e, -1.0, 0.5, sorted(below), rest))
        assert pairs[top] == len(below) * len(rest)
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
