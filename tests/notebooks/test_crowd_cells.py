"""What two chapters compute of crowds, by their own cells: of six records here, and of gym where its files are."""

from types import SimpleNamespace

import pandas as pd
import pytest

import crowder as cr
from book.companion.recording import FOLDER
from book.project import ROOT
from book.text.chapters import read_chapters

CHAPTERS = {chapter.slug: chapter for chapter in read_chapters(ROOT)}
REPLAYS = ("which-imports", "which-cora", "which-curve", "which-replays")


def run(slug, *cells, **given):
    """The names that these cells of a chapter make."""
    names = CHAPTERS[slug].defaults() | given
    sources = {cell["id"]: cell["source"] for cell in CHAPTERS[slug].notebook()["cells"]}
    for cell in cells:
        exec(sources[cell], names)  # noqa: S102 - the book's own code
    return names


@pytest.fixture
def audits(tmp_path):
    return run("13-stopping", "imports", "au-cost", "au-means", crowds=str(tmp_path))


@pytest.fixture
def replays(tmp_path):
    return run("15-which-ordering", *REPLAYS, crowds=str(tmp_path))


@pytest.fixture
def six(tmp_path):
    """Two entities of three records, similarities that tell them apart, and five votes, of which the first is wrong."""
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    lines = {
        "gold": [f"{i} {i // 3}" for i in range(6)],
        "graph": [f"{i} {j} {0.9 if i // 3 == j // 3 else 0.1}" for i, j in pairs],
        "answers": [f"{i} {j} " + ("0 1 1 1 1" if i // 3 == j // 3 else "1 0 0 0 0") for i, j in pairs],
    }
    (tmp_path / "six").mkdir()
    for name, text in lines.items():
        (tmp_path / "six" / f"{name}.txt").write_text("\n".join(text))
    return "six"


def test_the_crowd_of_an_audit_is_right_and_all_questions_are_those_of_the_ordering(audits, six):
    found = audits["of_crowds"](names=[six], targets=[0.5, 0.99], runs=3)
    assert found[["data", "recall", "runs", "wrong"]].to_numpy().tolist() == [[six, 0.5, 3, 0], [six, 0.99, 3, 0]]
    assert (found["questions"] == 1).all()  # few pairs: nothing is certified before the fifth question settles all


def test_an_audit_that_certifies_more_than_was_found_is_counted(audits, six, monkeypatch):
    resolution = SimpleNamespace(recall=lambda labels: [0.0, 0.5], certified=0.6, n_queries=2)
    monkeypatch.setattr(cr.beyond, "Audit", lambda *_, **__: SimpleNamespace(run=lambda truth: resolution))
    found = audits["of_crowds"](names=[six], targets=[0.5], runs=3)
    assert found[["runs", "wrong"]].to_numpy().tolist() == [[3, 3]]
    assert found["questions"].tolist() == pytest.approx([2 / 5])


def test_a_run_that_has_ended_keeps_its_clusters_and_every_vote_is_counted(replays):
    runs = [pd.DataFrame({"F1": [0.0, 1.0]}), pd.DataFrame({"F1": [0.0, 0.5, 0.5, 0.0]})]
    curve = replays["mean_curve"](runs, votes=3, points=4)
    assert curve.to_numpy().tolist() == [[0, 0], [3, 0.75], [6, 0.75], [9, 0.5]]


def test_heuristics_have_majorities_and_noisy_ordering_the_first_vote(replays, six):
    found = pd.concat(replays["replays"]([six], ties=2)).groupby("ordering").last()
    assert found["votes"].to_dict() == {"edge": 5, "node": 5, "evidence": 5, "noisy": 1}
    assert found.loc["edge", ["answers", "F1"]].tolist() == [25, 1.0]  # five questions, majorities all right
    assert found.loc["noisy", "F1"] < 1  # every first vote is wrong


def test_what_is_recorded_of_gym_is_what_the_cells_give(crowds_path):
    """The cheapest part: audits for one recall, and edge ordering."""
    known = {name: pd.read_csv(FOLDER / f"{name}.csv") for name in ("crowd-audits", "which-crowds")}
    audits = run("13-stopping", "imports", "au-cost", "au-means", crowds=str(crowds_path))
    rows = known["crowd-audits"].query("data == 'gym' and recall == 0.9").reset_index(drop=True)
    found = audits["of_crowds"](names=["gym"], targets=[0.9], runs=int(rows["runs"].iloc[0]))
    pd.testing.assert_frame_equal(found, rows, check_dtype=False)
    replays = run("15-which-ordering", *REPLAYS, crowds=str(crowds_path))
    rows = known["which-crowds"].query("data == 'gym' and ordering == 'edge'").reset_index(drop=True)
    found = next(replays["replays"](["gym"], replays["ties"]))
    pd.testing.assert_frame_equal(found, rows, check_dtype=False)
