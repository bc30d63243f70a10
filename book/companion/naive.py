"""Algorithms at their plainest, which more than one chapter needs: a second road to what `crowder` computes.

They share no code with `crowder`, and are for a handful of records.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations
from math import comb
from operator import and_, or_

__all__ = ["clusterings", "labels_of", "matches", "orders_by_ruling_out", "splits", "undecided"]


def splits(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """The cluster sizes that n records can have, each list in descending order.

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
    """Records of clusters of these sizes, cluster by cluster.

    Examples
    --------
    >>> labels_of([3, 1])
    (0, 0, 0, 1)
    """
    return tuple(label for label, size in enumerate(sizes) for _ in range(size))


def clusterings(n: int, labels: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All ways to cluster n records, as labels in the order of their first appearance.

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


def matches(labels: Sequence) -> int:
    """The pairs that match, as bits; pairs are numbered as `itertools.combinations` lists them.

    Examples
    --------
    >>> bin(matches("aab"))
    '0b1'
    """
    return sum((a == b) << p for p, (a, b) in enumerate(combinations(labels, 2)))


def undecided(seen: int, truth: int, possible: Sequence[int]) -> int:
    """The pairs about which the clusterings that agree with the answers seen do not all say the same, as bits.

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
    >>> undecided(0b011, matches("aab"), possible)  # records 1 and 2 match, 1 and 3 do not: nothing is left open
    0
    """
    left = [m for m in possible if not (m ^ truth) & seen]
    return reduce(or_, left) ^ reduce(and_, left)


def orders_by_ruling_out(labels: Sequence) -> Counter:
    """How many orders of all pairs ask how many questions, without any rule of inference.

    A pair is asked about unless all clusterings that the earlier answers leave possible agree about it.

    Examples
    --------
    >>> sorted(orders_by_ruling_out("aab").items())
    [(2, 4), (3, 2)]
    """
    truth, pairs = matches(labels), comb(len(labels), 2)
    possible = [matches(other) for other in clusterings(len(labels))]
    # set of pairs dealt with -> questions so far -> orders
    ways = defaultdict(Counter, {0: Counter([0])})
    for seen in range(2**pairs):
        asks = undecided(seen, truth, possible)
        for p in range(pairs):
            if not seen >> p & 1:
                for questions, count in ways[seen].items():
                    ways[seen | 1 << p][questions + (asks >> p & 1)] += count
    return ways[2**pairs - 1]
