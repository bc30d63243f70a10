"""A project's folder: what it keeps, what it takes, what it refuses without losing an answer."""

import shutil
import tempfile
import threading
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowder_tool import Journal, files, people
from crowder_tool.journal import Vote
from crowder_tool.learning import LearnedOrdering
from crowder_tool.project import Project, make_project

from .support import examples

RECORDS = pd.DataFrame({
    "id": list("abcdef"),
    "name": ["Ann Lee", "Ann Leee", "Bo Chen", "Bo Chenn", "Cem Kaya", "Dia Roy"],
    "town": ["Rome", "Rome", "Oslo", "Oslo", "Bonn", "Pune"],
})  # fmt: skip
ANN = [Vote(0, 1, True, "ann")]  # about the first two records


@pytest.fixture
def my(tmp_path):
    RECORDS.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path / "my.csv"


@pytest.fixture
def made(my):
    return started(my)


def started(*paths, **changes):
    return make_project(paths, **changes)


def votes(project):
    """All votes about records that are there."""
    return [vote[:4] for vote in project.votes]


def clusters(project):
    return project.settled.clusters.tolist()


def sheet(path, rows, columns="id_a,id_b,same,worker"):
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


# --- what it keeps ------------------------------------------------------------------------------------------------


def test_a_project_keeps_its_settings_and_finds_its_file_when_both_have_other_names(my, tmp_path):
    made = started(my, fields=["name"], price=3)
    made.record(ANN)
    (there := tmp_path / "elsewhere").mkdir()
    my.rename(there / "other.csv"), made.folder.rename(there / "other.crowder")
    opened = Project(there / "other.crowder")
    assert (opened.fields, opened.settings["price"], opened.settings["identical"]) == (["name"], 3, "ask")
    assert opened.ids == list("abcdef") and votes(started(there / "other.csv")) == [(0, 1, True, "ann")]
    assert Project(there / "other.crowder").files == [there / "other.csv"]


def test_identical_text_is_asked_about_once_or_counts_as_the_same_if_that_is_said(tmp_path):
    (tmp_path / "my.csv").write_text("id,name\na,Ann\nb,Bo\nc,ann \nd,ANN\ne,Ann\n")
    project = started(tmp_path / "my.csv")
    assert project.evidence == [] and project.questions(1) == [(0, 2)] and not project.takes_texts
    project.record([Vote(0, 2, True, "ann")])
    assert clusters(project) == [0, 1, 0, 0, 0] and project.takes_texts  # of 3 and 4, about whom nobody was asked
    assert project.questions(5) == [] and project.audit().resolution.found == 6
    project.record([Vote(0, 3, False, "bob")])  # a no about this text: no other record is taken for its text alone
    assert clusters(project) == [0, 1, 0, 2, 3] and not project.takes_texts
    assert {(0, 4), (2, 4), (3, 4)} & {*project.questions(5)}
    shutil.rmtree(project.folder)
    project = started(tmp_path / "my.csv", identical="same")
    assert clusters(project) == [0, 1, 0, 0, 0] and project.questions(5) == []  # Bo is not similar to Ann
    assert project.takes_texts
    project.record([Vote(0, 2, False, "ann")])
    assert clusters(project) == [0, 1, 2, 0, 0] and project.doubts() == []


# --- a new state of the file, whose records have identifiers ------------------------------------------------------


def closure(keys, pairs):
    """Naive: the cluster of each key, as a set, by joining until nothing changes."""
    of = {key: {key} for key in keys}
    for a, b in pairs:
        joined = of[a] | of[b]
        of |= dict.fromkeys(joined, joined)
    return of


KEYS = [(file, key) for file in (0, 1) for key in "pqrs"]
STATES = st.lists(st.tuples(st.permutations(KEYS), st.integers(3, 8), st.data()), min_size=2, max_size=4)


