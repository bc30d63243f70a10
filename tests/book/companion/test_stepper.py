"""The chart that steps through runs: its data, what the page draws, and its still picture."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import book.companion.results
import crowder as cr
from book.companion import figures
from book.companion.charts import replay, stepper
from book.text.plain import Page
from book.text.to_myst import to_myst


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


def test_records_have_one_tint_where_they_are_known_to_be_one(runs, replays):
    """Pairs and sentences are read on the page, in test_charts."""
    given = stepper.settings(replays, NAMES)
    assert given["names"] == NAMES and list(given["runs"]) == list(runs)
    for name, run in given["runs"].items():
        for step, tints in zip(replays[name], run["tints"], strict=True):
            for part in step.components:
                inside, outside = {tints[r] for r in part}, {tints[r] for r in range(5) if r not in part}
                assert inside == {stepper.SINGLE} if len(part) == 1 else len(inside) == 1 and not inside & outside


def test_with_texts_each_question_is_asked_in_words(replays):
    assert "texts" not in stepper.settings(replays, NAMES)
    similarity = np.full((5, 5), 0.25)
    given = stepper.settings(replays, NAMES, similarity, ["A", "B", "C", "D", "E"], "One place?")
    assert given["texts"] == ["A", "B", "C", "D", "E"]
    run = given["runs"]["non-matches first"]
    assert run["said"][:2] == ["No question yet.", "One place? Similarity 0.25. No. This settles no more pairs."]
    assert run["words"][1].startswith("Question 1 of 9: r1 (A) and r4 (D), similarity 0.25? No.")
    assert len(run["said"]) == len(run["words"]) == 10


# --- on the page ----------------------------------------------------------------------------------------------------


def test_a_chart_is_a_still_picture_of_one_question_and_behind_it_its_settings(runs, replays, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path))
    monkeypatch.setattr(figures, "_shown", set())
    monkeypatch.setattr(book.companion.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    figures.use_style()
    for name, question in (("fig-two", 2), ("fig-four", 4)):
        stepper.show(runs, ["</script>", *NAMES[1:]], name, caption="Steps.", alt="A circle.", question=question)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "fig-two.csv"), stepper.frame(replays))
    assert (tmp_path / "fig-two.svg").read_bytes() != (tmp_path / "fig-four.svg").read_bytes()
    (bundle, facts) = seen[2]  # after the figure and its caption
    output = {"output_type": "display_data", "data": bundle, "metadata": {"crowder": facts}}
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": "show()", "outputs": [output]}
    page = to_myst({"cells": [cell]}, Page(Path("notebooks/01-one.ipynb"), {}), "/files")
    text = page["cells"][0]["outputs"][0]["data"]["text/markdown"]
    _, _, script = text.partition('<script type="application/json" class="stepper-settings" data-figure="fig-two">')
    given, _, after = script.partition("</script>")  # which no words end
    assert after.startswith('<script src="../_static/stepper.js"></script>')
    given = json.loads(given)
    assert given["at"] == 2
    assert given["names"][0] == "</script>" and np.shape(given["runs"]["edge ordering"]["pairs"]) == (10, 5)
