"""Question sheets: CSV files with questions, in which people fill in the answers.

A sheet has a row for each question: ``id_a``, ``id_b``, every field of both records side by side, ``differs`` with the
words in which they differ, two empty columns, ``same`` for the answer (yes, no or unsure) and ``worker`` for the name
of who gave it, and ``token``, which binds the row to the project, the pair and both texts. It does not show the
similarity, which would suggest an answer. To read the answers, only ``id_a``, ``id_b`` and ``same`` are needed; what
else is there must fit. Without a name, the worker is called like the file and the place where it is.

Each worker has one vote on a pair, and votes may contradict one another (`crowder.practice.votes`).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowder import files, validation
from crowder.beyond.answers import SAID
from crowder.practice.record_file import check_row, columns_of, open_table

__all__ = [
    "ANSWERS", "Row", "escape_formula", "next_sheet_path", "question_sheet", "read_sheets", "token", "write_sheet",
]  # fmt: skip

#: The allowed answers in the column ``same``, in upper or lower case; a blank cell has not been answered yet.
ANSWERS = SAID | {"u": None, "?": None}

#: The beginning of a cell that a spreadsheet would run as a formula, or of one that has been escaped already.
FORMULA = re.compile(r"'*[\s'\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r]")

#: Most characters that the column ``differs`` shows of a cell.
SHOWN = 40


class Row(NamedTuple):
    """A row of a sheet: two records, whether they are the same (None if unsure), the worker, whether there is an answer
    at all, and where it stands."""

    i: int
    j: int
    same: bool | None
    worker: str
    answered: bool
    where: str


def read_sheets(
    paths: str | os.PathLike | Sequence[str | os.PathLike], records: pd.DataFrame,
    fields: Sequence[str] = (), *, key: str | None = None, encoding: str = "utf-8", sep: str | None = None,
) -> list[Row]:  # fmt: skip
    """The rows of question sheets, also those without an answer.

    Parameters
    ----------
    paths : path or sequence of path
        One file or several.
    records : DataFrame
        The records, with their identifiers in the column id.
    fields : sequence of str
        The columns whose text must be that of the records, where a sheet shows it and has no tokens.
    key : str, keyword only
        What the tokens were made with; see `token`. Without it, they are not looked at.
    encoding, sep : str, keyword only
        As in `crowder.practice.read_records`. By default, the separator in the header, since some spreadsheets change
        it.

    Returns
    -------
    list of Row
        In the order of the rows. Without a column ``worker``, or with a blank in it, the worker is called like the file
        without its suffix, with a digest of where it is: sheets in two folders have two workers, and a sheet that is
        handed in again has the same.

    Raises
    ------
    ValueError
        If a file lacks one of the columns, an identifier is blank or unknown, the two records of a pair are the same,
        a cell is not one of the answers, a token or the text of a record does not fit, or two answers under one name
        contradict each other. The message names row and column.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "sheet-1.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id_a,id_b,same,worker\\nx,y,yes,ann\\ny,x,no,bob\\nz,y,unsure,cem\\nx,z,,\\n")
    >>> [row[:4] for row in read_sheets(path, pd.DataFrame({"id": ["x", "y", "z"]})) if row.answered]
    [(0, 1, True, 'ann'), (1, 0, False, 'bob'), (2, 1, None, 'cem')]
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    given: dict[tuple[int, int, str], Row] = {}
    rows = []
    for path in validation.kind(paths, Iterable, "answers must be a file or a list of files"):
        for row in _read(validation.path(path, "answers"), records, fields, key, encoding, sep):
            rows.append(row)
            if row.answered:
                first = given.setdefault((min(row[:2]), max(row[:2]), row.worker), row)
                if first.same is not row.same:
                    raise ValueError(
                        f"{row.where}: {row.worker!r} must not give another answer than in {first.where}; two people "
                        "need two names in the column worker"
                    )
    return rows


def _read(
    path: str, records: pd.DataFrame, fields: Sequence[str], key: str | None, encoding: str, sep: str | None
) -> list[Row]:
    ids = records["id"].tolist()
    place = {name: number for number, name in enumerate(ids)}
    texts = records[list(fields)].to_numpy().tolist()
    place_of_file = blake2b(os.fsencode(os.path.realpath(path)), digest_size=3).hexdigest()
    with open_table(path, encoding, sep) as (top, header, lines):
        optional = {"worker", "token", *(f"{field}_{side}" for field in fields for side in "ab")} & {*header}
        columns_of(header, top, None, ["id_a", "id_b", "same", *sorted(optional)], None, sep)
        found = list[tuple[int, str, str, dict[str, str]]]()
        for number, cells in lines:
            if any(map(str.strip, cells)):
                check_row(number, cells, header)
                row = dict(zip(header, cells, strict=True))
                a, b = (_identifier(row[column].strip(), place) for column in ("id_a", "id_b"))
                found.append((number, a, b, row))
        names = {name for _, a, b, _ in found for name in (a, b)}
        unknown = len(names - place.keys())
        rows = []
        for number, a, b, row in found:
            where, said = f"row {number}, column", row["same"].strip().lower()
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
            i, j = place[a], place[b]
            told = "" if key is None else row.get("token", "").strip()
            if key is not None and "token" in row and said and not told:
                raise ValueError(f"{where} 'token': it must stay as it was, but is blank")
            if key is None or told != token(key, records, fields, (i, j)):
                for name, record, side in ((a, i, "a"), (b, j, "b")):
                    for field, text in zip(fields, texts[record], strict=True):
                        shown = row.get(f"{field}_{side}", "")
                        if _comparable(shown) not in ("", _comparable(text)):
                            raise ValueError(
                                f"{where} '{field}_{side}': it must be the text of record {name!r}, but is {shown!r}, "
                                f"not {text!r}: perhaps columns were moved against each other, or the sheet is of "
                                "another project"
                            )
                if told:
                    raise ValueError(
                        f"{where} 'token': it does not fit {a!r} and {b!r} in this project: perhaps columns were moved "
                        "against each other, or the sheet is of another project"
                    )
            worker = row.get("worker", "").strip() or f"{Path(path).stem}-{place_of_file}"
            rows.append(Row(i, j, ANSWERS.get(said), worker, bool(said), f"{path}, row {number}"))
    return rows


