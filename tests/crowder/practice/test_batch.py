"""Batches of questions: which need no answer to the others, what comes after those, and what is wasted."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import crowder as cr
from crowder.constraints import constrained
from crowder.pairs import candidates
from crowder.practice.batch import (
    STRATEGIES,
    expected_waste,
    ordering_with_answers,
    pilot,
    question_batch,
    waste_free_questions,
)


def said(known, i, j, n):
    """What answers imply about (i, j): Floyd and Warshall's paths, by their number of non-matches (0, 1, more)."""
    cost = np.full((n, n), 2)
    np.fill_diagonal(cost, 0)
    for (a, b), same in known.items():
        cost[a, b] = cost[b, a] = 0 if same else 1
    for v in range(n):
        cost = np.minimum(cost, cost[:, [v]] + cost[[v]])
    return {0: True, 1: False}.get(int(cost[i, j]))


def run(way, values, labels, size, rng=3):
    """Ask in batches without waste until nothing is open: answers in order, and the batches with what was known."""
    known, batches = {}, []
    while chosen := waste_free_questions(
        ordering_with_answers(way, values, list(known), list(known.values()), rng=rng), size
    ):
        batches.append((dict(known), chosen))
        known |= {(i, j): bool(labels[i] == labels[j]) for i, j in chosen}
    return known, batches


@st.composite
def crowds(draw):
    n = draw(st.integers(2, 7))
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    # Few values, so that there are ties.
    values = draw(st.lists(st.integers(0, 5), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return np.array(values) / 5, np.array(labels), draw(st.integers(1, 4))


@given(crowds(), st.sampled_from(sorted(STRATEGIES)))
@settings(deadline=None, max_examples=40)
def test_no_question_of_a_batch_is_implied_by_answers_to_the_others(crowd, way):
    values, labels, size = crowd
    known, batches = run(way, values, labels, size)
    n = len(labels)
    for before, chosen in batches:
        assert 1 <= len(chosen) <= size
        for q, pair in enumerate(chosen):
            rest = chosen[:q] + chosen[q + 1 :]
            for answers in product([True, False], repeat=len(rest)):
                assert said(before | dict(zip(rest, answers, strict=True)), *pair, n) is None
    # In the end everything is settled, nothing was asked twice, and what is known is the truth.
    assert len({tuple(sorted(pair)) for pair in known}) == len(known)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        assert said(known, i, j, n) == (labels[i] == labels[j])


@given(crowds())
@settings(deadline=None, max_examples=40)
def test_edge_ordering_in_batches_asks_what_it_asks_one_by_one(crowd):
    values, labels, size = crowd
    known, _ = run("edge", values, labels, size)
    plain = cr.EdgeOrdering(values, rng=3).run(cr.Truth(labels))
    assert {tuple(sorted(pair)) for pair in known} == {tuple(sorted(pair)) for pair in plain.queries.tolist()}


def test_a_batch_without_waste_is_as_large_as_can_be_at_the_start():
    # Nobody knows anything: a spanning forest of 40 records has 39 questions, and more would close a circle.
    values = np.random.default_rng(1).random(780)
    for way in STRATEGIES:
        free = [waste_free_questions(ordering_with_answers(way, values, rng=1), size) for size in (1, 2, 38, 39, 1000)]
        assert [len(batch) for batch in free] == [1, 2, 38, 39, 39]
        assert question_batch(way, values, 50, rng=1)[:39] == free[-1]
        assert question_batch(way, values, 20, rng=1) == free[-1][:20]


# --- batches of any size ----------------------------------------------------------------------------------------------


@given(crowds(), st.integers(1, 30), st.integers(0, 2**21 - 1))
@settings(deadline=None, max_examples=60)
def test_a_batch_goes_on_as_if_the_answers_were_the_expected_ones(crowd, size, guesses):
    """Against edge ordering written out naively, whatever is expected of each pair, consistent or not."""
    values, labels, known_size = crowd
    n, pairs = len(labels), list(combinations(range(len(labels)), 2))
    expect = {pair: bool(guesses >> k & 1) for k, pair in enumerate(pairs)}
    order = cr.EdgeOrdering(values, rng=3).run(cr.Truth(range(n))).queries.tolist()  # of all pairs, since none match
    known = dict(list(run("edge", values, labels, known_size)[0].items())[:known_size])
    got = question_batch(
        "edge", values, size, list(known), list(known.values()), expected=lambda i, j: expect[i, j], rng=3
    )
    ahead = ordering_with_answers("edge", values, list(known), list(known.values()), rng=3)
    wanted = waste_free_questions(ahead, size)
    assumed = known | {pair: expect[pair] for pair in wanted}
    for i, j in map(sorted, order):
        if len(wanted) < size and said(assumed, i, j, n) is None:
            wanted.append((i, j))
            assumed[i, j] = expect[i, j]
    assert got == wanted


@given(crowds(), st.sampled_from(sorted(STRATEGIES)), st.integers(1, 25))
@settings(deadline=None, max_examples=40)
def test_batches_of_any_size_lead_to_the_truth(crowd, way, size):
    values, labels, _ = crowd
    known, n = {}, len(labels)
    while batch := question_batch(way, values, size, list(known), list(known.values()), rng=3):
        pairs = [tuple(sorted(pair)) for pair in batch]
        assert len(set(pairs)) == len(pairs) <= size and not set(pairs) & known.keys()
        assert all(said(known, *pair, n) is None for pair in pairs)
        # Fewer questions only if all would be settled, were no two records the same.
        if len(pairs) < size:
            apart = known | dict.fromkeys(pairs, False)
            assert all(said(apart, i, j, n) is not None for i, j in combinations(range(n), 2))
        known |= {(i, j): bool(labels[i] == labels[j]) for i, j in pairs}
    for i, j in combinations(range(n), 2):
        assert said(known, i, j, n) == (labels[i] == labels[j])


@given(crowds(), st.sampled_from(sorted(STRATEGIES)), st.data())
@settings(deadline=None, max_examples=40)
def test_pairs_to_ask_last_are_asked_when_nothing_else_is_open(crowd, way, data):
    values, labels, _ = crowd
    n = len(labels)
    last = set(data.draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), max_size=6)))
    known = {}
    while batch := question_batch(
        way, values, 3, list(known), list(known.values()), last=[pair[::-1] for pair in last], rng=3
    ):
        pairs = [tuple(sorted(pair)) for pair in batch]
        late = [pair in last for pair in pairs]
        assert late == sorted(late)
        if any(late):  # were the answers before them "different", only such pairs would be open
            assumed = pairs if way == "evidence" else [pair for pair in pairs if pair not in last]
            apart = known | dict.fromkeys(assumed, False)
            others = set(combinations(range(n), 2)) - last
            assert all(said(apart, *pair, n) is not None for pair in others)
        known |= {(i, j): bool(labels[i] == labels[j]) for i, j in pairs}
    for i, j in combinations(range(n), 2):
        assert said(known, i, j, n) == (labels[i] == labels[j])


