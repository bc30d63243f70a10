"""Interactive charts in a browser: from a folder, by keyboard, as text, in dark mode, on a phone."""

import csv
import json
import re

import numpy as np
import pytest
from barriers import barriers
from scipy import stats

FRONT = "book/pages/index"
QUESTIONS = "notebooks/01-questions"
INTEGRAL = "notebooks/03-integral"
EXPLORER = "notebooks/17-explorer"
EDGE = "notebooks/05-edge-ordering"
CHARTS = [(QUESTIONS, "fig-watch-dozen"), (EXPLORER, "fig-explorer-cora")]


def rows(html, figure):
    """The data behind a figure, as the page offers them."""
    (path,) = html.glob(f"_downloads/*/{figure}.csv")
    return list(csv.DictReader(path.read_text().splitlines()))


# --- the stepper ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "figure"), CHARTS)
def test_a_chart_takes_the_place_of_its_still_with_labelled_controls(visit, name, figure):
    page = visit(name)
    box = page.locator(f"figure#{figure}")
    assert not box.locator("img").is_visible() and box.locator("img").get_attribute("alt")
    picture = box.locator(".interactive-chart")
    assert picture.get_attribute("role") == "img"
    assert picture.get_attribute("aria-label") == box.locator("img").get_attribute("alt")
    assert box.locator("figcaption").is_visible()
    assert box.locator(".interactive-words").get_attribute("aria-live") == "polite"
    assert box.locator("input").evaluate("e => e.labels[0].firstChild.innerText") == "Question"
    controls = box.locator(".interactive-controls :is(input, button)")
    assert min(controls.evaluate_all("all => all.map(e => e.offsetHeight)")) >= 24  # large enough for a finger
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    svg = picture.locator(".stepper-runs svg")
    for drawing in svg.all():
        assert drawing.bounding_box()["width"] <= 390
        assert "invert(1)" in drawing.evaluate("e => getComputedStyle(e).filter")
    # Letters of the chart as they come out on the screen.
    letters = svg.locator("text").evaluate_all("all => all.map(t => t.getBoundingClientRect().height)")
    assert min(letters) >= 9


@pytest.mark.parametrize(("name", "figure"), CHARTS)
def test_all_runs_are_walked_from_their_beginning_to_their_end_by_keyboard(visit, html, name, figure):
    page = visit(name)
    box = page.locator(f"figure#{figure}")
    # With the Tab key alone, from the control before it.
    box.get_by_role("button", name="Next").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "question"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert box.locator("input").input_value() not in ("0", box.locator("input").get_attribute("max"))
    page.keyboard.press("Home")
    runs = {}
    for row in rows(html, figure):
        runs.setdefault(row["ordering"], []).append(row)
    ends = {name: max(int(row["at"]) for row in run) for name, run in runs.items()}
    for step in range(max(ends.values()) + 1):
        sentences, counts = box.locator(".interactive-words p").all(), box.locator(".stepper-count").all()
        for i, (name, run) in enumerate(runs.items()):
            at = min(step, ends[name])  # a run that has ended stays as it is
            settled = [row for row in run if int(row["at"]) <= at]
            for how in ("asked", "inferred"):
                lines = box.locator(".stepper-runs svg").nth(i).locator(f"g.{how} line")
                assert lines.count() == sum(row["how"] == how for row in settled)
            text, new = sentences[i].inner_text(), [row["how"] for row in settled if int(row["at"]) == at]
            if at:
                assert text.startswith(f"{name.capitalize()}. Question {at} of {ends[name]}:")
                assert f"settles {new.count('inferred') or 'no'} more pair" in text
            assert text.endswith(f"open {len(run) - len(settled)}.")
            count = f"{at} question{'s' * (at != 1)}, {len(settled)} of {len(run)} pairs"
            assert counts[i].inner_text().startswith(count)
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    assert box.locator(".interactive-chart g.asked line").count() == 0


def test_buttons_step_back_and_on_and_play_until_paused(visit):
    page = visit(EXPLORER)
    box = page.locator("figure#fig-explorer-cora")
    question = box.locator("input[name=question]")
    first = int(question.input_value())
    box.get_by_role("button", name="Next").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert question.input_value() == str(first + 2)
    box.get_by_role("button", name="Play").press("Enter")
    page.wait_for_function(f"document.querySelector('#fig-explorer-cora input').value === '{first + 4}'")
    box.get_by_role("button", name="Pause").press("Enter")
    rests = question.input_value()
    page.wait_for_timeout(1500)  # more than two questions
    assert question.input_value() == rests


