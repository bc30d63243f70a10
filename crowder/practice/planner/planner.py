"""Plans: the number of questions of a run, their cost, the recall over time, and the questions to ask first."""

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
from crowder.practice.batch import STRATEGIES, name_and_class, ordering_with_answers, question_batch
from crowder.practice.planner.clusterings import PlausibleClusterings
from crowder.practice.planner.cuts import CutDistribution, fit_cut
from crowder.practice.sheets import escape_formula, question_sheet, read_votes
from crowder.practice.votes import Settled, settle
from crowder.resolution import ideal_queries
from crowder.similarity.functions import SIMILARITIES, compute
from crowder.voting import odd

__all__ = ["Plan", "SimulatedRun"]

#: A plan's interval is from this quantile of its draws to the opposite one: nominally 90 per cent.
TAIL = 0.05

#: Number of points of a recall curve.
POINTS = 201

#: Most questions of evidence ordering that are simulated for a plan (each takes some microseconds).
MOST_EVIDENCE = 400_000

#: Largest cluster for which the expected number of questions with independent similarities is computed.
LARGEST = 200

#: Number of steps of the fitted densities.
STEPS = 20


class SimulatedRun(NamedTuple):
    """A simulated run of a strategy.

    Attributes
    ----------
    quantile : float
        Quantile of its clustering among the draws, by number of clusters.
    k : int
        Number of clusters.
    questions : int
    recall : ndarray, shape (POINTS,)
        Recall after equally spaced shares of the questions.
    """

    strategy: str
    quantile: float
    k: int
    questions: int
    recall: np.ndarray


