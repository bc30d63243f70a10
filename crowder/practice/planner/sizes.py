"""Plausible clusters: merges accepted or not, as the levels have it, with every answer so far kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from crowder import validation
from crowder.practice.planner.mixture import Levels, tree
from crowder.validation import Seed

__all__ = ["Clusterings"]

#: Draws of the number of clusters.
DRAWS = 400

#: Once an answer was "different": some open merges may be right whatever their height says. Every other
#: draw has none of them, the rest this share on average.
LEFT = 0.05


class Clusterings:
    """Clusterings that agree with the similarities, as far as they tell, and with every answer.

    Parameters
    ----------
    similarity : ndarray, shape (n(n-1)/2,)
        Of at least two records.
    levels : Levels
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only

    Attributes
    ----------
    k : ndarray of int64, shape (DRAWS,)
        Numbers of clusters, rising: each a draw.

    Notes
    -----
    A merge of the constrained tree is right with the probability that its height gives it (one between records known
    to match for certain, one across records known to differ never). O(n²) once, O(n) a clustering.

    Examples
    --------
    >>> levels = Levels(np.array([0.5]), np.array([0.01]), np.array([1.0]), 0.5, 0.0)
    >>> some = Clusterings(np.array([0.9, 0.1, 0.2]), levels, rng=7)
    >>> int(some.k[0]), int(some.k[-1]), some.labels(0.5).tolist()
    (2, 2, [0, 0, 1])
    """

    def __init__(self, similarity: Any, levels: Levels, pairs: Any = (), same: Any = (), *, rng: Seed) -> None:
        rng = validation.generator(rng, "merges")
        self._tree = tree(similarity, pairs, same)
        height = 1 - self._tree[:, 2]
        level, soft = levels.draw(DRAWS, rng)
        self._chance = np.empty((DRAWS, len(height)))
        for d in range(DRAWS):
            self._chance[d] = expit((height - level[d]) / soft[d])
        if not np.all(same):
            self._chance += (1 - self._chance) * _left(same, rng)[:, None]
        self._chance[:, height > 1.5] = 1.0
        self._chance[:, height < -0.5] = 0.0
        # One uniform number a draw and merge, the same for its count and its labels.
        self._seeds = rng.integers(2**63, size=DRAWS)
        k = np.array([len(height) + 1 - self._accepted(d).sum() for d in range(DRAWS)])
        self._order = np.argsort(k, kind="stable")
        self.k = k[self._order]

    def labels(self, quantile: float) -> np.ndarray:
        """The clustering at this place, 0 to 1, among the draws by number of clusters: labels (n,)."""
        d = self._order[min(int(quantile * DRAWS), DRAWS - 1)]
        accepted = self._accepted(d)
        n = len(accepted) + 1
        label = np.arange(n)
        # Of a group that holds several clusters, the largest is the one that goes on to merge.
        front, members = list(range(n)), {v: [v] for v in range(n)}
        for merge, (a, b) in enumerate(self._tree[:, :2].astype(int).tolist()):
            x, y = sorted((front[a], front[b]), key=lambda c: -len(members[c]))
            if accepted[merge]:
                members[x] += members.pop(y)
            front.append(x)
        for name, group in enumerate(members.values()):
            label[group] = name
        return label

    def _accepted(self, d: int) -> np.ndarray:
        return np.random.default_rng(self._seeds[d]).random(self._chance.shape[1]) < self._chance[d]


def _left(same: Any, rng: np.random.Generator) -> np.ndarray:
    """A share for each draw; the longer no answer has been "same", the smaller it is."""
    trailing = len(same) - int(np.max(np.flatnonzero(same), initial=-1)) - 1
    return np.minimum(rng.exponential(1 / (1 / LEFT + trailing), DRAWS), 1.0) * (np.arange(DRAWS) % 2)
