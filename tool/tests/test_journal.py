"""Answers that cost money: runs are killed, disks filled, files mixed up, and no answer is lost or paid for twice."""

import contextlib
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
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
from crowder_tool import answer_file, ask_all
from crowder_tool.candidates import TableCandidates
from crowder_tool.journal import Answer, Journal

from . import journal_crash
from .support import NIGHTLY, examples

LABELS, SIMILARITY, read = journal_crash.LABELS, journal_crash.SIMILARITY, journal_crash.read
KILLS = 8 if NIGHTLY else 1  # times as many
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
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def votes(table):
    """What counts now: pair, answer and worker, by pair and number."""
    rows = table.sort_values(["i", "j", "first"])[["i", "j", "same", "worker"]].values.tolist()
    return [(i, j, None if pd.isna(same) else same, who) for i, j, same, who in rows]


# --- against a model in memory, and killed ---------------------------------------------------------------------------


@given(st.data())
@examples(40, night=2000)
def test_a_journal_has_the_last_vote_of_each_worker_and_forgets_none(data):
    """Questions, votes recorded, changed and taken back, closing and opening again, in any order, by two objects at one
    file: against a dictionary of the votes about each pair, [answer, worker] in the order of their first answers."""
    answers, workers = st.sampled_from([True, False, None]), st.sampled_from(["ann", "bob", None])
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])
    expected, paid, spent = {}, 0, 0

    def last_of(pair, worker):
        return next((vote for vote in reversed(expected.get(tuple(sorted(pair)), [])) if vote[1] == worker), None)

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        path = Path(folder) / "answers.db"
        journals = [opened.enter_context(Journal(None, path)) for _ in range(2)]
        for _ in range(data.draw(st.integers(1, 12))):
            which = data.draw(st.integers(0, 1))
            journal, what = journals[which], data.draw(st.sampled_from(["ask", "record", "open"]))
            if what == "open":
                journal.close()
                journals[which] = opened.enter_context(Journal(None, path))
            elif what == "ask":
                pair, number = data.draw(pairs), data.draw(st.integers(0, 2))
                said, cost = [data.draw(answers), data.draw(workers)], data.draw(st.integers(0, 3))
                journal._oracle, before = lambda i, j: Answer(said[0], 0.5, cost, said[1]), journal.asked  # noqa: B023
                known = expected.setdefault(tuple(sorted(pair)), [])
                is_new = number >= len(known)
                if is_new:
                    known.append(said)
                    paid, spent = paid + 1, spent + cost
                vote = known[-1 if is_new else number]
                assert journal.vote(*pair, number) == (vote[0] if vote[1] is None else tuple(vote))
                assert journal.asked - before == is_new  # no question is put again whose answer is there
                assert journal(*pair) == next((vote[0] for vote in known if vote[0] is not None), None)
            else:
                gone = data.draw(st.lists(st.tuples(pairs, workers), max_size=2))
                batch = data.draw(st.lists(st.tuples(pairs, answers, workers), max_size=5,
                                           unique_by=lambda row: (frozenset(row[0]), row[2])))  # fmt: skip
                counts = [0, 0]
                for pair, worker in dict.fromkeys((tuple(sorted(pair)), worker) for pair, worker in gone):
                    if vote := last_of(pair, worker):
                        expected[pair] = [other for other in expected[pair] if other is not vote]
                for pair, answer, worker in batch:
                    if (vote := last_of(pair, worker)) is None:
                        expected.setdefault(tuple(sorted(pair)), []).append([answer, worker])
                        counts[0] += 1
                    elif vote[0] is not answer:
                        vote[0], counts[1] = answer, counts[1] + 1
                got = journal.record([(*pair, *rest) for pair, *rest in batch], [(*pair, who) for pair, who in gone])
                assert got == tuple(counts)
                paid += sum(counts)
        model = [(*pair, *vote) for pair in sorted(expected) for vote in expected[pair]]
        for table in (journals[0].answers(), journals[1].answers(), read(path)):
            assert votes(table) == model
            assert table["first"].is_unique and (table["first"] <= table["entry"]).all()
        log = journals[0]._file.entries()
        assert sum(not entry.gone for entry in log) == paid  # what was replaced is there, too
        assert [entry.entry for entry in log] == [*range(1, len(log) + 1)] and journals[0].costs()[0] == spent


