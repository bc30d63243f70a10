"""Question sheets: CSV files with questions, in which people fill in the answers.

A sheet has a row for each question: ``id_a``, ``id_b``, every field of both records side by side, two empty columns,
``same`` for the answer (yes, no or unsure) and ``worker`` for the name of who gave it, and ``token``, which binds the
row to the project, the pair and both texts. To read the answers, only ``id_a``, ``id_b`` and ``same`` are needed;
tokens, if they are there, must fit, so that columns that were moved are noticed. Without a name, the worker is called
like the file, with a digest of where it is: sheets in two folders have two workers, and a sheet that is handed in again
has the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from crowder.beyond.answers import SAID
from crowder_tool.records import encodable, naming, require, rows_of

__all__ = ["ANSWERS", "FORMULA", "QUOTED", "Row", "escape_formula", "question_sheet", "read_sheets", "to_csv", "token"]

#: The allowed answers in the column ``same``, in upper or lower case; a blank cell has not been answered yet.
ANSWERS = SAID | {"u": None, "?": None}

#: The beginning of a cell that a spreadsheet would run as a formula, whatever cannot be seen stands before its sign, or
#: of one that has been escaped already; and what must stand in quotes. Pages use both, in JavaScript.
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
UNSEEN = (r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
          r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb")  # fmt: skip
FORMULA = re.compile(rf"[\s'{UNSEEN}{CONTROL}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[{CONTROL}]")
QUOTED = re.compile(rf'["{CONTROL}]|^\s|\s$')


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
    paths: Sequence[str | os.PathLike], records: pd.DataFrame, fields: Sequence[str], key: str, *,
    encoding: str = "utf-8",
) -> list[Row]:  # fmt: skip
    """The rows of question sheets about these fields of the records, also those without an answer; `key` as in `token`.

    A ValueError names row and column of what does not fit, or of two answers under one name that contradict each other.
    """
    rows, given = list[Row](), dict[tuple, Row]()
    for path in paths:
        with naming(path):
            rows += _read(Path(path), records, fields, key, encoding)
    for row in filter(lambda row: row.answered, rows):
        first = given.setdefault((min(row[:2]), max(row[:2]), row.worker), row)
        if first.same is not row.same:
            raise ValueError(f"{row.where}: {row.worker!r} must not give another answer than in {first.where}; two "
                             "people need two names in the column worker")  # fmt: skip
    return rows


def _read(path: Path, records: pd.DataFrame, fields: Sequence[str], key: str, encoding: str) -> list[Row]:
    ids = list(records["id"])
    place = dict(zip([*ids, *map(escape_formula, ids)], [*range(len(ids))] * 2, strict=True))
    nobody = f"{encodable(path.stem)}-{blake2b(os.fsencode(os.path.realpath(path)), digest_size=3).hexdigest()}"
    table = rows_of(path.read_bytes(), encoding, None)
    require(table, ["id_a", "id_b", "same", *({"worker", "token"} & {*table})])
    rows = []
    for number, *cells in table.itertuples(name=None):
        row = dict(zip(table, map(str.strip, cells), strict=True))
        if not any(row.values()):
            continue
        where, said = f"row {number}, column", row["same"].lower()
        for column in ("id_a", "id_b"):
            if row[column] not in place:
                raise ValueError(
                    f"{where} {column!r}: the identifier must be that of a record, not {row[column]!r}; is the sheet "
                    "that of another file or project?"
                )
        i, j = place[row["id_a"]], place[row["id_b"]]
        if i == j:
            raise ValueError(f"{where} 'id_b': the two records must be different, not both {row['id_a']!r}")
        if said and said not in ANSWERS:
            raise ValueError(f"{where} 'same': the answer must be yes, no, unsure or blank, not {said!r}")
        if "token" in row and row["token"] != token(key, records, fields, (i, j)):
            raise ValueError(
                f"{where} 'token': it does not fit {row['id_a']!r} and {row['id_b']!r} in this project: perhaps "
                "columns were moved against each other, or the sheet is of another project"
            )
        rows.append(Row(i, j, ANSWERS.get(said), row.get("worker") or nobody, bool(said), f"{path}, row {number}"))
    return rows


def token(key: str, records: pd.DataFrame, fields: Sequence[str], pair: tuple[int, int]) -> str:
    """A short text that binds a question to the project, whose key it is, to its two records and to their text."""
    told = json.dumps(records.iloc[sorted(pair)][["id", *fields]].to_numpy().tolist())
    # With a letter in front, since a spreadsheet would take some of them for numbers.
    return "t" + blake2b(told.encode(), key=key.encode(), digest_size=6).hexdigest()


def question_sheet(
    records: pd.DataFrame, fields: Sequence[str], pairs: Sequence[tuple[int, int]], key: str
) -> pd.DataFrame:
    """The questions as a table of text with empty columns for the answers and the workers; `key` as in `token`."""
    a, b = (records.iloc[[pair[side] for pair in pairs]].reset_index(drop=True) for side in (0, 1))
    sheet = {f"{field}_{side}": part[field] for field in ["id", *fields] for side, part in (("a", a), ("b", b))}
    blank = dict.fromkeys(("same", "worker"), [""] * len(pairs))
    return pd.DataFrame(sheet | blank | {"token": [token(key, records, fields, pair) for pair in pairs]}, dtype="str")


def to_csv(table: pd.DataFrame, sep: str = ",") -> str:
    """A table as CSV in which no spreadsheet runs a cell or a name as a formula, and every line break in a cell is
    quoted; pandas leaves a bare carriage return as it is, where a reader begins another row."""
    lines = list[str]()
    for row in (table.columns, *table.itertuples(index=False)):
        cells = [escape_formula(str(cell)) for cell in row]
        lines.append(sep.join('"' + cell.replace('"', '""') + '"' if sep in cell or QUOTED.search(cell) else cell
                              for cell in cells))  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def escape_formula(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula: if necessary, with an apostrophe in front, which `read_sheets`
    takes away again."""
    return f"'{cell}" if FORMULA.match(cell) else cell
