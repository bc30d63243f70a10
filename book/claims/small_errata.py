"""Claims of the appendix *The smaller errata*: printed, a smallest counterexample, what holds, what is affected.

An amended claim of the paper (C06, C09, ...) is an erratum itself. Here are the errata on what is no claim of its own:
a step of a proof, a conclusion, a word. Each names the claims that it is `about`, none of which has the same place.
"""

from fractions import Fraction as F
from itertools import pairwise, product
from math import ceil, exp

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.persistent_errors import best_test_error
from book.companion import by_hand
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    of_chapter,
    says,
)
from crowder.counting.asymptotics import edge_limit, node_limit
from crowder.counting.bounds import node_bound
from crowder.counting.expected_counts import expected_across, expected_queries
from crowder.theory import EPSILON as e
from crowder.theory import L, L_symbolic
from crowder.theory import T as t
from crowder.voting import majority_error

__all__ = ["check"]

claim, check = of_chapter(__name__)

HALF, THIRD, QUARTER = F(1, 2), F(1, 3), F(1, 4)
DIST2, DIST1, DIST2_FIFTHS = cr.dist2(THIRD), cr.dist1(QUARTER), cr.dist2(F(2, 5))
k, n = sp.symbols("k n", positive=True)


def also_corrected(piece):
    """Further support for the corrected statement."""
    return also(corrected(piece))


def _theorem_3(model, sizes, *, printed=False):
    """Theorem 3 in fractions: as printed, or corrected and with n - k for n."""
    return by_hand.theorem_3(sizes, lambda s: by_hand.integral(model, s), corrected=not printed)


# --- steps of proofs, and conclusions -------------------------------------------------------------------------------


@claim("E09")
def proposition_5(rng=None, tops=(2, 3, 10), equal=(1, 2, 20)):
    rng = np.random.default_rng(2017) if rng is None else rng
    for k, m, epsilon, what in (
        (
            7,
            21,
            F(49, 100),
            r"seven clusters of 21, $\epsilon = \frac{49}{100}$: cost of a record from there on",
        ),
        (10, 100, F(2, 5), r"ten clusters of 100, $\epsilon = \frac25$"),
    ):
        s = ceil(m * (1 - epsilon))
        cost, allowed = (k - 1) * m * by_hand.integral(cr.dist1(epsilon), s), (1 - epsilon) * k
        yield says(counterexample(what, value=cost, relation="at most", printed=allowed),
                   rf"With {k} clusters of {m} records and $\epsilon = {float(epsilon):g}$, a record costs up to "
                   f"{float(cost):.3f} questions, where the step allows {float(allowed):g}.")  # fmt: skip
    dial = np.linspace(0.001, 0.5, 500)
    r = (1 - dial) / (1 + dial)
    yield corrected(bounded(r"$r(1 + \ln\frac1r)$ against $1 - \epsilon^2$, $0 < \epsilon \le \frac12$",
                            r * (1 - np.log(r)), 1 - dial**2))  # fmt: skip
    shapes = [rng.integers(1, top, size=k).tolist() for top in tops for k in (2, 5, 20, 60)]
    shapes += [[m] * k for m in equal for k in (2, 20, 60)]
    tried = list(product(shapes, (0.01, 0.1, 0.25, 0.4, 0.5)))
    yield corrected(bounded(
        rf"the printed sum of Theorem 3 less $n$, against $nk(1-\epsilon^2)$, {len(tried)} cases",
        [node_bound(cr.dist1(x), sizes) - sum(sizes) for sizes, x in tried],
        [sum(sizes) * len(sizes) * (1 - x * x) for sizes, x in tried]))  # fmt: skip
    model = cr.dist1(F(2, 5))
    yield also_corrected(
        agreement(
            "`node_bound` against a transcription",
            [node_bound(model, s) for s in ([5, 3, 1], [4, 4])],
            [float(by_hand.theorem_3(s, lambda x: by_hand.integral(model, x))) for s in ([5, 3, 1], [4, 4])],
            tolerance=1e-9,
        )
    )


