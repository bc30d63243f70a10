"""Similarities that are ratios of whole numbers.

Three of the functions in :mod:`crowder.similarity.functions` are of this kind: the two Jaccard similarities and
Levenshtein. The counts themselves are exact and small, and the shipped values need to store nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from crowder.similarity.texts import (
    Records,
    characters,
    distinct,
    expand,
    incidence,
    products,
    qgrams,
    rows,
    texts,
    tokens,
)

__all__ = ["COUNTED", "counts", "from_counts", "shared"]


def shared(bags: Iterable[Iterable[str]]) -> tuple[np.ndarray, np.ndarray]:
    """The size of each bag taken as a set, and for each pair of sets the size of their intersection.

    Examples
    --------
    >>> shared(["aab", "b"])
    (array([2, 1], dtype=int32), array([1], dtype=int32))
    """
    matrix = incidence(set(bag) for bag in bags)
    return np.diff(matrix.indptr).astype(np.int32), products(matrix)


def _edit_counts(lower: list[str]) -> tuple[np.ndarray, np.ndarray]:
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    different, group = distinct([characters(text) for text in lower])
    square = process.cdist(different, different, scorer=Levenshtein.similarity, dtype=np.int32, workers=-1)
    sizes = np.array([len(text) for text in different], np.int32)
    return sizes[group], expand(square, group)


#: The functions that are ratios of whole numbers, and how each counts (see :func:`counts`).
COUNTED: Mapping[str, Callable] = MappingProxyType(
    {
        "jaccard-tokens": lambda lower: shared(tokens(text) for text in lower),
        "jaccard-qgrams": lambda lower: shared(qgrams(text, 3) for text in lower),
        "levenshtein": _edit_counts,
    }
)


def _counter(similarity: str) -> Callable:
    if similarity not in COUNTED:
        raise ValueError(f"similarity must be one of {', '.join(COUNTED)}, not {similarity!r}")
    return COUNTED[similarity]


def counts(
    records: Records, similarity: str = "jaccard-tokens", *, fields: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The counts behind a similarity of :data:`COUNTED`: the size of each record and the overlap of each pair.

    Parameters
    ----------
    records, fields
        As in :func:`crowder.similarity.functions.jaccard_tokens`.
    similarity : str
        A name in :data:`COUNTED`.

    Returns
    -------
    sizes : ndarray, shape (n,), int32
        Number of tokens, q-grams or characters of each record.
    common : ndarray, shape (n(n-1)/2,), int32
        For each pair, the number of shared tokens or q-grams; for Levenshtein max(|a|, |b|) - d.
        A record shares its whole size with itself.

    Raises
    ------
    TypeError, ValueError
        As :func:`crowder.similarity.functions.compute`.

    Examples
    --------
    >>> counts(["a b", "b c d"])
    (array([2, 3], dtype=int32), array([1], dtype=int32))
    """
    return _counter(similarity)(texts(records, fields))


def from_counts(similarity: str, sizes: np.ndarray, common: np.ndarray) -> np.ndarray:
    """The similarities that follow from :func:`counts`.

    common / (size + size' - common) for the two Jaccard similarities, common / max(size, size') for Levenshtein; 0 when
    the denominator is 0. IEEE division rounds correctly, so equal counts give equal values on every machine.

    Parameters
    ----------
    similarity : str
        A name in :data:`COUNTED`.
    sizes, common : ndarray, shapes (n,) and (n(n-1)/2,), integer
        As :func:`counts` returns them.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64

    Examples
    --------
    >>> from_counts("jaccard-tokens", np.array([2, 3]), np.array([1]))
    array([0.25])
    """
    _counter(similarity)
    whole = np.empty(len(common))
    for i, row in rows(len(sizes)):
        if similarity == "levenshtein":
            np.maximum(sizes[i], sizes[i + 1 :], out=whole[row])
        else:
            np.subtract(sizes[i] + sizes[i + 1 :], common[row], out=whole[row])
    return np.divide(common, whole, out=np.zeros(len(common)), where=whole > 0)
