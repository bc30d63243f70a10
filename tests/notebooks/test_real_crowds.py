"""How the chapter *Real crowds* counts and sums up runs, in its own cells, by hand."""

import numpy as np
import pandas as pd
import pytest

from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters
from crowder.crowds import Crowd

(CHAPTER,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "11-real-crowds")
#: The code of each cell; the last one asks for the numbers of the text.
SOURCES = {cell["id"]: cell["source"] for cell in numbers.asking(CHAPTER)["cells"] if cell["cell_type"] == "code"}


def cells(*names):
    """What these cells define after those with which the chapter begins."""
    known = {}
    for name in ("rc-parameters", "rc-imports", "rc-control", "rc-strategies", "rc-replay", *names):
        exec(SOURCES[name], known)
    return known


def test_a_course_counts_every_vote():
    """Two entities, {0, 2} and {1, 3}; of (0, 2) two of three votes are wrong, of (2, 3) there are two."""
    votes = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, np.nan]]
    four = Crowd("four", [0.3, 0.9, 0.2, 0.1, 0.8, 1.0], [0, 1, 0, 1], votes=votes)
    found = cells()["course"](four, 3, "edge", 1)
    # Asked about in turn: (2, 3), (0, 2), (1, 3), ...; one of two matching pairs is denied.
    assert found["answers"].tolist()[:4] == [0, 3, 6, 9] and (found["answers"].diff()[1:] == 3).all()
    assert found["recall"].tolist()[:4] == [0, 0, 0, 0.5] and found.iloc[-1]["F1"] == pytest.approx(2 / 3)
    assert cells()["course"](four, 1, "edge", 1)["recall"].tolist()[:4] == [0, 0, 0.5, 1]


def test_summaries_and_mean_curves():
    known = cells("rc-summary", "rc-mean-curve")
    run = pd.DataFrame({"answers": [0, 10, 30, 60], "F1": [0, 0.96, 0.5, 1]}).assign(recall=1, precision=[1, 1, 1, 0.5])
    end = known["summary"](run, 40)
    assert (end["answers"], end["F1"], end["until"]) == (60, 1, 60)  # it did not stay where it was after ten
    assert end["area"] == pytest.approx((10 * 0 + 20 * 0.96 + 10 * 0.5) / 40)
    assert known["summary"](run[:3], 20)["until"] == np.inf
    longer = pd.DataFrame({"answers": [0, 1000], "F1": [0, 0.8], "recall": 1, "precision": 1})
    curve = known["mean_curve"]([run, longer])
    assert curve["answers"].iloc[[0, 1, -1]].tolist() == [0, 10, 1000] and curve["F1"].iloc[-1] == 0.9
    assert curve.query("30 <= answers < 60")["F1"].unique().tolist() == [0.25]
