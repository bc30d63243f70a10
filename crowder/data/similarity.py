r"""Similarity functions over records: text in, one value in [0, 1] for each pair out.

Every function takes a pandas DataFrame of text fields, or a sequence of strings, and returns a *condensed* vector:
the n(n-1)/2 values of the pairs (0,1), (0,2), ..., (n-2,n-1), as :func:`scipy.spatial.distance.squareform` reads it.

The rules, the same for all, chosen so that anyone can recompute the values:

text
    The fields of a record in column order, joined by one space; a missing value is an empty field. All columns but
    ``id`` and ``label``, unless ``fields`` names others. Then ``str.lower``.
tokens
    ``re.findall(r"\w+", text)``: runs of Unicode letters, digits and underscores. No stemming, no stop words.
characters (q-grams, Levenshtein, Jaro-Winkler)
    The text with each run of white space made one space, and none at its ends. Punctuation stays.
nothing
    A record without tokens (or characters) resembles no record: 0, also to another empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler
from scipy import sparse

from crowder import checked
from crowder.data.counted import counts, from_counts, shared
from crowder.data.fieldwise import field_mean
from crowder.data.texts import Records, characters, distinct, expand, incidence, products, qgrams, texts, tokens

__all__ = [
    "SIMILARITIES", "compute", "discretize",
    "field_mean", "jaccard_qgrams", "jaccard_tokens", "jaro_winkler", "levenshtein", "tfidf_cosine",
]  # fmt: skip


def jaccard_tokens(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Jaccard similarity of token sets, J(A, B) = |A ∩ B| / |A ∪ B|.

    Sets, not bags: a token counts once, however often it stands. The values are single divisions of whole numbers,
    so they are the same to the last bit wherever they are computed.

    Parameters
    ----------
    records : DataFrame or sequence of str
        n records.
    fields : sequence of str, optional
        Columns to compare, in this order. All but ``id`` and ``label`` by default.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Condensed, in [0, 1], without unit.

    Raises
    ------
    TypeError
        If a record or a field is not text.
    ValueError
        If ``fields`` is empty, names an absent column, or is given for records without columns.

    Notes
    -----
    A sparse product: about Σ_v df(v)² operations, df(v) the number of records with token v. The paper names no
    function for cora (section "Experimental Observations": "as in" its references); this one is the common choice.

    Examples
    --------
    >>> jaccard_tokens(["Disneyland", "Disneyland Park", "disney world"])
    array([0.5, 0. , 0. ])
    """
    return from_counts("jaccard-tokens", *counts(records, "jaccard-tokens", fields=fields))


def jaccard_qgrams(records: Records, *, fields: Sequence[str] | None = None, q: int = 3) -> np.ndarray:
    """Jaccard similarity of the sets of q consecutive characters, spaces included, no padding.

    A text shorter than q is its own single q-gram. Otherwise as :func:`jaccard_tokens`.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.
    q : int
        Characters to a gram, at least 1.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`; ValueError also if q < 1.

    Examples
    --------
    >>> jaccard_qgrams(["abcd", "bcde"])  # bcd, of abc, bcd, cde
    array([0.33333333])
    """
    checked.whole(q, "q", least=1)
    return from_counts("jaccard-qgrams", *shared(qgrams(text, q) for text in texts(records, fields)))


