"""What a plan says, each number by a second road: runs of one's own, quantiles and pairs counted one by one."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
from crowder.constraints import constrained
from crowder.datasets import people
from crowder.pairs import candidates
from crowder.practice import Plan
from crowder.practice import plan as module
from crowder.practice.batch import pilot
from crowder.practice.draws import Draw


@pytest.fixture(scope="module")
def records():
    return people([3] * 4 + [2] * 6 + [1] * 12, rng=4)


@pytest.fixture(scope="module")
def plan(records):
    return Plan(records, price=0.2, votes=3, budget=9.0, rng=2)


def questions_until(run, labels, share):
    """The first question after which at least this share of the matches is found."""
    return next(q for q, recall in enumerate(run.recall(labels)) if recall >= share - 1e-9)


def test_the_rows_are_quantiles_of_runs_on_the_clusterings(plan):
    """Edge ordering is drawn with the clusterings; here it is run on each of them as the truth."""
    counts = []
    for labels in plan.clusterings:
        run = cr.EdgeOrdering(plan.candidates, ties="index").run(cr.Truth(labels))
        counts.append([*(questions_until(run, labels, share) for share in (0.95, 0.99, 1)), run.n_queries])
    assert plan.ordering == "edge"
    assert plan.table.index.tolist() == ["95 % of the matches", "99 % of the matches", "all matches", "every pair"]
    assert plan.table["recall"].tolist() == [0.95, 0.99, 1, 1]
    for column, share in (("from", 0.05), ("questions", 0.5), ("to", 0.95)):
        asked = np.sort(counts, axis=0)  # of 100 draws, the nearest to the share of the way from the first to the last
        expected = asked[[math.floor(99 * share), math.ceil(99 * share)]]
        assert all(n in pair for n, pair in zip(plan.table[column], expected.T, strict=True))
    # Every question goes to three people, at 0.2 each.
    for cost, asked in (("cost", "questions"), ("cost_from", "from"), ("cost_to", "to")):
        assert plan.table[cost].tolist() == pytest.approx([0.6 * n for n in plan.table[asked]])


def test_a_budget_buys_the_recall_of_its_questions(plan):
    bought = []
    for labels in plan.clusterings:  # 9.0 pays for 15 questions at 0.6
        recall = cr.EdgeOrdering(plan.candidates, ties="index").run(cr.Truth(labels)).recall(labels)
        bought.append(recall[min(15, len(recall) - 1)])
    assert plan.within_budget == pytest.approx(np.quantile(bought, [0.05, 0.5, 0.95]))
    assert "The budget of 9.00 buys" in str(plan)
    assert Plan(plan.candidates, rng=2).within_budget is None
    assert Plan(plan.candidates, budget=1, price=0, rng=2).within_budget == (1, 1, 1)  # free questions


def test_the_curve_is_the_recall_of_the_runs(plan):
    curve, recalls = plan.curve(), []
    for labels in plan.clusterings:
        recall = cr.EdgeOrdering(plan.candidates, ties="index").run(cr.Truth(labels)).recall(labels)
        recalls.append(recall[curve["questions"].clip(upper=len(recall) - 1)])
    for column, share in (("from", 0.05), ("recall", 0.5), ("to", 0.95)):
        assert curve[column].to_numpy() == pytest.approx(np.quantile(recalls, share, axis=0))
    assert curve["questions"].iloc[-1] == plan.table["to"].iloc[1]  # as far as the second row
    assert plan.curve("node")["recall"].is_monotonic_increasing


def test_matches_clusters_and_what_is_expected_are_counted_from_the_clusterings(plan):
    matches, clusters = [], []
    for labels in plan.clusterings:
        clusters.append(len(set(labels.tolist())))
        matches.append(sum(labels[i] == labels[j] for i in range(len(labels)) for j in range(i)))
    for said, counts in ((plan.n_matches, matches), (plan.n_clusters, clusters)):
        assert said == tuple(np.quantile(counts, [0.05, 0.5, 0.95], method="nearest"))
    for i, j in ((0, 1), *plan.batch(5)):
        together = sum(bool(labels[i] == labels[j]) for labels in plan.clusterings)
        assert plan.expected(i, j) is (together > 50)


def test_actual_rows_are_the_run_on_the_labels(plan, records):
    truth = np.unique(records["label"], return_inverse=True)[1]
    run = cr.EdgeOrdering(plan.candidates, rng=2).run(cr.Truth(truth))
    expected = [*(questions_until(run, truth, share) for share in (0.95, 0.99, 1)), run.n_queries]
    assert plan.actual(records["label"])["questions"].tolist() == expected
    assert plan.actual(records["label"])["cost"].tolist() == pytest.approx([0.6 * n for n in expected])


def test_answers_are_kept_and_counted(records, plan):
    truth = np.unique(records["label"], return_inverse=True)[1]
    run = cr.EdgeOrdering(plan.candidates, rng=1).run(cr.Truth(truth))
    asked, same = run.queries[:25], run.answers[:25]
    for way in ("auto", "node"):
        after = Plan(records, ordering=way, answers=(asked, same), rng=2)
        for labels in after.clusterings:
            assert ((labels[asked[:, 0]] == labels[asked[:, 1]]) == same).all()
        assert after.table.loc["every pair", "from"] >= 25
        assert not {frozenset(pair) for pair in after.batch(10)} & {frozenset(pair) for pair in asked.tolist()}
        assert "25 of them are answered" in str(after)
    done = Plan(records, answers=(run.queries, run.answers), rng=2)
    assert done.table.loc["every pair", ["from", "questions", "to"]].tolist() == [run.n_queries] * 3
    assert done.batch(5) == [] and done.n_clusters == (22, 22, 22)  # 4 + 6 + 12 people


def test_the_ordering_with_the_fewest_questions_to_the_target_is_chosen(monkeypatch):
    """Here node ordering finds the matches of the one plausible clustering sooner, or later, than edge ordering."""
    values = np.random.default_rng(1).random(28)
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 3])
    asked = {}
    for name, ordering in (("edge", cr.EdgeOrdering(values, rng=0)), ("node", cr.NodeOrdering(values, rng=0))):
        asked[name] = questions_until(ordering.run(cr.Truth(labels)), labels, 0.95)
    assert asked["edge"] != asked["node"]
    run = cr.EdgeOrdering(values, rng=0).run(cr.Truth(labels))
    gained = np.diff(run.recall(labels), prepend=0)
    draw = Draw(labels, np.flatnonzero(gained), gained[gained > 0], run.n_queries)
    monkeypatch.setattr(module, "draw_clusterings", lambda *_, **__: [draw] * 5)
    monkeypatch.setattr(module, "MOST_EVIDENCE", 0)
    plan = Plan(values)
    assert plan.ordering == min(asked, key=asked.get)
    assert f"{min(asked.values())} questions to the target, against {max(asked.values())}" in plan.why


def test_every_form_of_candidates_gives_the_same_plan(records, plan):
    values, codes = plan.candidates.listed()
    n = len(records)
    matrix = sparse.coo_array((values, (codes >> 32, codes & 0xFFFFFFFF)), shape=(n, n))
    for data in (values, matrix.toarray() + matrix.toarray().T, matrix, SimpleNamespace(candidates=plan.candidates)):
        again = Plan(data, ordering="edge", rng=2)
        assert again.table["questions"].tolist() == plan.table["questions"].tolist()


def test_tables_and_known_answers_save_questions():
    records = people([2] * 20, rng=5)
    values = cr.similarity.compute(records, "jaccard-qgrams")
    seen = set()
    table = [int(name in seen or seen.add(name) is not None) for name in records["label"]]  # one of each person in each
    linked = Plan(constrained(candidates(values), tables=table), rng=2)
    assert all(
        len(set(np.array(table)[labels == c])) == (labels == c).sum() for labels in linked.clusterings for c in labels
    )
    assert linked.table.loc["every pair", "to"] < Plan(values, rng=2).table.loc["every pair", "to"]


def test_many_records_are_blocked(monkeypatch, records):
    asked = []

    def candidate_pairs(data, similarity, *, fields):
        asked.append((len(data), similarity, fields))
        return sparse.coo_array(([0.9], ([0], [1])), shape=(len(data), len(data)))

    monkeypatch.setitem(sys.modules, "crowder.practice.blocking", SimpleNamespace(candidate_pairs=candidate_pairs))
    monkeypatch.setattr(module, "MOST_RECORDS", len(records) - 1)
    assert Plan(records, "levenshtein").table["to"].max() <= 1  # one candidate pair
    assert asked == [(len(records), "levenshtein", ["name", "street", "city", "birth"])]


def test_too_many_pairs_for_the_memory_are_refused_before_they_are_made(monkeypatch, records):
    monkeypatch.setattr(module, "compute", lambda *_, **__: pytest.fail("the pairs were made"))
    monkeypatch.setattr(module, "BYTES", 1 << 50)
    with pytest.raises(MemoryError, match=r"all pairs of 36 records need .* GB.*pass fewer candidate pairs"):
        Plan(records)


def test_the_target_is_the_first_row():
    values = np.random.default_rng(1).random(45)
    assert Plan(values, target=0.8).table["recall"].tolist() == [0.8, 0.99, 1, 1]
    assert Plan(values, target=0.99).table["recall"].tolist() == [0.99, 1, 1]
    certain = Plan(values, target=1)
    assert certain.table["recall"].tolist() == [1, 1]
    assert str(certain).count("all matches.") == 1


def test_the_text_leads_with_the_target(plan):
    lines = str(plan).splitlines()
    row = plan.table.iloc[0]
    assert lines[0].startswith(f"About {row['questions']:.0f} questions ({row['from']:.0f} to {row['to']:.0f}), for ")
    assert lines[0].endswith("95 % of the matches.") and "wide guess" in lines[2]
    assert [line.split(":")[0] for line in lines if line.startswith("The ")][-2:] == ["The tail", "The whole"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"price": -1}, ValueError, "price must be a number, 0 or more, not -1"),
        ({"budget": math.nan}, ValueError, "budget must be a number, 0 or more, not nan"),
        ({"target": 0}, ValueError, "target must be more than 0, not 0"),
        ({"target": 95}, ValueError, "target must"),
        ({"votes": 2}, ValueError, "votes must"),
        ({"ordering": "random"}, ValueError, "must be one of edge, node, evidence"),
        ({"similarity": "levenshtein"}, ValueError, "similarity must be None if data are not records"),
        ({"answers": 5}, TypeError, "answers must be a tuple"),
        ({"answers": ([(0, 1)], [])}, ValueError, "answers must have a pair for each answer, not 1 and 0"),
        ({"answers": ([(0, 1)], [1])}, ValueError, "answers must have pairs of numbers of records, and True or False"),
        ({"answers": ([(0, 1), (0, 3)], [True, True])}, ValueError, r"out of 3, from 0, not \[0, 3\], in row 1"),
        ({"rng": None}, TypeError, "rng, the seed, must"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        Plan([0.1, 0.2, 0.3], **arguments)


def test_bad_records_are_named(records):
    with pytest.raises(ValueError, match="similarity must be one of"):
        Plan(records, "cosine")
    with pytest.raises(ValueError, match="data must have at least one record"):
        Plan(records.iloc[:0])
    with pytest.raises(ValueError, match="fields must"):
        Plan(pd.DataFrame({"id": ["a", "b"]}))


@pytest.mark.parametrize("answers", [0, 60])
def test_the_intervals_hold_nearly_as_often_as_they_say(answers):
    """If nine of ten hold, fewer than ten of fifteen hold by accident once in four hundred times."""
    held, off = {0.95: 0, 0.99: 0}, []
    for seed in range(15):
        rng = np.random.default_rng([11, seed])
        sizes = rng.choice([1, 1, 2, 3, 5], size=int(rng.integers(15, 45)))
        records = people(sizes, mistakes=float(rng.choice([0.3, 1.0, 1.8])), rng=rng)
        values = cr.similarity.compute(records, ("levenshtein", "jaccard-qgrams", "tfidf-cosine")[seed % 3])
        truth = np.unique(records["label"], return_inverse=True)[1]
        run = cr.EdgeOrdering(values, rng=seed).run(cr.Truth(truth))
        plan = Plan(values, ordering="edge", answers=(run.queries[:answers], run.answers[:answers]), rng=seed)
        for share in held:
            low, middle, high = plan.table.loc[f"{100 * share:.0f} % of the matches", ["from", "questions", "to"]]
            held[share] += bool(low <= questions_until(run, truth, share) <= high)
        off.append(np.log(middle / questions_until(run, truth, share)))
    assert min(held.values()) >= 10
    assert abs(np.median(off)) < 0.7  # the middle is within a factor of two


def test_answers_narrow_the_plan_to_the_truth():
    records = people([3] * 7 + [1] * 7, rng=2)
    truth = np.unique(records["label"], return_inverse=True)[1]
    asked, widths = np.empty((0, 2), np.int64), []
    while True:
        plan = Plan(records, ordering="edge", answers=(asked, truth[asked[:, 0]] == truth[asked[:, 1]]), rng=5)
        widths.append(plan.table.loc["every pair", "to"] - plan.table.loc["every pair", "from"])
        if not (batch := plan.batch(60)):
            break
        asked = np.r_[asked, batch]
    assert widths[-1] == 0 and widths[len(widths) // 2] < widths[0] / 2
    assert all(
        (labels[:, None] == labels).tolist() == (truth[:, None] == truth).tolist() for labels in plan.clusterings
    )


@pytest.mark.parametrize("sizes", [[1], [2], [1, 1], [3], [1, 1, 1], [2, 1], [12], [1] * 12])
def test_few_records_all_duplicates_and_none(sizes):
    records, n = people(sizes, rng=1), sum(sizes)
    plan = Plan(records, rng=1)
    assert (plan.table["from"] <= plan.table["questions"]).all() and (plan.table["questions"] <= plan.table["to"]).all()
    assert plan.table["to"].max() <= n * (n - 1) // 2
    assert bool(plan.batch(3)) == (n > 1)
    assert len(plan.curve()) and str(plan)
    asked = plan.actual(records["label"]).loc["every pair", "questions"]
    if len(sizes) == 1:
        assert asked == n - 1  # a tree
    if max(sizes) == 1:
        assert asked == n * (n - 1) // 2


def test_an_empty_cell_and_one_column_are_no_trouble():
    records = pd.DataFrame({"id": list("abcdef"), "name": ["Ann Lee", "", "Anne Lee", "Bo", "", "Bo Fox"]})
    table = Plan(records, rng=1).table
    assert (
        5 <= table.loc["every pair", "from"] <= table.loc["every pair", "to"] <= 15
    )  # a tree at least, all pairs at most


def test_cora_is_planned_from_its_text(cora_frame):
    """Its clusters are large, which no plan knows before the pilot."""
    some = cora_frame[cora_frame["label"].isin(cora_frame["label"].unique()[::4])].reset_index(drop=True)
    asked = np.array(pilot(Plan(some, "jaccard-tokens", rng=1).candidates))
    truth = np.unique(some["label"], return_inverse=True)[1]
    told = asked, truth[asked[:, 0]] == truth[asked[:, 1]]
    row = Plan(some, "jaccard-tokens", answers=told, rng=1).table.iloc[0]
    run = Plan(some, "jaccard-tokens", ordering="edge", answers=told, rng=1).actual(truth)
    assert row["from"] <= run["questions"].iloc[0] <= row["to"] <= 5 * row["from"]
