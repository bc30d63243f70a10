r"""Node ordering under a fixed arrival order: the exact expected count, from comparisons of maximal similarities.

The paper bounds the count for an order that ignores the similarities (Section "Analysis of the Node ordering
algorithm"). For such an order this module computes it exactly; `crowder.counting.expected_counts` averages over all
orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from crowder import validation
from crowder.densities import common_steps
from crowder.models import SimilarityModel

__all__ = ["expected_queries_in_order", "prob_nonmatch_first"]


def prob_nonmatch_first(model: SimilarityModel, matches: int, nonmatches: int) -> np.ndarray:
    r"""The probability that the largest of t similarities of non-matches is at least the largest of s of matches.

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
        If a number is negative.
    TypeError
        If a number is not whole.

    Notes
    -----
    On each step of the densities the integrand is a polynomial of degree s + t - 1, for which Gauss-Legendre quadrature
    with half as many nodes is exact. O(steps · (s + t) · s · t).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> prob_nonmatch_first(uniform(), 2, 2)  # t / (s + t): each of s + t is as likely to be the largest
    array([[0.        , 1.        , 1.        ],
           [0.        , 0.5       , 0.66666667],
           [0.        , 0.33333333, 0.5       ]])
    """
    validation.model(model)
    matches, nonmatches = validation.whole(matches, "matches"), validation.whole(nonmatches, "nonmatches")
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
    with probability P(s, t) (`prob_nonmatch_first`); if s > 0 it is also compared with its own.

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
    O(n k), and `prob_nonmatch_first` for the size of the largest cluster.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_queries_in_order(uniform(), "aab"), 9)  # a match, and one non-match for the last record
    2.0
    >>> round(expected_queries_in_order(uniform(), "baa"), 9)  # the last is compared with b first with probability 1/2
    2.5
    """
    validation.kind(arrivals, Iterable, "arrivals must be a sequence of clusters")
    codes = validation.labels(list(arrivals))
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
