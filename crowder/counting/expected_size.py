r"""Node ordering as the paper defines it, with records arriving by expected size: the expected number of questions.

The arrival order then depends on the same similarities as the questions, and the exact count for random arrival
(`crowder.counting.expected_counts`) does not apply. Expected sizes are sums of many similarities, and here they are
taken to be normal. The formula is derived in the appendix "Node ordering and the order of arrival".
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from crowder.counting.quadrature import panels
from crowder.densities import common_steps
from crowder.models import SimilarityModel

__all__ = ["nonmatches_by_expected_size"]

#: Expected sizes are integrated over this many standard deviations on each side of the mean, in four panels.
SPAN = 8.0

#: Gauss-Legendre nodes between a level and the end of its step: only the probability of being earlier varies there.
ABOVE = 12

#: Gauss-Hermite nodes for what expected sizes have in common, which is little.
SHARED = 3

#: Smaller probabilities and variances do not count.
NEVER = 1e-14


class _Law(NamedTuple):
    """A density on steps, and its moments of order 0, 1, 2."""

    edges: np.ndarray
    heights: np.ndarray
    moments: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.moments[1])

    @property
    def variance(self) -> float:
        return float(self.moments[2] - self.moments[1] ** 2)


class _Sums(NamedTuple):
    """The normal law of a record's expected size, without one similarity and without the part that is shared."""

    mean: float
    deviation: float

    def above(self, size: np.ndarray) -> np.ndarray:
        """The probability of exceeding a size."""
        return ndtr((self.mean - size) / self.deviation)


