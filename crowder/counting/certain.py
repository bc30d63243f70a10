r"""Similarities that prove something: values that only a match can have, or only a non-match.

Under Dist-2 a similarity above 1 - ε proves a match and one below ε proves a non-match, so even whoever must never err
can do without some of the questions, or without any.
"""

from __future__ import annotations

import numpy as np

from crowder import checked
from crowder.asking.resolution import cluster_sizes
from crowder.counting.connectivity import connected
from crowder.model.densities import _common
from crowder.model.models import SimilarityModel

__all__ = ["alone", "certain_mass", "unvouched"]


def certain_mass(model: SimilarityModel) -> tuple[float, float]:
    """How often a match proves itself (f_r vanishes where its similarity lies), and a non-match (f_g does).

    Examples
    --------
    >>> from crowder.model.models import dist1, dist2
    >>> certain_mass(dist1(0.3)), [round(mass, 12) for mass in certain_mass(dist2(0.2))]
    ((0.0, 0.0), [0.25, 0.25])
    """
    checked.model(model)
    width, g, r = _common(model.green, model.red)
    return float((width * g)[r == 0].sum()), float((width * r)[g == 0].sum())


def unvouched(model: SimilarityModel, sizes) -> float:
    r"""Expected number of records that no earlier record vouches for: whose matches with those before prove nothing.

    .. math:: \sum_i \sum_{t=1}^{m_i} (1-p)^{t-1} = \sum_i \frac{1 - (1-p)^{m_i}}p

    with p the probability that a match proves itself. At most one question a cluster places each of them.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        Cluster sizes, positive.

    Examples
    --------
    >>> from crowder.model.models import dist1, dist2
    >>> unvouched(dist1(0.3), [3, 2]), round(unvouched(dist2(0.2), [1000, 1000]), 6)  # 1/p each
    (5.0, 8.0)
    """
    sizes = cluster_sizes(sizes)
    p = certain_mass(model)[0]
    if p == 0:
        return float(sizes.sum())
    return float(((1 - (1 - p) ** sizes) / p).sum())


def alone(model: SimilarityModel, sizes) -> float:
    r"""The probability that the similarities alone prove the whole clustering to someone who is not told k.

    Proved matches must connect every cluster, and every two clusters must hold a proved non-match. With p and q the
    probabilities that a match and a non-match prove themselves, and :math:`C(m, p)` the chance that the random graph
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
    >>> from crowder.model.models import dist2
    >>> round(alone(dist2(0.2), [2, 1]), 6)  # one match proved, one of two non-matches
    0.109375
    """
    sizes = cluster_sizes(sizes)
    p, q = certain_mass(model)
    if not len(sizes):
        return 1.0
    whole = connected(int(sizes.max()), p)[sizes - 1]
    pairs = np.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)]
    return float(whole.prod() * (1 - (1 - q) ** pairs).prod())
