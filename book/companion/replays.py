"""Every strategy replayed on crowds whose answers are all known: what each answer paid for adds to the clusters.

`python -m book.companion.crowds` runs them all and records the results, which the chapter *Real crowds* shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import crowder as cr
from book.companion.crowds import Crowd, place
from crowder.beyond.answer_model import PRIOR
from crowder.beyond.clustering import likeliest
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.hybrid_ordering import HybridOrdering
from crowder.beyond.kept_answers import KeptAnswers
from crowder.beyond.member_votes import MemberVote
from crowder.beyond.noisy_ordering import NoisyOrdering

__all__ = ["LEVEL", "STRATEGIES", "Oracle", "mean_curve", "quality", "replay", "summary"]

#: F1 that is wanted.
LEVEL = 0.95
#: Mean curves have so many points.
POINTS = 40
#: The baseline that asks the most similar pairs once clusters its answers at so many places.
PLACES = 60
#: What the baseline takes a pair that was not asked for, in nats: it is rather a non-match. Of values from 0 to -1, the
#: first has the largest area under F1; the second shows how much depends on it.
UNASKED, STRICT = -0.05, -1.0


class Oracle:
    """The crowd's votes, paid for one by one: the k-th question about a pair gets its k-th vote; or a majority each.

    Strategies that keep contradictions, and could go on, end when `budget` answers are paid for.

    Examples
    --------
    >>> crowd = Crowd("two", np.array([0, 0]), np.array([0.5]), np.array([[1.0, 0.0, 1.0]]))
    >>> single, three = Oracle(crowd), Oracle(crowd, 3)
    >>> [single(0, 1) for _ in range(4)], single.paid, three(0, 1), three.paid
    ([True, False, True, True], 4, True, 3)
    """

    def __init__(self, crowd: Crowd, votes: int = 1, budget: float = inf) -> None:
        self._crowd, self._votes, self.paid, self.budget = crowd, votes, 0, budget
        self._majority = crowd.oracle(votes)
        self._given = np.zeros(len(crowd.votes), np.int64)
        self._known = (~np.isnan(crowd.votes)).sum(axis=1)

    def __call__(self, i: int, j: int) -> bool:
        self.paid += self._votes
        if self._votes > 1:
            return bool(self._majority(i, j))
        at = place(len(self._crowd.labels), min(i, j), max(i, j))
        vote = self._crowd.votes[at, min(self._given[at], self._known[at] - 1)]
        self._given[at] += 1
        return bool(vote)


class Point(NamedTuple):
    """The clusters after so many answers, compared with the truth."""

    answers: int
    recall: float
    precision: float
    F1: float


def quality(answers: int, clusters: np.ndarray, labels: np.ndarray) -> Point:
    """Precision and recall over pairs; precision is 1 if nothing is joined.

    Examples
    --------
    >>> quality(3, np.array([0, 0, 0]), np.array([5, 5, 6]))
    Point(answers=3, recall=1.0, precision=0.3333333333333333, F1=0.5)
    """
    _, both = np.unique(np.stack([clusters, labels]), axis=1, return_counts=True)
    joined, match, right = (float((m * (m - 1)).sum()) for m in (np.bincount(clusters), np.bincount(labels), both))
    return Point(answers, right / match, right / joined if joined else 1.0, 2 * right / (joined + match))


def _ordering(ordering: cr.Ordering, oracle: Any, paid: Callable[[], int]) -> tuple[list[int], Any]:
    """A run of an ordering that believes every answer, with the answers paid for after each question."""
    answers = [0]

    def crowd(i: int, j: int) -> bool:
        said = oracle(i, j)
        answers.append(paid())
        return bool(said)

    return answers, ordering.run(crowd)


def _points(answers: list[int], run: Any, labels: np.ndarray) -> list[Point]:
    recall, precision = run.recall(labels), run.precision(labels)
    f1 = 2 * recall * precision / np.maximum(recall + precision, 1e-300)
    return [Point(*row) for row in zip(answers, recall.tolist(), precision.tolist(), f1.tolist(), strict=True)]


def _believing(make: Callable[..., cr.Ordering]) -> Callable[..., list[Point]]:
    def replay(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
        answers, run = _ordering(make(crowd.similarity, rng=rng), oracle, lambda: oracle.paid)
        return _points(answers, run, crowd.labels)

    return replay


def _kept(make: Callable[..., KeptAnswers]) -> Callable[..., list[Point]]:
    def replay(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
        strategy = make(crowd.similarity, rng=rng)
        found = [quality(0, strategy.clusters, crowd.labels)]
        while oracle.paid < oracle.budget and (pair := strategy.ask()) is not None:
            strategy.tell(pair, oracle(*pair))
            found.append(quality(oracle.paid, strategy.clusters, crowd.labels))
        return found

    return replay


def _members(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
    """Edge ordering with votes of three pairs of members, reconsidered twice."""
    voting, ordering = MemberVote(oracle, 3), cr.EdgeOrdering(crowd.similarity, rng=rng)
    voting.begin(ordering)
    answers, run = _ordering(ordering, voting, lambda: oracle.paid)
    found, clusters, generator = _points(answers, run, crowd.labels), run.clusters, np.random.default_rng(rng)
    for _ in range(2):
        clusters = voting.reconsider(clusters, rng=generator)
        found.append(quality(oracle.paid, np.unique(clusters, return_inverse=True)[1], crowd.labels))
    return found


def _similar(crowd: Crowd, oracle: Oracle, rng: int, unasked: float = UNASKED) -> list[Point]:
    """The most similar pairs, each asked once, nothing implied; then the likeliest clusters of the answers."""
    n, generator = len(crowd.labels), np.random.default_rng(rng)
    order = np.lexsort((generator.random(len(crowd.similarity)), -crowd.similarity))
    order = order[: int(min(len(order), oracle.budget))]
    i, j = (side[order] for side in np.triu_indices(n, 1))
    said = np.array([oracle(*pair) for pair in zip(i.tolist(), j.tolist(), strict=True)])
    each, labels = oracle.paid // len(said), np.arange(n)
    found = [quality(0, labels, crowd.labels)]
    for k in np.unique(np.geomspace(10, len(said), PLACES).astype(int)).tolist():
        labels = cluster_answers(n, i[:k], j[:k], said[:k], labels, generator, unasked)
        found.append(quality(k * each, labels, crowd.labels))
    return found


def cluster_answers(
    n: int,
    i: np.ndarray,
    j: np.ndarray,
    said: np.ndarray,
    start: np.ndarray,
    rng: np.random.Generator,
    unasked: float = UNASKED,
) -> np.ndarray:
    """The likeliest clusters of answers to different pairs; the two error rates are learned from them, twice."""
    labels = start
    counts = np.array([PRIOR.false_yes, PRIOR.false_no])
    rates = counts[:, 0] / counts.sum(axis=1)
    for _ in range(2):
        false_yes, false_no = rates
        evidence = np.full((n, n), unasked)
        given = np.where(said, log((1 - false_no) / false_yes), log(false_no / (1 - false_yes)))
        evidence[i, j] = evidence[j, i] = given
        labels = likeliest(evidence, 0.0, start=labels, rng=rng)
        same = labels[i] == labels[j]
        wrong = np.array([(said & ~same).sum(), (~said & same).sum()])
        rates = (wrong + counts[:, 0]) / (np.array([(~same).sum(), same.sum()]) + counts.sum(axis=1))
        rates = rates.clip(1e-4, 0.49)
    return labels


STRATEGIES: dict[str, Callable[[Crowd, Oracle, int], list[Point]]] = {
    "edge": _believing(cr.EdgeOrdering),
    "node": _believing(cr.NodeOrdering),
    "evidence": _believing(cr.EvidenceOrdering),
    "hybrid": _believing(HybridOrdering),
    "control queries": _kept(ControlQueries),
    "member votes": _members,
    "most similar once": _similar,
    "most similar once, strict": partial(_similar, unasked=STRICT),
    "noisy": _kept(NoisyOrdering),
}
#: `NoisyOrdering` that does not stop, however sure it is.
STRATEGIES["noisy, all answers"] = _kept(partial(NoisyOrdering, doubt=0))


def replay(crowd: Crowd, strategy: str, votes: int, rng: int, budget: float = inf) -> pd.DataFrame:
    """One run: recall, precision and F1 after the answers paid for, votes counted singly."""
    return pd.DataFrame(STRATEGIES[strategy](crowd, Oracle(crowd, votes, budget), rng))


def summary(run: pd.DataFrame, horizon: int) -> dict[str, float]:
    """Where a run ends, the answers until F1 stays at `LEVEL` (NaN if it does not), and the mean F1 up to a horizon.

    Examples
    --------
    >>> run = pd.DataFrame({"answers": [0, 10, 20], "recall": 1.0, "precision": 1.0, "F1": [0.0, 0.96, 1.0]})
    >>> summary(run, 40)["until"], summary(run, 40)["area"]
    (10.0, 0.74)
    """
    low, end = np.flatnonzero(run["F1"] < LEVEL), run.iloc[-1]
    until = float(run["answers"].iloc[low[-1] + 1]) if len(low) and low[-1] + 1 < len(run) else np.nan
    lengths = np.diff(np.minimum(np.append(run["answers"], horizon), horizon))
    area = float((lengths * run["F1"]).sum() / horizon)
    return {**end.to_dict(), "until": until, "area": area}


def mean_curve(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """The mean of several runs at `POINTS` numbers of answers; a run that has ended keeps its clusters."""
    end = max(run["answers"].iloc[-1] for run in runs)
    at = np.unique(np.append(0, np.geomspace(10, end, POINTS - 1).round())).astype(int)
    columns = ["recall", "precision", "F1"]
    each = [run[columns].to_numpy()[np.searchsorted(run["answers"], at, side="right") - 1] for run in runs]
    return pd.DataFrame({"answers": at}).join(pd.DataFrame(np.mean(each, axis=0), columns=columns))
