r"""The expected counts of `crowder.counting.expected` as fractions, for small instances.

On a step of the densities both distribution functions are linear in the level, so the integrands of the two formulas
are polynomials, integrated exactly. The formulas can thus be compared with enumeration exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from math import comb
from numbers import Rational
from typing import Any

from crowder import checks
from crowder.checks import needing
from crowder.counting.expected import checked_ordering
from crowder.models import SimilarityModel, StepDensity
from crowder.resolution import cluster_sizes

with needing("symbolic"):
    import sympy as sp

__all__ = ["expected_queries_exact"]


def expected_queries_exact(model: SimilarityModel, sizes: Sequence[int], ordering: str = "edge") -> Fraction:
    """`crowder.expected_queries` as a fraction.

    Parameters
    ----------
    model : SimilarityModel
        Edges and heights must be whole numbers or fractions, and the masses exactly one; a ValueError otherwise.
    sizes, ordering
        As for `crowder.expected_queries`.

    See Also
    --------
    crowder.expected_queries : the same in floating point, for many records.

    Notes
    -----
    For edge ordering, polynomials of degree up to the square of the largest cluster: fast for up to a dozen records.

    Examples
    --------
    >>> from crowder.models import dist2, uniform
    >>> expected_queries_exact(uniform(), [3, 2]), expected_queries_exact(uniform(), [3, 2], "node")
    (Fraction(463, 84), Fraction(27, 5))
    >>> expected_queries_exact(dist2(Fraction(1, 3)), [2, 1])
    Fraction(49, 24)
    """
    edges, green, red = _in_fractions(checks.model(model))
    sizes = [int(size) for size in cluster_sizes(sizes)]
    integrand = {"edge": _edge_integrand, "node": _node_integrand}[checked_ordering(ordering)]
    _, y, x = sp.ring("y, x", sp.QQ)
    total, reached_green, reached_red = sp.QQ(sum(sizes) - len(sizes)), sp.QQ(0), sp.QQ(0)
    for (left, right), g, h in zip(pairwise(edges), green, red, strict=True):
        width = right - left
        density = integrand(g * y + reached_green, h * y + reached_red, h, Counter(sizes), x) if h else 0 * x
        # The integral over y, the level within the step, and over x from 0 to 1.
        for (power, other), coefficient in density.terms():
            total += coefficient * width ** (power + 1) / ((power + 1) * (other + 1))
        reached_green, reached_red = reached_green + g * width, reached_red + h * width
    return Fraction(int(total.numerator), int(total.denominator))


def _in_fractions(model: SimilarityModel) -> tuple[list, list, list]:
    """The common steps of f_g and f_r: edges, and heights of both, as rational numbers of sympy's polynomials."""
    for density in (model.green, model.red):
        if not all(isinstance(value, Rational) for value in (*density.edges, *density.heights)):
            raise ValueError("model must have edges and heights that are whole numbers or fractions")
    edges = sorted({_rational(edge) for edge in (*model.green.edges, *model.red.edges)})
    heights = []
    for which, density in (("f_g", model.green), ("f_r", model.red)):
        heights.append([_height(density, left) for left in edges[:-1]])
        mass = sum(h * (b - a) for h, (a, b) in zip(heights[-1], pairwise(edges), strict=True))
        if mass != 1:
            raise ValueError(f"model must have masses of exactly one, but {which} has {mass}")
    return edges, heights[0], heights[1]


def _height(density: StepDensity, left: Any) -> Any:
    """The height of a density on the step that starts at `left`."""
    steps = zip(density.heights, density.edges[1:], strict=True)
    return next(_rational(height) for height, end in steps if left < _rational(end))


def _rational(value: Any) -> Any:
    return sp.QQ(int(value.numerator), int(value.denominator))


def _connected(m: int, p: Any) -> list:
    """The probabilities that the random graphs G(1, p), ..., G(m, p) are connected, for a polynomial p.

    Gilbert's recursion: otherwise the first vertex is in a component of k < n vertices. It subtracts, which loses no
    digits in fractions, and is thus independent of `crowder.counting.expected.log_connected`.
    """
    chance: list[Any] = []
    for n in range(1, m + 1):
        apart = sum(comb(n - 1, k - 1) * chance[k - 1] * (1 - p) ** (k * (n - k)) for k in range(1, n))
        chance.append(1 + 0 * p - apart)
    return chance


def _edge_integrand(F_g: Any, F_r: Any, f_r: Any, many: Counter, x: Any) -> Any:
    """The integrand of the formula for edge ordering, as a polynomial in the level."""
    chance = _connected(max(many, default=1), 1 - F_g)
    numbers = {m: {a: comb(m, a) * chance[a - 1] * _power(F_g, a * (m - a)) for a in range(1, m + 1)} for m in many}
    total = 0 * x
    for i, j, pairs in _pairs(many):
        for a, first in numbers[i].items():
            for b, second in numbers[j].items():
                total += pairs * a * b * f_r * first * second * _power(F_r, a * b - 1)
    return total


def _node_integrand(F_g: Any, F_r: Any, f_r: Any, many: Counter, x: Any) -> Any:
    """The integrand of the formula for node ordering, as a polynomial in the level and the time of arrival."""
    total = 0 * x
    for i, j, pairs in _pairs(many):
        for own, other in ((i, j), (j, i)):
            found, missed = _power(1 - x + x * F_g, own - 1), _power(1 - x + x * F_r, other - 1)
            total += pairs * own * other * x * f_r * found * missed
    return total


def _pairs(many: Counter) -> Iterator[tuple[int, int, int]]:
    """Each pair of sizes, and the number of pairs of clusters with these sizes."""
    for i, j in combinations_with_replacement(sorted(many), 2):
        if pairs := comb(many[i], 2) if i == j else many[i] * many[j]:
            yield i, j, pairs


def _power(base: Any, exponent: int) -> Any:
    """The power, with 0⁰ = 1, which sympy's polynomials do not allow."""
    return base**exponent if exponent else 0 * base + 1
