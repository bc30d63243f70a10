"""What chapter 13 shows of recorded runs is what they give now."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from nightly import NIGHTLY

from book.companion import crowds, measured


@pytest.fixture(scope="module")
def audits():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "audits.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_audits", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_data_set_is_recorded_for_every_target(audits):
    found = measured.read("audit")
    assert found[["data", "target"]].to_numpy().tolist() == [[name, t] for name in audits.DATA for t in audits.TARGETS]
    assert (found["runs"] == audits.RUNS).all()


def test_what_is_recorded_is_what_the_runs_give(audits, crowds_path, monkeypatch):
    """gym has the smallest audits; the other data sets are audited in the same way. By day one target is audited."""
    monkeypatch.setattr(audits, "TARGETS", audits.TARGETS if NIGHTLY else (0.9,))
    monkeypatch.setenv(crowds.VARIABLE, str(crowds_path))
    kept = measured.read("audit").query("data == 'gym' and target in @audits.TARGETS").reset_index(drop=True)
    pd.testing.assert_frame_equal(audits.measured("gym"), kept, rtol=1e-5, check_dtype=False)
