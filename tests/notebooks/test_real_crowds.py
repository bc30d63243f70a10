"""The strategies of the chapter *Real crowds*, in its own cells: what they end with, and what is recorded of them."""

import numpy as np
import pandas as pd
import pytest
from nightly import NIGHTLY
from scipy import stats

from book.companion.recording import FOLDER
from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters
from crowder.datasets import Crowd

(CHAPTER,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "11-real-crowds")
#: The code of each cell; the last one asks for the numbers of the text.
SOURCES = {cell["id"]: cell["source"] for cell in numbers.asking(CHAPTER)["cells"] if cell["cell_type"] == "code"}


def cells(*names, **parameters):
    """What these cells define after those with which the chapter begins; the parameters count in later calls."""
    known = {}
    for name in ("rc-parameters", "rc-imports", "rc-control", "rc-strategies", "rc-replay", *names):
        exec(SOURCES[name], known)
    known.update(parameters)
    return known


def is_recorded(found, name, **which):
    """Whether these are the recorded rows in which columns have one of some values."""
    table = pd.read_csv(FOLDER / f"{name}.csv")
    known = table[np.logical_and.reduce([table[column].isin(values) for column, values in which.items()])]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), known.reset_index(drop=True), check_dtype=False)


def test_a_course_counts_every_vote():
    """Two entities, {0, 2} and {1, 3}; of (0, 2) two of three votes are wrong, of (2, 3) there are two."""
    votes = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, np.nan]]
    four = Crowd("four", [0.3, 0.9, 0.2, 0.1, 0.8, 1.0], [0, 1, 0, 1], votes=votes)
    found = cells()["course"](four, 3, "edge", 1)
    # Asked about in turn: (2, 3), (0, 2), (1, 3), ...; one of two matching pairs is denied.
    assert found["answers"].tolist()[:4] == [0, 3, 6, 9] and (found["answers"].diff()[1:] == 3).all()
    assert found["recall"].tolist()[:4] == [0, 0, 0, 0.5] and found.iloc[-1]["F1"] == pytest.approx(2 / 3)
    assert cells()["course"](four, 1, "edge", 1)["recall"].tolist()[:4] == [0, 0, 0.5, 1]


def test_with_true_answers_every_strategy_ends_at_the_truth():
    """Twelve records in three entities, and similarities that say a little."""
    known, labels = cells(), np.repeat([0, 1, 2], 4)
    same = (labels[:, None] == labels)[np.triu_indices(12, 1)]
    similarity = np.where(same, 0.6, 0.4) + np.random.default_rng(1).uniform(-0.3, 0.3, len(same))
    twelve = Crowd("twelve", similarity, labels, votes=same[:, None])
    for strategy in (*known["ORDERINGS"], *known["OTHERS"]):
        found = known["course"](twelve, 1, strategy, 1)
        assert found.iloc[0].tolist() == [0, 0.0, 1.0, 0.0], strategy  # nothing paid for, nothing joined
        assert found["F1"].iloc[-1] == 1.0 and found["answers"].is_monotonic_increasing, strategy


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


def test_the_crowd_of_cora_errs_at_the_rates_given():
    crowd = cells("rc-sample")["erring"]("these", (0.1, 0.02))
    for match, rate in ((True, 0.1), (False, 0.02)):
        votes = crowd.votes[crowd.matching == match, 0]
        assert stats.binomtest(int((votes != match).sum()), len(votes), rate).pvalue > 0.001


# --- where the files of real crowds are -------------------------------------------------------------------------------


def test_the_runs_that_are_recorded_are_those_of_the_chapter(crowds_path):
    """One order of ties on the smallest crowd; by night on all."""
    real = ["gym", "allsports", "landmarks"] if NIGHTLY else ["gym"]
    runs = ("rc-counted", "rc-course", "rc-plan", "rc-courses", "rc-summary", "rc-runs")
    known = cells(*runs, crowds=str(crowds_path), real=real, ties=1, n_jobs=1)
    names = [*real, *(f"{name}, perfect crowd" for name in real)]
    is_recorded(known["ends_of"](known["courses"]()), "crowd-runs", crowd=names, rng=[1])


def test_the_rates_that_are_recorded_are_those_of_the_files(crowds_path):
    own = ("where", "counted", "fitted", "settled", "rates", "votes", "votes-all")
    known = cells(*(f"rc-{name}" for name in own), crowds=str(crowds_path), n_jobs=1, ties=1)
    is_recorded(known["similar_errors"](["gym"], 5), "crowd-similar", crowd=["gym"])
    is_recorded(known["all_votes_wrong"](["gym", "allsports"]), "crowd-votes", crowd=["gym", "allsports"])
    counted = known["rates_of"](["gym"], 1).query("how in ['counted', 'model of looks']")
    is_recorded(counted, "crowd-rates", crowd=["gym"], how=["counted", "model of looks"])


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_the_chapter_runs_on_another_crowd(crowds_path, tmp_path):
    """Under another name, with one vote a pair, and with a few answers on cora."""
    folder = tmp_path / "other"
    folder.mkdir()
    for name, text in ((path.name, path.read_text()) for path in (crowds_path / "gym").iterdir()):
        lines = [",".join(line.split(",")[:3]) + "\n" for line in text.splitlines()]
        (folder / name).write_text("".join(lines) if name == "answers.txt" else text)
    known = {}
    for name, source in SOURCES.items():
        exec(source, known)
        if name == "rc-parameters":
            known |= dict.fromkeys(("ties", "cora_runs", "n_jobs"), 1)
            known |= {"crowds": str(tmp_path), "real": ["other"]}
        if name == "rc-cora":
            known["BUDGET"] = 100
    assert known["compared"].loc["other"].notna().all() and len(known["wrong"]) == 0
    assert known["runs"].basis == "simulated"
