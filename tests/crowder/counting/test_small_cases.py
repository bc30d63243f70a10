"""All orders of the pairs: the counting by states against going through every order, and against runs."""

from collections import Counter
from itertools import combinations, permutations
from math import factorial

import naive
import pytest

import crowder as cr
from crowder.counting.small_cases import orders_by_questions, partitions, questions_of_order


@pytest.mark.parametrize("labels", ["", "a", "ab", "aa", "aab", "abc", "aaaa", "aaab", "aabb", "aabc", "abcd"])
def test_counting_by_states_equals_going_through_every_order(labels):
    pairs = list(combinations(range(len(labels)), 2))
    counted = Counter(len(questions_of_order(order, labels)) for order in permutations(pairs))
    assert orders_by_questions(labels) == dict(counted)


@pytest.mark.parametrize("labels", ["aaab", "aabbc", "aaabb", "abcde"])
def test_the_most_questions_of_any_order(labels):
    """Non-matches first: all of them are asked, and n - k matches after that; no order asks more."""
    pairs = sorted(combinations(range(len(labels)), 2), key=lambda pair: labels[pair[0]] == labels[pair[1]])
    apart = sum(labels[i] != labels[j] for i, j in pairs)
    most = apart + len(labels) - len(set(labels))
    assert len(questions_of_order(pairs, labels)) == most == max(orders_by_questions(labels))


def test_disney():
    """The paper's good order asks 4 questions about the five records of Figure 1, and its bad order 9."""
    counts = orders_by_questions("aaabb")
    assert sum(counts.values()) == factorial(10)
    assert (min(counts), max(counts)) == (cr.ideal_queries([3, 2]), 9) == (4, 9)
    assert len(questions_of_order([(0, 1), (1, 2), (3, 4), (0, 4)], "aaabb")) == 4


def test_partitions_are_all_labellings_up_to_names():
    for n in range(6):
        assert sorted(partitions(n)) == sorted(naive.clusterings(n))
