"""Files are written completely or not at all."""

import re
import subprocess
import sys

import pytest

from crowder_tool import files

# Signals itself before the n-th change on disk; True, when there was no n-th.
KILLED = """
import importlib.util, os, pathlib, sys
spec = importlib.util.spec_from_file_location("files", sys.argv[3])  # without all of crowder, which takes seconds
spec.loader.exec_module(files := importlib.util.module_from_spec(spec))
left = [int(sys.argv[2])]

def hook(event, arguments):
    if event in ("open", "os.rename") and sys.argv[1] in str(arguments[0]):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)

sys.addaudithook(hook)
files.write(pathlib.Path(sys.argv[1]) / "my-questions-1.csv", b"new" * 100_000)
"""


def test_a_sheet_is_the_old_or_the_new_wherever_its_writer_is_killed(tmp_path):
    path, codes, found = tmp_path / "my-questions-1.csv", [], []
    while len(codes) < 4:  # the last finds nothing to be killed at
        path.write_bytes(b"old")
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(len(codes) + 1), files.__file__]
        codes.append(subprocess.run(command, check=False).returncode)
        found.append(path.read_bytes())
    assert codes == [-9, -9, -9, 0]  # before it opens its file, before it moves it, and before it flushes the folder
    assert found == [b"old", b"old", b"new" * 100_000, b"new" * 100_000]
    left = [p.name for p in tmp_path.iterdir() if p != path]  # of the second, under a name that no other writer has
    assert len(left) == 1 and re.fullmatch(r"\.my-questions-1\.csv\.[0-9a-f]{16}\.part", left[0])


def test_a_file_that_finds_no_room_leaves_the_old_and_no_half(tmp_path, monkeypatch):
    path = tmp_path / "tab.csv"
    files.write(path, b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "flush", full)
    with pytest.raises(OSError, match="No space left on device"):
        files.write(path, b"new")
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["tab.csv"]
