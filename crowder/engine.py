"""The inner loop of both heuristics: what the answers imply, what to ask next, and complete runs.

Plain functions over arrays, compiled by numba. `crowder.orderings` calls `*_ask` and `learned` one question at a time;
`*_run` calls the very same functions in one compiled loop. What Python calls for each question takes plain tuples and
returns a number: numba needs microseconds more for a named tuple, and to return arrays. With ``NUMBA_DISABLE_JIT=1``
everything runs as plain Python, with the same questions in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowder.checks import compiled, inner
from crowder.pairs import unpack

__all__ = [
    "ASKED", "ELSEWHERE", "Knowledge", "NodeWalk", "apart", "edge_ask", "edge_run", "learn", "learned", "no_knowledge",
    "node_ask", "node_run", "node_walk", "open_pairs", "settled",
]  # fmt: skip

# The index of each counter of a Knowledge in its `count`; ELSEWHERE is 1 if some answers came without a question.
ASKED, ENTRIES, KEYS, TOUCHED, ELSEWHERE = 0, 1, 2, 3, 4


class Knowledge(NamedTuple):
    """What the answers so far imply, in memory proportional to records plus answers.

    Matches join components: `component` gives the component of each record, `ring` links its members in a circle,
    `weight` counts its members and non-matches, and a merge relabels the lighter of the two. Non-matches between
    components are stored twice: as keys of an open-addressing hash set (`table`), for lookup, and as a linked list for
    each component (`head`, `link`, `other`), so that a merge can move those of the lighter one. `asked` and `answer`
    log the questions.

    Labels and links have 32 bits, because long runs are limited by memory access.
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
    count: np.ndarray  # type: ignore[assignment]  # a field of this name hides a method of tuples


def no_knowledge(n):
    """What is known of n records before any answer."""
    return Knowledge(
        np.arange(n).astype(np.int32),
        np.arange(n).astype(np.int32),
        np.ones(n, np.int32),
        np.full(n, -1, np.int32),
        np.empty(1024, np.int32),
        np.empty(1024, np.int32),
        np.full(1024, -1, np.int64),
        np.empty(1024, np.int64),
        np.empty(1024, np.bool_),
        np.zeros(5, np.int64),
    )


@inner
def _start(table, low, high):
    # Multiplicative hashing, in factors that keep every product below 2**62: plain Python then agrees without overflow.
    mixed = (low * 1103515245 + high) & 0x7FFFFFFF
    return ((mixed * 1540483477) >> 13) & (len(table) - 1)


@inner
def _slot(table, low, high):
    mask = len(table) - 1
    key = (low << 32) | high
    slot = _start(table, low, high)
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@inner
def _settled(component, table, i, j):
    """Whether transitivity already gives the answer for (i, j): same component, or components known to differ.

    Takes two fields of a `Knowledge` instead of all: in this innermost loop, passing nine arrays would cost more than
    the lookup.
    """
    a = np.int64(component[i])
    b = np.int64(component[j])
    return a == b or table[_slot(table, min(a, b), max(a, b))] != -1


@inner
def _cramped(count, asked, link, table):
    """Whether there may be no room for one more answer or non-match."""
    return count[ASKED] == len(asked) or count[ENTRIES] + 2 > len(link) or 8 * (count[KEYS] + 1) > 5 * len(table)


@inner
def _doubled(column):
    twice = np.empty(2 * len(column), column.dtype)
    for e in range(len(column)):  # an assignment of slices takes seconds to compile
        twice[e] = column[e]
    return twice


@inner
def _grown(knowledge):
    """The same knowledge in arrays of twice the size, so that copying costs a constant for each answer."""
    component, link, other, table = knowledge.component, knowledge.link, knowledge.other, knowledge.table
    asked, answer, count = knowledge.asked, knowledge.answer, knowledge.count
    if count[ASKED] == len(asked):
        asked, answer = _doubled(asked), _doubled(answer)
    if count[ENTRIES] + 2 > len(link):
        if len(link) > 1 << 30:
            raise ValueError("there are more known non-matches than 32 bits can count")
        link, other = _doubled(link), _doubled(other)
    if 8 * (count[KEYS] + 1) > 5 * len(table):
        table = np.full(2 * len(table), -1, np.int64)
        count[KEYS] = 0
        for key in knowledge.table:
            low, high = unpack(key)
            # A key of a component that has been merged away will never be looked up again.
            if key != -1 and component[low] == low and component[high] == high:
                table[_slot(table, low, high)] = key
                count[KEYS] += 1
    return Knowledge(
        component, knowledge.ring, knowledge.weight, knowledge.head, link, other, table, asked, answer, count
    )


