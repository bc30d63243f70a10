"""Candidate pairs of many records, and the numbers that compare two records, from which a similarity is learned."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from crowder import checks
from crowder.pairs import Candidates, unpack
from crowder.similarity import NOT_TEXT, groups
from crowder_tool.progress import counted
from crowder_tool.text import compared, words, written

__all__ = [
    "NearestPairs",
    "TableCandidates",
    "fields_of",
    "identical_pairs",
    "kinds",
    "nearest_pairs",
    "pair_features",
    "texts_of",
]

#: Similarities are rounded to this many decimals, so that equal ones tie on every machine; records whose neighbours are
#: found, and pairs that are compared, between two counts of progress.
DECIMALS, ROWS, PAIRS = 12, 256, 1 << 16

#: The search multiplies at most this many pairs of weights (some minutes); with more, the commonest terms are left out
#: of the search, though not out of the similarities of the pairs it finds.
PRODUCTS = 2e10

#: What joins the parts of a model number in one list and not in the other; and words that contain a digit.
JOINTS, CODES = re.compile(r"[-/.](?=\w)"), re.compile(r"\w*\d\w*")

#: Of two texts all pairs of records are candidates if there are at most this many.
FEW = 100

#: Of a text this many characters are compared by edits, which takes time by the square of the length; all by terms.
EDITED = 1000


@dataclass(frozen=True)
class TableCandidates(Candidates):
    """Candidate pairs, none of them within a table; `tables` (n,) numbers the table of each record."""

    tables: np.ndarray | None = None

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """The records with which each record has a candidate pair, and where those of record i begin."""
        codes = self.listed()[1]
        i, j = unpack(codes)
        ends, others = np.r_[i, j], np.r_[j, i]
        order = np.argsort(ends, kind="stable")
        return others[order], np.searchsorted(ends[order], np.arange(self.n + 1))


@dataclass(frozen=True)
class NearestPairs:
    """The candidate pairs of n records that `nearest_pairs` found. Every ordering takes them as its similarity.

    Attributes
    ----------
    pairs : ndarray of int64, shape (m, 2)
        Each candidate pair i < j once, ascending.
    words, characters : ndarray of float64, shape (m,)
        Cosines of the tf-idf vectors of words, and of three characters in a row.
    furthest : ndarray of float64, shape (n,)
        The similarity of the last neighbour that was kept for each record; 0 if all that share a term were. A match
        that is less similar than this, for both of its records, is not among the candidates.
    identical : ndarray of int64, shape (k, 2)
        The first record of each text, paired with each other one. (Of two tables, not if a text is twice in one of
        them.)
    tables : ndarray of int64, shape (n,), optional
        The table of each record, if two records of one table never match.
    """

    n: int
    pairs: np.ndarray
    words: np.ndarray
    characters: np.ndarray
    furthest: np.ndarray
    identical: np.ndarray
    tables: np.ndarray | None = None

    @property
    def similarity(self) -> np.ndarray:
        """The mean of the two cosines, shape (m,)."""
        return (self.words + self.characters) / 2

    @cached_property
    def candidates(self) -> TableCandidates:
        """The pairs as orderings take them."""
        codes = self.pairs[:, 0] << 32 | self.pairs[:, 1]
        return TableCandidates(self.n, False, _values=self.similarity, _codes=codes, tables=self.tables)


def nearest_pairs(
    records: pd.DataFrame,
    *,
    table: str | None = None,
    neighbours: int = 20,
) -> NearestPairs:
    r"""The pairs of each record and its most similar others.

    The similarity is the mean of two cosines of tf-idf vectors, as scikit-learn's ``TfidfVectorizer`` makes them: of
    words, and of three characters in a row within words, over all fields. Upper and lower case, accents, vowel signs of
    Arabic, full and half width make no difference (`crowder_tool.text.compared`); the words of Chinese, Japanese,
    Korean or Thai are characters and two characters in a row.

    Parameters
    ----------
    records : DataFrame
        A column for each field; ``id``, ``label`` and `table` are not compared. A missing value is an empty field, a
        number is compared as it is written.
    table : str, optional, keyword only
        A column that names the table of each record. Two records of one table never match, and are not candidates.
    neighbours : int, keyword only
        How many similar texts to keep for each record, at least 1; and this many of the records with the same text.

    Returns
    -------
    NearestPairs
        A TypeError or ValueError if an argument is not as described.

    See Also
    --------
    crowder_tool.LearnedOrdering : asks about these pairs.

    Notes
    -----
    Measured with 20 neighbours on one core, and peak memory of the whole process (0.3 GB of it before the call): 10,000
    people 4 s and 0.4 GB; 100,000 people 140 s and 0.6 GB. Memory grows with the text and the pairs found.

    Examples
    --------
    >>> names = pd.DataFrame({"name": ["Ann Lee, Oslo", "Anne Lee, Oslo", "Bob Ray, Rome", ""]})
    >>> found = nearest_pairs(names, neighbours=1)
    >>> found.pairs.tolist(), found.similarity.round(2).tolist()
    ([[0, 1]], [0.68])
    """
    columns = fields_of(records, table)
    neighbours = min(checks.whole(neighbours, "neighbours", least=1), max(1, len(records)))
    tables = None if table is None else groups(map(str, records[table]))[1]
    # Each text of each table is searched for once, so that the neighbours of a record have other texts.
    text = texts_of(records, table)
    group = text if tables is None else groups(zip(text.tolist(), tables.tolist(), strict=True))[1]
    first = np.unique(group, return_index=True)[1]
    rows = [" ".join(row) for row in zip(*columns.values(), strict=True)]
    matrices = tfidf(rows, words)[first], tfidf(rows, "char_wb")[first]
    near, value = _search(*matrices, None if tables is None else tables[first], neighbours)
    i, j = np.repeat(np.arange(len(first)), neighbours), near.ravel().astype(np.int64)
    codes = np.unique((np.minimum(i, j) << 32 | np.maximum(i, j))[j >= 0])
    a, b = unpack(codes)
    pairs = _of_records(group, a, b, neighbours if tables is None else 0)
    cosines = [cosine(matrix, group[pairs]) for matrix in matrices]
    same = identical_pairs(text, tables)
    return NearestPairs(len(group), pairs, cosines[0], cosines[1], value[group, -1], same, tables)


def texts_of(records: pd.DataFrame, table: Hashable = None) -> np.ndarray:
    """The number of each record's text, as it is `written`, among the different ones (n,); none is one of its own."""
    rows = zip(*fields_of(records, table, written).values(), strict=True)
    return groups(row if any(row) else number for number, row in enumerate(rows))[1]


