"""Question sheets: CSV files with questions, in which people fill in the answers.

A sheet has a row for each question: ``id_a``, ``id_b``, every field of both records side by side, ``differs`` with the
words in which they differ, and two empty columns, ``same`` for the answer (yes, no or unsure) and ``worker`` for the
name of who gave it. It does not show the similarity, which would suggest an answer. To read the answers, only the
columns ``id_a``, ``id_b`` and ``same`` are needed. Without a name, the worker is called like the file.

Each worker has one vote on a pair, and votes may contradict one another (`crowder.practice.votes`). Records whose
fields are all equal but for white space and case are *identical*: nobody who sees a sheet could tell them apart. So
they count as the same without a question, unless somebody says otherwise (`identical_pairs`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowder import files, validation
from crowder.beyond.answers import SAID
from crowder.practice.record_file import check_row, columns_of, open_table

__all__ = [
    "ANSWERS", "Row", "escape_formula", "expand_paths", "identical_pairs", "next_sheet_path",
    "question_sheet", "read_rows", "read_votes", "write_sheet",
]  # fmt: skip

#: The allowed answers in the column ``same``, in upper or lower case; a blank cell has not been answered yet.
ANSWERS = SAID | {"u": None, "?": None}

#: The beginning of a cell that a spreadsheet would run as a formula, or of one that has been escaped already.
FORMULA = re.compile(r"'*[\s'\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r]")

#: Most characters that the column ``differs`` shows of a cell.
SHOWN = 40


class Row(NamedTuple):
    """A row of a sheet: two records, whether they are the same (None if unsure), the worker, whether there is an answer
    at all, and all cells."""

    i: int
    j: int
    same: bool | None
    worker: str
    answered: bool
    cells: dict[str, str]


def read_votes(
    paths: str | os.PathLike | Sequence[str | os.PathLike],
    ids: Sequence[str],
    *,
    encoding: str = "utf-8",
    sep: str | None = None,
) -> list[tuple[int, int, bool | None, str]]:
    """Read the answers from question sheets, also if they contradict one another or are unsure.

    Parameters
    ----------
    paths : path or sequence of path
        One file or several.
    ids : sequence of str
        The identifiers of the records, in their order.
    encoding, sep : str, keyword only
        As in `crowder.practice.read_records`. By default, the separator in the header, since some spreadsheets change
        it.

    Returns
    -------
    list of tuple (i, j, same, worker)
        Two records, whether they are the same (None if unsure), and the worker, in the order of the rows; rows with a
        blank ``same`` are skipped. Without a column ``worker``, or with a blank in it, the worker is called like the
        file, without its suffix.

    Raises
    ------
    ValueError
        If a file lacks one of the columns, an identifier is blank or unknown, the two records of a pair are the same,
        or a cell is not one of the answers. The message names row and column.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "sheet-1.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id_a,id_b,same,worker\\nx,y,yes,ann\\ny,x,no,bob\\nz,y,unsure,\\nx,z,,\\n")
    >>> read_votes(path, ["x", "y", "z"])
    [(0, 1, True, 'ann'), (1, 0, False, 'bob'), (2, 1, None, 'sheet-1')]
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    validation.kind(paths, Iterable, "answers must be a file or a list of files")
    rows = [row for path in paths for row in read_rows(path, ids, encoding=encoding, sep=sep)]
    return [row[:4] for row in rows if row.answered]


