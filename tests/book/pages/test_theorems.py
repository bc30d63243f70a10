"""The titles of statements and the references to them: the paper's numbers are the paper's, ours are a companion's."""

import json
import re
from pathlib import Path

import pytest
from tiny_book import FIGURE, TinyBook

from book.sphinx_ext.theorems import name_of

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"

PAGE = """# Statements

:::{prf:theorem} A tree with $x^2$
:label: thm-ours
Ours.
:::

:::{prf:theorem} Theorem 2 of the paper (edge *ordering*, $x^2$)
:label: thm-theirs
:nonumber:
Theirs.
:::

:::{prf:corollary} Corollary 1 of the paper
:label: cor-theirs
:nonumber:
Theirs, too.
:::

:::{prf:proposition}
:label: prop-plain
Without a title.
:::

:::{prf:definition} A word
:label: def-ours
A definition.
:::

:::{prf:theorem} Another tree
:label: thm-second
Ours again.
:::

Read {prf:ref}`thm-ours`, {prf:ref}`thm-theirs`, {prf:ref}`cor-theirs`, {prf:ref}`prop-plain`, {prf:ref}`def-ours`,
{prf:ref}`thm-second` and {prf:ref}`these words <thm-theirs>`."""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return TinyBook(tmp_path_factory.mktemp("theorems") / "project")


def text(markup):
    return " ".join(re.sub("<[^>]+>", "", re.sub("<math.*?</math>", "M", markup, flags=re.DOTALL)).split())


def test_titles_and_references(book):
    book.write("02-two", PAGE, "#p\nsize = 5\nshare = 0.5")
    done = book.build()
    assert done.returncode == 0, done.stderr
    page = book.page("notebooks/02-two")
    titles = [text(title) for title in re.findall(r'<p class="admonition-title"[^>]*>(.*?)</p>', page, re.DOTALL)]
    assert titles == [
        "Companion Theorem 2.1 (A tree with M)",
        "Theorem 2 of the paper (edge ordering, M)",
        "Corollary 1 of the paper",
        "Companion Proposition 2.1",
        "Definition 2.1 (A word)",
        "Companion Theorem 2.2 (Another tree)",
    ]
    links = re.findall(r'<a class="reference internal" href="#((?:thm|cor|prop|def)-[^"]+)"[^>]*>(.*?)</a>', page)
    assert [(target, text(words)) for target, words in links] == [
        ("thm-ours", "Companion Theorem 2.1"),
        ("thm-theirs", "Theorem 2 of the paper"),
        ("cor-theirs", "Corollary 1 of the paper"),
        ("prop-plain", "Companion Proposition 2.1"),
        ("def-ours", "Definition 2.1"),
        ("thm-second", "Companion Theorem 2.2"),
        ("thm-theirs", "these words"),
    ]
    assert len(re.findall('id="thm-theirs"', page)) == 1


def test_an_appendix_has_the_number_of_its_file_everywhere(tmp_path):
    book = TinyBook(tmp_path / "project")
    (book.root / "notebooks" / "appendix").mkdir()
    links = "{prf:ref}`thm-ours`, {numref}`fig-b`, {eq}`eq-a` and {numref}`sec`"
    book.write("01-one", f"# One\n\nSee {links}.", "#p\nsize = 5")
    page = f"{PAGE}\n\n(sec)=\n## A section\n\n$$x^2$$ (eq-a)"
    book.write("appendix/A2-more", page, "#p\nsize = 3", f"#h\n# Drawing\n{FIGURE}")
    toc = book.root / "_toc.yml"
    toc.write_text(f"{toc.read_text()}- numbered: 2\n  chapters:\n  - file: notebooks/appendix/A2-more\n")
    done = book.build()
    assert done.returncode == 0, done.stderr
    said = text(book.page("notebooks/01-one"))
    assert "See Companion Theorem A2.1, Figure A2.2, (A2.1) and Section A2.1." in said
    assert "A2. Statements" in said and "2. Two" in said  # the navigation
    assert book.build("--only", "a2", "--preview").returncode == 0
    preview = (book.out / "preview" / "notebooks" / "appendix" / "A2-more.html").read_text()
    for page in (book.page("notebooks/appendix/A2-more"), preview):
        said = text(page)
        for words in ("A2. Statements", "Companion Theorem A2.2 (Another tree)", "Figure A2.1", "Table A2.1", "(A2.1)",
                      "A2.1. A section", "Code: Figure A2.1, Figure A2.2, Table A2.1"):  # fmt: skip
            assert words in said, words


def test_the_chapters_name_the_statements_of_the_paper():
    found = []
    for path in NOTEBOOKS.rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found += re.findall(r"\{prf:\w+\} (.+)\n(?::(?!nonumber).*\n)*:nonumber:", text)
    assert len(found) >= 9  # three theorems, a corollary, five propositions
    assert [title for title in found if name_of(title) is None] == []


def test_an_unnumbered_statement_must_say_what_it_is(book):
    book.write("02-two", "# Two\n\n:::{prf:theorem} A tree\n:nonumber:\nIt grows.\n:::", "#p\nsize = 5\nshare = 0.5")
    done = book.build()
    assert done.returncode == 1
    assert "begins with what it is, such as 'Theorem 2 of the paper': 'A tree'" in done.stderr
