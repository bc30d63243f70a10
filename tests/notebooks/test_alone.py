"""A notebook that is opened alone, by Colab or after a download, fetches the book, and runs; in a clone it need not."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from needing import missing

from book.check import judged
from book.project import ROOT, addresses
from book.reports import ledger
from book.sphinx_ext.chapters import offered
from book.text.chapters import read_chapters, read_profile

CHAPTERS = {chapter.slug: chapter for chapter in read_chapters(ROOT)}
ADDRESS = addresses()["Repository"]
#: What a chapter is run with here.
SMALL = read_profile(ROOT, "quick", [*CHAPTERS.values()])
#: What Colab had in 2026; its kernels load most of these before the first cell, when it is too late to replace them.
COLAB = ("numpy==2.0.2", "pandas==2.2.2", "scipy==1.16.3", "numba==0.60.0", "matplotlib==3.10.0", "scikit-learn==1.6.1")
NIGHT = [pytest.mark.nightly, pytest.mark.skipif(sys.version_info >= (3, 13), reason="this Numba is older")]


def first_cell(chapter):
    return next(cell for cell in chapter.notebook()["cells"] if cell["cell_type"] == "code")


def test_all_chapters_begin_with_the_same_cell_which_fetches_this_version():
    cells = [first_cell(chapter) for chapter in CHAPTERS.values()]
    assert all(cell == cells[0] for cell in cells)
    assert cells[0]["metadata"] == {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    wanted = "main" if ".dev" in version else f"v{version}"
    assert f'    address, version = "{ADDRESS}", "{wanted}"\n' in cells[0]["source"]


def redirected(target):
    """The variables by which git takes GitHub's address for another."""
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{target}.insteadOf", "GIT_CONFIG_VALUE_0": ADDRESS}


def test_the_cell_does_nothing_where_the_book_is_and_says_what_git_says_if_it_cannot_be_fetched(tmp_path):
    def run(*options, **env):
        command = [sys.executable, *options, "-c", first_cell(CHAPTERS["01-questions"])["source"]]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)

    done = run(PYTHONPATH=str(ROOT), HOME=str(tmp_path), PATH="")  # no git could be found
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and [*tmp_path.iterdir()] == []
    (tmp_path / "book").mkdir()  # the folder of another Jupyter Book is not this one
    done = run("-S", HOME=str(tmp_path), PATH="")
    assert "No such file or directory: 'git'" in done.stderr
    away = redirected(f"{tmp_path}/gone")
    done = run("-I", "-S", HOME=str(tmp_path), PATH=os.environ["PATH"], LC_ALL="C", **away)
    assert "gone' does not appear to be a git repository" in done.stderr and "CalledProcessError" in done.stderr


@pytest.fixture(scope="module", params=[(), pytest.param(COLAB, marks=NIGHT)], ids=["empty", "colab"])
def elsewhere(request, tmp_path_factory):
    """A home with an environment that has a kernel, papermill and what else is given, and nothing of the book.

    GitHub's address leads to a repository with what this clone has now, as its last commit.
    """
    home = tmp_path_factory.mktemp("elsewhere")
    origin, python = home / "origin", home / "venv" / "bin" / "python"
    for name in ("book", "crowder", "notebooks", "tool"):
        shutil.copytree(ROOT / name, origin / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, origin)
    foreign = ("CROWDER", "GIT", "IPYTHON", "JUPYTER", "MPL", "PYTHON")
    env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    env.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    env |= {"HOME": str(home), "PIP_NO_COMPILE": "1", **redirected(f"file://{origin}")}

    def call(*command, timeout=120):
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout)

    git = ("git", "-C", origin, "-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in ("init -q -b main", "add -A", "commit -q -m everything"):
        assert call(*git, *words.split()).returncode == 0
    assert call(sys.executable, "-m", "venv", home / "venv").returncode == 0
    done = call(python, "-m", "pip", "install", "-q", "ipykernel", "papermill", *request.param, timeout=600)
    if done.returncode:
        missing("registry", f"pip cannot install a kernel: {done.stderr[-300:]}")
    return home, python, call, call(*git, "rev-parse", "HEAD").stdout.strip(), request.param


@pytest.mark.timeout(1500)  # pip fetches and installs what the notebook needs
# The last one compiles for two minutes, and waits for the night.
@pytest.mark.parametrize("slug", ["02-models", "01-questions", pytest.param("16-your-data", marks=pytest.mark.nightly)])
def test_a_notebook_runs_alone(elsewhere, slug):
    """As Colab opens it; chapter 2 as its page offers it, which is with the commit that the page was built from."""
    home, python, call, commit, given = elsewhere
    chapter, folder, version = CHAPTERS[slug], home / slug, commit if slug == "02-models" else "main"
    folder.mkdir()
    shutil.copyfile(ROOT / chapter.path, folder / "alone.ipynb")
    if version == commit:
        (folder / "alone.ipynb").write_text(offered(chapter.notebook(), ADDRESS, commit))
    papermill = ["papermill", "--cwd", folder, folder / "alone.ipynb", folder / "out.ipynb"]
    results = f"CROWDER_RESULTS={home / 'results' / slug}"
    small = json.dumps(SMALL.get(slug, {}))
    done = call("env", results, python, "-m", *papermill, "-y", small, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (home / ".cache" / "asking-the-crowd" / version / "book").is_dir()
    assert sorted(path.name for path in folder.iterdir()) == ["alone.ipynb", "out.ipynb"]
    # It finds what the book's own run finds: the declared status of each claim that it checks, and the printed numbers.
    entries = ledger.judge(ledger.read_declared(ROOT), ledger.read_records([home / "results" / slug]), complete=False)
    code = "".join(cell["source"] for cell in chapter.notebook()["cells"] if cell["cell_type"] == "code")
    assert {entry["id"] for entry in entries} == {*re.findall(r'check\(\s*"(\w+)"', code)} != set()
    assert [*judged(entries, [home / "results" / slug])] == []
    assert {*given} <= {line.lower() for line in call(python, "-m", "pip", "freeze").stdout.splitlines()}
