"""Claims of the appendix *Approximations and bounds for the integral*."""

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.integral import (
    FIRST,
    H2,
    PRINTED,
    QUARTER,
    SECOND,
    TOP,
    as_powers,
    by_counting,
    chain,
    counted,
    derive,
    derived_again,
    tangent,
)
from book.companion.claims import also, bounded, cases, identity, inequality, of_chapter, says
from crowder.theory import EPSILON as e
from crowder.theory import T as t

claim, check = of_chapter(__name__)


@claim("B23")
def simplifications_underestimate():
    bound, power = (1 - e) / (t + 1), ((1 - e) / 2) ** (t - 1)
    yield identity(
        "the relative errors of the two",
        PRINTED["dist1"] / FIRST - (1 + e * power),
        1 - SECOND / FIRST - 2 * e**2 / (1 - e),
        shows=r"the second, $2\epsilon^2/(1 - \epsilon)$",
    )
    yield identity(
        "the slack of the bound, zero at $t = 1$",
        bound - PRINTED["dist1"] - bound * e / (1 + e) * (1 - power),
        power.subs(t, 1) - 1,
    )
    yield inequality(
        r"the power decreases with $t$: its base $(1 - \epsilon)/2$ lies between 0 and 1",
        (1 - e) / 2,
        1 - (1 - e) / 2,
        over={e: (0, 1)},
    )
    yield also(counted("dist1"))
    dial, lengths = np.linspace(0.005, 0.5, 100), np.arange(1, 101)
    values = np.array([cr.L(cr.dist1(x), lengths) for x in dial])
    limit = (1 - dial[:, None]) / (lengths + 1)
    largest = bounded(r"$L_{g,r}(t) \le (1-\epsilon)/(t+1)$, $0 < \epsilon \le \frac12$, $t \le 100$", values, limit)
    yield also(says(largest, rf"All {values.size:,} values of $L_{{g,r}}(t)$ computed for Dist-1 lie below the upper "
                             "bound and above the first simplification."))  # fmt: skip
    yield also(bounded(r"the first below $L_{g,r}(t)$", limit / (1 + dial[:, None]), values))


@claim("B24")
def tighter_bound_for_dist2():
    derived = derive()
    yield as_powers(derived)
    yield tangent()
    ordered, *tighter = chain()[:2]
    yield also(says(ordered, "The four bases stand in the order of the chain at every $\\epsilon$ tried, and the "
                             "integral lies below the tightest power."))  # fmt: skip
    further = [derived_again("dist2", derived), counted("dist2"), *tighter]
    yield from map(also, further)


@claim("B26")
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
    tabulated = cases("the values in the table", equal, *less, where=f"{len(used)} values of $s$")
    yield also(says(tabulated, f"The expression equals the integral at $s = 0$ and exceeds it at the other {len(less)} "
                               "values of $s$ in the table."))  # fmt: skip
