"""Optimal strategies without similarities: worst-case and expected questions for a few records, by exhaustive search.

These are lower bounds, exact for small instances. Plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby, permutations, product
from math import comb
from typing import Any

from crowder import validation

__all__ = ["certificate", "fewest_expected", "minimax", "partitions", "worst_case"]

#: The most records for which all subsets of the pairs are tried: 15 pairs have 32,768.
MOST_SUBSETS = 6

#: The most records for a search: seven take an hour.
MOST_SEARCHED = 8

#: The most records whose partitions are listed: 15 have a billion.
MOST_PARTITIONED = 15

Graph = tuple[frozenset, ...]  # for each component, the components known to differ from it


def worst_case(n: int, k: int, *, known: bool = False) -> int:
    r"""Worst-case number of questions of the best deterministic strategy without similarities.

    With k unknown, :math:`nk - \binom{k+1}2` on partitions into k clusters; with k known, :math:`n(k-1) - \binom k2`
    for k < n and none for k = n.

    Parameters
    ----------
    n, k : int
        1 ≤ k ≤ n.
    known : bool
        Whether k is given to the strategy.

    Raises
    ------
    ValueError
        If not 1 ≤ k ≤ n.

    Examples
    --------
    >>> worst_case(5, 2), worst_case(5, 2, known=True)
    (7, 4)
    """
    _check(n, k)
    if validation.flag(known, "known"):
        return 0 if k == n else n * (k - 1) - comb(k, 2)
    return n * k - comb(k + 1, 2)


def minimax(n: int, k: int, *, known: bool = False) -> int:
    """`worst_case` by a minimax search over all questions and answers (Section "Information theoretic lower bound").

    The adversary must leave at most k clusters possible, and exactly k if k is given. Without k, a strategy has to
    settle every pair; with k, it may stop when only one partition into k clusters is left.

    Parameters
    ----------
    n, k : int
        1 ≤ k ≤ n.
    known : bool
        Whether k is given to the strategy.

    Raises
    ------
    ValueError
        If not 1 ≤ k ≤ n.

    Notes
    -----
    The sizes of the components do not matter, so a state is a graph of non-matches between components, up to
    isomorphism: 208 of them for n = 6, which takes a few seconds.

    Examples
    --------
    >>> minimax(5, 2), minimax(5, 2, known=True)
    (7, 4)
    """
    _check(n, k)
    validation.flag(known, "known")
    if n > MOST_SEARCHED:
        raise ValueError(f"n must be at most {MOST_SEARCHED} for a search, not {n}")

    @cache
    def value(graph: Graph) -> int:
        size = len(graph)
        if known and _colourings(graph, k, exactly=True, most=2) == 1:
            return 0
        open_pairs = [(u, v) for u, v in combinations(range(size), 2) if v not in graph[u]]
        if not open_pairs:
            return 0
        best = size * size  # more than any strategy needs
        for after in {frozenset([_merged(graph, u, v), _separated(graph, u, v)]) for u, v in open_pairs}:
            answers = [value(reply) for reply in after if _colourings(reply, k, exactly=known, most=1)]
            best = min(best, max(answers))
        return 1 + best

    return value((frozenset(),) * n)


def fewest_expected(weights: Mapping[tuple, Fraction | float]) -> Any:
    """Expected questions of the best strategy that is never wrong, for a known prior on the clusterings.

    Parameters
    ----------
    weights : mapping
        From labels of the records, a tuple of numbers, to a positive weight; weights need not sum to one. Labels of the
        same clustering are combined.

    Returns
    -------
    number
        In the arithmetic of the weights.

    Notes
    -----
    Searches sets of clusterings that are still possible: up to 3^(pairs) of them, so a dozen pairs at most.

    Examples
    --------
    >>> fewest_expected({(0, 0, 1): Fraction(1, 2), (0, 1, 0): Fraction(1, 4), (1, 0, 0): Fraction(1, 4)})
    Fraction(3, 2)
    """
    validation.kind(weights, Mapping, "weights must be a mapping from labels to weights")
    if not weights or not all(0 < weight < float("inf") for weight in weights.values()):
        raise ValueError(f"weights must be positive and not empty, not {dict(weights)}")
    if len({len(labels) for labels in weights}) > 1:
        raise ValueError("weights must have labels for the same number of records")
    merged: dict[tuple, Fraction | float] = {}
    for labels, share in weights.items():
        name = tuple(labels.index(label) for label in labels)
        merged[name] = merged.get(name, 0) + share
    clusterings = list(merged)  # sets of them are bits of an integer
    matches = {
        sum(1 << w for w, labels in enumerate(clusterings) if labels[u] == labels[v])
        for u, v in combinations(range(len(clusterings[0])), 2)
    }

    @cache
    def weight(possible: int) -> Any:
        return sum(merged[labels] for w, labels in enumerate(clusterings) if possible >> w & 1)

    @cache
    def value(possible: int) -> Any:
        """Expected further questions, times the weight of the possible clusterings."""
        if not possible & (possible - 1):  # one clustering is left
            return 0
        splits = {frozenset([possible & yes, possible & ~yes]) for yes in matches}
        return weight(possible) + min(sum(map(value, split)) for split in splits if 0 not in split)

    everything = (1 << len(clusterings)) - 1
    return value(everything) / weight(everything)


def certificate(labels: Sequence, *, known: bool = False) -> int:
    """The least number of questions whose true answers leave only one clustering possible, over all sets of questions.

    Parameters
    ----------
    labels : sequence
        True cluster of each record.
    known : bool
        Whether the number of clusters is known.

    Notes
    -----
    All subsets of the pairs are tried: fast for up to five records.

    Examples
    --------
    >>> certificate("aab"), certificate("aab", known=True)  # a match and a non-match; only the match
    (2, 1)
    """
    labels = validation.labels(list(labels) if isinstance(labels, str) else labels).tolist()
    validation.flag(known, "known")
    if len(labels) > MOST_SUBSETS:
        raise ValueError(f"labels must have at most {MOST_SUBSETS} records, not {len(labels)}")
    k = len(set(labels))
    clusterings = [parts for parts in partitions(len(labels)) if not known or max(parts) + 1 == k]
    pairs = list(combinations(range(len(labels)), 2))
    truth = [labels[u] == labels[v] for u, v in pairs]
    consistent = [  # the clusterings that agree with the true answer about a pair, as bits
        sum(1 << w for w, parts in enumerate(clusterings) if (parts[u] == parts[v]) == same)
        for (u, v), same in zip(pairs, truth, strict=True)
    ]
    for size in range(len(pairs) + 1):
        for chosen in combinations(consistent, size):
            left = (1 << len(clusterings)) - 1
            for agreeing in chosen:
                left &= agreeing
            if not left & (left - 1):
                return size
    raise AssertionError("all pairs together determine the clustering")


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """All partitions of n records, as labels numbered by first appearance.

    Examples
    --------
    >>> [len(list(partitions(n))) for n in range(1, 7)]  # the Bell numbers
    [1, 2, 5, 15, 52, 203]
    """
    n = validation.whole(n, "n")
    if n > MOST_PARTITIONED:
        raise ValueError(f"n must be at most {MOST_PARTITIONED} to list the partitions, not {n}")

    def extend(labels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extend((*labels, label))

    return extend(())


def _check(n: int, k: int) -> None:
    n, k = validation.whole(n, "n"), validation.whole(k, "k")
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n, but {n} records cannot form {k} clusters")


@cache
def _colourings(graph: Graph, k: int, *, exactly: bool, most: int) -> int:
    """The number of partitions into at most (or exactly) k classes that agree with the known non-matches, up to
    `most`."""
    found = 0

    def place(v: int, classes: list[set]) -> None:
        nonlocal found
        if found >= most or (exactly and len(classes) + len(graph) - v < k):
            return
        if v == len(graph):
            found += 1
            return
        for part in classes:
            if not part & graph[v]:
                part.add(v)
                place(v + 1, classes)
                part.remove(v)
        if len(classes) < k:
            place(v + 1, [*classes, {v}])

    place(0, [])
    return found


def _separated(graph: Graph, u: int, v: int) -> Graph:
    changed = list(graph)
    changed[u], changed[v] = graph[u] | {v}, graph[v] | {u}
    return _canonical(tuple(changed))


def _merged(graph: Graph, u: int, v: int) -> Graph:
    number = [w - (w > v) for w in range(len(graph))]
    number[v] = number[u]
    changed: list[set] = [set() for _ in range(len(graph) - 1)]
    for w, others in enumerate(graph):
        changed[number[w]] |= {number[x] for x in others}
    return _canonical(tuple(map(frozenset, changed)))


@cache
def _canonical(graph: Graph) -> Graph:
    """A canonical form of the graph: the least of its renumberings that are sorted by degree."""

    def shape(v: int) -> tuple:
        return len(graph[v]), sorted(len(graph[w]) for w in graph[v])

    order = sorted(range(len(graph)), key=shape)
    groups = [list(group) for _, group in groupby(order, key=shape)]
    best: list[tuple[int, ...]] | None = None
    for arranged in product(*(permutations(group) for group in groups)):
        place = {v: i for i, v in enumerate(v for group in arranged for v in group)}
        rows: list[tuple[int, ...]] = [()] * len(graph)
        for v, others in enumerate(graph):
            rows[place[v]] = tuple(sorted(place[w] for w in others))
        if best is None or rows < best:
            best = rows
    return tuple(map(frozenset, best or ()))
