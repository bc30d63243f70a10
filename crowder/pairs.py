"""Candidate pairs: similarities in any of three forms, checked, converted to one, and put in order.

A similarity may be a symmetric n x n array, a condensed vector in SciPy's ``pdist`` order, or a ``scipy.sparse`` matrix
whose stored entries are the only candidate pairs. In each case the pairs are listed row by row with ``i < j``, so that
a seed breaks ties in the same way in all three.

Edge ordering needs them by decreasing similarity, node ordering by arrival. The first is a counting sort and then a
`_sort` within each bin. Both are stable, unlike NumPy's quicksort: the order of ties must not depend on the processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from crowder.checks import MOST_RECORDS, by_position, compiled, inner

__all__ = [
    "LOW", "Candidates", "EdgeWalk", "by_arrival", "candidates", "edge_sort", "shuffle_ties", "square_sums", "sums",
    "unpack",
]  # fmt: skip

#: The two stored values of a pair may differ by this much (rounding errors of the caller); the upper one is used.
SYMMETRY_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Candidates:
    """The candidate pairs of n records, checked; all pairs if `complete`."""

    n: int
    complete: bool
    _square: np.ndarray | None = None
    _values: np.ndarray | None = None
    _codes: np.ndarray | None = None

    def __deepcopy__(self, memo: dict) -> Candidates:
        return self  # nothing of it changes

    def listed(self) -> tuple[np.ndarray, np.ndarray]:
        """All candidate pairs: similarities (m,), and pairs packed as ``i << 32 | j``, i < j, ascending (m,)."""
        codes = _condensed_codes(self.n) if self._codes is None else self._codes
        if self._square is not None:
            return np.concatenate([np.empty(0), *(row[i:] for i, row in enumerate(self._square, 1))]), codes
        assert self._values is not None  # listed pairs have no square form
        return self._values, codes

    def square(self) -> np.ndarray:
        """The (n, n) array of a complete similarity; its diagonal is meaningless."""
        return self._made_square if self._square is None else self._square

    @cached_property
    def _made_square(self) -> np.ndarray:
        from scipy.spatial.distance import squareform  # half of the time of `import crowder`

        return squareform(self._values, checks=False)

    @cached_property
    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """As `crowder.pairs.edge_sort`, kept for all runs with these pairs; ties by index."""
        return edge_sort(*self.listed())

    @cached_property
    def sums(self) -> np.ndarray:
        """Each record's expected cluster size (n,), the sum of its similarities, kept for all runs with these pairs."""
        return square_sums(self.square()) if self.complete else sums(*self.listed(), self.n)


def candidates(similarity: Any) -> Candidates:
    """Check a similarity and convert its candidate pairs to one form.

    It may be symmetric (n, n), condensed (n(n-1)/2,), or sparse (n, n) with each pair stored once or twice. The
    diagonal is ignored; a stored zero is a candidate. Candidates are returned as they are: many runs with the same
    similarities check and sort them only once. A ValueError if the shape is none of these, two values of a pair differ,
    a value is NaN or outside [0, 1], a DataFrame has other columns than rows, or the diagonal is 0 and other values are
    not, as in a matrix of distances.

    Time and memory are proportional to the number of candidate pairs (of a dense array, to n²); a sparse matrix whose
    pairs are not in order is sorted. The values are copied, so later changes to the caller's array do not affect a run.

    Examples
    --------
    >>> values, codes = candidates([[1.0, 0.5], [0.5, 1.0]]).listed()
    >>> values, unpack(codes)
    (array([0.5]), (array([0]), array([1])))
    """
    if isinstance(similarity, Candidates):
        return similarity
    if sparse.issparse(similarity):
        return _from_sparse(similarity)
    if np.ma.is_masked(similarity):
        raise ValueError("similarity must not have masked values; store the candidate pairs in a scipy.sparse matrix")
    by_position(similarity, "similarity")
    try:
        array = np.asarray(similarity)
    except ValueError:
        raise ValueError("similarity must be an array, not rows of different lengths") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"similarity must hold real numbers, not dtype {array.dtype}")
    array = np.array(array, dtype=np.float64, order="C")
    if array.ndim == 1:
        n = _condensed_n(len(array))
        _check_values(array, n)
        return Candidates(n, True, _values=array)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            f"similarity must be square, a condensed vector or a scipy.sparse matrix, not of shape {array.shape}"
        )
    _check_square(array)
    return Candidates(len(array), True, _square=array)


def _condensed_n(m: int) -> int:
    n = int(np.ceil(np.sqrt(2 * m)))
    n = max(n, 1)
    if n * (n - 1) // 2 != m:
        raise ValueError(f"similarity, if condensed, must have n(n-1)/2 values for some n, not {m}")
    return n


