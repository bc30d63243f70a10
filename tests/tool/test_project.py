"""A project's folder: what it keeps, what it takes, what it refuses without losing an answer."""

import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from crowder_tool import Journal, nearest_pairs, people
from crowder_tool.project import Project, find

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
    return started(csv)


def started(csv, **changes):
    project = Project(csv.with_suffix(".crowder"), csv, **changes)
    project.start()
    return project


def votes(project):
    """The votes, with workers named by their files alone."""
    return [(i, j, same, worker.split("-")[0]) for i, j, same, worker in project.votes]


def sheet(path, rows, columns="id_a,id_b,same,worker"):
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


# --- what it keeps ------------------------------------------------------------------------------------------------


def test_a_project_keeps_its_settings_and_finds_its_file_when_both_have_moved(csv, tmp_path):
    started(csv, fields=["name"], price=3)
    (tmp_path / "elsewhere").mkdir()
    for path in (csv, csv.with_suffix(".crowder")):
        path.rename(tmp_path / "elsewhere" / path.name)
    opened = Project(tmp_path / "elsewhere" / "my.crowder")
    assert opened.settings["fields"] == ["name"] and opened.settings["price"] == 3
    assert opened.settings["identical"] == "ask" and opened.csv.samefile(tmp_path / "elsewhere" / "my.csv")


def test_questions_are_those_of_the_ordering_and_candidates_are_read_back(made):
    again = Project(made.folder)
    assert np.array_equal(again.near.pairs, made.near.pairs) and again.near.pairs.shape == (10, 2)
    assert again.questions(15) == made.questions(15) and set(made.questions(2)) == {(0, 1), (2, 3)}
    i, j = made.questions(1)[0]
    made.answer((i, j), True, "ann")
    third = next(k for k in range(6) if k not in (i, j))
    made.answer((i, third), False, "ann")
    assert made.still_open([(j, third), (i, j)]) == []  # j is i, and i is not the third
    assert len(Project(made.folder).questions(15)) <= 10 - 3


def test_identical_text_is_asked_about_once_or_counts_as_the_same_if_that_is_said(tmp_path):
    records = pd.DataFrame({"id": list("abcd"), "name": ["Ann", "Bo", "ann ", "ANN"]})
    records.to_csv(tmp_path / "my.csv", index=False)
    project = started(tmp_path / "my.csv")
    assert project.identical == [] and project.questions(1) == [(0, 2)]
    project.answer((0, 2), True, "ann")
    assert project.identical == [(0, 2), (0, 3)] and project.table()["cluster"].tolist() == [0, 1, 0, 0]
    assert project.questions(5) == [] and project.audit().resolution.found == 3
    project.answer((0, 3), False, "bob")  # a no sets the others free
    assert project.identical == [] and project.table()["cluster"].tolist() == [0, 1, 0, 2]
    assert project.questions(5) == []
    shutil.rmtree(project.folder)
    project = started(tmp_path / "my.csv", identical="same")
    assert project.identical == [(0, 2), (0, 3)] and project.table()["cluster"].tolist() == [0, 1, 0, 0]
    assert project.questions(5) == []  # Bo is not similar to Ann
    project.receive([sheet(tmp_path / "ann.csv", ["a,c,no,"])])
    assert project.table()["cluster"].tolist() == [0, 1, 2, 0] and project.doubts() == []


def test_records_may_be_added_and_change_where_nothing_has_been_answered(made, csv):
    """The project goes on with its copy until it is started again; without answers any records may be others."""
    made.answer((0, 1), True, "ann")
    more = pd.concat([RECORDS, pd.DataFrame({"id": ["g"], "name": ["Cem Kayaa"], "town": ["Bonn"]})])
    more.loc[more["id"] == "f", "town"] = "Delhi"
    more.to_csv(csv, index=False)
    opened = Project(made.folder)
    assert opened.changed and opened.n == 6 and opened.records["town"][5] == "Pune" and opened.questions(3)
    again = started(csv)
    assert again.n == 7 and again.votes == [(0, 1, True, "ann")] and (4, 6) in again.questions(3)
    opened = Project(made.folder)
    assert opened.n == 7 and not opened.changed
    csv.unlink()
    opened = Project(made.folder)
    assert opened.n == 7 and not opened.changed and len(opened.table()) == 7


