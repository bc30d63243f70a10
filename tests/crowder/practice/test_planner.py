"""What a plan says, each number by a second road: runs of one's own, pairs counted one by one."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.people import people
from crowder.practice.planner import planner
from crowder.practice.votes import settle


@pytest.fixture(scope="module")
def plan():
    records = people([3] * 4 + [2] * 3 + [1] * 5, rng=4)
    return cr.Plan(records, strategies=("node", "edge", "evidence"), price=0.2, votes=3, rng=2)


def test_every_simulated_run_is_the_ordering_on_a_plausible_clustering(plan):
    orderings = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering, "evidence": cr.EvidenceOrdering}
    for way, ordering in orderings.items():
        runs = [run for run in plan.runs if run.strategy == way]
        # Evenly from 5 % to 95 %: eleven, or five of evidence ordering, which is slow.
        places = [0.05 + 0.9 * step / 10 for step in range(11)]
        few = [0.05, 0.275, 0.5, 0.725, 0.95]
        assert [run.quantile for run in runs] == pytest.approx(few if way == "evidence" else places)
        for run in runs[:: len(runs) - 1]:
            labels = plan.labels(run.quantile)
            found = ordering(plan.condensed, rng=2).run(cr.Truth(labels))
            assert (run.questions, run.k) == (found.n_queries, len(set(labels)))
            curve = found.recall(labels)
            for step in (0, 50, 133, 200):  # share of the questions in two-hundredths
                at = step / 200 * found.n_queries
                low, part = int(at), at - int(at)
                between = (1 - part) * curve[low] + part * curve[min(low + 1, found.n_queries)]
                assert run.recall[step] == pytest.approx(between)


@pytest.mark.parametrize(("n", "runs"), [(400, 11), (401, 7), (1500, 7), (1501, 5)])
def test_the_more_records_the_fewer_runs(plan, n, runs):
    large = cr.Plan(plan.records, strategies=("edge",), rng=2)
    large.n = n  # as if there were so many
    assert len(large.runs) == runs
    assert (large.runs[0].quantile, large.runs[-1].quantile) == pytest.approx((0.05, 0.95))


@pytest.mark.parametrize(("times", "runs"), [(0, 0), (1, 0), (2, 2), (4, 4), (5, 5), (9, 5)])
def test_evidence_ordering_is_simulated_as_often_as_its_questions_allow(plan, monkeypatch, times, runs):
    """A run asks at least the ideal's questions; a single one would be no interval."""
    least = 1 + cr.ideal_queries(np.bincount(plan.labels(0.5)))
    monkeypatch.setattr(planner, "MOST_EVIDENCE", times * least)
    slow = cr.Plan(plan.records, strategies=("evidence",), rng=2)
    assert len(slow.runs) == runs
    assert list(slow.table.get("strategy", [])) == ["evidence"] * (runs > 0)


def test_the_table_is_the_least_the_middle_and_the_most_of_the_runs(plan):
    table = plan.table.set_index("strategy")
    assert list(table.index) == ["node", "edge", "evidence"]
    for way, row in table.iterrows():
        asked = sorted(run.questions for run in plan.runs if run.strategy == way)
        middle = asked[len(asked) // 2]  # of an odd number of runs
        assert (row["from"], row["questions"], row["to"]) == (asked[0], middle, asked[-1]) == plan.questions(way)
        # Every question goes to three people, at 0.2 each.
        prices = [row[name] for name in ("cost from", "cost", "cost to")]
        assert prices == pytest.approx([0.6 * asked[0], 0.6 * middle, 0.6 * asked[-1]])
        curves = np.sort([run.recall for run in plan.runs if run.strategy == way], axis=0)
        recall = plan.recall(way)
        assert recall["share"].tolist() == pytest.approx([step / 200 for step in range(201)])
        for column, curve in (("from", curves[0]), ("recall", curves[len(curves) // 2]), ("to", curves[-1])):
            assert recall[column].to_numpy() == pytest.approx(curve)
    with pytest.raises(ValueError, match="strategy must"):
        cr.Plan(plan.records, strategies=("edge",), rng=2).questions("node")


def test_the_model_and_the_share_are_counted_from_the_middle_clustering(plan):
    labels, square = plan.labels(0.5), squareform(plan.condensed)
    counts = np.zeros((2, 20))
    for i, j in combinations(range(plan.n), 2):
        counts[int(labels[i] == labels[j]), min(int(square[i, j] * 20 + 1e-9), 19)] += 1
    nonmatches, matches = counts
    assert plan.match_share == pytest.approx(matches.sum() / math.comb(plan.n, 2))
    # A density: the share of the pairs, over the width of a step, one twentieth.
    assert plan.model.green.heights == pytest.approx(20 * matches / matches.sum())
    assert plan.model.red.heights == pytest.approx(20 * nonmatches / nonmatches.sum())


def test_the_middle_is_the_middle(plan):
    """Of draws of 0, 1, ..., 399 clusters; and of clusterings, one of pairs of records in the middle alone."""
    odd = cr.Plan(plan.records, strategies=("edge",), rng=2)
    odd._plausible.k = np.arange(400)
    assert odd.n_clusters in ((20, 199, 379), (20, 200, 379))
    odd.labels = {0.5: np.arange(odd.n) // 2}.__getitem__
    pairs = squareform(odd.condensed)[np.arange(0, odd.n - 1, 2), np.arange(1, odd.n, 2)]
    assert odd.match_share == pytest.approx(len(pairs) / math.comb(odd.n, 2))
    assert float(odd.model.green.mean) == pytest.approx(np.mean(np.minimum(np.floor(pairs * 20 + 1e-9), 19) + 0.5) / 20)


def test_independent_similarities_are_counted_out_where_that_can_be_done(plan, monkeypatch):
    table, sizes = plan.table.set_index("strategy")["if independent"], np.bincount(plan.labels(0.5))
    for way in ("node", "edge"):
        assert table[way] == pytest.approx(cr.expected_queries(plan.model, sizes, way))
    assert math.isnan(table["evidence"])  # no formula is known
    monkeypatch.setattr(planner, "LARGEST", max(sizes))
    assert plan._independent("edge") == table["edge"]
    monkeypatch.setattr(planner, "LARGEST", max(sizes) - 1)
    assert math.isnan(plan._independent("edge"))


def test_what_will_really_happen_is_the_run_on_the_labels(plan):
    truth = cr.Truth(plan.records["label"])
    assert set(plan.actual_runs) == {"edge", "node", "evidence"}
    expected = cr.NodeOrdering(plan.condensed, rng=2).run(truth)
    assert plan.actual_runs["node"].queries.tolist() == expected.queries.tolist()
    assert cr.Plan(plan.records.drop(columns="label"), rng=2, strategies=("edge",)).actual_runs == {}


@pytest.mark.parametrize(
    ("answer", "clusters"),
    [(None, (1, 2, 2)), (True, (1, 1, 1)), (False, (2, 2, 2))],
    ids=["open", "the same", "not the same"],
)
def test_two_records_are_one_or_two_until_somebody_says_so(answer, clusters):
    answers = settle(2, [] if answer is None else [(0, 1, answer, None)])
    two = cr.Plan(people([1, 1], rng=1), answers=answers, rng=1)
    assert two.n_clusters == clusters
    assert two.done == (answer is not None)
    assert [len(set(two.labels(q))) for q in (0.05, 0.5, 0.95)] == list(clusters)
    assert cr.Plan(people([1], rng=1), rng=1).n_clusters == (1, 1, 1)
    assert two.cut is None and cr.Plan(people([2, 1], rng=1), rng=1).cut is not None  # three records have a level
