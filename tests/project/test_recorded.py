"""What the book shows of benchmarks and of runs on real crowds is what the scripts give."""

import importlib.util
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from book.companion import crowds, measured
from book.make.chapters import read_chapters
from book.make.environment import ROOT
from crowder.beyond.error_rates import ErrorRates


def script(name):
    """A script of benchmarks, as a module."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MEASURED = ROOT / "book" / "data" / "measured"
replays = script("crowds")

# --- times ------------------------------------------------------------------------------------------------------------


def run(*command):
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_orderings_are_timed_and_cost_less_than_a_sort(tmp_path):
    """A new measurement has the columns of the committed one, which keeps what is promised: on cora at most one argsort
    for edge ordering, half of one for node ordering."""
    run("benchmarks/orderings.py", "--quick", "--results", str(tmp_path))
    table = pd.read_csv(MEASURED / "orderings.csv")
    assert list(pd.read_csv(tmp_path / "orderings.csv")) == list(table)
    assert table["contestant"].tolist() == ["argsort", "edge", "node"] and (table["n"] == 1879).all()
    assert table.notna().all(axis=None) and (table["low"] <= table["ratio"]).all()
    assert (table["ratio"] <= [1, 1, 0.5]).all()


def test_the_committed_times_are_complete():
    table = pd.read_csv(MEASURED / "scale.csv")
    numbers = ["records", "pairs", "questions", "seconds", "argsort_seconds", "ratio", "peak_mb"]
    assert np.isfinite(table[numbers]).all(axis=None) and (table[numbers] > 0).all(axis=None)
    for _, part in table.groupby("ordering"):
        assert part["records"].is_unique and {1_000, 1_000_000} <= set(part["records"])
    table = pd.read_csv(MEASURED / "chapters.csv")
    assert table["chapter"].tolist() == [chapter.slug for chapter in read_chapters(ROOT)]
    assert (table["seconds"] > 0).all() and table["versions"].nunique() == 1


# --- replays of strategies on crowds whose answers are all known ------------------------------------------------------


def test_a_replay_counts_every_vote():
    """Two entities, {0, 2} and {1, 3}; the pair (0, 2) is answered wrongly by two of three, (2, 3) only twice."""
    votes = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, np.nan]]
    four = crowds.Crowd("four", np.array([0, 1, 0, 1]), np.array([0.3, 0.9, 0.2, 0.1, 0.8, 1.0]), np.array(votes))
    # Pair (2, 3) is the most similar, then (0, 2), (1, 3), (0, 1); each question costs three answers.
    edge = replays.replay(four, "edge", 3, rng=1)
    # One of two matching pairs is denied by the majority: recall 1/2, precision 1.
    assert edge.iloc[-1][["recall", "precision"]].tolist() == [0.5, 1.0]
    assert edge.iloc[-1]["answers"] % 3 == 0 and edge.iloc[-1]["F1"] == pytest.approx(2 / 3, abs=1e-6)
    # The kth question about a pair gets its kth vote: (0, 2) has 1, 0, 0; (2, 3) has two, and keeps the last of them.
    single = replays.Oracle(four)
    assert [single(0, 2), single(2, 0), single(0, 2), single(0, 2)] == [True, False, False, False]
    assert [single(2, 3) for _ in range(3)] == [False] * 3 and single.paid == 7


@pytest.mark.parametrize("strategy", replays.STRATEGIES)
def test_with_true_answers_every_strategy_ends_at_the_truth(strategy):
    """Twelve records in three entities, and similarities that say a little."""
    labels = np.repeat([0, 1, 2], 4)
    same = (labels[:, None] == labels)[np.triu_indices(12, 1)]
    similarity = np.where(same, 0.6, 0.4) + np.random.default_rng(1).uniform(-0.3, 0.3, len(same))
    twelve = crowds.Crowd("twelve", labels, similarity, np.column_stack([same] * 3).astype(float))
    found = replays.replay(twelve, strategy, 1, rng=1)
    assert found.iloc[0].tolist() == [0, 0.0, 1.0, 0.0]  # nothing paid for, nothing joined
    assert found["F1"].iloc[-1] == 1.0 and found["answers"].is_monotonic_increasing


def test_a_crowd_for_cora_errs_at_the_rates_given():
    rates = ErrorRates(0.01, 0.1, vote=(0.02, 0.05))
    crowd = replays.cora_crowd("these", rates, rng=1)
    same = (crowd.labels[:, None] == crowd.labels)[np.triu_indices(len(crowd.labels), 1)]
    for match, rate in zip((False, True), rates.majority(1), strict=True):
        votes = crowd.votes[same == match, 0]
        assert stats.binomtest(int((votes != match).sum()), len(votes), rate).pvalue > 0.001


# --- where the files of real crowds are -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gym", pytest.param("allsports", marks=pytest.mark.nightly)])
def test_the_runs_that_are_recorded_are_those_of_a_replay(real_crowds, name):
    """Two orders of ties of every strategy, single votes: the others would take a quarter of an hour.

    By day the smaller crowd: the larger is replayed by the cheap strategies below.
    """
    known = measured.read("crowd_runs")
    known = known[(known["crowd"] == name) & (known["votes"] == 1) & known["rng"].isin([1, 2])]
    known = known[known["ordering"] != "noisy, all answers"].reset_index(drop=True)
    _, found = replays.runs(real_crowds[name], 1, known["ordering"].unique(), [1, 2])
    pd.testing.assert_frame_equal(found, known, rtol=1e-5, check_dtype=False)


@pytest.mark.parametrize(("name", "votes"), [("gym", 5), ("allsports", 1)])
def test_the_curves_that_are_recorded_are_those_of_a_replay(real_crowds, name, votes):
    """The means of all ten orders of ties, of the strategies that are cheap to replay."""
    known, cheap = measured.read("crowds"), ["edge", "node", "evidence"]
    known = known[(known["crowd"] == name) & (known["votes"] == votes) & known["ordering"].isin(cheap)]
    curves, _ = replays.runs(real_crowds[name], votes, cheap)
    pd.testing.assert_frame_equal(curves, known.reset_index(drop=True), atol=2e-5, check_dtype=False)


def test_the_tables_that_are_recorded_are_those_of_the_files(real_crowds, crowds_path, monkeypatch):
    known = crowds.source()
    assert known["SHA-256"] == replays.checksums(crowds_path)
    assert known["sizes"] == replays.sizes(*real_crowds.values())
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
