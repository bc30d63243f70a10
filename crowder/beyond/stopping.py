r"""Stopping before every pair is settled, once a missed match is improbable under a model of the similarities.

Similarities are independent given the entities, with known densities f_g and f_r; the answers are true. Let o bound the
prior odds: of two partitions that differ only in one component, which belongs to another entity in the first and is an
entity of its own in the second, the first is at most o times as probable. Write E(A, B) for the summed log-likelihood
ratios across two components, and call two of them open if no answer implies that they differ. Then

.. math:: \Pr(A \sim B \mid \text{all}) \le
          \sigma\Bigl(\ln o + E(A, B) + \min_{X \in \{A, B\}} \sum_C \max(0, E(X, C))\Bigr), \quad
          \sigma(x) = \frac1{1 + e^{-x}} ,

where C runs over the components that are open to both. Proof: given the partition of all but A, the odds for A in the
block T of B are at most o·exp(E(A, T)), and all of T is open to A. It is an equality if A and B are open to no other
component. It goes beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log
from typing import Any

import numpy as np
from scipy.special import expit

from crowder import checks
from crowder.beyond.audit import Audit, check_fresh
from crowder.beyond.evidence import CERTAIN, SETTLED, UNIT, absorb, log_ratios, step_of, sum_evidence
from crowder.models import SimilarityModel, common_steps
from crowder.orderings import Ordering
from crowder.pairs import unpack
from crowder.resolution import Resolution

__all__ = ["Stopped", "Stopping"]

#: A sum of evidence, which is rounded to the nearest, is too low by less than this many units for each pair of records.
#: The chance of a match that is left out must not be understated, so this much is added before a pair is left out.
ROUNDING = 1


@dataclass(frozen=True, repr=False)
class Stopped(Resolution):
    """A `Resolution` that says which pairs of clusters no answer tells apart, and how probable a match is.

    Attributes
    ----------
    declared : ndarray of int64, shape (d, 2)
        The open pairs of clusters, given by a record of each: if the run ends here, they are declared different.
    chance : ndarray of float64, shape (d,)
        The bound of `crowder.beyond.stopping` on the probability that each of them is a match.
    crowd_errs : bool
        Whether the crowd is known to err, as `crowder.Faulty` is. Reading `bound` is then an AttributeError.

    See Also
    --------
    crowder.beyond.Stopping : the ordering that returns it, with the conditions of the bound.

    Examples
    --------
    >>> Stopped([[0, 1]], [True], [0, 0, 1, 2], declared=[[0, 2], [0, 3]], chance=[0.02, 0.01]).bound
    0.03
    """

    declared: Any = field(default=())
    chance: Any = field(default=())
    crowd_errs: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        declared = checks.pairs(self.declared, len(self.clusters), "declared")
        chance = checks.numbers(self.chance, "chance")
        if chance.shape != (len(declared),) or not ((chance >= 0) & (chance <= 1)).all():
            raise ValueError(f"chance must be a probability for each of {len(declared)} pairs, not {chance}")
        self._keep(declared=declared, chance=chance)

    @property
    def bound(self) -> float:
        """A bound on the probability that any match is missed, averaged over the prior: the sum of `chance`, or 1."""
        if self.crowd_errs:
            raise AttributeError("there is no bound: the crowd is known to err")
        return min(1.0, float(np.sum(self.chance)))


class Stopping(Ordering[Stopped]):
    """An ordering that leaves out questions about improbable matches, and ends once the others are answered.

    It asks the questions of the wrapped ordering, except those about components that are a match with probability at
    most δ by the evidence so far. When that ordering has finished, it asks about the most probable match among the open
    pairs of components, until the probabilities of all others sum to at most δ.

    Parameters
    ----------
    ordering : Ordering
        An ordering with all pairs as candidates, otherwise a TypeError; a ValueError if it has already asked, lacks
        pairs, joins records without a question, or is a `Stopping` or an `Audit`. It must not be used separately
        afterwards.
    model : SimilarityModel
        f_g and f_r; otherwise a TypeError.
    delta : float, keyword only
        δ in [0, 1), otherwise a ValueError: the probability with which the run may miss anything. With 0 it asks all
        that the ordering asks.
    odds : float, keyword only
        o, an upper bound on the prior odds: how many times more probable it is, before similarities are seen, that a
        component is part of a given entity than that it is an entity of its own. By default the number of records. Odds
        that are too high cost a few questions; with odds that are too low more is missed than stated. A ValueError
        unless they are greater than 0.

    See Also
    --------
    crowder.beyond.Stopped : what its run returns.
    crowder.beyond.Audit : certifies a recall without a model.

    Notes
    -----
    *Guarantee.* Under the assumptions of `crowder.beyond.stopping`, the run ends only when a match is missed with
    probability at most δ, given all similarities and answers. This is an average over partitions drawn from the prior.
    For a given partition the share of runs that miss a match may be larger: much larger, if there are many small
    clusters and o is the size of the largest. With ``odds`` equal to the number of records it was not, in the
    simulations of appendix A9; but it may be several times the mean of `Stopped.bound`: for 20 clusters of 6 and δ =
    0.3, 2 % of the runs missed a match where 0.3 % were stated.

    *Unsure* is refused with a TypeError: a pair left out because nobody was sure of it is not counted by the bound.

    *Where it fails.* On real similarities, which depend on one another, more was missed than stated by orders of
    magnitude. Where the model is not known to hold, use `crowder.beyond.Audit`.

    *Cost.* That of the ordering, some ten microseconds for each question that is left out, O(n) for each answer "same",
    and for each of the last of these O(c³) for c components. Memory O(n²).

    Examples
    --------
    >>> from crowder import NodeOrdering, Truth, datasets, dist1
    >>> data, model = datasets.synthetic([40, 30, 10], dist1(0.5), rng=7, shuffle=True), dist1(0.5)
    >>> crowd = Truth(data.labels)
    >>> NodeOrdering(data.similarity, rng=7).run(crowd).n_queries
    108
    >>> run = Stopping(NodeOrdering(data.similarity, rng=7), model, delta=0.01).run(crowd)
    >>> run.n_queries, run.recall(data.labels)[-1], len(run.declared), run.bound < 0.01
    (84, np.float64(1.0), 1, True)
    """

    def __init__(self, ordering: Ordering, model: SimilarityModel, *, delta: float, odds: float | None = None) -> None:
        if isinstance(ordering, (Stopping, Audit)):  # what is left out here would be answers in an audit
            raise ValueError(f"ordering must not be an audit or a stopping ordering itself, not {ordering!r}")
        check_fresh(ordering)
        if not ordering.every_pair:
            raise ValueError("ordering must have every pair as a candidate: give it a dense or condensed similarity")
        checks.model(model)
        if checks.probability(delta, "delta") == 1:
            raise ValueError(f"delta must be in [0, 1), not {delta!r}")
        odds = max(1, ordering.n) if odds is None else checks.number(odds, "odds", least=np.finfo(float).tiny)
        self.ordering, self.model, self.delta, self.odds = ordering, model, float(delta), float(odds)
        self._begin(ordering._candidates)
        edges, green, red = common_steps(model.green, model.red)
        self._summed = sum_evidence(log_ratios(green, red)[step_of(edges[1:-1], self._candidates.square())])
        # σ(ln o + E) is at most δ where E is at most this.
        self._least = log(delta / (1 - delta)) - log(odds) if delta > 0 else -inf
        self._taken, self._queue = 0, np.empty((0, 2), np.int64)

    @property
    def resolution(self) -> Stopped:
        """The clusters that follow from the answers so far, and the pairs of clusters that these leave open."""
        self._take_in()
        plain, (pairs, chance) = super().resolution, self._left_open()
        return Stopped(plain.queries, plain.answers, plain.clusters, pairs, chance, self.crowd_errs)

    def next_question(self) -> tuple[int, int] | None:
        self._take_in()
        summed = self._summed
        while (pair := self.ordering.ask()) is not None:
            a, b = summed.name[list(pair)]
            if (summed.total[a, b] + ROUNDING * summed.size[a] * summed.size[b]) / UNIT > self._least:
                return pair
            self.ordering.tell(pair, False)
        while len(self._queue):
            i, j = self._queue[-1].tolist()
            if summed.total[summed.name[i], summed.name[j]] != SETTLED:
                return i, j
            self._queue = self._queue[:-1]
        pairs, chance = self._left_open()
        rising = np.argsort(chance, kind="stable")
        kept = np.searchsorted(np.cumsum(self._left_open(ROUNDING)[1][rising]), self.delta, side="right")
        self._queue = pairs[rising[kept:]]
        return tuple(self._queue[-1].tolist()) if len(self._queue) else None

    def _take_in(self) -> None:
        """Update the sums, and the ordering, with the answers since the last time."""
        while self._taken < self.n_queries:
            code, same = self._knowledge.asked[self._taken], bool(self._knowledge.answer[self._taken])
            pair = unpack(int(code))
            if self.ordering._pending is not None and self.ordering._is_open(pair):
                self.ordering.tell(pair, same)
            else:
                self.ordering.learn(pair, same)
            absorb(self._summed, pair[0], pair[1], same)
            if same:
                self._queue = self._queue[:0]
            self._taken += 1

    def _left_open(self, more: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The open pairs of components, by name, and the bound on each probability, (d, 2) int64 and (d,) float64; with
        so many units more for each pair of records."""
        alive = np.flatnonzero(self._summed.size)
        total = self._summed.total[np.ix_(alive, alive)]
        is_open = total != SETTLED
        possible = is_open & (total > -CERTAIN / 2)
        # Sums of whole numbers below 2⁵³ are exact, so that ties are the same on every machine.
        size = self._summed.size[alive]
        units = np.where(possible, total + more * np.outer(size, size), 0).astype(np.float64)
        others = np.maximum(units, 0) @ possible.astype(np.float64)
        chance = expit(log(self.odds) + (units + np.minimum(others, others.T)) / UNIT)
        a, b = np.nonzero(np.triu(is_open))
        return np.column_stack([alive[a], alive[b]]), np.where(possible, chance, 0.0)[a, b]
