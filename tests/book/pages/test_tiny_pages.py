"""Claims, statements, numbers and figures as a reader meets them, on the pages of one tiny book.

It is built once: it has claims of every status, titles of every kind, an appendix, printed numbers and the page that
follows the paper.
"""

import re
from itertools import pairwise

import pytest
from barriers import barriers
from tiny_book import DECLARED

NAMES = ("c01", "c02", "e01", "c03", "b01")  # in the order of the paper


@pytest.fixture(scope="module")
def built(tiny_built):
    return tiny_built


@pytest.fixture(scope="module")
def html(built):
    """Where `visit` finds its pages."""
    return built.out / "html"


# --- claims, in the files -----------------------------------------------------------------------------------------


def words(markup):
    return " ".join(re.sub("<[^>]+>", "", re.sub("<math.*?</math>", "M", markup, flags=re.DOTALL)).split())


def box(page, name):
    """The part of a page from an anchor to the next one of a claim."""
    start = page.index(f'id="{name}"')
    ends = [found.start() for found in re.finditer(r'id="claim-|<details class="paper-row|<section|</article>', page)]
    return page[start : min([end for end in ends if end > start], default=len(page))]


def says(page, text):
    """Whether a part of a page has these words, wherever tags stand."""
    return text.replace(" ", "") in words(page).replace(" ", "")


def test_one_sentence_stands_where_the_claim_was_checked_and_the_evidence_is_folded(built):
    page = built.page("notebooks/01-one")
    code = re.sub("<details.*?</details>", "", page, flags=re.DOTALL)
    assert says(code, "identity(") and says(code, "counterexample(")  # a cell that only checks is on the page
    for name, outside, inside in [
        # Without a sentence of its own, a claim has the figure of what carries it.
        ("c01", ["holds (proved) 1 identity, difference 0."],
         ["Claim, Section", "Proved: in A square . In prose only: that it is one.", "Touches: Dist-1,"]),
        ("c02", ["refuted There are", "What holds: It is three."],
         ["Printed, Lemma 2: Three are two.", "Affects: whatever counts", "What stands: two", "Exact: at two records.",
          "Touches: nothing in the analysis or the experiments.", "counterexample(3,",
          "3, instead of at most 2 as printed", "Instead: equal: 3, 3, by agreement([count]"]),
        ("c03", ["undecided", "This: 1; that: 2 (errors)."], ["Claim, Section 3: As before."]),
        ("e01", ["3, instead of 2 as printed.", "What holds: They are three."],
         ["Printed, Lemma 2, its proof: Two and one are two.", "Affects: the lemma",
          "Instead: equal: 3, by agreement(2"]),
    ]:  # fmt: skip
        before, folded = box(page, f"claim-{name}").split("<details", 1)
        assert "open" not in folded[: folded.index(">")]
        folded = folded[: folded.index("</details>")]
        assert "Evidence" in re.search("<summary.*?</summary>", folded, re.DOTALL)[0]
        for words, part, other in ((outside, before, folded), (inside, folded, before)):
            for text in words:
                assert says(part, text) and not says(other, text), (name, text)
        # What holds instead comes after what is printed.
        assert "Instead" not in folded or folded.index("as printed") < folded.index("Instead")


def test_a_row_has_what_the_paper_says_and_opens_to_what_became_of_it(built):
    page = built.page("book/pages/paper")
    summaries = re.findall(r'<summary class="row-line.*?</summary>', page, re.DOTALL)
    assert [says(summary, words) for summary, words in zip(
        summaries, ["Theorem 1 A square", "Lemma 2 Three are two or one. C02 refuted E01 misprint",
                    "Proof of Lemma 2 It is clear. C02 refuted", "Section 3 As before. C03 undecided",
                    "Chapter 1 It is so. B01 checked (exact)"], strict=True)] == [True] * 5  # fmt: skip
    assert not any("<a " in summary for summary in summaries)  # a summary opens, and does nothing else
    places = [page.index(f'id="claim-row-{name}"') for name in NAMES]  # each claim has one place
    assert places == sorted(places)
    for name in NAMES:
        assert f'href="../../notebooks/01-one.html#claim-{name}"' in box(page, f"claim-row-{name}")
    for name, words in [
        ("c01", ["Evidence: 1 identity", "Proved: in A square . In prose only: that it is one.",
                 "Carries C02 , C03 ."]),
        ("c02", ["Printed: Three are two.", "What is wrong: There are", "What holds (exact): It is three.",
                 "Affects: whatever counts", "What stands: two", "Exact: at two records.", "Rests on C01 ."]),
        ("c03", ["Evidence: This: 1; that: 2 (errors).", "What stands: all else", "Rests on C01 , C02 ."]),
        ("e01", ["Lemma 2, its proof", "Printed: Two and", "What holds (exact): They are three.", "Concerns C02 ."]),
    ]:  # fmt: skip
        assert [text for text in words if not says(box(page, f"claim-row-{name}"), text)] == []
    assert not says(box(page, "claim-row-c01"), "Printed")  # the row says it
    rest = page[page.index('id="paper-proof-of-lemma-2"') :]
    assert 'href="#claim-row-c02"' in rest[: rest.index("</details>")] and says(rest, "is under Lemma 2")
    assert says(page, "Nothing is claimed. Chapter 2") and says(page, "Chapter 1 · Fig")


