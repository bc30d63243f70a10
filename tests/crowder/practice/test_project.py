"""A project's folder: what it keeps, what it takes, what it refuses without losing an answer."""

import json

import numpy as np
import pandas as pd
import pytest

from crowder.datasets import people
from crowder.practice import Journal
from crowder.practice.batch import pilot
from crowder.practice.project import Project, find

RECORDS = pd.DataFrame({
    "id": list("abcdef"),
    "name": ["Ann Lee", "Ann Leee", "Bo Chen", "Bo Chenn", "Cem Kaya", "Dia Roy"],
    "town": ["Rome", "Rome", "Oslo", "Oslo", "Bonn", "Pune"],
})  # fmt: skip


@pytest.fixture
def csv(tmp_path):
    RECORDS.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path / "my.csv"


@pytest.fixture
def made(csv):
    return planned(csv)


def planned(csv, **changes):
    project = Project(csv.with_suffix(".crowder"), csv, **changes)
    project.plan()
    return project


def sheet(path, rows, columns="id_a,id_b,same,worker"):
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


# --- what it keeps ------------------------------------------------------------------------------------------------


def test_a_project_keeps_its_settings_and_finds_its_file_when_both_have_moved(csv, tmp_path):
    planned(csv, fields=["name"], votes=3)
    (tmp_path / "elsewhere").mkdir()
    for path in (csv, csv.with_suffix(".crowder")):
        path.rename(tmp_path / "elsewhere" / path.name)
    opened = Project(tmp_path / "elsewhere" / "my.crowder")
    assert opened.settings["fields"] == ["name"] and opened.settings["votes"] == 3
    assert opened.settings["similarity"] == "jaccard-qgrams" and opened.csv.samefile(tmp_path / "elsewhere" / "my.csv")


def test_questions_are_those_of_the_ordering_and_similarities_are_read_back(made):
    again = Project(made.folder)
    assert np.array_equal(again.candidates.listed()[0], made.candidates.listed()[0])
    assert again.candidates.complete and again.questions(15) == made.questions(15)
    assert made.questions(1) in ([(0, 1)], [(2, 3)])  # the two likeliest
    i, j = made.questions(1)[0]
    made.answer((i, j), True, "ann")
    third = next(k for k in range(6) if k not in (i, j))
    made.answer((i, third), False, "ann")
    assert made.still_open([(j, third), (i, j)]) == []  # j is i, and i is not the third
    assert len(Project(made.folder).questions(15)) <= 15 - 3


def test_identical_text_counts_as_the_same_until_somebody_says_otherwise(tmp_path):
    records = pd.DataFrame({"id": list("abcd"), "name": ["Ann", "Bo", "ann ", "ANN"]})
    records.to_csv(tmp_path / "my.csv", index=False)
    project = planned(tmp_path / "my.csv")
    assert project.identical == [(0, 2), (0, 3)] and project.table()["cluster"].tolist() == [0, 1, 0, 0]
    assert len(project.questions(5)) == 1  # whether Bo is Ann
    project.receive([sheet(tmp_path / "ann.csv", ["a,c,no,"])])
    assert project.table()["cluster"].tolist() == [0, 1, 2, 0] and project.settled.contradictions == []


def test_records_may_be_added_and_change_where_nothing_has_been_answered(made, csv):
    made.answer((0, 1), True, "ann")
    more = pd.concat([RECORDS, pd.DataFrame({"id": ["g"], "name": ["Cem Kayaa"], "town": ["Bonn"]})])
    more.loc[more["id"] == "f", "town"] = "Delhi"
    more.to_csv(csv, index=False)
    with pytest.raises(ValueError, match=r"my.csv: record 6, 'f', has changed; run crowder plan again"):
        Project(made.folder)
    opened = planned(csv)
    assert opened.n == 7 and opened.votes == [(0, 1, True, "ann")] and (4, 6) in opened.questions(3)
    assert Project(made.folder).n == 7


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: r.replace("Ann Lee", "Bob Lee"), "record 1, 'a', has changed; answers are about its old text: restore"),
    (lambda r: r.iloc[1:], r"must still have its 6 records, not 5; restore what was removed"),
    (lambda r: r.iloc[::-1], "record 1, 'f', has changed; answers are about its old text"),
    (lambda r: r.drop(columns="town"), "column 'town' must be in the header"),
], ids=["text", "removed", "order", "column"])  # fmt: skip
def test_other_changes_are_refused_and_no_answer_is_lost(made, csv, change, message):
    made.answer((0, 1), True, "ann")
    change(RECORDS).to_csv(csv, index=False)
    for opening in (lambda: Project(made.folder), lambda: Project(made.folder, csv)):
        with pytest.raises(ValueError, match=message):
            opening()
    RECORDS.to_csv(csv, index=False)
    assert Project(made.folder).votes == [(0, 1, True, "ann")]


