"""A plan: how many questions find most of the matches, at what price, and which ordering to ask them in."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowder import validation
from crowder.oracles import Truth, odd
from crowder.orderings import EdgeOrdering, Ordering
from crowder.pairs import Candidates, candidates
from crowder.practice.batch import name_and_class, ordering_with_answers, pilot, question_batch
from crowder.practice.draws import Draw, draw_clusterings
from crowder.similarity import SIMILARITIES, compute

__all__ = ["Plan", "pairs_of"]

#: Number of plausible clusterings; with more than MANY pairs; of those on which orderings are compared; and of those on
#: which another than edge ordering is run.
DRAWS, MANY, FEWER, FEW, RUNS = 100, 400_000, 50, 5, 20

#: An interval leaves out this share of the clusterings at either end.
TAIL = 0.05

#: All pairs of so many records are candidates; with so many, evidence ordering is tried. Points of a curve of recall.
MOST_RECORDS, MOST_EVIDENCE, POINTS = 5000, 250, 201

#: Memory for a pair, in bytes, when all pairs are candidates.
BYTES = 48


class _Run(NamedTuple):
    at: np.ndarray  # after which questions matches are found,
    found: np.ndarray  # and how many
    end: int

    def until(self, recall: float) -> int:
        total = np.cumsum(self.found)
        return int(self.at[np.searchsorted(total, recall * total[-1] * (1 - 1e-12))]) if len(total) else 0

    def recall(self, questions: Any) -> np.ndarray:
        total = np.r_[0, np.cumsum(self.found)]
        return total[np.searchsorted(self.at, questions, "right")] / total[-1] if total[-1] else np.ones(len(questions))


class Plan:
    """How many questions find 95 % of the matches, 99 %, and all; their price; and what a budget buys.

    Clusterings are drawn that are plausible given the similarities and agree with all answers so far
    (`crowder.practice.draws`), and an ordering is run on each. The numbers of questions give the intervals.

    Parameters
    ----------
    data : DataFrame, or whatever an ordering takes
        Records, with columns of text, of which ``id`` and ``label`` are not compared; or the similarities of candidate
        pairs: dense, condensed, sparse, or from `from_pairs`. Of more than 5,000 records, the candidates are
        those of `crowder.practice.blocking.candidate_pairs`.
    similarity : str, optional
        For records: a key of `crowder.similarity.SIMILARITIES`, by default "jaccard-qgrams".
    ordering : {"auto", "edge", "node", "evidence"} or subclass of `crowder.Ordering`, keyword only
        By default, the one that reaches the target soonest on some of the clusterings.
    target : float, keyword only
        The share of the matches to find, more than 0 and at most 1.
    budget : float, optional, keyword only
        Money, of which `within_budget` tells what it buys.
    price : float, keyword only
        Price of one person's answer.
    votes : int, keyword only
        Number of people who answer each question, odd.
    answers : tuple (pairs, same), keyword only
        The answers so far, without contradictions: pairs of records (q, 2) and whether they are the same (q,).
    rng : int, keyword only
        A seed; use the same one for all batches.

    Attributes
    ----------
    candidates : Candidates
    ordering : str
        The name of the ordering.
    why : str
        Why it was chosen.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    MemoryError
        If all pairs are candidates and need more memory than the machine has.

    See Also
    --------
    crowder.beyond.Audit : to stop before every pair is settled, with a certified recall.

    Notes
    -----
    An interval is meant to hold nine times in ten. Of 31 samples of labelled records (``benchmarks/plans.py``; people,
    citations, products, inventors, restaurants) that for 95 % of the matches held in 29 before any answer, and in 29
    after the pilot; on data that chose no constant in 12 and 11 of 13. Where it missed, fewer questions were needed.
    The ends were a factor 42 and 6 apart, and the middle off by a factor 1.5 and 1.1 (medians). Asking until the upper
    end was behind found at least 97.9 % of the matches, for 2.6 times the questions that edge ordering needs for 95 %.

    The *pilot* of at most 50 questions comes first: pairs at equal ratios of ranks, of which some are matches and some
    are not. Those at the top say little about where the matches end.

    Matches are found among candidates only. Wrong answers are not allowed for. Not in the paper.

    Examples
    --------
    >>> from crowder.datasets import people
    >>> plan = Plan(people([3] * 10 + [1] * 20, rng=7), price=0.1, budget=2, rng=7)
    >>> plan.table.index.tolist()
    ['95 % of the matches', '99 % of the matches', 'all matches', 'every pair']
    >>> plan.ordering, len(plan.clusterings), len(plan.batch(3))
    ('edge', 100, 3)
    """

    def __init__(
        self,
        data: Any,
        similarity: str | None = None,
        *,
        ordering: str | type[Ordering] = "auto",
        target: float = 0.95,
        budget: float | None = None,
        price: float = 0.05,
        votes: int = 1,
        answers: Any = ((), ()),
        rng: int = 0,
    ) -> None:
        for value, name in ((price, "price"), (0 if budget is None else budget, "budget")):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < np.inf:
                raise ValueError(f"{name} must be a number, 0 or more, not {value!r}")
        if not validation.probability(target, "target") > 0:
            raise ValueError(f"target must be more than 0, not {target!r}")
        auto = isinstance(ordering, str) and ordering == "auto"
        name, self._ordering = ("", ordering) if auto else name_and_class(ordering)
        self.target, self.budget, self.price, self.votes = float(target), budget, float(price), odd(votes)
        self.seed = validation.whole(rng, "rng, the seed,")
        self.candidates = pairs_of(data, similarity)
        self.answers = _checked(answers, self.candidates.n)
        self.ordering, self.why = self._best() if auto else (name, "it was asked for")
        if auto:
            self._ordering = self.ordering
        goals = {
            f"{100 * share:.4g} % of the matches": share for share in (self.target, 0.99) if self.target <= share < 1
        }
        self._goals = goals | {"all matches": 1.0, "every pair": 1.0}

    @cached_property
    def _draws(self) -> list[Draw]:
        number = DRAWS if len(self.candidates.sorted[1]) <= MANY else FEWER
        return draw_clusterings(self.candidates, *self.answers, number, rng=np.random.default_rng([self.seed, 1]))

    def _best(self) -> tuple[str, str]:
        plain = self.candidates.known is None and self.candidates.tables is None
        evidence = plain and self.candidates.complete and self.candidates.n <= MOST_EVIDENCE
        names = ["edge", "node", "evidence"][: 2 + evidence]
        asked = {name: int(np.median([run.until(self.target) for run in self._runs(name, FEW)])) for name in names}
        best = min(names, key=asked.__getitem__)
        others = " and ".join(f"{asked[name]:,} for {name} ordering" for name in names if name != best)
        return best, f"on {FEW} of the clusterings it takes {asked[best]:,} questions to the target, against {others}"

    def _runs(self, ordering: Any, number: int) -> list[_Run]:
        if ordering in ("edge", EdgeOrdering):
            return [_Run(draw.at, draw.found, draw.end) for draw in self._draws[:number]]
        return [self._run(ordering, draw.labels) for draw in self._draws[:number]]

    def _run(self, ordering: Any, labels: np.ndarray) -> _Run:
        run = ordering_with_answers(ordering, self.candidates, *self.answers, rng=self.seed).run(Truth(labels))
        gained = np.diff(run.recall(labels), prepend=0.0)
        at = np.flatnonzero(gained > 0)
        return _Run(at, gained[at], run.n_queries)

    @cached_property
    def _all_runs(self) -> list[_Run]:
        return self._runs(self._ordering, DRAWS if self._ordering in ("edge", EdgeOrdering) else RUNS)

    def _questions(self, run: _Run) -> list[int]:
        return [run.end if name == "every pair" else run.until(recall) for name, recall in self._goals.items()]

    @cached_property
    def table(self) -> pd.DataFrame:
        """Questions, counted from the first answer, and their cost: a row for the target, 99 % of the matches, all
        matches, and every pair settled; columns recall, questions, from, to, cost, cost_from, cost_to."""
        low, middle, high = _interval([self._questions(run) for run in self._all_runs])
        rows = {"recall": list(self._goals.values()), "questions": middle, "from": low, "to": high}
        each = self.price * self.votes
        rows |= {"cost": middle * each, "cost_from": low * each, "cost_to": high * each}
        return pd.DataFrame(rows, index=list(self._goals))

    def actual(self, labels: Any) -> pd.DataFrame:
        """The same rows for true labels (n,): columns recall, questions, cost."""
        questions = np.array(self._questions(self._run(self._ordering, validation.labels(labels, self.candidates.n))))
        rows = {"recall": list(self._goals.values()), "questions": questions}
        return pd.DataFrame(rows | {"cost": questions * self.price * self.votes}, index=list(self._goals))

    @cached_property
    def within_budget(self) -> tuple[float, float, float] | None:
        """The recall that the budget buys, answers so far included: low, middle, high; None without a budget."""
        if self.budget is None:
            return None
        questions = [np.floor(self.budget / each + 1e-9) if (each := self.price * self.votes) else np.inf]
        low, middle, high = np.quantile([run.recall(questions)[0] for run in self._all_runs], [TAIL, 0.5, 1 - TAIL])
        return float(low), float(middle), float(high)

    def curve(self, ordering: str | type[Ordering] | None = None) -> pd.DataFrame:
        """Recall against questions, by default of the plan's ordering: columns questions, from, recall, to."""
        runs = self._all_runs if ordering is None else self._runs(name_and_class(ordering)[1], RUNS)
        most = _interval([[run.until(0.99)] for run in runs])[2, 0]
        questions = np.unique(np.linspace(0, most, POINTS).astype(int))
        low, middle, high = np.quantile([run.recall(questions) for run in runs], [TAIL, 0.5, 1 - TAIL], axis=0)
        return pd.DataFrame({"questions": questions, "from": low, "recall": middle, "to": high})

    @cached_property
    def clusterings(self) -> list[np.ndarray]:
        """Plausible clusterings, labels (n,), that agree with all answers."""
        return [draw.labels for draw in self._draws]

    def expected(self, i: int, j: int) -> bool:
        """Whether records i and j are together in most of the clusterings."""
        i, j = validation.whole(i, "record i"), validation.whole(j, "record j")
        if max(i, j) >= self.candidates.n:
            raise ValueError(f"records must be two of {self.candidates.n}, counted from 0, not {i} and {j}")
        return 2 * sum(bool(labels[i] == labels[j]) for labels in self.clusterings) > len(self.clusterings)

    @cached_property
    def n_matches(self) -> tuple[int, int, int]:
        """Number of pairs that match: low, middle, high."""
        low, middle, high = _interval([draw.found.sum() for draw in self._draws]).tolist()
        return low, middle, high

    @cached_property
    def n_clusters(self) -> tuple[int, int, int]:
        """Number of clusters: low, middle, high."""
        low, middle, high = _interval([len(np.unique(labels)) for labels in self.clusterings]).tolist()
        return low, middle, high

    def batch(self, size: int) -> list[tuple[int, int]]:
        """The next questions to ask in parallel, first a pilot (see Notes).

        There are fewer than `size` only if they are expected to settle every pair.
        """
        pairs, same = self.answers
        return question_batch(
            self._ordering, self.candidates, size, pairs, same, first=pilot(self.candidates, len(same)),
            expected=self.expected, rng=self.seed,
        )  # fmt: skip

    def __str__(self) -> str:
        told = [f"{_told(row)}: {name}." for name, row in self.table.iterrows()]
        first, rest = self.table["questions"].iloc[0], self.table.loc["all matches"]
        answered = f"{len(self.answers[1]):,} of them are answered."
        if few := len(pilot(self.candidates, len(self.answers[1]))):
            answered = f"This is a wide guess until a pilot of {few} questions is answered; then plan again."
        text = [*told[: max(1, len(told) - 2)], answered]
        if self.within_budget is not None:
            low, middle, high = self.within_budget
            text.append(f"The budget of {self.budget:,.2f} buys {middle:.0%} of the matches ({low:.0%} to {high:.0%}).")
        more = f"{max(0, rest['questions'] - first):,.0f} more until all matches are found"
        text.append(f"The tail: {more} ({rest['from']:,.0f} to {rest['to']:,.0f} in all), nearly all answered no.")
        text.append("crowder.beyond.Audit tells when to stop, with a certificate.")
        text += [f"The whole: {told[-1]}", f"Asked in {self.ordering} ordering: {self.why}."]
        return "\n".join(text)