@given(files=st.sampled_from([1, 2]), states=STATES)
@examples(15, night=300)
def test_answers_follow_the_keys_of_files_that_are_sorted_cut_doubled_and_grown(files, states):
    """Against votes kept in memory by key, where rows come, go and move between uses: there are those about two records
    that are there, and the clusters in the order of the file follow from them."""
    with tempfile.TemporaryDirectory() as folder:
        paths, model = [Path(folder, f"{'ab'[file]}.csv") for file in range(files)], dict[frozenset, bool]()
        for order, size, data in states:
            rows = [key for key in order[:size] if files == 2 or key[0] == 0]
            rows += [key for key in KEYS[: 4 * files : 4] if key[0] not in {file for file, _ in rows}]  # no empty file
            for file, path in enumerate(paths):  # the same identifiers in both files, though not always
                lines = [f"{key},{'PQRS'['pqrs'.index(key)]}ann Lee {file}" for of, key in rows if of == file]
                path.write_text("id,name\n" + "\n".join(lines) + "\n")
            project = started(*paths)
            rows.sort(key=lambda key: key[0])  # in the order of the files
            found = pd.read_csv(project.write_clusters())
            there = {pair: same for pair, same in model.items() if pair <= {*rows}}
            assert len(project.votes) == len(there)
            together = closure(rows, [tuple(pair) for pair, same in there.items() if same])
            assert found["id"].tolist() == [key for _, key in rows]
            groups = dict(zip(rows, found["cluster"], strict=True))
            # None of the answers "no" is about two of a cluster: they are given so that nothing is contradicted.
            assert all((groups[a] == groups[b]) == (b in together[a]) for a, b in combinations(rows, 2))
            named = [(int(file), id.split(":")[-1]) for file, id in zip(project.file_of, project.ids, strict=True)]
            open_pairs = project.still_open(combinations(range(len(rows)), 2))
            for i, j in data.draw(st.lists(st.sampled_from(open_pairs), unique=True, max_size=2) if open_pairs
                                  else st.just([])):  # fmt: skip
                if project.still_open([(i, j)]):
                    # By letter, so that answers never contradict each other, whatever is there.
                    model[frozenset((named[i], named[j]))] = same = named[i][1] == named[j][1]
                    project.record([Vote(i, j, same, "ann")])
            before = {path: path.read_bytes() for path in project.folder.iterdir() if "db" not in path.name}
            text = paths[0].read_text()
            paths[0].write_text(text + text.splitlines()[1] + "\n")
            with pytest.raises(ValueError, match="identifiers must be unique"):
                started(*paths)
            assert before == {path: path.read_bytes() for path in before}


def test_a_file_that_is_merely_sorted_otherwise_has_the_same_candidates_and_its_audit_goes_on(made, my):
    made.record(ANN)
    made.turn_audit(True)
    drawn, candidates = made.questions(3), (made.folder / "candidates.npz").read_bytes()
    RECORDS.sort_values("town").to_csv(my, index=False)
    again = started(my)
    assert (again.folder / "candidates.npz").read_bytes() == candidates and again.questions(3) == drawn
    assert again.audited["on"] and again.ids == list("abcdef")
    RECORDS[RECORDS["id"] != drawn[0][0]][1:].to_csv(my, index=False)
    assert started(my).audited["over"]  # it was of other candidates
    RECORDS.to_csv(my, index=False)
    assert started(my).questions(3) == drawn


def test_a_record_that_has_answers_keeps_its_text_also_while_it_is_gone(made, my):
    made.record([*ANN, Vote(2, 3, True, "ann")])
    made.journal.lease([(0, 4), (3, 4)], "bob", 60)  # by numbers, which stay with the records
    RECORDS[1:].to_csv(my, index=False)
    again = started(my)
    assert [*again.leased()] == [(2, 3)]
    assert votes(again) == [(1, 2, True, "ann")] and again.progress().endswith("and 1 about records that are gone")
    RECORDS.replace("Ann Lee", "Bob Lee").to_csv(my, index=False)
    with pytest.raises(
        ValueError, match=r"record 'a' has answers, but its 'name' is now 'Bob Lee', and was another te"
    ):
        started(my)
    RECORDS.replace("Dia Roy", "Bob Lee").to_csv(my, index=False)  # about whom there is no answer
    assert (
        votes(again := started(my)) == [(0, 1, True, "ann"), (2, 3, True, "ann")]
        and again.records["name"][5] == "Bob Lee"
    )


