"""Which record is which, also when rows have moved: every identifier gets a number when it is first seen.

The journal of a project is about these numbers. None is used again: the answers about a record that is gone stay aside,
and come back with it. In a file without identifiers a record is its row, and rows can be added at the end only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from crowder_tool.records import naming, require

__all__ = ["Keys", "follow", "with_texts"]

Name = tuple[int, str] | None


class Keys(NamedTuple):
    """The `columns` with the identifiers of one file or two (None: rows are counted); of each number, in `names`, the
    file (0 or 1) and the identifier (None where a record that is gone had another kind of identifier); and, of the
    fields that are compared, digests of the latest `texts` by these numbers (None: not known)."""

    columns: list[str | None]
    names: list[Name]
    texts: dict[str, list[str | None]]


def follow(
    before: Keys, tables: Sequence[pd.DataFrame], id: str | None, asked: Iterable[int], paths: Sequence[Path],
    copies: Sequence[pd.DataFrame] | None,
) -> tuple[Keys, list[list[int]]]:  # fmt: skip
    """The numbers of the rows of each file, whose identifiers are in the column `id`, or else ``id``, if there is one.

    `asked` are the numbers of records that have answers. A ValueError if one of them has another text than before, or
    cannot be found again for another reason than that its row is gone. `copies` are the rows of the files at the time
    of `before`, by which one kind of identifiers is told by another.
    """
    columns = [id if id is not None else "id" if "id" in table else None for table in tables]
    names, numbers = list(before.names), list[list[int]]()
    for file, (table, column, path) in enumerate(zip(tables, columns, paths, strict=True)):
        was = before.columns[file] if before.columns else column
        with naming(path):
            require(table, [name for name in (was if column is None else column,) if name is not None])
        if was != column:
            names = _told_otherwise(names, file, was, column, table, copies and copies[file])
    number = {name: k for k, name in enumerate(names) if name}
    for file, (table, column) in enumerate(zip(tables, columns, strict=True)):
        numbers.append([])
        for name in _identifiers(table, column):
            if (file, name) not in number:
                number[file, name] = len(names)
                names.append((file, name))
            numbers[file].append(number[file, name])
    present = {*chain(*numbers)}
    for k in asked:
        if k not in present:
            _check_gone(before, names[k], k, columns, paths)
    answered = [k for k in asked if k in present]
    there = [name for name in before.texts if all(name in table for table in tables)]
    if answered and before.texts and not there:
        raise ValueError(f"{' and '.join(map(str, paths))} must have one of the columns "
                         f"{', '.join(map(repr, before.texts))}, since there are answers about their text; rename a "
                         "column in the file")  # fmt: skip
    for name in there:
        now = _digests(tables, numbers, name)
        for k in answered:
            if (then := before.texts[name][k]) is not None and then != now[k]:
                _refuse(names[k], k, name, tables, numbers, columns, paths)
    return Keys(columns, names, {}), numbers


def with_texts(
    now: Keys, before: Keys, tables: Sequence[pd.DataFrame], numbers: list[list[int]], fields: Iterable[str]
) -> Keys:
    """The keys with the digests of these fields, of records that are gone those from before."""
    texts = dict[str, list[str | None]]()
    for field in fields:
        then = before.texts.get(field, [])
        texts[field] = then + [None] * (len(now.names) - len(then))
        for k, digest in _digests(tables, numbers, field).items():
            texts[field][k] = digest
    return now._replace(texts=texts)


def _identifiers(table: pd.DataFrame, column: str | None) -> list[str]:
    """The identifier of each row; without a column, its place."""
    return list(map(str, range(len(table)))) if column is None else table[column].str.strip().tolist()


def _told_otherwise(
    names: list[Name], file: int, old: str | None, new: str | None, table: pd.DataFrame,
    copy: pd.DataFrame | None,
) -> list[Name]:  # fmt: skip
    """The names of the records, those of a file by another kind of identifiers, which its copy mostly has, too."""
    known = {name[1]: k for k, name in enumerate(names) if name and name[0] == file}
    there = copy is not None and list(copy).count(new) == 1
    names = [None if name and name[0] == file else name for name in names]
    if copy is not None and (old is None or old in copy):
        both = there and copy[new].str.strip().is_unique  # otherwise by rows, as far as texts agree
        others = _identifiers(copy if both or new is None else table, new)
        for name, other in zip(_identifiers(copy, old), others, strict=False):
            if name in known:
                names[known[name]] = file, other
    return names


def _digests(tables: Sequence[pd.DataFrame], numbers: list[list[int]], column: str) -> dict[int, str]:
    """Digests of the text of a column by the numbers of the records."""
    for table in tables:
        require(table, [column])
    rows = chain(*(zip(of, table[column], strict=True) for of, table in zip(numbers, tables, strict=True)))
    return {k: blake2b(text.encode(errors="backslashreplace"), digest_size=6).hexdigest() for k, text in rows}


ROWS = ("Without identifiers a record is its row, and rows can be added at the end only; if a column has identifiers, "
        "name it by --id COLUMN, and rows may move, come and go")  # fmt: skip


def _check_gone(before: Keys, name: Name, k: int, columns: list[str | None], paths: Sequence[Path]) -> None:
    """An error unless the answers of a record whose row is gone may stay aside; `name` is what it is called now."""
    if (was := before.names[k]) is None:
        return  # it was gone already
    if name is None:
        old = before.columns[was[0]] or "''"
        raise ValueError(f"{paths[was[0]]}: record {was[1]!r} has answers, but cannot be found by the identifiers "
                         f"{columns[was[0]]!r}: use --id {old}, and others only while its row is there")  # fmt: skip
    if columns[was[0]] is None:
        raise ValueError(f"{paths[was[0]]} must still have record {int(name[1]) + 1}, which has an answer: restore it. "
                         f"{ROWS}")  # fmt: skip


def _refuse(
    name: Name, k: int, column: str, tables: Sequence[pd.DataFrame], numbers: list[list[int]],
    columns: list[str | None], paths: Sequence[Path],
) -> None:  # fmt: skip
    """Say that the text of a record with answers has changed, and what to do."""
    file = next(file for file, of in enumerate(numbers) if k in of)
    row = numbers[file].index(k)
    text = tables[file][column].iloc[row][:40]
    who = f"record {name[1]!r}" if name and columns[file] else f"the record in row {tables[file].index[row]}"
    what = "A record with another text needs another identifier" if columns[file] else ROWS
    raise ValueError(
        f"{paths[file]}: {who} has answers, but its {column!r} is now {text!r}, and was another text: "
        f"restore it. {what}; without crowder start the project goes on with its copy of the file"
    )
