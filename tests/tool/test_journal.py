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
import time
from decimal import Decimal
from pathlib import Path

import journal_crash
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import NIGHTLY, examples
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
from crowder_tool import answer_file, ask_all
from crowder_tool.journal import Answer, Journal
from crowder_tool.tables import ScoredOrdering, TableCandidates

RUNS = {"edge": cr.edge_ordering, "node": cr.node_ordering}
LABELS, SIMILARITY, read = journal_crash.LABELS, journal_crash.SIMILARITY, journal_crash.read
MARK = f"PRAGMA application_id = {answer_file.APPLICATION}"
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


def same(one, other):
    return np.array_equal(one.queries, other.queries) and np.array_equal(one.clusters, other.clusters)


def votes(journal):
    """What counts now: pair, answer and worker, by pair and number."""
    table = (read(journal) if isinstance(journal, Path) else journal.answers()).sort_values(["i", "j", "vote"])
    return [
        (i, j, None if pd.isna(s) else s, who) for i, j, s, who in table[["i", "j", "same", "worker"]].values.tolist()
    ]


# --- interrupted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS.values())
def test_a_journal_changes_nothing_and_a_second_run_asks_nothing(run, tmp_path):
    crowd, plain = Crowd(), run(SIMILARITY, cr.Truth(LABELS), rng=5)
    with Journal(crowd, tmp_path / "answers.db") as journal:
        assert same(run(SIMILARITY, journal, rng=5), plain)
        assert crowd.asked == [tuple(pair) for pair in plain.queries.tolist()]  # as the ordering put them
        assert same(run(SIMILARITY, journal, rng=5), plain)  # with the same object
        assert journal.asked == len(journal.answers()) == plain.n_queries
    i, j = np.triu_indices(40, 1)
    with Journal(None, str(tmp_path / "answers.db")) as journal:  # nobody is there to ask
        for form in (SIMILARITY, squareform(SIMILARITY), sparse.coo_matrix((SIMILARITY, (i, j)), shape=(40, 40))):
            assert same(run(form, journal, rng=5), plain) and journal.asked == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answers.db", "answers.db-lock"]


@pytest.mark.parametrize("run", RUNS.values())
@given(stops=st.lists(st.integers(0, 12), max_size=4), seed=st.integers(0, 99))
@examples(8, night=200)
def test_a_run_interrupted_anywhere_resumes_as_if_it_had_not_been(run, stops, seed):
    rng = np.random.default_rng(seed)
    labels, values = rng.integers(0, 3, 8), rng.integers(0, 3, 28) / 2
    questions = []
    with tempfile.TemporaryDirectory() as folder:
        for stop in [*stops, 10**9]:
            crowd = Crowd(labels, patience=stop)
            with Journal(crowd, Path(folder) / "answers.db") as journal, contextlib.suppress(InterruptedError):
                got = run(values, journal, rng=seed)
            questions += crowd.asked
    assert same(got, run(values, cr.Truth(labels), rng=seed))
    assert questions == [tuple(pair) for pair in got.queries.tolist()]  # each of them once, in order


@UNIX
@pytest.mark.parametrize(("name", "together", "kills", "pause"), [("edge", 1, 6, 0), ("node", 2, 4, 0.001)])
def test_killed_runs_pay_for_no_answer_twice(name, together, kills, pause, tmp_path):
    """kill -9 at random moments, of one process or of one of two at the same journal.

    A question may be out when its process dies; nobody can know whether it was answered. It is the only one that is put
    again, and at once. What is on disk at a death is never asked about any more.
    """
    plain = RUNS[name](SIMILARITY, cr.Truth(LABELS), rng=5)
    runs = program("kill", tmp_path, name, together, KILLS * kills, pause)
    assert sum(len(run["deaths"]) for run in runs) == KILLS * kills
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


@UNIX
def test_recorded_votes_outlive_a_kill_by_whole_sheets(tmp_path):
    """Two processes record sheets of 20 votes, each its own worker's, until they are killed: what is on disk are whole
    sheets, and all of those whose recording had returned."""
    runs = program("record", tmp_path, 3 * KILLS)
    for run in runs:
        for worker, done in run["done"].items():
            stored = [row for row in run["stored"] if row[2] == worker]
            assert done <= len(stored) / 20 <= done + 1 and len(stored) % 20 == 0
            assert stored == [[0, 1 + k, worker] for k in range(len(stored))]
    assert sum(sum(run["done"].values()) for run in runs) > 0