def test_a_project_may_change_from_rows_to_identifiers_and_back(tmp_path):
    """By the copy, although the rows have moved meanwhile; or by the rows, if the identifiers are new in the file."""
    (my := tmp_path / "my.csv", records := RECORDS.rename(columns={"id": "key"}))[1].to_csv(my, index=False)
    started(my).record(ANN)
    records[::-1].to_csv(my, index=False)
    with pytest.raises(ValueError, match=r"record in row 2 has answers.* added at the end only; .* by --id COLUMN"):
        started(my)
    records[:1].to_csv(my, index=False)
    with pytest.raises(ValueError, match=r"must still have record 2, which has an answer: restore it\. Without"):
        started(my)
    records[::-1].to_csv(my, index=False)
    assert votes(again := started(my, id="key")) == [(0, 1, True, "ann")] and again.ids[:2] == ["a", "b"]
    assert votes(started(my, id=None)) == [(0, 1, True, "ann")]
    records[::-1].assign(number=range(10, 16)).to_csv(my, index=False)
    assert votes(again := started(my, id="number")) == [(0, 1, True, "ann")] and again.ids[:2] == ["15", "14"]
    records[1:].to_csv(my, index=False)
    with pytest.raises(ValueError, match="column 'number' must be in the header"):
        started(my, id="number")
    with pytest.raises(ValueError, match="record '15' has answers, but cannot be found by the identifiers 'name'"):
        records.assign(number=range(10, 16))[:3].to_csv(my, index=False)
        started(my)
        started(my, id="name")


# --- a new state of any file --------------------------------------------------------------------------------------


def test_the_project_goes_on_with_its_copy_until_it_is_started_again_and_if_the_file_is_gone(made, my):
    RECORDS.replace("Pune", "Delhi").to_csv(my, index=False)
    opened = Project(made.folder)
    assert opened.changed and opened.records["town"][5] == "Pune" and opened.questions(3)
    assert not started(my).changed
    my.unlink()
    opened = Project(made.folder)
    assert not opened.changed and opened.records["town"][5] == "Delhi"


@pytest.mark.parametrize(("change", "options", "fields", "ids"), [
    (lambda r: r, {"id": "name"}, ["key", "town"], "Ann Lee"),  # an identifier was forgotten; it is compared no more
    (lambda r: r.rename(columns={"key": "id"}), {"fields": ["name", "town"]}, ["name", "town"], "a"),
    (lambda r: r.assign(more="x")[["more", "town", "name", "key"]], {}, ["key", "name", "town"], "2"),
    (lambda r: r[:3], {}, ["key", "name", "town"], "2"),  # nobody has answered about the others
])  # fmt: skip
def test_a_new_state_that_leaves_what_was_answered_is_taken(my, change, options, fields, ids):
    (records := RECORDS.rename(columns={"id": "key"})).to_csv(my, index=False)
    started(my).record(ANN)
    change(records).to_csv(my, index=False)
    again = started(my, **options)
    assert again.fields == fields and again.ids[0] == ids and votes(again) == [(0, 1, True, "ann")]
    assert again.still_open([(0, 1), (0, 2)]) == [(0, 2)]


def test_a_column_that_is_gone_is_named_and_nothing_is_guessed(my):
    """The file may say what it is called now; or the options, where the rows have not moved meanwhile."""
    started(my).record(ANN)
    for name in ("id", "town"):
        RECORDS.rename(columns={name: "other"}).to_csv(my, index=False)
        with pytest.raises(ValueError, match=f"my.csv: column '{name}' must be in the header, .* rename it in the fil"):
            started(my)
    assert votes(started(my, fields=["name"])) == [(0, 1, True, "ann")]
    RECORDS.rename(columns={"id": "other"}).to_csv(my, index=False)
    assert votes(again := started(my, id="other")) == [(0, 1, True, "ann")] and again.ids[0] == "a"
    assert started(my, id=None).ids[0] == "2"
    RECORDS[["town"]].set_axis(["q"], axis=1).assign(other=RECORDS["id"]).to_csv(my, index=False)
    with pytest.raises(ValueError, match="one of the columns 'name', since there are answers about their text"):
        started(my, fields=None)


# --- what is missing or damaged -----------------------------------------------------------------------------------


def test_a_journal_that_is_gone_or_of_another_project_is_told(made, my, tmp_path):
    made.record(ANN)
    (answers := made.folder / "answers.journal").rename(tmp_path / "kept.journal")
    for other in (False, True):
        if other:
            Journal(None, answers).close()
        for opening in (lambda: Project(made.folder), lambda: started(my)):
            with pytest.raises(ValueError, match=r"answers.journal is gone, or is that of another project: restore it"):
                opening()
    (tmp_path / "kept.journal").replace(answers)
    assert votes(Project(made.folder)) == [(0, 1, True, "ann")]


