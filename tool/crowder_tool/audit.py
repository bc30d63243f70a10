"""Audits of one's own records: the crowd may be unsure, and answers may be on disk.

While an audit runs, some answers are to questions that it drew, others to questions that the ordering chose. The
guarantee of `crowder.beyond.Audit` requires that draws are used in the order in which they were drawn, and that nothing
else is used while an answer to a later draw is known and one to an earlier draw is not: what was asked in between may
depend on the later one. Such answers are held back until then (`ReplayedAudit`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from crowder import beyond
from crowder.beyond.audit import limits
from crowder.pairs import unpack
from crowder_tool.journal import Pair
from crowder_tool.orderings import OwnResolution, Tables
from crowder_tool.scored import ScoredOrdering

__all__ = ["Audit", "ReplayedAudit"]


@dataclass(frozen=True, repr=False)
class OwnAudited(beyond.Audited, OwnResolution):
    """`crowder.beyond.Audited` of such a run."""


class Audit(Tables[beyond.Audited], beyond.Audit):
    """`crowder.beyond.Audit` of an ordering whose crowd may be unsure.

    A question of the ordering about which somebody is unsure stays open, and may be drawn later. Of a pair that was
    drawn, unsure is refused with a TypeError: a pair that is left out would bias the sample.

    A yes that the ordering takes for all records with one text counts for them here as well, and no draw is about them.
    So what is certified holds if the answers are true, and these records are the same.

    See Also
    --------
    crowder.beyond.Audit : the same with a crowd that always answers.

    Examples
    --------
    >>> import crowder as cr
    >>> data = cr.datasets.disney()
    >>> audit = Audit(ScoredOrdering(data.similarity, rng=7), rng=8)
    >>> audit.tell(audit.ask(), None)
    >>> audit.run(cr.Truth(data.labels)).certified
    1.0
    """

    _taken = 0  #: of the pairs that a yes about one text has implied, how many this audit knows of

    def _implied(self) -> list[tuple[int, int, int]]:
        return getattr(self.ordering, "implied", [])

    def _use(self, same: bool) -> None:
        super()._use(same)
        for _, i, j in self._implied()[self._taken :]:
            self._imply(i, j)
            self._taken += 1

    @property
    def resolution(self) -> beyond.Audited:
        """The clusters that follow from the answers so far, and the limit of what they miss."""
        plain = super().resolution
        return OwnAudited(**{one.name: getattr(plain, one.name) for one in fields(plain)}, implied=[*self._implied()])

    def tell(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record the answer to the open question, as `Ordering.tell`."""
        if same is None and self._is_open(pair) and not self.auditing:
            self.ordering.tell(pair, None)  # type: ignore[arg-type]
            self._pending = self._question = None
            self._misses += 1
        else:
            super().tell(pair, same)  # type: ignore[arg-type]


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
                for other in waiting:
                    self.ordering.learn(*other)
                waiting, self._found_now = [], None

    def _due(self) -> bool:
        return True

    def draws(self, size: int) -> list[Pair]:
        """The next pairs to ask about, no two of the same clusters: first those drawn before others that have been
        answered."""
        chosen, component = dict[frozenset, Pair](), self._knowledge.component
        for code in [] if self.certified else self._pool[self._at[0] :]:
            i, j = unpack(int(code))
            if not self._settled(i, j):
                chosen.setdefault(frozenset((component[i], component[j])), (i, j))
            if len(chosen) == size:
                break
        return list(chosen.values())

    @property
    def certified(self) -> bool:
        """Whether the recall is certified."""
        return self._reason != "" or self.resolution.certified >= self.target

    def least(self) -> int:
        """About how many more answers the certificate takes if no other match turns up."""
        found, hits = self._found(), self._draws.hits
        enough = int(found / self.target) + 1
        exposure = limits(1 - self.confidence, hits + 1)[hits] - self._draws.exposure(enough)
        weight, count = self._units(self.ordering._knowledge)
        return 0 if self.certified else max(1, round(float(-np.expm1(-exposure / (enough - found) * weight) @ count)))
