r"""Similarity functions: from the text of records to a value in [0, 1] for each pair.

>>> compute(["Disneyland", "Disneyland Park", "Disney World"], "jaccard-tokens")
array([0.5, 0. , 0. ])

`SIMILARITIES` names the functions, which share these rules:

text
    The fields of a record in column order, joined by one space, in lower case (``str.lower``); a missing value is an
    empty field. By default all columns except ``id`` and ``label`` are used; ``fields`` selects others.
tokens
    ``re.findall(r"\w+", text)``: runs of Unicode letters, digits and underscores. No stemming, no stop words.
characters (q-grams, Levenshtein, Jaro-Winkler)
    The text with each run of white space replaced by one space, and none at the ends. Punctuation is kept.
nothing
    A record without tokens (or characters) has similarity 0 to every record, including another empty one.

Ratios of whole numbers are the same to the last bit on every machine. The other values are rounded to 12 decimals, so
that equal ones tie whatever the order of summation.

A similarity is a function that takes the texts of the n records, a list for each field, prepares them, and returns a
function (i, j): the values of record i with each of the records j. To add one, write it and name it in `SIMILARITIES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from crowder import checks
from crowder.checks import needing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SIMILARITIES", "compute", "discretize"]

Records: TypeAlias = "pd.DataFrame | Sequence[str]"

#: The lower-case texts of the records, a list for each field.
Columns: TypeAlias = list[list[str]]

#: A function of a record i and records j: one value for each of them.
OneToMany: TypeAlias = Callable[[int, np.ndarray], np.ndarray]

#: Columns that identify the record or its entity; compared only if they are named explicitly.
NOT_TEXT = ("id", "label")


# --- the functions ---------------------------------------------------------------------------------------------------


def jaccard_tokens(columns: Columns) -> OneToMany:
    """Jaccard similarity of the sets of tokens, ``|A ∩ B| / |A ∪ B|``."""
    return _ratios("jaccard-tokens", columns)


def jaccard_qgrams(columns: Columns) -> OneToMany:
    """Jaccard similarity of the sets of 3-grams: three consecutive characters, spaces included, without padding."""
    return _ratios("jaccard-qgrams", columns)


def levenshtein(columns: Columns) -> OneToMany:
    """``1 - d(a, b) / max(|a|, |b|)``, with d the smallest number of characters to insert, delete or replace."""
    return _ratios("levenshtein", columns)


def jaro_winkler(columns: Columns) -> OneToMany:
    """Jaro-Winkler similarity: Jaro's, increased for a common prefix of up to four characters.

    ``J = (m/|a| + m/|b| + (m - t)/m) / 3``, with m the number of matching characters within
    ``max(|a|, |b|)/2 - 1`` positions of each other and t half the number of those in a different order (rounded down);
    ``J + 0.1 p (1 - J)`` for a common prefix of p characters if J > 0.7.
    """
    with needing("text"):
        from rapidfuzz import process
        from rapidfuzz.distance import JaroWinkler

    text = _characters(columns)

    def values(i: int, j: np.ndarray) -> np.ndarray:
        a, b = np.minimum(text[i], text[j]), np.maximum(text[i], text[j])  # m, found greedily, need not be symmetric
        found = process.cpdist(a, b, scorer=JaroWinkler.similarity, dtype=np.float64, workers=-1)
        return np.where(b == "", 0.0, found)  # rapidfuzz gives two empty texts 1

    return values


def tfidf_cosine(columns: Columns) -> OneToMany:
    """Cosine of the tf-idf vectors of the token bags.

    The weight of token v in a record is its count there times ln((1 + n) / (1 + df(v))) + 1, with df(v) the number of
    the n records that contain v: the smoothed form that is the default of scikit-learn's ``TfidfVectorizer``.
    """
    counts = _incidence(map(tokens, joined(columns))).astype(np.float64)
    n = counts.shape[0]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    weighted = counts @ sparse.diags_array(np.log((1 + n) / (1 + frequency)) + 1)
    norms = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    inverse = np.divide(1.0, norms, out=np.zeros(n), where=norms > 0)
    products = _products((sparse.diags_array(inverse) @ weighted).tocsr())
    return lambda i, j: np.clip(np.round(products(i, j), 12), 0.0, 1.0)


def field_mean(columns: Columns) -> OneToMany:
    """Mean Jaccard similarity of the tokens of a field, over the fields with tokens in both records; 0 without any.

    A field that is empty in one of the records is no evidence either way. All fields have the same weight.
    """
    fields = [(jaccard_tokens([column]), np.array([bool(tokens(text)) for text in column])) for column in columns]

    def values(i: int, j: np.ndarray) -> np.ndarray:
        total, both = np.zeros(len(j)), np.zeros(len(j), np.int64)
        for jaccard, filled in fields:
            total += jaccard(i, j)
            both += filled[i] & filled[j]
        return np.round(_quotient(total, both), 12)

    return values


#: The similarity functions by name.
SIMILARITIES: Mapping[str, Callable[[Columns], OneToMany]] = MappingProxyType(
    {
        "jaccard-tokens": jaccard_tokens,
        "jaccard-qgrams": jaccard_qgrams,
        "tfidf-cosine": tfidf_cosine,
        "levenshtein": levenshtein,
        "jaro-winkler": jaro_winkler,
        "field-mean": field_mean,
    }
)


# --- all pairs -------------------------------------------------------------------------------------------------------


def compute(records: Records, similarity: str = "jaccard-tokens", *, fields: Sequence[str] | None = None) -> np.ndarray:
    """The similarities of all pairs of records, by the named function.

    Parameters
    ----------
    records : DataFrame or sequence of str
        n records; a TypeError if one is not text.
    similarity : str
        A key of :data:`SIMILARITIES`; a ValueError for any other.
    fields : sequence of str, optional
        Columns to compare, in this order; by default all except ``id`` and ``label``. A ValueError if there are none,
        one is absent or repeated, or the records have no columns.

    Returns
    -------
    ndarray, shape (n(n-1)/2,), float64
        Condensed: the values of the pairs (0,1), (0,2), ..., (n-2,n-1), the order of
        :func:`scipy.spatial.distance.squareform`. In [0, 1], dimensionless.

    See Also
    --------
    crowder.datasets.cora : similarities that are shipped.
    crowder_tool.nearest_pairs : for more records than can be compared pair by pair.

    Notes
    -----
    Each pair of different texts is compared once: a few seconds for cora's 1,879 records, and memory for the square of
    the number of different texts. The paper does not name its function for cora (section "Experimental Observations":
    "as in" its references); the Jaccard similarity of the tokens is a common choice.

    Examples
    --------
    >>> compute(["Disneyland", "Disney World"], "jaccard-qgrams")  # dis isn sne ney, out of 14
    array([0.28571429])
    >>> compute(["b a", "A, b!", "c"], "tfidf-cosine")
    array([1., 0., 0.])
    >>> compute(["kitten", "sitting", ""], "levenshtein")  # 3 edits, 7 characters
    array([0.57142857, 0.        , 0.        ])
    >>> compute(["MARTHA", "MARHTA"], "jaro-winkler").round(4)
    array([0.9611])
    >>> import pandas as pd
    >>> compute(pd.DataFrame({"title": ["On Trees", "of trees"], "year": ["1992", None]}), "field-mean")  # titles only
    array([0.33333333])
    """
    function = named(SIMILARITIES, similarity)
    found = columns(records, fields)
    return _all_pairs(found, function(found), np.float64)


def _all_pairs(columns: Columns, values: OneToMany, dtype: type) -> np.ndarray:
    """The condensed values of all records; equal records are compared once."""
    first, group = groups(zip(*columns, strict=True))
    square: np.ndarray = np.zeros((len(first), len(first)), dtype)
    for k, i in enumerate(first):
        square[k, k:] = values(i, first[k:])
    return spread(square, group)


def groups(keys: Iterable[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """The first place of each different key, in order of appearance, and the number of each key among them."""
    seen: dict[Hashable, int] = {}
    group = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)
    return np.unique(group, return_index=True)[1], group


def spread(square: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The condensed values of records, given those of their groups on and above the diagonal."""
    square = np.triu(square) + np.triu(square, 1).T
    rows = (square[g][group[i:]] for i, g in enumerate(group, 1))
    return np.concatenate([np.empty(0, square.dtype), *rows])


