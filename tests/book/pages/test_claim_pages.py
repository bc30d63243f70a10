"""Claims as a reader meets them: boxes in the margin, the page that follows the paper, and previews of links."""

from itertools import pairwise

import pytest
from barriers import barriers
from test_ledger import CHECKS, MORE, book_with_claims
from tiny_book import FIGURE

STATEMENT = (
    r"""# One

Some words about a square {claim}`C01`, about {claim}`C02`, {eq}`eq-one` and {numref}`fig-a`,
after {cite:t}`mazumdar2017first`.

$$x^2 = x \cdot x$$ (eq-one)

(a-square)=
## A square

:::{prf:theorem} Squares
:label: thm-one

A square $x^2$ is a square {claim}`C01`.
:::

"""
    + "The argument goes on for as many words as an argument needs. " * 4
)
ELSEWHERE = (
    r"""# Two

Squares have a {prf:ref}`thm-one`, an equation {eq}`eq-one`, and {numref}`fig-b`; see {claim}`C02` and {ref}`a-square`.

"""
    + "There is more to say. " * 300
)


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """A book of two chapters and the page that follows the paper."""
    made = book_with_claims(tmp_path_factory.mktemp("claims") / "project")
    made.write("01-one", STATEMENT, "#p\nsize = 3\nfactor = 2", FIGURE, CHECKS, "# And\n\nmore.", MORE, "# The end")
    made.write("02-two", ELSEWHERE, "#p\nsize = 5\nshare = 0.5")
    done = made.build()
    assert done.returncode == 0, done.stderr
    return made.out / "html"


def boxes(page):
    return [box.bounding_box() for box in page.locator("div.claim").all()]


# --- boxes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1200, 1280, 1600, 1920])
def test_on_a_wide_screen_evidence_stands_in_the_margin(visit, width):
    page, trouble = visit("notebooks/01-one", width=width)
    text = page.locator("#a-square > p").first.bounding_box()
    found = boxes(page)
    assert len(found) == 5 and trouble == []
    for box in found:
        assert box["x"] >= text["x"] + text["width"] and box["x"] + box["width"] <= width
    for above, below in pairwise(found):
        assert above["y"] + above["height"] <= below["y"]  # they do not touch
    # The text goes on as if they were not there.
    assert page.locator("text=The end").last.bounding_box()["y"] < found[-1]["y"] + found[-1]["height"]
    # The list of contents makes room.
    page.locator("#claim-c02").scroll_into_view_if_needed()
    page.mouse.wheel(0, 300)
    page.wait_for_function("document.querySelector('.bd-sidebar-secondary').classList.contains('hide')")


@pytest.mark.parametrize("width", [390, 768, 1100])
def test_on_a_narrow_screen_it_stands_below_the_statement(visit, width):
    page, _ = visit("notebooks/01-one", width=width)
    text = page.locator("#a-square > p").first.bounding_box()
    for box in boxes(page):
        assert box["y"] > text["y"] + text["height"] and box["x"] >= text["x"] - 1
        assert box["x"] + box["width"] <= text["x"] + text["width"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_box_opens_by_keyboard_in_the_width_of_the_text(visit):
    page, _ = visit("notebooks/01-one")
    text = page.locator("#a-square > p").first.bounding_box()
    before = page.locator("#claim-c02")
    assert not before.locator(".claim-links").is_visible()
    before.locator("summary").focus()
    page.keyboard.press("Enter")
    assert before.locator(".claim-links").is_visible()
    opened = before.bounding_box()
    assert opened["x"] == pytest.approx(text["x"], abs=1) and opened["width"] > 0.9 * text["width"]
    assert barriers(page) == []


def test_on_paper_there_is_one_line(visit):
    page, _ = visit("notebooks/01-one")
    page.emulate_media(media="print")
    box = page.locator("#claim-c02")
    assert not box.locator("details").is_visible() and box.locator(".claim-says").is_visible()
    assert box.evaluate("e => getComputedStyle(e).float") == "none"


# --- the paper, in order --------------------------------------------------------------------------------------------

ROWS = ["theorem-1", "lemma-2", "remark", "proof-of-lemma-2", "section-3", "own"]


def shown(page):
    return [(row.get_attribute("id") or "own").removeprefix("paper-") for row in page.locator(".paper-row").all()
            if row.is_visible()]  # fmt: skip


def test_the_counts_and_the_choices_select_rows_and_are_in_the_address(visit):
    page, trouble = visit("book/pages/paper")
    assert page.evaluate("window.shift") == 0  # the script moves nothing
    assert shown(page) == ROWS
    for link, expected in [("1 refuted", ["lemma-2", "proof-of-lemma-2"]), ("amended", ["lemma-2", "proof-of-lemma-2"]),
                           ("1 undecided", ["section-3"]), ("the book’s own", ["own"]), ("all", ROWS)]:  # fmt: skip
        page.locator("article").get_by_role("link", name=link).focus()
        page.keyboard.press("Enter")
        assert shown(page) == expected
        assert page.locator("article [aria-current]").all_inner_texts()[0].startswith(link)
        assert page.locator("h2:visible").count() == (3 if link == "all" else 1)
        words = page.locator(".paper-shown").inner_text().strip()
        assert words == ("" if link == "all" else f"({len(expected)} of 6 rows shown)")
    page.goto(page.url.partition("?")[0] + "?show=refuted")
    assert shown(page) == ["lemma-2", "proof-of-lemma-2"]
    page.goto(page.url.partition("?")[0] + "?show=nothing")
    assert shown(page) == []
    assert trouble == []


def test_a_badge_in_a_chapter_leads_through_the_box_to_the_open_row(visit):
    page, _ = visit("notebooks/01-one")
    page.locator("#claim-c02 .claim-says a").click()
    page.wait_for_url("**/paper.html#claim-row-c02")
    assert page.locator("#paper-lemma-2").evaluate("e => e.open") and page.locator("#claim-row-c02").is_visible()
    page.locator("#claim-row-c02").get_by_role("link", name="C01").click()
    page.wait_for_function("document.querySelector('#paper-theorem-1').open")
    # What was selected gives way.
    page.goto(page.url.partition("#")[0] + "?show=undecided#claim-row-e01")
    page.wait_for_function("document.querySelector('#paper-lemma-2').open")
    assert page.locator("#claim-row-e01").is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_has_no_barriers(visit, width):
    page, _ = visit("book/pages/paper", width=width)
    for row in page.locator("details.paper-row > summary").all():
        row.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert barriers(page, contrast_only=True) == []


def test_without_scripts_every_row_is_listed(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / "book" / "pages" / "paper.html").as_uri() + "?show=refuted")
    assert shown(page) == ROWS
    assert not page.locator(".paper-choices").is_visible()
    context.close()


