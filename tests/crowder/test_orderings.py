"""The two heuristics as objects: what is told, shared candidates, ties, arrivals, and the worst case.

`test_laws` holds their questions against a naive reference.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import asked, by_hand

import crowder as cr
from crowder.pairs import candidates

ORDERINGS = [cr.EdgeOrdering, cr.NodeOrdering]


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_a_question_is_open_until_it_is_answered(ordering):
    w, truth = np.array([0.9, 0.5, 0.1]), cr.Truth([0, 0, 1])
    run = ordering(w, rng=1)
    i, j = pair = run.ask()
    for answer in (1, 0, "yes", 1.0):
        with pytest.raises(TypeError, match="must be True or False"):
            run.tell(pair, answer)
        with pytest.raises(TypeError, match="must be True or False"):
            ordering(w, rng=1).run(lambda i, j, answer=answer: answer)
    with pytest.raises(ValueError, match="was not asked"):
        run.tell((7, 8), True)
    assert run.n_queries == 0 and run.ask() == pair  # nothing was recorded
    run.tell((j, i), np.bool_(True))  # either direction will do
    with pytest.raises(ValueError, match="no question is open"):
        run.tell(pair, True)
    assert asked(by_hand(run, truth)) == asked(ordering(w, rng=1).run(truth))


@pytest.mark.parametrize("make", [
    cr.EdgeOrdering, cr.NodeOrdering, cr.beyond.EvidenceOrdering,
    lambda w, rng: cr.beyond.Stopping(cr.EdgeOrdering(w, rng=rng), cr.dist1(0.4), delta=0),
    lambda w, rng: cr.beyond.Audit(cr.EdgeOrdering(w, rng=rng), recall=0.9, rng=rng),
])  # fmt: skip
def test_a_question_that_is_settled_while_it_is_open_is_not_asked_again(make):
    """Half of the answers come from elsewhere: about the open question, or about other pairs, which may imply it."""
    data = cr.datasets.synthetic([8, 5, 3, 1], cr.dist1(0.4), rng=3, shuffle=True)
    ordering, truth, rng, settled = make(data.condensed, rng=3), cr.Truth(data.labels), np.random.default_rng(3), 0
    while (pair := ordering.ask()) is not None:
        assert not ordering.settled(*pair)
        if rng.random() < 0.5:
            ordering.tell(pair, truth(*pair))
            continue
        other = pair if rng.random() < 0.3 else tuple(rng.choice(data.n, 2, replace=False).tolist())
        ordering.learn(other, truth(*other))
        if ordering.settled(*pair):
            settled += 1
            with pytest.raises(ValueError, match="no question is open"):
                ordering.tell(pair, truth(*pair))
        else:
            assert ordering.ask() == pair
    assert settled > 1 and ordering.resolution.recall(data.labels)[-1] >= 0.9


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


def test_node_ordering_arrives_by_falling_expected_size():
    # Sums of similarities: record 2 has 1.5, record 0 has 1.3, record 1 has 1.0, so 2 first, then 0, then 1.
    w = np.array([[1, 0.4, 0.9], [0.4, 1, 0.6], [0.9, 0.6, 1]])
    got = cr.node_ordering(w, cr.Truth([0, 1, 2]), rng=0)
    assert got.queries.tolist() == [[0, 2], [1, 2], [1, 0]]
    assert candidates(w).sums == pytest.approx([1.3, 1.0, 1.5])


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


def trap(sizes):
    """Everybody looks more like every first record of another cluster than like the first of its own."""
    n, k = sum(sizes), len(sizes)
    labels, first = np.repeat(np.arange(k), sizes), np.cumsum(sizes) - sizes
    similarity = np.full((n, n), 1 / (2 * n))
    similarity[labels[:, None] == labels] = 0
    similarity[np.ix_(first, first)] = 1  # makes the first records' expected sizes the largest
    return similarity, cr.Truth(labels)


@pytest.mark.parametrize("sizes", [[1], [4], [1, 1, 1], [3, 1], [2, 2], [5, 3, 1, 1], [10, 10, 10], [60, 1, 30, 2]])
def test_node_ordering_at_its_worst(sizes):
    """n - k matches, C(k, 2) openings, and k - 1 detours for each of n - k records: nk - k(k+1)/2, less than nk, at
    most k and at most 2n/k times the ideal. A trap reaches it; similarities that tell all reach the ideal."""
    n, k = sum(sizes), len(sizes)
    similarity, truth = trap(sizes)
    worst, ideal = cr.node_ordering(similarity, truth, rng=1).n_queries, cr.ideal_queries(sizes)
    assert worst == n * k - k * (k + 1) // 2 < n * k
    assert worst <= k * ideal and worst * k <= 2 * n * ideal
    same = (truth.labels[:, None] == truth.labels).astype(float)
    assert cr.node_ordering(same, truth, rng=1).n_queries == ideal


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
