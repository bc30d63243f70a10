"""The two heuristics: ties at random, and the most recall of node ordering.

`test_laws` holds their questions against a naive reference; chapter 6 runs the worst case.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr


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


def test_records_of_equal_expected_size_arrive_at_random():
    """Each of three comes first in some of 40 runs; by chance one never does: 3 in 10⁷."""
    assert {cr.NodeOrdering(np.ones(3), rng=seed)._walk.arrivals[0] for seed in range(40)} == {0, 1, 2}


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
