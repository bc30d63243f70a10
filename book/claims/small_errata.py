"""Claims of the appendix *The smaller errata*: printed, a smallest counterexample, what holds, what is affected.

An amended claim of the paper (C06, C09, ...) is an erratum itself. Here are the errata on what is no claim of its own:
a step of a proof, a conclusion, a word. Each names the claims that it is `about`, none of which has the same place.
"""

from fractions import Fraction as F
from itertools import product

import sympy as sp

import crowder as cr
from book.claims.persistent_errors import best_test_error
from book.companion import by_hand
from book.companion.claims import (
    agreement,
    also,
    corrected,
    counterexample,
    identity,
    of_chapter,
    says,
)
from crowder.counting.expected_counts import expected_queries
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