@pytest.mark.parametrize(("change", "options", "fields", "ids"), [
    (lambda r: r, {"id": "name"}, ["key", "town"], "Ann Lee"),  # an identifier was forgotten; it is compared no more
    (lambda r: r, {"fields": ["town"]}, ["town"], "2"),
    (lambda r: r.drop(columns="town"), {}, ["key", "name"], "2"),
    (lambda r: r.drop(columns="key"), {"id": "name"}, ["town"], "Ann Lee"),
    (lambda r: r.rename(columns={"town": "city"}), {}, ["key", "name", "city"], "2"),
    (lambda r: r.rename(columns={"key": "id"}), {"fields": ["name", "town"]}, ["name", "town"], "a"),
    (lambda r: r.assign(more="x")[["more", "town", "name", "key"]], {}, ["key", "name", "town"], "2"),
    (lambda r: r[:3], {}, ["key", "name", "town"], "2"),  # nobody has answered about the others
])  # fmt: skip
def test_a_new_state_that_leaves_what_was_answered_is_taken(csv, change, options, fields, ids):
    (records := RECORDS.rename(columns={"id": "key"})).to_csv(csv, index=False)
    started(csv).answer((0, 1), True, "ann")
    change(records).to_csv(csv, index=False)
    started(csv, **options)
    opened = Project(csv.with_suffix(".crowder"))
    assert opened.fields == fields and opened.ids[0] == ids and opened.votes == [(0, 1, True, "ann")]
    assert opened.still_open([(0, 1), (0, 2)]) == [(0, 2)]


def test_an_identifier_that_is_renamed_or_removed_is_followed_and_can_be_given_up(csv):
    started(csv, id="id").answer((0, 1), True, "ann")
    RECORDS.rename(columns={"id": "key"}).to_csv(csv, index=False)
    assert (again := started(csv)).ids[0] == "a" and again.renamed == {"id": "key"}
    assert started(csv, id=None).ids[0] == "2" and started(csv, id="key").fields == ["name", "town"]
    RECORDS.drop(columns="id").to_csv(csv, index=False)
    assert (again := started(csv)).ids[0] == "2" and again.renamed == {"key": None} and len(again.votes) == 1


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: r.replace("Ann Lee", "Bob Lee"), "record 1 has answers, but its 'name' is now 'Bob Lee', not 'Ann Lee'"),
    (lambda r: r.iloc[1:], "record 1 has answers, but its 'id' is now 'b', not 'a'. Restore that text"),
    (lambda r: r.iloc[:1], "must still have record 2, which has an answer, but has 1 records"),
    (lambda r: r.iloc[::-1], "record 1 has answers, but its 'id' is now 'f', not 'a'"),
    (lambda r: r.iloc[::-1].drop(columns="id"), "record 1 has answers, but its 'name' is now 'Dia Roy'"),
    (lambda r: r[["town"]].assign(town="?", x="y").set_axis(["p", "q"], axis=1), "one of the columns 'id', 'name', "
     "'town', since there are answers about their text"),
], ids=["text", "removed", "shorter", "order", "order without ids", "another file"])  # fmt: skip
def test_other_changes_are_refused_and_the_project_goes_on_with_its_copy(made, csv, change, message):
    made.answer((0, 1), True, "ann")
    change(RECORDS).to_csv(csv, index=False)
    for options in ({}, {"id": None, "fields": None}):
        with pytest.raises(ValueError, match=message):
            started(csv, **options)
    opened = Project(made.folder)
    assert opened.votes == [(0, 1, True, "ann")] and opened.ids == list("abcdef") and opened.questions(1)


def test_a_file_in_another_encoding_with_the_same_text_is_taken(tmp_path):
    text = "id,name\na,Ann Lée\nb,Anne Lée\n"
    (csv := tmp_path / "my.csv").write_bytes(text.encode())
    started(csv).answer((0, 1), True, "ann")
    csv.write_bytes(text.replace(",", ";").encode("cp1252"))
    assert started(csv, encoding="cp1252", sep=";").votes == [(0, 1, True, "ann")]
    assert started(csv, encoding="cp1250").ids == ["a", "b"]  # what was wrong with the bytes is no other text


