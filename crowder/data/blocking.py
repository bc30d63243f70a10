"""Many records of which only some pairs are candidates, as a blocking step leaves them, in memory for those pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from crowder import checked
from crowder.asking.pairs import MOST_RECORDS
from crowder.asking.resolution import cluster_sizes

if TYPE_CHECKING:
    from crowder.model.models import SimilarityModel

__all__ = ["blocked"]


def blocked(
    sizes: Sequence[int], pairs: int, model: SimilarityModel, *, rng: int | np.random.Generator
) -> tuple[sparse.coo_array, np.ndarray]:
    """Clusters of given sizes with every matching pair a candidate, and so many random others that there are `pairs`.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters, each at least 1.
    pairs : int
        Number of candidate pairs.
    model : SimilarityModel
        Similarities are drawn from f_g inside a cluster, from f_r across.
    rng : int or numpy.random.Generator, keyword only
        Shuffles the records, chooses the pairs across clusters, and draws the similarities.

    Returns
    -------
    similarity : scipy.sparse.coo_array, shape (n, n)
        One value a candidate pair, above the diagonal; the pairs by rising (i, j).
    labels : ndarray of int64, shape (n,)
        Cluster of each record.

    Raises
    ------
    ValueError
        If there are more matching pairs than candidates, or fewer pairs than that; if a size is not a positive integer.

    Notes
    -----
    O(n + m log m) time and O(n + m) memory for m candidate pairs, never n². `crowder.datasets.synthetic` has every
    pair.

    Examples
    --------
    >>> from crowder.model.models import dist1
    >>> similarity, labels = blocked([3, 2, 1], 8, dist1(0.2), rng=7)
    >>> similarity.shape, similarity.nnz, int((labels[similarity.row] == labels[similarity.col]).sum())
    ((6, 6), 8, 4)
    """
    sizes, rng, model = cluster_sizes(sizes), checked.generator(rng, "pairs and similarities"), checked.model(model)
    pairs = checked.whole(pairs, "the number of candidate pairs")
    n = int(sizes.sum())
    if n > MOST_RECORDS:
        raise ValueError(f"at most {MOST_RECORDS} records, not {n}")
    matching = int((sizes * (sizes - 1) // 2).sum())
    if not matching <= pairs <= n * (n - 1) // 2:
        raise ValueError(f"{matching} of {n * (n - 1) // 2} pairs match; there cannot be {pairs} candidates")
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
    """Every pair inside a cluster, packed as ``i << 32 | j``."""
    members = np.argsort(labels, kind="stable")  # cluster after cluster, each in rising order
    starts = np.cumsum(sizes) - sizes
    found = [np.empty(0, np.int64)]
    for size in np.unique(sizes):
        rows = members[starts[sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        found.append(((rows[:, a] << 32) | rows[:, b]).ravel())
    return np.concatenate(found)


def _across(labels: np.ndarray, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """So many different pairs across clusters, packed, each set of them as likely as another."""
    n = len(labels)
    if n * (n - 1) // 2 <= 4 * wanted + 1000:  # a good part of all: list them
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