def test_a_question_is_shown_with_the_texts_of_its_records_and_moves_nothing(visit, html):
    page = visit(QUESTIONS)
    box = page.locator("figure#fig-watch-dozen")
    asked, texts = box.locator(".stepper-question"), {}
    for row in rows(html, "tab-citations"):
        texts[row["record"]] = row["citation"]
    assert len(texts) == 12
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        box.locator("input").press("Home")
        assert asked.first.inner_text() == "No question yet."
        heights = set()
        for _ in range(int(box.locator("input").get_attribute("max"))):
            page.keyboard.press("ArrowRight")
            heights.add(tuple(asked.evaluate_all("all => all.map(e => e.offsetHeight)")))
            for card, sentence in zip(asked.all(), box.locator(".interactive-words p").all_inner_texts(), strict=True):
                told = [record.split(" ", 1) for record in card.locator(".stepper-record").all_inner_texts()]
                assert [texts[name] for name, _ in told] == [text for _, text in told]
                (first, one), (second, other) = told
                similarity = sentence.partition("similarity ")[2][:4]
                assert f"{first} ({one}) and {second} ({other}), similarity {similarity}? " in sentence
                said = card.locator("> :last-child").inner_text()
                assert said.startswith(f"The same paper? Similarity {similarity}. ")
                assert said.removeprefix(f"The same paper? Similarity {similarity}. ") in sentence
                grounds = card.locator(".stepper-record").evaluate_all("all => all.map(e => e.style.background)")
                assert (grounds[0] == grounds[1] and grounds[0] != "rgb(255, 255, 255)") == (" Yes. " in said)
        assert len(heights) == 1


def test_the_first_page_plays_by_itself_once_and_not_where_less_motion_is_preferred(visit):
    page = visit(FRONT)
    question = page.locator(".front input[name=question]")
    last = question.get_attribute("max")
    page.locator(".front .stepper").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.front input[name=question]').value > 1")
    assert page.locator(".front").get_by_role("button", name="Pause").is_visible()
    question.evaluate(f"e => e.value = {int(last) - 1}")  # as if it had played until then
    page.wait_for_function(f"document.querySelector('.front input[name=question]').value === '{last}'")
    page.wait_for_selector(".front button:has-text('Play')")
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    rests = question.input_value()
    page.wait_for_timeout(2500)
    assert question.input_value() == rests and 1 < int(rests) < int(last)
    assert page.locator(".front").get_by_role("button", name="Play").is_visible()


# --- the explorer ---------------------------------------------------------------------------------------------------


@pytest.fixture
def explorer(visit):
    """The page of the explorer, and the explorer on it."""
    page = visit(EXPLORER)
    return page, page.locator(".explorer")


def said(page):
    """The sentence of the explorer, once it rests."""
    page.wait_for_timeout(300)  # a moving bar is counted with few nodes, and said a quarter of a second later
    page.wait_for_selector(".explorer[data-nodes='12']")
    return page.locator(".explorer-words").inner_text()


def counted(text):
    """The numbers of the sentence: edge, node, fewest, and the four bounds."""
    return [float(number.replace(",", "")) for number in re.findall(r"[\d,]*\d(?:\.\d)?", text.partition(". Edge")[2])]


def test_the_explorer_is_on_the_first_screen_and_says_what_its_data_say(explorer, html):
    page, box = explorer
    assert box.bounding_box()["y"] + 0.5 * box.bounding_box()["height"] <= 900  # what is imported is seen above it
    assert not page.locator("#fig-explorer img").is_visible()
    columns = ["edge, exact", "node, exact", "least possible", "edge, bound as printed", "edge, bound that holds",
               "node, bound as printed", "node, bound that holds"]  # fmt: skip
    links = [("start", None), *((a.get_attribute("data-set"), a) for a in page.locator("a.explorer-set").all())]
    assert len(links) >= 5
    for row in rows(html, "fig-explorer"):
        for name, link in links:
            if name == row["state"]:
                if link:
                    link.click()
                assert counted(said(page)) == pytest.approx([float(row[c]) for c in columns], abs=0.51, rel=2e-4)
                distance = float(page.locator(".explorer-distance b").inner_text())
                assert distance == pytest.approx(float(row["Hellinger distance"]), abs=6e-4)


