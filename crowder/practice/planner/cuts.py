"""The dendrogram cut: how probable it is that a merge of average linkage is right.

Average linkage joins n records in n - 1 merges, each at a height: the mean similarity between the two groups. A merge
is right if it joins records of one entity; for k entities, n - k merges are right. Hardly one pair in a hundred is a
match, but often half of the merges are right, so their two distributions can be separated better than those of pairs.

*The heights of wrong merges* can be observed without labels: shuffle every field among the records. The result has no
duplicates, although names, streets and cities are as frequent as before, so every merge of it is wrong.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from crowder import validation
from crowder.similarity.functions import compute
from crowder.validation import Seed

__all__ = ["CutDistribution", "base_similarity", "fit_cut", "linkage_tree", "shuffled_fields", "shuffled_merge_heights"]

#: Prior: the cut's height above the base is that of wrong merges times exp(SHIFT + SPREAD z), z standard normal, on
#: GRID points. Chosen by hand on labelled data (people, restaurants, citations), before the chapter measured how often
#: the intervals hold.
SHIFT, SPREAD, GRID = -0.12, 0.32, 141

#: With probability OUTLIER, the cut is instead at one of UNIFORM_GRID equally probable heights.
OUTLIER, UNIFORM_GRID = 0.03, 40

#: A cut with few merges near it is more probable. Bandwidth for counting them, as a share of 1 - base.
BANDWIDTH = 0.06

#: Widths of the transition from wrong to right around the cut, as shares of its height above the base, and their
#: prior probabilities.
WIDTHS, WIDTH_PRIOR = np.array([0.02, 0.05, 0.1, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])

#: Probability that an answer disagrees with the cut, however high or low the merge.
NOISE = 0.01

#: Most rounds of clustering and shuffling; distance of known non-matches.
ROUNDS, CANNOT_LINK = 6, 1e9


class CutDistribution(NamedTuple):
    """A probability distribution of the height at which to cut the dendrogram.

    Attributes
    ----------
    height, width, weight : ndarray, shape (g,)
        Possible cuts: a merge at height h is right with probability ``expit((h - height) / width)``. The weights are
        the probabilities of the cuts; they sum to 1.
    wrong : float
        Height that wrong merges rarely exceed.
    base : float
        Similarity of unrelated records.
    """

    height: np.ndarray
    width: np.ndarray
    weight: np.ndarray
    wrong: float
    base: float

    def draw(self, number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Heights and widths of `number` cuts, drawn by systematic sampling: two arrays (number,)."""
        points = (validation.generator(rng, "cuts").random() + np.arange(number)) / number
        order = np.argsort(self.height, kind="stable")
        at = order[np.minimum(np.searchsorted(np.cumsum(self.weight[order]), points), len(order) - 1)]
        return self.height[at], self.width[at]


def fit_cut(
    records: pd.DataFrame, name: str, similarity: Any, pairs: Any = (), same: Any = (), *, rng: Seed
) -> CutDistribution:
    r"""The posterior distribution of the cut, given the similarities and the answers so far.

    The prior density of the height t is lognormal around the height of wrong merges, times
    :math:`1/(\frac12 + n/100 + d(t))`, where d is the number of merges near t. The likelihood has one factor for each
    merge with answers (the lowest merge that joins the two records): the geometric mean of their likelihoods.

    Parameters
    ----------
    records : DataFrame
        The fields to compare, n rows.
    name : str
        The similarity function, a key of `crowder.similarity.functions.SIMILARITIES`.
    similarity : ndarray, shape (n(n-1)/2,)
        Its values for these records.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only

    Returns
    -------
    CutDistribution

    Raises
    ------
    ValueError
        For fewer than three records.

    Notes
    -----
    O(n²) time and memory for each of at most `ROUNDS` rounds. Not in the paper, where f_g and f_r are given.

    Examples
    --------
    >>> from crowder.people import people
    >>> records = people([2] * 20 + [1] * 20, rng=7)
    >>> values = compute(records, "jaccard-qgrams")
    >>> cut = fit_cut(records[["name", "street", "city", "birth"]], "jaccard-qgrams", values, rng=7)
    >>> 0.2 < cut.wrong < 0.5
    True
    """
    n = len(records)
    if n < 3:
        raise ValueError(f"records must be at least three, not {n}")
    base = base_similarity(similarity)
    tree = linkage_tree(similarity)
    merge_heights = 1 - tree[:, 2]
    wrong = _wrong_height(records, name, tree, base, validation.generator(rng, "shuffles"))
    z = np.linspace(-2.8, 2.8, GRID)
    heights = base + np.exp(SHIFT + SPREAD * z) * max(wrong - base, 0.02)
    bandwidth = BANDWIDTH * (1 - base) + 1e-9
    near = np.exp(-(((heights[:, None] - merge_heights) / bandwidth) ** 2) / 2).sum(axis=1)
    prior = _normalised(-z * z / 2 - np.log(0.5 + 0.01 * n + near)) * (1 - OUTLIER)
    anywhere = np.linspace(merge_heights.min() - 0.05, merge_heights.max(), UNIFORM_GRID)
    heights, prior = np.r_[heights, anywhere], np.r_[prior, np.full(UNIFORM_GRID, OUTLIER / UNIFORM_GRID)]
    above = np.abs(heights - base) + 0.01
    height, width = np.repeat(heights, len(WIDTHS)), np.outer(above, WIDTHS).ravel()
    log_weight = np.log(np.outer(prior, WIDTH_PRIOR)).ravel()
    if len(pairs):
        answers = np.asarray(pairs), np.asarray(same, dtype=bool)
        log_weight = log_weight + _log_likelihood(tree, n, *answers, height, width)
    return CutDistribution(height, width, _normalised(log_weight), wrong, base)