def _of_records(group: np.ndarray, a: np.ndarray, b: np.ndarray, most: int) -> np.ndarray:
    """The pairs of records of two texts, and of one text, each with at most `most` others; (m, 2), i < j, ascending.

    Of two texts that are repeated often, each record meets one of the other text; otherwise every one.
    """
    size = np.bincount(group)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(size)[:-1])
    first = np.unique(group, return_index=True)[1]
    once = (size[a] == 1) & (size[b] == 1)
    found = [np.column_stack([first[a[once]], first[b[once]]])]
    for one, other in zip(a[~once].tolist(), b[~once].tolist(), strict=True):
        i, j = members[one], members[other]
        if len(i) * len(j) <= FEW:
            i, j = np.repeat(i, len(j)), np.tile(j, len(i))
        else:
            turns = np.arange(max(len(i), len(j)))
            i, j = i[turns % len(i)], j[turns % len(j)]
        found.append(np.column_stack([i, j]))
    for ours in members if most else []:
        found += [np.column_stack([ours[:-step], ours[step:]]) for step in range(1, min(most, len(ours) - 1) + 1)]
    return np.unique(np.sort(np.concatenate(found), axis=1), axis=0).astype(np.int64)


def identical_pairs(text: np.ndarray, tables: np.ndarray | None) -> np.ndarray:
    """The first record of each text with each other one, (k, 2); not if a text is twice in a table."""
    first = np.unique(text, return_index=True)[1][text]
    twice = [] if tables is None else text[pd.DataFrame({"text": text, "table": tables}).duplicated()]
    other = np.flatnonzero((first != np.arange(len(text))) & ~np.isin(text, twice))
    return np.column_stack([first[other], other]).astype(np.int64)


