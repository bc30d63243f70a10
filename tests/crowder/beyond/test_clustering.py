"""The likeliest clustering: exact against enumeration, local moves against exact."""

from itertools import combinations

import numpy as np
import pytest
from naive import clusterings

from crowder.beyond.clustering import EXACT, _merge, cuts, exact, improve, likeliest, score, spanning_tree


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


def test_the_cuts_of_a_spanning_tree_are_sums_over_the_pairs_across():
    rng = np.random.default_rng(5)
    for _ in range(20):
        evidence, labels = random_evidence(11, rng), rng.integers(3, size=11)
        parent, order = spanning_tree(evidence, labels)
        found = cuts(evidence, parent, order, labels)
        assert sorted(order) == list(range(11))
        for top in np.flatnonzero(parent != -1):
            below = np.arange(11) == top
            for x in order:
                below[x] |= parent[x] != -1 and below[parent[x]]
            rest = (labels == labels[top]) & ~below
            assert found[top] == pytest.approx(evidence[np.ix_(below, rest)].sum())


def test_records_without_positive_evidence_stay_alone():
    labels = likeliest(-np.ones((4, 4)), 0.0, start=np.zeros(4, np.int64), rng=np.random.default_rng(0))
    assert len(set(labels)) == 4
    assert likeliest(np.zeros((0, 0)), 0.0, start=np.arange(0), rng=np.random.default_rng(0)).shape == (0,)
