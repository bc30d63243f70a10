"""The recorded audits: what a run gives now, and which data sets they are of."""

import pandas as pd

from book.companion import audits, crowds


def test_every_data_set_is_recorded_for_every_target():
    found = audits.recorded()
    assert found[["data", "target"]].to_numpy().tolist() == [[name, t] for name in audits.DATA for t in audits.TARGETS]
    assert (found["runs"] == audits.RUNS).all()


def test_what_is_recorded_is_what_an_audit_gives(crowds_path, monkeypatch):
    """gym has the smallest runs; the other data sets are audited in the same way."""
    monkeypatch.setenv(crowds.VARIABLE, str(crowds_path))
    kept = audits.recorded().query("data == 'gym'").reset_index(drop=True)
    pd.testing.assert_frame_equal(audits.measured("gym"), kept, rtol=1e-5, check_dtype=False)
