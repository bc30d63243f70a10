r"""Node ordering under a fixed arrival order: the exact expected count, from comparisons of maximal similarities.

The paper bounds the count for an order that ignores the similarities (Section "Analysis of the Node ordering
algorithm"). For such an order this module computes it exactly; `crowder.counting.expected_counts` averages over all
orders.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from crowder import validation
from crowder.densities import common_steps
from crowder.models import SimilarityModel

__all__ = ["expected_queries_in_order", "races"]


def races(model: SimilarityModel, matches: int, nonmatches: int) -> np.ndarray:
    r"""The probability that the largest of t similarities of non-matches reaches the largest of s similarities of
    matches.

    .. math:: P(s, t) = \Pr\bigl(\max(R_1, \dots, R_t) \ge \max(G_1, \dots, G_s)\bigr)
        = \int_0^1 t\, F_r(\tau)^{t-1} f_r(\tau)\, F_g(\tau)^s\, d\tau

    Parameters
    ----------
    model : SimilarityModel
    matches, nonmatches : int
        The largest s and t, at least 0.

    Returns
    -------
    ndarray of float64, shape (matches + 1, nonmatches + 1)
        Row s, column t. P(s, 0) = 0, since without non-matches nothing is asked; P(0, t) = 1 for t ≥ 1. Column 1 is the
        paper's L_{g,r}(s).

    Raises
    ------
    ValueError
        If a number is negative or not whole.

    Notes
    -----
    On each step of the densities the integrand is a polynomial of degree s + t - 1, for which Gauss-Legendre quadrature
    with half as many nodes is exact. O(steps · (s + t) · s · t).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> races(uniform(), 2, 2)  # t / (s + t): each of s + t is as likely to be the largest
    array([[0.        , 1.        , 1.        ],
           [0.        , 0.5       , 0.66666667],
           [0.        , 0.33333333, 0.5       ]])
    """
    validation.model(model)
    matches, nonmatches = (_count(value) for value in (matches, nonmatches))
    node, weight = np.polynomial.legendre.leggauss((matches + nonmatches) // 2 + 1)
    ends = list(pairwise(common_steps(model.green, model.red)[0]))
    at = np.concatenate([low + (high - low) * (node + 1) / 2 for low, high in ends])
    weights = np.concatenate([weight * (high - low) / 2 for low, high in ends])
    t = np.arange(1, nonmatches + 1)[:, None]
    best = t * model.red.cdf(at) ** (t - 1) * model.red.pdf(at) * weights
    others = model.green.cdf(at) ** np.arange(matches + 1)[:, None]
    return np.hstack([np.zeros((matches + 1, 1)), others @ best.T])


def expected_queries_in_order(model: SimilarityModel, arrivals: Sequence[int]) -> float:
    r"""The expected number of questions of node ordering for a given arrival order.

    If s records of its own cluster and t of another have arrived before it, a record is compared with the other cluster
    with probability P(s, t) (`races`); if s > 0 it is also compared with its own.

    Parameters
    ----------
    model : SimilarityModel
    arrivals : sequence
        The true cluster of each record, in arrival order. The order must not depend on the similarities.

    Returns
    -------
    float

    Notes
    -----
    O(n k), besides `races` for the two largest clusters.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_queries_in_order(uniform(), "aab"), 9)  # a match, and one non-match for the last record
    2.0
    >>> round(expected_queries_in_order(uniform(), "baa"), 9)  # the last is compared with b first with probability 1/2
    2.5
    """
    clusters, codes = np.unique(_clusters(arrivals), return_inverse=True)
    if not len(codes):
        return 0.0
    largest = int(np.bincount(codes).max())
    chance = races(model, largest, largest)
    placed = np.zeros(len(clusters), dtype=np.int64)
    total = 0.0
    for own in codes:
        asked = chance[placed[own], placed]
        asked[own] = placed[own] > 0
        total += asked.sum()
        placed[own] += 1
    return float(total)


def _clusters(arrivals: Any) -> np.ndarray:
    if not isinstance(arrivals, Iterable):
        raise TypeError(f"arrivals must be a sequence of clusters, not {arrivals!r}")
    return validation.labels(list(arrivals))


def _count(value: Any) -> int:
    try:
        value = operator.index(value)
    except TypeError:
        value = -1
    if value < 0:
        raise ValueError("matches and nonmatches must each be a whole number of similarities, at least 0")
    return value
