"""Candidate pairs that another program has scored, by the identifiers of one's own records; and results by them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from crowder import validation
from crowder.resolution import by_first_record
from crowder_tool.tables import TableCandidates

__all__ = ["ScoredPairs", "from_pairs"]

#: Names of columns that are recognised, the first that are there.
NAMES: dict[str, list[tuple[str, ...]]] = {
    "left, right": [("unique_id_l", "unique_id_r"), ("left", "right"), ("id1", "id2"), ("id_l", "id_r"),
                    ("left_id", "right_id"), ("ltable_id", "rtable_id")],
    "score": [("match_probability",), ("score",), ("similarity",), ("probability",)],
}  # fmt: skip

#: splink's columns of tables.
SOURCES = ("source_dataset_l", "source_dataset_r")

#: A score may miss [0, 1], or another score of the same pair, by this much: a rounding error.
SLACK = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ScoredPairs:
    """Scored candidate pairs, made by `crowder_tool.from_pairs` for `crowder_tool.ScoredOrdering`.

    Record i of an ordering is ``ids[i]``, by first appearance. `candidates` are the pairs with their tables,
    `similarity` (n, n) the scores in [0, 1] alone, `tables` the table of each record, if there are tables. Without
    tables, any ordering of `crowder` takes `similarity`.
    """

    ids: list[Any]
    candidates: TableCandidates
    similarity: Any
    tables: list[Any] | None = None

    def table(self, result: Any) -> pd.DataFrame:
        """The cluster of each identifier, from a `Resolution`, a `Resolved`, or labels (n,): columns ``id``, ``table``
        if there are tables, and ``cluster``. A ValueError if there is not one cluster for each record."""
        clusters = by_first_record(validation.labels(getattr(result, "clusters", result), len(self.ids)))
        tables = {"table": self.tables} if self.tables else {}
        return pd.DataFrame({"id": self.ids, **tables, "cluster": clusters})


def from_pairs(frame: Any, left: Hashable = None, right: Hashable = None, score: Hashable = None, *, tables: Any = None,
               one_to_one: bool = False) -> ScoredPairs:  # fmt: skip
    """Scored candidate pairs from the table of another program: for orderings, journals and audits.

    Parameters
    ----------
    frame : DataFrame or another table
        A row for each pair: of pandas, polars, pyarrow or another library with ``__arrow_c_stream__``. An index of two
        levels, as of recordlinkage, becomes the columns ``left`` and ``right``.
    left, right, score : str, optional
        The columns of two identifiers and of the score in [0, 1]. Usual names are recognised, those of splink among
        them. Identifiers may be anything hashable and stay as they are.
    tables : tuple of two columns, keyword only
        The tables of left and right. Two records of one table never match, and identifiers are unique only within a
        table.
    one_to_one : bool, keyword only
        Whether left and right are two tables of this kind, so that a record has at most one match. (splink's
        ``source_dataset_l`` and ``_r`` are then these tables; by default they only tell identifiers apart.)

    Raises
    ------
    ValueError
        If a column is not found, a value is missing, a score is not in [0, 1], or a pair has two scores, is of one
        table or of one record. Rows are counted from 0.
    TypeError
        If `frame` is not a table, or identifiers are not hashable.

    See Also
    --------
    crowder_tool.ScoredOrdering : asks about them by falling score.
    crowder_tool.nearest_pairs : candidate pairs of records, found by their texts.
    crowder_tool.LearnedOrdering : takes records, and learns how similar they are.

    Notes
    -----
    Records in no pair are left out; a pair that stands in several rows counts once. O(m log m) for m rows. What is
    known already goes into the journal (`crowder_tool.Journal.record`) or to the ordering (``learn``).

    Examples
    --------
    Predictions of splink, each record with at most one match:

    >>> from crowder_tool import ScoredOrdering
    >>> predictions = pd.DataFrame({
    ...     "match_probability": [0.95, 0.9, 0.6, 0.3], "unique_id_l": ["a1", "a2", "a1", "a2"],
    ...     "unique_id_r": ["b1", "b2", "b2", "b3"]})
    >>> pairs = from_pairs(predictions, one_to_one=True)
    >>> run = ScoredOrdering(pairs, rng=7).run(lambda i, j: pairs.ids[i][1] == pairs.ids[j][1])
    >>> [(pairs.ids[i], pairs.ids[j]) for i, j in run.queries]
    [('a1', 'b1'), ('a2', 'b2')]
    >>> print(pairs.table(run).to_string(index=False))  # b3 is not asked about: a2 has its match
    id table  cluster
    a1  left        0
    b1 right        0
    a2  left        1
    b2 right        1
    b3 right        2
    """
    frame = _frame(frame)
    sides = _columns(frame, "left, right", left, right)
    values = _scores(frame, _columns(frame, "score", score)[0])
    apart, sources = validation.flag(one_to_one, "one_to_one") or tables is not None, None
    if tables is not None:
        sources = _columns(frame, "tables", *validation.kind(tables, (tuple, list), "tables must be two columns"))
    elif sides == NAMES["left, right"][0] and set(SOURCES) <= set(frame.columns):
        sources = SOURCES
    cells = _cells(frame, sides)
    kinds = [{isinstance(name, str) for name in side} for side in cells.T]
    if sources is None and len(frame) and kinds[0].isdisjoint(kinds[1]) and not apart:
        raise ValueError(f"{sides[0]} and {sides[1]} must have identifiers of one kind, not {cells[0, 0]!r} and "
                         f"{cells[0, 1]!r}: convert one of them")  # fmt: skip
    space = np.tile(np.array(["left", "right"] if apart else [0, 0], object), len(frame))
    if sources is not None:
        space = _cells(frame, sources).ravel()
    named = pd.DataFrame({"id": cells.ravel(), "table": space}, dtype=object)
    try:
        number = named.groupby(["id", "table"], sort=False).ngroup().to_numpy(np.int64).reshape(-1, 2)
    except TypeError as error:
        raise TypeError(f"identifiers and tables must be hashable, such as text or numbers: {error}") from None
    except UnicodeEncodeError as error:
        raise ValueError(f"identifiers and tables must have whole characters, not {error.object!r}") from None
    ids, held = (column.tolist() for _, column in named.drop_duplicates().items())
    labels = pd.factorize(np.array(held, object))[0] if apart else np.arange(len(ids))
    i, j = number.T
    if len(within := np.flatnonzero(labels[i] == labels[j])):
        row, ours = within[0], apart and i[within[0]] != j[within[0]]
        what = "of two tables, as two records of one never match" if ours else "two different records"
        remedy = " or, if a table has duplicates, leave out tables= and one_to_one=" if ours else ""
        raise ValueError(f"row {row} must be {what}, not {ids[i[row]]!r} and {ids[j[row]]!r}; remove such rows{remedy}")
    codes = np.minimum(i, j) << 32 | np.maximum(i, j)
    _, kept, place = np.unique(codes, return_index=True, return_inverse=True)
    if len(differ := np.flatnonzero(np.abs(values - values[kept[place]]) > SLACK)):
        one, other = kept[place[differ[0]]], differ[0]
        raise ValueError(f"rows {one} and {other} must have one score, since both are of {ids[i[one]]!r} and "
                         f"{ids[j[one]]!r}, not two; keep one of them, such as the larger")  # fmt: skip
    similarity = sparse.coo_array((values[kept], (i[kept], j[kept])), shape=(len(ids), len(ids)))
    every = len(kept) == len(ids) * (len(ids) - 1) // 2  # then the values are in condensed order
    listed = TableCandidates.of(values[kept] if every else similarity, labels if apart else None)
    return ScoredPairs(ids, listed, similarity,
                       None if sources is None and not apart else held)  # fmt: skip


def _frame(value: Any) -> pd.DataFrame:
    """A table of any library."""
    if isinstance(value, pd.Series):
        value = value.to_frame("score")
    elif hasattr(value, "as_pandas_dataframe"):  # splink's
        value = value.as_pandas_dataframe()
    elif not isinstance(value, pd.DataFrame) and hasattr(value, "__arrow_c_stream__"):
        import pyarrow

        value = pyarrow.table(value).to_pandas()
    validation.kind(value, pd.DataFrame, "frame must be a table, such as a DataFrame (of pandas.read_csv)")
    if value.index.nlevels == 2:
        values = value.set_axis(["score"], axis=1) if value.shape[1] == 1 else value
        value = pd.concat([value.index.to_frame(False, ["left", "right"]), values.reset_index(drop=True)], axis=1)
    if not value.columns.is_unique:
        raise ValueError(f"frame must have column {value.columns[value.columns.duplicated()][0]!r} only once")
    return value


def _columns(frame: pd.DataFrame, what: str, *names: Any) -> tuple:
    """The columns of these names; if they are None, of the first usual names that are there."""
    reason = f"not {', '.join(map(repr, names))}"
    if all(name is None for name in names):
        reason = f"since none has a usual name: {' or '.join(', '.join(usual) for usual in NAMES.get(what, []))}"
        names = next((usual for usual in NAMES.get(what, []) if set(usual) <= set(frame.columns)), names)
    wanted = 1 + (what in ("left, right", "tables"))
    if len({name for name in names if isinstance(name, Hashable) and name in frame.columns}) < wanted:
        raise ValueError(f"{what} must name {wanted} of the columns {', '.join(map(repr, frame.columns))}, {reason}")
    return names


def _scores(frame: pd.DataFrame, name: Any) -> np.ndarray:
    """A column as similarities in [0, 1]."""
    column = frame[name]
    if column.dtype.kind in "cO":  # an imaginary part would be dropped, and a float has no room for 10**400
        column = column.map(lambda value: np.nan if isinstance(value, (complex, np.complexfloating)) or (
            isinstance(value, int) and not 0 <= value <= 1) else value)  # fmt: skip
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~((values >= -SLACK) & (values <= 1 + SLACK)))  # NaN, too
    if len(wrong):
        found = frame[name].iloc[wrong[0]]
        raise ValueError(f"score in row {wrong[0]} must be in [0, 1], not {found}; pass probabilities (of splink, "
                         "match_probability), rescale, or turn distances d into 1 / (1 + d)")  # fmt: skip
    return np.clip(values, 0.0, 1.0)


def _cells(frame: pd.DataFrame, columns: tuple) -> np.ndarray:
    """Two columns side by side, as they are."""
    cells = np.empty((len(frame), 2), object)
    for side, name in enumerate(columns):
        if len(absent := np.flatnonzero(frame[name].isna())):
            raise ValueError(f"column {name!r} must have no missing value, as in row {absent[0]}; fill it in")
        cells[:, side] = frame[name].to_numpy(object)
    return cells
