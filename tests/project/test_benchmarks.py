"""The benchmarks run, and what the book shows of them is complete and keeps its promises."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from book.companion import measured
from book.make.chapters import read_chapters
from crowder_tool import people

ROOT = Path(__file__).resolve().parents[2]


def run(*command):
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_orderings_are_timed_and_cost_less_than_a_sort(tmp_path):
    """A new measurement has the columns of the committed one, which keeps what is promised: on cora at most one argsort
    for edge ordering, half of one for node ordering."""
    run("benchmarks/orderings.py", "--quick", "--results", str(tmp_path))
    table = measured.read("orderings")
    assert list(pd.read_csv(tmp_path / "orderings.csv")) == list(table)
    assert table["contestant"].tolist() == ["argsort", "edge", "node"] and (table["n"] == 1879).all()
    assert table.notna().all(axis=None) and (table["low"] <= table["ratio"]).all()
    assert (table["ratio"] <= [1, 1, 0.5]).all()


@pytest.mark.nightly
def test_similarities_are_compared_on_labelled_records(tmp_path):
    """A new measurement has the columns of the committed one."""
    people([3] * 6 + [2] * 6 + [1] * 20, rng=1).to_csv(tmp_path / "ours.csv", index=False)
    run("benchmarks/similarities.py", str(tmp_path), "--quick", "--results", str(tmp_path / "out"))
    committed, table = measured.read("similarities"), pd.read_csv(tmp_path / "out" / "similarities.csv")
    assert list(table) == list(committed) and set(table["similarity"]) == {"learned", "tf-idf", "q-grams"}
    for (_, _, seed), part in table.groupby(["data", "similarity", "seed"]):
        assert seed == 0 and part["found"].is_monotonic_increasing and part["found"].between(0, 1).all()


def test_the_learned_similarity_is_nowhere_far_behind_the_best():
    """As chapter 16 says."""
    needed = measured.read("similarities").groupby(["data", "similarity"])["to_95"].first().unstack()
    assert (needed["learned"] <= 1.1 * needed.min(axis=1)).all()


def test_the_committed_scale_is_complete():
    table = measured.read("scale")
    numbers = ["records", "pairs", "questions", "seconds", "argsort_seconds", "ratio", "peak_mb"]
    assert list(table) == ["ordering", *numbers, "versions"]
    assert np.isfinite(table[numbers]).all(axis=None) and (table[numbers] > 0).all(axis=None)
    for _, part in table.groupby("ordering"):
        assert part["records"].is_unique and {1_000, 1_000_000} <= set(part["records"])


def test_every_chapter_has_a_committed_time():
    table = measured.read("chapters")
    assert table["chapter"].tolist() == [chapter.slug for chapter in read_chapters(ROOT)]
    assert (table["seconds"] > 0).all() and table["versions"].nunique() == 1
