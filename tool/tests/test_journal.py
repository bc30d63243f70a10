"""Answers that cost money: runs are killed, disks filled, files mixed up, and no answer is lost or paid for twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
from crowder_tool import ask_all, files
from crowder_tool import journal as module
from crowder_tool.candidates import TableCandidates
from crowder_tool.journal import Answer, Failed, Journal, Vote

from . import journal_crash
from .support import NIGHTLY, examples

LABELS, SIMILARITY, read = journal_crash.LABELS, journal_crash.SIMILARITY, journal_crash.read
KILLS = 8 if NIGHTLY else 1  # times as many
UNIX = pytest.mark.skipif(os.name == "nt", reason="signals, or limits what a process may do")


class Crowd:
    """Answers by the labels, counts, and may go home after some answers."""

    def __init__(self, patience=10**9):
        self.patience, self.asked = patience, []

    def __call__(self, i, j):
        if len(self.asked) == self.patience:
            raise InterruptedError("gone home")
        self.asked.append((i, j))
        return bool(LABELS[i] == LABELS[j])


# --- against a model in memory, and killed ---------------------------------------------------------------------------

RECORDS = st.lists(st.integers(0, 3), min_size=2, max_size=2, unique=True).map(tuple)
SAID, WORKERS, WHICH = st.sampled_from([True, False, None]), st.sampled_from(["ann", "bob", None]), st.integers(0, 1)
WORKER = st.sampled_from(["ann", "bob"])


LOST = ["deleted", "replaced", "a folder", "another", "a copy from before", "empty"]


class Journals(RuleBasedStateMachine):
    """Two objects at one file, against the votes about each pair, the costs and the leases as plain lists: questions,
    votes recorded, changed and taken back, leases on a clock that is also put back, closing and opening again, what a
    killed process leaves behind, and files that are deleted, replaced or damaged, and restored. Times of files are
    coarse, as on many systems: two changes within a moment leave the same one."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.path, self.entries, self.costs, self.now = self.folder / "answers.journal", 0, [0.0], 1000.0
        self.expected, self.leases = {}, {}
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(module.time, "time", lambda: self.now)
        state = module._state
        self.patch.setattr(module, "_state", lambda file: tuple(
            part // 10**9 * 10**9 if part > 10**15 else part for part in state(file)))  # fmt: skip
        self.journals = [Journal(None, self.path), Journal(None, self.path)]
        self.id, self.contents = self.journals[0].id, [self.path.read_bytes()]

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.undo()
            shutil.rmtree(self.folder)

    def entry(self):
        self.entries += 1
        return self.entries

    @rule(which=WHICH, pair=RECORDS, number=st.integers(0, 2), same=SAID, worker=WORKERS, cost=st.integers(0, 3))
    def ask(self, which, pair, number, same, worker, cost):
        """No question is put again whose answer is there; a further one is the next of the pair."""
        journal, known = self.journals[which], self.expected.setdefault(tuple(sorted(pair)), [])
        journal._oracle, before, is_new = (
            lambda i, j: Answer(same, 0.5, cost, worker),
            journal.asked,
            number >= len(known),
        )
        if is_new:
            entry = self.entry()
            known.append(Vote(*sorted(pair), same, worker, 0.5, cost, entry, entry))
            self.costs.append(cost)
        vote = known[-1 if is_new else number]
        assert journal.vote(*pair, number) == (vote.same if vote.worker is None else (vote.same, vote.worker))
        assert journal.asked - before == is_new
        assert journal(*pair) == next((vote.same for vote in known if vote.same is not None), None)

    @rule(which=WHICH, pair=RECORDS, cost=st.sampled_from([0, 2.5, None, "free"]),
          how=st.sampled_from([Failed, InterruptedError, TypeError]))  # fmt: skip
    def ask_in_vain(self, which, pair, cost, how):
        """Also an answer of a wrong form and a failure have their cost; that which nobody knows is the dearest."""

        def crowd(i, j):
            if how is Failed:
                raise Failed("no answer", cost=None if cost == "free" else cost)
            if how is InterruptedError:
                raise how("gone home")
            return Answer("yes", cost=cost)

        journal, known = self.journals[which], self.expected.get(tuple(sorted(pair)), [])
        journal._oracle = crowd
        with pytest.raises(how):
            journal.vote(*pair, len(known))
        unknown = cost in (None, "free") or how is InterruptedError or (cost == 0 and how is TypeError)
        self.costs.append(max(self.costs) if unknown else cost)

    @rule(which=WHICH, gone=st.lists(st.tuples(RECORDS, WORKERS), max_size=2),
          batch=st.lists(st.tuples(RECORDS, SAID, WORKERS), max_size=5,
                         unique_by=lambda row: (frozenset(row[0]), row[2])))  # fmt: skip
    def record(self, which, gone, batch):
        new = changed = 0
        for pair, worker in dict.fromkeys((tuple(sorted(pair)), worker) for pair, worker in gone):
            for vote in [vote for vote in self.expected.get(pair, []) if vote.worker == worker]:
                self.expected[pair].remove(vote)
                self.entry()
        for pair, same, worker in batch:
            known = self.expected.setdefault(tuple(sorted(pair)), [])
            mine = [k for k, vote in enumerate(known) if vote.worker == worker]
            if not mine:
                entry, new = self.entry(), new + 1
                known.append(Vote(*sorted(pair), same, worker, None, 0.0, entry, entry))
            elif known[mine[-1]].same is not same:
                first, changed = known[mine[-1]].first, changed + 1
                known[mine[-1]] = Vote(*sorted(pair), same, worker, None, 0.0, self.entry(), first)
        votes, back = [(*pair, *rest) for pair, *rest in batch], [(*pair, worker) for pair, worker in gone]
        assert self.journals[which].record(votes, back) == (new, changed)

    @rule(which=WHICH, pairs=st.lists(RECORDS, max_size=3), holder=WORKER, seconds=st.sampled_from([0, 60, 90]))
    def lease(self, which, pairs, holder, seconds):
        """Questions are kept apart; a lease from the future is none."""
        wanted = dict.fromkeys(tuple(sorted(pair)) for pair in pairs)
        got = [pair for pair in wanted if pair not in self.held_by_others(holder)]
        assert self.journals[which].lease(pairs, holder, seconds) == got
        self.leases |= dict.fromkeys(got, (holder, self.now, self.now + seconds))

    @rule(which=WHICH, holder=WORKERS, pairs=st.lists(RECORDS, max_size=1))
    def release(self, which, holder, pairs):
        self.journals[which].release(holder, pairs)
        given = [tuple(sorted(pair)) for pair in pairs]
        self.leases = {pair: of for pair, of in self.leases.items() if of[0] != holder and pair not in given}

    def held_by_others(self, holder):
        return {pair: until for pair, (who, since, until) in self.leases.items()
                if since <= self.now <= until and who != holder}  # fmt: skip

    @rule(seconds=st.sampled_from([-1000, 30, 61]))
    def wait(self, seconds):
        self.now += seconds

    @rule(which=WHICH)
    def open_again(self, which):
        (journal := self.journals[which]).close()
        for use in (lambda: journal(8, 9), lambda: journal.record([(0, 1, True, None)]), journal.votes):
            with pytest.raises(ValueError, match=r"answers\.journal is closed"):
                use()
        self.journals[which] = Journal(None, self.path)

    @rule(which=WHICH, length=st.integers(1, 60))
    def is_killed_while_it_writes(self, which, length):
        """Of the line some bytes are there, or all but its end."""
        log = self.journals[which]._file
        log.new()
        with open(self.path, "ab") as file:
            file.write(log._line({"votes": [Vote(0, 1, True, "killed")]})[:-1][:length])

    @rule(how=st.sampled_from(LOST))
    def is_lost(self, how):
        """Whatever becomes of the file is noticed before the next question, and what is in memory can be saved."""
        aside, known, content = self.folder / "aside", self.model(), self.path.read_bytes()
        for journal in self.journals:
            journal.votes()
        if how in ("deleted", "replaced", "a folder"):
            self.path.rename(aside)  # and comes back as the same file
            if how == "replaced":
                shutil.copy(aside, self.path)
            elif how == "a folder":
                self.path.mkdir()
        else:
            (other := Journal(None, self.folder / "other.journal")).record(
                [(0, k, None, "c" * 99) for k in range(1, 99)]
            )
            other = Path(other.path).read_bytes()
            self.path.write_bytes({"another": other, "a copy from before": self.contents[0], "empty": b""}[how])
        if how == "a copy from before" and self.contents[0] == content[: content.rindex(b"\n") + 1]:
            return  # only blanks were cut
        for journal in self.journals:
            uses = [lambda: journal(8, 9), lambda: journal.record([(0, 2, True, None)]), journal.costs, journal.leased]  # noqa: B023
            for use in uses:
                with pytest.raises(OSError, match=f"was {'deleted' if how == 'deleted' else 'replaced'} while it was"):
                    use()
            assert journal.votes() == known
        if how == "a folder":
            self.path.rmdir()
        if aside.exists():
            aside.replace(self.path)
        else:
            self.path.write_bytes(content)

    @rule(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def is_damaged(self, at, bit):
        """A flipped bit is noticed by whoever opens it; in the first line, it may change nothing."""
        content = self.path.read_bytes()
        damaged, whole = bytearray(content), content.rindex(b"\n") + 1  # what is behind is of nobody
        damaged[place := int(at * whole)] ^= 1 << bit
        self.path.write_bytes(damaged)
        try:
            assert Journal(None, self.path).votes() == self.model() and place < content.index(b"\n")
        except ValueError as error:
            assert "is damaged, or no journal: " in str(error)
        assert self.path.read_bytes() == damaged
        self.path.write_bytes(content)

    @rule(at=st.floats(0, 1, exclude_max=True))
    def is_cut(self, at):
        """So is a file that has lost its end, at the end of a line as well."""
        content = self.path.read_bytes()
        whole = content.rindex(b"\n") + 1
        lines = [k for k in range(whole - 1) if content[k : k + 1] == b"\n"]
        for length in (int(at * whole), lines[int(at * len(lines))] + 1):
            self.path.write_bytes(content[:length])
            with pytest.raises(ValueError, match=r"is damaged, or no journal: (its last|it is empty|the line)"):
                Journal(None, self.path)
        self.path.write_bytes(content)

    def model(self):
        return sorted((vote for votes in self.expected.values() for vote in votes), key=lambda vote: vote.entry)

    @invariant()
    def all_say_the_same(self):
        if not hasattr(self, "journals"):
            return
        held = sorted(self.held_by_others(None).items(), key=lambda item: item[1])
        for journal in (*self.journals, Journal(None, self.path)):
            assert journal.votes() == self.model() and journal.id == self.id
            assert journal.costs() == pytest.approx((sum(self.costs), max(self.costs)))
            assert sorted(journal.leased().items()) == sorted(held)
            assert [*journal.leased().values()] == [until for _, until in held]


def test_a_journal_has_the_last_vote_of_each_worker_and_forgets_none():
    run_state_machine_as_test(Journals, settings=settings(examples(60, night=2000), stateful_step_count=25))


@pytest.mark.parametrize("how", LOST)
def test_a_file_that_is_gone_is_noticed_before_the_next_question(how):
    """In each way, whatever the machine draws."""
    machine = Journals()
    machine.begin()
    try:
        machine.record(0, [], [((0, 1), True, "ann")])
        machine.is_lost(how)
        machine.all_say_the_same()
    finally:
        machine.teardown()


@UNIX
@pytest.mark.parametrize(("runs", "deaths", "within"), [(2, 4, 0.15), (6, 1, 0.006)])  # also while the journal is made
def test_processes_that_are_killed_lose_no_answer_and_pay_for_none_twice(runs, deaths, within, tmp_path):
    """kill -9 at random moments, of one of two processes at the same journal.

    A question may be out when its process dies; nobody can know whether it was answered. It is the only one that is put
    again, and at once. What is on disk at a death is never asked about any more.
    """
    command = [sys.executable, journal_crash.__file__, tmp_path, KILLS * runs, deaths, within]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    plain = cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=5)
    for told in json.loads(done.stdout):
        assert told["queries"] == plain.queries.tolist()
        asked = [[*map(int, line.split())] for line in told["log"]]
        assert [pair for k, pair in enumerate(asked) if pair != asked[k - 1]] == np.sort(plain.queries).tolist()
        assert len(asked) - plain.n_queries <= deaths + 1  # in the end, both were killed, of which one asked
        for death in told["deaths"]:
            assert not any(pair in asked[death["noted"] :] for pair in death["stored"])


# --- the disk --------------------------------------------------------------------------------------------------------


def test_answers_are_on_the_disk_before_they_are_handed_on(tmp_path, flushing, monkeypatch):
    """Each line is flushed before its end is written, and its end before the answer is returned."""
    flushed = []
    with Journal(Crowd(), path := tmp_path / "answers.journal") as journal:
        monkeypatch.setattr(files, "flush", flushing)
        monkeypatch.setattr(files.os, "fsync", lambda file: flushed.append(path.read_bytes()))
        for k in (1, 2):
            journal(0, k)
            content = path.read_bytes().partition(b"\n")[2].rstrip(b" ")  # but for the first line
            written = [now.partition(b"\n")[2].rstrip(b" ") for now in flushed]
            assert written[-2:] == [content[:-1], content] and len(flushed) == 1 + 2 * k  # the first was for room


@UNIX
def test_a_paid_answer_has_its_room_on_a_full_disk_and_then_nobody_is_asked(tmp_path):
    """From the second question on the file may not grow: it, and those that there is room for, are written."""
    import resource  # which Windows does not have

    path, limit = tmp_path / "answers.journal", resource.getrlimit(resource.RLIMIT_FSIZE)
    pairs = [(i, j) for j in range(60) for i in range(j)]

    def crowd(i, j):
        if len(asked) == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limit[1]))
        asked.append((i, j))
        return False, "ann"

    for ask in (ask_all, lambda crowd, pairs, journal: [journal.vote(*pair, 0) for pair in pairs]):
        asked = []
        with Journal(crowd, path) as journal:
            try:
                with pytest.raises(OSError, match="no space for another answer, so the question was not asked"):
                    ask(crowd, pairs, journal)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert 100 < len(asked) < len(pairs)
        assert sorted((vote.i, vote.j) for vote in read(path)) == sorted(asked)
        path.unlink()


