"""Question sheets: CSV files with questions, in which a crowd fills in the answers.

A sheet has a row for each question: ``id_a``, ``id_b``, every field of both records side by side, their ``similarity``,
and an empty column ``same``. To read the answers, only the columns ``id_a``, ``id_b`` and ``same`` are needed.

For a strategy that keeps contradicting answers (`crowder.beyond.kept_answers`), a pair may have several rows, an answer
may be "unsure", and a column ``worker`` may say who gave it: see `read_votes`.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowder import validation
from crowder.practice.record_file import check_format, check_row, columns_of, open_table

__all__ = [
    "ANSWERS", "SheetAnswers", "Vote", "escape_formula", "escape_markup", "expand_paths", "next_sheet_path",
    "question_sheet", "read_answers", "read_votes",
]  # fmt: skip

#: Columns that a sheet must have.
COLUMNS = ["id_a", "id_b", "same"]

#: The beginning of a cell that a spreadsheet would run as a formula, or of one that has been escaped already.
FORMULA = re.compile(r"'*[\s'\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r]")

#: The allowed answers in the column ``same``, in upper or lower case; a blank cell has not been answered yet.
ANSWERS = {
    "yes": True, "true": True, "1": True, "y": True, "no": False, "false": False, "0": False, "n": False, "unsure": None
}  # fmt: skip


class Vote(NamedTuple):
    """Two records, whether they are the same (None if unsure), and the worker (None if unnamed)."""

    i: int
    j: int
    same: bool | None
    worker: str | None


class SheetAnswers:
    """Consistent answers: no pair is answered twice, and no answer contradicts what others imply.

    Parameters
    ----------
    n : int
        Number of records.

    Attributes
    ----------
    pairs : list of tuple of int
        The pairs (i, j), i < j, in the order in which they were added.
    same : list of bool
        Their answers.

    Examples
    --------
    >>> answers = SheetAnswers(3)
    >>> answers.add(0, 1, True, "row 2")
    >>> answers.add(2, 1, False, "row 3")
    >>> answers.add(0, 2, True, "row 4")
    Traceback (most recent call last):
    ...
    ValueError: the answer "yes" contradicts row 2 and row 3, which imply "no"
    """

    def __init__(self, n: int) -> None:
        self.n = n = validation.whole(n, "n, the number of records,")
        self.pairs: list[tuple[int, int]] = []
        self.same: list[bool] = []
        self._where: dict[tuple[int, int], str] = {}
        self._links: list[list[tuple[int, bool, str]]] = [[] for _ in range(n)]

    def add(self, i: int, j: int, same: bool, where: str) -> None:
        """Add an answer. ``where`` says where it comes from, for the error messages.

        Raises
        ------
        ValueError
            If the records are not two of the n records, the pair has been answered, or the answer contradicts others.
        TypeError
            If `same` is not a boolean.
        """
        i, j = validation.whole(i, "a record"), validation.whole(j, "a record")
        if max(i, j) >= self.n or i == j:
            raise ValueError(f"a pair must be two of the {self.n} records, 0 to {self.n - 1}, not {(i, j)}")
        same = validation.flag(same, "same")
        pair = (min(i, j), max(i, j))
        if pair in self._where:
            raise ValueError(f"a pair must be answered only once, but this one is also in {self._where[pair]}")
        if reason := self._implying(i, j, not same):
            answer, implied = ("yes", "no") if same else ("no", "yes")
            rows = reason[0] if len(reason) == 1 else f"{', '.join(reason[:-1])} and {reason[-1]}"
            imply = "implies" if len(reason) == 1 else "imply"
            raise ValueError(f'the answer "{answer}" contradicts {rows}, which {imply} "{implied}"')
        self._where[pair] = where
        self.pairs.append(pair)
        self.same.append(same)
        self._links[i].append((j, same, where))
        self._links[j].append((i, same, where))

    def _implying(self, i: int, j: int, answer: bool) -> list[str]:
        """Where the answers are that imply this answer about i and j: a path of matches, with one non-match if the
        answer is False; empty if there is none."""
        seen: dict[tuple[int, bool], tuple | None] = {(i, False): None}
        queue = deque([(i, False)])
        while queue:
            at, differs = queue.popleft()
            if at == j and differs != answer:
                rows, state = [], (at, differs)
                while (before := seen[state]) is not None:
                    state, where = before
                    rows.append(where)
                return rows[::-1]
            for other, same, where in self._links[at]:
                step = (other, differs or not same)
                if (same or not differs) and step not in seen:
                    seen[step] = ((at, differs), where)
                    queue.append(step)
        return []


def read_answers(
    paths: str | os.PathLike | Sequence[str | os.PathLike],
    ids: Sequence[str],
    *,
    encoding: str = "utf-8",
    sep: str = ",",
) -> SheetAnswers:
    """Read the answers from question sheets.

    Parameters
    ----------
    paths : path or sequence of path
        One file or several.
    ids : sequence of str
        The identifiers of the records, in the order of the records.
    encoding, sep : str, keyword only
        As in `crowder.practice.record_file.read_records`.

    Returns
    -------
    SheetAnswers
        Rows with a blank ``same`` are skipped.

    Raises
    ------
    ValueError
        If a file lacks one of the columns, an identifier is blank or unknown, the two records of a pair are the same, a
        cell is not one of the answers or is "unsure", a pair is answered twice, or an answer contradicts others by
        transitivity. The message names row and column.
    OSError
        If there is no such file.

    See Also
    --------
    read_votes : for strategies that keep contradicting and unsure answers.

    Notes
    -----
    At most O(q) for each of q answers, to look for answers that contradict it.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id_a,id_b,same\\nx,y,yes\\nz,y,\\n")
    >>> read_answers(path, ["x", "y", "z"]).pairs
    [(0, 1)]
    """
    place = _places(ids)
    answers = SheetAnswers(len(place))
    for vote, path, row, (a, b), where in _votes(paths, place, encoding, sep):
        try:
            if vote.same is None:
                raise ValueError(
                    'the answer "unsure" settles nothing for an ordering; ask somebody else and write yes or no, or '
                    "leave the cell blank; strategies that keep every answer take it (read_votes)"
                )
            answers.add(vote.i, vote.j, vote.same, where)
        except ValueError as error:
            raise ValueError(f"{path}: row {row}, column 'same', about {a!r} and {b!r}: {error}") from None
    return answers


def read_votes(
    paths: str | os.PathLike | Sequence[str | os.PathLike],
    ids: Sequence[str],
    *,
    encoding: str = "utf-8",
    sep: str = ",",
) -> list[Vote]:
    """Read all answers from question sheets, also if they contradict one another or are unsure.

    Parameters
    ----------
    paths, ids, encoding, sep
        As in `read_answers`.

    Returns
    -------
    list of Vote
        In the order of the rows. Rows with a blank ``same`` are skipped. Without a column ``worker``, or with a blank
        in it, the worker is None.

    Raises
    ------
    ValueError
        If a file lacks one of the columns, an identifier is blank or unknown, the two records of a pair are the same,
        or a cell is not one of the answers. The message names row and column.
    OSError
        If there is no such file.

    See Also
    --------
    crowder.practice.batch.next_questions : what to ask next.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.beyond.control_queries import ControlQueries
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id_a,id_b,same,worker\\nx,y,yes,ann\\ny,x,no,bob\\nz,y,unsure,\\n")
    >>> strategy = ControlQueries([0.9, 0.5, 0.4], rng=7)
    >>> for vote in read_votes(path, ["x", "y", "z"]):
    ...     strategy.learn((vote.i, vote.j), vote.same, vote.worker)
    >>> strategy.answers
    [(0, 1, True, 'ann'), (1, 0, False, 'bob'), (2, 1, None, None)]
    """
    return [vote for vote, *_ in _votes(paths, _places(ids), encoding, sep)]


def _places(ids: Sequence[str]) -> dict[str, int]:
    """The number of each record, by its identifier."""
    place: dict[str, int] = {}
    ids = validation.kind(ids, Iterable, "ids must be the identifiers of the records, in order")
    for number, name in enumerate(ids):
        if place.setdefault(name, number) != number:
            raise ValueError(f"ids must be unique, but records {place[name]} and {number} are both {name!r}")
    return place


def _votes(
    paths: Any, place: dict[str, int], encoding: str, sep: str
) -> Iterator[tuple[Vote, str, int, tuple[str, str], str]]:
    """Each answer, with its file, its row, both identifiers, and how other rows' messages call it."""
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise TypeError(f"answers must be a file or a list of files, not {paths!r}")
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    check_format(encoding, sep)
    for path in paths:
        validation.path(path, "answers")
    for path in paths:
        named = f"{os.fspath(path)}, " if len(paths) > 1 else ""
        for row, (first, second, cell, worker) in _cells(path, encoding, sep):
            a, b = (name[1:] if name[:1] == "'" and name[1:] in place else name for name in (first, second))
            at = f"{os.fspath(path)}: row {row}, column"
            for column, name in (("id_a", a), ("id_b", b)):
                if name not in place:
                    raise ValueError(f"{at} {column!r}: the identifier must be that of a record, not {name!r}")
            if a == b:
                raise ValueError(f"{at} 'id_b': the two records must be different, not both {b!r}")
            if not cell:
                continue
            if cell.lower() not in ANSWERS:
                raise ValueError(f"{at} 'same': the answer must be yes, no, unsure or blank, not {cell!r}")
            vote = Vote(place[a], place[b], ANSWERS[cell.lower()], worker or None)
            yield vote, os.fspath(path), row, (a, b), f"{named}row {row}"


