"""Chapters in a plain viewer: nbconvert's HTML, made without the book, shows no markup that is for the build.

Formulas stay TeX there; MathJax, to which the HTML has only a link, typesets them.
"""

import re

import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbformat import from_dict, read

from book.make.chapters import read_chapters
from book.make.environment import ROOT

EXPORTER = HTMLExporter(exclude_input=True)
CHAPTERS = read_chapters(ROOT)
#: Roles, directives, labels of headings and equations, and comments.
MARKUP = re.compile(r"\{[\w:.-]+\}`|:::|^\([\w-]+\)=|\$\$ \(eq-|<!--", re.MULTILINE)


def shown(notebook):
    """The parsed HTML of a notebook without scripts, styles and the code of cells; code in text has its backticks."""
    page = BeautifulSoup(EXPORTER.from_notebook_node(notebook)[0], "html.parser")
    for part in page(["script", "style"]):
        part.decompose()
    for code in page("code"):
        code.replace_with(f"`{code.get_text()}`")
    return page


@pytest.mark.parametrize("text", ["{prf:ref}`x`", ":::{note}", "(ch-one)=\n# One", "$$x$$ (eq-one)", "`<!--n-->`"])
def test_markup_for_the_build_would_be_seen(text):
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": text}
    notebook = from_dict({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert MARKUP.search(shown(notebook).get_text())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_chapter_shows_no_markup_of_the_build(chapter):
    assert MARKUP.findall(shown(read(ROOT / chapter.path, 4)).get_text()) == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_the_download_shows_each_figure_with_the_number_of_its_page(chapter, html):
    """As PNG, for JupyterLab shows no SVG in a notebook that is not trusted."""
    download = shown(read(html / "_sources" / chapter.path, 4))
    assert MARKUP.findall(download.get_text()) == []
    page = BeautifulSoup((html / chapter.path.with_suffix(".html")).read_text(), "html.parser")
    numbers = [f"{name}." for number in page(class_="caption-number")
               if (name := number.get_text().strip()).startswith(("Figure", "Table"))]  # fmt: skip
    assert [bold.get_text() for bold in download("strong") if bold.get_text() in numbers] == numbers
    below = [image.find_next("strong").get_text() for image in download("img", src=re.compile("^data:image/png"))]
    assert below == [number for number in numbers if number.startswith("Figure")]
