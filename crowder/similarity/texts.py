"""Records as text, and sums over all pairs of them: helpers shared by the similarity functions.

The rules for text, tokens and characters are stated in :mod:`crowder.similarity.functions` and implemented here.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Records", "characters", "columns", "distinct", "expand", "incidence", "products", "qgrams", "rows", "texts",
    "tokens",
]  # fmt: skip

Records: TypeAlias = "pd.DataFrame | Sequence[str]"

#: Columns that identify the record or its entity; compared only if they are named explicitly.
NOT_TEXT = ("id", "label")

#: Rows multiplied at once, so that the dense block of products stays small whatever the number of records.
BLOCK = 512


def texts(records: Records, fields: Sequence[str] | None = None) -> list[str]:
    """The lower-case text of each record: its fields joined by a space.

    Examples
    --------
    >>> import pandas as pd
    >>> texts(pd.DataFrame({"id": ["7"], "title": ["On Trees"], "year": [None]}))
    ['on trees ']
    """
    return [" ".join(row) for row in zip(*columns(records, fields), strict=True)]


def columns(records: Records, fields: Sequence[str] | None = None) -> list[list[str]]:
    """For each field, the lower-case texts of all records; records given as strings have one field.

    Examples
    --------
    >>> import pandas as pd
    >>> columns(pd.DataFrame({"id": ["7"], "title": ["On Trees"], "year": [None]}))
    [['on trees'], ['']]
    """
    import pandas as pd

    if isinstance(records, pd.DataFrame):
        return [[_cell(value, name).lower() for value in records[name]] for name in _field_names(records, fields)]
    if fields is not None:
        raise ValueError("fields must be omitted unless records is a DataFrame")
    if isinstance(records, (str, bytes)):
        raise TypeError("records must be a sequence of texts, not one text")
    if isinstance(records, (Mapping, Set)) or not isinstance(records, Iterable):
        raise TypeError(f"records must be a DataFrame or a sequence of texts, not {records!r}")
    return [[_cell(record, "record").lower() for record in records]]


def _field_names(records: pd.DataFrame, fields: Sequence[str] | None) -> list[str]:
    if fields is None:
        names = [name for name in records.columns if name not in NOT_TEXT]
    else:
        if not isinstance(fields, Iterable):
            raise TypeError(f"fields must be names of columns, not {fields!r}")
        names = [fields] if isinstance(fields, str) else list(fields)
        if not all(isinstance(name, Hashable) for name in names):
            raise TypeError(f"fields must be names of columns, not {fields!r}")
    if not names:
        raise ValueError("fields must name at least one column to compare")
    absent = [name for name in names if name not in records.columns]
    if absent:
        raise ValueError(f"fields must be columns of the records, {list(records.columns)}, not {absent}")
    for name in names:
        if names.count(name) > 1 or list(records.columns).count(name) > 1:
            raise ValueError(f"column {name!r} must not be repeated")
    return names


def _cell(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    raise TypeError(f"{name!r} must be text, not {value!r}; read the records with dtype=str")


def tokens(text: str) -> list[str]:
    """The runs of word characters, in order, with repetitions."""
    return re.findall(r"\w+", text)


def characters(text: str) -> str:
    """The text with each run of white space replaced by one space, and none at the ends."""
    return " ".join(text.split())


def qgrams(text: str, q: int) -> list[str]:
    """The q-grams of the text; a shorter text is its own only q-gram, an empty one has none."""
    text = characters(text)
    return [text[i : i + q] for i in range(max(len(text) - q, 0) + 1)] if text else []


def incidence(bags: Iterable[Iterable[str]]) -> sparse.csr_array:
    """The (records, terms) matrix of term counts, int32; terms in order of first appearance."""
    vocabulary: dict[str, int] = {}
    columns: list[int] = []
    starts = [0]
    for bag in bags:
        columns.extend(vocabulary.setdefault(term, len(vocabulary)) for term in bag)
        starts.append(len(columns))
    matrix = sparse.csr_array(
        (np.ones(len(columns), np.int32), np.array(columns, np.int32), np.array(starts, np.int32)),
        shape=(len(starts) - 1, len(vocabulary)),
    )
    matrix.sum_duplicates()
    return matrix


def products(matrix: sparse.csr_array) -> np.ndarray:
    """The condensed inner products of the rows of a sparse matrix."""
    n = matrix.shape[0]
    result = np.empty(n * (n - 1) // 2, matrix.dtype)
    slices = rows(n)
    for top in range(0, n, BLOCK):
        block = (matrix[top : top + BLOCK] @ matrix[top:].T).toarray()
        for k, (_, row) in zip(range(len(block)), slices, strict=False):
            result[row] = block[k, k + 1 :]
    return result


def rows(n: int) -> Iterator[tuple[int, slice]]:
    """For each record i, the position of the pairs (i, i+1), ..., (i, n-1) in a condensed vector."""
    start = 0
    for i in range(n):
        yield i, slice(start, start + n - 1 - i)
        start += n - 1 - i


def distinct(values: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The distinct texts, sorted, and the index of each record's text among them."""
    different = sorted(set(values))
    place = {value: k for k, value in enumerate(different)}
    return different, np.array([place[value] for value in values], dtype=np.intp)


def expand(square: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The condensed values of records, given the values of their groups (diagonal: within the group)."""
    n = len(group)
    result = np.empty(n * (n - 1) // 2, square.dtype)
    for i, row in rows(n):
        result[row] = square[group[i]][group[i + 1 :]]
    return result
