"""Print the pages of the last build with Chromium, as one PDF of the whole book, and link it on the landing page.

The articles of all pages are combined into one page, in the order of the contents, so that links between chapters stay
links, and figures vector graphics. Code that is folded on the pages is left out; the executed notebooks contain it. The
document begins with a note that says so, with the address of the pages, and each foot names version, commit and date.
"""

from __future__ import annotations

import posixpath
import shutil
import sys
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from book.companion.results import write
from book.project import OUT, ROOT, BuildError, addresses, read_yaml
from book.text.chapters import pages

NAME = "asking-the-crowd.pdf"

# What print.css, which is among the style sheets of the pages, does not leave out.
_SCREEN_ONLY = "details.hide, script, .sd-d-none, :is(caption, figcaption) a.download, #pdf"
_NOTE = """<p class="printed">This is the book as one document. Its pages, <a href="{0}">{0}</a>, have more: charts that
move, the code that is left out here, and the files of all data and notebooks.</p>"""
_STYLE = """
/* A shadow is printed as an image. The unused identifier outranks the selectors of the themes. */
:is(#nothing, *) { box-shadow: none !important; text-shadow: none !important; }
body { display: block; }
.bd-content .bd-article { font-size: 9.5pt; line-height: 1.32; }
.bd-content .bd-article h1 { font-size: 17pt; margin: 1.6em 0 0.6em; }
.chapter h1 { break-before: page; }
.verdict { white-space: nowrap; }
.bd-content .bd-article .printed { color: #444; font-size: 8.5pt; }
"""
_FOOTER = """<div style="width: 100%; margin: 0 16mm; font: 7.5pt sans-serif; color: #666; display: flex">
<span style="flex: 1">{}</span><span class="pageNumber"></span></div>"""


def anchor(page: str, fragment: str = "") -> str:
    """The anchor in the combined document for a page, or for a place on it.

    >>> anchor("notebooks/08-synthetic", "fig-table1")
    'notebooks-08-synthetic--fig-table1'
    """
    return page.replace("/", "-") + (f"--{fragment}" if fragment else "")


def combine(html: Path, names: list[str]) -> str:
    """The combined HTML page, to be opened in the folder `html`."""
    whole = BeautifulSoup(f"<html lang=en data-theme=light><head><style>{_STYLE}</style></head></html>", "html.parser")
    body = whole.new_tag("body")
    for name in names:
        document = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = document.select_one("article")
        if not body.contents:
            article.select_one("h1").insert_after(BeautifulSoup(_NOTE.format(_address(document, name)), "html.parser"))
            for part in reversed(document.select('meta[charset], title, link[rel="stylesheet"]')):
                if part.name == "link":
                    part["href"] = _beside(name, part["href"].partition("?")[0])
                whole.head.insert(0, part)
        _for_paper(article, name, names)
        article["id"] = anchor(name)
        chapter = name.startswith("notebooks/") and "appendix" not in name
        content = whole.new_tag("div", attrs={"class": "bd-content" + " chapter" * chapter})
        content.append(article)
        body.append(content)
    whole.html.append(body)
    return f"<!DOCTYPE html>{whole}"


def _address(page: BeautifulSoup, name: str) -> str:
    """Where the pages are: what this one says, if it was built for an address, or else what the project says."""
    known = page.select_one('meta[property="og:url"]')
    return known["content"].removesuffix(f"{name}.html") if known else addresses()["Homepage"]


def footer(html: Path, name: str) -> str:
    """The foot of each sheet: what stands at the foot of this page, version, commit and date, and a number."""
    document = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return _FOOTER.format(escape(" ".join(document.select_one(".colophon").get_text().split())))


def _beside(page: str, path: str) -> str:
    """A path on a page, made relative to the root of the pages."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def _for_paper(article: Tag, name: str, names: list[str]) -> None:
    for part in article.select(_SCREEN_ONLY):
        part.decompose()
    for fold in article.select("details.proof, details.paper-row"):  # a reader of paper cannot open it
        fold["open"] = ""
    for part in article.select("[id]"):
        part["id"] = anchor(name, part["id"])
    for part in article.select("img[src]"):
        part["src"] = _beside(name, unquote(part["src"]))
    for link in article.select("a[href]"):
        target = urlsplit(link["href"])
        if target.scheme or target.netloc:
            continue
        page = _beside(name, target.path).removesuffix(".html") if target.path else name
        if page in names:
            link["href"] = "#" + anchor(page, unquote(target.fragment))
        else:  # a file beside the pages, which the PDF does not contain
            del link["href"]


def make(html: Path) -> None:
    """Combine, print and link."""
    from playwright.sync_api import Error, sync_playwright

    toc = read_yaml(ROOT / "_toc.yml")
    names = [toc["root"], *pages(toc)]
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if lacking := [name for name in names if not (html / f"{name}.html").exists()]:
        raise BuildError(f"{html} lacks {', '.join(lacking)}; run `make book` first")
    if executable is None:
        raise BuildError("Chromium is needed to print the PDF (Debian: apt install chromium)")
    source = html / ".print.html"  # among the pages, where its pictures and style sheets are
    try:
        source.write_text(combine(html, names), encoding="utf-8")
        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"]).new_page()
            page.set_default_timeout(600_000)
            page.goto(source.as_uri())
            page.evaluate("async () => { await document.fonts.ready; }")
            printed = page.pdf(
                format="A4", print_background=True, outline=True, tagged=True, display_header_footer=True,
                header_template="<span></span>", footer_template=footer(html, names[0]),
                margin={"top": "16mm", "left": "16mm", "right": "16mm", "bottom": "18mm"},
            )  # fmt: skip
    except Error as error:
        raise BuildError(f"{executable} printed no PDF: {error.message.strip().partition(chr(10))[0]}") from None
    finally:
        source.unlink(missing_ok=True)
    write(html / NAME, printed)
    path, size = html / f"{names[0]}.html", len(printed) / 1e6
    link = f'<a href="{"../" * names[0].count("/")}{NAME}">The whole book as a PDF ({size:.0f} MB)</a>'
    page = path.read_text(encoding="utf-8").partition('<p id="pdf">')
    write(path, f"{page[0]}{page[1]}{link}</p>{page[2].partition('</p>')[2]}".encode())


def main() -> None:
    try:
        make(OUT / "html")
    except (BuildError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"the PDF is at {OUT / 'html' / NAME}")


if __name__ == "__main__":
    main()