# --- ratios of whole numbers -----------------------------------------------------------------------------------------


def _edits(columns: Columns) -> tuple[np.ndarray, OneToMany]:
    """The lengths of the texts, and the longer length minus the edits."""
    with needing("text"):
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

    text = _characters(columns)
    length = np.array([len(one) for one in text], np.int32)

    def common(i: int, j: np.ndarray) -> np.ndarray:
        same = np.full(len(j), text[i], object)
        return process.cpdist(same, text[j], scorer=Levenshtein.similarity, dtype=np.int32, workers=-1)

    return length, common


def _sets(bags: Iterable[Iterable[str]]) -> tuple[np.ndarray, OneToMany]:
    """The sizes of the bags as sets, and the sizes of their intersections."""
    sets = _incidence(set(bag) for bag in bags)
    return np.diff(sets.indptr), _products(sets)


#: The functions that are ratios of whole numbers: how the size of each record and the overlap of pairs are counted.
COUNTED: Mapping[str, Callable[[Columns], tuple[np.ndarray, OneToMany]]] = MappingProxyType(
    {
        "jaccard-tokens": lambda columns: _sets(map(tokens, joined(columns))),
        "jaccard-qgrams": lambda columns: _sets(qgrams(text, 3) for text in joined(columns)),
        "levenshtein": _edits,
    }
)


