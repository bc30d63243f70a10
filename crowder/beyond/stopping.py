"""Stopping before every pair is settled: at a budget, or once a missed match is improbable enough.

`Stopping` wraps any ordering. Pairs that are left open are declared non-matches; `Stopped` lists them, with the
probability that each is a match: an upper bound if the model, the prior odds and the quality of the answers were given,
and an estimate otherwise. It goes beyond the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.audit import Audit
from crowder.beyond.evidence_ordering import FIRST_UPDATE, UPDATE_FACTOR
from crowder.beyond.learned_densities import dependence, into_steps, known_pairs, learned_densities, step_of
from crowder.beyond.log_likelihood import (
    CERTAIN,
    SETTLED,
    UNIT,
    absorb,
    absorb_known,
    log_ratios,
    question,
    reweigh,
    sum_evidence,
)
from crowder.beyond.posterior import doubtful, left_open
from crowder.densities import common_steps
from crowder.engine import LOW, learn
from crowder.models import SimilarityModel
from crowder.orderings import EdgeOrdering, Ordering, unpacked
from crowder.resolution import Resolution

__all__ = ["Stopped", "Stopping"]

#: Why a run ended; empty while it continues.
REASONS = ("", "settled", "delta", "budget")

#: What the figures of a stopped run may rest on, and why they are estimates if they rest on it ("" if they are bounds).
BASES = {
    "given model": "",
    "given odds": "",
    "true answers": "",
    "bounded errors": "",
    "learned model": "the model was learned from the answers (give a model)",
    "damped evidence": "the evidence was damped by an estimated correlation (dependence=True)",
    "assumed odds": "the prior odds were assumed to be even (give odds)",
    "unknown errors": "the crowd is known to err (give errors, a bound on the probability of a wrong answer)",
}


@dataclass(frozen=True)
class Stopped(Resolution):
    """A `Resolution` that distinguishes answered from declared pairs.

    Attributes
    ----------
    queries, answers, clusters
        As in a `Resolution`; they depend only on the crowd's answers.
    declared : ndarray of int64, shape (d, 2)
        The pairs of clusters declared different although no answer implies it, given by a record of each. Empty while
        the run continues.
    chance : ndarray of float64, shape (d,)
        The probability that each of them is a match, as computed from the evidence (see `crowder.beyond.posterior`).
    reason : str
        Why the run ended: "settled" (there was nothing to declare), "delta" or "budget"; "" while it continues.
    assumes : tuple of str
        What the figures below rest on: a "given model" (with independent similarities) or a "learned model", perhaps
        "damped evidence"; "given odds" or "assumed odds"; "true answers", "bounded errors" or "unknown errors". If
        there was nothing to declare, they rest on the answers only.
    errors : float
        e, the given bound on the probability that an answer is wrong.

    Notes
    -----
    `pair_estimate`, `run_estimate` and `missed_estimate` exist for every run that has ended. `pair_bound`, `run_bound`
    and `missed_bound` exist only if each assumption was given; otherwise reading them raises an AttributeError that
    says what is missing. On real similarities an estimate may be wrong by orders of magnitude.

    See Also
    --------
    crowder.Stopping : the ordering that returns it.

    Examples
    --------
    >>> run = Stopped([[0, 1]], [True], [0, 0, 1], declared=[[0, 2]], chance=[0.01], reason="delta",
    ...               assumes=["given model", "given odds", "true answers"])
    >>> run.n_queries, run.run_bound, run.missed_bound  # two pairs of records, each with 0.01
    (1, 0.01, 0.02)
    >>> run.wrong([5, 5, 5])
    array([ True])
    >>> Stopped([[0, 1]], [True], [0, 0, 1], declared=[[0, 2]], chance=[0.01], reason="delta",
    ...         assumes=["given model", "assumed odds", "true answers"]).run_bound
    Traceback (most recent call last):
    ...
    AttributeError: there is no run_bound, only run_estimate: the prior odds were assumed to be even (give odds)
    """

    declared: Any = field(default=())
    chance: Any = field(default=())
    reason: str = ""
    assumes: Sequence[str] = ()
    errors: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        declared = np.asarray(self.declared)
        if declared.size and (declared.dtype.kind not in "iu" or declared.shape[1:] != (2,)):
            raise ValueError(
                f"declared must be pairs of records, of shape (d, 2), not {declared.dtype} of shape {declared.shape}"
            )
        object.__setattr__(self, "declared", declared.astype(np.int64).reshape(-1, 2))
        chance, pairs = validation.numbers(self.chance, "chance").reshape(-1), len(self.declared)
        object.__setattr__(self, "chance", chance)
        if len(chance) != pairs or not ((chance >= 0) & (chance <= 1)).all():
            raise ValueError(f"chance must be a probability for each of the {pairs} declared pairs, not {chance}")
        if ((self.declared < 0) | (self.declared >= len(self.clusters))).any():
            raise ValueError(f"declared must be pairs of the {len(self.clusters)} records, not {declared.tolist()}")
        if not isinstance(self.reason, str) or self.reason not in REASONS:
            raise ValueError(f"reason must be one of {', '.join(map(repr, REASONS))}, not {self.reason!r}")
        validation.kind(self.assumes, (list, tuple), "assumes must be a tuple of texts")
        if any(what not in list(BASES) for what in self.assumes):
            raise ValueError(f"assumes must be some of {', '.join(map(repr, BASES))}, not {self.assumes!r}")
        object.__setattr__(self, "assumes", tuple(self.assumes))
        validation.probability(self.errors, "errors")

    @property
    def pair_estimate(self) -> float:
        """The probability that a given declared pair is a match: the largest `chance`, or 0 if nothing is declared."""
        return float(self._ended("pair_estimate").max(initial=0.0))

    @property
    def run_estimate(self) -> float:
        """The probability that any match was missed: the sum of `chance`, at most 1."""
        return float(min(1.0, self._ended("run_estimate").sum()))

    @property
    def missed_estimate(self) -> float:
        """The expected number of matching pairs of records that were missed."""
        chance, sizes = self._ended("missed_estimate"), np.bincount(self.clusters, minlength=1)[self.clusters]
        return float((chance * sizes[self.declared].prod(axis=1)).sum())

    @property
    def pair_bound(self) -> float:
        """An upper bound on the probability that a given declared pair is a match: `pair_estimate` + e q for q
        questions."""
        return self._bound("pair", 1)

    @property
    def run_bound(self) -> float:
        """An upper bound on the probability that any match was missed: `run_estimate` + e q for q questions."""
        return self._bound("run", 1)

    @property
    def missed_bound(self) -> float:
        """An upper bound on the expected number of matching pairs of records that were missed: `missed_estimate` plus
        e q n(n-1)/2 for q questions about n records."""
        n = len(self.clusters)
        return self._bound("missed", n * (n - 1) // 2)

    def _ended(self, name: str) -> np.ndarray:
        """The chances, once there are any."""
        if not self.reason:
            raise AttributeError(f"there is no {name} yet: the run has not ended")
        return self.chance

    def _bound(self, name: str, damage: int) -> float:
        """The estimate of this name, where it is a bound; `damage` is the most that wrong answers may add to it."""
        estimate: float = getattr(self, f"{name}_estimate")
        why = [BASES[what] for what in self.assumes if BASES[what]]
        if why or not self.assumes:
            missing = "; ".join(why) or "it does not say what it assumes"
            raise AttributeError(f"there is no {name}_bound, only {name}_estimate: {missing}")
        return estimate + damage * self.errors * self.n_queries

    def wrong(self, labels: ArrayLike) -> np.ndarray:
        """Which of the declared pairs are true matches, shape (d,), bool, given the true cluster of each record.

        Raises
        ------
        ValueError
            If there is not one label for each record.
        """
        labels = validation.labels(labels, len(self.clusters))
        return labels[self.declared[:, 0]] == labels[self.declared[:, 1]]


class Stopping(Ordering):
    r"""An ordering that omits questions about unlikely matches, or stops when a budget is spent.

    It asks the questions of the wrapped ordering except those between components that are improbable matches by the
    evidence so far. When that ordering has finished, it asks the questions that the guarantee still requires, the most
    probable match first: evidence changes as components grow, so a pair omitted early may be needed later.

    Parameters
    ----------
    ordering : Ordering
        An ordering that has not asked yet, with all pairs as candidates. It must not be used separately afterwards.
    model : SimilarityModel, optional
        f_g and f_r. Without a model they are learned from the answers, and δ guarantees nothing: see Notes.
    pair_delta : float, keyword only
        Stop when the `Stopped.chance` of each remaining pair of components is at most this, in [0, 1).
    run_delta : float, keyword only
        Stop when the chances of all remaining pairs of components sum to at most this, in [0, 1), so that, under the
        conditions in the Notes, no match is left unasked with probability at least one minus this. Much stronger than
        the same `pair_delta`.
    budget : int, keyword only
        Stop after at most this many questions.
    odds : float, keyword only
        An upper bound on the prior odds: how many times more probable it is a priori that two components are one entity
        than that they are two, given everything about the others. If a record is more likely to belong to some large
        cluster than to be a singleton, they are above one; the size of the largest possible cluster is a good guess. By
        default 1, but then no figure is called a bound. For `pair_delta` only δ/(1-δ)/o matters, so an error in o acts
        like one in δ.
    dependence : bool, keyword only
        Whether to estimate the correlation of the terms of a sum and divide sums by their design effect, as
        `EvidenceOrdering` does. The figures of the result are then estimates.
    errors : float, keyword only
        e, an upper bound on the probability that the answer to a question is wrong, whatever was answered before; for
        a majority of votes, `crowder.oracles.majority_error`. By default 0: the crowd is perfect, as in the paper. A
        crowd known to err (a `Faulty` behind the oracle that `run` gets) then makes the figures of the result
        estimates.

    Raises
    ------
    ValueError
        If the ordering has already asked, lacks pairs or is itself a `Stopping`, a number is out of its range, or no
        stopping rule is given.

    See Also
    --------
    crowder.Stopped : what its run returns.
    crowder.Audit : a recall that is certain without a model.
    crowder.EvidenceOrdering : an ordering that needs fewer questions where the model holds.

    Notes
    -----
    *Guarantee:* for true answers, similarities that are independent given the clusters, with the densities of the
    model, and a prior that o bounds, `Stopped.chance` bounds the posterior probability of each pair declared, however
    the questions were chosen (`crowder.beyond.posterior`). So ``pair_delta`` and ``run_delta`` hold at the time of
    stopping, given all that is known, and on average over data. Whoever gives a model and odds vouches for these
    conditions, and the result has `Stopped.run_bound`.

    *No guarantee:* with learned densities, damped evidence or odds that were not given, δ is a dial, and the result has
    only `Stopped.run_estimate`. On real similarities such estimates were wrong by orders of magnitude, and with
    dependent similarities a run may even ask more than the wrapped ordering. `Stopped.assumes` says what a result rests
    on.

    *Errors:* let each answer be wrong with probability at most e, whatever was answered before, and independently of
    the entities given the similarities and the true answer. After q questions ``run_bound`` and ``pair_bound`` then
    have e q added, and ``missed_bound`` e q n(n-1)/2; they hold on average over runs, not given the answers seen.
    Proof: unless some answer is wrong, which has probability at most E[e q], the run is that of a perfect crowd, to
    which the guarantee applies; if one is, anything may be missed. A bound above 1 says nothing, and more questions do
    not lower e q.

    *δ = 0* asks exactly what the ordering asks. Where a density vanishes a pair can be certain; any δ above 0 omits
    certain non-matches.

    *Ties* in the last part are broken by index. *Cost:* that of the ordering, O(n) per question, and O(n²) memory.

    Examples
    --------
    >>> from crowder import NodeOrdering, Truth, datasets, dist1
    >>> data, model = datasets.synthetic([40, 30, 10], dist1(0.5), rng=7, shuffle=True), dist1(0.5)
    >>> crowd = Truth(data.labels)
    >>> NodeOrdering(data.similarity, rng=7).run(crowd).n_queries
    108
    >>> run = Stopping(NodeOrdering(data.similarity, rng=7), model, run_delta=0.01, odds=40).run(crowd)
    >>> run.n_queries, run.recall(data.labels)[-1], run.reason, run.run_bound < 0.01
    (84, np.float64(1.0), 'delta', True)
    >>> run.assumes
    ('given model', 'given odds', 'true answers')
    >>> Stopping(NodeOrdering(data.similarity, rng=7), budget=80).run(crowd).assumes
    ('learned model', 'assumed odds', 'true answers')
    """

    def __init__(self, ordering: Ordering, model: SimilarityModel | None = None, *, pair_delta: float | None = None,
                 run_delta: float | None = None, budget: int | None = None, odds: float | None = None,
                 dependence: bool = False, errors: float = 0.0) -> None:  # fmt: skip
        validation.not_a_class(ordering, "ordering must be an edge, node or evidence ordering")
        # What this class omits would be answers in an audit.
        if not isinstance(ordering, Ordering) or isinstance(ordering, (Stopping, Audit)):
            raise ValueError(f"ordering must be an edge, node or evidence ordering, not {ordering!r}")
        if ordering.n_queries or ordering._pending is not None:
            raise ValueError("ordering must not have asked any question yet")
        if not ordering.every_pair:
            raise ValueError("ordering must have every pair as a candidate: give it a dense or condensed similarity")
        for name, delta in (("pair_delta", pair_delta), ("run_delta", run_delta)):
            if delta is not None and validation.probability(delta, name) == 1:
                raise ValueError(f"{name} must be in [0, 1), not {delta!r}")
        if budget is not None:
            validation.whole(budget, "budget")
        if pair_delta is None and run_delta is None and budget is None:
            raise ValueError("pair_delta, run_delta or budget must be given")
        assumed, odds = odds is None, 1.0 if odds is None else odds
        if not isinstance(odds, (int, float, np.number)) or not (odds > 0 and isfinite(odds)):
            raise ValueError(f"odds must be a positive, finite number, not {odds!r}")
        self.ordering, self.budget = ordering, budget
        self.pair_delta, self.run_delta, self.odds = pair_delta, run_delta, float(odds)
        self.errors = float(validation.probability(errors, "errors"))
        if model is not None:
            validation.model(model)
        self._begin(ordering._candidates)
        self._model, self._measures = model, validation.flag(dependence, "dependence")
        self._evidence_from = ["learned model" if model is None else "given model", *["damped evidence"] * dependence,
                               "assumed odds" if assumed else "given odds"]  # fmt: skip
        square = self._candidates.square()
        if model is None:
            _, self._steps, self._mass = into_steps(square, self._candidates.listed()[0])
            self._ratio = log_ratios(*learned_densities(0 * self._mass, 0 * self._mass, self._mass))
        else:
            edges, green, red = common_steps(model.green, model.red)
            self._steps = step_of(edges[1:-1], square)
            self._ratio = log_ratios(green, red)
        self._summed = sum_evidence(self._ratio[self._steps])
        absorb_known(self._summed, self._candidates, np.arange(self.n))
        self._update_at = FIRST_UPDATE
        level = min((delta for delta in (pair_delta, run_delta) if delta is not None), default=0.0)
        # A pair of components is omitted when σ(ln o + E) is at most the level, that is, when E is at most this.
        self._least = log(level / (1 - level)) - log(odds) if level > 0 else -inf
        self._second = False
        self._queue: list[int] = []
        self._end: tuple = ((), (), "")

    @property
    def dependence(self) -> float:
        """ρ, the estimated correlation of the terms of a sum, from 0 (independent) to 1."""
        return float(self._summed.dependence[0])

    @property
    def resolution(self) -> Stopped:
        """The clusters that follow from the answers so far and, once `ask` has returned None, the declared pairs."""
        plain = super().resolution
        answers = "bounded errors" if self.errors else "unknown errors" if self.crowd_errs else "true answers"
        declared, chance, reason = self._end
        assumes = (*self._evidence_from, answers) if len(declared) else (answers,)
        return Stopped(plain.queries, plain.answers, plain.clusters, declared, chance, reason, assumes, self.errors,
                       known=plain.known)  # fmt: skip

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        """Record the crowd's answer to the open question (as `Ordering.tell`)."""
        super().tell(pair, same)
        if self.ordering._pending is not None:
            self.ordering.tell(pair, same)
        self._take_in(pair, bool(same))

    def _run(self, labels: np.ndarray) -> None:
        inner = self.ordering
        while (pair := self.ask()) is not None:  # as with `tell`, but without checks of the answer
            same = bool(labels[pair[0]] == labels[pair[1]])
            self._knowledge, self._pending = learn(self._knowledge, *pair, same), None
            if inner._pending is not None:
                inner._knowledge, inner._pending = learn(inner._knowledge, *pair, same), None
            self._take_in(pair, same)

    def _take_in(self, pair: tuple[int, int], same: bool) -> None:
        absorb(self._summed, *pair, same)
        if same:
            self._queue.clear()
        if self.n_queries == self._update_at:
            self._update()

    def next_question(self) -> tuple[int, int] | None:
        code = -1
        if self.budget is None or self.n_queries < self.budget:
            code = self._first_pass()
            if code == -1:
                code = self._last_part()
        if code == -1 and not self._end[2]:
            pairs, chance = left_open(self._summed, log(self.odds), SETTLED, CERTAIN, UNIT)
            spent = self.budget is not None and self.n_queries >= self.budget and not self._guaranteed(chance)
            self._end = pairs, chance, "settled" if not len(pairs) else "budget" if spent else "delta"
        return unpacked(code)

    def _guaranteed(self, chance: np.ndarray) -> bool:
        each, whole = self.pair_delta, self.run_delta
        return not (each is None and whole is None) and (
            (each is None or chance.max(initial=0.0) <= each) and (whole is None or chance.sum() <= whole)
        )

    def _first_pass(self) -> int:
        """The next question of the wrapped ordering that is not omitted."""
        while not self._second:
            if isinstance(self.ordering, EdgeOrdering) and self.ordering._pending is None:
                edges = self.ordering._walk  # many pairs at once
                edges.at[0] = doubtful(edges.codes, edges.at[0], self._summed, self._least, SETTLED, UNIT)
            pair = self.ordering.ask()
            if pair is None:
                self._second = True
                self._update()
            elif self._evidence(*pair) > self._least:
                return pair[0] << 32 | pair[1]
            else:
                self.ordering.tell(pair, False)
        return -1

    def _last_part(self) -> int:
        """The most probable match among the pairs of components that the guarantee still requires."""
        while self._queue:
            code = self._queue.pop()
            if self._evidence(code >> 32, code & LOW) > -inf:
                return code
        code = int(question(self._summed, -inf, False))
        if code == -1 or self._evidence(code >> 32, code & LOW) > self._least:
            return code
        pairs, chance = left_open(self._summed, log(self.odds), SETTLED, CERTAIN, UNIT)
        rising = np.argsort(chance, kind="stable")
        kept = len(chance)
        if self.pair_delta is not None:
            kept = np.searchsorted(chance[rising], self.pair_delta, side="right")
        if self.run_delta is not None:
            kept = min(kept, np.searchsorted(np.cumsum(chance[rising]), self.run_delta, side="right"))
        self._queue = [int(a) << 32 | int(b) for a, b in pairs[rising[kept:]]]
        return self._queue.pop() if self._queue else -1

    def _evidence(self, i: int, j: int) -> float:
        """The evidence of the components of two records, in nats; -inf if they are settled."""
        summed = self._summed
        a, b = summed.name[i], summed.name[j]
        if summed.total[a, b] == SETTLED:
            return -inf
        return summed.total[a, b] / UNIT / (1 + summed.dependence[0] * (summed.size[a] * summed.size[b] - 1))

    def _update(self) -> None:
        self._update_at = max(self._update_at, int(self.n_queries * UPDATE_FACTOR) + 1)
        if self._model is None:
            matches, others = known_pairs(self._summed, self._steps, len(self._mass), SETTLED)
            self._ratio = log_ratios(*learned_densities(matches, others, self._mass))
        if self._measures:
            self._summed.dependence[0] = dependence(self._summed, self._steps, self._ratio / UNIT, SETTLED)
        if self._model is None or self._measures:
            reweigh(self._summed, self._steps, self._ratio)

    def decided_by(self) -> tuple[np.ndarray, ...]:
        """All settings except the budget, which changes no question before it is spent."""
        rules = np.array([self._least, *(-1 if d is None else d for d in (self.pair_delta, self.run_delta))])
        kind = np.frombuffer(type(self.ordering).__name__.encode(), np.uint8)
        learns = np.array([self._model is None, self._measures])
        ratio = np.zeros(0, np.int64) if self._model is None else self._ratio
        return (*self.ordering.decided_by(), rules, kind, learns, ratio)