@claim("E11")
def distance_for_the_heuristics(low=None, counts=None):
    low = cr.SimilarityModel.from_steps([0, QUARTER, HALF, 1], green=[0, 2, 1], red=[2, 0, 1]) if low is None else low
    counts = [expected_queries(m, [20] * 10) for m in (low, DIST2)] if counts is None else counts
    both = (low, DIST2)
    yield counterexample("two models with the same $H^2$ and total variation: $L_{g,r}(1)$",
                         value=by_hand.integral(low, 1), relation="equal",
                         printed=by_hand.integral(DIST2, 1))  # fmt: skip
    yield says(
        counterexample("ten clusters of 20: expected questions of edge ordering, which should not differ",
                       value=counts[0], relation="equal", printed=counts[1], margin=10),
        f"Under two models that are equally far apart by both distances, edge ordering asks {counts[0]:,.0f} and "
        f"{counts[1]:,.0f} questions about the same clusters.")  # fmt: skip
    yield also(agreement("both distances of both models", [v for m in both for v in (m.hellinger2, m.total_variation)],
                         [0.5] * 4, tolerance=1e-12))  # fmt: skip
    yield also(
        agreement(
            "the integral",
            [L(m, s) for m in both for s in (1, 2, 9)],
            [float(by_hand.integral(m, s)) for m in both for s in (1, 2, 9)],
            tolerance=1e-12,
        )
    )
    top, q, s = (1 - e) / (1 + e), *sp.symbols("q s", positive=True)  # f_r/f_g where f_g ends; ε = 1 - 2q, t = s
    forms = {name: ((t + 1) * L_symbolic(name)).subs(t, s) for name in cr.models.MODEL_NAMES}
    yield corrected(identity(
        r"$(t+1) L_{g,r}(t)$ less $f_r/f_g$ at the largest similarities: powers with exponent $t$, three models",
        (forms["uniform"], 1),
        (forms["dist1"] - top * (1 + e * ((1 - e) / 2) ** (s - 1))).subs(e, 1 - 2 * q),
        (forms["dist2"] - ((1 - 2 * e) / (1 - e)) ** (s + 1)).subs(e, 1 - 2 * q)))  # fmt: skip


@claim("E13")
def number_of_clusters_for_a_reduction(epsilon=0.2, sizes=(5, 12, 80), m=400):
    """`sizes`: of a thousand clusters each; `m`: of two clusters."""
    law1, law2, lam = cr.dist1(epsilon), cr.dist2(epsilon), (1 - epsilon) / (1 + epsilon)
    h2 = law2.hellinger2

    def ratio(m, k, ordering):
        two = [expected_across(law, m, m, ordering) for law in (law2, law1)]
        return np.divide(*(k * (m - 1) + k * (k - 1) / 2 * np.array(two)))

    kept, limit = ratio(m, 2, "edge"), 2 / (2 + edge_limit(lam))
    yield says(
        counterexample(
            rf"two clusters of {m}, $\epsilon = {epsilon:g}$: questions of edge ordering under Dist-2, as a share of "
            "those under Dist-1, which a drastic reduction leaves below one half",
            value=kept,
            relation="at most",
            printed=HALF,
        ),
        f"Two clusters of {m} records still need {kept:.0%} as many questions under Dist-2 as under Dist-1.",
    )
    yield also(counterexample("its limit for large clusters", value=limit, relation="at most", printed=HALF))
    c, h, r = sp.symbols("m h lambda", positive=True)
    most, least = n - k + k * (k - 1) / 2 * 4 / h, k * (k - 1) / 2 * r * c / 2
    share = (most / least).subs(n, k * c)
    yield corrected(identity(
        r"at most $n - k + \binom k2 \frac4{H^2}$ questions under Dist-2, at least $\binom k2 \frac{\lambda m}2$ under "
        "Dist-1: their ratio, and its limit along $k = m$",
        share - 4 * (c - 1) / (r * c * (k - 1)) - 8 / (r * h * c), sp.limit(share.subs(k, c), c, sp.oo)))  # fmt: skip
    grown = np.array([1, *sizes, m])
    across = {law.name: [expected_across(law, j, j) for j in grown] for law in (law1, law2)}
    yield also_corrected(bounded(r"two clusters of $m$ under Dist-1: $\frac{\lambda m}2$ against the expected "
                                 "non-matches", lam * grown / 2, across["dist1"]))  # fmt: skip
    yield also_corrected(bounded(r"under Dist-2: the expected non-matches against $\frac4{H^2}$",
                                 across["dist2"], 4 / h2))  # fmt: skip
    shares = [ratio(j, 1000, ordering) for ordering in ("edge", "node") for j in sizes]
    yield also_corrected(cases(
        "the ratio falls",
        *(bool(b < a) for ordering in (shares[: len(sizes)], shares[len(sizes) :]) for a, b in pairwise(ordering)),
        where=f"a thousand clusters of {', '.join(map(str, sizes))}, both orderings",
        shows=", ".join(f"{share:.3f}" for share in shares)))  # fmt: skip
    yield also_corrected(agreement(
        f"fixed $k$ = 2, 3, 10 and clusters of {m}, against the limits",
        [ratio(m, j, ordering) for ordering in ("edge", "node") for j in (2, 3, 10)],
        [2 / (2 + (j - 1) * limit(lam)) for limit in (edge_limit, node_limit) for j in (2, 3, 10)],
        tolerance=0.02))  # fmt: skip


