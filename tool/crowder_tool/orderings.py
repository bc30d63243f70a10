"""What an ordering of one's own records must know besides the similarities: tables without duplicates, and workers who
are unsure.

Of records from several tables without duplicates, two of one table never match. Nor do two clusters that have records
of one table, so a question about them is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crowder import checks
from crowder.engine import ASKED, Knowledge, learn, settled
from crowder.orderings import Ordering, R
from crowder.pairs import Candidates, unpack
from crowder.resolution import Resolution

__all__ = ["Certificate", "OwnResolution", "TableOrdering", "Tables"]

#: Of so many answers one at most is about a runner-up.
RUNNERS_UP = 30


@dataclass(frozen=True, repr=False)
class OwnResolution(Resolution):
    """A `Resolution` in which a yes about two records with one text may count for all records with it.

    Attributes
    ----------
    implied : sequence of (int, int, int)
        After how many questions two records were joined by such a yes, and the two records.
    duplicates : sequence of (int, int)
        Pairs answered *same* that the tables exclude. They change no cluster, but show that a table has duplicates.
    """

    implied: Any = field(default=(), kw_only=True)
    duplicates: Any = field(default=(), kw_only=True)

    def __reduce__(self) -> tuple:
        return partial(type(self), **{one.name: getattr(self, one.name) for one in fields(self)}), ()

    def _pairs(self, labels: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """As of a run that has also asked about the implied pairs, where they were implied."""
        implied = np.array([*self.implied], np.int64).reshape(-1, 3)
        after = np.r_[1 : self.n_queries + 1, implied[:, 0]]
        order = np.argsort(after, kind="stable")
        queries = np.concatenate([self.queries, implied[:, 1:]])[order]
        taken = [same and tuple(pair) not in self.duplicates
                 for pair, same in zip(self.queries.tolist(), self.answers.tolist(), strict=True)]  # fmt: skip
        answers = np.r_[np.array(taken, bool), np.ones(len(implied), bool)][order]
        right, joined, total = Resolution(queries, answers, self.clusters)._pairs(labels)
        ends = np.searchsorted(after[order], np.arange(self.n_queries + 1), side="right")
        return right[ends], joined[ends], total


@dataclass(frozen=True, repr=False)
class Certificate(OwnResolution):
    """An `OwnResolution` of which something is certified, on conditions.

    Attributes
    ----------
    candidates : int
        The number of candidate pairs. Without any, nothing is certified, nor where there are `duplicates`.
    tables : bool
        Whether no two records of one table were taken to match.
    """

    candidates: int = field(default=0, kw_only=True)
    tables: bool = field(default=False, kw_only=True)

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is not certified, but assumed by all that is."""
        conditions = {
            "all answers are true": True,
            "no two records of one table match": self.tables,
            "records with one text are the same where an answer says so of two of them": len(self.implied) > 0,
            f"matches that are not among the {self.candidates:,} candidate pairs are not counted": True,
        }
        return tuple(words for words, applies in conditions.items() if applies)


class Tables(Ordering[R]):
    """What the tables of candidates imply is learned with each match: the new cluster differs from every other that has
    a record of one of its tables, as far as candidate pairs lead there. So whatever looks at what is known need not
    know of tables.

    Attributes
    ----------
    duplicates : list of (int, int)
        Pairs i < j answered *same* though their clusters have records of one table. Such an answer changes no cluster;
        it shows that a table has duplicates.
    """

    if TYPE_CHECKING:  # the crowd may be unsure

        def run(self, oracle: Callable[[int, int], bool | None]) -> R: ...

    def _begin(self, pairs: Candidates) -> None:
        super()._begin(pairs)
        self._tables: np.ndarray | None = getattr(pairs, "tables", None)
        self.duplicates: list[tuple[int, int]] = []
        self._runners_up = set[int]()  # pairs, packed, that the tables exclude, and that are asked about all the same

    def _settled(self, i: int, j: int) -> bool:
        return super()._settled(i, j) and packed(i, j) not in self._runners_up

    def learn(self, pair: tuple[int, int], same: bool) -> None:
        """Record an answer obtained elsewhere, as `Ordering.learn`."""
        i, j = self._two(pair)
        if checks.flag(same, "same") and self._settled(i, j) and self._is_apart(i, j):
            self.duplicates.append((min(i, j), max(i, j)))
        super().learn(pair, same)

    def _learn(self, i: int, j: int, same: bool) -> None:
        if same and self._is_apart(i, j):
            self.duplicates.append((min(i, j), max(i, j)))
            self._knowledge = learn(self._knowledge, i, j, False)
            self._knowledge.answer[self.n_queries - 1] = True
        else:
            self._knowledge, excluded = self._learned(self._knowledge, i, j, same)
            self._exclude(excluded)

    def _exclude(self, pairs: list[tuple[int, int]]) -> None:
        """Take note of candidate pairs that the tables alone exclude, because of a match."""

    def _is_apart(self, i: int, j: int) -> bool:
        """Whether the tables exclude that two records of different clusters match."""
        known, tables = self._knowledge, self._tables
        if tables is None or known.component[i] == known.component[j]:
            return False
        return not {*tables[[*_cluster(known, i)]]}.isdisjoint(tables[[*_cluster(known, j)]])

    def _learned(self, known: Knowledge, i: int, j: int, same: bool) -> tuple[Knowledge, list[tuple[int, int]]]:
        """The knowledge with one more answer, and with what the tables then imply; the candidate pairs they exclude."""
        known, tables, excluded = learn(known, i, j, same), self._tables, list[tuple[int, int]]()
        if not same or tables is None:
            return known, excluded
        records, first = self._candidates.neighbours  # type: ignore[attr-defined]
        ours = [*_cluster(known, i)]
        for member in ours:
            for other in records[first[member] : first[member + 1]].tolist():
                if not settled(known.component, known.table, member, other) and not {*tables[ours]}.isdisjoint(
                    tables[[*_cluster(known, other)]]):  # fmt: skip
                    excluded.append((member, other))
        for member, other in excluded:
            if not settled(known.component, known.table, member, other):
                known = learn(known, member, other, False)
                known.count[ASKED] -= 1  # this was no question
        return known, excluded

    def _imply(self, i: int, j: int) -> None:
        """Take two records as a match that no question was about."""
        if not self._settled(i, j):
            Ordering.learn(self, (i, j), True)
            self._knowledge.count[ASKED] -= 1


