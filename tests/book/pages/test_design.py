"""How the pages look: fonts, measure, code that fits, text in figures on a phone, formulas with their punctuation."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup, NavigableString

ROOT = Path(__file__).resolve().parents[3]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]

#: A figure's text, drawn as outlines: letters are drawn at 100 points and scaled down.
_SIZE = re.compile(r"scale\((0\.\d+) -0\.\d+\)")

WIDE = """all => all.filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.innerText.split('\\n').sort((a, b) => b.length - a.length)[0])"""


def smallest_text(svg: str) -> float:
    """The size of the smallest text of a figure, in pixels, at its natural size."""
    sizes = [100 * float(size) for size in _SIZE.findall(svg)]
    return min(sizes, default=99) * 4 / 3


def natural_width(svg: str) -> float:
    return float(re.search(r'<svg [^>]*?\bwidth="([\d.]+)pt"', svg)[1]) * 4 / 3


def test_the_smallest_text_of_a_figure_is_found():
    svg = '<svg width="75pt"><g transform="translate(1 2) scale(0.12 -0.12)"/><g transform="scale(0.09 -0.09)"/></svg>'
    assert smallest_text(svg) == pytest.approx(12) and natural_width(svg) == 100


@pytest.mark.parametrize("name", PAGES)
def test_no_line_of_code_is_cut_off_and_figures_can_be_read_on_a_phone(visit, html, name):
    page, _ = visit(name)
    page.wait_for_load_state("load")
    assert page.locator("article .cell_input pre").evaluate_all(WIDE) == []
    page.set_viewport_size({"width": 390, "height": 844})
    small = []
    for image in page.locator("article img.drawn").all():
        if not image.evaluate("e => e.checkVisibility()"):
            continue  # an interactive chart has replaced it
        source = Path(image.evaluate("e => decodeURIComponent(new URL(e.src).pathname)"))
        svg = source.read_text(encoding="utf-8")
        thumbnail = image.evaluate("e => !e.closest('figure')")  # the whole figure is a click away
        pixels = smallest_text(svg) * image.evaluate("e => e.getBoundingClientRect().width") / natural_width(svg)
        if pixels < 10.95 and not thumbnail:
            small.append(f"{source.name}: {pixels:.1f}")
    assert small == []
    # What scrolls can be reached by keyboard.
    boxes = ".pst-scrollable-table-container, div.math, article pre"
    unreachable = f"""[...document.querySelectorAll('{boxes}')].filter(e => e.checkVisibility()
        && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 100))"""
    page.wait_for_function(f"() => ({unreachable}).length === 0", timeout=3000)


def test_pages_are_set_in_fonts_of_their_own(visit):
    page, _ = visit("notebooks/05-edge-ordering")
    for face in ("Serif", "Sans", "Code"):
        assert page.evaluate(f"[...document.fonts].some(f => f.family.includes('{face}') && f.status === 'loaded')")
        assert page.evaluate(f"document.fonts.check('16px \"Companion {face}\"')")
    look = "e => [getComputedStyle(e).fontFamily, parseFloat(getComputedStyle(e).fontSize)]"
    text, size = page.locator("article section > p").first.evaluate(look)
    code, _ = page.locator("article pre").first.evaluate(look)
    assert "Companion Serif" in text and "Companion Code" in code and size >= 17
    sizes = [page.locator(f"article {level}").first.evaluate(look)[1] for level in ("h1", "h2")]
    assert sizes[0] > 1.3 * sizes[1] > 1.6 * size


def test_a_line_has_about_seventy_characters(visit):
    page, _ = visit("notebooks/05-edge-ordering")
    # Without formulas, whose letters are not in the text as they are shown.
    longest = page.locator("article p").evaluate_all("""all => {
        const lengths = [];
        for (const p of all) {
            if (p.querySelector('math, code') || !p.matches('section > p') || p.innerText.length < 250) continue;
            const range = document.createRange();
            range.selectNodeContents(p);
            const lines = new Set([...range.getClientRects()].map(r => Math.round(r.bottom / 10)));
            lengths.push(p.innerText.length / lines.size);
        }
        return lengths;
    }""")
    assert longest and 55 <= max(longest) <= 85


def test_no_punctuation_is_left_alone_after_a_formula(html):
    alone = []
    for name in PAGES:
        article = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "lxml").find("article")
        for formula in article.find_all("math", display=lambda value: value != "block"):
            after = formula.next_sibling
            if isinstance(after, NavigableString) and re.match(r"[,.;:!?)]", after):
                if "together" not in formula.parent.get("class", []):
                    alone.append(f"{name}: {formula.get_text()}{after[:10]}")
        for paragraph in article.find_all("p"):
            if re.match(r"\s*[,.;:!?)](?!\w)", paragraph.get_text()):
                alone.append(f"{name}: {paragraph.get_text()[:40]}")
    assert alone == []


def test_every_page_says_its_version_and_how_to_cite_it(visit, html):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name in PAGES:
        foot = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "lxml").select_one(".colophon")
        assert f"version {version}" in " ".join(foot.get_text().split()), name
        assert re.search(r"\b20\d\d-\d\d-\d\d\b", foot.get_text()), name
        own, paper = (entry.get_text() for entry in foot.select("pre"))
        assert f"@incollection{{crowder-{name.rpartition('/')[2]}," in own and version in own
        assert "A Theoretical Analysis of First Heuristics" in paper and own.count("{") == own.count("}")
    page, trouble = visit("notebooks/05-edge-ordering")
    page.locator(".colophon .cite > summary").click()
    page.evaluate("document.addEventListener('copy', () => { window.copied = getSelection().toString(); })")
    page.locator(".copy-entry").first.click()
    assert "title = {Edge ordering}" in page.evaluate("window.copied")
    assert page.locator(".copy-entry").first.inner_text() == "Copied"
    page.evaluate("window.print = () => { window.printed = true; }")
    page.locator(".print-page").click()
    assert page.evaluate("window.printed") and not page.locator(".page-pdf").is_visible()
    assert trouble == []


def test_a_folded_proof_opens_without_a_script_and_on_paper(visit):
    page, _ = visit("notebooks/05-edge-ordering")
    if not page.locator("details.proof").count():
        page.evaluate("""document.querySelector('article section').insertAdjacentHTML('beforeend',
            '<details class="proof"><summary>Proof</summary><p id="inside">It is so.</p></details>')""")
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


def test_a_hit_shows_the_line_that_was_found(visit, html):
    page, trouble = visit("search")
    page.goto(f"{(html / 'search.html').as_uri()}?q=transitive+inference")
    page.wait_for_selector("#search-results .search-line mark")
    page.wait_for_function("document.querySelector('#search-results p').textContent.includes('finished')")
    lines = page.locator("#search-results .search-line").all_inner_texts()
    hits = page.locator("#search-results li").count()
    assert hits >= 3 and len(lines) == hits
    marked = page.locator("#search-results mark").all_inner_texts()
    assert {word.lower()[:9] for word in marked} in ({"transitiv"}, {"transitiv", "inference"})
    assert all(len(line) < 300 for line in lines)
    assert trouble == []
    assert (html / "_static" / "searchtext.js").stat().st_size < 700_000
