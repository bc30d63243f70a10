"""Chapters in a plain viewer: nbconvert's HTML, made without the book, shows no markup that is for the build.

Formulas stay TeX there; MathJax, to which the HTML has only a link, typesets them.
"""

import re

import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbformat import read

from book.project import ROOT
from book.text.chapters import read_chapters

#: Roles, directives, labels of headings and equations, and comments.
MARKUP = re.compile(r"\{[\w:.-]+\}`|:::|^\([\w-]+\)=|\$\$ \(eq-|<!--", re.MULTILINE)


def shown(path):
    """The parsed HTML of a notebook without scripts, styles and the code of cells; code in text has its backticks."""
    page = BeautifulSoup(HTMLExporter(exclude_input=True).from_notebook_node(read(path, 4))[0], "html.parser")
    for part in page(["script", "style"]):
        part.decompose()
    for code in page("code"):
        code.replace_with(f"`{code.get_text()}`")
    return page


@pytest.mark.parametrize("chapter", read_chapters(ROOT), ids=lambda chapter: chapter.slug)
def test_a_chapter_shows_no_markup(chapter):
    assert MARKUP.findall(shown(ROOT / chapter.path).get_text()) == []


@pytest.mark.parametrize("chapter", read_chapters(ROOT), ids=lambda chapter: chapter.slug)
def test_a_download_has_the_pictures_and_the_numbers_of_its_page(chapter, html):
    """As PNG, for JupyterLab shows no SVG if it does not trust a notebook. Links lead to a place in it, or to pages."""
    download = shown(html / "_sources" / chapter.path)
    links = [link["href"] for link in download("a", href=True, class_=lambda name: name != "anchor-link")]
    known = {f"#{part['id']}" for part in download(id=True)}
    assert [link for link in links if link not in known and not link.startswith("https://")] == []
    outputs = [o for cell in read(html / "_sources" / chapter.path, 4)["cells"] for o in cell.get("outputs", [])]
    pictures = [output["metadata"] for output in outputs if "image/png" in output.get("data", {})]
    assert all(len(facts["image/png"]["alt"]) > 20 for facts in pictures)  # nbconvert's classic template shows it
    assert MARKUP.findall(download.get_text()) == []
    page = BeautifulSoup((html / chapter.path.with_suffix(".html")).read_text(), "html.parser")
    names = [number.get_text().strip() for number in page(class_="caption-number")]
    below = [image.find_next("strong").get_text() for image in download("img", src=re.compile("^data:image/png"))]
    assert below == [f"{name}." for name in names if name.startswith("Figure")]
    # Statements and equations are counted by the build, and on the page by Sphinx.
    heads = iter(text.get_text() for text in download("strong"))
    counted = [name for name in names if not name.startswith(("Figure", "Table"))]
    assert [name for name in counted if not any(head.startswith(name) for head in heads)] == []
    tags = re.findall(r"\\tag\{([^}]*)\}", "".join(cell["source"] for cell in read(ROOT / chapter.path, 4)["cells"]))
    assert [f"({tag})" for tag in tags] == [number.get_text().strip("#") for number in page(class_="eqno")]
