"""A user's own records, from a CSV file: read without guessing, or refused with the row and the column at fault.

The rules:

rows
    Counted as a spreadsheet shows them: the header is row 1, a quoted cell that runs over several lines is in one row,
    and a blank line is a row. Blank lines are passed over. The header is the first row that is not blank.
cells
    Text, kept to the character: ``007``, ``NA`` and ``null`` stay what they are. An empty or blank cell of a field is
    allowed; it holds no token, so it resembles nothing. A record all of whose fields are blank is refused.
names, identifiers, labels
    Without the white space around them. None may be blank; identifiers and names of columns may not repeat.
quotes
    As RFC 4180 has them: ``"`` around a cell, doubled inside it.

A file without a header cannot be told from one that has it: ask for its columns by name, and the error shows row 1.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from crowder import validation
from crowder.similarity.texts import NOT_TEXT

__all__ = ["read_records"]

#: How much of a cell an error quotes.
SHOWN = 40

#: No cell is too long. (The csv module knows one limit for all its readers; it is put back.)
LONGEST = 2**31 - 1

#: A cell in quotes, up to its closing one.
QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'

#: What a file starts with that was saved as "Unicode" by some programs. (UTF-32 first: it starts like UTF-16.)
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_records(
    path: str | os.PathLike,
    *,
    id: str | None = None,
    fields: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    sep: str = ",",
) -> pd.DataFrame:
    """Read records from a CSV file with a header, every value a string.

    Parameters
    ----------
    path : path
        The file.
    id : str, optional, keyword only
        Column that names the records. By default ``id``; where there is none, a record's row in the file names it.
    fields : sequence of str, optional, keyword only
        Columns to keep for comparing, in this order. By default all that are neither identifier nor label.
    label : str, optional, keyword only
        Column with the true cluster, where it is known. By default ``label``, if there is one.
    encoding : str, keyword only
        How the file was saved. A UTF-8 byte order mark is passed over.
    sep : str, keyword only
        What stands between cells: one character.

    Returns
    -------
    DataFrame, one row a record
        Columns ``id``, ``label`` (if there is one) and the fields. Functions of :mod:`crowder.similarity.functions`
        take it as it is, and compare the fields.

    Raises
    ------
    ValueError
        If the file is empty or has a header alone; a column is missing, nameless or there twice (of those that are
        used); a row has too few or too many cells; an identifier is blank or there twice, or a label blank; all fields
        of a record are blank; a quote is not closed; a character is NUL, or not in the encoding. The message names
        the row, and the column where there is one. Also for an unknown encoding or a longer separator.
    OSError
        If there is no such file, or it is a directory.

    Notes
    -----
    The rules are those of :mod:`crowder.practice.record_file`. Time and memory are proportional to the file. The
    paper's records (Section "System model") are anything a crowd can compare; here they are rows of text.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "places.csv")
    >>> text = "key,name,zip\\n007,Disney World,NA\\n008,Disneyland,\\n"
    >>> _ = Path(path).write_text(text, encoding="utf-8")
    >>> records = read_records(path, id="key")
    >>> records.values.tolist()
    [['007', 'Disney World', 'NA'], ['008', 'Disneyland', '']]
    >>> _ = Path(path).write_text(text + "007,Epcot,32830\\n", encoding="utf-8")
    >>> read_records(path, id="key")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ...places.csv: row 4, column 'key': identifier '007' is in row 2 already
    """
    _form(encoding, sep)
    validation.path(path)
    if not (fields is None or isinstance(fields, str)):
        fields = list(fields) if isinstance(fields, Iterable) else fields
        if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
            raise TypeError(f"fields must be names of columns, not {fields!r}")
    for what, name in (("id", id), ("label", label)):
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"{what} must be the name of a column, not {name!r}")
    limit = csv.field_size_limit(LONGEST)
    try:
        rows = _rows(_text(Path(path).read_bytes(), encoding, sep), sep)
        top, header = next(rows, (0, []))
        if not header:
            raise ValueError("the file is empty: it needs a header and a record")
        header = [name.strip() for name in header]
        id, label, chosen = _columns(header, top, id, fields, label, sep)
        return _records(rows, header, id, label, chosen)
    except UnicodeError as error:  # of a codec that tells no place
        raise ValueError(f"{os.fspath(path)}: not {encoding} ({error}); pass encoding=") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _form(encoding: str, sep: str) -> None:
    """Refuse what cannot be an encoding or a separator."""
    if not (isinstance(sep, str) and len(sep) == 1 and sep not in '"\r\n\0'):
        raise ValueError(f"sep must be one character, not {sep!r}")
    if not isinstance(encoding, str) or "\0" in encoding:
        raise ValueError(f"encoding must be the name of one, such as 'utf-8', not {encoding!r}")


def _records(rows: Any, header: list[str], id: str | None, label: str | None, chosen: list[str]) -> pd.DataFrame:
    place = {name: header.index(name) for name in (id, label, *chosen) if name is not None}
    seen: dict[str, int] = {}
    columns: dict[str, list[str]] = {name: [] for name in ["id", *(["label"] if label is not None else []), *chosen]}
    for row, cells in rows:
        _check_cells(row, cells, header)
        name = str(row) if id is None else cells[place[id]].strip()
        if not name:
            raise ValueError(f"row {row}, column {id!r}: the identifier is empty")
        if seen.setdefault(name, row) != row:
            raise ValueError(f"row {row}, column {id!r}: identifier {_short(name)} is in row {seen[name]} already")
        columns["id"].append(name)
        if label is not None:
            columns["label"].append(cells[place[label]].strip())
            if not columns["label"][-1]:
                raise ValueError(f"row {row}, column {label!r}: the label is empty")
        if not any(cells[place[field]].strip() for field in chosen):
            raise ValueError(f"row {row}: every field is empty ({', '.join(chosen)}); there is nothing to compare")
        for field in chosen:
            columns[field].append(cells[place[field]])
    if not seen:
        raise ValueError("there is a header, and no record below it")
    return pd.DataFrame(columns, dtype=object).astype("str")


def _columns(
    header: list[str], top: int, id: Any, fields: Any, label: Any, sep: str
) -> tuple[str | None, str | None, list[str]]:
    """Which columns are the identifier, the label and the fields; errors if they are not there, or not once."""
    there = ", ".join(map(repr, header))
    other = [mark for mark in ",;\t|" if len(header) == 1 and mark != sep and mark in header[0]]
    if other:
        raise ValueError(f"row {top} is one cell, {_short(header[0])}: are the cells separated by sep={other[0]!r}?")
    id = "id" if id is None and "id" in header else id
    label = "label" if label is None and "label" in header and "label" != id else label
    if fields is None:
        chosen = [name for name in header if name not in (id, label)]
    else:
        chosen = [fields] if isinstance(fields, str) else list(fields)
    for name in (id, label, *chosen):
        if name is not None and name not in header:
            raise ValueError(f"there is no column {name!r}; the header, row {top}, has {there}")
        if name is not None and not name:
            raise ValueError(f"row {top}: column {header.index('') + 1} has no name; give it one, or choose fields=")
        if name is not None and header.count(name) > 1:
            twice = [number for number, other in enumerate(header, 1) if other == name]
            raise ValueError(f"row {top}: columns {twice[0]} and {twice[1]} are both called {name!r}")
    if id is not None and id == label:
        raise ValueError(f"column {id!r} cannot be both identifier and label")
    if not chosen:
        raise ValueError(f"no field to compare: the header, row {top}, has {there}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"fields names a column twice: {chosen}")
    taken = [name for name in chosen if name in NOT_TEXT]
    if taken:
        raise ValueError(f"a field cannot be called {taken[0]!r}, which means something else; leave it out by fields=")
    return id, label, chosen


def _check_cells(row: int, cells: list[str], header: list[str]) -> None:
    differ = f"row {row} has {len(cells)} cell{'s'[: len(cells) > 1]}, the header {len(header)}"
    if len(cells) < len(header):
        raise ValueError(f"{differ}: column {header[len(cells)]!r} is missing")
    if len(cells) > len(header):
        raise ValueError(
            f"{differ}: {_short(cells[len(header)])} comes after the last column, {header[-1]!r}. A cell that "
            "holds the separator needs quotes"
        )


def _rows(text: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank lines, with their number in the file."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=sep, strict=True)
    header: list[str] = []
    row = 0
    while True:
        start, row = lines.tell(), row + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise ValueError(_quote(text, start, row, header, sep)) from None
        if cells:
            for number, cell in enumerate(cells, 1):
                if "\0" in cell:
                    utf16 = f"utf-16-{'be' if cell.startswith(chr(0)) else 'le'}"
                    hint = "" if header else f"; was the file saved as UTF-16? Then pass encoding={utf16!r}"
                    raise ValueError(f"row {row}, {_column(number, header)}: the character NUL{hint}")
            header = header or cells
            yield row, cells


def _quote(text: str, start: int, row: int, header: list[str], sep: str) -> str:
    """Which cell of the row that begins at `start` the reader stumbled over, and why."""
    mark = re.escape(sep)
    cell = re.compile(rf'{QUOTED}(?={mark}|\r|\n|\Z)|(?!")[^{mark}\r\n]*')
    number, at = 1, start
    while (found := cell.match(text, at)) and text[found.end() : found.end() + 1] == sep:
        number, at = number + 1, found.end() + 1
    place = f"row {row}, {_column(number, header)}"
    closed = re.compile(QUOTED).match(text, at)
    if not closed:
        return f"{place}: a quote is opened and never closed: {_short(text[at:])}"
    return (
        f"{place}: {_short(text[closed.end() :])} comes after a closing quote; a quote inside a cell is written twice"
    )


def _text(content: bytes, encoding: str, sep: str) -> str:
    """The file's text; a ValueError that tells where, if the bytes are not of this encoding."""
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    marked = next((name for mark, name in MARKS.items() if content.startswith(mark)), None)
    if plain and marked:
        raise ValueError(f"it starts with the mark of {marked.upper()}: pass encoding={marked!r}")
    try:
        return content.decode("utf-8-sig" if plain else encoding)
    except LookupError:
        raise ValueError(f"unknown encoding {encoding!r}") from None
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, errors="replace").removeprefix("\ufeff")
        rows = [*csv.reader(io.StringIO(before + "?", newline=""), delimiter=sep)]
        header = [cell.strip() for cell in next(filter(None, rows))]
        header = header if sum(map(bool, rows)) > 1 else []
        hint = "; pass encoding=, perhaps 'cp1252' or 'latin-1'" if plain else ""
        raise ValueError(
            f"row {len(rows)}, {_column(len(rows[-1]), header)}: byte 0x{content[error.start]:02x} (byte "
            f"{error.start + 1} of the file) is not {encoding}{hint}"
        ) from None


def _column(number: int, header: list[str]) -> str:
    name = header[number - 1].strip() if number <= len(header) else ""
    return f"column {name!r}" if name else f"column {number}"


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
