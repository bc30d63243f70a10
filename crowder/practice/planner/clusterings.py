"""Random clusterings that are plausible given the similarities and agree with every answer so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from crowder import validation
from crowder.practice.planner.cuts import CutDistribution, linkage_tree
from crowder.validation import Seed

__all__ = ["PlausibleClusterings"]

#: Number of draws.
DRAWS = 400

#: After an answer "different", a merge may be right although its height is low: in every other draw, the merges that
#: the cut rejects are right with a random probability, which is at most this on average.
MISSED = 0.05


class PlausibleClusterings:
    """Random clusterings, plausible given the similarities, that agree with every answer.

    Parameters
    ----------
    similarity : ndarray, shape (n(n-1)/2,)
        Similarities of at least two records.
    cut : CutDistribution
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only

    Attributes
    ----------
    k : ndarray of int64, shape (DRAWS,)
        Number of clusters of each draw, in increasing order.

    Notes
    -----
    Each draw accepts or rejects every merge of the constrained tree with the probability given by its height; merges
    between known matches are always accepted, merges across known non-matches never. O(n²) once, O(n) for a clustering.

    Examples
    --------
    >>> cut = CutDistribution(np.array([0.5]), np.array([0.01]), np.array([1.0]), 0.5, 0.0)
    >>> drawn = PlausibleClusterings(np.array([0.9, 0.1, 0.2]), cut, rng=7)
    >>> int(drawn.k[0]), int(drawn.k[-1]), drawn.labels(0.5).tolist()
    (2, 2, [0, 0, 1])
    """

    def __init__(self, similarity: Any, cut: CutDistribution, pairs: Any = (), same: Any = (), *, rng: Seed) -> None:
        rng = validation.generator(rng, "merges")
        self._tree = linkage_tree(similarity, pairs, same)
        merge_heights = 1 - self._tree[:, 2]
        cut_heights, widths = cut.draw(DRAWS, rng)
        self._prob = np.empty((DRAWS, len(merge_heights)))
        for d in range(DRAWS):
            self._prob[d] = expit((merge_heights - cut_heights[d]) / widths[d])
        if not np.all(same):
            self._prob += (1 - self._prob) * _missed_share(same, rng)[:, None]
        self._prob[:, merge_heights > 1.5] = 1.0  # known matches
        self._prob[:, merge_heights < -0.5] = 0.0  # known non-matches
        # A seed for each draw, so that its clustering is the same whenever it is made.
        self._seeds = rng.integers(2**63, size=DRAWS)
        k = np.array([len(merge_heights) + 1 - self._accepted(d).sum() for d in range(DRAWS)])
        self._order = np.argsort(k, kind="stable")
        self.k = k[self._order]

    def labels(self, quantile: float) -> np.ndarray:
        """The clustering at this quantile, 0 to 1, of the draws by number of clusters: labels (n,)."""
        d = self._order[min(int(quantile * DRAWS), DRAWS - 1)]
        accepted = self._accepted(d)
        n = len(accepted) + 1
        label = np.arange(n)
        # A group whose merges were partly rejected has several clusters; its largest takes part in the next merge.
        largest, members = list(range(n)), {v: [v] for v in range(n)}
        for merge, (a, b) in enumerate(self._tree[:, :2].astype(int).tolist()):
            x, y = sorted((largest[a], largest[b]), key=lambda c: -len(members[c]))
            if accepted[merge]:
                members[x] += members.pop(y)
            largest.append(x)
        for name, cluster in enumerate(members.values()):
            label[cluster] = name
        return label

    def _accepted(self, d: int) -> np.ndarray:
        return np.random.default_rng(self._seeds[d]).random(self._prob.shape[1]) < self._prob[d]


def _missed_share(same: Any, rng: np.random.Generator) -> np.ndarray:
    """For each draw, the probability that a rejected merge is right; smaller, the longer no answer has been "same"."""
    trailing = len(same) - int(np.max(np.flatnonzero(same), initial=-1)) - 1
    return np.minimum(rng.exponential(1 / (1 / MISSED + trailing), DRAWS), 1.0) * (np.arange(DRAWS) % 2)
