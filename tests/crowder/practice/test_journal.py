"""Answers that cost money: runs are killed, disks filled, files mixed up, and no answer is lost or paid for twice."""

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import journal_crash
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from instances import by_hand
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.practice import answer_file as answerfile
from crowder.practice.journal import read

RUNS = {"edge": cr.edge_ordering, "node": cr.node_ordering}
LABELS = journal_crash.LABELS
SIMILARITY = journal_crash.SIMILARITY
UNIX = pytest.mark.skipif(os.name == "nt", reason="forks, or limits what a process may do")


class Crowd:
    """Answers by the labels, counts, and may go home after some answers."""

    def __init__(self, labels=LABELS, patience=10**9):
        self.labels, self.patience, self.asked = labels, patience, []

    def __call__(self, i, j):
        if len(self.asked) == self.patience:
            raise InterruptedError("gone home")
        self.asked.append((i, j))
        return bool(self.labels[i] == self.labels[j])


def program(command, *arguments):
    """A command of `journal_crash`, in a process of its own."""
    done = subprocess.run(
        [sys.executable, journal_crash.__file__, command, *map(str, arguments)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same(one, other):
    return np.array_equal(one.queries, other.queries) and np.array_equal(one.clusters, other.clusters)


# --- interrupted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS.values())
def test_a_journal_changes_nothing_and_a_second_run_asks_nothing(run, tmp_path):
    crowd = Crowd()
    plain = run(SIMILARITY, cr.Truth(LABELS), rng=5)
    with cr.practice.Journal(crowd, tmp_path / "answers.db") as journal:
        assert same(run(SIMILARITY, journal, rng=5), plain)
        assert crowd.asked == [tuple(pair) for pair in plain.queries.tolist()]  # as the ordering put them
        assert same(run(SIMILARITY, journal, rng=5), plain)  # with the same object
        assert journal.asked == journal.n_answers == plain.n_queries
    with cr.practice.Journal(None, str(tmp_path / "answers.db")) as journal:  # nobody is there to ask
        assert same(run(SIMILARITY, journal, rng=5), plain) and journal.asked == 0
    assert len(crowd.asked) == plain.n_queries
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answers.db", "answers.db-lock"]


@pytest.mark.parametrize("run", RUNS.values())
@given(stops=st.lists(st.integers(0, 12), max_size=4), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_run_interrupted_anywhere_resumes_as_if_it_had_not_been(run, stops, seed):
    rng = np.random.default_rng(seed)
    labels, values = rng.integers(0, 3, 8), rng.integers(0, 3, 28) / 2
    questions = []
    with tempfile.TemporaryDirectory() as folder:
        for stop in [*stops, 10**9]:
            crowd = Crowd(labels, patience=stop)
            with cr.practice.Journal(crowd, Path(folder) / "answers.db") as journal:
                try:
                    got = run(values, journal, rng=seed)
                except InterruptedError:
                    got = None
            questions += crowd.asked
    assert same(got, run(values, cr.Truth(labels), rng=seed))
    assert questions == [tuple(pair) for pair in got.queries.tolist()]  # each of them once, in order


@UNIX
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("together", "kills", "pause"), [(1, 20, 0), (2, 12, 0.001)])
def test_killed_runs_pay_for_no_answer_twice(name, together, kills, pause, tmp_path):
    """kill -9 at random moments, of one process or of one of two at the same journal.

    A question may be out when its process dies; nobody can know whether it was answered. It is the only one that is put
    again, and at once. What is on disk at a death is never asked about any more.
    """
    plain = RUNS[name](SIMILARITY, cr.Truth(LABELS), rng=5)
    runs = program("kill", tmp_path, name, together, kills, pause)
    assert sum(len(run["deaths"]) for run in runs) == kills
    for number, run in enumerate(runs):
        assert len(run["outcomes"]) == together
        for outcome in run["outcomes"]:
            assert outcome["queries"] == plain.queries.tolist() and outcome["clusters"] == plain.clusters.tolist()
        asked = run["asked"]
        once = [pair for k, pair in enumerate(asked) if k == 0 or pair != asked[k - 1]]
        assert once == np.sort(plain.queries).tolist()
        assert len(asked) - plain.n_queries <= len(run["deaths"])
        for death in run["deaths"]:
            before, after = ({tuple(pair) for pair in part} for part in np.split(np.array(asked), [death["asked"]]))
            assert not {tuple(pair) for pair in death["known"]} & after
            if together == 1:  # two go on asking while one is examined
                assert len(before) - len(death["known"]) in (0, 1)  # the one that was out
        with contextlib.closing(sqlite3.connect(tmp_path / str(number) / "answers.db")) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_log_torn_by_a_power_cut_costs_only_what_had_not_been_handed_on(tmp_path):
    """The files as they were while a run was going, the last writes missing or scrambled: a prefix of the answers is
    left, and the run goes on from there."""
    few, labels = SIMILARITY[: 20 * 19 // 2], LABELS[::2]  # the fewer questions, the fewer flushes to wait for
    journal = cr.practice.Journal(Crowd(labels, patience=50), tmp_path / "answers.db")
    with pytest.raises(InterruptedError):
        cr.edge_ordering(few, journal, rng=5)
    log = (tmp_path / "answers.db-wal").read_bytes()
    plain = cr.edge_ordering(few, cr.Truth(labels), rng=5)
    rng = np.random.default_rng(1)
    left = []
    for length in [0, 31, *rng.integers(0, len(log), 8), len(log)]:
        for scrambled in (False, True):
            copy = tmp_path / f"copy-{length}-{scrambled}"
            copy.mkdir()
            shutil.copy(tmp_path / "answers.db", copy)
            rest = rng.bytes(len(log) - length) if scrambled else b""
            (copy / "answers.db-wal").write_bytes(log[:length] + rest)
            with cr.practice.Journal(crowd := Crowd(labels), copy / "answers.db") as resumed:
                left.append(resumed.n_answers)
                assert same(cr.edge_ordering(few, resumed, rng=5), plain)
                assert crowd.asked == [tuple(pair) for pair in plain.queries.tolist()][left[-1] :]
    journal.close()
    assert min(left) == 32 and max(left) == 50  # what has been worked in is not in the log any more


def test_answers_are_flushed_before_they_are_handed_on(tmp_path):
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db") as journal:
        settings = [journal._file._do(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "fullfsync")]
        assert settings == [[("wal",)], [(2,)], [(1,)]]  # 2 is FULL: the log is flushed at every commit
        journal(0, 1)
        assert len(read(tmp_path / "answers.db")) == 1  # another connection sees it at once


def test_faulty_crowds_and_their_votes_resume_alike(tmp_path):
    """A vote is kept with its number, and a faulty crowd's number-th answer is what it would have been."""

    def crowd(patience):
        faulty, plain = cr.Faulty(cr.Truth(LABELS), 0.2, rng=9), Crowd(patience=patience)
        plain.vote = lambda i, j, number: plain(i, j) is not None and faulty.vote(i, j, number)
        return plain

    whole = cr.edge_ordering(SIMILARITY, cr.MajorityVote(cr.Faulty(cr.Truth(LABELS), 0.2, rng=9), 3), rng=5)
    questions = 0
    for patience in (100, 1, 0, 256, 10**9):
        group = crowd(patience)
        with cr.practice.Journal(group, tmp_path / "votes.db") as journal:
            votes = cr.MajorityVote(journal, 3)
            try:
                got = cr.edge_ordering(SIMILARITY, votes, rng=5)
            except InterruptedError:
                got = None
        questions += len(group.asked)
    assert same(got, whole) and questions == votes.asked == 3 * whole.n_queries
    assert read(tmp_path / "votes.db")["vote"].value_counts().to_dict() == dict.fromkeys(range(3), whole.n_queries)
    assert not np.array_equal(whole.clusters, LABELS)  # it did err


# --- another run -----------------------------------------------------------------------------------------------------


def other_runs():
    """A run that is not ``edge_ordering(SIMILARITY, ..., rng=5)``, and how its journal is refused."""
    moved = SIMILARITY.copy()
    moved[7] = 1 - moved[7] + 0.01
    i, j = np.triu_indices(40, 1)
    return {
        "fewer records": (lambda crowd: cr.edge_ordering(SIMILARITY[: 30 * 29 // 2], crowd, rng=5), "40 records"),
        "other records": (lambda crowd: cr.edge_ordering(moved, crowd, rng=5), "similarities"),
        "fewer pairs": (
            lambda crowd: cr.edge_ordering(
                sparse.coo_matrix((SIMILARITY[:-1], (i[:-1], j[:-1])), shape=(40, 40)), crowd, rng=5
            ),
            "similarities",
        ),
        "node ordering": (lambda crowd: cr.node_ordering(SIMILARITY, crowd, rng=5), "EdgeOrdering.*NodeOrdering"),
        "another seed": (lambda crowd: cr.edge_ordering(SIMILARITY, crowd, rng=6), "ties or arrivals"),
        "other ties": (lambda crowd: cr.edge_ordering(SIMILARITY, crowd, ties="index"), "ties or arrivals"),
    }


@pytest.mark.parametrize("other", other_runs())
def test_another_runs_journal_is_refused_before_anything_is_asked(other, tmp_path):
    run, message = other_runs()[other]
    with pytest.raises(InterruptedError), cr.practice.Journal(Crowd(patience=5), tmp_path / "answers.db") as journal:
        cr.edge_ordering(SIMILARITY, journal, rng=5)
    crowd = Crowd()
    with cr.practice.Journal(crowd, tmp_path / "answers.db") as journal:
        with pytest.raises(ValueError, match=f"journal of another run: .*{message}"):
            run(journal)
        with pytest.raises(ValueError, match="another run"):
            run(cr.MajorityVote(journal, 1))  # through whatever wraps it
        assert crowd.asked == [] and journal.n_answers == 5
        cr.edge_ordering(SIMILARITY, journal, rng=5)  # its own run goes on


@pytest.mark.parametrize("seed", [5, 6])
def test_arrivals_tell_node_orderings_apart(seed, tmp_path):
    for number, order in enumerate(["expected-size", "random", np.arange(40)]):
        with cr.practice.Journal(Crowd(), tmp_path / f"{seed}-{number}.db") as journal:
            cr.node_ordering(SIMILARITY, journal, rng=seed, order=order)
    with pytest.raises(ValueError, match="ties or arrivals"):
        cr.node_ordering(SIMILARITY, cr.practice.Journal(None, tmp_path / f"{seed}-0.db"), rng=seed, order="random")
    with pytest.raises(ValueError, match="ties or arrivals"):
        cr.node_ordering(
            SIMILARITY, cr.practice.Journal(None, tmp_path / f"{seed}-2.db"), rng=seed, order=np.arange(40)[::-1]
        )


@pytest.mark.parametrize("run", RUNS.values())
def test_the_same_run_in_another_form_is_the_same_run(run, tmp_path):
    """Dense, condensed and sparse similarities put the same questions."""
    i, j = np.triu_indices(40, 1)
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db") as journal:
        first = run(SIMILARITY, journal, rng=5)
        assert same(run(squareform(SIMILARITY), journal, rng=5), first)
        assert same(run(sparse.coo_matrix((SIMILARITY, (i, j)), shape=(40, 40)), journal, rng=5), first)
        assert journal.asked == first.n_queries


def test_records_that_are_equally_similar_are_told_apart_by_their_text(tmp_path):
    one, other = pd.DataFrame({"name": ["a", "b", "c"]}), ["a", "b", "d"]
    ordering = cr.EdgeOrdering(np.zeros(3), rng=1)
    cr.practice.Journal(None, tmp_path / "answers.db", run=ordering, records=one).close()
    cr.practice.Journal(None, tmp_path / "answers.db", run=ordering, records=one.copy()).close()
    cr.practice.Journal(None, tmp_path / "answers.db", run=ordering).close()  # whoever does not say is believed
    with pytest.raises(ValueError, match="text of its records"):
        cr.practice.Journal(None, tmp_path / "answers.db", run=ordering, records=other)


class Terse(cr.EdgeOrdering):
    """Another class of ordering, which does not tell what it goes by."""

    def decided_by(self):
        return ()


def test_a_question_out_of_turn_is_refused_whatever_an_ordering_tells_of_itself(tmp_path):
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        Terse(SIMILARITY, rng=5).run(journal)
        asked = len(crowd.asked)
        with pytest.raises(ValueError, match="another run: its question 1"):
            Terse(SIMILARITY, rng=6).run(journal)
        assert len(crowd.asked) == asked


def test_the_next_question_is_in_turn_and_the_one_after_it_is_not(tmp_path):
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db") as journal:
        cr.EdgeOrdering(SIMILARITY, rng=5).run(journal)
        first, second = journal.answers()[["i", "j"]].to_numpy()[:2].tolist()
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db", run=cr.EdgeOrdering(SIMILARITY, rng=5)) as again:
        with pytest.raises(ValueError, match="its question 1"):
            again(*second)  # a single question left out is another run already
        again(*first)
        again(*second)
        assert again.asked == 0


def test_driven_by_hand(tmp_path):
    make = {seed: (lambda seed=seed: cr.EdgeOrdering(SIMILARITY, rng=seed)) for seed in (5, 6)}
    plain = make[5]().run(cr.Truth(LABELS))
    path = tmp_path / "answers.db"
    with (
        cr.practice.Journal(Crowd(patience=30), path, run=(begun := make[5]())) as journal,
        pytest.raises(InterruptedError),
    ):
        by_hand(begun, journal)
    with cr.practice.Journal(Crowd(patience=20), path) as journal, pytest.raises(InterruptedError):
        by_hand(make[5](), journal)  # untold, but the questions come as they came
    with pytest.raises(ValueError, match="another run"):
        cr.practice.Journal(None, path, run=make[6]())
    with pytest.raises(ValueError, match="its question 1"):
        by_hand(make[6](), cr.practice.Journal(None, path))  # untold, and seen at the first question
    with pytest.raises(ValueError, match="another run"):
        by_hand(cr.EdgeOrdering(1 - SIMILARITY, rng=5), cr.practice.Journal(stranger := Crowd(), path))
    assert stranger.asked == []
    with cr.practice.Journal(Crowd(patience=40), path) as journal:
        with pytest.raises(ValueError, match="run="):
            by_hand(begun, journal)  # goes on at its thirty-first question; the journal cannot know
        with pytest.raises(InterruptedError):
            by_hand(begun, cr.practice.Journal(Crowd(patience=40), path, run=begun))
    assert begun.n_queries == read(path)["turn"].max() == 90
    with cr.practice.Journal(crowd := Crowd(), path) as journal:
        assert same(begun.run(journal), plain) and len(crowd.asked) == plain.n_queries - 90


@pytest.mark.parametrize("content", ["text", "another program's", "a later version's", "empty"])
def test_files_that_are_no_journals(content, tmp_path):
    path = tmp_path / "answers.db"
    if content == "text":
        path.write_text("id,name\n1,Orlando\n" * 1000)
    elif content == "empty":
        path.touch()
        cr.practice.Journal(None, path).close()  # may well become one
        return
    else:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE answers (x)")
            db.execute(f"PRAGMA application_id = {answerfile.APPLICATION if 'version' in content else 1}")
            db.execute("PRAGMA user_version = 99")
        db.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not a journal"):
        cr.practice.Journal(None, path)
    assert path.read_bytes() == before


# --- disks -----------------------------------------------------------------------------------------------------------


@UNIX
def test_a_full_disk_is_noticed_before_a_question_is_asked(tmp_path):
    told = program("limited", tmp_path)
    assert "the question was not asked" in told["said"]
    assert 0 < told["count"] == told["on_disk"] < 115  # 2,415 pairs, 2,300 of them added beforehand
    assert told["then"] == "2415" and len(told["questions"]) == len({tuple(pair) for pair in told["questions"]}) == 115


def test_the_reserve_is_given_up_for_an_answer_that_finds_no_room(tmp_path, monkeypatch):
    """The disk is full, as far as commits and new files are concerned, until the reserve is gone."""
    reserve = tmp_path / "answers.db-reserve"
    crowd = Crowd()
    with cr.practice.Journal(crowd, tmp_path / "answers.db", run=cr.EdgeOrdering(SIMILARITY, rng=5)) as journal:
        journal(0, 1)
        assert reserve.stat().st_size == answerfile.RESERVE
        do = journal._file._do

        def full(statement, values=()):
            if statement == "COMMIT" and reserve.exists():
                raise OSError("database or disk is full")
            return do(statement, values)

        def no_room(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(journal._file, "_do", full)
        monkeypatch.setattr(answerfile.os, "fsync", no_room)
        assert journal(0, 2) is True and len(read(tmp_path / "answers.db")) == 2
        for _ in range(2):
            with pytest.raises(OSError, match=r"not asked.*No space left"):
                journal(0, 3)
        assert crowd.asked == [(0, 1), (0, 2)] and not reserve.exists()
        monkeypatch.undo()
        assert journal(0, 3) is True and len(crowd.asked) == 3


def test_an_answer_that_cannot_be_written_at_all_is_told_and_kept(tmp_path):
    crowd = Crowd(np.zeros(40))
    ordering = cr.EdgeOrdering(np.full(30 * 29 // 2, 0.5), ties="index")
    with cr.practice.Journal(lambda i, j: crowd(i, j) and False, tmp_path / "answers.db") as journal:
        pages = journal._file._do("PRAGMA page_count")[0][0]
        journal._file._do(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(OSError, match=r"answer to \(\d+, \d+\) is False.*full") as error:
            ordering.run(journal)
        asked = len(crowd.asked)
        assert asked == journal.n_answers + 1
        with pytest.raises(OSError, match="could not be written"):
            ordering.run(journal)
        assert len(crowd.asked) == asked  # not asked again
        answers = read(journal.path)
        journal._file._do("PRAGMA max_page_count = 1000000")
        assert ordering.run(journal).n_queries == len(crowd.asked) == len(set(crowd.asked)) == 30 * 29 // 2
    # In a new process: the answers on disk, and the one that the error told.
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "new.db") as journal:
        pair = tuple(map(int, re.search(r"\((\d+), (\d+)\)", str(error.value)).groups()))
        assert journal.add(answers[["i", "j"]], answers["same"]) + journal.add([pair], [False]) == asked
        cr.edge_ordering(np.full(30 * 29 // 2, 0.5), journal, ties="index")
        assert not set(crowd.asked) & {pair, *map(tuple, answers[["i", "j"]].to_numpy().tolist())}


@UNIX
def test_a_folder_that_cannot_be_written():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with cr.practice.Journal(Crowd(), folder / "old.db") as journal:
            journal(0, 1)
        (folder / "old.db-lock").chmod(0o444)
        (folder / "old.db").chmod(0o444)
        folder.chmod(0o555)
        told = program("unwritable", folder)
        folder.chmod(0o755)
    assert set(told["said"]) == {"new.db", "old.db"} and told["read"] == 1
    assert all("cannot be used" in said for said in told["said"].values())


def test_places_where_no_file_can_be(tmp_path):
    path = tmp_path / "missing" / "answers.db"
    with pytest.raises(OSError, match=f"{path} cannot be used"):
        cr.practice.Journal(None, path)
    for use in (read, lambda path: cr.practice.Journal(None, path)):
        with pytest.raises(IsADirectoryError, match=f"{tmp_path} must be a file, not a directory; name a file in it"):
            use(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no .*missing\.db"):
        read(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()


# --- answers ---------------------------------------------------------------------------------------------------------


def test_a_pair_is_one_question_in_either_order(tmp_path):
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        assert journal(4, 3) is journal(3, 4) is journal(np.int64(4), np.int32(3)) is True
        assert crowd.asked == [(4, 3)]
        row = {"turn": [1], "i": [3], "j": [4], "vote": [0], "same": [True], "worker": [None]}
        assert journal.answers().to_dict("list") == row
        for pair in [(3, 3), (-1, 3)]:
            with pytest.raises(ValueError, match="a pair must"):
                journal(*pair)


def test_added_answers_are_used_and_contradictions_refused(tmp_path):
    plain = cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=5)
    with pytest.raises(InterruptedError), cr.practice.Journal(Crowd(patience=50), tmp_path / "answers.db") as journal:
        cr.edge_ordering(SIMILARITY, journal, rng=5)
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        batch, same_too = plain.queries[80:140, ::-1], plain.answers[80:140]
        assert journal.add(batch, same_too) == 60 and journal.add(plain.queries[40:90], plain.answers[40:90]) == 30
        wrong = ~plain.answers[140:145]
        for pairs, answers, message in [
            (
                np.r_[plain.queries[200:203], plain.queries[:1]],
                np.r_[plain.answers[200:203], ~plain.answers[:1]],
                "answers must",
            ),
            (np.r_[batch[:1], plain.queries[140:145]], np.r_[~same_too[:1], wrong], "answers must"),
            ([(30, 31), (31, 30)], [True, False], r"answers must.*\(30, 31\)"),
            ([(0, 40)], [True], r"pairs must.*\(0, 40\)"),
            ([(3, 3)], [True], "a pair must"),
            ([(0, 1)], [True, False], "pairs must"),
            ([0, 1], [True, False], "pairs must"),
        ]:
            with pytest.raises(ValueError, match=message):
                journal.add(pairs, answers)
        for answers in (["yes"], [1]):
            with pytest.raises(TypeError, match="the answer in row 0 must be True, False or None"):
                journal.add([(0, 1)], answers)
        with pytest.raises(TypeError, match="pairs must"):
            journal.add([(0.0, 1.0)], [True])
        assert journal.add([], []) == 0
        assert journal.n_answers == 140  # of what was refused, nothing was kept
        assert same(cr.edge_ordering(SIMILARITY, journal, rng=5), plain)
        assert crowd.asked == [tuple(pair) for pair in plain.queries[140:].tolist()]
        table = journal.answers()
    assert table["turn"].tolist() == [*range(1, 51), *range(51, plain.n_queries - 89), *[0] * 90]
    types = dict.fromkeys(["turn", "i", "j", "vote"], "int64") | {"same": "bool", "worker": "object"}
    assert table.dtypes.astype(str).to_dict() == types
    table.to_csv(tmp_path / "answers.csv", index=False)  # answers that come back from a spreadsheet
    back = pd.read_csv(tmp_path / "answers.csv")
    with cr.practice.Journal(None, tmp_path / "other.db") as journal:  # for another ordering of the same records, say
        assert journal.add(back[["i", "j"]], back["same"], back["vote"]) == plain.n_queries


@pytest.mark.parametrize("answer", [1, 0, "yes", (True,), (True, 5), (True, []), (1, "ann")])
def test_answers_that_are_no_booleans_are_not_written(answer, tmp_path):
    with cr.practice.Journal(lambda i, j: answer, tmp_path / "answers.db") as journal:
        with pytest.raises(TypeError, match=r"the answer to \(0, 1\) must"):
            journal(0, 1)
        assert journal.n_answers == 0 == journal.asked


def test_what_a_crowd_raises_comes_through_and_nothing_is_written(tmp_path):
    def absent(i, j):
        raise sqlite3.OperationalError("the crowd's own trouble")

    with cr.practice.Journal(absent, tmp_path / "answers.db") as journal:
        for _ in range(2):
            with pytest.raises(sqlite3.OperationalError, match="own trouble"):
                journal(0, 1)
        assert journal.n_answers == 0


# --- several at once -------------------------------------------------------------------------------------------------


def test_who_comes_to_an_open_question_waits_for_its_answer(tmp_path):
    """Two journals on one file, in two threads; both come to (0, 1) while the crowd thinks about it."""
    thinking, answered, asked = threading.Event(), threading.Event(), []

    def slow(i, j):
        asked.append((i, j))
        thinking.set()
        assert answered.wait(60)
        return True

    first, second = (cr.practice.Journal(slow, tmp_path / "answers.db") for _ in range(2))
    threads = [threading.Thread(target=first, args=(0, 1)), threading.Thread(target=second, args=(1, 0))]
    threads[0].start()
    assert thinking.wait(60)
    threads[1].start()
    threads[1].join(0.5)
    assert threads[1].is_alive() and read(first.path).empty  # waits; who only reads does not
    answered.set()
    for thread in threads:
        thread.join(60)
    assert asked == [(0, 1)] and first(0, 1) is second(0, 1) is True
    assert (first.asked, second.asked) == (1, 0)
    first.close()
    second.close()


def test_one_journal_in_several_threads_asks_once(tmp_path):
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        threads = [threading.Thread(target=journal, args=(0, 1)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert crowd.asked == [(0, 1)]


def test_a_closed_journal_says_so(tmp_path):
    journal = cr.practice.Journal(Crowd(), tmp_path / "answers.db")
    journal.close()
    journal.close()
    for use in (
        lambda: journal(0, 1),
        journal.answers,
        lambda: journal.n_answers,
        lambda: journal.add([(0, 1)], [True]),
    ):
        with pytest.raises(ValueError, match="has been closed"):
            use()


def test_a_journal_does_not_go_through_a_fork(tmp_path, monkeypatch):
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db") as journal:
        with monkeypatch.context() as patch:
            patch.setattr(answerfile.os, "getpid", lambda: -1)
            with pytest.raises(RuntimeError, match="forked"):
                journal(0, 1)
        assert journal(0, 1) is True


def test_what_cannot_be_kept_is_not_paid_for(tmp_path):
    """The number of a vote is looked at before the crowd is asked; it was asked first, and the answer was lost."""
    asked = []
    with cr.practice.Journal(lambda i, j: asked.append((i, j)) or True, tmp_path / "answers.db") as journal:
        for number, error in ((-1, ValueError), (2**63, ValueError), (0.5, TypeError), (True, TypeError)):
            with pytest.raises(error, match="the number of a vote"):
                journal.vote(0, 1, number)
        assert asked == [] and journal.n_answers == 0
        with pytest.raises(TypeError, match="vote must"):  # these were kept, and never found again
            journal.add([(0, 1)], [True], vote=0.5)


@pytest.mark.parametrize(
    "row",
    [
        "1, 'a', 1, 0, 1, NULL",
        "1, 1, 0, 0, 1, NULL",
        "1, 0, 1, 0, 2, NULL",
        "'x', 0, 1, 0, 1, NULL",
        "1, 0, 1, NULL, 1, NULL",
        "1, 0, 1, 0, 1, 5",
    ],
)
def test_rows_that_no_journal_wrote_are_told(tmp_path, row):
    """SQLite checks what it writes, not what it reads: a file damaged, or made by others, can hold anything."""
    path = tmp_path / "answers.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE answers (turn, i, j, vote, same, worker)")
    database.execute(f"INSERT INTO answers VALUES ({row})")
    database.execute(f"PRAGMA application_id = {answerfile.APPLICATION}")
    database.execute(f"PRAGMA user_version = {answerfile.VERSION}")
    database.commit()
    database.close()
    with pytest.raises(ValueError, match="is damaged"):
        read(path)


def test_a_file_that_another_program_has_marked_is_left_alone(tmp_path):
    """An empty SQLite file may be made a journal; one that says whose it is, tables or none, may not."""
    for mark in ("application_id = 5", "user_version = 1"):
        path = tmp_path / f"{mark[:4]}.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(f"PRAGMA {mark}")
        before = path.read_bytes()
        for call in (lambda path=path: cr.practice.Journal(cr.Truth([0, 0]), path), lambda path=path: read(path)):
            with pytest.raises(ValueError, match="not a journal"):
                call()
        assert path.read_bytes() == before


def test_a_lock_that_is_none_is_named_and_not_waited_for(tmp_path):
    (tmp_path / "answers.db-lock").write_text("not SQLite " * 100)
    with pytest.raises(ValueError, match=r"answers\.db-lock is not a journal"):
        cr.practice.Journal(cr.Truth([0, 0]), tmp_path / "answers.db")


@pytest.fixture
def first_version(tmp_path):
    """The form of the file, spelt out: whoever has paid for answers can read them with every later version."""
    path = tmp_path / "answers.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("""
            PRAGMA application_id = 1668444023;
            PRAGMA user_version = 1;
            CREATE TABLE answers (i INTEGER NOT NULL, j INTEGER NOT NULL, vote INTEGER NOT NULL,
                same INTEGER NOT NULL, turn INTEGER UNIQUE, PRIMARY KEY (i, j, vote)) WITHOUT ROWID;
            CREATE TABLE run (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
            INSERT INTO answers VALUES (0, 1, 0, 1, 1);
        """)
    return path


def test_a_journal_of_the_first_version_is_read_and_continued(first_version):
    row = {"turn": 1, "i": 0, "j": 1, "vote": 0, "same": True, "worker": None}
    assert read(first_version).to_dict("records") == [row]  # not converted, since reading changes nothing
    with contextlib.closing(sqlite3.connect(first_version)) as database:
        assert database.execute("PRAGMA user_version").fetchall() == [(1,)]
    with cr.practice.Journal(cr.Truth([0, 0, 1]), first_version) as journal:
        run = cr.edge_ordering([0.9, 0.5, 0.1], journal, rng=7)
        assert run.queries.tolist() == [[0, 1], [0, 2]] and journal.asked == 1
        assert journal.add([(1, 2)], [None], worker="ann") == 1  # what the first version could not hold
    table = read(first_version)
    assert table["turn"].tolist() == [1, 2, 0] and table["worker"].tolist() == [None, None, "ann"]
    assert table["same"].isna().tolist() == [False, False, True]
    with contextlib.closing(sqlite3.connect(first_version)) as database:  # the first version refuses any other number
        assert database.execute("PRAGMA user_version").fetchall() == [(2,)]
        assert database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'before'").fetchall() == [(0,)]


def test_a_conversion_that_is_interrupted_leaves_the_old_file(first_version, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(answerfile, "CONVERSION", (*answerfile.CONVERSION[:-1], "SELECT nothing"))
        with pytest.raises(OSError, match="cannot be used"):
            cr.practice.Journal(None, first_version)
    assert len(read(first_version)) == 1
    with cr.practice.Journal(None, first_version) as journal:
        assert journal(0, 1) is True


def test_a_later_version_is_named(tmp_path):
    path = tmp_path / "answers.db"
    cr.practice.Journal(None, path).close()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 3")
    for use in (read, lambda path: cr.practice.Journal(None, path)):
        with pytest.raises(ValueError, match=r"later version of crowder \(tables 3, not 2\); install that version"):
            use(path)


# --- answers that are kept, whatever others say -----------------------------------------------------------------------

KEPT_LABELS = np.repeat(np.arange(4), [5, 4, 2, 1])
KEPT_SIMILARITY = np.random.default_rng(4).random(66)


class Workers:
    """Every vote by another of three workers, of whom one is often unsure and one often wrong; may go home."""

    def __init__(self, patience=10**9):
        self.patience, self.asked = patience, []
        self.wrong = cr.Faulty(cr.Truth(KEPT_LABELS), 0.2, rng=3)

    def vote(self, i, j, number):
        if len(self.asked) == self.patience:
            raise InterruptedError("gone home")
        self.asked.append((min(i, j), max(i, j), number))
        worker = ("ann", "bob", None)[(i + j + number) % 3]
        if worker == "ann" and (i * j) % 4 == 0:
            return None, worker
        said = self.wrong.vote(i, j, number)
        return said if worker is None else (said, worker)


def noisy(similarity=KEPT_SIMILARITY, **settings):
    return cr.beyond.NoisyOrdering(similarity, **{"votes": 2, "doubt": 0, "rng": 5} | settings)


@pytest.mark.parametrize("stops", [(), (0, 1, 7), (3, 3, 3, 20)])
def test_a_strategy_that_keeps_answers_resumes_as_if_it_had_not_been_interrupted(stops, tmp_path):
    questions, whole = [], noisy()
    whole.run(Workers())
    for stop in (*stops, 10**9):
        crowd, resumed = Workers(stop), noisy()
        with cr.practice.Journal(crowd, tmp_path / "answers.db") as journal, contextlib.suppress(InterruptedError):
            resumed.run(journal)
        questions += crowd.asked
    assert resumed.answers == whole.answers and resumed.clusters.tolist() == whole.clusters.tolist()
    assert len(questions) == len(set(questions)) == whole.n_answers  # nothing was asked twice
    table = read(tmp_path / "answers.db")
    stored = [(None if pd.isna(same) else same, who) for same, who in table[["same", "worker"]].to_numpy().tolist()]
    assert stored == [answer[2:] for answer in whole.answers]
    assert {who for _, who in stored} == {"ann", "bob", None} and None in {same for same, _ in stored}
    assert table["vote"].max() == 1  # several votes on a pair


@UNIX
def test_a_strategy_that_is_killed_pays_for_no_vote_twice(tmp_path):
    """As the orderings: kill -9 at random moments, each time with a new process."""
    whole = cr.beyond.NoisyOrdering(SIMILARITY, votes=2, rng=5)
    whole.run(cr.Truth(LABELS))
    for run in program("kill", tmp_path, "noisy", 1, 3, 0.001):
        (outcome,) = run["outcomes"]
        assert outcome["queries"] == [[i, j] for i, j, *_ in whole.answers]
        assert outcome["clusters"] == whole.clusters.tolist()
        assert len(run["asked"]) - whole.n_answers <= len(run["deaths"])  # a question that was out is asked again


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: noisy(rng=6), "ties or arrivals"),
        (lambda: noisy(votes=1), "ties or arrivals"),
        (lambda: noisy(errors=cr.beyond.ErrorRates(0.1, 0.1)), "ties or arrivals"),
        (lambda: noisy(1 - KEPT_SIMILARITY), "similarities"),
        (lambda: cr.EdgeOrdering(KEPT_SIMILARITY, rng=5), "NoisyOrdering.*EdgeOrdering"),
    ],
)
def test_the_journal_of_another_strategy_is_refused(other, message, tmp_path):
    with cr.practice.Journal(Workers(5), tmp_path / "answers.db") as journal, pytest.raises(InterruptedError):
        noisy().run(journal)
    with cr.practice.Journal(crowd := Workers(), tmp_path / "answers.db") as journal:
        with pytest.raises(ValueError, match=f"another run: .*{message}"):
            other().run(journal)
        assert crowd.asked == []


def test_a_strategy_driven_by_hand_goes_on_at_its_next_vote(tmp_path):
    """Two votes on one pair were asked for, one of them told: the journal knows that the second is next."""
    strategy = noisy([0.5])
    with cr.practice.Journal(crowd := Workers(), tmp_path / "answers.db", run=strategy) as journal:
        assert [journal.vote(0, 1, number) for number in (0, 1)] == [(True, "bob"), True]
        strategy.tell(strategy.ask(), True, "bob")
    with cr.practice.Journal(crowd, tmp_path / "answers.db", run=strategy) as journal:
        assert journal._turn == 1
        strategy.run(journal)
        assert journal.asked == 0


def test_two_workers_may_contradict_each_other_under_numbers_of_their_own(tmp_path):
    with cr.practice.Journal(None, tmp_path / "answers.db") as journal:
        assert journal.add([(0, 1), (1, 0)], [True, False], [0, 1], worker=["ann", "bob"]) == 2
        assert journal.add([(0, 1)], [False], 1, worker="bob") == 0  # known
        for same, who in ((True, "bob"), (False, "ann"), (None, "bob")):
            with pytest.raises(ValueError, match=r"its answer to \(0, 1\) is False by 'bob', not .* another number"):
                journal.add([(2, 3), (0, 1)], [True, same], 1, worker=who)
        for answers, who, error, message in (
            ([True, "maybe"], None, TypeError, "row 1 must be True, False or None"),
            ([True, True], ["ann", 5], TypeError, "worker of the answer in row 1 must be text"),
            ([True, True], "", TypeError, "worker of the answer in row 0 must be text"),
            ([True, True], ["ann"], ValueError, "one for each of the 2 answers"),
            ([True, True], 5, TypeError, "worker of the answer in row 0 must be text"),
        ):
            with pytest.raises(error, match=message):
                journal.add([(2, 3), (3, 4)], answers, worker=who)
        assert journal.n_answers == 2
        assert (journal.vote(0, 1, 0), journal.vote(1, 0, 1)) == ((True, "ann"), (False, "bob"))
        journal.add([(2, 3)], [None])
        table = journal.answers()
        assert table["same"].dtype == "boolean" and table["worker"].tolist() == ["ann", "bob", None]
    table.to_csv(tmp_path / "answers.csv", index=False)  # by way of a spreadsheet
    back = pd.read_csv(tmp_path / "answers.csv")
    with cr.practice.Journal(None, tmp_path / "other.db") as journal:
        assert journal.add(back[["i", "j"]], back["same"], back["vote"], back["worker"]) == 3
        pd.testing.assert_frame_equal(journal.answers(), table)


def test_an_ordering_refuses_an_unsure_answer_which_is_not_lost(tmp_path):
    crowd = Crowd([0, 0, 1])
    with cr.practice.Journal(
        lambda i, j: None if {i, j} == {0, 2} else crowd(i, j), tmp_path / "answers.db"
    ) as journal:
        ordering = cr.EdgeOrdering([0.9, 0.5, 0.1], rng=1)
        for _ in range(2):  # it stays so, and nobody is asked again
            with pytest.raises(
                TypeError, match=r"answer to \(0, 2\) must be True or False, not None \(unsure\): ask some"
            ):
                ordering.run(journal)
        assert ordering.n_queries == 1 and journal.asked == 2 == journal.n_answers
        journal.add([(0, 2)], [None], vote=1)
        journal.add([(0, 2)], [False], vote=2, worker="ann")
        assert ordering.run(journal).n_queries == 2
    with cr.practice.Journal(None, tmp_path / "answers.db") as journal:  # as in a new process
        assert cr.edge_ordering([0.9, 0.5, 0.1], journal, rng=1).clusters.tolist() == [0, 0, 1]
    with (
        cr.practice.Journal(lambda i, j: None, tmp_path / "votes.db") as journal,
        pytest.raises(TypeError, match="not None"),
    ):
        cr.MajorityVote(journal, 3)(0, 2)


def test_orderings_and_majorities_do_not_mind_workers(tmp_path):
    with cr.practice.Journal(lambda i, j: (bool(LABELS[i] == LABELS[j]), "ann"), tmp_path / "answers.db") as journal:
        plain = cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=5)
        assert same(cr.edge_ordering(SIMILARITY, journal, rng=5), plain)
        assert cr.MajorityVote(journal, 1)(0, 1) is True
        assert set(journal.answers()["worker"]) == {"ann"}


# --- votes that are recorded, changed and taken back ------------------------------------------------------------------


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_journal_has_the_last_vote_of_each_worker_about_each_pair(data):
    """Against a dictionary: records, changes and votes taken back in any order."""
    votes, workers = {}, st.sampled_from(["ann", "bob", None])
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])
    rows = st.lists(st.tuples(pairs, st.sampled_from([True, False, None]), workers), max_size=5)
    with tempfile.TemporaryDirectory() as folder, cr.practice.Journal(None, Path(folder) / "answers.db") as journal:
        for _ in range(data.draw(st.integers(1, 6))):
            if data.draw(st.booleans()):
                batch = data.draw(rows)
                latest = {(tuple(sorted(pair)), who): same for pair, same, who in batch}
                new = [key for key in latest if key not in votes]
                changed = [key for key in latest if key in votes and votes[key] is not latest[key]]
                got = journal.record([pair for pair, *_ in batch], [row[1] for row in batch], [row[2] for row in batch])
                assert got == (len(new), len(changed))
                votes |= latest
            else:
                (i, j), who = data.draw(pairs), data.draw(st.sampled_from(["ann", "bob"]))
                known = ((min(i, j), max(i, j)), who) in votes
                assert journal.take_back(i, j, who) is known
                votes.pop(((min(i, j), max(i, j)), who), None)
        table = journal.answers()
        stored = {((i, j), who): None if pd.isna(same) else same for _, i, j, _, same, who in table.values.tolist()}
        assert stored == votes and len(table) == len(votes)
        for _, of_pair in table.groupby(["i", "j"]):
            assert sorted(of_pair["vote"]) == list(range(len(of_pair)))  # so that an ordering finds them


@pytest.mark.parametrize("how", ["changed", "taken back"])
@pytest.mark.parametrize("name", RUNS)
def test_nothing_that_followed_from_a_vote_outlives_it(name, how, tmp_path):
    """A crowd says the opposite once, in the midst of a run. Once this is put right, a new run ends as if it had never
    been said, and pays only for what is not on disk."""
    whole = RUNS[name](SIMILARITY, cr.Truth(LABELS), rng=5)
    wrong = tuple(whole.queries[60].tolist())
    with cr.practice.Journal(
        lambda i, j: bool(LABELS[i] == LABELS[j]) != ((i, j) == wrong), tmp_path / "answers.db"
    ) as journal:
        ordering = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}[name](SIMILARITY, rng=5)
        misled = ordering.run(journal)
        assert not np.array_equal(misled.clusters, whole.clusters)
        if how == "changed":
            assert journal.record([wrong], [bool(whole.answers[60])], None) == (0, 1)
        else:
            assert journal.take_back(*wrong[::-1])
        with pytest.raises(ValueError, match=r"has changed: .* Begin a new run|taken back; begin a new run"):
            ordering.run(journal)
        known = {frozenset(pair) for pair in journal.answers()[["i", "j"]].to_numpy().tolist()}
    with cr.practice.Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        assert same(RUNS[name](SIMILARITY, journal, rng=5), whole)
    needed = [tuple(pair) for pair in whole.queries.tolist()]
    assert crowd.asked == [pair for pair in needed if frozenset(pair) not in known]
    assert (wrong in crowd.asked) == (how == "taken back")


def test_a_process_in_the_midst_of_a_run_notices_that_an_answer_was_taken_back(tmp_path):
    ordering = cr.EdgeOrdering(SIMILARITY, rng=5)
    with (
        cr.practice.Journal(Crowd(), tmp_path / "answers.db", run=ordering) as journal,
        cr.practice.Journal(None, journal.path) as other,
    ):
        for _ in range(5):
            ordering.tell(pair := ordering.ask(), journal(*pair))
        assert other.take_back(*ordering.resolution.queries[2].tolist())
        with pytest.raises(ValueError, match="changed or taken back; begin a new run"):
            journal(*ordering.ask())
        assert journal.n_answers == 4 and journal.answers()["turn"].tolist() == [1, 2, 0, 0]
        assert cr.EdgeOrdering(SIMILARITY, rng=5).run(journal).n_queries > 5


def test_a_flipped_answer_is_named_and_not_taken_for_another_run(tmp_path):
    ordering = cr.EdgeOrdering(SIMILARITY, rng=5)
    pair = ordering.ask()
    message = rf"the answer to \({pair[0]}, {pair[1]}\) has changed: it is False in .*, but this run was told True"
    with cr.practice.Journal(lambda i, j: False, tmp_path / "answers.db", run=ordering) as journal:
        journal(*pair)
        ordering.tell(pair, True)  # not what the journal said
        with pytest.raises(ValueError, match=message):
            ordering.run(journal)
    with pytest.raises(ValueError, match=message):
        cr.practice.Journal(None, tmp_path / "answers.db", run=ordering)
    with (
        cr.practice.Journal(None, tmp_path / "answers.db") as journal,
        pytest.raises(ValueError, match="record changes an"),
    ):
        journal.add([pair], [True])


def test_votes_are_recorded_by_all_or_not_at_all(tmp_path):
    with cr.practice.Journal(Crowd(), tmp_path / "answers.db", run=cr.EdgeOrdering(SIMILARITY, rng=5)) as journal:
        for pairs, answers, workers, error, message in (
            ([(0, 1), (0, 40)], [True, True], "ann", ValueError, r"pairs must be of the 40 records.*\(0, 40\)"),
            ([(0, 1), (2, 2)], [True, True], "ann", ValueError, "a pair must"),
            ([(0, 1), (1, 2)], [True, 1], "ann", TypeError, "the answer in row 1 must"),
            ([(0, 1), (1, 2)], [True, True], ["ann"], ValueError, "worker must be one name, or one for each"),
            ([(0, 1), (1, 2)], [True, True], ["ann", 5], TypeError, "worker of the answer in row 1 must be text"),
            ([(0, 1), (1, 2)], [True], "ann", ValueError, "pairs must"),
        ):
            with pytest.raises(error, match=message):
                journal.record(pairs, answers, workers)
        with pytest.raises(TypeError, match="worker of the vote to take back must be text"):
            journal.take_back(0, 1, 5)
        assert journal.n_answers == 0 and journal.record([], [], []) == (0, 0)


def test_a_vote_that_is_recorded_on_a_full_disk_gets_the_room_of_the_reserve(tmp_path):
    with cr.practice.Journal(None, tmp_path / "answers.db") as journal:
        journal.record([(0, 1)], [True], "ann")
        do, reserve = journal._file._do, tmp_path / "answers.db-reserve"

        def full(statement, values=()):
            if statement == "COMMIT" and (reserve.exists() or nothing_left):
                raise OSError("database or disk is full")
            return do(statement, values)

        journal._file._do, nothing_left = full, False
        assert journal.record([(0, 2)], [True], "ann") == (1, 0) and len(read(journal.path)) == 2
        nothing_left = True
        with pytest.raises(OSError, match=r"1 answers? to record, but could not be written: .*full"):
            journal.record([(0, 3)], [True], "ann")
        assert len(read(journal.path)) == 2


def test_votes_are_taken_back_together_with_those_recorded(tmp_path):
    with cr.practice.Journal(None, tmp_path / "answers.db") as journal:
        journal.record([(0, 1), (0, 1), (0, 2)], [True, False, True], ["ann", "bob", "ann"])
        assert journal.record([(0, 1), (0, 2)], [None, False], ["bob", "ann"], [(1, 0, "ann"), (0, 2, "ann")]) == (1, 1)
        stored = [[0, 1, 0, pd.NA, "bob"], [0, 2, 0, False, "ann"]]
        assert journal.answers()[["i", "j", "vote", "same", "worker"]].values.tolist() == stored
        for gone, error in (([(0, 1, "bob"), (2, 2, "ann")], ValueError), ([(0, 1, "bob"), (0, 2, 5)], TypeError)):
            with pytest.raises(error, match=r"a pair must|worker of the vote to take back must"):
                journal.record([(3, 4)], [True], "ann", gone)
        assert journal.answers()[["i", "j", "vote", "same", "worker"]].values.tolist() == stored


@UNIX
def test_a_kill_between_taking_votes_back_and_recording_others_changes_nothing(tmp_path):
    """The process dies when the first vote has been taken back and the other is about to be written."""
    code = """if True:
        import os, signal, sys
        import crowder as cr
        with cr.practice.Journal(None, sys.argv[1]) as journal:
            journal.record([(0, 1)], [True], "ann")
            journal._file.insert = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
            journal.record([(0, 2)], [True], "ann", [(0, 1, "ann")])
    """
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "answers.db"]).returncode == -signal.SIGKILL
    assert read(tmp_path / "answers.db")[["i", "j", "same", "worker"]].values.tolist() == [[0, 1, True, "ann"]]
    with cr.practice.Journal(None, tmp_path / "answers.db") as journal:
        assert journal.record([(0, 2)], [True], "ann", [(0, 1, "ann")]) == (1, 0) and journal.n_answers == 1


@UNIX
def test_recorded_votes_outlive_a_kill_by_whole_sheets(tmp_path):
    """Two processes record sheets of 20 votes, each its own worker's, until they are killed: what is on disk are whole
    sheets, and all of those whose recording had returned."""
    for run in program("record", tmp_path, 6):
        for worker, done in run["done"].items():
            stored = [row for row in run["stored"] if row[2] == worker]
            assert done <= len(stored) / 20 <= done + 1 and len(stored) % 20 == 0
            assert stored == [[0, 1 + k, worker] for k in range(len(stored))]
    assert sum(sum(run["done"].values()) for run in program("record", tmp_path, 2)) > 0
