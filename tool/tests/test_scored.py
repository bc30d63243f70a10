"""Scored pairs from other programs: whatever their records are called, the questions are those of the plain matrix."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
from crowder_tool.scored import ScoredOrdering, from_pairs

LABELS = np.array([0, 0, 0, 1, 1, 2, 3, 3])
KINDS = {
    "text": lambda i: f"r{i}",
    "tuples": lambda i: ("table", i),
    "text and numbers": lambda i: i if i % 2 else f"{i}",
}
FRAME = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "c", "c"], "score": [0.9, 0.5, 0.1]})


def same(one, other):
    """Whether two tables had the same pairs of the same records with the same scores."""
    lists = [(made.ids, *(part.tolist() for part in made.candidates.listed())) for made in (one, other)]
    return lists[0] == lists[1]


@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_the_questions_are_those_of_the_matrix(name):
    """Without ties, edge ordering does not depend on how records are numbered; so the identifiers asked about are those
    of a sparse matrix with the records' own numbers: two thirds of the pairs, in random order and direction."""
    rng = np.random.default_rng(5)
    i, j = rng.permuted(rng.permutation(np.array(np.triu_indices(8, 1)).T)[:18], axis=1).T
    scores = rng.permutation(18) / 20
    plain = cr.EdgeOrdering(sparse.coo_array((scores, (i, j)), shape=(8, 8)), rng=1).run(cr.Truth(LABELS))
    frame = pd.DataFrame({"left": [*map(name, i.tolist())], "right": [*map(name, j.tolist())], "score": scores})
    pairs, number = from_pairs(frame), {name(x): x for x in range(8)}
    assert pairs.ids == list(dict.fromkeys(frame[["left", "right"]].to_numpy().ravel()))  # by first appearance
    run = ScoredOrdering(pairs, rng=1).run(cr.Truth(LABELS[[number[x] for x in pairs.ids]]))
    asked = [{number[pairs.ids[i]], number[pairs.ids[j]]} for i, j in run.queries]
    assert asked == [{*pair} for pair in plain.queries.tolist()]
    table = pairs.table(run)
    assert table["id"].tolist() == pairs.ids and table["cluster"].tolist() == run.clusters.tolist()
    resolved = cr.beyond.resolve([(0, 1, "yes"), (2, 3, "yes"), (0, 2, "no")], n=8, rng=1)
    assert pairs.table(resolved)["cluster"].tolist() == resolved.clusters.tolist()


def test_usual_names_of_columns_are_recognised_and_others_named():
    for names in (["unique_id_l", "unique_id_r", "match_probability"], ["ltable_id", "rtable_id", "similarity"]):
        assert same(from_pairs(FRAME.set_axis(names, axis=1).assign(match_weight=-3.0)), from_pairs(FRAME))
    with pytest.raises(
        ValueError, match=r"the columns unique_id_l, unique_id_r or left, right or .*, not 'x', 'right'"
    ):
        from_pairs(FRAME.rename(columns={"left": "x"}))


def test_scores_may_be_text_and_miss_the_interval_by_a_rounding_error():
    assert same(from_pairs(FRAME.astype({"score": str})), from_pairs(FRAME))
    slack = from_pairs(FRAME.assign(score=[1.0000000000000002, 0.5, -1e-17]))
    assert slack.candidates.listed()[0].tolist() == [1.0, 0.5, 0.0]


def test_duplicate_rows_count_once():
    turned = FRAME.rename(columns={"left": "right", "right": "left"})
    assert same(from_pairs(pd.concat([FRAME, turned, FRAME])), from_pairs(FRAME))
    with pytest.raises(ValueError, match="rows 1 and 3 must have one score, since both are of 'a' and 'c', not two"):
        from_pairs(pd.concat([FRAME, turned.iloc[1:2].assign(score=0.99)]))


def test_every_pair_is_complete():
    """Evidence ordering and stopping need every pair; the scores must then be where a condensed vector has them."""
    i, j = np.triu_indices(6, 1)
    data = cr.datasets.synthetic([3, 2, 1], cr.dist1(0.3), rng=3)
    rows = np.random.default_rng(2).permutation(15)  # any order
    pairs = from_pairs(pd.DataFrame({"left": i[rows], "right": j[rows], "score": data.condensed[rows]}))
    order = np.array(pairs.ids)
    assert np.allclose(pairs.candidates.square(), data.similarity[order][:, order] * (1 - np.eye(6)))
    run = cr.beyond.EvidenceOrdering(pairs.candidates, rng=1).run(cr.Truth(data.labels[order]))
    assert run.recall(data.labels[order])[-1] == 1


def test_two_records_of_one_table_never_match():
    """Both tables number their records from 1 to 12, and every pair across them is scored. Each record matches one of
    the other table: 12 matches settle all, whether columns name the tables or the sides do; one question more, of at
    most thirty, tries out that no table has duplicates."""
    i, j = np.indices((12, 12)).reshape(2, -1)
    scores = np.where(i == j, 0.9, 0.5) - np.arange(144) / 1000
    bare = pd.DataFrame({"unique_id_l": i + 1, "unique_id_r": j + 1, "match_probability": scores})
    named = bare.assign(source_dataset_l="a", source_dataset_r="b")
    for frame, tables in ((named, {"a", "b"}), (bare, {"left", "right"})):
        pairs = from_pairs(frame, one_to_one=True)
        run = ScoredOrdering(pairs, rng=1).run(cr.Truth(pairs.ids))
        assert len(pairs.ids) == 24 and run.n_queries == 12 + 1 and run.recall(pairs.ids)[-1] == 1
        assert {*pairs.table(run)["table"]} == tables
    apart = from_pairs(named)  # these columns alone only tell identifiers apart: a table may have duplicates
    assert len(apart.ids) == 24 and ScoredOrdering(apart, rng=1).run(cr.Truth(apart.ids)).n_queries == 12 + 12 * 11 // 2


def test_no_pairs():
    empty = from_pairs(FRAME.iloc[:0])
    assert ScoredOrdering(empty, rng=1).ask() is None and empty.table([]).empty
    with pytest.raises(ValueError, match="labels must have an entry for each of the 3 records"):
        from_pairs(FRAME).table([0, 1])


@pytest.mark.parametrize("change, settings, message", [
    ({"score": ["0.9", 0.5 + 1j, 0.1]}, {}, "score in row 1 must be in [0, 1], not (0.5+1j); pass probabilities"),
    ({"score": list("xyz")}, {}, "score in row 0 must be in [0, 1], not x; pass probabilities"),
    ({"score": [0.9, 7.2, 0.1]}, {}, "score in row 1 must be in [0, 1], not 7.2; pass probabilities (of splink,"),
    ({"left": ["a", None, "b"]}, {}, "column 'left' must have no missing value, as in row 1"),
    ({"right": ["b", "a", "c"]}, {}, "row 1 must be two different records, not 'a' and 'a'; remove such rows"),
    ({"right": [1, 2, 3]}, {}, "left and right must have identifiers of one kind, not 'a' and 1: convert one of them"),
    ({"source_dataset_l": 1, "source_dataset_r": [1, 2, 2]}, {"one_to_one": True},
     "row 0 must be of two tables, as two records of one never match, not 'a' and 'b'; remove such rows or, if a"),
])  # fmt: skip
def test_values_refused(change, settings, message):
    with pytest.raises(ValueError) as caught:
        from_pairs(FRAME.assign(**change), **settings)
    assert str(caught.value).startswith(message)