def token(key: str, records: pd.DataFrame, fields: Sequence[str], pair: tuple[int, int]) -> str:
    """A short text that binds a question to the project, whose key it is, to its two records and to their text."""
    told = json.dumps(records.iloc[sorted(pair)][["id", *fields]].to_numpy().tolist())
    # With a letter in front, since a spreadsheet would take some of them for numbers.
    return "t" + blake2b(told.encode(), key=key.encode(), digest_size=6).hexdigest()


def _identifier(cell: str, place: dict[str, int]) -> str:
    """The identifier in a cell of a sheet, which has an apostrophe more if it would be a formula."""
    escaped = cell[:1] == "'" and escape_formula(cell[1:]) == cell and cell[1:] in place
    return cell[1:] if escaped else cell


def _comparable(cell: str) -> str:
    """A text as spreadsheets leave it: without escapes and other white space; numbers by their value."""
    text = " ".join(cell.lstrip("' ").split()).casefold()
    try:
        return repr(float(text))
    except ValueError:
        return text


def question_sheet(records: pd.DataFrame, fields: Sequence[str], pairs: Any, key: str | None = None) -> pd.DataFrame:
    """The questions as a table of text with empty columns for the answers and the workers' names.

    ``differs`` names the fields that differ (not only in white space or case), each with the words that the other
    record does not have there. It is empty for identical records. With a `key`, there is a column ``token``.

    A spreadsheet would run a cell that starts with ``=``, ``+``, ``-`` or ``@`` as a formula. Such cells, identifiers
    included, get an apostrophe in front (`escape_formula`), which `read_sheets` takes away again.

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
    a, b = (records.iloc[side].reset_index(drop=True) for side in pairs.T)
    sheet = {f"{field}_{side}": part[field] for field in ["id", *fields] for side, part in (("a", a), ("b", b))}
    told = [[_difference(field, *cells) for cells in zip(a[field], b[field], strict=True)] for field in fields]
    sheet["differs"] = ["; ".join(filter(None, row)) for row in zip(*told, strict=True)] or [""] * len(pairs)
    escaped = {name: [escape_formula(str(cell)) for cell in cells] for name, cells in sheet.items()}
    blank: dict[str, list[str]] = dict.fromkeys(("same", "worker"), [""] * len(pairs))
    tokens = {} if key is None else {"token": [token(key, records, fields, (i, j)) for i, j in pairs.tolist()]}
    return pd.DataFrame(escaped | blank | tokens, dtype="str")


def write_sheet(
    path: str | os.PathLike[str], sheet: pd.DataFrame, *, encoding: str = "utf-8", sep: str = ",", like: Any = None
) -> None:
    """Write a question sheet to a new file, with at most the permissions of the file `like`; a ValueError if there is
    a file of this name, because somebody may be filling it in.

    Examples
    --------
    >>> import tempfile
    >>> records = pd.DataFrame({"id": ["x", "y"], "name": ["Ann", "Anne"]})
    >>> sheet = question_sheet(records, ["name"], [(0, 1)])
    >>> write_sheet(path := os.path.join(tempfile.mkdtemp(), "questions-1.csv"), sheet)
    >>> [row[:3] for row in read_sheets(path, records, ["name"])]
    [(0, 1, None)]
    """
    if os.path.exists(path := validation.path(path)):
        raise ValueError(f"path must be new, because somebody may have begun to answer there, but {path} exists")
    text = sheet.rename(columns=escape_formula).to_csv(index=False, lineterminator="\n", sep=sep.replace(r"\t", "\t"))
    if encoding == "utf-8" and not text.isascii():
        encoding = "utf-8-sig"  # which spreadsheets recognise
    files.write(Path(path), text.encode(encoding), like=like)


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


def next_sheet_path(stem: str) -> str:
    """The first of ``stem-1.csv``, ``stem-2.csv``, ... that does not exist.

    Examples
    --------
    >>> next_sheet_path("no-such-file")
    'no-such-file-1.csv'
    """
    number = 1
    while os.path.exists(name := f"{stem}-{number}.csv"):
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
