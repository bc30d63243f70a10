r"""Pairs determined by their similarity: values that only a match can have, or only a non-match.

Under Dist-2 a similarity above 1 - ε proves a match and one below ε proves a non-match, so some or all of the questions
are unnecessary even if no error is allowed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.counting.random_graphs import connected
from crowder.densities import common_steps
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

__all__ = ["certain_mass", "expected_undetermined", "prob_fully_determined"]


def certain_mass(model: SimilarityModel) -> tuple[float, float]:
    """The probabilities that a match is determined (f_r vanishes at its similarity), and a non-match (f_g vanishes).

    Examples
    --------
    >>> from crowder.models import dist1, dist2
    >>> certain_mass(dist1(0.3)), [round(mass, 12) for mass in certain_mass(dist2(0.2))]
    ((0.0, 0.0), [0.25, 0.25])
    """
    validation.model(model)
    edges, g, r = common_steps(model.green, model.red)
    width = np.diff(edges)
    return float((width * g)[r == 0].sum()), float((width * r)[g == 0].sum())


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
    whole = connected(int(sizes.max()), p)[sizes - 1]
    pairs = np.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)]
    return float(whole.prod() * (1 - (1 - q) ** pairs).prod())