def test_files_and_project_may_have_other_names_together(made, csv, tmp_path):
    made.answer((0, 1), True, "ann")
    csv.rename(tmp_path / "other.csv"), made.folder.rename(tmp_path / "other.crowder")
    assert Project(tmp_path / "other.crowder").ids == list("abcdef")
    assert started(tmp_path / "other.csv").votes == [(0, 1, True, "ann")]
    assert Project(tmp_path / "other.crowder").csv == tmp_path / "other.csv"


def test_a_journal_that_is_gone_or_of_another_project_is_told(made, csv, tmp_path):
    made.answer((0, 1), True, "ann")
    (answers := made.folder / "answers.db").rename(tmp_path / "kept.db")
    for other in (False, True):
        if other:
            Journal(None, answers).close()
        for opening in (lambda: Project(made.folder), lambda: Project(made.folder, csv)):
            with pytest.raises(ValueError, match=r"answers.db is gone, or is that of another project: restore it"):
                opening()
    (tmp_path / "kept.db").replace(answers)
    assert Project(made.folder).votes == [(0, 1, True, "ann")]


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
    assert sorted(votes(Project(made.folder))) == [(0, 1, False, "ann"), (0, 1, False, "bob"), (4, 5, True, "ann")]


def test_a_sheet_that_cannot_be_recorded_takes_nothing_back(made, tmp_path, monkeypatch):
    made.receive([sheet(tmp_path / "ann.csv", ["a,b,yes,", "a,c,no,"])])

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(made.journal._file, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.receive([sheet(tmp_path / "ann.csv", ["a,b,,", "a,d,no,"])])
    assert [vote[:2] for vote in Project(made.folder).votes] == [(0, 1), (0, 2)]


def test_what_others_said_is_not_taken_back_by_a_blank_cell(made, tmp_path):
    made.receive([sheet(tmp_path / "ann.csv", ["a,b,yes,"])])
    assert made.receive([sheet(tmp_path / "bob.csv", ["a,b,,"])]) == (0, 0, 0, 0)
    assert votes(made) == [(0, 1, True, "ann")]


def test_one_bad_sheet_and_nothing_is_recorded(made, tmp_path):
    good, bad = sheet(tmp_path / "good.csv", ["c,d,yes,"]), sheet(tmp_path / "bad.csv", ["a,b,yes,", "a,z,yes,"])
    with pytest.raises(ValueError, match="row 3, column 'id_b': the identifier must be that of a record, not 'z'"):
        made.receive([good, bad])
    assert Project(made.folder).votes == []


# --- what is not a project ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("content", "message"), [
    ('{"files": ["../my', "is damaged; delete it and run crowder"),
    ("[]", "is damaged"),
    ("{}", "is damaged"),
])  # fmt: skip
def test_a_damaged_file_of_settings_is_told_and_the_answers_stay(made, csv, content, message):
    made.answer((0, 1), True, "ann")
    (made.folder / "project.json").write_text(content)
    for opening in (lambda: Project(made.folder), lambda: Project(made.folder, csv)):
        with pytest.raises(ValueError, match=message):
            opening()
    (made.folder / "project.json").unlink()
    with pytest.raises(ValueError, match=r"must be a project, but has no project.json; run: crowder start"):
        Project(made.folder)
    assert started(csv).votes == [(0, 1, True, "ann")]


@pytest.mark.parametrize(("name", "content"), [
    ("candidates.npz", b""), ("candidates.npz", b"no archive"), ("candidates.npz", None), ("records-1.csv", None),
])  # fmt: skip
def test_what_is_missing_comes_back_with_a_new_start(made, csv, name, content):
    made.answer((0, 1), True, "ann")
    path = made.folder / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ValueError, match=r"must have .*of .*my.csv, but .*; run: crowder start .*my.csv"):
        Project(made.folder).questions(1)
    started(csv)
    assert Project(made.folder).questions(1) and made.votes


