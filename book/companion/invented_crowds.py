"""Four ways to ask an invented crowd whose errors stay with a pair: F1 against the answers paid."""

from __future__ import annotations

import numpy as np
import pandas as pd

import crowder as cr
from book.companion.replays import quality
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.member_votes import MemberVote

__all__ = ["ASKED", "INVENTED", "LEVEL", "UP_TO", "VOTES", "f1", "invented", "opinions", "shown", "summary"]

#: Records of each entity.
INVENTED = [20, 15, 12, 10, 8, 6, 5, 4, 3, 3, 2, 2] + [1] * 10
#: The ways to ask it, in the order of the figure.
ASKED = ["edge ordering", "member votes", "control queries", "noisy ordering"]
#: Members asked about each question, by the second way.
VOTES = 3
#: F1 is taken after every so many answers, up to so many.
STEP, UP_TO = 10, 1_600
#: A good F1.
LEVEL = 0.95


def opinions(labels, false_yes, false_no, rng):
    """A crowd with one opinion on each pair: wrong with the first probability on non-matches, the second on matches."""
    match = labels[:, None] == labels
    wrong = np.triu(rng.random(match.shape) < np.where(match, false_no, false_yes), 1)
    said = match != (wrong | wrong.T)
    return lambda i, j: bool(said[i, j])


def f1(found, labels):
    """The harmonic mean of the precision and recall of the joined pairs."""
    return quality(0, found, labels).F1


def of_edge_ordering(data, crowd, seed):
    """Answers paid and F1 after each question."""
    run = cr.edge_ordering(data.similarity, crowd, rng=seed)
    return list(enumerate(_shares(run, data.labels), start=1))


def of_member_votes(data, crowd, seed, votes=VOTES):
    """The same with majorities of members' votes, and at last `reconsider`."""
    ordering, members, paid = cr.EdgeOrdering(data.similarity, rng=seed), MemberVote(crowd, votes, early=True), []
    members.begin(ordering)
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, members(*pair))
        paid.append(members.asked)
    run = ordering.resolution
    curve = list(zip(paid, _shares(run, data.labels), strict=True))
    again = members.reconsider(run.clusters, rng=seed)
    return [*curve, (members.asked, f1(again, data.labels))]


def of_kept_answers(ordering, data, crowd):
    """The same for an ordering that revises its clusters, every `STEP` answers and at the end."""
    curve = []
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, crowd(*pair))
        if ordering.n_answers % STEP == 0:
            curve.append((ordering.n_answers, f1(ordering.clusters, data.labels)))
    return [*curve, (ordering.n_answers, f1(ordering.clusters, data.labels))]


def _shares(run, labels):
    """F1 after each question of a run."""
    precision, recall = run.precision(labels)[1:], run.recall(labels)[1:]
    return 2 * precision * recall / np.maximum(precision + recall, 1e-9)


def invented(rates, repetitions, seed, sizes=INVENTED):
    """F1 against the answers paid, for each run and each of the ways in `ASKED`."""
    frames = []
    for run in range(repetitions):
        rng = np.random.default_rng([seed, run])
        data = cr.datasets.synthetic(sizes, cr.dist1(2 / 5), rng=rng, shuffle=True)
        crowd = opinions(data.labels, *rates, rng)
        curves = [
            of_edge_ordering(data, crowd, run),
            of_member_votes(data, crowd, run),
            of_kept_answers(ControlQueries(data.similarity, errors=rates, rng=run), data, crowd),
            of_kept_answers(cr.NoisyOrdering(data.similarity, rng=run), data, crowd),  # learns the rates
        ]
        for way, curve in zip(ASKED, curves, strict=True):
            frames.append(pd.DataFrame(curve, columns=["answers", "F1"]).assign(run=run, way=way))
    return pd.concat(frames, ignore_index=True)


def shown(curves):
    """The last of every `STEP` answers, which is all that the figure draws."""
    return curves.groupby(["run", "way", -(-curves["answers"] // STEP)], sort=False).tail(1)


def summary(curves, level=LEVEL):
    """For each run and way: all answers, the last F1, its mean up to `UP_TO` answers, and where it stays at a level."""
    rows = []
    for (run, way), part in curves.groupby(["run", "way"], sort=False):
        answers, shares = part["answers"].to_numpy(), part["F1"].to_numpy()
        at = np.searchsorted(answers, np.arange(1, UP_TO + 1), side="right") - 1
        below = np.flatnonzero(shares < level)
        first = below[-1] + 1 if len(below) else 0
        stays = answers[first] if first < len(answers) else np.inf
        rows.append((run, way, answers[-1], shares[-1], np.where(at < 0, 0, shares[at]).mean(), stays))
    return pd.DataFrame(rows, columns=["run", "way", "answers", "F1", "mean F1", "stays"])
