"""What votes say together: clusters from all of them, also where workers or answers contradict one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from crowder import checks
from crowder_tool.journal import Pair, Vote, ordered

__all__ = ["Settled", "renumbered", "settle"]


class Settled(NamedTuple):
    """The pairs i < j that votes decide, and whether they are in one cluster, which implies exactly these clusters
    (numbered by their first records). Pairs whose majority says the opposite; that as many call same as different; and
    that two workers disagree about."""

    pairs: list[Pair]
    same: list[bool]
    clusters: np.ndarray
    contradicted: list[Pair]
    unsure: list[Pair]
    split: list[Pair]


def settle(n: int, votes: Iterable[Vote]) -> Settled:
    """Clusters of n records from votes, where `same` is None if the worker is unsure.

    Each worker has one vote on a pair, the latest. The majority of the votes decides a pair, and matches are joined
    transitively. Only where a pair that does not match is joined by others, `crowder.beyond.resolve` clusters the
    records that are joined there, from all votes about them; all other clusters stay as they are.

    Examples
    --------
    >>> votes = [Vote(0, 1, True, "ann"), Vote(1, 2, True, "ann"), Vote(0, 2, False, "bob")]
    >>> settled = settle(5, [*votes, Vote(3, 4, None, "ann"), Vote(0, 3, False, "ann")])
    >>> settled.contradicted, settled.unsure
    ([(0, 2)], [(3, 4)])
    >>> settled.clusters, settled.pairs, settled.same
    (array([0, 0, 0, 1, 2]), [(0, 1), (1, 2), (0, 2), (0, 3)], [True, True, True, False])
    """
    said = defaultdict[Pair, dict[str | None, bool | None]](dict)
    for i, j, same, worker, *_ in votes:
        said[ordered(i, j)][worker] = None if same is None else checks.flag(same, "same")
    score = {pair: sum((same is True) - (same is False) for same in of.values()) for pair, of in said.items()}
    majority = {pair: votes > 0 for pair, votes in score.items() if votes}
    labels = _components(n, [pair for pair, same in majority.items() if same])
    affected = {
        labels[i]: list[tuple[Any, ...]]() for (i, j), same in majority.items() if not same and labels[i] == labels[j]
    }
    for (i, j), by_worker in said.items():
        if labels[i] == labels[j] and labels[i] in affected:
            affected[labels[i]] += [(i, j, same, worker) for worker, same in by_worker.items()]
    part = np.zeros(n, np.int64)
    if affected:  # hardly ever, and the import takes half a second
        from crowder.beyond import resolve
    for answers in affected.values():
        records = np.unique([row[:2] for row in answers])
        number = dict(zip(records.tolist(), range(len(records)), strict=True))
        part[records] = resolve([(number[i], number[j], *rest) for i, j, *rest in answers], rng=0).clusters
    # What no answer connects is not joined, so that the answers imply the clusters.
    clusters = _components(n, [(i, j) for i, j in majority if labels[i] == labels[j] and part[i] == part[j]])
    same = [bool(clusters[i] == clusters[j]) for i, j in majority]
    contradicted = [pair for pair, together in zip(majority, same, strict=True) if together != majority[pair]]
    unsure = [pair for pair in said if pair not in majority]
    split = [pair for pair, of in said.items() if {True, False} <= set(of.values())]
    return Settled(list(majority), same, clusters, contradicted, unsure, split)


def renumbered(clusters: np.ndarray, before: Sequence[int], unused: int) -> np.ndarray:
    """The clusters with the numbers that they had `before` (-1: the record is new): a number stays with most of its
    records. Of two that are in one cluster now, that of more records stays. Others get numbers from `unused` on, by
    their first records.

    Examples
    --------
    >>> renumbered(np.array([0, 1, 1, 1, 2, 3]), [5, 7, 7, 6, 6, -1], 8)  # one of the sixes has left, and one is new
    array([5, 7, 7, 7, 8, 9])
    """
    known = np.array(before, np.int64) >= 0
    both, counts = np.unique(np.stack([before, clusters])[:, known], axis=1, return_counts=True)
    had, number = dict(zip(*np.unique(before, return_counts=True), strict=True)), dict[int, int]()
    for k in np.argsort(-counts, kind="stable"):
        old, new = both[:, k].tolist()
        if 2 * counts[k] > had[old]:
            number.setdefault(new, old)
    for cluster in clusters.tolist():
        if cluster not in number:
            number[cluster], unused = unused, unused + 1
    return np.array([number[cluster] for cluster in clusters.tolist()])


def _components(n: int, pairs: list[Pair]) -> np.ndarray:
    """The connected components, numbered in order of their first record."""
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    labels: np.ndarray = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
