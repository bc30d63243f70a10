r"""The integral in the bounds for both heuristics, :math:`L_{g,r}(t) = \int_0^1 F_g(x)^t f_r(x)\,dx`.

It is the probability that the similarity of a non-match is at least as large as those of t matches, so that the
question about it comes before those about the matches (Section "Main results").
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.densities import common_steps
from crowder.models import SimilarityModel, steps

if TYPE_CHECKING:
    import sympy as sp

    T: sp.Symbol
    EPSILON: sp.Symbol

__all__ = ["EPSILON", "L", "L_symbolic", "T", "step_integral"]

#: The symbols of `L_symbolic`, `T` and `EPSILON`, with their assumptions.
_SYMBOLS = {"T": ("t", {"nonnegative": True}), "EPSILON": ("epsilon", {"positive": True})}


def __getattr__(name: str) -> object:
    """Create the symbols on first use, since sympy is slow to load."""
    if name not in _SYMBOLS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sympy as sp

    letter, known = _SYMBOLS[name]
    return globals().setdefault(name, sp.Symbol(letter, **known))


def L(model: SimilarityModel, t: ArrayLike) -> float | np.ndarray:
    r"""L_{g,r}(t) of a piecewise-constant model, in closed form.

    On a step of width b where :math:`F_g` rises from c to c + gb and f_r is h, the integral is
    :math:`h\,\frac{(c + gb)^{t+1} - c^{t+1}}{g\,(t+1)}`, or :math:`h\,b\,c^t` where g = 0.

    Parameters
    ----------
    model : SimilarityModel
    t : float or array_like
        Number of similarities within the cluster, t ≥ 0; need not be a whole number.

    Returns
    -------
    float or ndarray
        In the shape of t. L(0) = 1, the maximum over the empty set (0⁰ = 1).

    Raises
    ------
    ValueError
        If a t is negative or NaN.
    TypeError
        If a t is not a real number.

    See Also
    --------
    crowder.L_symbolic : the same, derived symbolically.
    crowder.edge_bound : a bound made of it.
    crowder.node_bound : another.
    crowder.expected_queries : the exact counts that it bounds.

    Notes
    -----
    O(steps · t.size). Powers are computed in logarithms, so there is no cancellation however large t is.

    Examples
    --------
    >>> from crowder.models import dist2, uniform
    >>> L(uniform(), [0, 1, 4])
    array([1. , 0.5, 0.2])
    >>> L(dist2(0.25), 0)
    1.0
    """
    validation.model(model)
    t = validation.numbers(t, "t")
    if not (t >= 0).all():
        raise ValueError(f"t must be at least 0, not {t}")
    edges, green, red = common_steps(model.green, model.red)
    total = np.zeros(t.shape)
    for b, g, h, (c, d) in zip(np.diff(edges), green, red, pairwise(model.green.cdf(edges)), strict=True):
        if h == 0.0:
            continue
        if g == 0.0:
            total += h * b * c**t
            continue
        # (d^(t+1) - c^(t+1)) / g = d^(t+1) (1 - (c/d)^(t+1)) / g, with ln(c/d) = ln(1 - gb/d).
        shrink = np.log1p(-g * b / d) if g * b < d else -np.inf
        total += h / g * d ** (t + 1) * -np.expm1((t + 1) * shrink) / (t + 1)
    return float(total) if total.ndim == 0 else total


def step_integral(c: Any, g: Any, h: Any, b: Any, t: Any) -> Any:
    r"""The part of L_{g,r}(t) on one step: :math:`\int_0^b (c + g y)^t\,h\,dy`, in sympy.

    Parameters
    ----------
    c, g, h, b, t : sympy expression
        The value of F_g at the start of the step, the heights of f_g and f_r on it, its width, and the exponent.

    Returns
    -------
    sympy expression

    See Also
    --------
    crowder.L_symbolic : the sum over all steps.

    Examples
    --------
    >>> from crowder.theory import T
    >>> step_integral(0, 1, 1, 1, T)  # the uniform model
    1/(t + 1)
    """
    import sympy as sp

    c, g, h, b, t = (validation.expression(value, name) for name, value in zip("cghbt", (c, g, h, b, t), strict=True))
    if h == 0:
        return sp.Integer(0)
    if g == 0:
        return h * b * c**t
    z = sp.Symbol("z", positive=True)
    power = sp.integrate(z**t, (z, c, c + g * b))  # z = c + g y
    return h / g * power


def L_symbolic(model: str, t: sp.Expr | None = None, epsilon: sp.Expr | None = None) -> sp.Expr:
    r"""L_{g,r}(t) of one of the paper's models, derived step by step for symbolic t and ε.

    Parameters
    ----------
    model : {"uniform", "dist1", "dist2"}
    t, epsilon : sympy expression, optional
        Symbols or numbers; by default `T` and `EPSILON`.

    Returns
    -------
    sympy expression
        Correct at t = 0 too. For Dist-2 this needs the term in :math:`0^t`: below ε, F_g is zero, and :math:`F_g^t`
        vanishes except at t = 0.

    Raises
    ------
    ValueError
        If no model has this name.

    See Also
    --------
    crowder.L : the same, as a number.
    crowder.theory.step_integral : the part on one step.

    Examples
    --------
    >>> import sympy as sp
    >>> from crowder.theory import EPSILON, T
    >>> L_symbolic("uniform")
    1/(t + 1)
    >>> L_symbolic("dist1").subs({T: 1, EPSILON: sp.Rational(1, 2)}), L_symbolic("dist2").subs(T, 0).simplify()
    (1/4, 1)
    """
    import sympy as sp

    t = __getattr__("T") if t is None else validation.expression(t, "t")
    epsilon = __getattr__("EPSILON") if epsilon is None else validation.expression(epsilon, "ε")
    edges, green, red = (tuple(sp.sympify(v) for v in part) for part in steps(model, epsilon))
    total, reached = sp.Integer(0), sp.Integer(0)
    for left, right, g, h in zip(edges, edges[1:], green, red, strict=False):
        total += step_integral(reached, g, h, right - left, t)
        reached = sp.simplify(reached + g * (right - left))
    return total
