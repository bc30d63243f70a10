"""Edge ordering over candidate pairs that come in chunks, by falling similarity, and are never in memory together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from crowder import validation
from crowder.engine import edge_ask, edge_run
from crowder.orderings import Ordering, unpacked
from crowder.pairs import MOST_RECORDS, Candidates
from crowder.sorting import EdgeWalk
from crowder.validation import Seed

__all__ = ["StreamOrdering"]

#: The first pairs, by which a journal tells one stream from another.
HEAD = 1000

NOTHING = np.empty(0, np.float64), np.empty(0, np.int64)

FAULTS = (
    "",
    "similarity {w} is not in [0, 1]",
    "similarity {w} is above the {before} before it; pairs must come by falling similarity",
    "({i}, {j}) are not two of the {n} records, 0 to {most}",
)


class StreamOrdering(Ordering):
    """Ask about pairs by falling similarity, as `EdgeOrdering` does, of a stream that is sorted already.

    Parameters
    ----------
    chunks : iterable of (i, j, w)
        Records and similarities of the next candidate pairs, arrays of one length: no w above the one before it, within
        a chunk or from chunk to chunk. `crowder.practice.parquet.chunks_from_parquet` sorts a file of any size into
        them.
    n : int
        Number of records.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties; required unless ``ties="stream"``.
    ties : {"random", "stream"}, keyword only
        Order of equally similar pairs: shuffled, or as they come.

    Raises
    ------
    ValueError
        If the rule for ties is neither, or rng is missing. On asking: if a chunk has unequal lengths, a similarity is
        not in [0, 1] or above the one before it, or a pair is not two of the n records; chunk and row are told, from 0.
        No pair of that chunk is asked about; the answers before it stand.
    TypeError
        On asking: if a chunk is no triple, or its records are not integers.

    Notes
    -----
    *Memory* goes with the records, the answers and one chunk, not with the pairs. A fair shuffle of ties needs them all
    at once: ``ties="random"`` holds a run of equal similarities until it ends, which on a coarse scale is a good part
    of all pairs. ``ties="stream"`` holds nothing back, and the sort can do the shuffling
    (``chunks_from_parquet(..., seed=7)``).

    *The same questions:* ``EdgeOrdering(matrix, rng=7)`` and ``StreamOrdering(chunks, n, rng=7)`` ask the same, however
    the stream of the same pairs is cut. A pair that comes again, or as (j, i), is implied by then.

    *Journal:* a stream cannot be read ahead, so a journal knows it by its first 1,000 pairs and, from there on, by the
    turn of each question.

    *Node ordering* has no such form: it needs the pairs of one record after the other, and which comes next is told by
    the sums of similarities. A sparse matrix is its form for many records.

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
        if validation.whole(n, "n, the number of records,") > MOST_RECORDS:
            raise ValueError(f"from 0 to {MOST_RECORDS} records, not {n}")
        if not isinstance(chunks, Iterable) or isinstance(chunks, (str, bytes)):
            raise TypeError(f"chunks must be an iterable of (i, j, w), not {chunks!r}")
        self._begin(Candidates(int(n), False))
        self._generator = validation.generator(rng, "random ties") if ties == "random" else None
        self._chunks, self._number = iter(chunks), 0
        self._held, self._last = NOTHING, np.inf
        self._walk = EdgeWalk(NOTHING[1], np.zeros(1, np.int64))
        self._head: tuple[np.ndarray, ...] | None = None
        self._fault: Exception | None = None

    def next_question(self) -> tuple[int, int] | None:
        self._start()
        code = edge_ask(self._walk, self._knowledge)
        while code == -1 and self._advance():
            code = edge_ask(self._walk, self._knowledge)
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
        """Read as many pairs as a journal wants to see."""
        if self._head is not None:
            return
        parts, count = [], 0
        while count < HEAD and (part := self._released()) is not None:
            parts.append(part)
            count += len(part[1])
        values, codes = (np.concatenate(column) for column in zip(*(parts or [NOTHING]), strict=True))
        self._walk = EdgeWalk(codes, np.zeros(1, np.int64))
        self._head = values[:HEAD].copy(), codes[:HEAD].copy()

    def _advance(self) -> bool:
        """Go on to the next pairs, if there are any."""
        self._walk = EdgeWalk(NOTHING[1], np.zeros(1, np.int64))
        if (part := self._released()) is None:
            return False
        self._walk = EdgeWalk(part[1], np.zeros(1, np.int64))
        return True

    def _released(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The next similarities and pairs, with no tie left open between them and what follows; None at the end."""
        held = [self._held] if len(self._held[0]) else []
        while (chunk := self._checked()) is not None:
            if self._generator is None:
                return chunk
            held.append(chunk)
            if chunk[0][-1] != held[0][0][0]:
                values, codes = (np.concatenate(column) for column in zip(*held, strict=True))
                open_ = int(np.searchsorted(-values, -values[-1]))
                self._held = values[open_:].copy(), codes[open_:].copy()
                return self._shuffled(values[:open_], codes[:open_])
        self._held = NOTHING
        if not held:
            return None
        return self._shuffled(*(np.concatenate(column) for column in zip(*held, strict=True)))

    def _shuffled(self, values: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kept = _put_in_order(values, codes)
        assert self._generator is not None  # ties are shuffled only where chance decides them
        _shuffle_ties(values[:kept], codes[:kept], self._generator.random(kept))
        return values[:kept], codes[:kept]

    def _checked(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The next chunk, checked, as similarities and packed pairs."""
        if self._fault is not None:
            raise self._fault  # a stream that broke has not come to its end
        try:
            while (chunk := next(self._chunks, None)) is not None:
                values, codes = self._pack(chunk)
                self._number += 1
                if len(values):
                    self._last = values[-1]
                    return values, codes
        except Exception as error:
            self._fault = error
            raise
        return None

    def _pack(self, chunk: Any) -> tuple[np.ndarray, np.ndarray]:
        try:
            i, j, w = chunk
            if any(map(np.ma.is_masked, (i, j, w))):
                raise ValueError("values are masked; leave their pairs out")
            i, j, w = (np.ascontiguousarray(column) for column in (i, j, w))
        except (TypeError, ValueError) as error:
            raise TypeError(f"chunk {self._number} is no triple of arrays (i, j, w): {error}") from error
        if not i.shape == j.shape == w.shape or i.ndim != 1:
            raise ValueError(f"chunk {self._number} has i, j and w of shapes {i.shape}, {j.shape} and {w.shape}")
        if len(i) and (i.dtype.kind not in "iu" or j.dtype.kind not in "iu" or w.dtype.kind not in "fiub"):
            raise TypeError(
                f"chunk {self._number} needs integer records and real similarities, not {i.dtype}, {j.dtype}, {w.dtype}"
            )
        values, codes = np.array(w, dtype=np.float64), np.empty(len(w), np.int64)
        kind, row = _faulty(i, j, values, codes, self.n, self._last)
        if kind:
            before = values[row - 1] if row else self._last
            what = FAULTS[kind].format(w=w[row], before=before, i=i[row], j=j[row], n=self.n, most=self.n - 1)
            raise ValueError(f"chunk {self._number}, row {row}: {what}")
        return values, codes


@njit(cache=True)
def _faulty(i, j, values, codes, n, last):
    """Pack the pairs; or tell which fault there is, and in which row."""
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
def _put_in_order(values, codes):
    """Equally similar pairs by rising (i, j), each once, in place; returns how many are left."""
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


@njit(cache=True)
def _shuffle_ties(values, codes, draws):
    """As `edge_walk` does it, with the same draws, so that the same seed gives the same order."""
    low = 0
    while low < len(values):
        high = low + 1
        while high < len(values) and values[high] == values[low]:
            high += 1
        for q in range(low, high - 1):
            r = q + int(draws[q] * (high - q))
            codes[q], codes[r] = codes[r], codes[q]
        low = high