def _check_values(values: np.ndarray, n: int) -> None:
    bad = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))  # the negation catches NaN too
    if len(bad):
        i, j = unpack(_condensed_codes(n)[bad[0]])
        raise ValueError(f"similarity of pair ({i}, {j}) is {values[bad[0]]}, not in [0, 1]")


def _check_square(array: np.ndarray) -> None:
    flat = _mirror(array, SYMMETRY_TOLERANCE)
    if flat < 0:
        if not array.diagonal().any() and array.any():
            raise ValueError(
                "similarity has zeros on its diagonal and others elsewhere, as if of distances; pass 1 - distances, "
                "or ones on the diagonal of similarities"
            )
        return
    i, j = divmod(flat, len(array))
    for value, place in ((array[i, j], (i, j)), (array[j, i], (j, i))):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"similarity of pair {place} is {value}, not in [0, 1]")
    raise ValueError(f"similarity is not symmetric: {array[i, j]} at ({i}, {j}) but {array[j, i]} at ({j}, {i})")


def _from_sparse(matrix: Any) -> Candidates:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"similarity must be square, not of shape {matrix.shape}")
    n = matrix.shape[0]
    if n > MOST_RECORDS:
        raise ValueError(f"similarity must have at most {MOST_RECORDS} records, not {n}")
    try:
        coo = matrix.tocoo()
    except ValueError as error:
        raise ValueError(f"similarity is not a valid sparse matrix: {error}") from None
    if coo.dtype.kind not in "fiub":
        raise ValueError(f"similarity must hold real numbers, not dtype {coo.dtype}")
    row, col, stored = coo.row, coo.col, np.asarray(coo.data, np.float64)
    if not row.shape == col.shape == stored.shape:
        raise ValueError(
            f"similarity is not a valid sparse matrix: {len(row)} rows, {len(col)} columns and {len(stored)} values"
        )
    values, codes, fault, rising = _packed(row, col, stored, n)
    if fault >= 0:
        i, j = int(row[fault]), int(col[fault])
        if not 0 <= min(i, j) <= max(i, j) < n:  # SciPy checks this when a matrix is made, not when it is modified
            raise ValueError(f"pair ({i}, {j}) must be two different records out of {n}, from 0")
        raise ValueError(f"similarity of pair ({i}, {j}) is {stored[fault]}, not in [0, 1]")
    if not rising:
        below = (row > col)[row != col]
        order = np.lexsort((below, codes))  # of two values of a pair, that above the diagonal is first, and used
        codes, values = codes[order], values[order]
        again = np.diff(codes, prepend=-1) == 0
        differ = np.flatnonzero(again & (np.abs(np.diff(values, prepend=0)) > SYMMETRY_TOLERANCE))
        if len(differ):
            i, j = unpack(codes[differ[0]])
            raise ValueError(
                f"similarity is not symmetric: two values, {values[differ[0] - 1]} and {values[differ[0]]}, "
                f"are stored for pair ({i}, {j})"
            )
        codes, values = codes[~again], values[~again]
    return Candidates(n, False, _values=values, _codes=codes)


@compiled
def _packed(row, col, stored, n):
    """The values off the diagonal, and their pairs, packed; the first fault, or -1; whether the pairs rise."""
    values, codes = np.empty(len(stored), np.float64), np.empty(len(stored), np.int64)
    kept, last, rising = 0, -1, True
    for p in range(len(stored)):
        i, j = np.int64(row[p]), np.int64(col[p])
        if min(i, j) < 0 or max(i, j) >= n or (i != j and not 0.0 <= stored[p] <= 1.0):
            return values, codes, p, False
        if i != j:
            code = (min(i, j) << 32) | max(i, j)
            rising = rising and code > last
            values[kept], codes[kept], last = stored[p], code, code
            kept += 1
    return values[:kept], codes[:kept], -1, rising


@compiled
def _mirror(array, tolerance):
    """Copy the values above the diagonal below it, where they agree; returns the position of the first fault, or -1."""
    # Block by block: reading the transpose column by column would miss the cache on every value.
    n = array.shape[0]
    block = 64
    for top in range(0, n, block):
        for left in range(top, n, block):
            for i in range(top, min(n, top + block)):
                for j in range(max(i + 1, left), min(n, left + block)):
                    x, y = array[i, j], array[j, i]
                    if not (0.0 <= x <= 1.0) or not (0.0 <= y <= 1.0) or not (abs(x - y) <= tolerance):
                        return i * n + j
                    array[j, i] = x  # otherwise reading (j, i) could give a different order from reading (i, j)
    return -1


def _condensed_codes(n: int) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *(i << 32 | np.arange(i + 1, n) for i in range(n))])


#: A pair is packed as ``i << 32 | j``; this mask gives j back.
LOW = (1 << 32) - 1


@inner
def unpack(code):
    """The two records of a packed pair, or those of an array of them."""
    return code >> 32, code & LOW


