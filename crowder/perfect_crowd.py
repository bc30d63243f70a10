"""How many questions the two heuristics ask a perfect crowd, for experiments that only count.

The counts are those of `crowder.orderings` with a `crowder.Truth`, the same priorities of ties and the same arrivals,
found faster. Edge ordering sorts only pairs whose answers are not implied, piece by piece, and stops when there is
none. Node ordering needs no union of components: all earlier records are in their true clusters, so a record asks about
the clusters that are more similar to it than its own, and about its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from crowder import validation
from crowder.orderings import NONE, arrival_order
from crowder.pairs import Candidates, candidates, unconstrained
from crowder.sorting import edge_walk
from crowder.validation import Seed

__all__ = ["edge_questions", "node_questions"]

#: Similarities are divided into this many bins. A piece of the pairs consists of whole bins, so ties stay together.
BINS = 1 << 12

#: The first piece has this share of the pairs; each of the others is twice as large as the one before.
FIRST_PIECE = 1 / 32


def edge_questions(similarity: ArrayLike, labels: ArrayLike, *, rng: Seed | None = None, ties: str = "random") -> int:
    """The number of questions that edge ordering asks a perfect crowd, all pairs being candidates.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1].
    labels : array_like, shape (n,)
        The true clusters.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties. Required if they are random.
    ties : {"random", "index"}, keyword only
        As for `crowder.EdgeOrdering`.

    Raises
    ------
    ValueError
        If an argument is not one of these.

    See Also
    --------
    crowder.edge_ordering : the same run, with its questions and answers.

    Notes
    -----
    O(n²) memory, and O(n² log n) time at most. Random ties give each pair a random priority, drawn in condensed order.
    Section "The two heuristic algorithms".

    Examples
    --------
    >>> edge_questions([[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], [0, 0, 1], rng=7)  # (1, 2) is implied
    2
    """
    pairs, true = _complete(similarity, labels)
    values, codes = pairs.listed()
    priority = validation.generator(rng, "random ties").random(len(values)) if _random(ties) else NONE
    binned = (values * BINS).astype(np.int16)  # up to BINS itself, for similarity 1
    above = np.cumsum(np.bincount(binned, minlength=BINS + 1)[::-1])  # pairs in the highest 1, 2, ... bins
    component, differ = np.arange(pairs.n), np.zeros((pairs.n, pairs.n), np.bool_)
    asked, open_pairs, bins, size = 0, pairs.n * (pairs.n - 1) // 2, 0, FIRST_PIECE * len(values)
    while open_pairs > 0 and bins <= BINS:
        high = BINS - bins
        bins = min(int(np.searchsorted(above, (above[bins - 1] if bins else 0) + size)), BINS) + 1
        chosen = _unsettled(codes, binned, BINS - bins, high, component, differ)
        falling = edge_walk(values[chosen], codes[chosen], NONE, priority[chosen] if len(priority) else NONE)
        more, open_pairs = _edge_questions(falling.codes, true, component, differ, open_pairs)
        asked, size = asked + more, 2 * size
    return asked


def node_questions(
    similarity: ArrayLike,
    labels: ArrayLike,
    *,
    rng: Seed | None = None,
    ties: str = "random",
    order: str | ArrayLike = "expected-size",
) -> int:
    """The number of questions that node ordering asks a perfect crowd, all pairs being candidates.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1].
    labels : array_like, shape (n,)
        The true clusters.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties. Required unless neither `ties` nor `order` needs it.
    ties : {"random", "index"}, keyword only
    order : {"expected-size", "random"} or array_like, shape (n,), keyword only
        Both as for `crowder.NodeOrdering`.

    Raises
    ------
    ValueError
        If an argument is not one of these.

    See Also
    --------
    crowder.node_ordering : the same run, with its questions and answers.

    Notes
    -----
    O(n²) time and memory. Section "The two heuristic algorithms".

    Examples
    --------
    >>> node_questions([[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], [0, 0, 1], rng=7)
    2
    """
    pairs, true = _complete(similarity, labels)
    by_chance = _random(ties)
    needed = by_chance or (isinstance(order, str) and order == "random")
    generator = validation.generator(rng, "random ties") if needed else None
    arrivals = arrival_order(pairs, order, generator, by_chance)
    priority = generator.random(pairs.n * (pairs.n - 1) // 2) if by_chance else NONE  # type: ignore[union-attr]
    return _node_questions(pairs.square(), true, arrivals, priority)


def _complete(similarity: ArrayLike, labels: ArrayLike) -> tuple[Candidates, np.ndarray]:
    pairs = unconstrained(candidates(similarity), "counting")
    if not pairs.complete:
        raise ValueError("similarity must have a value for every pair; use edge_ordering or node_ordering for others")
    return pairs, validation.labels(labels, pairs.n)


def _random(ties: str) -> bool:
    if not isinstance(ties, str) or ties not in ("random", "index"):
        raise ValueError(f'ties must be "random" or "index", not {ties!r}')
    return ties == "random"


@njit(cache=True)
def _unsettled(
    codes: np.ndarray, binned: np.ndarray, low: int, high: int, component: np.ndarray, differ: np.ndarray
) -> np.ndarray:
    """The pairs in the bins from `low`, exclusive, to `high` whose answers are not implied."""
    chosen = np.empty(len(codes), np.int64)
    many = 0
    for p in range(len(codes)):
        if low < binned[p] <= high:
            a, b = component[codes[p] >> 32], component[codes[p] & 0xFFFFFFFF]
            if a != b and not differ[a, b]:
                chosen[many] = p
                many += 1
    return chosen[:many]


@njit(cache=True)
def _edge_questions(
    codes: np.ndarray, labels: np.ndarray, component: np.ndarray, differ: np.ndarray, open_pairs: int
) -> tuple[int, int]:
    """Ask about the pairs in turn. `differ` marks components known to differ, `open_pairs` counts the others' pairs."""
    asked = 0
    for code in codes:
        i, j = code >> 32, code & 0xFFFFFFFF
        a, b = component[i], component[j]
        if a == b or differ[a, b]:
            continue
        asked += 1
        open_pairs -= 1
        if labels[i] != labels[j]:
            differ[a, b] = differ[b, a] = True
            continue
        for v in range(len(component)):
            if component[v] == v and v != a and v != b:  # another component
                if not (differ[a, v] and differ[b, v]):
                    open_pairs -= 1  # of two pairs that were open, one is left; of a single one, none
                known = differ[a, v] or differ[b, v]
                differ[a, v] = differ[v, a] = known
            if component[v] == b:
                component[v] = a
        if open_pairs == 0:
            break
    return asked, open_pairs


@njit(cache=True)
def _node_questions(square: np.ndarray, labels: np.ndarray, arrivals: np.ndarray, priority: np.ndarray) -> int:
    """Compare each arrival's best pair with its own cluster, if it has one, with its best pairs with the others."""
    n = len(arrivals)
    clusters = labels.max() + 1 if n > 0 else 0
    value, tie = np.empty(clusters), np.empty(clusters)
    met = np.full(clusters, -1)  # the last arrival that had a pair with this cluster
    asked = p = 0
    for a in range(n):
        v = arrivals[a]
        for u in arrivals[:a]:
            c, x = labels[u], square[v, u]
            y = priority[p] if len(priority) > 0 else u
            p += 1
            if met[c] != a or x > value[c] or (x == value[c] and y < tie[c]):
                met[c], value[c], tie[c] = a, x, y
        own = labels[v]
        for c in range(clusters):
            if met[c] == a:
                ahead = value[c] > value[own] or (value[c] == value[own] and tie[c] < tie[own])
                asked += c == own or met[own] != a or ahead
    return asked
