"""Edge ordering over a sorted stream of candidate pairs, only one chunk of which is in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from crowder import validation
from crowder.engine import edge_ask, edge_run
from crowder.orderings import Ordering, unpacked
from crowder.pairs import MOST_RECORDS, Candidates
from crowder.sorting import EdgeWalk, shuffle_ties
from crowder.validation import Seed

__all__ = ["StreamOrdering"]

#: Number of pairs at the start of a stream by which a journal identifies it; at least so many are walked at once.
HEAD = 1000


class StreamOrdering(Ordering):
    """Edge ordering over a stream of candidate pairs that is sorted by decreasing similarity.

    Parameters
    ----------
    chunks : iterable of (i, j, w)
        Arrays of equal length: the records and the similarities of the next candidate pairs. Similarities must not
        increase, within a chunk or from one to the next. `crowder.practice.chunks_from_parquet` sorts files of any
        size.
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
    crowder.practice.chunks_from_parquet : such a stream from files.

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
        if (n := validation.whole(n, "n, the number of records,")) > MOST_RECORDS:
            raise ValueError(f"n, the number of records, must be at most {MOST_RECORDS}, not {n}")
        self._begin(Candidates(n, False))
        if not isinstance(chunks, Iterable) or isinstance(chunks, (str, bytes)):
            raise TypeError(f"chunks must be an iterable of (i, j, w), not {chunks!r}")
        self._generator = validation.generator(rng, "random ties") if ties == "random" else None
        self._chunks, self._number, self._last = iter(chunks), 0, np.inf  # the similarity before the next chunk
        self._held = np.empty(0), np.empty(0, np.int64)  # read, but not walked yet: similarities, negated, and pairs
        self._walk = EdgeWalk(np.empty(0, np.int64), np.zeros(1, np.int64))
        self._head: tuple[np.ndarray, ...] | None = None
        self._error: Exception | None = None

    def next_question(self) -> tuple[int, int] | None:
        self._start()
        code = -1
        while code == -1:
            code = edge_ask(self._walk.codes, self._walk.at, self._knowledge.component, self._knowledge.table)
            if code == -1 and not self._advance():
                break
        return unpacked(code)

    def _run(self, labels: np.ndarray) -> None:
        self._start()
        self._knowledge = edge_run(self._walk, self._knowledge, labels)
        while self._advance():
            self._knowledge = edge_run(self._walk, self._knowledge, labels)

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
            # If ties are shuffled, pairs are used up to the last similarity, of which more may follow.
            side = "right" if self._generator is None else "left"
            ready = sum(int(np.searchsorted(part[0], chunk[0][-1], side)) for part in parts)  # type: ignore[call-overload, misc]
        falling, codes = (np.concatenate(column) for column in zip(*parts, strict=True))
        if ready < HEAD:  # the end of the stream
            ready = len(codes)
        self._held = falling[ready:].copy(), codes[ready:].copy()
        falling, codes = falling[:ready], codes[:ready]
        if self._generator is not None:
            order = np.lexsort((codes, falling))
            falling, codes = falling[order], codes[order]
            new = (np.diff(falling, prepend=1) != 0) | (np.diff(codes, prepend=-1) != 0)
            falling, codes = falling[new], codes[new]
            shuffle_ties(falling, codes, self._generator.random(len(codes)))
        self._walk = EdgeWalk(codes, np.zeros(1, np.int64))
        if self._head is None:
            self._head = -falling[:HEAD], codes[:HEAD].copy()
        return ready > 0

    def _next_chunk(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The next chunk that is not empty, checked: similarities, negated, and pairs; None at the end."""
        if self._error is not None:
            raise self._error  # a broken stream has not ended
        try:
            for chunk in self._chunks:
                i, j, w = chunk_columns(chunk, self._number, self.n)
                before = np.r_[self._last, w]
                refuse(
                    np.diff(before) > 0, self._number, "similarities must not increase, but {} follows {}", w, before
                )
                self._last = before[-1]
                self._number += 1
                if len(w):
                    return -w, np.minimum(i, j).astype(np.int64) << 32 | np.maximum(i, j)
        except Exception as error:
            self._error = error
            raise
        return None


def chunk_columns(chunk: Any, number: int, n: int = MOST_RECORDS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays (i, j, w) of a chunk of candidate pairs of n records, checked and copied as int32, int32 and float64;
    ``number`` is its number in the stream, for an error."""
    try:
        i, j, w = chunk
        if any(map(np.ma.is_masked, (i, j, w))):
            raise ValueError("some values are masked; leave their pairs out")
        i, j, w = map(np.asarray, (i, j, w))
    except (TypeError, ValueError) as error:
        raise TypeError(f"chunk {number} must be three arrays (i, j, w): {error}") from None
    if not i.shape == j.shape == w.shape or i.ndim != 1:
        raise ValueError(f"chunk {number} must have i, j and w of equal length, not {i.shape}, {j.shape} and {w.shape}")
    if len(i) and (i.dtype.kind not in "iu" or j.dtype.kind not in "iu" or w.dtype.kind not in "fiub"):
        raise TypeError(
            f"chunk {number} must have integer records and real similarities, not {i.dtype}, {j.dtype} and {w.dtype}"
        )
    refuse(~((w >= 0) & (w <= 1)), number, "the similarity must be in [0, 1], not {}", w)
    valid = (i >= 0) & (i < n) & (j >= 0) & (j < n) & (i != j)
    refuse(~valid, number, f"i and j must be two different records, 0 to {n - 1}, not ({{}}, {{}})", i, j)
    return i.astype(np.int32), j.astype(np.int32), w.astype(np.float64)


def refuse(wrong: np.ndarray, number: int, message: str, *columns: np.ndarray) -> None:
    """Raise an error for the first row of chunk ``number`` that is wrong, with the row of `columns` in the message."""
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"chunk {number}, row {row}: {message.format(*(column[row] for column in columns))}")
