"""A project's folder: what it keeps, what it takes, what it refuses without losing an answer."""

import shutil
from itertools import combinations

import pandas as pd
import pytest

from crowder_tool import Journal, people
from crowder_tool.project import Project, find, make_project

RECORDS = pd.DataFrame({
    "id": list("abcdef"),
    "name": ["Ann Lee", "Ann Leee", "Bo Chen", "Bo Chenn", "Cem Kaya", "Dia Roy"],
    "town": ["Rome", "Rome", "Oslo", "Oslo", "Bonn", "Pune"],
})  # fmt: skip
ANN = {(0, 1, "ann"): True}  # an answer about the first two records


@pytest.fixture
def csv(tmp_path):
    RECORDS.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path / "my.csv"


@pytest.fixture
def made(csv):
    return started(csv)


def started(*csv, **changes):
    return make_project(csv, **changes)[0]


def clusters(project):
    return project.settled.clusters.tolist()


def sheet(path, rows, columns="id_a,id_b,same,worker"):
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


# --- what it keeps ------------------------------------------------------------------------------------------------


def test_a_project_keeps_its_settings_and_finds_its_file_when_both_have_other_names(csv, tmp_path):
    made = started(csv, fields=["name"], price=3)
    made.record(ANN)
    (there := tmp_path / "elsewhere").mkdir()
    csv.rename(there / "other.csv"), made.folder.rename(there / "other.crowder")
    opened = Project(there / "other.crowder")
    assert (opened.fields, opened.settings["price"], opened.settings["identical"]) == (["name"], 3, "ask")
    assert opened.ids == list("abcdef") and started(there / "other.csv").votes == [(0, 1, True, "ann")]
    assert Project(there / "other.crowder").files == [there / "other.csv"]


def test_questions_are_about_similar_records_and_never_about_what_is_implied(made):
    assert made.near.pairs.shape == (10, 2)  # of 15; the others share no term
    assert set(made.questions(2)) == {(0, 1), (2, 3)}
    made.record({(0, 1, "ann"): True, (0, 2, "ann"): False})
    assert made.still_open([(1, 2), (0, 1)]) == []  # 1 is 0, and 0 is not 2
    assert len(Project(made.folder).questions(15)) <= 10 - 3


def test_identical_text_is_asked_about_once_or_counts_as_the_same_if_that_is_said(tmp_path):
    (tmp_path / "my.csv").write_text("id,name\na,Ann\nb,Bo\nc,ann \nd,ANN\n")
    project = started(tmp_path / "my.csv")
    assert project.evidence == [] and project.questions(1) == [(0, 2)] and not project.takes_texts
    project.record({(0, 2, "ann"): True})
    assert clusters(project) == [0, 1, 0, 0] and project.takes_texts  # of 3, about whom nobody was asked
    assert project.questions(5) == [] and project.audit().resolution.found == 3
    project.record({(0, 3, "bob"): False})  # a no sets the others free
    assert clusters(project) == [0, 1, 0, 2] and project.questions(5) == []
    shutil.rmtree(project.folder)
    project = started(tmp_path / "my.csv", identical="same")
    assert clusters(project) == [0, 1, 0, 0] and project.questions(5) == []  # Bo is not similar to Ann
    assert project.takes_texts
    project.record({(0, 2, "ann"): False})
    assert clusters(project) == [0, 1, 2, 0] and project.doubts() == []


def test_records_may_be_added_and_change_where_nothing_has_been_answered(made, csv):
    """The project goes on with its copy until it is started again, and if the file is gone."""
    made.record(ANN)
    more = pd.concat([RECORDS, pd.DataFrame({"id": ["g"], "name": ["Cem Kayaa"], "town": ["Bonn"]})])
    more.loc[more["id"] == "f", "town"] = "Delhi"
    more.to_csv(csv, index=False)
    opened = Project(made.folder)
    assert opened.changed and len(opened.ids) == 6 and opened.records["town"][5] == "Pune" and opened.questions(3)
    again = started(csv)
    assert not again.changed and again.votes == [(0, 1, True, "ann")] and (4, 6) in again.questions(3)
    csv.unlink()
    opened = Project(made.folder)
    assert len(opened.ids) == 7 and not opened.changed


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
    started(csv).record(ANN)
    change(records).to_csv(csv, index=False)
    again = started(csv, **options)
    assert again.fields == fields and again.ids[0] == ids and again.votes == [(0, 1, True, "ann")]
    assert again.still_open([(0, 1), (0, 2)]) == [(0, 2)]


