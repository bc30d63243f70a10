r"""Limits of the counts of `crowder.counting.expected` for large clusters.

Only the most similar pairs then matter. At a level at which each record of a cluster of m has c more similar matches on
average, the components are those of the random graph G(m, c/m): one giant with a share θ(c) of the records if c > 1,
and small ones, with sizes like the total progeny of a Poisson branching process.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate
from scipy.special import lambertw

from crowder import checks

__all__ = ["edge_limit", "giant_share", "node_limit"]


def edge_limit(ratio: float, start: float = 0.0) -> float:
    r"""The limit of the non-matches that edge ordering asks about between two clusters of size m, divided by m.

    With `ratio` :math:`\lambda = f_r / f_g` at the largest similarity of a non-match (for Dist-1 (1 - ε)/(1 + ε), for
    the uniform model and Dist-2 it is 1), and `start` :math:`c_0` the mean number of a record's matches that are more
    similar than any non-match (for Dist-2 with clusters of m it is mε/(1 - ε)),

    .. math:: \lim_{m\to\infty} \frac{E[Q_{ij}]}m = \lambda \int_{c_0}^\infty \Bigl[(1-\theta)^2 +
        2\theta\, G\bigl(e^{-\lambda(c-c_0)\theta}\bigr)\Bigr] dc,

    where :math:`\theta = \theta(c)` is the `giant_share` and :math:`G(s) = s\,e^{c(G(s)-1)}` the generating function of
    the size of a record's component, if that is small. The first term is for two small components, the second for one
    and a giant; two giants need a single question, which is negligible.

    One quadrature over θ. At λ = 1 the limit is the largest for any model with F_g ≤ F_r (Companion Theorems A10.4 and
    A10.5). A ValueError if an argument is negative or NaN.

    Examples
    --------
    >>> round(edge_limit(1.0), 6)  # the uniform model: 1.43 m questions for each pair of clusters, not m log m
    1.428639
    """
    ratio, start = checks.number(ratio, "ratio"), checks.number(start, "start")
    if (first := giant_share(start)) > 1 - 1e-12:
        return 0.0  # a limit of that order

    def at(theta: float) -> float:
        rest = 1 - theta
        if theta > 1e-3:
            excess = -math.log1p(-theta) / theta - 1  # c - 1
            slope = (theta / rest + math.log1p(-theta)) / theta**2  # dc / dθ
        else:  # the same as power series
            excess = theta / 2 + theta**2 / 3 + theta**3 / 4 + theta**4 / 5
            slope = 1 / 2 + 2 * theta / 3 + 3 * theta**2 / 4 + 4 * theta**3 / 5
        # G = s exp(c (G - 1)) is -W(-c s exp(-c)) / c. With s = exp(-u) and x = c - 1 - ln c + u: -W(-exp(-1-x)) / c.
        beyond = ratio * (1 + excess - start) * theta
        small = -_lambert(max(0.0, excess - math.log1p(excess) + beyond)) / (1 + excess)
        return (rest**2 + 2 * theta * small) * slope

    middle = max(0.5, (1 + first) / 2)
    low = integrate.quad(at, first, middle, epsabs=1e-12, epsrel=1e-10, limit=200)[0]
    # Towards θ = 1 in v, with 1 - θ = e^(-v): the integrand falls like e^(-v).
    high = integrate.quad(
        lambda v: at(-math.expm1(-v)) * math.exp(-v), -math.log1p(-middle), 35.0, epsabs=1e-12, epsrel=1e-10, limit=200
    )[0]
    return ratio * (max(0.0, 1 - start) + low + high)  # for c ≤ 1 all components are small


def node_limit(ratio: float, start: float = 0.0) -> float:
    r"""The same limit for node ordering, whichever of the two records arrives later; arguments as for `edge_limit`.

    .. math:: \lim_{m\to\infty} \frac{E[Q_{ij}]}m = \frac{2\lambda}{1+\lambda}\,\frac{1-e^{-c_0}}{c_0}

    Examples
    --------
    >>> node_limit(1.0), node_limit(1 / 3)  # uniform; Dist-1 with ε = 1/2
    (1.0, 0.5)
    """
    ratio, start = checks.number(ratio, "ratio"), checks.number(start, "start")
    return 2 * ratio / (1 + ratio) * (-np.expm1(-start) / start if start > 0 else 1.0)


def giant_share(c: float) -> float:
    r"""The share θ of the giant component at mean degree c: the largest solution of :math:`1-\theta = e^{-c\theta}`."""
    if (c := checks.number(c, "c")) <= 1:
        return 0.0
    return 1 + _lambert(c - 1 - math.log(c)) / c  # with y = c (θ - 1), the equation is y e^y = -c e^(-c)


def _lambert(x: float) -> float:
    """Lambert's W at -exp(-1-x), x ≥ 0: from -1 up to 0. Uses a series near the branch point, where SciPy fails."""
    if x < 1e-6:
        root = math.sqrt(2 * x)
        return -1 + root - root**2 / 3 + 11 * root**3 / 72 - 43 * root**4 / 540
    return float(lambertw(-math.exp(-1 - x)).real)