def nonmatches_by_expected_size(model: SimilarityModel, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    r"""The expected number of non-matches that node ordering asks about when records arrive by expected size.

    Let a record v of cluster i have expected size t. A record of cluster c with similarity w to v arrives before it if
    its other n - 2 similarities sum to more than t - w. Any two of these sums have one similarity in common. So take
    them to be :math:`\nu_c + s_c X + \sigma\eta`, where X and η are standard normal, η is the same for all, and σ² is
    the variance of a similarity. Given η, the record arrives before v with probability

    .. math:: q_c(w, t) = \Phi\Bigl(\frac{\nu_c + w - t + \sigma\eta}{s_c}\Bigr),

    and with probability :math:`Z_c(\tau, t) = 1 - \int_\tau^1 f(w)\, q_c(w, t)\, dw` it is not an earlier record with a
    similarity above τ (f is f_g for c = i, and f_r otherwise). Hence, as an expectation over η,

    .. math:: \sum_{i\ne j} m_i m_j\, E \int_0^1\!\int f_r(\tau)\, q_j(\tau, t)\, Z_i(\tau, t)^{m_i-1}\,
        Z_j(\tau, t)^{m_j-1}\, \varphi(t; M, V)\, dt\, d\tau .

    Here φ is the normal density of the size t of v, if one similarity is τ and the others to the clusters i and j have
    the densities :math:`f(w)\,(1 - [w > \tau]\, q_c(w, t))/Z_c`: M and V are mean and variance of their sum.

    Parameters
    ----------
    model : SimilarityModel
    different, many : ndarray of int, shape (d,)
        The distinct cluster sizes, increasing, and the number of clusters of each.
    nodes : int
        Gauss-Legendre nodes on each panel.

    Returns
    -------
    float

    See Also
    --------
    crowder.expected_queries : checks its arguments, and adds the questions about matches.

    Notes
    -----
    O(d²) double integrals. If f_g and f_r differ in variance, σ² is the mean of both. For singletons alone, exact.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> nonmatches_by_expected_size(uniform(), np.array([1]), np.array([4]), 24)  # all six pairs of four singletons
    6.0
    """
    n, k = int(different @ many), int(many.sum())
    if different[-1] == 1:
        return k * (k - 1) / 2
    green, red = _laws(model)
    means = (different - 1) * green.mean + (n - different) * red.mean
    variances = (different - 1) * green.variance + (n - different) * red.variance
    shared = (green.variance + red.variance) / 2
    own, other = ([_Sums(mean - law.mean, np.sqrt(max(NEVER, variance - law.variance - shared)))
                   for mean, variance in zip(means, variances, strict=True)] for law in (green, red))  # fmt: skip
    x, weight = np.polynomial.hermite_e.hermegauss(SHARED)
    shifts = list(zip(np.sqrt(shared) * x, weight / weight.sum(), strict=True))
    total, finest = 0.0, 1 / int(different[-1])
    for i, m in enumerate(different):
        sizes, size_weights = _expected_sizes(means[i], variances[i], nodes)
        for low, high, g, r in zip(red.edges, red.edges[1:], green.heights, red.heights, strict=False):
            if r == 0:
                continue
            depths, weights = map(np.concatenate, zip(*panels(high - low, finest / max(g, r), nodes), strict=True))
            level = high - depths
            for shift, share in shifts:
                matches = _not_above(green, level, sizes - shift, own[i])
                for j, m_j in enumerate(different):
                    if (pairs := int(many[i]) * (int(many[j]) - (i == j))) == 0:
                        continue
                    others = _not_above(red, level, sizes - shift, other[j])
                    rest = (n - m - m_j) * np.array([red.mean, red.variance])
                    none = _none_and_size([(matches, m - 1), (others, m_j - 1)], level, sizes, rest)
                    density = other[j].above(sizes - shift - level[:, None]) * none
                    total += share * pairs * m * m_j * r * float(weights @ density @ size_weights)
    return total


def _laws(model: SimilarityModel) -> tuple[_Law, _Law]:
    edges, *both = common_steps(model.green, model.red)
    orders = np.arange(1, 4)[:, None]
    pieces = np.diff(edges**orders, axis=1) / orders
    green, red = (_Law(edges, h / (h @ pieces[0]), pieces @ h / (h @ pieces[0])) for h in both)
    return green, red


def _expected_sizes(mean: float, variance: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for the expected size of a record."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    half = SPAN / 4 * np.sqrt(variance)  # of a panel
    centres = mean + half * np.arange(-3, 4, 2)
    return (centres[:, None] + half * x).ravel(), np.tile(half * weight, len(centres))


def _not_above(law: _Law, level: np.ndarray, size: np.ndarray, sums: _Sums) -> np.ndarray:
    """Moments 0, 1, 2 of a similarity that is not an earlier record's above the level: (3, levels, sizes)."""
    result = np.tile(law.moments[:, None, None], (1, len(level), len(size)))
    x, weight = np.polynomial.legendre.leggauss(ABOVE)
    for (low, high), height in zip(pairwise(law.edges), law.heights, strict=True):
        start = np.clip(level, low, high)
        if height == 0 or (start == high).all():
            continue
        if (start == low).all():
            start = start[:1]  # the same for all levels
        half = (high - start)[:, None] / 2
        w = high - half + half * x
        earlier = sums.above(size - w[..., None])
        for order in range(3):
            result[order] -= np.einsum("ln,lns->ls", height * half * weight * w**order, earlier)
    return result


def _none_and_size(
    groups: list[tuple[np.ndarray, int]], level: np.ndarray, size: np.ndarray, rest: np.ndarray
) -> np.ndarray:
    """The probability that no record of the groups is earlier and above the level, times the density of the size.

    A group is the moments of `_not_above`, and its number of records; `rest` mean and variance of other similarities.
    """
    log_none, mean, variance = 0.0, rest[0] + level[:, None], rest[1]
    possible = np.ones((len(level), len(size)), dtype=bool)
    for (mass, first, second), count in groups:
        if count == 0:
            continue
        possible &= mass > NEVER
        mass = np.where(mass > NEVER, mass, 1.0)
        log_none = log_none + count * np.log(mass)
        mean = mean + count * first / mass
        variance = variance + count * (second / mass - (first / mass) ** 2)
    variance = np.maximum(variance, NEVER)
    normal = np.exp(log_none - (size - mean) ** 2 / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    return np.where(possible, normal, 0.0)
