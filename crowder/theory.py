r"""The integral in the bounds for both heuristics, :math:`L_{g,r}(t) = \int_0^1 F_g(x)^t f_r(x)\,dx`.

It is the probability that the similarity of a non-match is at least as large as those of t matches, so that the
question about it comes before those about the matches (Section "Main results").
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.models import SimilarityModel, common_steps

__all__ = ["L"]


def L(model: SimilarityModel, t: ArrayLike) -> float | np.ndarray:
    r"""The integral L(t), the chance that a non-match is more similar than t matches, in closed form.

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
    crowder.edge_bound : a bound made of it.
    crowder.node_bound : another.
    crowder.expected_queries : the exact counts that it bounds.

    Notes
    -----
    O(steps · t.size). Powers are computed in logarithms, so there is no cancellation however large t is. The chapter
    "The integral" derives it for symbolic t and ε.

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