@UNIX
@pytest.mark.parametrize(("work", "runs", "deaths", "within"), [
    ("run", 2, 4, 0.15), ("run", 6, 1, 0.006),  # while the journal is made
    ("sheets", 3, 1, 0.3),
])  # fmt: skip
def test_processes_that_are_killed_lose_no_answer_and_pay_for_none_twice(work, runs, deaths, within, tmp_path):
    """kill -9 at random moments, of one of two processes at the same journal.

    A question may be out when its process dies; nobody can know whether it was answered. It is the only one that is put
    again, and at once. What is on disk at a death is never asked about any more. Sheets of 20 votes are on disk whole,
    and all of those whose recording had returned.
    """
    plain = cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=5)
    for told in program("kill", tmp_path, work, KILLS * runs, deaths, within):
        if work == "run":
            assert told["queries"] == plain.queries.tolist()
            asked = [[*map(int, line.split())] for line in told["log"]]
            assert [pair for k, pair in enumerate(asked) if pair != asked[k - 1]] == np.sort(plain.queries).tolist()
            assert len(asked) - plain.n_queries <= deaths + 1  # in the end, both were killed, of which one asked
            for death in told["deaths"]:
                assert not any([i, j] in asked[death["noted"] :] for i, j, _ in death["stored"])
        else:
            for worker in ("ann", "bob"):
                stored, done = [row for row in told["stored"] if row[2] == worker], told["log"].count(worker)
                assert stored == [[0, 1 + k, worker] for k in range(len(stored))]
                assert done <= len(stored) / 20 <= done + 1 and len(stored) % 20 == 0
            assert told["log"]


@UNIX
def test_an_answer_that_is_out_when_the_disk_is_full_has_its_room(tmp_path):
    """No file may grow from the moment on at which the second question is out: it, and those that there is room for,
    are written; then a question is not asked."""
    told = program("limited", tmp_path)
    assert "the question was not asked" in told["said"] and 100 < told["count"] == told["on_disk"] < 990
    assert told["then"] == "990" and len(told["questions"]) == len({tuple(pair) for pair in told["questions"]}) == 990


# --- the file --------------------------------------------------------------------------------------------------------


def test_answers_are_flushed_before_they_are_handed_on(tmp_path, flushing, monkeypatch):
    monkeypatch.setattr(answer_file, "FLUSH", flushing)
    with Journal(Crowd(), tmp_path / "answers.db") as journal:
        settings = [journal._file.do(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "fullfsync")]
        assert settings == [[("persist",)], [(2,)], [(1,)]]  # 2 is FULL: flushed at every commit
        journal(0, 1)
        assert len(read(tmp_path / "answers.db")) == 1  # another connection sees it at once
        # Room for what an answer overwrites, also on a full disk.
        assert (tmp_path / "answers.db-journal").stat().st_size >= answer_file.ROOM // 2