class Plan:
    """An estimate of the questions that it takes to resolve the records, and their cost.

    Clusterings are drawn that are plausible given the similarities and agree with the answers so far. For each, the
    orderings are run on the similarities as if it were the truth. The spread of their numbers of questions gives the
    interval.

    Parameters
    ----------
    records : DataFrame
        As from `crowder.read_records`: columns id, perhaps label, and the fields to compare, all text.
    similarity : str
        A key of `crowder.similarity.SIMILARITIES`.
    strategy : {"edge", "node", "evidence"} or subclass of `crowder.Ordering`, keyword only
        Chooses the questions of a batch. A class is called with the similarities and ``rng``; the name of the class is
        the name of the strategy.
    price : float, keyword only
        Price of one person's answer.
    votes : int, keyword only
        Number of people who answer each question, odd.
    answers : path, list of paths or Settled, optional, keyword only
        The answers so far, or the files to read them from (`crowder.practice.sheets.read_votes`).
    strategies : sequence of strategies, keyword only
        The strategies to simulate.
    encoding, sep : str, keyword only
        Encoding and separator of question sheets.
    rng : int, keyword only
        A seed; use the same one for all batches.

    Attributes
    ----------
    n : int
        Number of records.
    fields : list of str
        Names of the fields.
    answers : Settled
        The answers so far.
    condensed : ndarray, shape (n(n-1)/2,)
        The similarities.
    cut : CutDistribution or None
        How probable it is that a merge of average linkage is right; None for fewer than three records.

    Raises
    ------
    ValueError
        For an unknown similarity or strategy, an even number of votes, a negative price, or an invalid file of answers.

    See Also
    --------
    crowder.read_records : records from a CSV file.
    crowder.Journal : answers kept in a file.
    crowder.Stopping : skip pairs that are improbable matches by the evidence so far.

    Notes
    -----
    O(n²) memory, and O(n² log n) time for each simulated run. Labels are used only by `actual_runs`.

    Examples
    --------
    >>> from crowder.people import people
    >>> plan = Plan(people([3] * 10 + [1] * 20, rng=7), rng=7)
    >>> low, middle, high = plan.questions("edge")
    >>> low <= middle <= high, [len(row) for row in plan.batch(3)]
    (True, [2, 2, 2])
    >>> (int(plan.actual_runs["edge"].n_queries) - 435) // 100  # k = 30: at least 435 questions, and 20 matches
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
            raise TypeError(f"records must be a DataFrame, as from crowder.read_records, not {records!r}")
        if "id" not in records:
            raise ValueError(f"records must have a column 'id', not only {list(records.columns)}")
        if not len(records):
            raise ValueError("records must not be empty")
        if records["id"].duplicated().any():
            name = records["id"][records["id"].duplicated()].iloc[0]
            raise ValueError(f"records must have unique identifiers, but two are {name!r}")
        if not isinstance(similarity, str) or similarity not in SIMILARITIES:
            raise ValueError(f"similarity must be one of {', '.join(SIMILARITIES)}, not {similarity!r}")
        validation.kind(strategies, (tuple, list), "strategies must be a tuple of strategies")
        planned = list(map(name_and_class, strategies))
        self.strategy, chosen = name_and_class(strategy)
        self._orderings = dict(planned) | {self.strategy: chosen}
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < np.inf:
            raise ValueError(f"price must be a number, 0 or more, not {price!r}")
        self.records, self.similarity, self.strategies = records, similarity, tuple(name for name, _ in planned)
        self.price, self.votes, self.seed = float(price), odd(votes), validation.whole(rng, "rng, the seed,")
        self._format: dict[str, Any] = {"encoding": encoding, "sep": sep}
        self.n = len(records)
        self.fields = [name for name in records if name not in ("id", "label")]
        if not isinstance(answers, Settled):
            ids = list(records["id"])
            answers = settle(self.n, read_votes([] if answers is None else answers, ids, **self._format))
        if len(answers.clusters) != self.n:
            raise ValueError(f"answers must be about {self.n} records, not {len(answers.clusters)}")
        self.answers = answers
        self.condensed = compute(records, similarity, fields=self.fields)
        pairs, same = self.answers.pairs, self.answers.same
        self.cut: CutDistribution | None = None
        self._plausible: PlausibleClusterings | None = None
        if self.n >= 3:
            self.cut = fit_cut(records[self.fields], similarity, self.condensed, pairs, same, rng=self._rng(1))
            self._plausible = PlausibleClusterings(self.condensed, self.cut, pairs, same, rng=self._rng(2))

    @property
    def n_answers(self) -> int:
        """Number of answers so far."""
        return len(self.answers.pairs)

    @cached_property
    def runs(self) -> list[SimulatedRun]:
        """Simulated runs of all strategies, on clusterings from the lower to the upper end of the interval."""
        few = 11 if self.n <= 400 else 7 if self.n <= 1500 else 5
        runs = []
        for strategy in self.strategies:
            number = few
            if strategy == "evidence":
                number = min(5, MOST_EVIDENCE // (1 + ideal_queries(np.bincount(self.labels(0.5)))))
            for quantile in np.linspace(TAIL, 1 - TAIL, number) if number > 1 else []:
                labels = self.labels(float(quantile))
                run = self._ordering(strategy).run(Truth(labels))
                curve = run.recall(labels)
                recall = np.interp(np.linspace(0, len(curve) - 1, POINTS), np.arange(len(curve)), curve)
                runs.append(SimulatedRun(strategy, float(quantile), int(labels.max()) + 1, run.n_queries, recall))
        return runs

    def questions(self, strategy: str) -> tuple[int, int, int]:
        """Number of questions until every pair is settled, including those answered so far: lower end, middle and
        upper end of the interval."""
        validation.kind(strategy, str, "strategy must be the name of a strategy")
        asked = [run.questions for run in self.runs if run.strategy == strategy]
        if not asked:
            simulated = ", ".join(dict.fromkeys(run.strategy for run in self.runs))
            raise ValueError(f"strategy must be one that was simulated ({simulated}), not {strategy!r}")
        return min(asked), int(np.median(asked)), max(asked)

    @cached_property
    def table(self) -> pd.DataFrame:
        """For each strategy: questions and cost with their intervals, and the expected number of questions if the
        similarities were independent."""
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
    def n_clusters(self) -> tuple[int, int, int]:
        """Number of clusters: lower end, middle and upper end of the interval."""
        if self._plausible is None:
            low, middle, high = (len(np.unique(self.labels(quantile))) for quantile in (TAIL, 0.5, 1 - TAIL))
            return low, middle, high
        low, middle, high = np.quantile(self._plausible.k, [TAIL, 0.5, 1 - TAIL], method="nearest")
        return int(low), int(middle), int(high)

    @cached_property
    def model(self) -> SimilarityModel | None:
        """f_g and f_r of the median clustering, with `STEPS` steps; None if it has no matches or no non-matches."""
        labels = self.labels(0.5)
        i, j = np.triu_indices(self.n, 1)
        match = labels[i] == labels[j]
        if not match.any() or match.all():
            return None
        steps = np.linspace(0, 1, STEPS + 1)
        heights = [np.histogram(self.condensed[side], steps, density=True)[0] for side in (match, ~match)]
        return SimilarityModel.from_steps(steps, *heights, name="fitted")

    @cached_property
    def match_share(self) -> float:
        """The share of matches among all pairs in the median clustering."""
        sizes = np.bincount(self.labels(0.5))
        return float((sizes * (sizes - 1)).sum() / max(1, self.n * (self.n - 1)))

    def recall(self, strategy: str) -> pd.DataFrame:
        """Recall after shares of a strategy's questions: least, median and greatest of the simulated runs."""
        self.questions(strategy)  # raises an error if it was not simulated
        curves = np.array([run.recall for run in self.runs if run.strategy == strategy])
        low, middle, high = np.quantile(curves, [0, 0.5, 1], axis=0)
        share = np.linspace(0, 1, POINTS)
        return pd.DataFrame({"share": share, "from": low, "recall": middle, "to": high})

    @cached_property
    def actual_runs(self) -> dict[str, object]:
        """The run of each simulated strategy with answers by the labels; empty if the records have no labels."""
        if "label" not in self.records:
            return {}
        truth = Truth(self.records["label"])
        simulated = dict.fromkeys(run.strategy for run in self.runs)
        return {strategy: self._ordering(strategy).run(truth) for strategy in simulated}

    def batch(self, size: int) -> list[tuple[int, int]]:
        """At most `size` questions to ask in parallel; empty when every pair is settled."""
        return question_batch(
            self._orderings[self.strategy], self.condensed, size, self.answers.pairs, self.answers.same, rng=self.seed
        )

    def sheet(self, size: int) -> pd.DataFrame:
        """The batch as a question sheet; see `crowder.practice.sheets`."""
        pairs = np.array(self.batch(size), dtype=np.int64).reshape(-1, 2)
        return question_sheet(self.records, self.fields, pairs)

    def write_sheet(self, path: str | os.PathLike[str], size: int) -> pd.DataFrame:
        """Write the batch as a question sheet.

        Raises
        ------
        ValueError
            If the file exists and is not a question sheet, or has answers.
        """
        path, sheet = Path(validation.path(path)), self.sheet(size)
        if path.exists() and (present := read_votes(path, list(self.records["id"]), **self._format)):
            raise ValueError(f"path must not be a file with answers, but {path} has {len(present)}")
        text = sheet.rename(columns=escape_formula).to_csv(index=False, lineterminator="\n", sep=self._format["sep"])
        files.write(path, text.encode(self._format["encoding"]))
        return sheet

    @cached_property
    def clusters_so_far(self) -> pd.DataFrame:
        """The clusters that follow from the answers so far: columns id, cluster."""
        return pd.DataFrame({"id": self.records["id"], "cluster": self._ordering("edge").resolution.clusters})

    @property
    def done(self) -> bool:
        """Whether every pair is settled."""
        return not self.batch(1)

    def _rng(self, use: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, use])

    def _ordering(self, strategy: str) -> Any:
        make = self._orderings.get(strategy, strategy)
        return ordering_with_answers(make, self.condensed, self.answers.pairs, self.answers.same, rng=self.seed)

    def labels(self, quantile: float) -> np.ndarray:
        """The plausible clustering at this quantile, 0 to 1, by number of clusters."""
        validation.probability(quantile, "quantile")
        if self._plausible is not None:
            return self._plausible.labels(quantile)
        same = self.answers.same
        together = self.n == 2 and (same == [True] or (not same and quantile < 0.5))
        return np.zeros(self.n, np.int64) if together else np.arange(self.n)

    def _independent(self, strategy: str) -> float:
        sizes = np.bincount(self.labels(0.5))
        if strategy not in ("edge", "node") or self.model is None or sizes.max() > LARGEST:
            return float("nan")
        return expected_queries(self.model, sizes, strategy)
