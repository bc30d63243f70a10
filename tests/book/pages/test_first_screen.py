"""A chapter opens with its result: the first paragraph and the first figure stand within one screen, 1280 by 900."""

from pathlib import Path

import pytest
import yaml

from book.reports.reading_time import STORY

ROOT = Path(__file__).resolve().parents[3]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
#: The last part also has pages that are no chapters.
CHAPTERS = [
    chapter["file"]
    for part in TOC["parts"]
    if part.get("caption") in STORY
    for chapter in part["chapters"]
    if chapter["file"].startswith("notebooks/")
]

HEIGHT = 900
#: Of the height of the figure, without its caption.
SEEN = 0.6

PLACES = """() => {
    const box = e => { const r = e.getBoundingClientRect(); return {top: r.top, bottom: r.bottom, height: r.height}; };
    const seen = e => e.offsetParent !== null && e.getBoundingClientRect().height > 40;
    const paragraphs = 'article h1 ~ p, article h1 ~ section > p';
    const figures = 'article :is(img.drawn, .interactive, .interactive-chart, figure svg)';
    const words = [...document.querySelectorAll(paragraphs)].find(e => e.innerText.length > 60);
    const figure = [...document.querySelectorAll(figures)].find(seen);
    return {words: words ? box(words) : null, figure: figure ? box(figure) : null};
}"""


def seen(place: dict | None, height: int = HEIGHT) -> float:
    """The share of an element's height that is on the first screen."""
    if place is None or place["height"] <= 0:
        return 0.0
    return max(0.0, min(place["bottom"], height) - max(place["top"], 0)) / place["height"]


def test_the_share_that_is_seen():
    assert seen({"top": 800, "bottom": 1000, "height": 200}) == 0.5
    assert seen({"top": 900, "bottom": 1000, "height": 100}) == 0 == seen(None)


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_result_and_its_figure_are_on_the_first_screen(visit, name):
    page, _ = visit(name)
    page.wait_for_load_state("load")
    places = page.evaluate(PLACES)
    assert seen(places["words"]) == 1, places
    assert seen(places["figure"]) >= SEEN, places
