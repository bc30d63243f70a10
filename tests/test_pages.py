"""The rendered book as a reader meets it: in a browser, from a folder, on a phone, without a network.

The book is built once, with the quick profile. ``CROWDER_BOOK`` may name a folder of pages that is there already.
"""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from needing import chromium

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
PAGES = ["book/index", *CHAPTERS, "book/ledger", "book/printed", "book/notation", "book/run", "book/status", "book/bibliography"]

# The article's text without code, where braces and colons are at home.
PROSE = """article => {
    const copy = article.cloneNode(true);
    copy.querySelectorAll('pre, code').forEach(code => code.remove());
    return copy.innerText;
}"""


@pytest.fixture(scope="session")
def html(tmp_path_factory):
    """The folder of pages."""
    if given := os.environ.get("CROWDER_BOOK"):
        return Path(given).resolve()
    out = tmp_path_factory.mktemp("book")
    done = subprocess.run(
        [sys.executable, str(ROOT / "book" / "build.py"), "--profile", "quick", "--output", str(out)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out / "html"


# --- what the files say -------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Links, targets, images and outside resources of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.targets: set[str] = set()
        self.images: list[dict] = []
        self.outside: list[str] = []
        self.language = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.targets |= {has[key] for key in ("id", "name") if has.get(key)}
        if tag == "html":
            self.language = has.get("lang")
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        if tag == "img":
            self.images.append(has)
        resource = has.get("src") or (has.get("href") if tag == "link" else None)
        if resource and not resource.startswith("data:"):
            (self.outside if urlsplit(resource).netloc else self.links).append(resource)


@pytest.fixture(scope="session")
def pages(html):
    return {path.relative_to(html).as_posix(): Page(path) for path in sorted(html.rglob("*.html"))}


def test_every_chapter_has_its_page(html):
    # A pipeline that publishes an empty folder stays green unless somebody looks.
    for name in PAGES:
        assert (html / f"{name}.html").stat().st_size > 5_000, name
    listed = [c["file"] for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"] for c in part["chapters"]]
    assert ["book/index", *listed] == PAGES


def test_no_link_is_dead(html, pages):
    dead = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (html / name).parent / unquote(parts.path) if parts.path else html / name
            target = Path(os.path.normpath(target))
            if not target.is_file():
                dead.append(f"{name}: {link}")
            elif parts.fragment and target.suffix == ".html":
                known = pages[target.relative_to(html).as_posix()].targets
                if unquote(parts.fragment) not in known:
                    dead.append(f"{name}: {link} (no such place on the page)")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(pages):
    assert {name: page.outside for name, page in pages.items() if page.outside} == {}


def test_every_image_says_what_it_shows(pages):
    for name, page in pages.items():
        for image in page.images:
            assert image.get("alt", "").strip(), f"{name}: {image.get('src')}"


def test_pages_name_their_language(pages):
    for name in PAGES:
        assert pages[f"{name}.html"].language == "en"


# --- what a browser makes of them ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    executable = chromium()
    with sync_playwright() as playwright:
        # No sandbox, because CI is often root in a container; every page here is ours.
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, html):
    """Open a page as a reader would; return it with everything it complained of or asked for."""
    contexts = []

    def open_page(name, *, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        trouble = []
        page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda r: trouble.append(f"failed: {r.url}"))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else trouble.append(r.url))
        page.goto((html / f"{name}.html").as_uri())
        page.evaluate("async () => { if (window.MathJax) await MathJax.startup.promise; }")
        return page, trouble

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_from_its_folder_without_complaint(visit, name):
    page, trouble = visit(name)
    assert trouble == []
    assert page.locator("article h1").count() == 1
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    # Markup that nobody turned into anything reads like this.
    text = page.locator("article").evaluate(PROSE)
    for remnant in ("{numref}", "{cite", "{ref}", "{prf:ref}", "{eq}", "{claim}", ":::", "$$"):
        assert remnant not in text


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_sideways_scroll(visit, name):
    page, _ = visit(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", CHAPTERS)
def test_figures_are_legible_in_the_dark(visit, name):
    page, _ = visit(name, scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    figures = page.locator("img.drawn")
    assert figures.count() == page.locator("article figure img").count() == page.locator("article img").count()
    for i in range(figures.count()):
        style = figures.nth(i).evaluate("e => [getComputedStyle(e).filter, getComputedStyle(e).backgroundColor]")
        assert "invert(1)" in style[0] and style[1] == "rgba(0, 0, 0, 0)"
        assert figures.nth(i).evaluate("e => e.complete && e.naturalWidth > 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_accessibility(visit, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page, _ = visit(name, scheme=scheme)
    found = Axe().run(page, context="article").response["violations"]
    grave = [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found if v["impact"] in ("critical", "serious")]
    assert grave == []
