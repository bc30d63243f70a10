"""What a similarity is learned from: numbers that compare the two records of a candidate pair, field by field."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from crowder.practice.candidates import NearestPairs, cosine, tfidf

__all__ = ["pair_features"]

#: What joins the parts of a model number in one list and not in the other; and words that contain a digit.
JOINTS, CODES = re.compile(r"[-/.](?=\w)"), r"\w*\d\w*"


def pair_features(columns: dict[str, list[str]], near: NearestPairs) -> np.ndarray:
    """An array (m, p), float32, of the m candidate pairs.

    Over all fields: the two cosines, that of the words with a digit, where each record stands among the other's
    neighbours, and by how much more similar it is than the next. For each field: rapidfuzz's token-set ratio,
    Jaro-Winkler, two cosines, whether it is empty in one record, whether it is the same, and the ratio of numbers.
    O(m) comparisons of each field.
    """
    i, j = near.pairs.T
    texts = [JOINTS.sub("", " ".join(row)) for row in zip(*columns.values(), strict=True)]
    codes = tfidf(texts, "word", CODES)
    same_codes = cosine(codes, near.pairs)
    none = np.asarray(codes.sum(axis=1)).ravel() == 0
    made = [near.words, near.characters, near.words**2, near.characters**2, same_codes, none[i] | none[j]]
    made += [*_standing(near.pairs, near.similarity, near.n), *_standing(near.pairs, same_codes, near.n)[2:]]
    for field in columns.values():
        made += _of_field(field, near.pairs)
    return np.column_stack(made).astype(np.float32)


def _of_field(field: list[str], pairs: np.ndarray) -> list[np.ndarray]:
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import JaroWinkler

    text, (i, j) = np.array(field, object), pairs.T
    empty = text == ""
    none, made = empty[i] | empty[j], list[np.ndarray]()
    for scorer, most in ((fuzz.token_set_ratio, 100.0), (JaroWinkler.similarity, 1.0)):
        found = process.cpdist(text[i], text[j], scorer=scorer, dtype=np.float64, workers=-1) / most
        found = np.where(none, 0.0, found)  # rapidfuzz gives two empty texts 1
        made += [found, found**2]
    made += [cosine(tfidf(field, analyzer), pairs) for analyzer in ("word", "char_wb")]
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
    order = np.lexsort([-values, record])
    many = np.bincount(record, minlength=n)
    first = np.cumsum(many) - many
    rank = np.empty(2 * m)
    rank[order] = np.arange(2 * m) - np.repeat(first, many)
    falling = np.append(values[order], 0.0)
    best = falling[np.minimum(first, 2 * m)]
    second = np.where(many > 1, falling[np.minimum(first + 1, 2 * m)], 0.0)
    lead = values - np.where(rank == 0, second[record], best[record])
    ranks, leads = rank.reshape(2, m), lead.reshape(2, m)
    return [1 / (1 + ranks.min(axis=0)), 1 / (1 + ranks.max(axis=0)), leads.min(axis=0), leads.max(axis=0)]