@given(crowds(), st.data())
@settings(deadline=None, max_examples=40)
def test_the_expected_waste_is_the_mean_over_the_clusterings(crowd, data):
    """Against a count by paths of answers, question after question."""
    values, labels, size = crowd
    n = len(labels)
    known = dict(list(run("edge", values, labels, size)[0].items())[:size])
    batch = data.draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True, max_size=12))
    batch = [pair for pair in batch if pair not in known]
    others = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), max_size=40))
    draws = [
        draw
        for draw in [labels.tolist(), *others]
        if all((draw[i] == draw[j]) == same for (i, j), same in known.items())
    ]
    wasted = 0
    for draw in draws:
        told = dict(known)
        for i, j in batch:
            wasted += said(told, i, j, n) is not None
            told[i, j] = draw[i] == draw[j]
    assert expected_waste(batch, draws, list(known), list(known.values())) == pytest.approx(wasted / len(draws))


def test_the_first_part_of_a_batch_wastes_nothing_and_the_rest_what_it_says():
    data = cr.datasets.synthetic([5, 4, 3, 1, 1], cr.dist1(0.5), rng=4)
    batch = question_batch("edge", data.similarity, 60, rng=1)
    free = len(waste_free_questions(cr.EdgeOrdering(data.similarity, rng=1), 60))
    draws = [data.labels, np.arange(14), np.zeros(14, int)]
    assert len(batch) == 60 and expected_waste(batch[:free], draws) == 0
    # All alike: the 13 questions of a spanning tree were needed. None alike: all 60.
    assert expected_waste(batch, draws[1:2]) == 0 and expected_waste(batch, draws[2:]) == 60 - free == 47
    with pytest.raises(ValueError, match="draws must have at least one clustering"):
        expected_waste(batch, [])
    with pytest.raises(ValueError, match="batch must have different pairs"):
        expected_waste([(0, 1), (1, 0)], draws)
    assert expected_waste([], draws) == 0


