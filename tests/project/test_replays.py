"""Replays of strategies on crowds whose answers are all known, and what is recorded of them."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from book.companion import crowds, measured
from crowder.beyond.error_rates import ErrorRates

spec = importlib.util.spec_from_file_location("replays", Path(__file__).parents[2] / "benchmarks" / "crowds.py")
replays = importlib.util.module_from_spec(spec)
spec.loader.exec_module(replays)


@pytest.fixture
def twelve():
    """Twelve records in three entities, similarities that say a little, and a crowd that is right."""
    labels = np.repeat([0, 1, 2], 4)
    same = (labels[:, None] == labels)[np.triu_indices(12, 1)]
    similarity = np.where(same, 0.6, 0.4) + np.random.default_rng(1).uniform(-0.3, 0.3, len(same))
    return crowds.Crowd("twelve", labels, similarity, np.column_stack([same] * 3).astype(float))


@pytest.fixture
def four():
    """Two entities, {0, 2} and {1, 3}; the pair (0, 2) is answered wrongly by two of three, (2, 3) only twice."""
    votes = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, np.nan]]
    return crowds.Crowd("four", np.array([0, 1, 0, 1]), np.array([0.3, 0.9, 0.2, 0.1, 0.8, 1.0]), np.array(votes))


def test_a_replay_counts_every_vote(four):
    """Pair (2, 3) is the most similar, then (0, 2), (1, 3), (0, 1); each question costs three answers."""
    edge = replays.replay(four, "edge", 3, rng=1)
    # One of two matching pairs is denied by the majority: recall 1/2, precision 1.
    assert edge.iloc[-1][["recall", "precision"]].tolist() == [0.5, 1.0]
    assert edge.iloc[-1]["answers"] % 3 == 0 and edge.iloc[-1]["F1"] == pytest.approx(2 / 3, abs=1e-6)
    # The kth question about a pair gets its kth vote: (0, 2) has 1, 0, 0; (2, 3) has two, and keeps the last of them.
    single = replays.Oracle(four)
    assert [single(0, 2), single(2, 0), single(0, 2), single(0, 2)] == [True, False, False, False]
    assert [single(2, 3) for _ in range(3)] == [False] * 3 and single.paid == 7


@pytest.mark.parametrize("strategy", replays.STRATEGIES)
def test_with_true_answers_every_strategy_ends_at_the_truth(twelve, strategy):
    run = replays.replay(twelve, strategy, 1, rng=1)
    assert run.iloc[0].tolist() == [0, 0.0, 1.0, 0.0]  # nothing paid for, nothing joined
    assert run["F1"].iloc[-1] == 1.0
    assert run["answers"].is_monotonic_increasing


def test_a_crowd_for_cora_errs_at_the_rates_given():
    rates = ErrorRates(0.01, 0.1, vote=(0.02, 0.05))
    crowd = replays.cora_crowd("these", rates, rng=1)
    same = (crowd.labels[:, None] == crowd.labels)[np.triu_indices(len(crowd.labels), 1)]
    for match, rate in zip((False, True), rates.majority(1), strict=True):
        votes = crowd.votes[same == match, 0]
        assert stats.binomtest(int((votes != match).sum()), len(votes), rate).pvalue > 0.001


# --- where the files are: the book shows what is recorded ------------------------------------------------------------


@pytest.mark.parametrize("name", ["gym", pytest.param("allsports", marks=pytest.mark.nightly)])
def test_the_runs_that_are_recorded_are_those_of_a_replay(real_crowds, name):
    """Two orders of ties of every strategy, single votes: the others would take a quarter of an hour.

    By day the smaller crowd: the larger is replayed by the cheap strategies below, and cora by the dearest.
    """
    known = measured.read("crowd_runs")
    known = known[(known["crowd"] == name) & (known["votes"] == 1) & known["rng"].isin([1, 2])]
    known = known[known["ordering"] != "noisy, all answers"].reset_index(drop=True)
    _, found = replays.runs(real_crowds[name], 1, known["ordering"].unique(), [1, 2])
    pd.testing.assert_frame_equal(found, known, rtol=1e-5, check_dtype=False)


@pytest.mark.parametrize(("name", "votes"), [("gym", 1), ("gym", 5), ("allsports", 1)])
def test_the_curves_that_are_recorded_are_those_of_a_replay(real_crowds, name, votes):
    """The means of all ten orders of ties, of the strategies that are cheap to replay."""
    known, cheap = measured.read("crowds"), ["edge", "node", "evidence"]
    known = known[(known["crowd"] == name) & (known["votes"] == votes) & known["ordering"].isin(cheap)]
    curves, _ = replays.runs(real_crowds[name], votes, cheap)
    pd.testing.assert_frame_equal(curves, known.reset_index(drop=True), atol=2e-5, check_dtype=False)


def test_the_tables_that_are_recorded_are_those_of_the_files(real_crowds, monkeypatch):
    rates = replays.kinds_of_errors(**real_crowds)
    wrong = replays.votes_wrong(real_crowds["gym"], rates["gym"])
    pd.testing.assert_frame_equal(wrong, measured.read("crowd_votes"), atol=0.002)
    errors = pd.concat([replays.errors(crowd) for crowd in real_crowds.values()], ignore_index=True)
    pd.testing.assert_frame_equal(errors, measured.read("crowd_errors"))
    monkeypatch.setattr(replays, "SEEDS", [1])  # of the means over ten runs
    found = pd.concat([replays.learned(crowd, rates[crowd.name]) for crowd in real_crowds.values()])
    known = measured.read("crowd_rates")
    means = ["counted where it asked", "learned while asking"]
    found, known = (x[~x["how"].isin(means)].reset_index(drop=True) for x in (found, known))
    pd.testing.assert_frame_equal(found, known, atol=1e-4)


def test_the_files_are_those_that_were_read_and_the_crowds_as_large(real_crowds, crowds_path):
    known = crowds.source()
    assert known["SHA-256"] == replays.checksums(crowds_path)
    assert known["sizes"] == replays.sizes(*real_crowds.values())
