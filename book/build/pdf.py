"""Print the pages of the last build with Chromium, as one PDF of the whole book, and link it on the landing page.

    python -m book.build.pdf                  _build/html -> _build/html/asking-the-crowd.pdf
    python -m book.build.pdf --page 14-four-results    one page, as a note for readers who cite it: 14-four-results.pdf
    python -m book.build.pdf --html OTHER     the same for the pages in another folder

The articles of all pages are combined into one page, in the order of the contents. Links between chapters become links
inside the document, and figures remain vector graphics. Code that is folded on the pages is left out; the executed
notebooks contain it.
"""

from __future__ import annotations

import argparse
import contextlib
import posixpath
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from book.build import folders
from book.build.chapters import BuildError
from book.build.environment import ROOT
from crowder import files

NAME = "asking-the-crowd.pdf"

_WHOLE = '<!DOCTYPE html><html lang="en" data-theme="light"><head></head><body></body></html>'

# Elements that are useful only on a screen.
_SCREEN_ONLY = ".headerlink, details.hide, button, script, .prev-next-area, .sd-d-none, a.download, .paper-choices"
#: Besides print.css, which is among the style sheets of the pages.
_STYLE = """
/* A shadow is printed as an image. The unused identifier outranks the selectors of the themes. */
:is(#nothing, *) { box-shadow: none !important; text-shadow: none !important; }
body { display: block; background: #fff; font-size: 9.5pt; line-height: 1.32; }
article { display: block; font-size: 9.5pt; }
.chapter h1 { break-before: page; }
article h1 { font-size: 17pt; margin: 1.6em 0 0.6em; }
pre { font-size: 7.4pt; line-height: 1.25; }
.verdict { white-space: nowrap; }
"""
#: A single page is printed as a note: without code, and without the boxes of claims, which say where to run it.
_NOTE = """
:is(.cell_input, .claim, .in-short, #try-it, .cell_output:not(:has(figure, table))) { display: none !important; }
.chapter h1 { break-before: auto; margin-top: 0; }
"""
_FOOTER = """<div style="width: 100%; font: 8pt sans-serif; color: #666; text-align: center">
<span class="pageNumber"></span></div>"""


#: Parts of the contents that are printed after the story: what one looks up.
LOOKED_UP = ("Audit", "Appendix", "Reference")


def pages() -> list[str]:
    """The pages of the book, without suffix: the story in the order of the contents, then what one looks up."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    captions = [part.get("caption", "") for part in toc["parts"]]
    place = [1 + LOOKED_UP.index(caption) if caption in LOOKED_UP else 0 for caption in captions]
    parts = [toc["parts"][number] for number in sorted(range(len(place)), key=place.__getitem__)]
    return [toc["root"], *(chapter["file"] for part in parts for chapter in part["chapters"])]


def anchor(page: str, fragment: str = "") -> str:
    """The anchor in the combined document for a page, or for a place on it.

    Examples
    --------
    >>> anchor("notebooks/08-synthetic", "fig-table1")
    'notebooks-08-synthetic--fig-table1'
    """
    return page.replace("/", "-") + (f"--{fragment}" if fragment else "")


def combine(html: Path, names: list[str]) -> str:
    """The combined HTML page, to be opened in the folder `html`."""
    documents = {name: _read(html / f"{name}.html") for name in names}
    first = documents[names[0]]
    whole = BeautifulSoup(_WHOLE, "html.parser")
    title = first.select_one("article h1")
    whole.head.append(whole.new_tag("meta", charset="utf-8"))
    whole.head.append(whole.new_tag("title"))
    whole.title.string = _words(title)
    for part in first.select('link[rel="stylesheet"]'):
        part["href"] = _beside(names[0], part["href"].partition("?")[0])
        whole.head.append(part.extract())
    style = whole.new_tag("style")
    style.string = _STYLE + _NOTE * (len(names) == 1)
    whole.head.append(style)
    for name, document in documents.items():
        article = document.select_one("article")
        _for_paper(article, name, names)
        article["id"] = anchor(name)
        article["class"] = [*article.get("class", []), "bd-article"]
        chapter = name.startswith("notebooks/") and "appendix" not in name
        content = whole.new_tag("div", attrs={"class": "bd-content" + " chapter" * chapter})
        content.append(article)
        whole.body.append(content)
    return str(whole)


def _read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def _words(heading: Tag) -> str:
    return " ".join(heading.get_text().replace("#", " ").split())


def _beside(page: str, path: str) -> str:
    """A path on a page, made relative to the root of the pages."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def _for_paper(article: Tag, name: str, names: list[str]) -> None:
    for part in article.select(_SCREEN_ONLY):
        part.decompose()
    for fold in article.select("details"):
        if {"proof", "paper-row"} & {*fold.get("class", [])}:  # a reader of paper cannot open it
            fold["open"] = ""
        else:
            for hidden in fold.find_all(recursive=False):
                if hidden.name != "summary":
                    hidden.decompose()
    for part in article.select("[id]"):
        part["id"] = anchor(name, part["id"])
    for part in article.select("img[src]"):
        part["src"] = _beside(name, unquote(part["src"]))
    for link in article.select("a[href]"):
        target = urlsplit(link["href"])
        if target.scheme or target.netloc:
            continue
        page = _beside(name, target.path) if target.path else f"{name}.html"
        if (page := page.removesuffix(".html")) in names:
            link["href"] = "#" + anchor(page, unquote(target.fragment))
        else:  # a file beside the pages, which the PDF does not contain
            del link["href"]