def base_similarity(similarity: Any) -> float:
    """The similarity of unrelated records: the median over all pairs, but at most 0.9.

    Examples
    --------
    >>> base_similarity([0.1, 0.2, 1.0])
    0.2
    """
    return float(min(np.median(similarity), 0.9))


def linkage_tree(similarity: Any, pairs: Any = (), same: Any = ()) -> np.ndarray:
    """The merges of average linkage, in SciPy's form, with distances 1 - w. Known matches, also those that follow by
    transitivity, are merged first, known non-matches last.

    The distance between two groups that are known to differ is a billion divided by the number of their pairs.

    Examples
    --------
    >>> linkage_tree([0.9, 0.2, 0.3], [(0, 1)], [False])[0, :2].tolist()  # 1 and 2, although 0 and 1 are more similar
    [1.0, 2.0]
    """
    distance = 1.0 - np.asarray(similarity, dtype=np.float64)
    if len(pairs) == 0:
        return linkage(distance, "average")
    n = int(np.ceil(np.sqrt(2 * len(distance))))
    pairs, same = np.asarray(pairs), np.asarray(same, dtype=bool)
    distance[_condensed_index(pairs[~same], n)] = CANNOT_LINK
    i, j = pairs[same].T
    component = connected_components(sparse.coo_array((same[same], (i, j)), shape=(n, n)), directed=False)[1]
    row, column = np.triu_indices(n, 1)
    distance[component[row] == component[column]] = -1.0
    return linkage(distance + 1.0, "average") - np.array([0, 0, 1, 0])


def shuffled_merge_heights(records: pd.DataFrame, name: str, *, rng: Seed) -> np.ndarray:
    """The merge heights of the records with shuffled fields, where every merge is wrong: (n - 1,).

    Examples
    --------
    >>> from crowder.people import people
    >>> records = people([1] * 50, rng=7)[["name", "street", "city", "birth"]]
    >>> len(shuffled_merge_heights(records, "jaccard-tokens", rng=7))
    49
    """
    return 1 - linkage_tree(compute(shuffled_fields(records, rng=rng), name))[:, 2]


def shuffled_fields(records: pd.DataFrame, *, rng: Seed) -> pd.DataFrame:
    """The records with each field shuffled separately; if there is only one field, its words are shuffled.

    Examples
    --------
    >>> shuffled_fields(pd.DataFrame({"name": ["Ann Lee", "Bo Ray Fox"]}), rng=1)["name"].tolist()
    ['Fox Ann', 'Lee Bo Ray']
    """
    rng = validation.generator(rng, "shuffles")
    if records.shape[1] > 1:
        return pd.DataFrame({field: records[field].to_numpy()[rng.permutation(len(records))] for field in records})
    (field,) = records
    words = [text.split() for text in records[field]]
    deck = np.array([word for text in words for word in text], dtype=object)
    cuts = np.cumsum([0, *map(len, words)])
    deck = deck[rng.permutation(len(deck))]
    return pd.DataFrame({field: [" ".join(deck[a:b]) for a, b in pairwise(cuts)]}, dtype="str")


def _wrong_height(records: pd.DataFrame, name: str, tree: np.ndarray, base: float, rng: np.random.Generator) -> float:
    """The height that merges of shuffled records rarely exceed. One record of each cluster is shuffled; the clusters
    are found by cutting the tree at the height of the round before."""
    n = len(records)
    height, keep = None, np.arange(n)
    for _ in range(ROUNDS if n <= 1000 else ROUNDS - 2):
        if height is not None:
            cluster = fcluster(tree, 1 - height, "distance")
            order = rng.permutation(n)
            keep = np.sort(order[np.unique(cluster[order], return_index=True)[1]])
        if len(keep) < 3:
            break
        representatives = records.iloc[keep]
        times = 2 if n <= 600 else 1
        shuffles = [np.sort(shuffled_merge_heights(representatives, name, rng=rng)) for _ in range(times)]
        heights = np.mean(shuffles, axis=0)
        before, height = height, float(0.3 * heights[-1] + 0.7 * np.quantile(heights, 0.95))
        if before is not None and abs(before - height) < 0.005:
            break
    return max(height if height is not None else (1 + base) / 2, base)


def _log_likelihood(tree: Any, n: int, pairs: Any, same: Any, height: Any, width: Any) -> np.ndarray:
    """The log-likelihood of the answers for each cut; all answers about one merge count as one answer."""
    merge_height = 1 - cophenet(tree)[_condensed_index(pairs, n)]
    merges, merge = np.unique(merge_height, return_inverse=True)
    share = np.bincount(merge, same) / np.bincount(merge)
    total = np.zeros(len(height))
    for one, yes in zip(merges, share, strict=True):
        right = NOISE + (1 - 2 * NOISE) * expit((one - height) / width)
        total += yes * np.log(right) + (1 - yes) * np.log(1 - right)
    return total


def _normalised(log_weight: np.ndarray) -> np.ndarray:
    """Weights that sum to 1, from their logarithms."""
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum()


def _condensed_index(pairs: Any, n: int) -> np.ndarray:
    """The positions of pairs in a condensed vector."""
    i, j = np.sort(np.asarray(pairs), axis=1).T
    return i * (2 * n - i - 1) // 2 + j - i - 1