def test_two_files_of_one_name_have_no_project_in_common(made, csv):
    RECORDS.to_csv(csv.with_suffix(".tsv"), index=False, sep="\t")
    with pytest.raises(ValueError, match=r"must be the project of .*my.tsv, but is that of .*my.csv; rename a file"):
        Project(made.folder, csv.with_suffix(".tsv"), sep="\t")


def test_a_project_is_found_alone_or_must_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"must be named, .* folder: none; run: crowder start FILE.csv"):
        find(None)
    (tmp_path / "a.crowder").mkdir()
    assert str(find(None)) == "a.crowder"
    (tmp_path / "b.crowder").mkdir()
    with pytest.raises(ValueError, match=r"must be named, .* folder: a.crowder, b.crowder"):
        find(None)
    assert str(find("b.crowder")) == "b.crowder"


def test_votes_that_were_added_to_the_journal_by_other_means_count(made):
    with Journal(None, made.folder / "answers.db") as journal:
        journal.record([(0, 1, True, "by program")])
    assert Project(made.folder).table()["size"].tolist() == [2, 2, 1, 1, 1, 1]


# --- questions until the end, and the audit -----------------------------------------------------------------------


def answered(project, truth, batch=20, until=lambda project: False):
    """Answer batches as the truth says; the number of questions."""
    number = 0
    while not until(project) and (pairs := project.questions(batch)):
        for i, j in project.still_open(pairs):
            project.record({(i, j, "ann"): bool(truth[i] == truth[j])})
            number += 1
    return number


@pytest.fixture(params=["one file", "two files", "scores"])
def labelled(request, tmp_path):
    """A project and its true clusters, each with one record in either of two files if there are two."""
    records = people([2] * 25 + [1] * 30 if request.param == "two files" else [4, 3, 3] + [2] * 20 + [1] * 30, rng=3)
    records = records.sort_values("label", kind="stable", ignore_index=True)
    if request.param == "two files":
        again = records["label"].duplicated()
        parts, names = [records[~again], records[again]], ["a.csv", "b.csv"]
        records = pd.concat(parts, ignore_index=True)
    else:
        parts, names = [records], ["my.csv"]
    for part, name in zip(parts, names, strict=True):
        part.to_csv(tmp_path / name, index=False)
    changes = {}
    if request.param == "scores":
        near = nearest_pairs(records[["name", "city", "birth"]])
        scored = pd.DataFrame(np.array(records["id"])[near.pairs], columns=["left", "right"])
        scored.assign(score=near.similarity).to_csv(tmp_path / "scores.csv", index=False)
        changes["scores"] = str(tmp_path / "scores.csv")
    project = Project(tmp_path / "p.crowder", *(tmp_path / name for name in names), **changes)
    project.start()
    return Project(tmp_path / "p.crowder"), records["label"].to_numpy()


def pairs_of(labels):
    return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}


def test_questions_find_the_clusters_that_the_candidates_have(labelled):
    project, truth = labelled
    matches, listed = pairs_of(truth), set(map(tuple, project.near.pairs.tolist()))
    if "(file)" in project.records:
        side = project.records["(file)"].to_numpy()
        assert all(side[i] != side[j] for i, j in listed) and set(project.table()["file"]) == {"a", "b"}
    before = answered(project, truth, until=lambda project: project.audit().certified)
    answered(project, truth)
    found = pairs_of(project.table()["cluster"])
    assert found <= matches and matches & listed <= found and before < len(listed)


def test_an_audit_goes_on_where_it_stopped_and_certifies_what_was_found(labelled):
    project, truth = labelled
    answered(project, truth, until=lambda project: sum(project.answers.values()) >= 20)
    project.turn_audit(True, recall=0.8)
    first = project.questions(6)
    assert Project(project.folder).questions(6) == first and set(first).isdisjoint(project.answers)
    answered(project, truth, batch=6, until=lambda project: project.audit().certified)
    run, again = project.audit().resolution, Project(project.folder).audit().resolution
    assert (run.found, run.missed, run.certified) == (again.found, again.missed, again.certified)
    listed = set(map(tuple, project.near.pairs.tolist())) & pairs_of(truth)
    assert run.certified >= 0.8 and len(listed) <= run.found + run.missed and run.found <= len(listed)
    assert project.questions(6) == [] and run.found == len(pairs_of(project.table()["cluster"]) & listed)


