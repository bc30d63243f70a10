"""Claims of the appendix *Bounds for Dist-2*."""

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.integral import (
    H2,
    QUARTER,
    TOP,
    as_powers,
    by_counting,
    chain,
    counted,
    derive,
    derived_again,
    tangent,
)
from book.companion.claims import also, cases, identity, inequality, of_chapter
from crowder.theory import EPSILON as e
from crowder.theory import T as t

claim, check = of_chapter(__name__)


@claim(
    "B24",
    proof="03a-dist2-bounds#prop-l-chain",
    prose="nothing but the order of the steps",
    place="beyond the paper",
    statement=r"For Dist-2 and $t \ge 1$, $L_{g,r}(t) \le e^{-H^2(t+1)}/(t+1)$, tighter than the chain in the paper.",
    basis="proved",
    code=cr.L,
    test="test_theory.py::test_bounds_for_dist2_hold_from_one_on",
)
def tighter_bound_for_dist2():
    derived = derive()
    yield as_powers(derived)
    yield tangent()
    further = [derived_again("dist2", derived), counted("dist2"), *chain()[:2]]
    yield from map(also, further)


@claim(
    "B26",
    proof="03a-dist2-bounds#used-bound",
    prose="nothing but the order of the steps",
    place="beyond the paper",
    statement=r"""For Dist-2, $L_{g,r}(s) \le e^{-\epsilon s}/(s+1)$, with equality only at $s = 0$; the proof for node
              ordering has an equality.""",
    basis="proved",
    code=cr.L,
    test="test_theory.py::test_bounds_for_dist2_hold_from_one_on",
)
def inequality_for_node_ordering(used=None):
    derived = derive()
    yield also(
        identity(
            r"equal at $s = 0$, and $\frac29$ at $\epsilon = \frac14$, $s = 1$",
            derived["dist2"].subs(t, 0) - 1,
            by_counting(cr.dist2(QUARTER), 1) - sp.Rational(2, 9),
            shows=r"$L_{g,r}(1) = \frac29$",
        )
    )
    yield as_powers(derived)
    yield tangent()
    yield inequality(
        r"strict at $s \ge 1$: $e^\epsilon \ge 1 + \epsilon > 1$ times the bound in the appendix of the paper",
        (1 + e) - 1,
    )
    rate = sp.series(-sp.log(1 - H2), e, 0, 3).removeO()
    yield identity("the rate of decrease", (rate, e + sp.Rational(3, 2) * e**2))
    yield also(counted("dist2"))
    if used is None:
        s = np.array([0, 1, 2, 5, 10])
        used = pd.DataFrame({"exact": cr.L(TOP, s), "written": np.exp(-s / 3) / (s + 1)})
    equal, less = used["exact"][0] == used["written"][0], (used["exact"] < used["written"])[1:]
    yield also(cases("the values in the table", equal, *less, where=f"{len(used)} values of $s$"))
