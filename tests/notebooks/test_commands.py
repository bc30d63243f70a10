"""The commands on the page "Run it yourself" run as they are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book.text.chapters import read_chapters
from book.project import ROOT

TEXT = (ROOT / "book" / "pages" / "run.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", TEXT.partition("## Other parameters")[2], re.DOTALL)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What the commands need of a clone, with this environment as its .venv, and its compiled `crowder`."""
    root = tmp_path_factory.mktemp("run") / "clone"
    root.mkdir()
    for name in ("book", "notebooks"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "_toc.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    (root / ".venv").symlink_to(sys.prefix)
    return root


def run(command, clone):
    env = {k: v for k, v in os.environ.items() if not k.startswith("CROWDER_")}
    done = subprocess.run(["bash", "-ec", command], cwd=clone, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_commands_name_notebooks_and_parameters_that_exist_and_show_them(clone):
    known = {c.path.as_posix(): c.defaults() for c in read_chapters(ROOT)}
    assert len(BLOCKS) == 4
    for block in BLOCKS[:3]:
        (notebook,) = re.findall(r"notebooks/\S+\.ipynb", block)
        assert {*re.findall(r"-p (\w+) ", block)} <= known[notebook].keys()

    assert re.search(r"repetitions: int \(default 25\)\s+data sets for each row", run(BLOCKS[0], clone))


@pytest.mark.nightly
def test_table_1_with_other_parameters_and_many_settings(clone):
    said = run(BLOCKS[1], clone).splitlines()
    assert len(said) == 3 and said[0].startswith("model,ε,ordering,printed,expected,mean")
    # Row by row as in the paper: first Dist-1, ε = 1/2, node ordering, which asks some 4,470 questions in a run.
    first = dict(zip(said[0].split(","), said[1].split(","), strict=True))
    assert (first["model"], first["ε"], first["ordering"]) == ("Dist-1", "1/2", "node")
    assert 4000 < float(first["mean"]) < 5000
    record = (clone / "mine" / "tab-table1.json").read_text()
    assert '"seed": 8' in record and '"repetitions": 5' in record
    said = run(BLOCKS[2], clone)
    assert "mine/1:" in said and "mine/2:" in said
    one, two = (sorted((clone / "mine" / seed).glob("*.csv")) for seed in "12")
    assert [path.name for path in one] == [path.name for path in two]
    assert any(a.read_bytes() != b.read_bytes() for a, b in zip(one, two, strict=True))


@pytest.mark.nightly
def test_a_build_of_one_chapter(clone):
    (clone / "crowder").symlink_to(ROOT / "crowder")  # the build copies it
    said = run(BLOCKS[3], clone)
    assert re.search(r"^\| edge +\| +21,099 \|", said, re.MULTILINE)  # the questions of Figure 2(b)
    folder = said.splitlines()[-1].removeprefix("the run is in ").partition(";")[0]
    assert (Path(folder) / "results" / "09-cora").exists() and not (clone / "_build" / "results").exists()
