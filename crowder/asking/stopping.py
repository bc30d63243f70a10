"""Stopping before everything is settled: by a budget, or once a match that is still unfound is unlikely enough.

`Stopping` wraps any ordering. The pairs it leaves unasked are declared non-matches, and `Stopped` says which they are
and how likely it is, at most, that they are not. It goes beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, log

import numpy as np

from crowder import checked
from crowder.asking.engine import LOW, know_nothing
from crowder.asking.learned import dependence, into_steps, known_pairs, learned_densities
from crowder.asking.loglik import CERTAIN, SETTLED, UNIT, absorb, believe, log_ratios, question, reweigh
from crowder.asking.orderings import EdgeOrdering, Ordering
from crowder.asking.posterior import doubtful, left_open
from crowder.asking.resolution import Resolution
from crowder.asking.weighing import FIRST_LOOK, NEXT_LOOK
from crowder.model.models import SimilarityModel

__all__ = ["Stopped", "Stopping"]

#: Why a run ended; nothing while it goes on.
REASONS = ("", "settled", "delta", "budget")


@dataclass(frozen=True)
class Stopped(Resolution):
    """A `Resolution` that tells what was answered from what was merely declared.

    Attributes
    ----------
    queries, answers, clusters
        As in a `Resolution`: from the crowd's answers alone.
    declared : ndarray of int64, shape (d, 2)
        The pairs of clusters declared different without an answer that says so, each named by one record of each.
        Empty while the run goes on.
    chance : ndarray of float64, shape (d,)
        How likely each of them is a match nevertheless, at most (see `crowder.asking.posterior`).
    reason : str
        Why the run ended: "settled" (nothing was left to declare), "delta" or "budget"; "" while it goes on.

    Examples
    --------
    >>> run = Stopped([[0, 1]], [True], [0, 0, 1], declared=[[0, 2]], chance=[0.01], reason="delta")
    >>> run.n_queries, run.run_chance, run.expected_missed  # two pairs of records, each with 0.01
    (1, 0.01, 0.02)
    >>> run.wrong([5, 5, 5])
    array([ True])
    """

    declared: np.ndarray = field(default=())
    chance: np.ndarray = field(default=())
    reason: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        declared = np.asarray(self.declared)
        if declared.size and (declared.dtype.kind not in "iu" or declared.shape[1:] != (2,)):
            raise ValueError(f"needs declared (d, 2), pairs of records, not {declared.dtype} {declared.shape}")
        object.__setattr__(self, "declared", declared.astype(np.int64).reshape(-1, 2))
        pairs = len(self.declared)
        try:
            object.__setattr__(self, "chance", np.asarray(self.chance, dtype=np.float64).reshape(-1))
        except (TypeError, ValueError):
            raise ValueError(
                f"needs a probability for each of the {pairs} pairs declared, not {self.chance!r}"
            ) from None
        if len(self.chance) != pairs or not ((self.chance >= 0) & (self.chance <= 1)).all():
            raise ValueError(f"needs a probability for each of the {pairs} pairs declared, not {self.chance.tolist()}")
        if ((self.declared < 0) | (self.declared >= len(self.clusters))).any():
            raise ValueError(f"the pairs declared are not all of the {len(self.clusters)} records")
        if not isinstance(self.reason, str) or self.reason not in REASONS:
            raise ValueError(f"reason must be one of {', '.join(map(repr, REASONS))}, not {self.reason!r}")

    @property
    def pair_chance(self) -> float:
        """How likely any one of the declared pairs is a match, at most: the largest `chance`."""
        return float(self.chance.max(initial=0.0))

    @property
    def run_chance(self) -> float:
        """How likely anything at all was missed, at most: the sum of `chance` (no more than 1)."""
        return float(min(1.0, self.chance.sum()))

    @property
    def expected_missed(self) -> float:
        """The expected number of matching pairs of records that were missed, at most."""
        sizes = np.bincount(self.clusters, minlength=1)[self.clusters]
        return float((self.chance * sizes[self.declared].prod(axis=1)).sum())

    def wrong(self, labels) -> np.ndarray:
        """Which of the declared pairs are matches in truth, shape (d,), bool; from the cluster of each record.

        Raises
        ------
        ValueError
            If there is not one label a record.
        """
        labels = checked.labels(labels, len(self.clusters))
        return labels[self.declared[:, 0]] == labels[self.declared[:, 1]]


class Stopping(Ordering):
    r"""An ordering that leaves unasked what is unlikely to be a match, or stops when the money is spent.

    Its questions are those of the ordering inside, without those between components of which the evidence says that
    they differ. When that ordering has no more, whatever the guarantee still lacks is asked, likeliest first: evidence
    grows with components, so a pair passed over early may deserve its question after all.

    Parameters
    ----------
    ordering : Ordering
        One that has not asked yet; all pairs must be candidates. From then on it belongs to this.
    model : SimilarityModel, optional
        f_g and f_r. Without one they are learned from the answers, and nothing is guaranteed: see Notes.
    pair_delta : float, keyword only
        Stop when every pair of components left is a match with probability at most this, in [0, 1).
    run_delta : float, keyword only
        Stop when with probability at least one minus this nothing is missed: when the chances of all pairs of
        components left add up to at most this, in [0, 1). Much stronger than the same `pair_delta`.
    budget : int, keyword only
        Stop after so many questions, whatever else.
    odds : float, keyword only
        Prior odds, at most: how many times likelier it is, before looking, that two components are one entity than
        that they are two, given all about the others. Where a record is likelier to belong to some large cluster than
        to an entity of its own they are above one. A wrong value is a wrong δ: for `pair_delta`, only δ/(1-δ)/o counts.
    dependence : bool, keyword only
        Whether to measure how the terms of a sum hang together, and bring sums down, as `EvidenceOrdering` does.

    Raises
    ------
    ValueError
        If the ordering has asked already, lacks pairs or is itself of this class, a number is out of its range, or
        there is nothing to stop by.

    Notes
    -----
    *Guarantee:* for true answers, similarities that are independent given the clusters, with the densities of the
    model, and a prior that o bounds, `Stopped.chance` bounds the posterior probability of each pair declared, however
    the questions were chosen (`crowder.asking.posterior`). So ``pair_delta`` and ``run_delta`` hold at the time of
    stopping, given all that is known, and on average over data. With learned densities or dependent similarities they
    are an estimate, and where similarities hang together a run may even ask more than the ordering would.

    *δ = 0* asks exactly what the ordering asks. Where a density vanishes a pair can be certain; any δ above 0 leaves
    certain non-matches unasked.

    *Ties* in the last part are broken by index. *Cost:* that of the ordering, O(n) a question, and O(n²) memory.

    Examples
    --------
    >>> from crowder import NodeOrdering, Truth, datasets, dist1
    >>> data, model = datasets.synthetic([40, 30, 10], dist1(0.5), rng=7, shuffle=True), dist1(0.5)
    >>> crowd = Truth(data.labels)
    >>> NodeOrdering(data.similarity, rng=7).run(crowd).n_queries
    108
    >>> run = Stopping(NodeOrdering(data.similarity, rng=7), model, run_delta=0.01).run(crowd)
    >>> run.n_queries, run.recall(data.labels)[-1], run.reason, run.run_chance < 0.01
    (80, np.float64(1.0), 'delta', True)
    """

    def __init__(self, ordering: Ordering, model: SimilarityModel | None = None, *, pair_delta: float | None = None,
                 run_delta: float | None = None, budget: int | None = None, odds: float = 1.0,
                 dependence: bool = False) -> None:  # fmt: skip
        if not isinstance(ordering, Ordering) or isinstance(ordering, Stopping):
            raise ValueError(f"wrap an ordering (edge, node or evidence), not {ordering!r}")
        if ordering.n_queries or ordering._pending is not None:
            raise ValueError("this ordering has asked already; wrap one that has not")
        if not ordering._candidates.complete:
            raise ValueError("stopping weighs every pair: pass the ordering a dense or condensed similarity")
        for name, delta in (("pair_delta", pair_delta), ("run_delta", run_delta)):
            if delta is not None and checked.probability(delta, f"{name}, a probability,") == 1:
                raise ValueError(f"{name} must be a probability in [0, 1), not {delta!r}")
        if budget is not None:
            checked.whole(budget, "a budget, a number of questions,")
        if pair_delta is None and run_delta is None and budget is None:
            raise ValueError("say when to stop: pair_delta=, run_delta= or budget=")
        if not isinstance(odds, (int, float, np.number)) or not (odds > 0 and isfinite(odds)):
            raise ValueError(f"prior odds are positive and finite, not {odds!r}")
        self.ordering, self.budget = ordering, budget
        self.pair_delta, self.run_delta, self.odds = pair_delta, run_delta, float(odds)
        if model is not None:
            checked.model(model)
        self._candidates, self._pending = ordering._candidates, None
        self._knowledge = know_nothing(self.n)
        self._model, self._measures = model, checked.flag(dependence, "dependence")
        square = self._candidates.square()
        if model is None:
            _, self._steps, self._mass = into_steps(square, self._candidates.listed()[0])
            self._ratio = log_ratios(*learned_densities(0 * self._mass, 0 * self._mass, self._mass))
        else:
            ends = np.union1d(*(np.asarray(f.edges, dtype=np.float64) for f in (model.green, model.red)))
            middle = (ends[1:] + ends[:-1]) / 2
            self._steps = np.searchsorted(ends[1:-1], square, side="right").astype(np.uint16)
            self._ratio = log_ratios(model.green.pdf(middle), model.red.pdf(middle))
        self._belief = believe(self._ratio[self._steps])
        self._look = FIRST_LOOK
        level = min((delta for delta in (pair_delta, run_delta) if delta is not None), default=0.0)
        # A pair of components is passed over when σ(ln o + E) is at most the level, that is, when E is at most this.
        self._least = log(level / (1 - level)) - log(odds) if level > 0 else -inf
        self._second, self._queue = False, []
        self._end: tuple = ((), (), "")

    @property
    def dependence(self) -> float:
        """ρ, how the terms of a sum hang together as far as it was measured: 0 not at all, 1 wholly."""
        return float(self._belief.dependence[0])

    @property
    def resolution(self) -> Stopped:
        """What the answers so far have established and, once `ask` has given None, what was declared."""
        plain = super().resolution
        return Stopped(plain.queries, plain.answers, plain.clusters, *self._end)

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        """Take in the crowd's answer to the question that is open (as `Ordering.tell`)."""
        super().tell(pair, same)
        if self.ordering._pending is not None:
            self.ordering.tell(pair, same)
        absorb(self._belief, *pair, bool(same))
        if same:
            self._queue.clear()
        if self.n_queries == self._look:
            self._look_at_answers()

    def _next(self) -> int:
        code = -1
        if self.budget is None or self.n_queries < self.budget:
            code = self._first_pass()
            if code == -1:
                code = self._last_part()
        if code == -1 and not self._end[2]:
            pairs, chance = left_open(self._belief, log(self.odds), SETTLED, CERTAIN, UNIT)
            spent = self.budget is not None and self.n_queries >= self.budget and not self._guaranteed(chance)
            self._end = pairs, chance, "settled" if not len(pairs) else "budget" if spent else "delta"
        return code

    def _guaranteed(self, chance) -> bool:
        each, whole = self.pair_delta, self.run_delta
        return not (each is None and whole is None) and (
            (each is None or chance.max(initial=0.0) <= each) and (whole is None or chance.sum() <= whole)
        )

    def _first_pass(self) -> int:
        """The next question of the ordering inside that is not to be passed over."""
        while not self._second:
            if isinstance(self.ordering, EdgeOrdering) and self.ordering._pending is None:
                walk = self.ordering._walk  # many pairs at once
                walk.at[0] = doubtful(walk.codes, walk.at[0], self._belief, self._least, SETTLED, UNIT)
            pair = self.ordering.ask()
            if pair is None:
                self._second = True
                self._look_at_answers()
            elif self._evidence(*pair) > self._least:
                return pair[0] << 32 | pair[1]
            else:
                self.ordering.tell(pair, False)
        return -1

    def _last_part(self) -> int:
        """The likeliest pair of components of those that the guarantee still lacks."""
        while self._queue:
            code = self._queue.pop()
            if self._evidence(code >> 32, code & LOW) > -inf:
                return code
        code = int(question(self._belief, -inf, False))
        if code == -1 or self._evidence(code >> 32, code & LOW) > self._least:
            return code
        pairs, chance = left_open(self._belief, log(self.odds), SETTLED, CERTAIN, UNIT)
        rising = np.argsort(chance, kind="stable")
        kept = len(chance)
        if self.pair_delta is not None:
            kept = np.searchsorted(chance[rising], self.pair_delta, side="right")
        if self.run_delta is not None:
            kept = min(kept, np.searchsorted(np.cumsum(chance[rising]), self.run_delta, side="right"))
        self._queue = [int(a) << 32 | int(b) for a, b in pairs[rising[kept:]]]
        return self._queue.pop() if self._queue else -1

    def _evidence(self, i: int, j: int) -> float:
        """The evidence of two records' components, in nats; -inf if they are settled."""
        belief = self._belief
        a, b = belief.name[i], belief.name[j]
        if belief.total[a, b] == SETTLED:
            return -inf
        return belief.total[a, b] / UNIT / (1 + belief.dependence[0] * (belief.size[a] * belief.size[b] - 1))

    def _look_at_answers(self) -> None:
        self._look = max(self._look, int(self.n_queries * NEXT_LOOK) + 1)
        if self._model is None:
            counts = known_pairs(self._belief, self._steps, len(self._mass), SETTLED)
            self._ratio = log_ratios(*learned_densities(*counts, self._mass))
        if self._measures:
            self._belief.dependence[0] = dependence(self._belief, self._steps, self._ratio / UNIT, SETTLED)
        if self._model is None or self._measures:
            reweigh(self._belief, self._steps, self._ratio)

    def _order(self) -> tuple[np.ndarray, ...]:
        """All but the budget, which changes no question before it is spent."""
        rules = np.array([self._least, *(-1 if d is None else d for d in (self.pair_delta, self.run_delta))])
        kind = np.frombuffer(type(self.ordering).__name__.encode(), np.uint8)
        learns = np.array([self._model is None, self._measures])
        ratio = np.zeros(0, np.int64) if self._model is None else self._ratio
        return (*self.ordering._order(), rules, kind, learns, ratio)

    def _run(self, labels: np.ndarray) -> None:
        while (pair := self.ask()) is not None:
            self.tell(pair, labels[pair[0]] == labels[pair[1]])