class Workers:
    """Every vote by another of three workers, of whom one is often unsure and one often wrong; may go home."""

    def __init__(self, patience=10**9):
        self.patience, self.asked = patience, []
        self.wrong = cr.Faulty(cr.Truth(np.repeat(np.arange(4), [5, 4, 2, 1])), 0.2, rng=3)

    def vote(self, i, j, number):
        if len(self.asked) == self.patience:
            raise InterruptedError("gone home")
        self.asked.append((min(i, j), max(i, j), number))
        worker = ("ann", "bob", None)[(i + j + number) % 3]
        if worker == "ann" and (i * j) % 4 == 0:
            return None, worker
        said = self.wrong.vote(i, j, number)
        return said if worker is None else (said, worker)


@pytest.mark.parametrize("stops", [(), (0, 1, 7), (3, 3, 3, 20)])
def test_votes_of_a_strategy_that_keeps_them_are_resumed_with_their_workers(stops, tmp_path):
    questions, whole = [], noisy()
    whole.run(Workers())
    for stop in (*stops, 10**9):
        crowd, resumed = Workers(stop), noisy()
        with Journal(crowd, tmp_path / "answers.db") as journal, contextlib.suppress(InterruptedError):
            resumed.run(journal)
        questions += crowd.asked
    assert resumed.answers == whole.answers and resumed.clusters.tolist() == whole.clusters.tolist()
    assert len(questions) == len(set(questions)) == whole.n_answers  # nothing was asked twice
    assert sorted(votes(tmp_path / "answers.db"), key=str) == sorted(
        ((min(i, j), max(i, j), *rest) for i, j, *rest in whole.answers), key=str
    )
    with Journal(None, tmp_path / "majority.db") as journal:
        journal._oracle = cr.Faulty(cr.Truth(LABELS), 0.2, rng=9)
        run = cr.edge_ordering(SIMILARITY, cr.MajorityVote(journal, 3), rng=5)
        assert journal.asked == 3 * run.n_queries
        journal._oracle = None
        assert same(cr.edge_ordering(SIMILARITY, cr.MajorityVote(journal, 3), rng=5), run)


def noisy():
    return cr.beyond.NoisyOrdering(np.random.default_rng(4).random(66), rng=5)


# --- the file --------------------------------------------------------------------------------------------------------


@UNIX
def test_a_kill_while_a_journal_is_made_leaves_nothing_in_the_way(tmp_path):
    for answer, stored in program("create", tmp_path, 16 * KILLS):
        assert (answer, stored) == (True, 1)


def test_answers_are_flushed_before_they_are_handed_on(tmp_path, flushing, monkeypatch):
    monkeypatch.setattr(answer_file, "FLUSH", flushing)
    with Journal(Crowd(), tmp_path / "answers.db") as journal:
        settings = [journal._file.do(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "fullfsync")]
        assert settings == [[("persist",)], [(2,)], [(1,)]]  # 2 is FULL: flushed at every commit
        journal(0, 1)
        assert len(read(tmp_path / "answers.db")) == 1  # another connection sees it at once


@given(st.data())
@examples(15, night=2000)
def test_a_power_cut_leaves_a_transaction_whole_or_undone(data):
    """The files as they are while an answer is written: the rollback journal is complete, the file itself torn."""
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder) / "answers.db", Path(folder) / "copy.db"
        with Journal(Crowd(), path) as journal:
            journal.record([(0, k, (k - 1) % 3 > 0, "ann") for k in range(1, 200)])
            journal._file.do("PRAGMA cache_spill = 1")
            journal._file.do("PRAGMA cache_size = 1")
            with contextlib.suppress(InterruptedError), journal._file.transaction():
                for k in range(1, 200):
                    journal._file.append(answer_file.Entry(0, 1, 1 + k, 0, True))
                shutil.copy(path, copy)
                shutil.copy(f"{path}-journal", f"{copy}-journal")
                raise InterruptedError
        content, before = bytearray(copy.read_bytes()), path.read_bytes()
        assert content != before  # some of it was written
        for start in range(0, len(content), 512):  # a sector is old or new
            if data.draw(st.booleans()) and start + 512 <= len(before):
                content[start : start + 512] = before[start : start + 512]
        copy.write_bytes(content)
        assert votes(copy) == [(0, k, (k - 1) % 3 > 0, "ann") for k in range(1, 200)]


