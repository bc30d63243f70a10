"""The two heuristics: ties at random, and the most recall of node ordering.

`test_laws` holds their questions against a naive reference; chapter 6 runs the worst case.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder.pairs import candidates


def test_ties_are_broken_at_random_not_by_index():
    """Three equal pairs, one match: each is asked first in a third of the runs (chi-square, 1 % level)."""
    first = [cr.EdgeOrdering(np.ones(3), rng=seed).ask() for seed in range(3000)]
    counts = np.array([first.count(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
    assert ((counts - 1000) ** 2 / 1000).sum() < 9.21  # 99 % quantile, 2 degrees of freedom


def test_node_ties_are_between_records_not_clusters():
    """Records 0, 1, 2 in one cluster and 3 in another, all equally similar to record 4: the first question goes to the
    larger cluster three times in four, since its three pairs tie with one (chi-square, 1 % level)."""
    w = np.ones((5, 5))
    first = []
    for seed in range(2000):
        ordering = cr.NodeOrdering(w, rng=seed, order=[0, 1, 2, 3, 4])
        truth = cr.Truth([0, 0, 0, 1, 2])
        while (pair := ordering.ask())[0] != 4:
            ordering.tell(pair, truth(*pair))
        first.append(pair[1] == 3)
    assert (sum(first) - 500) ** 2 / 500 + (sum(first) - 500) ** 2 / 1500 < 6.63


def test_expected_sizes_that_tie_up_to_rounding_are_ties():
    """Decimals such as 0.1 are not quite what they say, so equal sums of them may differ in a last digit."""

    def records(a, b):
        # Sums: of record 0 a + b, of 1 more than anybody's, of 2 b, of 3 what a + b says in decimals.
        w = np.eye(4)
        w[0, 1] = w[1, 0] = a
        w[0, 2] = w[2, 0] = b
        w[1, 3] = w[3, 1] = round(a + b, 2)
        return w

    hundredths = [(a / 100, b / 100) for a in range(11, 50) for b in range(5, a)]
    sizes = {pair: candidates(records(*pair)).sums for pair in hundredths}
    apart = [pair for pair, size in sizes.items() if size[0] != size[3]]
    assert len(apart) > 20  # so it is rounding that makes these ties
    for pair in apart[:5]:
        second = {cr.NodeOrdering(records(*pair), rng=seed)._walk.arrivals[1] for seed in range(40)}
        assert second == {0, 3}  # either may come first; by chance never in 40 draws: 2 in 10¹²


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_recall_of_node_ordering_pays_for_each_cluster_it_opens(sizes, seed):
    """While j clusters are open, at least C(j, 2) of the questions were non-matches. So no recall is above that of
    the fastest run, which completes the largest cluster, then opens the next, by j questions in vain, and so on."""
    sizes = sorted(sizes, reverse=True)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n, truth, rng = len(labels), cr.Truth(labels), np.random.default_rng(seed)
    gains = [gain for opened, size in enumerate(sizes) for gain in [0] * opened + list(range(1, size))]
    fastest = np.r_[0.0, np.cumsum(gains) / sum(gains)] if sum(gains) else np.ones(len(gains) + 1)
    alike = (labels[:, None] == labels).astype(float)
    assert cr.node_ordering(alike, truth, order=np.arange(n), ties="index").recall(labels) == pytest.approx(fastest)
    recall = cr.node_ordering(rng.random(n * (n - 1) // 2), truth, rng=rng, order="random").recall(labels)
    assert len(recall) >= len(fastest) and (recall[: len(fastest)] <= fastest + 1e-12).all()
