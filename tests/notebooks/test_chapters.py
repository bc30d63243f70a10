"""Statements have badges, claims have checks, and folded cells say what they do."""

import json
import re
from pathlib import Path

import pytest

from book.reports.ledger import read_declared

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
CLAIMS = read_declared(ROOT)


def directives(text, kinds):
    """The sphinx-proof blocks of these kinds, each as text, whatever the length of its fence."""
    found = re.finditer(rf"^(:{{3,}}|`{{3,}})\{{prf:(?:{kinds})\}}.*?^\1\s*$", text, re.MULTILINE | re.DOTALL)
    return [match[0] for match in found]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_statement_has_its_badge(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for text in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"):
        for block in directives(text, "theorem|proposition|corollary|lemma"):
            assert "{claim}`" in block, f"{path.stem}: no badge in\n{block}"


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