def test_many_records_with_few_candidate_pairs():
    """A table of which components differ would have 10¹⁰ entries here. Against the records of one cluster at a time:
    chains of five, whose pairs meet no others, so that a batch is the union of the batches of the chains."""
    rng, n = np.random.default_rng(1), 100_000
    first = np.arange(0, n, 5)
    pairs = np.concatenate(
        [np.column_stack([first + a, first + b]) for a, b in ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4))]
    )
    similarity = sparse.coo_array((rng.random(len(pairs)), pairs.T), shape=(n, n))
    batch = question_batch("edge", similarity, 10**6, rng=1)
    assert len(batch) == len(set(batch)) == len(pairs)  # if no two match, every candidate pair is open
    answered = [pair for pair in batch[: 4 * len(first)]]
    assert {pair[0] // 5 for pair in answered} == set(range(n // 5))
    # 4 of the 5 pairs of each chain need no answer to the others: of the triangle 0, 1, 2 the least similar may.
    dense = similarity.tocsr()
    for at in range(0, n, 20_000):
        triangle = sorted([(0, 1), (1, 2), (0, 2)], key=lambda pair: dense[at + pair[0], at + pair[1]])
        assert (at + triangle[0][0], at + triangle[0][1]) in set(batch[4 * len(first) :])
    known = question_batch("edge", similarity, 100, answered, [False] * len(answered), rng=1)
    assert known == batch[4 * len(first) : 4 * len(first) + 100]


def test_an_informed_ordering_goes_on_where_the_answers_end():
    data = cr.datasets.synthetic([5, 4, 3], cr.dist1(0.5), rng=4)
    whole = cr.EdgeOrdering(data.similarity, rng=1).run(cr.Truth(data.labels))
    half = len(whole.queries) // 2
    pairs, same = whole.queries[:half], whole.answers[:half]
    ordering = ordering_with_answers("edge", data.condensed, pairs.tolist(), same.tolist(), rng=1)
    rest = ordering.run(cr.Truth(data.labels))
    assert rest.queries.tolist() == whole.queries.tolist()
    with pytest.raises(ValueError, match="strategy must"):
        ordering_with_answers("best", [0.5], rng=1)
    with pytest.raises(ValueError, match="size, the number of questions, must"):
        question_batch("edge", [0.5], 0, rng=1)


def test_a_pilot_is_spread_over_all_similarities_and_comes_first():
    data = cr.datasets.synthetic([2] * 60 + [1] * 80, cr.dist1(0.3), rng=5)
    pairs = candidates(data.condensed)
    first, order = pilot(pairs), pairs.sorted[1].tolist()
    ranks = np.array([order.index(i << 32 | j) + 1 for i, j in first])
    assert len(first) == 20 and ranks[0] == 1 + 200 // 50 and ranks[-1] == 50 * 200
    assert np.diff(np.log(ranks)) == pytest.approx(np.log(ranks[-1] / ranks[0]) / 19, abs=0.2)  # of whole ranks
    assert question_batch("edge", pairs, 25, first=first, rng=1)[:20] == first
    assert len(pilot(pairs, 19)) == 20 and pilot(pairs, 20) == []
    late = question_batch("edge", pairs, 30, first=first, last=first[:3], rng=1)
    assert late[:17] == first[3:] and not set(late) & set(first[:3])  # those that somebody was unsure about
    same = [True] + [False] * 19
    rest = question_batch("edge", pairs, 30, first, same, first=first, rng=1)
    assert not set(rest) & set(first)


def test_a_pilot_asks_about_no_two_records_of_one_table():
    table = np.arange(100) % 2
    pairs = constrained(candidates(np.random.default_rng(1).random(4950)), tables=table)
    assert len(pilot(pairs)) == 10 and all(table[i] != table[j] for i, j in pilot(pairs))
    assert pilot(candidates(np.empty(0))) == []
