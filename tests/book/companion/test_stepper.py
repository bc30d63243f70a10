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
