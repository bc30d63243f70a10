"""Small instances of errata, recomputed from the printed words in fractions.

The others are shown by their chapters, whose evidence a build judges.
"""

from fractions import Fraction

from in_fractions import integral, node_questions, orders

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