def test_new_records_are_planned_first(made, csv):
    pd.concat([RECORDS, RECORDS.iloc[:1].assign(id="g")]).to_csv(csv, index=False)
    with pytest.raises(ValueError, match="has more than the 6 records planned; run: crowder plan"):
        Project(made.folder)


def test_other_fields_are_compared_from_then_on(made, csv):
    made.answer((0, 1), True, "ann")
    other = planned(csv, fields=["town"])
    assert Project(made.folder).fields == ["town"] and other.votes == [(0, 1, True, "ann")]


# --- sheets -------------------------------------------------------------------------------------------------------


def test_each_worker_has_one_vote_and_a_sheet_handed_in_again_replaces_it(made, tmp_path):
    ann = sheet(tmp_path / "ann.csv", ["a,b,yes,", "c,d,unsure,", "a,c,no,", "e,f,,"])
    bob = sheet(tmp_path / "b.csv", ["b,a,no,bob"])
    assert made.receive([ann, bob]) == (4, 0, 0, 1)
    assert made.receive([ann, bob]) == (0, 0, 0, 1)
    assert made.settled.split == [(0, 1)] and made.settled.unsure == [(0, 1), (2, 3)]
    assert (0, 1) in made.questions(15)[-2:] and (2, 3) in made.questions(15)[-2:]  # they are asked last
    sheet(tmp_path / "ann.csv", ["a,b,no,", "c,d,,", "a,c,,", "e,f,yes,"])
    assert made.receive([ann]) == (1, 1, 2, 0)
    assert Project(made.folder).votes == [(0, 1, False, "ann"), (0, 1, False, "bob"), (4, 5, True, "ann")]


def test_a_sheet_that_cannot_be_recorded_takes_nothing_back(made, tmp_path, monkeypatch):
    made.receive([sheet(tmp_path / "ann.csv", ["a,b,yes,", "a,c,no,"])])

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(made.journal._file, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.receive([sheet(tmp_path / "ann.csv", ["a,b,,", "a,d,no,"])])
    assert [vote[:2] for vote in Project(made.folder).votes] == [(0, 1), (0, 2)]


def test_what_others_said_is_not_taken_back_by_a_blank_cell(made, tmp_path):
    made.receive([sheet(tmp_path / "ann.csv", ["a,b,yes,"])])
    assert made.receive([sheet(tmp_path / "bob.csv", ["a,b,,"])]) == (0, 0, 0, 0)
    assert made.votes == [(0, 1, True, "ann")]


@pytest.mark.parametrize(("rows", "message"), [
    (["a,b,yes,", "a,z,yes,"], "row 3, column 'id_b': the identifier must be that of a record, not 'z'"),
    (["a,b,perhaps,"], "row 2, column 'same': the answer must be yes, no, unsure or blank, not 'perhaps'"),
])  # fmt: skip
def test_one_bad_sheet_and_nothing_is_recorded(made, tmp_path, rows, message):
    good = sheet(tmp_path / "good.csv", ["c,d,yes,"])
    with pytest.raises(ValueError, match=message):
        made.receive([good, sheet(tmp_path / "bad.csv", rows)])
    assert Project(made.folder).votes == []


def test_the_sheet_of_another_project_is_refused_even_if_its_identifiers_fit(made, tmp_path):
    other = RECORDS.assign(name=[f"Product {k}" for k in range(6)], town="none")
    (tmp_path / "other").mkdir()
    other.to_csv(tmp_path / "other" / "my.csv", index=False)
    theirs = planned(tmp_path / "other" / "my.csv")
    path = theirs.write_sheet(theirs.questions(5), str(tmp_path / "theirs.csv"))
    answered = pd.read_csv(path, dtype=str, keep_default_na=False).assign(same="no")
    answered.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"theirs.csv must be a sheet of this project, but 10 of the 10 records in it"):
        made.receive([str(path)])
    assert Project(made.folder).votes == []
    assert theirs.receive([str(path)])[0] == 5


