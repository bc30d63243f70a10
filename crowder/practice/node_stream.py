"""Node ordering over a stream of candidate pairs that is sorted by arrival, only one chunk of which is in memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from crowder import validation
from crowder.engine import NodeWalk, node_ask, node_run
from crowder.orderings import NONE, listed_once, unpacked
from crowder.practice.stream import HEAD, Streamed
from crowder.validation import Seed

__all__ = ["StreamNodeOrdering"]

#: The messages for the error codes of `_place`.
MESSAGES = (
    "",
    "the similarity must be in [0, 1], not {w}",
    "i and j must be two of the {n} records, 0 to {last}, not ({i}, {j})",
    "j must arrive before i, not ({i}, {j})",
    "pairs must be sorted by the arrival of i, then of j, each of them once; ({i}, {j}) follows a later or equal one",
)


class StreamNodeOrdering(Streamed):
    """Node ordering over a stream of candidate pairs that is sorted by the arrival of their records.

    Parameters
    ----------
    chunks : iterable of (i, j, w)
        Arrays of equal length: the records and the similarities of the next candidate pairs. Record j arrives before
        record i; pairs are sorted by the arrival of i, then of j. `crowder.practice.parquet.chunks_by_arrival` sorts
        files of any size.
    arrivals : array_like, shape (n,)
        All records in the order in which they are placed: for the paper's order, by decreasing
        `crowder.practice.parquet.expected_sizes`.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties; required unless ``ties="index"``.
    ties : {"random", "index"}, keyword only
        Order of a record's equally similar pairs: random, or by the earlier record's index.

    Raises
    ------
    ValueError
        If `ties` is not one of these, `rng` is missing, or `arrivals` does not list each record once. When asking: if
        the arrays of a chunk differ in length, a similarity is not in [0, 1], a pair does not consist of two of the n
        records, or the pairs are not sorted. The message gives chunk and row, counted from 0. No question is asked
        about that chunk; earlier answers are kept.
    TypeError
        When asking, if a chunk is not a triple of arrays, or its records are not integers.

    See Also
    --------
    crowder.NodeOrdering : the same questions, with all pairs in memory.
    StreamOrdering : edge ordering over a stream.

    Notes
    -----
    *Memory* is proportional to the records, the answers, one chunk, and the pairs of one record with earlier ones: no
    question about a record can be chosen before all of these are known.

    *Same questions:* with a sparse matrix of the same pairs, ``NodeOrdering(matrix, order=arrivals, rng=7)`` asks the
    same questions, however the stream is divided into chunks.

    *Journal:* as for `StreamOrdering`.

    Examples
    --------
    >>> from crowder.oracles import Truth
    >>> chunks = [([1, 2], [0, 0], [0.9, 0.8]), ([2], [1], [0.1])]
    >>> StreamNodeOrdering(chunks, [0, 1, 2], rng=7).run(Truth([0, 0, 1])).queries
    array([[1, 0],
           [2, 0]])

    The paper's order, from a file of pairs:

    >>> import os, tempfile
    >>> from crowder.practice.parquet import chunks_by_arrival, expected_sizes, write_candidates
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> pairs = write_candidates(path, [0.9, 0.8, 0.1])
    >>> arrivals = np.argsort(-expected_sizes(path, 3).round(9), kind="stable")
    >>> chunks = chunks_by_arrival(path, arrivals)
    >>> StreamNodeOrdering(chunks, arrivals, rng=7).run(Truth([0, 0, 1])).queries
    array([[1, 0],
           [2, 0]])
    """

    def __init__(self, chunks: Iterable, arrivals: ArrayLike, *, rng: Seed | None = None, ties: str = "random") -> None:
        if ties not in ("random", "index"):
            raise ValueError(f'ties must be "random" or "index", not {ties!r}')
        self._arrivals = listed_once(arrivals, "arrivals")
        self._open(chunks, n := len(self._arrivals))
        self._rank = np.argsort(self._arrivals).astype(np.int32)
        self._generator = validation.generator(rng, "random ties") if ties == "random" else None
        # Pairs of a record whose last pair has not been read: its rank, the other records, the similarities.
        self._held = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        self._last = np.zeros(2, np.int32)  # the ranks of the pair before
        self._space = tuple(np.zeros(n, kind) for kind in (*[np.int32] * 3, *[np.float64] * 2, np.int32))
        self._walk = self._records(*self._held)

    def next_question(self) -> tuple[int, int] | None:
        self._start()
        code = node_ask(tuple(self._walk), tuple(self._knowledge))
        while code == -1 and self._advance():
            code = node_ask(tuple(self._walk), tuple(self._knowledge))
        return unpacked(code)

    def decided_by(self) -> tuple[np.ndarray, ...]:
        return (self._arrivals,)

    def _run(self, labels: np.ndarray) -> None:
        self._start()
        self._knowledge = node_run(self._walk, self._knowledge, labels)
        while self._advance():
            self._knowledge = node_run(self._walk, self._knowledge, labels)

    def _start(self) -> None:
        if self._head is None:
            self._advance()
            pairs = self._walk.value, self._walk.partner
            self._head = tuple(column[:HEAD].copy() for column in pairs)

    def _advance(self) -> bool:
        """Go on to the next records; False at the end of the stream."""
        parts, complete = [self._held], 0
        while complete < HEAD and (chunk := self._next_chunk()) is not None:
            parts.append(chunk)
            complete = sum(np.searchsorted(part[0], chunk[0][-1]) for part in parts)  # all but the last record's
        rank, partner, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        if complete < HEAD:  # the end of the stream
            complete = len(rank)
        self._held = rank[complete:].copy(), partner[complete:].copy(), value[complete:].copy()
        self._walk = self._records(rank[:complete], partner[:complete], value[:complete])
        return complete > 0

    def _records(self, rank: np.ndarray, partner: np.ndarray, value: np.ndarray) -> NodeWalk:
        """A walk over the records of these pairs. It starts after its first record, so another stands before them."""
        new, start = np.unique(rank, return_index=True)
        arrivals = self._arrivals[np.r_[0, new]] if len(self._arrivals) else self._arrivals
        priority = self._generator.random(len(rank)) if self._generator is not None else NONE
        first = np.r_[0, start, len(rank)].astype(np.int64)
        heap, met, place, best_value, best_priority, best_record = self._space
        best, at = (best_value, best_priority, best_record), np.zeros(2, np.int64)
        return NodeWalk(arrivals, first, np.empty((0, 0)), partner, value, priority, heap, met, place, *best, at)

    def _checked(self, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ranks of the later records, the earlier records, and similarities."""
        rank, value = np.empty(len(w), np.int32), np.array(w, dtype=np.float64)
        last = self._last.copy()
        code, row = _place(i, j, value, self._rank, rank, last)
        if code:
            what = MESSAGES[code].format(w=w[row], i=i[row], j=j[row], n=self.n, last=self.n - 1)
            raise ValueError(f"chunk {self._number}, row {row}: {what}")
        self._last = last
        return rank, j.astype(np.int32), value


@njit(cache=True)
def _place(i, j, values, rank, later, last):
    """Find the rank of each pair's later record; returns an error code (0 if there is none) and its row."""
    n = len(rank)
    for p in range(len(values)):
        if not 0.0 <= values[p] <= 1.0:
            return 1, p
        if not (0 <= i[p] < n and 0 <= j[p] < n) or i[p] == j[p]:
            return 2, p
        x, y = rank[i[p]], rank[j[p]]
        if y > x:
            return 3, p
        if x < last[0] or (x == last[0] and y <= last[1]):  # no record has rank 0 here, so the first pair passes
            return 4, p
        last[0], last[1] = x, y
        later[p] = x
    return 0, 0
