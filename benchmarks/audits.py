"""Audits of many data sets, which chapter 13 shows.

    python benchmarks/audits.py [NAME ...]     writes these rows of book/data/measured/audit.csv

Without names it writes all rows, which takes a quarter of an hour. gym and allsports are read from the folder
``CROWDER_CROWDS`` (see `book.companion.crowds`); their crowd is perfect here: it knows the true entities.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import crowder as cr
from book.companion import crowds
from crowder.datasets import Dataset
from crowder.pairs import candidates
from crowder_tool import people

RECORDED = Path(__file__).resolve().parents[1] / "book" / "data" / "measured" / "audit.csv"
TARGETS = (0.8, 0.9, 0.95, 0.99)
RUNS = 200
SIZES = [20, 15, 10, 10] + [5] * 10 + [2] * 30 + [1] * 60
PEOPLE = [4] * 8 + [3] * 12 + [2] * 20 + [1] * 42
FIELDS = ["name", "street", "city", "birth"]


def _crowd(name: str) -> Dataset:
    crowd = crowds.read(os.environ[crowds.VARIABLE], name)
    return Dataset(name, crowd.similarity, crowd.labels)


def _shuffled() -> Dataset:
    data = _crowd("gym")
    return Dataset("gym, shuffled", np.random.default_rng(1).permutation(data.condensed), data.labels)


def _people() -> Dataset:
    records = people(PEOPLE, mistakes=2, rng=2017)
    values = cr.similarity.compute(records, "jaccard-qgrams", fields=FIELDS)
    return Dataset("people", values, np.unique(records["label"], return_inverse=True)[1])


DATA: dict[str, Callable[[], Dataset]] = {
    "gym": lambda: _crowd("gym"),
    "gym, shuffled": _shuffled,
    "allsports": lambda: _crowd("allsports"),
    "people": _people,
    "Dist-1": lambda: cr.datasets.synthetic(SIZES, cr.dist1(0.25), rng=5),
    "Dist-2": lambda: cr.datasets.synthetic(SIZES, cr.dist2(0.25), rng=5),
    "cora, jaccard-tokens": lambda: cr.datasets.cora("jaccard-tokens"),
    "cora, levenshtein-title": lambda: cr.datasets.cora("levenshtein-title"),
    "cora, tfidf-cosine": lambda: cr.datasets.cora("tfidf-cosine"),
    "cora, jaro-winkler": lambda: cr.datasets.cora("jaro-winkler"),
}


def measured(name: str, runs: int = RUNS) -> pd.DataFrame:
    """Audits of edge ordering on one data set, at a confidence of 0.95: means over the runs, a row for each target.

    ``wrong`` counts the runs whose recall is below the certified one; ``all`` is what edge ordering asks to settle
    every pair, ``fewest`` what no ordering can ask less for that.
    """
    data = DATA[name]()
    pairs, crowd = candidates(data.condensed), cr.Truth(data.labels)
    full = np.mean([cr.EdgeOrdering(pairs, rng=seed).run(crowd).n_queries for seed in range(10)])
    rows = []
    for target in TARGETS:
        found = [cr.beyond.Audit(cr.EdgeOrdering(pairs, rng=r), recall=target, rng=r).run(crowd) for r in range(runs)]
        reached = np.array([run.recall(data.labels)[-1] for run in found])
        certified = np.array([run.certified for run in found])
        rows.append({
            "data": name, "target": target, "runs": runs, "wrong": int((reached < certified).sum()),
            "questions": np.mean([run.n_queries for run in found]),
            "audited": np.mean([run.audited for run in found]),
            "expected": np.nanmean([run.expected for run in found]),
            "discovered": np.mean([run.discovered for run in found]),
            "recall": reached.mean(), "certified": certified.mean(), "all": full,
            "fewest": cr.ideal_queries(data.sizes),
        })  # fmt: skip
    return pd.DataFrame(rows).round(6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(DATA), metavar="NAME", help=", ".join(DATA))
    for name in parser.parse_args().names:
        if name not in DATA:
            parser.error(f"NAME must be one of {', '.join(DATA)}, not {name!r}")
        rows = measured(name)
        if RECORDED.exists():
            rows = pd.concat([pd.read_csv(RECORDED).query("data != @name"), rows])
        place = rows["data"].map({name: at for at, name in enumerate(DATA)})
        rows = rows.iloc[np.argsort(place.to_numpy(), kind="stable")]
        rows.to_csv(RECORDED, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