@UNIX
@pytest.mark.parametrize("room", [0, 30])
def test_an_answer_that_finds_no_room_is_told_whole(room, tmp_path):
    """Its room is gone, as in a copy without blanks, and the file cannot grow, or by a part of the answer alone."""
    import resource  # which Windows does not have

    limit, path = resource.getrlimit(resource.RLIMIT_FSIZE), tmp_path / "answers.journal"

    def crowd(i, j):
        os.truncate(path, len(path.read_bytes().rstrip(b" ")))
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, limit[1]))
        return False, "ann"

    with Journal(crowd, path) as journal:
        try:
            with pytest.raises(
                OSError, match=r"answer to \(2, 3\) is False by 'ann', but could not be written: \[Errno"
            ):
                journal(3, 2)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert journal.votes() == read(path) == []
        assert journal.record([(2, 3, False, "ann")]) == (1, 0) and journal.vote(3, 2, 0) == (False, "ann")
    assert len(read(path)) == 1


@pytest.mark.parametrize(("content", "message"), [
    (b"id,name\n1,Orlando\n" * 1000, "line at byte 16"), (b"", "it is empty"), (b"x", "has no whole line"),
])  # fmt: skip
def test_a_file_that_is_no_journal_is_told_and_left_alone(content, message, tmp_path):
    (path := tmp_path / "answers.journal").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        Journal(Crowd(), path)
    assert path.read_bytes() == content


