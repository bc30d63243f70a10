"""Claims of the appendix *Best play without similarities*."""

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import sympy as sp

from book.claims.lower_bound_proofs import shown_and_hidden, unequal_prior
from book.companion.claims import agreement, also, bounded, identity, of_chapter, says
from crowder.counting.decision_trees import fewest_expected, minimax, worst_case

claim, check = of_chapter(__name__)

n, k = sp.symbols("n k", positive=True)
GAMES = "test_decision_trees.py::"

#: The two worst cases: for given k, and for unknown k.
GIVEN, UNKNOWN = n * (k - 1) - k * (k - 1) / 2, n * k - k * (k + 1) / 2
M = sp.Symbol("M", positive=True, integer=True)
BOXES = (M - 1) * (M + 2) / (2 * M)


def _coins():
    i = sp.Symbol("i", positive=True, integer=True)
    return identity(
        "the search among boxes, and both cases: each difference is a product of nonnegative factors",
        (sp.summation(i, (i, 1, M - 1)) + M - 1) / M - BOXES, BOXES - M / 2 - (M - 2) / (2 * M),
        (n - k) * k / 4 - n * k / 8 - k * (n - 2 * k) / 8,  # k ≤ n/2
        k * (k + 1) / 4 - n * k / 8 - k * (2 * k + 2 - n) / 8,  # k > n/2
    )  # fmt: skip


def _one_pair(records):
    """Clusterings in which exactly one pair matches."""
    for u, v in combinations(range(records), 2):
        yield tuple(u if w == v else w for w in range(records))


def _best_against(clusterings):
    """Expected questions of an optimal strategy when these are equally likely."""
    return fewest_expected(dict.fromkeys(clusterings, Fraction(1)))


@cache
def _best_play_without_similarities(most_records):
    """Exhaustive search, the formula, and optimal strategies for random partitions."""
    played = [(r, c, t) for r in range(2, most_records + 1) for c in range(1, r + 1) for t in (False, True)]
    formula = [(r, c, t) for r in range(2, 13) for c in range(1, r) for t in (False, True)]
    hidden = [(2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (4, 2)]
    return [
        agreement(
            f"minimax by exhaustive search, all $k \\le n \\le {most_records}$, $k$ given and unknown",
            [minimax(r, c, known=t) for r, c, t in played], [worst_case(r, c, known=t) for r, c, t in played],
        ),
        agreement(
            "the formula in the code against {eq}`eq-lower-game`, $n \\le 12$",
            [worst_case(r, c, known=t) for r, c, t in formula],
            [(GIVEN if t else UNKNOWN).subs({n: r, k: c}) for r, c, t in formula],
        ),
        agreement(
            "one matching pair among 3, 4, 5 records: optimal strategy, by search",
            [_best_against(_one_pair(c)) for c in (3, 4, 5)],
            [Fraction(sum(min(b, comb(c, 2) - 1) for b in range(1, comb(c, 2) + 1)), comb(c, 2)) for c in (3, 4, 5)],
        ),
        bounded(
            "$(n-k)\\,\\varphi(k)/2$ against the optimal strategy, by search, for up to three hidden records",
            [float(u * BOXES.subs(M, c) / 2) for c, u in hidden],
            [float(_best_against(shown_and_hidden(c, u))) for c, u in hidden],
        ),
        unequal_prior(),
    ]  # fmt: skip


def _searched(most_records):
    """The same as support, with what the page says of it."""
    searched, *others = _best_play_without_similarities(most_records)
    yield also(says(searched, f"A search through all questions and answers finds exactly these worst cases, for all "
                              f"$k \\le n \\le {most_records}$."))  # fmt: skip
    yield from map(also, others)


@claim("C05")
def without_similarities(most_records=4):
    """`most_records`: for the exhaustive search."""
    yield identity("deterministic: the worst case less $nk/4$ is $k(n-2)/4 + k(n-k)/2$",
                   UNKNOWN - n * k / 4 - k * (n - 2) / 4 - k * (n - k) / 2)  # fmt: skip
    yield _coins()
    yield identity("randomised, $k = 1$ and $k = n$: the ideal count less $nk/8$, for $n \\ge 2$",
                   (n - 1) - n / 8 - (7 * (n - 2) + 6) / 8, n * (n - 1) / 2 - n**2 / 8 - n * (3 * n - 4) / 8,
    )  # fmt: skip
    yield from _searched(most_records)


@claim("B31")
def optimal_strategies_without_similarities(most_records=4):
    """`most_records`: for the exhaustive search."""
    spare = []  # the difference of the two sides, for k = 2, ..., 6 clusters of any sizes
    for clusters in range(2, 7):
        size = sp.symbols(f"n1:{clusters + 1}")
        separating = sum(a + b - 1 for a, b in combinations(size, 2))
        spare.append(separating - (sum(size) * (clusters - 1) - comb(clusters, 2)))
    upper = [k * (k - 1) / 2 + (n - k) * (k - 1) - GIVEN, k * (k - 1) / 2 + (n - k) * k - UNKNOWN]
    yield identity("the non-matches between all pairs of clusters; the lower bound equals the upper bound",
                   *spare, *upper, GIVEN + n - k - UNKNOWN)  # fmt: skip
    yield _coins()
    yield from _searched(most_records)
