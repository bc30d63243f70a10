"""Two real crowds, gym and allsports, in which every pair of records was answered: their files, and what was recorded.

The folder ``CROWDER_CROWDS`` has the folders ``gym`` and ``allsports`` of Saha and Subramanian (ESA 2019), with
``graph.txt`` (similarities), ``answers.txt`` and ``gold.txt``. The files are public but state no licence, so the book
has only what ``benchmarks/crowds.py`` computed from them, in ``book/data/measured``:

- ``crowds.csv``: mean recall, precision and F1 against the answers paid for, by crowd, votes and strategy;
- ``crowd_runs.csv``: each run, its end, the answers until F1 stays at 0.95, and the area under its F1;
- ``crowd_errors.csv``: wrong answers by similarity; ``crowd_votes.csv``: pairs by the number of wrong votes of five;
- ``crowd_rates.csv``: error rates, counted and learned;
- ``crowd_stated.csv``: records that are right, by the probability that noisy ordering states when it ends;
- ``crowds.yml``: the date, the sizes of both crowds, and which files were read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from book import strict_yaml
from book.companion import measured

__all__ = ["BUDGET", "LEVEL", "VARIABLE", "Crowd", "place", "read", "right", "source"]

VARIABLE = "CROWDER_CROWDS"
#: The F1 that is wanted; the answers that a replay on cora buys at most.
LEVEL, BUDGET = 0.95, 10_000


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


def right(clusters: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For each record whether its cluster and its entity have more than half of their union in common."""
    found, true = (x[:, None] == x for x in (clusters, labels))
    return (found & true).sum(axis=1) > (found | true).sum(axis=1) / 2


def place(n: int, i: Any, j: Any) -> Any:
    """Where a pair with i < j is in `pdist` order."""
    return i * (2 * n - i - 3) // 2 + j - 1


def read(folder: str | os.PathLike[str], name: str) -> Crowd:
    """Read one crowd; records are renumbered in the order of their numbers in the files."""
    at = Path(folder) / name
    gold = [[int(x) for x in line] for line in _lines(at / "gold.txt")]
    if name == "gym":
        entity = {record: number for number, line in enumerate(gold) for record in line[1:]}
    else:
        entity = dict(gold)
    records = {record: number for number, record in enumerate(sorted(entity))}
    n = len(records)
    scores, answers = _lines(at / "graph.txt"), _lines(at / "answers.txt")
    scores = [row for row in scores if len(row) == 3]  # without the line of totals
    similarity = np.full(n * (n - 1) // 2, np.nan)
    votes = np.full((len(similarity), max(map(len, answers)) - 2), np.nan)
    for lines, into in ((scores, similarity[:, None]), (answers, votes)):
        for i, j, *values in lines:
            if i in records and j in records:
                a, b = sorted((records[i], records[j]))
                into[place(n, a, b), : len(values)] = values
    if np.isnan(similarity).any() or np.isnan(votes[:, 0]).any():
        raise ValueError(f"{at}: a pair has no similarity or no answer")
    labels = np.array([entity[record] for record in records])
    return Crowd(name, labels, similarity.clip(0, 1), votes)


def _lines(path: Path) -> list[list[float]]:
    """The numbers on each line, between commas or blanks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[float(x) for x in re.split(r"[,\s]+", line.strip())] for line in lines if line.strip()]


def source() -> dict[str, Any]:
    """When the replay was recorded, of which files, and how many records and entities each crowd has."""
    return strict_yaml.read(measured.FOLDER / "crowds.yml")
