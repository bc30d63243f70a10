"""Claims of the appendix *Edge ordering: worst cases, and a bound for every model*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from math import comb, log, sqrt

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.edge_ordering import BOUNDS, HALF, TINY, graphs, k, n, questions_and_components, sum_over_pairs, x
from book.companion import by_hand, naive
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    identity,
    inequality,
    of_chapter,
    says,
    trend,
)
from book.companion.edge_bounds import gap_model, questions_asked, small_models
from crowder.counting.bounds import disconnected

claim, check = of_chapter(__name__)


@cache
def _connected_graphs(m):
    """The numbers of connected graphs on m vertices with 0, 1, 2, ... edges."""
    tally = [0] * (comb(m, 2) + 1)
    for edges in graphs(m):
        tally[len(edges)] += len(naive.components(range(m), edges)) == 1
    return tally


def exact_D(model, m):
    """The probability that a cluster of m is not connected at the level of a non-match, over all graphs."""
    y, total, below = sp.Symbol("y"), sp.Integer(0), sp.Integer(0)
    for (a, b), g, h in zip(pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        a, b, g, h = map(sp.nsimplify, (a, b, g, h))
        p, pairs = 1 - below - g * y, comb(m, 2)
        whole = sum(many * p**e * (1 - p) ** (pairs - e) for e, many in enumerate(_connected_graphs(m)))
        total += sp.integrate(sp.expand(h * (1 - whole)), (y, 0, b - a))
        below += g * (b - a)
    return total


def _corners_in_fractions(model, sizes):
    """The corrected bound, from its formula."""
    D = {m: exact_D(model, m) for m in set(sizes)}
    return sum(sizes) - len(sizes) + sum(
        min(a * b, a + a * b * D[b], b + a * b * D[a], 1 + a * b * (D[a] + D[b])) for a, b in combinations(sizes, 2)
    )  # fmt: skip


@claim("C03")
def factor_of_order_n(runs=None, ratios=None):
    """`runs` and `ratios`: from n to the questions asked, and to expected questions over the optimum."""
    backwards = cr.SimilarityModel.from_steps([0, HALF, 1], green=[2, 0], red=[0, 2])
    if runs is None:
        rng = np.random.default_rng(2017)
        runs = {size: questions_asked([size // 2] * 2, backwards, rng) for size in (4, 10, 40, 100)}
    if ratios is None:
        ratios = {size: cr.expected_queries(backwards, [size // 2] * 2) / (size - 1) for size in (50, 1000, 50_000)}
    count = n**2 / 4 + n - 2
    yield identity(
        "the count, and both sides of the inequalities", (n / 2) ** 2 + (n - 2) - count,
        count - n / 4 * (n - 1) - (5 * n / 4 - 2), n * (n - 1) / 2 / (n - 1) - n / 2,
        k * (k - 1) / 2 - (k - 1) - (k - 1) * (k - 2) / 2,
        shows="$n^2/4 + n - 2$ questions where $n - 1$ are enough: at least $n/4$, at most $n/2$ times the optimum",
    )  # fmt: skip
    if max(runs) >= 1000 * min(runs):
        yield also(trend("questions of the runs, against $n$", list(runs), list(runs.values()), exponent=2, within=0.1))
    yield also(trend("expected questions over the optimum, against $n$", list(ratios), list(ratios.values()),
                     exponent=1, within=0.02))  # fmt: skip
    said = (
        f"Two clusters of {max(runs) // 2:,} records take {runs[max(runs)]:,} questions, where "
        f"{max(runs) - 1:,} would do."
    )
    yield says(also(agreement(f"`cr.edge_ordering` asks $n^2/4 + n - 2$, up to $n = {max(runs):,}$",
                         list(runs.values()), [size**2 // 4 + size - 2 for size in runs])), said)  # fmt: skip
    yield also(agreement("`cr.ideal_queries` is $n - 1$", [cr.ideal_queries([size // 2] * 2) for size in runs],
                         [size - 1 for size in runs]))  # fmt: skip


@claim("B41")
def bound_for_every_model(orders=None):
    """`orders` of six records."""
    models = small_models()
    yield sum_over_pairs()
    yield questions_and_components(orders)
    said = (
        f"For {len(models)} models and {len(TINY)} lists of sizes the computed bound is the formula, summed "
        "over all graphs."
    )
    yield says(also(agreement(
        "`cr.edge_bound(…, printed=False)` against the formula, over all graphs",
        [cr.edge_bound(model, sizes, printed=False) for model in models for sizes in TINY],
        [_corners_in_fractions(model, sizes) for model in models for sizes in TINY], tolerance=1e-10, relative=True,
    )), said)  # fmt: skip


@claim("B42")
def any_factor(points=4):
    """`points`: values of m from 10 to 10,000."""
    allowed = 2 * x + 4 + (2 + sp.sqrt(6 * x * sp.log(x))) ** 2
    limit = sp.limit((x + 1) ** 2 / 4 / allowed * sp.log(x) / x, x, sp.oo)
    sizes = np.unique(np.geomspace(10, 10_000, points).astype(int))
    instances = [(gap_model(1 / m), [int(m)] * 2) for m in sizes]
    exact = np.array([cr.expected_queries(*instance) for instance in instances])
    printed = np.array([cr.edge_bound(*instance) for instance in instances])
    root = sp.sqrt(6 * x * sp.log(x))  # s - 1
    yield identity("components, exponent and limit", (x - x * (x - 1) / 2 / x, (x + 1) / 2),
                   (root**2 / 2, 3 * x * sp.log(x)), (x * limit, x / 24),
                   shows=rf"exact over printed at $m = {sizes[-1]:,}$: {exact[-1] / printed[-1]:.0f}")  # fmt: skip
    yield inequality("$\\ln(1 - p) \\le -p$", -x - sp.log(1 - x), over={x: (0, 1)})
    yield also(cases("components, and the tail", *(
        by_hand.expected_components(m, Fraction(1, m)) >= Fraction(m + 1, 2) for m in range(2, 41)), *(
        log(1 - 1 / m) * comb(1 + int(np.ceil(sqrt(6 * m * log(m)))), 2) <= -3 * log(m) for m in range(2, 2000)),
        where="$m$ up to 40, and up to 2,000"))  # fmt: skip
    said = (
        f"Two clusters of {sizes[-1]:,} records take {exact[-1] / printed[-1]:.0f} times the questions that "
        "the printed bound allows."
    )
    yield says(
        also(
            bounded(f"$\\frac14(m+1)^2$ against the exact count, $m$ up to {sizes[-1]:,}", (sizes + 1) ** 2 / 4, exact)
        ),
        said,
    )
    yield also(bounded("the printed bound against an upper bound on it", printed,
                       sp.lambdify(x, allowed)(sizes.astype(float))))  # fmt: skip
    yield also(trend("non-matches asked about, against $m$", sizes, exact - 2 * (sizes - 1), exponent=2, within=0.1))
    yield also(trend(r"the printed bound, against $m \ln m$", sizes * np.log(sizes), printed, exponent=1, within=0.1))
