"""All clusterings of a few records."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["clusterings"]


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
