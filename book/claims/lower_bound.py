"""Claims of the chapter *What no algorithm can avoid*."""

from fractions import Fraction
from functools import cache
from math import ceil, comb, log10, sqrt

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.lower_bound_proofs import (
    GAMES,
    LOWER,
    certificates,
    chain_exact,
    chain_support,
    drawn_tests,
    exact_bound,
    rests_on,
    surplus,
    theorem_steps,
    theorem_support,
    two_exact,
    wrong_at_most,
)
from book.companion import by_hand
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    inequality,
    none_needed,
    of_chapter,
    says,
    vanishing,
)
from crowder.counting.decision_trees import certificate
from crowder.counting.determined_pairs import certain_mass, expected_undetermined, prob_fully_determined
from crowder.counting.lower_bounds import chain, hidden_size, product_tv, question_bound

claim, check = of_chapter(__name__)

HALF, QUARTER, FIFTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 5)
R = sp.Rational
n, k, h, x, y = sp.symbols("n k h x y", positive=True)
e = sp.Symbol("epsilon", positive=True)
CERTAIN = "test_determined_pairs.py::"


def dist2_bound(p, records, clusters):
    """The larger of both bounds of the theorem for Dist-2, with the exact distance; p is H²."""
    m = np.arange(1, records - clusters + 1)
    hidden = m * (clusters - 2) / 4 * (1 - p) ** 2 * (1 - 2 * p / (clusters - 1)) ** (m - 1)
    return max(hidden.max(), (clusters - 2) * (clusters + 1) / 4 * (1 - p) ** 2)


# --- Theorem 1 ---------------------------------------------------------------------------------------------------


def grid():
    """Values of H², k and n at which bounds are evaluated."""
    return [(h2, c, r) for h2 in np.geomspace(1e-5, 0.25, 24) for c in (3, 4, 10, 60)
            for r in (c + 1, 2 * c - 1, 2 * c, 10 * c, 500 * c)]  # fmt: skip


@cache
def constants():
    """The steps of the proof of Theorem 1 with its constant that can be checked by computation."""
    bracket = (1 - sp.sqrt(1 - R(3, 4) ** R(36, 5))) / 2 - R(1, 100)
    bracket_pair = (1 - sp.sqrt(1 - R(3, 4) ** 4)) / 2 - R(1, 100)
    return [
        also(cases("the two brackets, and the three constants", bracket >= R(1, 45), bracket_pair >= R(7, 100),
                   R(2, 9) / 450 >= R(1, 2025), R(1, 540) >= R(1, 2025), R(7, 900) >= R(1, 2025),
                   where="five numbers")),
        inequality("the two quadratics less $\\frac29 k^2$", (7 * k - 6) * (k - 3) / 9, (5 * k + 6) * (k - 3) / 18,
                   over={k: (3, sp.oo)}),
        identity(
            "the exponent at $H^2 = \\frac14$; the chord of $-\\ln(1-x)$, which is convex; the two quadratics in $k$",
            16 * R(1, 4) + R(16, 5) - R(36, 5), -sp.log(1 - R(1, 4)) - sp.log(R(4, 3)),
            sp.diff(-sp.log(1 - x), x, 2) - 1 / (1 - x) ** 2,
            (k - 1) * (k - 2) - 2 * k**2 / 9 - (7 * k - 6) * (k - 3) / 9,
            (k - 2) * (k + 1) / 2 - 2 * k**2 / 9 - (5 * k + 6) * (k - 3) / 18),
    ]  # fmt: skip


@cache
def _on_the_grid():
    evaluated = [question_bound(cr.dist2(h2 / (1 + h2)), r, c, error=0.01) for h2, c, r in grid()]
    return bounded("the corrected bound against {eq}`eq-lower-hidden` or {eq}`eq-lower-one-pair`, on a grid",
                   [min(c * c / h2, r * c) / 2025 for h2, c, r in grid()], np.maximum(evaluated, 1e-300))  # fmt: skip


def _corrected_theorem(played):
    """The evidence for B36."""
    return [*constants(), _on_the_grid(), rests_on("B34", [theorem_steps(), *theorem_support(played)])]