@claim("E15")
def persistent_errors(sizes=(1, 2, 3, 4)):
    error = best_test_error(2, F(1, 10))
    yield says(counterexample(r"two clusters of two, $p = \frac1{10}$: error of the best test, against certainty",
                              value=error, relation="equal", printed=0),
               "With two clusters of two records and every tenth answer wrong, the best test errs with probability "
               f"{float(error):.1%}.")  # fmt: skip
    tests = list(product(sizes, (F(1, 10), THIRD)))
    yield corrected(
        agreement(
            "error of the best test between two clusters of $m$, against that of $2m - 1$ votes",
            [best_test_error(*case) for case in tests],
            [majority_error(2 * m - 1, p) for m, p in tests],
        )
    )


# --- wording, and slips ---------------------------------------------------------------------------------------------


@claim("E18")
def equality_sign():
    value, printed = by_hand.integral(cr.dist2(QUARTER), 1), exp(-0.25) / 2
    yield says(counterexample(r"$\epsilon = \frac14$, $s = 1$", value=value, relation="equal", printed=printed,
                              margin=0.01),
               rf"At $\epsilon = \frac14$ and $s = 1$ the two sides are {float(value):.3f} and {printed:.3f}: the "
               "right side is an upper bound.")  # fmt: skip
    points = list(product([F(i, 40) for i in range(1, 20)], [0, 1, 2, 5, 20, 100]))
    values = [float(by_hand.integral(cr.dist2(x), s)) for x, s in points]
    yield corrected(bounded(r"the inequality: all $\epsilon$ in steps of $\frac1{40}$, $s$ up to 100", values,
                            [exp(-float(x) * s) / (s + 1) for x, s in points]))  # fmt: skip
    yield also_corrected(agreement("`L`", [L(cr.dist2(x), s) for x, s in points], values, tolerance=1e-13))


@claim("E19")
def integration_variable():
    x, y, w = sp.symbols("x y w", positive=True)
    letter = sp.integrate(sp.integrate(1, (y, 0, w)), (x, 0, 1))  # uniform, t = 1, as printed, with w for r
    meant = sp.integrate(sp.integrate(1, (y, 0, x)), (x, 0, 1))
    yield says(counterexample("uniform, $t = 1$: $L_{g,r}(1)$, against the printed integral at $r = 1$",
                              value=meant, relation="equal", printed=letter.subs(w, 1)),
               f"For uniform densities and $t = 1$ the probability is {meant}; the integral as printed depends on $r$, "
               f"and is {letter.subs(w, 1)} at $r = 1$.")  # fmt: skip
    yield also(agreement("the intended integral", L_symbolic("uniform").subs(t, 1), meant))
    yield corrected(agreement(
        r"one non-match and three matches, Dist-1 with $\epsilon = \frac14$: all orders, against "
        r"$\int F_g(x)^3 f_r(x)\,dx$",
        sum(chance for order, chance in by_hand.orders(DIST1, "gggr").items() if order[0] == 3),
        by_hand.integral(DIST1, 3)))  # fmt: skip
    yield also_corrected(agreement("`L`", L(DIST1, 3), float(by_hand.integral(DIST1, 3)), tolerance=1e-14))
