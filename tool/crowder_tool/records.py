"""Records from a CSV file. Nothing is guessed: a file that does not follow the rules is rejected, with row and column.

The rules:

rows
    Counted as in a spreadsheet: a quoted cell with line breaks is in one row, and blank lines count, but are skipped.
    The header is the first row that is not blank.
cells
    Text, unchanged: ``007``, ``NA`` and ``null`` stay as they are. A field may be blank; it is then similar to none.
    Quotes are those of RFC 4180: ``"`` around a cell, doubled inside it.
names, identifiers, labels
    White space around them is removed. None may be blank; identifiers and column names must be unique.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from crowder import checks
from crowder.similarity import NOT_TEXT

__all__ = ["as_records", "encodable", "naming", "read_records", "require", "rows_of"]

#: Number of characters of a cell that an error message shows, and most characters of a cell. (The csv module has one
#: limit for all readers; it is restored afterwards.)
SHOWN, LONGEST = 40, 2**31 - 1

#: The separators that are looked for, and the beginnings of files of spreadsheet programs, new and old.
SEPARATORS, SPREADSHEETS = ",;\t|", (b"PK\3\4", b"\xd0\xcf\x11\xe0")


def read_records(
    path: str | os.PathLike[str],
    *,
    id: str | None = None,
    fields: Sequence[str] | None = None,
    encoding: str = "utf-8",
    sep: str | None = ",",
) -> pd.DataFrame:
    """Read records from a CSV file with a header, all values as strings.

    Parameters
    ----------
    path : path
        The file.
    id : str, optional, keyword only
        The column with the identifiers of the records: by default ``id``, if there is one, or else the row numbers.
    fields : sequence of str, optional, keyword only
        Columns to compare, in this order. By default all but ``label``, which has the true clusters if it is there.
    encoding : str, keyword only
        Encoding of the file. A UTF-8 byte order mark is skipped.
    sep : str, optional, keyword only
        Separator of the cells, one character. None takes the one of comma, semicolon, tab and ``|`` that is most
        frequent in the first line.

    Returns
    -------
    DataFrame, one row for each record
        Columns ``id``, ``label`` (if there is one) and the fields, as :mod:`crowder.similarity` accepts them.

    Raises
    ------
    ValueError
        If the file does not follow the rules of :mod:`crowder_tool.records`, a column that is used is missing,
        or `encoding` or `sep` is invalid. The message names the row and, if possible, the column.

    See Also
    --------
    crowder_tool.LearnedOrdering : chooses the questions about these records.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "places.csv")
    >>> _ = path.write_text("key,name,zip\\n007,Disney World,NA\\n008,Disneyland,\\n")
    >>> read_records(path, id="key").values.tolist()
    [['007', 'Disney World', 'NA'], ['008', 'Disneyland', '']]
    """
    checks.kind(id, (str, type(None)), "id must be the name of a column")
    if fields is not None:
        kinds = "fields must be names of columns"
        fields = [fields] if isinstance(fields, str) else list(checks.kind(fields, Iterable, kinds))
        fields = [checks.kind(name, str, kinds) for name in fields]
    with naming(path):
        return as_records(rows_of(Path(checks.path(path)).read_bytes(), encoding, sep), id, fields)


def as_records(table: pd.DataFrame, id: str | None, fields: Sequence[str] | None) -> pd.DataFrame:
    """The records in the rows of a file, as `read_records` returns them."""
    id = "id" if id is None and "id" in table else id
    named = {"id": id} | ({"label": "label"} if "label" in table and id != "label" else {})
    chosen = [name for name in table if name not in named.values()] if fields is None else fields
    require(table, [name for name in (*named.values(), *chosen) if name is not None])
    if not chosen or len({*NOT_TEXT, *chosen}) < len(NOT_TEXT) + len(chosen):
        raise ValueError(f"fields must be different columns of {', '.join(map(repr, table))}, but not the "
                         f"identifiers, nor called {' or '.join(NOT_TEXT)}; choose with fields=")  # fmt: skip
    numbers = table.index.astype(str).to_series(table.index)
    made = {name: numbers if column is None else table[column].str.strip() for name, column in named.items()}
    for name, values in made.items():
        if (values == "").any():
            raise ValueError(f"row {(values == '').idxmax()}, column {named[name]!r}: it must not be empty")
    if (again := made["id"].duplicated()).any():
        name, row = made["id"][again.idxmax()], again.idxmax()
        also = f"{name[:SHOWN]!r} is also in row {(made['id'] == name).idxmax()}"
        raise ValueError(f"row {row}, column {id!r}: identifiers must be unique, but {also}")
    if table.empty:
        raise ValueError("the file must have records below its header")
    return pd.DataFrame(made | {name: table[name] for name in chosen}).reset_index(drop=True)


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """A ValueError inside names the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def require(table: pd.DataFrame, names: Iterable[str]) -> None:
    """A ValueError unless the table has each of these columns once."""
    header = list(table)
    for name in names:
        if name not in header:
            raise ValueError(f"column {name!r} must be in the header, which has {', '.join(map(repr, header))}; "
                             "if it has another name there, rename it in the file")  # fmt: skip
        if not name or header.count(name) > 1:
            twice = [number for number, other in enumerate(header, 1) if other == name]
            raise ValueError(f"columns must have distinct names, but {twice} are called {name!r}; "
                             "choose others with fields=")  # fmt: skip