@claim("B36")
def theorem_1_with_its_constant(played=None):
    """`played`: see `theorem_support`."""
    yield from constants()
    yield also(says(_on_the_grid(), f"In all {len(grid())} settings of a grid, the bound with its constant is below "
                                    "the bound from which it is derived."))  # fmt: skip
    yield also(rests_on("B34", [theorem_steps(), *theorem_support(played)]))


@claim("C06")
def theorem_1(chains=None, links=None, drawn=None, draws=1, played=None, records=2_000_000):
    """As B32 and B36; `records`: their number in two clusters that need no questions."""
    apart = cr.SimilarityModel.from_steps([0, HALF, 1], green=[0, 2], red=[2, 0], name="apart")  # H² = 1
    # At most all pairs, if the similarities do not determine everything.
    to_ask = (1 - prob_fully_determined(apart, [2, 2, 1])) * comb(5, 2)
    p = QUARTER  # probability that a pair is determined, under Dist-2 with ε = 1/5
    yield none_needed("five records in three clusters, disjoint supports ($H^2 = 1$): questions needed", to_ask,
                       min(9 / apart.hellinger2, 15))  # fmt: skip
    yield none_needed("three records, $k = 3$ given: questions needed", certificate("abc", known=True), 9)
    wrong = wrong_at_most(float(cr.dist1(0.01).hellinger2), records)
    yield says(counterexample(
        f"$k = 2$, Dist-1 with $\\epsilon = 0.01$, {records:,} records, no questions: error probability "
        "(printed: the least error of the best test by the chain of the proof)",
        value=wrong, relation="at least", printed=(1 - sqrt(1 / 2)) / 2,
    ), f"Two clusters of {records:,} records in all (Dist-1, $\\epsilon = 0.01$) need no question: naming the "
       f"likeliest partition is wrong with probability below $10^{{{ceil(log10(wrong))}}}$.")  # fmt: skip
    yield also(rests_on("B32", [*chain_exact(chains, links), *chain_support(), *drawn_tests(drawn, draws)]))
    yield also(agreement(
        "probability that similarities determine everything, clusters of 2 and 1, of 3, of 2 and 2, by hand",
        [prob_fully_determined(cr.dist2(FIFTH), sizes) for sizes in ([2, 1], [3], [2, 2])],
        [p * (1 - (1 - p) ** 2), p**3 + 3 * p**2 * (1 - p), p**2 * (1 - (1 - p) ** 4)], tolerance=1e-12,
    ))  # fmt: skip
    yield also(rests_on("B35", two_exact()))
    for piece in (*constants(), rests_on("B36", _corrected_theorem(played))):
        yield corrected(piece)


def series():
    return identity("the geometric series, for up to eight terms", *(
        sum((1 - y) ** j for j in range(size)) - (1 - (1 - y) ** size) / y for size in range(1, 9)))  # fmt: skip


def undetermined(laws):
    """`laws`: models Dist-2 and cluster sizes."""
    return agreement(
        "$p$ and the sum in the code, against $\\epsilon/(1-\\epsilon)$ and the series",
        [v for model, sizes in laws for v in (*certain_mass(model), expected_undetermined(model, sizes))],
        [v for model, sizes in laws for p in [model.epsilon / (1 - model.epsilon)]
         for v in (p, p, sum((1 - p) ** j for size in sizes for j in range(size)))], tolerance=1e-9,
    )  # fmt: skip


def _upper_bound():
    """The evidence for B38 without its simulation."""
    laws = [(cr.dist2(v), [size] * 5) for v, size in ((0.05, 5), (0.2, 2), (0.2, 40))]
    return rests_on("B38", [series(), undetermined(laws)])


def _corrected_corollary(played):
    """The steps from Theorem 1 to the corollary."""
    return [
        rests_on("B36", _corrected_theorem(played)), rests_on("B37", [surplus(), *certificates()]),
        identity("$k \\le n/2$: $n - k$ against $n/2$; $k > n/2$: $4k^2$ against $n^2$",
                 n - k - n / 2 - (n - 2 * k) / 2, 4 * k**2 - n**2 - (2 * k - n) * (2 * k + n)),
    ]  # fmt: skip


#: H² of Dist-1 and Dist-2, section "Illustration".
H_DIST1, H_DIST2 = 1 - sp.sqrt(1 - e**2), e / (1 - e)


