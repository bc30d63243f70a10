"""Interactive charts: what is saved, displayed and rejected, and what reaches the page."""

import copy
import json

import pandas as pd
import pytest

import book.companion.results
from book.companion import figures, interactive
from book.companion.interactive import VEGALITE, Words

FRAME = pd.DataFrame({"x": [1, 2], "y": [1 / 3, 2.0]})
SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "data": {"values": [{"x": 1, "k": 1}, {"x": 2, "k": 2}, {"x": 3, "k": 2}]},
    "transform": [{"filter": "datum.k == k"}],
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative", "axis": None}},
    "params": [{"name": "k", "value": 1, "bind": {"input": "range", "min": 1, "max": 2, "step": 1}}],
}
WORDS = Words(["k"], {(1,): "One point.", (2,): "Two </script> points."})


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(figures, "_shown", set())
    return tmp_path / "results"


@pytest.fixture
def displayed(monkeypatch):
    seen = []
    monkeypatch.setattr(book.companion.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    return seen


def show(name="fig-k", **changes):
    given = {"caption": "Some k.", "alt": "Points.", "data": FRAME, "words": WORDS, "step": "k"}
    interactive.show(SPEC, name, **(given | changes))


def test_a_chart_is_saved_as_a_still_with_its_data(results, displayed):
    before = copy.deepcopy(SPEC)
    show(parameters={"seed": 7})
    assert before == SPEC
    assert {p.name for p in results.iterdir()} == {f"fig-k.{s}" for s in ("svg", "png", "csv", "json")}
    pd.testing.assert_frame_equal(pd.read_csv(results / "fig-k.csv"), FRAME, check_exact=True)
    record = json.loads((results / "fig-k.json").read_text())
    assert record == {
        "kind": "interactive", "name": "fig-k", "caption": "Some k.", "alt": "Points.", "parameters": {"seed": 7},
    }  # fmt: skip
    assert (results / "fig-k.png").read_bytes().startswith(b"\x89PNG")
    [(bundle, facts)] = displayed
    assert bundle["text/plain"] == "[interactive fig-k: Points.]" and facts["kind"] == "interactive"
    assert bundle[VEGALITE]["usermeta"]["crowder"] == {
        "by": ["k"], "words": {"1": "One point.", "2": "Two </script> points."}, "step": "k",
    }  # fmt: skip


def test_the_still_shows_the_setting_that_is_asked_for(results, displayed):
    show("fig-one")
    show("fig-two", still={"k": 2})
    one, two = ((results / f"fig-{name}.svg").read_text() for name in ("one", "two"))
    # One mark for each point of the chosen k.
    assert two.count("<path") - one.count("<path") == 1


def test_the_same_chart_is_the_same_file(results, displayed):
    show("fig-one")
    show("fig-two")
    for suffix in ("svg", "png"):
        assert (results / f"fig-one.{suffix}").read_bytes() == (results / f"fig-two.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"caption": " "}, "caption is empty"),
        ({"alt": ""}, "alt is empty"),
        ({"data": FRAME.iloc[:0]}, "data is empty"),
        ({"step": "q"}, "no parameter 'q' is bound"),
        ({"still": {"q": 1}}, "no parameter 'q' is bound"),
        ({"words": Words(["q"], {(1,): "One."})}, "no parameter 'q' is bound"),
        ({"name": "k"}, "expected 'fig-'"),
    ],
)
def test_what_is_missing_is_refused(displayed, changes, message):
    with pytest.raises(ValueError, match=message):
        show(**changes)
    assert not displayed


def test_words_are_needed_for_every_setting():
    with pytest.raises(ValueError, match=r"no words for \{'a': 1, 'b': 'y'\}"):
        Words(["a", "b"], {(1, "x"): "1x", (2, "x"): "2x", (2, "y"): "2y"})
    with pytest.raises(ValueError, match="no words for"):
        Words(["a"], {(1,): " "})


def test_words_are_looked_up_by_the_text_that_a_script_makes_of_a_number():
    # JavaScript writes 1 for 1.0, 0.1 for 0.1, and 0.30000000000000004 for what is not rounded.
    words = Words(["e"], {(1.0,): "a", (0.1,): "b", (round(3 * 0.1, 9),): "c", (12,): "d"})
    assert words.nested() == {"1": "a", "0.1": "b", "0.3": "c", "12": "d"}


def test_the_page_gets_a_figure_and_behind_it_the_chart(displayed):
    from book.build.to_myst import to_myst

    show()
    [(bundle, facts)] = displayed
    output = {"output_type": "display_data", "data": bundle, "metadata": {"crowder": facts}}
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [output]}
    page = to_myst({"cells": [cell]}, "01-one", "results/01-one")
    text = page["cells"][0]["outputs"][0]["data"]["text/markdown"]
    assert "{figure} /results/01-one/fig-k.svg" in text and "fig-k.csv" in text
    _, _, script = text.partition('<script type="application/json" class="interactive-spec">')
    # The words cannot end the script; no host is named.
    assert script.count("</script>") == 1 and "://" not in script
    spec = json.loads(script.partition("</script>")[0])
    assert spec["figure"] == "fig-k" and spec["usermeta"]["crowder"]["words"]["2"] == "Two </script> points."


def test_the_libraries_are_one_file_that_names_nothing_of_its_own(tmp_path):
    from book.sphinx_ext.interactive import bundle  # book/sphinx_ext/interactive.py

    bundle(tmp_path / "vega-embed.js")
    text = (tmp_path / "vega-embed.js").read_text()
    assert text.startswith("(function () {") and text.endswith("})();\n")
    assert "window.vegaEmbed=" in text and "import " not in text[:1000] and len(text) > 500_000