@inner
def _part(head, link, other, weight, table, count, a, b):
    low, high = min(a, b), max(a, b)
    _note(head, link, other, weight, table, count, low, high, _slot(table, low, high))


@inner
def _note(head, link, other, weight, table, count, low, high, slot):
    """Record that two components differ, which was not known before; `slot` is the place of their key."""
    table[slot] = (low << 32) | high
    count[KEYS] += 1
    e = count[ENTRIES]
    other[e] = high
    link[e] = head[low]
    head[low] = e
    weight[low] += 1
    other[e + 1] = low
    link[e + 1] = head[high]
    head[high] = e + 1
    weight[high] += 1
    count[ENTRIES] = e + 2


@inner
def _learn(knowledge, i, j, same):
    """Record the answer to a question that was not settled: merge the two components, or mark them as different."""
    k = knowledge
    if _cramped(k.count, k.asked, k.link, k.table):
        k = _grown(k)
    k.asked[k.count[ASKED]] = (i << 32) | j
    k.answer[k.count[ASKED]] = same
    k.count[ASKED] += 1
    a = np.int64(k.component[i])
    b = np.int64(k.component[j])
    if not same:
        _part(k.head, k.link, k.other, k.weight, k.table, k.count, a, b)
        return k
    if k.weight[a] < k.weight[b]:
        a, b = b, a
    k.component[b] = a  # a component is labelled by one of its members
    member = k.ring[b]
    while member != b:
        k.component[member] = a
        member = k.ring[member]
    k.ring[a], k.ring[b] = k.ring[b], k.ring[a]
    k.weight[a] += k.weight[b]
    e = k.head[b]  # a now differs from everything that b is known to differ from
    while e != -1:
        c = np.int64(k.component[k.other[e]])
        e = k.link[e]
        if k.table[_slot(k.table, min(a, c), max(a, c))] == -1:
            if _cramped(k.count, k.asked, k.link, k.table):
                k = _grown(k)
            _part(k.head, k.link, k.other, k.weight, k.table, k.count, a, c)
    return k


@compiled
def learned(knowledge, i, j, same):
    """`learn` in place, with the knowledge as a plain tuple; False, and nothing learned, if there may be no room."""
    k = Knowledge(*knowledge)
    most = min(k.weight[k.component[i]], k.weight[k.component[j]]) if same else 1  # at least 1, and the new non-matches
    full = k.count[ASKED] == len(k.asked) or k.count[ENTRIES] + 2 * most > len(k.link)
    if full or 8 * (k.count[KEYS] + most) > 5 * len(k.table):
        return False
    _learn(k, i, j, same)
    return True


def apart(knowledge):
    """The pairs of components known to differ, each named as in `component`: two arrays (d,)."""
    keys = knowledge.table[knowledge.table != -1]
    low, high = unpack(keys)
    # Other keys are of components that have been merged away.
    kept = (knowledge.component[low] == low) & (knowledge.component[high] == high)
    return low[kept], high[kept]


#: What Python calls.
settled, learn = compiled(_settled), compiled(_learn)


# --- Edge ordering -------------------------------------------------------------------------------------------------


@compiled
def edge_ask(codes, position, component, table):
    """The next pair that transitivity does not settle, packed, or -1."""
    for at in range(position[0], len(codes)):
        i, j = unpack(codes[at])
        if not _settled(component, table, i, j):
            position[0] = at
            return codes[at]
    position[0] = len(codes)
    return -1


@compiled
def open_pairs(codes, component, table):
    """The pairs that transitivity does not settle, in the same order."""
    kept = np.empty_like(codes)
    count = 0
    for code in codes:
        i, j = unpack(code)
        if not _settled(component, table, i, j):
            kept[count] = code
            count += 1
    return kept[:count].copy()


