"""Every similarity function: against its definition, pair by pair, or by hand where rapidfuzz computes it."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nightly import examples
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import TfidfVectorizer

from crowder import similarity as sim

ALPHABET = "abAB é1_-. ,\t\n"
TEXTS = st.lists(st.text(ALPHABET, max_size=12) | st.text(max_size=6), max_size=7)


def tokens(text):
    return re.findall(r"\w+", text.lower())


def characters(text):
    return " ".join(text.lower().split())


def grams(text, q=3):
    text = characters(text)
    if not text:
        return set()
    return {text[i : i + q] for i in range(len(text) - q + 1)} or {text}


def jaccard(a, b):
    return len(a & b) / len(a | b) if a | b else 0.0


def cosine(texts):
    """As scikit-learn computes it, of whose vectorizer the weights are the default."""
    if not any(map(tokens, texts)):
        return np.zeros((len(texts), len(texts)))
    made = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
    return (made @ made.T).toarray()


def reference(name, texts):
    if name == "tfidf-cosine":
        return cosine(texts)[np.triu_indices(len(texts), 1)]
    sets = [grams(text) if name == "jaccard-qgrams" else {*tokens(text)} for text in texts]  # texts have one field
    return np.array([jaccard(a, b) for a, b in combinations(sets, 2)])


@pytest.mark.parametrize("name", ["jaccard-tokens", "jaccard-qgrams", "tfidf-cosine", "field-mean"])
@given(texts=TEXTS)
@example(texts=[])
@example(texts=["abc"])
@example(texts=["", " \n", "abc"])  # nothing resembles nothing
@example(texts=["on trees", "trees", "on trees"])  # equal records are compared once
def test_agrees_with_its_definition(name, texts):
    values = sim.compute(texts, name)
    assert values.dtype == np.float64
    assert ((values >= 0) & (values <= 1)).all()
    rounding = 0 if name in sim.COUNTED else 2e-12  # one division needs none
    np.testing.assert_allclose(values, reference(name, texts), rtol=0, atol=rounding)


@pytest.mark.parametrize("name", sim.SIMILARITIES)
@examples(30, night=1_000)
@given(texts=st.lists(st.text(ALPHABET, max_size=12), min_size=2, max_size=7), data=st.data())
def test_does_not_depend_on_the_order_of_records(name, texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    there, back = (squareform(sim.compute(t, name)) for t in (texts, [texts[k] for k in order]))
    assert (there[np.ix_(order, order)] == back).all()


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        # kitten → sitten → sittin → sitting: 3 edits of 7 characters. White space and case do not matter.
        ("levenshtein", ["kitten  a", " Sitting A"], 6 / 9),
        ("levenshtein", ["", "a"], 0.0),  # nothing resembles nothing, nor anything else
        ("levenshtein", ["", " "], 0.0),
        ("jaro-winkler", ["", " "], 0.0),
        # Winkler's own examples: m = 6, t = 1, p = 3: J = 17/18, + 0.3/18; m = 4, t = 0, p = 1: J = 37/45, + 0.8/45.
        ("jaro-winkler", ["martha", " MARHTA"], 17 / 18 + 0.3 / 18),
        ("jaro-winkler", ["DWAYNE", "DUANE"], 37 / 45 + 0.8 / 45),
        # J = (1/4 + 1/4 + 1)/3 = 1/2, not above 0.7: the common first letter is no help.
        ("jaro-winkler", ["axyz", "abcd"], 1 / 2),
    ],
)
def test_by_hand(name, texts, expected):
    assert sim.compute(texts, name)[0] == pytest.approx(expected, rel=0, abs=1e-12)


FRAME = pd.DataFrame(
    {"id": ["1", "2"], "label": ["same", "same"], "title": ["on trees", "On  trees"], "year": ["1992", None],
     "author": ["knuth", " ."]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("jaccard-tokens", None, 2 / 4),  # on, trees; 1992 and knuth in the first only; no id and no label
        ("jaccard-tokens", ["title"], 1.0),
        ("jaccard-tokens", "title", 1.0),
        ("levenshtein", ["title", "year"], 8 / 13),  # "on trees 1992" loses " 1992"
        ("field-mean", None, 1.0),  # of the titles alone: year and author have tokens in the first only
        ("field-mean", ["label", "title"], 1.0),
        ("field-mean", ["id", "title"], 1 / 2),  # 0/1 and 2/2, of columns that are named
    ],
)
def test_fields(name, fields, expected):
    assert sim.compute(FRAME, name, fields=fields).tolist() == [expected]


FIELDS = st.lists(st.lists(st.text(ALPHABET, max_size=5) | st.none(), min_size=3, max_size=3), min_size=1, max_size=6)


@given(cells=FIELDS)
def test_field_mean_is_over_the_fields_that_both_fill(cells):
    def mean(a, b):
        ready = [(set(tokens(x or "")), set(tokens(y or ""))) for x, y in zip(a, b, strict=True)]
        both = [jaccard(x, y) for x, y in ready if x and y]
        return sum(both) / len(both) if both else 0.0

    n = len(cells)
    expected = [mean(cells[i], cells[j]) for i in range(n) for j in range(i + 1, n)]
    values = sim.compute(pd.DataFrame(cells, columns=["title", "author", "year"], dtype=object), "field-mean")
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize("rule", ["round", "floor", "ceil"])
@pytest.mark.parametrize("levels", [1, 3, 10, 100, 1000])
def test_multiples_stay_where_they_are(rule, levels):
    """Also 0.29, whose hundredfold is 28.999999999999996."""
    multiples = np.arange(levels + 1) / levels
    assert sim.discretize(multiples, rule, levels).tolist() == multiples.tolist()


@given(st.lists(st.floats(0, 1), min_size=1), st.integers(1, 200))
@example([0.26, 0.0, 1.0], 10)
def test_discretize_moves_no_further_than_a_step(values, levels):
    values = np.array(values)
    low, near, high = (sim.discretize(values, rule, levels) for rule in ("floor", "round", "ceil"))
    assert (low <= values).all() and (values <= high).all()
    assert ((near == low) | (near == high)).all()
    assert (high - low <= 1 / levels + 1e-12).all()
    assert (np.abs(near - values) <= 0.5 / levels + 1e-12).all()
    assert set(near) | set(low) | set(high) <= {k / levels for k in range(levels + 1)}  # exactly these floats
