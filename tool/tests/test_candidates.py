"""Candidate pairs: the most similar other records of each, by plain arithmetic on all pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from crowder_tool import nearest_pairs, people

RECORDS = people([3] * 8 + [2] * 8 + [1] * 30, rng=3)


def dense(records, names):
    """The mean cosine of all pairs, with scikit-learn's dense matrices."""
    texts = [" ".join(" ".join(str(value).lower().split()) for value in row) for row in records[names].to_numpy()]
    made = [
        TfidfVectorizer(analyzer="word", token_pattern=r"\w+"),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3)),
    ]
    return sum((matrix @ matrix.T).toarray() for matrix in (one.fit_transform(texts) for one in made)) / 2


@pytest.mark.parametrize("neighbours", [1, 5, 200])
def test_each_record_keeps_its_most_similar_others(neighbours):
    names = [name for name in RECORDS if name not in ("id", "label")]
    everything = dense(RECORDS, names)
    np.fill_diagonal(everything, -1.0)
    found = nearest_pairs(RECORDS, neighbours=neighbours)
    value = everything[found.pairs[:, 0], found.pairs[:, 1]]
    assert np.allclose(found.similarity, value, atol=1e-9) and (found.pairs[:, 0] < found.pairs[:, 1]).all()
    kept = np.zeros(everything.shape, bool)
    kept[tuple(found.pairs.T)] = kept[tuple(found.pairs[:, ::-1].T)] = True
    for record, row in enumerate(everything):
        best = np.sort(row[row > 0])[::-1][:neighbours]
        assert (row[kept[record]] >= best[-1] - 1e-9).sum() >= len(best)
        # What is lost is less similar than the last neighbour that both records kept.
        lost = (row > 0) & ~kept[record]
        assert (row[lost] <= np.minimum(found.furthest[record], found.furthest[lost]) + 1e-9).all()


def test_of_equally_similar_others_the_first_are_kept():
    """Exchanging beta and gama only exchanges records 1 and 2, and 3 and 4, so alpha is as similar to both, and keeps
    the first. Each of the two is more similar to the text with the rarer word alone. Records with one text are pairs.
    """
    names = pd.DataFrame({"name": ["alpha", "alpha beta", "alpha gama", "beta", "gama"]})
    assert nearest_pairs(names, neighbours=1).pairs.tolist() == [[0, 1], [1, 3], [2, 4]]
    near = nearest_pairs(names.iloc[[0, 1, 2, 1, 2]].reset_index(drop=True), neighbours=1)
    assert near.pairs.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4], [1, 3], [2, 4]]
    assert near.furthest.tolist() == [near.similarity[0]] * 5


def test_records_of_one_table_are_no_candidates_and_identical_texts_are_known():
    two = pd.concat([RECORDS.assign(list="a"), RECORDS.assign(list="b")], ignore_index=True)
    found = nearest_pairs(two, table="list", neighbours=3)
    assert len(found.pairs) and (found.pairs[:, 0] < len(RECORDS)).all() and (found.pairs[:, 1] >= len(RECORDS)).all()
    distinct = ~RECORDS.drop(columns=["id", "label"]).duplicated(keep=False)
    expected = [[i, i + len(RECORDS)] for i in np.flatnonzero(distinct)]
    # A text that is twice in one table proves nothing, so only texts that are once in each are named.
    assert found.identical.tolist() == expected


@pytest.mark.parametrize("texts", [[], ["one"], ["", ""], ["!", "?"], ["é", "é", "É"], [None, np.nan, 3.5]])
def test_few_empty_and_odd_texts(texts):
    found = nearest_pairs(pd.DataFrame({"name": pd.Series(texts, dtype=object)}))
    assert found.n == len(texts) and len(found.furthest) == len(texts)
    assert len(found.identical) == (2 if "é" in texts else 0)  # in lower case; an empty text is not known to match
