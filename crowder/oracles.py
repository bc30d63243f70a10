"""Oracles: whoever answers "do records i and j refer to the same entity?".

An oracle is any callable ``oracle(i, j)`` that returns a boolean; the orderings ask nothing else of it.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Truth"]


class Truth:
    """The perfect oracle: it knows every record's cluster and never errs (Section "System model").

    Parameters
    ----------
    labels : array_like, shape (n,)
        The cluster of each record, as any values that can be sorted and compared.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        The same clusters, numbered 0, 1, ... in sorted order of the given values.

    Raises
    ------
    ValueError
        If `labels` is not one-dimensional or holds a NaN.

    Examples
    --------
    >>> oracle = Truth(["orlando", "orlando", "anaheim"])
    >>> oracle(0, 1), oracle(1, 2)
    (True, False)
    """

    def __init__(self, labels) -> None:
        array = np.asarray(labels)
        if array.ndim != 1:
            raise ValueError(f"labels must be one-dimensional, one a record; their shape is {array.shape}")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"label of record {int(np.flatnonzero(np.isnan(array))[0])} is NaN")
        self.labels = np.unique(array, return_inverse=True)[1].astype(np.int64)

    def __len__(self) -> int:
        return len(self.labels)

    def __call__(self, i: int, j: int) -> bool:
        return bool(self.labels[i] == self.labels[j])
