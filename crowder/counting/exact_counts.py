r"""The expected counts of `expected_counts` as fractions, or as rational functions of ε, for small instances.

On a step of the densities both distribution functions are linear in the level, so the integrands of the two formulas
are polynomials, integrated exactly. The formulas can thus be compared with enumeration exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from numbers import Rational
from typing import Any

import sympy as sp

from crowder import validation
from crowder.counting.expected_counts import checked_ordering
from crowder.models import SimilarityModel, steps
from crowder.resolution import cluster_sizes
from crowder.theory import EPSILON

__all__ = ["connected_polynomials", "expected_queries_exact", "expected_queries_symbolic"]


def expected_queries_exact(model: SimilarityModel, sizes: Sequence[int], ordering: str = "edge") -> Fraction:
    """`crowder.counting.expected_counts.expected_queries` as a fraction.

    Parameters
    ----------
    model : SimilarityModel
        Edges and heights must be whole numbers or fractions, and the masses exactly one.
    sizes : sequence of int
        The cluster sizes, each at least 1.
    ordering : {"edge", "node"}

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        For sizes or an ordering invalid in `crowder.counting.expected_counts.expected_queries`, or an inexact model.

    See Also
    --------
    crowder.expected_queries : the same in floating point, for many records.
    crowder.expected_queries_symbolic : the same as a function of ε.

    Notes
    -----
    For edge ordering, polynomials of degree up to the square of the largest cluster. A dozen records are fast.

    Examples
    --------
    >>> from crowder.models import dist2, uniform
    >>> expected_queries_exact(uniform(), [3, 2]), expected_queries_exact(uniform(), [3, 2], "node")
    (Fraction(463, 84), Fraction(27, 5))
    >>> expected_queries_exact(dist2(Fraction(1, 3)), [2, 1])
    Fraction(49, 24)
    """
    validation.model(model)
    parts = [part for density in (model.green, model.red) for part in (density.edges, density.heights)]
    if not all(isinstance(value, (Rational, sp.Rational)) for part in parts for value in part):
        raise ValueError("model must have edges and heights that are whole numbers or fractions")
    edges = sorted({sp.Rational(edge) for edge in (*model.green.edges, *model.red.edges)})
    heights = [[_height(density, left) for left in edges[:-1]] for density in (model.green, model.red)]
    for which, row in zip(("f_g", "f_r"), heights, strict=True):
        if (mass := sum(h * (b - a) for h, (a, b) in zip(row, pairwise(edges), strict=True))) != 1:
            raise ValueError(f"model must have masses of exactly one, but {which} has {mass}")
    value = _expected(edges, heights[0], heights[1], sizes, ordering, sp.QQ)
    return Fraction(int(value.p), int(value.q))


def expected_queries_symbolic(
    model: str, sizes: Sequence[int], ordering: str = "edge", epsilon: sp.Expr = EPSILON
) -> sp.Expr:
    """`crowder.counting.expected_counts.expected_queries` of one of the paper's models, for symbolic ε.

    Parameters
    ----------
    model : {"uniform", "dist1", "dist2"}
    sizes : sequence of int
        The cluster sizes, each at least 1.
    ordering : {"edge", "node"}
    epsilon : sympy expression
        Another symbol, or a rational number, in place of `crowder.theory.EPSILON`.

    Returns
    -------
    sympy expression
        A rational function of ε, in lowest terms.

    Raises
    ------
    ValueError
        If no model has this name, or ε is not rational; for sizes or an ordering invalid in
        `crowder.counting.expected_counts.expected_queries`.

    See Also
    --------
    crowder.expected_queries_exact : the same at one ε.
    crowder.expected_queries : in floating point, for many records.

    Examples
    --------
    >>> expected_queries_symbolic("dist1", [2, 1])
    epsilon**2/6 - epsilon/2 + 7/3
    """
    epsilon = validation.expression(epsilon, "ε")
    edges, green, red = (tuple(map(sp.sympify, part)) for part in steps(model, epsilon))
    symbols = sorted(epsilon.free_symbols, key=str)
    try:
        return _expected(edges, green, red, sizes, ordering, sp.QQ.frac_field(*symbols) if symbols else sp.QQ)
    except sp.CoercionFailed:
        raise ValueError(f"ε must be a fraction, or composed of fractions and symbols, not {epsilon}") from None


def connected_polynomials(m: int, q: Any) -> list:
    """The probabilities that G(1, 1 - q), ..., G(m, 1 - q) are connected, in the arithmetic of q.

    The recursion of `crowder.counting.random_graphs.connected`; q may be a fraction, a symbol or a polynomial.

    Examples
    --------
    >>> connected_polynomials(3, Fraction(1, 2))
    [Fraction(1, 1), Fraction(1, 2), Fraction(1, 2)]
    """
    chance = [None, _power(q, 0)]
    for n in range(2, m + 1):
        chance.append(0 * q)
        for k in range(1, n):
            attached = (1 - q**k) * _power(q, k * (n - 1 - k))
            chance[n] += comb(n - 2, k - 1) * attached * chance[k] * chance[n - k]
    return chance[1:]


def _expected(edges: Any, green: Any, red: Any, sizes: Any, ordering: Any, domain: Any) -> sp.Expr:
    """n - k and, step by step, the expected non-matches asked about; edges and heights are sympy expressions."""
    sizes = [int(size) for size in cluster_sizes(sizes)]
    questions = {"edge": _edge_density, "node": _node_density}[checked_ordering(ordering)]
    _, y, x = sp.ring("y, x", domain)
    edges, green, red = ([domain.from_sympy(value) for value in part] for part in (edges, green, red))
    reached_green, reached_red, total = domain.zero, domain.zero, domain.from_sympy(sp.Integer(sum(sizes) - len(sizes)))
    for (left, right), g, h in zip(pairwise(edges), green, red, strict=True):
        width = right - left
        F_g, F_r = (g * y + reached_green, h * y + reached_red)
        density = questions(F_g, F_r, h, Counter(sizes), x) if h else 0 * x
        # The integral over y from 0 to the width, and over x from 0 to 1.
        for (power, other), coefficient in density.terms():
            total += coefficient * width ** (power + 1) / ((power + 1) * (other + 1))
        reached_green, reached_red = reached_green + g * width, reached_red + h * width
    return sp.sympify(domain.to_sympy(total))


def _edge_density(F_g: Any, F_r: Any, f_r: Any, many: Counter, x: Any) -> Any:
    """The integrand of the formula for edge ordering, as a polynomial in the level."""
    chance = connected_polynomials(max(many, default=1), F_g)
    numbers = {
        m: {a: comb(m, a) * chance[a - 1] * _power(F_g, a * (m - a)) for a in range(1, m + 1)} for m in many
    }  # fmt: skip
    total = 0 * x
    for i, j, pairs in _pairs(many):
        for a, first in numbers[i].items():
            for b, second in numbers[j].items():
                total += pairs * a * b * f_r * first * second * _power(F_r, a * b - 1)
    return total


def _node_density(F_g: Any, F_r: Any, f_r: Any, many: Counter, x: Any) -> Any:
    """The integrand of the formula for node ordering, as a polynomial in the level and the time of arrival."""
    total = 0 * x
    for i, j, pairs in _pairs(many):
        for own, other in ((i, j), (j, i)):
            found, missed = _power(1 - x + x * F_g, own - 1), _power(1 - x + x * F_r, other - 1)
            total += pairs * own * other * x * f_r * found * missed
    return total


def _pairs(many: Counter) -> Any:
    """Each pair of sizes, and the number of pairs of clusters with these sizes."""
    different = sorted(many)
    for at, i in enumerate(different):
        if many[i] > 1:
            yield i, i, comb(many[i], 2)
        for j in different[at + 1 :]:
            yield i, j, many[i] * many[j]


def _power(base: Any, exponent: int) -> Any:
    """The power, with 0⁰ = 1, which sympy's polynomials do not allow."""
    return base**exponent if exponent else 0 * base + 1


def _height(density: Any, left: Any) -> sp.Rational:
    """The height of a density on the step that starts at `left`."""
    return next(
        sp.Rational(h) for h, end in zip(density.heights, density.edges[1:], strict=True) if left < sp.Rational(end)
    )