def test_an_identifier_that_is_renamed_or_removed_is_followed_and_can_be_given_up(csv):
    started(csv, id="id").record(ANN)
    RECORDS.rename(columns={"id": "key"}).to_csv(csv, index=False)
    again, renamed = make_project([csv])
    assert again.ids[0] == "a" and renamed == {"id": "key"}
    assert started(csv, id=None).ids[0] == "2" and started(csv, id="key").fields == ["name", "town"]
    RECORDS.drop(columns="id").to_csv(csv, index=False)
    again, renamed = make_project([csv])
    assert again.ids[0] == "2" and renamed == {"key": None} and len(again.votes) == 1


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: r.replace("Ann Lee", "Bob Lee"), "record 1 has answers, but its 'name' is now 'Bob Lee', not 'Ann Lee'"),
    (lambda r: r.iloc[1:], "record 1 has answers, but its 'id' is now 'b', not 'a'. Restore that text"),
    (lambda r: r.iloc[:1], "must still have record 2, which has an answer, but has 1 records"),
    (lambda r: r.iloc[::-1].drop(columns="id"), "record 1 has answers, but its 'name' is now 'Dia Roy'"),
    (lambda r: r[["town"]].assign(town="?", x="y").set_axis(["p", "q"], axis=1), "one of the columns 'id', 'name', "
     "'town', since there are answers about their text"),
], ids=["text", "removed", "shorter", "order without ids", "another file"])  # fmt: skip
def test_other_changes_are_refused_and_the_project_goes_on_with_its_copy(made, csv, change, message):
    made.record(ANN)
    change(RECORDS).to_csv(csv, index=False)
    for options in ({}, {"id": None, "fields": None}):
        with pytest.raises(ValueError, match=message):
            started(csv, **options)
    opened = Project(made.folder)
    assert opened.votes == [(0, 1, True, "ann")] and opened.ids == list("abcdef") and opened.questions(1)


def test_a_file_in_another_encoding_with_the_same_text_is_taken(tmp_path):
    text = "id,name\na,Ann Lée\nb,Anne Lée\n"
    (csv := tmp_path / "my.csv").write_bytes(text.encode())
    started(csv).record(ANN)
    csv.write_bytes(text.replace(",", ";").encode("cp1252"))
    assert started(csv, encoding="cp1252", sep=";").votes == [(0, 1, True, "ann")]
    assert started(csv, encoding="cp1250").ids == ["a", "b"]  # what was wrong with the bytes is no other text


# --- what is missing or damaged -----------------------------------------------------------------------------------


def test_a_journal_that_is_gone_or_of_another_project_is_told(made, csv, tmp_path):
    made.record(ANN)
    (answers := made.folder / "answers.db").rename(tmp_path / "kept.db")
    for other in (False, True):
        if other:
            Journal(None, answers).close()
        for opening in (lambda: Project(made.folder), lambda: started(csv)):
            with pytest.raises(ValueError, match=r"answers.db is gone, or is that of another project: restore it"):
                opening()
    (tmp_path / "kept.db").replace(answers)
    assert Project(made.folder).votes == [(0, 1, True, "ann")]


@pytest.mark.parametrize(("name", "use"), [
    ("project.json", lambda project: Project(project.folder)),
    ("audit.json", lambda project: project.questions(5)),
    ("clusters.json", lambda project: project.write_clusters()),
])  # fmt: skip
@pytest.mark.parametrize("content", ['{"key": "../my', "{}"])
def test_a_damaged_file_is_told_and_the_answers_stay(made, csv, name, use, content):
    made.record(ANN)
    (made.folder / name).write_text(content)
    with pytest.raises(ValueError, match=rf"{name} is damaged; remove it: the answers are in answers.db, and stay"):
        use(made)
    (made.folder / name).unlink()
    assert started(csv).votes == [(0, 1, True, "ann")] and use(made)


@pytest.mark.parametrize("content", [b"no archive", None])
def test_candidates_that_are_missing_come_back_with_a_new_start(made, csv, content):
    made.record(ANN)
    path = made.folder / "candidates.npz"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ValueError, match=r"candidates.npz must be .* but is gone or damaged; run: crowder start .*csv"):
        Project(made.folder).questions(1)
    assert started(csv).questions(1)


def test_a_project_is_found_alone_or_must_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"must be named, .* folder: none; run: crowder start FILE.csv"):
        find(None)
    (tmp_path / "a.crowder").mkdir(), (tmp_path / "b.crowder").mkdir()
    with pytest.raises(ValueError, match=r"must be named, .* folder: a.crowder, b.crowder"):
        find(None)


# --- answers ------------------------------------------------------------------------------------------------------


