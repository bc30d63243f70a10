"""Audits of one's own records: the crowd may be unsure, and answer many questions side by side.

While an audit runs, some answers are to questions that it drew, others to questions that the ordering chose. The
guarantee of `crowder.beyond.Audit` requires that draws are used in the order in which they were drawn. An answer to a
later draw is therefore used when those before it are. The ordering learns nothing from it until then, so that what it
asks does not depend on it. Where answers to other questions may depend on later draws, because somebody else chose them
knowing these, they are held back until no answer to an earlier draw is missing (`ReplayedAudit`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from crowder import beyond, checks
from crowder.beyond.audit import limits
from crowder.engine import settled
from crowder.pairs import Candidates, unpack
from crowder_tool.journal import Pair
from crowder_tool.orderings import Certificate, Tables, packed
from crowder_tool.scored import ScoredOrdering

__all__ = ["Audit", "ReplayedAudit"]

#: The ordering is dry after so many questions without a match, if what it has learned expects fewer matches than this
#: besides what it expects of every pair.
DRY, HOPED = 250, 0.25


@dataclass(frozen=True, repr=False)
class OwnAudited(beyond.Audited, Certificate):
    """`crowder.beyond.Audited` of such a run. If `duplicates` were found, that is why it ended (`reason`)."""

    @property
    def certified(self) -> float:
        """The recall certified with this confidence, on the conditions that `assumes` lists; 0 if there are no
        candidate pairs, or if a table has duplicates."""
        share = super().certified
        return share if self.candidates and not self.duplicates else 0.0


class Audit(Tables[OwnAudited], beyond.Audit):
    """`crowder.beyond.Audit` of an ordering whose crowd may be unsure, and may answer many questions side by side.

    It asks the questions of the ordering until this is dry: it found no match among a quarter as many questions as the
    audit would ask; or among 250, if a `LearnedOrdering` hardly expects any. ``cost()`` says at any time how many the
    audit would ask, before the first question as well.

    A question of the ordering about which somebody is unsure stays open, and may be drawn later. Of a pair that was
    drawn, unsure is refused with a TypeError: a pair that is left out would bias the sample.

    A yes that the ordering takes for all records with one text counts for them here as well, and no draw is about them.
    What is certified holds on conditions, which its `assumes` lists. One of them can be refuted: if the answers show
    that a table has duplicates, nothing is certified, and the run ends.

    See Also
    --------
    crowder.beyond.Audit : the same with a crowd that always answers.

    Examples
    --------
    >>> import crowder as cr
    >>> data = cr.datasets.disney()
    >>> audit = Audit(ScoredOrdering(data.similarity, rng=7), rng=8)
    >>> round(audit.cost().expected)
    10
    >>> audit.tell(audit.ask(), None)
    >>> audit.run(cr.Truth(data.labels)).certified
    1.0
    """

    _taken = 0  #: of the pairs that a yes about one text has implied, how many this audit knows of

    def _begin(self, pairs: Candidates) -> None:
        super()._begin(pairs)
        self._runners_up = getattr(self.ordering, "_runners_up", self._runners_up)  # those that the ordering asks about
        self._handed_out = set[int]()  # questions of the ordering, packed

    def batch(self, n: int) -> list[Pair]:
        """The next n questions to ask side by side, as pairs of record numbers; none at the end.

        The answers come back by `learn`, in any order; those that are missing are returned again. There are fewer than
        n if the answers expected to them leave nothing to ask. An ordering without a method ``batch`` is asked for one
        question at a time, the audit for n.
        """
        n = checks.whole(n, "n, the number of questions,", least=1)
        if (pair := self.next_question()) is None or self.auditing:
            return self.draws(n)
        several = self.ordering.batch(n) if hasattr(self.ordering, "batch") else [pair]
        chosen = [pair for pair in several if not self._settled(*pair)] or [pair]
        self._handed_out |= {packed(*pair) for pair in chosen}
        return chosen

    def draws(self, n: int) -> list[Pair]:
        """The next n pairs drawn, no two of the same clusters: first those drawn before others that have answers."""
        chosen, component = dict[frozenset, Pair](), self._knowledge.component
        for code in [] if self._reason else self._pool[self._at[0] :].tolist():
            i, j = unpack(code)
            if not settled(component, self._knowledge.table, i, j):
                chosen.setdefault(frozenset((component[i], component[j])), (i, j))
            if len(chosen) == n:
                break
        return list(chosen.values())

    def learn(self, pair: Pair, same: bool | None) -> None:
        """Record an answer obtained elsewhere, or to a question of `batch`; what it settles is not asked again.

        It is used when the run comes to this pair; at once, if the ordering asks and this is its question. About that,
        somebody may be unsure (None).
        """
        code = packed(*self._two(pair))
        # Once the audit has begun, the answer may have been given because the pair was drawn.
        ours = code in self._handed_out and (same is None or not self._auditing)
        asked = ours or code in self._runners_up
        if not (same is None and asked):
            super().learn(pair, same)  # type: ignore[arg-type]
        if asked:
            self._pass_on([(pair, same)])
            self._handed_out.discard(code)
        elif self._auditing:
            self.next_question()  # uses the answers to the draws that come next

    def tell(self, pair: Pair, same: bool | None) -> None:
        """Record the answer to the open question, as `Ordering.tell`."""
        if same is None and self._is_open(pair) and not self.auditing:
            self.ordering.tell(pair, None)  # type: ignore[arg-type]
            self._pending = self._question = None
            self._misses += 1
        else:
            super().tell(pair, same)  # type: ignore[arg-type]

    def _pass_on(self, answers: Iterable[tuple[Pair, bool | None]]) -> None:
        """Let the ordering learn what was answered to its questions, and go on from there."""
        for pair, same in answers:
            self.ordering.learn(pair, same)  # type: ignore[arg-type]
            self._misses = 0 if same else self._misses + 1
        self._pending = self._question = self._found_now = None
        self._take_implied()

    def _use(self, same: bool) -> None:
        super()._use(same)
        self._take_implied()

    def _take_implied(self) -> None:
        for _, i, j in self._implied()[self._taken :]:
            self._imply(i, j)
            self._taken += 1

    def _implied(self) -> list[tuple[int, int, int]]:
        return getattr(self.ordering, "implied", [])

    def next_question(self) -> Pair | None:
        self._reason = "duplicates" if self.duplicates else self._reason
        return super().next_question()

    def _due(self) -> bool:
        return super()._due() or (self._misses >= DRY and getattr(self.ordering, "hoped", 1.0) < HOPED)

    @property
    def resolution(self) -> OwnAudited:
        """The clusters that follow from the answers so far, and the limit of what they miss."""
        plain = super().resolution
        return OwnAudited(
            **{one.name: getattr(plain, one.name) for one in fields(plain)}, implied=[*self._implied()],
            duplicates=[*self.duplicates], candidates=len(self._candidates.listed()[1]),
            tables=self._tables is not None,
        )  # fmt: skip


class ReplayedAudit(Audit):
    """An audit among candidate pairs, after the answers `before` it, with the answers `since` in their order.

    `drawn` are the pairs that the audit has handed out as questions. Answers are pairs and whether they are the same;
    `how` are the other arguments of an `Audit`.
    """

    def __init__(
        self,
        pairs: Any,
        before: Iterable[tuple[Pair, bool]],
        since: Iterable[tuple[Pair, bool]],
        drawn: Iterable[Pair],
        **how: Any,
    ) -> None:
        super().__init__(ScoredOrdering(pairs, rng=0), **how)  # which is told the answers, and asks nothing
        for pair, same in before:
            self.learn(pair, same)
            self.ordering.learn(pair, same)
        # In an order of all pairs, so that the draws stay the same if an answer is taken back.
        self._pool, self._listed = self._rng.permutation(self._candidates.listed()[1]), True
        ours, ahead, waiting = {*drawn}, list[Pair](), list[tuple[Pair, bool]]()
        self.next_question()
        for pair, same in since:
            self.learn(pair, same)
            if pair in ours:
                ahead.append(pair)
            else:
                waiting.append((pair, same))
            self.next_question()  # uses the answers to the draws that come next
            ahead = [one for one in ahead if not self.ordering.settled(*one)]
            if waiting and not ahead:
                self._pass_on(waiting)
                waiting = []

    def _due(self) -> bool:
        return True

    @property
    def certified(self) -> bool:
        """Whether the recall is certified."""
        return self.resolution.certified >= self.target

    def least(self) -> int:
        """About how many more answers the certificate takes if no other match turns up."""
        found, hits = self._found(), self._draws.hits
        enough = int(found / self.target) + 1
        exposure = limits(1 - self.confidence, hits + 1)[hits] - self._draws.exposure(enough)
        weight, count = self._units(self.ordering._knowledge)
        return 0 if self.certified else max(1, round(float(-np.expm1(-exposure / (enough - found) * weight) @ count)))
