"""Enumeration of all orders of the pairs of a few records: the distribution of the number of questions.

For small instances, such as the Disney records of Figure 1. Plain Python, exact integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import factorial
from typing import Any

from crowder import validation

__all__ = ["orders_by_questions", "questions_of_order"]

Pair = tuple[int, int]

#: The most records: seven take about a minute, eight a day.
MOST = 7

#: A number below all records, so that the error for an invalid record can name the pair.
LEAST = -(2**63)


def questions_of_order(order: Iterable[Pair], labels: Sequence) -> list[Pair]:
    """The pairs that are asked about when they come in the given order (Section "The two heuristic algorithms").

    Parameters
    ----------
    order : iterable of pair
        Pairs of record numbers.
    labels : sequence
        True cluster of each record.

    Returns
    -------
    list of pair
        Those that no earlier answers imply.

    See Also
    --------
    crowder.enumeration.orders_by_questions : the counts of all orders.

    Notes
    -----
    Written for clarity, not for speed: O(n) for each pair.

    Examples
    --------
    >>> questions_of_order([(0, 1), (1, 2), (0, 2)], "aab")  # a match, a non-match, and an implied non-match
    [(0, 1), (1, 2)]
    """
    labels = _labels(labels)
    n = len(labels)
    component = [frozenset([record]) for record in range(n)]
    different: set[frozenset] = set()  # pairs of components
    asked = []
    for i, j in _pairs(order):
        if not (0 <= min(i, j) and max(i, j) < n and i != j):
            raise ValueError(f"{(i, j)} must be two different records out of {n}, 0 to {n - 1}")
        a, b = component[i], component[j]
        if a == b or frozenset([a, b]) in different:
            continue
        asked.append((i, j))
        if labels[i] == labels[j]:
            union = a | b
            for record in union:
                component[record] = union
            different = {frozenset(union if part in (a, b) else part for part in pair) for pair in different}
        else:
            different.add(frozenset([a, b]))
    return asked


def orders_by_questions(labels: Sequence) -> dict[int, int]:
    r"""The distribution of the number of questions over the :math:`\binom n2!` orders of all pairs.

    Parameters
    ----------
    labels : sequence
        True cluster of each record.

    Returns
    -------
    dict
        From each number of questions to the number of orders with that many, in increasing order.

    See Also
    --------
    crowder.enumeration.questions_of_order : the count of one order.
    crowder.expected_queries : the mean over random orders of a model.

    Notes
    -----
    Orders whose answers so far imply the same are counted together: each of the u open pairs is next in a share 1/u of
    them. The number of states, hence the cost, grows like the number of partitions of the records times that of the
    graphs between them: fast for up to six records.

    Examples
    --------
    >>> orders_by_questions("aab")  # two questions out of three, unless both non-matches come first
    {2: 4, 3: 2}
    """
    labels = _labels(labels)
    if len(labels) > MOST:
        raise ValueError(f"labels must have at most {MOST} records, not {len(labels)}: counting would take too long")
    pairs = list(combinations(range(len(labels)), 2))

    @cache
    def shares(components: frozenset, different: frozenset) -> dict[int, Fraction]:
        """The probability of each number of further questions."""
        of = {record: part for part in components for record in part}
        open_pairs = [
            (of[i], of[j], labels[i] == labels[j])
            for i, j in pairs
            if of[i] != of[j] and frozenset([of[i], of[j]]) not in different
        ]
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


def _labels(labels: Any) -> tuple[int, ...]:
    return tuple(validation.labels(list(labels) if isinstance(labels, str) else labels).tolist())


def _pairs(order: Any) -> list[Pair]:
    try:
        return [
            (validation.whole(i, "a record", least=LEAST), validation.whole(j, "a record", least=LEAST))
            for i, j in order
        ]
    except (TypeError, ValueError):
        raise ValueError(f"order must be a list of pairs of record numbers, not {order!r}") from None
