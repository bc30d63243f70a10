"""Every strategy replayed on crowds whose answers are all known: what each answer paid for adds to the clusters.

    python benchmarks/crowds.py [FOLDER]

replays them on the real crowds in FOLDER (by default ``CROWDER_CROWDS``) and on a sample of cora, which takes about
half an hour, and writes the tables of `book.companion.crowds`, which the chapter *Real crowds* shows.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
from collections.abc import Callable, Iterable
from functools import partial
from math import ceil, comb, inf, log, log2
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy.spatial.distance import squareform

import crowder as cr
from book.companion import measured
from book.companion.crowds import BUDGET, LEVEL, VARIABLE, Crowd, place, read, right
from crowder.beyond.answers import Answers
from crowder.beyond.clustering import likeliest
from crowder.beyond.error_rates import PRIOR, ErrorRates, learn_errors
from crowder.beyond.noisy_ordering import NoisyOrdering
from crowder.beyond.other_strategies import MemberVotes, control_queries
from crowder.oracles import majority_error

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
    """Precision and recall over pairs; precision is 1 if nothing is joined."""
    _, both = np.unique(np.stack([clusters, labels]), axis=1, return_counts=True)
    joined, match, right = (float((m * (m - 1)).sum()) for m in (np.bincount(clusters), np.bincount(labels), both))
    return Point(answers, right / match, right / joined if joined else 1.0, 2 * right / (joined + match))


def _points(answers: list[int], run: cr.Resolution, labels: np.ndarray) -> list[Point]:
    """The clusters after each question of a run that believes every answer, with the answers paid for by then."""
    recall, precision = run.recall(labels), run.precision(labels)
    f1 = 2 * recall * precision / np.maximum(recall + precision, 1e-300)
    return [Point(*row) for row in zip(answers, recall.tolist(), precision.tolist(), f1.tolist(), strict=True)]


def _believing(make: Callable[..., cr.Ordering]) -> Callable[..., list[Point]]:
    def replay(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
        answers, ordering = [0], make(crowd.similarity, rng=rng)
        while (pair := ordering.ask()) is not None:
            ordering.tell(pair, oracle(*pair))
            answers.append(oracle.paid)
        return _points(answers, ordering.resolution, crowd.labels)

    return replay


#: A record is compared with a cluster in the first phase of hybrid ordering if their mean similarity is at least this.
THETA = 0.3


def _hybrid(crowd: Crowd, oracle: Oracle, rng: int, tau: int | None = None, theta: float = THETA) -> list[Point]:
    """Hybrid ordering (Firmani, Saha and Srivastava, PVLDB 9(5), 2016): place records, then ask by falling similarity.

    The records come in decreasing order of expected cluster size, as in node ordering. Each is compared with at most
    `tau` clusters, by default log2 n, in decreasing order of the sum of their similarities. The default values are
    ours, and so is which member is asked about: the most similar one. Sums are rounded, so that equal ones are ties.
    """
    generator, answers, clusters = np.random.default_rng(rng), [0], []
    ordering, w = cr.EdgeOrdering(crowd.similarity, rng=generator), squareform(crowd.similarity)
    tau = ceil(log2(len(w))) if tau is None else tau
    for record in np.lexsort((generator.permutation(len(w)), -w.sum(axis=1).round(9))).tolist():
        benefit = [-w[record, cluster].sum().round(9) for cluster in clusters]
        mean = [w[record, cluster].mean().round(9) for cluster in clusters]
        promising = [c for c in np.argsort(benefit, kind="stable").tolist() if mean[c] >= theta]
        for cluster in (clusters[c] for c in promising[:tau]):
            member = cluster[w[record, cluster].argmax()]
            same = oracle(record, member)
            ordering.learn((record, member), same)
            answers.append(oracle.paid)
            if same:
                cluster.append(record)
                break
        else:
            clusters.append([record])
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, oracle(*pair))
        answers.append(oracle.paid)
    return _points(answers, ordering.resolution, crowd.labels)


def _noisy(crowd: Crowd, oracle: Oracle, rng: int, doubt: float = 1e-3) -> list[Point]:
    strategy = NoisyOrdering(crowd.similarity, doubt=doubt, rng=rng)
    found = [quality(0, strategy.clusters, crowd.labels)]
    while oracle.paid < oracle.budget and (pair := strategy.ask()) is not None:
        strategy.tell(pair, oracle(*pair))
        found.append(quality(oracle.paid, strategy.clusters, crowd.labels))
    return found


def _control(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
    found = [quality(0, np.arange(len(crowd.labels)), crowd.labels)]
    for clusters in control_queries(crowd.similarity, oracle, rng=rng):
        if oracle.paid == found[-1].answers:  # what moves after the last answer
            break
        found.append(quality(oracle.paid, clusters, crowd.labels))
        if oracle.paid >= oracle.budget:
            break
    return found


def _members(crowd: Crowd, oracle: Oracle, rng: int) -> list[Point]:
    """Edge ordering with votes of three pairs of members, and two second looks."""
    answers, ordering = [0], cr.EdgeOrdering(crowd.similarity, rng=rng)
    votes = MemberVotes(oracle, 3, ordering, early=False)
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, votes(*pair))
        answers.append(oracle.paid)
    run, generator = ordering.resolution, np.random.default_rng(rng)
    found, clusters = _points(answers, run, crowd.labels), run.clusters
    for _ in range(2):
        clusters = votes.second_look(clusters, rng=generator)
        found.append(quality(oracle.paid, clusters, crowd.labels))
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
    "evidence": _believing(cr.beyond.EvidenceOrdering),
    "hybrid": _hybrid,
    "control queries": _control,
    "member votes": _members,
    "most similar once": _similar,
    "most similar once, strict": partial(_similar, unasked=STRICT),
    "noisy": _noisy,
}
ALL = list(STRATEGIES)
#: `NoisyOrdering` that does not stop, however sure it is.
STRATEGIES["noisy, all answers"] = partial(_noisy, doubt=0)


def replay(crowd: Crowd, strategy: str, votes: int, rng: int, budget: float = inf) -> pd.DataFrame:
    """One run: recall, precision and F1 after the answers paid for, votes counted singly."""
    return pd.DataFrame(STRATEGIES[strategy](crowd, Oracle(crowd, votes, budget), rng))


def summary(run: pd.DataFrame, horizon: int) -> dict[str, float]:
    """Where a run ends, the answers until F1 stays at `LEVEL` (NaN if it does not), and the mean F1 up to a horizon."""
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


# --- what is recorded -------------------------------------------------------------------------------------------------

SEEDS = range(1, 11)
#: On cora: the share of its entities in the sample, and the runs.
SHARE, FEW = 0.3, range(1, 3)
CORA = ["edge", "node", "hybrid", "control queries", "most similar once", "most similar once, strict", "noisy"]
BANDS = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0])


def _same(crowd: Crowd) -> np.ndarray:
    return (crowd.labels[:, None] == crowd.labels)[np.triu_indices(len(crowd.labels), 1)]


def perfect(crowd: Crowd) -> Crowd:
    """The same records, with true answers."""
    return crowd._replace(name=f"{crowd.name}, perfect crowd", votes=_same(crowd)[:, None].astype(float))


def kinds_of_errors(gym: Crowd, allsports: Crowd) -> dict[str, ErrorRates]:
    """The error rates of both crowds, learned from all answers and the truth."""
    found = {}
    for crowd in (gym, allsports):
        i, j = np.triu_indices(len(crowd.labels), 1)
        known = zip(*np.nonzero(~np.isnan(crowd.votes)), strict=True)
        answers = Answers.read([(int(i[p]), int(j[p]), bool(crowd.votes[p, v])) for p, v in known])
        at = place(len(crowd.labels), *answers.pairs.T)
        found[crowd.name] = learn_errors(answers, _same(crowd)[at])
    return found


def cora_crowd(name: str, rates: ErrorRates, rng: int) -> Crowd:
    """A sample of cora's entities, and a crowd whose pairs and votes err at these rates; one vote for each pair."""
    data, generator = cr.datasets.cora(), np.random.default_rng(rng)
    entities = np.unique(data.labels)
    kept = np.isin(data.labels, np.random.default_rng(0).choice(entities, int(SHARE * len(entities)), replace=False))
    labels, similarity = data.labels[kept], data.similarity[np.ix_(kept, kept)]
    upper = np.triu_indices(len(labels), 1)
    crowd = Crowd(f"cora, errors as on {name}", labels, similarity[upper], np.empty((len(upper[0]), 1)))
    same, (yes, no) = _same(crowd), rates.majority(1)
    wrong = generator.random(len(same)) < np.where(same, no, yes)
    return crowd._replace(votes=(same ^ wrong)[:, None].astype(float))


