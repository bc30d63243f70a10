"""Synthetic candidate pairs, as left by blocking: many records, and memory proportional to the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.pairs import MOST_RECORDS
from crowder.resolution import cluster_sizes

if TYPE_CHECKING:
    from crowder.models import SimilarityModel

__all__ = ["synthetic_candidates"]


def synthetic_candidates(
    sizes: Sequence[int], pairs: int, model: SimilarityModel, *, rng: int | np.random.Generator
) -> tuple[sparse.coo_array, np.ndarray]:
    """Clusters of given sizes, with all matching pairs and random others as candidates, `pairs` in total.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters, each at least 1.
    pairs : int
        Number of candidate pairs.
    model : SimilarityModel
        Similarities are drawn from f_g within clusters, from f_r between them.
    rng : int or numpy.random.Generator, keyword only
        Shuffles the records, chooses the non-matching pairs, and draws the similarities.

    Returns
    -------
    similarity : scipy.sparse.coo_array, shape (n, n)
        One value for each candidate pair, above the diagonal; the pairs by increasing (i, j).
    labels : ndarray of int64, shape (n,)
        Cluster of each record.

    Raises
    ------
    ValueError
        If `pairs` is less than the number of matching pairs or more than the number of all pairs, or a size is not a
        positive integer.

    See Also
    --------
    crowder.datasets.synthetic : the same with every pair as a candidate.

    Notes
    -----
    O(n + m log m) time and O(n + m) memory for m candidate pairs.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> similarity, labels = synthetic_candidates([3, 2, 1], 8, dist1(0.2), rng=7)
    >>> similarity.shape, similarity.nnz, int((labels[similarity.row] == labels[similarity.col]).sum())
    ((6, 6), 8, 4)
    """
    sizes, model = cluster_sizes(sizes), validation.model(model)
    rng = validation.generator(rng, "pairs and similarities")
    pairs = validation.whole(pairs, "the number of candidate pairs")
    n = int(sizes.sum())
    matching = int((sizes * (sizes - 1) // 2).sum())
    if not matching <= pairs <= n * (n - 1) // 2:
        raise ValueError(f"pairs must be from {matching} (the matches) to {n * (n - 1) // 2} (all pairs), not {pairs}")
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng.shuffle(labels)
    codes = np.concatenate([_inside(labels, sizes), _across(labels, pairs - matching, rng)])
    codes.sort()
    i, j = (codes >> 32).astype(np.int32), (codes & MOST_RECORDS).astype(np.int32)
    del codes
    match = labels[i] == labels[j]
    values = np.empty(pairs)
    values[match] = model.green.sample(matching, rng=rng)
    values[~match] = model.red.sample(pairs - matching, rng=rng)
    return sparse.coo_array((values, (i, j)), shape=(n, n)), labels


def _inside(labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Every pair within a cluster, packed as ``i << 32 | j``."""
    members = np.argsort(labels, kind="stable")  # cluster after cluster, each in increasing order
    starts = np.cumsum(sizes) - sizes
    found = [np.empty(0, np.int64)]
    for size in np.unique(sizes):
        rows = members[starts[sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        found.append(((rows[:, a] << 32) | rows[:, b]).ravel())
    return np.concatenate(found)


def _across(labels: np.ndarray, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random set of the wanted number of pairs between clusters, packed."""
    n = len(labels)
    if n * (n - 1) // 2 <= 4 * wanted + 1000:  # a large share of all pairs: list them
        i, j = np.triu_indices(n, 1)
        apart = labels[i] != labels[j]
        return rng.choice((i[apart] << 32) | j[apart], wanted, replace=False)
    codes = np.empty(0, np.int64)
    while (missing := wanted - len(codes)) > 0:
        i, j = rng.integers(0, n, (2, missing + missing // 4 + 16))
        apart = labels[i] != labels[j]
        drawn = (np.minimum(i, j)[apart] << 32) | np.maximum(i, j)[apart]
        codes = np.concatenate([codes, drawn])
        codes.sort()
        codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
    return codes if len(codes) == wanted else rng.permutation(codes)[:wanted]