@given(st.data())
@examples(25, night=2000)
def test_a_flipped_bit_is_noticed_or_changes_no_answer(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.db"
        with Journal(None, path) as journal:
            journal.record([(0, k, (None, True, False)[k % 3], "ann") for k in range(1, 60)])
            told = votes(journal)
        content = bytearray(path.read_bytes())
        used = content.rindex(b"ann") + 200  # beyond are pages of zeros
        place = data.draw(st.integers(0, min(used, len(content) - 1)))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        for use in (read, lambda path: Journal(None, path).answers()):
            try:
                table = use(path)
            except (ValueError, OSError):
                continue
            assert table.drop(columns="entry")[["i", "j", "worker"]].values.tolist() == [
                [i, j, w] for i, j, _, w in told
            ]
            assert [None if pd.isna(s) else s for s in table["same"]] == [row[2] for row in told]


def test_a_flipped_answer_is_told_and_not_used(tmp_path):
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        journal(0, 1)
    for change in ("UPDATE log SET same = 0", "UPDATE log SET j = 7", "UPDATE log SET entry = 2"):
        shutil.copy(path, copy := tmp_path / "copy.db")
        with contextlib.closing(sqlite3.connect(copy)) as db:
            db.execute(change)
            db.commit()
        for use in (read, lambda path: Journal(crowd, path)):
            with pytest.raises(ValueError, match="is damaged: entry 1 does not fit its checksum"):
                use(copy)
    assert len(crowd.asked) == 1


def test_a_flipped_bit_in_the_definition_of_a_table_is_noticed(tmp_path):
    """SQLite reads "QRIMARY KEY" as a part of the type: no entry would have a number then, and none would be found."""
    with Journal(None, path := tmp_path / "answers.db") as journal:
        journal.record([(0, 1, True, "ann")])
    path.write_bytes(path.read_bytes().replace(b"INTEGER PRIMARY KEY", b"INTEGER QRIMARY KEY", 1))
    with pytest.raises(ValueError, match="is damaged: its tables are not those of a journal"):
        read(path)


@pytest.mark.parametrize(
    "how", ["deleted", "replaced", "a folder", "another", "another of its age", "a copy from before", "empty"]
)
def test_a_file_that_is_gone_is_noticed_before_the_next_question(how, tmp_path):
    """Also if only its content is another one: as of `cp another answers.db`, even where the counter of changes, by
    which SQLite would know that what it has in memory is old, has the same value."""
    with Journal(Crowd(), other := tmp_path / "other.db") as another:
        another.record([(5, 6, True, None)] * 2)
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        shutil.copy(path, before := tmp_path / "before.db")
        journal(0, 1)
        shutil.copy(path, tmp_path / "copy.db")
        if how in ("deleted", "a folder"):
            path.unlink()
            if how == "a folder":  # of which there is more than one link
                path.mkdir()
        elif how == "replaced":
            (tmp_path / "copy.db").replace(path)
        elif how == "another of its age":
            content, ours = bytearray(other.read_bytes()), path.read_bytes()
            for counter in (slice(24, 28), slice(92, 96)):  # of SQLite's header
                content[counter] = ours[counter]
            path.write_bytes(content)
        else:
            contents = {"another": other.read_bytes(), "a copy from before": before.read_bytes(), "empty": b""}
            path.write_bytes(contents[how])
        said = f"was {'deleted' if how == 'deleted' else 'replaced'} while it was in use"
        for use in (lambda: journal(0, 2), lambda: journal.record([(0, 2, True, None)]), journal.costs,
                    journal.leased):  # fmt: skip
            with pytest.raises(OSError, match=said):
                use()
        assert crowd.asked == [(0, 1)] and len(journal.answers()) == 1  # what is in memory can be saved
        assert journal(0, 1) is True


@pytest.mark.parametrize("content", [b"", b"x"])  # SQLite takes both for a new file
def test_a_journal_that_was_emptied_is_no_new_one(content, tmp_path):
    (path := tmp_path / "answers.db").touch()
    with Journal(Crowd(), path) as journal:  # an empty file is
        journal(0, 1)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"answers.db is empty, though it has been a journal: restore it"):
        Journal(Crowd(), path)
    assert path.read_bytes() == content
    path.unlink()
    with Journal(None, path) as journal:
        assert len(journal.answers()) == 0