def test_a_spreadsheet_may_rewrite_cells_of_a_sheet(made, tmp_path):
    path = made.write_sheet(made.questions(5))
    answered = pd.read_csv(path, dtype=str, keep_default_na=False).assign(same="no")
    answered["town_a"], answered["town_b"] = "1. May", "2.5e3"
    answered.to_csv(path, index=False, sep=";")
    assert made.receive([str(path)])[0] == 5


def test_a_sheet_with_answers_is_not_overwritten_and_an_empty_one_is(made):
    first = made.write_sheet(made.questions(2))
    assert made.write_sheet(made.questions(3)) == first and len(pd.read_csv(first)) == 3
    pd.read_csv(first, dtype=str).assign(same="no").to_csv(first, index=False)
    content = first.read_bytes()
    assert made.write_sheet(made.questions(2)).name == "questions-2.csv"
    with pytest.raises(ValueError, match=r"path must not be a file with answers, but .*questions-1.csv has 3"):
        made.write_sheet(made.questions(2), str(first))
    assert first.read_bytes() == content


# --- what is not a project ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("content", "message"), [
    ('{"format": 1, "csv": "../my', "must be what crowder plan wrote, but is damaged; delete it and run crowder plan"),
    ("[]", "is damaged"),
    ('{"format": 99}', "was written by a later version of crowder .format 99.; install that"),
])  # fmt: skip
def test_a_damaged_file_of_settings_is_told_and_the_answers_stay(made, csv, content, message):
    made.answer((0, 1), True, "ann")
    (made.folder / "project.json").write_text(content)
    for opening in (lambda: Project(made.folder), lambda: Project(made.folder, csv)):
        with pytest.raises(ValueError, match=message):
            opening()
    (made.folder / "project.json").unlink()
    with pytest.raises(ValueError, match=r"must be a project, but has no project.json; run crowder plan"):
        Project(made.folder)
    assert planned(csv).votes == [(0, 1, True, "ann")]


def test_a_journal_of_a_later_version_is_refused(made):
    made.answer((0, 1), True, "ann")
    made.journal.close()
    import sqlite3

    with sqlite3.connect(made.folder / "answers.db") as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="later version of crowder"):
        Project(made.folder)


@pytest.mark.parametrize("content", [b"", b"no archive", None], ids=["empty", "other", "absent"])
def test_missing_similarities_ask_for_a_new_plan(made, content):
    path = made.folder / "candidates.npz"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ValueError, match=r"candidates.npz must have the similarities of .*; run: crowder plan"):
        Project(made.folder).questions(1)


def test_two_files_of_one_name_have_no_project_in_common(made, csv):
    RECORDS.to_csv(csv.with_suffix(".tsv"), index=False, sep="\t")
    with pytest.raises(ValueError, match=r"must be the project of .*my.tsv, but is that of \.\./my.csv; rename one"):
        Project(made.folder, csv.with_suffix(".tsv"), sep="\t")


def test_a_project_is_found_by_its_name_or_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"must be named, .* folder: none; run: crowder plan FILE.csv"):
        find(None)
    for name in ("a.crowder", "b.crowder", "a.b.crowder"):
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=r"must be named, .* folder: a.b.crowder, a.crowder, b.crowder"):
        find(None)
    assert [str(find(name)) for name in ("a", "a.csv", "a.crowder", "a.b", "a.b.csv")] == [
        "a.crowder", "a.crowder", "a.crowder", "a.b.crowder", "a.b.crowder"
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"PROJECT is no project: c. .* folder: a.b.crowder, a.crowder, b.crowder"):
        find("c")


def test_a_cut_line_in_the_order_of_answers_is_passed_over(made):
    made.answer((0, 1), True, "ann")
    with open(made.folder / "labelled.txt", "a") as file:
        file.write("4 5 ann\n0 ")  # one that was not answered, and one that a power failure has cut
    assert made.undo("ann") == (0, 1) and made.undo("ann") is None and made.votes == []