def runs(
    crowd: Crowd, votes: int, strategies: Iterable[str], seeds: Iterable[int] = SEEDS, budget: float = np.inf
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The mean curve of each strategy, and a row for each run."""
    curves, rows, horizon = [], [], len(crowd.similarity) // 3
    for strategy in strategies:
        found = [replay(crowd, strategy, votes, rng, budget) for rng in seeds]
        what = {"crowd": crowd.name, "votes": votes, "ordering": strategy}
        curves.append(mean_curve(found).assign(**what))
        rows += [what | {"rng": rng} | summary(run, horizon) for rng, run in zip(seeds, found, strict=True)]
    curve = pd.concat(curves, ignore_index=True)
    curve = curve[["crowd", "votes", "ordering", "answers", "recall", "precision", "F1"]]
    return curve.round(5), pd.DataFrame(rows).round(6)


def errors(crowd: Crowd) -> pd.DataFrame:
    """Wrong single votes by similarity, on matches and on non-matches."""
    same, band = _same(crowd), np.digitize(crowd.similarity, BANDS[1:-1])
    rows = []
    for match in (True, False):
        for b in range(len(BANDS) - 1):
            votes = crowd.votes[(same == match) & (band == b)]
            said = votes[~np.isnan(votes)]
            rows.append((crowd.name, match, BANDS[b], BANDS[b + 1], len(votes), len(said), int((said != match).sum())))
    return pd.DataFrame(rows, columns=["crowd", "match", "from", "to", "pairs", "votes", "wrong"])


def votes_wrong(gym: Crowd, rates: ErrorRates) -> pd.DataFrame:
    """Pairs with 0 to 5 wrong votes: counted, expected of the model of looks, and of independent errors."""
    full, same = ~np.isnan(gym.votes).any(axis=1), _same(gym)
    rows = []
    says_yes = [1 - rates.vote[1], rates.vote[0], rates.unclear_yes]  # if the pair looks the same, different, unclear
    for match, looks in zip((True, False), rates.looks.T, strict=True):
        votes = gym.votes[full & (same == match)]
        wrong, m = (votes != match).sum(axis=1), votes.shape[1]
        errs = [1 - yes if match else yes for yes in says_yes]
        models = [list(zip(looks, errs, strict=True)), [(1.0, float((votes != match).mean()))]]
        for k in range(m + 1):
            expected = (sum(share * comb(m, k) * p**k * (1 - p) ** (m - k) for share, p in model) for model in models)
            rows.append((match, k, int((wrong == k).sum()), *(len(votes) * x for x in expected)))
    return pd.DataFrame(rows, columns=["match", "wrong", "pairs", "looks", "independent"]).round(3)


def learned(crowd: Crowd, rates: ErrorRates) -> pd.DataFrame:
    """Rates of wrong answers on matches and non-matches, by the votes of a majority; and those learned on the way."""
    same, known, rows, what = _same(crowd)[:, None], ~np.isnan(crowd.votes), [], (crowd.name,)
    single = [float((crowd.votes != match)[known & (same == match)].mean()) for match in (True, False)]
    for votes in (votes for votes in (1, 3, 5) if votes <= crowd.votes.shape[1]):
        said = np.nanmean(crowd.votes[:, :votes], axis=1, keepdims=True) > 0.5
        counted = [float((said[same == match] != match).mean()) for match in (True, False)]
        rows.append((*what, votes, "counted", *(counted if votes > 1 else single)))
        rows.append((*what, votes, "if errors were independent", *(majority_error(votes, p) for p in single)))
        rows.append((*what, votes, "model of looks", *rates.majority(votes)[::-1]))
    on_the_way, asked = [], []
    for rng in SEEDS:
        strategy = NoisyOrdering(crowd.similarity, rng=rng)
        strategy.run(Oracle(crowd))
        on_the_way.append(strategy.errors.majority(1)[::-1])
        i, j, yes, _ = (np.array(x) for x in zip(*strategy.answers, strict=True))
        match = crowd.labels[i] == crowd.labels[j]
        asked.append([(~yes[match]).mean(), yes[~match].mean()])
    rows.append((*what, 1, "counted where it asked", *np.mean(asked, axis=0)))
    rows.append((*what, 1, "learned while asking", *np.mean(on_the_way, axis=0)))
    return pd.DataFrame(rows, columns=["crowd", "votes", "how", "on matches", "on non-matches"]).round(6)


def stated(crowd: Crowd) -> pd.DataFrame:
    """What noisy ordering states of each record when it ends, and how many are right, in bins of one tenth."""
    runs = []
    for rng in SEEDS:
        strategy = NoisyOrdering(crowd.similarity, rng=rng)
        strategy.run(Oracle(crowd))
        end = strategy.resolved
        runs.append(pd.DataFrame({"stated": end.given_others, "right": right(end.clusters, crowd.labels)}))
    drawn = pd.concat(runs)
    bins = drawn.groupby(np.minimum(drawn["stated"] * 10, 9).astype(int).rename("bin"))
    table = bins.agg(stated=("stated", "mean"), right=("right", "mean"), records=("right", "size")).reset_index()
    table.insert(0, "crowd", crowd.name)
    return table.round(6)


def sizes(*found: Crowd) -> dict[str, dict[str, int]]:
    """How many records and entities each crowd has."""
    return {crowd.name: {"records": len(crowd.labels), "entities": len(np.unique(crowd.labels))} for crowd in found}


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of each file that is read."""
    names = [f"{name}/{file}.txt" for name in ("gym", "allsports") for file in ("graph", "answers", "gold")]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def record(folder: str | os.PathLike[str]) -> None:
    """Replay everything and write what is recorded."""
    gym, allsports = both = [read(folder, name) for name in ("gym", "allsports")]
    rates = kinds_of_errors(gym, allsports)
    plan: list[tuple] = [(gym, 1, ALL), (gym, 3, ["edge", "noisy"]), (gym, 5, ALL), (allsports, 1, ALL)]
    plan += [(perfect(crowd), 1, ["edge", "noisy"]) for crowd in both]
    plan += [(crowd, 1, ["noisy, all answers"], [1]) for crowd in both]
    plan += [(cora_crowd(name, rates[name], 1), 1, CORA, FEW, BUDGET) for name in rates]
    curves, rows = zip(*(runs(*settings) for settings in plan), strict=True)
    tables = {
        "crowds": pd.concat(curves),
        "crowd_runs": pd.concat(rows),
        "crowd_errors": pd.concat(map(errors, both)),
        "crowd_votes": votes_wrong(gym, rates["gym"]),
        "crowd_rates": pd.concat(learned(crowd, rates[crowd.name]) for crowd in both),
        "crowd_stated": pd.concat(map(stated, both)),
    }
    for name, table in tables.items():
        table.to_csv(measured.FOLDER / f"{name}.csv", index=False, lineterminator="\n")
    about = {"date": datetime.date.today(), "crowder": cr.__version__}
    about |= {"sizes": sizes(*both), "SHA-256": checksums(Path(folder))}
    (measured.FOLDER / "crowds.yml").write_text(yaml.safe_dump(about, sort_keys=False), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get(VARIABLE), help=f"by default {VARIABLE}")
    folder = parser.parse_args().folder
    if not folder:
        parser.error(f"name the folder of the crowds, or set {VARIABLE}")
    record(folder)


if __name__ == "__main__":
    main()