def test_a_pause_leads_back_to_the_ordering_and_draws_serve_every_target(labelled):
    project, truth = labelled
    answered(project, truth, until=lambda project: len(project.answers) >= 10)
    ours = project.questions(5)
    project.turn_audit(True)
    drawn = project.questions(5)
    project.turn_audit(False)
    assert project.questions(5) == ours != drawn
    project.turn_audit(True)
    assert project.questions(5) == drawn
    project.turn_audit(True, recall=0.99)
    assert project.audited["recall"] == 0.99 and project.questions(5) == drawn
    before, draws = project.audited["before"], project.audit().resolution.audited
    project.record({(*drawn[0], "ann"): bool(truth[drawn[0][0]] == truth[drawn[0][1]])})
    project.turn_audit(True)  # begins no other audit: an answer to a draw stays one
    assert project.audited["before"] == before and drawn[0] not in map(tuple, before)
    assert project.audit().resolution.audited == draws + 1
    (project.folder / "audit.json").write_text('{"key": "')
    with pytest.raises(ValueError, match=r"audit.json is damaged; remove it, and begin another audit"):
        project.questions(5)


def test_no_draw_is_forgotten_if_two_draw_at_once_or_an_earlier_answer_is_taken_back(labelled, monkeypatch):
    project, truth = labelled
    answered(project, truth, batch=5, until=lambda project: len(project.answers) >= 10)
    project.turn_audit(True)
    one, other = (Project(project.folder) for _ in range(2))
    first, audit, then = one.draw(4, "a", 60), one.audit, list[tuple]()

    def meanwhile():  # after one has read what is drawn, and before it writes
        then.extend(other.draw(4, "b", 60))
        return audit()

    monkeypatch.setattr(one, "audit", meanwhile)
    one.questions(4)
    assert then and {*first, *then} <= {*map(tuple, project.audited["drawn"])}
    project.journal.release("a"), project.journal.release("b")
    before = project.questions(9)
    project.record({}, [(*next(iter(project.answers)), "ann")])
    after = project.questions(12)
    assert len(before) == 9 and [pair for pair in after if pair in before] == before


def test_who_is_unsure_about_a_draw_is_not_asked_again_and_others_are(labelled):
    project, _ = labelled
    project.turn_audit(True)
    first = project.questions(5, "ann")
    project.record(dict.fromkeys([(*pair, "ann") for pair in first]))
    assert set(first).isdisjoint(project.questions(5, "ann")) and project.questions(5, "bob") == first


def test_answers_that_join_records_of_a_file_without_duplicates_are_contradictions(tmp_path):
    for name in "ab":
        RECORDS.assign(id=name + RECORDS["id"], town=name).to_csv(tmp_path / f"{name}.csv", index=False)
    project = Project(tmp_path / "a-b.crowder", tmp_path / "a.csv", tmp_path / "b.csv")
    project.start()
    project.record({(0, 6, "ann"): True, (1, 8, "ann"): True})
    assert project.contradicted == []
    project.record({(0, 7, "ann"): True, (2, 3, "ann"): True})  # two of b with one of a; and two of a
    assert project.contradicted == project.doubts() == [(0, 6), (0, 7), (2, 3)]


def test_scores_name_records_as_their_files_do_and_the_file_need_not_stay(tmp_path, monkeypatch):
    """Both files number their records from 1; the one with the scores is named from elsewhere, and then removed."""
    for name in "ab":
        RECORDS.assign(id=range(1, 7)).to_csv(tmp_path / f"{name}.csv", index=False)
    (scores := tmp_path / "scores.csv").write_text("left,right,score\n1,1,0.9\n2,1,0.4\na:3,b:2,0.3\n")
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path / "p.crowder", tmp_path / "a.csv", tmp_path / "b.csv", scores="scores.csv")
    project.start()
    scores.unlink()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert Project(tmp_path / "p.crowder").near.pairs.tolist() == [[0, 6], [1, 6], [2, 7]]
    scores.write_text("left,right,score\n1,1,0.9\na:1,a:2,0.8\n")
    again = Project(tmp_path / "p.crowder", tmp_path / "a.csv", tmp_path / "b.csv", scores=str(scores))
    with pytest.raises(ValueError, match="'a:1' and 'a:2' must be of two files"):
        again.start()