def test_each_worker_has_one_vote_and_a_sheet_handed_in_again_replaces_it(made, tmp_path):
    ann = sheet(tmp_path / "ann.csv", ["a,b,yes,ann", "c,d,unsure,ann", "a,c,no,ann", "e,f,,ann"])
    bob = sheet(tmp_path / "b.csv", ["b,a,no,bob", "a,c,,bob"])  # what another said is not taken back by a blank cell
    assert made.receive([ann, bob]) == (4, 0, 0, 1)
    assert made.receive([ann, bob]) == (0, 0, 0, 1)
    assert made.settled.split == [(0, 1)] and made.settled.unsure == [(0, 1), (2, 3)]
    assert {(0, 1), (2, 3)} == {*made.questions(15)[-2:]}  # they are asked last
    sheet(tmp_path / "ann.csv", ["a,b,no,ann", "c,d,,ann", "a,c,,ann", "e,f,yes,ann"])
    assert made.receive([ann]) == (1, 1, 2, 0)
    votes = [(0, 1, False, "ann"), (0, 1, False, "bob"), (4, 5, True, "ann")]
    assert sorted(Project(made.folder).votes) == votes
    with pytest.raises(ValueError, match="row 3, column 'id_b': the identifier must be that of a record, not 'z'"):
        made.receive([ann, sheet(tmp_path / "bad.csv", ["c,d,yes,", "a,z,yes,"])])
    with Journal(None, made.folder / "answers.db") as journal:  # nor has the good sheet been taken; a program may add
        journal.record([(2, 3, True, "by program")])
    assert sorted(Project(made.folder).votes) == [*votes[:2], (2, 3, True, "by program"), votes[2]]


def test_the_answers_in_doubt_are_those_that_the_clusters_do_not_follow(made):
    """One "same" between two clusters of three, against four "different"; and a pair on which two workers disagree."""
    same = [(0, 1), (1, 2), (3, 4), (4, 5), (2, 3)]
    votes = {(*pair, "ann"): True for pair in same} | {(i, j, "bob"): False for i in (0, 1) for j in (3, 4)}
    made.record(votes)
    assert made.doubts() == [(2, 3)] and clusters(made) == [0, 0, 0, 1, 1, 1]
    made.record({(2, 3, "ann"): False, (0, 1, "bob"): False})
    assert made.doubts() == [(0, 1)]


def test_answers_that_join_records_of_a_file_without_duplicates_are_contradictions(tmp_path):
    for name in "ab":
        RECORDS.assign(id=name + RECORDS["id"], town=name).to_csv(tmp_path / f"{name}.csv", index=False)
    project = started(tmp_path / "a.csv", tmp_path / "b.csv")
    project.record({(0, 6, "ann"): True, (1, 8, "ann"): True})
    assert project.contradicted == []
    project.record({(0, 7, "ann"): True, (2, 3, "ann"): True})  # two of b with one of a; and two of a
    assert project.contradicted == project.doubts() == [(0, 6), (0, 7), (2, 3)]


def test_scores_name_records_as_their_files_do_and_the_file_need_not_stay(tmp_path, monkeypatch):
    """Both files number their records from 1; the one with the scores is named from elsewhere, and then removed."""
    for name in "ab":
        RECORDS.assign(id=range(1, 7)).to_csv(tmp_path / f"{name}.csv", index=False)
    (scores := tmp_path / "scores.csv").write_text("left,right,score\na:3,b:2,0.3\n1,1,0.9\n2,1,0.4\n")
    monkeypatch.chdir(tmp_path)
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    started(*paths, scores="scores.csv")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert (project := started(*paths)).near.similarity.tolist() == [0.9, 0.4, 0.3]  # it is read again
    scores.unlink()
    assert Project(project.folder).near.pairs.tolist() == [[0, 6], [1, 6], [2, 7]]
    for row, message in (("a:1,a:2,0.8", "'a:1' and 'a:2' must be of two files"), ("9,1,0.8", "'9' must be the ident")):
        scores.write_text(f"left,right,score\n1,1,0.9\n{row}\n")
        with pytest.raises(ValueError, match=f"scores.csv: {message}"):
            started(*paths, scores=str(scores))


# --- questions until the end, and the audit -----------------------------------------------------------------------


def answered(project, truth, batch=20, until=lambda project: False):
    """Answer batches as the truth says."""
    while not until(project) and (pairs := project.questions(batch)):
        for i, j in project.still_open(pairs):
            project.record({(i, j, "ann"): bool(truth[i] == truth[j])})


