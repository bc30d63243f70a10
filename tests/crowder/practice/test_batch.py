"""Batches of questions: which need no answer to the others, what comes after those, and what is wasted."""

import functools
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import crowder as cr
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.noisy_queries import NoisyQueries
from crowder.practice.batch import (
    STRATEGIES,
    expected_waste,
    next_questions,
    ordering_with_answers,
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
    """Ask in batches until nothing is open: answers in order, and the batches with what was known before each."""
    known, batches = {}, []
    while chosen := question_batch(way, values, size, list(known), list(known.values()), rng=rng):
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


# --- batches ------------------------------------------------------------------------------------------------------


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


def test_a_large_batch_is_as_large_as_can_be_at_the_start():
    # Nobody knows anything: a spanning forest of 40 records has 39 questions, and more would close a circle.
    values = np.random.default_rng(1).random(780)
    for way in STRATEGIES:
        lengths = [len(question_batch(way, values, size, rng=1)) for size in (1, 2, 38, 39, 40, 1000)]
        assert lengths == [1, 2, 38, 39, 39, 39]


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


@pytest.mark.parametrize("votes", [1, 2])
def test_batches_for_a_strategy_that_keeps_answers_lead_to_the_end(votes):
    """Each batch starts with the next question, has no pair twice, and leaves the strategy as it was."""
    labels = np.repeat(np.arange(5), [4, 3, 2, 1, 1])
    strategy = ControlQueries(np.random.default_rng(2).random(55), votes=votes, rng=3)
    truth, sheets = cr.Truth(labels), 0
    while batch := next_questions(strategy, 7):
        before = strategy.answers
        assert batch[0] == strategy.ask() and len({*map(frozenset, batch)}) == len(batch) <= 7
        assert next_questions(strategy, 7) == batch and strategy.answers == before
        for pair in batch:
            strategy.learn(pair, truth(*pair), "ann")
        sheets += 1
    assert strategy.ask() is None and cr.Resolution([], [], strategy.clusters).clusters.tolist() == labels.tolist()
    assert strategy._asked.max() <= votes and sheets < strategy.n_answers / 3


def test_batches_cost_hardly_more_questions():
    """As the docstring says, of one seed; a rule that assumes "unsure" or "yes" asks twice as many."""
    labels = np.repeat(np.arange(20), [8] * 5 + [4] * 5 + [2] * 5 + [1] * 5)
    i, j = np.triu_indices(len(labels), 1)
    center = np.where(labels[i] == labels[j], 0.7, 0.3)
    similarity = np.clip(center + np.random.default_rng(1).normal(0, 0.15, len(i)), 0, 1)
    asked = []
    for size in (1, 50):
        strategy = ControlQueries(similarity, rng=0)
        crowd = cr.Faulty(cr.Truth(labels), 0.05, rng=0, persistent=True)
        while batch := next_questions(strategy, size):
            for pair in batch:
                strategy.learn(pair, crowd(*pair))
        asked.append(strategy.n_answers)
    assert asked[1] < 1.1 * asked[0]


def test_batches_of_one_are_the_strategy_itself():
    make = functools.partial(ControlQueries, np.random.default_rng(2).random(55), votes=2, rng=3)
    crowd, one, whole = cr.Faulty(cr.Truth(np.arange(11) % 4), 0.2, rng=1), make(), make()
    whole.run(crowd)
    while batch := next_questions(one, 1):
        one.learn(batch[0], crowd.vote(*batch[0], int(one._asked[batch[0]])))
    assert one.answers == whole.answers


def test_a_strategy_that_cannot_be_copied_says_so():
    with pytest.raises(TypeError, match="ask NoisyQueries one question at a time"):
        next_questions(NoisyQueries(np.zeros(6), rng=1), 2)
