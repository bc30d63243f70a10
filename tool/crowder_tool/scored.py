"""Candidate pairs that another program has scored, by the identifiers of one's own records; and results by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowder import checks
from crowder.orderings import EdgeOrdering, Ordering
from crowder.resolution import by_first_record
from crowder.similarity import groups
from crowder_tool.candidates import TableCandidates
from crowder_tool.orderings import TableOrdering

__all__ = ["ScoredOrdering", "ScoredPairs", "from_pairs"]

#: The columns of the two identifiers, of the score, and of the tables: of each, the first that are there.
IDENTIFIERS = (("unique_id_l", "unique_id_r"), ("left", "right"), ("id1", "id2"), ("id_l", "id_r"),
               ("left_id", "right_id"), ("ltable_id", "rtable_id"))  # fmt: skip
SCORES = (("match_probability",), ("score",), ("similarity",), ("probability",))
SOURCES = ("source_dataset_l", "source_dataset_r")

#: A score may miss [0, 1], or another score of the same pair, by this much: a rounding error.
SLACK = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ScoredPairs:
    """Scored candidate pairs, made by `crowder_tool.from_pairs` for `crowder_tool.ScoredOrdering`.

    Record i of an ordering is ``ids[i]``, by first appearance. `candidates` are the pairs with their scores and tables;
    every ordering takes them as its similarity. `tables` are the names of the table of each record, if there are any.
    """

    ids: list[Any]
    candidates: TableCandidates
    tables: list[Any] | None = None

    def table(self, result: Any) -> pd.DataFrame:
        """The cluster of each identifier, from a `Resolution`, a `Resolved`, or labels (n,): columns ``id``, ``table``
        if there are tables, and ``cluster``. A ValueError if there is not one cluster for each record."""
        clusters = by_first_record(checks.labels(getattr(result, "clusters", result), len(self.ids)))
        tables = {"table": self.tables} if self.tables else {}
        return pd.DataFrame({"id": self.ids, **tables, "cluster": clusters})


def from_pairs(frame: pd.DataFrame, *, one_to_one: bool = False) -> ScoredPairs:
    """Scored candidate pairs from the table of another program: for orderings, journals and audits.

    Parameters
    ----------
    frame : DataFrame
        A row for each pair, with columns ``left``, ``right`` and ``score``, or those of splink (see the example): two
        identifiers, which may be anything hashable, and a score in [0, 1]. If there are columns ``source_dataset_l``
        and ``source_dataset_r``, identifiers are unique only within such a table.
    one_to_one : bool, keyword only
        Whether two records of one table never match, so that a record has at most one match in each other table. Where
        no columns name the tables, they are left and right.

    Raises
    ------
    ValueError
        If a column is not found, a value is missing, a score is not in [0, 1], or a pair has two scores, is of one
        table or of one record. Rows are counted from 0.
    TypeError
        If `frame` is not a DataFrame, or identifiers are not hashable.

    See Also
    --------
    crowder_tool.ScoredOrdering : asks about them in decreasing order of score.
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
    >>> [(pairs.ids[i], pairs.ids[j]) for i, j in run.queries]  # the second tries out that a1 has one match only
    [('a1', 'b1'), ('a1', 'b2'), ('a2', 'b2')]
    >>> print(pairs.table(run).to_string(index=False))  # b3 is not asked about: a2 has its match
    id table  cluster
    a1  left        0
    b1 right        0
    a2  left        1
    b2 right        1
    b3 right        2
    """
    checks.kind(frame, pd.DataFrame, "frame must be a DataFrame, as of pandas.read_csv")
    checks.flag(one_to_one, "one_to_one")
    sides, (score,) = _columns(frame, IDENTIFIERS), _columns(frame, SCORES)
    values, cells = _scores(frame[score]), _cells(frame, sides)
    sources = {*SOURCES} <= {*frame.columns}
    spaces = _cells(frame, SOURCES) if sources else np.full(cells.shape, ["left", "right"] if one_to_one else "", "O")
    kinds = [{isinstance(name, str) for name in side} for side in cells.T]
    if not (sources or one_to_one) and len(frame) and kinds[0].isdisjoint(kinds[1]):
        raise ValueError(f"{sides[0]} and {sides[1]} must have identifiers of one kind, not {cells[0, 0]!r} and "
                         f"{cells[0, 1]!r}: convert one of them")  # fmt: skip
    first, number = groups(zip(cells.ravel(), spaces.ravel(), strict=True))
    ids, tables = cells.ravel()[first].tolist(), spaces.ravel()[first].tolist()
    label = groups(tables)[1] if one_to_one else np.arange(len(ids))
    i, j = number.reshape(-1, 2).T
    if len(within := np.flatnonzero(label[i] == label[j])):
        what = "of two tables, as two records of one never match" if one_to_one else "two different records"
        remedy = " or, if a table has duplicates, leave out one_to_one=" if one_to_one else ""
        one, other = cells[within[0]]
        raise ValueError(f"row {within[0]} must be {what}, not {one!r} and {other!r}; remove such rows{remedy}")
    codes = np.minimum(i, j) << 32 | np.maximum(i, j)
    codes, kept, place = np.unique(codes, return_index=True, return_inverse=True)
    if len(differ := np.flatnonzero(np.abs(values - values[kept[place]]) > SLACK)):
        one, other = kept[place[differ[0]]], differ[0]
        raise ValueError(f"rows {one} and {other} must have one score, since both are of {cells[one, 0]!r} and "
                         f"{cells[one, 1]!r}, not two; keep one of them, such as the larger")  # fmt: skip
    every = 2 * len(codes) == len(ids) * (len(ids) - 1)
    pairs = TableCandidates(len(ids), every, None, values[kept], codes, label if one_to_one else None)
    return ScoredPairs(ids, pairs, tables if sources or one_to_one else None)


class ScoredOrdering(TableOrdering, EdgeOrdering):
    """Edge ordering of scored pairs: by falling score, unless earlier answers or the tables imply the answer.

    Where two records of one table never match, a question in thirty tries that out: it is about the most similar pair
    that a match excludes. Pairs that are answered *same* all the same are in `duplicates`.

    Parameters
    ----------
    pairs : ScoredPairs, NearestPairs or a similarity
        As of `crowder_tool.from_pairs` or `crowder_tool.nearest_pairs`, or as for `crowder.EdgeOrdering`.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties.

    See Also
    --------
    crowder_tool.LearnedOrdering : its similarity is learned.

    Examples
    --------
    Of two records on each side, two matches settle all four pairs; the third question tries out the condition:

    >>> import pandas as pd
    >>> from crowder_tool import from_pairs
    >>> scores = pd.DataFrame({"left": [1, 1, 2, 2], "right": [1, 2, 1, 2], "score": [0.9, 0.2, 0.3, 0.8]})
    >>> pairs = from_pairs(scores, one_to_one=True)
    >>> ScoredOrdering(pairs, rng=7).run(lambda i, j: pairs.ids[i] == pairs.ids[j]).n_queries
    3
    """

    def __init__(self, pairs: Any, *, rng: Any) -> None:
        super().__init__(getattr(pairs, "candidates", pairs), rng=rng)

    def next_question(self) -> tuple[int, int] | None:
        if due := self._runners_due(1):
            return due[0]
        while (pair := super().next_question()) is not None and pair[0] << 32 | pair[1] in self._unsure:
            self._walk.at[0] += 1
        return pair

    _run = Ordering._run  # the compiled loop knows of no tables


def _columns(frame: pd.DataFrame, usual: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first of the usual names that are columns."""
    found = next((names for names in usual if {*names} <= {*frame.columns}), None)
    if found is None:
        wanted = " or ".join(", ".join(names) for names in usual)
        raise ValueError(f"frame must have the columns {wanted}, not {', '.join(map(repr, frame))}; rename yours")
    return found


def _scores(column: pd.Series) -> np.ndarray:
    """A column as similarities in [0, 1]."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(na_value=np.nan)
    if numbers.dtype.kind == "c":  # NumPy would drop what is imaginary
        numbers = np.where(column.map(np.iscomplexobj), np.nan, numbers.real)
    values = numbers.astype(np.float64)
    wrong = np.flatnonzero(~((values >= -SLACK) & (values <= 1 + SLACK)))  # also NaN
    if len(wrong):
        raise ValueError(f"score in row {wrong[0]} must be in [0, 1], not {column.iloc[wrong[0]]}; pass probabilities "
                         "(of splink, match_probability), rescale, or turn distances d into 1 / (1 + d)")  # fmt: skip
    return np.clip(values, 0.0, 1.0)


def _cells(frame: pd.DataFrame, columns: tuple[str, ...]) -> np.ndarray:
    """Two columns side by side, as they are."""
    for name in columns:
        if len(absent := np.flatnonzero(frame[name].isna())):
            raise ValueError(f"column {name!r} must have no missing value, as in row {absent[0]}; fill it in")
    return frame[[*columns]].to_numpy(object)
