"""Question sheets: CSV files with questions, in which people fill in the answers.

A sheet has a row for each question: ``id_a``, ``id_b``, every field of both records side by side, two empty columns,
``same`` for the answer (yes, no or unsure) and ``worker`` for the name of who gave it, and ``token``. To read the
answers, only ``id_a``, ``id_b`` and ``same`` are needed. A token, if there is one, has a random code of its sheet, and
must fit the identifiers and texts of both records, so that columns that were moved are noticed. Without a name, the
worker is the code, whatever the file is called: people who fill in copies of one sheet must write their names. A sheet
without tokens is a worker called like the file, with a digest of where it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import pandas as pd

from crowder.beyond.answers import SAID
from crowder_tool.journal import Pair, Vote, ordered
from crowder_tool.records import encodable, naming, require, rows_of

__all__ = ["ANSWERS", "FORMULA", "QUOTED", "escape_formula", "question_sheet", "read_sheets", "to_csv", "token"]

#: The allowed answers in the column ``same``, in upper or lower case; a blank cell has not been answered yet.
ANSWERS = SAID | {"u": None, "?": None}

#: The beginning of a cell that a spreadsheet would run as a formula, whatever cannot be seen stands before its sign, or
#: of one that has been escaped already; and what must stand in quotes. Pages use both, in JavaScript. A whole cell that
#: is a number or a telephone number, with one sign at its beginning, is no formula: it has no operator and no name.
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
UNSEEN = (r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
          r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb")  # fmt: skip
NUMBER = r" *[+\-](?: *[.,]?[0-9][0-9 .,'()\u00a0\u202f]*)?(?![\s\S])"
FORMULA = re.compile(rf"(?!{NUMBER})(?:[\s'{UNSEEN}{CONTROL}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[{CONTROL}])")
QUOTED = re.compile(rf'["{CONTROL}]|^\s|\s$')
TOKEN = re.compile("t([0-9a-f]{8})-[0-9a-f]{12}")


def read_sheets(
    paths: Sequence[str | os.PathLike[str]], records: pd.DataFrame, fields: Sequence[str], *, encoding: str = "utf-8"
) -> list[Vote]:
    """The votes in question sheets about these fields of the records, and (`gone`) the rows without an answer.

    A ValueError names row and column of what does not fit, or of two answers under one name that contradict each other.
    """
    rows, given = list[Vote](), dict[tuple[Pair, str | None], tuple[Vote, str]]()
    for path in paths:
        with naming(path):
            found = _read(Path(path), records, fields, encoding)
        for number, vote in found:
            rows.append(vote)
            where = f"{path}, row {number}"
            if vote.gone:
                continue
            first, there = given.setdefault((ordered(vote.i, vote.j), vote.worker), (vote, where))
            if first.same is not vote.same:
                raise ValueError(f"{where}: {vote.worker!r} must not give another answer than in {there}; two people, "
                                 "also with copies of one sheet, need two names in the column worker")  # fmt: skip
    return rows


def _read(path: Path, records: pd.DataFrame, fields: Sequence[str], encoding: str) -> list[tuple[int, Vote]]:
    """The rows of a sheet, by their numbers in the file."""
    place = dict(zip(records["id"], range(len(records)), strict=True))
    nobody = f"{encodable(path.stem)}-{blake2b(os.fsencode(os.path.realpath(path)), digest_size=3).hexdigest()}"
    table = rows_of(path.read_bytes(), encoding, None)
    require(table, ["id_a", "id_b", "same", *({"worker", "token"} & {*table})])
    rows = []
    for number, *cells in table.itertuples(name=None):
        row = dict(zip(table, map(str.strip, cells), strict=True))
        if not any(row.values()):
            continue
        where, said, pair = f"row {number}, column", row["same"].lower(), list[int]()
        for column in ("id_a", "id_b"):
            name = plain if (plain := _unescaped(row[column])) in place else row[column]
            if name not in place:
                raise ValueError(
                    f"{where} {column!r}: the identifier must be that of a record, not {name!r}; is the sheet that of "
                    "another file? If this record has left the file, remove the row from the sheet"
                )
            pair.append(place[name])
        i, j = pair
        if i == j:
            raise ValueError(f"{where} 'id_b': the two records must be different, not both {row['id_a']!r}")
        if said and said not in ANSWERS:
            raise ValueError(f"{where} 'same': the answer must be yes, no, unsure or blank, not {said!r}")
        code = found[1] if (found := TOKEN.fullmatch(row.get("token", ""))) else ""
        if "token" in row and row["token"] != token(code, records, fields, (i, j)):
            raise ValueError(
                f"{where} 'token': it does not fit {row['id_a']!r} and {row['id_b']!r} and their texts in this "
                "project: perhaps columns were moved against each other, or the sheet is of another project"
            )
        worker = _unescaped(row.get("worker", "")) or (f"sheet-{code}" if code else nobody)
        rows.append((number, Vote(i, j, ANSWERS.get(said), worker, gone=not said)))
    return rows


def token(code: str, records: pd.DataFrame, fields: Sequence[str], pair: Pair) -> str:
    """A short text that has the code of a sheet, and binds a question to its two records, their fields and texts."""
    told = json.dumps([*fields, *sorted(records.iloc[[*pair]][["id", *fields]].to_numpy().tolist())])
    # With a letter in front, since a spreadsheet would take some of them for numbers.
    return f"t{code}-{blake2b(told.encode(), key=code.encode(), digest_size=6).hexdigest()}"


def question_sheet(records: pd.DataFrame, fields: Sequence[str], pairs: Sequence[Pair], code: str) -> pd.DataFrame:
    """The questions as a table of text with empty columns for the answers and the workers; `code` as in `token`."""
    a, b = (records.iloc[[pair[side] for pair in pairs]].reset_index(drop=True) for side in (0, 1))
    sheet = {f"{field}_{side}": part[field] for field in ["id", *fields] for side, part in (("a", a), ("b", b))}
    blank = dict.fromkeys(("same", "worker"), [""] * len(pairs))
    tokens = [token(code, records, fields, pair) for pair in pairs]
    return pd.DataFrame(sheet | blank | {"token": tokens}, dtype="str")


def to_csv(table: pd.DataFrame, sep: str = ",", *, guarded: bool = False) -> str:
    """A table as CSV, its cells as they are; or `guarded`, for a spreadsheet, which then runs no cell and no name as a
    formula. Every line break in a cell is quoted; pandas leaves a bare carriage return as it is, where a reader begins
    another row."""
    lines = list[str]()
    for row in (table.columns, *table.itertuples(index=False)):
        cells = [escape_formula(str(cell)) if guarded else str(cell) for cell in row]
        lines.append(sep.join('"' + cell.replace('"', '""') + '"' if sep in cell or QUOTED.search(cell) else cell
                              for cell in cells))  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def escape_formula(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula: if necessary, with an apostrophe in front, which `read_sheets`
    takes away again."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def _unescaped(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and escape_formula(cell[1:]) == cell else cell
