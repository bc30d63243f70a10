"""Claims as a reader meets them: boxes in the margin, the ledger with its tabs and filters, and previews of links."""

from itertools import pairwise

import pytest
from barriers import barriers
from test_ledger import ROOT, book_with_claims
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
IMPORT = "#h\n# Imports\nfrom book.claims.one import check"
CHECKS = 'check("C01")\ncheck("C02")\ncheck("C03")\ncheck("E01")'


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """A book of two chapters and the ledger."""
    made = book_with_claims(tmp_path_factory.mktemp("claims") / "project")
    made.write("01-one", STATEMENT, "#p\nsize = 3", FIGURE, IMPORT, "# And\n\nmore.", CHECKS, "# The end")
    made.write("02-two", ELSEWHERE, "#p\nsize = 5\nshare = 0.5")
    text = (ROOT / "book" / "pages" / "ledger.md").read_text(encoding="utf-8")
    text = text.replace("{ref}`The chapter on errata <ch-errata>`", "A chapter").replace("(ch-ledger)=\n", "")
    (made.root / "book" / "pages" / "ledger.md").write_text(text)
    toc = made.root / "_toc.yml"
    toc.write_text(toc.read_text() + "  - file: book/pages/ledger\n")
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
    assert len(found) == 4 and trouble == []
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


# --- the ledger ---------------------------------------------------------------------------------------------------


def shown(page):
    return [row.get_attribute("id").removeprefix("ledger-") for row in page.locator(".ledger-row").all()
            if row.is_visible()]  # fmt: skip


def test_the_tabs_of_the_ledger_work_by_keyboard(visit):
    page, trouble = visit("book/pages/ledger")
    assert page.evaluate("window.shift") == 0  # the script moves nothing
    assert shown(page) == ["c01", "c02", "c03"]
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == ["The paper (3)", "Errata (1)", "Our own (0)"]
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert shown(page) == ["e01"] and page.url.endswith("#tab=E")
    page.keyboard.press("End")
    assert shown(page) == [] and page.get_by_role("tab", selected=True).inner_text() == "Our own (0)"
    page.keyboard.press("ArrowRight")
    assert shown(page) == ["c01", "c02", "c03"]
    assert trouble == []


def test_filters_select_by_keyboard_and_are_in_the_address(visit):
    page, _ = visit("book/pages/ledger")
    page.get_by_label("Status").focus()
    page.keyboard.type("ref")
    page.keyboard.press("Enter")
    assert shown(page) == ["c02"] and page.locator("output").inner_text() == "1 of 3 shown"
    address = page.url
    assert address.endswith("#status=refuted")
    page.get_by_label("Basis").select_option("proved")
    assert shown(page) == [] and page.locator("output").inner_text() == "0 of 3 shown"
    page.get_by_role("button", name="Show all").click()
    assert shown(page) == ["c01", "c02", "c03"]
    for name, value, expected in [("Chapter", "01 one", 3), ("Weight", "slip", 0), ("Weight", "result", 3)]:
        page.get_by_label(name).select_option(value)
        assert len(shown(page)) == expected
    page.goto("about:blank")
    page.goto(address)
    assert shown(page) == ["c02"]
    page.goto(address.partition("#")[0] + "#tab=E&status=no-such-status")
    page.wait_for_function("document.querySelector('#ledger-e01').checkVisibility()")
    assert shown(page) == ["e01"]


def test_the_address_of_a_claim_opens_its_row(visit):
    page, _ = visit("book/pages/ledger")
    page.get_by_label("Status").select_option("refuted")
    page.evaluate("location.hash = '#ledger-e01'")
    page.wait_for_function("document.querySelector('#ledger-e01').open")
    assert shown(page) == ["e01"]  # the filter that would hide it is gone
    assert page.locator("#ledger-e01 .claim-links").is_visible()
    page.locator("#ledger-e01 a", has_text="C02").click()
    page.wait_for_function("document.querySelector('#ledger-c02').open")
    assert "c02" in shown(page)
    page.locator(".rests-on a", has_text="C01").click()
    page.wait_for_function("document.querySelector('#ledger-c01').open")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_ledger_has_no_barriers(visit, width):
    page, _ = visit("book/pages/ledger", width=width)
    page.locator("#ledger-c02 > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert barriers(page, contrast_only=True) == []


def test_without_scripts_every_row_is_listed(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / "book" / "pages" / "ledger.html").as_uri())
    assert shown(page) == ["c01", "c02", "c03", "e01"]
    assert page.locator("select").count() == 0
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
