"""Interactive charts in a browser: from a folder, by keyboard, as text, in dark mode, on a phone."""

import csv
import json
import re

import pytest
from barriers import barriers

QUESTIONS = "notebooks/01-questions"
EXPLORER = "notebooks/16-explorer"
CHARTS = [(QUESTIONS, "fig-watch-disney"), (QUESTIONS, "fig-watch-dozen"), (EXPLORER, "fig-explorer")]
LIBRARIES = "vega-embed.js"


@pytest.fixture
def chart(visit):
    """Open a page and wait for one of its charts; also everything that the page complained of or asked for."""

    def open_chart(name, figure, **how):
        page, trouble = visit(name, **how)
        box = page.locator(f"figure#{figure}")
        box.locator(".interactive-chart svg").wait_for(timeout=20_000)
        return page, box, trouble

    return open_chart


def rows(html, figure):
    """The data behind a figure, as the page offers them."""
    (path,) = html.glob(f"_downloads/*/{figure}.csv")
    return list(csv.DictReader(path.read_text().splitlines()))


def drawn(box, what):
    return box.locator(f".interactive-chart g[class*=' {what}_'] line").count()


def focused(page):
    return page.evaluate("(e => e.name || e.textContent)(document.activeElement)")


# --- what the files say -------------------------------------------------------------------------------------------


def test_scripts_are_only_on_pages_that_have_charts(html):
    with_charts = {name for name, _ in CHARTS}
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(html).with_suffix("").as_posix()
        assert ("/interactive.js" in text) == ("interactive-spec" in text) == (name in with_charts), name
        assert LIBRARIES not in text  # interactive.js fetches it, once the page is there
    assert (html / "_static" / LIBRARIES).stat().st_size < 1_200_000


@pytest.mark.parametrize("name", [QUESTIONS, EXPLORER])
def test_a_page_and_its_charts_stay_small(html, name):
    text = (html / f"{name}.html").read_text(encoding="utf-8")
    charts = re.findall(r'class="interactive-spec" data-script="([^"]+)"></script>', text)
    assert len(charts) == sum(page == name for page, _ in CHARTS)
    for chart in charts:
        found = (html / f"{name}.html").parent.joinpath(chart).read_text(encoding="utf-8")
        assert len(found.encode()) < 1_000_000
        spec = json.loads(found.removeprefix("drawInteractive(").removesuffix(");\n"))
        assert "$schema" not in spec and "://" not in found
        assert spec["usermeta"]["crowder"]["words"]


# --- what a browser makes of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "figure"), CHARTS)
def test_a_chart_takes_the_place_of_its_still_and_asks_nobody(chart, name, figure):
    page, box, trouble = chart(name, figure)
    page.wait_for_load_state("networkidle")
    assert trouble == []
    assert not box.locator("img").is_visible() and box.locator("img").get_attribute("alt")
    picture = box.locator(".interactive-chart")
    assert picture.get_attribute("role") == "img"
    assert picture.get_attribute("aria-label") == box.locator("img").get_attribute("alt")
    assert box.locator("figcaption").is_visible()
    # No menu that would lead to another host.
    assert page.locator(".vega-actions, .vega-embed summary").count() == 0


@pytest.mark.parametrize(("name", "figure"), CHARTS)
def test_every_control_has_a_visible_label(chart, name, figure):
    _, box, _ = chart(name, figure)
    controls = box.locator(".interactive-controls :is(input, select)")
    assert controls.count() >= 2
    for i in range(controls.count()):
        label = controls.nth(i).evaluate("e => e.labels[0] && e.labels[0].querySelector('.vega-bind-name').innerText")
        assert label and label.strip()
        height = controls.nth(i).bounding_box()["height"]
        assert height >= 24  # large enough for a finger


