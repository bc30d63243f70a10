"""What an ordering of one's own records must know besides the similarities: tables without duplicates, and workers who
are unsure.

Of records from several tables without duplicates, two of one table never match. Nor do two clusters that have records
of one table, so a question about them is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from crowder import beyond
from crowder.engine import ASKED, Knowledge, learn, settled
from crowder.orderings import EdgeOrdering, Ordering
from crowder.pairs import Candidates, unpack
from crowder.resolution import Resolution

__all__ = ["Audit", "ScoredOrdering", "TableCandidates", "TableOrdering"]


@dataclass(frozen=True)
class TableCandidates(Candidates):
    """Candidate pairs, none of them within a table; `tables` (n,) numbers the table of each record."""

    tables: np.ndarray | None = None

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """The records with which each record has a candidate pair, and where those of record i begin."""
        codes = self.listed()[1]
        i, j = unpack(codes)
        ends, others = np.r_[i, j], np.r_[j, i]
        order = np.argsort(ends, kind="stable")
        return others[order], np.searchsorted(ends[order], np.arange(self.n + 1))


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


@dataclass(frozen=True, repr=False)
class OwnAudited(beyond.Audited, OwnResolution):
    """`crowder.beyond.Audited` of such a run."""


class Tables(Ordering):
    """What the tables of candidates imply is learned with each match: the new cluster differs from every other that has
    a record of one of its tables, as far as candidate pairs lead there. So whatever looks at what is known need not
    know of tables.
    """

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


class TableOrdering(Tables):
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


class ScoredOrdering(TableOrdering, EdgeOrdering):
    """Edge ordering of scored pairs: by falling score, unless earlier answers or the tables imply the answer.

    Parameters
    ----------
    pairs : ScoredPairs, NearestPairs or a similarity
        As of `crowder_tool.from_pairs` or `crowder_tool.nearest_pairs`, or as for `crowder.EdgeOrdering`.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties.

    See Also
    --------
    crowder_tool.LearnedOrdering : its similarity is learned.

    Examples
    --------
    Of two records on each side, two matches settle all four pairs:

    >>> import pandas as pd
    >>> from crowder_tool import from_pairs
    >>> scores = pd.DataFrame({"left": [1, 1, 2, 2], "right": [1, 2, 1, 2], "score": [0.9, 0.2, 0.3, 0.8]})
    >>> pairs = from_pairs(scores, one_to_one=True)
    >>> ScoredOrdering(pairs, rng=7).run(lambda i, j: pairs.ids[i] == pairs.ids[j]).n_queries
    2
    """

    def __init__(self, pairs: Any, *, rng: Any) -> None:
        super().__init__(getattr(pairs, "candidates", pairs), rng=rng)

    def next_question(self) -> tuple[int, int] | None:
        while (pair := super().next_question()) is not None and pair[0] << 32 | pair[1] in self._unsure:
            self._walk.at[0] += 1
        return pair

    _run = Ordering._run  # the compiled loop knows of no tables


class Audit(Tables, beyond.Audit):
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


def _cluster(known: Knowledge, record: int) -> Iterator[int]:
    """The records of the cluster of a record."""
    other = record
    while True:
        yield other
        other = int(known.ring[other])
        if other == record:
            return
