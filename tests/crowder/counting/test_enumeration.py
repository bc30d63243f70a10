"""All orders of the pairs: the counting by states against going through every order."""

from collections import Counter
from itertools import combinations, permutations
from math import factorial

import pytest

import crowder as cr
from crowder.counting.enumeration import orders_by_questions, questions_of_order


@pytest.mark.parametrize("labels", ["", "a", "ab", "aa", "aab", "abc", "aaaa", "aaab", "aabb", "aabc", "abcd"])
def test_counting_by_states_equals_going_through_every_order(labels):
    pairs = list(combinations(range(len(labels)), 2))
    counted = Counter(len(questions_of_order(order, labels)) for order in permutations(pairs))
    assert orders_by_questions(labels) == dict(counted)


@pytest.mark.parametrize("labels", ["aa", "aab", "abc", "aabb", "aaab", "aabbc", "aaabb", "abcde"])
def test_the_most_questions_of_any_order(labels):
    """Non-matches first: all of them are asked, and n - k matches after that; no order asks more."""
    pairs = list(combinations(range(len(labels)), 2))
    apart = [pair for pair in pairs if labels[pair[0]] != labels[pair[1]]]
    together = [pair for pair in pairs if pair not in apart]
    most = len(apart) + len(labels) - len(set(labels))
    assert len(questions_of_order(apart + together, labels)) == most
    assert max(orders_by_questions(labels)) == most


def test_disney():
    counts = orders_by_questions("aaabb")
    assert sum(counts.values()) == factorial(10)
    assert min(counts) == cr.ideal_queries([3, 2]) == 4  # the paper's good order asks 4
    assert max(counts) == 9  # and its bad order 9
    assert len(questions_of_order([(0, 1), (1, 2), (3, 4), (0, 4)], "aaabb")) == 4


def test_edge_ordering_on_noise_has_the_mean_over_all_orders():
    """Uniform similarities put the pairs in uniformly random order (4 standard errors, 4,000 runs)."""
    import numpy as np

    counts = orders_by_questions("aaabb")
    orders = sum(counts.values())
    mean = sum(q * c for q, c in counts.items()) / orders
    variance = sum(q * q * c for q, c in counts.items()) / orders - mean**2
    truth, rng = cr.Truth(list("aaabb")), np.random.default_rng(2)
    got = np.mean([cr.edge_ordering(rng.random(10), truth, rng=rng).n_queries for _ in range(4000)])
    assert abs(got - mean) < 4 * (variance / 4000) ** 0.5
