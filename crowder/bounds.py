r"""The paper's upper bounds on the expected number of questions, as printed and as corrected (Theorems 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes
from crowder.theory import L

__all__ = ["edge_bound", "node_bound"]


def edge_bound(model: SimilarityModel, sizes: Sequence[int]) -> float:
    r"""The bound of Theorem 2 for edge ordering, as printed.

    .. math:: n + \min_{1\le s\le n}\Bigl[\binom k2 s^2 + n\sum_{i=1}^k\sum_{\ell=s}^{|V_i|} \ell\,
        L_{g,r}\bigl(\tbinom\ell2\bigr)\Bigr]

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes :math:`|V_i|`, each at least 1.

    Returns
    -------
    float

    Notes
    -----
    O(largest size). Beyond the largest cluster the inner sums are empty and the bracket only grows with s.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> edge_bound(uniform(), [1, 1])  # two records; s = 2 leaves 4 · C(2, 2)
    6.0
    """
    sizes = cluster_sizes(sizes)
    if not len(sizes):
        return 0.0
    n, k, largest = int(sizes.sum()), len(sizes), int(sizes.max())
    ell = np.arange(1, largest + 1)
    terms = ell * L(model, ell * (ell - 1) / 2)
    # How many clusters have a term in ℓ.
    clusters = (sizes[:, None] >= ell).sum(axis=0)
    tail = np.append(np.cumsum((terms * clusters)[::-1])[::-1], 0.0)
    s = np.arange(1, largest + 2)
    inside = s <= n
    return float(n + np.min((comb(k, 2) * s**2 + n * tail)[inside]))


def node_bound(model: SimilarityModel, sizes: Sequence[int], *, printed: bool = True) -> float:
    r"""The bound of Theorem 3 for node ordering.

    As printed, :math:`n + \sum_{i=1}^k \sum_{s=1}^{|V_i|} \min\{k, (n-|V_i|)\,L_{g,r}(s)\}`. A record that finds s of
    its cluster placed counts L(s); the first of a cluster finds none, so the sum has to run over
    :math:`s = 0, \dots, |V_i|-1`, with :math:`k - 1` other clusters to be asked about.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes :math:`|V_i|`, each at least 1.
    printed : bool
        The printed sum, or the corrected one.

    Returns
    -------
    float

    Notes
    -----
    O(largest size + k).

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(node_bound(dist2(0.4), [2, 2, 2, 2]), 2)  # less than the ideal count, which is 10
    9.63
    """
    sizes = cluster_sizes(sizes)
    if not len(sizes):
        return 0.0
    n, k = int(sizes.sum()), len(sizes)
    first = 1 if printed else 0
    most = k if printed else k - 1
    total = float(n)
    for size, many in zip(*np.unique(sizes, return_counts=True), strict=True):
        s = np.arange(first, size + first)
        total += int(many) * float(np.minimum(most, (n - size) * L(model, s)).sum())
    return total
