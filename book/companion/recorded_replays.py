"""What `python -m book.companion.crowds` records of the two real crowds, and reading it.

The folder ``book/data/measured`` has, of the last replay,

- ``crowds.csv``: mean recall, precision and F1 against the answers paid for, by crowd, votes and strategy;
- ``crowd_runs.csv``: each run, its end, the answers until F1 stays at 0.95, and the area under its F1;
- ``crowd_errors.csv``: wrong answers by similarity; ``crowd_votes.csv``: pairs by the number of wrong votes of five;
- ``crowd_rates.csv``: error rates, counted and learned;
- ``crowds.yml``: the date, the sizes of both crowds, and which files were read.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

import crowder as cr
from book import strict_yaml
from book.companion import crowds, replays
from book.companion.crowds import RECORDED, Crowd
from crowder.beyond.answer_model import ErrorRates, learn_errors
from crowder.beyond.answers import Answers
from crowder.beyond.noisy_ordering import NoisyOrdering
from crowder.voting import majority_error

__all__ = [
    "BELIEVING", "SEEDS", "checksums", "cora_crowd", "curves", "errors", "kinds_of_errors", "learned", "perfect",
    "read", "record", "runs", "sizes", "source", "votes_wrong",
]  # fmt: skip

SEEDS = range(1, 11)
#: Orderings that never doubt an answer.
BELIEVING = ["edge", "node", "evidence", "hybrid"]
ALL = [*BELIEVING, "control queries", "member votes", "most similar once", "most similar once, strict", "noisy"]
#: On cora: the share of its entities in the sample, the answers that are bought, and the runs.
SHARE, BUDGET, FEW = 0.3, 10_000, range(1, 3)
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
        at = crowds.place(len(crowd.labels), *answers.pairs.T)
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
        found = [replays.replay(crowd, strategy, votes, rng, budget) for rng in seeds]
        what = {"crowd": crowd.name, "votes": votes, "ordering": strategy}
        curves.append(replays.mean_curve(found).assign(**what))
        rows += [what | {"rng": rng} | replays.summary(run, horizon) for rng, run in zip(seeds, found, strict=True)]
    curve = pd.concat(curves, ignore_index=True)
    return curve[["crowd", "votes", "ordering", "answers", "recall", "precision", "F1"]].round(5), pd.DataFrame(
        rows
    ).round(6)


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
    says_yes = [
        1 - rates.vote[1],
        rates.vote[0],
        rates.unclear_yes,
    ]  # to a pair that looks the same, different, unclear
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
    same, rows = _same(crowd), []
    counts = [votes for votes in (1, 3, 5) if votes <= crowd.votes.shape[1]]
    single = [float(np.nanmean(crowd.votes[same == match] != match)) for match in (True, False)]
    if crowd.votes.shape[1] > 1:
        known = ~np.isnan(crowd.votes)
        single = [float((crowd.votes != match)[known & (same == match)[:, None]].mean()) for match in (True, False)]
    for votes in counts:
        said = np.nanmean(crowd.votes[:, :votes], axis=1) > 0.5
        counted = [float((said[same == match] != match).mean()) for match in (True, False)]
        rows.append((crowd.name, votes, "counted", *(counted if votes > 1 else single)))
        rows.append((crowd.name, votes, "if errors were independent", *(majority_error(votes, p) for p in single)))
        rows.append((crowd.name, votes, "model of looks", *rates.majority(votes)[::-1]))
    on_the_way, asked = [], []
    for rng in SEEDS:
        strategy = NoisyOrdering(crowd.similarity, rng=rng)
        strategy.run(replays.Oracle(crowd))
        on_the_way.append(strategy.errors.majority(1)[::-1])
        match, yes = (np.array(x) for x in zip(*((crowd.labels[i] == crowd.labels[j], said)
                                                 for i, j, said, _ in strategy.answers), strict=True))  # fmt: skip
        asked.append([(~yes[match]).mean(), yes[~match].mean()])
    rows.append((crowd.name, 1, "counted where it asked", *np.mean(asked, axis=0)))
    rows.append((crowd.name, 1, "learned while asking", *np.mean(on_the_way, axis=0)))
    found = pd.DataFrame(rows, columns=["crowd", "votes", "how", "on matches", "on non-matches"])
    return found.round(6)


def record(folder: str | os.PathLike[str]) -> None:
    """Replay everything and write what is recorded."""
    gym, allsports = (crowds.read(folder, name) for name in ("gym", "allsports"))
    rates = kinds_of_errors(gym, allsports)
    plan: list[tuple] = [(gym, 1, ALL), (gym, 3, ["edge", "noisy"]), (gym, 5, ALL), (allsports, 1, ALL)]
    plan += [(perfect(crowd), 1, ["edge", "noisy"]) for crowd in (gym, allsports)]
    plan += [(crowd, 1, ["noisy, all answers"], [1]) for crowd in (gym, allsports)]
    plan += [(cora_crowd(name, rates[name], 1), 1, CORA, FEW, BUDGET) for name in rates]
    found = [runs(*settings) for settings in plan]
    tables = {
        "crowds": pd.concat([curve for curve, _ in found]),
        "crowd_runs": pd.concat([rows for _, rows in found]),
        "crowd_errors": pd.concat([errors(crowd) for crowd in (gym, allsports)]),
        "crowd_votes": votes_wrong(gym, rates["gym"]),
        "crowd_rates": pd.concat([learned(crowd, rates[crowd.name]) for crowd in (gym, allsports)]),
    }
    for name, table in tables.items():
        table.to_csv(RECORDED.with_name(f"{name}.csv"), index=False, lineterminator="\n")
    about = {"date": datetime.date.today(), "crowder": cr.__version__}
    about |= {"sizes": sizes(gym, allsports), "SHA-256": checksums(Path(folder))}
    RECORDED.with_suffix(".yml").write_text(yaml.safe_dump(about, sort_keys=False), encoding="utf-8")


def sizes(*found: Crowd) -> dict[str, dict[str, int]]:
    """How many records and entities each crowd has."""
    return {crowd.name: {"records": len(crowd.labels), "entities": len(np.unique(crowd.labels))} for crowd in found}


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of each file that is read."""
    names = [f"{name}/{file}.txt" for name in ("gym", "allsports") for file in ("graph", "answers", "gold")]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def source() -> dict[str, Any]:
    """When the replay was recorded, of which files, and how many records and entities each crowd has."""
    return strict_yaml.read(RECORDED.with_suffix(".yml"))


def curves() -> pd.DataFrame:
    """The mean curves of every strategy."""
    return pd.read_csv(RECORDED)


def read(name: str) -> pd.DataFrame:
    """A recorded table: "runs", "errors", "votes" or "rates"."""
    return pd.read_csv(RECORDED.with_name(f"crowd_{name}.csv"))