@compiled
def edge_run(walk, knowledge, labels):
    """Ask all remaining questions, with every answer read from the labels."""
    codes, at = walk.codes, walk.at
    while at[0] < len(codes):
        _part_pairs(walk, knowledge, labels)
        if at[0] < len(codes):
            i, j = unpack(codes[at[0]])
            knowledge = _learn(knowledge, i, j, labels[i] == labels[j])
            at[0] += 1
    return knowledge


@inner
def _part_pairs(walk, knowledge, labels):
    """Ask and answer as long as the answers are non-matches and there is room, the usual case; stop before any other.

    The pairs are processed in blocks, and a first pass over a block only prefetches the memory that the second will
    need: the reads of the first overlap, while those of the second would wait for one another.
    """
    codes, at = walk.codes, walk.at
    component, head, link, other = knowledge.component, knowledge.head, knowledge.link, knowledge.other
    weight, table, count = knowledge.weight, knowledge.table, knowledge.count
    asked, answer = knowledge.asked, knowledge.answer
    block = 32
    while at[0] < len(codes):
        end = min(at[0] + block, len(codes))
        touched = 0
        for p in range(at[0], end):
            i, j = unpack(codes[p])
            a = np.int64(component[i])
            b = np.int64(component[j])
            touched ^= table[_start(table, min(a, b), max(a, b))] ^ head[a] ^ head[b] ^ weight[a] ^ weight[b]
        count[TOUCHED] = touched  # otherwise the compiler would remove the first pass
        for p in range(at[0], end):
            i, j = unpack(codes[p])
            a = np.int64(component[i])
            b = np.int64(component[j])
            if a == b:
                continue
            low, high = min(a, b), max(a, b)
            slot = _slot(table, low, high)
            if table[slot] != -1:
                continue
            if labels[i] == labels[j] or _cramped(count, asked, link, table):
                at[0] = p
                return
            asked[count[ASKED]] = codes[p]
            answer[count[ASKED]] = False
            count[ASKED] += 1
            _note(head, link, other, weight, table, count, low, high, slot)
        at[0] = end


# --- Node ordering ------------------------------------------------------------------------------------------

# The index of each counter of a NodeWalk in its `at`: records placed, components left to ask about.
PLACED, LEFT = 0, 1


class NodeWalk(NamedTuple):
    """Records in order of arrival, and the newest record's best pair with each component of earlier ones.

    The pairs of record ``arrivals[a]`` with earlier ones have positions ``first[a]:first[a + 1]`` in `partner`, `value`
    and `priority`. A complete similarity is read from `square` instead, and `partner` and `value` are empty. The
    components with a pair to the newest record are numbered: `met` lists them, `place` gives a component's number
    (where `met` agrees), and `best_*` hold its best pair. ``heap[:at[LEFT]]`` contains those still to be asked about,
    the best on top.
    """

    arrivals: np.ndarray
    first: np.ndarray
    square: np.ndarray
    partner: np.ndarray
    value: np.ndarray
    priority: np.ndarray
    heap: np.ndarray
    met: np.ndarray
    place: np.ndarray
    best_value: np.ndarray
    best_priority: np.ndarray
    best_record: np.ndarray
    at: np.ndarray

    def __deepcopy__(self, memo: dict) -> NodeWalk:
        return NodeWalk(*self[:6], *(array.copy() for array in self[6:]))  # only those after `priority` change


def node_walk(arrivals, first, square, partner, value, priority):
    n = len(arrivals)
    return NodeWalk(
        arrivals,
        first,
        square,
        partner,
        value,
        priority,
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.zeros(n, np.int32),
        np.empty(n, np.float64),
        np.empty(n, np.float64),
        np.empty(n, np.int32),
        np.zeros(2, np.int64),
    )