def read_rows(
    path: str | os.PathLike, ids: Sequence[str], *, encoding: str = "utf-8", sep: str | None = None
) -> list[Row]:
    """The rows of one sheet, also those without an answer. Parameters and errors as in `read_votes`."""
    place: dict[str, int] = {}
    for number, name in enumerate(validation.kind(ids, Iterable, "ids must be the identifiers of the records")):
        if place.setdefault(name, number) != number:
            raise ValueError(f"ids must be unique, but records {place[name]} and {number} are both {name!r}")
    path = validation.path(path, "answers")
    with open_table(path, encoding, sep) as (top, header, lines):
        columns_of(header, top, None, ["id_a", "id_b", "same", *({"worker"} & {*header})], None, sep)
        found = []
        for number, texts in lines:
            if any(map(str.strip, texts)):
                check_row(number, texts, header)
                cells = dict(zip(header, texts, strict=True))
                a, b = (cells[column].strip() for column in ("id_a", "id_b"))
                a, b = (name[1:] if name[:1] == "'" and name[1:] in place else name for name in (a, b))
                found.append((number, a, b, cells))
        names = {name for _, a, b, _ in found for name in (a, b)}
        unknown = len(names - place.keys())
        rows = []
        for number, a, b, cells in found:
            where, said = f"row {number}, column", cells["same"].strip().lower()
            for column, name in (("id_a", a), ("id_b", b)):
                if name not in place:
                    raise ValueError(
                        f"{where} {column!r}: the identifier must be that of a record, not {name!r}; of {len(names)} "
                        f"identifiers in this sheet {unknown} are unknown: is it that of another file or project?"
                    )
            if a == b:
                raise ValueError(f"{where} 'id_b': the two records must be different, not both {b!r}")
            if said and said not in ANSWERS:
                raise ValueError(f"{where} 'same': the answer must be yes, no, unsure or blank, not {said!r}")
            worker = cells.get("worker", "").strip() or Path(path).stem
            rows.append(Row(place[a], place[b], ANSWERS.get(said), worker, bool(said), cells))
    return rows