@pytest.mark.parametrize(("name", "use"), [
    ("project.json", lambda project: Project(project.folder)),
    ("audit.json", lambda project: project.questions(5)),
    ("clusters.json", lambda project: project.write_clusters()),
])  # fmt: skip
def test_a_damaged_file_is_told_and_the_answers_stay(made, my, name, use):
    made.record(ANN)
    made.turn_audit(True), made.write_clusters()
    content = (path := made.folder / name).read_bytes()
    flipped = bytes([*content[:-9], content[-9] ^ 1, *content[-8:]])
    for damaged in (b"", b"{}", b"[]", b"7", b'{"settings": {}}', content[:-1], flipped, b"\xff", b"[" * 100_000):
        path.write_bytes(damaged)
        with pytest.raises(
            ValueError, match=rf"{name} is damaged; remove it: the answers are in answers.journal, and stay"
        ):
            use(made)
    path.unlink()
    assert votes(started(my)) == [(0, 1, True, "ann")] and use(made)


@pytest.mark.parametrize("name", ["candidates.npz", "records-1.csv"])
def test_what_start_writes_has_a_checksum_and_comes_back_with_a_new_start(made, my, name):
    made.record(ANN)
    content = (path := made.folder / name).read_bytes()
    for damaged in (b"no", None, bytes([*content[:-9], content[-9] ^ 1, *content[-8:]])):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{name} must be as it was .* gone or damaged; run: crowder start .*csv"):
            Project(made.folder).questions(1)
        assert started(my).questions(1)
    path.write_bytes(b"no")
    RECORDS.replace("Ann Lee", "Bob Lee").to_csv(my, index=False)  # what was answered about is known without the copy
    with pytest.raises(ValueError, match="record 'a' has answers, but its 'name' is now 'Bob Lee'"):
        started(my)


def test_without_the_numbers_of_its_records_no_new_state_is_taken(made, my):
    made.record(ANN)
    kept = (path := made.folder / "keys.json").read_bytes()
    for content, message in (
        (kept[:-1], "keys.json is damaged; restore it"),
        (None, "keys.json is gone, or is that of"),
    ):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            started(my)
        assert votes(Project(made.folder)) == [(0, 1, True, "ann")]
    path.write_bytes(kept)
    (made.folder / "project.json").unlink()
    assert votes(started(my)) == [(0, 1, True, "ann")]


@pytest.mark.parametrize("options", [{}, {"id": "name"}, {"fields": ["name"]}])
@pytest.mark.parametrize("written", range(4))
def test_a_start_that_was_killed_is_made_good_by_the_same_start(made, my, monkeypatch, written, options):
    """After each of the files that it writes; the rows have moved, and with the same identifiers a record has gone."""
    made.record([*ANN, Vote(0, 5, False, "ann")])
    RECORDS[:0:-1].to_csv(my, index=False) if "id" not in options else RECORDS[::-1].to_csv(my, index=False)
    left, write = [None] * written, files.write

    def killed(*what, **how):
        left.pop()
        write(*what, **how)

    monkeypatch.setattr(files, "write", killed)
    with pytest.raises(IndexError):
        started(my, **options)
    monkeypatch.undo()
    assert len(started(my, **options).votes) == (2 if "id" in options else 0)
    RECORDS.to_csv(my, index=False)
    again = started(my, **options)
    assert votes(again) == [(0, 1, True, "ann"), (0, 5, False, "ann")]
    assert again._order == [*range(6)]  # every record has kept its number


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
    said = [(0, 1, False, "ann"), (0, 1, False, "bob"), (4, 5, True, "ann")]
    assert sorted(votes(Project(made.folder))) == said
    with pytest.raises(ValueError, match="row 3, column 'id_b': the identifier must be that of a record, not 'z'"):
        made.receive([ann, sheet(tmp_path / "bad.csv", ["c,d,yes,", "a,z,yes,"])])
    with Journal(
        None, made.folder / "answers.journal"
    ) as journal:  # nor has the good sheet been taken; a program may add
        journal.record([(2, 3, True, "by program")])
    assert sorted(votes(Project(made.folder))) == [*said[:2], (2, 3, True, "by program"), said[2]]


