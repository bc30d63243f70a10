"""Planning a run: the mixture of merges, plausible clusterings, batches, files of questions and answers."""

import functools
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.noisy_queries import NoisyQueries
from crowder.people import people
from crowder.practice.batch import STRATEGIES, next_questions, ordering_with_answers, question_batch
from crowder.practice.planner.clusterings import PlausibleClusterings
from crowder.practice.planner.cuts import fit_cut, linkage_tree, shuffled_fields, shuffled_merge_heights
from crowder.practice.sheets import (
    SheetAnswers,
    escape_markup,
    expand_paths,
    next_sheet_path,
    question_sheet,
    read_answers,
    read_votes,
)


def said(known, i, j, n):
    """What answers imply about (i, j): Floyd and Warshall's paths, by their number of non-matches (0, 1, more)."""
    cost = np.full((n, n), 2)
    np.fill_diagonal(cost, 0)
    for (a, b), same in known.items():
        cost[a, b] = cost[b, a] = 0 if same else 1
    for v in range(n):
        cost = np.minimum(cost, cost[:, [v]] + cost[[v]])
    return {0: True, 1: False}.get(int(cost[i, j]))


def run(way, values, labels, size, rng=3):
    """Ask in batches until nothing is open: answers in order, and the batches with what was known before each."""
    known, batches = {}, []
    while chosen := question_batch(way, values, size, list(known), list(known.values()), rng=rng):
        batches.append((dict(known), chosen))
        known |= {(i, j): bool(labels[i] == labels[j]) for i, j in chosen}
    return known, batches