def tfidf_cosine(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Cosine of the tf-idf vectors of the token bags.

    The weight of token v in a record is its count there times ln((1 + n) / (1 + df(v))) + 1, df(v) the number of
    the n records that hold v: the smooth form that scikit-learn's ``TfidfVectorizer`` uses by default.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Rounded to 12 decimals: cosines that are equal then tie whatever the order their terms were added in, equal
        bags get exactly 1, and no value leaves [0, 1].

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`.

    Examples
    --------
    >>> tfidf_cosine(["b a", "A, b!", "c"])
    array([1., 0., 0.])
    """
    matrix = incidence(tokens(text) for text in texts(records, fields)).astype(np.float64)
    n = matrix.shape[0]
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    weighted = matrix @ sparse.diags_array(np.log((1 + n) / (1 + frequency)) + 1)
    norms = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    inverse = np.divide(1.0, norms, out=np.zeros(n), where=norms > 0)
    unit = (sparse.diags_array(inverse) @ weighted).tocsr()
    return np.clip(np.round(products(unit), 12), 0.0, 1.0)


def levenshtein(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Normalised edit similarity, 1 - d(a, b) / max(|a|, |b|).

    d is the least number of characters inserted, deleted or replaced that turns a into b; |a| counts characters.

    Parameters
    ----------
    records, fields
        As in :func:`jaccard_tokens`.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Each value one division of whole numbers, (max(|a|, |b|) - d) / max(|a|, |b|).

    Raises
    ------
    TypeError, ValueError
        As :func:`jaccard_tokens`.

    Notes
    -----
    rapidfuzz on all cores, once per pair of distinct texts.

    Examples
    --------
    >>> levenshtein(["kitten", "sitting", ""])  # 3 edits of 7
    array([0.57142857, 0.        , 0.        ])
    """
    return from_counts("levenshtein", *counts(records, "levenshtein", fields=fields))


def jaro_winkler(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    """Jaro-Winkler similarity: Jaro's, raised for a common start of up to four characters.

    J = (m/|a| + m/|b| + (m - t)/m) / 3 with m the characters found within max(|a|, |b|)/2 - 1 places of each other
    and t half of those in another order (rounded down); J + 0.1 p (1 - J) for p common first characters when J > 0.7.

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

    Notes
    -----
    rapidfuzz on all cores, once per pair of distinct texts.

    Examples
    --------
    >>> jaro_winkler(["MARTHA", "MARHTA"]).round(4)
    array([0.9611])
    """
    # m is found greedily, which need not treat both texts alike: always the same one first.
    different, group = distinct([characters(text) for text in texts(records, fields)])
    square = process.cdist(different, different, scorer=JaroWinkler.similarity, dtype=np.float64, workers=-1)
    square = np.triu(square) + np.triu(square, 1).T
    if different[:1] == [""]:
        square[0, 0] = 0.0  # rapidfuzz says 1; here nothing resembles nothing
    return expand(square, group)


#: Every similarity function by its name.
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


def _known(choices: Mapping[str, Any], name: str, kind: str = "similarity") -> Any:
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"unknown {kind} {name!r}; known: {', '.join(choices)}")
    return choices[name]


def compute(records: Records, similarity: str = "jaccard-tokens", *, fields: Sequence[str] | None = None) -> np.ndarray:
    """The condensed similarities of the records, by the name of the function.

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

    Examples
    --------
    >>> compute(["Disneyland", "Disney World"], "jaccard-qgrams")  # dis isn sne ney, of 14
    array([0.28571429])
    """
    return _known(SIMILARITIES, similarity)(records, fields=fields)


def discretize(values: np.ndarray, rule: str, levels: int = 10) -> np.ndarray:
    """Values brought to the multiples k/levels, exactly those floats (the paper: {0, 0.1, ..., 1}, rule not said).

    Parameters
    ----------
    values : array_like
        In [0, 1], any shape.
    rule : {"round", "floor", "ceil"}
        To the nearest multiple (a half to the even k), down, or up; a value that is a multiple stays.
    levels : int
        Number of steps from 0 to 1.

    Returns
    -------
    ndarray, float64

    Raises
    ------
    ValueError
        For an unknown rule, levels < 1, or a value outside [0, 1].

    Examples
    --------
    >>> discretize([0.14, 0.7], "ceil")
    array([0.2, 0.7])
    """
    step = _known({"round": np.rint, "floor": np.floor, "ceil": np.ceil}, rule, "discretisation")
    levels, values = checked.whole(levels, "levels", least=1), np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"values must be real numbers, not dtype {values.dtype}")
    inside = (values >= 0) & (values <= 1)  # NaN is neither
    if not inside.all():
        raise ValueError(f"values must be in [0, 1], not {values[~inside][0]}")
    scaled = values.astype(np.float64) * levels
    if rule != "round":
        # 0.29 * 100 is 28.999999999999996: without this, floor would move a multiple that is already in place.
        nearest = np.rint(scaled)
        scaled = np.where(nearest / levels == values, nearest, scaled)
    return step(scaled) / levels
