r"""A lower bound for all algorithms, and what remains to be asked where similarities prove answers.

The bound rests on how well similarities distinguish two clusters that a record may belong to without any question
(`crowder.counting.evidence.product_tv`). Under Dist-2, a similarity above 1 - ε proves a match and one below ε a
non-match, so some or all of the questions are unnecessary even if no error is allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.counting.expected import log_connected
from crowder.models import SimilarityModel, common_steps
from crowder.resolution import cluster_sizes

__all__ = ["certain_mass", "expected_undetermined", "prob_fully_determined", "question_bound"]


def question_bound(model: SimilarityModel, n: int, k: int, *, error: float = 0.0) -> float:
    r"""A lower bound on the expected questions of every algorithm, for some partition of n records into k clusters.

    The algorithm knows f_g, f_r, k and all similarities, may be randomised, and may err with probability at most
    `error` on each partition. With :math:`q = (1 - H^2)^4` it is the larger of

    .. math:: \max_{1 \le m \le n-k} \frac{m(k-2)}2 \Bigl[\tfrac12\Bigl(1 - \sqrt{1 - q^{1 + (m-1)/(k-1)}}\Bigr)
        - \delta\Bigr] \quad\text{and}\quad \frac{(k-2)(k+1)}2\Bigl[\tfrac12\bigl(1-\sqrt{1-q}\bigr) - \delta\Bigr].

    The first hides m records in k - 1 small clusters, the second one match among k records.

    Parameters
    ----------
    model : SimilarityModel
    n, k : int
        1 ≤ k ≤ n.
    error : float
        :math:`\delta`.

    Returns
    -------
    float
        0 for k = n, and for k ≤ 2, where similarities may determine the clustering.

    Raises
    ------
    ValueError
        If not 1 ≤ k ≤ n, or `error` is not a probability.

    Notes
    -----
    O(n). Replaces the sketch after Theorem 1 by a bound with explicit constants.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(question_bound(uniform(), 1200, 14), 1), round(question_bound(dist1(0.05), 1200, 14), 1)
    (3558.0, 1395.0)
    """
    n, k = validation.whole(n, "n"), validation.whole(k, "k")
    validation.model(model)
    validation.probability(error, "error")
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n, but {n} records cannot form {k} clusters")
    if k <= 2 or k == n:
        return 0.0
    q = (1 - model.hellinger2) ** 4
    m = np.arange(1, n - k + 1)
    hidden = m * (k - 2) / 2 * (_least_error(q ** (1 + (m - 1) / (k - 1))) - error)
    return float(max(hidden.max(), (k - 2) * (k + 1) / 2 * (_least_error(q) - error), 0.0))


def _least_error(affinity_squared: Any) -> Any:
    """A lower bound on the error probability of the best test: half of 1 - sqrt(1 - affinity²)."""
    return (1 - np.sqrt(1 - affinity_squared)) / 2


def expected_undetermined(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""Expected number of records without a determined match among the earlier records.

    .. math:: \sum_i \sum_{t=1}^{m_i} (1-p)^{t-1} = \sum_i \frac{1 - (1-p)^{m_i}}p

    with p the probability that a match is determined. Each of them can be placed with at most one question per cluster.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        Cluster sizes, positive.

    Examples
    --------
    >>> from crowder.models import dist1, dist2
    >>> expected_undetermined(dist1(0.3), [3, 2]), round(expected_undetermined(dist2(0.2), [1000, 1000]), 6)  # 1/p each
    (5.0, 8.0)
    """
    sizes = cluster_sizes(sizes)
    p = certain_mass(model)[0]
    if p == 0:
        return float(sizes.sum())
    return float(((1 - (1 - p) ** sizes) / p).sum())


def prob_fully_determined(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""The probability that the similarities determine the whole clustering without any question, if k is not given.

    Determined matches must connect every cluster, and every two clusters need a determined non-match. With p and q the
    probabilities that a match and a non-match are determined, and :math:`C(m, p)` the probability that the random graph
    G(m, p) is connected, this is

    .. math:: \prod_i C(m_i, p) \prod_{i<j} \bigl(1 - (1-q)^{m_i m_j}\bigr).

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        Cluster sizes, positive.

    Notes
    -----
    O(largest² + k²).

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(prob_fully_determined(dist2(0.2), [2, 1]), 6)  # the match, and one of two non-matches
    0.109375
    """
    sizes = cluster_sizes(sizes)
    p, q = certain_mass(model)
    if not len(sizes):
        return 1.0
    whole = np.exp(log_connected(int(sizes.max()), np.array([p]))[0])[sizes - 1]
    pairs = np.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)]
    return float(whole.prod() * (1 - (1 - q) ** pairs).prod())


def certain_mass(model: SimilarityModel) -> tuple[float, float]:
    """The probabilities that a match is determined (f_r vanishes at its similarity), and a non-match (f_g vanishes)."""
    validation.model(model)
    edges, g, r = common_steps(model.green, model.red)
    width = np.diff(edges)
    return float((width * g)[r == 0].sum()), float((width * r)[g == 0].sum())
