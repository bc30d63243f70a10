"""Pairs by decreasing similarity, for edge ordering, and by arrival, for node ordering.

The first is a counting sort and then a `_sort` within each bin. Both are stable, unlike NumPy's quicksort: the order of
ties must not depend on the processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from crowder.compiling import compiled, inner

__all__ = ["LOW", "EdgeWalk", "by_arrival", "edge_sort", "shuffle_ties", "square_sums", "sums", "unpack"]

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
