r"""Evidence ordering by records, with known densities: the exact expected number of questions.

A record is compared with the clusters so far in decreasing order of summed evidence (`crowder.EvidenceOrdering` in the
form "records"). Whether another cluster comes before its own depends on two independent sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from crowder import validation
from crowder.counting.lower_bounds import evidence
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

__all__ = ["expected_evidence_queries", "prob_wrong_first"]

#: Sums of logarithms that are equal may differ by a rounding error.
EQUAL = 1e-9


def prob_wrong_first(model: SimilarityModel, right: int, wrong: int) -> np.ndarray:
    r"""The probability that a record is compared with a cluster of t others before its own cluster of s records.

    .. math:: W(s, t) = \Pr(E'_t > E_s) + \frac t{s+t} \Pr(E'_t = E_s)

    for the evidence :math:`E_s`, the sum of :math:`\ln f_g/f_r` at s similarities drawn from f_g, and :math:`E'_t` at
    t drawn from f_r. Under Dist-1 both are determined by binomial numbers of similarities above ½.

    Parameters
    ----------
    model : SimilarityModel
    right, wrong : int
        The largest s and t, at least 0.

    Returns
    -------
    ndarray of float64, shape (right + 1, wrong + 1)
        Row s, column t. W(s, 0) = 0, since there is nothing to ask; W(0, t) = 1 for t ≥ 1.

    Raises
    ------
    ValueError
        If a number is negative, or the evidence has too many values (`crowder.counting.lower_bounds.evidence`).
    TypeError
        If a number is not whole.

    See Also
    --------
    crowder.counting.arrival_orders.prob_nonmatch_first : the same for node ordering, which compares maxima.

    Notes
    -----
    Of two clusters with equal evidence, the one whose first record arrived first is taken. In random order, the first
    of s + t records belongs to the wrong cluster with probability t/(s + t). If f_g/f_r takes c values, a sum of t has
    :math:`O(t^{c-1})`; the cost is that of comparing all pairs of sums.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> prob_wrong_first(uniform(), 2, 2)  # without information, all evidence is 0: t / (s + t)
    array([[0.        , 1.        , 1.        ],
           [0.        , 0.5       , 0.66666667],
           [0.        , 0.33333333, 0.5       ]])
    >>> round(float(prob_wrong_first(dist1(0.5), 1, 1)[1, 1]), 9)  # 1/16 that both votes are wrong, 6/16 for a tie
    0.25
    """
    right, wrong = validation.whole(right, "right"), validation.whole(wrong, "wrong")
    validation.model(model)
    result = np.zeros((right + 1, wrong + 1))
    result[0, 1:] = 1.0
    outcomes = [evidence(model, size) for size in range(max(right, wrong) + 1)]
    for t in range(1, wrong + 1):
        other, _, mass = outcomes[t]
        above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)  # the mass from each value up
        for s in range(1, right + 1):
            own, chance, _ = outcomes[s]
            near = np.where(np.isfinite(own), EQUAL, 0.0)
            more = above[np.searchsorted(other, own + near, "right")]
            as_much = above[np.searchsorted(other, own - near, "left")]
            result[s, t] = chance @ (more + t / (s + t) * (as_much - more))
    return result


def expected_evidence_queries(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""The expected number of questions of evidence ordering by records, in random order, with known densities.

    .. math:: E[Q] = (n - k) + \sum_{i\ne j} m_i \sum_{s=0}^{m_i-1} \sum_{t=1}^{m_j}
        \frac{\binom{m_i-1}s \binom{m_j}t}{(m_i + m_j) \binom{m_i+m_j-1}{s+t}}\, W(s, t) .

    The fraction is the probability that s records of its own cluster, and t of another, have arrived before a record,
    and W is `prob_wrong_first`.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes, each at least 1; any order.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a size is not a positive integer, or the evidence has too many values.

    See Also
    --------
    crowder.EvidenceOrdering : the ordering.
    crowder.evidence_bound : a bound on this number, in closed form.
    crowder.expected_queries : both heuristics of the paper.

    Notes
    -----
    If f_g/f_r takes two values, O(m³ log m) for a largest cluster of m: a second for hundreds. Not in the paper. The
    ordering rounds evidence to multiples of 2⁻²⁰ nat; where a ratio is closer to 1 than that, it has ties that the sums
    here have not.

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


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