@cache
def _dist_steps():
    return [
        identity("Dist-1: $H^2 (2 - H^2) = \\epsilon^2$, so $H^2 \\le \\epsilon^2$", H_DIST1 * (2 - H_DIST1) - e**2),
        identity("Dist-2: $\\frac54\\epsilon - H^2$, nonnegative for $\\epsilon \\le \\frac15$; $p - \\epsilon$",
                 R(5, 4) * e - H_DIST2 - e * (1 - 5 * e) / (4 * (1 - e)), H_DIST2 - e - e**2 / (1 - e)),
        identity(
            "{eq}`eq-lower-dist2`: the mean of $(1-p)^{S+S'}$, for up to six hidden records",
            *(sum(sp.binomial(j, i) * (2 / (k - 1)) ** i * (1 - 2 / (k - 1)) ** (j - i) * (1 - y) ** (2 + i)
                  for i in range(j + 1)) - (1 - y) ** 2 * (1 - 2 * y / (k - 1)) ** j for j in range(6))),
        inequality("Dist-2: both are", e * (1 - 5 * e) / (4 * (1 - e)), e**2 / (1 - e), over={e: (0, R(1, 5))}),
        also(cases("$H^2 \\le \\frac14$ at the ends of both ranges; the constants",
                   H_DIST1.subs(e, R(1, 2)) <= R(1, 4), H_DIST2.subs(e, R(1, 5)) <= R(1, 4),
                   R(3, 4) ** 6 * R(2, 9) / 8 >= R(1, 203), R(3, 4) ** 6 / 24 >= R(1, 203),
                   R(9, 16) / 18 >= R(1, 203), R(4, 5) / 203 >= R(1, 254), where="six numbers")),
    ]  # fmt: skip


@cache
def _distances():
    rationals = [Fraction(j, 100) for j in range(1, 49)]
    return agreement(
        "$H^2$ in the code against its closed forms",
        [law(float(v)).hellinger2 for law in (cr.dist1, cr.dist2) for v in rationals],
        [float(form.subs(e, sp.Rational(v))) for form in (H_DIST1, H_DIST2) for v in rationals], tolerance=1e-12,
    )  # fmt: skip


@cache
def _dist2_exactly():
    shapes = [(small, hidden) for small in (2, 3, 4) for hidden in (1, 2, 3, 4)]
    return [
        agreement(
            "{eq}`eq-lower-dist2` against the theorem with exact distances, Dist-2 with $\\epsilon = \\frac15$",
            [hidden * (small - 1) / 4 * (3 / 4) ** 2 * (1 - 1 / (2 * small)) ** (hidden - 1)
             for small, hidden in shapes],
            [exact_bound(cr.dist2(FIFTH), small, hidden) for small, hidden in shapes], tolerance=1e-12),
        bounded("the bound for Dist-2 against {eq}`eq-lower-dist2` or {eq}`eq-lower-one-pair`, on the grid of B36",
                [min(c * c / h2, r * c) / 203 for h2, c, r in grid()], [dist2_bound(h2, r, c) for h2, c, r in grid()]),
    ]  # fmt: skip


@claim("B39")
def corollary_corrected(played=None):
    """As B36."""
    yield from _corrected_corollary(played)
    yield from _dist_steps()
    yield _upper_bound()
    exactly, on_the_grid = _dist2_exactly()
    yield also(says(on_the_grid, f"In all {len(grid())} settings of a grid, the stated bound for Dist-2 is below "
                                 "the bound from which it is derived."))  # fmt: skip
    for piece in (_distances(), exactly):
        yield also(piece)


MANY = 999_999
#: A strategy that is never wrong needs at most so many, on average, for three clusters of `y` records and ε = 1/5.
ENOUGH = 3 * 3 * (1 - R(3, 4) ** y) / R(1, 4)
FOR_ENOUGH = r"three equal clusters, Dist-2 with $\epsilon = \frac15$, $n \to \infty$: enough questions, divided by "


