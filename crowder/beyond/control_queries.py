r"""Control queries: before clusters are joined, several random pairs between them are asked about.

Source: Galhotra, Firmani, Saha and Srivastava, "Robust Entity Resolution Using Random Graphs", SIGMOD 2018. Where a
spanning tree of answers holds a cluster together, one wrong answer joins or splits clusters. If instead the questions
inside each cluster form an expander, every cut of it is crossed by many answers, and a wrong join would take as many
wrong answers. Random graphs with about log m edges a record are expanders.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from copy import deepcopy

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.cluster_sums import ClusterSums
from crowder.beyond.kept_answers import KeptAnswers
from crowder.validation import Seed

__all__ = ["ControlQueries"]

#: So many pairs of the walk are examined at once.
CHUNK = 4096

#: Sums of evidence that differ by less than this are equal.
ROUNDING = 1e-9


class ControlQueries(KeptAnswers):
    r"""Edge ordering in which clusters A and B are joined only if the answers to several pairs between them agree.

    The answers between A and B decide by their log-likelihood ratio: with :math:`e_+` the probability of a *yes* about
    a non-match and :math:`e_-` that of a *no* about a match, a *yes* adds :math:`\ln \frac{1 - e_-}{e_+}` and a *no*
    :math:`\ln \frac{e_-}{1 - e_+}`. They are joined if the sum is positive and there are at least

    .. math:: \min\bigl(\lceil \beta \log_2(|A| + |B|) \min(|A|, |B|) \rceil,\ |A| |B|\bigr)

    answers between them, so that this cut has :math:`\beta \log_2(|A| + |B|)` answers for each record on its smaller
    side.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. Every pair is a candidate.
    beta : float, keyword only
        β, at least 0: control queries for each record and each doubling of its cluster. With 0 a single answer decides,
        as in edge ordering.
    errors : tuple of float, keyword only
        :math:`e_+` and :math:`e_-`, both in (0, ½).
    confidence : float, keyword only
        In [½, 1): A and B are told apart with fewer answers than that if their log-likelihood ratio says that they
        differ with this probability. With ½ a single *no* is enough.
    votes : int, keyword only
        The largest number of answers about one pair. More than one helps only if errors do not stay with the pair.
    rng : int or numpy.random.Generator, keyword only
        Chooses the control queries, and breaks ties.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    crowder.EdgeOrdering : without control queries.
    crowder.beyond.member_votes.MemberVote : a majority of such pairs instead of one answer, for any ordering.

    Notes
    -----
    *From the paper:* random control queries between the two sides of every join, in a number that grows with the
    logarithm of the cluster, so that clusters stay expanders; the decision by the joint evidence of all answers across,
    weighted by the probability that they are wrong; and revisits, which look again at earlier decisions.

    *Chosen here:* the order (edge ordering: pairs by falling similarity); the demand above and its logarithm to base 2;
    two rates of error instead of one; telling clusters apart early; which pairs are asked (of the smaller side, a
    record with the fewest answers across the cut, against a random record of the other side); and the form of the
    revisits. When all pairs of the order have been seen, each record of a cluster C is asked about until it has
    :math:`\min(|C| - 1, \lceil \beta \log_2 |C| \rceil)` answers inside C, and moves to the cluster with the largest
    sum of its answers, or is alone if no sum is positive; then all pairs are seen again, since clusters that have grown
    demand more answers. This ends when a round neither asks nor moves anything, because each move increases the
    likelihood of the answers. Two large groups that were joined wrongly are not separated again.

    *Cost:* O(n²) for a round and O(|A||B|) for a question; memory O(n²).

    Examples
    --------
    >>> from crowder import Faulty, Truth, edge_ordering
    >>> labels = [0] * 20 + [1] * 20
    >>> similarity = np.random.default_rng(0).random(780)  # says nothing
    >>> crowd = Faulty(Truth(labels), 0.1, rng=3, persistent=True)
    >>> strategy = ControlQueries(similarity, beta=2, errors=(0.1, 0.1), rng=0)
    >>> np.bincount(strategy.run(crowd)), strategy.n_answers
    (array([20, 20]), 341)
    >>> np.bincount(edge_ordering(similarity, crowd, rng=0).clusters)  # no way back from a wrong answer
    array([11,  9, 10,  2,  8])
    """

    def __init__(
        self,
        similarity: ArrayLike,
        *,
        beta: float = 2.0,
        errors: tuple[float, float] = (0.05, 0.2),
        confidence: float = 0.95,
        votes: int = 1,
        rng: Seed | None = None,
    ) -> None:
        super().__init__(similarity)
        if np.ndim(beta) or not 0 <= validation.numbers(beta, "beta") < math.inf:
            raise ValueError(f"beta must be a number of at least 0, not {beta!r}")
        if not 0.5 <= validation.probability(confidence, "confidence") < 1:
            raise ValueError(f"confidence must be in [0.5, 1), not {confidence!r}")
        self.beta, self.confidence = float(beta), float(confidence)
        rates = validation.numbers(errors, "errors")
        if rates.shape != (2,) or not ((rates > 0) & (rates < 0.5)).all():
            raise ValueError(f"errors must be two probabilities between 0 and 0.5, of yes and of no, not {errors!r}")
        self.errors = (float(rates[0]), float(rates[1]))
        self.votes = validation.whole(votes, "votes", least=1)
        self._rng = validation.generator(rng, "control queries")
        self._first_draws = deepcopy(self._rng).random(2)
        self._weight = (math.log(rates[1] / (1 - rates[0])), math.log((1 - rates[1]) / rates[0]))  # of no, of yes
        self._least = -math.log(self.confidence / (1 - self.confidence))
        values, codes = self._candidates.listed()
        codes = codes[np.lexsort((self._rng.random(len(values)), -values))]
        self._i, self._j = codes >> 32, codes & 0xFFFFFFFF
        self._sums = ClusterSums(self.n)
        self._at, self._record, self._idle = 0, 0, True  # the next pair, the next record, and whether nothing happened

    def decided_by(self) -> tuple[np.ndarray, ...]:
        return np.array([self.beta, *self.errors, self.confidence, self.votes]), self._first_draws

    @property
    def clusters(self) -> np.ndarray:
        return np.unique(self._sums.label, return_inverse=True)[1].astype(np.int64)

    def next_question(self) -> tuple[int, int] | None:
        while True:
            if (pair := self._from_walk() or self._from_records()) is not None:
                self._idle = False
                return pair
            if self._idle:
                return None
            self._at, self._record, self._idle = 0, 0, True

    def _from_walk(self) -> tuple[int, int] | None:
        """The next question between two clusters; clusters that are to be joined without one are joined."""
        while self._at < len(self._i):
            i, j = self._i[self._at : self._at + CHUNK], self._j[self._at : self._at + CHUNK]
            a, b = self._sums.label[i], self._sums.label[j]
            count, evidence = self._sums.count[a, b], self._sums.evidence[a, b]
            short = count < self._demand(a, b)
            decided = (a == b) | (count > 0) & (evidence <= self._least * short + ROUNDING)
            if decided.all():
                self._at += len(i)
                continue
            first = int(decided.argmin())
            self._at += first
            if short[first]:
                pair = (int(i[first]), int(j[first]))
                return self._control(a[first], b[first]) if self._asked[pair] else pair
            self._join(a[first], b[first])
        return None

    def _from_records(self) -> tuple[int, int] | None:
        """The next question about a record inside its cluster; records that fit another cluster better move."""
        while self._record < self.n:
            record = self._record
            mates = self._sums.members(self._sums.label[record])
            mates = mates[mates != record]
            asked = self._asked[record, mates]
            degree = math.ceil(self.beta * math.log2(len(mates) + 1) - ROUNDING)
            if asked.sum() < min(degree, len(mates) * self.votes):
                return record, int(self._rng.choice(mates[asked == asked.min()]))
            self._record += 1
            self._reconsider(record)
        return None

    def _reconsider(self, record: int) -> None:
        """Move a record to the cluster that its answers fit best; alone, if they fit none."""
        asked = self._asked[record]
        evidence = self._yes[record] * self._weight[True] + self._no[record] * self._weight[False]
        sums, own = self._sums.by_cluster(evidence), self._sums.label[record]
        best = int(sums.argmax())
        to = best if sums[best] > ROUNDING else None
        if max(sums[best], 0) > sums[own] + ROUNDING:
            self._sums.move(record, to, asked, evidence)
            self._idle = False

    def _demand(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The answers needed to join these clusters."""
        a, b = self._sums.size[a], self._sums.size[b]
        demand = np.ceil(self.beta * np.log2(a + b) * np.minimum(a, b) - ROUNDING)
        return np.clip(demand, 1, self.votes * a * b)

    def _control(self, a: int, b: int) -> tuple[int, int]:
        """A control query between clusters a and b, about a record with the fewest answers between them."""
        here, there = sorted((self._sums.members(a), self._sums.members(b)), key=len)
        asked = self._asked[np.ix_(here, there)]
        total = asked.sum(axis=1)
        row = self._rng.choice(np.flatnonzero(total == total.min()))
        column = self._rng.choice(np.flatnonzero(asked[row] == asked[row].min()))
        return int(here[row]), int(there[column])

    def _learn(self, i: int, j: int, same: bool | None, worker: Hashable = None) -> None:
        super()._learn(i, j, same, worker)
        self._sums.add(i, j, 0.0 if same is None else self._weight[same])
        a, b = self._sums.label[i], self._sums.label[j]
        if a != b and self._sums.evidence[a, b] > ROUNDING and self._sums.count[a, b] >= self._demand(a, b):
            self._join(a, b)

    def _join(self, a: int, b: int) -> None:
        self._sums.join(a, b)
        self._idle = False
