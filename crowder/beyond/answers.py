"""The answers of a crowd as it gave them: any number for each pair, by any number of workers, contradictions kept."""

from __future__ import annotations

import os
from array import array
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from crowder import checks

__all__ = ["Answers"]

#: What a worker may have said, as text in upper or lower case.
SAID = {
    "yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False,
    "unsure": None,
}  # fmt: skip


class Answers:
    """Any number of answers for each pair of records, by any number of workers; they may contradict one another.

    Parameters
    ----------
    n : int, optional
        The number of records, which are 0, ..., n - 1. By default, as many as the answers name. A ValueError if it is
        negative, a TypeError if it is not a whole number.

    Attributes
    ----------
    pairs : ndarray of int64, shape (p, 2)
        The pairs i < j about which there are answers, in the order of their first.
    pair : ndarray of int64, shape (v,)
        For each vote, an answer that is "yes" or "no", its pair: a row of `pairs`.
    yes : ndarray of bool, shape (v,)
        Whether the vote is "yes".
    worker : ndarray of int64, shape (v,)
        The number of the worker who cast the vote: an index into `workers`.
    workers : list
        The names of the workers, in the order of their first answer. None is the worker of all answers without a name.
    n_unsure : int
        The number of answers that are "unsure". They count in ``len``, since they are paid for, but are no evidence.

    See Also
    --------
    crowder.beyond.ErrorRates : what the answers are worth as evidence.

    Notes
    -----
    `add` takes O(1); each array is a copy, O(v), and read-only, so that nobody takes it for the answers themselves.

    Examples
    --------
    >>> rows = [(0, 1, "yes", "ann"), (2, 1, "no", "ann"), (1, 0, "no", "bob"), (0, 2, "unsure", "bob")]
    >>> answers = Answers.read(rows)
    >>> len(answers), answers.n, answers.n_unsure
    (4, 3, 1)
    >>> answers.pairs.tolist()
    [[0, 1], [1, 2], [0, 2]]
    >>> list(zip(answers.pair.tolist(), answers.yes.tolist(), answers.worker.tolist()))
    [(0, True, 0), (1, False, 0), (0, False, 1)]
    """

    def __init__(self, n: int | None = None) -> None:
        self._n = None if n is None else checks.whole(n, "n, the number of records,", most=checks.MOST_RECORDS)
        self._named = 0  # one more than the largest record named
        self._index: dict[tuple[int, int], int] = {}
        self._code: dict[Hashable, int] = {}
        self._votes = array("q"), array("b"), array("q")  # pair, yes, worker
        self.n_unsure = 0

    @classmethod
    def read(cls, rows: Any, n: int | None = None) -> Answers:
        """The answers in a table.

        Parameters
        ----------
        rows : DataFrame or iterable of tuple
            A table with columns ``left``, ``right``, ``answer`` and, optionally, ``worker``; or tuples ``(i, j, said)``
            or ``(i, j, said, worker)``. Values as in `add`, but in a table None is a missing value, which is an error.
            A ValueError or TypeError names the row, from 0, and its content, if it has another length or `add` refuses
            it. A ValueError if a column is missing.
        n : int, optional
            The number of records.

        Examples
        --------
        Records that have names are numbered first:

        >>> import pandas as pd
        >>> table = pd.DataFrame({"left": ["r1", "r7"], "right": ["r7", "r9"], "answer": ["Yes", "NO"]})
        >>> numbers, ids = pd.factorize(table[["left", "right"]].to_numpy().ravel())
        >>> table[["left", "right"]] = numbers.reshape(-1, 2)
        >>> Answers.read(table).pairs.tolist(), ids.tolist()
        ([[0, 1], [1, 2]], ['r1', 'r7', 'r9'])
        >>> Answers.read([(0, 1, "yes"), (1, 1, "no")])
        Traceback (most recent call last):
        ...
        ValueError: row 1, (1, 1, 'no'): a question is about two different records, not record 1 twice; remove it
        """
        made = cls(n)
        table = hasattr(rows, "columns")
        if isinstance(rows, (str, bytes, os.PathLike, dict)) or not (table or isinstance(rows, Iterable)):
            remedy = "; read a file with pandas.read_csv" if isinstance(rows, (str, bytes, os.PathLike)) else ""
            raise TypeError(f"rows must be a data frame or an iterable of (i, j, said[, worker]), not {rows!r}{remedy}")
        for number, row in enumerate(_rows_of(rows) if table else rows):
            try:
                listed = isinstance(row, (tuple, list)) or (isinstance(row, np.ndarray) and row.ndim == 1)
                if not listed or len(row) not in (3, 4):
                    raise ValueError("an answer must be (i, j, said) or (i, j, said, worker)")
                if table and (missing := [x for x, value in zip(NAMES, row, strict=False) if _missing(value)]):
                    remedy = 'write "unsure", or leave the row out' if missing == ["answer"] else "fill it in"
                    raise ValueError(f"{missing[0]} is missing; {remedy}")
                made.add(*row)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {number}, {row!r}: {error}") from None
        return made

    def add(self, i: int, j: int, said: Any, worker: Hashable = None) -> None:
        """Add an answer. If it is refused, what was added before stays as it was.

        Parameters
        ----------
        i, j : int
            Two different records: a ValueError if one is negative or unknown, a TypeError if it is not a whole number.
        said : bool, str, int or None
            True, "yes" or 1; False, "no" or 0; None or "unsure". Text in upper or lower case. Otherwise a ValueError.
        worker : hashable, optional
            Who gave the answer. By default, one worker without a name. A TypeError if it is not hashable.
        """
        i, j = (checks.whole(record, "a record", most=checks.MOST_RECORDS - 1) for record in (i, j))
        if self._n is not None and max(i, j) >= self._n:
            known = f"there are n={self._n} records, 0 to {self._n - 1}" if self._n else "there are n=0 records"
            raise ValueError(f"record {max(i, j)} is unknown: {known}; renumber the records or correct n")
        if i == j:
            raise ValueError(f"a question is about two different records, not record {i} twice; remove it")
        vote = as_vote(said)
        if worker is not None and _missing(worker):
            raise ValueError(f"the worker is {worker!r}; pass a name, or None for a worker without one")
        try:
            code = self._code.setdefault(worker, len(self._code))
        except TypeError:
            raise TypeError(f"the worker must be hashable, such as text or a number, not {worker!r}") from None
        place = self._index.setdefault((min(i, j), max(i, j)), len(self._index))
        self._named = max(self._named, i + 1, j + 1)
        if vote is None:
            self.n_unsure += 1
        else:
            for column, value in zip(self._votes, (place, vote, code), strict=True):
                column.append(value)

    def __len__(self) -> int:
        return len(self._votes[0]) + self.n_unsure

    @property
    def n(self) -> int:
        return self._named if self._n is None else self._n

    @property
    def pairs(self) -> np.ndarray:
        return checks.owned(np.array(list(self._index), np.int64).reshape(-1, 2))

    @property
    def pair(self) -> np.ndarray:
        return checks.owned(np.asarray(self._votes[0], np.int64))

    @property
    def yes(self) -> np.ndarray:
        return checks.owned(np.asarray(self._votes[1], bool))

    @property
    def worker(self) -> np.ndarray:
        return checks.owned(np.asarray(self._votes[2], np.int64))

    @property
    def workers(self) -> list[Hashable]:
        return list(self._code)


