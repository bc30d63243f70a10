"""The mean similarity of the fields of two records, for records in which many fields are empty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowder.similarity.counted import from_counts, shared
from crowder.similarity.texts import Records, columns, rows, tokens

__all__ = ["field_mean"]


def field_mean(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Mean Jaccard similarity of the tokens of a field, over the fields that are filled in both records.

    ``s(a, b) = (1/|F|) Σ_{f ∈ F} J(a_f, b_f)``, F the fields in which both have a token; 0 if there is none. A field
    that is empty in one of them is no evidence either way, so the mean leaves it out.

    Parameters
    ----------
    records, fields
        As in :func:`crowder.similarity.functions.jaccard_tokens`. Records given as strings have one field.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Rounded to 12 decimals, so that equal means tie whatever the order of summation.

    Raises
    ------
    TypeError, ValueError
        As :func:`crowder.similarity.functions.jaccard_tokens`.

    See Also
    --------
    crowder.similarity.jaccard_tokens : one set of tokens for all fields.
    crowder.similarity.compute : by name.

    Notes
    -----
    One sparse product for each field. All fields have the same weight: a year counts as much as a title.

    Examples
    --------
    >>> import pandas as pd
    >>> field_mean(pd.DataFrame({"title": ["On Trees", "of trees"], "year": ["1992", None]}))  # only the titles
    array([0.33333333])
    """
    compared = columns(records, fields)
    pairs = len(compared[0]) * (len(compared[0]) - 1) // 2
    total, both = np.zeros(pairs), np.zeros(pairs, np.int64)
    for texts in compared:
        sizes, common = shared(tokens(text) for text in texts)
        total += from_counts("jaccard-tokens", sizes, common)  # 0 if either is empty
        filled = sizes > 0
        for i, row in rows(len(sizes)):
            both[row] += filled[i] & filled[i + 1 :]
    return np.round(np.divide(total, both, out=np.zeros(len(both)), where=both > 0), 12)