def test_a_journal_that_is_a_link_has_one_name_and_is_as_private_as_its_records(tmp_path):
    (tmp_path / "my.csv").touch(0o600)
    (tmp_path / "link.journal").symlink_to(path := tmp_path / "answers.journal")
    with Journal(crowd := Crowd(), path, like=tmp_path / "my.csv") as journal:
        with Journal(crowd, tmp_path / "link.journal") as other:
            assert journal.path == other.path == str(path.resolve()) and journal(0, 1) is other(0, 1)
    assert {name.name for name in tmp_path.glob("a*")} == {
        "answers.journal",
        "answers.journal-lock",
        "answers.journal-asking",
    }
    assert len(crowd.asked) == 1 and not any(path.stat().st_mode & 0o077 for path in tmp_path.iterdir())


def test_places_where_no_file_can_be_are_named_and_no_folder_is_made(tmp_path):
    for path in (tmp_path / "missing" / "answers.journal", tmp_path):
        with pytest.raises(OSError, match=f"{tmp_path}"):
            Journal(None, path)
    assert not (tmp_path / "missing").exists()


# --- places that are read only, and other processes ------------------------------------------------------------------

READ_ONLY = """if True:
    import os, sys
    from crowder_tool import Journal
    if os.geteuid() == 0:
        os.setuid(65534)  # nobody: permissions do not bind root
    with Journal(lambda i, j: print("asked"), sys.argv[1]) as journal:
        print(len(journal.votes()), journal(0, 1))
        for use in (lambda: journal(0, 2), lambda: journal.record([(0, 2, True, None)])):
            try:
                use()
            except OSError as error:
                print(error)
"""


