"""Naive algorithms for a few records: an independent check of what `crowder` computes, used by several chapters.

They share no code with `crowder`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from math import comb
from operator import and_, or_

from scipy.cluster.hierarchy import DisjointSet

__all__ = ["clusterings", "components", "labels_of", "matches", "orders_by_ruling_out", "splits", "undecided"]


def splits(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """All lists of cluster sizes of n records, each in descending order.

    Examples
    --------
    >>> list(splits(4))
    [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    if n == 0:
        yield ()
    for m in range(min(n, most or n), 0, -1):
        yield from ((m, *rest) for rest in splits(n - m, m))


def labels_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """Labels of records in clusters of these sizes, cluster by cluster.

    Examples
    --------
    >>> labels_of([3, 1])
    (0, 0, 0, 1)
    """
    return tuple(label for label, size in enumerate(sizes) for _ in range(size))


def clusterings(n: int, labels: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All clusterings of n records, as labels numbered in order of first appearance.

    Examples
    --------
    >>> list(clusterings(3))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    """
    if len(labels) == n:
        yield labels
    else:
        for label in range(max(labels, default=-1) + 2):
            yield from clusterings(n, (*labels, label))


def components(records: Iterable[int], pairs: Iterable[Sequence[int]]) -> list[set[int]]:
    """The connected components that the pairs make of the records; a pair that is not of two of them is left out.

    Examples
    --------
    >>> components([1, 2, 3], [(1, 3), (3, 4)])
    [{1, 3}, {2}]
    """
    parts = DisjointSet(records)
    for i, j in pairs:
        if i in parts and j in parts:
            parts.merge(i, j)
    return parts.subsets()


def matches(labels: Sequence) -> int:
    """The matching pairs as bits; pairs are numbered in the order of `itertools.combinations`.

    Examples
    --------
    >>> bin(matches("aab"))
    '0b1'
    """
    return sum((a == b) << p for p, (a, b) in enumerate(combinations(labels, 2)))


def undecided(seen: int, truth: int, possible: Sequence[int]) -> int:
    """The pairs, as bits, on which the clusterings consistent with the answers differ.

    Parameters
    ----------
    seen : int
        The pairs asked about.
    truth : int
        Their answers: `matches` of the true labels.
    possible : sequence of int
        `matches` of every clustering that is possible before any question.

    Examples
    --------
    >>> possible = [matches(labels) for labels in clusterings(3)]
    >>> undecided(0b011, matches("aab"), possible)  # records 1 and 2 match, 1 and 3 do not: all is decided
    0
    """
    left = [m for m in possible if not (m ^ truth) & seen]
    return reduce(or_, left) ^ reduce(and_, left)


def orders_by_ruling_out(labels: Sequence) -> Counter:
    """How many orders of all pairs lead to each number of questions, without the rules of inference.

    A pair is asked about unless all clusterings consistent with the earlier answers agree on it.

    Examples
    --------
    >>> sorted(orders_by_ruling_out("aab").items())
    [(2, 4), (3, 2)]
    """
    truth, pairs = matches(labels), comb(len(labels), 2)
    possible = [matches(other) for other in clusterings(len(labels))]
    # set of pairs processed -> questions so far -> number of orders
    ways = defaultdict(Counter, {0: Counter([0])})
    for seen in range(2**pairs):
        asks = undecided(seen, truth, possible)
        for p in range(pairs):
            if not seen >> p & 1:
                for questions, count in ways[seen].items():
                    ways[seen | 1 << p][questions + (asks >> p & 1)] += count
    return ways[2**pairs - 1]