def fields_of(records: Any, table: Hashable = None, form: Callable[[str], str] = compared) -> dict[str, list[str]]:
    """All columns but ``id``, ``label`` and the table, as they are compared; a missing value is empty."""
    checks.kind(records, pd.DataFrame, "records must be a DataFrame, as of read_records")
    if table is not None and not (isinstance(table, Hashable) and table in {*records}):
        raise ValueError(f"table must be a column of the records, {list(records)}, not {table!r}")
    if not records.columns.is_unique:
        raise ValueError(f"records must have column {records.columns[records.columns.duplicated()][0]!r} only once")
    names = [name for name in records if name not in (*NOT_TEXT, table)]
    if not names:
        raise ValueError(f"records must have columns to compare, not {list(records)} alone")
    absent = {name: records[name].isna().to_numpy() for name in names}
    return {name: ["" if gone else form(str(value)) for value, gone in
                   zip(counted(records[name].tolist(), f"reading {name}"), absent[name], strict=True)]
            for name in names}  # fmt: skip


def tfidf(texts: Sequence[str], terms: Callable[[str], list[str]] | str) -> Any:
    """The (records, terms) matrix of tf-idf weights, rows of length 1; of trigrams, the terms are "char_wb"."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    how = {"ngram_range": (3, 3), "lowercase": False} if terms == "char_wb" else {}
    try:
        made = TfidfVectorizer(analyzer=terms, **how).fit_transform(counted(texts, "comparing terms"))
    except ValueError:  # no record has a term
        return sparse.csr_array((len(texts), 1))
    made.sort_indices()
    return made


def cosine(matrix: Any, pairs: np.ndarray) -> np.ndarray:
    """The inner products of pairs of rows."""
    parts = [pairs[at : at + PAIRS] for at in range(0, len(pairs), PAIRS)]
    found = [np.asarray(matrix[part[:, 0]].multiply(matrix[part[:, 1]]).sum(axis=1)).ravel() for part in parts]
    return np.clip(np.round(np.concatenate([np.empty(0), *found]), DECIMALS), 0.0, 1.0)


def _search(words: Any, characters: Any, tables: np.ndarray | None, neighbours: int) -> tuple[np.ndarray, np.ndarray]:
    """For each record, its nearest others and their similarities, (n, neighbours) each; -1 and 0 where there are none.

    Memory: the two matrices twice, and these two results.
    """
    from scipy import sparse

    both = sparse.csr_array(sparse.hstack([words, characters]) / 2)
    frequency = np.bincount(both.indices, minlength=both.shape[1]).astype(np.float64)
    order = np.argsort(frequency, kind="stable")
    rare = np.zeros(len(order), bool)
    rare[order] = np.cumsum(frequency[order] ** 2) <= PRODUCTS
    both = both[:, rare]
    both.sort_indices()
    by_term, n = both.T.tocsr(), both.shape[0]
    near, value, sums = np.full((n, neighbours), -1, np.int32), np.zeros((n, neighbours)), np.zeros(n)
    own = np.arange(n) if tables is None else tables.astype(np.int64)  # of one value, no candidates
    for row in counted(range(0, n, ROWS), "looking for similar records"):
        _nearest(row, min(row + ROWS, n), both.indptr, both.indices, both.data, by_term.indptr, by_term.indices,
                 by_term.data, own, sums, near, value)  # fmt: skip
    return near, value


@njit(cache=True)
def _nearest(first, last, terms_from, terms, weights, rows_from, rows, others, own, sums, near, value):
    """Fill in the nearest others of some rows, by falling similarity, and of equal ones by their number.

    The terms of each row are at ``terms_from``, and the rows of each term at ``rows_from``; `sums` is zero.
    """
    met = np.empty(len(sums), np.int32)
    for row in range(first, last):
        many = 0
        for k in range(terms_from[row], terms_from[row + 1]):
            for m in range(rows_from[terms[k]], rows_from[terms[k] + 1]):
                if sums[rows[m]] == 0.0:
                    met[many] = rows[m]
                    many += 1
                sums[rows[m]] += weights[k] * others[m]
        for other in met[:many]:
            found = np.rint(4 * sums[other] * 1e12) / 1e12 / 2
            sums[other] = 0.0
            if own[other] == own[row] or found < 1e-9:
                continue
            at = near.shape[1]
            while at and (found > value[row, at - 1] or (found == value[row, at - 1] and other < near[row, at - 1])):
                at -= 1
                if at + 1 < near.shape[1]:
                    near[row, at + 1], value[row, at + 1] = near[row, at], value[row, at]
            if at < near.shape[1]:
                near[row, at], value[row, at] = other, found


def pair_features(columns: dict[str, list[str]], near: NearestPairs) -> np.ndarray:
    """An array (m, p), float32, of the m candidate pairs.

    Over all fields: the two cosines, that of the words with a digit, where each record stands among the other's
    neighbours, and by how much more similar it is than the next. For each field: rapidfuzz's token-set ratio,
    Jaro-Winkler, two cosines, whether it is empty in one record, whether it is the same, and the ratio of numbers.
    O(m) comparisons of each field.
    """
    i, j = near.pairs.T
    texts = [JOINTS.sub("", " ".join(row)) for row in zip(*columns.values(), strict=True)]
    codes = tfidf(texts, CODES.findall)
    same_codes = cosine(codes, near.pairs)
    none = np.asarray(codes.sum(axis=1)).ravel() == 0
    made = [near.words, near.characters, near.words**2, near.characters**2, same_codes, none[i] | none[j]]
    made += [*_standing(near.pairs, near.similarity, near.n), *_standing(near.pairs, same_codes, near.n)[2:]]
    blocks = [np.column_stack(made).astype(np.float32)]
    for name in counted([*columns], "comparing fields"):
        blocks.append(np.column_stack(_of_field(columns[name], near.pairs)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def kinds(columns: dict[str, list[str]], i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The kind of each pair (m,): in which fields its records have the same text, and in which one of them has none."""
    kind = np.zeros(len(i), np.int64)
    for field in columns.values():
        one, other = (np.array(field, object)[side] for side in (i, j))
        kind = 3 * kind + np.where((one == "") | (other == ""), 2, one == other)
        kind = np.unique(kind, return_inverse=True)[1]  # so that many fields make no large numbers
    return kind