# --- previews -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "link", "holds"),
    [
        ("01-one", "#equation-eq-one", "math"),
        ("01-one", "#fig-a", "img"),
        ("01-one", "#claim-c02", ".claim-statement"),
        ("01-one", "bibliography.html#", "text=heuristics of"),
        ("02-two", "01-one.html#thm-one", "math"),
        ("02-two", "01-one.html#equation-eq-one", "math"),
        ("02-two", "01-one.html#fig-b", "img"),
        ("02-two", "01-one.html#claim-c02", "text=Three are two."),
        ("02-two", "01-one.html#a-square", None),  # a heading
    ],
)
def test_pointing_at_a_link_shows_what_it_leads_to(visit, name, link, holds):
    page, trouble = visit(f"notebooks/{name}")
    page.locator(f"article p a[href*='{link}']").first.hover()
    preview = page.locator("#preview")
    if holds is None:
        page.wait_for_timeout(600)
        assert preview.count() == 0
    else:
        preview.wait_for()
        assert preview.locator(holds).first.is_visible()
        assert preview.locator("a, [id], details").count() == 0  # it is a picture, not a second place
        if holds == "img":
            assert preview.locator("img").evaluate("async e => (await e.decode(), e.naturalWidth)") > 0
        box, window = preview.bounding_box(), page.viewport_size
        assert box["x"] >= 0 and box["x"] + box["width"] <= window["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= window["height"]
        page.mouse.move(5, 5)
        preview.wait_for(state="detached")
    assert trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_preview_comes_with_the_focus_and_goes_with_escape(visit, scheme):
    page, trouble = visit("notebooks/02-two", scheme=scheme)
    link = page.locator("article p a[href*='#thm-one']")
    # From the keyboard: the link before it, then on.
    page.evaluate("document.querySelector('article p').tabIndex = -1; document.querySelector('article p').focus()")
    while not link.evaluate("e => e === document.activeElement"):
        page.keyboard.press("Tab")
    page.locator("#preview").wait_for()
    assert link.get_attribute("aria-describedby") == "preview"
    assert page.locator("#preview").get_attribute("role") == "tooltip"
    assert trouble == []
    assert barriers(page, contrast_only=scheme == "dark") == []
    page.keyboard.press("Escape")
    assert page.locator("#preview").count() == 0 and link.get_attribute("aria-describedby") is None


def test_where_one_touches_a_link_is_only_followed(browser, html):
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto((html / "notebooks" / "02-two.html").as_uri())
    page.locator("article p a[href*='#thm-one']").tap()
    page.wait_for_url("**/01-one.html#thm-one")
    assert page.locator("#preview").count() == 0
    context.close()


def test_a_reader_who_wants_no_motion_gets_none(browser, html):
    for motion, expected in (("reduce", "none"), ("no-preference", "preview-in")):
        context = browser.new_context(reduced_motion=motion)
        page = context.new_page()
        page.goto((html / "notebooks" / "02-two.html").as_uri())
        page.locator("article p a[href*='#thm-one']").hover()
        page.locator("#preview").wait_for()
        assert page.locator("#preview").evaluate("e => getComputedStyle(e).animationName") == expected
        context.close()
