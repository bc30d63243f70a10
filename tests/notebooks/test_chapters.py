"""Chapters with other parameters run, and their text agrees with the results."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from book.build.chapters import read_chapters
from book.reports.ledger import checked_in, read_declared

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
CLAIMS = read_declared(ROOT)


def sources(path, kind):
    """The text of each cell of a kind."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def prose(path):
    return sources(path, "markdown")


def directives(text, kinds):
    """The sphinx-proof blocks of these kinds, each as text, whatever the length of its fence."""
    found = re.finditer(rf"^(:{{3,}}|`{{3,}})\{{prf:(?:{kinds})\}}.*?^\1\s*$", text, re.MULTILINE | re.DOTALL)
    return [match[0] for match in found]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_statement_has_its_badge(path):
    for text in prose(path):
        for block in directives(text, "theorem|proposition|corollary|lemma"):
            assert "{claim}`" in block, f"{path.stem}: no badge in\n{block}"


def test_each_claim_is_checked_by_exactly_one_chapter():
    """In a call that has its identifier in it; a second one would be refused."""
    checked = checked_in(read_chapters(ROOT))
    assert sorted(checked) == sorted(CLAIMS)
    assert sorted(name for name in CLAIMS if name[0] == "C") == [f"C{number:02}" for number in range(1, 34)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_badge_names_a_claim(path):
    named = re.findall(r"\{claim\}`(\w+)`", "\n".join(prose(path)))
    assert set(named) <= CLAIMS.keys()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_folded_cell_says_in_its_first_line_what_it_does(path):
    """A reader sees that line, or the numbers of its figures, in the place of the code."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", [])):
            first = "".join(cell["source"]).partition("\n")[0]
            assert cell["cell_type"] == "code" and re.fullmatch(r"# *\w.*", first), f"{path.stem}: {first}"


@pytest.mark.nightly
def test_the_synthetic_chapter_with_rounded_similarities_is_not_shown(tmp_path):
    """Rounded down, Dist-2 with ε = 1/20 gives all pairs the same values: edge ordering then asks more."""
    text = (ROOT / "notebooks" / "08-synthetic.ipynb").read_text(encoding="utf-8")
    drawn = "cr.datasets.synthetic(sizes, model, rng=rng)"
    assert text.count(drawn) == 1
    (tmp_path / "rounded.ipynb").write_text(text.replace(drawn, drawn[:-1] + ", discretize='floor')"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "papermill", str(tmp_path / "rounded.ipynb"), str(tmp_path / "made.ipynb"),
         "-p", "repetitions", "12", "-p", "n_jobs", "1", "--no-progress-bar"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"CROWDER_RESULTS": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "claims" / "C24.json").read_text(encoding="utf-8"))["found"] == "not shown"
