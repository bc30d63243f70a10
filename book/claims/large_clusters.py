"""Claims of the appendix *Large clusters*."""

from functools import cache
from itertools import product
from math import pi

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.exact_counts import RATIO, approach, decades, extrapolated_limits, growing_clusters, limiting_constants
from book.companion.claims import (
    agreement,
    also,
    identity,
    inequality,
    limit,
    of_chapter,
    says,
)
from crowder.counting.asymptotics import edge_limit, giant_share, node_limit
from crowder.counting.expected_counts import expected_across

claim, check = of_chapter(__name__)


@claim("B67")
def limit_of_edge_ordering(growth=None, points=1000):
    growth = growing_clusters() if growth is None else growth
    c = np.linspace(1, 60, 25 * points + 1)
    first_term = 1 + np.trapezoid([(1 - giant_share(value)) ** 2 for value in c], c)
    c_, ratio = sp.symbols("c lambda", positive=True)
    yield inequality("the ratio of the geometric series is at most one half from $c = 8$ on",
                     sp.Rational(1, 2) - c_ * sp.exp(1 - c_ / 2), over={c_: (8, sp.oo)})  # fmt: skip
    yield identity("the dominating function has a finite integral: its antiderivative",
                   (sp.diff(-2 / ratio * sp.exp(-ratio * c_ / 2), c_), sp.exp(-ratio * c_ / 2)))  # fmt: skip
    yield from map(also, approach(growth, "edge", limiting_constants(points), within=0.02))
    limits = extrapolated_limits(growth, "edge")
    off = np.abs(np.divide(limits, limiting_constants(points)) - 1).max()
    said = f"Extrapolated exact counts are within {off:.1%} of the limits for all {len(RATIO)} models."
    yield says(also(agreement("the same counts, extrapolated, against $K(\\lambda)$", limits,
                              limiting_constants(points), tolerance=2e-3, relative=True)), said)  # fmt: skip
    yield also(agreement("`edge_limit` against $K(\\lambda)$ by iteration", [edge_limit(r) for r in RATIO.values()],
                         limiting_constants(points), tolerance=1e-4, relative=True))  # fmt: skip
    yield also(agreement("the first term is $\\pi^2/3 - 2$", first_term, pi**2 / 3 - 2, tolerance=1e-5))
    yield from map(also, decades(growth))


@claim("B68")
def limit_of_node_ordering(growth=None):
    growth = growing_clusters() if growth is None else growth
    closed = [2 * r / (1 + r) for r in RATIO.values()]
    x, u, ratio = sp.symbols("x u lambda", positive=True)
    inner = sp.simplify(sp.integrate(x * sp.exp(-x * (1 + ratio) * u), (u, 0, sp.oo)))
    double = sp.integrate(inner, (x, 0, 1))
    yield identity("the double integral", (2 * ratio * double, 2 * ratio / (1 + ratio)))
    yield from map(also, approach(growth, "node", closed, within=0.002))
    limits = extrapolated_limits(growth, "node")
    off = np.abs(np.divide(limits, closed) - 1).max()
    said = f"Extrapolated exact counts are within {off:.0e} of the limits for all {len(RATIO)} models."
    yield says(also(agreement("the same counts, extrapolated", limits, closed, tolerance=1e-4, relative=True)), said)
    yield also(agreement("`node_limit`", [node_limit(r) for r in RATIO.values()], closed, tolerance=1e-14))


def _by_series(start, terms):
    """The limit of edge ordering as an integral over c, with the Borel distribution of the small components."""
    a, c = np.arange(1, terms), start + np.linspace(0, 30, terms + 1)
    theta = np.array([giant_share(value) for value in c])[:, None]
    law = np.exp(-np.outer(c, a) + (a - 1) * np.log(np.outer(c, a)) - np.cumsum(np.log(a)))
    gamma = (law * np.exp(-(c - start)[:, None] * theta * a)).sum(axis=1)
    return np.trapezoid((1 - theta[:, 0]) ** 2 + 2 * theta[:, 0] * gamma, c)


@cache
def _share(ordering, epsilon, c):
    """The exact count of Dist-2 across two clusters of about c/H² records, over its limit."""
    H2 = epsilon / (1 - epsilon)
    m = max(1, round(c / H2))
    per_record = {"edge": edge_limit, "node": node_limit}[ordering]
    return expected_across(cr.dist2(epsilon), m, m, ordering, nodes=8) / (m * per_record(1, m * H2))


def _towards(ordering, halving):
    """These shares, extrapolated from two values of ε, at three sizes of the clusters."""
    power = 2 / 3 if ordering == "edge" else 1
    for c in (0.5, 1.0, 2.0):
        first, second = (_share(ordering, epsilon, c) for epsilon in halving)
        yield second + (second - first) / ((halving[0] / halving[1]) ** power - 1)


@claim("B69")
def limit_for_dist2(halving=(0.008, 0.004), terms=1000):
    dial = np.array([0.4, 0.04, 0.004, 0.0004])
    x, degree, start = sp.symbols("x c c_0", positive=True)
    rest = -sp.exp(-x * (2 * degree - start))  # an antiderivative in c that vanishes at infinity
    yield identity("the double integral of node ordering",
                   (sp.diff(rest, degree), 2 * x * sp.exp(-x * (2 * degree - start))),
                   (-rest.subs(degree, start), sp.exp(-start * x)),
                   (start * sp.integrate(sp.exp(-start * x), (x, 0, 1)), 1 - sp.exp(-start)))  # fmt: skip
    yield inequality("the ratio of the geometric series is at most one half from $c = 8$ on",
                     sp.Rational(1, 2) - degree * sp.exp(1 - degree / 2), over={degree: (8, sp.oo)})  # fmt: skip
    for ordering, c in product(("edge", "node"), (0.5, 1.0, 2.0)):
        yield also(limit(
            f"{ordering} ordering, $c_0 = {c:g}$: exact counts over the limit, ε from {dial[0]} to {dial[-1]}",
            1 / dial, [_share(ordering, epsilon, c) for epsilon in dial], 1.0, within=0.01))  # fmt: skip
    for ordering in ("edge", "node"):
        yield also(agreement(
            f"{ordering} ordering: exact counts at ε = {halving[0]} and {halving[1]}, extrapolated, over the limit, "
            "$c_0$ = ½, 1, 2", list(_towards(ordering, halving)), [1] * 3, tolerance=0.01))  # fmt: skip
    starts = (1.2, 2, 4)
    said = f"The limit of edge ordering, computed in a second way, agrees for {len(starts)} cluster sizes."
    yield says(also(agreement("the integral with the distribution of small components, $c_0$ = 1.2, 2, 4",
                         [edge_limit(1, c) for c in starts], [_by_series(c, terms) for c in starts], tolerance=1e-3,
                         relative=True)), said)  # fmt: skip
    fine = np.linspace(0.02, 8, 400)
    yield also(agreement("`node_limit` against $1 - e^{-c_0}$", [c * node_limit(1, c) for c in fine], 1 - np.exp(-fine),
                         tolerance=1e-12))  # fmt: skip