class TableOrdering(Tables[OwnResolution]):
    """An ordering whose candidates may have tables, and whose crowd may be unsure.

    A pair about which somebody is unsure (None) stays open, and is not asked about again.
    """

    def _begin(self, pairs: Candidates) -> None:
        super()._begin(pairs)
        self._unsure, self._tried = set[int](), 0  # pairs; runners-up that have an answer

    def learn(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record an answer obtained elsewhere, as `Ordering.learn`, or that somebody is unsure (None)."""
        if same is not None:
            super().learn(pair, same)
            return
        self._unsure.add(code := packed(*self._two(pair)))
        self._try(code)
        if self._is_open(pair):
            self._pending = None

    def tell(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record the answer to the open question, as `Ordering.tell`, or that somebody is unsure (None)."""
        if same is None and self._is_open(pair):
            self.learn(pair, None)
        else:
            super().tell(pair, same)  # type: ignore[arg-type]

    def _learn(self, i: int, j: int, same: bool) -> None:
        super()._learn(i, j, same)
        self._try(packed(i, j))
        if self._runners_up:  # those between two clusters that an answer was about need no other
            codes, known = np.array([*self._runners_up]), self._knowledge
            answered = np.isin(_clusters_of(known, codes), _clusters_of(known, known.asked[: self.n_queries]))
            self._runners_up.difference_update(codes[answered].tolist())

    def _try(self, code: int) -> None:
        self._tried += code in self._runners_up
        self._runners_up.discard(code)

    def _exclude(self, pairs: list[tuple[int, int]]) -> None:
        if pairs:
            values, codes = self._candidates.listed()
            at = np.searchsorted(codes, sorted({packed(*pair) for pair in pairs}))
            self._runners_up.add(int(codes[at[values[at].argmax()]]))

    def _runners_due(self, most: int) -> list[tuple[int, int]]:
        """At most so many of the runners-up that are asked about now, the most probable first."""
        return self._runners(min(most, self.n_queries // RUNNERS_UP + 1 - self._tried)) if self._runners_up else []

    def _runners(self, most: int) -> list[tuple[int, int]]:
        codes = np.array(sorted(self._runners_up), np.int64)
        likely = self._likely(np.searchsorted(self._candidates.listed()[1], codes))
        codes = codes[np.argsort(-likely, kind="stable")]
        first = np.sort(np.unique(_clusters_of(self._knowledge, codes), return_index=True)[1])
        return [unpack(code) for code in codes[first[: max(0, most)]].tolist()]

    def _likely(self, at: np.ndarray) -> np.ndarray:
        """How likely the candidate pairs at these places match."""
        return self._candidates.listed()[0][at]

    @property
    def resolution(self) -> OwnResolution:
        """The clusters that follow from the answers so far."""
        plain = super().resolution
        return OwnResolution(plain.queries, plain.answers, plain.clusters, duplicates=[*self.duplicates])


def packed(i: int, j: int) -> int:
    """A pair, in either order, as one number."""
    return min(i, j) << 32 | max(i, j)


def _clusters_of(known: Knowledge, codes: np.ndarray) -> np.ndarray:
    """The two clusters of each pair, packed as pairs are."""
    ends = np.sort(known.component.astype(np.int64)[np.array(unpack(codes))], axis=0)
    return ends[0] << 32 | ends[1]


def _cluster(known: Knowledge, record: int) -> Iterator[int]:
    """The records of the cluster of a record."""
    other = record
    while True:
        yield other
        other = int(known.ring[other])
        if other == record:
            return
