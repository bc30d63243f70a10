"""Node ordering over a stream of candidate pairs that is sorted by arrival, only one chunk of which is in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder.engine import NodeWalk, node_ask, node_run
from crowder.orderings import NONE, listed_once
from crowder.scale.stream import Streamed, refuse
from crowder.validation import Seed

__all__ = ["StreamNodeOrdering"]


class StreamNodeOrdering(Streamed):
    """Node ordering over a stream of candidate pairs that is sorted by the arrival of their records.

    Parameters
    ----------
    chunks : iterable of (i, j, w)
        As for `StreamOrdering`, but record j arrives before record i, and pairs are sorted by the arrival of i, then of
        j. `crowder.scale.parquet.chunks_by_arrival` sorts files of any size.
    arrivals : array_like, shape (n,)
        All records in the order in which they are placed: for the paper's order, by decreasing
        `crowder.scale.parquet.expected_sizes`.
    rng : int or numpy.random.Generator
        Breaks ties; required unless ``ties="index"``.
    ties : {"random", "index"}
        Order of a record's equally similar pairs: random, or by the earlier record's index.

    Raises
    ------
    ValueError, TypeError
        If `ties` is not one of these, `rng` is missing, or `arrivals` does not list each record once. When asking: as
        `StreamOrdering`, and if the pairs are not sorted by arrival.

    See Also
    --------
    crowder.NodeOrdering : the same questions, with all pairs in memory.
    StreamOrdering : edge ordering over a stream.

    Notes
    -----
    *Memory* is proportional to the records, the answers, one chunk, and the pairs of one record with earlier ones: no
    question about a record can be chosen before all of these are known. With a sparse matrix of the same pairs,
    ``NodeOrdering(matrix, order=arrivals, rng=7)`` asks the same questions. *Journal:* as for `StreamOrdering`.

    Examples
    --------
    >>> from crowder.oracles import Truth
    >>> chunks = [([1, 2], [0, 0], [0.9, 0.8]), ([2], [1], [0.1])]
    >>> StreamNodeOrdering(chunks, [0, 1, 2], rng=7).run(Truth([0, 0, 1])).queries
    array([[1, 0],
           [2, 0]])

    The paper's order, from a file of pairs:

    >>> import os, tempfile
    >>> from crowder.scale.parquet import chunks_by_arrival, expected_sizes, write_candidates
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> pairs = write_candidates(path, [0.9, 0.8, 0.1])
    >>> arrivals = np.argsort(-expected_sizes(path, 3).round(9), kind="stable")
    >>> chunks = chunks_by_arrival(path, arrivals)
    >>> StreamNodeOrdering(chunks, arrivals, rng=7).run(Truth([0, 0, 1])).queries
    array([[1, 0],
           [2, 0]])
    """

    def __init__(self, chunks: Iterable, arrivals: ArrayLike, *, rng: Seed | None = None, ties: str = "random") -> None:
        self._arrivals = listed_once(arrivals, "arrivals")
        self._rank = np.argsort(self._arrivals).astype(np.int32)
        self._space = tuple(np.zeros(self._rank.size, kind) for kind in (*[np.int32] * 3, *[np.float64] * 2, np.int32))
        self._last, self._side = 0, "left"  # pairs of one record go on in the next chunk
        self._open(chunks, self._rank.size, rng, ties, "index")

    def decided_by(self) -> tuple[np.ndarray, ...]:
        return (self._arrivals,)

    def _ask(self) -> int:
        return node_ask(tuple(self._walk), tuple(self._knowledge))

    def _ask_all(self, labels: np.ndarray) -> Any:
        return node_run(self._walk, self._knowledge, labels)

    def _walked(self, *pairs: np.ndarray) -> tuple[NodeWalk, tuple[np.ndarray, ...]]:
        """The walk starts after its first record, so another stands before those of the pairs."""
        rank, partner, value = pairs
        new, start = np.unique(rank, return_index=True)
        arrivals = self._arrivals[np.r_[0, new]] if len(self._arrivals) else self._arrivals
        priority = self._generator.random(len(rank)) if self._generator is not None else NONE
        first = np.r_[0, start, len(rank)].astype(np.int64)
        pairs = np.empty((0, 0)), partner, value, priority
        return NodeWalk._make((arrivals, first, *pairs, *self._space, np.zeros(2, np.int64))), (value, partner)

    def _columns(self, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
        later, earlier = self._rank[i], self._rank[j]
        refuse(earlier > later, self._number, "j must arrive before i, not ({}, {})", i, j)
        turns = np.r_[self._last, later.astype(np.int64) << 32 | earlier]
        unsorted = "pairs must be sorted by the arrival of i, then of j, each of them once; ({}, {}) comes too late"
        refuse(np.diff(turns) <= 0, self._number, unsorted, i, j)
        self._last = turns[-1]
        return later, j, w
