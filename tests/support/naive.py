"""Clusterings and cluster sizes of a few records, listed one by one, for tests."""

from collections.abc import Iterable, Iterator, Sequence

from reference import Closure, bits


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
    records = list(records)
    closure = Closure(1 + max(records, default=-1))
    for i, j in pairs:
        if i in records and j in records:
            closure.learn(i, j, True)
    return [{*bits(mask)} for mask in dict.fromkeys(closure.same[v] for v in records)]
