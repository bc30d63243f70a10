"""Similarity models: the densities f_g of similarities within clusters and f_r between clusters, and their distances.

All densities are piecewise constant on [0, 1]. `steps` returns the heights of the paper's three models for numbers and
for symbols, so that derivations, plots and samples use the same formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks
from crowder.checks import Seed, Shown

__all__ = ["L", "SimilarityModel", "StepDensity", "dist1", "dist2", "rounded", "steps", "uniform"]

#: A mass may differ from one by this much, or the precision of the numbers: those given as floats do not sum exactly.
MASS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class StepDensity:
    """A piecewise-constant probability density on [0, 1]; a ValueError if its mass is not one.

    Parameters
    ----------
    edges : sequence, length m + 1
        Strictly increasing, from 0 to 1, otherwise a ValueError. Kept as given, so that fractions stay exact.
    heights : sequence, length m
        ``heights[s]`` is the density on ``[edges[s], edges[s+1])``, the last step closed at 1. A ValueError if one is
        negative or not finite.

    See Also
    --------
    crowder.SimilarityModel : two densities, within and between clusters.

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
            for name, values in (("edges", self.edges), ("heights", self.heights)):
                checks.as_array(values, name)
                object.__setattr__(self, name, tuple(values))
            edges, heights = self._edges, self._heights
        except TypeError:
            edges = heights = np.empty(())
        if edges.ndim != 1 or heights.ndim != 1:
            raise ValueError(f"edges and heights must be sequences of numbers, not {self.edges}, {self.heights}")
        if len(edges) != len(heights) + 1 or len(heights) == 0:
            raise ValueError(f"edges must be one more than heights, at least two, not {len(edges)} for {len(heights)}")
        if edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
            raise ValueError(f"edges must increase strictly from 0 to 1, not {edges.tolist()}")
        if not np.isfinite(heights).all() or (heights < 0).any():
            raise ValueError(f"heights must be finite and not negative, not {heights.tolist()}")
        mass = float(heights @ np.diff(edges))
        coarse = (float(np.finfo(x.dtype).eps) for x in (*self.edges, *self.heights) if isinstance(x, np.floating))
        if abs(mass - 1) > max(MASS_TOLERANCE, len(heights) * max(coarse, default=0.0)):
            raise ValueError(f"heights times widths must sum to 1, not {mass:.12g}")

    @cached_property
    def _edges(self) -> np.ndarray:
        return checks.numbers(self.edges, "edges")

    @cached_property
    def _heights(self) -> np.ndarray:
        return checks.numbers(self.heights, "heights")

    @cached_property
    def _cumulative(self) -> np.ndarray:
        cumulative = np.concatenate([[0.0], np.cumsum(self._heights * np.diff(self._edges))])
        return cumulative / cumulative[-1]

    def pdf(self, x: ArrayLike) -> np.ndarray:
        """The density at x (any shape); zero outside [0, 1]."""
        x = checks.numbers(x, "x")
        step = np.searchsorted(self._edges[1:-1], x, side="right")
        return np.where((x < 0) | (x > 1), 0.0, np.where(np.isnan(x), np.nan, self._heights[step]))

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """The probability of a value at most x (any shape)."""
        return np.interp(checks.numbers(x, "x"), self._edges, self._cumulative)

    def sample(self, size: int | tuple[int, ...], *, rng: Seed) -> np.ndarray:
        """Independent draws in the shape `size`, by the inverse of the cdf."""
        for length in size if isinstance(size, tuple) else (size,):
            checks.whole(length, "size", most=checks.MOST_RECORDS)
        return self._quantiles(checks.generator(rng, "draws").random(size))

    def _quantiles(self, q: np.ndarray) -> np.ndarray:
        """The quantiles of probabilities below 1, each on a step with mass; of several, the largest."""
        some = self._heights > 0
        below = self._cumulative[:-1][some]
        step = np.searchsorted(below, q, side="right") - 1
        left, right, heights = (column[some][step] for column in (self._edges[:-1], self._edges[1:], self._heights))
        return np.minimum(left + (q - below[step]) / heights, right)

    @property
    def mean(self) -> Any:
        """E[x], in the arithmetic of the edges and heights."""
        return self._moment(1)

    @property
    def variance(self) -> Any:
        """E[x²] - E[x]²."""
        return self._moment(2) - self.mean**2

    def _moment(self, order: int) -> Any:
        ends = zip(self.edges, self.edges[1:], self.heights, strict=False)
        return sum(h * (b ** (order + 1) - a ** (order + 1)) for a, b, h in ends) / (order + 1)


