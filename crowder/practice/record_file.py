"""Records from a CSV file. Nothing is guessed: a file that does not follow the rules is rejected, with row and column.

The rules:

rows
    Counted as in a spreadsheet: the header is row 1, a quoted cell with line breaks is in one row, and blank lines
    count. Blank lines are skipped. The header is the first row that is not blank.
cells
    Text, unchanged: ``007``, ``NA`` and ``null`` stay as they are. A field may be empty or blank; it then has no tokens
    and is not similar to any other, and a record whose fields are all blank is similar to none.
names, identifiers, labels
    White space around them is removed. None may be blank; identifiers and column names must be unique.
quotes
    As in RFC 4180: ``"`` around a cell, doubled inside it.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from crowder import validation
from crowder.similarity import NOT_TEXT

__all__ = ["check_row", "columns_of", "open_table", "read_records"]

#: Number of characters of a cell that an error message shows, and most characters of a cell. (The csv module has one
#: limit for all readers; it is restored afterwards.)
SHOWN, LONGEST = 40, 2**31 - 1

#: The separators that are looked for, and the beginnings of files of spreadsheet programs, new and old.
SEPARATORS, SPREADSHEETS = ",;\t|", (b"PK\3\4", b"\xd0\xcf\x11\xe0")


def read_records(
    path: str | os.PathLike,
    *,
    id: str | None = None,
    fields: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    sep: str | None = ",",
) -> pd.DataFrame:
    """Read records from a CSV file with a header, all values as strings.

    Parameters
    ----------
    path : path
        The file.
    id : str, optional, keyword only
        Column with the identifiers of the records. By default ``id``; without such a column, a record's row number in
        the file identifies it.
    fields : sequence of str, optional, keyword only
        Columns to compare, in this order. By default all except identifier and label.
    label : str, optional, keyword only
        Column with the true clusters, if they are known. By default ``label``, if there is such a column.
    encoding : str, keyword only
        Encoding of the file. A UTF-8 byte order mark is skipped.
    sep : str, optional, keyword only
        Separator of the cells: one character, or the two characters ``\\t`` for a tab. None takes the one of comma,
        semicolon, tab and ``|`` that is most frequent in the first line.

    Returns
    -------
    DataFrame, one row for each record
        Columns ``id``, ``label`` (if there is one) and the fields. The functions of
        :mod:`crowder.similarity` accept it, and compare the fields.

    Raises
    ------
    ValueError
        If the file does not follow the rules of :mod:`crowder.practice.record_file`, a column that is used is missing,
        or `encoding` or `sep` is invalid. The message names the row and, if possible, the column.
    OSError
        If there is no such file, or it is a directory.

    See Also
    --------
    crowder.practice.LearnedOrdering : chooses the questions about these records.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "places.csv")
    >>> _ = path.write_text("key,name,zip\\n007,Disney World,NA\\n008,Disneyland,\\n")
    >>> read_records(path, id="key").values.tolist()
    [['007', 'Disney World', 'NA'], ['008', 'Disneyland', '']]
    >>> _ = path.write_text("key,name,zip\\n007,Disney World,NA\\n008,Disneyland,\\n007,Epcot,32830\\n")
    >>> read_records(path, id="key")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ...places.csv: row 4, column 'key': identifiers must be unique, but '007' is also in row 2
    """
    for what, name in (("id", id), ("label", label)):
        validation.kind(name, (str, type(None)), f"{what} must be the name of a column")
    if fields is not None:
        fields = [fields] if isinstance(fields, str) else validation.kind(fields, Iterable, "fields must be names")
        fields = [validation.kind(name, str, "fields must be names of columns") for name in fields]
    with open_table(path, encoding, sep) as (top, header, lines):
        return _records(lines, header, *columns_of(header, top, id, fields, label, sep))


@contextmanager
def open_table(
    path: str | os.PathLike, encoding: str, sep: str | None
) -> Iterator[tuple[int, list[str], Iterator[tuple[int, list[str]]]]]:
    """The header of a CSV file, with its row number, and an iterator over the rows below, each with its number.

    Without a separator, the one in the first line is taken. A ValueError, also one that is raised inside the ``with``
    block, is raised again with the name of the file.
    """
    sep = "\t" if sep == r"\t" else sep
    if sep is not None and not (isinstance(sep, str) and len(sep) == 1 and sep not in '"\r\n\0'):
        raise ValueError(f"sep must be one character (no quote, line break or NUL), not {sep!r}")
    if not isinstance(encoding, str) or "\0" in encoding:
        raise ValueError(f"encoding must be the name of an encoding, such as 'utf-8', not {encoding!r}")
    path = validation.path(path)
    limit = csv.field_size_limit(LONGEST)
    try:
        text = _text(Path(path).read_bytes(), encoding)
        line = text.lstrip("\r\n").partition("\n")[0]
        rows = _rows(text, sep or max(SEPARATORS, key=line.count))
        top, header = next(rows, (0, []))
        if not header:
            raise ValueError("the file must have a header and rows, but it is empty")
        yield top, [name.strip() for name in header], rows
    except UnicodeError as error:  # of a codec that does not give the position
        raise ValueError(f"{path}: the file is not valid {encoding} ({error}); pass encoding=") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _records(rows: Any, header: list[str], id: str | None, label: str | None, chosen: list[str]) -> pd.DataFrame:
    places = [header.index(name) for name in chosen]
    seen: dict[str, int] = {}
    records = []
    for row, cells in rows:
        check_row(row, cells, header)
        where = f"row {row}, column"
        name = str(row) if id is None else cells[header.index(id)].strip()
        if not name:
            raise ValueError(f"{where} {id!r}: the identifier must not be empty")
        if seen.setdefault(name, row) != row:
            again = f"{_short(name)} is also in row {seen[name]}"
            raise ValueError(f"{where} {id!r}: identifiers must be unique, but {again}")
        labels = [] if label is None else [cells[header.index(label)].strip()]
        if labels == [""]:
            raise ValueError(f"{where} {label!r}: the label must not be empty")
        records.append([name, *labels, *(cells[place] for place in places)])
    if not records:
        raise ValueError("the file must have records below its header")
    names = ["id", *([] if label is None else ["label"]), *chosen]
    return pd.DataFrame(records, columns=names, dtype=object).astype("str")


def columns_of(
    header: list[str], top: int, id: Any, fields: Any, label: Any, sep: str | None
) -> tuple[str | None, str | None, list[str]]:
    """The columns of identifier, label and fields; a ValueError unless the header (row `top`) has each of them once."""
    names = ", ".join(map(repr, header))
    other = [mark for mark in SEPARATORS if len(header) == 1 and mark != sep and mark in header[0]]
    if other:
        raise ValueError(f"row {top} has only one cell, {_short(header[0])}; perhaps pass sep={other[0]!r}")
    id = "id" if id is None and "id" in header else id
    label = "label" if label is None and "label" in header and "label" != id else label
    chosen = [name for name in header if name not in (id, label)] if fields is None else fields
    for name in [name for name in (id, label, *chosen) if name is not None]:
        if name not in header:
            raise ValueError(f"column {name!r} must be in the header, row {top}, which has {names}")
        if not name:
            raise ValueError(f"row {top}: column {header.index('') + 1} must have a name, or be left out with fields=")
        if header.count(name) > 1:
            twice = [number for number, other in enumerate(header, 1) if other == name]
            raise ValueError(f"row {top}: names must be unique, but columns {twice[0]} and {twice[1]} are {name!r}")
    if id is not None and id == label:
        raise ValueError(f"id and label must be different columns, not both {id!r}")
    if not chosen:
        raise ValueError(f"fields must not be empty: the header, row {top}, has {names}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"fields must be different columns, not {chosen}")
    for name in set(chosen) & set(NOT_TEXT):
        raise ValueError(f"fields must not contain the reserved name {name!r}; leave it out with fields=")
    return id, label, chosen


def check_row(row: int, cells: list[str], header: list[str]) -> None:
    """Raise a ValueError unless the row has as many cells as the header."""
    if len(cells) == len(header):
        return
    counts = f"row {row} has {len(cells)} cell{'s'[: len(cells) > 1]}, but the header has {len(header)}"
    if len(cells) < len(header):
        raise ValueError(f"{counts}: column {header[len(cells)]!r} is missing")
    beyond = f"{_short(cells[len(header)])} follows the last column, {header[-1]!r}"
    raise ValueError(f"{counts}: {beyond}. A cell that contains the separator must be quoted")


def _rows(text: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with their numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    for row in itertools.count(1):
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise ValueError(
                f"row {row}: a quoted cell must end with its quote and be followed by a separator or a line break; a "
                "quote inside it must be doubled"
            ) from None
        if cells:
            yield row, cells


def _text(content: bytes, encoding: str) -> str:
    """The decoded file; a ValueError with the line if the bytes are not valid in this encoding."""
    if content.startswith(SPREADSHEETS):
        raise ValueError("the file must be text, not a spreadsheet (.xlsx or .xls); save it as CSV (UTF-8), pass that")
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    try:
        text = content.decode("utf-8-sig" if plain else encoding)
    except LookupError:
        raise ValueError(f"encoding must be one that Python knows, not {encoding!r}") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, errors="replace").count("\n") + 1
        hint = "; pass encoding=, perhaps 'cp1252', 'latin-1' or 'utf-16'" if plain else ""
        raise ValueError(
            f"line {line}: byte 0x{content[error.start]:02x} (byte {error.start + 1} of the file) is not valid "
            f"{encoding}{hint}"
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"line {line}: a cell must not contain NUL; if it is in UTF-16, pass encoding='utf-16-le'")
    return text


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