@UNIX
def test_answers_can_be_read_where_nothing_can_be_written_and_nobody_is_asked_in_vain():
    with tempfile.TemporaryDirectory() as folder:
        with Journal(Crowd(), path := Path(folder) / "answers.journal") as journal:
            journal(0, 1)
        for name in Path(folder).iterdir():
            name.chmod(0o444)
        os.chmod(folder, 0o555)
        done = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, timeout=60)
        os.chmod(folder, 0o755)
        first, *said = (done.stdout or done.stderr).splitlines()
        assert first == "1 True" and len(said) == 2 and done.stderr == ""
        assert all("Permission denied" in line and str(path) in line for line in said), said


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

    now, looks, time_ns = 0.0, 0, time.time_ns

    def monotonic(self):
        self.now, self.looks = self.now + 6, self.looks + 1
        assert self.looks < 100
        return self.now


@UNIX
@pytest.mark.parametrize("how", HOLDERS)
def test_who_waits_for_a_stopped_process_is_told_and_gives_up_and_who_reads_does_not(how, tmp_path, monkeypatch):
    with Journal(None, path := tmp_path / "answers.journal") as journal:
        journal.record([(0, 1, True, "ann")])
    child = subprocess.Popen([sys.executable, "-c", WAIT + HOLDERS[how], path], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "holds\n"
        child.send_signal(signal.SIGSTOP)
        with Journal(crowd := Crowd(), path) as journal:
            assert journal(0, 1) is True and len(journal.votes()) == 1 == len(read(path))
            use = {"alone": lambda: journal.record([(0, 2, True, "ann")]), "asking": lambda: journal(0, 2)}[how]
            monkeypatch.setattr(module, "time", clock := Clock())
            with pytest.raises(OSError, match=f"{path} is in use by another process, .*nothing for 60 seconds;"):
                use()
            assert clock.now >= 60 and crowd.asked == []
    finally:
        child.kill()
        child.wait(60)
        child.stdout.close()
    monkeypatch.undo()
    with Journal(crowd, path) as journal:
        assert journal(0, 2) is True and journal.asked == 1


def test_who_waits_has_patience_with_who_writes(tmp_path, monkeypatch):
    """The other process takes longer than the limit, but no pause between its answers does."""
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    with Journal(None, tmp_path / "answers.journal") as one, Journal(None, one.path) as other:
        begun = threading.Event()

        def busy():
            with one.asking():
                begun.set()
                for k in range(1, 8):
                    one.record([(0, k, True, None)])
                    time.sleep(0.15)

        (writer := threading.Thread(target=busy)).start()
        assert begun.wait(60)
        with other.asking():
            assert len(other.votes()) == 7
        writer.join(60)


def test_a_copy_is_one_of_a_moment_before_it_was_complete(tmp_path):
    """A copy is made in parts, and what is written meanwhile may lie across two of them."""
    with Journal(None, path := tmp_path / "answers.journal") as journal:
        journal.record([(0, 1, True, "ann")])
        journal.ready()
        before = path.read_bytes()
        journal.record([(0, 2, True, "ann")])
        journal.record([(0, 3, True, "ann")])
        after = path.read_bytes()
    end = len(before.rstrip(b" "))
    for at in range(end + 9, len(after.rstrip(b" ")) + 9):
        (tmp_path / "copy.journal").write_bytes(before[:at] + after[at:])
        with Journal(None, tmp_path / "copy.journal") as copy:
            assert len(copy.votes()) == 1 and copy.record([(4, 5, True, "bob")]) == (1, 0)
        assert [vote[:2] for vote in read(copy.path)] == [(0, 1), (4, 5)]


# --- other records ---------------------------------------------------------------------------------------------------

MOVED = np.r_[SIMILARITY[:7], 1 - SIMILARITY[7] + 0.01, SIMILARITY[8:]]
FEWER = sparse.coo_matrix((SIMILARITY[:-1], [part[:-1] for part in np.triu_indices(40, 1)]), (40, 40))
OF_TWO = TableCandidates(40, True, _values=SIMILARITY, tables=np.arange(40) // 2)


@pytest.mark.parametrize(("similarity", "message"), [
    (SIMILARITY[: 30 * 29 // 2], "number of records is 40"), (MOVED, "similarities"), (FEWER, "similarities"),
    (OF_TWO, "tables"),
])  # fmt: skip
def test_a_journal_of_other_records_is_refused_before_anything_is_asked(similarity, message, tmp_path):
    with pytest.raises(InterruptedError), Journal(Crowd(patience=5), tmp_path / "answers.journal") as journal:
        cr.edge_ordering(SIMILARITY, journal, rng=5)
    with Journal(crowd := Crowd(), tmp_path / "answers.journal") as journal:
        with pytest.raises(ValueError, match=f"journal of other records: .*{message}"):
            cr.edge_ordering(similarity, journal, rng=5)
        assert crowd.asked == [] and len(journal.votes()) == 5
    with Journal(Crowd(), tmp_path / "answers.journal") as journal:  # other forms are of the same records
        plain = cr.edge_ordering(SIMILARITY, journal, rng=5)
        stored = sparse.coo_matrix((SIMILARITY, np.triu_indices(40, 1)), shape=(40, 40))
        for form in (squareform(SIMILARITY) + np.eye(40), stored):
            assert np.array_equal(cr.edge_ordering(form, journal, rng=5).queries, plain.queries)
        assert journal.asked == plain.n_queries - 5


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "stored"), [
    (True, (True, None, None, 0)), (np.False_, (False, None, None, 0)), ((None, "ann"), (None, "ann", None, 0)),
    (Answer(False, 0.5, 2, "bob"), (False, "bob", 0.5, 2)),
    (Answer(True, worker="a\ud800"), (True, r"a\ud800", None, 0)),  # a name that UTF-8 does not have
])  # fmt: skip
def test_forms_of_an_answer(said, stored, tmp_path):
    with Journal(lambda i, j: said, tmp_path / "answers.journal") as journal:
        journal.vote(np.int64(4), np.int32(3), 0)
    assert read(tmp_path / "answers.journal") == [(3, 4, *stored, 1, 1, False)]


class Mute:
    """What has no words."""

    def __repr__(self):
        raise RuntimeError


#: Answers of a wrong form, and what they cost; None: what the dearest before has cost.
WRONG = [
    (1, None), ("yes", None), ((True,), None), ((True, []), None), ((True, 0.5), None), ((True, ""), None),
    (Mute(), None), (Answer(True, 2.0, 1.5), 1.5), (Answer("yes", cost=0.25), 0.25), (Answer(True, 2.0), None),
    (Answer(True, 0.5, 0.5, worker=7), 0.5), (Answer(True, cost=-1), None), (Answer(True, cost=10**400), None),
    (Answer(True, cost="1"), None), (Answer(True, cost=float("nan")), None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "cost"), WRONG)
def test_an_answer_of_a_wrong_form_is_charged_and_told_with_the_crowd(said, cost, tmp_path):
    def some_crowd(i, j):
        return Answer(True, cost=0.75) if (i, j) == (0, 1) else said

    cost, words = 0.75 if cost is None else cost, "something of type Mute" if isinstance(said, Mute) else repr(said)
    with Journal(some_crowd, tmp_path / "answers.journal") as journal:
        journal(0, 1)
        with pytest.raises((TypeError, ValueError), match=r"(?s)the answer to \(0, 2\)") as error:
            journal(0, 2)
        assert str(error.value).endswith(f"some_crowd said {words[:500]}, which is charged as {cost:g}")
        assert len(journal.votes()) == 1 == journal.asked
    with Journal(None, journal.path) as journal:  # and in a later run
        assert journal.costs() == (0.75 + cost, max(0.75, cost))


def test_records_and_numbers_that_cannot_be_kept_are_refused_before_anybody_is_asked(tmp_path):
    with Journal(crowd := Crowd(), tmp_path / "answers.journal") as journal:
        for pair in ((0, 2**63), (2**31 - 1, 0)):  # records are counted in 31 bits
            for use in (lambda: journal(*pair), lambda: journal.record([(*pair, True, None)]),  # noqa: B023
                        lambda: ask_all(crowd, [(0, 1), pair], journal)):  # noqa: B023 # fmt: skip
                with pytest.raises(ValueError, match="a record must be at most 2,147,483,646, not"):
                    use()
        for number, error in ((-1, ValueError), (0.5, TypeError), (True, TypeError)):
            with pytest.raises(error, match="the number of a vote"):
                journal.vote(0, 1, number)
    assert crowd.asked == []


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
    with Journal(None, tmp_path / "answers.journal") as journal:
        journal.begin(cr.EdgeOrdering(SIMILARITY, rng=5))
        journal.record([(0, 9, True, "bob")])
        with pytest.raises(error, match=message):
            journal.record(bad, gone)
        assert [vote[:4] for vote in journal.votes()] == [(0, 9, True, "bob")]