def _of_field(field: list[str], pairs: np.ndarray) -> list[np.ndarray]:
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import JaroWinkler

    text, short, (i, j) = np.array(field, object), np.array([text[:EDITED] for text in field], object), pairs.T
    empty = text == ""
    none, made = empty[i] | empty[j], list[np.ndarray]()
    for scorer, most in ((fuzz.token_set_ratio, 100.0), (JaroWinkler.similarity, 1.0)):
        found = process.cpdist(short[i], short[j], scorer=scorer, dtype=np.float64, workers=-1) / most
        found = np.where(none, 0.0, found)  # rapidfuzz gives two empty texts 1
        made += [found, found**2]
    made += [cosine(tfidf(field, terms), pairs) for terms in (words, "char_wb")]
    made += [none, (text[i] == text[j]) & ~none]
    number = pd.to_numeric(pd.Series(field, dtype=object), errors="coerce").to_numpy(float, copy=True)
    number[~np.isfinite(number)] = np.nan
    if 2 * np.isfinite(number).sum() > (~empty).sum():
        x, y = number[i], number[j]
        most = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(float).tiny)
        made.append(np.nan_to_num(1 - np.minimum(np.abs(x - y) / most, 1.0)))
    return made


def _standing(pairs: np.ndarray, value: np.ndarray, n: int) -> list[np.ndarray]:
    """How each pair stands among all pairs of its two records: the inverse of the better and of the worse rank, and
    the smaller and the larger lead over the best other pair."""
    record, values, m = pairs.T.ravel(), np.tile(value, 2), len(pairs)
    rank = pd.Series(values).groupby(record).rank("first", ascending=False).to_numpy()
    best, second = np.zeros(n), np.zeros(n)
    best[record[rank == 1]], second[record[rank == 2]] = values[rank == 1], values[rank == 2]
    lead = values - np.where(rank == 1, second[record], best[record])
    ranks, leads = rank.reshape(2, m), lead.reshape(2, m)
    return [1 / ranks.min(axis=0), 1 / ranks.max(axis=0), leads.min(axis=0), leads.max(axis=0)]