def ratio(similarity: str, size: np.ndarray, other: np.ndarray, common: np.ndarray) -> np.ndarray:
    """The similarities that follow from the sizes of two records and their overlap; 0 if both are empty."""
    return _quotient(common, np.maximum(size, other) if similarity == "levenshtein" else size + other - common)


def _ratios(similarity: str, columns: Columns) -> OneToMany:
    sizes, common = COUNTED[similarity](columns)
    return lambda i, j: ratio(similarity, sizes[i], sizes[j], common(i, j))


def _quotient(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)


# --- text ------------------------------------------------------------------------------------------------------------


def columns(records: Records, fields: Sequence[str] | None = None) -> Columns:
    """For each field, the lower-case texts of all records; records given as strings have one field."""
    import pandas as pd

    if isinstance(records, pd.DataFrame):
        return [[_cell(value, name) for value in records[name]] for name in _field_names(records, fields)]
    if fields is not None:
        raise ValueError("fields must be omitted unless records is a DataFrame")
    if isinstance(records, (str, bytes)):
        raise TypeError("records must be a sequence of texts, not one text")
    if isinstance(records, (Mapping, Set)) or not isinstance(records, Iterable):
        raise TypeError(f"records must be a DataFrame or a sequence of texts, not {records!r}")
    return [[_cell(record, "record") for record in records]]


def _field_names(records: pd.DataFrame, fields: Sequence[str] | None) -> list[str]:
    there = list(records.columns)
    if not isinstance(fields, (Iterable, type(None))):
        raise TypeError(f"fields must be names of columns, not {fields!r}")
    names = [fields] if isinstance(fields, str) else list([] if fields is None else fields)
    if fields is None:
        names = [name for name in there if name not in NOT_TEXT]
    if not names:
        raise ValueError("fields must name at least one column to compare")
    if not all(isinstance(name, Hashable) for name in names):
        raise TypeError(f"fields must be names of columns, not {fields!r}")
    if absent := [name for name in names if name not in there]:
        raise ValueError(f"fields must be columns of the records, {there}, not {absent}")
    if repeated := [name for name in names if names.count(name) > 1 or there.count(name) > 1]:
        raise ValueError(f"column {repeated[0]!r} must not be repeated")
    return names


