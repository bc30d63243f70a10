"""Work that takes long says how far it is, in the command alone."""

import time

from crowder_tool import progress


def test_long_work_says_what_it_is_about_and_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    for _ in progress.counted(range(2), "comparing"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    with progress.told("reading"):
        time.sleep(0.12)
        for _ in progress.counted(range(2), "comparing"):
            time.sleep(0.12)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("reading (0 s)") and lines[-1].startswith("reading: comparing, 50 % (0 s)")
