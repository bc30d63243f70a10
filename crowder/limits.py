r"""What the counts of `crowder.counts` come to when clusters are large.

Only the top of the scale matters then. Walking down from it, each record of a cluster of m meets c others of its own
cluster on average; the components are those of the random graph G(m, c/m), one giant with a share θ(c) of the records
once c > 1, and the rest small, with sizes like the total offspring of a Poisson branching process.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate
from scipy.special import lambertw

__all__ = ["edge_limit", "giant", "node_limit"]


def giant(c: float) -> float:
    r"""The share θ of a random graph's vertices in its largest component, c neighbours a vertex on average.

    The largest solution of :math:`1 - \theta = e^{-c\theta}`.

    Parameters
    ----------
    c : float
        Not negative.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If c is negative or not a number.

    Examples
    --------
    >>> giant(1.0), round(giant(2 * math.log(2)), 12)  # half: 1/2 = exp(-2 ln 2 / 2)
    (0.0, 0.5)
    """
    if not c >= 0:
        raise ValueError(f"a number of neighbours is not negative: {c!r}")
    if c <= 1:
        return 0.0
    return 1 + float(lambertw(-c * math.exp(-c)).real) / c  # with y = c (θ - 1), the equation is y e^y = -c e^(-c)


def edge_limit(ratio: float, start: float = 0.0) -> float:
    r"""Non-matches that edge ordering asks about between two clusters of m, per record of one, as m grows.

    With :math:`\lambda` the ratio :math:`f_r / f_g` where non-matches begin, and :math:`c_0` the matches of a record's
    own cluster that are more similar than any non-match,

    .. math:: \lim_{m\to\infty} \frac{E[Q_{ij}]}m = \lambda \int_{c_0}^\infty \Bigl[(1-\theta)^2 +
        2\theta\, G\bigl(e^{-\lambda(c-c_0)\theta}\bigr)\Bigr] dc,

    where :math:`\theta = \theta(c)` is the `giant` component's share and :math:`G(s) = s\,e^{c(G(s)-1)}` the generating
    function of the size of a record's component, when that is a small one. Between two small components, hardly a pair
    has been met before. A giant and a component of a records are still untold with probability
    :math:`e^{-\lambda(c-c_0)\theta a}`. Two giants ask a single question, which is nothing per record.

    Parameters
    ----------
    ratio : float
        λ, positive or 0. For Dist-1 it is (1 - ε)/(1 + ε), for the uniform model and Dist-2 it is 1.
    start : float
        c₀, 0 or more: for Dist-2 with clusters of m it is mε/(1 - ε).

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If one of them is negative or not a number.

    Notes
    -----
    One quadrature over θ. For start = 0 the first term integrates to :math:`\pi^2/3 - 2`.

    Examples
    --------
    >>> round(edge_limit(1.0), 6)  # the uniform model: k clusters ask 1.43 m questions a pair, not m log m
    1.428639
    """
    if not (ratio >= 0 and start >= 0):
        raise ValueError(f"a ratio of densities and a start are not negative: {ratio!r}, {start!r}")
    first = giant(start)

    def at(theta: float) -> float:
        rest = 1 - theta
        c = -math.log1p(-theta) / theta
        neighbours = (theta / rest + math.log1p(-theta)) / theta**2  # dc / dθ
        # G = s exp(c (G - 1)) is -W(-c s exp(-c)) / c.
        small = -lambertw(-c * math.exp(-c - ratio * (c - start) * theta)).real / c
        return (rest**2 + 2 * theta * small) * neighbours

    middle = max(0.5, (1 + first) / 2)
    low = integrate.quad(at, max(first, 1e-9), middle, epsabs=1e-12, epsrel=1e-10, limit=200)[0]
    # Towards θ = 1 in v, with 1 - θ = e^(-v): the integrand falls like e^(-v).
    high = integrate.quad(
        lambda v: at(-math.expm1(-v)) * math.exp(-v), -math.log1p(-middle), 35.0, epsabs=1e-12, epsrel=1e-10, limit=200
    )[0]
    return ratio * (max(0.0, 1 - start) + low + high)  # up to c = 1 all components are small


def node_limit(ratio: float, start: float = 0.0) -> float:
    r"""The same for node ordering, both directions together: :math:`\frac{2\lambda}{1+\lambda}\,\frac{1-e^{-c_0}}{c_0}`.

    Parameters, returns and errors are those of `edge_limit`.

    Examples
    --------
    >>> node_limit(1.0), node_limit(1 / 3)  # uniform; Dist-1 with ε = 1/2
    (1.0, 0.5)
    """
    if not (ratio >= 0 and start >= 0):
        raise ValueError(f"a ratio of densities and a start are not negative: {ratio!r}, {start!r}")
    return 2 * ratio / (1 + ratio) * (-np.expm1(-start) / start if start > 0 else 1.0)
