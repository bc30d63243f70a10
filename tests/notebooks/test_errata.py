"""Small instances of errata, recomputed from the printed words in fractions.

The others are shown by their chapters, whose evidence a build judges.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from in_fractions import integral, node_questions, orders
from naive import clusterings

import crowder as cr

F = Fraction
QUARTER, THIRD = F(1, 4), F(1, 3)


def sorted_three(model):
    """Records 0 and 1 match, 2 does not: expected questions when sorted, chance that a red pair wins the last race of a
    record that matches, chance that 0 comes before 2."""
    pairs, asked, race, lost, before = [(0, 1), (0, 2), (1, 2)], 0, 0, 0, 0
    for order, chance in orders(model, "grr").items():
        top = pairs[order[0]]  # its two records have the largest sums
        count, _ = node_questions("aab", [pairs[i] for i in order], [*top, 3 - sum(top)])
        asked += chance * count
        race += chance * (order[0] != 0)
        lost += chance * (count == 3)
        before += chance * (order.index(0) < order.index(2))
    return asked, lost / race, before


def test_three_records_sorted_by_expected_size():
    """E03: 7/17 is more than L(1) = 3/8; 5/8 is more than a coin; 71/32 is less than 9/4 in random order."""
    model = cr.dist1(QUARTER)
    assert sorted_three(model) == (F(71, 32), F(7, 17), F(5, 8))
    assert integral(model, 1) == F(3, 8) == 1 - F(5, 8)
    assert cr.expected_queries_exact(model, [2, 1], "node") == F(9, 4)
    for other in (cr.dist1(F(1, 10)), cr.dist2(THIRD)):
        assert sorted_three(other)[2] == 1 - integral(other, 1) > F(1, 2)


def certificate(labels, known=False):
    """The least number of true answers that leave one clustering possible, over all sets of questions."""
    worlds = {parts for parts in clusterings(len(labels)) if not known or len({*parts}) == len({*labels})}
    agree = [{parts for parts in worlds if (parts[u] == parts[v]) == (labels[u] == labels[v])}
             for u, v in combinations(range(len(labels)), 2)]  # fmt: skip
    sizes = (size for size in range(len(agree) + 1) for some in combinations(agree, size)
             if len(worlds.intersection(*some)) == 1)  # fmt: skip
    return next(sizes)


@pytest.mark.parametrize("labels", ["a", "aa", "ab", "aab", "abc", "aabb", "aaab", "abcd"])
def test_what_the_answers_alone_must_settle(labels):
    """C07, corrected: n - k + C(k, 2) when k is not told, n - k when it is (k ≥ 2)."""
    n, k = len(labels), len(set(labels))
    assert certificate(labels) == n - k + comb(k, 2) == cr.ideal_queries(list(Counter(labels).values()))
    if k > 1:
        assert certificate(labels, known=True) == n - k
