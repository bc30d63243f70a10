"""Statements of the paper have badges, chapters a beginning and an end, and cells are folded alike everywhere."""

import re

import pytest

from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters
from book.text.words import STATEMENT, ours

CHAPTERS = read_chapters(ROOT)


@pytest.fixture(params=CHAPTERS, ids=lambda chapter: chapter.slug)
def cells(request):
    return request.param.notebook()["cells"]


BLOCK = re.compile(r"^<!-- (?:theorem|proposition|corollary|lemma) -->.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def test_statements_of_the_paper_alone_have_badges_and_no_list_begins_behind_bold_words(cells):
    """The book's own are proved where they stand. Behind bold words Markdown sees no list: its first item would be part
    of the words, with a hyphen or "1." among them."""
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert "#claim-b" not in text
    own = [bool(ours(STATEMENT.match(block)["head"])) for block in BLOCK.findall(text)]
    assert all(has or "#claim-" in block for has, block in zip(own, BLOCK.findall(text), strict=True))
    assert re.findall(r"^\*\*.*\*\* (?:[-*]|\d+\.) .*", text, re.MULTILINE) == []


@pytest.mark.parametrize("chapter", [c for c in CHAPTERS if c.slug[0] != "A"], ids=lambda chapter: chapter.slug)
def test_a_chapter_begins_with_its_question_and_ends_with_its_results(chapter):
    """The numbers of a chapter are summed up in its last section but the exercises."""
    texts = ["".join(cell["source"]) for cell in chapter.notebook()["cells"] if cell["cell_type"] == "markdown"]
    heads = re.findall("^## (.*)$", "\n".join(texts), re.MULTILINE)
    assert heads[-2:] == ["In short", "Try it"] or heads[-1] == "In short"
    (short,) = (text for text in texts if text.startswith("## In short\n"))
    assert short.count("\n- ") >= 2 and [*numbers.find(short)] != []


def test_a_folded_cell_is_folded_in_jupyterlab_too(cells):
    """The page goes by the tags, and JupyterLab by `jupyter`; neither hides code that the other shows. No code is left
    out but that of the cell that fetches the book."""
    for cell in cells:
        tags = set(cell["metadata"].get("tags", []))
        assert "remove-input" not in tags, cell["id"]
        folded = tags & {"hide-input", "hide-cell"}
        assert not folded or cell["cell_type"] == "code", cell["id"]
        expected = {"source_hidden": True} if folded or "remove-cell" in tags else {}
        expected |= {"outputs_hidden": True} if "hide-cell" in tags else {}
        assert cell["metadata"].get("jupyter", {}) == expected, cell["id"]