def question_sheet(records: pd.DataFrame, fields: Sequence[str], pairs: Any, similarity: Any) -> pd.DataFrame:
    """The questions as a table of text with an empty column for the answers.

    A spreadsheet would run a cell that starts with ``=``, ``+``, ``-`` or ``@`` as a formula. Such cells, identifiers
    included, get an apostrophe in front (`escape_formula`); `read_answers` accepts identifiers with and without it.

    Examples
    --------
    >>> records = pd.DataFrame({"id": ["x", "y"], "name": ["Ann", "Anne"]})
    >>> question_sheet(records, ["name"], [(0, 1)], [0.75]).to_csv(index=False).split()
    ['id_a,id_b,name_a,name_b,similarity,same', 'x,y,Ann,Anne,0.7500,']
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if missing := [field for field in fields if field not in records]:
        raise ValueError(f"fields must be columns of the records, {list(records.columns)}, not {missing}")
    if ((pairs < 0) | (pairs >= len(records))).any():
        raise ValueError(f"pairs must be of the {len(records)} records, 0 to {len(records) - 1}")
    if len(similarity) != len(pairs):
        raise ValueError(f"similarity must have a value for each of the {len(pairs)} pairs, not {len(similarity)}")
    a, b = (records.iloc[side].reset_index(drop=True) for side in pairs.T)
    sheet = {"id_a": a["id"].map(escape_formula), "id_b": b["id"].map(escape_formula)}
    for field in fields:
        sheet |= {f"{field}_a": a[field].map(_escaped), f"{field}_b": b[field].map(_escaped)}
    sheet |= {"similarity": [f"{w:.4f}" for w in similarity], "same": [""] * len(pairs)}
    return pd.DataFrame(sheet, dtype="str")


def expand_paths(names: str | Sequence[str]) -> list[str]:
    """The paths in a list or in comma-separated text; patterns with ``*`` and ``?`` are expanded, in natural order.

    Examples
    --------
    >>> expand_paths("a.csv, b.csv"), expand_paths("no-such-file-*.csv"), expand_paths("")
    (['a.csv', 'b.csv'], [], [])
    """
    if not isinstance(names, Iterable):
        raise TypeError(f"names must be text or a list of file names, not {names!r}")
    names = names.split(",") if isinstance(names, str) else names
    found = []
    for name in filter(None, (str(name).strip() for name in names)):
        matching = glob(name) if any(mark in name for mark in "*?[") and not os.path.exists(name) else [name]
        found += sorted(matching, key=lambda path: [part.zfill(12) for part in re.split(r"(\d+)", path)])
    return list(dict.fromkeys(found))


def next_sheet_path(stem: str, ids: Sequence[str], *, encoding: str = "utf-8", sep: str = ",") -> str:
    """The first of ``stem-1.csv``, ``stem-2.csv``, ... that does not exist or has no answers.

    Examples
    --------
    >>> next_sheet_path("no-such-file", [])
    'no-such-file-1.csv'
    """
    number = 1
    while os.path.exists(name := f"{stem}-{number}.csv") and read_votes(name, ids, encoding=encoding, sep=sep):
        number += 1
    return name


def escape_markup(cell: str) -> str:
    """A cell escaped so that Markdown and HTML show it literally, on one line.

    Control characters and those that change the direction of writing are shown by number.

    Examples
    --------
    >>> escape_markup("<b>|$x$"), escape_markup("1. a\u202eb")
    ('&#60;b&#62;&#124;&#36;x&#36;', '1&#46; aU+202Eb')
    """
    text = " ".join(str(cell).split())
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", lambda m: f"U+{ord(m[0]):04X}", text)
    # At the start of a line, a hyphen, a plus sign or a number would begin a list.
    special = r"[^\w\s.,:;/'()+-]|_|(?<=\w)://|^[-+]|--+|\.\.+|(?:(?<=^\d)|(?<=^\d\d)|(?<=^\d\d\d))[.)]"
    return re.sub(special, lambda m: "".join(f"&#{ord(c)};" for c in m[0]), text)


def escape_formula(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula: if necessary, with an apostrophe in front.

    Examples
    --------
    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("'=1"), escape_formula("Ann")
    ("'=1+1", "'-5", "''=1", 'Ann')
    """
    return f"'{cell}" if FORMULA.match(cell) else cell


def _escaped(cell: Any) -> Any:
    return escape_formula(cell) if isinstance(cell, str) else cell


def _cells(path: Any, encoding: str, sep: str) -> list[tuple[int, list[str]]]:
    """Number and cells (id_a, id_b, same, worker) of every row that is not blank; worker is blank if no column."""
    with open_table(path, encoding, sep) as (top, header, rows):
        names = [*COLUMNS, "worker"] if "worker" in header else COLUMNS
        columns_of(header, top, None, names, None, sep)
        found = []
        for row, cells in rows:
            if any(cell.strip() for cell in cells):
                check_row(row, cells, header)
                found.append((row, [*(cells[header.index(name)].strip() for name in names), ""][:4]))
        return found
