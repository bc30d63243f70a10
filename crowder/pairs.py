"""Candidate pairs: similarities in any of three forms, checked and converted to one.

A similarity may be a symmetric n x n array, a condensed vector in SciPy's ``pdist`` order, or a ``scipy.sparse`` matrix
whose stored entries are the only candidate pairs. In each case the pairs are listed row by row with ``i < j``, so that
a seed breaks ties in the same way in all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from crowder.compiling import compiled
from crowder.sorting import edge_sort, square_sums, sums, unpack
from crowder.validation import MOST_RECORDS

__all__ = ["Candidates", "candidates"]

#: The two stored values of a pair may differ by this much (rounding errors of the caller); the upper one is used.
SYMMETRY_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Candidates:
    """The candidate pairs of n records, checked; all pairs if `complete`."""

    n: int
    complete: bool
    _square: np.ndarray | None = None
    _values: np.ndarray | None = None
    _codes: np.ndarray | None = None

    def __deepcopy__(self, memo: dict) -> Candidates:
        return self  # nothing of it changes

    def listed(self) -> tuple[np.ndarray, np.ndarray]:
        """All candidate pairs: similarities (m,), and pairs packed as ``i << 32 | j``, i < j, ascending (m,)."""
        codes = _condensed_codes(self.n) if self._codes is None else self._codes
        if self._square is not None:
            return np.concatenate([np.empty(0), *(row[i:] for i, row in enumerate(self._square, 1))]), codes
        assert self._values is not None  # listed pairs have no square form
        return self._values, codes

    def square(self) -> np.ndarray:
        """The (n, n) array of a complete similarity; its diagonal is meaningless."""
        return self._made_square if self._square is None else self._square

    @cached_property
    def _made_square(self) -> np.ndarray:
        from scipy.spatial.distance import squareform  # half of the time of `import crowder`

        return squareform(self._values, checks=False)

    @cached_property
    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """As `crowder.sorting.edge_sort`, kept for all runs with these pairs; ties by index."""
        return edge_sort(*self.listed())

    @cached_property
    def sums(self) -> np.ndarray:
        """Each record's expected cluster size (n,), the sum of its similarities, kept for all runs with these pairs."""
        return square_sums(self.square()) if self.complete else sums(*self.listed(), self.n)


def candidates(similarity: Any) -> Candidates:
    """Check a similarity and convert its candidate pairs to one form.

    It may be symmetric (n, n), condensed (n(n-1)/2,), or sparse (n, n) with each pair stored once or twice. The
    diagonal is ignored; a stored zero is a candidate. Candidates are returned as they are: many runs with the same
    similarities check and sort them only once. A ValueError if the shape is none of these, two values of a pair differ,
    or a value is NaN or outside [0, 1].

    Time and memory are proportional to the number of candidate pairs (of a dense array, to n²); a sparse matrix whose
    pairs are not in order is sorted. The values are copied, so later changes to the caller's array do not affect a run.

    Examples
    --------
    >>> values, codes = candidates([[1.0, 0.5], [0.5, 1.0]]).listed()
    >>> values, unpack(codes)
    (array([0.5]), (array([0]), array([1])))
    """
    if isinstance(similarity, Candidates):
        return similarity
    if sparse.issparse(similarity):
        return _from_sparse(similarity)
    if np.ma.is_masked(similarity):
        raise ValueError("similarity must not have masked values; store the candidate pairs in a scipy.sparse matrix")
    try:
        array = np.asarray(similarity)
    except ValueError:
        raise ValueError("similarity must be an array, not rows of different lengths") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"similarity must hold real numbers, not dtype {array.dtype}")
    array = np.array(array, dtype=np.float64, order="C")
    if array.ndim == 1:
        n = _condensed_n(len(array))
        _check_values(array, n)
        return Candidates(n, True, _values=array)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            f"similarity must be square, a condensed vector or a scipy.sparse matrix, not of shape {array.shape}"
        )
    _check_square(array)
    return Candidates(len(array), True, _square=array)


