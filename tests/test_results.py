"""Files that a chapter or a reader is left with: whole, or as they were before."""

import subprocess
import sys

import pytest

from crowder import results

# Signals itself before the n-th change on disk; True, when there was no n-th.
KILLED = """
import importlib.util, os, pathlib, sys
spec = importlib.util.spec_from_file_location("results", sys.argv[3])  # without all of crowder, which takes seconds
spec.loader.exec_module(results := importlib.util.module_from_spec(spec))
left = [int(sys.argv[2])]

def hook(event, arguments):
    if event in ("open", "os.rename") and sys.argv[1] in os.fspath(arguments[0]):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)

sys.addaudithook(hook)
results.write(pathlib.Path(sys.argv[1]) / "my-questions-1.csv", b"new" * 100_000)
"""


def test_a_sheet_is_the_old_or_the_new_wherever_its_writer_is_killed(tmp_path):
    path, codes = tmp_path / "my-questions-1.csv", []
    while not codes or codes[-1]:
        path.write_bytes(b"old")
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(len(codes) + 1), results.__file__]
        codes.append(subprocess.run(command, check=False).returncode)
        assert path.read_bytes() == (b"new" * 100_000 if codes[-1] == 0 else b"old")
    assert codes == [-9, -9, 0]  # before it opens its file, and before it moves it
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_that_finds_no_room_leaves_the_old_and_no_half(tmp_path, monkeypatch):
    path = tmp_path / "tab.csv"
    results.write(path, b"old")

    def half(self, content):
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(type(path), "write_bytes", half)
    with pytest.raises(OSError, match="No space left on device"):
        results.write(path, b"new")
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["tab.csv"]
