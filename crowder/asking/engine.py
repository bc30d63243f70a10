"""The inner loop of both heuristics: what the answers imply, what to ask next, and the run to the end.

Plain functions over arrays, compiled by numba. `crowder.asking.orderings` calls `*_ask` and `learn` one question at a
time; `*_run` calls the very same functions in one compiled loop. With ``NUMBA_DISABLE_JIT=1`` all of it is plain Python
and asks the same questions in the same order.

Numba's cache notices an edit in the file of a compiled function, not in a file that it calls into. So all of these,
which call each other, share a file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "ASKED",
    "LOW",
    "Knowledge",
    "NodeWalk",
    "edge_ask",
    "edge_run",
    "know_nothing",
    "learn",
    "node_ask",
    "node_run",
    "node_walk",
    "settled",
]

#: A pair is packed as ``i << 32 | j``; this mask gives j back.
LOW = (1 << 32) - 1

# Where each running number of a Knowledge stands in its `count`.
ASKED, ENTRIES, KEYS = 0, 1, 2


class Knowledge(NamedTuple):
    """What the answers so far imply, in memory proportional to records plus answers.

    Matches join components: `component` names each record's, `ring` links its members in a circle, `weight` counts its
    members and non-matches, and a merge renames the lighter of the two. Non-matches between components are kept twice:
    as keys of an open-addressing hash set (`table`), to look one up at once, and as linked lists a component (`head`,
    `link`, `other`), so that a merge can carry the lighter one's over. `asked` and `answer` log the questions.
    """

    component: np.ndarray
    ring: np.ndarray
    weight: np.ndarray
    head: np.ndarray
    link: np.ndarray
    other: np.ndarray
    table: np.ndarray
    asked: np.ndarray
    answer: np.ndarray
    count: np.ndarray


@njit(cache=True)
def know_nothing(n):
    return Knowledge(
        np.arange(n),
        np.arange(n),
        np.ones(n, np.int64),
        np.full(n, -1, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.full(1024, -1, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.bool_),
        np.zeros(3, np.int64),
    )


@njit(cache=True)
def _slot(table, low, high):
    # Multiplicative hashing, in factors that keep every product below 2**62: plain Python then agrees without overflow.
    mask = len(table) - 1
    key = (low << 32) | high
    mixed = (low * 1103515245 + high) & 0x7FFFFFFF
    slot = ((mixed * 1540483477) >> 13) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def settled(component, table, i, j):
    """Whether transitivity already gives the answer for (i, j): same component, or components known to differ.

    Takes two fields of a `Knowledge`, not the whole: this is the innermost loop, and nine arrays cost more to hand over
    than the answer costs to find.
    """
    a = component[i]
    b = component[j]
    return a == b or table[_slot(table, min(a, b), max(a, b))] != -1


@njit(cache=True)
def _cramped(count, asked, link, table):
    """Whether one more answer, or one more non-match, might not fit."""
    return count[ASKED] == len(asked) or count[ENTRIES] + 2 > len(link) or 2 * (count[KEYS] + 1) > len(table)


@njit(cache=True)
def _grown(knowledge):
    """The same knowledge with room for more; doubling, so that the copies cost a constant an answer."""
    component, link, other, table = knowledge.component, knowledge.link, knowledge.other, knowledge.table
    asked, answer, count = knowledge.asked, knowledge.answer, knowledge.count
    if count[ASKED] == len(asked):
        asked = np.concatenate((asked, np.empty_like(asked)))
        answer = np.concatenate((answer, np.empty_like(answer)))
    if count[ENTRIES] + 2 > len(link):
        link = np.concatenate((link, np.empty_like(link)))
        other = np.concatenate((other, np.empty_like(other)))
    if 2 * (count[KEYS] + 1) > len(table):
        table = np.full(2 * len(table), -1, np.int64)
        count[KEYS] = 0
        for key in knowledge.table:
            low, high = key >> 32, key & LOW
            # A key of a component that has been merged away will never be looked up again.
            if key != -1 and component[low] == low and component[high] == high:
                table[_slot(table, low, high)] = key
                count[KEYS] += 1
    return Knowledge(
        component, knowledge.ring, knowledge.weight, knowledge.head, link, other, table, asked, answer, count
    )


@njit(cache=True)
def _part(head, link, other, weight, table, count, a, b):
    """Components a and b, not known to, differ."""
    low, high = min(a, b), max(a, b)
    table[_slot(table, low, high)] = (low << 32) | high
    count[KEYS] += 1
    for x, y in ((a, b), (b, a)):
        e = count[ENTRIES]
        other[e] = y
        link[e] = head[x]
        head[x] = e
        weight[x] += 1
        count[ENTRIES] = e + 1


@njit(cache=True)
def learn(knowledge, i, j, same):
    """Take in one answer to a question that was not settled: merge the two components, or mark them different."""
    k = knowledge
    if _cramped(k.count, k.asked, k.link, k.table):
        k = _grown(k)
    k.asked[k.count[ASKED]] = (i << 32) | j
    k.answer[k.count[ASKED]] = same
    k.count[ASKED] += 1
    a = k.component[i]
    b = k.component[j]
    if not same:
        _part(k.head, k.link, k.other, k.weight, k.table, k.count, a, b)
        return k
    if k.weight[a] < k.weight[b]:
        a, b = b, a
    k.component[b] = a  # a component bears the name of one of its members
    member = k.ring[b]
    while member != b:
        k.component[member] = a
        member = k.ring[member]
    k.ring[a], k.ring[b] = k.ring[b], k.ring[a]
    k.weight[a] += k.weight[b]
    e = k.head[b]  # what b is known to differ from, a now differs from
    while e != -1:
        c = k.component[k.other[e]]
        e = k.link[e]
        if k.table[_slot(k.table, min(a, c), max(a, c))] == -1:
            if _cramped(k.count, k.asked, k.link, k.table):
                k = _grown(k)
            _part(k.head, k.link, k.other, k.weight, k.table, k.count, a, c)
    return k


# --- Edge ordering -------------------------------------------------------------------------------------------------


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