@pytest.fixture(params=["one file", "two files"])
def labelled(request, tmp_path):
    """A project and its true clusters, each with one record in either of two files if there are two."""
    records = people([2] * 25 + [1] * 30 if request.param == "two files" else [4, 3, 3] + [2] * 20 + [1] * 30, rng=3)
    records = records.sort_values("label", kind="stable", ignore_index=True)
    parts = {"my": records}
    if request.param == "two files":
        again = records["label"].duplicated()
        parts = {"a": records[~again], "b": records[again]}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    return started(*(tmp_path / f"{name}.csv" for name in parts)), pd.concat(parts.values())["label"].to_numpy()


def test_questions_and_an_audit_that_goes_on_where_it_stopped_find_the_clusters(labelled):
    """What is certified is no more than what is true; afterwards, the ordering finds all that the candidates have."""
    project, truth = labelled
    listed = set(map(tuple, project.near.pairs.tolist()))
    matches = {(i, j) for i, j in combinations(range(len(truth)), 2) if truth[i] == truth[j]}
    answered(project, truth, until=lambda project: sum(project.answers.values()) >= 20)
    project.turn_audit(True, recall=0.8)
    first = project.questions(6)
    assert Project(project.folder).questions(6) == first and set(first).isdisjoint(project.answers)
    answered(project, truth, batch=6, until=lambda project: project.audit().certified)
    run, again = project.audit().resolution, Project(project.folder).audit().resolution
    assert (run.found, run.missed, run.certified) == (again.found, again.missed, again.certified)
    assert run.certified >= 0.8 and run.found <= len(matches & listed) <= run.found + run.missed
    assert project.questions(6) == []
    project.turn_audit(False)
    answered(project, truth)
    group = clusters(project)
    found = {(i, j) for i, j in combinations(range(len(truth)), 2) if group[i] == group[j]}
    assert matches & listed <= found <= matches


def test_a_pause_leads_back_to_the_ordering_and_draws_serve_every_target(labelled):
    project, truth = labelled
    answered(project, truth, until=lambda project: len(project.answers) >= 10)
    ours = project.questions(5)
    project.turn_audit(True)
    drawn = project.questions(5)
    project.turn_audit(False)
    assert project.questions(5) == ours != drawn
    project.turn_audit(True, recall=0.99)
    assert project.audited["recall"] == 0.99 and project.questions(5) == drawn
    before, draws = project.audited["before"], project.audit().resolution.audited
    project.record({(*drawn[0], "ann"): bool(truth[drawn[0][0]] == truth[drawn[0][1]])})
    project.turn_audit(True)  # begins no other audit: an answer to a draw stays one
    assert project.audited["before"] == before and drawn[0] not in map(tuple, before)
    assert project.audit().resolution.audited == draws + 1


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


# --- clusters -----------------------------------------------------------------------------------------------------


def test_clusters_have_all_columns_of_one_file_as_they_are(tmp_path):
    (tmp_path / "my.csv").write_text("note,cluster,name,label,,note\n 1 ,x,Ann,p,,2\n=1,y,Bo,q,.,\n")
    assert started(tmp_path / "my.csv", fields=["name"]).write_clusters().read_text() == (
        'id,note,cluster,name,label,,note,cluster_,size\n2," 1 ",x,Ann,p,,2,0,1\n'
        "3,'=1,y,Bo,q,.,,1,1\n"  # with an apostrophe, so that no spreadsheet runs the cell
    )


def test_clusters_of_two_files_have_the_columns_of_either(tmp_path):
    (tmp_path / "=a.csv").write_text("id,name,file\n1,Ann,x\n")
    (tmp_path / "b.csv").write_text("id,name,age\n1,Anne,5\n2,Bo,6\n")
    project = started(tmp_path / "=a.csv", tmp_path / "b.csv")
    project.record(ANN)
    assert project.write_clusters().read_text() == (
        "file_,id,name,file,age,cluster,size\n'=a,1,Ann,x,,0,2\nb,1,Anne,,5,0,2\nb,2,Bo,,6,1,1\n"
    )


def test_a_cluster_keeps_its_number_while_it_keeps_most_of_its_records(made):
    def written():
        return pd.read_csv(Project(made.folder).write_clusters())["cluster"].tolist()

    assert written() == [0, 1, 2, 3, 4, 5]
    made.record({(3, 4, "ann"): True, (4, 5, "ann"): True})
    assert written() == [0, 1, 2, 3, 3, 3]
    made.record({(0, 1, "ann"): True, (2, 3, "ann"): True})
    assert written() == [0, 0, 3, 3, 3, 3]  # that of three records and not of one
    made.record({(2, 3, "ann"): False})
    assert written() == [0, 0, 6, 3, 3, 3]  # no number stands for two clusters one after the other
    made.record({}, [(0, 1, "ann")])
    assert written() == [7, 8, 6, 3, 3, 3]  # nobody has most of the records of 0
