"""Pairs by decreasing similarity, for edge ordering; pairs by arrival, for node ordering.

Numba's cache detects edits to the file of a compiled function, but not to other files that it calls. Compiled functions
that call each other are therefore kept in one file, as in `crowder.engine`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["EdgeWalk", "by_arrival", "edge_walk", "square_sums", "sums"]


class EdgeWalk(NamedTuple):
    """All candidate pairs by decreasing similarity (`codes`), and the current position (`at[0]`)."""

    codes: np.ndarray
    at: np.ndarray


#: The largest number of bins of the counting sort. Few pairs use fewer, because scanning empty bins dominated small
#: runs.
MOST_BINS = 1 << 16


@njit(cache=True)
def edge_walk(values, codes, draws, priority):
    """Sort pairs by decreasing similarity, ties by increasing `priority`; without priorities, shuffle ties with
    `draws`.

    A counting sort by the leading bits of the similarity, 16 at most, then an exact sort inside each bin. It is stable,
    unlike numpy's quicksort: the order of ties must not depend on the processor.
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
    value = np.empty(m, np.float64)
    code = np.empty(m, np.int64)
    rank = np.empty(len(priority), np.float64)
    for p in range(m):
        b = bins - int(values[p] * bins)
        q = fill[b]
        fill[b] = q + 1
        value[q] = values[p]
        code[q] = codes[p]
        if len(priority) > 0:
            rank[q] = priority[p]
    for b in range(bins + 1):
        _sort_falling(value, code, rank, start[b], start[b + 1])
    low = 0
    while low < m:
        high = low + 1
        while high < m and value[high] == value[low]:
            high += 1
        if len(priority) > 0 and high - low > 1:
            order = np.argsort(rank[low:high], kind="mergesort")
            code[low:high] = code[low:high][order]
        if len(draws) > 0:
            for q in range(low, high - 1):  # Fisher and Yates
                r = q + int(draws[q] * (high - q))
                code[q], code[r] = code[r], code[q]
        low = high
    return EdgeWalk(code, np.zeros(1, np.int64))


@njit(cache=True)
def _sort_falling(value, code, rank, low, high):
    mixed = False
    for q in range(low + 1, high):
        if value[q] != value[low]:
            mixed = True
            break
    if not mixed:
        return
    if high - low > 24:
        order = np.argsort(-value[low:high], kind="mergesort")
        value[low:high] = value[low:high][order]
        code[low:high] = code[low:high][order]
        if len(rank) > 0:
            rank[low:high] = rank[low:high][order]
        return
    for q in range(low + 1, high):
        r = q
        while r > low and value[r - 1] < value[r]:
            value[r - 1], value[r] = value[r], value[r - 1]
            code[r - 1], code[r] = code[r], code[r - 1]
            if len(rank) > 0:
                rank[r - 1], rank[r] = rank[r], rank[r - 1]
            r -= 1


@njit(cache=True)
def by_arrival(values, codes, arrivals, with_position):
    """Pairs by the later of their two arrivals, then by the earlier: a counting sort, then a sort within each record.

    Returns the position at which the pairs of each arrival start, their earlier records and values and, on request,
    their positions in the list.
    """
    n, m = len(arrivals), len(codes)
    rank = np.empty(n, np.int32)
    for a in range(n):
        rank[arrivals[a]] = a
    first = np.zeros(n + 1, np.int64)
    for p in range(m):
        first[max(rank[codes[p] >> 32], rank[codes[p] & 0xFFFFFFFF]) + 1] += 1
    for a in range(n):
        first[a + 1] += first[a]
    fill = first[:-1].copy()
    partner = np.empty(m, np.int32)  # ranks, until the pairs of each record are sorted
    value = np.empty(m, np.float64)
    position = np.empty(m if with_position else 0, np.int64)
    for p in range(m):
        x, y = rank[codes[p] >> 32], rank[codes[p] & 0xFFFFFFFF]
        q = fill[max(x, y)]
        fill[max(x, y)] = q + 1
        partner[q] = min(x, y)
        value[q] = values[p]
        if with_position:
            position[q] = p
    for a in range(n):
        _sort_ranks(partner, value, position, first[a], first[a + 1])
    for q in range(m):
        partner[q] = arrivals[partner[q]]
    return first, partner, value, position


@njit(cache=True)
def _sort_ranks(partner, value, position, low, high):
    if high - low > 32:
        order = np.argsort(partner[low:high], kind="mergesort")
        partner[low:high] = partner[low:high][order]
        value[low:high] = value[low:high][order]
        if len(position) > 0:
            position[low:high] = position[low:high][order]
        return
    for q in range(low + 1, high):
        r = q
        while r > low and partner[r - 1] > partner[r]:
            partner[r - 1], partner[r] = partner[r], partner[r - 1]
            value[r - 1], value[r] = value[r], value[r - 1]
            if len(position) > 0:
                position[r - 1], position[r] = position[r], position[r - 1]
            r -= 1


# A sum of floats depends on the order of its terms, and its last bit may decide which record arrives first. Sums of
# whole numbers do not: the upper and lower 26 bits of each similarity are summed separately.
HALF = 1 << 26


@njit(cache=True)
def sums(values, codes, n):
    """Each record's sum of similarities (n,), independent of the order of pairs and records."""
    whole, rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for p in range(len(codes)):
        i, j = codes[p] >> 32, codes[p] & 0xFFFFFFFF
        upper = int(values[p] * HALF)
        lower = int((values[p] * HALF - upper) * HALF)
        whole[i] += upper
        whole[j] += upper
        rest[i] += lower
        rest[j] += lower
    return whole / HALF + rest / HALF / HALF


@njit(cache=True)
def square_sums(square):
    """The same sums from a complete similarity, ignoring its diagonal."""
    n = len(square)
    whole, rest = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        for j in range(n):
            if i != j:
                upper = int(square[i, j] * HALF)
                whole[i] += upper
                rest[i] += int((square[i, j] * HALF - upper) * HALF)
    return whole / HALF + rest / HALF / HALF
