"""The chart that steps through runs: its data, settings and sentences."""

import re
from collections import Counter

import numpy as np
import pytest
import vl_convert

import crowder as cr
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


NAMES = ["r1", "r2", "r3", "r4", "r5"]


def data(spec, field):
    """The table of a specification that has this field."""
    (found,) = [rows for rows in spec["datasets"].values() if field in rows[0]]
    return found


def test_the_frame_holds_every_pair_of_every_run(runs):
    table = stepper.frame(runs)
    assert table.groupby("ordering", sort=False).size().to_dict() == dict.fromkeys(runs, 10)
    for name, run in runs.items():
        own = table[(table.ordering == name) & (table.how == "asked")]
        assert own["at"].tolist() == list(range(1, run.n_queries + 1))
        assert [sorted(pair) for pair in run.queries.tolist()] == own[["a", "b"]].values.tolist()


def test_the_chart_draws_each_pair_between_its_records(runs):
    chart, _ = stepper.stepper(runs, NAMES)
    spec = chart.to_dict()
    places = {row["name"]: (row["x"], row["y"]) for row in data(spec, "name")}
    assert list(places) == NAMES
    # On a circle, evenly, the first on top.
    assert np.allclose([x * x + y * y for x, y in places.values()], 1, atol=1e-3) and places["r1"] == (0, 1)
    lines = data(spec, "x2")
    table = stepper.frame(runs)
    assert len(lines) == len(table) == 20
    for line, row in zip(lines, table.to_dict("records"), strict=True):
        assert ((line["x"], line["y"]), (line["x2"], line["y2"])) == (places[NAMES[row["a"]]], places[NAMES[row["b"]]])
        assert (line["ordering"], line["at"], line["how"]) == (row["ordering"], row["at"], row["how"])
        assert line["kind"] == f"{row['how']}: {'match' if row['same'] else 'no match'}"


def test_the_kinds_of_lines_differ_by_more_than_colour(runs):
    looks = {kind: tuple(dash) for kind, _, dash in stepper.KINDS.values()}
    assert len(set(looks.values())) == 3 and looks["asked: match"] == looks["inferred: match"]
    # These two differ in width: the widths fall from the first kind to the last, which is Vega-Lite's doing.
    spec = stepper.stepper(runs, NAMES)[0].to_dict()
    spec["params"] = [{"name": "ordering", "value": "edge ordering"}, {"name": "question", "value": 4}]
    drawn = re.findall("<line[^>]*>", vl_convert.vegalite_to_svg(spec))
    lines = [line for line in drawn if GREEN in line or RED in line]
    found = Counter(float(re.search(r'stroke-width="([\d.]+)"', line)[1]) for line in lines)
    # Asked: three matches and a non-match; inferred: a match and five non-matches.
    widths = np.linspace(*stepper.WIDTHS, 4)
    assert sorted(found) == pytest.approx(sorted(widths)) and [found[w] for w in sorted(found)] == [5, 1, 1, 3]


def test_the_records_of_a_known_cluster_have_one_colour(runs):
    chart, _ = stepper.stepper(runs, NAMES)
    rows = data(chart.to_dict(), "tint")
    for name, run in runs.items():
        found = replay.steps(run)
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


def test_the_controls_reach_from_before_the_first_to_the_last_question_of_the_longest(runs):
    chart, words = stepper.stepper(runs, NAMES)
    params = {entry["name"]: entry for entry in chart.to_dict()["params"]}
    assert params["ordering"]["bind"]["options"] == list(runs) and params["ordering"]["value"] == "edge ordering"
    assert (params["question"]["bind"]["min"], params["question"]["bind"]["max"]) == (0, 9)
    assert set(words.texts) == {(name, at) for name in runs for at in range(10)}
    found = replay.steps(runs["non-matches first"])
    assert words.texts["non-matches first", 7] == replay.words(found, 7, NAMES)
    assert words.texts["edge ordering", 8].startswith("Done after question 4.")


def test_progress_is_the_number_of_settled_pairs(runs):
    chart, _ = stepper.stepper(runs, NAMES)
    rows = data(chart.to_dict(), "pairs")
    for name in runs:
        table = stepper.frame({name: runs[name]})
        for row in (row for row in rows if row["run"] == name):
            assert row["pairs"] == (table["at"] <= row["q"]).sum()


def test_names_must_be_as_many_as_records(runs):
    with pytest.raises(ValueError, match="4 records"):
        stepper.stepper(runs, NAMES[:4])
