"""Edge ordering over a sorted stream of candidate pairs, only one chunk of which is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

#: The messages for the error codes of `_pack` and of the module `node_stream`.
MESSAGES = (
    "",
    "the similarity must be in [0, 1], not {w}",
    "i and j must be two of the {n} records, 0 to {last}, not ({i}, {j})",
    "similarities must not increase, but {w} follows {before}",
    "j must arrive before i, not ({i}, {j})",
    "pairs must be sorted by the arrival of i, then of j, each of them once; ({i}, {j}) follows a later or equal one",
)


class Streamed(Ordering):
    """An ordering that reads its candidate pairs in chunks, sorted by a key, of which it uses all pairs at once.

    A subclass defines: ``_checked(i, j, w)``, an error code (0 if there is none), its row, and the arrays of a chunk,
    the key first; ``_walked(*arrays)``, a walk over pairs, and what a journal keeps of them; ``_ask()``, the walk's
    next pair, -1 at its end; ``_ask_all(labels)``, the knowledge at its end.
    """

    _checked: Callable[..., tuple[int, int, tuple[np.ndarray, ...]]]
    _walked: Callable[..., tuple[Any, tuple[np.ndarray, ...]]]
    _ask: Callable[[], int]
    _ask_all: Callable[[np.ndarray], Any]
    _last: Any = np.inf
    _side: Any  # "left": pairs are used up to the last key, of which more may follow; or, if "right", with it

    def _open(self, chunks: Iterable, n: int, *nothing: np.ndarray) -> None:
        """Begin, with `nothing` in the form of a checked chunk."""
        if validation.whole(n, "n, the number of records,") > MOST_RECORDS:
            raise ValueError(f"n, the number of records, must be at most {MOST_RECORDS}, not {n}")
        if not isinstance(chunks, Iterable) or isinstance(chunks, (str, bytes)):
            raise TypeError(f"chunks must be an iterable of (i, j, w), not {chunks!r}")
        self._begin(Candidates(int(n), False))
        self._chunks, self._number, self._held = iter(chunks), 0, nothing
        self._walk: Any = None
        self._head: tuple[np.ndarray, ...] | None = None
        self._error: Exception | None = None

    def next_question(self) -> tuple[int, int] | None:
        self._start()
        while (code := self._ask()) == -1 and self._advance():
            pass
        return unpacked(code)

    def _run(self, labels: np.ndarray) -> None:
        self._start()
        self._knowledge = self._ask_all(labels)
        while self._advance():
            self._knowledge = self._ask_all(labels)

    def _similarities(self) -> tuple[np.ndarray, ...]:
        self._start()
        return self._head or ()

    def _start(self) -> None:
        if self._head is None:
            self._advance()

    def _advance(self) -> bool:
        """Go on to the next pairs, at least `HEAD`; False at the end of the stream."""
        parts, ready = [self._held], 0
        while ready < HEAD and (chunk := self._next_chunk()) is not None:
            parts.append(chunk)
            ready = sum(int(np.searchsorted(part[0], chunk[0][-1], self._side)) for part in parts)
        pairs = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if ready < HEAD:  # the end of the stream
            ready = len(pairs[0])
        self._held = tuple(column[ready:].copy() for column in pairs)
        self._walk, kept = self._walked(*(column[:ready] for column in pairs))
        if self._head is None:
            self._head = tuple(column[:HEAD].copy() for column in kept)
        return ready > 0

    def _next_chunk(self) -> tuple[np.ndarray, ...] | None:
        """The next chunk that is not empty, checked; None at the end."""
        if self._error is not None:
            raise self._error  # a broken stream has not ended
        try:
            while (chunk := next(self._chunks, None)) is not None:
                i, j, w = chunk_columns(chunk, self._number)
                code, row, checked = self._checked(i, j, w)
                if code:
                    before = w[row - 1] if row else self._last
                    what = MESSAGES[code].format(w=w[row], before=before, i=i[row], j=j[row], n=self.n, last=self.n - 1)
                    raise ValueError(f"chunk {self._number}, row {row}: {what}")
                self._number += 1
                if len(w):
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
        increase, within a chunk or from one to the next. `crowder.chunks_from_parquet` sorts files of any size.
    n : int
        Number of records.
    rng : int or numpy.random.Generator
        Breaks ties; required unless ``ties="stream"``.
    ties : {"random", "stream"}
        Order of equally similar pairs: shuffled, or as in the stream.

    Raises
    ------
    ValueError, TypeError
        If `ties` is not one of these, or `rng` is missing. When asking: if a chunk is not three arrays of equal length,
        with integer records, a similarity is not in [0, 1] or is larger than the one before it, or a pair does not
        consist of two of the n records. The message gives chunk and row, counted from 0; earlier answers are kept.

    See Also
    --------
    crowder.EdgeOrdering : the same for all pairs, in memory.
    crowder.StreamNodeOrdering : node ordering over a stream.

    Notes
    -----
    *Memory* is proportional to the records, the answers and one chunk. ``ties="random"`` also holds all pairs of one
    similarity, in order to shuffle them; ``ties="stream"`` avoids this, and the sort can shuffle instead
    (``chunks_from_parquet(..., seed=7)``).

    *Same questions:* ``EdgeOrdering(matrix, rng=7)`` and ``StreamOrdering(chunks, n, rng=7)`` ask the same questions,
    however the stream is divided into chunks. A pair that occurs again, as (i, j) or (j, i), has no effect.

    *Journal:* a stream cannot be read ahead, so a journal identifies it by its first 1,000 pairs, and then checks the
    turn of each question.

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
        self._open(chunks, n, np.empty(0), np.empty(0, np.int64))
        self._generator = validation.generator(rng, "random ties") if ties == "random" else None
        self._side = "left" if ties == "random" else "right"

    def _ask(self) -> int:
        return edge_ask(self._walk.codes, self._walk.at, self._knowledge.component, self._knowledge.table)

    def _ask_all(self, labels: np.ndarray) -> Any:
        return edge_run(self._walk, self._knowledge, labels)

    def _walked(self, *pairs: np.ndarray) -> tuple[EdgeWalk, tuple[np.ndarray, ...]]:
        values, codes = -pairs[0], pairs[1]
        if self._generator is not None:
            kept = _sort_ties(values, codes)
            values, codes = values[:kept], codes[:kept]
            shuffle_ties(values, codes, self._generator.random(kept))
        return EdgeWalk(codes, np.zeros(1, np.int64)), (values, codes)

    def _checked(self, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> tuple[int, int, tuple[np.ndarray, ...]]:
        values, codes = np.array(w, dtype=np.float64), np.empty(len(w), np.int64)
        code, row = _pack(i, j, values, codes, self.n, self._last)
        if not code and len(values):
            self._last = values[-1]
        return code, row, (-values, codes)


def chunk_columns(chunk: Any, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays (i, j, w) of a chunk of candidate pairs; ``number`` is its number in the stream, for an error.

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


@njit(cache=True)
def _pack(i, j, values, codes, n, last):
    """Pack the pairs into `codes`; returns an error code (0 if there is none) and its row."""
    for p in range(len(values)):
        if not 0.0 <= values[p] <= 1.0:
            return 1, p
        if values[p] > last:
            return 3, p
        if not (0 <= i[p] < n and 0 <= j[p] < n) or i[p] == j[p]:
            return 2, p
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