@st.composite
def crowds(draw):
    n = draw(st.integers(2, 7))
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    # Few values, so that there are ties.
    values = draw(st.lists(st.integers(0, 5), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return np.array(values) / 5, np.array(labels), draw(st.integers(1, 4))


# --- batches ------------------------------------------------------------------------------------------------------


@given(crowds(), st.sampled_from(sorted(STRATEGIES)))
@settings(deadline=None, max_examples=40)
def test_no_question_of_a_batch_is_implied_by_answers_to_the_others(crowd, way):
    values, labels, size = crowd
    known, batches = run(way, values, labels, size)
    n = len(labels)
    for before, chosen in batches:
        assert 1 <= len(chosen) <= size
        for q, pair in enumerate(chosen):
            rest = chosen[:q] + chosen[q + 1 :]
            for answers in product([True, False], repeat=len(rest)):
                assert said(before | dict(zip(rest, answers, strict=True)), *pair, n) is None
    # In the end everything is settled, nothing was asked twice, and what is known is the truth.
    assert len({tuple(sorted(pair)) for pair in known}) == len(known)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        assert said(known, i, j, n) == (labels[i] == labels[j])


@given(crowds())
@settings(deadline=None, max_examples=40)
def test_edge_ordering_in_batches_asks_what_it_asks_one_by_one(crowd):
    values, labels, size = crowd
    known, _ = run("edge", values, labels, size)
    plain = cr.EdgeOrdering(values, rng=3).run(cr.Truth(labels))
    assert {tuple(sorted(pair)) for pair in known} == {tuple(sorted(pair)) for pair in plain.queries.tolist()}


def test_a_large_batch_is_as_large_as_can_be_at_the_start():
    # Nobody knows anything: a spanning forest of 40 records has 39 questions, and more would close a circle.
    values = np.random.default_rng(1).random(780)
    for way in STRATEGIES:
        lengths = [len(question_batch(way, values, size, rng=1)) for size in (1, 2, 38, 39, 40, 1000)]
        assert lengths == [1, 2, 38, 39, 39, 39]


def test_an_informed_ordering_goes_on_where_the_answers_end():
    data = cr.datasets.synthetic([5, 4, 3], cr.dist1(0.5), rng=4)
    whole = cr.EdgeOrdering(data.similarity, rng=1).run(cr.Truth(data.labels))
    half = len(whole.queries) // 2
    pairs, same = whole.queries[:half], whole.answers[:half]
    ordering = ordering_with_answers("edge", data.condensed, pairs.tolist(), same.tolist(), rng=1)
    rest = ordering.run(cr.Truth(data.labels))
    assert rest.queries.tolist() == whole.queries.tolist()
    with pytest.raises(ValueError, match="strategy must"):
        ordering_with_answers("best", [0.5], rng=1)
    with pytest.raises(ValueError, match="size, the number of questions, must"):
        question_batch("edge", [0.5], 0, rng=1)


# --- mixture and sizes --------------------------------------------------------------------------------------------


def test_shuffling_keeps_what_a_column_holds_and_ends_resemblance():
    records = people([6] * 10, mistakes=0, rng=1)[["name", "street", "city", "birth"]]
    other = shuffled_fields(records, rng=2)
    for field in records:
        assert sorted(other[field]) == sorted(records[field])
    # Ten people, six times each without a mistake: all 50 right merges are at 1; shuffled, few are.
    assert (1 - linkage_tree(cr.similarity.compute(records, "jaccard-tokens"))[:, 2] == 1).sum() == 50
    assert (shuffled_merge_heights(records, "jaccard-tokens", rng=2) == 1).sum() < 10


def test_the_level_parts_clean_duplicates_from_strangers():
    for sizes in ([2] * 40 + [1] * 60, [1] * 100, [25] * 4, [5] * 8 + [1] * 60):
        records = people(sizes, mistakes=0.5, rng=5)
        plan = cr.Plan(records, strategies=("edge",), rng=1)
        low, middle, high = plan.n_clusters
        assert low <= len(sizes) <= high and abs(middle / len(sizes) - 1) < 0.25, sizes


def test_answers_move_the_level():
    records = people([3] * 20 + [1] * 20, mistakes=1.5, rng=3)
    fields = records[["name", "street", "city", "birth"]]
    values = cr.similarity.compute(fields, "jaccard-qgrams")
    i, j = np.triu_indices(len(records), 1)
    pairs = np.stack([i, j], axis=1)[np.argsort(-values)[:200:5]]
    none, low, high = (fit_cut(fields, "jaccard-qgrams", values, pairs[:m], [same] * m, rng=1)
                       for m, same in ((0, True), (40, True), (40, False)))  # fmt: skip
    # All "same" says that the level is lower, all "different" that it is higher.
    assert low.weight @ low.height < none.weight @ none.height < high.weight @ high.height
    assert none.weight.sum() == pytest.approx(1)


def test_known_pairs_shape_the_tree():
    values = np.array([0.9, 0.1, 0.2, 0.3, 0.4, 0.8])
    # 0 and 1 resemble each other most, but differ; 0 and 3 match, though they hardly resemble each other.
    joined = linkage_tree(values, [(0, 1), (3, 0)], [False, True])
    assert 1 - joined[0, 2] > 1.5 and set(joined[0, :2]) == {0, 3}
    assert 1 - joined[-1, 2] < -1000
    clusters = fcluster(np.c_[joined[:, :2], joined[:, 2] + 1, joined[:, 3]], 2, "distance")
    assert clusters[0] == clusters[3] != clusters[1]


@given(st.integers(0, 10_000))
@example(333)  # a match that follows from two others, of records that are hardly similar
@settings(deadline=None, max_examples=15)
def test_plausible_clusterings_keep_every_answer(seed):
    rng = np.random.default_rng(seed)
    records = people([3] * 4 + [1] * 6, mistakes=1.5, rng=rng)
    truth = np.unique(records["label"], return_inverse=True)[1]
    i, j = np.triu_indices(len(records), 1)
    some = rng.permutation(len(i))[:20]
    pairs, same = np.stack([i, j], axis=1)[some], (truth[i] == truth[j])[some]
    plan_values = cr.similarity.compute(records, fields=["name", "city"])
    levels = fit_cut(records[["name", "city"]], "jaccard-tokens", plan_values, pairs, same, rng=1)
    drawn = PlausibleClusterings(plan_values, levels, pairs, same, rng=2)
    for quantile in (0.0, 0.5, 0.99):
        labels = drawn.labels(quantile)
        assert ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == same).all()
    assert (np.diff(drawn.k) >= 0).all() and len(np.unique(drawn.labels(0.5))) == drawn.k[200]


# --- the plan -----------------------------------------------------------------------------------------------------


class Decided(PlausibleClusterings):
    """Clusterings of a tree of merges, each of them decided beforehand."""

    def __init__(self, merges, accepted):
        heights, counts = np.arange(len(merges)), np.zeros(len(merges))
        self._tree = np.column_stack([np.array(merges), heights, counts])
        self._order, self.decided = np.arange(10_000), np.array(accepted)

    def _accepted(self, d):
        return self.decided


@pytest.mark.parametrize(("accepted", "labels"), [
    ([True, True, False, True], [0, 0, 0, 1, 0]),  # 3 is refused by {0, 1, 2}, which is the larger and takes 4 in
    ([True, True, True, False], [0, 0, 0, 0, 1]),
    ([False, False, False, True], [0, 1, 2, 3, 0]),  # of equals the first goes on: 0, then 0 again, and it takes 4 in
    ([False, True, True, False], [0, 1, 0, 0, 2]),
])  # fmt: skip
def test_of_a_group_of_several_clusters_the_largest_goes_on_to_merge(accepted, labels):
    """By hand, record after record: ((((0, 1), 2), 3), 4), in scipy's numbering of merges."""
    found = Decided([(0, 1), (5, 2), (6, 3), (7, 4)], accepted).labels(0.5)
    assert np.unique(found, return_index=True)[1].size == len(set(labels))
    assert (found[:, None] == found).tolist() == (np.array(labels)[:, None] == labels).tolist()


def test_the_interval_holds_nearly_as_often_as_it_says():
    """Nominally nine of ten; a seed of its own, other sizes and other functions than the chapter's."""
    held, size = [], []
    for seed in range(12):
        rng = np.random.default_rng([11, seed])
        sizes = rng.choice([1, 1, 2, 3, 5], size=int(rng.integers(10, 40)))
        records = people(sizes, mistakes=float(rng.choice([0.3, 1.0, 1.8])), rng=rng)
        name = ("levenshtein", "jaccard-qgrams", "tfidf-cosine")[seed % 3]
        plan = cr.Plan(records, name, strategies=("edge",), rng=seed)
        low, middle, high = plan.questions("edge")
        held.append(low <= plan.actual_runs["edge"].n_queries <= high)
        size.append(np.log(middle / plan.actual_runs["edge"].n_queries))
    # Of twelve, fewer than eight hold by accident once in two thousand times, if nine of ten do.
    assert sum(held) >= 8
    assert abs(np.median(size)) < 0.3


def test_answers_narrow_the_plan_to_the_truth():
    records = people([3] * 7 + [1] * 7, rng=2)
    truth = np.unique(records["label"], return_inverse=True)[1]
    answers, widths = SheetAnswers(len(records)), []
    while True:
        plan = cr.Plan(records, strategies=("edge",), answers=answers, rng=5)
        low, _, high = plan.questions("edge")
        widths.append(high - low)
        if plan.done:
            break
        for i, j in plan.batch(60):
            answers.add(i, j, bool(truth[i] == truth[j]), "here")
    assert widths[-1] == 0 and widths[len(widths) // 2] < widths[0] / 2
    assert low == plan.n_answers == cr.EdgeOrdering(plan.condensed, rng=5).run(cr.Truth(truth)).n_queries
    assert len(plan.clusters_so_far["cluster"].unique()) == 14


@pytest.mark.parametrize("sizes", [[1], [2], [1, 1], [3], [1, 1, 1], [2, 1], [12], [1] * 12])
def test_few_records_all_duplicates_and_none(sizes):
    plan = cr.Plan(people(sizes, rng=1), rng=1, votes=3, price=0.1)
    table = plan.table
    assert table["strategy"].tolist() == list(STRATEGIES)
    assert (table["from"] <= table["questions"]).all() and (table["questions"] <= table["to"]).all()
    assert table["cost"].tolist() == pytest.approx((table["questions"] * 3 * 0.1).tolist())
    n = sum(sizes)
    assert (table["to"] <= n * (n - 1) // 2).all()
    assert plan.recall("edge")["recall"].iloc[-1] == 1
    assert bool(plan.batch(3)) == (n > 1)
    assert len(plan.sheet(3)) == len(plan.batch(3))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_a_sheet_shows_each_pair_with_its_own_similarity(strategy):
    """Against the square array, where a pair is found by its two rows; the sheet goes by its place in the condensed."""
    plan = cr.Plan(people([3, 2, 1, 1], rng=1), strategy=strategy, rng=1)
    sheet, place = plan.sheet(20), {name: at for at, name in enumerate(plan.records["id"])}
    square = squareform(plan.condensed)
    shown = [f"{square[place[a], place[b]]:.4f}" for a, b in zip(sheet["id_a"], sheet["id_b"], strict=True)]
    assert sheet["similarity"].tolist() == shown
    assert len(set(shown)) > 2  # were they all alike, any place would do


def test_a_plan_refuses_what_is_none():
    records = people([2, 1], rng=1)
    for bad in ({"similarity": "best"}, {"strategy": "best"}, {"votes": 2}, {"price": -1.0}, {"price": "dear"}):
        with pytest.raises(ValueError):
            cr.Plan(records, **bad)


def test_an_empty_cell_and_one_column_are_no_trouble():
    records = pd.DataFrame({"id": list("abcdef"), "name": ["Ann Lee", "", "Anne Lee", "Bo", "", "Bo Fox"]})
    records.loc[[1, 4], "name"] = ["x", "y"]
    low, _, high = cr.Plan(records, rng=1).questions("edge")
    assert 5 <= low <= high <= 15


def test_cora_is_planned_from_its_text(cora_frame):
    some = cora_frame[cora_frame["label"].isin(cora_frame["label"].unique()[::4])]
    plan = cr.Plan(some.reset_index(drop=True), "jaccard-tokens", strategies=("edge",), rng=1)
    low, _, high = plan.questions("edge")
    assert low <= plan.actual_runs["edge"].n_queries <= high


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same\nx,q,yes\n", "row 2, column 'id_b'"),
    ("id_a,id_b,same\n,y,yes\n", "row 2, column 'id_a'"),
    ("id_a,id_b,same\nx,x,yes\n", "row 2, column 'id_b'"),
    ("id_a,id_b,same\n\nx,y,maybe\n", "row 3, column 'same': the answer must be yes, no, unsure or blank, not 'maybe'"),
    ("id_a,id_b,same\nx,y,yes\ny,x,no\n", "row 3, column 'same', about 'y' and 'x': a pair must"),
    ("id_a,id_b,same\nx,y,yes\nx,y,yes\n", "row 3, column 'same', about 'x' and 'y': a pair must"),
    ("id_a,id_b,same\nx,y,1\ny,z,TRUE\nx,z,0\n", "row 4, column 'same', about 'x' and 'z': the answer \"no\" "
     "contradicts row 2 and row 3"),
    ("id_a,id_b,same\nx,y,1\ny,z,f\n", "row 3, column 'same': the answer must"),
    ("id_a,id_b,same\nx,y,Yes\nz,w,y\ny,z,no\nw,x,yes\n", "row 5, column 'same', about 'w' and 'x': the "
     "answer \"yes\" contradicts row 3, row 4 and row 2, which imply \"no\""),
    ("id_a,id_b,same,worker\nx,y,yes,ann\ny,x,no,bob\n", "row 3, column 'same', about 'y' and 'x': a pair must be "
     "answered only once, but this one is also in row 2"),
    ("id_a,id_b,same\nx,y,yes\ny,z,Unsure\n", "row 3, column 'same', about 'y' and 'z': the answer \"unsure\" settles "
     "nothing for an ordering; ask somebody else"),
    ("id_a,id_b\nx,y\n", "column 'same' must"),
    ("id_a,id_b,same\nx,y\n", "row 2 has 2 cells, but the header has 3: column 'same'"),
    ("", "the file must have a header"),
])  # fmt: skip
def test_a_bad_file_of_answers_is_refused_with_row_and_column(tmp_path, text, message):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        read_answers(path, list("wxyz"))
    assert str(error.value).startswith(str(path)) and message in str(error.value)


@given(st.integers(2, 6), st.data())
@settings(deadline=None, max_examples=80)
def test_an_answer_is_refused_exactly_when_the_others_imply_the_opposite(n, data):
    """Answers at random, each held against the paths of those before; two answers "different" imply nothing."""
    pairs = data.draw(st.permutations([(i, j) for i in range(n) for j in range(i + 1, n)]))
    answers, known = SheetAnswers(n), {}
    for row, (i, j) in enumerate(pairs):
        same = data.draw(st.booleans())
        if said(known, i, j, n) is (not same):
            with pytest.raises(ValueError, match="contradicts"):
                answers.add(i, j, same, f"row {row}")
        else:
            answers.add(i, j, same, f"row {row}")
            known[i, j] = same
    assert dict(zip(answers.pairs, answers.same, strict=True)) == known


def test_answers_are_read_from_several_files_and_blank_ones_are_none(tmp_path):
    (tmp_path / "q-2.csv").write_text("same,id_b,id_a\n,w,x\nno,z,y\n,,\n")
    (tmp_path / "q-10.csv").write_text("id_a,id_b,same\nz,x,0\n")
    paths = expand_paths(f"{tmp_path}/q-*.csv")
    assert [path[-8:] for path in paths] == ["/q-2.csv", "q-10.csv"]  # 2 before 10
    answers = read_answers(paths, list("wxyz"))
    assert (answers.pairs, answers.same) == ([(2, 3), (1, 3)], [False, False])
    (tmp_path / "q-11.csv").write_text("id_a,id_b,same\nz,y,no\n")
    with pytest.raises(ValueError, match=r"q-11.csv: row 2, column 'same', .*q-2.csv, row 3"):
        read_answers(expand_paths(f"{tmp_path}/q-*.csv"), list("wxyz"))


def test_a_file_with_answers_is_never_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = people([2, 2, 1], rng=1)
    plan, ids = cr.Plan(records, rng=1), list(records["id"])
    assert next_sheet_path("q", ids) == "q-1.csv"
    plan.write_sheet("q-1.csv", 2)
    assert next_sheet_path("q", ids) == "q-1.csv"  # still blank
    sheet = pd.read_csv("q-1.csv", dtype=str, keep_default_na=False)
    assert list(sheet) == ["id_a", "id_b", *(f"{f}_{e}" for f in ("name", "street", "city", "birth") for e in "ab"),
                           "similarity", "same"]  # fmt: skip
    sheet.assign(same=["yes", ""]).to_csv("q-1.csv", index=False)
    assert next_sheet_path("q", ids) == "q-2.csv"
    with pytest.raises(ValueError, match="path must"):
        plan.write_sheet("q-1.csv", 2)
    (tmp_path / "notes.csv").write_text("mine\n1\n")
    with pytest.raises(ValueError, match="column 'id_a' must"):
        plan.write_sheet("notes.csv", 2)


def test_files_keep_the_form_of_the_records(tmp_path):
    records = people([2, 1], rng=1)
    records.loc[0, "name"] = "Zoë; Ann"
    form = {"encoding": "latin-1", "sep": ";"}
    path = str(tmp_path / "q-1.csv")
    cr.Plan(records, rng=1, **form).write_sheet(path, 2)
    content = Path(path).read_bytes()
    assert b"Zo\xeb" in content
    Path(path).write_bytes(content.replace(b";\n", b";yes\n"))
    assert len(read_answers(path, list(records["id"]), **form).pairs) == 2
    assert next_sheet_path(path.removesuffix("-1.csv"), list(records["id"]), **form).endswith("q-2.csv")


def test_a_sheet_keeps_every_character_and_a_page_shows_it_as_it_is():
    odd = '<script>|$x$`{ref}` "a", b\\*_'
    records = pd.DataFrame({"id": ["1", "2"], "text": [odd, "plain"]})
    sheet = question_sheet(records, ["text"], [(0, 1)], [0.5])
    assert sheet["text_a"][0] == odd
    shown = escape_markup(odd)
    assert not set(shown) & set('<>|$`{}*_\\"') and "script" in shown


def test_invented_people_have_their_labels_and_seed():
    records = people([3, 1], rng=1)
    assert records["label"].value_counts().to_dict() == {"p1": 3, "p2": 1}
    assert records.equals(people([3, 1], rng=1)) and records["id"].is_unique


def test_a_sheet_of_long_records_is_read_back(tmp_path):
    """A cell beyond the 131,072 characters of the csv module's own limit was taken for a quote that is never closed."""
    records = pd.DataFrame({"id": ["x", "y", "z"], "text": ["a" * 200_000, "a" * 200_000 + " b", "c"]})
    sheet = question_sheet(records, ["text"], [(0, 1), (1, 2)], [0.5, 0.1]).assign(same=["yes", "no"])
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    assert read_answers(tmp_path / "sheet.csv", ["x", "y", "z"]).same == [True, False]


# --- sheets for strategies that keep contradicting answers --------------------------------------------------------


def test_all_votes_are_read_also_if_they_contradict_one_another(tmp_path):
    (tmp_path / "q-1.csv").write_text(
        "worker,same,id_b,id_a\nann,yes,w,x\nbob,NO,x,w\n bob ,no,x,w\n,unsure,z,y\n,,z,w\nann,,z,w\n"
    )
    (tmp_path / "q-2.csv").write_text("id_a,id_b,same\nx,y,1\ny,z,1\nx,z,0\n")  # no column worker; not transitive
    paths = expand_paths(f"{tmp_path}/q-*.csv")
    votes = read_votes(paths, list("wxyz"))
    assert votes == [
        (1, 0, True, "ann"), (0, 1, False, "bob"), (0, 1, False, "bob"), (2, 3, None, None),
        (1, 2, True, None), (2, 3, True, None), (1, 3, False, None),
    ]  # fmt: skip
    strategy = ControlQueries(np.linspace(0.9, 0.1, 6), rng=1)
    for vote in votes:
        strategy.learn(vote[:2], *vote[2:])
    assert strategy.answers == [tuple(vote) for vote in votes]


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,q,no,bob\n", "row 3, column 'id_b'"),
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,x,no,bob\n", "row 3, column 'id_b'"),
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,y,perhaps,bob\n", "row 3, column 'same': the answer must be yes, no, "),
    ("id_a,id_b,worker\nx,y,ann\n", "column 'same' must"),
    ("id_a,id_b,same,worker,worker\nx,y,yes,ann,bob\n", "worker"),
])  # fmt: skip
def test_a_bad_vote_is_refused_with_row_and_column(tmp_path, text, message):
    (path := tmp_path / "votes.csv").write_text(text)
    with pytest.raises(ValueError) as error:
        read_votes(path, list("wxyz"))
    assert str(error.value).startswith(str(path)) and message in str(error.value)