def _enough():
    return agreement(f"that many questions are enough, at {MANY:,} records",
                     3 * expected_undetermined(cr.dist2(FIFTH), [MANY // 3] * 3), float(ENOUGH.subs(y, MANY // 3)),
                     tolerance=1e-9)  # fmt: skip


@claim("C07")
def corollary_1(played=None, records=(4, 10, 100), clusters=(3, 5, 30)):
    """`played`: as B36; `records`, `clusters`: their numbers, for the bound."""
    few, weak = 3 / (3 + 4 / h), R(1, 1000)  # pairs over the printed bound
    yield says(
        vanishing("three records in two clusters, $H \\to 0$: the number of pairs divided by $n + k^2/H^2$", few, h, 0),
        f"Three records have {comb(3, 2)} pairs, so {comb(3, 2)} questions are enough; at $H^2 = {weak}$ the printed "
        f"bound is {float(3 / few.subs(h, weak)):,.0f}, up to a constant.",
    )
    yield vanishing(FOR_ENOUGH + "$n + k^2/H^2$", ENOUGH / (3 * y + 9 / R(1, 4)), y, sp.oo)
    yield also(_enough())
    yield also(identity("all pairs over the printed bound, as $H \\to 0$, for every $n$ and $k$",
                        sp.limit(n * (n - 1) / 2 / (n + k**2 / h), h, 0)))  # fmt: skip
    proved = by_hand.connected(30, HALF)[30] ** 2 * (1 - HALF**900)  # both clusters connected, one non-match between
    yield also(agreement(
        r"probability that the similarities determine two clusters of 30, Dist-2 with $\epsilon = \frac13$",
        prob_fully_determined(cr.dist2(Fraction(1, 3)), [30, 30]), float(proved), tolerance=1e-12))  # fmt: skip
    yield also(agreement("questions that determine three records in two clusters, $k$ given",
                         [certificate("aab", known=True)], [1]))  # fmt: skip
    yield also(_distances())
    yield also(_upper_bound())
    for piece in _corrected_corollary(played):
        yield corrected(piece)
    models = [cr.uniform(), *map(cr.dist1, (0.01, 0.1, 0.3, 0.5)), *map(cr.dist2, (0.01, 0.1, 0.2))]
    cases = [(model, r, c) for model in models for r in records for c in clusters if c < r]
    yield corrected(also(bounded(
        rf"$\frac1{{4050}} \min\{{k^2/H^2, nk\}}$ against the lower bound for all algorithms, {len(cases)} cases",
        [min(c * c / model.hellinger2 if model.hellinger2 else r * c, r * c) / 4050 for model, r, c in cases],
        [question_bound(*case, error=0) / 2 for case in cases])))  # fmt: skip


@claim("C14")
def lower_bound_of_the_two_models(played=None):
    """As B36."""
    few, weak = 3 / (3 + 4 / e**2), R(1, 100)
    yield says(vanishing(
        r"three records in two clusters, Dist-1, $\epsilon \to 0$: the number of pairs divided by $n + k^2/\epsilon^2$",
        few, e, 0), f"Three records have {comb(3, 2)} pairs; under Dist-1 at $\\epsilon = {weak}$ the printed bound is "
                    f"{float(3 / few.subs(e, weak)):,.0f}, up to a constant.")  # fmt: skip
    yield vanishing(FOR_ENOUGH + r"$n + k^2/\epsilon$", ENOUGH / (3 * y + 9 * 5), y, sp.oo)
    yield vanishing(
        r"six records in three clusters, Dist-2, $\epsilon \to \frac12$: mean undetermined pairs, divided by "
        r"$n + k^2/\epsilon$", comb(6, 2) * (1 - H_DIST2) / (6 + 9 / e), e, R(1, 2), direction="-")  # fmt: skip
    yield also(_enough())
    yield also(agreement(r"a pair is undetermined with probability $1 - H^2$, Dist-2 with $\epsilon = 0.499$",
                         [1 - mass for mass in certain_mass(cr.dist2(0.499))], [float(1 - H_DIST2.subs(e, 0.499))] * 2,
                         tolerance=1e-12))  # fmt: skip
    yield also(_distances())
    yield also(_upper_bound())
    for piece in (*_corrected_corollary(played), *_dist_steps()):
        yield corrected(piece)
    for piece in (_distances(), *_dist2_exactly(), _upper_bound()):
        yield corrected(also(piece))
