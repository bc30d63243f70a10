"""Clusters in a graph of answers whose edges weigh +1 (same), -1 (different) or 0 (not asked about).

They are the steps of `crowder.beyond.noisy_queries` that are computed between questions.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["heaviest_subgraph", "likeliest_clusters", "same_neighbours"]


def heaviest_subgraph(weights: np.ndarray) -> np.ndarray:
    """The records of a subgraph whose weights have a large sum: the best that local moves find from every record and
    its positive neighbours.

    See Also
    --------
    likeliest_clusters : a partition instead of one subgraph.

    Examples
    --------
    >>> heaviest_subgraph(np.array([[0, 1, 1, -1], [1, 0, 1, -1], [1, 1, 0, 1], [-1, -1, 1, 0]]))
    array([0, 1, 2])
    """
    inside = (weights > 0) | np.eye(len(weights), dtype=bool)  # a row for each start
    gain = inside.astype(np.int64) @ weights
    while True:
        step = np.where(inside, -gain, gain)
        at = step.argmax(axis=1)
        rows = np.flatnonzero(step[np.arange(len(at)), at] > 0)
        if not len(rows):
            return np.flatnonzero(inside[(inside * gain).sum(axis=1).argmax()])
        moved = at[rows]
        inside[rows, moved] ^= True
        gain[rows] += np.where(inside[rows, moved], 1, -1)[:, None] * weights[moved]


def same_neighbours(positive: np.ndarray, error: float, scale: float) -> np.ndarray:
    r"""The records whose neighbours are nearly those of the record with the most neighbours, for a sample of a records:

    .. math:: |N_u| \ge pa + \frac{6}{1 - 2p} \sqrt{N \ln n}, \qquad
              |N_u \mathbin{\triangle} N_v| \le 2p(1 - p)a + 2 \sqrt{N \ln n},

    with :math:`N_u` the records answered "same" with u, and `scale` = :math:`N \ln n`. None if no record has that many.

    See Also
    --------
    heaviest_subgraph : needs smaller samples and more time.

    Examples
    --------
    >>> same_neighbours(np.kron(np.eye(2), np.ones((3, 3))) > 0, 0.0, 0.1)
    array([0, 1, 2])
    """
    a, spread = len(positive), math.sqrt(scale)
    degree = positive.sum(axis=1)
    u = int(degree.argmax())
    if degree[u] < error * a + 6 / (1 - 2 * error) * spread:
        return np.empty(0, np.int64)
    different = (positive ^ positive[u]).sum(axis=1)
    return np.flatnonzero(different <= 2 * error * (1 - error) * a + 2 * spread)


def likeliest_clusters(weights: np.ndarray) -> np.ndarray:
    """A partition whose weights inside clusters have a large sum: clusters are joined and records moved as long as that
    increases it. The label of a cluster is one of its records' positions.

    See Also
    --------
    heaviest_subgraph : one cluster of it.

    Examples
    --------
    >>> likeliest_clusters(np.array([[0, 1, 1, -1], [1, 0, 1, -1], [1, 1, 0, 1], [-1, -1, 1, 0]]))
    array([0, 0, 0, 3])
    """
    m = len(weights)
    label, moved = np.arange(m), m > 0
    while moved:
        to = (label[:, None] == np.arange(m)).astype(np.int64)
        between = to.T @ weights @ to
        np.fill_diagonal(between, 0)
        while between.max() > 0:
            a, b = np.unravel_index(between.argmax(), between.shape)
            label[label == b] = a
            between[a] += between[b]
            between[:, a] += between[:, b]
            between[b] = between[:, b] = between[a, a] = 0
        moved = False
        gain = weights @ (label[:, None] == np.arange(m))
        while True:
            # The gain of an empty cluster is 0: the record is then alone.
            step = gain - gain[np.arange(m), label][:, None]
            v, c = np.unravel_index(step.argmax(), step.shape)
            if step[v, c] <= 0:
                break
            gain[:, label[v]] -= weights[:, v]
            gain[:, c] += weights[:, v]
            label[v], moved = c, True
    return label
