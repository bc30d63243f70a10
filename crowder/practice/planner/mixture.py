r"""Which merges are right? What similarities alone, and later the answers, say of the level that parts matches off.

Average linkage joins n records in n - 1 merges, each at a height: the mean similarity of the two groups. A merge is
right if it stays inside an entity, and k entities make n - k right ones. Of pairs hardly one in a hundred is a match;
of merges many are, so their mixture can be told apart where that of the pairs cannot.

*What wrong merges look like* is seen without a label: shuffle every field among the records, and nobody is a duplicate
any more, though names, streets and cities are as frequent as ever. Whatever merges then, merges by accident.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.special import expit

from crowder import validation
from crowder.similarity.functions import compute
from crowder.validation import Seed

__all__ = ["Levels", "accidental_heights", "base", "fit_levels", "shuffled", "tree"]

#: A guess at the level is the one that accidents suggest, times exp(SHIFT + SPREAD z), z standard normal. Set by hand
#: on labelled data (people, restaurants, citations) before the chapter measured how often the intervals hold.
SHIFT, SPREAD, GRID = -0.12, 0.32, 141

#: Besides, any level may be the one, with this probability in all: ANYWHERE of them, evenly over the heights.
ODD, ANYWHERE = 0.03, 40

#: A level in a valley of the merge heights is likelier; how wide a valley is, as a share of what lies above the base.
VALLEY = 0.06

#: How softly right passes into wrong around the level, as a share of the way from the base to it, and how likely it is.
SOFT, SOFTLY = np.array([0.02, 0.05, 0.1, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])

#: Chance that an answer has nothing to do with the level.
STRAY = 0.01

#: Rounds of clustering and shuffling, and similarity that no two records have: known matches above, others below.
ROUNDS, APART = 6, 1e9


class Levels(NamedTuple):
    """Levels with their softness, and how probable each is.

    Attributes
    ----------
    level, soft, weight : ndarray, shape (g,)
        A merge at height h is right with probability ``expit((h - level) / soft)``; the weights sum to one.
    accident : float
        The level that accidents suggest.
    base : float
        Similarity of records that have nothing to do with each other.
    """

    level: np.ndarray
    soft: np.ndarray
    weight: np.ndarray
    accident: float
    base: float

    def draw(self, number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """As many levels, with their softness, by systematic sampling: two arrays (number,)."""
        points = (validation.generator(rng, "levels").random() + np.arange(number)) / number
        order = np.argsort(self.level, kind="stable")
        at = order[np.minimum(np.searchsorted(np.cumsum(self.weight[order]), points), len(order) - 1)]
        return self.level[at], self.soft[at]


def fit_levels(
    records: pd.DataFrame, name: str, similarity: Any, pairs: Any = (), same: Any = (), *, rng: Seed
) -> Levels:
    r"""How probable each level is, by the similarities and by the answers so far.

    The prior is lognormal around the level that accidents suggest; a level :math:`t` gets the weight
    :math:`1/(\frac12 + n/100 + d(t))`, d the number of merges near it; each merge that answers tell about (the lowest
    that joins the two records) counts once, by the mean log-likelihood of its answers.

    Parameters
    ----------
    records : DataFrame
        The fields that are compared, n rows.
    name : str
        The similarity function, a key of `crowder.similarity.functions.SIMILARITIES`.
    similarity : ndarray, shape (n(n-1)/2,)
        Its values on these records.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only

    Returns
    -------
    Levels

    Raises
    ------
    ValueError
        For fewer than three records.

    Notes
    -----
    O(n²) time and memory a round; at most `ROUNDS` rounds. Not in the paper, which takes f_g and f_r as they come.

    Examples
    --------
    >>> from crowder.practice.planner.people import people
    >>> records = people([2] * 20 + [1] * 20, rng=7)
    >>> values = compute(records, "jaccard-qgrams")
    >>> levels = fit_levels(records[["name", "street", "city", "birth"]], "jaccard-qgrams", values, rng=7)
    >>> 0.2 < levels.accident < 0.5
    True
    """
    n = len(records)
    if n < 3:
        raise ValueError(f"a level needs three records, not {n}")
    low = base(similarity)
    joined = tree(similarity)
    heights = 1 - joined[:, 2]
    accident = _accident(records, name, joined, low, validation.generator(rng, "shuffles"))
    z = np.linspace(-2.8, 2.8, GRID)
    levels = low + np.exp(SHIFT + SPREAD * z) * max(accident - low, 0.02)
    wide = VALLEY * (1 - low) + 1e-9
    near = np.exp(-(((levels[:, None] - heights) / wide) ** 2) / 2).sum(axis=1)
    weigh = _normal(-z * z / 2 - np.log(0.5 + 0.01 * n + near)) * (1 - ODD)
    anywhere = np.linspace(heights.min() - 0.05, heights.max(), ANYWHERE)
    levels, weigh = np.r_[levels, anywhere], np.r_[weigh, np.full(ANYWHERE, ODD / ANYWHERE)]
    way = np.abs(levels - low) + 0.01
    level, soft = np.repeat(levels, len(SOFT)), np.outer(way, SOFT).ravel()
    weigh = np.log(np.outer(weigh, SOFTLY)).ravel()
    if len(pairs):
        weigh = weigh + _likelihood(joined, n, np.asarray(pairs), np.asarray(same, dtype=bool), level, soft)
    return Levels(level, soft, _normal(weigh), accident, low)


def base(similarity: Any) -> float:
    """The similarity of records that have nothing to do with each other: the median of all, at most 0.9.

    Examples
    --------
    >>> base([0.1, 0.2, 1.0])
    0.2
    """
    return float(min(np.median(similarity), 0.9))


def tree(similarity: Any, pairs: Any = (), same: Any = ()) -> np.ndarray:
    """Average linkage in SciPy's form, of distances 1 - w; known matches join first, known non-matches never.

    Two groups that are known to differ have a distance of a billion, divided among their pairs: far more than 1.

    Examples
    --------
    >>> tree([0.9, 0.2, 0.3], [(0, 1)], [False])[0, :2].tolist()  # 1 and 2, though 0 and 1 are more alike
    [1.0, 2.0]
    """
    distance = 1.0 - np.asarray(similarity, dtype=np.float64)
    if len(pairs) == 0:
        return linkage(distance, "average")
    n = int(np.ceil(np.sqrt(2 * len(distance))))
    distance[_places(pairs, n)] = np.where(same, -1.0, APART)
    return linkage(distance + 1.0, "average") - np.array([0, 0, 1, 0])


def accidental_heights(records: pd.DataFrame, name: str, *, rng: Seed) -> np.ndarray:
    """Heights at which records merge that are nobody's duplicates, (n - 1,): those of shuffled fields.

    Examples
    --------
    >>> from crowder.practice.planner.people import people
    >>> records = people([1] * 50, rng=7)[["name", "street", "city", "birth"]]
    >>> len(accidental_heights(records, "jaccard-tokens", rng=7))
    49
    """
    return 1 - tree(compute(shuffled(records, rng=rng), name))[:, 2]


def shuffled(records: pd.DataFrame, *, rng: Seed) -> pd.DataFrame:
    """The records with every field shuffled by itself; of a single field, its words.

    Examples
    --------
    >>> shuffled(pd.DataFrame({"name": ["Ann Lee", "Bo Ray Fox"]}), rng=1)["name"].tolist()
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


