"""Claims of the appendix *Bounds without the logarithm*."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.companion import naive
from book.companion.claims import agreement, also, bounded, cases, identity, inequality, of_chapter, says
from crowder.counting.asymptotics import linear_bound, matches_above, reversed_hazard_rate_ordered
from crowder.counting.expected_counts import expected_across
from crowder.counting.random_graphs import component_numbers
from crowder.theory import EPSILON

claim, check = of_chapter(__name__)


def masses(edges, heights):
    """The mass of each step of a density."""
    return [
        sp.sympify(height * (right - left)) for height, (left, right) in zip(heights, pairwise(edges), strict=True)
    ]  # fmt: skip


def _six_models():
    """The models of the paper and another one, each with p, the share of matches above all non-matches."""
    other = cr.SimilarityModel.from_steps([0, 0.5, 0.8, 0.9, 1], [0.2, 1, 2, 4], [1.2, 1, 1, 0])
    models = [cr.uniform(), cr.dist1(0.1), cr.dist1(0.5), cr.dist2(0.2), cr.dist2(0.03), other]
    return list(zip(models, [0, 0, 0, 0.2 / 0.8, 0.03 / 0.97, 0.4], strict=True))


def two_clusters(tried):
    """Exact counts across two clusters, and their bounds: six models, every two of these sizes."""
    rows = []
    for (model, above), (m, other) in product(_six_models(), combinations_with_replacement(tried, 2)):
        row = {"model": model.name, "1/p": 1 / above if above else np.inf, "m": m, "m'": other}
        row["bound"] = linear_bound(model, [m, other]) - (m + other - 2)
        row |= {ordering: expected_across(model, m, other, ordering, nodes=12) for ordering in ("edge", "node")}
        rows.append(row)
    across = pd.DataFrame(rows)
    return across.assign(least=across[["m", "m'", "1/p"]].min(axis=1))


#: All non-matches are above all matches: a model to which the theorem does not apply.
UPSIDE_DOWN = cr.SimilarityModel.from_steps([0, 0.5, 1], [2, 0], [0, 2])


def _splits_obey(largest):
    """Whether R ≤ 3m/m' G, in whole numbers, for every partition of a cluster of at most this many records."""
    for total in range(1, largest + 1):
        for parts in naive.splits(total):
            inside = Fraction(total**2 - sum(b**2 for b in parts), 2)
            third = [b for b in parts if 3 * b >= total]
            yield from ([3 * inside >= total * (total - b) for b in third] if third else [3 * inside >= total**2])


def _ordered():
    """f_g F_r - f_r F_g on every step of the models of the paper."""
    for name in cr.models.MODEL_NAMES:
        edges, green, red = cr.models.steps(name, EPSILON)
        for s, (g, r) in enumerate(zip(green, red, strict=True)):
            # The difference is constant on a step, so its value at the start is enough.
            F_g, F_r = sum(masses(edges, green)[:s]), sum(masses(edges, red)[:s])
            yield sp.sympify(g * F_r - r * F_g)


@claim("B64")
def no_logarithm(largest_split=9, across=None):
    across = two_clusters((1, 3, 10)) if across is None else across
    M, b, p, t = sp.symbols("M b p t", positive=True)
    parts = [(M**2 - M * M / 3) / 2 - M**2 / 3, b * (M - b) - M / 3 * (M - b) - (b - M / 3) * (M - b)]
    terms = (1 - (1 - p) ** t) / p  # of a geometric series
    geometric = [terms.subs(t, t + 1) - terms - (1 - p) ** t, (terms.subs(t, 0), 0)]
    expected = [
        (component_numbers(m, share).sum(), min(m, 1 / share))
        for m in (1, 5, 50, 400) for share in (0.001, 0.02, 0.1, 0.5)
    ]  # fmt: skip
    models, above = zip(*_six_models(), strict=True)
    yield identity(
        "the two cases of $R \\le \\frac{3m}{m'}\\,G$, and the geometric sum by induction", *parts, *geometric
    )
    yield inequality("the three models of the paper are in the reversed hazard rate order, for every ε below ½",
                     *_ordered(), over={EPSILON: (0, sp.Rational(1, 2))})  # fmt: skip
    yield also(cases("$R \\le \\frac{3m}{m'}\\,G$", *_splits_obey(largest_split),
                     where=f"every partition of a cluster of up to {largest_split}"))  # fmt: skip
    largest = across["m'"].max()
    said = (
        f"For {len(across)} settings of six models the exact count is at most "
        f"{(across['edge'] / (4 * across['least'])).max():.0%} of the bound."
    )
    yield says(also(bounded(f"exact counts of six models, clusters of 1 to {largest}, against $4\\min(m, m', 1/p)$",
                       across["edge"], 4 * across["least"])), said)  # fmt: skip
    yield also(bounded("$E[\\kappa]$ against $\\min(m, 1/p)$", *zip(*expected, strict=True)))
    yield also(agreement("`linear_bound`, against the bound", across["bound"], 4 * across["least"], tolerance=1e-9))
    yield also(
        agreement("`matches_above`, against $p$", [matches_above(model) for model in models], above, tolerance=1e-12)
    )
    yield also(
        cases(
            "`reversed_hazard_rate_ordered` for these models and for one that is not ordered",
            not reversed_hazard_rate_ordered(UPSIDE_DOWN),
            *(reversed_hazard_rate_ordered(model) for model in models),
            where="seven models",
        )
    )


