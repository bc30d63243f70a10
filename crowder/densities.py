"""Piecewise-constant densities on [0, 1], and distances between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from crowder import validation
from crowder.validation import Seed

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["StepDensity", "hellinger2", "kl", "total_variation"]

#: A mass may differ from one by this much: heights given as floats do not sum exactly.
MASS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class StepDensity:
    """A piecewise-constant probability density on [0, 1].

    Parameters
    ----------
    edges : sequence, length m + 1
        Strictly increasing, from 0 to 1. Kept as given, so that fractions stay exact.
    heights : sequence, length m
        Nonnegative; ``heights[s]`` is the density on ``[edges[s], edges[s+1])``, the last step closed at 1.

    Raises
    ------
    ValueError
        If the edges do not increase from 0 to 1, a height is negative or not finite, or the mass is not one.

    See Also
    --------
    crowder.SimilarityModel : two densities, within and between clusters.
    crowder.densities.hellinger2 : the squared Hellinger distance of two.
    crowder.densities.total_variation : their total variation distance.

    Examples
    --------
    >>> density = StepDensity((0, 0.5, 1), (0.5, 1.5))
    >>> density.pdf([0.25, 0.5]), float(density.cdf(0.5)), float(density.mean)
    (array([0.5, 1.5]), 0.25, 0.625)
    """

    edges: tuple
    heights: tuple

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "edges", tuple(self.edges))
            object.__setattr__(self, "heights", tuple(self.heights))
            edges, heights = self._edges, self._heights
        except (TypeError, ValueError):
            raise ValueError(f"edges and heights must be sequences, not {self.edges}, {self.heights}") from None
        if edges.ndim != 1 or heights.ndim != 1:
            raise ValueError(f"edges and heights must be sequences, not {self.edges}, {self.heights}")
        if len(edges) != len(heights) + 1 or len(heights) == 0:
            raise ValueError(f"edges must be one more than heights, at least two, not {len(edges)} for {len(heights)}")
        if edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
            raise ValueError(f"edges must increase strictly from 0 to 1, not {edges.tolist()}")
        if not np.isfinite(heights).all() or (heights < 0).any():
            raise ValueError(f"heights must be finite and not negative, not {heights.tolist()}")
        mass = float(heights @ np.diff(edges))
        if abs(mass - 1) > MASS_TOLERANCE:
            raise ValueError(f"heights times widths must sum to 1, not {mass:.12g}")

    @cached_property
    def _edges(self) -> np.ndarray:
        return np.array(self.edges, dtype=np.float64)

    @cached_property
    def _heights(self) -> np.ndarray:
        return np.array(self.heights, dtype=np.float64)

    @cached_property
    def _cumulative(self) -> np.ndarray:
        cumulative = np.concatenate([[0.0], np.cumsum(self._heights * np.diff(self._edges))])
        return cumulative / cumulative[-1]

    def pdf(self, x: ArrayLike) -> np.ndarray:
        """The density at x (any shape); zero outside [0, 1]."""
        x = validation.numbers(x, "x")
        return _pdf(x.ravel(), self._edges, self._heights).reshape(x.shape)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """The probability of a value at most x (any shape)."""
        return np.interp(validation.numbers(x, "x"), self._edges, self._cumulative)

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """The quantile of probability q in [0, 1] (any shape); if it is not unique, the largest (for q < 1)."""
        q = validation.numbers(q, "q")
        if not ((q >= 0) & (q <= 1)).all():
            raise ValueError(f"q must be probabilities in [0, 1], not {q}")
        return self._quantiles(q.ravel()).reshape(q.shape)

    def _quantiles(self, q: np.ndarray) -> np.ndarray:
        mass = self._heights > 0
        columns = (self._edges[:-1], self._edges[1:], self._heights, self._cumulative[:-1])
        return _quantiles(q, *(column[mass] for column in columns))

    def sample(self, size: int | tuple[int, ...], *, rng: Seed) -> np.ndarray:
        """Independent draws of the given shape, by the inverse of the cdf.

        Parameters
        ----------
        size : int or tuple of int
        rng : int or numpy.random.Generator, keyword only
        """
        for length in size if isinstance(size, tuple) else (size,):
            validation.whole(length, "size")
        q = validation.generator(rng, "draws").random(size)
        return self._quantiles(q.ravel()).reshape(q.shape)

    def moment(self, order: int) -> Any:
        """The moment E[x^order], in the arithmetic of the edges and heights."""
        validation.whole(order, "order")
        ends = zip(self.edges, self.edges[1:], self.heights, strict=False)
        return sum(h * (b ** (order + 1) - a ** (order + 1)) for a, b, h in ends) / (order + 1)

    @property
    def mean(self) -> Any:
        """E[x]."""
        return self.moment(1)

    @property
    def variance(self) -> Any:
        """E[x²] - E[x]²."""
        return self.moment(2) - self.mean**2

    def symbolic(self, x: sp.Symbol) -> sp.Piecewise:
        """The density as a sympy expression in x.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import sympy as sp
        >>> StepDensity((0, Fraction(1, 2), 1), (Fraction(1, 2), Fraction(3, 2))).symbolic(sp.Symbol("x"))
        Piecewise((1/2, (x >= 0) & (x < 1/2)), (3/2, (x >= 1/2) & (x <= 1)), (0, True))
        """
        import sympy as sp

        validation.kind(x, sp.Symbol, "x must be a sympy Symbol")
        pieces = [
            (sp.sympify(h), sp.And(sp.sympify(a) <= x, x <= 1 if s == len(self.heights) - 1 else x < sp.sympify(b)))
            for s, (a, b, h) in enumerate(zip(self.edges, self.edges[1:], self.heights, strict=False))
        ]
        return sp.Piecewise(*pieces, (0, True))


@njit(cache=True)
def _pdf(x: np.ndarray, edges: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The density at each x: the height of the last step that starts at or below it."""
    found = np.zeros(len(x))
    for p in range(len(x)):
        if 0.0 <= x[p] <= 1.0:
            low, high = 0, len(heights)
            while high - low > 1:
                middle = (low + high) // 2
                if edges[middle] <= x[p]:
                    low = middle
                else:
                    high = middle
            found[p] = heights[low]
        elif np.isnan(x[p]):
            found[p] = np.nan
    return found