def _accident(records: pd.DataFrame, name: str, joined: np.ndarray, low: float, rng: np.random.Generator) -> float:
    """The level above which merges are hardly accidents: of shuffled records, one of each cluster that it makes."""
    n = len(records)
    level, keep = None, np.arange(n)
    for _ in range(ROUNDS if n <= 1000 else ROUNDS - 2):
        if level is not None:
            part = fcluster(joined, 1 - level, "distance")
            mixed = rng.permutation(n)
            keep = np.sort(mixed[np.unique(part[mixed], return_index=True)[1]])
        if len(keep) < 3:
            break
        one = records.iloc[keep]
        times = 2 if n <= 600 else 1
        heights = np.mean([np.sort(accidental_heights(one, name, rng=rng)) for _ in range(times)], axis=0)
        before, level = level, float(0.3 * heights[-1] + 0.7 * np.quantile(heights, 0.95))
        if before is not None and abs(before - level) < 0.005:
            break
    return max(level if level is not None else (1 + low) / 2, low)


def _likelihood(joined: Any, n: int, pairs: Any, same: Any, level: Any, soft: Any) -> np.ndarray:
    """For each level the log-likelihood of the answers, every merge that they tell about counted once."""
    height = 1 - cophenet(joined)[_places(pairs, n)]
    at, merge = np.unique(height, return_inverse=True)
    share = np.bincount(merge, same) / np.bincount(merge)
    total = np.zeros(len(level))
    for one, yes in zip(at, share, strict=True):
        right = STRAY + (1 - 2 * STRAY) * expit((one - level) / soft)
        total += yes * np.log(right) + (1 - yes) * np.log(1 - right)
    return total


def _normal(weigh: np.ndarray) -> np.ndarray:
    """Weights that sum to one, from their logarithms."""
    weight = np.exp(weigh - weigh.max())
    return weight / weight.sum()


def _places(pairs: Any, n: int) -> np.ndarray:
    """Where pairs stand in a condensed vector."""
    i, j = np.sort(np.asarray(pairs), axis=1).T
    return i * (2 * n - i - 1) // 2 + j - i - 1