def _condensed_n(m: int) -> int:
    n = int(np.ceil(np.sqrt(2 * m)))
    n = max(n, 1)
    if n * (n - 1) // 2 != m:
        raise ValueError(f"similarity, if condensed, must have n(n-1)/2 values for some n, not {m}")
    return n


def _check_values(values: np.ndarray, n: int) -> None:
    bad = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))  # the negation catches NaN too
    if len(bad):
        i, j = unpack(_condensed_codes(n)[bad[0]])
        raise ValueError(f"similarity of pair ({i}, {j}) is {values[bad[0]]}, not in [0, 1]")


def _check_square(array: np.ndarray) -> None:
    flat = _mirror(array, SYMMETRY_TOLERANCE)
    if flat < 0:
        return
    i, j = divmod(flat, len(array))
    for value, place in ((array[i, j], (i, j)), (array[j, i], (j, i))):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"similarity of pair {place} is {value}, not in [0, 1]")
    raise ValueError(f"similarity is not symmetric: {array[i, j]} at ({i}, {j}) but {array[j, i]} at ({j}, {i})")


def _from_sparse(matrix: Any) -> Candidates:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"similarity must be square, not of shape {matrix.shape}")
    n = matrix.shape[0]
    if n > MOST_RECORDS:
        raise ValueError(f"similarity must have at most {MOST_RECORDS} records, not {n}")
    try:
        coo = matrix.tocoo()
    except ValueError as error:
        raise ValueError(f"similarity is not a valid sparse matrix: {error}") from None
    if coo.dtype.kind not in "fiub":
        raise ValueError(f"similarity must hold real numbers, not dtype {coo.dtype}")
    row, col, values = coo.row.astype(np.int64), coo.col.astype(np.int64), np.asarray(coo.data, np.float64)
    if not row.shape == col.shape == values.shape:
        raise ValueError(
            f"similarity is not a valid sparse matrix: {len(row)} rows, {len(col)} columns and {len(values)} values"
        )
    # SciPy checks this when a matrix is created, not when it is modified.
    outside = np.flatnonzero((np.minimum(row, col) < 0) | (np.maximum(row, col) >= n))
    if len(outside):
        pair = row[outside[0]], col[outside[0]]
        raise ValueError(f"pair ({pair[0]}, {pair[1]}) must be two different records out of {n}, from 0")
    off = row != col
    row, col, values = row[off], col[off], values[off]
    bad = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
    if len(bad):
        raise ValueError(f"similarity of pair ({row[bad[0]]}, {col[bad[0]]}) is {values[bad[0]]}, not in [0, 1]")
    codes = np.minimum(row, col) << 32 | np.maximum(row, col)
    if not (np.diff(codes) > 0).all():
        order = np.lexsort((row > col, codes))  # of two values of a pair, that above the diagonal is first, and used
        codes, values = codes[order], values[order]
    again = np.diff(codes, prepend=-1) == 0
    differ = np.flatnonzero(again & (np.abs(np.diff(values, prepend=0)) > SYMMETRY_TOLERANCE))
    if len(differ):
        i, j = unpack(codes[differ[0]])
        raise ValueError(
            f"similarity is not symmetric: two values, {values[differ[0] - 1]} and {values[differ[0]]}, "
            f"are stored for pair ({i}, {j})"
        )
    return Candidates(n, False, _values=values[~again], _codes=codes[~again])


@compiled
def _mirror(array, tolerance):
    """Copy the values above the diagonal below it, where they agree; returns the position of the first fault, or -1."""
    # Block by block: reading the transpose column by column would miss the cache on every value.
    n = array.shape[0]
    block = 64
    for top in range(0, n, block):
        for left in range(top, n, block):
            for i in range(top, min(n, top + block)):
                for j in range(max(i + 1, left), min(n, left + block)):
                    x, y = array[i, j], array[j, i]
                    if not (0.0 <= x <= 1.0) or not (0.0 <= y <= 1.0) or not (abs(x - y) <= tolerance):
                        return i * n + j
                    array[j, i] = x  # otherwise reading (j, i) could give a different order from reading (i, j)
    return -1


def _condensed_codes(n: int) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *(i << 32 | np.arange(i + 1, n) for i in range(n))])