# --- statements, numbers, figures -----------------------------------------------------------------------------------


def test_titles_and_references_have_the_number_of_the_file_or_the_name_in_the_paper(built):
    page = built.page("notebooks/appendix/A2-more")
    titles = [words(title) for title in re.findall(r'<p class="admonition-title"[^>]*>(.*?)</p>', page, re.DOTALL)]
    assert titles == ["Companion Theorem A2.1 (A tree with M)", "Theorem 2 of the paper (edge ordering, M)",
                      "Companion Proposition A2.1", "Definition A2.1 (A word)"]  # fmt: skip
    links = re.findall(r'<a class="reference internal" href="#((?:thm|prop|def)-[^"]+)"[^>]*>(.*?)</a>', page)
    assert [(target, words(text)) for target, text in links] == [
        ("thm-ours", "Companion Theorem A2.1"), ("thm-theirs", "Theorem 2 of the paper"),
        ("prop-plain", "Companion Proposition A2.1"), ("def-ours", "Definition A2.1"), ("thm-theirs", "these words"),
    ]  # fmt: skip
    assert len(re.findall('id="thm-theirs"', page)) == 1
    assert re.search(r'<details class="proof"><summary>Proof</summary>\s*(<[^>]+>\s*)*It grows\.', page)
    for text in ("A2. Statements", "Figure A2.1", "(A2.1)", "A2.1. A section",
                 "Code of Figure A2.1, Figure A2.2: Drawing · A sum, in *halves*"):  # fmt: skip
        assert text in words(page), text
    said = words(built.page("notebooks/01-one"))
    assert "Figure 1.1, Companion Theorem A2.1, Figure A2.2, (A2.1) and A section, after" in said
    assert "A2. Statements" in said and "2. Two" in said  # the navigation


def test_results_of_chapters_on_another_page_beside_printed_ones_and_those_of_the_build(built):
    page = built.page("book/pages/index")
    assert words(page).count("Area 1,234.6, word five.") == 1
    link = r'<a [^>]*href="../../notebooks/01-one.html#fig-b"><img alt="A &quot;line&quot;: b." class="drawn"'
    assert re.search(link, page)
    assert "A <em>caption</em>." in page
    # Printed numbers stand beside ours.
    page = words(built.page("book/pages/paper"))
    assert "differs: a slip" in page and "within 5 %" in page
    assert "with titles alone, which the paper leaves open" in page
    lines = (built.out / "reports" / "printed.csv").read_text().splitlines()
    assert len(lines) == 3 and lines[1].startswith("counts,a,Table 1,questions,100,104,")
    assert ",titles alone," in lines[1]
    # The page about the build names times, data and versions.
    shown = words(built.page("book/pages/about"))
    assert "profile full" in shown
    assert "data sets cora (computed); cora (shipped values)" in shown
    # 1,234.4 seconds, whatever this build took, and none of a chapter that is not in this book.
    assert "run time in full 21 minutes, of which 02-two 1,234 s (3 cores; python 3.99)" in shown
    assert re.search(r"versions python 3\.\d+", shown)
    assert "powers Chapter 2 n 4; exponents 1, 2" in shown


# --- pages that must not be published -------------------------------------------------------------------------------


def test_what_is_not_understood_or_not_there_stops_the_build(built, tmp_path):
    tiny = built.copied(tmp_path / "project")
    rows = ("Theorem 1: {claims: [C01, C09], chapter: 01-one}", "Theorem 2: {says: Two., chapter: 09-nine}",
            "Theorem 3: {says: Three., chapter: 01-one, figure: 01-one#fig-z}")  # fmt: skip
    tiny.file(
        "book/data/claims.yml", DECLARED.partition("  Main results:")[0] + "\n    ".join(["  Main results:", *rows])
    )
    wrong = {
        "```{shown} 01-one#fig-z\n```": "no chapter shows 01-one#fig-z",
        "```{paper} Nowhere\n```": "claims.yml has no section Nowhere",
        "{claim}`C77`": "no claim C77 in the ledger",
        "Here is $x + \\nosuchcommand$.": r"the formula x + \nosuchcommand",
        "\\begin{align}\na\n\\end{align}": "set this formula between $$",  # or it would have a number of its own
    }
    (tiny.root / "book" / "pages" / "index.md").write_text("# Tiny\n\n[This](missing.md)\n\n" + "\n\n".join(wrong))
    tiny.edit("02-two", ("# Two\n", "# Two\n\nSee {ref}`nowhere`.\n"))
    done = tiny.render()
    assert done.returncode
    found = [
        "there is no chapter 09-nine",
        "undefined label: 'fig-z'",
        "undefined label: 'claim-row-c03'",
        "WARNING: undefined label: 'nowhere'",
        "missing.md",
        "Theorem 1: the ledger has not all of C01, C09",
        *wrong.values(),
    ]
    assert [message for message in found if message not in done.stderr] == []


