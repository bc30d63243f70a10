"""The rendered book as a reader meets it: in a browser, from a folder, on a phone, without a network.

The book is built once, with the quick profile. ``CROWDER_BOOK`` may name a folder of pages that is there already.
"""

import os
import re
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from barriers import barriers
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
CHAPTERS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in NOTEBOOKS]
REFERENCE = ("notation", "run", "api", "about", "bibliography")
OTHERS = [f"book/pages/{name}" for name in REFERENCE]
PAGES = ["book/pages/index", "book/pages/paper", *CHAPTERS, *OTHERS]

# The article's text without code, where braces and colons are at home.
PROSE = """article => {
    const copy = article.cloneNode(true);
    copy.querySelectorAll('pre, code').forEach(code => code.remove());
    return copy.innerText;
}"""


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
    assert sorted(["book/pages/index", *listed]) == sorted(PAGES)


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


# A page takes a while to open: all that one opening can show is looked at together.
@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_from_its_folder_without_complaint(visit, name):
    page, trouble = visit(name)
    assert trouble == []
    assert page.locator("article h1").count() == 1
    assert page.evaluate("document.fonts.check('1em Maths')")
    # Nothing moves once it is drawn. (A busy machine may draw a page before it has read all of it, but not every time.)
    moved = page.evaluate("window.shift") and min(visit(name)[0].evaluate("window.shift") for _ in range(3))
    assert moved == 0
    # Markup that nobody turned into anything reads like this.
    text = page.locator("article").evaluate(PROSE)
    for remnant in ("{numref}", "{cite", "{ref}", "{prf:ref}", "{eq}", "{claim}", ":::", "$$"):
        assert remnant not in text
    page.set_viewport_size({"width": 390, "height": 844})  # a phone
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")  # as when the reader's system changes in the evening
    legible_in_the_dark(page)


def legible_in_the_dark(page):
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'", timeout=5000)
    figures = page.locator("img.drawn")
    assert figures.count() == page.locator("article img").count()
    if not page.url.endswith("pages/index.html"):  # whose figure stands in a layout of its own
        assert figures.count() == page.locator("article figure img").count()
    styles = figures.evaluate_all(
        "all => all.map(e => [getComputedStyle(e).filter, getComputedStyle(e).backgroundColor, e.naturalWidth])"
    )
    for style, ground, width in styles:
        assert "invert(1)" in style and ground == "rgba(0, 0, 0, 0)" and width > 0
    assert barriers(page, contrast_only=True) == []


@pytest.mark.parametrize(
    ("words", "hit"),
    [("certain matches", "(Certain matches)"), ("transitive inference", "Transitive inference")],
)
def test_search_finds_a_statement_by_its_name(visit, html, words, hit):
    page, trouble = visit("search")
    page.goto(f"{(html / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results li")
    page.wait_for_function("document.querySelector('#search-results p').textContent.includes('finished')")
    found = page.locator("#search-results li").all_inner_texts()
    assert any(hit in text for text in found), found
    assert not any("\\(" in text for text in found)
    assert trouble == []  # opened from a folder, too, it asks for nothing that it may not have
    page.locator("#search-results li a", has_text=hit).first.click()
    page.wait_for_load_state()
    assert page.locator(":target").count() == 1


def test_formulas_are_set_without_a_script(html):
    """Every formula is MathML in the file itself; no TeX is left for a script to set."""
    formulas = 0
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        formulas += text.count("<math")
        assert not re.search("mathjax", re.sub("<article.*?</article>", "", text, flags=re.DOTALL), re.IGNORECASE), path
        words = re.sub(r"<(script|style|pre|code)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.search(r"\\[(\[]|\\[a-z]{2,}|\$\$", words), path
        for element in re.findall("<math.*?</math>", text, re.DOTALL):
            assert "\\" not in element and "merror" not in element, path
        displayed = len(re.findall(r'<div class="(?:[^"]* )?math[ "]', text))
        assert displayed == text.count('<math display="block"'), path
    assert formulas > 3000


def test_the_font_has_every_letter_of_the_formulas(html):
    sheet = (html / "_static" / "maths.css").read_text()
    font = TTFont(BytesIO(b64decode(re.search(r"base64,([^)]*)", sheet)[1])))
    assert "MATH" in font
    text = "".join(path.read_text(encoding="utf-8") for path in html.rglob("*.html"))
    letters = {ord(letter) for letter in unescape(re.sub("<[^>]*>", "", "".join(re.findall("<math.*?</math>", text))))}
    assert letters - font.getBestCmap().keys() <= {ord("\n")}


def test_pages_and_site_are_light(html, pages):
    """No page over 400 kB, or over 2 MB with its pictures; the whole site under 32 MB."""
    for name, page in pages.items():
        assert (html / name).stat().st_size < 400_000, name
        pictures = {unquote(urlsplit(image["src"]).path) for image in page.images}
        weight = (html / name).stat().st_size
        weight += sum(((html / name).parent / picture).resolve().stat().st_size for picture in pictures)
        assert weight < 2_000_000, f"{name}: {weight:,} bytes"
    site = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    assert site < 32_000_000, f"{site:,} bytes"