def test_a_sheet_of_unsure_or_contradicting_answers_is_not_written_over(tmp_path, monkeypatch):
    """They were paid for, though an ordering cannot use them."""
    monkeypatch.chdir(tmp_path)
    records = people([2, 2, 1], rng=1)
    plan, ids = cr.Plan(records, rng=1), list(records["id"])
    for same in (["unsure", ""], ["yes", "no"]):
        sheet = plan.sheet(2).assign(same=same)
        sheet[["id_a", "id_b"]] = sheet[["id_a", "id_b"]].to_numpy()[[0, 0]]  # both rows about one pair
        sheet.to_csv("q-1.csv", index=False)
        assert next_sheet_path("q", ids) == "q-2.csv"
        with pytest.raises(ValueError, match="path must not be a file with answers"):
            plan.write_sheet("q-1.csv", 2)


@pytest.mark.parametrize("votes", [1, 2])
def test_batches_for_a_strategy_that_keeps_answers_lead_to_the_end(votes):
    """Each batch starts with the next question, has no pair twice, and leaves the strategy as it was."""
    labels = np.repeat(np.arange(5), [4, 3, 2, 1, 1])
    strategy = ControlQueries(np.random.default_rng(2).random(55), votes=votes, rng=3)
    truth, sheets = cr.Truth(labels), 0
    while batch := next_questions(strategy, 7):
        before = strategy.answers
        assert batch[0] == strategy.ask() and len({*map(frozenset, batch)}) == len(batch) <= 7
        assert next_questions(strategy, 7) == batch and strategy.answers == before
        for pair in batch:
            strategy.learn(pair, truth(*pair), "ann")
        sheets += 1
    assert strategy.ask() is None and cr.Resolution([], [], strategy.clusters).clusters.tolist() == labels.tolist()
    assert strategy._asked.max() <= votes and sheets < strategy.n_answers / 3


