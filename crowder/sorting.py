"""Pairs by decreasing similarity, for edge ordering, and by arrival, for node ordering.

Each is a counting sort and then a `_sort` within each bin. Both are stable, unlike NumPy's quicksort: the order of ties
must not depend on the processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
def edge_sort(values, codes, priority):
    """The similarities, negated, and pairs in that order, ties by increasing `priority` or else as listed.

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
    rank = np.empty(len(priority), np.float64)
    for p in range(m):
        b = bins - int(values[p] * bins)
        q = fill[b]
        fill[b] = q + 1
        falling[q] = -values[p]
        code[q] = codes[p]
        if len(priority) > 0:
            rank[q] = priority[p]
    for b in range(bins + 1):
        _sort(falling, code, rank, start[b], start[b + 1])
    low = start[0]  # 0, but not a literal, for which numba would compile `_sort` again
    while low < len(rank):
        high = low + 1
        while high < m and falling[high] == falling[low]:
            high += 1
        _sort(rank, code, rank[:0], low, high)
        low = high
    return falling, code


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


@inner
def _sort(key, one, two, low, high):
    """Put key[low:high] in increasing order, and `one` and, unless it is empty, `two` along with it. Stable.

    Runs of 32 by insertion, then merged. (NumPy's stable sort takes numba four times as long to compile.)
    """
    for start in range(low, high, 32):
        for q in range(start + 1, min(start + 32, high)):
            r = q
            while r > start and key[r - 1] > key[r]:
                key[r - 1], key[r] = key[r], key[r - 1]
                one[r - 1], one[r] = one[r], one[r - 1]
                if len(two) > 0:
                    two[r - 1], two[r] = two[r], two[r - 1]
                r -= 1
    width = 32
    while width < high - low:
        for start in range(low, high - width, 2 * width):
            _merge(key, one, two, start, start + width, min(start + 2 * width, high))
        width *= 2


@inner
def _merge(key, one, two, low, middle, high):
    """Merge key[low:middle] and key[middle:high], each in order; of equal keys the left ones come first."""
    if key[middle - 1] <= key[middle]:
        return
    left_key, left_one, left_two = key[low:middle].copy(), one[low:middle].copy(), two[low:middle].copy()
    left, right = 0, middle
    for q in range(low, high):
        if left == len(left_key):
            return
        if right < high and key[right] < left_key[left]:
            key[q], one[q] = key[right], one[right]
            if len(two) > 0:
                two[q] = two[right]
            right += 1
        else:
            key[q], one[q] = left_key[left], left_one[left]
            if len(two) > 0:
                two[q] = left_two[left]
            left += 1


@compiled
def by_arrival(values, codes, arrivals, with_position):
    """Pairs by the later of their two arrivals, then by the earlier.

    Returns the position at which the pairs of each arrival start, their earlier records and values and, on request,
    their positions in the list.
    """
    n, m = len(arrivals), len(codes)
    rank = np.empty(n, np.int32)
    for a in range(n):
        rank[arrivals[a]] = a
    first = np.zeros(n + 1, np.int64)
    for p in range(m):
        i, j = unpack(codes[p])
        first[max(rank[i], rank[j]) + 1] += 1
    for a in range(n):
        first[a + 1] += first[a]
    fill = first[:-1].copy()
    partner = np.empty(m, np.int32)  # ranks, until the pairs of each record are sorted
    value = np.empty(m, np.float64)
    position = np.empty(m if with_position else 0, np.int64)
    for p in range(m):
        i, j = unpack(codes[p])
        x, y = rank[i], rank[j]
        q = fill[max(x, y)]
        fill[max(x, y)] = q + 1
        partner[q] = min(x, y)
        value[q] = values[p]
        if with_position:
            position[q] = p
    for a in range(n):
        _sort(partner, value, position, first[a], first[a + 1])
    for q in range(m):
        partner[q] = arrivals[partner[q]]
    return first, partner, value, position


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