@given(st.data())
@examples(25, night=2000)
def test_a_flipped_bit_is_noticed_or_changes_no_answer(data):
    with tempfile.TemporaryDirectory() as folder:
        with Journal(None, path := Path(folder) / "answers.db") as journal:
            journal.record([(0, k, (None, True, False)[k % 3], "ann") for k in range(1, 60)])
            told = votes(journal.answers())
        content = bytearray(path.read_bytes())
        used = content.rindex(b"ann") + 200  # beyond are pages of zeros
        content[data.draw(st.integers(0, min(used, len(content) - 1)))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        with contextlib.suppress(ValueError, OSError):
            assert votes(read(path)) == told


def by_sqlite(*statements):
    """Change a file by SQLite."""

    def change(path):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            for statement in statements:
                database.execute(statement)

    return change  # fmt: skip


def containing(content):
    return lambda path: path.write_bytes(content)


def without(path):
    for name in (path, path.with_name("answers.db-lock")):
        name.unlink()


@pytest.mark.parametrize(("change", "message"), [
    (by_sqlite("UPDATE log SET same = 0"), "is damaged: entry 1 does not fit its checksum"),
    (by_sqlite("UPDATE log SET worker = CAST(x'ff' AS TEXT)"), "is damaged: entry 1 does not fit its checksum"),
    (by_sqlite("DELETE FROM log WHERE entry = 1"), "is damaged: entry 1 does not fit its checksum or its number"),
    # SQLite reads "QRIMARY KEY" as a part of the type: no entry would have a number then, and none would be found.
    (lambda path: path.write_bytes(path.read_bytes().replace(b"ER PRIMARY", b"ER QRIMARY", 1)), "tables are not those"),
    (by_sqlite("DROP TABLE log"), "is damaged: its tables are not those of a journal"),
    (by_sqlite("PRAGMA application_id = 5"), "another SQLite file"),
    (lambda path: [without(path), by_sqlite("CREATE TABLE answers (x)")(path)], "another SQLite file"),
    (containing(b"id,name\n1,Orlando\n" * 1000), "not an SQLite file"),
    # SQLite takes both for a new file.
    (containing(b""), "is empty, though it has been a journal: restore it"), (containing(b"x"), "is empty, though it"),
])  # fmt: skip
def test_a_file_that_is_damaged_or_no_journal_is_told_and_left_alone(change, message, tmp_path):
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        journal(0, 1), journal(0, 2)
    change(path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            Journal(crowd, path)
    assert path.read_bytes() == before and len(crowd.asked) == 2


def test_an_empty_file_and_a_name_whose_journal_was_deleted_become_journals(tmp_path):
    (path := tmp_path / "answers.db").touch()
    for _ in range(2):
        with Journal(Crowd(), path) as journal:
            assert len(journal.answers()) == 0 and journal(0, 1) is True
        path.unlink()


@pytest.mark.parametrize("how", ["deleted", "replaced", "a folder", "another", "a copy from before", "empty"])
def test_a_file_that_is_gone_is_noticed_before_the_next_question(how, tmp_path):
    """Also if only its content is another one: as of `cp another answers.db`, even of the same size after as many
    changes, by which SQLite would know that what it has in memory is old."""
    with Journal(Crowd(), other := tmp_path / "other.db") as another:
        another(0, 1)
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        before = path.read_bytes()
        journal(0, 1)
        if how in ("deleted", "a folder"):
            path.unlink()
            if how == "a folder":
                path.mkdir()
        elif how == "replaced":
            shutil.copy(path, tmp_path / "copy.db")
            (tmp_path / "copy.db").replace(path)
        else:
            path.write_bytes({"another": other.read_bytes(), "a copy from before": before, "empty": b""}[how])
        said = f"was {'deleted' if how == 'deleted' else 'replaced'} while it was in use"
        for use in (lambda: journal(0, 2), lambda: journal.record([(0, 2, True, None)]), journal.costs,
                    journal.leased):  # fmt: skip
            with pytest.raises(OSError, match=said):
                use()
        assert crowd.asked == [(0, 1)] and len(journal.answers()) == 1  # what is in memory can be saved
        assert journal(0, 1) is True


def test_an_answer_that_cannot_be_stored_is_told_whole(tmp_path):
    with Journal(lambda i, j: Answer(False, worker="ann"), tmp_path / "answers.db") as journal:
        with pytest.raises(OSError, match=r"answer to \(2, \d+\) is False by 'ann', but could not be written: .*large"):
            journal(2, 2**63)
    with Journal(lambda i, j: path.unlink() or True, path := tmp_path / "answers.db") as journal:
        with pytest.raises(OSError, match=r"answer to \(2, 3\) is True, but could not be written: .*deleted"):
            journal(3, 2)


def test_a_journal_that_is_a_link_has_one_name_and_is_as_private_as_its_records(tmp_path):
    (tmp_path / "my.csv").touch(0o600)
    (tmp_path / "link.db").symlink_to(path := tmp_path / "answers.db")
    with Journal(crowd := Crowd(), tmp_path / "link.db", like=tmp_path / "my.csv") as journal:
        with Journal(crowd, path) as other:
            assert journal.path == other.path == str(path.resolve()) and journal(0, 1) is other(0, 1)
        assert len(crowd.asked) == 1 and len(list(tmp_path.iterdir())) == 5
        assert not any(path.stat().st_mode & 0o077 for path in tmp_path.iterdir())


def test_places_where_no_file_can_be_are_named(tmp_path):
    for path in (tmp_path / "missing" / "answers.db", tmp_path):
        with pytest.raises(OSError, match=f"{path}"):
            Journal(None, path)
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        (lock := path.with_name("answers.db-lock")).unlink()
        lock.mkdir()
        with pytest.raises(OSError, match=f"{lock} cannot be used: unable to open"):
            journal(0, 1)
        assert crowd.asked == []


# --- places that are read only, and other processes ------------------------------------------------------------------

READ_ONLY = """if True:
    import os, sys
    from crowder_tool import Journal
    if os.geteuid() == 0:
        os.setuid(65534)  # nobody: permissions do not bind root
    with Journal(lambda i, j: print("asked"), sys.argv[1]) as journal:
        print(len(journal.answers()), journal(0, 1))
        for use in (lambda: journal(0, 2), lambda: journal.record([(0, 2, True, None)])):
            try:
                use()
            except OSError as error:
                print(error)
"""


@UNIX
@pytest.mark.parametrize("lock", [True, False])
def test_answers_can_be_read_where_nothing_can_be_written(lock):
    """Whether the file for asking is there or not; and nobody is asked in vain."""
    with tempfile.TemporaryDirectory() as folder:
        with Journal(Crowd(), path := Path(folder) / "answers.db") as journal:
            journal(0, 1)
        if not lock:
            Path(f"{path}-lock").unlink()
        for name in Path(folder).iterdir():
            name.chmod(0o444)
        os.chmod(folder, 0o555)
        done = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, timeout=60)
        os.chmod(folder, 0o755)
        first, *said = done.stdout.splitlines()
        assert first == "1 True" and len(said) == 2 and done.stderr == ""
        assert all(str(path) in line and re.search("readonly|unable", line) for line in said), said


HOLDERS = {
    "alone": "with Journal(None, sys.argv[1]).alone(): wait()",
    "asking": "Journal(lambda i, j: wait(), sys.argv[1])(8, 9)",
}
WAIT = """import sys, time
from crowder_tool import Journal
def wait(): print('holds', flush=True); time.sleep(600)
"""


class Clock:
    """A clock that moves by six seconds at each look; a wait without end fails."""

    now, looks = 0.0, 0

    def monotonic(self):
        self.now, self.looks = self.now + 6, self.looks + 1
        assert self.looks < 100
        return self.now


@UNIX
@pytest.mark.parametrize("how", HOLDERS)
def test_who_waits_for_a_stopped_process_is_told_and_gives_up_and_who_reads_does_not_wait(
    how, tmp_path, monkeypatch, caplog
):
    with Journal(None, path := tmp_path / "answers.db") as journal:
        journal.record([(0, 1, True, "ann")])
    child = subprocess.Popen([sys.executable, "-c", WAIT + HOLDERS[how], path], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "holds\n"
        child.send_signal(signal.SIGSTOP)
        with Journal(crowd := Crowd(), path) as journal:
            assert journal(0, 1) is True and len(journal.answers()) == 1 == len(read(path)) and caplog.messages == []
            asks = [lambda: journal(0, 2), lambda: ask_all(crowd, [(0, k) for k in range(3, 30)], journal)]
            for use in [*asks, *([lambda: journal.record([(0, 2, True, "ann")])] if how == "alone" else [])]:
                monkeypatch.setattr(answer_file, "time", clock := Clock())
                with pytest.raises(OSError, match=f"{path} is in use by another process, .*nothing for 60 seconds, or"):
                    use()
                assert caplog.messages == [f"{path} is in use by another process; waiting for it, 50 seconds at most"]
                assert clock.now >= 60
                caplog.clear()
            assert crowd.asked == []
    finally:
        child.kill()
        child.wait(60)
        child.stdout.close()
    with Journal(crowd, path) as journal:
        assert journal(0, 2) is True and journal.asked == 1


def test_who_waits_has_patience_with_who_writes(tmp_path, monkeypatch):
    """The other process takes longer than the limit, but no pause between its answers does."""
    monkeypatch.setattr(answer_file, "PATIENCE", 1.0)
    with Journal(None, tmp_path / "answers.db") as one, Journal(None, one.path) as other:
        begun = threading.Event()

        def busy():
            with one.asking():
                begun.set()
                for k in range(1, 8):
                    one.record([(0, k, True, None)])
                    time.sleep(0.3)

        (writer := threading.Thread(target=busy)).start()
        assert begun.wait(60)
        with other.asking():
            assert len(other.answers()) == 7
        writer.join(60)


@pytest.mark.parametrize("objects", [1, 2])
def test_who_comes_to_an_open_question_waits_for_its_answer(objects, tmp_path):
    """In two threads, with one journal or two on one file; both come to (0, 1) while the crowd thinks about it."""
    thinking, answered, asked = threading.Event(), threading.Event(), []

    def slow(i, j):
        asked.append((i, j))
        thinking.set()
        assert answered.wait(60)
        return True

    journals = [Journal(slow, tmp_path / "answers.db") for _ in range(objects)]
    threads = [threading.Thread(target=journals[k % objects], args=pair, daemon=True)
               for k, pair in enumerate([(0, 1), (1, 0)])]  # fmt: skip
    threads[0].start()
    assert thinking.wait(60)
    threads[1].start()
    threads[1].join(0.3)
    assert threads[1].is_alive() and read(tmp_path / "answers.db").empty  # waits; who only reads does not
    journals[-1].record([(2, 3, True, None)])  # nor does who has answers
    answered.set()
    for thread in threads:
        thread.join(60)
    assert asked == [(0, 1)] and sum(journal.asked for journal in journals) == 1


def test_a_closed_journal_and_one_that_went_through_a_fork_say_so(tmp_path, monkeypatch):
    journal = Journal(Crowd(), tmp_path / "answers.db")
    with monkeypatch.context() as patch:
        patch.setattr(answer_file.os, "getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="forked"):
            journal(0, 1)
    assert journal(0, 1) is True
    journal.close(), journal.close()
    for use in (lambda: journal(0, 2), lambda: journal.record([(0, 1, True, None)])):
        with pytest.raises((OSError, sqlite3.Error), match="closed"):
            use()


# --- other records ---------------------------------------------------------------------------------------------------

MOVED = np.r_[SIMILARITY[:7], 1 - SIMILARITY[7] + 0.01, SIMILARITY[8:]]
FEWER = sparse.coo_matrix((SIMILARITY[:-1], [part[:-1] for part in np.triu_indices(40, 1)]), (40, 40))
OF_TWO = TableCandidates(40, True, _values=SIMILARITY, tables=np.arange(40) // 2)


@pytest.mark.parametrize(("similarity", "message"), [
    (SIMILARITY[: 30 * 29 // 2], "number of records is 40"), (MOVED, "similarities"), (FEWER, "similarities"),
    (OF_TWO, "tables"),
])  # fmt: skip
def test_a_journal_of_other_records_is_refused_before_anything_is_asked(similarity, message, tmp_path):
    with pytest.raises(InterruptedError), Journal(Crowd(patience=5), tmp_path / "answers.db") as journal:
        cr.edge_ordering(SIMILARITY, journal, rng=5)
    with Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        with pytest.raises(ValueError, match=f"journal of other records: .*{message}"):
            cr.edge_ordering(similarity, journal, rng=5)
        assert crowd.asked == [] and len(journal.answers()) == 5
    with Journal(Crowd(), tmp_path / "answers.db") as journal:  # other forms are of the same records
        plain = cr.edge_ordering(SIMILARITY, journal, rng=5)
        stored = sparse.coo_matrix((SIMILARITY, np.triu_indices(40, 1)), shape=(40, 40))
        for form in (squareform(SIMILARITY) + np.eye(40), stored):
            assert np.array_equal(cr.edge_ordering(form, journal, rng=5).queries, plain.queries)
        assert journal.asked == plain.n_queries - 5
    assert {path.name for path in tmp_path.iterdir()} == {"answers.db", "answers.db-lock", "answers.db-journal"}


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "stored"), [
    (True, [True, None, None, 0]), (np.False_, [False, None, None, 0]), ((None, "ann"), [None, "ann", None, 0]),
    (Answer(False, 0.5, 2, "bob"), [False, "bob", 0.5, 2]),
    (Answer(True, worker="a\ud800"), [True, r"a\ud800", None, 0]),  # a name that UTF-8 does not have
])  # fmt: skip
def test_forms_of_an_answer(said, stored, tmp_path):
    with Journal(lambda i, j: said, tmp_path / "answers.db") as journal:
        journal.vote(np.int64(4), np.int32(3), 0)
    table = read(tmp_path / "answers.db")
    types = dict.fromkeys(["entry", "i", "j", "first"], "int64") | {"same": "boolean", "worker": "object"}
    assert table.dtypes.astype(str).to_dict() == types | {"confidence": "float64", "cost": "float64"}
    assert [None if pd.isna(cell) else cell for cell in table.iloc[0]] == [3, 4, *stored, 1, 1]


@pytest.mark.parametrize("said", [1, "yes", (True,), (True, []), (1, "ann"), (True, 0.5), (True, ""),
                                  Answer(True, cost=-1), Answer(True, 2.0), Answer(True, cost=10**400)])  # fmt: skip
def test_what_is_no_answer_is_not_written(said, tmp_path):
    with Journal(lambda i, j: said, tmp_path / "answers.db") as journal:
        with pytest.raises((TypeError, ValueError), match=r"(?s)the answer to \(0, 1\)|the crowd said") as error:
            journal(0, 1)
        assert str(error.value).endswith(f"; the crowd said {said!r}")  # which may have been paid for
        assert len(journal.answers()) == 0 == journal.asked
        for number, error in ((-1, ValueError), (0.5, TypeError), (True, TypeError)):
            with pytest.raises(error, match="the number of a vote"):
                journal.vote(0, 1, number)


@pytest.mark.parametrize(("bad", "gone", "error", "message"), [
    ([(0, 1, True, "ann"), (0, 40, True, "ann")], [], ValueError, r"pairs must be of the 40 records.*\(0, 40\)"),
    ([(0, 1, True, "ann"), (2, 2, True, "ann")], [], ValueError, "a pair must"),
    ([(0.5, 1, True, "ann")], [], TypeError, "a record must be a whole number"),
    ([(0, 1, True, "ann"), (0, 1, True)], [], ValueError, r"votes must be .*, not \(0, 1, True\) in row 1"),
    ([(0, 1, True, None), (1, 2, 1, None)], [], TypeError, "the answer in row 1 must"),
    ([(0, 1, True, "ann"), (1, 2, True, 5)], [], TypeError, "worker of the answer in row 1 must be text"),
    ([(0, 1, True, "ann"), (1, 0, False, "ann")], [], ValueError, r"row 1 says of \(0, 1\) that it is False by 'ann'"),
    ([(3, 4, True, "ann")], [(0, 9, "bob"), (0, 2, 5)], TypeError, "worker of the vote to take back must be text"),
])  # fmt: skip
def test_votes_are_recorded_by_all_or_not_at_all(bad, gone, error, message, tmp_path):
    with Journal(None, tmp_path / "answers.db") as journal:
        journal.begin(cr.EdgeOrdering(SIMILARITY, rng=5))
        journal.record([(0, 9, True, "bob")])
        with pytest.raises(error, match=message):
            journal.record(bad, gone)
        assert votes(journal.answers()) == [(0, 9, True, "bob")]


def test_leases_keep_questions_apart_until_they_end(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("crowder_tool.journal.time.time", lambda: now[0])
    with Journal(None, tmp_path / "answers.db") as journal, Journal(None, journal.path) as other:
        assert journal.lease([(0, 1), (2, 1)], "ann", 60) == [(0, 1), (1, 2)]
        assert other.lease([(1, 0), (1, 2), (2, 3)], "bob", 90) == [(2, 3)]
        assert other.leased("bob") == {(0, 1): 1060, (1, 2): 1060}
        assert journal.leased() == other.leased() == {(0, 1): 1060, (1, 2): 1060, (2, 3): 1090}
        assert journal.lease([(0, 1)], "ann", 70) == [(0, 1)]  # prolonged
        other.release(pairs=[(1, 2)])
        now[0] += 65
        assert set(other.leased()) == {(0, 1), (2, 3)}
        now[0] += 10
        assert other.lease([(0, 1)], "bob", 60) == [(0, 1)]  # ann's has run out
        now[0] = 2e9  # a clock that is ahead, and is put back
        assert other.lease([(0, 1), (4, 5)], "bob", 60) == [(0, 1), (4, 5)]
        now[0] = 1076
        assert journal.leased() == {(2, 3): 1090} and journal.lease([(4, 5)], "ann", 60) == [(4, 5)]
        journal.release(holder="ann")
        other.release(holder="bob")
        assert other.leased() == {} and len(journal.answers()) == 0
