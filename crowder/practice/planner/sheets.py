"""Questions out and answers in: CSV files that a crowd can fill in, read back without guessing.

A file of questions has a row for each: ``id_a``, ``id_b``, every field of both records side by side, their
``similarity``, and an empty ``same``. Answers need the columns ``id_a``, ``id_b`` and ``same``; what else there is does
not matter.
"""

from __future__ import annotations

import csv
import os
import re
from collections import deque
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from crowder import validation
from crowder.practice.record_file import LONGEST, _check_cells, _columns, _form, _rows, _text

__all__ = ["ANSWERS", "Told", "as_text", "files", "guarded", "next_file", "question_sheet", "read_answers"]

#: Columns that a file of answers must have.
COLUMNS = ["id_a", "id_b", "same"]

#: How a cell starts that a spreadsheet would run, perhaps with a command in it; or that looks guarded against that.
FORMULA = re.compile(r"'*[\s'\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r]")

#: What a cell of the column ``same`` may hold, in any case; blank is no answer yet.
ANSWERS = {"yes": True, "true": True, "1": True, "y": True, "no": False, "false": False, "0": False, "n": False}


class Told:
    """Answers by pair of records, consistent: none is there twice, none contradicts what others imply.

    Parameters
    ----------
    n : int
        Number of records.

    Attributes
    ----------
    pairs : list of tuple of int
        In the order in which they were taken in.
    same : list of bool

    Examples
    --------
    >>> told = Told(3)
    >>> told.add(0, 1, True, "row 2")
    >>> told.add(2, 1, False, "row 3")
    >>> told.add(0, 2, True, "row 4")
    Traceback (most recent call last):
    ...
    ValueError: "yes" contradicts row 2 and row 3, which together say "no"
    """

    def __init__(self, n: int) -> None:
        self.n = n = validation.whole(n, "n, the number of records,")
        self.pairs: list[tuple[int, int]] = []
        self.same: list[bool] = []
        self._where: dict[tuple[int, int], str] = {}
        self._links: list[list[tuple[int, bool, str]]] = [[] for _ in range(n)]

    def add(self, i: int, j: int, same: bool, where: str) -> None:
        """Take in an answer from `where`; a ValueError if it is there already, or contradicts the others."""
        i, j = validation.whole(i, "a record"), validation.whole(j, "a record")
        if max(i, j) >= self.n or i == j:
            raise ValueError(f"{(i, j)} are not two of the {self.n} records, 0 to {self.n - 1}")
        if not isinstance(same, (bool, np.bool_)):
            raise TypeError(f"the answer to {(i, j)} must be a boolean, not {same!r}")
        pair = (min(i, j), max(i, j))
        if pair in self._where:
            raise ValueError(f"this pair is answered in {self._where[pair]} already")
        reason = self._reason(i, j, against=same)
        if reason:
            said, implied = ("yes", "no") if same else ("no", "yes")
            rows = reason[0] if len(reason) == 1 else f"{', '.join(reason[:-1])} and {reason[-1]}"
            verb = "which says" if len(reason) == 1 else "which together say"
            raise ValueError(f'"{said}" contradicts {rows}, {verb} "{implied}"')
        self._where[pair] = where
        self.pairs.append(pair)
        self.same.append(bool(same))
        self._links[i].append((j, bool(same), where))
        self._links[j].append((i, bool(same), where))

    def _reason(self, i: int, j: int, against: bool) -> list[str]:
        """Where answers stand that imply the opposite: a path of matches, with one non-match if `against` is True."""
        seen: dict[tuple[int, bool], tuple | None] = {(i, False): None}
        queue = deque([(i, False)])
        while queue:
            at, differs = queue.popleft()
            if at == j and differs == against:
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
) -> Told:
    """Read filled-in files of questions.

    Parameters
    ----------
    paths : path or sequence of path
        One file or several.
    ids : sequence of str
        The identifiers of the records, in their order.
    encoding, sep : str, keyword only
        As in `crowder.practice.record_file.read_records`.

    Returns
    -------
    Told
        Rows with a blank ``same`` are passed over.

    Raises
    ------
    ValueError
        If a file has not these columns, an identifier is blank or unknown, a pair is one record twice, a cell is no
        answer, a pair is answered twice, or an answer contradicts others by transitivity: the message names the rows
        and the column.
    OSError
        If there is no such file.

    Notes
    -----
    O(q) an answer at worst, for the chain of answers that may contradict it.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id_a,id_b,same\\nx,y,yes\\nz,y,\\n")
    >>> read_answers(path, ["x", "y", "z"]).pairs
    [(0, 1)]
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise TypeError(f"answers must be a file, or a list of files, not {paths!r}")
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    _form(encoding, sep)
    for path in paths:
        validation.path(path, "a file of answers")
    place: dict[str, int] = {}
    ids = validation.kind(ids, Iterable, "ids must be the identifiers of the records, in order")
    for number, name in enumerate(ids):
        if place.setdefault(name, number) != number:
            raise ValueError(f"records {place[name]} and {number} are both called {name!r}; answers could be of either")
    told = Told(len(place))
    for path in paths:
        named = f"{os.fspath(path)}, " if len(paths) > 1 else ""
        for row, (first, second, cell) in _cells(path, encoding, sep):
            a, b = (name[1:] if name[:1] == "'" and name[1:] in place else name for name in (first, second))
            at = f"{os.fspath(path)}: row {row}, column"
            for column, name in (("id_a", a), ("id_b", b)):
                if name not in place:
                    what = f"no record is called {name!r}" if name else "the identifier is empty"
                    raise ValueError(f"{at} {column!r}: {what}")
            if a == b:
                raise ValueError(f"{at} 'id_b': {b!r} again; a question is about two records")
            if not cell:
                continue
            if cell.lower() not in ANSWERS:
                raise ValueError(f"{at} 'same': {cell!r} is no answer; write yes or no, or leave the cell blank")
            try:
                told.add(place[a], place[b], ANSWERS[cell.lower()], f"{named}row {row}")
            except ValueError as error:
                raise ValueError(f"{at} 'same', about {a!r} and {b!r}: {error}") from None
    return told


def question_sheet(records: pd.DataFrame, fields: Sequence[str], pairs: Any, similarity: Any) -> pd.DataFrame:
    """The questions as a table to be filled in, all of it text.

    People open it in a spreadsheet, which runs a cell that starts with ``=``, ``+``, ``-`` or ``@``: an apostrophe
    stands before one (`guarded`), an identifier too. `read_answers` knows it with the apostrophe and without.

    Examples
    --------
    >>> records = pd.DataFrame({"id": ["x", "y"], "name": ["Ann", "Anne"]})
    >>> question_sheet(records, ["name"], [(0, 1)], [0.75]).to_csv(index=False).split()
    ['id_a,id_b,name_a,name_b,similarity,same', 'x,y,Ann,Anne,0.7500,']
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if absent := [field for field in fields if field not in records]:
        raise ValueError(f"no such column: {absent}; the records have {list(records.columns)}")
    if ((pairs < 0) | (pairs >= len(records))).any() or len(similarity) != len(pairs):
        raise ValueError(f"needs pairs of the {len(records)} records, and a similarity for each")
    a, b = (records.iloc[side].reset_index(drop=True) for side in pairs.T)
    sheet = {"id_a": a["id"].map(guarded), "id_b": b["id"].map(guarded)}
    for field in fields:
        sheet |= {f"{field}_a": a[field].map(_guarded_text), f"{field}_b": b[field].map(_guarded_text)}
    sheet |= {"similarity": [f"{w:.4f}" for w in similarity], "same": [""] * len(pairs)}
    return pd.DataFrame(sheet, dtype="str")


