"""Pairs by falling similarity: the sequence that edge ordering walks.

Numba's cache notices an edit in the file of a compiled function, not in a file that it calls into. So compiled
functions that call each other share a file, here as in `crowder.asking.engine`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["EdgeWalk", "edge_walk"]


class EdgeWalk(NamedTuple):
    """All candidate pairs by falling similarity (`codes`), and how far the walk has come (`at[0]`)."""

    codes: np.ndarray
    at: np.ndarray


BINS = 1 << 16


@njit(cache=True)
def edge_walk(values, codes, draws, priority):
    """Sort pairs by falling similarity, ties by rising `priority`; without priorities shuffle them with `draws`.

    A counting sort by the leading 16 bits of the similarity, then an exact sort inside each bin. It is stable, which
    numpy's quick sort is not: the order of ties must not depend on the processor.
    """
    m = len(values)
    start = np.zeros(BINS + 2, np.int64)
    for p in range(m):
        start[BINS - int(values[p] * BINS) + 1] += 1
    for b in range(BINS + 1):
        start[b + 1] += start[b]
    fill = start.copy()
    value = np.empty(m, np.float64)
    code = np.empty(m, np.int64)
    rank = np.empty(len(priority), np.float64)
    for p in range(m):
        b = BINS - int(values[p] * BINS)
        q = fill[b]
        fill[b] = q + 1
        value[q] = values[p]
        code[q] = codes[p]
        if len(priority) > 0:
            rank[q] = priority[p]
    for b in range(BINS + 1):
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
