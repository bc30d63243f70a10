"""Figures and tables: what is displayed, saved and rejected."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import book.companion.results
from book.companion import figures
from book.companion.charts import slider

FRAME = pd.DataFrame({"x": [0.1, 0.2], "y": [1 / 3, 2.0]})


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A build in progress, whose results land in a fresh folder."""
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path / "results"))
    yield tmp_path / "results"
    plt.close("all")


@pytest.fixture
def displayed(monkeypatch):
    """What reaches the notebook, as (bundle, metadata) pairs."""
    seen = []
    monkeypatch.setattr(book.companion.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    return seen


def draw():
    figures.use_style()
    fig, ax = plt.subplots()
    ax.plot(FRAME.x, FRAME.y, **figures.MATCH.line, label="match")
    ax.scatter(FRAME.x, FRAME.y, color=figures.RED, marker="s")
    ax.fill_between(FRAME.x, FRAME.y, **figures.NONMATCH.fill)
    ax.legend()
    return fig


def show(name="fig-line", **changes):
    figures.show(draw(), name, **({"caption": "A line.", "alt": "A line rises.", "data": FRAME} | changes))


def test_a_figure_without_its_texts_is_refused_and_leaves_nothing(results, displayed):
    for text in ("alt", "caption"):
        with pytest.raises(ValueError, match=f"fig-line: {text} is empty"):
            show(**{text: "  "})
    assert not displayed and not results.exists()


def test_a_caption_says_that_its_data_were_recorded(results, displayed):
    data = FRAME.copy()
    data.attrs["basis"] = "recorded"
    for draws in (partial(show, data=data.query("x < 1")), partial(figures.table, data, "tab-one", caption="A line.")):
        with pytest.raises(ValueError, match="the caption must say that the data were recorded"):
            draws()
        draws(caption="A line. Recorded on 2026-11-28.")


def test_the_svg_is_transparent_and_the_png_opaque_and_both_are_the_same_each_time(results, displayed):
    """A dark theme would hide dark text on a transparent picture; software and date would differ between builds."""
    show("fig-one")
    show("fig-two")
    one, two = (bundle["image/png"] for bundle, facts in displayed if facts["kind"] == "figure")
    assert one == two
    svg = (results / "fig-one.svg").read_text()
    assert svg == (results / "fig-two.svg").read_text() and "<dc:date>" not in svg and "Matplotlib v" not in svg
    assert not re.search(r'id="patch_1">\s*<path[^>]*fill: #ffffff', svg)
    picture = Image.open(io.BytesIO(base64.b64decode(one)))
    assert picture.info.keys() == {"dpi"}
    pixels = np.asarray(picture.convert("RGBA"))
    assert (pixels[..., 3] == 255).all() and (pixels[0, :, :3] == 255).all()
    # As wide as a figure may be, 4.9 inches, with 110 pixels each; the tight frame takes or adds a little.
    assert picture.width == pytest.approx(4.9 * 110, rel=0.05)


def test_the_lean_svg_has_every_element_at_its_place():
    """Nothing goes but the metadata, and no point moves by more than half a hundredth."""
    figures.use_style()
    fig, ax = plt.subplots()
    x = np.linspace(0, 1, 50)
    ax.plot(x, np.sin(20 * x) / 3, **figures.MATCH.line)
    ax.plot(x[::5], x[::5] ** 3, **figures.NONMATCH.points)
    ax.set_title("−0.004 and 1/3")
    full = figures._as_svg(fig)
    before, after = (ET.fromstring(text) for text in (full, figures._lean(full)))
    before.remove(next(part for part in before if part.tag.endswith("metadata")))
    pairs = list(zip(before.iter(), after.iter(), strict=True))
    assert len(pairs) > 100
    moved = []
    for old, new in pairs:
        assert old.tag == new.tag and old.keys() == new.keys()
        for key in old.keys():
            numbers = [re.findall(r"-?\d+(?:\.\d+)?", part.get(key)) for part in (old, new)]
            moved += [abs(float(a) - float(b)) for a, b in zip(*numbers, strict=True)]
    assert 0 < max(moved) <= 0.005 + 1e-9
    assert len(figures._lean(full)) < 0.9 * len(full)


def test_a_table_keeps_its_index_and_may_print_other_cells(results, displayed):
    frame = pd.DataFrame({"mean": [1.25]}, index=pd.Index([5], name="k"))
    figures.table(frame, "tab-k", caption="K.", shown=pd.DataFrame({"mean": ["1.25 ± 0.01"]}))
    assert (results / "tab-k.csv").read_text() == "k,mean\n5,1.25\n"
    assert "1.25 ± 0.01" in displayed[1][0]["text/markdown"]


def test_a_caption_has_the_number_of_the_page_and_links_lead_to_the_top(displayed, monkeypatch):
    """Numbers are those of the chapter's cells, whichever of them are run; others than the chapter's have none."""
    monkeypatch.setattr(book.companion.results, "NUMBERED", {})
    book.companion.results.count("3", ['table(f, "tab-a")', 'figure(g, "fig-a")  # "fig-a"', 'figure(h, "fig-line")'])
    show()
    show("fig-mine")
    texts = [bundle["text/markdown"] for bundle, facts in displayed if facts["kind"] == "caption"]
    assert texts == ['<a id="fig-line"></a>', "**Figure 3.2.** A line.", '<a id="fig-mine"></a>', "A line."]


def test_a_notebook_shows_all_pictures_of_a_slider(displayed):
    """Two columns of one size, so three pictures need two rows, and are twice as high as two."""
    heights = []
    for sizes in ((1, 2), (1, 2, 3)):
        states = {size: (draw(), f"It is {size}.") for size in sizes}
        slider.show(states, "fig-states", label="size", at=2, caption="Sizes.", alt="A line.", data=FRAME)
        png = next(bundle["image/png"] for bundle, facts in displayed[::-1] if facts["kind"] == "figure")
        heights.append(Image.open(io.BytesIO(base64.b64decode(png))).height)
    assert heights[1] == pytest.approx(2 * heights[0], rel=0.05)
