"""Similarities of listed pairs, for records in numbers that make all pairs too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numba import njit
from scipy import sparse

from crowder.similarity.functions import SIMILARITIES, known, tfidf_vectors
from crowder.similarity.texts import Records, characters, columns, incidence, qgrams, texts, tokens

__all__ = ["pair_similarity"]

#: A function of the records (i[0], i[1], ...) and (j[0], j[1], ...) of pairs.
OfPairs: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pair_similarity(records: Records, similarity: str, *, fields: Sequence[str] | None = None) -> OfPairs:
    """A function (i, j) of two integer arrays of shape (m,): the similarities of the pairs (i[0], j[0]), (i[1], j[1]),
    ..., those of `compute`.

    Parameters
    ----------
    records, similarity, fields
        As in `crowder.similarity.compute`.

    Returns
    -------
    callable
        ``f(i, j)``, ndarray of float64, shape (m,). The values of `compute` to the bit, except that a cosine or a mean,
        both rounded to 12 decimals, may differ by one unit of the last of these.

    Raises
    ------
    TypeError, ValueError
        As `crowder.similarity.compute`.

    See Also
    --------
    crowder.similarity.compute : all pairs.
    crowder.practice.blocking.candidate_pairs : the pairs that are worth it.

    Notes
    -----
    O(text) to prepare, and O(terms of two records) for each pair.

    Examples
    --------
    >>> f = pair_similarity(["Disneyland", "Disney World", "disney  world"], "jaccard-qgrams")
    >>> f(np.array([2, 0]), np.array([1, 1]))
    array([1.        , 0.28571429])
    """
    known(SIMILARITIES, similarity)
    if similarity == "field-mean":
        return _field_mean([_sets(map(tokens, column)) for column in columns(records, fields)])
    lower = texts(records, fields)
    if similarity == "jaccard-tokens":
        return _jaccard(_sets(map(tokens, lower)))
    if similarity == "jaccard-qgrams":
        return _jaccard(_sets(qgrams(text, 3) for text in lower))
    if similarity == "tfidf-cosine":
        vectors = _sorted(tfidf_vectors(lower))
        return lambda i, j: np.clip(np.round(_products(vectors, i, j), 12), 0.0, 1.0)
    return _edits(np.array([characters(text) for text in lower], object), similarity)


def _sorted(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix.sort_indices()
    return matrix


def _sets(bags: Iterable[Iterable[str]]) -> sparse.csr_array:
    return _sorted(incidence(set(bag) for bag in bags))


def _jaccard(sets: sparse.csr_array) -> OfPairs:
    sizes = np.diff(sets.indptr)

    def similarities(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        common = _products(sets, i, j)
        whole = sizes[i] + sizes[j] - common
        return np.divide(common, whole, out=np.zeros(len(i)), where=whole > 0)

    return similarities


def _field_mean(compared: list[sparse.csr_array]) -> OfPairs:
    fields = [(_jaccard(sets), np.diff(sets.indptr) > 0) for sets in compared]

    def similarities(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        total = sum(jaccard(i, j) for jaccard, _ in fields)
        both = sum((filled[i] & filled[j]).astype(np.int64) for _, filled in fields)
        return np.round(np.divide(total, both, out=np.zeros(len(i)), where=both > 0), 12)

    return similarities


def _edits(text: np.ndarray, similarity: str) -> OfPairs:
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    length = np.array([len(one) for one in text], np.int32)

    def similarities(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        a, b = np.minimum(text[i], text[j]), np.maximum(text[i], text[j])  # Jaro-Winkler need not be symmetric
        whole = np.maximum(length[i], length[j])
        if similarity == "levenshtein":
            distance = process.cpdist(a, b, scorer=Levenshtein.distance, dtype=np.int32, workers=-1)
            return np.divide(whole - distance, whole, out=np.zeros(len(i)), where=whole > 0)
        values = process.cpdist(a, b, scorer=JaroWinkler.similarity, dtype=np.float64, workers=-1)
        return np.where(whole > 0, values, 0.0)

    return similarities


def _products(matrix: sparse.csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return _inner(matrix.indptr, matrix.indices, matrix.data, i, j)


@njit(cache=True)
def _inner(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The inner products of the rows i[p] and j[p]; the column indices of a row are sorted."""
    result = np.zeros(len(i), data.dtype)
    for p in range(len(i)):
        a, b = indptr[i[p]], indptr[j[p]]
        end_a, end_b = indptr[i[p] + 1], indptr[j[p] + 1]
        while a < end_a and b < end_b:
            if indices[a] == indices[b]:
                result[p] += data[a] * data[b]
            left, right = indices[a], indices[b]
            a += left <= right
            b += right <= left
    return result
