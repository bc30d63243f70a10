"""Claims of the appendix *Node ordering on the two models*."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb, isqrt

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.node_ordering import (
    LEAST,
    bound_checked,
    count_checked,
    e,
    evenly,
    half,
    k,
    m,
    n,
    questions_asked,
    sharp,
    sizes_of,
    theta,
)
from book.companion.claims import (
    Evidence,
    agreement,
    also,
    bounded,
    cases,
    identity,
    inequality,
    limit,
    of_chapter,
    says,
    trend,
)
from crowder.counting.arrival_orders import expected_queries_in_order, prob_nonmatch_first
from crowder.counting.bounds import node_bound
from crowder.counting.expected_counts import expected_queries
from crowder.models import steps
from crowder.orderings import NodeOrdering
from crowder.resolution import ideal_queries

claim, check = of_chapter(__name__)

third = sp.Rational(1, 3)
#: The values of ε for checks.
DIAL = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.49)


# --- Dist-2 ----------------------------------------------------------------------------------------------------------

UNEVEN = [[500] + [1] * 100, [50] * 5 + [10] * 20 + [2] * 50, np.arange(1, 60), 2 ** np.arange(10)]


def _certain() -> tuple[sp.Expr, sp.Expr]:
    """Dist-2: the probability that a match is determined; the density of non-matches there."""
    edges, green, red = steps("dist2", e)
    return green[-1] * (edges[-1] - edges[-2]), red[-1]


def certainty() -> Evidence:
    certain, _ = _certain()
    detours = k * (k - 1) * (1 - theta) / theta
    return identity(
        "$\\theta = H^2$; the sum over one cluster; over all",
        certain - e / (1 - e), certain - (1 - (1 - 2 * e) / (1 - e)),
        (1 - theta) / (1 - (1 - theta)) - (1 - theta) / theta,
        LEAST + detours - (n - k + k * (k - 1) / 2 * (2 / theta - 1)),
        1 / e - (2 / certain - 1) / 2 - sp.Rational(3, 2),  # half the last bracket is below 1/ε
    )  # fmt: skip


@claim("B55")
def certain_matches(totals=(30,), epsilons=(0.05, 0.3)):
    _, non_matches = _certain()
    yield certainty()
    yield also(cases("above $1 - \\epsilon$ there are only matches", non_matches == 0, steps("dist2", e)[1][-1] != 0,
                     where="every ε"))  # fmt: skip
    shapes = [evenly(a, b) for a in totals for b in (2, 5, a // 10, a // 2, a)] + UNEVEN[1:3]
    rows = []
    for eps in epsilons:
        for sizes in shapes:
            model, labels, chance = cr.dist2(eps), np.repeat(range(len(sizes)), sizes), eps / (1 - eps)
            limit = sum(sizes) - len(sizes) + comb(len(sizes), 2) * (2 / chance - 1)
            rows.append((limit, expected_queries(model, sizes, "node"), expected_queries_in_order(model, labels)))
    limit, random_order, in_turn = np.array(rows).T
    table = np.array([prob_nonmatch_first(cr.dist2(eps), 40, 40) for eps in epsilons])
    undetermined = np.array([(1 - eps / (1 - eps)) ** np.arange(41)[:, None] for eps in epsilons])
    yield also(bounded("$P(s, t) \\le (1 - \\theta)^s$, since all $s$ matches are undetermined; $s, t \\le 40$",
                       table, undetermined * (1 + 1e-9)))  # fmt: skip
    said = f"On {len(rows)} instances the exact count is at most {(random_order / limit).max():.0%} of the bound."
    yield says(also(bounded(f"exact counts, random order, {len(rows)} instances", random_order, limit)), said)
    yield also(bounded("exact counts, arrival cluster by cluster", in_turn, limit))
    yield also(count_checked())


#: Cluster sizes of the runs with an adversarial arrival order.
ADVERSARIAL = [6, 5, 4, 2]


def _independent(joined: np.ndarray) -> list[int]:
    """A largest independent set of the records."""
    for many in range(len(joined), 0, -1):
        for some in combinations(range(len(joined)), many):
            if not joined[np.ix_(some, some)].any():
                return list(some)
    return []


def adversarial_run(rng: np.random.Generator) -> tuple[list[int], int]:
    """Questions under three arrival orders, one of them adversarial, and the bound from the independent sets."""
    data = cr.datasets.synthetic(ADVERSARIAL, cr.dist2(0.2), rng=rng)
    truth, best, others = cr.Truth(data.labels), [], []
    for i in range(len(ADVERSARIAL)):
        own = np.flatnonzero(data.labels == i)
        chosen = _independent(data.similarity[np.ix_(own, own)] * (1 - np.eye(len(own))) > 0.8)
        best.append(own[chosen])
        others.append(np.delete(own, chosen))
    limit = ideal_queries(ADVERSARIAL) + (len(ADVERSARIAL) - 1) * sum(len(one) - 1 for one in best)
    orders = ("expected-size", "random", np.concatenate(best + others))
    return [questions_asked(data.similarity, truth, rng, order=order) for order in orders], limit


def _mean_alpha(records: int, chance: float) -> float:
    """E[α] of G(m, θ), over all graphs."""
    pairs, total = list(combinations(range(records), 2)), 0.0
    for graph in range(2 ** len(pairs)):
        joined = np.zeros((records, records), dtype=bool)
        there = [pair for bit, pair in enumerate(pairs) if graph >> bit & 1]
        for i, j in there:
            joined[i, j] = joined[j, i] = True
        weight = chance ** len(there) * (1 - chance) ** (len(pairs) - len(there))
        total += weight * len(_independent(joined))
    return total


def _union_alpha(records: int, chance: float) -> float:
    """The sum of the bounds on Pr(α ≥ a), each at most 1."""
    a = np.arange(1, min(records, 60_000) + 1)
    logs = np.cumsum(np.log((records + 1 - a) / a)) + a * (a - 1) / 2 * np.log1p(-chance)
    return np.exp(np.minimum(logs, 0)).sum()


def any_order() -> tuple[Evidence, ...]:
    """The algebra and the inequalities of the proof for any arrival order."""
    certain, i = _certain()[0], sp.Symbol("i", integer=True)
    return (
        identity("Dist-2, any order: the constants",
                 k * (k - 1) / 2 + k * (k - 1) * (sp.E - 1) - k * (k - 1) * (sp.E - half),
                 2 / certain - (2 / e - 2), sp.summation(1 / sp.factorial(i), (i, 1, sp.oo)) - (sp.E - 1)),
        inequality("$4 \\ln 2 \\le \\frac2\\epsilon \\ln n$", 2 / e * sp.log(n) - 4 * sp.log(2),
                   over={e: (0, half), n: (2, sp.oo)}),
        also(cases("$\\mathrm e - 1/2 < 4 \\ln 2$", sp.E - half < 4 * sp.log(2), where="two numbers")),
    )  # fmt: skip


@claim("B56")
def certain_matches_any_order(adversarial=None, records=4):
    if adversarial is None:
        rng = np.random.default_rng(7)
        adversarial = [adversarial_run(rng) for _ in range(5)]
    chances = (0.02, 0.1, 0.25, 0.5, 0.9)
    alphas = [(_mean_alpha(a, c), np.e + 2 / c * np.log(a)) for c in chances for a in range(1, records + 1)]
    unions = [(_union_alpha(a, c), np.e + 2 / c * np.log(a))
              for c in chances for a in (1, 3, 10, 100, 1000, 30_000)]  # fmt: skip
    yield from any_order()
    yield also(bounded(f"$E[\\alpha]$ over all graphs of up to {records} records", *zip(*alphas, strict=True)))
    yield also(bounded("the sum of {eq}`eq-node-independent`, up to 30,000 records", *zip(*unions, strict=True)))
    said = f"In {len(adversarial)} data sets and three orders, one of them adversarial, no run exceeds its bound."
    yield says(also(bounded(f"{len(adversarial)} runs under three arrival orders, one of them adversarial, run by run",
                            [asked for asked, _ in adversarial], [[limit] * 3 for _, limit in adversarial])),
               said)  # fmt: skip


# --- Dist-1, and both ------------------------------------------------------------------------------------------------


@cache
def _dist1_proof() -> list[Evidence]:
    """The proof for Dist-1: one record and one cluster, all clusters, the slack between the two lines."""
    r, u, t = sp.symbols("r u t", positive=True)
    ratio, q = (1 - e) / (1 + e), (1 - e) / 2
    power = sp.Symbol("p", positive=True)  # with ε = 1 - 2p, powers of q = p combine
    closed = ratio / (t + 1) * (1 + e * q ** (t - 1))
    line = n + n * k * r * (1 - sp.log(r)) + k**2 * (half - r)
    together = LEAST + n * k * r * (1 - sp.log(r)) - k * k + k * k * (1 - r)
    beyond_k = sp.integrate(n * r / u, (u, n * r / k, n / k))
    phi = 4 / (1 + r) ** 2 - 1 + sp.log(r)
    enough = 4 * r * phi + r - half
    return [
        identity("Dist-1: one record, one cluster", (cr.L_symbolic("dist1", t, e) - closed).subs(e, 1 - 2 * power),
                 e / (1 - q) - (1 - ratio)),
        identity("Dist-1: all clusters", n * r + beyond_k - n * r * (1 - sp.log(r)), line - together - 3 * k / 2),
        identity("Dist-1: the slack", 1 - e**2 - (4 * r / (1 + r) ** 2).subs(r, ratio),
                 sp.diff(phi, r) - (r - 1) * (r**2 + 4 * r - 1) / (r * (1 + r) ** 3)),
        inequality("Dist-1: the slack is positive", phi, over={r: (third, 1)}),
        inequality("Dist-1: it is enough, too, where $r < \\frac12$", enough, over={r: (third, half)}),
        inequality("Dist-1: $r$ is at least one third", ratio - third, over={e: (0, half)}),
    ]  # fmt: skip


def _first_line(n, k, eps):
    ratio = (1 - eps) / (1 + eps)
    return n + n * k * ratio * (1 - np.log(ratio)) + k**2 * (1 / 2 - ratio)


def _second_line(n, k, eps):
    return n + n * k * (1 - eps**2)


@claim("B54")
def dist1_with_its_constant(totals=(40, 400), epsilons=(0.01, 0.25, 0.5)):
    yield from _dist1_proof()
    rows = []
    for eps in epsilons:
        model = cr.dist1(eps)
        for sizes in [evenly(a, b) for a in totals for b in (2, 5, a // 20, a // 4)] + UNEVEN:
            if sum(sizes) < 4 * len(sizes):
                raise ValueError("the proposition needs n ≥ 4k")
            exact = expected_queries(model, sizes, "node")
            rows.append((sum(sizes), len(sizes), eps, sharp(model, sizes), exact))
    tried = pd.DataFrame(rows, columns=["n", "k", "eps", "sharp", "exact"])
    lines = [line(tried["n"], tried["k"], tried["eps"]) for line in (_first_line, _second_line)]
    yield also(bounded(f"{{eq}}`eq-node-sharp` against the first line, {len(tried)} cases", tried["sharp"], lines[0]))
    yield also(bounded("the first line against the second", lines[0], lines[1]))
    said = (
        f"In {len(tried)} cases the exact count is at most {(tried['exact'] / lines[0]).max():.0%} of the first bound."
    )
    yield says(also(bounded("the exact count against the first line", tried["exact"], lines[0])), said)
    yield also(bound_checked())
    yield also(count_checked())


@claim("B58")
def limits_for_large_clusters(powers=range(3, 7), epsilons=(0.1, 0.5), dial=(0.01, 0.49)):
    x, t, v = *sp.symbols("x t", positive=True), sp.Symbol("v", nonnegative=True)
    rho = sp.Symbol("rho", positive=True)
    depth = sp.integrate(m * x * sp.exp(-2 * m * x * v) * (1 - e), (v, 0, sp.oo))
    moment = sp.integrate(m**2 * x * sp.exp(-m * x * t), (x, 0, sp.oo))
    parts = [(sp.integrate(1 / (2 * v + 1 - rho) ** 2, v), 0, rho), (sp.integrate(1 / (1 + v) ** 2, v), rho, 1)]
    cost = sum(part.subs(v, high) - part.subs(v, low) for part, low, high in parts)

    def non_matches(model, size):
        return expected_queries(model, [size, size], "node") - 2 * (size - 1)

    two = [10**power for power in powers]
    dist1 = {eps: [non_matches(cr.dist1(eps), size) / (2 * size) for size in two] for eps in epsilons}
    squares = [((1 - 2 * eps) / (1 - eps)) ** 2 for eps in dial]
    yield identity("the integrals", sp.integrate(depth, (x, 0, 1)) - (1 - e) / 2, moment - t**-2,
                   2 * cost - (1 + rho**2) / (1 - rho**2))  # fmt: skip
    for eps, values in dist1.items():
        yield limit(f"Dist-1, $\\epsilon = {eps:g}$: exact count, two clusters of up to {two[-1]:,}", two, values,
                    (1 - eps) / 2, within=1e-6)  # fmt: skip
    for eps, square in zip(dial, squares, strict=True):
        to = (1 + square) / (1 - square)
        yield limit(f"Dist-2, $\\epsilon = {eps:g}$: exact count over the limit, up to {two[-1]:,} records each", two,
                    [non_matches(cr.dist2(eps), size) / to for size in two], 1.0, within=1e-5)  # fmt: skip
    said = (
        f"Under Dist-1 with $\\epsilon = 1/2$, two clusters of {two[-1]:,} records are within "
        f"{abs(dist1[0.5][-1] - 0.25):.0e} of the limit."
    )
    yield says(also(trend("Dist-1: distance to the limit against $m$", two, np.array(dist1[0.5]) - 0.25, exponent=-1,
                     within=0.02)), said)  # fmt: skip
    yield also(count_checked())


def _shapes_of(total: int) -> Iterator[np.ndarray]:
    """Equal clusters, few to many; one large among small ones; a mixture."""
    yield from (evenly(total, clusters) for clusters in (2, 10, isqrt(total), total // 10, total // 4))
    yield np.repeat([total // 2, 5], [1, total // 10])
    yield np.repeat([total // 4, 2, 30], [2, total // 100, total // 100])


def _correct_steps() -> list[float]:
    """The largest ratios in the three correct steps of the printed proof, as in the chapter, on small ranges."""
    s, eps = np.arange(1, 41), 0.3
    steps = cr.L(cr.dist2(eps), s) * (s + 1) / np.exp(-eps * s)
    late = np.ceil(2 * np.log(100) / eps) + np.arange(50)
    terms = 100 * (late + 1) * 100 * cr.L(cr.dist2(eps), late)
    sums = []
    for sizes in map(np.array, sizes_of(range(1, 6))):
        enough = (1 - eps) * sizes.mean()
        asked = np.minimum(sizes, enough).sum() + (1 - eps) * np.maximum(0, sizes - enough).sum()
        sums.append(asked / (sizes.sum() * (1 - eps**2)))
    return [max(sums), steps.max(), terms.max()]


@claim("C18")
def proposition_5(largest=1000, sound=None):
    yield inequality("Dist-1, any order: $nk \\le \\frac43 nk(1-\\epsilon^2)$ for $\\epsilon \\le \\frac12$",
                     sp.Rational(4, 3) * (1 - e**2) - 1, over={e: (0, half)})  # fmt: skip
    yield from _dist1_proof()
    yield certainty()
    yield from any_order()
    rows = []
    totals = [total for total in (100, 1000, 10_000, 100_000) if total < largest] + [largest]
    for eps in (0.02, 0.1, 0.3, 0.49):
        for sizes in (sizes for total in totals for sizes in _shapes_of(total)):
            total, clusters = int(sizes.sum()), len(sizes)
            exact = [expected_queries(model, sizes, "node") for model in (cr.dist1(eps), cr.dist2(eps))]
            rows.append((total, *exact, _second_line(total, clusters, eps),
                         total + clusters**2 * np.log(total) / eps))  # fmt: skip
    growth = pd.DataFrame(rows, columns=["n", "dist1", "dist2", "limit1", "limit2"])
    said = (
        f"Under Dist-1 the exact counts, up to {growth['n'].max():,} records, are at most "
        f"{(growth['dist1'] / growth['limit1']).max():.0%} of the bound."
    )
    what = f"Dist-1: exact counts, up to {growth['n'].max():,} records, against $n + nk(1 - \\epsilon^2)$"
    yield says(also(bounded(what, growth["dist1"], growth["limit1"])), said)
    yield also(bounded("Dist-2: exact counts against $n + k^2 \\ln n/\\epsilon$", growth["dist2"], growth["limit2"]))
    yield also(bounded("the correct steps of the printed proof", _correct_steps() if sound is None else sound, 1))
    lengths = np.arange(1, 41)
    closed = [(1 - eps / (1 - eps)) ** (lengths + 1) for eps in DIAL]
    yield also(agreement("Dist-2: `cr.L` against its closed form",
                         [cr.L(cr.dist2(eps), lengths) * (lengths + 1) for eps in DIAL], closed,
                         tolerance=1e-12))  # fmt: skip
    yield also(bound_checked())
    yield also(count_checked())