def print_pdf(source: Path, target: Path, executable: str) -> None:
    """Print a page from disk, once its fonts are loaded."""
    import pikepdf
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            page = browser.new_page()
            page.set_default_timeout(600_000)
            page.goto(source.as_uri())
            page.evaluate("async () => { await document.fonts.ready; }")
            page.pdf(
                path=target, format="A4", print_background=True, outline=True, tagged=True, display_header_footer=True,
                header_template="<span></span>", footer_template=_FOOTER,
                margin={"top": "16mm", "left": "16mm", "right": "16mm", "bottom": "18mm"},
            )  # fmt: skip
        finally:
            browser.close()
    # Packing the many small objects of a tagged document halves its size.
    with pikepdf.open(target, allow_overwriting_input=True) as document:
        document.save(target, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def link_from_landing_page(html: Path, root: str) -> None:
    """Add a link to the PDF to the landing page."""
    path = html / f"{root}.html"
    document = _read(path)
    place = document.select_one("#pdf")
    place.clear()
    link = document.new_tag("a", href="../" * root.count("/") + NAME)
    link.string = f"The whole book as a PDF ({(html / NAME).stat().st_size / 1e6:.0f} MB)"
    place.append(link)
    files.write(path, str(document).encode())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--html", type=Path, default=ROOT / "_build" / "html", help="the built pages (default: _build/html)"
    )
    parser.add_argument("--page", help="print only this page: the end of its name, such as 14-four-results")
    args = parser.parse_args(argv)
    html, names, name = args.html.resolve(), pages(), NAME
    if args.page is not None:
        names, name = [page for page in names if page.rpartition("/")[2] == args.page], f"{args.page}.pdf"
    built = (html.parent / ".lock").exists()  # then no build may change the pages meanwhile
    try:
        with folders.build_lock(html.parent) if built else contextlib.nullcontext():
            if not names:
                raise BuildError(f"the book has no page {args.page!r}; see _toc.yml")
            _print(html, names, name)
            if args.page is None:
                link_from_landing_page(html, names[0])
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"the PDF is at {html / name}")
    return 0


def _print(html: Path, names: list[str], name: str) -> None:
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if lacking := [name for name in names if not (html / f"{name}.html").exists()]:
        raise BuildError(f"{html} lacks {', '.join(lacking)}; run `make book` first")
    if executable is None:
        raise BuildError("Chromium is needed to print the PDF (Debian: apt install chromium)")
    source, target = html / ".print.html", html / f".{name}"
    try:
        source.write_text(combine(html, names), encoding="utf-8")
        try:
            print_pdf(source, target, executable)
        except Exception as error:  # whatever the browser says
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise BuildError(f"{executable} printed no PDF: {reason}") from None
        target.replace(html / name)
    finally:
        source.unlink(missing_ok=True)
        target.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
