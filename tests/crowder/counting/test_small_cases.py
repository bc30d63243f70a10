"""All orders of the pairs: the counting by states against going through every order, and its extremes."""

from collections import Counter
from itertools import combinations, permutations
from math import factorial

import naive
import pytest
from reference import ask_in_order

import crowder as cr
from crowder.counting.small_cases import orders_by_questions, partitions


@pytest.mark.parametrize("labels", ["", "a", "ab", "aa", "aab", "abc", "aaaa", "aaab", "aabb", "aabc", "abcd"])
def test_counting_by_states_equals_going_through_every_order(labels):
    pairs = combinations(range(len(labels)), 2)
    orders = (ask_in_order(order, len(labels), lambda i, j: labels[i] == labels[j]) for order in permutations(pairs))
    assert orders_by_questions(labels) == dict(Counter(map(len, orders)))


@pytest.mark.parametrize(("labels", "most"), [("aaabb", 9), ("aabbc", 10), ("abcde", 10)])
def test_all_orders_and_the_fewest_and_the_most_questions(labels, most):
    """The most: non-matches come first, and all of them are asked, then n - k matches. Disney's are the first."""
    counts = orders_by_questions(labels)
    assert sum(counts.values()) == factorial(10)
    assert (min(counts), max(counts)) == (cr.ideal_queries([*Counter(labels).values()]), most)


def test_partitions_are_all_labellings_up_to_names():
    for n in range(6):
        assert sorted(partitions(n)) == sorted(naive.clusterings(n))
