"""For a few records, such as those of Figure 1: all orders of their pairs, and all their partitions, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import factorial

from crowder import checks

__all__ = ["orders_by_questions", "partitions"]

#: The largest number of records: with seven, all orders of the pairs take about a minute, with eight a day.
MOST_ORDERED = 7

#: The largest number of records: fifteen have a billion partitions.
MOST_PARTITIONED = 15


def orders_by_questions(labels: Sequence) -> dict[int, int]:
    r"""The number of orders of all pairs with each number of questions, of the :math:`\binom n2!` there are.

    Orders whose answers so far imply the same are counted together. The cost grows like the number of partitions of the
    records times that of the graphs between them: fast for up to six records, a ValueError for more than seven.

    Examples
    --------
    >>> orders_by_questions("aab")  # two questions out of three, unless both non-matches come first
    {2: 4, 3: 2}
    """
    labels = checks.labels(list(labels) if isinstance(labels, str) else labels).tolist()
    if len(labels) > MOST_ORDERED:
        raise ValueError(f"labels must have at most {MOST_ORDERED} records, not {len(labels)}: it would take too long")
    pairs = list(combinations(range(len(labels)), 2))

    @cache
    def shares(components: frozenset, different: frozenset) -> dict[int, Fraction]:
        """The probability of each number of further questions."""
        of = {record: part for part in components for record in part}
        open_pairs = [
            (of[i], of[j], labels[i] == labels[j])
            for i, j in pairs
            if of[i] != of[j] and frozenset([of[i], of[j]]) not in different
        ]  # each is next in the same share of the orders
        if not open_pairs:
            return {0: Fraction(1)}
        total: dict[int, Fraction] = {}
        for a, b, same in open_pairs:
            if same:
                union = a | b
                rest = (components - {a, b}) | {union}
                known = frozenset(frozenset(union if part in (a, b) else part for part in pair) for pair in different)
            else:
                rest, known = components, different | {frozenset([a, b])}
            for questions, chance in shares(rest, known).items():
                total[questions + 1] = total.get(questions + 1, 0) + chance / len(open_pairs)
        return total

    start = frozenset(frozenset([record]) for record in range(len(labels)))
    orders = factorial(len(pairs))
    chances = shares(start, frozenset())
    return {questions: int(orders * chances[questions]) for questions in sorted(chances)}


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """All partitions of n records, as labels numbered by first appearance; a ValueError for more than fifteen.

    Examples
    --------
    >>> [len(list(partitions(n))) for n in range(1, 7)]  # the Bell numbers
    [1, 2, 5, 15, 52, 203]
    """
    n = checks.whole(n, "n")
    if n > MOST_PARTITIONED:
        raise ValueError(f"n must be at most {MOST_PARTITIONED} to list the partitions, not {n}")

    def extend(labels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extend((*labels, label))

    return extend(())
