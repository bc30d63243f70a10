r"""The log-odds that two clusters are one entity, and the probability that each decision of a clustering is wrong.

A decision is that two clusters are different entities, or that the two sides of a cut through a cluster are one. The
log-odds that two groups A and B of records are one entity are taken as

.. math:: \lambda(A, B) = b + \sum_{i \in A, j \in B} s_{ij}
          + \frac{\sum_{i \in A, j \in B} e_{ij}}{1 + \gamma (|A| |B| - 1)} ,

where s is the evidence of the answers, e that of the similarities, b the prior log-odds of a pair of records, and γ the
correlation that damps the sum of similarities (see `crowder.beyond.EvidenceOrdering`).

Plain functions over arrays, most of them compiled by numba. For clusters a and b, ``answered[a, b]`` and
``similar[a, b]`` are the two sums, kept while records move.
"""

from __future__ import annotations

from math import lgamma

import numpy as np
from numba import njit

__all__ = ["certainty", "correlation", "log_odds", "most", "most_urgent", "probable", "sums_tell", "tally"]

#: Values whose variance is smaller are equal up to rounding.
SAME = 1e-12

#: The largest similarity is preferred to sums only if it tells a record's cluster from another in more than the first
#: share of the comparisons, and sums in fewer than the second: where both do, sums need fewer answers.
TELLING = 0.9, 0.97


@njit(cache=True)
def tally(values, labels):
    """The sums of symmetric values of pairs of records between clusters, (n, n)."""
    n = len(labels)
    sums = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if j != i:
                sums[labels[i], labels[j]] += values[i, j]
    return sums


@njit(cache=True)
def most(values, labels):
    """The largest of symmetric values of pairs of records between clusters, (n, n)."""
    n = len(labels)
    largest = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(n):
            if j != i:
                largest[labels[i], labels[j]] = max(largest[labels[i], labels[j]], values[i, j])
    return largest


@njit(cache=True)
def log_odds(answered, similar, size, base, rho, a, b):
    """λ of two clusters; γ is `rho`, and b is `base`."""
    return base + answered[a, b] + similar[a, b] / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def most_urgent(answered, similar, nearest, unasked, size, base, rho, least, by_sums, fitted):
    """The most urgent pair of clusters, and its urgency; (-1, -1, -inf) if none expects more than e^`least` wrong pairs
    of records, nearly min(e^λ, 1) |A||B|, or none has a pair that was not asked about. O(k²) for k clusters.

    With `by_sums`, the urgency is the logarithm of this number. Otherwise it is that of the records expected to be in
    the wrong cluster, min(|A|, |B|) for two clusters that are one; and in λ the evidence of the most similar pair,
    `nearest`, replaces the damped sum.

    With `fitted`, λ of clusters whose records are similar is without what they owe to having been fitted to the
    answers: of many splits of one entity, that with the fewest "yes" across was found. There are about
    Γ(|A| + |B|) / (Γ(|A|) Γ(|B|)) of these sizes.
    """
    alive = np.flatnonzero(size)
    log_size = np.log(np.maximum(size, 1))
    best, x, y = -np.inf, -1, -1
    for t, a in enumerate(alive):
        for b in alive[:t]:
            if unasked[a, b] == 0:
                continue
            value = log_odds(answered, similar, size, base, rho, a, b)
            if fitted and similar[a, b] > 0:
                value += lgamma(size[a] + size[b]) - lgamma(size[a]) - lgamma(size[b])
            value = min(value, 0.0) + log_size[a] + log_size[b]
            if value <= least:
                continue
            if not by_sums:
                value = min(base + answered[a, b] + nearest[a, b], 0.0) + min(log_size[a], log_size[b])
            if value > best:
                best, x, y = value, a, b
    return x, y, best


@njit(cache=True)
def probable(answered, similar, size, labels, base, rho, weak, parent, order):
    """The probability that each two records are one entity, (n, n).

    Across clusters it is that of the clusters; within one, that of the weakest cut on the path between the records.
    """
    n = len(labels)
    chance = np.ones((n, n))
    for t in range(n):
        x = order[t]
        own = 1.0 / (1.0 + np.exp(-weak[x]))
        for u in range(t):
            y = order[u]
            if labels[x] != labels[y]:
                value = log_odds(answered, similar, size, base, rho, labels[x], labels[y])
                chance[x, y] = 1.0 / (1.0 + np.exp(-value))
            elif parent[x] == y:
                chance[x, y] = own
            else:
                chance[x, y] = min(own, chance[parent[x], y])
            chance[y, x] = chance[x, y]
    return chance


