"""The rendered book as a reader meets it: in a browser, from a folder, on a phone, without a network.

The pages may be those of the full or of the quick book (see ``html`` in conftest.py): with other numbers, they have the
same text, links and layout. A page takes a while to open, so each is opened once, and all that one opening can show is
looked at together.
"""

import os
import re
from base64 import b64decode
from fnmatch import fnmatch
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from barriers import barriers, barriers_around
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from book.project import ROOT
from book.reports import about

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
#: The numbered chapters, which tell the story; appendices and the reference are looked up.
STORY = [
    chapter["file"]
    for part in TOC["parts"]
    if part.get("caption") in ("The paper", "Beyond it", "Use it")
    for chapter in part["chapters"]
]


# --- what the files say -------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Links, targets, images and outside resources of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.targets: set[str] = set()
        self.images: list[dict] = []
        self.outside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.targets |= {has[key] for key in ("id", "name") if has.get(key)}
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        if tag == "img":
            self.images.append(has)
        named = has.get("rel") == "canonical"  # an address, which nothing is loaded from
        resource = has.get("src") or (has.get("href") if tag == "link" and not named else None)
        if resource and not resource.startswith("data:"):
            (self.outside if urlsplit(resource).netloc else self.links).append(resource)


@pytest.fixture(scope="session")
def pages(html):
    return {path.relative_to(html).as_posix(): Page(path) for path in sorted(html.rglob("*.html"))}


def test_no_link_is_dead_and_nothing_is_loaded_from_elsewhere(html, pages):
    dead = []
    for name, page in pages.items():
        dead += [f"{name}: {link} (another host)" for link in page.outside]
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


def test_an_identifier_is_that_of_one_place_and_columns_of_other_pages_than_chapters_have_names(html):
    for path in html.rglob("*.html"):
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        names = [part["id"] for part in page.select("[id]")]
        assert len(names) == len(set(names)), (path, sorted({name for name in names if names.count(name) > 1}))
        if path.parent == html / "book" / "pages":
            assert [head for head in page.select("article th") if not head.text.strip()] == [], path


def test_pages_and_site_are_light(html, pages):
    """No page over 450 kB, or over 2 MB with its pictures; the site under 32 MB, without the PDF of `make pdf`."""
    for name, page in pages.items():
        weight = (html / name).stat().st_size
        assert weight < 450_000, f"{name}: {weight:,} bytes"
        pictures = {unquote(urlsplit(image["src"]).path) for image in page.images}
        weight += sum(((html / name).parent / picture).resolve().stat().st_size for picture in pictures)
        assert weight < 2_000_000, f"{name}: {weight:,} bytes"
    site = sum(path.stat().st_size for path in html.rglob("*") if path.is_file() and path.suffix != ".pdf")
    assert site < 32_000_000, f"{site:,} bytes"


def test_every_static_file_has_an_owner_whose_licence_lies_beside_the_pages(html):
    patterns = [pattern for part in about.components() for pattern in part["files"]]
    static = [p.relative_to(html / "_static").as_posix() for p in (html / "_static").rglob("*") if p.is_file()]
    ours = {path.name for path in (ROOT / "book" / "static").iterdir()}
    others = [name for name in static if name not in ours and not name.startswith("previews/")]
    assert len(static) > 30 and [name for name in others if not any(fnmatch(name, p) for p in patterns)] == []
    # A pattern that fits nothing is about a file that is gone.
    assert [p for p in patterns if not any(fnmatch(n, p) for n in static)] == []
    text = (html / about.LICENCES).read_text(encoding="utf-8")
    for part in about.components():
        assert part["name"] in text and "copyright" in about.text_of(part["package"]).lower()
        assert about.text_of(part["package"]) in text
    assert text.count("Permission is hereby granted") >= 5
    assert text.count("Redistribution and use in source and binary forms") >= 4
    assert 'href="../../licences.txt"' in (html / "book" / "pages" / "about.html").read_text()


def test_every_page_says_what_it_is_about_and_has_an_icon(html, pages):
    """Each page of the contents, and of a name of the module, has a description of its own."""
    said = {}
    for name in pages:
        head = BeautifulSoup((html / name).read_text(encoding="utf-8").partition("</head>")[0], "html.parser")
        (description,), (icon,) = head.select('meta[name="description"]'), head.select('link[rel="icon"]')
        said[name] = description["content"]
        assert 20 <= len(said[name]) <= 300 and not re.search(r"[<$\\]| [.,]", said[name]), (name, said[name])
        assert icon["href"].startswith("data:") or ((html / name).parent / icon["href"]).is_file()
        assert head.title.text.endswith("Asking the crowd") or name in ("404.html", "search.html"), name
    described = [said[name] for name in said if name.startswith(("notebooks/", "book/pages/"))]
    assert len(described) == len(set(described)) > 80


