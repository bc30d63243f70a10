"""Scored pairs from other programs: whatever their table looks like, the questions are those of the plain matrix."""

import logging
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
from crowder_tool.scored_pairs import from_pairs
from crowder_tool.tables import ScoredOrdering

LABELS = np.array([0, 0, 0, 1, 1, 2, 3, 3])
KINDS = {
    "text": lambda i: f"r{i}",
    "from one": lambda i: i + 1,
    "UUID": lambda i: UUID(int=i),
    "tuple": lambda i: ("table", i),
    "text and numbers": lambda i: i if i % 2 else f"{i}",
}


def pairs_and_scores(seed=5):
    """Two thirds of the pairs of eight records, in random order and direction, with different scores."""
    rng = np.random.default_rng(seed)
    pairs = np.array(np.triu_indices(8, 1)).T
    pairs = rng.permutation(pairs)[:18]
    return np.where(rng.random((18, 1)) < 0.5, pairs, pairs[:, ::-1]), rng.permutation(18) / 20


def table_of(kind, names=("left", "right", "score"), seed=5):
    pairs, scores = pairs_and_scores(seed)
    columns = [[KINDS[kind](i) for i in side] for side in pairs.T.tolist()]
    return pd.DataFrame(dict(zip(names, [*columns, scores], strict=True)))


def named_questions(pairs, labels):
    """The identifiers asked about, in order."""
    run = ScoredOrdering(pairs, rng=1).run(cr.Truth(labels))
    return [frozenset((pairs.ids[i], pairs.ids[j])) for i, j in run.queries]


@pytest.mark.parametrize("kind", KINDS)
def test_the_questions_are_those_of_the_matrix(kind):
    # Without ties, edge ordering does not depend on how records are numbered; so the identifiers asked about are those
    # of a sparse matrix with the records' own numbers.
    frame = table_of(kind)
    (i, j), scores = pairs_and_scores()[0].T, pairs_and_scores()[1]
    plain = cr.EdgeOrdering(sparse.coo_array((scores, (i, j)), shape=(8, 8)), rng=1).run(cr.Truth(LABELS))
    name, pairs = KINDS[kind], from_pairs(frame)
    assert (
        pairs.ids == list(dict.fromkeys(x for row in zip(frame.left, frame.right, strict=True) for x in row))
        and len(pairs.ids) == 8
    )
    number = {name(x): x for x in range(8)}
    labels = LABELS[[number[x] for x in pairs.ids]]
    assert named_questions(pairs, labels) == [frozenset((name(i), name(j))) for i, j in plain.queries.tolist()]
    run = ScoredOrdering(pairs, rng=1).run(cr.Truth(labels))
    table = pairs.table(run)
    assert table["id"].tolist() == pairs.ids and table["cluster"].tolist() == run.clusters.tolist()
    assert table.equals(pairs.table(run.clusters))
    resolved = cr.beyond.resolve([(0, 1, "yes"), (2, 3, "yes"), (0, 2, "no")], n=8, rng=1)
    assert pairs.table(resolved)["cluster"].tolist() == resolved.clusters.tolist()
    place, w = {name: x for x, name in enumerate(pairs.ids)}, pairs.similarity.tocsr()
    assert all(w[place[a], place[b]] + w[place[b], place[a]] == s for a, b, s in frame.itertuples(index=False))


@pytest.mark.parametrize("names", [("unique_id_l", "unique_id_r", "match_probability"), ("id1", "id2", "similarity"),
                                   ("ltable_id", "rtable_id", "score"), ("x", "y", "z")])  # fmt: skip
def test_names_of_columns(names):
    expected, frame = from_pairs(table_of("text")), table_of("text", names).assign(note="", match_weight=-3.0)
    made = from_pairs(frame, *names) if names[0] == "x" else from_pairs(frame)
    assert made.ids == expected.ids and (made.similarity != expected.similarity).nnz == 0
    if names[0] == "x":
        with pytest.raises(ValueError, match="left, right must name 2 of the columns 'x', 'y', 'z', 'note'"):
            from_pairs(frame)
        with pytest.raises(
            ValueError, match="score must name 1 of the columns 'x', 'y', 'z', 'note', 'match_weight', s"
        ):
            from_pairs(frame, "x", "y")


def test_tables_of_other_libraries():
    frame = table_of("from one")
    expected, pyarrow = from_pairs(frame), pytest.importorskip("pyarrow")
    tables = [
        pyarrow.Table.from_pandas(frame),
        frame.set_index(["left", "right"]),
        frame.set_index(["left", "right"])["score"],
    ]
    tables += [frame.rename_axis("row").convert_dtypes(), frame.set_index(["left", "right"]).rename_axis([None, None])]
    for table in tables:
        made = from_pairs(table)
        assert made.ids == expected.ids and (made.similarity != expected.similarity).nnz == 0


