"""One wrong answer in a run: every place of small runs, held against a count of all pairs."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder.beyond.wrong_answers import Damage, Mistake, damage, precision_recall, wrong_once


def count(ends, labels):
    """Precision and recall, pair by pair."""
    pairs = list(combinations(range(len(labels)), 2))
    joined = [ends[i] == ends[j] for i, j in pairs]
    match = [labels[i] == labels[j] for i, j in pairs]
    both = sum(j and m for j, m in zip(joined, match, strict=True))
    return (Fraction(both, sum(joined)) if any(joined) else 1), (Fraction(both, sum(match)) if any(match) else 1)


@pytest.mark.parametrize("kind", [cr.EdgeOrdering, cr.NodeOrdering])
@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_every_place_of_a_run(kind, labels, seed):
    n = len(labels)
    ordering = kind(np.random.default_rng(seed).random(n * (n - 1) // 2), rng=seed)
    perfect = kind(np.random.default_rng(seed).random(n * (n - 1) // 2), rng=seed).run(cr.Truth(labels))
    matching = sum(a == b for a, b in combinations(labels, 2))
    mistakes = list(wrong_once(ordering, labels, range(perfect.n_queries)))
    assert [m.place for m in mistakes] == list(range(perfect.n_queries))
    assert ordering.n_queries == 0  # left as it was
    for m in mistakes:
        asked, told = m.resolution.queries, m.resolution.answers
        assert np.array_equal(asked[: m.place + 1], perfect.queries[: m.place + 1])  # the same up to the mistake
        truth = np.array([labels[i] == labels[j] for i, j in asked])
        assert np.flatnonzero(told != truth).tolist() == [m.place] and told[m.place] == m.answer
        what = damage(m, labels)
        assert precision_recall(what, matching) == count(m.resolution.clusters, labels)
        if not m.answer:  # one cluster in two pieces, each seen from one of the records
            assert (what.a, what.rest_a) == (what.rest_b, what.b)
        ends = m.resolution.precision(labels)[-1], m.resolution.recall(labels)[-1]
        assert ends == pytest.approx([float(share) for share in precision_recall(what, matching)])


def test_a_wrong_match_can_cost_recall_too():
    """Records 0, 1, 2 are one entity and 3, 4 another; 1 and 3 were told apart before 0 and 3 are called the same. Then
    1 differs from 0, by inference, and is not asked: it stays outside."""
    similarity = np.eye(5)
    for place, (i, j) in enumerate([(1, 3), (0, 3), (0, 2), (3, 4)]):
        similarity[i, j] = similarity[j, i] = 1 - place / 10
    (mistake,) = wrong_once(cr.EdgeOrdering(similarity, ties="index"), [0, 0, 0, 1, 1], [1])
    assert mistake.resolution.clusters.tolist() == [0, 1, 0, 0, 0]
    assert damage(mistake, [0, 0, 0, 1, 1]) == Damage(2, 1, 2, 0, answer=True)
    # Four matching pairs: two are lost (record 1 with 0 and 2), two kept among six joined.
    assert precision_recall(Damage(2, 1, 2, 0, answer=True), 4) == (Fraction(2, 6), Fraction(2, 4))


def test_where_nothing_is_left_of_the_truth():
    assert precision_recall(Damage(1, 0, 1, 0, answer=True), 0) == (0, 1)  # two single records called one
    assert precision_recall(Damage(1, 1, 1, 1, answer=False), 1) == (1, 0)  # the only matching pair called different


def test_places_rise_and_end_with_the_run():
    ordering = cr.EdgeOrdering([0.9, 0.5, 0.4], ties="index")
    with pytest.raises(ValueError, match="places must be"):
        list(wrong_once(ordering, [0, 0, 1], [1, 0]))
    with pytest.raises(ValueError, match="which has 2 questions"):
        list(wrong_once(ordering, [0, 0, 1], [2]))
    assert isinstance(next(wrong_once(ordering, ["a", "a", "b"], [0])), Mistake)
    with pytest.raises(ValueError, match="labels for 2 records"):
        list(wrong_once(ordering, [0, 1], [0]))
