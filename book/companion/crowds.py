"""Two real crowds, gym and allsports, in which every pair of records was answered: reading their files.

    python -m book.companion.crowds [FOLDER]

replays every strategy on them (`book.companion.replays`), which takes about a quarter of an hour, and records what came
out in ``book/data/measured/crowd*`` (`book.companion.recorded_replays`). The files are public but state no licence, so
the book has only what is computed from them. FOLDER (by default ``CROWDER_CROWDS``) has the folders ``gym`` and
``allsports`` of Saha and Subramanian (ESA 2019), with ``graph.txt`` (similarities), ``answers.txt`` and ``gold.txt``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["RECORDED", "Crowd", "place", "read", "recorded"]

RECORDED = Path(__file__).resolve().parents[1] / "data" / "measured" / "crowds.csv"
VARIABLE = "CROWDER_CROWDS"


class Crowd(NamedTuple):
    """Records with true entities, similarities in `pdist` order, and the votes on each pair (or NaN)."""

    name: str
    labels: np.ndarray
    similarity: np.ndarray
    votes: np.ndarray  # (n(n-1)/2, votes): 1 for a match

    def oracle(self, votes: int) -> Any:
        """The majority of the first so many votes on a pair, or of those that there are."""
        n, majority = len(self.labels), np.nanmean(self.votes[:, :votes], axis=1) > 0.5
        return lambda i, j: bool(majority[place(n, min(i, j), max(i, j))])


def place(n: int, i: Any, j: Any) -> Any:
    """Where a pair with i < j is in `pdist` order."""
    return i * (2 * n - i - 3) // 2 + j - 1


def read(folder: str | os.PathLike[str], name: str) -> Crowd:
    """Read one crowd; records are renumbered in the order of their numbers in the files.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a pair has no similarity or no answer.
    """
    at = Path(folder) / name
    gold = [[int(x) for x in re.split(r"[,\s]+", line.strip())] for line in _lines(at / "gold.txt")]
    if name == "gym":
        entity = {record: number for number, line in enumerate(gold) for record in line[1:]}
    else:
        entity = dict(gold)
    records = {record: number for number, record in enumerate(sorted(entity))}
    n = len(records)
    scores, answers = (_table(at / file) for file in ("graph.txt", "answers.txt"))
    scores = [row for row in scores if len(row) == 3]  # without the line of totals
    similarity = np.full(n * (n - 1) // 2, np.nan)
    votes = np.full((len(similarity), max(map(len, answers)) - 2), np.nan)
    for table, into in ((scores, similarity[:, None]), (answers, votes)):
        for i, j, *values in table:
            if i in records and j in records:
                a, b = sorted((records[i], records[j]))
                into[place(n, a, b), : len(values)] = values
    if np.isnan(similarity).any() or np.isnan(votes[:, 0]).any():
        raise ValueError(f"{at}: a pair has no similarity or no answer")
    labels = np.array([entity[record] for record in records])
    return Crowd(name, labels, similarity.clip(0, 1), votes)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _table(path: Path) -> list[list[float]]:
    return [[float(x) for x in re.split(r"[,\s]+", line.strip())] for line in _lines(path)]


def recorded(orderings: Sequence[str] = ("edge", "node", "evidence")) -> pd.DataFrame:
    """The mean curves of these orderings on both crowds, as last replayed."""
    found = pd.read_csv(RECORDED)
    some = found["crowd"].isin(["gym", "allsports"]) & found["ordering"].isin(orderings)
    return found[some & found["votes"].isin([1, 5])].reset_index(drop=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get(VARIABLE), help=f"by default {VARIABLE}")
    folder = parser.parse_args().folder
    if not folder:
        parser.error(f"name the folder of the crowds, or set {VARIABLE}")
    from book.companion import recorded_replays  # which imports this module

    recorded_replays.record(folder)


if __name__ == "__main__":
    main()
