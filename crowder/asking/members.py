r"""Errors that stay: ask about other members of the two clusters, since asking again brings the same answer.

The paper's remark (Section "System model"), made into an oracle that any ordering can ask::

    crowd = MemberVote(Faulty(truth, 0.1, rng=7, persistent=True), 9)
    first = cr.edge_ordering(similarity, crowd, rng=7)
    clusters = crowd.reconsider(first.clusters, rng=7)

A question about records i and j becomes up to r questions about pairs (u, v), u from what is known of i's cluster and v
from what is known of j's. Each pair errs for itself, so these are votes that a persistent error does not repeat. While
clusters are small there are few such pairs, and a run takes nothing back: `MemberVote.reconsider` asks again once they
have grown.
"""

from __future__ import annotations

import numpy as np

from crowder import checked
from crowder.asking.oracles import answer, begin, callable_oracle, record_number
from crowder.asking.votes import odd

__all__ = ["MemberVote", "share_placed"]


class MemberVote:
    """Settle "same entity?" by a majority over pairs of members of the two clusters, each pair asked at most once.

    Parameters
    ----------
    oracle : callable
        The crowd. One that repeats its errors, or another: no pair is put to it twice.
    votes : int
        r, odd: the most answers for one question.
    early : bool, keyword only
        Stop as soon as the majority is decided. The answers stay the same; only questions are saved.

    Attributes
    ----------
    asked : int
        Answers paid for so far.

    Raises
    ------
    ValueError
        If the number of votes is not odd and positive; on a question, if no ordering has introduced itself, or it is
        not about two of that ordering's records.
    TypeError
        On a question, if one of the answers is not a boolean.

    Notes
    -----
    Pairs that nobody was asked about come first: the answers that brought a record into a cluster would speak for it
    again. Answers that are there already fill up what is missing, at no cost. Two records that are alone are one pair,
    hence one answer. Of an even number of pairs the last is left out: a majority of 2s answers is no better than one of
    2s - 1. O(n log n) a question, plus the pairs that were asked before; memory for every pair asked.

    Examples
    --------
    >>> from crowder.asking.oracles import Faulty, Truth
    >>> from crowder.asking.orderings import NodeOrdering
    >>> crowd = MemberVote(Faulty(Truth([0] * 12), 0.2, rng=0, persistent=True), 5)
    >>> run = NodeOrdering([0.5] * 66, ties="index").run(crowd)
    >>> run.clusters  # two records came early and were turned away by one wrong answer each
    array([0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0])
    >>> crowd.reconsider(run.clusters, rng=1)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(self, oracle, votes: int, *, early: bool = False) -> None:
        self.votes = odd(votes)
        self.early = checked.flag(early, "early")
        self.asked = 0
        self._oracle = callable_oracle(oracle)
        self._ordering = None
        self._answers: dict[tuple[int, int], bool] = {}

    def begin(self, ordering) -> None:
        """Take note of the ordering that asks, for what it knows of the clusters; tell the crowd of it."""
        self._ordering = ordering
        begin(self._oracle, ordering)

    def __call__(self, i: int, j: int) -> bool:
        if self._ordering is None:
            raise ValueError("a vote of members needs to know the clusters: let an ordering run it")
        clusters = self._ordering.resolution.clusters
        i, j = record_number(i), record_number(j)
        if not (0 <= min(i, j) and max(i, j) < len(clusters) and i != j):
            raise ValueError(f"{(i, j)} are not two of the {len(clusters)} records, 0 to {len(clusters) - 1}")
        here, there = ([int(u) for u in np.flatnonzero(clusters == clusters[record])] for record in (i, j))
        here.sort(key=lambda u: u != i)  # the pair itself is asked first
        there.sort(key=lambda v: v != j)
        return self._vote(here, there)

    def reconsider(self, clusters, *, rng) -> np.ndarray:
        """Ask about every record again, now that there are members to ask: who does not belong leaves, pieces join.

        First each record is put to a vote of the others in its cluster, and leaves if they refuse it. Then the
        clusters, the largest first, and those who left are put to the clusters before them, and join the first that
        takes them.

        Parameters
        ----------
        clusters : array_like, shape (n,)
            The cluster of each record so far.
        rng : int or numpy.random.Generator, keyword only
            Which members are asked.

        Returns
        -------
        ndarray of int64, shape (n,)

        Notes
        -----
        O(n r) votes' answers for n records and O(k²r) for k clusters, at most. Can be repeated.
        """
        rng = checked.generator(rng, "the members who are asked")
        clusters = checked.labels(clusters)
        fresh = len(clusters)
        for v in range(len(clusters)):
            mates = [int(u) for u in rng.permutation(np.flatnonzero(clusters == clusters[v])) if u != v]
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
        """The majority of up to r pairs: new ones first, and of these the ones near the front of both lists."""
        fresh, known = [], []
        for distance in range(len(here) + len(there) - 1):
            for a in range(max(0, distance - len(there) + 1), min(distance + 1, len(here))):
                u, v = here[a], there[distance - a]
                (known if (min(u, v), max(u, v)) in self._answers else fresh).append((u, v))
            if len(fresh) >= self.votes:
                break
        pairs = (fresh + known)[: self.votes]
        size = len(pairs) if len(pairs) % 2 else len(pairs) - 1
        count = [0, 0]
        for u, v in pairs[:size]:
            count[self._once(u, v)] += 1
            if self.early and max(count) > size // 2:
                break
        return count[True] > count[False]

    def _once(self, u: int, v: int) -> bool:
        pair = (min(u, v), max(u, v))
        if pair not in self._answers:
            self._answers[pair] = answer(self._oracle, u, v, 0)
            self.asked += 1
        return self._answers[pair]


def share_placed(error, clusters: int):
    r"""The chance that a new record is placed right when it is put to k known clusters one by one, in random order.

    It stays with the first that says yes. If each says the wrong thing with probability e, independently,

    .. math:: \frac1k \sum_{s=0}^{k-1} (1 - e)^s (1 - e) = (1 - e)\, \frac{1 - (1 - e)^k}{k e} .

    Parameters
    ----------
    error : float, int, Fraction or sympy expression
        e: the error of one answer, or of a vote (`crowder.asking.votes.majority_error`); in [0, 1].
    clusters : int
        k, at least 1.

    Returns
    -------
    float, Fraction or sympy expression
        In the arithmetic that `error` brings.

    Raises
    ------
    ValueError
        If there is no cluster, or `error` is a number outside [0, 1].

    Notes
    -----
    O(k): the sum, which does not cancel. Not in the paper.

    Examples
    --------
    >>> from fractions import Fraction
    >>> share_placed(Fraction(1, 5), 2)  # 4/5 · (1 + 4/5)/2
    Fraction(18, 25)
    """
    clusters = checked.whole(clusters, "the number of clusters", least=1)
    if not getattr(error, "free_symbols", None):
        checked.probability(error, "the probability of a wrong answer")
    return (1 - error) * sum((1 - error) ** s for s in range(clusters)) / clusters