def test_batches_cost_hardly_more_questions():
    """As the docstring says, of one seed; a rule that assumes "unsure" or "yes" asks twice as many."""
    labels = np.repeat(np.arange(20), [8] * 5 + [4] * 5 + [2] * 5 + [1] * 5)
    i, j = np.triu_indices(len(labels), 1)
    center = np.where(labels[i] == labels[j], 0.7, 0.3)
    similarity = np.clip(center + np.random.default_rng(1).normal(0, 0.15, len(i)), 0, 1)
    asked = []
    for size in (1, 50):
        strategy = ControlQueries(similarity, rng=0)
        crowd = cr.Faulty(cr.Truth(labels), 0.05, rng=0, persistent=True)
        while batch := next_questions(strategy, size):
            for pair in batch:
                strategy.learn(pair, crowd(*pair))
        asked.append(strategy.n_answers)
    assert asked[1] < 1.1 * asked[0]


def test_batches_of_one_are_the_strategy_itself():
    make = functools.partial(ControlQueries, np.random.default_rng(2).random(55), votes=2, rng=3)
    crowd, one, whole = cr.Faulty(cr.Truth(np.arange(11) % 4), 0.2, rng=1), make(), make()
    whole.run(crowd)
    while batch := next_questions(one, 1):
        one.learn(batch[0], crowd.vote(*batch[0], int(one._asked[batch[0]])))
    assert one.answers == whole.answers


def test_a_strategy_that_cannot_be_copied_says_so():
    with pytest.raises(TypeError, match="ask NoisyQueries one question at a time"):
        next_questions(NoisyQueries(np.zeros(6), rng=1), 2)