def test_the_root_leads_to_the_first_page_also_where_nothing_redirects(html):
    root = BeautifulSoup((html / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert root.title.text == "Asking the crowd" and "entity resolution" in root.select_one("main p").text
    front = f"{TOC['root']}.html"
    assert root.select_one('meta[http-equiv="refresh"]')["content"] == f"0; url={front}"
    assert [link["href"] for link in root.select("main a")] == [front]
    assert (html / "_static" / "page.png").is_file()  # shown with a link, where the address is known


# --- formulas and fonts -------------------------------------------------------------------------------------------


def test_formulas_are_set_without_a_script_in_letters_that_the_font_has(html):
    """Every formula is MathML in the file itself; no TeX is left for a script to set, and no other markup either."""
    formulas, letters = 0, set()
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search("mathjax", re.sub("<article.*?</article>", "", text, flags=re.DOTALL), re.IGNORECASE), path
        # So the first thing that is drawn has its formulas: no script is waited for, and no font is a file of its own.
        # Apart from the redirection, the page for unknown addresses, and one of scripts.
        if path.name not in ("index.html", "404.html", "search.html") or path.parent != html:
            head = text.partition("</head>")[0]
            assert not re.search("<script[^>]* src=", head) and head.count("/fonts.css") == 1, path
        words = re.sub(r"<(script|style|pre|code)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.search(r"\\[(\[]|\\[a-z]{2,}|\$\$|\{(?:numref|cite\S*|ref|prf:ref|eq|claim)\}|:::", words), path
        for element in re.findall("<math.*?</math>", text, re.DOTALL):
            assert "\\" not in element and "merror" not in element, path
            letters |= {*unescape(re.sub("<[^>]*>", "", element))}
            formulas += 1
        displayed = len(re.findall(r'<div class="(?:[^"]* )?math[ "]', text))
        assert displayed == text.count('<math display="block"'), path
    assert formulas > 3000
    sheet = (html / "_static" / "fonts.css").read_text()
    assert sheet.count("url(") == sheet.count("url(data:")
    font = TTFont(BytesIO(b64decode(re.search(r'"Maths";[^}]*base64,([^)]*)', sheet)[1])))
    assert "MATH" in font
    drawn = letters - {"\n", "\N{NO-BREAK SPACE}"}
    assert {letter for letter in drawn if ord(letter) not in font.getBestCmap()} == set()


# --- how long it takes to read ------------------------------------------------------------------------------------

#: Minutes for a chapter, and for all of them.
CHAPTER, AFTERNOON = 12, 150
#: Code, and what a cell prints whose code is seen; and what is not seen without a click, or not by the eye at all.
UNREAD = (
    "pre, .cell_input, details.hide > summary, div.highlight, "
    ".cell:not(.tag_hide-input, .tag_remove-input) > .cell_output, "
    "details > :not(summary), .dropdown.admonition > *, .tag_hide-output > .cell_output, .cell.tag_hide-cell > *, "
    "script, style, .headerlink, .visually-hidden"
)


def minutes(html):
    """How long a page takes to read, at 200 words a minute and half a minute an equation."""
    html = re.sub("<math.*?</math>", " x ", html, flags=re.DOTALL)  # a formula within the line is read as one word
    article = BeautifulSoup(html, "html.parser").find("article")
    for part in article.select(UNREAD):
        part.extract()
    equations = [part.extract() for part in article.select("div.math")]
    words = [word for word in article.get_text(" ").split() if any(map(str.isalnum, word))]
    return len(words) / 200 + len(equations) / 2


def test_no_chapter_is_long_and_all_are_read_in_an_afternoon(html):
    """By their words and formulas: code is never counted against a chapter."""
    pages = {name: (html / f"{name}.html").read_text(encoding="utf-8") for name in STORY}
    found = {name: minutes(page) for name, page in pages.items()}
    assert {name: length for name, length in found.items() if length > CHAPTER} == {}
    assert sum(found.values()) <= AFTERNOON


# --- what a browser makes of them ---------------------------------------------------------------------------------

#: A figure's text, drawn as outlines: letters are drawn at 100 points and scaled down.
_SIZE = re.compile(r"scale\((0\.\d+) -0\.\d+\)")
WIDE = """all => all.filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.innerText.split('\\n').sort((a, b) => b.length - a.length)[0])"""
#: The share of the first paragraph on the first screen, 900 pixels high, and of the first figure on the first two.
SEEN = """() => {
    const share = (e, screens) => {
        if (!e) return 0;
        const {top, bottom, height} = e.getBoundingClientRect();
        return Math.max(0, Math.min(bottom, 900 * screens) - Math.max(top, 0)) / height;
    };
    const words = [...document.querySelectorAll('article h1 ~ p, article h1 ~ section > p')];
    const figures = [...document.querySelectorAll('article :is(img.drawn, .interactive, .explorer)')];
    return [share(words.find(e => e.innerText.length > 60), 1),
            share(figures.find(e => e.offsetParent && e.getBoundingClientRect().height > 40), 2)];
}"""
# What scrolls can be reached by keyboard.
UNREACHABLE = """() => [...document.querySelectorAll('.pst-scrollable-table-container, div.math, article pre')]
    .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0).length === 0"""


def smallest_text(svg):
    """The size of the smallest text of a figure, in pixels, at its natural size; and its natural width."""
    sizes = [100 * float(size) for size in _SIZE.findall(svg)]
    return min(sizes, default=99) * 4 / 3, float(re.search(r'<svg [^>]*?\bwidth="([\d.]+)pt"', svg)[1]) * 4 / 3


#: Whose contrast has been measured, in the light and in the dark.
LOOKS: dict[str, set[str]] = {"light": set(), "dark": set()}


@pytest.mark.parametrize(
    "name", [*PAGES, "book/pages/api/crowder.edge_ordering", "book/pages/api/crowder.beyond.EvidenceOrdering"]
)
def test_a_page_opens_from_its_folder_without_complaint(visit, name):
    page = visit(name)
    assert page.locator("article h1").count() == 1
    assert page.evaluate("document.fonts.check('1em Maths')")
    # Nothing moves once it is drawn. (A busy machine may draw a page before it has read all of it, but not every time.)
    moved = page.evaluate("window.shift") and min(visit(name).evaluate("window.shift") for _ in range(3))
    assert moved == 0
    if name in STORY:  # a chapter opens with its result, and the one on your own data with the lines that lead to it
        words, figure = page.evaluate(SEEN)
        assert words == 1 and (figure > 0 or name == "notebooks/16-your-data")
    assert page.locator("article .cell_input pre").evaluate_all(WIDE) == []  # no line of code is cut off
    page.set_viewport_size({"width": 390, "height": 844})
    legible_on_a_phone(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert barriers(page, LOOKS["light"]) == []
    page.emulate_media(color_scheme="dark")  # as when the reader's system changes in the evening
    legible_in_the_dark(page)
    assert barriers(page, LOOKS["dark"], contrast_only=True) == []


@pytest.mark.parametrize(
    "name", ["book/pages/index", STORY[7], "book/pages/api/crowder.L", "_modules/index", "genindex", "search"]
)
def test_around_the_article_there_are_no_barriers_either(visit, name):
    """These have every kind of frame: with and without contents, of a notebook, of the reference, of no page at all."""
    assert barriers_around(visit(name)) == []


def legible_on_a_phone(page):
    # The page fits its figures when it is told of the new width, which is after the next frame on a busy machine.
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = []
    for source, width in page.locator("article figure img.drawn").evaluate_all(
        """all => all.filter(e => e.checkVisibility())
            .map(e => [decodeURIComponent(new URL(e.src).pathname), e.offsetWidth])"""
    ):
        pixels, natural = smallest_text(Path(source).read_text(encoding="utf-8"))
        if pixels * width / natural < 10.95:
            small.append(f"{Path(source).name}: {pixels * width / natural:.1f}")
    assert small == []
    page.wait_for_function(UNREACHABLE, timeout=3000)


def legible_in_the_dark(page):
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'", timeout=5000)
    figures = page.locator("img.drawn")
    assert figures.count() == page.locator("article img").count()
    styles = figures.evaluate_all(
        "all => all.map(e => [getComputedStyle(e).filter, getComputedStyle(e).backgroundColor, e.naturalWidth])"
    )
    for style, ground, width in styles:
        assert "invert(1)" in style and ground == "rgba(0, 0, 0, 0)" and width > 0


def test_a_folded_proof_opens_by_keyboard_and_on_paper(visit):
    page = visit("notebooks/05-edge-ordering")
    proof = page.locator("details.proof").first
    inside = proof.locator("> :not(summary)").first
    assert not inside.is_visible()
    proof.locator("summary").press("Enter")
    assert inside.is_visible()
    proof.locator("summary").press("Enter")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert inside.is_visible()
    page.emulate_media(media="print")
    for gone in (".bd-sidebar-primary", ".bd-header-article", "details.hide", ".prev-next-footer"):
        assert not page.locator(gone).first.is_visible(), gone