def _told(row: pd.Series) -> str:
    questions = f"About {row['questions']:,.0f} questions ({row['from']:,.0f} to {row['to']:,.0f})"
    return f"{questions}, for {row['cost']:,.2f} ({row['cost_from']:,.2f} to {row['cost_to']:,.2f})"


def _interval(counts: Any) -> np.ndarray:
    """Low, middle and high, (3, ...), of counts (draws, ...)."""
    return np.quantile(counts, [TAIL, 0.5, 1 - TAIL], axis=0, method="nearest").astype(np.int64)


def pairs_of(data: Any, similarity: str | None) -> Candidates:
    """The candidate pairs of what a plan takes."""
    if not isinstance(data, pd.DataFrame):
        if similarity is not None:
            raise ValueError(f"similarity must be None if data are not records in a DataFrame, not {similarity!r}")
        pairs = candidates(data)
        if pairs.complete:
            _check_memory(pairs.n)
        return pairs
    if not len(data):
        raise ValueError("data must have at least one record")
    name = "jaccard-qgrams" if similarity is None else similarity
    if not isinstance(name, str) or name not in SIMILARITIES:
        raise ValueError(f"similarity must be one of {', '.join(SIMILARITIES)}, not {name!r}")
    fields = [field for field in data if field not in ("id", "label")]
    if len(data) > MOST_RECORDS:
        from crowder.practice.blocking import candidate_pairs

        return candidates(candidate_pairs(data, name, fields=fields))
    _check_memory(len(data))
    return candidates(compute(data, name, fields=fields))


def _check_memory(n: int) -> None:
    needed = BYTES * n * (n - 1) // 2
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else needed
    if needed > there:
        raise MemoryError(
            f"all pairs of {n:,} records need {needed / 1e9:,.1f} GB, but there are {there / 1e9:,.1f} GB: pass fewer "
            "candidate pairs as a scipy.sparse matrix, such as crowder.practice.blocking.candidate_pairs finds"
        )


def _checked(answers: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(answers, (tuple, list)) or len(answers) != 2:
        raise TypeError(f"answers must be a tuple (pairs, same), not {answers!r}")
    pairs, same = np.asarray(answers[0]).reshape(-1, 2), np.asarray(answers[1])
    if len(pairs) != len(same):
        raise ValueError(f"answers must have a pair for each answer, not {len(pairs)} and {len(same)}")
    if len(same) and (pairs.dtype.kind not in "iu" or same.dtype.kind != "b"):
        raise ValueError("answers must have pairs of numbers of records, and True or False for each")
    wrong = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) | (pairs < 0).any(axis=1) | (pairs >= n).any(axis=1))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"answers must be about two different records out of {n}, from 0, not {pairs[at].tolist()}, in row {at}"
        )
    return pairs.astype(np.int64), same.astype(bool)