# --- claims, in a browser -------------------------------------------------------------------------------------------


def test_on_a_wide_screen_evidence_stands_in_the_margin_and_on_a_narrow_one_below_the_statement(visit):
    page = visit("notebooks/01-one")
    for width in (1200, 1920, 1100, 390):
        page.set_viewport_size({"width": width, "height": 900})
        text = page.locator("#a-square > p").first.bounding_box()
        found = [box.bounding_box() for box in page.locator("div.claim").all()]
        assert len(found) == 5
        for box in found:
            if width >= 1200:
                assert box["x"] >= text["x"] + text["width"] and box["x"] + box["width"] <= width
            else:
                assert box["y"] > text["y"] + text["height"] and box["x"] >= text["x"] - 1
                assert box["x"] + box["width"] <= text["x"] + text["width"] + 1
        for above, below in pairwise(found):
            assert above["y"] + above["height"] <= below["y"]  # they do not touch
        if width >= 1200:  # the text goes on as if they were not there
            assert page.locator("text=The end").last.bounding_box()["y"] < found[-1]["y"] + found[-1]["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The list of contents makes room.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("#claim-c02").scroll_into_view_if_needed()
    page.mouse.wheel(0, 300)
    page.wait_for_function("document.querySelector('.bd-sidebar-secondary').classList.contains('hide')")


def test_a_box_opens_by_keyboard_in_the_width_of_the_text(visit):
    page = visit("notebooks/01-one")
    text = page.locator("#a-square > p").first.bounding_box()
    before = page.locator("#claim-c02")
    assert not before.locator(".claim-links").is_visible()
    before.locator("summary").focus()
    page.keyboard.press("Enter")
    assert before.locator(".claim-links").is_visible()
    opened = before.bounding_box()
    assert opened["x"] == pytest.approx(text["x"], abs=1) and opened["width"] > 0.9 * text["width"]
    assert barriers(page) == []
    # On paper there is one line.
    page.emulate_media(media="print")
    assert not before.locator("details").is_visible() and before.locator(".claim-says").is_visible()
    assert before.evaluate("e => getComputedStyle(e).float") == "none"


# --- the paper, in order --------------------------------------------------------------------------------------------

ROWS = ["theorem-1", "lemma-2", "remark", "proof-of-lemma-2", "section-3", "own"]


def shown(page):
    return [(row.get_attribute("id") or "own").removeprefix("paper-") for row in page.locator(".paper-row").all()
            if row.is_visible()]  # fmt: skip


def test_the_counts_and_the_choices_select_rows_and_are_in_the_address(visit):
    page = visit("book/pages/paper")
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


def test_a_badge_in_a_chapter_leads_through_the_box_to_the_open_row(visit):
    page = visit("notebooks/01-one")
    page.locator("#claim-c02 .claim-says a").click()
    page.wait_for_url("**/paper.html#claim-row-c02")
    assert page.locator("#paper-lemma-2").evaluate("e => e.open") and page.locator("#claim-row-c02").is_visible()
    page.locator("#claim-row-c02").get_by_role("link", name="C01").click()
    page.wait_for_function("document.querySelector('#paper-theorem-1').open")
    # What was selected gives way.
    page.goto(page.url.partition("#")[0] + "?show=undecided#claim-row-e01")
    page.wait_for_function("document.querySelector('#paper-lemma-2').open")
    assert page.locator("#claim-row-e01").is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert barriers(page) == []


# --- previews -----------------------------------------------------------------------------------------------------


#: A link on a page, and what its preview holds.
PREVIEWS = {
    "01-one": {"#equation-eq-one": "math", "#fig-a": "img", "#claim-c02": ".claim-statement",
               "bibliography.html#": "text=heuristics of"},
    "02-two": {"01-one.html#thm-one": "math", "01-one.html#equation-eq-one": "math", "01-one.html#fig-b": "img",
               "01-one.html#claim-c02": "text=Three are two.", "01-one.html#a-square": None},  # a heading
}  # fmt: skip


@pytest.mark.parametrize("name", PREVIEWS)
def test_pointing_at_a_link_shows_what_it_leads_to(visit, name):
    page = visit(f"notebooks/{name}")
    preview = page.locator("#preview")
    for link, holds in PREVIEWS[name].items():
        page.locator(f"article p a[href*='{link}']").first.hover()
        if holds is None:
            page.wait_for_timeout(600)
            assert preview.count() == 0
            continue
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


def test_a_preview_comes_with_the_focus_and_goes_with_escape(visit):
    page = visit("notebooks/02-two")
    link = page.locator("article p a[href*='#thm-one']")
    # From the keyboard: the link before it, then on.
    page.evaluate("document.querySelector('article p').tabIndex = -1; document.querySelector('article p').focus()")
    for _ in range(100):
        if link.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.locator("#preview").wait_for()
    assert link.get_attribute("aria-describedby") == "preview"
    assert page.locator("#preview").get_attribute("role") == "tooltip"
    assert barriers(page) == []
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
