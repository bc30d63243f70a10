"""The result of a run, and its recall and precision after each question."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks
from crowder.checks import Shown, compiled

__all__ = ["Resolution", "cluster_sizes", "ideal_queries", "ideal_recall"]


@dataclass(frozen=True, repr=False)
class Resolution(Shown):
    """The questions of a run in order, their answers, and the clusters that follow from them.

    The arrays are copies of what is given, and cannot be changed.

    Attributes
    ----------
    queries : ndarray of int64, shape (q, 2)
        The pairs asked, in order; a ValueError if one is not of two of the n records, a TypeError if it is not of whole
        numbers.
    answers : ndarray of bool, shape (q,)
        True for a match; a ValueError if they are not as many, a TypeError if they are not booleans.
    clusters : ndarray of int64, shape (n,)
        Cluster of each record, numbered in order of their first record; a ValueError if one is missing.

    See Also
    --------
    crowder.ideal_recall : the recall that no algorithm can exceed.

    Examples
    --------
    >>> resolution = Resolution([[0, 1], [1, 2]], [True, False], [4, 4, 2])
    >>> resolution.n_queries, resolution.n_matches, resolution.clusters
    (2, 1, array([0, 0, 1]))
    """

    queries: np.ndarray
    answers: np.ndarray
    clusters: np.ndarray

    def __post_init__(self) -> None:
        clusters: Any = self.clusters
        if not isinstance(clusters, np.ndarray) or clusters.ndim != 1 or clusters.dtype.kind not in "iu":
            clusters = checks.labels(clusters)
        queries = checks.pairs(self.queries, len(clusters), "queries")
        answers = checks.flags(self.answers, len(queries), "answers")
        self._keep(queries=queries, answers=answers, clusters=by_first_record(clusters))

    def _keep(self, **arrays: np.ndarray) -> None:
        for name, array in arrays.items():
            object.__setattr__(self, name, checks.owned(array))

    def __reduce__(self) -> tuple:
        """Copies and results from other processes are checked again: NumPy makes their arrays writeable."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def _facts(self) -> dict[str, Any]:
        return {"records": len(self.clusters), "clusters": len(np.unique(self.clusters)), "questions": self.n_queries}

    @property
    def n_queries(self) -> int:
        """Number of questions asked."""
        return len(self.queries)

    @property
    def n_matches(self) -> int:
        """Number of questions answered "same": the edges of a forest that spans the clusters."""
        return int(self.answers.sum())

    def recall(self, labels: ArrayLike) -> np.ndarray:
        """Share of the truly matching pairs that the answers have established, after each question (n_queries + 1,).

        ``recall[0]`` is the recall before any question; all are ones if the true labels (n,) have no matching pair. A
        pair is established when its records are in the same component, so wrong merges do not lower recall; they lower
        `precision`. O(q + n log n). A ValueError if there is not one label for each record.

        Examples
        --------
        >>> Resolution([[0, 1], [1, 2]], [True, True], [0, 0, 0]).recall([5, 5, 5])
        array([0.        , 0.33333333, 1.        ])
        """
        right, _, total = self._pairs(labels)
        return right / total if total else np.ones(self.n_queries + 1)

    def precision(self, labels: ArrayLike) -> np.ndarray:
        """Share of truly matching pairs among those that the answers have joined, after each question (n_queries + 1,).

        The precision is 1 as long as no pair is joined. A pair is joined when its records are in the same component,
        whether or not it was asked about: one wrong match between components of a and b records joins ab pairs. Cost
        and errors as for `recall`.

        Examples
        --------
        >>> Resolution([[0, 1], [2, 1]], [True, True], [0, 0, 0]).precision([5, 5, 6])
        array([1.        , 1.        , 0.33333333])
        """
        right, joined, _ = self._pairs(labels)
        return np.divide(right, joined, out=np.ones_like(right), where=joined > 0)

    def _pairs(self, labels: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """After each question: matching pairs inside components, all pairs inside components; all matching pairs."""
        codes = checks.labels(labels, len(self.clusters))
        sizes = np.bincount(codes)
        right, joined = _newly_joined(self.queries, self.answers, codes)
        return np.cumsum(right), np.cumsum(joined), int((sizes * (sizes - 1) // 2).sum())


@compiled
def _newly_joined(queries: np.ndarray, answers: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Before any question and with each: matching pairs that come into a component, and all such pairs."""
    n = len(labels)
    right, joined = np.zeros(len(queries) + 1), np.zeros(len(queries) + 1)
    component, ring, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    count = {np.int64(0): np.int64(0)}  # component and label, in one number: how many records
    for v in range(n):
        count[v * n + labels[v]] = np.int64(1)
    for q in np.flatnonzero(answers):
        a, b = component[queries[q, 0]], component[queries[q, 1]]
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        for again in (False, True):  # count all the pairs before the components are joined
            member = b
            for _ in range(size[b]):
                key = a * n + labels[member]
                if again:
                    count[key] = count.get(key, np.int64(0)) + np.int64(1)
                    component[member] = a
                else:
                    right[q + 1] += count.get(key, 0)
                member = ring[member]
        joined[q + 1] = size[a] * size[b]
        size[a] += size[b]
        ring[a], ring[b] = ring[b], ring[a]
    return right, joined


def cluster_sizes(sizes: ArrayLike) -> np.ndarray:
    """Cluster sizes as an array of integers, or a ValueError if one is not a positive integer."""
    array = checks.as_array(sizes, "cluster sizes")
    if array.ndim != 1 or (len(array) and (array.dtype.kind not in "iu" or (array < 1).any())):
        raise ValueError(f"cluster sizes must be positive integers, not {sizes!r}")
    if len(array) and (total := sum(array.tolist())) > checks.MOST_RECORDS:
        raise ValueError(f"cluster sizes must sum to at most {checks.MOST_RECORDS}, not {total}")
    return array.astype(np.int64)


def ideal_queries(sizes: ArrayLike) -> int:
    """The fewest questions with which answers alone settle every pair, n - k + C(k, 2): spanning trees, and one
    non-match per pair of clusters.

    No strategy that is never wrong asks fewer if it is not told k and no similarity determines a pair, that is, if f_g
    and f_r vanish on the same set. Where similarities prove matches or non-matches, as under Dist-2, fewer may do.

    Parameters
    ----------
    sizes : array_like of int, shape (k,)
        Cluster sizes; a ValueError if one is not a positive integer.

    See Also
    --------
    crowder.ideal_recall : the recall after each of them.
    crowder.expected_queries : what the heuristics need.

    Examples
    --------
    >>> ideal_queries([3, 2])  # the Disney records
    4
    """
    sizes = cluster_sizes(sizes)
    k = len(sizes)
    return int(sizes.sum()) - k + k * (k - 1) // 2


def ideal_recall(labels: ArrayLike) -> np.ndarray:
    """Recall after each question of the ideal run of Figure 2(b).

    It asks first about matches only, completing the largest cluster before the next, and then about one non-match
    between every two clusters. No run that settles pairs by answers alone has higher recall after any
    number of questions.

    Parameters
    ----------
    labels : array_like, shape (n,)
        True cluster of each record.

    Returns
    -------
    ndarray of float64, shape (n - k + C(k, 2) + 1,)
        ``recall[q]`` after q questions; all ones if no pair matches.

    See Also
    --------
    crowder.ideal_queries : how many questions it takes in all.
    crowder.Resolution : the recall of a run.

    Examples
    --------
    >>> ideal_recall([0, 0, 0, 1, 1])
    array([0.  , 0.25, 0.75, 1.  , 1.  ])
    """
    sizes = np.sort(np.bincount(checks.labels(labels)))[::-1]
    # The s-th record of a cluster matches the s - 1 before it.
    found = np.cumsum(np.concatenate([[0], *(np.arange(1, size) for size in sizes)]))
    recall = np.ones(ideal_queries(sizes) + 1)
    if found[-1]:
        recall[: len(found)] = found / found[-1]
    return recall


def by_first_record(clusters: Any) -> np.ndarray:
    """The same clusters, numbered in order of their first record."""
    clusters = np.asarray(clusters)
    _, first, inverse = np.unique(clusters, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return number[inverse]