@inner
def _meet(walk, knowledge, a):
    """Find, for arrival a, the best pair with every component of earlier records, and build the heap of components."""
    arrivals, square, partner, value, priority = walk.arrivals, walk.square, walk.partner, walk.value, walk.priority
    heap, met, place = walk.heap, walk.met, walk.place
    best_value, best_priority, best_record = walk.best_value, walk.best_priority, walk.best_record
    component, table, head, weight = knowledge.component, knowledge.table, knowledge.head, knowledge.weight
    base = walk.first[a]
    v = arrivals[a]
    size = 0
    for p in range(base, walk.first[a + 1]):
        if len(partner) > 0:
            u = np.int64(partner[p])
            x = value[p]
        else:
            u = arrivals[p - base]
            x = square[v, u]
        c = component[u]
        s = place[c]
        if s >= size or met[s] != c:
            s = size
            place[c] = s
            met[s] = c
            heap[s] = s
            size += 1
        elif x < best_value[s]:
            continue
        elif x == best_value[s] and (priority[p] if len(priority) > 0 else u) >= best_priority[s]:
            continue
        best_value[s] = x
        best_priority[s] = priority[p] if len(priority) > 0 else u
        best_record[s] = u
    touched = 0  # as in _part_pairs, to prefetch memory
    for s in range(size):
        c = np.int64(met[s])
        touched ^= table[_start(table, min(c, v), max(c, v))] ^ head[c] ^ weight[c]
    knowledge.count[TOUCHED] = touched
    walk.at[LEFT] = size
    for top in range(size // 2 - 1, -1, -1):
        _sift(heap, best_value, best_priority, top, size)


@inner
def _ahead(best_value, best_priority, c, d):
    if best_value[c] != best_value[d]:
        return best_value[c] > best_value[d]
    return best_priority[c] < best_priority[d]


@inner
def _sift(heap, best_value, best_priority, top, size):
    while 2 * top + 1 < size:
        child = 2 * top + 1
        if child + 1 < size and _ahead(best_value, best_priority, heap[child + 1], heap[child]):
            child += 1
        if not _ahead(best_value, best_priority, heap[child], heap[top]):
            return
        heap[top], heap[child] = heap[child], heap[top]
        top = child


@compiled
def node_ask(walk, knowledge):
    """The next pair that transitivity does not settle, as (newest record, its best in a component), packed, or -1.

    Takes plain tuples.
    """
    return _node_questions(NodeWalk(*walk), Knowledge(*knowledge), np.empty(0, np.int64))


@compiled
def node_run(walk, knowledge, labels):
    """Ask all remaining questions, with every answer read from the labels."""
    code = _node_questions(walk, knowledge, labels)
    while code != -1:
        i, j = unpack(code)
        knowledge = _learn(knowledge, i, j, labels[i] == labels[j])
        code = _node_questions(walk, knowledge, labels)
    return knowledge


@inner
def _node_questions(walk, knowledge, labels):
    """The next pair to ask; with labels, first asks and answers the non-matches for which there is room."""
    arrivals, heap, at = walk.arrivals, walk.heap, walk.at
    best_value, best_priority, best_record = walk.best_value, walk.best_priority, walk.best_record
    component, head, link, other = knowledge.component, knowledge.head, knowledge.link, knowledge.other
    weight, table, count = knowledge.weight, knowledge.table, knowledge.count
    asked, answer = knowledge.asked, knowledge.answer
    n = len(arrivals)
    while at[PLACED] < n:
        v = arrivals[at[PLACED]]
        if len(walk.partner) == 0 and count[ELSEWHERE] == 0 and knowledge.ring[v] != v:
            at[LEFT] = 0  # all clusters are known to differ, so one match settles the rest
        while at[LEFT] > 0:
            # The component may have merged since the heap was made (never with a complete similarity): ask by record.
            u = np.int64(best_record[heap[0]])
            a = np.int64(component[v])
            b = np.int64(component[u])
            low, high = min(a, b), max(a, b)
            slot = _slot(table, low, high)
            if a != b and table[slot] == -1:
                if len(labels) == 0 or labels[v] == labels[u] or _cramped(count, asked, link, table):
                    return (v << 32) | u
                asked[count[ASKED]] = (v << 32) | u
                answer[count[ASKED]] = False
                count[ASKED] += 1
                _note(head, link, other, weight, table, count, low, high, slot)
            at[LEFT] -= 1
            heap[0] = heap[at[LEFT]]
            _sift(heap, best_value, best_priority, 0, at[LEFT])
        at[PLACED] += 1
        if at[PLACED] < n:
            _meet(walk, knowledge, at[PLACED])
    return -1