def test_who_takes_back_leaves_the_order_of_the_others(made):
    made.answer((0, 1), True, "ann")
    made.answer((2, 3), True, "bob")
    assert made.undo("ann") == (0, 1) and made.undo("bob") == (2, 3) and made.votes == []


def test_votes_that_were_added_to_the_journal_by_other_means_count(made):
    with Journal(None, made.folder / "answers.db") as journal:
        journal.record([(0, 1)], [True], "by program")
    assert Project(made.folder).table()["size"].tolist() == [2, 2, 1, 1, 1, 1]


def test_recall_is_the_share_of_the_pairs_of_plausible_clusterings(made):
    made.answer((0, 1), True, "ann")
    made.draws[:] = [0, 0, 0, 1, 1, 2]  # a b c, d e, f: four matches, of which a b is found
    made.draws[:10] = [0, 0, 1, 2, 3, 4]  # only a b
    assert made.recall() == (0.25, 0.25, 1.0)
    made.draws[:] = range(6)
    assert made.recall() == (1.0, 1.0, 1.0)


def test_each_question_takes_as_many_answers_as_votes(made, csv):
    once, most = made.foreseen["left"]
    assert once > 0 and planned(csv, votes=3).foreseen["left"] == [3 * once, 3 * most]
    assert f"0 answers, {once} to {most} more to find 95 % of the matches" in made.progress()


def test_settings_are_plain_text_that_other_programs_can_read(made):
    told = json.loads((made.folder / "project.json").read_text())
    assert told["format"] == 1 and told["csv"] == "../my.csv" and told["settings"]["target"] == 0.95
    assert len(told["records"]) == 6


def test_questions_find_all_clusters_whatever_the_ordering(tmp_path):
    records = people([3, 2, 2, 1, 1, 1], mistakes=1.0, rng=5)
    for ordering in ("edge", "node", "evidence"):
        records.drop(columns="label").to_csv(tmp_path / f"{ordering}.csv", index=False)
        project = planned(tmp_path / f"{ordering}.csv", ordering=ordering)
        while pairs := project.questions(7):
            for i, j in project.still_open(pairs):
                project.answer((i, j), records["label"][i] == records["label"][j], "ann")
        assert sorted(project.table().groupby("cluster").size()) == [1, 1, 1, 2, 2, 3]


def test_a_plan_counts_the_most_similar_answers_first_and_no_identical_text(tmp_path):
    """The votes are on disk without their order, here by record. In order of similarity, one match is found first."""
    path = tmp_path / "my.csv"
    path.write_text("id,name\na,Ann\nb,Roy Fox\nc,Roy Foxe\nd,Bo Lee\ne,bo lee\n")
    project = planned(path)
    everything = [(i, j) for i in range(5) for j in range(i + 1, 5) if (i, j) != (3, 4)]
    project.record({(*pair, "ann"): pair == (1, 2) for pair in everything})
    plan = project.plan()
    assert plan.table["questions"].tolist()[-2:] == [1, 4]  # one match, and the pairs of three clusters
    assert plan.candidates.known is not None and project.candidates.known is None
    assert len(plan.answers[1]) == 9 and plan.answers[1][0] and project.progress().count("as many as planned") == 1


@pytest.mark.parametrize(
    ("left", "said"), [([3, 8], "3 to 8 more"), ([-2, 5], "0 to 5 more"), ([-9, 0], "as many as planned")]
)
def test_there_is_something_left_until_the_upper_end_is_behind(made, left, said):
    made.foreseen |= {"left": left}
    assert f"0 answers, {said} to find" in made.progress()


def test_identical_text_does_not_count_as_the_pilot(tmp_path):
    """Of thirty records the pilot has three questions, and ten of the records repeat another."""
    path = tmp_path / "my.csv"
    names = people([1] * 20, rng=1)[["name", "city"]]
    pd.concat([names, names[:10]]).to_csv(path, index=False)
    project = planned(path)
    assert len(project.identical) == 10 and project.foreseen["again"] == 3
    first = pilot(project.candidates)
    expected = [pair for pair in first if pair not in project.identical]
    assert expected and project.questions(3)[: len(expected)] == expected