def test_a_sheet_is_one_voter_whatever_it_is_called_also_in_a_fresh_project_of_the_same_file(made, my, tmp_path):
    rows = pd.read_csv(made.write_sheet([(0, 1), (2, 3)]))
    rows.assign(same="yes").to_csv(one := tmp_path / "one.csv", index=False)
    rows.assign(same="no").to_csv(two := tmp_path / "two.csv", index=False)
    assert made.receive([str(one)]) == (2, 0, 0, 0) and made.receive([str(two)]) == (0, 2, 0, 0)
    with pytest.raises(
        ValueError, match=r"'sheet-[0-9a-f]{8}' must not give another .* copies of one sheet, need two n"
    ):
        made.receive([str(one), str(two)])
    rows.assign(same="yes", worker="ann").to_csv(one, index=False)
    assert made.receive([str(one)]) == (2, 0, 0, 0)
    pd.read_csv(made.write_sheet([(0, 1)])).assign(same="no").to_csv(two, index=False)
    assert made.receive([str(two)]) == (1, 0, 0, 0)  # another sheet, and so another worker
    shutil.rmtree(made.folder)
    RECORDS[::-1].to_csv(my, index=False)
    assert (fresh := started(my)).receive([str(one)]) == (2, 0, 0, 0)
    assert {frozenset((fresh.ids[i], fresh.ids[j])) for i, j, *_ in fresh.votes} == {frozenset("ab"), frozenset("cd")}


# --- two files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    for name in "ab":
        RECORDS.assign(id=name + RECORDS["id"], town=name).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path / "a.csv", tmp_path / "b.csv"


def test_answers_that_join_records_of_a_file_without_duplicates_are_contradictions(two):
    (project := started(*two)).record([Vote(0, 6, True, "ann"), Vote(1, 8, True, "ann")])
    assert project.contradicted == project.twice == []
    project.record([Vote(0, 7, True, "ann"), Vote(2, 3, True, "ann")])  # two of b with one of a; and two of a
    assert project.contradicted == project.doubts() == [(0, 6), (0, 7), (2, 3)] and project.twice == [(2, 3), (6, 7)]
    project = started(*two, duplicates=["b.csv"])
    assert project.twice == project.contradicted == [(2, 3)]
    assert started(*two, duplicates=[str(two[0]), "b"]).contradicted == []


def test_an_audit_also_asks_whether_a_file_without_duplicates_has_none(two, monkeypatch):
    """A pair that the ordering asks about although the files exclude it, as after a match of both records."""
    (project := started(*two)).record([Vote(0, 6, True, "ann")])
    project.turn_audit(True)
    monkeypatch.setattr(LearnedOrdering, "batch", lambda self, n: [(0, 7), (1, 8)])  # the second is not excluded
    assert (
        project.questions(3)[0] == (0, 7)
        and (1, 8) not in project.audited["drawn"]
        and (0, 7) not in project.audited["drawn"]
    )
    project.record([Vote(0, 7, False, "ann")])
    assert (0, 7) not in project.questions(3)
    project.record([Vote(0, 7, True, "ann"), Vote(0, 7, True, "bob")])  # then nothing can be certified
    assert project.questions(3) == [(1, 8)]


def test_pairs_within_a_file_with_duplicates_are_candidates(two):
    """Of a file without, none is: of each kind of pair, the candidates are those of similar names."""

    def kinds(project):
        return {tuple(sorted(pair)) for pair in project.file_of[project.near.pairs].tolist()}

    assert kinds(started(*two)) == {(0, 1)}
    assert kinds(project := started(*two, duplicates=["b.csv"])) == {(0, 1), (1, 1)}
    assert (6, 7) in project.still_open(map(tuple, project.near.pairs)) and kinds(started(*two)) == {
        (0, 1),
        (1, 1),
    }  # the setting stays
    assert kinds(started(*two, duplicates=["a", "b"])) == {(0, 0), (0, 1), (1, 1)}
    assert kinds(started(*two, duplicates=[])) == {(0, 1)}
    for name, paths in (("c.csv", two), ("a.csv", two[:1])):
        with pytest.raises(ValueError, match=f"--duplicates must name one of two files, not '{name}'"):
            started(*paths, duplicates=[name])


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
    scores.write_text("left,right,score\na:1,a:2,0.8\na:1,b:1,0.9\n")
    assert started(*paths, scores=str(scores), duplicates=["a"]).near.pairs.tolist() == [[0, 1], [0, 6]]


# --- questions until the end, and the audit -----------------------------------------------------------------------


def answered(project, truth, batch=20, until=lambda project: False):
    """Answer batches as the truth says."""
    while not until(project) and (pairs := project.questions(batch)):
        for i, j in project.still_open(pairs):
            project.record([Vote(i, j, bool(truth[i] == truth[j]), "ann")])


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
    i, j = project.audited["drawn"][0]
    project.record([Vote(i, j, bool(truth[i] == truth[j]), "ann")])
    project.turn_audit(True)  # begins no other audit: an answer to a draw stays one
    assert project.audited["before"] == before and [i, j] not in before
    assert project.audit().resolution.audited == draws + 1


