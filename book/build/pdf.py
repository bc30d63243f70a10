"""Print the pages of the last build with Chromium, as one PDF of the whole book.

    python -m book.build.pdf                  _build/html -> _build/html/asking-the-crowd.pdf
    python -m book.build.pdf --html OTHER     the same for the pages in another folder
    python -m book.build.pdf --page 14-four-results    a single page, for readers who cite it: 14-four-results.pdf

The landing page then links to the PDF of the whole book.

The articles of all pages are combined into one page, in the order of the contents. Links between chapters become links
inside the document, and figures remain vector graphics. Code that is folded on the pages is left out; the executed
notebooks contain it.
"""

from __future__ import annotations

import argparse
import contextlib
import posixpath
import re
import shutil
import signal
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from book.build import folders
from book.build.chapters import BuildError, os_error_message
from crowder import files

ROOT = Path(__file__).resolve().parents[2]
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
#: A single page is printed as a short paper: without code and without the boxes of claims, which say where to run it.
_PAPER = """
:is(.cell_input, .claim, .in-short, #try-it, .cell_output:not(:has(figure, table))) { display: none !important; }
body, article, .bd-content .bd-article { font-size: 8pt; line-height: 1.22; }
h1 { font-size: 15pt; margin: 0; } h2 { font-size: 11pt; margin: 0.7em 0 0.2em; } p { margin-bottom: 0.35em; }
article h1 { break-before: auto; }
:is(div.math, .proof, figure, table) { margin-top: 0.4em; margin-bottom: 0.4em; }
:is(.proof, .proof *):not(:has(.admonition-title)) { break-inside: auto !important; }
.proof > :is(.section, section) { padding: 0 0.6em !important; }
:is(.cell, figure, .cell_output, table) { margin: 0.2em auto !important; padding: 0 !important; }
figcaption { font-size: 7pt; margin: 0 !important; padding: 0 !important; }
.bd-article figure img.drawn { width: 37%; max-width: 37%; height: auto; }
:is(th, td) { padding: 0 0.6em !important; } table { font-size: 7.5pt; }
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
    style.string = _STYLE + _PAPER * (len(names) == 1)
    whole.head.append(style)
    for name, document in documents.items():
        article = document.select_one("article")
        _for_paper(article, name, names)
        article["id"] = anchor(name)
        article["class"] = [*article.get("class", []), "bd-article"]
        chapter = name.startswith("notebooks/") and "appendix" not in name
        content = whole.new_tag("div", attrs={"class": "bd-content" + " chapter" * (chapter and len(names) > 1)})
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


def print_pdf(source: Path, target: Path, executable: str, *, margin: int = 16) -> None:
    """Print a page from disk, once its fonts are loaded; the margin is in millimetres."""
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
                margin={side: f"{margin}mm" for side in ("top", "left", "right")} | {"bottom": f"{margin + 2}mm"},
            )  # fmt: skip
        finally:
            browser.close()
    _shrink(target)


def _shrink(path: Path) -> None:
    """Pack the many small objects of a tagged document, which halves the size of the file."""
    import pikepdf

    with pikepdf.open(path, allow_overwriting_input=True) as document:
        _share_tiles(document)
        document.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate, recompress_flate=True)


def _share_tiles(document) -> None:
    """Keep one copy of equal images: Chromium prints each use of a hatch as a tile image of its own."""
    import pikepdf

    kept: dict[tuple, pikepdf.Object] = {}
    for masked in (False, True):  # masks first, so that images with equal masks share one
        same = {}
        for item in document.objects:
            if not isinstance(item, pikepdf.Stream) or item.get("/Subtype") != "/Image" or ("/SMask" in item) != masked:
                continue
            facts = tuple((key, str(item[key].objgen if key == "/SMask" else item[key])) for key in sorted(item.keys()))
            same[item.objgen] = kept.setdefault((item.read_raw_bytes(), facts), item)
        for item in document.objects:
            if isinstance(item, pikepdf.Stream) and "/SMask" in item and item["/SMask"].objgen in same:
                item["/SMask"] = same[item["/SMask"].objgen]
            resources = item.get("/Resources", {}) if isinstance(item, (pikepdf.Stream, pikepdf.Dictionary)) else {}
            for name, used in dict(resources.get("/XObject", {})).items():
                if used.objgen in same:
                    resources["/XObject"][name] = same[used.objgen]


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


def link_from_page(html: Path, page: str) -> None:
    """Show the link to the PDF of a page, which the layout has ready."""
    path = html / f"{page}.html"
    text = path.read_text(encoding="utf-8")
    files.write(path, re.sub(r'data-pdf="([^"]*)" hidden(="")?', r'href="\1"', text).encode())


def print_each(html: Path, names: list[str], executable: str) -> None:
    """Print every page by itself, as a reader's own browser would, and link it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            for name in names:
                target = html / f"{name.rpartition('/')[2]}.pdf"
                page = browser.new_page(color_scheme="light")
                page.goto((html / f"{name}.html").as_uri())
                page.evaluate("async () => { await document.fonts.ready; }")
                page.pdf(path=target, format="A4", prefer_css_page_size=True, tagged=False, display_header_footer=True,
                         header_template="<span></span>", footer_template=_FOOTER)  # fmt: skip
                page.close()
                _shrink(target)
                link_from_page(html, name)
        finally:
            browser.close()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--html", type=Path, default=ROOT / "_build" / "html", help="the built pages (default: _build/html)"
    )
    parser.add_argument("--page", help="print only this page: the end of its name, such as 14-four-results")
    parser.add_argument("--each", action="store_true", help="print each page as a file of its own, and link it there")
    arguments = parser.parse_args(argv)
    html, names, name = arguments.html.resolve(), pages(), NAME
    if arguments.page is not None:
        names = [page for page in names if page.rpartition("/")[2] == arguments.page]
        name = f"{arguments.page}.pdf"
        if not names:
            print(f"error: the book has no page {arguments.page!r}; see _toc.yml", file=sys.stderr)
            return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # cleans up as Ctrl-C does
    built = (html.parent / ".lock").exists()  # then no build may change the pages meanwhile
    try:
        with folders.build_lock(html.parent) if built else contextlib.nullcontext():
            return _print(html, names, name, each=arguments.each)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {os_error_message(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the pages are as they were", file=sys.stderr)
        return 130


def _print(html: Path, names: list[str], name: str, *, each: bool) -> int:
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if lacking := [name for name in names if not (html / f"{name}.html").exists()]:
        print(f"error: {html} lacks {', '.join(lacking)}; run `make book` first", file=sys.stderr)
        return 1
    if executable is None:
        print("error: Chromium is needed to print the PDF (Debian: apt install chromium)", file=sys.stderr)
        return 1
    if each:
        print_each(html, names, executable)
        print(f"the PDFs of {len(names)} pages are in {html}")
        return 0
    source, target = html / ".print.html", html / f".{name}"
    try:
        source.write_text(combine(html, names), encoding="utf-8")
        try:
            print_pdf(source, target, executable, margin=16 if name == NAME else 12)
        except ImportError as error:
            print(f"error: {error}; `make pdf` installs it", file=sys.stderr)
            return 1
        except Exception as error:  # from the browser, or from the document that it wrote
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            print(f"error: {executable} printed no PDF: {reason}", file=sys.stderr)
            return 1
        target.replace(html / name)
    finally:
        source.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    if name == NAME:
        link_from_landing_page(html, names[0])
    print(f"the PDF is at {html / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
