"""The benchmarks run, and what the pages show of them is complete."""

import subprocess
import sys

import numpy as np
import pandas as pd

from book.project import ROOT
from book.text.chapters import read_chapters

MEASURED = ROOT / "book" / "data" / "measured"


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
