"""The mean similarity of the fields of two records, for records cut into fields of which many are empty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowder.data.counted import from_counts, shared
from crowder.data.texts import Records, columns, rows, tokens

__all__ = ["field_mean"]


def field_mean(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Mean over the fields that both records fill of the Jaccard similarity of the tokens there.

    s(a, b) = (1/|F|) Σ_{f ∈ F} J(a_f, b_f), F the fields in which both have a token; 0 if there is none. A field that
    one of them leaves empty says neither that they are the same nor that they are not, so it has no part in the mean.

    Parameters
    ----------
    records, fields
        As in :func:`crowder.data.similarity.jaccard_tokens`. Records that are texts have one field.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Rounded to 12 decimals: means that are equal then tie whatever the order their terms were added in.

    Raises
    ------
    TypeError, ValueError
        As :func:`crowder.data.similarity.jaccard_tokens`.

    Notes
    -----
    One sparse product a field. Every field weighs the same: a year as much as a title.

    Examples
    --------
    >>> import pandas as pd
    >>> field_mean(pd.DataFrame({"title": ["On Trees", "of trees"], "year": ["1992", None]}))  # the titles alone
    array([0.33333333])
    """
    total = both = None
    for texts in columns(records, fields):
        sizes, common = shared(tokens(text) for text in texts)
        if total is None:
            total, both = np.zeros(len(common)), np.zeros(len(common), np.int64)
        total += from_counts("jaccard-tokens", sizes, common)  # 0 where one is empty
        filled = sizes > 0
        for i, row in rows(len(sizes)):
            both[row] += filled[i] & filled[i + 1 :]
    return np.round(np.divide(total, both, out=np.zeros(len(both)), where=both > 0), 12)
