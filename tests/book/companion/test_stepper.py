"""The chart that steps through runs: its data, settings and sentences."""

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import vl_convert

import book.companion.results
import crowder as cr
from book.build.to_myst import to_myst
from book.companion import figures
from book.companion.charts import replay, stepper
from book.companion.figures import GREEN, RED


@pytest.fixture(scope="module")
def runs():
    disney = cr.datasets.disney()
    crowd = cr.Truth(disney.labels)
    apart_first = [(i, j) for i in range(3) for j in (3, 4)] + [(0, 1), (1, 2), (3, 4)]
    return {
        "edge ordering": cr.edge_ordering(disney.similarity, crowd, rng=7),
        "non-matches first": cr.Resolution(apart_first, [crowd(*pair) for pair in apart_first], disney.labels),
    }


@pytest.fixture(scope="module")
def replays(runs):
    return {name: replay.steps(run) for name, run in runs.items()}


NAMES = ["r1", "r2", "r3", "r4", "r5"]


def data(spec, field):
    """The table of a specification that has this field."""
    (found,) = [rows for rows in spec["datasets"].values() if field in rows[0]]
    return found


def test_the_frame_holds_every_pair_of_every_run(runs, replays):
    table = stepper.frame(replays)
    assert table.groupby("ordering", sort=False).size().to_dict() == dict.fromkeys(runs, 10)
    for name, run in runs.items():
        own = table[(table.ordering == name) & (table.how == "asked")]
        assert own["at"].tolist() == list(range(1, run.n_queries + 1))
        assert [sorted(pair) for pair in run.queries.tolist()] == own[["a", "b"]].values.tolist()


def test_the_chart_draws_each_pair_between_its_records(replays):
    chart = stepper.chart(replays, NAMES)
    spec = chart.to_dict()
    places = {row["name"]: (row["x"], row["y"]) for row in data(spec, "name")}
    assert list(places) == NAMES
    # On a circle, evenly, the first on top.
    assert np.allclose([x * x + y * y for x, y in places.values()], 1, atol=1e-3) and places["r1"] == (0, 1)
    lines = data(spec, "x2")
    table = stepper.frame(replays)
    assert len(lines) == len(table) == 20
    for line, row in zip(lines, table.to_dict("records"), strict=True):
        assert ((line["x"], line["y"]), (line["x2"], line["y2"])) == (places[NAMES[row["a"]]], places[NAMES[row["b"]]])
        assert (line["ordering"], line["at"], line["how"]) == (row["ordering"], row["at"], row["how"])
        assert line["kind"] == f"{row['how']}: {'match' if row['same'] else 'no match'}"


def test_the_kinds_of_lines_differ_by_more_than_colour(replays):
    looks = {kind: tuple(dash) for kind, _, dash in stepper.KINDS.values()}
    assert len(set(looks.values())) == 3 and looks["asked: match"] == looks["inferred: match"]
    # These two differ in width: the widths fall from the first kind to the last, which is Vega-Lite's doing.
    spec = stepper.chart(replays, NAMES).to_dict()
    spec["params"] = [{"name": "ordering", "value": "edge ordering"}, {"name": "question", "value": 4}]
    drawn = re.findall("<line[^>]*>", vl_convert.vegalite_to_svg(spec))
    lines = [line for line in drawn if GREEN in line or RED in line]
    found = Counter(float(re.search(r'stroke-width="([\d.]+)"', line)[1]) for line in lines)
    # Asked: three matches and a non-match; inferred: a match and five non-matches.
    widths = np.linspace(*stepper.WIDTHS, 4)
    assert sorted(found) == pytest.approx(sorted(widths)) and [found[w] for w in sorted(found)] == [5, 1, 1, 3]


def test_the_records_of_a_known_cluster_have_one_colour(replays):
    chart = stepper.chart(replays, NAMES)
    rows = data(chart.to_dict(), "tint")
    for name, found in replays.items():
        for at in range(10):
            now = [row for row in rows if row["ordering"] == name and row["from"] <= at <= row["to"]]
            assert [row["record"] for row in now] == list(range(5))
            step = found[min(at, len(found) - 1)]
            for part in step.components:
                inside = {now[record]["tint"] for record in part}
                outside = {row["tint"] for row in now if row["record"] not in part}
                assert inside == {stepper.SINGLE} if len(part) == 1 else len(inside) == 1 and not inside & outside


