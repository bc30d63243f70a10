"""A plan: how many questions, at what price, found how soon, and which to ask first; before answers and with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowder import files, validation
from crowder.counting.expected_counts import expected_queries
from crowder.models import SimilarityModel
from crowder.oracles import Truth
from crowder.orderings import Ordering
from crowder.practice.planner.batch import STRATEGIES, batch_of, informed, named
from crowder.practice.planner.mixture import Levels, fit_levels
from crowder.practice.planner.sheets import Told, guarded, question_sheet, read_answers
from crowder.practice.planner.sizes import Clusterings
from crowder.resolution import ideal_queries
from crowder.similarity.functions import SIMILARITIES, compute
from crowder.voting import odd

__all__ = ["Plan", "Run"]

#: The interval that a plan gives, from this quantile of its draws to the opposite one: nominally 90 per cent.
TAIL = 0.05

#: Points of a recall curve.
POINTS = 201

#: Most questions of evidence ordering that are simulated for a plan (it takes some microseconds a question).
MOST_EVIDENCE = 400_000

#: Most records of a cluster for which the independent model is counted out.
LARGEST = 200

#: Steps of the fitted densities.
STEPS = 20


class Run(NamedTuple):
    """One simulated run: the place of its clustering among the draws, its clusters, its questions, and its recall."""

    strategy: str
    quantile: float
    k: int
    questions: int
    recall: np.ndarray


class Plan:
    """What it will take to resolve these records.

    Clusterings that agree with the similarities and with the answers so far are drawn; on the records' own similarities
    the orderings are run as if each were the truth. The spread of what they ask is the interval.

    Parameters
    ----------
    records : DataFrame
        As `crowder.read_records` returns them: columns id, perhaps label, and the fields to compare, all text.
    similarity : str
        A key of `crowder.similarity.SIMILARITIES`.
    strategy : {"edge", "node", "evidence"} or subclass of `crowder.Ordering`, keyword only
        Chooses the batch. A class goes by its name; it is called with the similarities and ``rng``.
    price : float, keyword only
        Of one answer of one person.
    votes : int, keyword only
        People asked about every question, odd.
    answers : path, list of paths or Told, optional, keyword only
        Files of answers so far (`crowder.practice.planner.sheets.read_answers`).
    strategies : sequence of such, keyword only
        Those that are planned.
    encoding, sep : str, keyword only
        Of the files of questions and answers.
    rng : int, keyword only
        A seed; the same one from batch to batch.

    Attributes
    ----------
    n, fields, told, condensed, levels
        Number of records, names of the fields, the answers so far, the similarities, the levels (None below 3 records).

    Raises
    ------
    ValueError
        For an unknown similarity or strategy, an even number of votes, a price that is none, or a bad file of answers.

    Notes
    -----
    O(n²) memory, O(n² log n) time a simulated run. The label is used by `actual` alone.

    Examples
    --------
    >>> from crowder.practice.planner.people import people
    >>> plan = Plan(people([3] * 10 + [1] * 20, rng=7), rng=7)
    >>> low, middle, high = plan.questions("edge")
    >>> low <= middle <= high, [len(row) for row in plan.batch(3)]
    (True, [2, 2, 2])
    >>> (int(plan.actual["edge"].n_queries) - 435) // 100  # k = 30: at least 435 questions, and 20 matches
    0
    """

    def __init__(
        self,
        records: pd.DataFrame,
        similarity: str = "jaccard-qgrams",
        *,
        strategy: str | type[Ordering] = "edge",
        price: float = 0.05,
        votes: int = 1,
        answers: Any = None,
        strategies: Sequence[str | type[Ordering]] = tuple(STRATEGIES),
        encoding: str = "utf-8",
        sep: str = ",",
        rng: int = 0,
    ) -> None:
        if not isinstance(records, pd.DataFrame):
            raise TypeError(f"records must be a DataFrame, as crowder.read_records gives it, not {records!r}")
        if "id" not in records:
            raise ValueError(f"records need a column 'id'; they have {list(records.columns)}")
        if not len(records):
            raise ValueError("there is no record to plan for")
        if records["id"].duplicated().any():
            name = records["id"][records["id"].duplicated()].iloc[0]
            raise ValueError(f"two records are called {name!r}; answers could be of either")
        if not isinstance(similarity, str) or similarity not in SIMILARITIES:
            raise ValueError(f"similarity must be one of {', '.join(SIMILARITIES)}, not {similarity!r}")
        planned = list(map(named, validation.kind(strategies, (tuple, list), "strategies must be a tuple of names")))
        self.strategy, chosen = named(strategy)
        self._orderings = dict(planned) | {self.strategy: chosen}
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < np.inf:
            raise ValueError(f"price must be a number, 0 or more, not {price!r}")
        self.records, self.similarity, self.strategies = records, similarity, tuple(name for name, _ in planned)
        self.price, self.votes, self.seed = float(price), odd(votes), validation.whole(rng, "rng, the seed,")
        self._form = {"encoding": encoding, "sep": sep}
        self.n = len(records)
        self.fields = [name for name in records if name not in ("id", "label")]
        if isinstance(answers, Told):
            if answers.n != self.n:
                raise ValueError(f"the answers are about {answers.n} records; there are {self.n}")
            self.told = answers
        else:
            self.told = read_answers([] if answers is None else answers, list(records["id"]), **self._form)
        self.condensed = compute(records, similarity, fields=self.fields)
        pairs, same = self.told.pairs, self.told.same
        self.levels: Levels | None = None
        self._plausible: Clusterings | None = None
        if self.n >= 3:
            self.levels = fit_levels(records[self.fields], similarity, self.condensed, pairs, same, rng=self._rng(1))
            self._plausible = Clusterings(self.condensed, self.levels, pairs, same, rng=self._rng(2))

    @property
    def answered(self) -> int:
        """Answers so far."""
        return len(self.told.pairs)

    @cached_property
    def runs(self) -> list[Run]:
        """The orderings, run on clusterings from the lower end of the interval to the upper."""
        few = 11 if self.n <= 400 else 7 if self.n <= 1500 else 5
        runs = []
        for strategy in self.strategies:
            number = few
            if strategy == "evidence":
                number = min(5, MOST_EVIDENCE // (1 + ideal_queries(np.bincount(self.labels(0.5)))))
            for quantile in np.linspace(TAIL, 1 - TAIL, number) if number > 1 else []:
                labels = self.labels(float(quantile))
                run = self._informed(strategy).run(Truth(labels))
                curve = run.recall(labels)
                recall = np.interp(np.linspace(0, len(curve) - 1, POINTS), np.arange(len(curve)), curve)
                runs.append(Run(strategy, float(quantile), int(labels.max()) + 1, run.n_queries, recall))
        return runs

    def questions(self, strategy: str) -> tuple[int, int, int]:
        """Questions until every pair is settled, those so far counted in: lower end, middle and upper end."""
        validation.kind(strategy, str, "strategy must be the name of one")
        asked = [run.questions for run in self.runs if run.strategy == strategy]
        if not asked:
            raise ValueError(f"{strategy} was not simulated")
        return min(asked), int(np.median(asked)), max(asked)

    @cached_property
    def table(self) -> pd.DataFrame:
        """For each strategy: questions, cost and their intervals; what independent similarities would take."""
        rows = []
        for strategy in self.strategies:
            if not any(run.strategy == strategy for run in self.runs):
                continue
            low, middle, high = self.questions(strategy)
            each = self.price * self.votes
            rows.append({
                "strategy": strategy, "questions": middle, "from": low, "to": high,
                "cost": middle * each, "cost from": low * each, "cost to": high * each,
                "if independent": self._independent(strategy),
            })  # fmt: skip
        return pd.DataFrame(rows)

    @cached_property
    def clusters(self) -> tuple[int, int, int]:
        """Plausible numbers of clusters: lower end, middle and upper end."""
        if self._plausible is None:
            low, middle, high = (len(np.unique(self.labels(quantile))) for quantile in (TAIL, 0.5, 1 - TAIL))
            return low, middle, high
        low, middle, high = np.quantile(self._plausible.k, [TAIL, 0.5, 1 - TAIL], method="nearest")
        return int(low), int(middle), int(high)

    @cached_property
    def model(self) -> SimilarityModel | None:
        """f_g and f_r as the middle clustering has them, on `STEPS` steps; None where it has only one of them."""
        labels = self.labels(0.5)
        i, j = np.triu_indices(self.n, 1)
        match = labels[i] == labels[j]
        if not match.any() or match.all():
            return None
        steps = np.linspace(0, 1, STEPS + 1)
        heights = [np.histogram(self.condensed[side], steps, density=True)[0] for side in (match, ~match)]
        return SimilarityModel.from_steps(steps, *heights, name="fitted")

    @cached_property
    def share(self) -> float:
        """The share of matches among all pairs, as the middle clustering has it."""
        sizes = np.bincount(self.labels(0.5))
        return float((sizes * (sizes - 1)).sum() / max(1, self.n * (self.n - 1)))

    def recall(self, strategy: str) -> pd.DataFrame:
        """Recall after shares of a strategy's questions: least, middle and most of the runs."""
        self.questions(strategy)  # an error if it was not simulated
        curves = np.array([run.recall for run in self.runs if run.strategy == strategy])
        low, middle, high = np.quantile(curves, [0, 0.5, 1], axis=0)
        share = np.linspace(0, 1, POINTS)
        return pd.DataFrame({"share": share, "from": low, "recall": middle, "to": high})

    @cached_property
    def actual(self) -> dict[str, object]:
        """With labels: the run of every strategy planned, as it will really go; empty without."""
        if "label" not in self.records:
            return {}
        truth = Truth(self.records["label"])
        return {way: self._informed(way).run(truth) for way in dict.fromkeys(run.strategy for run in self.runs)}

    def batch(self, size: int) -> list[tuple[int, int]]:
        """At most so many questions for the crowd to answer at once; empty when all is settled."""
        return batch_of(
            self._orderings[self.strategy], self.condensed, size, self.told.pairs, self.told.same, rng=self.seed
        )

    def sheet(self, size: int) -> pd.DataFrame:
        """The batch as a table to be filled in."""
        pairs = np.array(self.batch(size), dtype=np.int64).reshape(-1, 2)
        i, j = np.sort(pairs, axis=1).T
        values = self.condensed[i * (2 * self.n - i - 1) // 2 + j - i - 1]
        return question_sheet(self.records, self.fields, pairs, values)

    def write(self, path: str | os.PathLike[str], size: int) -> pd.DataFrame:
        """Write the batch as CSV; a ValueError if the file is there and holds answers, or is something else."""
        path, sheet = Path(path), self.sheet(size)
        if path.exists() and (there := read_answers(path, list(self.records["id"]), **self._form).pairs):
            raise ValueError(f"{path} holds answers ({len(there)}), so it stays; write the questions elsewhere")
        text = sheet.rename(columns=guarded).to_csv(index=False, lineterminator="\n", sep=self._form["sep"])
        files.write(path, text.encode(self._form["encoding"]))
        return sheet

    @cached_property
    def found(self) -> pd.DataFrame:
        """What the answers so far have established: the identifier of every record and the number of its cluster."""
        clusters = informed("edge", self.condensed, self.told.pairs, self.told.same, rng=self.seed).resolution.clusters
        return pd.DataFrame({"id": self.records["id"], "cluster": clusters})

    @property
    def done(self) -> bool:
        """Whether every pair is settled."""
        return not self.batch(1)

    def _rng(self, use: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, use])

    def _informed(self, strategy: str) -> Any:
        return informed(self._orderings[strategy], self.condensed, self.told.pairs, self.told.same, rng=self.seed)

    def labels(self, quantile: float) -> np.ndarray:
        """The plausible clustering at this place, 0 to 1, by number of clusters."""
        validation.probability(quantile, "a quantile")
        if self._plausible is not None:
            return self._plausible.labels(quantile)
        together = self.n == 2 and (self.told.same == [True] or (not self.told.same and quantile < 0.5))
        return np.zeros(self.n, np.int64) if together else np.arange(self.n)

    def _independent(self, strategy: str) -> float:
        sizes = np.bincount(self.labels(0.5))
        if strategy not in ("edge", "node") or self.model is None or sizes.max() > LARGEST:
            return float("nan")
        return expected_queries(self.model, sizes, strategy)
