"""The book as one PDF: complete, in order, with internal links and vector graphics."""

import os
import re
import shutil

from bs4 import BeautifulSoup
from needing import chromium
from tiny_book import TinyBook

from book.pdf import NAME, anchor, combine, footer
from book.project import addresses

PAGES = ["book/pages/index", "notebooks/01-one", "notebooks/02-two", "book/pages/bibliography"]


def plain(text):
    return " ".join(text.split())


def test_the_pages_become_one_document_with_links_that_the_landing_page_offers(tiny_built, tmp_path):
    chromium()
    book = tiny_built.copied(tmp_path / "book")
    assert NAME not in book.page("book/pages/index")  # pages without a PDF do not promise one
    done = book.do("book.pdf")
    assert done.returncode == 0, done.stderr
    path = book.out / "html" / NAME
    link = re.search(r'<p id="pdf"><a href="([^"]+)">The whole book as a PDF', book.page("book/pages/index"))[1]
    assert (book.out / "html" / "book" / "pages" / link).resolve() == path
    assert [path.name for path in (book.out / "html").glob(".*") if path.name != ".nojekyll"] == []
    text = path.read_bytes()
    # What a viewer shows in its title bar is the name of the book alone, without that of its first page.
    assert re.search(rb"/Title \(([^)]*)\)\s*/Creator", text)[1] == b"Asking the crowd"
    # Links stay in the document or lead to the network; formulas have their letters; nothing is a picture of dots.
    assert all(link.startswith(b"http") for link in re.findall(rb"/URI \(([^)]*)\)", text))
    assert len(re.findall(rb"/Dest /", text)) >= 2 and b"STIXTwoMath" in text
    assert b"/Subtype /Image" not in text and str(book.root).encode() not in text


def test_identifiers_of_different_pages_do_not_meet_and_folded_code_is_left_out(tiny_built):
    whole = combine(tiny_built.out / "html", PAGES)
    names = re.findall(r'\bid="([^"]+)"', whole)
    assert len(names) == len(set(names))
    assert f'href="#{anchor("notebooks/01-one", "fig-b")}"' in whole and anchor("notebooks/01-one", "fig-b") in names
    assert [whole.index(f'id="{anchor(name)}"') for name in PAGES] == sorted(
        whole.index(f'id="{anchor(name)}"') for name in PAGES
    )
    assert "size + share" in re.sub("<[^>]*>", "", whole) and "# Drawing" not in whole


def test_the_document_says_which_edition_it_is_and_where_its_pages_are(tiny_built, tmp_path):
    html, paper = tiny_built.out / "html", tmp_path / "html"
    colophon = BeautifulSoup(tiny_built.page(PAGES[0]), "html.parser").select_one(".colophon").text
    assert re.fullmatch(
        r"Asking the crowd, version \d\S*(, commit \w+( \(modified\))?)?, \d{4}-\d\d-\d\d\..*", plain(colophon)
    )
    foot = BeautifulSoup(footer(html, PAGES[0]), "html.parser")
    assert plain(foot.text) == plain(colophon) and foot.select_one(".pageNumber")
    begin = BeautifulSoup(combine(html, PAGES), "html.parser").select("article")
    assert begin[0].select_one("h1 + p.printed a")["href"] == addresses()["Homepage"]
    assert [len(article.select(".printed")) for article in begin] == [1, 0, 0, 0] and not begin[0].select("[id$=--pdf]")
    # Built for another address, the pages name it, and so does the document.
    shutil.copytree(html, paper)
    index = paper / f"{PAGES[0]}.html"
    url = f'<meta property="og:url" content="https://example.org/book/{PAGES[0]}.html" />'
    index.write_text(index.read_text().replace("</head>", f"{url}</head>"))
    assert '<a href="https://example.org/book/">https://example.org/book/</a>' in combine(paper, PAGES)


def test_without_pages_or_a_browser_that_works_nothing_is_printed(tiny_built, tmp_path):
    book = TinyBook(tmp_path / "none")
    assert "run `make book` first" in book.do("book.pdf").stderr
    book = tiny_built.copied(tmp_path / "book")
    (tmp_path / "chromium").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "chromium").chmod(0o755)
    before = sorted((book.out / "html").rglob("*"))
    done = book.do("book.pdf", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith(f"error: {tmp_path / 'chromium'} printed no PDF: ")
    assert sorted((book.out / "html").rglob("*")) == before