@pytest.mark.parametrize("which", ["green", "red"])
def test_a_dragged_bar_moves_the_counts_while_it_moves(explorer, which):
    page, box = explorer
    before = counted(said(page))
    box.locator(f".{which} .thumb").last.scroll_into_view_if_needed()
    thumb = box.locator(f".{which} .thumb").last.bounding_box()
    x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    seen = set()
    for step in range(1, 9):
        page.mouse.move(x, y - 3 * step)
        seen.add(box.locator(".explorer-counts .value").nth(1).text_content())
    assert len(seen) == 8
    page.mouse.up()
    after, up = counted(said(page)), which == "red"  # similar non-matches cost questions, similar matches save them
    assert (after[0] > before[0]) == up and (after[1] > before[1]) == up and after[2] == before[2]
    heights = [float(bar.get_attribute("aria-valuenow")) for bar in box.locator(f".{which} .bar").all()]
    assert sum(heights) == pytest.approx(10, abs=0.1)  # the mass is still one
    page.reload()
    # Restored from the address, which has the heights to a few digits.
    assert counted(said(page)) == pytest.approx(after, rel=1e-3)
    box.get_by_role("button", name="Reset").click()
    assert counted(said(page)) == before


def test_the_explorer_works_from_the_keyboard(explorer):
    page, _ = explorer
    before = counted(said(page))
    for _ in range(300):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role') === 'slider'"):
            break
    page.keyboard.press("ArrowLeft")  # from the first bar to the last
    bar = page.locator(".explorer :focus")
    name, height = bar.get_attribute("aria-label"), float(bar.get_attribute("aria-valuenow"))
    assert name == "f_g from 0.9 to 1"
    page.keyboard.press("ArrowUp")
    assert float(bar.get_attribute("aria-valuenow")) == pytest.approx(height + 0.05)
    after = counted(said(page))
    assert after[0] < before[0]
    page.keyboard.press("Home")
    assert float(bar.get_attribute("aria-valuenow")) == 0
    assert counted(said(page))[0] > before[0]


def test_clusters_are_typed_and_a_mistake_loses_nothing(explorer):
    page, box = explorer
    field, beside = box.locator("input[type=text]"), box.locator("#explorer-said")
    field.fill("50, 30, 20")
    # 97 matches and a question for each two of three clusters
    assert counted(said(page))[2] == 97 + 3 and beside.inner_text() == "100 records in 3 clusters"
    text = page.locator(".explorer-words").inner_text()
    field.fill("50, 30, many")
    assert "“many” is neither a size" in beside.inner_text() and "100 records in 3 clusters" in beside.inner_text()
    assert field.get_attribute("aria-invalid") is not None and field.input_value() == "50, 30, many"
    assert said(page) == text
    assert barriers(page) == []
    field.fill("50, 30, 20, 1")
    assert "101 records in 4 clusters" in said(page) and field.get_attribute("aria-invalid") is None
    box.locator("select").select_option(label="those of cora")
    said_of_cora = "1,879 records in 191 clusters"
    page.wait_for_function(f"document.querySelector('.explorer-words').innerText.includes('{said_of_cora}')")


def test_a_thumb_drags_a_bar_and_the_page_still_scrolls(browser, html):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto((html / f"{EXPLORER}.html").as_uri())
    before = counted(said(page))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".explorer .red").scroll_into_view_if_needed()
    touch = context.new_cdp_session(page)

    def swipe(locator, by, at=0.5):
        box = locator.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * at
        for kind, down in [("touchStart", 0), *(("touchMove", by * i / 8) for i in range(1, 9))]:
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y + down}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    where = page.evaluate("scrollY")
    swipe(page.locator(".explorer .red .thumb").last, -30)
    assert counted(said(page))[0] > before[0]
    assert page.evaluate("scrollY") == where
    after = counted(said(page))
    swipe(page.locator(".explorer .red .column").first, -120, at=0.97)  # below the thumb
    page.wait_for_timeout(500)
    assert page.evaluate("scrollY") > where and counted(said(page)) == after
    letters = page.locator(".explorer svg text").evaluate_all("all => all.map(t => t.getBoundingClientRect().height)")
    assert min(letters) >= 11
    context.close()


def test_without_scripts_the_still_picture_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / f"{EXPLORER}.html").as_uri())
    for figure in ("fig-explorer", "fig-explorer-cora"):
        assert page.locator(f"figure#{figure} img").is_visible()
    assert page.locator("#tab-explorer", has_text="cora").is_visible()
    assert page.locator(".interactive, .explorer").count() == 0
    page.goto((html / f"{INTEGRAL}.html").as_uri())
    assert page.locator("figure#fig-integral-area img").is_visible() and page.locator(".interactive").count() == 0
    context.close()


