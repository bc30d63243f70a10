r"""The effect of a single wrong answer on a run and on its precision and recall.

An ordering never revises an answer. `wrong_once` gives one wrong answer at a given place in the run and true answers
otherwise; `damage` counts the records split off and merged; `precision_recall` computes the resulting precision and
recall.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from crowder import validation
from crowder.oracles import Truth, begin
from crowder.resolution import Resolution

__all__ = ["Damage", "Mistake", "damage", "precision_recall", "wrong_once"]


class Mistake(NamedTuple):
    """One wrong answer and the result of its run.

    Attributes
    ----------
    place : int
        The number of right answers before it.
    pair : tuple of int
        The question.
    answer : bool
        The wrong answer: True for a non-match that was declared a match.
    resolution : Resolution
        The result.
    """

    place: int
    pair: tuple[int, int]
    answer: bool
    resolution: Resolution


class Damage(NamedTuple):
    """The final clusters of the two records of a wrong answer.

    Attributes
    ----------
    a, rest_a : int
        Records of the first one's true cluster that are in its final cluster, and those that are not.
    b, rest_b : int
        The same for the second.
    answer : bool
        The wrong answer.
    """

    a: int
    rest_a: int
    b: int
    rest_b: int
    answer: bool


def wrong_once(ordering: Any, labels: ArrayLike, places: Iterable[int]) -> Iterator[Mistake]:
    """Runs with exactly one wrong answer, one run for each of the given places.

    Parameters
    ----------
    ordering : EdgeOrdering or NodeOrdering
        An ordering that has not run; it is not modified.
    labels : array_like, shape (n,)
        True clusters.
    places : iterable of int
        The numbers of right answers before the wrong one, in increasing order, each below the number of questions.

    Yields
    ------
    Mistake

    Raises
    ------
    ValueError
        If the places are not in increasing order, or one is beyond the end of the run.

    Notes
    -----
    For each place, a copy of the ordering and a run in the compiled loop.

    Examples
    --------
    >>> from crowder.orderings import EdgeOrdering
    >>> ordering = EdgeOrdering([0.9, 0.5, 0.4], ties="index")
    >>> [(m.pair, m.answer, m.resolution.clusters.tolist()) for m in wrong_once(ordering, [0, 0, 1], [0, 1])]
    [((0, 1), False, [0, 1, 2]), ((0, 2), True, [0, 0, 0])]
    """
    truth = Truth(labels)
    begin(truth, ordering)
    right = copy.deepcopy(ordering)
    done = 0
    for place in validation.kind(places, Iterable, "places must be a sequence of whole numbers"):
        if validation.whole(place, "a place") < done:
            raise ValueError(f"places must be in increasing order, but {place} comes after {done}")
        while done < place and (pair := right.ask()) is not None:
            right.tell(pair, truth(*pair))
            done += 1
        if (pair := right.ask()) is None:
            raise ValueError(f"place {place} is beyond the end of the run, which has {done} questions")
        branch = copy.deepcopy(right)
        wrong = not truth(*pair)
        branch.tell(pair, wrong)
        yield Mistake(place, pair, wrong, branch.run(truth))


def damage(mistake: Mistake, labels: ArrayLike) -> Damage:
    """Compare the final and true clusters of the two records.

    Parameters
    ----------
    mistake : Mistake
    labels : array_like, shape (n,)
        True clusters.

    Raises
    ------
    ValueError
        If there is not one label for each record.

    Examples
    --------
    >>> damage(Mistake(0, (0, 2), True, Resolution([[0, 2]], [True], [0, 1, 0])), ["x", "x", "y"])
    Damage(a=1, rest_a=1, b=1, rest_b=0, answer=True)
    """
    ends = mistake.resolution.clusters
    labels = validation.labels(labels, len(ends))
    counts = []
    for record in mistake.pair:
        inside = labels == labels[record]
        beside = int((inside & (ends == ends[record])).sum())
        counts += [beside, int(inside.sum()) - beside]
    return Damage(*counts, mistake.answer)  # type: ignore[call-arg, arg-type]  # four counts


def precision_recall(damage: Damage, pairs: int) -> tuple[Fraction, Fraction]:
    r"""Pairwise precision and recall at the end of a run with exactly one wrong answer.

    With M matching pairs, a wrong "different" that splits a cluster into parts of a and b gives 1 and :math:`1 - ab/M`.
    A wrong "same" that merges a records of one cluster with b of another, and leaves a' and b' of theirs outside, gives

    .. math:: \frac{M - x}{M - x + ab}, \quad 1 - \frac xM, \qquad x = a a' + b b' .

    Parameters
    ----------
    damage : Damage
    pairs : int
        M, the number of matching pairs.

    Returns
    -------
    precision, recall : Fraction
        Precision is 1 if no pair is joined, and recall is 1 if no pair matches.

    Raises
    ------
    ValueError
        If more matching pairs were lost than there are.

    Notes
    -----
    Exact for a run in which every pair has been asked about or is implied. Not in the paper.

    Examples
    --------
    >>> precision_recall(Damage(2, 0, 1, 0, answer=True), 1)  # a pair and a singleton: three pairs joined, one correct
    (Fraction(1, 3), Fraction(1, 1))
    >>> precision_recall(Damage(2, 1, 1, 2, answer=False), 3)  # a cluster of three, split
    (Fraction(1, 1), Fraction(1, 3))
    """
    a, rest_a, b, rest_b, answer = damage
    lost = a * rest_a + b * rest_b if answer else a * b
    wrong = a * b if answer else 0
    kept = validation.whole(pairs, "pairs") - lost
    if kept < 0:
        raise ValueError(f"pairs must be at least {lost}, the number of matching pairs that were lost, not {pairs}")
    precision = Fraction(kept, kept + wrong) if kept + wrong else Fraction(1)
    return precision, Fraction(kept, pairs) if pairs else Fraction(1)
