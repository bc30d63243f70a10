r"""Random graphs on one cluster: the probability that G(m, p) is connected, and its expected components of each size.

Edge ordering takes the pairs in decreasing order of similarity. Each pair within a cluster lies above a given level
with some probability p, independently of the others: an Erdős–Rényi graph. `crowder.counting.expected_counts` uses its
components.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from crowder import validation
from crowder.resolution import cluster_sizes

__all__ = ["component_numbers", "connected", "log_connected"]

#: If the probability of being disconnected is less than this, a graph counts as connected.
NEVER = 1e-30


def connected(m: int, p: float) -> np.ndarray:
    r"""The probability that the random graph G(a, p) is connected, for a = 1, ..., m.

    Remove the last vertex. The component of the first one then has k of the other n - 1 vertices; at least one of k
    edges joined it to the last vertex, and the remaining graph is connected without it. With q = 1 - p,

    .. math:: C_n = \sum_{k=1}^{n-1} \binom{n-2}{k-1}\, (1 - q^k)\, q^{k(n-1-k)}\, C_k\, C_{n-k}, \qquad C_1 = 1.

    No term is negative, so there is no cancellation. (The better known recursion subtracts from 1 and loses all
    digits.)

    Parameters
    ----------
    m : int
        At least 1.
    p : float
        Probability of an edge.

    Returns
    -------
    ndarray of float64, shape (m,)
        Entry a - 1 belongs to a vertices.

    Raises
    ------
    ValueError
        If m is less than 1, or p is not in [0, 1].
    TypeError
        If m is not a whole number.

    Notes
    -----
    O(m²). The probability can be too small for a float, and is then 0; see `log_connected`. E. N. Gilbert, Random
    Graphs (1959), has the recursion that subtracts.

    Examples
    --------
    >>> connected(3, 0.5)  # four of the eight graphs on three vertices are connected
    array([1. , 0.5, 0.5])
    """
    return np.exp(log_connected(m, p))


def log_connected(m: int, p: float) -> np.ndarray:
    """The logarithm of `connected`, which stays finite where the probability itself is too small for a float.

    Parameters, cost and errors are those of `connected`.

    Examples
    --------
    >>> bool(log_connected(400, 1e-4)[-1] < -1000)
    True
    """
    m, p = _checked(m, p)
    return log_connected_at(m, np.array([p]))[0]


def log_connected_at(m: int, p: np.ndarray) -> np.ndarray:
    """`log_connected` for several probabilities (r,) at once: an array of shape (r, m).

    Examples
    --------
    >>> log_connected_at(2, np.array([0.0, 1.0]))
    array([[  0., -inf],
           [  0.,   0.]])
    """
    return _log_connected_each(np.full(len(p), m), _log_q(p), _log_factorials(m), m)


def component_numbers(m: int, p: float, *, sizes: ArrayLike | None = None) -> np.ndarray:
    r"""The expected number of components of each size in the random graph G(m, p).

    .. math:: N(a) = \binom ma\, C_a\, q^{a(m-a)}, \qquad a = 1, \dots, m.

    Parameters
    ----------
    m : int
        Number of vertices, at least 1.
    p : float
        Probability of an edge.
    sizes : sequence of int, optional
        Sizes of several graphs, none above m, at the cost of the largest.

    Returns
    -------
    ndarray of float64, shape (m,), or (len(sizes), m)
        Entry a - 1 belongs to components of a vertices; :math:`\sum_a a N(a) = m`.

    Raises
    ------
    ValueError
        As `connected`; and if a size is above m.

    Notes
    -----
    O(m²), and no more than O(m) when the graph is certain to be connected.

    Examples
    --------
    >>> component_numbers(3, 0.5)  # (4 · 0 + 3 · 1 + 1 · 3) / 8 isolated vertices, 3/8 pairs, 4/8 triples
    array([0.75 , 0.375, 0.5  ])
    """
    m, p = _checked(m, p)
    many = np.array([m]) if sizes is None else cluster_sizes(sizes)
    if (many > m).any() or (many < 1).any():
        raise ValueError(f"graph sizes must be between 1 and m = {m}, not {many.tolist()}")
    result = numbers_at(np.array([p]), many, m)[0]
    return result[0] if sizes is None else result


def numbers_at(p: np.ndarray, sizes: np.ndarray, m: int) -> np.ndarray:
    """`component_numbers` for several probabilities (r,) at once, which saves most of the time of small graphs.

    Returns an array of shape (r, len(sizes), m).

    Examples
    --------
    >>> numbers_at(np.array([0.5, 1.0]), np.array([2, 3]), 3)[1]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    result = np.zeros((len(p), len(sizes), m))
    log_factorial, log_q = _log_factorials(m), _log_q(p)
    # Disconnected with probability at most the sum of C(m, a) q^(a (m - a)) over a <= m/2, hence of (m q^(m/2))^a.
    whole = (np.log(sizes) + sizes / 2 * log_q[:, None] < np.log(NEVER)) | (sizes == 1)
    largest = np.where(whole, 1, sizes).max(axis=1)
    chance = _log_connected_each(largest, log_q, log_factorial, m)
    for s, size in enumerate(sizes):
        result[whole[:, s], s, size - 1] = 1.0
        some = ~whole[:, s]
        a = np.arange(1, size + 1)
        log_choose = log_factorial[size] - log_factorial[a] - log_factorial[size - a]
        result[some, s, :size] = np.exp(log_choose + chance[some, :size] + a * (size - a) * log_q[some, None])
    return result


@njit(cache=True)
def _log_connected_each(largest, log_q, log_factorial, m):
    """The rows ln C_1, ..., ln C_m for each q, filled up to `largest`."""
    result = np.zeros((len(log_q), m))
    for r in range(len(log_q)):
        if log_q[r] == 0:
            result[r, 1:] = -np.inf  # no edges at all
        elif largest[r] > 1 and log_q[r] > -np.inf:
            result[r, : largest[r]] = _log_connected(largest[r], log_q[r], log_factorial)
    return result


@njit(cache=True)
def _log_connected(m, log_q, log_factorial):
    """ln C_1, ..., ln C_m. The terms for k and n - k are combined; each is relative to the first, the largest."""
    power = np.exp(log_q * np.arange(m))  # q^k
    some = -np.expm1(log_q * np.arange(m))  # 1 - q^k
    result = np.zeros(m)
    share = np.zeros(m)  # ln C_k / (k - 1)!, at k
    for n in range(2, m + 1):
        first = share[n - 1]
        total = 0.0
        for k in range(1, n // 2 + 1):
            j = n - k
            both = some[j] if j == k else some[j] + power[j - k] * some[k]
            term = np.exp(share[k] + share[j] + (k - 1) * j * log_q - first) * both
            total += term
            if term < 1e-18 * total:
                break  # the terms fall towards the middle; from here on none changes the sum
        result[n - 1] = log_factorial[n - 2] + first + np.log(total)
        if n < m:
            share[n] = result[n - 1] - log_factorial[n - 1]
    return result


def _log_q(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):  # q may be 0
        return np.log1p(-p)


@cache
def _log_factorials(m: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])


def _checked(m: Any, p: Any) -> tuple[int, float]:
    return validation.whole(m, "m", least=1), float(validation.probability(p, "p"))
