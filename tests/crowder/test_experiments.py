"""Repetition and summary: seeds, processes, intervals."""

import numpy as np
import pandas as pd
import pytest

import crowder as cr
from crowder.experiments import count_questions, mean_interval, repeat, summarise, sweep


def draw(rng, shift=0):
    return {"x": shift + float(rng.random())}


def test_every_repetition_has_a_generator_of_its_own():
    values = [result["x"] for result in repeat(draw, 50, rng=1)]
    assert len(set(values)) == 50
    assert values == [result["x"] for result in repeat(draw, 50, rng=1)]
    assert values != [result["x"] for result in repeat(draw, 50, rng=2)]
    # The first ten do not depend on how many follow.
    assert values[:10] == [result["x"] for result in repeat(draw, 10, rng=1)]


def test_processes_do_not_change_results():
    settings = {"sizes": [4, 3, 1], "model": cr.dist1(0.25)}
    assert repeat(count_questions, 6, rng=3, **settings) == repeat(count_questions, 6, rng=3, n_jobs=2, **settings)


def test_a_sweep_is_its_repeats_side_by_side():
    frame = sweep(draw, [{"shift": 10}, {"shift": 20}], 3, rng=5)
    assert frame["shift"].tolist() == [10, 10, 10, 20, 20, 20]
    assert frame["repetition"].tolist() == [0, 1, 2] * 2
    parents = np.random.default_rng(5).spawn(2)
    expected = [
        r["x"]
        for parent, shift in zip(parents, (10, 20), strict=True)
        for r in repeat(draw, 3, rng=parent, shift=shift)
    ]
    assert frame["x"].tolist() == expected
    assert set(np.floor(frame["x"])) == {10, 20}


def test_summary_of_a_small_table():
    frame = pd.DataFrame({"row": ["b", "b", "a", "a", "a"], "x": [1.0, 3.0, 2.0, 4.0, 6.0]})
    got = summarise(frame, ["row"], "x")
    assert got["row"].tolist() == ["b", "a"]  # as they came
    assert got["n"].tolist() == [2, 3]
    assert got["mean"].tolist() == [2.0, 4.0]
    assert got["sd"].tolist() == pytest.approx([np.sqrt(2), 2.0])
    # Student's quantiles for 1 and 2 degrees of freedom, from a printed table: 12.706 and 4.303.
    half = (got["high"] - got["low"]) / 2
    assert half.tolist() == pytest.approx([12.706 * np.sqrt(2) / np.sqrt(2), 4.303 * 2 / np.sqrt(3)], rel=1e-4)


def test_another_confidence_has_its_own_quantile():
    """From the printed table: Student's t with 2 degrees of freedom is below 0.816 three times in four."""
    frame = pd.DataFrame({"row": ["a"] * 3, "kind": [1, 1, 1], "x": [2.0, 4.0, 6.0]})
    row = summarise(frame, ["row", "kind"], "x", confidence=0.5).iloc[0]
    assert (row["row"], row["kind"], row["n"]) == ("a", 1, 3)
    assert [row["low"], row["high"]] == pytest.approx([4 - 0.8165 * 2 / 3**0.5, 4 + 0.8165 * 2 / 3**0.5], rel=1e-4)
    assert mean_interval([2, 4, 6], confidence=0.5) == pytest.approx((4, row["low"], row["high"]))
    # Nothing said is 95 %.
    assert mean_interval([2, 4, 6]) == mean_interval([2, 4, 6], confidence=0.95)


def test_one_repetition_has_a_mean_and_no_interval():
    mean, low, high = mean_interval([5.0])
    assert mean == 5.0 and np.isnan(low) and np.isnan(high)
    assert np.isnan(summarise(pd.DataFrame({"row": [1], "x": [5.0]}), ["row"], "x")["sd"][0])


def test_a_setting_that_is_none_keeps_its_rows():
    """pandas leaves such groups out unless it is told not to; ``ties`` is None where no two values are equal."""
    frame = pd.DataFrame({"ties": [None, "index", None], "x": [1.0, 5.0, 3.0]})
    rows = summarise(frame, ["ties"], "x")
    assert rows["n"].tolist() == [2, 1] and rows["mean"].tolist() == [2.0, 5.0] and pd.isna(rows["ties"][0])
    # A category that no row has is no setting.
    frame["kind"] = pd.Categorical(["a", "a", "b"], ["a", "b", "c"])
    assert summarise(frame, ["kind"], "x")["n"].tolist() == [2, 1]


def test_intervals_cover_as_often_as_they_say():
    """4,000 intervals of 8 normal draws at 90 %: the share that covers is within 4 standard errors of 0.9."""
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(4000):
        _, low, high = mean_interval(rng.normal(3, 2, 8), confidence=0.9)
        covered += low <= 3 <= high
    assert abs(covered / 4000 - 0.9) < 4 * np.sqrt(0.09 / 4000)


def test_counts_are_those_of_the_two_orderings():
    """The documented order of draws: similarities first, then node ordering's ties, then edge ordering's."""
    sizes, model = [6, 4, 2], cr.dist2(0.1)
    rng = np.random.default_rng(4)
    data = cr.datasets.synthetic(sizes, model, rng=rng, discretize="round")
    truth = cr.Truth(data.labels)
    expected = {
        "node": cr.node_ordering(data.similarity, truth, rng=rng).n_queries,
        "edge": cr.edge_ordering(data.similarity, truth, rng=rng).n_queries,
    }
    assert count_questions(sizes, model, rng=4, discretize="round") == expected
