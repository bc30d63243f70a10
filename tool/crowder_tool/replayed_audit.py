"""An audit whose answers are on disk: it is replayed from them, so that it can go on with the next answer.

While an audit runs, some answers are to questions that it drew, others to questions that the ordering chose. The
guarantee of `crowder.beyond.Audit` requires that draws are used in the order in which they were drawn, and that nothing
else is used while an answer to a later draw is known and one to an earlier draw is not: what was asked in between may
depend on the later one. Such answers are held back until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from crowder.beyond.audit import limits
from crowder.pairs import unpack
from crowder_tool.journal import Pair
from crowder_tool.tables import Audit, ScoredOrdering

__all__ = ["ReplayedAudit"]


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