@pytest.mark.parametrize("error", [OSError("full"), OverflowError("large"), UnicodeEncodeError("utf-8", "", 0, 1, "?")])
def test_an_answer_that_cannot_be_stored_is_told_whole(error, tmp_path, monkeypatch):
    def fails(*cells):
        raise error

    with Journal(lambda i, j: (True, "ann"), tmp_path / "answers.db") as journal:
        monkeypatch.setattr(journal._file, "append", fails)
        with pytest.raises(OSError, match=r"the crowd's answer to \(2, 3\) is True by 'ann', but could not be written"):
            journal(3, 2)


def test_a_file_that_goes_while_the_crowd_answers_costs_no_more_than_this_answer(tmp_path):
    with Journal(lambda i, j: path.unlink() or True, path := tmp_path / "answers.db") as journal:
        with pytest.raises(
            OSError, match=r"the crowd's answer to \(0, 1\) is True, but could not be written: .*deleted"
        ):
            journal(0, 1)


def test_a_journal_has_one_name(tmp_path):
    (tmp_path / "link.db").symlink_to(path := tmp_path / "answers.db")
    with Journal(crowd := Crowd(), tmp_path / "link.db") as journal, Journal(crowd, path) as other:
        assert journal.path == other.path == str(path.resolve()) and journal(0, 1) is other(0, 1)
    assert len(crowd.asked) == 1 and (tmp_path / "answers.db-lock").exists()
    os.link(path, tmp_path / "hard.db")
    for name in ("hard.db", "answers.db"):
        with pytest.raises(ValueError, match="must have one name, but is 2 hard links"):
            Journal(crowd, tmp_path / name)


def test_a_journal_is_as_private_as_its_records(tmp_path):
    (tmp_path / "my.csv").touch(0o600)
    with Journal(Crowd(), tmp_path / "answers.db", like=tmp_path / "my.csv") as journal:
        journal(0, 1)
        assert len(list(tmp_path.iterdir())) == 4  # with the lock and the rollback journal
        assert not any(path.stat().st_mode & 0o077 for path in tmp_path.iterdir())


@pytest.mark.parametrize(("statements", "message"), [
    (["CREATE TABLE answers (x)"], "another SQLite file"),
    (["PRAGMA application_id = 5"], "another SQLite file"),
    (["PRAGMA user_version = 1"], "another SQLite file"),
    ([MARK, "PRAGMA user_version = 3"], "another version of crowder"),
    ([MARK, f"PRAGMA user_version = {answer_file.VERSION}"], "is damaged"),
    (None, "not an SQLite file"),
])  # fmt: skip
def test_files_that_are_no_journals_are_left_alone(statements, message, tmp_path):
    path = tmp_path / "answers.db"
    if statements is None:
        path.write_text("id,name\n1,Orlando\n" * 1000)
    else:
        with contextlib.closing(sqlite3.connect(path)) as db:
            for statement in statements:
                db.execute(statement)
    before = path.read_bytes()
    for use in (read, lambda path: Journal(None, path)):
        with pytest.raises(ValueError, match=message):
            use(path)
    assert path.read_bytes() == before


def test_places_where_no_file_can_be(tmp_path):
    with pytest.raises(OSError, match=f"{tmp_path}/missing/answers.db cannot be used"):
        Journal(None, tmp_path / "missing" / "answers.db")
    with pytest.raises(IsADirectoryError, match=f"{tmp_path} must be a file, not a directory; name a file in it"):
        Journal(None, tmp_path)


# --- full disks ------------------------------------------------------------------------------------------------------


@UNIX
def test_an_answer_that_is_out_when_the_disk_is_full_has_its_room(tmp_path):
    """No file may grow from the moment on at which the second question is out: it, and those that there is room for,
    are written; then a question is not asked."""
    told = program("limited", tmp_path)
    assert "the question was not asked" in told["said"] and "the question was not asked" in told["again"]
    assert 100 < told["count"] == told["on_disk"] < 990
    assert told["then"] == "990" and len(told["questions"]) == len({tuple(pair) for pair in told["questions"]}) == 990


