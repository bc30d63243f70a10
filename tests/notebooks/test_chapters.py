"""Statements have badges, claims have checks, and folded cells say what they do."""

import json
import re
from pathlib import Path

import pytest

from book.reports.ledger import read_declared

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
CLAIMS = read_declared(ROOT)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_statement_has_its_badge(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    statement = re.compile(r"^<!-- (?:theorem|proposition|corollary|lemma) .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
    for text in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"):
        for block in statement.findall(text):
            assert "#claim-" in block, f"{path.stem}: no badge in\n{block}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_list_does_not_begin_behind_the_bold_words_of_its_block(path):
    """There Markdown sees no list: its first item would be part of the words, with a hyphen or "1." among them."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            assert not re.findall(r"^\*\*.*\*\* (?:[-*]|\d+\.) .*", "".join(cell["source"]), re.MULTILINE)


def test_each_claim_is_checked_by_exactly_one_chapter():
    """In a call that has its identifier in it."""
    call = re.compile(r"""\bcheck\(\s*["']([BCE]\d+)["']""")
    checked = []
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        checked += set(call.findall(code))
    assert sorted(checked) == sorted(CLAIMS)
    assert sorted(name for name in CLAIMS if name[0] == "C") == [f"C{number:02}" for number in range(1, 34)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_folded_cell_says_in_its_first_line_what_it_does(path):
    """A reader sees that line, or the numbers of its figures, in the place of the code."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", [])):
            first = "".join(cell["source"]).partition("\n")[0]
            assert cell["cell_type"] == "code" and re.fullmatch(r"# *\w.*", first), f"{path.stem}: {first}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_is_folded_on_the_page_is_folded_in_jupyterlab(path):
    """The page goes by the tags, and JupyterLab by `jupyter`; neither hides code that the other shows.

    Only hide-cell folds outputs: remove-input shows them on the page, and the first cell says what it installs.
    """
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        tags = set(cell["metadata"].get("tags", []))
        expected = {"source_hidden": True} if tags & {"hide-input", "hide-cell", "remove-cell", "remove-input"} else {}
        expected |= {"outputs_hidden": True} if "hide-cell" in tags else {}
        assert cell["metadata"].get("jupyter", {}) == expected, f"{path.stem}: {cell['id']}"
