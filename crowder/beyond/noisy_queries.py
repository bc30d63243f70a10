r"""Clustering with noisy queries: clusters found in a sample in which every pair is asked, and then grown by votes.

Source: Mazumdar and Saha, "Clustering with Noisy Queries", NIPS 2017 (arXiv:1706.07510). Every answer is wrong with the
same probability p < ½, independently, and asking again gives the same answer. The number of questions grows like
:math:`nk \log n / (1 - 2p)^2`, a factor of order log n above the lower bound for any algorithm. Module
`crowder.beyond.noisy_query_counts` says what the published constants amount to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.kept_answers import KeptAnswers
from crowder.beyond.noisy_query_counts import SAMPLE, VOTES, published_counts
from crowder.beyond.signed_graphs import heaviest_subgraph, likeliest_clusters, same_neighbours
from crowder.orderings import arrival_order
from crowder.validation import Seed

__all__ = ["NoisyQueries"]


class NoisyQueries(KeptAnswers):
    r"""Ask all pairs of a growing sample; clusters of at least s = c log n records that stand out in it become active;
    every further record is compared with s members of each active cluster, and joins one if the majority says "same".

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. It only gives the order of the records and of the
        questions about a record, which the paper leaves open.
    error : float, keyword only
        p, in [0, ½).
    k : int, optional, keyword only
        The number of clusters. Given it, clusters are found by the algorithm that takes polynomial time, in samples
        of N records.
    votes, sample : float, keyword only
        The constants of s and N in `crowder.beyond.noisy_query_counts.published_counts`, positive.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and chooses the members that vote.

    Attributes
    ----------
    threshold : int
        s.
    least_sample : int
        The size of the sample from which clusters are looked for: s, or N if k is given.
    active : list of list of int
        The clusters found so far.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    crowder.beyond.noisy_query_counts.published_counts : what the published constants require.
    crowder.beyond.control_queries.ControlQueries : a number of questions that adapts to the answers.

    Notes
    -----
    *From the paper:* the sample, all pairs of which are asked and weighted +1 or -1; its heaviest subgraph (without k),
    or records with nearly the same neighbours (`same_neighbours`, with k), which are active if there are s of them, and
    take with them the records of the sample whose weights to them have a positive sum; the majority of s distinct
    members of each active cluster for every further record, which joins the sample if no majority says "same"; and the
    likeliest clustering of what remains in the sample at the end. Every answer being wrong with probability p, without
    k all clusters are recovered exactly with probability 1 - O(1/n).

    *Chosen here:* the heaviest subgraph and the likeliest clustering are NP-hard problems, for which local moves find
    good solutions (`heaviest_subgraph`, `likeliest_clusters`), so the guarantee holds as far as these are the best;
    records come in decreasing order of expected cluster size; a record is first compared with the active cluster of the
    largest mean similarity, and with no more of its members than decide the majority.

    *Cost:* O(m³) time for a record that joins a sample of m; memory O(n²).

    Examples
    --------
    >>> from crowder import Faulty, Truth
    >>> labels = [0] * 60 + [1] * 60
    >>> similarity = np.random.default_rng(0).random(7140)  # says nothing
    >>> strategy = NoisyQueries(similarity, error=0.1, votes=3, rng=0)
    >>> clusters = strategy.run(Faulty(Truth(labels), 0.1, rng=7, persistent=True))
    >>> np.bincount(clusters), strategy.threshold, strategy.n_answers  # of 7,140 pairs
    (array([60, 60]), 23, 2642)
    """

    def __init__(
        self,
        similarity: ArrayLike,
        *,
        error: float = 0.1,
        k: int | None = None,
        votes: float = VOTES,
        sample: float = SAMPLE,
        rng: Seed | None = None,
    ) -> None:
        super().__init__(similarity)
        self.error, self.k = error, k
        counts = published_counts(max(self.n, 1), 1 if k is None else k, error, votes=votes, sample=sample)
        self.threshold = max(1, counts.votes)
        self.least_sample = self.threshold if k is None else max(1, counts.sample)
        self._rng = validation.generator(rng, "the choice of members")
        self._first_draws = deepcopy(self._rng).random(2)
        self._arrivals = arrival_order(self._candidates, "expected-size", self._rng, True)
        self.active: list[list[int]] = []
        self._sample: list[int] = []
        self._steps = self._phases()

    def decided_by(self) -> tuple[np.ndarray, ...]:
        k = -1 if self.k is None else self.k
        return np.array([self.error, k, self.threshold, self.least_sample]), self._first_draws

    def next_question(self) -> tuple[int, int] | None:
        return next(self._steps, None)

    def _phases(self) -> Iterator[tuple[int, int]]:
        """The questions in order; each is answered before the next is computed."""
        w = self._candidates.square()
        for record in self._arrivals.tolist():
            for members in sorted(self.active, key=lambda members: -w[record, members].mean()):
                yield from self._vote(record, members)
                if 2 * self._yes[record, members].sum() > self.threshold:
                    members.append(record)
                    break
            else:
                for other in sorted(self._sample, key=lambda other: -w[record, other]):
                    if not self._asked[record, other]:  # unless it was learned from elsewhere
                        yield record, other
                self._sample.append(record)
                self._find()

    def _vote(self, record: int, members: list[int]) -> Iterator[tuple[int, int]]:
        for member in self._rng.choice(members, self.threshold, replace=False).tolist():
            yes = 2 * self._yes[record, members].sum()
            no = 2 * self._no[record, members].sum()
            if yes > self.threshold or no >= self.threshold:
                break
            if not self._asked[record, member]:
                yield record, member

    def _find(self) -> None:
        """Make clusters of the sample active as long as one is large enough."""
        while len(self._sample) >= self.least_sample:
            weights = self._weights(self._sample)
            if self.k is None:
                found = heaviest_subgraph(weights)
            else:
                found = same_neighbours(weights > 0, self.error, self.least_sample * math.log(self.n))
            if len(found) < self.threshold:
                break
            inside = weights[:, found].sum(axis=1) > 0
            inside[found] = True
            sample = np.array(self._sample)
            self.active.append(sample[inside].tolist())
            self._sample = sample[~inside].tolist()

    def _weights(self, records: list[int]) -> np.ndarray:
        """+1 for "same", -1 for "different", 0 for a pair not asked about, or with an unsure answer."""
        at = np.ix_(records, records)
        return self._yes[at] - self._no[at]

    @property
    def clusters(self) -> np.ndarray:
        label = np.arange(self.n)
        for members in self.active:
            label[members] = members[0]
        rest = np.setdiff1d(np.flatnonzero(self._asked.any(axis=1)), [v for members in self.active for v in members])
        label[rest] = rest[likeliest_clusters(self._weights(rest.tolist()))]
        return np.unique(label, return_inverse=True)[1].astype(np.int64)