# --- the slider -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "place", "caption"), [
    (EDGE, "figure#fig-edge-components", "figcaption"), (FRONT, "#shown-fig-edge-components", ".shown-caption"),
])  # fmt: skip
def test_a_slider_changes_the_picture_and_its_sentence_by_keyboard(visit, html, name, place, caption):
    page = visit(name)
    box, of_n = page.locator(place), {}
    for row in rows(html, "fig-edge-components"):
        of_n.setdefault(row["n"], {"a": [], "b": []})[row["cluster"]].append(int(row["component"]))
    assert not box.locator("img").is_visible() and box.locator(caption).is_visible()
    box.locator("input").press("Home")
    for n, components in of_n.items():
        assert box.locator("output").inner_text() == n
        assert box.locator("svg g[id^=line2d] use").count() == int(n) == sum(map(sum, components.values()))
        a, b = map(len, components.values())
        assert box.locator(".interactive-words").inner_text().startswith(f"{a} and {b} components: ")
        page.keyboard.press("ArrowRight")


# --- the races ------------------------------------------------------------------------------------------------------


@pytest.fixture
def races(visit):
    """The page of the integral, and the figure in which races are drawn."""
    page = visit(INTEGRAL)
    return page, page.locator("figure#fig-integral-area")


def won(box):
    """How many races are drawn, and how many of them are won in each panel."""
    words = box.locator(".interactive-words").inner_text()
    found = re.search(r"Of ([\d,]+) races each, the non-match has won (.*)\.", words)
    wins = {name: int(count.replace(",", "")) for count, name in re.findall(r"([\d,]+) \((.*?)\), a share", found[2])}
    shares = [float(share) for share in re.findall(r"share of (0\.\d+)", found[0])]
    count = int(found[1].replace(",", ""))
    assert shares == pytest.approx([win / count for win in wins.values()], abs=5.1e-4)
    return count, wins


def test_races_are_drawn_by_keyboard_and_those_won_are_the_dots_in_the_area(races, html):
    page, box = races
    box.locator("input").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Draw 100 races"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for _ in range(3):
        page.keyboard.press("Enter")
    count, wins = won(box)
    assert count == 300 and len(wins) == 3
    text = (html / f"{INTEGRAL}.html").read_text()
    models = json.loads(re.search('class="races-settings"[^>]*>(.*?)</script>', text)[1])["models"]
    t = int(box.locator("output").inner_text())
    for panel, (name, win) in enumerate(wins.items()):
        square = "e => (({ x, y, width, height }) => [x, y, width, height])(e.getBBox())"
        unit = box.locator(f"#unit-{panel}").evaluate(square)
        dots = box.locator("g.races").nth(panel).locator("circle").evaluate_all(
            "all => all.map(e => ['cx', 'cy', 'fill'].map(name => e.getAttribute(name)))")  # fmt: skip
        dark = np.array([fill == "#222" for *_, fill in dots])
        x, y = np.array([dot[:2] for dot in dots], float).T
        R, height = (x - unit[0]) / unit[2], 1 - (y - unit[1]) / unit[3]
        green, red = (np.array(models[name][kind]["heights"]) for kind in ("green", "red"))
        edges = np.array(models[name]["red"]["edges"])
        F_g = np.interp(R, edges, np.r_[0, np.cumsum(green * np.diff(edges))])
        f_r = red[np.searchsorted(edges, R) - 1]
        assert len(dots) == count and dark.sum() == win
        assert (dark == (height <= F_g**t * f_r)).all() and (height >= -1e-9).all() and (height <= f_r + 1e-9).all()
        # The fraction at which a dot lies below f_r is that of the races against less similar matches, and so uniform.
        assert stats.kstest(height / f_r, "uniform").pvalue > 1e-9
    box.get_by_role("button", name="Reset").press("Enter")
    assert box.locator("circle").count() == 0 and "No race is drawn yet." in box.inner_text()


def test_the_share_of_races_won_settles_on_the_area(races, html):
    """Within what 20,000 draws from the binomial distribution leave with a probability of one in a billion."""
    page, box = races
    areas = {}
    for row in rows(html, "fig-integral-area"):
        areas.setdefault(row["t"], {})[row["model"]] = float(row["L"])
    box.locator("input").press("Home")
    for t, area in areas.items():
        assert box.locator("output").inner_text() == t and "No race is drawn yet." in box.inner_text()
        for _ in range(2):
            box.get_by_role("button", name="Draw 10,000").press("Enter")
        count, wins = won(box)
        assert count == 20_000 and wins.keys() == area.keys()
        for name, win in wins.items():
            assert stats.binomtest(win, count, area[name]).pvalue > 1e-9, (t, name)
        assert box.locator("circle").count() <= 1500
        ends = box.locator("svg.races path").evaluate_all("all => all.map(e => +e.getAttribute('d').split(',').at(-1))")
        # The dotted line is at 38, and a share twice the area at 18.
        assert ends == pytest.approx([58 - 20 * min(2, wins[name] / count / area[name]) for name in area])
        box.locator("input").press("ArrowRight")
    assert barriers(page) == []