@claim("B65")
def linear_totals(tried=([20] * 10, [30, 4, 4, 7])):
    """`tried`: lists of cluster sizes."""
    sums, counts, rounded = [], [], []
    for k in range(2, 7):
        ms = sp.symbols(f"m1:{k + 1}")
        sums.append((sum((x + y) / 2 for x, y in combinations(ms, 2)), sp.Rational(k - 1, 2) * sum(ms)))
    edges, green, _ = cr.models.steps("dist2", EPSILON)
    above = (masses(edges, green)[-1], EPSILON / (1 - EPSILON))  # p, and H²
    for sizes in tried:
        n, k = sum(sizes), len(sizes)
        for model in (cr.uniform(), cr.dist1(0.25), cr.dist2(0.05)):
            bound = linear_bound(model, sizes)
            counts.append((cr.expected_queries(model, sizes, nodes=8), bound))
            rounded.append((bound, n - k + 2 * n * (k - 1)))
            if model.name == "dist2":
                rounded.append((bound, n - k + 2 * k * (k - 1) * (1 - 0.05) / 0.05))
    equal = [(linear_bound(cr.dist1(0.25), [m] * 30), 30 * (m - 1) + 2 * 30 * m * 29) for m in (1, 7, 200)]
    equal += [(linear_bound(cr.dist2(0.05), [m] * 30), 30 * (m - 1) + 2 * 30 * 29 * 19) for m in (20, 500)]
    yield identity("the sum over pairs of two to six clusters, and $p = H^2$ for Dist-2", *sums, above)
    said = (
        f"For {len(counts)} models and lists of sizes the exact count is at most "
        f"{max(np.divide(*zip(*counts, strict=True))):.0%} of the bound."
    )
    yield says(also(bounded("exact counts, up to a million records, against the sum of {eq}`eq-counts-nolog`",
                       *zip(*counts, strict=True))), said)  # fmt: skip
    yield also(bounded("that sum against the corollary", *zip(*rounded, strict=True)))
    yield also(agreement("equality for equal clusters, which are large for Dist-2", *zip(*equal, strict=True),
                         tolerance=1e-6))  # fmt: skip


@claim("B66")
def node_ordering_across_two_clusters(across=None, sizes=(1, 2, 3, 7)):
    across = two_clusters((1, 3, 10)) if across is None else across
    x, y, p, a, N = sp.symbols("x y p a N", positive=True)
    inner = (1 - (1 - x) ** N) / N
    integrals = [  # the derivative of an antiderivative, or its value between the ends, less the expected one
        sp.diff(-((1 - x * y) ** N) / N, y) - x * (1 - x * y) ** (N - 1),
        sp.diff((x + (1 - x) ** (N + 1) / (N + 1)) / N, x) - inner,
        (1 - 1 / (N + 1)) / N - 1 / (N + 1),
        sp.diff(-((1 - x * p) ** a) / p, x) - a * (1 - x * p) ** (a - 1),
    ]
    harmonic = [
        (sp.Rational(cr.expected_queries_exact(cr.uniform(), [m, other], "node")),
         m + other - 2 + sp.Rational(2 * m * other, m + other))
        for m, other in product(sizes, repeat=2)
    ]  # fmt: skip
    without = 2 * across["m"] * across["m'"] / (across["m"] + across["m'"])
    capped = np.minimum(across["m"], across["1/p"]) + np.minimum(across["m'"], across["1/p"])
    yield identity("the integrals of the proof", *integrals)
    said = f"The closed form is the exact count, in fractions, for all {len(harmonic)} pairs of sizes tried."
    yield says(also(agreement("{eq}`eq-counts-harmonic` against {eq}`eq-counts-node`, in fractions",
                         *zip(*harmonic, strict=True))), said)  # fmt: skip
    yield also(bounded(f"six models with $F_g \\le F_r$, clusters of 1 to {across['m'].max()}: against "
                       "{eq}`eq-counts-harmonic`", across["node"], without))  # fmt: skip
    yield also(bounded("and against $\\min(m, 1/p) + \\min(m', 1/p)$", across["node"], capped))
