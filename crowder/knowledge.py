"""What the answers imply: components joined by matches, and the non-matches between them.

Plain functions over arrays, compiled by numba. With ``NUMBA_DISABLE_JIT=1`` they are plain Python and give the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["ASKED", "LOW", "Knowledge", "know_nothing", "learn", "settled"]

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