def test_the_answers_in_doubt_are_those_that_the_clusters_do_not_follow(made):
    """One "same" between two clusters of three, against four "different"; and a pair on which two workers disagree."""
    same = [(0, 1), (1, 2), (3, 4), (4, 5), (2, 3)]
    votes = {(*pair, "ann"): True for pair in same} | {(i, j, "bob"): False for i in (0, 1) for j in (3, 4)}
    made.record(votes)
    assert made.doubts() == [(2, 3)]
    made.record({(2, 3, "ann"): False, (0, 1, "bob"): False})
    assert made.doubts() == [(0, 1)]
    made.record({(0, 1, "bob"): True})
    assert made.doubts() == [] and sorted(made.table()["size"]) == [3] * 6


def test_only_one_text_of_identical_ones_is_asked_about_if_it_is_not_to_be_asked(tmp_path):
    (tmp_path / "my.csv").write_text("id,name\na,Ann Lee\nb,ann  lee\nc,Ann Leee\n")
    assert len(started(tmp_path / "my.csv", identical="same").questions(9)) == 1
    assert (0, 1) in started(tmp_path / "my.csv", identical="ask").questions(9)


# --- clusters -----------------------------------------------------------------------------------------------------


def test_clusters_have_all_columns_of_one_file_as_they_are(tmp_path):
    (tmp_path / "my.csv").write_text("note,cluster,name,label,,note\n 1 ,x,Ann,p,,2\n=1,y,Bo,q,-,\n")
    table = (project := started(tmp_path / "my.csv", fields=["name"])).table()
    assert list(table) == ["id", "note", "cluster", "name", "label", "", "note", "cluster_", "size"]
    assert table.values.tolist() == [
        ["2", " 1 ", "x", "Ann", "p", "", "2", 0, 1],
        ["3", "=1", "y", "Bo", "q", "-", "", 1, 1],
    ]
    assert "\n3,'=1,y," in project.write_clusters().read_text()  # which no spreadsheet runs


def test_clusters_of_two_files_have_the_columns_of_either(tmp_path):
    (tmp_path / "=a.csv").write_text("id,name,file\n1,Ann,x\n")
    (tmp_path / "b.csv").write_text("id,name,age\n1,Anne,5\n2,Bo,6\n")
    (project := Project(tmp_path / "p.crowder", tmp_path / "=a.csv", tmp_path / "b.csv")).start()
    project.answer((0, 1), True, "ann")
    assert project.write_clusters().read_text() == (
        "file_,id,name,file,age,cluster,size\n'=a,1,Ann,x,,0,2\nb,1,Anne,,5,0,2\nb,2,Bo,,6,1,1\n"
    )


def test_a_cluster_keeps_its_number_while_it_keeps_most_of_its_records(made):
    def written():
        Project(made.folder).write_clusters()
        return Project(made.folder).table()["cluster"].tolist()

    assert written() == [0, 1, 2, 3, 4, 5]
    made.record({(3, 4, "ann"): True, (4, 5, "ann"): True})
    assert written() == [0, 1, 2, 3, 3, 3]
    made.record({(0, 1, "ann"): True, (2, 3, "ann"): True})
    assert written() == [0, 0, 3, 3, 3, 3]  # that of three records and not of one
    made.record({(2, 3, "ann"): False})
    assert written() == [0, 0, 6, 3, 3, 3]  # no number stands for two clusters one after the other
    made.record({}, [(0, 1, "ann")])
    assert written() == [7, 8, 6, 3, 3, 3]  # nobody has most of the records of 0
    (made.folder / "clusters.json").write_text("{}")
    with pytest.raises(ValueError, match=r"clusters.json is damaged; remove it; clusters then get other numbers"):
        made.table()