def rows_of(content: bytes, encoding: str, sep: str | None) -> pd.DataFrame:
    """The rows of a CSV file below its header that are not blank, as text, by their numbers in the file.

    Without a separator, the one that is most frequent in the first line is taken.
    """
    if sep is not None and not (isinstance(sep, str) and len(sep) == 1 and sep not in '"\r\n\0'):
        raise ValueError(f"sep must be one character (no quote, line break or NUL), not {sep!r}")
    text = _text(content, encoding)
    found = max(SEPARATORS, key=re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0].count)
    limit, number, rows = csv.field_size_limit(LONGEST), 0, list[tuple[int, list[str]]]()
    try:
        for number, cells in enumerate(
            csv.reader(io.StringIO(text, newline=""), delimiter=sep or found, strict=True), 1
        ):
            rows += [(number, cells)] * bool(cells)
    except csv.Error:
        raise ValueError(
            f"row {number + 1}: a quoted cell must end with its quote and be followed by a separator or a line break; "
            "a quote inside it must be doubled"
        ) from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise ValueError("the file must have a header and rows, but it is empty")
    header = [name.strip() for name in rows[0][1]]
    if len(header) == 1 and sep != found and found in header[0]:
        raise ValueError(f"the header has only one cell, {header[0][:SHOWN]!r}; perhaps pass sep={found!r}")
    for row, cells in rows[1:]:
        if len(cells) != len(header):
            raise ValueError(
                f"row {row} has {len(cells)} cells, but the header has {len(header)}, and the last of them is "
                f"{cells[-1][:SHOWN]!r}. A cell that contains the separator must be quoted"
            )
    return pd.DataFrame([cells for _, cells in rows[1:]], [row for row, _ in rows[1:]], header, dtype="str")


def _text(content: bytes, encoding: str) -> str:
    """The decoded file; a ValueError with the line if the bytes are not valid in this encoding."""
    if content.startswith(SPREADSHEETS):
        raise ValueError("the file must be text, not a spreadsheet (.xlsx or .xls); save it as CSV (UTF-8), pass that")
    plain = str(encoding).lower().replace("_", "-") in ("utf-8", "utf8")
    try:
        text = content.decode("utf-8-sig" if plain else encoding)
    except (LookupError, TypeError):
        raise ValueError(f"encoding must be one that Python knows, not {encoding!r}") from None
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        line = _lines(content[:place].decode(encoding, errors="replace"))
        hint = "; pass encoding=, perhaps 'cp1252', 'latin-1' or 'utf-16'" if plain else ""
        raise ValueError(
            f"line {line}: byte 0x{content[place]:02x} (byte {place + 1} of the file) is not valid {encoding}{hint}"
        ) from None
    if odd := re.search("[\0\ud800-\udfff]", text):
        utf16 = "NUL; if it is in UTF-16, pass encoding='utf-16-le'"
        what = utf16 if odd[0] == "\0" else f"half a character, {odd[0]!r}"
        raise ValueError(f"line {_lines(text[: odd.start()])}: a cell must not contain {what}")
    return text


def _lines(text: str) -> int:
    """The number of lines, with each of the three kinds of line ends."""
    return 1 + len(re.findall(r"\r\n?|\n", text))


def encodable(text: str) -> str:
    """The text, with lone surrogates, which names of files may have, written as escapes."""
    return text.encode(errors="backslashreplace").decode()
