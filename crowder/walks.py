"""The sequences of pairs that the two heuristics walk, and the walk itself: ask, tell, or run to the end.

`crowder.orderings` calls `*_ask` and `*_tell` one question at a time; `*_run` calls the very same functions in one
compiled loop. With ``NUMBA_DISABLE_JIT=1`` all of it is plain Python and asks the same questions in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from crowder.knowledge import LOW, learn, settled

__all__ = ["EdgeWalk", "NodeWalk", "edge_ask", "edge_run", "edge_walk", "node_ask", "node_run", "node_walk"]

# --- Edge ordering -------------------------------------------------------------------------------------------------


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


@njit(cache=True)
def edge_ask(walk, knowledge):
    """The next pair that transitivity does not settle, packed, or -1."""
    codes, component, table = walk.codes, knowledge.component, knowledge.table
    for at in range(walk.at[0], len(codes)):
        if not settled(component, table, codes[at] >> 32, codes[at] & LOW):
            walk.at[0] = at
            return codes[at]
    walk.at[0] = len(codes)
    return -1


@njit(cache=True)
def edge_run(walk, knowledge, labels):
    """Ask and tell until nothing is left to ask, every answer read from the labels."""
    code = edge_ask(walk, knowledge)
    while code != -1:
        i, j = code >> 32, code & LOW
        knowledge = learn(knowledge, i, j, labels[i] == labels[j])
        code = edge_ask(walk, knowledge)
    return knowledge


# --- Node ordering -------------------------------------------------------------------------------------------------

# Where each running number of a NodeWalk stands in its `at`: records placed, components left to ask about.
PLACED, LEFT = 0, 1


class NodeWalk(NamedTuple):
    """Records in order of arrival, and for the newest of them the best pair into each component of earlier ones.

    The pairs of record ``arrivals[a]`` with earlier ones have positions ``first[a]:first[a + 1]`` in `partner`,
    `value` and `priority`. A complete similarity is read from `square` instead, and `partner` and `value` are empty.
    ``heap[:at[LEFT]]`` holds the components still to be asked about, the best on top; `best_*` tell its pair.
    """

    arrivals: np.ndarray
    first: np.ndarray
    square: np.ndarray
    partner: np.ndarray
    value: np.ndarray
    priority: np.ndarray
    heap: np.ndarray
    best_value: np.ndarray
    best_priority: np.ndarray
    best_record: np.ndarray
    seen_by: np.ndarray
    at: np.ndarray


@njit(cache=True)
def node_walk(arrivals, first, square, partner, value, priority):
    n = len(arrivals)
    return NodeWalk(
        arrivals,
        first,
        square,
        partner,
        value,
        priority,
        np.empty(n, np.int64),
        np.empty(n, np.float64),
        np.empty(n, np.float64),
        np.empty(n, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(2, np.int64),
    )


@njit(cache=True)
def _meet(walk, component, a):
    """Find, for arrival a, the best pair into every component of earlier records, and heap the components by it."""
    arrivals, square, partner, value, priority = walk.arrivals, walk.square, walk.partner, walk.value, walk.priority
    heap, seen_by = walk.heap, walk.seen_by
    best_value, best_priority, best_record = walk.best_value, walk.best_priority, walk.best_record
    base = walk.first[a]
    v = arrivals[a]
    size = 0
    for p in range(base, walk.first[a + 1]):
        if len(partner) > 0:
            u = partner[p]
            x = value[p]
        else:
            u = arrivals[p - base]
            x = square[v, u]
        c = component[u]
        if seen_by[c] != a:
            seen_by[c] = a
            heap[size] = c
            size += 1
        elif x < best_value[c]:
            continue
        elif x == best_value[c] and (priority[p] if len(priority) > 0 else u) >= best_priority[c]:
            continue
        best_value[c] = x
        best_priority[c] = priority[p] if len(priority) > 0 else u
        best_record[c] = u
    walk.at[LEFT] = size
    for top in range(size // 2 - 1, -1, -1):
        _sift(heap, best_value, best_priority, top, size)


@njit(cache=True)
def _ahead(best_value, best_priority, c, d):
    if best_value[c] != best_value[d]:
        return best_value[c] > best_value[d]
    return best_priority[c] < best_priority[d]


@njit(cache=True)
def _sift(heap, best_value, best_priority, top, size):
    while 2 * top + 1 < size:
        child = 2 * top + 1
        if child + 1 < size and _ahead(best_value, best_priority, heap[child + 1], heap[child]):
            child += 1
        if not _ahead(best_value, best_priority, heap[child], heap[top]):
            return
        heap[top], heap[child] = heap[child], heap[top]
        top = child


@njit(cache=True)
def node_ask(walk, knowledge):
    """The next pair that transitivity does not settle, as (newest record, its best in a component), packed, or -1."""
    n = len(walk.arrivals)
    while walk.at[PLACED] < n:
        v = walk.arrivals[walk.at[PLACED]]
        if len(walk.partner) == 0 and knowledge.ring[v] != v:
            walk.at[LEFT] = 0  # every two clusters are known to differ, so one match settles the rest
        while walk.at[LEFT] > 0:
            c = walk.heap[0]
            # `c` may have merged since the heap was made (never so for a complete similarity): ask by its record.
            if not settled(knowledge.component, knowledge.table, v, walk.best_record[c]):
                return (v << 32) | walk.best_record[c]
            walk.at[LEFT] -= 1
            walk.heap[0] = walk.heap[walk.at[LEFT]]
            _sift(walk.heap, walk.best_value, walk.best_priority, 0, walk.at[LEFT])
        walk.at[PLACED] += 1
        if walk.at[PLACED] < n:
            _meet(walk, knowledge.component, walk.at[PLACED])
    return -1


@njit(cache=True)
def node_run(walk, knowledge, labels):
    """Ask and tell until nothing is left to ask, every answer read from the labels."""
    code = node_ask(walk, knowledge)
    while code != -1:
        i, j = code >> 32, code & LOW
        knowledge = learn(knowledge, i, j, labels[i] == labels[j])
        code = node_ask(walk, knowledge)
    return knowledge
