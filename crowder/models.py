"""Similarity models: the pair (f_g, f_r) of densities of the similarities within and between clusters.

Every model here is piecewise constant on [0, 1]. `steps` returns the heights of the paper's three models for numbers
and for symbols, so that derivations, plots and samples use the same formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from crowder import validation
from crowder.densities import StepDensity, hellinger2, kl, total_variation

__all__ = [
    "MODEL_NAMES",
    "SimilarityModel",
    "dist1",
    "dist2",
    "rounded",
    "steps",
    "uniform",
]

MODEL_NAMES = ("uniform", "dist1", "dist2")


def steps(name: str, epsilon: Any = None) -> tuple[tuple, tuple, tuple]:
    r"""Edges, heights of f_g and heights of f_r of one of the paper's models (Section "Illustration").

    - ``uniform``: :math:`f_g = f_r = 1`;
    - ``dist1``: :math:`f_g = 1 \mp \epsilon` and :math:`f_r = 1 \pm \epsilon` below and above ½;
    - ``dist2``: :math:`f_r = 1/(1-\epsilon)` on :math:`[0, 1-\epsilon]`, :math:`f_g` the same on :math:`[\epsilon, 1]`.

    Parameters
    ----------
    name : {"uniform", "dist1", "dist2"}
    epsilon : number or sympy expression
        A float, `fractions.Fraction` or symbol; the result has the same arithmetic. Unused by ``uniform``.

    Returns
    -------
    edges, green, red : tuple
        m + 1 edges from 0 to 1 and m heights of each density.

    Raises
    ------
    ValueError
        If no model has this name.

    See Also
    --------
    crowder.SimilarityModel : the model.
    crowder.densities.StepDensity : one density.

    Examples
    --------
    >>> steps("dist2", Fraction(1, 4))[1]  # no match is less similar than 1/4
    (0, Fraction(4, 3), Fraction(4, 3))
    """
    if not isinstance(name, str) or name not in MODEL_NAMES:
        raise ValueError(f"model must be one of {', '.join(MODEL_NAMES)}, not {name!r}")
    if epsilon is not None and (isinstance(epsilon, bool) or not isinstance(epsilon, Real)):
        validation.expression(epsilon, "ε")  # this needs sympy; a number does not
    if name == "uniform":
        return (0, 1), (1,), (1,)
    if epsilon is None:
        raise TypeError(f"epsilon must be given for {name}")
    if name == "dist1":
        half = validation.expression(1, "½") / 2 if validation.is_symbolic(epsilon) else Fraction(1, 2)
        return (0, half, 1), (1 - epsilon, 1 + epsilon), (1 + epsilon, 1 - epsilon)
    height = 1 / (1 - epsilon)
    return (0, epsilon, 1 - epsilon, 1), (0, height, height), (height, height, 0)


@dataclass(frozen=True)
class SimilarityModel:
    """The densities f_g of similarities within clusters (`green`) and f_r between clusters (`red`).

    Attributes
    ----------
    green, red : StepDensity
    name : str
    epsilon : number or None
        The parameter of the paper's models.

    See Also
    --------
    crowder.uniform : similarities without information.
    crowder.dist1 : the first model of the paper.
    crowder.dist2 : the second.
    crowder.densities.StepDensity : its two parts.
    crowder.models.steps : the common steps of both densities.

    Examples
    --------
    >>> model = dist2(0.2)
    >>> float(model.hellinger2), round(float(model.total_variation), 12), model.kl
    (0.25, 0.25, inf)
    """

    green: StepDensity
    red: StepDensity
    name: str = "steps"
    epsilon: object = field(default=None)

    def __post_init__(self) -> None:
        for which, density in (("green", self.green), ("red", self.red)):
            validation.kind(density, StepDensity, f"{which} must be a StepDensity (see SimilarityModel.from_steps)")

    @classmethod
    def from_steps(
        cls, edges: Any, green: Any, red: Any, *, name: str = "steps", epsilon: Any = None
    ) -> SimilarityModel:
        """A model from common edges and the heights of both densities.

        Parameters
        ----------
        edges : sequence, length m + 1
            Strictly increasing, from 0 to 1.
        green, red : sequence, length m
            Densities (not masses) of f_g and f_r on each step.

        Raises
        ------
        ValueError
            If the edges do not increase, or a density is negative or its mass is not one.

        Examples
        --------
        >>> SimilarityModel.from_steps([0, 0.5, 1], [0.5, 1.5], [1, 1]).total_variation
        0.25
        """
        return cls(_density("f_g", edges, green), _density("f_r", edges, red), name, epsilon)

    @property
    def hellinger2(self) -> float:
        """Squared Hellinger distance between f_g and f_r."""
        return hellinger2(self.green, self.red)

    @property
    def total_variation(self) -> float:
        """Total variation distance between f_g and f_r."""
        return total_variation(self.green, self.red)

    @property
    def kl(self) -> float:
        """Kullback-Leibler divergence D(f_g || f_r), in nats; infinite where f_r vanishes and f_g does not."""
        return kl(self.green, self.red)


def uniform() -> SimilarityModel:
    """Uninformative similarities: both densities uniform on [0, 1].

    See Also
    --------
    crowder.dist1 : the first model of the paper, with information.
    crowder.dist2 : the second.
    crowder.L : the integral of a model.

    Examples
    --------
    >>> uniform().hellinger2
    0.0
    """
    return SimilarityModel.from_steps(*steps("uniform"), name="uniform")


def dist1(epsilon: Any) -> SimilarityModel:
    """The paper's Dist-1: each density is constant below and above one half, at 1 - ε or 1 + ε.

    Parameters
    ----------
    epsilon : number
        0 < ε ≤ ½. The paper states 0 < ε < ½ and its Table 1 uses ½ too.

    Raises
    ------
    ValueError
        If ε is outside (0, ½].

    See Also
    --------
    crowder.dist2 : the second model of the paper.
    crowder.uniform : similarities without information.
    crowder.L : the integral of a model.

    Examples
    --------
    >>> round(dist1(0.6 / 2).hellinger2, 12) == round(1 - (1 - 0.3**2) ** 0.5, 12)
    True
    """
    return SimilarityModel.from_steps(*steps("dist1", _checked(epsilon)), name="dist1", epsilon=epsilon)


def dist2(epsilon: Any) -> SimilarityModel:
    """The paper's Dist-2: both densities uniform, f_r on [0, 1-ε] and f_g on [ε, 1].

    Parameters
    ----------
    epsilon : number
        0 < ε < ½: at ½ the two supports no longer overlap.

    Raises
    ------
    ValueError
        If ε is outside (0, ½).

    See Also
    --------
    crowder.dist1 : the first model of the paper.
    crowder.uniform : similarities without information.
    crowder.L : the integral of a model.

    Examples
    --------
    >>> dist2(Fraction(1, 5)).red.mean
    Fraction(2, 5)
    """
    epsilon = _checked(epsilon)
    if epsilon == Fraction(1, 2):
        raise ValueError("ε must lie in (0, 1/2) for Dist-2: at 1/2 the supports of f_g and f_r no longer overlap")
    return SimilarityModel.from_steps(*steps("dist2", epsilon), name="dist2", epsilon=epsilon)


def rounded(model: SimilarityModel, rule: str, levels: int = 10) -> SimilarityModel:
    r"""A model whose pairs come in the order of rounded similarities with ties broken at random.

    The mass of each rounded value is spread evenly over its bin, the similarities that are rounded to it:
    :math:`f(x) = (F(b) - F(a)) / (b - a)` on a bin :math:`[a, b]`, for f_g and f_r. `crowder.expected_queries` of this
    model is then exact for edge ordering, and for node ordering in random order.

    Parameters
    ----------
    model : SimilarityModel
    rule : {"round", "floor", "ceil"}
        As for `crowder.similarity.discretize`. "floor" and "ceil" give pairs the same order: values other
        than the multiples of 1/levels differ by one step.
    levels : int
        Values are rounded to multiples of 1/levels.

    Raises
    ------
    ValueError
        If the rule is unknown, or there is no level.

    See Also
    --------
    crowder.datasets.synthetic : draws rounded similarities.

    Examples
    --------
    >>> rounded(dist2(0.25), "floor", levels=2).green.heights  # a third of the matches are below one half
    (0.66..., 1.33...)
    """
    if not isinstance(rule, str) or rule not in ("round", "floor", "ceil"):
        raise ValueError(f'rule must be "round", "floor" or "ceil", not {rule!r}')
    levels = validation.whole(levels, "levels", least=1)
    inner = (np.arange(levels) + 0.5) / levels if rule == "round" else np.arange(1, levels) / levels
    edges = np.concatenate([[0.0], inner, [1.0]])
    laws = (validation.model(model).green, model.red)
    heights = [(np.diff(law.cdf(edges)) / np.diff(edges)).tolist() for law in laws]
    return SimilarityModel.from_steps(edges, *heights, name=f"{model.name}, {rule}", epsilon=model.epsilon)


def _density(which: str, edges: Any, heights: Any) -> StepDensity:
    try:
        return StepDensity(edges, heights)
    except ValueError as error:
        raise ValueError(f"{which}: {error}") from None


def _checked(epsilon: Any) -> Any:
    try:
        inside = not isinstance(epsilon, (bool, np.bool_)) and np.ndim(epsilon) == 0
        inside = inside and bool(0 < epsilon <= Fraction(1, 2))
    except (TypeError, ValueError):  # text, or a list
        inside = False
    if not inside:
        raise ValueError(f"ε must lie in (0, 1/2], not {epsilon!r}")
    return epsilon
