"""What an ordering of one's own records must know besides the similarities: tables without duplicates, and workers who
are unsure.

Of records from several tables without duplicates, two of one table never match. Nor do two clusters that have records
of one table, so a question about them is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from crowder.engine import ASKED, Knowledge, learn, settled
from crowder.orderings import Ordering, R
from crowder.pairs import Candidates
from crowder.resolution import Resolution

__all__ = ["OwnResolution", "TableOrdering", "Tables"]


@dataclass(frozen=True, repr=False)
class OwnResolution(Resolution):
    """A `Resolution` in which a yes about two records with one text may count for all records with it.

    Attributes
    ----------
    implied : sequence of (int, int, int)
        After how many questions two records were joined by such a yes, and the two records.
    """

    implied: Any = field(default=(), kw_only=True)

    def _pairs(self, labels: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """As of a run that has also asked about the implied pairs, where they were implied."""
        implied = np.array([*self.implied], np.int64).reshape(-1, 3)
        after = np.r_[1 : self.n_queries + 1, implied[:, 0]]
        order = np.argsort(after, kind="stable")
        queries = np.concatenate([self.queries, implied[:, 1:]])[order]
        answers = np.r_[self.answers, np.ones(len(implied), bool)][order]
        right, joined, total = Resolution(queries, answers, self.clusters)._pairs(labels)
        ends = np.searchsorted(after[order], np.arange(self.n_queries + 1), side="right")
        return right[ends], joined[ends], total


class Tables(Ordering[R]):
    """What the tables of candidates imply is learned with each match: the new cluster differs from every other that has
    a record of one of its tables, as far as candidate pairs lead there. So whatever looks at what is known need not
    know of tables.
    """

    if TYPE_CHECKING:  # the crowd may be unsure

        def run(self, oracle: Callable[[int, int], bool | None]) -> R: ...

    def _learn(self, i: int, j: int, same: bool) -> None:
        self._knowledge = self._learned(self._knowledge, i, j, same)

    def _learned(self, known: Knowledge, i: int, j: int, same: bool) -> Knowledge:
        """The knowledge with one more answer, and with what the tables then imply."""
        known = learn(known, i, j, same)
        tables = getattr(self._candidates, "tables", None)
        if not same or tables is None:
            return known
        records, first = self._candidates.neighbours  # type: ignore[attr-defined]
        ours = list(_cluster(known, i))
        for member in ours:
            for other in records[first[member] : first[member + 1]].tolist():
                if not settled(known.component, known.table, member, other) and not {*tables[ours]}.isdisjoint(
                    tables[list(_cluster(known, other))]):  # fmt: skip
                    known = learn(known, member, other, False)
                    known.count[ASKED] -= 1  # this was no question
        return known

    def _imply(self, i: int, j: int) -> None:
        """Take two records as a match that no question was about."""
        if not self._settled(i, j):
            Ordering.learn(self, (i, j), True)
            self._knowledge.count[ASKED] -= 1


class TableOrdering(Tables[R]):
    """An ordering whose candidates may have tables, and whose crowd may be unsure.

    A pair about which somebody is unsure (None) stays open, and is not asked about again.
    """

    def _begin(self, pairs: Candidates) -> None:
        super()._begin(pairs)
        self._unsure: set[int] = set()

    def learn(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record an answer obtained elsewhere, as `Ordering.learn`, or that somebody is unsure (None)."""
        if same is not None:
            super().learn(pair, same)
            return
        i, j = self._two(pair)
        self._unsure.add(min(i, j) << 32 | max(i, j))
        if self._is_open(pair):
            self._pending = None

    def tell(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record the answer to the open question, as `Ordering.tell`, or that somebody is unsure (None)."""
        if same is None and self._is_open(pair):
            self.learn(pair, None)
        else:
            super().tell(pair, same)  # type: ignore[arg-type]


def _cluster(known: Knowledge, record: int) -> Iterator[int]:
    """The records of the cluster of a record."""
    other = record
    while True:
        yield other
        other = int(known.ring[other])
        if other == record:
            return