def question_sheet(records: pd.DataFrame, fields: Sequence[str], pairs: Any, *, similarity: Any = None) -> pd.DataFrame:
    """The questions as a table of text with empty columns for the answers and the workers' names.

    ``differs`` names the fields that differ (not only in white space or case), each with the words that the other
    record does not have there. It is empty for identical records. With `similarity`, a value for each pair, there is
    a column of this name; it suggests an answer, so leave it out if you can.

    A spreadsheet would run a cell that starts with ``=``, ``+``, ``-`` or ``@`` as a formula. Such cells, identifiers
    included, get an apostrophe in front (`escape_formula`); `read_votes` accepts identifiers with and without it.

    Examples
    --------
    >>> records = pd.DataFrame({"id": ["x", "y"], "name": ["Ann B. Lee", "Anne  LEE"], "zip": ["", "007"]})
    >>> sheet = question_sheet(records, ["name", "zip"], [(0, 1)])
    >>> list(sheet)
    ['id_a', 'id_b', 'name_a', 'name_b', 'zip_a', 'zip_b', 'differs', 'same', 'worker']
    >>> sheet["differs"][0]
    'name: Ann B. <> Anne; zip: (empty) <> 007'
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if missing := [field for field in fields if field not in records]:
        raise ValueError(f"fields must be columns of the records, {list(records.columns)}, not {missing}")
    if ((pairs < 0) | (pairs >= len(records))).any():
        raise ValueError(f"pairs must be of the {len(records)} records, 0 to {len(records) - 1}")
    if similarity is not None and len(similarity) != len(pairs):
        raise ValueError(f"similarity must have a value for each of the {len(pairs)} pairs, not {len(similarity)}")
    a, b = (records.iloc[side].reset_index(drop=True) for side in pairs.T)
    sheet = {f"{field}_{side}": part[field] for field in ["id", *fields] for side, part in (("a", a), ("b", b))}
    told = [[_difference(field, *cells) for cells in zip(a[field], b[field], strict=True)] for field in fields]
    sheet["differs"] = ["; ".join(filter(None, row)) for row in zip(*told, strict=True)] or [""] * len(pairs)
    if similarity is not None:
        sheet["similarity"] = [f"{w:.4f}" for w in similarity]
    escaped = {name: [escape_formula(str(cell)) for cell in cells] for name, cells in sheet.items()}
    return pd.DataFrame(escaped | dict.fromkeys(("same", "worker"), [""] * len(pairs)), dtype="str")


def write_sheet(
    path: str | os.PathLike[str], sheet: pd.DataFrame, ids: Sequence[str], *, encoding: str = "utf-8", sep: str = ","
) -> None:
    """Write a question sheet, but not over one with answers: that is a ValueError. Parameters as in `read_votes`.

    Examples
    --------
    >>> import tempfile
    >>> sheet = question_sheet(pd.DataFrame({"id": ["x", "y"], "name": ["Ann", "Anne"]}), ["name"], [(0, 1)])
    >>> write_sheet(path := os.path.join(tempfile.mkdtemp(), "questions-1.csv"), sheet, ["x", "y"])
    >>> [row[:5] for row in read_rows(path, ["x", "y"])]
    [(0, 1, None, 'questions-1', False)]
    """
    path = validation.path(path)
    if os.path.exists(path) and (given := read_votes(path, ids, encoding=encoding, sep=sep)):
        raise ValueError(f"path must not be a file with answers, but {path} has {len(given)}")
    text = sheet.rename(columns=escape_formula).to_csv(index=False, lineterminator="\n", sep=sep.replace(r"\t", "\t"))
    if encoding == "utf-8" and not text.isascii():
        encoding = "utf-8-sig"  # which spreadsheets recognise
    files.write(Path(path), text.encode(encoding))


def identical_pairs(records: pd.DataFrame, fields: Sequence[str]) -> list[tuple[int, int]]:
    """The records whose fields are all equal, but for white space and case, to those of an earlier one; each with the
    first such. Nobody who sees a sheet could tell them apart. Blank records are left out.

    Examples
    --------
    >>> identical_pairs(pd.DataFrame({"name": ["Ann Lee", "Bo", "ann  lee ", "", "", "ANN LEE"]}), ["name"])
    [(0, 2), (0, 5)]
    """
    first: dict[tuple, int] = {}
    texts = zip(*(map(_normal, records[field]) for field in fields), strict=True)
    found = [(first.setdefault(text, number), number) for number, text in enumerate(texts) if any(text)]
    return [(i, j) for i, j in found if i != j]


def _normal(cell: object) -> str:
    return " ".join(str(cell).split()).casefold()


def _difference(field: str, a: object, b: object) -> str:
    """The words of each cell that the other lacks; blank if the cells are equal but for white space and case."""
    if _normal(a) == _normal(b):
        return ""
    sides = []
    for one, other in ((a, b), (b, a)):
        left, words = Counter(_normal(other).split()), []
        for word in str(one).split():
            left[word.casefold()] -= 1
            words += [word] * (left[word.casefold()] < 0)
        text = " ".join(words)
        sides.append(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
    if sides == ["", ""]:
        return f"{field}: other order"
    shown = [side or ("-" if str(cell).split() else "(empty)") for side, cell in zip(sides, (a, b), strict=True)]
    return f"{field}: {shown[0]} <> {shown[1]}"


def expand_paths(names: str | Sequence[str]) -> list[str]:
    """The paths in a list or in comma-separated text; patterns with ``*`` and ``?`` are expanded, in natural order.

    A pattern that matches no file is a FileNotFoundError.

    Examples
    --------
    >>> expand_paths("a.csv, b.csv"), expand_paths("")
    (['a.csv', 'b.csv'], [])
    """
    if not isinstance(names, Iterable):
        raise TypeError(f"names must be text or a list of file names, not {names!r}")
    names = names.split(",") if isinstance(names, str) else names
    found = []
    for name in filter(None, (str(name).strip() for name in names)):
        matching = glob(name) if any(mark in name for mark in "*?[") and not os.path.exists(name) else [name]
        if not matching:
            raise FileNotFoundError(f"no file matches {name!r}; correct the pattern, or leave it out")
        found += sorted(matching, key=lambda path: [part.zfill(12) for part in re.split(r"(\d+)", path)])
    return list(dict.fromkeys(found))


def next_sheet_path(stem: str, ids: Sequence[str], *, encoding: str = "utf-8", sep: str | None = None) -> str:
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


def escape_formula(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula: if necessary, with an apostrophe in front.

    Examples
    --------
    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("'=1"), escape_formula("Ann")
    ("'=1+1", "'-5", "''=1", 'Ann')
    """
    return f"'{cell}" if FORMULA.match(cell) else cell
