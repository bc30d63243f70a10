r"""Persistent errors: ask about other members of the two clusters, since asking again gives the same answer.

The paper's remark (Section "System model") as an oracle for any ordering::

    crowd = MemberVote(Faulty(truth, 0.1, rng=7, persistent=True), 9)
    first = cr.edge_ordering(similarity, crowd, rng=7)
    clusters = crowd.reconsider(first.clusters, rng=7)

A question about records i and j becomes up to r questions about pairs (u, v), where u is a known member of i's cluster
and v one of j's. Errors of different pairs are independent, so a majority vote helps even with persistent errors. Small
clusters have few such pairs, and a run never revises an answer: `MemberVote.reconsider` asks again once the clusters
have grown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.oracles import Oracle, answer, begin, callable_oracle, odd, record_number
from crowder.validation import Seed

__all__ = ["MemberVote", "prob_placed_correctly"]


class MemberVote:
    """Settle "same entity?" by a majority over pairs of members of the two clusters, each pair asked at most once.

    Parameters
    ----------
    oracle : callable
        The crowd, with or without persistent errors.
    votes : int
        r, odd: the largest number of answers for one question.
    early : bool, keyword only
        Stop as soon as the majority is decided. This saves questions and does not change the answers.

    Attributes
    ----------
    asked : int
        The number of answers obtained so far.

    Raises
    ------
    ValueError
        If the number of votes is not odd and positive; on a question, if no ordering has called `begin`, or the
        question is not about two of that ordering's records.
    TypeError
        On a question, if one of the answers is not a boolean.

    Notes
    -----
    New pairs come first, since the answers that placed a record in a cluster would count twice in its favour. If there
    are too few, earlier answers are reused at no cost. Two singletons form one pair, hence one answer. If the number of
    pairs is even, the last is left out: a majority of 2s answers is no better than one of 2s - 1. O(n log n) for each
    question, plus the pairs that were asked before; memory for every pair asked.

    Examples
    --------
    >>> from crowder.oracles import Faulty, Truth
    >>> from crowder.orderings import NodeOrdering
    >>> crowd = MemberVote(Faulty(Truth([0] * 12), 0.2, rng=0, persistent=True), 5)
    >>> run = NodeOrdering([0.5] * 66, ties="index").run(crowd)
    >>> run.clusters  # two early records were not recognised because of one wrong answer each
    array([0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0])
    >>> crowd.reconsider(run.clusters, rng=1)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(self, oracle: Oracle, votes: int, *, early: bool = False) -> None:
        self.votes = odd(votes)
        self.early = validation.flag(early, "early")
        self.asked = 0
        self._oracle = callable_oracle(oracle)
        self._ordering: Any = None
        self._answers: dict[tuple[int, int], bool] = {}

    def begin(self, ordering: Any) -> None:
        """Store the ordering, for the clusters so far, and pass it on to the crowd."""
        self._ordering = ordering
        begin(self._oracle, ordering)

    def __call__(self, i: int, j: int) -> bool:
        if self._ordering is None:
            raise ValueError("begin must be called with an ordering before the first question, as Ordering.run does")
        clusters = self._ordering._knowledge.component
        i, j = record_number(i), record_number(j)
        if not (0 <= min(i, j) and max(i, j) < len(clusters) and i != j):
            raise ValueError(f"{(i, j)} must be two different records out of {len(clusters)}, 0 to {len(clusters) - 1}")
        here, there = (np.flatnonzero(clusters == clusters[record]).tolist() for record in (i, j))
        here.sort(key=i.__ne__)  # the pair itself is asked first
        there.sort(key=j.__ne__)
        return self._vote(here, there)

    def reconsider(self, clusters: ArrayLike, *, rng: Seed) -> np.ndarray:
        """Ask about every record again once the clusters have grown, to move misplaced records and to join split
        clusters.

        First a vote compares each record with the others in its cluster, and it leaves if the majority says
        "different". Then the clusters, the largest first, and the records that left are compared with the clusters
        before them, and join the first for which the majority says "same".

        Parameters
        ----------
        clusters : array_like, shape (n,)
            The cluster of each record so far.
        rng : int or numpy.random.Generator, keyword only
            Chooses the members.

        Returns
        -------
        ndarray of int64, shape (n,)

        Notes
        -----
        At most O(n r) answers for n records and O(k²r) for k clusters. Can be repeated.
        """
        rng = validation.generator(rng, "the choice of members")
        clusters = validation.labels(clusters)
        fresh = len(clusters)
        for v in range(len(clusters)):
            mates = [u for u in rng.permutation(np.flatnonzero(clusters == clusters[v])).tolist() if u != v]
            if mates and not self._vote([v], mates):
                clusters[v] = fresh
                fresh += 1
        names, sizes = np.unique(clusters, return_counts=True)
        kept: list[list[int]] = []
        for name in names[np.argsort(-sizes, kind="stable")]:
            piece = rng.permutation(np.flatnonzero(clusters == name)).tolist()
            for other in kept:
                if self._vote(piece, other):
                    other.extend(piece)
                    rng.shuffle(other)
                    break
            else:
                kept.append(piece)
        for number, members in enumerate(kept):
            clusters[members] = number
        return clusters

    def _vote(self, here: list[int], there: list[int]) -> bool:
        """The majority of up to r pairs: new ones first, and among these, those near the start of both lists."""
        fresh: list[tuple[int, int]] = []
        known: list[tuple[int, int]] = []
        for distance in range(len(here) + len(there) - 1):
            for a in range(max(0, distance - len(there) + 1), min(distance + 1, len(here))):
                u, v = here[a], there[distance - a]
                (known if ((u, v) if u < v else (v, u)) in self._answers else fresh).append((u, v))
            if len(fresh) >= self.votes:
                break
        pairs = (fresh + known)[: self.votes]
        size = len(pairs) if len(pairs) % 2 else len(pairs) - 1
        count = [0, 0]
        for u, v in pairs[:size]:
            said = self._once(u, v)
            count[said] += 1
            if self.early and count[said] > size // 2:
                break
        return count[True] > count[False]

    def _once(self, u: int, v: int) -> bool:
        pair = (u, v) if u < v else (v, u)
        if pair not in self._answers:
            self._answers[pair] = answer(self._oracle, u, v, 0)
            self.asked += 1
        return self._answers[pair]


def prob_placed_correctly(error: Any, clusters: int) -> Any:
    r"""The probability that a new record is placed correctly when compared with k known clusters in random order.

    It joins the first cluster for which the answer is "same". If each answer is wrong with probability e,
    independently,

    .. math:: \frac1k \sum_{s=0}^{k-1} (1 - e)^s (1 - e) = (1 - e)\, \frac{1 - (1 - e)^k}{k e} .

    Parameters
    ----------
    error : float, int, Fraction or sympy expression
        e: the error of one answer, or of a vote (`crowder.oracles.majority_error`); in [0, 1].
    clusters : int
        k, at least 1.

    Returns
    -------
    float, Fraction or sympy expression
        In the arithmetic of `error`.

    Raises
    ------
    ValueError
        If there is no cluster, or `error` is a number outside [0, 1].

    Notes
    -----
    O(k): computed as the sum, which has no cancellation. Not in the paper.

    Examples
    --------
    >>> from fractions import Fraction
    >>> prob_placed_correctly(Fraction(1, 5), 2)  # 4/5 · (1 + 4/5)/2
    Fraction(18, 25)
    """
    clusters = validation.whole(clusters, "clusters", least=1)
    if not getattr(error, "free_symbols", None):
        validation.probability(error, "error")
    return (1 - error) * sum((1 - error) ** s for s in range(clusters)) / clusters
