r"""Similarity functions on records: from their text to a value in [0, 1] for each pair.

Every function takes a pandas DataFrame of text fields, or a sequence of strings, and returns a *condensed* vector: the
n(n-1)/2 values of the pairs (0,1), (0,2), ..., (n-2,n-1), the order of :func:`scipy.spatial.distance.squareform`.

The same rules apply to all functions, so that the values can be recomputed independently:

text
    The fields of a record in column order, joined by one space, in lower case (``str.lower``); a missing value is an
    empty field. By default all columns except ``id`` and ``label`` are used; ``fields`` selects others.
tokens
    ``re.findall(r"\w+", text)``: runs of Unicode letters, digits and underscores. No stemming, no stop words.
characters (q-grams, Levenshtein, Jaro-Winkler)
    The text with each run of white space replaced by one space, and none at the ends. Punctuation is kept.
nothing
    A record without tokens (or characters) has similarity 0 to every record, including another empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.similarity.counted import counts, from_counts, shared
from crowder.similarity.fieldwise import field_mean
from crowder.similarity.texts import Records, characters, distinct, expand, incidence, products, qgrams, texts, tokens

__all__ = [
    "SIMILARITIES", "compute", "discretize",
    "field_mean", "jaccard_qgrams", "jaccard_tokens", "jaro_winkler", "levenshtein", "tfidf_cosine",
]  # fmt: skip


def jaccard_tokens(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Jaccard similarity of token sets, ``J(A, B) = |A ∩ B| / |A ∪ B|``.

    Sets, not bags: a token counts once, however often it occurs. Each value is a single division of whole numbers, so
    it is the same to the last bit on every machine.

    Parameters
    ----------
    records : DataFrame or sequence of str
        n records.
    fields : sequence of str, optional
        Columns to compare, in this order; by default all except ``id`` and ``label``.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Condensed, in [0, 1], dimensionless.

    Raises
    ------
    TypeError
        If a record or a field is not text.
    ValueError
        If ``fields`` is empty, names an absent column, or is given for records without columns.

    See Also
    --------
    crowder.similarity.jaccard_qgrams : q-grams instead of tokens.
    crowder.similarity.tfidf_cosine : rare tokens weigh more.
    crowder.similarity.compute : by name.

    Notes
    -----
    A sparse product: about Σ_v df(v)² operations, with df(v) the number of records with token v. The paper does not
    name its function for cora (section "Experimental Observations": "as in" its references); this one is the common
    choice.

    Examples
    --------
    >>> jaccard_tokens(["Disneyland", "Disneyland Park", "disney world"])
    array([0.5, 0. , 0. ])
    """
    return from_counts("jaccard-tokens", *counts(records, "jaccard-tokens", fields=fields))


def jaccard_qgrams(records: Records, *, fields: Sequence[str] | None = None, q: int = 3) -> np.ndarray:
    """Jaccard similarity of the sets of q-grams: q consecutive characters, including spaces, without padding.

    A text shorter than q is its own single q-gram. Otherwise as :func:`jaccard_tokens`.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.
    q : int
        Length of a q-gram, at least 1.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`; ValueError also if q < 1.

    See Also
    --------
    crowder.similarity.jaccard_tokens : tokens instead of q-grams.
    crowder.similarity.compute : by name.

    Examples
    --------
    >>> jaccard_qgrams(["abcd", "bcde"])  # bcd, out of abc, bcd and cde
    array([0.33333333])
    """
    validation.whole(q, "q", least=1)
    return from_counts("jaccard-qgrams", *shared(qgrams(text, q) for text in texts(records, fields)))