def certainty(s: np.ndarray, e: np.ndarray, base: float, rho: float, clusters: np.ndarray) -> np.ndarray:
    r"""The probability that each record belongs to its cluster rather than to another or to none, (n,).

    .. math:: e^{\lambda(r, C)} \Big/ \Bigl(1 + \sum_D e^{\lambda(r, D)}\Bigr) ,

    where the clusters C and D are without the record r, and D those with an answer or a similarity; if it is alone, the
    numerator is 1. `s` and `e` have zeros on
    the diagonal; `clusters` are in 0, ..., k - 1.

    Examples
    --------
    >>> evidence = np.array([[0, 3.0, -2], [3, 0, -2], [-2, -2, 0]])
    >>> certainty(evidence, 0 * evidence, 0.0, 1.0, np.array([0, 0, 1])).round(2)
    array([0.95, 0.95, 0.98])
    """
    n, size = len(clusters), np.bincount(clusters)
    order = np.argsort(clusters, kind="stable")
    starts = np.cumsum(size) - size
    answered, similar = (np.add.reduceat(x[:, order], starts, axis=1) for x in (s, e))  # of records and clusters
    others = np.tile(size, (n, 1))
    others[np.arange(n), clusters] -= 1  # without the record itself
    odds = base + answered + similar / (1 + rho * (np.maximum(others, 1) - 1))
    odds[(answered == 0) & (similar == 0)] = -np.inf  # there is no evidence for it
    odds[others == 0] = 0.0  # alone
    rest = np.where(size[clusters] > 1, 0.0, -np.inf)[:, None]  # a cluster of its own, if it is not in one
    every = np.hstack([odds, rest])
    every = np.exp(every - every.max(axis=1, keepdims=True))
    return every[np.arange(n), clusters] / every.sum(axis=1)


def correlation(values: np.ndarray, clusters: np.ndarray) -> float:
    r"""The intraclass correlation of the values that a record has with the records of another cluster.

    With :math:`x_1, \dots, x_m` such values, μ their mean over all records and clusters and σ² their variance, it is

    .. math:: \sum \sum_{s \ne t} (x_s - \mu)(x_t - \mu) \Big/ \sigma^2 \sum m (m - 1) ,

    the outer sums over each record and each cluster without it that has at least two records; 1 if there are none, or
    σ² is below `SAME`. `values` is symmetric, `clusters` are in 0, ..., k - 1. O(n²).

    Examples
    --------
    Records 2 and 3 are each equally similar to both records of a cluster; then one of them is not:

    >>> values, clusters = np.zeros((4, 4)), np.array([0, 0, 1, 2])
    >>> values[2, :2] = values[:2, 2] = 1.0
    >>> correlation(values, clusters)
    1.0
    >>> values[2, 1] = values[1, 2] = 0.0
    >>> round(correlation(values, clusters), 2)
    -0.33
    """
    size, order = np.bincount(clusters), np.argsort(clusters, kind="stable")
    starts = np.cumsum(size) - size
    of = np.tile(size > 1, (len(clusters), 1))
    of[np.arange(len(clusters)), clusters] = False
    m = np.broadcast_to(size, of.shape)[of]
    if len(m) == 0:
        return 1.0
    sums, squares = (np.add.reduceat(x[:, order], starts, axis=1)[of] for x in (values, values**2))
    mean = sums.sum() / m.sum()
    own = squares - 2 * mean * sums + m * mean**2
    variance = own.sum() / m.sum()
    return float(((sums - m * mean) ** 2 - own).sum() / (m * (m - 1)).sum() / variance) if variance > SAME else 1.0


def sums_tell(values: np.ndarray, free: np.ndarray, clusters: np.ndarray, rho: float) -> bool:
    """Whether damped sums of `values` tell a record's cluster from the others; if not, the largest value does better.

    For each record, its cluster is compared with every other one, if the record has at least two `free` pairs with
    both. Only these count: to be asked about, a pair had to be similar. The largest value does better if it is larger
    in the record's own cluster more often than the sum is, within the limits `TELLING`. `values` and `free` are
    symmetric, (n, n); `clusters` are in 0, ..., k - 1. O(n²).

    Examples
    --------
    Two clusters of three records in a row: each is similar to its neighbours, and a little to the other cluster.

    >>> clusters, places = np.repeat([0, 1], 3), np.array([0, 1, 2, 10, 11, 12])
    >>> near = (abs(places[:, None] - places) == 1) * 1.0
    >>> other = clusters[:, None] != clusters
    >>> free = ~np.eye(6, dtype=bool)
    >>> [sums_tell(near + little * other, free, clusters, 0.5) for little in (0.1, 0.8)]
    [True, False]
    """
    size, order = np.bincount(clusters), np.argsort(clusters, kind="stable")
    starts = np.cumsum(size) - size
    number, sums = (np.add.reduceat(x[:, order], starts, axis=1) for x in (free.astype(np.int64), values * free))
    largest = np.maximum.reduceat(np.where(free, values, -np.inf)[:, order], starts, axis=1)
    own = np.arange(len(clusters)), clusters
    compared = (number > 1) & (number[own] > 1)[:, None]
    compared[own] = False
    if not compared.any():
        return True
    by_sum, by_largest = (
        ((x[own][:, None] > x)[compared].sum() + (x[own][:, None] >= x)[compared].sum()) / (2 * compared.sum())
        for x in (sums / (1 + rho * np.maximum(number - 1, 0)), largest)
    )
    return bool(by_largest <= max(by_sum, TELLING[0]) or by_sum >= TELLING[1])