# --- places that are read only, and locks ----------------------------------------------------------------------------

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
def test_answers_can_be_read_where_nothing_can_be_written():
    """Whether the file for asking is there or not; and nobody is asked in vain."""
    with tempfile.TemporaryDirectory() as folder:
        with Journal(Crowd(), path := Path(folder) / "answers.db") as journal:
            journal(0, 1)
        for name in (path, f"{path}-lock"):
            os.chmod(name, 0o444)
        os.chmod(folder, 0o555)
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, timeout=60)
            first, *said = done.stdout.splitlines()
            assert first == "1 True" and len(said) == 2 and done.stderr == ""
            assert all(str(path) in line and re.search("readonly|ermission|unable", line) for line in said), said
            os.chmod(folder, 0o755)
            Path(f"{path}-lock").unlink(missing_ok=True)
            os.chmod(folder, 0o555)
        os.chmod(folder, 0o755)


HOLDERS = {
    "alone": "from crowder_tool import Journal\nwith Journal(None, sys.argv[1]).alone(): wait()",
    "exclusive": "import sqlite3\nsqlite3.connect(sys.argv[1]).execute('BEGIN EXCLUSIVE')\nwait()",
    "asking": "from crowder_tool import Journal\nJournal(lambda i, j: wait(), sys.argv[1])(8, 9)",
}
WAIT = "import os, sys, time\ndef wait(): print('holds', flush=True); time.sleep(600)\n"


@contextlib.contextmanager
def stopped(how, path):
    """A process that has been stopped while it holds a lock of this kind."""
    child = subprocess.Popen([sys.executable, "-c", WAIT + HOLDERS[how], path], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "holds\n"
        child.send_signal(signal.SIGSTOP)
        yield
    finally:
        child.kill()
        child.wait(60)
        child.stdout.close()


class Clock:
    """A clock that moves by `step` seconds at each look; a wait of more than two minutes fails."""

    now, step, looks = 0.0, 6.0, 0

    def monotonic(self):
        self.now, self.looks = self.now + self.step, self.looks + 1
        assert self.looks < 20
        return self.now


@UNIX
@pytest.mark.parametrize("how", HOLDERS)
def test_who_waits_for_a_stopped_process_is_told_and_gives_up_and_who_reads_does_not_wait(
    how, tmp_path, monkeypatch, caplog
):
    with Journal(None, path := tmp_path / "answers.db") as journal:
        journal.record([(0, 1, True, "ann")])
    monkeypatch.setattr(answer_file, "time", clock := Clock())
    with stopped(how, path), Journal(crowd := Crowd(), path) as journal:
        before = clock.looks
        assert journal(0, 1) is True and len(journal.answers()) == 1 == len(read(path)) and clock.looks == before
        uses = [lambda: journal(0, 2), lambda: journal.record([(0, 2, True, "ann")])]
        for use in uses[: 1 if how == "asking" else 2]:  # who has answers does not ask
            began, clock.looks = clock.now, 0
            with pytest.raises(OSError, match=f"{path} is in use by another process, .*nothing for 60 seconds; end"):
                use()
            assert caplog.messages == [f"{path} is in use by another process; waiting for it, 50 seconds at most"]
            assert 60 <= clock.now - began <= 72
            caplog.clear()
        clock.step = 0.0  # other threads that come now do not begin to wait
        with pytest.raises(OSError, match="is in use by another process"):
            ask_all(crowd, [(0, k) for k in range(3, 30)], journal)
        assert crowd.asked == []
    with Journal(crowd, path) as journal:
        assert journal(0, 2) is True and journal.asked == 1


@UNIX
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EAGAIN, errno.EACCES])
def test_a_file_system_without_locks_is_told_at_once(number, tmp_path, monkeypatch, caplog):
    """All three are "busy" to SQLite, as in the transaction that stands for them here."""
    import fcntl

    def fails(*_):
        raise OSError(number, os.strerror(number))

    Journal(None, path := tmp_path / "answers.db").close()
    monkeypatch.setattr(fcntl, "lockf", fails)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other, Journal(None, path) as journal:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(
            OSError, match=f"{path} cannot be used: its file system gives no locks .*copy it to a local"
        ):
            journal.record([(0, 1, True, None)])
        assert len(read(path)) == 0 and caplog.messages == []


def test_a_folder_in_place_of_the_file_for_asking_is_named(tmp_path):
    with Journal(crowd := Crowd(), path := tmp_path / "answers.db") as journal:
        (lock := path.with_name("answers.db-lock")).unlink()
        lock.mkdir()
        with pytest.raises(OSError, match=f"{lock} cannot be used: unable to open"):
            journal(0, 1)
        assert crowd.asked == []


