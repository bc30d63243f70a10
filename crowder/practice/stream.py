"""Edge ordering over a sorted stream of candidate pairs, only one chunk of which is in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from crowder import validation
from crowder.engine import edge_ask, edge_run
from crowder.orderings import Ordering, unpacked
from crowder.pairs import MOST_RECORDS, Candidates
from crowder.sorting import EdgeWalk, shuffle_ties
from crowder.validation import Seed

__all__ = ["StreamOrdering", "Streamed", "chunk_columns"]

#: Number of pairs at the start of a stream by which a journal identifies it.
HEAD = 1000

#: No pairs: similarities, and records packed as ``i << 32 | j``.
NO_PAIRS = np.empty(0, np.float64), np.empty(0, np.int64)

#: The messages for the error codes of `_pack`.
MESSAGES = (
    "",
    "the similarity must be in [0, 1], not {w}",
    "similarities must not increase, but {w} follows {before}",
    "i and j must be two of the {n} records, 0 to {last}, not ({i}, {j})",
)


class Streamed(Ordering):
    """An ordering that reads its candidate pairs in chunks; a subclass checks them (`_checked`) and uses them."""

    def _open(self, chunks: Iterable, n: int) -> None:
        if validation.whole(n, "n, the number of records,") > MOST_RECORDS:
            raise ValueError(f"n, the number of records, must be at most {MOST_RECORDS}, not {n}")
        if not isinstance(chunks, Iterable) or isinstance(chunks, (str, bytes)):
            raise TypeError(f"chunks must be an iterable of (i, j, w), not {chunks!r}")
        self._begin(Candidates(int(n), False))
        self._chunks, self._number = iter(chunks), 0
        self._head: tuple[np.ndarray, ...] | None = None
        self._error: Exception | None = None

    @abstractmethod
    def _checked(self, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """The arrays of a chunk, checked; the first is empty if there is nothing in it."""

    @abstractmethod
    def _start(self) -> None:
        """Read the pairs by which a journal identifies the stream, unless they have been read."""

    def _similarities(self) -> tuple[np.ndarray, ...]:
        self._start()
        return self._head or ()

    def _next_chunk(self) -> Any:
        """The next chunk that is not empty, as `_checked` returns it; None at the end."""
        if self._error is not None:
            raise self._error  # a broken stream has not ended
        try:
            while (chunk := next(self._chunks, None)) is not None:
                checked = self._checked(*chunk_columns(chunk, self._number))
                self._number += 1
                if len(checked[0]):
                    return checked
        except Exception as error:
            self._error = error
            raise
        return None


class StreamOrdering(Streamed):
    """Edge ordering over a stream of candidate pairs that is sorted by decreasing similarity.

    Parameters
    ----------
    chunks : iterable of (i, j, w)
        Arrays of equal length: the records and the similarities of the next candidate pairs. Similarities must not
        increase, within a chunk or from one chunk to the next. `crowder.practice.parquet.chunks_from_parquet` sorts
        files of any size.
    n : int
        Number of records.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties; required unless ``ties="stream"``.
    ties : {"random", "stream"}, keyword only
        Order of equally similar pairs: shuffled, or as in the stream.

    Raises
    ------
    ValueError
        If `ties` is not one of these, or `rng` is missing. When asking: if the arrays of a chunk differ in length, a
        similarity is not in [0, 1] or is larger than the one before it, or a pair does not consist of two of the n
        records. The message gives chunk and row, counted from 0. No question is asked about that chunk; earlier answers
        are kept.
    TypeError
        When asking, if a chunk is not a triple of arrays, or its records are not integers.

    See Also
    --------
    crowder.EdgeOrdering : the same for all pairs, in memory.
    crowder.StreamNodeOrdering : node ordering over a stream.
    crowder.chunks_from_parquet : candidate pairs from files.

    Notes
    -----
    *Memory* is proportional to the records, the answers and one chunk. ``ties="random"`` also holds all pairs of one
    similarity at a time, in order to shuffle them; if there are few distinct similarities, these are many.
    ``ties="stream"`` avoids this, and the sort can shuffle instead (``chunks_from_parquet(..., seed=7)``).

    *Same questions:* ``EdgeOrdering(matrix, rng=7)`` and ``StreamOrdering(chunks, n, rng=7)`` ask the same questions,
    however the stream is divided into chunks. A pair that occurs again, as (i, j) or (j, i), has no effect.

    *Journal:* a stream cannot be read ahead, so a journal identifies it by its first 1,000 pairs, and then checks the
    turn of each question.

    *Node ordering* needs all pairs of a record together, and the records in order of their expected sizes:
    `StreamNodeOrdering` reads the same file in that order.

    Examples
    --------
    >>> from crowder.oracles import Truth
    >>> chunks = [([0, 0], [1, 2], [0.9, 0.8]), ([1], [2], [0.1])]
    >>> StreamOrdering(chunks, 3, rng=7).run(Truth([0, 0, 1])).queries
    array([[0, 1],
           [0, 2]])
    """

    def __init__(self, chunks: Iterable, n: int, *, rng: Seed | None = None, ties: str = "random") -> None:
        if ties not in ("random", "stream"):
            raise ValueError(f'ties must be "random" or "stream", not {ties!r}')
        if ties == "random" and rng is None:
            raise ValueError('pass rng=, a seed or a numpy.random.Generator, or ties="stream"')
        self._open(chunks, n)
        self._generator = validation.generator(rng, "random ties") if ties == "random" else None
        self._open_ties, self._last = NO_PAIRS, np.inf
        self._walk = EdgeWalk(NO_PAIRS[1], np.zeros(1, np.int64))

    def next_question(self) -> tuple[int, int] | None:
        self._start()
        known = self._knowledge
        code = edge_ask(*self._walk, known.component, known.table)
        while code == -1 and self._advance():
            code = edge_ask(*self._walk, known.component, known.table)
        return unpacked(code)

    def _run(self, labels: np.ndarray) -> None:
        self._start()
        self._knowledge = edge_run(self._walk, self._knowledge, labels)
        while self._advance():
            self._knowledge = edge_run(self._walk, self._knowledge, labels)

    def _start(self) -> None:
        if self._head is not None:
            return
        parts, count = [], 0
        while count < HEAD and (part := self._next_part()) is not None:
            parts.append(part)
            count += len(part[1])
        values, codes = _joined(parts or [NO_PAIRS])
        self._walk = EdgeWalk(codes, np.zeros(1, np.int64))
        self._head = values[:HEAD].copy(), codes[:HEAD].copy()

    def _advance(self) -> bool:
        """Go on to the next pairs; False at the end of the stream."""
        self._walk = EdgeWalk(NO_PAIRS[1], np.zeros(1, np.int64))
        if (part := self._next_part()) is None:
            return False
        self._walk = EdgeWalk(part[1], np.zeros(1, np.int64))
        return True

    def _next_part(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The next similarities and pairs; None at the end. Pairs that may tie with the next chunk are held back."""
        parts = [self._open_ties] if len(self._open_ties[0]) else []
        while (chunk := self._next_chunk()) is not None:
            if self._generator is None:
                return chunk
            parts.append(chunk)
            if chunk[0][-1] != parts[0][0][0]:
                values, codes = _joined(parts)
                open_ = int(np.searchsorted(-values, -values[-1]))
                self._open_ties = values[open_:].copy(), codes[open_:].copy()
                return self._shuffled(values[:open_], codes[:open_])
        self._open_ties = NO_PAIRS
        return self._shuffled(*_joined(parts)) if parts else None

    def _shuffled(self, values: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kept = _sort_ties(values, codes)
        assert self._generator is not None  # only ties="random" shuffles
        shuffle_ties(values[:kept], codes[:kept], self._generator.random(kept))
        return values[:kept], codes[:kept]

    def _checked(self, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Similarities and packed pairs."""
        values, codes = np.array(w, dtype=np.float64), np.empty(len(w), np.int64)
        code, row = _pack(i, j, values, codes, self.n, self._last)
        if code:
            before = values[row - 1] if row else self._last
            what = MESSAGES[code].format(w=w[row], before=before, i=i[row], j=j[row], n=self.n, last=self.n - 1)
            raise ValueError(f"chunk {self._number}, row {row}: {what}")
        self._last = values[-1] if len(values) else self._last
        return values, codes


def chunk_columns(chunk: Any, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays (i, j, w) of a chunk of candidate pairs; ``number`` is its number in the stream, for the error.

    Raises
    ------
    ValueError
        If the arrays are not one-dimensional and of equal length.
    TypeError
        If there are not three arrays without masked values, the records are not integers, or the similarities are not
        real.

    Examples
    --------
    >>> chunk_columns(([0], [1], [0.5]), 0)
    (array([0]), array([1]), array([0.5]))
    """
    try:
        i, j, w = chunk
        if any(map(np.ma.is_masked, (i, j, w))):
            raise ValueError("some values are masked; leave their pairs out")
        i, j, w = (np.ascontiguousarray(column) for column in (i, j, w))
    except (TypeError, ValueError) as error:
        raise TypeError(f"chunk {number} must be three arrays (i, j, w): {error}") from None
    if not i.shape == j.shape == w.shape or i.ndim != 1:
        raise ValueError(f"chunk {number} must have i, j and w of equal length, not {i.shape}, {j.shape} and {w.shape}")
    if len(i) and (i.dtype.kind not in "iu" or j.dtype.kind not in "iu" or w.dtype.kind not in "fiub"):
        raise TypeError(
            f"chunk {number} must have integer records and real similarities, not {i.dtype}, {j.dtype} and {w.dtype}"
        )
    return i, j, w


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    values, codes = zip(*parts, strict=True)
    return np.concatenate(values), np.concatenate(codes)


@njit(cache=True)
def _pack(i, j, values, codes, n, last):
    """Pack the pairs into `codes`; returns an error code (0 if there is none) and its row."""
    for p in range(len(values)):
        if not 0.0 <= values[p] <= 1.0:
            return 1, p
        if values[p] > last:
            return 2, p
        if not (0 <= i[p] < n and 0 <= j[p] < n) or i[p] == j[p]:
            return 3, p
        last = values[p]
        codes[p] = (np.int64(min(i[p], j[p])) << 32) | np.int64(max(i[p], j[p]))
    return 0, 0


@njit(cache=True)
def _sort_ties(values, codes):
    """Sort equally similar pairs by (i, j) and drop duplicates, in place; returns the number of pairs left."""
    low, kept = 0, 0
    while low < len(values):
        high = low + 1
        while high < len(values) and values[high] == values[low]:
            high += 1
        if high - low > 1:
            codes[low:high] = np.sort(codes[low:high])
        for p in range(low, high):
            if p == low or codes[p] != codes[kept - 1]:
                values[kept], codes[kept] = values[p], codes[p]
                kept += 1
        low = high
    return kept
