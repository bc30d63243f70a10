"""Runs from which the chapter *Which ordering for my data?* makes its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import crowder as cr
from crowder.datasets import Dataset
from crowder.resolution import Resolution

__all__ = ["ORDERINGS", "asked", "candidate_run", "f1", "quality", "questions_to", "run_each"]

ORDERINGS: dict[str, Callable[..., Any]] = {
    "edge": cr.EdgeOrdering,
    "node": cr.NodeOrdering,
    "evidence": cr.EvidenceOrdering,
}


def run_each(data: Dataset, *, rng: Any) -> dict[str, Resolution]:
    """Each ordering with a perfect crowd."""
    return {name: make(data.similarity, rng=rng).run(cr.Truth(data.labels)) for name, make in ORDERINGS.items()}


def questions_to(run: Resolution, labels: np.ndarray, level: float) -> int:
    """Questions until a recall is reached.

    >>> data = cr.datasets.disney()
    >>> run = cr.EdgeOrdering(data.similarity, rng=1).run(cr.Truth(data.labels))
    >>> questions_to(run, data.labels, 0.25), questions_to(run, data.labels, 1.0)
    (1, 4)
    """
    return int(np.argmax(run.recall(labels) >= level))


def asked(model: cr.SimilarityModel, sizes: list[int], level: float, *, rng: np.random.Generator) -> dict[str, int]:
    """One data set: questions of each ordering until the recall, and of the best until every pair is settled."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    runs = run_each(data, rng=rng)
    to = {name: questions_to(run, data.labels, level) for name, run in runs.items()}
    return to | {"all": min(run.n_queries for run in runs.values())}


def f1(run: Resolution, labels: np.ndarray) -> float:
    """The harmonic mean of precision and recall at the end of a run.

    >>> f1(cr.Resolution([[0, 1], [2, 1]], [True, True], [0, 0, 0]), np.array([5, 5, 6]))
    0.5
    """
    recall, precision = run.recall(labels)[-1], run.precision(labels)[-1]
    return float(2 * recall * precision / (recall + precision)) if recall else 0.0


def quality(
    model: cr.SimilarityModel, sizes: list[int], error: float, votes: int, *, rng: np.random.Generator
) -> Mapping[str, float]:
    """F1 of edge ordering with majorities of a crowd that errs independently, and the answers paid for."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    crowd = cr.Faulty(cr.Truth(data.labels), error, rng=rng)
    run = cr.EdgeOrdering(data.similarity, rng=rng).run(cr.MajorityVote(crowd, votes))
    return {"F1": f1(run, data.labels), "answers": votes * run.n_queries}


def candidate_run(data: Dataset, least: float, *, rng: Any) -> pd.Series:
    """Edge ordering on the pairs that are at least so similar: how many there are, their matches, questions, recall."""
    pairs = np.triu(data.similarity >= least, 1)
    same = np.triu(data.labels[:, None] == data.labels[None, :], 1)
    kept = csr_array(np.where(pairs | pairs.T, np.maximum(data.similarity, 1e-12), 0)) if least else data.similarity
    run = cr.EdgeOrdering(kept, rng=rng).run(cr.Truth(data.labels))
    return pd.Series({
        "similarity at least": least,
        "pairs": int(pairs.sum()),
        "matching pairs among them": (pairs & same).sum() / same.sum(),
        "recall by transitivity": run.recall(data.labels)[-1],
        "questions": run.n_queries,
    })  # fmt: skip


def curves(recall: Mapping[str, np.ndarray], every: int = 100) -> pd.DataFrame:
    """Recall after every hundred answers, by ordering."""
    parts = [
        pd.DataFrame({"data": "cora", "ordering": name, "answers": np.arange(len(found)), "recall": found})[::every]
        for name, found in recall.items()
    ]
    return pd.concat(parts, ignore_index=True)


def by_votes(voted: pd.DataFrame) -> pd.DataFrame:
    """F1 with a row for each share of wrong answers and a column for each number of votes."""
    wide = voted.pivot(index="error", columns="votes", values="F1").reset_index()
    return wide.set_axis(["wrong answers", *(f"{n} vote{'s' * (n > 1)}" for n in wide.columns[1:])], axis=1)


def chooser(
    to: pd.DataFrame,
    choice: Mapping[str, str],
    level: float,
    *,
    limited: tuple,
    fewer: pd.Series,
    enough: pd.Series,
    real: pd.DataFrame,
) -> pd.DataFrame:
    """What to use for what one has: a line a case, with what it costs and gives, and the chapter that tells more.

    Parameters
    ----------
    to : DataFrame
        Mean questions to the wanted recall: a row a case, a column an ordering.
    choice : mapping
        The recommended ordering of each case.
    level : float
        The wanted recall.
    limited : tuple
        Ordering, budget and the recall that it reaches.
    fewer, enough : Series
        A line of `candidate_run`, and one of the votes that suffice.
    real : DataFrame
        A replay of each real crowd (`crowds.recorded`).
    """  # fmt: skip
    done = "when all are settled"
    lines: list[tuple] = [
        (case, choice[case], f"at {level:.0%} recall", 1, to.loc[case, choice[case]], f"recall {level:.0%}",
         "ch-gap" if choice[case] == "evidence" else "ch-edge") for case in to.index
    ]  # fmt: skip
    ordering, budget, reached = limited
    lines += [
        ("half of the answers that cora takes", ordering, "when they are spent", 1, budget, f"recall {reached:.0%}",
         "ch-stopping"),
        (f"candidates only (cora, scores from {fewer['similarity at least']:g})", "edge", done, 1, fewer["questions"],
         f"recall {fewer['recall by transitivity']:.1%}", "time-and-memory"),
        (f"{enough['error']:.0%} of answers wrong, independently", "edge", done, int(enough["votes"]),
         enough["answers"], f"F1 {enough['F1']:.3f}", "ch-faulty"),
    ]  # fmt: skip
    for name, curve in real.groupby("crowd", sort=False):
        end = curve.iloc[-1]
        lines.append((f"a crowd whose errors stay ({name})", end["ordering"], "when no decision is in doubt",
                      int(end["votes"]), end["answers"], f"F1 {end['F1']:.2f}", "ch-real"))  # fmt: skip
    head = ["what you have", "ordering", "stop", "votes", "answers", "which gives", "more"]
    return pd.DataFrame(lines, columns=head)