def test_who_waits_has_patience_with_who_writes(tmp_path, monkeypatch):
    """The other process takes longer than the limit, but no pause between its answers does."""
    monkeypatch.setattr(answer_file, "PATIENCE", 1.0)
    with Journal(None, tmp_path / "answers.db") as one, Journal(None, one.path) as other:
        begun = threading.Event()

        def busy():
            with one._claimed("asking"):
                begun.set()
                for k in range(1, 8):
                    one.record([(0, k, True, None)])
                    time.sleep(0.3)

        (writer := threading.Thread(target=busy)).start()
        assert begun.wait(60)
        with other._claimed("asking"):
            assert len(other.answers()) == 7
        writer.join(60)


# --- other records, and other runs on the same ones ------------------------------------------------------------------

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
        cr.edge_ordering(SIMILARITY, journal, rng=5)  # its own run goes on


@pytest.mark.parametrize("run", [
    lambda crowd: cr.edge_ordering(SIMILARITY, crowd, rng=6),
    lambda crowd: cr.node_ordering(SIMILARITY, crowd, rng=5),
    lambda crowd: cr.beyond.Audit(cr.EdgeOrdering(SIMILARITY, rng=5), recall=0.9, rng=6).run(crowd),
])  # fmt: skip
def test_another_run_on_the_same_records_uses_the_answers_and_asks_what_it_would(run, tmp_path):
    """The answers on disk change none of its questions, so the draws of an audit do not depend on them."""
    with Journal(Crowd(), tmp_path / "answers.db") as journal:
        cr.beyond.Audit(cr.EdgeOrdering(SIMILARITY, rng=5), recall=0.9, rng=5).run(journal)
        before, known = journal.asked, {(i, j) for i, j, *_ in votes(journal)}
        again, plain = run(journal), run(Crowd())
        assert same(again, plain)
        asked = {tuple(sorted(pair)) for pair in plain.queries.tolist()}
        assert journal.asked - before == len(asked - known) < len(asked)


# --- answers ---------------------------------------------------------------------------------------------------------


def test_a_pair_is_one_question_in_either_order(tmp_path):
    with Journal(crowd := Crowd(), tmp_path / "answers.db") as journal:
        assert journal(4, 3) is journal(3, 4) is journal(np.int64(4), np.int32(3)) is True
        assert crowd.asked == [(4, 3)]
        for pair in [(3, 3), (-1, 3), (3, 2**63)]:
            with pytest.raises(ValueError, match="must be"):
                journal(*pair)
        table = journal.answers()
    types = dict.fromkeys(["entry", "i", "j", "vote"], "int64") | {"same": "boolean", "worker": "object"}
    assert table.dtypes.astype(str).to_dict() == types | {"confidence": "float64", "cost": "float64"}
    assert table.iloc[0].tolist()[:6] == [1, 3, 4, 1, True, None]


@pytest.mark.parametrize(("said", "stored"), [
    (True, (True, None, 0, None)), (np.False_, (False, None, 0, None)), ((None, "ann"), (None, None, 0, "ann")),
    ((True, 0.75), (True, 0.75, 0, None)), (Answer(False, 0.5, 2, "bob"), (False, 0.5, 2, "bob")),
    (Answer(True, worker="a\ud800"), (True, None, 0, r"a\ud800")),  # a name that UTF-8 does not have
])  # fmt: skip
def test_forms_of_an_answer(said, stored, tmp_path):
    with Journal(lambda i, j: said, tmp_path / "answers.db") as journal:
        journal.vote(0, 1, 0)
    found = Journal(None, tmp_path / "answers.db").find((0, 1), 0)
    assert (found.same, found.confidence, found.cost, found.worker) == stored


@pytest.mark.parametrize("said", [1, 0, "yes", (True,), (True, []), (1, "ann"), (True, 1.5), (True, True), (True, ""),
                                  Answer(True, cost=-1), Answer(True, cost=np.nan), Answer(True, 2.0),
                                  Answer(True, cost=10**400), Answer(True, Decimal("nan"), 0, "ann")])  # fmt: skip