def test_the_largest_part_keeps_its_colour():
    # 0-1-2 grow first, 3-4 apart; then they merge.
    run = cr.Resolution([[0, 1], [3, 4], [1, 2], [2, 3]], [True] * 4, [0] * 5)
    first, second = stepper.TINTS[:2]
    assert stepper.tints(replay.steps(run))[2:] == [
        [first, first, "white", second, second], [first] * 3 + [second] * 2, [first] * 5,
    ]  # fmt: skip


def test_the_controls_reach_from_before_the_first_to_the_last_question_of_the_longest(runs, replays):
    chart, words = stepper.chart(replays, NAMES), stepper.sentences(replays, NAMES)
    params = {entry["name"]: entry for entry in chart.to_dict()["params"]}
    assert params["ordering"]["bind"]["options"] == list(runs) and params["ordering"]["value"] == "edge ordering"
    assert (params["question"]["bind"]["min"], params["question"]["bind"]["max"]) == (0, 9)
    assert {name: list(texts) for name, texts in words.items()} == {name: [*map(str, range(10))] for name in runs}
    found = replays["non-matches first"]
    assert words["non-matches first"]["7"] == replay.words(found, 7, NAMES)
    assert words["edge ordering"]["8"].startswith("Done after question 4.")


def test_progress_is_the_number_of_settled_pairs(runs, replays):
    chart = stepper.chart(replays, NAMES)
    rows = data(chart.to_dict(), "pairs")
    for name in runs:
        table = stepper.frame({name: replays[name]})
        for row in (row for row in rows if row["run"] == name):
            assert row["pairs"] == (table["at"] <= row["q"]).sum()


# --- on the page ----------------------------------------------------------------------------------------------------


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


def show(runs, name="fig-k", question=2):
    stepper.show(runs, ["</script>", *NAMES[1:]], name, caption="Steps.", alt="A circle.", question=question)


def test_a_chart_is_saved_as_a_still_with_its_data(runs, replays, results, displayed):
    show(runs)
    assert {p.name for p in results.iterdir()} == {f"fig-k.{s}" for s in ("svg", "png", "csv", "json")}
    pd.testing.assert_frame_equal(pd.read_csv(results / "fig-k.csv"), stepper.frame(replays))
    record = json.loads((results / "fig-k.json").read_text())
    assert record == {"kind": "interactive", "name": "fig-k", "caption": "Steps.", "alt": "A circle."}
    assert (results / "fig-k.png").read_bytes().startswith(b"\x89PNG")
    [(bundle, facts)] = displayed
    assert bundle["text/plain"] == "[interactive fig-k: A circle.]" and facts["kind"] == "interactive"
    settings = bundle[stepper.VEGALITE]["usermeta"]["crowder"]
    assert settings["by"] == ["ordering", "question"] and settings["step"] == "question"


def test_the_still_shows_the_question_that_is_asked_for_and_is_the_same_file_again(runs, results, displayed):
    for name, question in (("fig-two", 2), ("fig-four", 4), ("fig-again", 4)):
        show(runs, name, question)
    two, four = ((results / f"fig-{name}.svg").read_text() for name in ("two", "four"))
    assert two.count("<line") < four.count("<line")
    for suffix in ("svg", "png"):
        assert (results / f"fig-four.{suffix}").read_bytes() == (results / f"fig-again.{suffix}").read_bytes()


def test_the_page_gets_a_figure_and_behind_it_the_chart(runs, displayed):
    show(runs)
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
    assert spec["figure"] == "fig-k" and "</script>" in spec["usermeta"]["crowder"]["words"]["edge ordering"]["4"]


def test_the_libraries_are_one_file_that_names_nothing_of_its_own(tmp_path):
    from book.sphinx_ext.interactive import bundle  # book/sphinx_ext/interactive.py

    bundle(tmp_path / "vega-embed.js")
    text = (tmp_path / "vega-embed.js").read_text()
    assert text.startswith("(function () {") and text.endswith("})();\n")
    assert "window.vegaEmbed=" in text and "import " not in text[:1000] and len(text) > 500_000