def common_steps(p: StepDensity, q: StepDensity) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps on which both densities are constant: their m + 1 edges, and the m heights of p and of q.

    Examples
    --------
    >>> common_steps(StepDensity((0, 0.5, 1), (0.5, 1.5)), StepDensity((0, 0.25, 1), (4, 0)))
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.5, 0.5, 1.5]), array([4., 0., 0.]))
    """
    edges = np.union1d(p._edges, q._edges)
    middle = (edges[1:] + edges[:-1]) / 2
    return edges, p.pdf(middle), q.pdf(middle)


@dataclass(frozen=True, repr=False)
class SimilarityModel(Shown):
    """The densities f_g of similarities within clusters (`green`) and f_r between clusters (`red`).

    Attributes
    ----------
    green, red : StepDensity
    name : str
    epsilon : number or None
        The parameter of the paper's models.

    See Also
    --------
    crowder.dist1 : the first model of the paper.
    crowder.models.StepDensity : its two parts.

    Examples
    --------
    >>> model = dist2(0.2)
    >>> float(model.hellinger2), round(float(model.total_variation), 12)
    (0.25, 0.25)
    """

    green: StepDensity
    red: StepDensity
    name: str = "steps"
    epsilon: object = None

    def __post_init__(self) -> None:
        checks.kind(self.name, str, "name must be text")
        for which, density in (("green", self.green), ("red", self.red)):
            checks.kind(density, StepDensity, f"{which} must be a StepDensity (see SimilarityModel.from_steps)")

    def _facts(self) -> dict[str, Any]:
        steps = len(np.union1d(self.green._edges, self.red._edges)) - 1
        return {"name": self.name, **({} if self.epsilon is None else {"ε": str(self.epsilon)}), "steps": steps}

    @classmethod
    def from_steps(
        cls, edges: Any, green: Any, red: Any, *, name: str = "steps", epsilon: Any = None
    ) -> SimilarityModel:
        """A model from common edges, and the heights (not masses) of f_g and f_r, each as for `StepDensity`.

        Examples
        --------
        >>> SimilarityModel.from_steps([0, 0.5, 1], [0.5, 1.5], [1, 1]).total_variation
        0.25
        """
        densities = []
        for which, heights in (("f_g", green), ("f_r", red)):
            try:
                densities.append(StepDensity(edges, heights))
            except ValueError as error:
                raise ValueError(f"{which}: {error}") from None
        return cls(densities[0], densities[1], name, epsilon)

    @property
    def hellinger2(self) -> float:
        r"""Squared Hellinger distance, :math:`\frac12\int(\sqrt{f_g} - \sqrt{f_r})^2` (Theorem 1), in [0, 1]."""
        edges, green, red = common_steps(self.green, self.red)
        return float(np.diff(edges) @ (np.sqrt(green) - np.sqrt(red)) ** 2 / 2)

    @property
    def total_variation(self) -> float:
        r"""Total variation distance, :math:`\frac12\int|f_g - f_r|`, in [0, 1]."""
        edges, green, red = common_steps(self.green, self.red)
        return float(np.diff(edges) @ np.abs(green - red) / 2)


def steps(name: str, epsilon: Any = None) -> tuple[tuple, tuple, tuple]:
    r"""Edges, heights of f_g and heights of f_r of one of the paper's models (Section "Illustration").

    - ``uniform``: :math:`f_g = f_r = 1`;
    - ``dist1``: :math:`f_g = 1 \mp \epsilon` and :math:`f_r = 1 \pm \epsilon` below and above ½;
    - ``dist2``: :math:`f_r = 1/(1-\epsilon)` on :math:`[0, 1-\epsilon]`, :math:`f_g` the same on :math:`[\epsilon, 1]`.

    Parameters
    ----------
    name : {"uniform", "dist1", "dist2"}
        A ValueError for another.
    epsilon : float, fractions.Fraction or sympy expression
        ε, unused by ``uniform``; a ValueError unless it is symbolic or in (0, ½].

    Returns
    -------
    edges, green, red : tuple
        m + 1 edges from 0 to 1, and m heights of each density, in the arithmetic of ε.

    See Also
    --------
    crowder.SimilarityModel : the model.

    Examples
    --------
    >>> steps("dist2", Fraction(1, 4))[1]  # no match is less similar than 1/4
    (0, Fraction(4, 3), Fraction(4, 3))
    """
    if not isinstance(name, str) or name not in ("uniform", "dist1", "dist2"):
        raise ValueError(f"model must be one of uniform, dist1, dist2, not {name!r}")
    if name == "uniform":
        return (0, 1), (1,), (1,)
    epsilon = _checked(epsilon)
    if name == "dist1":
        half = epsilon**0 / 2 if checks.is_symbolic(epsilon) else Fraction(1, 2)
        return (0, half, 1), (1 - epsilon, 1 + epsilon), (1 + epsilon, 1 - epsilon)
    height = 1 / (1 - epsilon)
    return (0, epsilon, 1 - epsilon, 1), (0, height, height), (height, height, 0)


def uniform() -> SimilarityModel:
    """Uninformative similarities: both densities uniform on [0, 1].

    See Also
    --------
    crowder.dist1 : similarities with information.

    Examples
    --------
    >>> uniform().hellinger2
    0.0
    """
    return _model("uniform", None)


def dist1(epsilon: Any) -> SimilarityModel:
    """The paper's Dist-1: each density is constant below and above one half, at 1 - ε or 1 + ε.

    Parameters
    ----------
    epsilon : number
        0 < ε ≤ ½, otherwise a ValueError. The paper states 0 < ε < ½, but its Table 1 also uses ½.

    See Also
    --------
    crowder.dist2 : the second model of the paper.
    crowder.L : the integral of a model.

    Examples
    --------
    >>> round(dist1(0.6 / 2).hellinger2, 12) == round(1 - (1 - 0.3**2) ** 0.5, 12)
    True
    """
    return _model("dist1", _checked(epsilon))


def dist2(epsilon: Any) -> SimilarityModel:
    """The paper's Dist-2: both densities uniform, f_r on [0, 1-ε] and f_g on [ε, 1].

    Parameters
    ----------
    epsilon : number
        0 < ε < ½, otherwise a ValueError: at ½ the two supports no longer overlap.

    See Also
    --------
    crowder.dist1 : the first model of the paper.

    Examples
    --------
    >>> dist2(Fraction(1, 5)).red.mean
    Fraction(2, 5)
    """
    epsilon = _checked(epsilon)
    if epsilon == Fraction(1, 2):
        raise ValueError("ε must lie in (0, 1/2) for Dist-2: at 1/2 the supports of f_g and f_r no longer overlap")
    return _model("dist2", epsilon)


def _model(name: str, epsilon: Any) -> SimilarityModel:
    return SimilarityModel.from_steps(*steps(name, epsilon), name=name, epsilon=epsilon)


def _checked(epsilon: Any) -> Any:
    if getattr(epsilon, "free_symbols", None):
        return epsilon
    if isinstance(epsilon, np.floating):  # in low precision the densities would miss a mass of one
        epsilon = float(epsilon)
    try:
        inside = bool(0 < checks.probability(epsilon, "ε") <= Fraction(1, 2))
    except (TypeError, ValueError):  # a decimal is not compared with a fraction
        inside = False
    if not inside:
        raise ValueError(f"ε must lie in (0, 1/2], not {epsilon!r}")
    return epsilon if isinstance(epsilon, (Rational, float)) or checks.is_symbolic(epsilon) else float(epsilon)


def rounded(model: SimilarityModel, rule: str) -> SimilarityModel:
    r"""A model whose pairs come in the order of similarities rounded to tenths, with ties broken at random.

    The mass of each rounded value is spread evenly over its bin, the similarities that are rounded to it:
    :math:`f(x) = (F(b) - F(a)) / (b - a)` on a bin :math:`[a, b]`, for f_g and f_r. `crowder.expected_queries` of this
    model is then exact for edge ordering, and for node ordering in random order.

    Parameters
    ----------
    model : SimilarityModel
    rule : {"round", "floor", "ceil"}
        As for `crowder.similarity.discretize`; others are a ValueError. "floor" and "ceil" give pairs the same order:
        values other than tenths differ by one step.

    See Also
    --------
    crowder.datasets.synthetic : draws rounded similarities.

    Examples
    --------
    >>> np.round(rounded(dist2(0.15), "floor").green.heights[:3], 3)  # half of the second tenth is below ε
    array([0.   , 0.588, 1.176])
    """
    if not isinstance(rule, str) or rule not in ("round", "floor", "ceil"):
        raise ValueError(f'rule must be "round", "floor" or "ceil", not {rule!r}')
    inner = (np.arange(10) + 0.5) / 10 if rule == "round" else np.arange(1, 10) / 10
    edges = np.concatenate([[0.0], inner, [1.0]])
    laws = (checks.model(model).green, model.red)
    heights = [(np.diff(law.cdf(edges)) / np.diff(edges)).tolist() for law in laws]
    return SimilarityModel.from_steps(edges, *heights, name=f"{model.name}, {rule}", epsilon=model.epsilon)


def L(model: SimilarityModel, t: ArrayLike) -> float | np.ndarray:
    r"""The integral L(t), the chance that a non-match is more similar than t matches, in closed form.

    On a step of width b where :math:`F_g` rises from c to c + gb and f_r is h, the integral is
    :math:`h\,\frac{(c + gb)^{t+1} - c^{t+1}}{g\,(t+1)}`, or :math:`h\,b\,c^t` where g = 0.

    Parameters
    ----------
    model : SimilarityModel
    t : float or array_like
        Number of similarities within the cluster; need not be a whole number. A ValueError if one is negative or NaN,
        a TypeError if it is not a real number.

    Returns
    -------
    float or ndarray
        In the shape of t. L(0) = 1, the maximum over the empty set (0⁰ = 1).

    See Also
    --------
    crowder.edge_bound : a bound that uses it.
    crowder.expected_queries : the exact counts that it bounds.

    Notes
    -----
    O(steps · t.size). Powers are computed in logarithms, so there is no cancellation however large t is. The chapter
    "The integral" derives it for symbolic t and ε.

    Examples
    --------
    >>> L(uniform(), [0, 1, 4])
    array([1. , 0.5, 0.2])
    >>> L(dist2(0.25), 0)
    1.0
    """
    checks.model(model)
    t = checks.numbers(t, "t")
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