def test_what_is_no_answer_is_not_written(said, tmp_path):
    with Journal(lambda i, j: said, tmp_path / "answers.db") as journal:
        with pytest.raises((TypeError, ValueError), match=r"(?s)the answer to \(0, 1\)|the crowd said") as error:
            journal(0, 1)
        assert str(error.value).endswith(f"; the crowd said {said!r}")  # which may have been paid for
        assert len(journal.answers()) == 0 == journal.asked
        journal._oracle = Crowd(patience=0)
        with pytest.raises(InterruptedError):  # comes through
            journal(0, 1)
        for number, error in ((-1, ValueError), (0.5, TypeError), (True, TypeError)):
            with pytest.raises(error, match="the number of a vote"):
                journal.vote(0, 1, number)
            with pytest.raises(error, match="the number of a vote"):
                journal.find((0, 1), number)


def test_an_unsure_answer_is_not_lost_and_somebody_elses_follows_it(tmp_path):
    with Journal(lambda i, j: None, tmp_path / "answers.db") as journal:
        assert journal(0, 2) is journal(0, 2) is None  # nobody is asked again
        assert journal.asked == 1 == len(journal.answers())
        journal.record([(0, 2, None, "ann"), (0, 2, np.False_, "bob")])
        assert journal(0, 2) is False and journal.asked == 1


def test_an_unsure_answer_leaves_its_pair_open_in_a_run_with_a_journal_too(tmp_path):
    crowd = lambda i, j: None if (i + j) % 3 == 0 else bool(LABELS[i] == LABELS[j])  # noqa: E731
    with Journal(crowd, tmp_path / "answers.db") as journal:
        assert same(*(ScoredOrdering(SIMILARITY, rng=5).run(oracle) for oracle in (journal, crowd)))
        assert journal.answers()["same"].isna().any()


# --- votes that are recorded, changed and taken back ------------------------------------------------------------------


@given(st.data())
@examples(25, night=1000)
def test_a_journal_has_the_last_vote_of_each_worker_and_forgets_none(data):
    """Against a dictionary: records, changes and votes taken back in any order, also by a second object."""
    expected, workers = {}, st.sampled_from(["ann", "bob", None])
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])
    rows = st.lists(st.tuples(pairs, st.sampled_from([True, False, None]), workers), max_size=5, unique_by=lambda row: (
        frozenset(row[0]), row[2]))  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(None, Path(folder) / "answers.db") as one,
        Journal(None, Path(folder) / "answers.db") as two,
    ):
        paid = 0
        for _ in range(data.draw(st.integers(1, 6))):
            journal, gone = data.draw(st.sampled_from([one, two])), []
            if data.draw(st.booleans()):
                gone = data.draw(st.lists(st.tuples(pairs, st.sampled_from(["ann", "bob"])), max_size=2))
            batch = data.draw(rows)
            for pair, who in gone:
                expected.pop((tuple(sorted(pair)), who), None)
            latest = {(tuple(sorted(pair)), who): same for pair, same, who in batch}
            new = [key for key in latest if key not in expected]
            changed = [key for key in latest if key in expected and expected[key] is not latest[key]]
            got = journal.record(
                [(*pair, same, who) for pair, same, who in batch], [(*pair, who) for pair, who in gone]
            )
            assert got == (len(new), len(changed))
            expected |= latest
            paid += len(new) + len(changed)
        for table in (one.answers(), read(two.path)):
            stored = {((i, j), who): None if pd.isna(same) else same
                      for i, j, same, who in table[["i", "j", "same", "worker"]].values.tolist()}  # fmt: skip
            assert stored == expected and len(table) == len(expected)
            assert table["vote"].is_unique and (table["vote"] <= table["entry"]).all()
        log = one._file.entries()
        assert sum(not entry.gone for entry in log) >= paid
        assert [entry.entry for entry in log] == [*range(1, len(log) + 1)]


