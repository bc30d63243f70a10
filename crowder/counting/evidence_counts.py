r"""Evidence ordering by records: the exact expected number of questions, if the ratio f_g/f_r takes two values.

The evidence of a record for a cluster (`crowder.beyond.evidence_ordering`) is then decided by how many of its
similarities lie where f_g/f_r is the larger of the two: a binomial variable. Dist-1 is such a model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import gammaln

from crowder import validation
from crowder.densities import common_steps
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

__all__ = ["expected_evidence_queries", "prob_wrong_first"]

#: Evidence is counted in multiples of 1/UNIT nat, and is CERTAIN where a density vanishes, as the ordering counts it.
UNIT, CERTAIN = 1 << 20, 1 << 16


def prob_wrong_first(model: SimilarityModel, right: int, wrong: int) -> np.ndarray:
    r"""The probability that a record is compared with a cluster of t others before its own cluster of s records.

    With X of the s similarities, and Y of the t, where :math:`f_g/f_r` is the larger of its two values, :math:`e^a`,
    and the others where it is :math:`e^b`,

    .. math:: W(s, t) = \Pr(E_t > E_s) + \frac t{s+t} \Pr(E_t = E_s), \qquad
        E_s = aX + b(s - X),\; E_t = aY + b(t - Y) ,

    where X and Y are binomial, with the mass of f_g, and of f_r, at the larger value.

    Parameters
    ----------
    model : SimilarityModel
        :math:`f_g/f_r` takes at most two values.
    right, wrong : int
        The largest s and t, at least 0.

    Returns
    -------
    ndarray of float64, shape (right + 1, wrong + 1)
        Row s, column t. W(s, 0) = 0, since there is nothing to ask; W(0, t) = 1 for t ≥ 1.

    Raises
    ------
    ValueError
        If the ratio takes more values, or a number is negative.
    TypeError
        If a number is not whole.

    See Also
    --------
    crowder.counting.arrival_orders.prob_nonmatch_first : the same for node ordering, which compares maxima.

    Notes
    -----
    O(s t² log s). In random order, the first of the s + t records belongs to the wrong cluster with probability
    t/(s + t), and then that cluster is the first of two with equal evidence.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> prob_wrong_first(uniform(), 2, 2)  # without information, all evidence is 0: t / (s + t)
    array([[0.        , 1.        , 1.        ],
           [0.        , 0.5       , 0.66666667],
           [0.        , 0.33333333, 0.5       ]])
    >>> float(prob_wrong_first(dist1(0.5), 1, 1)[1, 1])  # two votes: both wrong with probability 1/16, a tie 6/16
    0.25
    """
    right, wrong = validation.whole(right, "right"), validation.whole(wrong, "wrong")
    green, red, high, low = _two_values(validation.model(model))
    t = np.repeat(np.arange(wrong + 1), np.arange(1, wrong + 2))  # a line for each t and Y = 0, ..., t
    y = np.arange(len(t)) - t * (t + 1) // 2
    chance, evidence = stats.binom.pmf(y, t, red), high * y + low * (t - y)
    result = np.zeros((right + 1, wrong + 1))
    for s in range(right + 1):
        x = np.arange(s + 1)
        own = high * x + low * (s - x)
        below = np.append(0.0, np.cumsum(stats.binom.pmf(x, s, green)))
        less, up_to = (below[np.searchsorted(own, evidence, side)] for side in ("left", "right"))
        first = less + t / np.maximum(s + t, 1) * (up_to - less)
        result[s] = np.bincount(t, chance * first, minlength=wrong + 1)
    result[0, 1:], result[:, 0] = 1.0, 0.0
    return result


def expected_evidence_queries(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""The expected number of questions of evidence ordering in the form "records", with known densities.

    .. math:: E[Q] = (n - k) + \sum_{i\ne j} m_i \sum_{s=0}^{m_i-1} \sum_{t=1}^{m_j}
        \frac{\binom{m_i-1}s \binom{m_j}t}{(m_i + m_j) \binom{m_i+m_j-1}{s+t}}\, W(s, t) .

    The fraction is the probability that s records of its own cluster, and t of another, have arrived before a record,
    and W is `prob_wrong_first`.

    Parameters
    ----------
    model : SimilarityModel
        :math:`f_g/f_r` takes at most two values, as under Dist-1.
    sizes : sequence of int
        The cluster sizes, each at least 1; any order.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a size is not a positive integer, or the ratio takes more than two values.

    See Also
    --------
    crowder.EvidenceOrdering : the ordering.
    crowder.expected_queries : both heuristics of the paper.

    Notes
    -----
    O(m³ log m) for a largest cluster of m. Not in the paper. The ordering also estimates how dependent similarities
    are, and discounts sums if it finds that they are; the count is for sums that are not discounted, as they
    hardly ever are if similarities are independent.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(expected_evidence_queries(uniform(), [2, 1]), 9)  # as node ordering: nothing is known
    2.333333333
    >>> round(expected_evidence_queries(dist1(0.5), [40, 20, 20]), 2)  # the ideal is 80
    83.03
    """
    sizes, model = cluster_sizes(sizes), validation.model(model)
    different, many = np.unique(sizes, return_counts=True)
    matches = float(sizes.sum() - len(sizes))
    if len(sizes) < 2:
        return matches
    wrong_first, total = prob_wrong_first(model, int(different[-1]) - 1, int(different[-1])), 0.0
    for i, (m, count) in enumerate(zip(different, many, strict=True)):
        for j, (other, rivals) in enumerate(zip(different, many, strict=True)):
            s, t = np.arange(m)[:, None], np.arange(other + 1)
            log_before = _log_choose(m - 1, s) + _log_choose(other, t) - _log_choose(m + other - 1, s + t)
            asked = np.exp(log_before) / (m + other) * wrong_first[:m, : other + 1]
            total += count * (rivals - (i == j)) * m * asked.sum()
    return matches + float(total)


def _two_values(model: SimilarityModel) -> tuple[float, float, int, int]:
    """The masses of f_g and f_r where their ratio is larger, and the evidence there and elsewhere, in units."""
    edges, green, red = common_steps(model.green, model.red)
    some = (green > 0) | (red > 0)
    width, green, red = np.diff(edges)[some], green[some], red[some]
    values, which = np.unique(np.round(green / (green + red), 13), return_inverse=True)
    if len(values) > 2:
        raise ValueError(f"model must have densities whose ratio f_g/f_r takes at most two values, not {len(values)}")
    mass = [np.bincount(which, width * height) / (width @ height) for height in (green, red)]
    with np.errstate(divide="ignore"):
        evidence = np.clip(np.log(mass[0]) - np.log(mass[1]), -CERTAIN, CERTAIN)
    low, high = (int(nats) for nats in np.rint(UNIT * evidence[[0, -1]]))
    return float(mass[0][-1]), float(mass[1][-1]), high, low


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