def test_scores():
    frame = table_of("text")
    assert (from_pairs(frame.astype({"score": str})).similarity != from_pairs(frame).similarity).nnz == 0
    slack = frame.assign(score=frame.score.replace({0.85: 1.0000000000000002, 0.0: -1e-17}))
    assert from_pairs(slack).similarity.max() == 1 and from_pairs(slack).similarity.min() == 0


def test_duplicate_rows_count_once():
    frame = table_of("text")
    turned = frame.rename(columns={"left": "right", "right": "left"})
    twice = from_pairs(pd.concat([frame, turned, frame], ignore_index=True))
    assert (twice.similarity != from_pairs(frame).similarity).nnz == 0
    with pytest.raises(
        ValueError, match=r"rows 3 and 18 must have one score, since both are of 'r\d' and 'r\d', not two"
    ):
        from_pairs(pd.concat([frame, turned.iloc[3:4].assign(score=0.99)], ignore_index=True))


def test_every_pair_is_complete():
    # Evidence ordering and stopping need every pair; the scores must then be where a condensed vector has them.
    i, j = np.triu_indices(6, 1)
    data = cr.datasets.synthetic([3, 2, 1], cr.dist1(0.3), rng=3)
    rows = np.random.default_rng(2).permutation(15)  # any order
    frame = pd.DataFrame({"left": i[rows], "right": j[rows], "score": data.condensed[rows]})
    pairs = from_pairs(frame)
    assert pairs.candidates.complete
    order = np.array(pairs.ids)
    assert np.allclose(pairs.candidates.square(), data.similarity[order][:, order] * (1 - np.eye(6)))
    run = cr.beyond.EvidenceOrdering(pairs.candidates, rng=1).run(cr.Truth(data.labels[order]))
    assert run.recall(data.labels[order])[-1] == 1


def linkage(n=12):
    """Two tables with the same identifiers 1 to n, and every pair of them scored."""
    i, j = np.indices((n, n)).reshape(2, -1)
    score = np.where(i == j, 0.9, 0.5) - (i * n + j) / 1000
    return pd.DataFrame({"unique_id_l": i + 1, "unique_id_r": j + 1, "match_probability": score,
                         "source_dataset_l": "a",
                         "source_dataset_r": "b"})  # fmt: skip


def test_tables_and_one_to_one():
    # Each record of one table matches one of the other: n matches settle all, whichever way the tables are told.
    frame, labels = linkage(), None
    bare = frame[["unique_id_l", "unique_id_r", "match_probability"]]
    unique = bare.assign(unique_id_l="a" + bare.unique_id_l.astype(str), unique_id_r="b" + bare.unique_id_r.astype(str))
    for pairs in (
        from_pairs(frame, one_to_one=True),
        from_pairs(frame, tables=("source_dataset_l", "source_dataset_r")),
        from_pairs(bare, one_to_one=True),
        from_pairs(unique, one_to_one=True),
    ):
        labels = [int(str(name).lstrip("ab")) for name in pairs.ids]
        run = ScoredOrdering(pairs, rng=1).run(cr.Truth(labels))
        assert len(pairs.ids) == 24 and run.n_queries == 12 and run.recall(labels)[-1] == 1
        assert pairs.table(run)["table"].nunique() == 2 and pairs.table(run).columns.tolist() == [
            "id",
            "table",
            "cluster",
        ]
    apart = from_pairs(frame)  # splink's sources only tell identifiers apart: a table may have duplicates
    assert len(apart.ids) == 24 and ScoredOrdering(apart, rng=1).run(cr.Truth(labels)).n_queries == 12 + 12 * 11 // 2


def test_no_pairs():
    empty = from_pairs(FRAME.iloc[:0])
    assert ScoredOrdering(empty, rng=1).ask() is None and empty.table([]).empty
    with pytest.raises(ValueError, match="labels must have an entry for each of the 3 records"):
        from_pairs(FRAME).table([0, 1])


FRAME = pd.DataFrame({"left": ["a", "a", "b"], "right": ["b", "c", "c"], "score": [0.9, 0.5, 0.1]})