NAMES = ("left", "right", "answer", "worker")


def _rows_of(table: Any) -> Iterator[tuple]:
    """The rows of a data frame, as tuples."""
    absent = [name for name in NAMES[:3] if name not in table.columns]
    if absent:
        found = ", ".join(map(str, table.columns))
        raise ValueError(f"rows must have columns left, right and answer; they have {found}; rename them")
    if repeated := [name for name in NAMES if list(table.columns).count(name) > 1]:
        raise ValueError(f"rows must have one column {repeated[0]}, not several; rename or drop the others")
    columns = [list(table[name]) for name in NAMES if name in table.columns]
    # Pandas makes a column of numbers with a missing value one of floats.
    columns[:2] = [[int(x) if isinstance(x, float) and x.is_integer() else x for x in side] for side in columns[:2]]
    return zip(*columns, strict=True)


def _missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT, the missing value of pandas, or blank text."""
    try:
        return value is None or bool(value != value) or (isinstance(value, str) and not value.strip())
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True
    except ValueError:  # an array
        return False


def as_vote(said: Any) -> bool | None:
    """True for "yes", False for "no", None for "unsure", in any form that `Answers.add` takes; else a ValueError."""
    if said is None or isinstance(said, (bool, np.bool_)):
        return None if said is None else bool(said)
    if isinstance(said, str) and said.strip().lower() in SAID:
        return SAID[said.strip().lower()]
    if isinstance(said, (int, float, np.number)) and said in (0, 1):
        return bool(said)
    raise ValueError(
        f'an answer must be "yes", "no" or "unsure" (or True, False, None, 1, 0), not {said!r}; replace it'
    )