class EdgeWalk(NamedTuple):
    """All candidate pairs by decreasing similarity (`codes`), and the current position (`at[0]`)."""

    codes: np.ndarray
    at: np.ndarray

    def __deepcopy__(self, memo: dict) -> EdgeWalk:
        return self._replace(at=self.at.copy())  # the pairs do not change


#: The largest number of bins of the counting sort. Few pairs use fewer, because scanning empty bins dominated small
#: runs.
MOST_BINS = 1 << 16


@compiled
def edge_sort(values, codes):
    """The similarities, negated, and pairs in that order, ties as listed.

    The counting sort is by the leading bits of the similarity, 16 at most.
    """
    m = len(values)
    bins = 16
    while bins < 4 * m and bins < MOST_BINS:  # a power of two, so that no product is rounded
        bins *= 2
    start = np.zeros(bins + 2, np.int64)
    for p in range(m):
        start[bins - int(values[p] * bins) + 1] += 1
    for b in range(bins + 1):
        start[b + 1] += start[b]
    fill = start.copy()
    falling = np.empty(m, np.float64)  # similarities, negated
    code = np.empty(m, np.int64)
    for p in range(m):
        b = bins - int(values[p] * bins)
        falling[fill[b]], code[fill[b]] = -values[p], codes[p]
        fill[b] += 1
    for b in range(bins + 1):
        _sort(falling, code, start[b], start[b + 1])
    return falling, code


@inner
def _sort(key, along, low, high):
    """Put key[low:high] in increasing order, and `along` with it. Stable.

    Runs of 32 by insertion, then merged. (NumPy's stable sort takes numba four times as long to compile.)
    """
    for start in range(low, high, 32):
        for q in range(start + 1, min(start + 32, high)):
            r = q
            while r > start and key[r - 1] > key[r]:
                key[r - 1], key[r] = key[r], key[r - 1]
                along[r - 1], along[r] = along[r], along[r - 1]
                r -= 1
    width = 32
    while width < high - low:
        for start in range(low, high - width, 2 * width):
            _merge(key, along, start, start + width, min(start + 2 * width, high))
        width *= 2


@inner
def _merge(key, along, low, middle, high):
    """Merge key[low:middle] and key[middle:high], each in order; of equal keys the left ones come first."""
    if key[middle - 1] <= key[middle]:
        return
    left_key, left_along = key[low:middle].copy(), along[low:middle].copy()
    left, right = 0, middle
    for q in range(low, high):
        if left == len(left_key):
            return
        if right < high and key[right] < left_key[left]:
            key[q], along[q] = key[right], along[right]
            right += 1
        else:
            key[q], along[q] = left_key[left], left_along[left]
            left += 1


@compiled
def shuffle_ties(values, codes, draws):
    """Shuffle, in place, the pairs of each run of equal values (Fisher and Yates), with a draw from [0, 1) for each."""
    low = 0
    while low < len(values):
        high = low + 1
        while high < len(values) and values[high] == values[low]:
            high += 1
        for q in range(low, high - 1):
            r = q + int(draws[q] * (high - q))
            codes[q], codes[r] = codes[r], codes[q]
        low = high


def by_arrival(values, codes, arrivals):
    """Pairs by the later of their two arrivals; their order within an arrival decides nothing.

    Returns the position at which the pairs of each arrival start, their earlier records and values, and their positions
    in the list.
    """
    n = len(arrivals)
    rank = np.empty(n, np.int64)
    rank[arrivals] = np.arange(n)
    i, j = unpack(codes)
    i, j = rank[i], rank[j]
    rows = sparse.csr_array((np.arange(len(codes)), (np.maximum(i, j), np.minimum(i, j))), shape=(n, n))
    return rows.indptr.astype(np.int64), arrivals[rows.indices].astype(np.int32), values[rows.data], rows.data


# A sum of floats depends on the order of its terms, and its last bit may decide which record arrives first. Sums of
# whole numbers do not: the upper and lower 26 bits of each similarity are summed separately.
HALF = 1 << 26


@compiled
def sums(values, codes, n):
    """Each record's sum of similarities (n,), independent of the order of pairs and records."""
    whole, rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for p in range(len(codes)):
        i, j = unpack(codes[p])
        _add(whole, rest, i, j, values[p])
    return whole / HALF + rest / HALF / HALF


@compiled
def square_sums(square):
    """The same sums from a complete similarity, ignoring its diagonal."""
    n = len(square)
    whole, rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            _add(whole, rest, i, j, square[i, j])
    return whole / HALF + rest / HALF / HALF


@inner
def _add(whole, rest, i, j, value):
    upper = int(value * HALF)
    lower = int((value * HALF - upper) * HALF)
    whole[i] += upper
    whole[j] += upper
    rest[i] += lower
    rest[j] += lower