@njit(cache=True)
def _quantiles(q: np.ndarray, left: np.ndarray, right: np.ndarray, height: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quantiles of probabilities (m,), each in the last step that starts at or below it."""
    found = np.empty(len(q))
    for p in range(len(q)):
        step = len(below) - 1
        while step > 0 and below[step] > q[p]:
            step -= 1
        found[p] = min(left[step] + (q[p] - below[step]) / height[step], right[step])
    return found


def hellinger2(p: StepDensity, q: StepDensity) -> float:
    r"""Squared Hellinger distance, :math:`\frac12\int(\sqrt p - \sqrt q)^2` (Theorem 1), in [0, 1].

    See Also
    --------
    crowder.densities.total_variation : the total variation distance.
    crowder.densities.kl : the Kullback-Leibler divergence.
    crowder.evidence_bound : a bound that depends on it.

    Examples
    --------
    >>> green, red = StepDensity((0, 0.5, 1), (0.5, 1.5)), StepDensity((0, 0.5, 1), (1.5, 0.5))
    >>> round(hellinger2(green, red), 6)  # 1 - sqrt(3/4)
    0.133975
    """
    edges, a, b = common_steps(p, q)
    return float(np.diff(edges) @ (np.sqrt(a) - np.sqrt(b)) ** 2 / 2)


def total_variation(p: StepDensity, q: StepDensity) -> float:
    r"""Total variation distance, :math:`\frac12\int|p - q|`, in [0, 1].

    See Also
    --------
    crowder.densities.hellinger2 : the squared Hellinger distance.
    crowder.densities.kl : the Kullback-Leibler divergence.

    Examples
    --------
    >>> total_variation(StepDensity((0, 0.5, 1), (0.5, 1.5)), StepDensity((0, 1), (1,)))
    0.25
    """
    edges, a, b = common_steps(p, q)
    return float(np.diff(edges) @ np.abs(a - b) / 2)


def kl(p: StepDensity, q: StepDensity) -> float:
    r"""Kullback-Leibler divergence, :math:`\int p \ln(p/q)`, in nats; infinite where q vanishes and p does not.

    See Also
    --------
    crowder.densities.hellinger2 : the squared Hellinger distance.
    crowder.densities.total_variation : the total variation distance.

    Examples
    --------
    >>> kl(StepDensity((0, 1), (1,)), StepDensity((0, 0.5, 1), (2, 0)))
    inf
    """
    edges, a, b = common_steps(p, q)
    inside = a > 0
    if (b[inside] == 0).any():
        return float("inf")
    return float(np.diff(edges)[inside] @ (a[inside] * np.log(a[inside] / b[inside])))


def common_steps(p: StepDensity, q: StepDensity) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps on which both densities are constant: their m + 1 edges, and the m heights of p and of q.

    Examples
    --------
    >>> common_steps(StepDensity((0, 0.5, 1), (0.5, 1.5)), StepDensity((0, 0.25, 1), (4, 0)))
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.5, 0.5, 1.5]), array([4., 0., 0.]))
    """
    for density in (p, q):
        validation.kind(density, StepDensity, "density must be a StepDensity, such as model.green")
    edges = np.union1d(p._edges, q._edges)
    middle = (edges[1:] + edges[:-1]) / 2
    return edges, p.pdf(middle), q.pdf(middle)
