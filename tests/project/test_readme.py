"""The blocks of the README run as they are, one after the other, and what it says of the claims is declared."""

import os
import re
import shlex
import subprocess
import sys

from book.project import ROOT
from book.reports import ledger
from crowder_tool.__main__ import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_it_says_what_became_of_the_claims():
    counts = ledger.tally(ledger.read_declared(ROOT).values())
    words = ", ".join(ledger.counted(status, count) for status, count in counts.items())
    assert f"**{sum(counts.values())} claims of the paper:** {words}." in README


def test_its_code_is_typed(tmp_path):
    """By mypy at its strictest: what an audit returns has a `certified`, and a journal is an oracle."""
    (tmp_path / "readme.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=import-untyped", "readme.py"], cwd=tmp_path,
        env=os.environ | {"MYPYPATH": f"{ROOT}{os.pathsep}{ROOT / 'tool'}"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_of_python_and_the_command_that_starts_a_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, asked, *others = BLOCKS
    names = {}
    exec(first, names)
    labels = names["data"].labels
    assert (names["result"].clusters == labels).all()
    exec(asked, names)
    assert (names["ordering"].resolution.clusters == labels).all()
    for block in others:
        exec(block, names)
    assert "among the candidate pairs" in capsys.readouterr().out
    assert names["pairs"].table(names["matched"])["cluster"].tolist() == [0, 0, 1, 1]
    # The third pair follows from the two matches; the runner-up of the first tries out that no record has two.
    assert names["matched"].n_queries == 3
    (start,) = re.findall(r"^crowder (start .*)$", README, re.MULTILINE)
    assert main(shlex.split(start, comments=True)) == 0
    assert (tmp_path / "my.crowder").is_dir() and "40 records" in capsys.readouterr().out
