"""Statements have badges, claims have checks, and folded cells say what they do."""

import re

import pytest

from book.project import ROOT
from book.reports.ledger import read_declared
from book.text import numbers
from book.text.chapters import read_chapters

CHAPTERS = read_chapters(ROOT)
CLAIMS = read_declared(ROOT)


@pytest.fixture(params=CHAPTERS, ids=lambda chapter: chapter.slug)
def cells(request):
    return request.param.notebook()["cells"]


STATEMENT = re.compile(r"^<!-- (?:theorem|proposition|corollary|lemma) .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def test_every_statement_has_its_badge_and_no_list_begins_behind_bold_words(cells):
    """There Markdown sees no list: its first item would be part of the words, with a hyphen or "1." among them."""
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert [block for block in STATEMENT.findall(text) if "#claim-" not in block] == []
    assert re.findall(r"^\*\*.*\*\* (?:[-*]|\d+\.) .*", text, re.MULTILINE) == []


@pytest.mark.parametrize("chapter", [c for c in CHAPTERS if c.slug[0] != "A"], ids=lambda chapter: chapter.slug)
def test_a_chapter_begins_with_its_question_and_ends_with_its_results(chapter):
    """The numbers of a chapter are found in it, and summed up in its last section but the exercises."""
    first, *others = chapter.notebook()["cells"]
    assert [*numbers.find("".join(first["source"]))] == []
    texts = ["".join(cell["source"]) for cell in others if cell["cell_type"] == "markdown"]
    heads = re.findall("^## (.*)$", "\n".join(texts), re.MULTILINE)
    assert heads[-2:] == ["In short", "Try it"] or heads[-1] == "In short"
    (short,) = (text for text in texts if text.startswith("## In short\n"))
    assert short.count("\n- ") >= 2 and [*numbers.find(short)] != []


def test_each_claim_is_checked_by_exactly_one_chapter():
    """In a call that has its identifier in it."""
    call = re.compile(r"""\bcheck\(\s*["']([BCE]\d+)["']""")
    checked = []
    for chapter in CHAPTERS:
        cells = chapter.notebook()["cells"]
        checked += set(
            call.findall("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
        )
    assert sorted(checked) == sorted(CLAIMS)
    assert sorted(name for name in CLAIMS if name[0] == "C") == [f"C{number:02}" for number in range(1, 34)]


def test_a_folded_cell_says_in_its_first_line_what_it_does_and_is_folded_in_jupyterlab_too(cells):
    """A reader sees that line, or the numbers of its figures, in the place of the code.

    The page goes by the tags, and JupyterLab by `jupyter`; neither hides code that the other shows. No code is left
    out but that of the cell that fetches the book.
    """
    for cell in cells:
        tags, source = set(cell["metadata"].get("tags", [])), "".join(cell["source"])
        assert "remove-input" not in tags, cell["id"]
        folded = tags & {"hide-input", "hide-cell"}
        assert not folded or (cell["cell_type"] == "code" and re.match(r"# *\w", source)), cell["id"]
        expected = {"source_hidden": True} if folded or "remove-cell" in tags else {}
        expected |= {"outputs_hidden": True} if "hide-cell" in tags else {}
        assert cell["metadata"].get("jupyter", {}) == expected, cell["id"]
