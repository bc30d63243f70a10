r"""The integral that governs both heuristics, :math:`L_{g,r}(t) = \int_0^1 F_g(x)^t f_r(x)\,dx`.

It is the chance that a similarity across clusters is at least as large as t similarities inside one: the chance that a
needless question comes before all t useful ones (Section "Main results").
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from crowder import checked
from crowder.model.models import SimilarityModel, steps

__all__ = ["EPSILON", "L", "L_symbolic", "T", "step_integral"]

#: The symbols of `L_symbolic`.
T = sp.Symbol("t", nonnegative=True)
EPSILON = sp.Symbol("epsilon", positive=True)


def L(model: SimilarityModel, t) -> float | np.ndarray:
    r"""L_{g,r}(t) of a piecewise-constant model, in closed form.

    On a step of width b where :math:`F_g` rises from c to c + gb and f_r is h, the integral is
    :math:`h\,\frac{(c + gb)^{t+1} - c^{t+1}}{g\,(t+1)}`, or :math:`h\,b\,c^t` where g = 0.

    Parameters
    ----------
    model : SimilarityModel
    t : float or array_like
        Number of similarities inside the cluster, t ≥ 0; need not be whole.

    Returns
    -------
    float or ndarray
        In the shape of t. L(0) = 1: nothing has to be exceeded (0⁰ = 1).

    Raises
    ------
    ValueError
        If a t is negative or not a number.

    Notes
    -----
    O(steps · t.size). Powers are taken in logarithms, so nothing cancels however large t is.

    Examples
    --------
    >>> from crowder.model.models import dist2, uniform
    >>> L(uniform(), [0, 1, 4])
    array([1. , 0.5, 0.2])
    >>> L(dist2(0.25), 0)
    1.0
    """
    checked.model(model)
    try:
        numbers = np.asarray(t)
        numbers = numbers.astype(np.float64) if numbers.dtype.kind in "fiubO" else np.float64(np.nan)
    except (TypeError, ValueError):
        numbers = np.float64(np.nan)
    if not (numbers >= 0).all():
        raise ValueError(f"L_{{g,r}}(t) is defined for numbers t >= 0, not {t!r}")
    t, green, red = numbers, model.green, model.red
    edges = np.union1d(green._edges, red._edges)
    width, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    rise, height = green.pdf(middle), red.pdf(middle)
    start, end = green.cdf(edges[:-1]), green.cdf(edges[1:])
    total = np.zeros(t.shape)
    for b, g, h, c, d in zip(width, rise, height, start, end, strict=True):
        if h == 0.0:
            continue
        if g == 0.0:
            total += h * b * c**t
            continue
        # (d^(t+1) - c^(t+1)) / g = d^(t+1) (1 - (c/d)^(t+1)) / g, with ln(c/d) = ln(1 - gb/d).
        shrink = np.log1p(-g * b / d) if g * b < d else -np.inf
        total += h / g * d ** (t + 1) * -np.expm1((t + 1) * shrink) / (t + 1)
    return float(total) if total.ndim == 0 else total


def step_integral(c, g, h, b, t):
    r"""The part of L_{g,r}(t) on one step: :math:`\int_0^b (c + g y)^t\,h\,dy`, in sympy.

    Parameters
    ----------
    c, g, h, b, t : sympy expression
        F_g where the step begins, heights of f_g and f_r on it, its width, and the exponent.

    Returns
    -------
    sympy expression

    Examples
    --------
    >>> step_integral(0, 1, 1, 1, T)  # the uniform model
    1/(t + 1)
    """
    c, g, h, b, t = (checked.expression(value, name) for name, value in zip("cghbt", (c, g, h, b, t), strict=True))
    if h == 0:
        return sp.Integer(0)
    if g == 0:
        return h * b * c**t
    z = sp.Symbol("z", positive=True)
    power = sp.integrate(z**t, (z, c, c + g * b))  # z = c + g y
    return h / g * power


def L_symbolic(model: str, t: sp.Expr = T, epsilon: sp.Expr = EPSILON) -> sp.Expr:
    r"""L_{g,r}(t) of one of the paper's models, derived step by step for symbolic t and ε.

    Parameters
    ----------
    model : {"uniform", "dist1", "dist2"}
    t, epsilon : sympy expression
        Other symbols, or numbers, in place of `T` and `EPSILON`.

    Returns
    -------
    sympy expression
        Right at t = 0 too. For Dist-2 that is the term in :math:`0^t`: below ε no similarity inside a cluster is left
        to be exceeded, which only a maximum over none survives.

    Raises
    ------
    ValueError
        If no model has this name.

    Examples
    --------
    >>> L_symbolic("uniform")
    1/(t + 1)
    >>> L_symbolic("dist1").subs({T: 1, EPSILON: sp.Rational(1, 2)}), L_symbolic("dist2").subs(T, 0).simplify()
    (1/4, 1)
    """
    t, epsilon = checked.expression(t, "t"), checked.expression(epsilon, "ε")
    edges, green, red = (tuple(sp.sympify(v) for v in part) for part in steps(model, epsilon))
    total, reached = sp.Integer(0), sp.Integer(0)
    for left, right, g, h in zip(edges, edges[1:], green, red, strict=False):
        total += step_integral(reached, g, h, right - left, t)
        reached = sp.simplify(reached + g * (right - left))
    return total