def _cell(value: object, name: str) -> str:
    if isinstance(value, str):
        return value.lower()
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    raise TypeError(f"{name!r} must be text, not {value!r}; read the records with dtype=str")


def tokens(text: str) -> list[str]:
    """The runs of word characters, in order, with repetitions."""
    return re.findall(r"\w+", text)


def characters(text: str) -> str:
    """The text with each run of white space replaced by one space, and none at the ends."""
    return " ".join(text.split())


def qgrams(text: str, q: int) -> list[str]:
    """The q-grams of the text; a shorter text is its own only q-gram, an empty one has none."""
    text = characters(text)
    return [text[i : i + q] for i in range(max(len(text) - q, 0) + 1)] if text else []


def joined(columns: Columns) -> list[str]:
    """The text of each record."""
    return [" ".join(row) for row in zip(*columns, strict=True)]


def _characters(columns: Columns) -> np.ndarray:
    return np.array([characters(text) for text in joined(columns)], object)


def _incidence(bags: Iterable[Iterable[str]]) -> sparse.csr_array:
    """The (records, terms) matrix of term counts, int32; terms in order of first appearance."""
    vocabulary: dict[str, int] = {}
    terms: list[int] = []
    starts = [0]
    for bag in bags:
        terms.extend(vocabulary.setdefault(term, len(vocabulary)) for term in bag)
        starts.append(len(terms))
    matrix = sparse.csr_array(
        (np.ones(len(terms), np.int32), np.array(terms, np.int32), np.array(starts, np.int32)),
        shape=(len(starts) - 1, len(vocabulary)),
    )
    matrix.sum_duplicates()
    return matrix


def _products(matrix: sparse.csr_array) -> OneToMany:
    """The inner products of a row and other rows, summed in the order of the columns."""
    matrix.sort_indices()
    return lambda i, j: matrix[j] @ matrix[[i]].toarray()[0]


# --- names and levels ------------------------------------------------------------------------------------------------


def named(choices: Mapping[str, Any], name: str, kind: str = "similarity") -> Any:
    """The choice of this name; a ValueError lists the available names, and ``kind`` says what they name."""
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"{kind} must be one of {', '.join(choices)}, not {name!r}")
    return choices[name]


def discretize(values: np.ndarray, rule: str, levels: int = 10) -> np.ndarray:
    """Values rounded to the multiples k/levels, exactly those floats (the paper: {0, 0.1, ..., 1}, rule not stated).

    Parameters
    ----------
    values : array_like
        In [0, 1], any shape; a ValueError for others.
    rule : {"round", "floor", "ceil"}
        To the nearest multiple (a half to the even k), down, or up; a multiple is left unchanged. A ValueError for
        another rule.
    levels : int
        Number of steps from 0 to 1; a ValueError below 1.

    See Also
    --------
    crowder.similarity.compute : the values.

    Examples
    --------
    >>> discretize([0.14, 0.7], "ceil")
    array([0.2, 0.7])
    """
    step = named({"round": np.rint, "floor": np.floor, "ceil": np.ceil}, rule, "discretisation")
    levels, values = checks.whole(levels, "levels", least=1, most=2**53), checks.numbers(values, "values")
    inside = (values >= 0) & (values <= 1)  # NaN fails both
    if not inside.all():
        raise ValueError(f"values must be in [0, 1], not {values[~inside][0]}")
    scaled = values * levels
    if rule != "round":
        # 0.29 * 100 is 28.999999999999996: without this, floor would change a value that is already a multiple.
        nearest = np.rint(scaled)
        scaled = np.where(nearest / levels == values, nearest, scaled)
    return step(scaled) / levels
