r"""Node ordering: the expected number of questions by the order in which records arrive.

In a fixed order or a random one, the counts are exact. The paper lets records arrive by expected size, a sum of many
similarities, which is taken to be normal here. The formulas are derived in the chapter "How many questions, exactly"
and the appendix "Node ordering and the order of arrival".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from crowder import checks
from crowder.models import SimilarityModel, common_steps

__all__ = ["expected_queries_in_order", "nonmatches_at_random", "nonmatches_by_expected_size", "prob_nonmatch_first"]

# --- Integrals over the similarity that an ordering has reached, from the top down ------------------------------------

#: Gauss-Legendre nodes for each panel. Half as many already give twelve correct digits.
NODES = 24

#: The largest number of nodes: finding more would take hours.
MOST_NODES = 10_000

_gauss = cache(np.polynomial.legendre.leggauss)


class Step(NamedTuple):
    """A step of both densities, described from its upper end, where decreasing similarities enter it."""

    width: float
    green: float  # height of f_g
    red: float
    seen_green: float  # share of f_g above the step
    seen_red: float


def steps_down(model: SimilarityModel) -> Iterator[Step]:
    """The common steps of f_g and f_r, from the top down."""
    edges, green, red = common_steps(model.green, model.red)
    width = np.diff(edges)
    green, red = green / (green @ width), red / (red @ width)  # a mass may differ from one by a rounding error
    seen_green = seen_red = 0.0
    for w, g, r in zip(width[::-1], green[::-1], red[::-1], strict=True):
        yield Step(w, g, r, seen_green, seen_red)
        seen_green, seen_red = min(1.0, seen_green + g * w), min(1.0, seen_red + r * w)


def panels(width: float, finest: float, nodes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes and weights on [0, width], on panels that halve towards 0 until one is no wider than `finest`."""
    x, weight = _gauss(nodes)
    halvings = max(0, int(np.ceil(np.log2(width / finest))))
    ends = np.concatenate([[0.0], width * 0.5 ** np.arange(halvings, -1, -1)])
    for low, high in pairwise(ends):
        yield low + (high - low) * (x + 1) / 2, weight * (high - low) / 2


# --- In a fixed order ----------------------------------------------------------------------------------------------


