"""The recorded audits: what a run gives now, and which data sets they are of."""

import os
from pathlib import Path

import pandas as pd
import pytest

from book.companion import audits, crowds

BESIDE = Path(__file__).resolve().parents[4] / "shared" / "data" / "crowds"


def test_every_data_set_is_recorded_for_every_target():
    found = audits.recorded()
    assert found[["data", "target"]].to_numpy().tolist() == [[name, t] for name in audits.DATA for t in audits.TARGETS]
    assert (found["runs"] == audits.RUNS).all()


def test_what_is_recorded_is_what_an_audit_gives(monkeypatch):
    """gym has the smallest runs; the other data sets are audited in the same way."""
    folder = Path(os.environ.get(crowds.VARIABLE) or BESIDE)
    if not folder.is_dir():
        pytest.skip(f"{crowds.VARIABLE} names no folder")
    monkeypatch.setenv(crowds.VARIABLE, str(folder))
    kept = audits.recorded().query("data == 'gym'").reset_index(drop=True)
    pd.testing.assert_frame_equal(audits.measured("gym"), kept, rtol=1e-5, check_dtype=False)
