"""Real crowds: data sets in which people have answered about every pair, so that strategies can be replayed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks, oracles
from crowder.datasets import Dataset

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Crowd", "read_crowd", "replay"]


@dataclass(frozen=True, eq=False)
class Crowd(Dataset):
    """A data set in which people have answered about every pair, so that every strategy can be replayed on it.

    Parameters
    ----------
    votes : ndarray, shape (n(n-1)/2, m), float64
        The votes on each pair, in condensed order: 1 for a match, 0 for a non-match; a ValueError for others, or none
        on a pair. If a pair has fewer than m votes, its last values are NaN.
    name, condensed, labels, source, records
        As in `Dataset`, with its errors.

    See Also
    --------
    crowder.crowds.read_crowd : reads one from its files.

    Examples
    --------
    >>> three = Crowd("three", [0.9, 0.1, 0.2], [0, 0, 1], votes=[[0, 1, 1], [0, 0, 1], [0, 0, np.nan]])
    >>> three.said(1).tolist(), three.said(3).tolist()
    ([False, False, False], [True, False, False])
    >>> from crowder import edge_ordering
    >>> edge_ordering(three.condensed, three.oracle(3), rng=1).clusters.tolist()
    [0, 0, 1]
    """

    votes: np.ndarray = field(default_factory=lambda: np.empty((0, 1)), repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        votes = checks.numbers(self.votes, "votes")
        if votes.ndim != 2 or len(votes) != len(self.condensed) or (votes.size and np.isnan(votes[:, 0]).any()):
            raise ValueError(f"there must be a vote on each of the {len(self.condensed)} pairs")
        if not (np.isnan(votes) | (votes == 0) | (votes == 1)).all():
            raise ValueError("votes must be 0 or 1, or NaN where there is none")
        object.__setattr__(self, "votes", checks.owned(votes))

    def said(self, votes: int = 1) -> np.ndarray:
        """Whether the majority of the first `votes` votes on each pair (or of all, if fewer) is for a match."""
        return np.nanmean(self.votes[:, : checks.whole(votes, "votes", least=1)], axis=1) > 0.5

    def oracle(self, votes: int = 1) -> Callable[[int, int], bool]:
        """An oracle that answers with this majority; asked about a pair again, it gives the same answer."""
        said, n = self.said(votes), self.n

        def answer(i: int, j: int) -> bool:
            return bool(said[_place(n, *oracles.two_records((i, j), n))])

        return answer


def read_crowd(folder: str | os.PathLike[str]) -> Crowd:
    """A real crowd, from a folder with similarities, answers and true entities of all pairs of some records.

    Parameters
    ----------
    folder : path
        With the files of the crowds of Saha and Subramanian (ESA 2019). ``graph.txt`` has lines ``i j similarity``,
        after any of another length; ``answers.txt`` has ``i j vote ...``, with 1 for a match; ``gold.txt`` has ``record
        entity`` or, with commas, ``entity,record,record,...``. Numbers are separated by blanks or commas. A
        FileNotFoundError if one is missing or `folder` is empty; a ValueError if a pair has no similarity or answer.

    Returns
    -------
    Crowd
        It has the name of the folder. Records are renumbered in the order of their numbers in ``gold.txt``; lines about
        others are ignored, and similarities clipped to [0, 1].

    See Also
    --------
    crowder.crowds.replay : runs a strategy on such a crowd.

    Examples
    --------
    >>> read_crowd("")
    Traceback (most recent call last):
        ...
    FileNotFoundError: a real crowd needs a folder with graph.txt, answers.txt and gold.txt; none is given
    """
    needs = "a real crowd needs a folder with graph.txt, answers.txt and gold.txt"
    if not checks.path(folder, "folder"):
        raise FileNotFoundError(f"{needs}; none is given")
    at = Path(folder)
    if missing := [name for name in ("graph", "answers", "gold") if not (at / f"{name}.txt").is_file()]:
        raise FileNotFoundError(f"{needs}; {at} has no {missing[0]}.txt")
    gold = (at / "gold.txt").read_text(encoding="utf-8")
    if "," in gold:  # the entity may have a name
        entity = {float(x): number for number, line in enumerate(gold.splitlines()) for x in line.split(",")[1:]}
    else:
        entity = {record: int(number) for record, number in _lines(at / "gold.txt")}
    records = {record: number for number, record in enumerate(sorted(entity))}
    n = len(records)
    answers = _lines(at / "answers.txt")
    condensed = np.full(n * (n - 1) // 2, np.nan)
    votes = np.full((len(condensed), max(map(len, answers)) - 2), np.nan)
    scores = (line for line in _lines(at / "graph.txt") if len(line) == 3)
    for lines, into in ((scores, condensed[:, None]), (answers, votes)):
        for i, j, *values in lines:
            if i in records and j in records:
                into[_place(n, records[i], records[j]), : len(values)] = values
    if np.isnan(condensed).any() or np.isnan(votes[:, 0]).any():
        raise ValueError(f"{at}: a pair has no similarity or no answer")
    labels = np.array([entity[record] for record in records])
    return Crowd(at.name, condensed.clip(0, 1), labels, "answers of people to every pair", votes=votes)


def replay(strategy: Any, oracle: oracles.Crowd, labels: ArrayLike, *, budget: float = inf) -> pd.DataFrame:
    r"""Run a strategy with an oracle that may err, and compare its clusters with the truth along the way.

    If a pairs of records are joined, m pairs match, and b do both, precision is b/a (1 if a = 0), recall is b/m and
    :math:`F_1 = 2b/(a + m)`.

    Parameters
    ----------
    strategy : Ordering, one that revises its clusters, such as NoisyOrdering, or callable
        An ordering continues from its current state. A function is called with the oracle and yields clusters from time
        to time. A TypeError for anything else.
    oracle : callable
        ``oracle(i, j)`` answers, in any of the forms of `crowder.oracles`, otherwise a TypeError; the answers need not
        be right. A function is told True or False alone: if an answer is unsure, a TypeError.
    labels : array_like, shape (n,)
        The true entities; a ValueError if the clusters are not of as many records.
    budget : int or inf, keyword only
        Clusterings after more than this many answers are left out. A ValueError below 0, a TypeError if not whole.

    Returns
    -------
    pandas.DataFrame
        A row for each clustering (for an ordering, before the first answer and after each one) with the columns
        ``answers``, the number that the oracle has given by then, ``recall``, ``precision`` and ``F1``.

    See Also
    --------
    crowder.Resolution.recall : for a finished run.

    Notes
    -----
    O(n log n) for each row, in addition to the cost of the strategy.

    Examples
    --------
    >>> from crowder import EdgeOrdering, Truth
    >>> replay(EdgeOrdering([0.9, 0.1, 0.2], rng=1), Truth([0, 0, 1]), [0, 0, 1])
       answers  recall  precision   F1
    0        0     0.0        1.0  0.0
    1        1     1.0        1.0  1.0
    2        2     1.0        1.0  1.0
    """
    import pandas as pd

    truth, crowd = checks.labels(labels), oracles.callable_oracle(oracle)
    most = inf if isinstance(budget, float) and budget == inf else checks.whole(budget, "budget")
    what = "strategy must be an ordering, such as EdgeOrdering(w, rng=1), or a function of the oracle"
    function = callable(checks.not_a_class(strategy, what))
    if not function and not hasattr(strategy, "ask"):
        raise TypeError(f"{what}, not {strategy!r}")
    rows: list[tuple[int, float, float, float]] = []
    paid: Counter[tuple[int, int]] = Counter()
    answers = 0

    def counted(i: int, j: int) -> tuple[bool | None, Hashable]:
        nonlocal answers
        pair = min(i, j), max(i, j)
        found = oracles.answer_and_worker(crowd, i, j, paid[pair])
        paid[pair] += 1
        answers += 1
        return found

    def certain(i: int, j: int) -> bool:
        same, _ = counted(i, j)
        if same is None:
            raise oracles.unsure((i, j))
        return same

    if not function:
        oracles.begin(crowd, strategy)
    for clusters in strategy(certain) if function else _asking(strategy, counted):
        if answers <= most:
            found = checks.labels(clusters, len(truth))
            sizes = (np.unique(x, return_counts=True)[1] for x in (found, truth, found * len(truth) + truth))
            joined, match, right = (float((m * (m - 1)).sum()) for m in sizes)
            rows.append((answers, right / match if match else 1.0, right / joined if joined else 1.0,
                         2 * right / (joined + match) if joined + match else 1.0))  # fmt: skip
        if answers >= most:
            break
    return pd.DataFrame(rows, columns=["answers", "recall", "precision", "F1"])


def _asking(ordering: Any, oracle: Callable[[int, int], tuple[bool | None, Hashable]]) -> Iterator[np.ndarray]:
    """The clusters of an ordering before the first answer and after each."""
    revises = not hasattr(ordering, "resolution")
    while True:
        yield ordering.clusters if revises else ordering.resolution.clusters
        if (pair := ordering.ask()) is None:
            return
        same, worker = oracle(*pair)
        ordering.tell(pair, same, worker) if revises else ordering.tell(pair, same)


def _place(n: int, i: int, j: int) -> int:
    """Where a pair of n records is in condensed order."""
    i, j = min(i, j), max(i, j)
    return i * (2 * n - i - 3) // 2 + j - 1


def _lines(path: Path) -> list[list[float]]:
    """The numbers on each line, between commas or blanks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[float(x) for x in re.split(r"[,\s]+", line.strip())] for line in lines if line.strip()]