@pytest.mark.parametrize(("bad", "gone", "error", "message"), [
    ([(0, 1, True, "ann"), (0, 40, True, "ann")], [], ValueError, r"pairs must be of the 40 records.*\(0, 40\)"),
    ([(0, 1, True, "ann"), (2, 2, True, "ann")], [], ValueError, "a pair must"),
    ([(0.5, 1, True, "ann")], [], TypeError, "a record must be a whole number"),
    ([(0, 1, True, "ann"), (0, 1, True)], [], ValueError, r"votes must be .*, not \(0, 1, True\) in row 1"),
    ([5], [], ValueError, "votes must be"),
    ([(0, 1, True, None), (1, 2, 1, None)], [], TypeError, "the answer in row 1 must"),
    ([(0, 1, True, "ann"), (1, 2, True, 5)], [], TypeError, "worker of the answer in row 1 must be text"),
    ([(0, 1, True, "ann"), (1, 0, False, "ann")], [], ValueError, r"row 1 says of \(0, 1\) that it is False by 'ann'"),
    ([(0, 1, None, "ann"), (1, 0, False, "ann")], [], ValueError, "contradict each other under one name"),
    ([(3, 4, True, "ann")], [(2, 2, "ann")], ValueError, "a pair must"),
    ([(3, 4, True, "ann")], [(0, 9, "bob"), (0, 2, 5)], TypeError, "worker of the vote to take back must be text"),
])  # fmt: skip
def test_votes_are_recorded_by_all_or_not_at_all(bad, gone, error, message, tmp_path):
    with Journal(None, tmp_path / "answers.db") as journal:
        journal.begin(cr.EdgeOrdering(SIMILARITY, rng=5))
        journal.record([(0, 9, True, "bob")])
        with pytest.raises(error, match=message):
            journal.record(bad, gone)
        assert votes(journal) == [(0, 9, True, "bob")] and journal.record([]) == (0, 0)


@UNIX
def test_a_kill_between_taking_votes_back_and_recording_others_changes_nothing(tmp_path):
    code = """if True:
        import os, signal, sys
        from crowder_tool import Journal
        with Journal(None, sys.argv[1]) as journal:
            journal.record([(0, 1, True, "ann")])
            append = journal._file.append
            def once(*cells):
                append(*cells)
                journal._file.append = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            journal._file.append = once
            journal.record([(0, 2, True, "ann")], [(0, 1, "ann")])
    """
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "answers.db"]).returncode == -signal.SIGKILL
    assert votes(tmp_path / "answers.db") == [(0, 1, True, "ann")]
    with Journal(None, tmp_path / "answers.db") as journal:
        assert journal.record([(0, 2, True, "ann")], [(0, 1, "ann")]) == (1, 0)
        assert votes(journal) == [(0, 2, True, "ann")]


# --- several at once -------------------------------------------------------------------------------------------------


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
    for journal in journals:
        journal.close()


def test_a_closed_journal_and_one_that_went_through_a_fork_say_so(tmp_path, monkeypatch):
    journal = Journal(Crowd(), tmp_path / "answers.db")
    with monkeypatch.context() as patch:
        patch.setattr(answer_file.os, "getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="forked"):
            journal(0, 1)
    assert journal(0, 1) is True
    journal.close()
    journal.close()
    for use in (lambda: journal(0, 1), journal.answers, lambda: journal.record([(0, 1, True, None)])):
        with pytest.raises(ValueError, match="has been closed"):
            use()


def test_leases_keep_questions_apart_until_they_end(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("crowder_tool.journal.time.time", lambda: now[0])
    with Journal(None, tmp_path / "answers.db") as journal, Journal(None, journal.path) as other:
        assert journal.lease([(0, 1), (2, 1)], "ann", 60) == [(0, 1), (1, 2)]
        assert other.lease([(1, 0), (1, 2), (2, 3)], "bob", 90) == [(2, 3)]
        assert other.leased("bob") == {(0, 1): 1060, (1, 2): 1060} and journal.leased() == other.leased() | {
            (2, 3): 1090
        }
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


def test_nothing_is_read_without_a_lock_that_another_process_is_just_writing(tmp_path, monkeypatch):
    """A rollback journal that begins with its mark says that a transaction is under way; one that is over, zeros. What
    changed while it was read may be half of before and half of after."""
    file = answer_file.AnswerFile(tmp_path / "answers.db")
    rollback, read = tmp_path / "answers.db-journal", lambda: file._without_lock("SELECT count(*) FROM log", ())
    kept = rollback.read_bytes()
    assert not any(kept[:8]) and read() == [(0,)]
    rollback.write_bytes(bytes.fromhex("d9d505f920a163d7") + kept[8:])
    assert read() is None
    rollback.write_bytes(kept)
    assert read() == [(0,)]
    states = iter([(1, 0, 0), (2, 0, 0)])
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(file, "_state", lambda: next(states))
        assert read() is None
    file.close()