@pytest.mark.parametrize("figure", ["fig-watch-disney", "fig-watch-dozen"])
def test_a_run_is_walked_from_its_beginning_to_its_end_by_keyboard(chart, html, figure):
    page, box, trouble = chart(QUESTIONS, figure)
    words = box.locator(".interactive-words")
    assert words.get_attribute("aria-live") == "polite"
    # With the Tab key alone, from the top of the page.
    for _ in range(300):
        page.keyboard.press("Tab")
        if box.evaluate("e => e.contains(document.activeElement) && !!document.activeElement.name"):
            break
    assert focused(page) == "ordering"
    page.keyboard.press("Tab")
    assert focused(page) == "question"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    run = [row for row in rows(html, figure) if row["ordering"] == "edge ordering"]
    last = max(int(row["at"]) for row in run)
    said = set()
    for at in range(last + 1):
        for how in ("asked", "inferred"):
            want = sum(row["how"] == how and int(row["at"]) <= at for row in run)
            page.wait_for_function(
                "([f, how, n]) => document.querySelectorAll(`#${f} g[class*=' ${how}_'] line`).length === n",
                arg=[figure, how, want],
            )
        text = words.inner_text()
        settled = sum(row["how"] == "inferred" and int(row["at"]) == at for row in run)
        if at:
            assert text.startswith(f"Question {at} of {last}:")
            assert f"settles {settled or 'no'} more pair" in text
        assert text.endswith(f"open {sum(int(row['at']) > at for row in run)}.")
        said.add(text)
        page.keyboard.press("ArrowRight")
    assert len(said) == last + 1
    page.keyboard.press("Home")
    page.wait_for_function(f"document.querySelectorAll('#{figure} g[class*=\" asked_\"] line').length === 0")
    assert trouble == []


def test_another_order_is_chosen_and_stepped_by_buttons(chart):
    page, box, trouble = chart(QUESTIONS, "fig-watch-disney")
    words = box.locator(".interactive-words")
    box.locator("select[name=ordering]").focus()
    page.keyboard.press("End")
    page.wait_for_function("document.querySelector('#fig-watch-disney .interactive-words').innerText.includes('of 9')")
    box.get_by_role("button", name="Next").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert words.inner_text().startswith("Question 3 of 9:")
    assert box.locator("input[name=question]").input_value() == "3"
    assert drawn(box, "asked") == 3
    # All non-matches first: nothing is inferred.
    assert drawn(box, "inferred") == 0
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert words.inner_text().startswith("Question 2 of 9:")
    assert trouble == []


def test_the_explorer_says_what_its_data_say(chart, html):
    page, box, trouble = chart(EXPLORER, "fig-explorer")
    table = rows(html, "fig-explorer")
    words = box.locator(".interactive-words")
    slider = box.locator("input[name=epsilon]")

    def check(model, clusters, shape):
        epsilon = float(slider.input_value())
        (row,) = [
            r for r in table
            if (r["model"], r["clusters"], r["shape"]) == (model, clusters, shape) and float(r["epsilon"]) == epsilon
        ]  # fmt: skip
        text = words.inner_text()
        assert row["sizes"] in text and (model == "uniform" or f"ε = {epsilon:g}" in text)
        for name in ("edge, exact", "node, exact", "edge, bound that holds", "least possible"):
            assert f"{float(row[name]):,.0f}" in text
        return text

    models, shapes = (list(dict.fromkeys(r[name] for r in table)) for name in ("model", "shape"))
    first = table[0]["clusters"]
    said = [check(models[0], first, shapes[0])]
    slider.focus()
    for key in ("Home", "End"):
        page.keyboard.press(key)
        said.append(check(models[0], first, shapes[0]))
    for name, values in (("model", models), ("shape", shapes)):
        box.locator(f"select[name={name}]").focus()
        for _ in values[1:]:
            page.keyboard.press("ArrowDown")
            model, shape = (box.locator(f"select[name={n}]").input_value() for n in ("model", "shape"))
            said.append(check(model, first, shape))
    assert len(set(said)) == len(said)
    assert box.locator(".interactive-chart g[class*=' here_'] path").count() == 8
    assert trouble == []


@pytest.mark.parametrize(("name", "figure"), CHARTS)
def test_a_chart_fits_a_phone_and_turns_in_the_dark(chart, name, figure):
    page, box, _ = chart(name, figure, width=390, scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    svg = box.locator(".interactive-chart svg")
    assert svg.bounding_box()["width"] <= 390
    assert "invert(1)" in svg.evaluate("e => getComputedStyle(e).filter")
    # Letters of the chart as they come out on the screen.
    letters = svg.locator("text").evaluate_all(
        "all => all.filter(t => t.textContent).map(t => t.getBoundingClientRect().height)"
    )
    assert min(letters) >= 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [QUESTIONS, EXPLORER])
def test_nothing_serious_stands_in_the_way(chart, name, scheme):
    page, _, _ = chart(name, next(figure for page, figure in CHARTS if page == name), scheme=scheme)
    assert barriers(page) == []


def test_without_scripts_the_still_picture_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((html / f"{EXPLORER}.html").as_uri())
    assert page.locator("figure#fig-explorer img").is_visible()
    assert page.locator(".interactive").count() == 0
    context.close()
