"""The commands on the page "Run it yourself" run as they are."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from book.project import ROOT
from book.text.chapters import read_chapters

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
    known = {c.slug: c.defaults() for c in read_chapters(ROOT)}
    assert len(BLOCKS) == 3
    for block in (BLOCKS[1], *re.findall(r"^- .*(?:\n  .*)*", TEXT.partition("### Reruns")[2], re.MULTILINE)):
        names = {*re.findall(r"-p (\w+) ", block), *re.findall(r"'\{(\w+):", block)}
        assert names and any(names <= has.keys() for has in known.values()), block
    assert re.search(r"repetitions: int \(default 25\)\s+data sets for each row", run(BLOCKS[0], clone))


@pytest.mark.nightly
def test_table_1_with_other_parameters(clone):
    said = run(BLOCKS[1], clone).splitlines()
    assert len(said) == 3 and said[0].startswith("model,ε,ordering,printed,expected,mean")
    # Row by row as in the paper: first Dist-1, ε = 1/2, node ordering, which asks some 4,470 questions in a run.
    first = dict(zip(said[0].split(","), said[1].split(","), strict=True))
    assert (first["model"], first["ε"], first["ordering"]) == ("Dist-1", "1/2", "node")
    assert 4000 < float(first["mean"]) < 5000


@pytest.mark.nightly
def test_a_chapter_beside_the_book(clone):
    (clone / "crowder").symlink_to(ROOT / "crowder")
    said = run(BLOCKS[2], clone)
    assert "09-cora: seed" in said and "fig-" in said and said.splitlines()[-1].startswith("The notebooks are in ")
    assert (clone / "_build" / "runs" / "09-seed-8" / "09-cora" / "ran.json").exists()
    assert not (clone / "_build" / "full").exists()