def prob_nonmatch_first(model: SimilarityModel, matches: int, nonmatches: int) -> np.ndarray:
    r"""The probability that the largest of t similarities of non-matches is at least the largest of s of matches.

    .. math:: P(s, t) = \Pr\bigl(\max(R_1, \dots, R_t) \ge \max(G_1, \dots, G_s)\bigr)
        = \int_0^1 t\, F_r(\tau)^{t-1} f_r(\tau)\, F_g(\tau)^s\, d\tau

    For s up to `matches` and t up to `nonmatches`, an array of shape (matches + 1, nonmatches + 1); P(s, 0) = 0, and
    P(0, t) = 1 for t ≥ 1. Column 1 is the paper's L_{g,r}(s). On each step of the densities the integrand is a
    polynomial, for which Gauss-Legendre quadrature is exact. O(steps · (s + t) · s · t).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> prob_nonmatch_first(uniform(), 2, 2)  # t / (s + t): each of s + t is as likely to be the largest
    array([[0.        , 1.        , 1.        ],
           [0.        , 0.5       , 0.66666667],
           [0.        , 0.33333333, 0.5       ]])
    """
    checks.model(model)
    matches = checks.whole(matches, "matches", most=MOST_NODES)
    nonmatches = checks.whole(nonmatches, "nonmatches", most=MOST_NODES)
    node, weight = np.polynomial.legendre.leggauss((matches + nonmatches) // 2 + 1)  # the degree is at most s + t - 1
    ends = list(pairwise(common_steps(model.green, model.red)[0]))
    at = np.concatenate([low + (high - low) * (node + 1) / 2 for low, high in ends])
    weights = np.concatenate([weight * (high - low) / 2 for low, high in ends])
    t = np.arange(1, nonmatches + 1)[:, None]
    best = t * model.red.cdf(at) ** (t - 1) * model.red.pdf(at) * weights
    others = model.green.cdf(at) ** np.arange(matches + 1)[:, None]
    return np.hstack([np.zeros((matches + 1, 1)), others @ best.T])


def expected_queries_in_order(model: SimilarityModel, arrivals: Sequence[int]) -> float:
    """The expected number of questions of node ordering for the true clusters of the records in their order of arrival.

    If s records of its own cluster and t of another have arrived before it, a record is compared with the other cluster
    with probability P(s, t) (`prob_nonmatch_first`); if s > 0 it is also compared with its own. The order must not
    depend on the similarities. O(n k), and `prob_nonmatch_first` for the size of the largest cluster.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_queries_in_order(uniform(), "aab"), 9)  # a match, and one non-match for the last record
    2.0
    >>> round(expected_queries_in_order(uniform(), "baa"), 9)  # the last is compared with b first with probability 1/2
    2.5
    """
    checks.kind(arrivals, Iterable, "arrivals must be a sequence of clusters")
    codes = checks.labels(list(arrivals) if isinstance(arrivals, str) else arrivals)
    if not len(codes):
        return 0.0
    largest = int(np.bincount(codes).max())
    chance = prob_nonmatch_first(model, largest, largest)
    placed = np.zeros(codes.max() + 1, dtype=np.int64)
    total = 0.0
    for own in codes:
        asked = chance[placed[own], placed]
        asked[own] = placed[own] > 0
        total += asked.sum()
        placed[own] += 1
    return float(total)


# --- In random order -----------------------------------------------------------------------------------------------


def nonmatches_at_random(step: Step, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    """Expected non-matches asked about on one step, over all ordered pairs of clusters, of `different` sizes."""
    finest = 1 / int(different[-1])
    times, time_weights = map(np.concatenate, zip(*panels(1.0, finest, nodes), strict=True))
    total = 0.0
    for depths, weights in panels(step.width, finest / max(step.green, step.red), nodes):
        green = np.log1p(-np.outer(times, np.minimum(1.0, step.seen_green + step.green * depths)))
        red = np.log1p(-np.outer(times, np.minimum(1.0, step.seen_red + step.red * depths)))
        reds = np.array([count * size * np.exp((size - 1) * red) for size, count in zip(different, many, strict=True)])
        greens = np.array([size * np.exp((size - 1) * green) for size in different])
        # For each size, the number of clusters without one of this size.
        below = np.concatenate([np.zeros((1, *red.shape)), np.cumsum(reds, axis=0)[:-1]])
        above = np.concatenate([np.cumsum(reds[::-1], axis=0)[-2::-1], np.zeros((1, *red.shape))])
        own = (1 - 1 / many)[:, None, None] * reds
        density = np.einsum("s,sxy,sxy->xy", many.astype(float), greens, below + above + own)
        total += step.red * float((time_weights * times) @ density @ weights)
    return total


# --- By expected size ----------------------------------------------------------------------------------------------

#: Expected sizes are integrated over this many standard deviations on each side of the mean, in four panels.
SPAN = 8.0

#: Gauss-Legendre nodes between a level and the end of its step, where only the probability of being earlier varies: so
#: many, or as few if expected sizes deviate by more than four, which makes a difference of less than 1e-15.
ABOVE, FEW_ABOVE = 12, 5

#: Gauss-Hermite nodes for what expected sizes have in common, which is little.
SHARED = 3

#: Smaller probabilities and variances do not count.
NEVER = 1e-14


def nonmatches_by_expected_size(model: SimilarityModel, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    r"""Expected non-matches asked about when records arrive by expected size, for `many` clusters of `different` sizes.

    A record of cluster c with similarity w to a record v of expected size t arrives before it if its other n - 2
    similarities sum to more than t - w. Any two of these sums share a similarity, of variance σ². So they are taken to
    be :math:`\nu_c + s_c X + \sigma\eta`, with X and η standard normal and η the same for all. Given η, a record is
    earlier with probability :math:`q_c(w, t) = \Phi((\nu_c + w - t + \sigma\eta) / s_c)`, and not earlier with a
    similarity above τ with :math:`Z_c(\tau, t) = 1 - \int_\tau^1 f(w)\, q_c(w, t)\, dw`. As an expectation over η,

    .. math:: \sum_{i\ne j} m_i m_j\, E \int_0^1\!\int f_r(\tau)\, q_j(\tau, t)\, Z_i(\tau, t)^{m_i-1}\,
        Z_j(\tau, t)^{m_j-1}\, \varphi(t; M, V)\, dt\, d\tau .

    φ is the normal density of v's expected size if one similarity is τ and the others to the clusters i and j have the
    densities :math:`f(w)\,(1 - [w > \tau]\, q_c(w, t))/Z_c`. O(distinct sizes squared) double integrals.
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


def _laws(model: SimilarityModel) -> tuple[_Law, _Law]:
    edges, *both = common_steps(model.green, model.red)
    orders = np.arange(1, 4)[:, None]
    pieces = np.diff(edges**orders, axis=1) / orders
    green, red = (_Law(edges, h / (h @ pieces[0]), pieces @ h / (h @ pieces[0])) for h in both)
    return green, red


def _expected_sizes(mean: float, variance: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for the expected size of a record."""
    x, weight = _gauss(nodes)
    half = SPAN / 4 * np.sqrt(variance)  # of a panel
    centres = mean + half * np.arange(-3, 4, 2)
    return (centres[:, None] + half * x).ravel(), np.tile(half * weight, len(centres))


def _not_above(law: _Law, level: np.ndarray, size: np.ndarray, sums: _Sums) -> np.ndarray:
    """Moments 0, 1, 2 of a similarity that is not an earlier record's above the level: (3, levels, sizes)."""
    result = np.tile(law.moments[:, None, None], (1, len(level), len(size)))
    x, weight = _gauss(ABOVE if sums.deviation < 4 else FEW_ABOVE)
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