def test_no_draw_is_forgotten_if_two_write_at_once_or_an_earlier_answer_is_taken_back(labelled, monkeypatch):
    """Another process draws after one has read which draws there are, and before it writes them; it has to wait."""
    project, truth = labelled
    answered(project, truth, batch=5, until=lambda project: len(project.answers) >= 10)
    project.turn_audit(True)
    one, other = (Project(project.folder) for _ in range(2))
    (first, then), write = project.audit().draws(2), one.write

    def meanwhile(*what):
        (drawing := threading.Thread(target=other._audited, args=([then],))).start()
        drawing.join(0.5)
        threads.append(drawing)
        return write(*what)

    threads = list[threading.Thread]()
    monkeypatch.setattr(one, "write", meanwhile)
    one._audited([first])
    threads[0].join(60)
    assert {first, then} == {*map(tuple, project.audited["drawn"])}
    before = project.questions(9)
    project.record([], project.votes[:1])
    after = project.questions(12)
    assert len(before) == 9 and [pair for pair in after if pair in before] == before


@pytest.mark.parametrize("audit", [False, True])
def test_of_two_who_draw_at_once_the_slower_gets_other_questions(labelled, monkeypatch, audit):
    project, _ = labelled
    project.turn_audit(audit)
    one, other = (Project(project.folder) for _ in range(2))
    then, questions = list[tuple](), one.questions

    def meanwhile(*how):  # after one has chosen its questions, and before it has them
        found = questions(*how)
        then.extend([] if then else other.draw(4, "b", 60))
        return found

    monkeypatch.setattr(one, "questions", meanwhile)
    first = one.draw(4, "a", 60)
    assert len(first) == len(then) == 4 and {*first}.isdisjoint(then) and {*one.leased("b")} == {*first}


# --- clusters -----------------------------------------------------------------------------------------------------


def test_clusters_have_all_columns_of_one_file_as_they_are(tmp_path):
    """Also numbers, telephone numbers and formulas: nothing is put before them."""
    (tmp_path / "my.csv").write_text("note,cluster,name,label,,=note\n 1 ,x,Ann,p,,+49 30 1\n=1,y,-5.20,q,.,-\n")
    assert started(tmp_path / "my.csv", fields=["name"]).write_clusters().read_text() == (
        'id,note,cluster,name,label,,=note,cluster_,size\n2," 1 ",x,Ann,p,,+49 30 1,0,1\n3,=1,y,-5.20,q,.,-,1,1\n'
    )


def test_clusters_of_two_files_have_the_columns_of_either(tmp_path):
    """Also two of one name in one file, the second of which is no other's first."""
    (tmp_path / "=a.csv").write_text("id,name,file,,\n1,Ann,x,y,z\n")
    (tmp_path / "b.csv").write_text("id,name,age,\n1,Anne,5,\n2,Bo,6,w\n")
    project = started(tmp_path / "=a.csv", tmp_path / "b.csv", fields=["name"])
    project.record(ANN)
    assert project.write_clusters().read_text() == (
        "file_,id,name,file,,,age,cluster,size\n=a,1,Ann,x,y,z,,0,2\nb,1,Anne,,,,5,0,2\nb,2,Bo,,w,,6,1,1\n"
    )


def test_a_cluster_keeps_its_number_while_it_keeps_most_of_its_records(made, my):
    def written():
        return pd.read_csv(Project(made.folder).write_clusters())["cluster"].tolist()

    assert written() == [0, 1, 2, 3, 4, 5]
    made.record([Vote(3, 4, True, "ann"), Vote(4, 5, True, "ann")])
    assert written() == [0, 1, 2, 3, 3, 3]
    made.record([*ANN, Vote(2, 3, True, "ann")])
    assert written() == [0, 0, 3, 3, 3, 3]  # that of three records and not of one
    made.record([Vote(2, 3, False, "ann")])
    assert written() == [0, 0, 6, 3, 3, 3]  # no number stands for two clusters one after the other
    RECORDS[1:][::-1].to_csv(my, index=False)
    started(my)
    assert written() == [3, 3, 3, 6, 0]  # by the records, wherever their rows are
    RECORDS.to_csv(my, index=False)
    started(my).record([], ANN)
    assert written() == [7, 8, 6, 3, 3, 3]  # nobody has most of the records of 0