def files(names: str | Sequence[str]) -> list[str]:
    """File names out of one text with commas, or a list; ``*`` and ``?`` stand for what is there, in natural order.

    Examples
    --------
    >>> files("a.csv, b.csv"), files("no-such-file-*.csv"), files("")
    (['a.csv', 'b.csv'], [], [])
    """
    if not isinstance(names, Iterable):
        raise TypeError(f"names of files must be a text, or a list, not {names!r}")
    names = names.split(",") if isinstance(names, str) else names
    found = []
    for name in filter(None, (str(name).strip() for name in names)):
        some = glob(name) if any(mark in name for mark in "*?[") and not os.path.exists(name) else [name]
        found += sorted(some, key=lambda path: [part.zfill(12) for part in re.split(r"(\d+)", path)])
    return list(dict.fromkeys(found))


def next_file(stem: str, ids: Sequence[str], *, encoding: str = "utf-8", sep: str = ",") -> str:
    """The first of ``stem-1.csv``, ``stem-2.csv``, … that is not there, or holds no answer yet.

    Examples
    --------
    >>> next_file("no-such-file", [])
    'no-such-file-1.csv'
    """
    number = 1
    while os.path.exists(name := f"{stem}-{number}.csv") and read_answers(name, ids, encoding=encoding, sep=sep).pairs:
        number += 1
    return name


def as_text(cell: str) -> str:
    """A cell as Markdown and HTML show it to the letter, whatever is in it, on one line.

    What would turn the line round, or is no character to be seen, is shown by its number.

    Examples
    --------
    >>> as_text("<b>|$x$"), as_text("1. a\u202eb")
    ('&#60;b&#62;&#124;&#36;x&#36;', '1&#46; aU+202Eb')
    """
    text = " ".join(str(cell).split())
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", lambda m: f"U+{ord(m[0]):04X}", text)
    # At the start of a line, a dash, a plus and a number make a list.
    special = r"[^\w\s.,:;/'()+-]|_|(?<=\w)://|^[-+]|--+|\.\.+|(?:(?<=^\d)|(?<=^\d\d)|(?<=^\d\d\d))[.)]"
    return re.sub(special, lambda m: "".join(f"&#{ord(c)};" for c in m[0]), text)


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before one that would be.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-5"), guarded("'=1"), guarded("Ann")
    ("'=1+1", "'-5", "''=1", 'Ann')
    """
    return f"'{cell}" if FORMULA.match(cell) else cell


def _guarded_text(cell: Any) -> Any:
    return guarded(cell) if isinstance(cell, str) else cell


def _cells(path: Any, encoding: str, sep: str) -> list[tuple[int, list[str]]]:
    """Number and cells (id_a, id_b, same) of every row that is not blank."""
    limit = csv.field_size_limit(LONGEST)  # a sheet has the fields of the records, which may be long
    try:
        rows = _rows(_text(Path(path).read_bytes(), encoding, sep), sep)
        top, header = next(rows, (0, []))
        header = [name.strip() for name in header]
        if not header:
            raise ValueError(f"the file is empty: it needs a header with {', '.join(COLUMNS)}")
        _columns(header, top, None, COLUMNS, None, sep)
        found = []
        for row, cells in rows:
            if any(cell.strip() for cell in cells):
                _check_cells(row, cells, header)
                found.append((row, [cells[header.index(name)].strip() for name in COLUMNS]))
        return found
    except UnicodeError as error:  # of a codec that tells no place
        raise ValueError(f"{os.fspath(path)}: not {encoding} ({error}); pass encoding=") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    finally:
        csv.field_size_limit(limit)
