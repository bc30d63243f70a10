"""Claims of the appendix *An audit*."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, log

import numpy as np
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion import audits
from book.companion.claims import agreement, also, bounded, exceeds, identity, of_chapter, says, simulation
from crowder.beyond.audit import audit_cost, limits

__all__ = ["check", "crossings", "exact_errors", "wrong_ever"]

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
TESTS = "test_audit.py::test_"
#: How far the mean cost may be from the expected one, relatively.
NEAR = 0.02


@claim("B166")
def limit_for_the_matches_missed(errors=None, alpha=0.2):
    """`errors`: as for B168."""
    x, r, k = sp.symbols("x R k", positive=True)
    yield identity(
        "as long as no match is found, exp(-H) is the hypergeometric probability of missing all x in d draws",
        *(
            sp.gammasimp(sp.expand_func(sp.prod([1 - x / (r - s) for s in range(d)])))
            - sp.prod([r - x - s for s in range(d)]) / sp.prod([r - s for s in range(d)])
            for d in range(1, 6)
        ),
    )
    yield identity(
        "the shares of the limits add up to less than the whole: differences of 1/(k + 1)²",
        (2 * k + 3) / ((k + 1) ** 2 * (k + 2) ** 2) - (1 / (k + 1) ** 2 - 1 / (k + 2) ** 2),
    )
    errors = exact_errors(alpha, 9) if errors is None else errors
    yield also(bounded("exact probability of an error in small populations", errors, alpha))


@claim("B167")
def limits_of_the_exposure(alpha=0.3, most=40, runs=20_000, seed=1):
    first, second = limits(alpha, 2)
    yield agreement("the first two limits", [np.exp(-first), first * np.exp(-second)], [3 * alpha / 4, 5 * alpha / 36],
                    tolerance=1e-12)  # fmt: skip
    share, expected = (
        crossings(alpha, most, runs, np.random.default_rng(seed)).mean(),
        alpha * (1 - 1 / (most + 1) ** 2),
    )
    yield says(
        simulation("processes that cross one of the limits", share, np.sqrt(expected * (1 - expected) / runs), expected,
                   size=runs),
        f"Of {runs:,} processes, {share:.1%} cross one of {most} limits; it should be {expected:.1%}.",
    )  # fmt: skip


@claim("B168")
def errors_in_small_populations(errors=None, alpha=0.2):
    """`errors`: for each number of pairs and of matches, the share of orders with an error, a Fraction."""
    errors = exact_errors(alpha, 9) if errors is None else errors
    yield says(
        bounded(f"exact shares of orders with an error, {len(errors)} populations, α = {alpha:g}", errors, alpha),
        f"In {len(errors)} populations, the error probability is at most {float(max(errors)):.3f} (α = {alpha:g}).",
    )


@claim("B169")
def recall_below_what_is_certified(rows=None):
    """`rows`: as `book.companion.audits.measured` returns them."""
    rows = audits.recorded() if rows is None else rows
    runs, wrong = int(rows["runs"].sum()), int(rows["wrong"].sum())
    most = stats.binom.ppf(1 - 1e-4, rows["runs"], 0.05)
    yield bounded(f"wrong runs of each of {len(rows)} settings, against what 5 % could give", rows["wrong"], most)
    yield says(
        exceeds("runs whose recall is at least the certified one", 1 - wrong / runs, np.sqrt(0.05 * 0.95 / runs), 0.95,
                size=runs),
        f"In {wrong} of {runs:,} runs the recall was below the certified one; {0.05 * runs:,.0f} were allowed.",
    )  # fmt: skip


@claim("B170")
def expected_cost(rows=None):
    """`rows`: as for B169."""
    rows = audits.recorded() if rows is None else rows
    none = rows[rows["discovered"] == 0]
    off = (none["audited"] / none["expected"] - 1).abs()
    yield says(
        bounded(f"{len(none)} settings in which no audit found a match: mean questions against the formula", off, NEAR,
                where="the settings of the table in which no audit found a match"),
        f"In {len(none)} settings without a discovery, the mean cost is within {off.max():.1%} of the formula.",
    )  # fmt: skip


# --- by definition ----------------------------------------------------------------------------------------------------


def wrong_ever(pairs: int, matches: int, alpha: float) -> Fraction:
    """Probability that the true number is ever rejected: over all orders in which the pairs may be drawn.

    >>> wrong_ever(6, 3, 0.5)  # if the first two pairs show none of the three
    Fraction(1, 5)
    """
    wrong, limit = 0, limits(alpha, 16)
    for places in combinations(range(pairs), matches):
        found, exposure = 0, 0.0
        for s in range(pairs):
            if s in places:
                found += 1
                continue
            exposure -= log(1 - (matches - found) / (pairs - s))
            if exposure >= limit[found] - 1e-9:
                wrong += 1
                break
    return Fraction(wrong, comb(pairs, matches))


def exact_errors(alpha: float, most: int) -> list[Fraction]:
    """`wrong_ever` for every number of matches among up to so many pairs."""
    return [wrong_ever(pairs, matches, alpha) for pairs in range(1, most + 1) for matches in range(pairs + 1)]


def crossings(alpha: float, most: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """For each of so many Poisson processes of rate 1, whether it has at most k points before the limit k, ever."""
    points = np.cumsum(rng.exponential(size=(runs, most)), axis=1)  # at most k before c: number k + 1 comes later
    return (points > limits(alpha, most)).any(axis=1)
