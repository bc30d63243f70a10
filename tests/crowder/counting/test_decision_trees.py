"""Best play against questions: the search against formulas, and against a search written another way."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import pytest

from crowder.counting.decision_trees import certificate, fewest_expected, minimax, partitions, worst_case


def plain_minimax(n, k, known):
    """The same game on sets of partitions that are still possible, instead of graphs of non-matches."""
    worlds = [w for w in partitions(n) if (max(w) + 1 == k if known else True)]
    reachable = sum(1 << i for i, w in enumerate(worlds) if max(w) + 1 <= k)
    yes = {sum(1 << i for i, w in enumerate(worlds) if w[u] == w[v]) for u, v in combinations(range(n), 2)}

    @cache
    def value(possible):
        if possible & (possible - 1) == 0:
            return 0
        splits = [(possible & y, possible & ~y) for y in yes]
        return min(1 + max(value(part) for part in split if part & reachable) for split in splits if all(split))

    return value((1 << len(worlds)) - 1)


@pytest.mark.parametrize("known", [False, True])
def test_best_play_is_the_formula(known):
    """nk - C(k+1, 2) not told k; told k, n(k-1) - C(k, 2), and nothing to ask for k = n."""
    for n in range(1, 7):
        for k in range(1, n + 1):
            formula = n * k - comb(k + 1, 2) if not known else (n * (k - 1) - comb(k, 2) if k < n else 0)
            assert minimax(n, k, known=known) == worst_case(n, k, known=known) == formula


@pytest.mark.parametrize("known", [False, True])
def test_the_search_over_graphs_is_the_search_over_partitions(known):
    for n in range(2, 5):
        for k in range(1, n + 1):
            assert minimax(n, k, known=known) == plain_minimax(n, k, known), (n, k)


def test_five_records_by_hand():
    """Told two clusters, every question but a redundant one halves: a tree on five records, 4 questions."""
    assert worst_case(5, 2, known=True) == 4
    # Not told: 1 + 2 + 2 + 2 questions, the j-th record against min(j - 1, 2) clusters.
    assert worst_case(5, 2) == 7


@pytest.mark.parametrize("bad", [(3, 0), (3, 4), (0, 0)])
def test_more_clusters_than_records_are_refused(bad):
    for function in (worst_case, minimax):
        with pytest.raises(ValueError, match="k must be"):
            function(*bad)


def boxes(count):
    """Mean number of boxes opened until one knows which of them holds it; the last need not be opened."""
    return Fraction(sum(min(i, count - 1) for i in range(1, count + 1)), count)


def test_one_match_among_all_pairs_is_a_search_through_boxes():
    """Two noes imply nothing while one pair matches, so every question opens one box: a pair."""
    for records in (2, 3, 4, 5):
        worlds = [
            tuple(u if w == v else w for w in range(records)) for u, v in combinations(range(records), 2)
        ]  # fmt: skip
        found = fewest_expected(dict.fromkeys(worlds, Fraction(1)))
        count = comb(records, 2)
        assert found == boxes(count) == Fraction((count - 1) * (count + 2), 2 * count)


@pytest.mark.parametrize(("shown", "hidden"), [(2, 3), (3, 1), (3, 2), (3, 3), (4, 2)])
def test_coins_save_no_more_than_a_constant_factor(shown, hidden):
    """Hidden records in random clusters with a shown record each: at least half a search each, and nk/8."""
    worlds = [tuple(range(shown)) + rest for rest in product(range(shown), repeat=hidden)]
    found = fewest_expected(dict.fromkeys(worlds, Fraction(1)))
    assert found >= hidden * boxes(shown) / 2
    assert hidden < shown or found >= Fraction((shown + hidden) * shown, 8)


def test_a_prior_that_is_certain_needs_no_question():
    assert fewest_expected({(0, 1, 0): 1.0, (5, 2, 5): 3.0}) == 0  # one clustering under two names


def test_the_fewest_answers_that_leave_no_doubt():
    """Told k ≥ 2, the n - k matches; not told, one non-match for each two clusters as well. Told k = 1, nothing."""
    for n in range(1, 6):
        for labels in partitions(n):
            k = max(labels) + 1
            assert certificate(labels) == n - k + comb(k, 2)
            assert certificate(labels, known=True) == (n - k if k > 1 else 0)