@pytest.mark.parametrize("change, settings, message", [
    ({"score": [0.9, np.nan, 0.1]}, {}, "score in row 1 must be in [0, 1], not nan; pass probabilities"),
    ({"score": list("xyz")}, {}, "score in row 0 must be in [0, 1], not x; pass probabilities"),
    ({"score": np.array([0.9, 0.5j, 0.1])}, {}, "score in row 0 must be in [0, 1], not (0.9+0j); pass probabilities"),
    ({"score": pd.Series([0.9, 0.5j, 0.1], dtype=object)}, {}, "score in row 1 must be in [0, 1], not 0.5j; pass"),
    ({"score": pd.Series([0.9, 10**400, 0.1], dtype=object)}, {}, "score in row 1 must be in [0, 1], not 1000"),
    ({"left": pd.Series(["a", "\ud800", "b"], dtype=object)}, {}, "identifiers and tables must have whole"),
    ({"score": [0.9, 7.2, 0.1]}, {}, "score in row 1 must be in [0, 1], not 7.2; pass probabilities (of splink,"),
    ({"left": ["a", None, "b"]}, {}, "column 'left' must have no missing value, as in row 1"),
    ({"right": ["b", "a", "c"]}, {}, "row 1 must be two different records, not 'a' and 'a'; remove such rows"),
    ({"right": [1, 2, 3]}, {}, "left and right must have identifiers of one kind, not 'a' and 1: convert one of them"),
    ({}, {"left": "a"}, "left, right must name 2 of the columns 'left', 'right', 'score', not 'a', None"),
    ({}, {"left": "left", "right": "left"}, "left, right must name 2 of the columns"),
    ({}, {"tables": ("left",)}, "tables must name 2 of the columns"),
    ({}, {"tables": (None, None)}, "tables must name 2 of the columns 'left', 'right', 'score', since"),
    ({"right": ["a", "c", "c"], "t": 1, "u": [2, 2, 2]}, {"tables": ("t", "t")}, "tables must name 2 of the columns"),
    ({"t": 1, "u": [1, 2, 2]}, {"tables": ("t", "u")},
     "row 0 must be of two tables, as two records of one never match, not 'a' and 'b'; remove such rows or, if a"),
])  # fmt: skip
def test_values_refused(change, settings, message):
    with pytest.raises(ValueError) as caught:
        from_pairs(FRAME.assign(**change), **settings)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("frame, settings, message", [
    ("pairs.csv", {}, "frame must be a table, such as a DataFrame (of pandas.read_csv), not 'pairs.csv'"),
    (FRAME.assign(left=[[1], [2], [3]], right=[[2], [3], [4]]), {}, "identifiers and tables must be hashable"),
    (FRAME, {"tables": 3}, "tables must be two columns, not 3"),
    (FRAME, {"one_to_one": "no"}, "one_to_one must be True or False"),
])  # fmt: skip
def test_types_refused(frame, settings, message):
    with pytest.raises(TypeError) as caught:
        from_pairs(frame, **settings)
    assert str(caught.value).startswith(message)


# --- the libraries themselves, where they are installed ---------------------------------------------------------------

PEOPLE = pd.DataFrame({
    "unique_id": [*range(1, 9)], "first": ["ann", "anne", "bob", "bob", "cy", "cyd", "di", "di"],
    "last": ["lee", "lee", "ray", "ray", "fox", "fox", "poe", "poe"],
})  # fmt: skip
TRUE = dict(zip(range(1, 9), [0, 0, 1, 1, 2, 2, 3, 3], strict=True))


@pytest.mark.parametrize("link", ["dedupe_only", "link_only", "link_and_dedupe"])
def test_splink(link):
    splink = pytest.importorskip("splink")
    logging.getLogger("splink").setLevel(logging.ERROR)
    cl, database = pytest.importorskip("splink.comparison_library"), splink.DuckDBAPI()
    tables = [PEOPLE] if link == "dedupe_only" else [PEOPLE.iloc[::2].copy(), PEOPLE.iloc[1::2].copy()]
    settings = splink.SettingsCreator(link_type=link, blocking_rules_to_generate_predictions=["1=1"], comparisons=[
        cl.JaroWinklerAtThresholds("first", [0.8]), cl.ExactMatch("last")])  # fmt: skip
    registered = [database.register(table) for table in tables]
    linker = splink.Linker(registered if len(tables) > 1 else registered[0], settings)
    predictions = linker.inference.predict()
    for frame in (predictions, predictions.as_pandas_dataframe(), predictions.as_pyarrow_table()):
        pairs = from_pairs(frame, one_to_one=link == "link_only")
        labels = [TRUE[x] for x in pairs.ids]
        run = ScoredOrdering(pairs, rng=1).run(cr.Truth(labels))
        assert len(pairs.ids) == 8 and run.recall(labels)[-1] == 1
        assert run.n_queries == (4 if link == "link_only" else 4 + 6)  # each pair, and the four if they may match
