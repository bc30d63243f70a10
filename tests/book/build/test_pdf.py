"""The book as one PDF: complete, in order, with internal links and vector graphics."""

import os
import re
import subprocess

import pytest
from needing import chromium
from tiny_book import TinyBook

from book.build.pdf import NAME, anchor, combine

SECOND = """# Two

The text refers to {numref}`fig-a` and to {doc}`01-one`, with $e^{i\\pi} + 1 = 0$.

```{prf:theorem} A box
:label: thm-box
On the page this box has a shadow.
```"""
PAGES = ["book/pages/index", "notebooks/01-one", "notebooks/02-two", "book/pages/bibliography"]


def run(book, *arguments, **env):
    command = book.command(*arguments, module="book.build.pdf")
    return subprocess.run(command, cwd=book.root, capture_output=True, text=True, env=os.environ | env)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    chromium()
    book = TinyBook(tmp_path_factory.mktemp("pdf") / "project")
    (book.root / "book" / "pages" / "index.md").write_text('# Tiny\n\n<p id="pdf"></p>\n\nA book.\n')
    book.write("02-two", SECOND, "#p\nsize = 5", "secret = size  # folded", "shown = size")
    book.profiles("quick: {}")
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert NAME not in book.page("book/pages/index")  # pages without a PDF do not promise one
    done = run(book)
    assert done.returncode == 0, done.stderr
    return book


@pytest.fixture(scope="module")
def document(book):
    import pikepdf

    with pikepdf.open(book.out / "html" / NAME) as document:
        yield document


def test_all_pages_are_there_in_order_with_their_links(book, document):
    def headings(entries):
        return [title for entry in entries for title in (str(entry.title), *headings(entry.children))]

    with document.open_outline() as outline:
        titles = headings(outline.root)
    wanted = ["Tiny", "One", "Two", "Bibliography"]  # chapters have their number before it
    assert [word for title in titles if (word := title.split()[-1]) in wanted] == wanted
    actions = [note.get("/A", {}) for page in document.pages for note in page.get("/Annots", [])]
    outside = [str(action["/URI"]) for action in actions if "/URI" in action]
    assert all(re.match(r"https?://", link) for link in outside) and len(actions) - len(outside) >= 2
    assert str(book.root).encode() not in (book.out / "html" / NAME).read_bytes()


def test_formulas_are_set_and_figures_are_drawn(document):
    """The formulas' letters come from their own font; and nothing is a picture of dots, not even a box's shadow."""
    import pikepdf

    fonts = [str(item["/BaseFont"]) for item in document.objects
             if isinstance(item, pikepdf.Dictionary) and "/BaseFont" in item]  # fmt: skip
    assert any("STIXTwoMath" in font for font in fonts)
    streams = [item for item in document.objects if isinstance(item, pikepdf.Stream)]
    assert [item for item in streams if item.get("/Subtype") == "/Image"] == []


def test_the_landing_page_leads_to_it_and_nothing_is_left_over(book):
    page = book.page("book/pages/index")
    link = re.search(r'<p id="pdf"><a href="([^"]+)">The whole book as a PDF', page)[1]
    assert (book.out / "html" / "book" / "pages" / link).resolve() == book.out / "html" / NAME
    assert [path.name for path in (book.out / "html").glob(".*") if path.name != ".nojekyll"] == []


def test_identifiers_of_different_pages_do_not_meet_and_folded_code_is_left_out(book):
    whole = combine(book.out / "html", PAGES[:3])
    names = re.findall(r'\bid="([^"]+)"', whole)
    assert len(names) == len(set(names))
    assert anchor("notebooks/01-one", "fig-a") in names
    assert f'href="#{anchor("notebooks/01-one", "fig-a")}"' in whole
    assert "$$" not in whole and "\\pi" not in re.sub("<annotation.*?</annotation>", "", whole)


def test_one_page_is_printed_as_a_note_without_code(book):
    import pikepdf

    before = book.page("book/pages/index")
    assert run(book, "--page", "02-two").returncode == 0
    with pikepdf.open(book.out / "html" / "02-two.pdf") as note, note.open_outline() as outline:
        assert len(note.pages) == 1 and [str(entry.title).split()[-1] for entry in outline.root] == ["Two"]
    assert book.page("book/pages/index") == before  # which leads to the whole book
    assert "has no page '03'" in run(book, "--page", "03").stderr


# --- what is refused ----------------------------------------------------------------------------------------------


def test_without_pages_or_a_browser_that_works_nothing_is_printed(tmp_path):
    book, html = TinyBook(tmp_path / "book"), tmp_path / "out" / "html"
    done = run(book, "--html", str(html))
    assert done.returncode == 1 and "run `make book` first" in done.stderr
    for name in PAGES:
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / f"{name}.html").write_text("<article><h1>One</h1></article>")
    (tmp_path / "chromium").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "chromium").chmod(0o755)
    before = sorted(html.rglob("*"))
    done = run(book, "--html", str(html), PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith(f"error: {tmp_path / 'chromium'} printed no PDF: ")
    assert sorted(html.rglob("*")) == before