def tfidf_cosine(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Cosine of the tf-idf vectors of the token bags.

    The weight of token v in a record is its count there times ln((1 + n) / (1 + df(v))) + 1, with df(v) the number of
    the n records that contain v: the smoothed form that is the default of scikit-learn's ``TfidfVectorizer``.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Rounded to 12 decimals, so that equal cosines tie whatever the order of summation, equal bags get exactly 1, and
        no value is outside [0, 1].

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`.

    See Also
    --------
    crowder.similarity.jaccard_tokens : all tokens weigh the same.
    crowder.similarity.compute : by name.

    Examples
    --------
    >>> tfidf_cosine(["b a", "A, b!", "c"])
    array([1., 0., 0.])
    """
    return np.clip(np.round(products(tfidf_vectors(texts(records, fields))), 12), 0.0, 1.0)


def tfidf_vectors(lower: list[str]) -> sparse.csr_array:
    """The tf-idf vectors of texts, of length 1, as rows.

    Examples
    --------
    >>> tfidf_vectors(["a", "b b"]).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    matrix = incidence(map(tokens, lower)).astype(np.float64)
    n = matrix.shape[0]
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    weighted = matrix @ sparse.diags_array(np.log((1 + n) / (1 + frequency)) + 1)
    norms = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    inverse = np.divide(1.0, norms, out=np.zeros(n), where=norms > 0)
    return (sparse.diags_array(inverse) @ weighted).tocsr()


def levenshtein(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Normalised edit similarity, ``1 - d(a, b) / max(|a|, |b|)``.

    d is the least number of insertions, deletions and replacements of characters that turn a into b; ``|a|`` is the
    number of characters.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Each value is one division of whole numbers, ``(max(|a|, |b|) - d) / max(|a|, |b|)``.

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`.

    See Also
    --------
    crowder.similarity.jaro_winkler : the other similarity of strings.
    crowder.similarity.compute : by name.

    Notes
    -----
    rapidfuzz on all cores, once per pair of distinct texts.

    Examples
    --------
    >>> levenshtein(["kitten", "sitting", ""])  # 3 edits, 7 characters
    array([0.57142857, 0.        , 0.        ])
    """
    return from_counts("levenshtein", *counts(records, "levenshtein", fields=fields))


def jaro_winkler(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Jaro-Winkler similarity: Jaro's, increased for a common prefix of up to four characters.

    ``J = (m/|a| + m/|b| + (m - t)/m) / 3``, with m the number of matching characters within
    ``max(|a|, |b|)/2 - 1`` positions of each other and t half the number of those in a different order (rounded down);
    ``J + 0.1 p (1 - J)`` for a common prefix of p characters if J > 0.7.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`.

    See Also
    --------
    crowder.similarity.levenshtein : the other similarity of strings.
    crowder.similarity.compute : by name.

    Notes
    -----
    rapidfuzz on all cores, once per pair of distinct texts.

    Examples
    --------
    >>> jaro_winkler(["MARTHA", "MARHTA"]).round(4)
    array([0.9611])
    """
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    # m is found greedily, which need not be symmetric, so the order of the two texts is fixed.
    different, group = distinct([characters(text) for text in texts(records, fields)])
    square = process.cdist(different, different, scorer=JaroWinkler.similarity, dtype=np.float64, workers=-1)
    square = np.triu(square) + np.triu(square, 1).T
    if different[:1] == [""]:
        square[0, 0] = 0.0  # rapidfuzz returns 1; here two empty texts have similarity 0
    return expand(square, group)


#: The similarity functions by name.
SIMILARITIES: Mapping[str, Callable] = MappingProxyType(
    {
        "jaccard-tokens": jaccard_tokens,
        "jaccard-qgrams": jaccard_qgrams,
        "tfidf-cosine": tfidf_cosine,
        "levenshtein": levenshtein,
        "jaro-winkler": jaro_winkler,
        "field-mean": field_mean,
    }
)


def known(choices: Mapping[str, Any], name: str, kind: str = "similarity") -> Any:
    """The choice of this name; a ValueError lists the names there are, and ``kind`` says what they name.

    Examples
    --------
    >>> known({"floor": 1}, "floor")
    1
    """
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"{kind} must be one of {', '.join(choices)}, not {name!r}")
    return choices[name]


def compute(records: Records, similarity: str = "jaccard-tokens", *, fields: Sequence[str] | None = None) -> np.ndarray:
    """The condensed similarities of the records, computed by the named function.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.
    similarity : str
        A key of :data:`SIMILARITIES`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`; ValueError also for an unknown name.

    See Also
    --------
    crowder.datasets.cora : similarities that are shipped.
    crowder.similarity.discretize : values on a grid.

    Examples
    --------
    >>> compute(["Disneyland", "Disney World"], "jaccard-qgrams")  # dis isn sne ney, out of 14
    array([0.28571429])
    """
    return known(SIMILARITIES, similarity)(records, fields=fields)


def discretize(values: np.ndarray, rule: str, levels: int = 10) -> np.ndarray:
    """Values rounded to the multiples k/levels, exactly those floats (the paper: {0, 0.1, ..., 1}, rule not stated).

    Parameters
    ----------
    values : array_like
        In [0, 1], any shape.
    rule : {"round", "floor", "ceil"}
        To the nearest multiple (a half to the even k), down, or up; a multiple is left unchanged.
    levels : int
        Number of steps from 0 to 1.

    Returns
    -------
    ndarray, float64

    Raises
    ------
    ValueError
        For an unknown rule, levels < 1, or a value outside [0, 1].

    See Also
    --------
    crowder.similarity.compute : the values.

    Examples
    --------
    >>> discretize([0.14, 0.7], "ceil")
    array([0.2, 0.7])
    """
    step = known({"round": np.rint, "floor": np.floor, "ceil": np.ceil}, rule, "discretisation")
    levels, values = validation.whole(levels, "levels", least=1), np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"values must be real numbers, not dtype {values.dtype}")
    inside = (values >= 0) & (values <= 1)  # NaN fails both
    if not inside.all():
        raise ValueError(f"values must be in [0, 1], not {values[~inside][0]}")
    scaled = values.astype(np.float64) * levels
    if rule != "round":
        # 0.29 * 100 is 28.999999999999996: without this, floor would change a value that is already a multiple.
        nearest = np.rint(scaled)
        scaled = np.where(nearest / levels == values, nearest, scaled)
    return step(scaled) / levels
