"""A journal of a crowd's answers: written to disk before they are used, so that an interrupted run can be resumed.

A `Journal` is an oracle between an ordering and the crowd: it answers from the disk where it can. Orderings are
deterministic, so a run that is started again asks the same questions, receives the stored answers, and continues where
it stopped; any other run uses the answers to those of its questions that are there. Nothing that was paid for is ever
deleted.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from filelock import FileLock, Timeout

from crowder import checks, oracles
from crowder.beyond.noisy import NoisyOrdering
from crowder.orderings import Ordering
from crowder_tool import files
from crowder_tool.records import encodable

__all__ = ["Answer", "Failed", "Journal", "Pair", "Vote", "call", "ordered", "rows"]

#: Seconds that another process may hold the journal and write nothing.
PATIENCE = 60.0
#: Seconds within which two changes of a file may have the same time: milliseconds on Linux, two seconds on a stick.
STAMP = 3.0
#: Bytes by which the file grows for answers to come, and most characters of what a crowd says in a message.
ROOM, SHOWN = 1 << 16, 500

Pair = tuple[int, int]


class Answer(NamedTuple):
    """What a crowd may return instead of True, False and None (unsure): one of these as `same`, a confidence in [0, 1],
    what the answer cost, and the worker. ``(same, worker)`` is short for it.

    See Also
    --------
    crowder_tool.ask_all : asks a crowd that may return it.

    Examples
    --------
    >>> Answer(True, 0.8, cost=0.002)
    Answer(same=True, confidence=0.8, cost=0.002, worker=None)
    """

    same: bool | None
    confidence: float | None = None
    cost: float = 0.0
    worker: str | None = None


class Vote(NamedTuple):
    """A worker's answer about the records i < j as it is kept: the same, or not, or unsure (None).

    A later vote about the pair by the same worker replaces it. `entry` is its number in the journal, `first` the entry
    by which this worker voted first; if it is `gone`, the worker has no vote about the pair from here on.
    """

    i: int
    j: int
    same: bool | None
    worker: str | None = None
    confidence: float | None = None
    cost: float = 0.0
    entry: int = 0
    first: int = 0
    gone: bool = False


class Failed(Exception):
    """What a crowd raises where it has no answer, if it knows more than that.

    Parameters
    ----------
    message : str
        Why there is no answer.
    cost : float, optional, keyword only
        What the failure cost. None: perhaps as much as the dearest answer so far.
    after : float, keyword only
        After how many seconds to ask again, at the earliest.
    ends : {"attempt", "pair", "run"}, keyword only
        What it ends: this attempt; the questions about this pair; or the run, as all other questions would fail, too.

    See Also
    --------
    crowder_tool.chat_crowd : raises it.

    Examples
    --------
    >>> Failed("too many requests", after=40).ends
    'attempt'
    """

    def __init__(self, message: str, *, cost: float | None = 0.0, after: float = 0.0, ends: str = "attempt") -> None:
        super().__init__(message)
        self.cost, self.after = None if cost is None else checks.number(cost, "cost"), checks.number(after, "after")
        if not isinstance(ends, str) or ends not in ("attempt", "pair", "run"):
            raise ValueError(f"ends must be attempt, pair or run, not {ends!r}")
        self.ends = ends


class Journal:
    """An oracle that never asks the crowd a question whose answer is on disk.

    Parameters
    ----------
    oracle : callable
        The crowd; see `crowder.oracles`. It may also return an `Answer`. None if all answers come from elsewhere.
    path : str or path
        The journal: a file of text on a local disk, created if it does not exist, continued if it does. Beside it are
        empty files with ``-lock`` and ``-asking`` after its name. It can be copied at any time.
    like : path, keyword only
        A new journal has at most the permissions of this file, such as that of the records.

    Attributes
    ----------
    asked : int
        Number of answers that this object has had from the crowd.
    path, id : str
        The absolute path of the file itself, if `path` is a link; and a random name that it was given when it was made.

    Raises
    ------
    ValueError
        If the file is not a journal, is damaged or empty; or if its answers are about other records, in number or
        similarity. Nothing is then asked.
    OSError
        If the journal cannot be written, or has been deleted or replaced while it was open; or if another process that
        holds it writes nothing for a minute. Reading waits for nobody.
    TypeError, ValueError
        When asking, if the answer is none of these forms. What it cost is kept (see `costs`).

    See Also
    --------
    crowder_tool.ask_all : asks many questions at once.
    crowder_tool.votes.settle : clusters from all votes of a journal.

    Notes
    -----
    *Killed process, power failure, full disk:* every answer that the journal has returned is on disk; only questions
    that were open are asked again, and none is asked without room for its answer. If an answer still cannot be
    written, the error message contains it. *Several threads, and processes* on one machine, may share a journal; one of
    them asks at a time, `crowder_tool.ask_all` many questions at once.
    *Votes:* ``MajorityVote(Journal(crowd, path), 3)`` stores every vote, ``Journal(MajorityVote(crowd, 3), path)`` only
    the majority. *Time:* some milliseconds for a new answer, microseconds and 300 bytes of memory for a stored one.

    Examples
    --------
    >>> import os, tempfile
    >>> from crowder.oracles import Truth
    >>> from crowder.orderings import edge_ordering
    >>> similarity, crowd = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], Truth([0, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.journal")
    >>> edge_ordering(similarity, Journal(crowd, path), rng=7).n_queries
    2
    >>> with Journal(crowd, path) as journal:  # resumed: both answers are on disk
    ...     edge_ordering(similarity, journal, rng=7).n_queries, journal.asked
    (2, 0)
    """

    def __init__(self, oracle: Any, path: str | os.PathLike[str], *, like: Any = None) -> None:
        self.asked, self._oracle, self._closed = 0, oracle, False
        self._votes = defaultdict[Pair, dict[int, Vote]](dict)  # those about each pair, by their first entries
        self._about, self._leases = dict[str, Any](), dict[Pair, tuple[str, float, float]]()
        self._entries, self._spent, self._dearest = 0, 0.0, 0.0
        self._lock = threading.RLock()  # of all of this, and of the file
        self._asking = threading.Lock()  # of the thread that asks
        self._file = _Log(checks.path(path), None if like is None else checks.path(like, "like"))
        self.path = self._file.path
        self._refresh()
        self.id = str(self._about["id"])

    # --- asking ---------------------------------------------------------------------------------------------------

    def begin(self, ordering: Any) -> None:
        """Check that the stored answers are about the records of this ordering. `Ordering.run` calls it; call it before
        ``ask``."""
        checks.kind(ordering, (Ordering, NoisyOrdering), "ordering must be an ordering, such as EdgeOrdering")
        pairs, digest = ordering._candidates, blake2b(digest_size=16)
        for part in (*pairs.listed(), getattr(pairs, "tables", None)):
            if part is not None:
                digest.update(b"%d " % len(part) + part.tobytes())
        ours = {"number of records": ordering.n, "digest of similarities and tables": digest.hexdigest()}
        oracles.begin(self._oracle, ordering)
        with self.alone():
            for what, value in ours.items():
                if (theirs := self._about.get(what, value)) != value:
                    raise ValueError(
                        f"{self.path} is the journal of other records: the {what} is {theirs} there and {value} here. "
                        "Use another file; answers that hold here too can be added with Journal.record"
                    )
            if not ours.items() <= self._about.items():
                self._write({"about": ours})

    def vote(self, i: int, j: int, number: int) -> oracles.Answer:
        """The `number`-th answer about records i and j, from the disk or from the crowd: True, False, None (unsure), or
        a tuple of one of these and the worker."""
        pair, number = ordered(i, j), checks.whole(number, "the number of a vote")
        if not (found := self.find(pair, number)):
            with self.asking():
                if not (found := self.find(pair, number)):  # nobody else has asked meanwhile
                    self.ready()
                    try:
                        said = call(self._oracle, i, j, number)
                    except Exception as error:
                        self.failed(error)
                        raise
                    found = self.take(pair, said, self._oracle)
        return found.same if found.worker is None else (found.same, found.worker)

    def __call__(self, i: int, j: int) -> bool | None:
        """The first answer about records i and j that is not unsure; None if all are, and nobody is asked again."""
        self.vote(i, j, 0)
        with self._lock:
            return next((vote.same for vote in self._votes[ordered(i, j)].values() if vote.same is not None), None)

    def find(self, pair: Pair, number: int = 0) -> Vote | None:
        """The answer on disk about a pair i < j of this number."""
        with self._lock:
            self._refresh()  # another process may have asked, or taken an answer back
            votes = list(self._votes.get(pair, {}).values())
        return votes[number] if number < len(votes) else None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Meanwhile, no other thread or process asks."""
        with self._asking, self._file.hold(self._file.asking):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Meanwhile, no other thread or process writes to the journal, or is here."""
        with self._lock, self._file.hold(self._file.writing):
            self._refresh()
            yield

    def ready(self) -> None:
        """An OSError if an answer could not be written, before it is asked for."""
        with self._lock:
            self._refresh()
            open(self.path, "r+b").close()
            if self._file.room < ROOM // 2:
                try:
                    with self.alone():
                        self._file.make_room()
                except OSError as error:
                    what = "no space for another answer, so the question was not asked; earlier answers are safe"
                    raise OSError(error.errno, f"{what}: {error}", self.path) from error

    def take(self, pair: Pair, said: Any, crowd: Any) -> Vote:
        """Write the answer about a pair i < j that the crowd has just given. One of a wrong form is charged, as far as
        its cost can be read, or else like the dearest so far; the TypeError or ValueError names the crowd."""
        try:
            answer = _answer(said, f"the answer to {pair}")
        except Exception as error:
            name = getattr(crowd, "__qualname__", type(crowd).__name__)
            words = str(error) or f"the answer to {pair} cannot be read"
            words = f"{words}; the crowd {name} said {_shown(said)}"
            cost = self.charge(_cost(said), words)
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{words}, which is charged as {cost:g}") from None
        try:
            with self.alone():
                self.asked += 1
                self._add([Vote(*pair, answer.same, answer.worker, answer.confidence, answer.cost)])
                return list(self._votes[pair].values())[-1]
        except (OSError, ValueError) as error:
            raise OSError(
                f"the crowd's answer to {pair} is {_named(answer.same, answer.worker)}, but could not be written: "
                f"{error}. Free some space, and pass the answer to Journal.record"
            ) from error

    def failed(self, error: Exception) -> Failed:
        """Charge what the crowd has raised, and return it as a `Failed`. Of other exceptions nobody knows the cost."""
        failure = error if isinstance(error, Failed) else Failed(_shown(error), cost=None)
        self.charge(failure.cost, str(failure))
        return failure

    def charge(self, cost: float | None, why: str) -> float:
        """Keep what the crowd has cost without an answer (None: as much as the dearest so far), and return it."""
        cost = self.costs()[1] if cost is None else checks.number(cost, "cost")
        if cost:
            with self.alone():
                self._write({"charge": cost, "why": why[:SHOWN]})
        return cost

    def costs(self) -> tuple[float, float]:
        """What the crowd has cost: all answers, also those that were changed or taken back, and all failures; and the
        dearest of these."""
        with self._lock:
            self._refresh()
            return self._spent, self._dearest

    # --- votes ----------------------------------------------------------------------------------------------------

    def votes(self) -> list[Vote]:
        """The votes that count, in the order of their entries."""
        with self._lock:
            with suppress(OSError):  # a file that was deleted does not take the answers with it
                self._refresh()
            found = [vote for votes in self._votes.values() for vote in votes.values()]
        return sorted(found, key=lambda vote: vote.entry)

    def record(self, votes: Iterable[tuple[Any, ...]], gone: Iterable[tuple[Any, ...]] = ()) -> tuple[int, int]:
        """Store votes from elsewhere; the crowd is then not asked these questions. All is written, or nothing.

        `votes` are (i, j, same, worker): two records, whether they are the same (None, or a missing value of pandas:
        unsure), and who says so (None: somebody without a name). Each worker has one vote on a pair, and a later one
        replaces it. `gone` are (i, j, worker): votes that are taken back before. Returned is how many were new, and how
        many replaced another answer. A ValueError or TypeError if a vote is not of this form, its records are not two
        of the run's, or two votes about a pair under one name contradict each other.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.journal")) as journal:
        ...     print(journal.record([(0, 1, True, "ann"), (0, 1, False, "bob")]))
        ...     print(journal.record([(1, 0, True, "bob"), (1, 2, None, "bob")]))
        ...     print([vote[:4] for vote in journal.votes()])
        (2, 0)
        (1, 1)
        [(0, 1, True, 'ann'), (0, 1, True, 'bob'), (1, 2, None, 'bob')]
        """
        added, now, new, changed = list[Vote](), dict[tuple[Pair, str | None], Vote](), 0, 0
        with self.alone():
            said = self._checked(votes)
            taken = {(ordered(i, j), _text(worker, "the worker of the vote to take back"))
                     for i, j, worker in rows(gone, "gone", "i, j, worker")}  # fmt: skip
            for pair in {pair for pair, _ in [*taken, *said]} & self._votes.keys():
                for vote in self._votes[pair].values():
                    if (key := (pair, vote.worker)) in taken:
                        added.append(vote._replace(same=None, confidence=None, cost=0.0, gone=True))
                    else:
                        now[key] = vote
            for (pair, worker), same in said.items():
                found = now.get((pair, worker))
                if found is None or found.same != same:
                    added.append(Vote(*pair, same, worker, first=found.first if found else 0))
                    new, changed = new + (found is None), changed + (found is not None)
            self._add(added)
        return new, changed

    def _checked(self, votes: Any) -> dict[tuple[Pair, str | None], bool | None]:
        """Each answer by pair and worker."""
        n, found = self._about.get("number of records", inf), dict[tuple[Pair, str | None], bool | None]()
        for row, vote in enumerate(rows(votes, "votes", "i, j, same, worker")):
            what = f"the answer in row {row}"
            cells: list[Any] = [None if pd.isna(part) is True else part for part in vote]
            i, j, same, worker = cells
            if (pair := ordered(i, j))[1] >= n:
                raise ValueError(f"pairs must be of the {n} records of {self.path}, 0 to {n - 1}, not {pair}")
            same, _ = oracles.checked(same, None, what)
            if found.setdefault((pair, name := _text(worker, f"the worker of {what}")), same) is not same:
                raise ValueError(
                    f"answers must not contradict each other under one name, but row {row} says of {pair} that it is "
                    f"{_named(same, worker)}, and an earlier row that it is {_named(found[pair, name], worker)}"
                )
        return found

    # --- leases: questions that somebody has --------------------------------------------------------------------------

    def lease(self, pairs: Iterable[Pair], holder: str, seconds: float) -> list[Pair]:
        """Keep questions for a holder for some time; those of the pairs that nobody else has.

        A lease from the future, of a clock that has been put back, is none."""
        seconds, holder = checks.number(seconds, "seconds"), _text(holder, "the holder")
        with self.alone():
            taken, now = self.leased(holder), time.time()
            wanted = dict.fromkeys(ordered(i, j) for i, j in rows(pairs, "pairs", "i, j"))
            if got := [pair for pair in wanted if pair not in taken]:
                self._write({"lease": got, "holder": holder, "since": now, "until": now + seconds})
        return got

    def leased(self, holder: str | None = None) -> dict[Pair, float]:
        """The pairs that others than this holder have, and until when (`time.time`), in this order."""
        holder, now = _text(holder, "the holder"), time.time()
        with self._lock:
            self._refresh()
            found = {pair: until for pair, (who, since, until) in self._leases.items()
                     if since <= now <= until and who != holder}  # fmt: skip
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def release(self, holder: str | None = None, pairs: Iterable[Pair] = ()) -> None:
        """Give back what this holder has, and these pairs."""
        holder, given = _text(holder, "the holder"), {ordered(i, j) for i, j in rows(pairs, "pairs", "i, j")}
        with self.alone():
            if over := [pair for pair, lease in self._leases.items() if lease[0] == holder or pair in given]:
                self._write({"release": over})

    # --- the file -------------------------------------------------------------------------------------------------

    def _add(self, votes: list[Vote]) -> None:
        """Write votes with the next entries, all or none. A new one has its entry as its first."""
        entries = range(self._entries + 1, self._entries + 1 + len(votes))
        numbered = [vote._replace(entry=entry, first=vote.first or entry)
                    for vote, entry in zip(votes, entries, strict=True)]  # fmt: skip
        if numbered:
            self._write({"votes": numbered})

    def _write(self, what: dict[str, Any]) -> None:
        """Only if `alone`."""
        self._file.add(what)
        self._refresh()

    def _refresh(self) -> None:
        """Read what this object or another process has written since; only with the lock."""
        if self._closed:
            raise ValueError(f"{self.path} is closed")
        for said in self._file.new():
            match said:
                case {"votes": found}:
                    for vote in (Vote(*cells) for cells in found):
                        votes, self._entries = self._votes[vote.i, vote.j], vote.entry
                        self._spent, self._dearest = self._spent + vote.cost, max(self._dearest, vote.cost)
                        if vote.gone:
                            del votes[vote.first]
                        else:
                            votes[vote.first] = vote  # one that is changed keeps its place
                case {"charge": cost}:
                    self._spent, self._dearest = self._spent + cost, max(self._dearest, cost)
                case {"lease": pairs, "holder": holder, "since": since, "until": until}:
                    self._leases |= {(i, j): (holder, since, until) for i, j in pairs}
                case {"release": pairs}:
                    for i, j in pairs:
                        self._leases.pop((i, j), None)
                case {"about": facts}:
                    self._about |= facts

    def close(self) -> None:
        """End the use of this object; closing it again has no effect."""
        self._closed = True

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class _Log:
    """A file of lines that is only added to. Each line is JSON behind a checksum of it and of all lines before; the
    first says up to which byte there are lines, so that a file that has been cut is noticed.

    *Whole or not at all:* the end of a line is written after the line is on the disk, and is flushed before anything
    follows from it. What stands behind the last end is of a process that was killed, and the next one that writes
    blanks it. *Room:* before a question there are blanks at the end of the file, which the answer overwrites, so that a
    full disk does not matter to one that has been paid for. *Reading* takes no lock, so it works on a read-only disk,
    and whatever others do. Methods raise an OSError if the file or the disk fails, and a ValueError if the content is
    not a journal's.
    """

    def __init__(self, path: str, like: str | None) -> None:
        self.path = os.path.realpath(path)
        if not os.path.isdir(folder := os.path.dirname(self.path)):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder for a journal", folder)
        # The file as it was read, and how far.
        self._seen, self._end, self._last, self._sum = tuple[int, ...](), len(_first(0)), b"", 0
        self._settled = False  # whether it had not been written for `STAMP` seconds then
        self.room, self._torn = 0, 0  # the blanks behind; or how much stands there, if it is not blank
        self._like, self.writing, self.asking = like, FileLock(f"{self.path}-lock"), FileLock(f"{self.path}-asking")
        if not os.path.lexists(self.path):
            with self.hold(self.writing):
                if not os.path.lexists(self.path):  # no other process has been faster
                    line = self._line({"about": {"id": secrets.token_hex(8)}})
                    files.write(Path(self.path), _first(self._end + len(line)) + line, like=like)

    def new(self) -> list[dict[str, Any]]:
        """What the lines say that were written since the last call, checked; first, that the file is still the one with
        its name, with all that has been read."""
        if self._settled and _state(self.path) == self._seen:
            return []
        try:
            with open(self.path, "rb") as file:
                state = _state(file.fileno())
                until = file.readline(len(_first(0)))  # before the lines, of which there may be more by then
                file.seek(self._end - len(self._last))
                content = file.read()
        except (FileNotFoundError, IsADirectoryError):
            if not self._seen:
                raise
            state, until, content = _state(self.path), b"", b""
        if self._seen and (state[:2] != self._seen[:2] or not content.startswith(self._last)):
            raise OSError(
                f"{self.path} was {'replaced' if state else 'deleted'} while it was in use, so nothing is asked or "
                "written; restore it, or save the votes of this object (votes()), and begin again"
            )
        found, sum_, end, last = list[dict[str, Any]](), self._sum, self._end, self._last
        *lines, _ = content[len(last) :].split(b"\n")
        for line in lines:
            if line.startswith(b" " * 9):  # it was written while this copy was made, which had come to its middle
                break
            sum_ = zlib.crc32(line[9:], sum_)
            if line[:9] != b"%08x " % sum_:
                raise self._wrong(f"the line at byte {end:,} does not fit its checksum")
            found.append(json.loads(line[9:]))
            last = line + b"\n"
            end += len(last)
        behind = content[len(self._last) + end - self._end :]
        if (rest := behind.rstrip(b" "))[:9] == b"%08x " % zlib.crc32(rest[9:-1], sum_) and len(rest) > 10:
            raise self._wrong("its last line has no end")
        if not last or not until.strip().isdigit():
            raise self._wrong("it is empty, or has no whole line")
        if end < int(until):
            raise self._wrong(f"its last {int(until) - end:,} bytes are missing")
        self._seen, self._sum, self._end, self._last = state, sum_, end, last
        self._settled = bool(state) and time.time_ns() - max(state[3:]) > STAMP * 1e9
        self.room, self._torn = (0, len(behind)) if rest else (len(behind), 0)
        return found

    def _wrong(self, what: str) -> ValueError:
        return ValueError(
            f"{self.path} is damaged, or no journal: {what}. Nothing in it was changed; use a copy from before, or "
            "another file"
        )

    def add(self, what: dict[str, Any]) -> None:
        """Add a line, on disk when this returns; only with the lock for writing, after `new`."""
        line = self._line(what)
        self._put(self._end, b" " * self._torn, line[:-1], line[-1:])
        with open(self.path, "r+b", buffering=0) as file:
            file.write(_first(self._end + len(line)))

    def make_room(self) -> None:
        """Room for answers to come, or an OSError; only with the lock for writing, after `new`."""
        self._put(self._end, b" " * (self._torn + self.room + ROOM))
        self.new()

    def _put(self, at: int, *parts: bytes) -> None:
        """Write parts of which each is on the disk before the next; the first is blank, and the others begin there."""
        with open(self.path, "r+b", buffering=0) as file:
            for number, part in enumerate(parts):
                if number < 2:
                    file.seek(at)
                if part and file.write(part) < len(part):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
                if part:
                    files.flush(file.fileno())

    def _line(self, what: dict[str, Any]) -> bytes:
        text = json.dumps(what).encode()
        return b"%08x %b\n" % (zlib.crc32(text, self._sum), text)

    @contextmanager
    def hold(self, lock: FileLock) -> Iterator[None]:
        """Meanwhile, no other process has this lock. Who has it is waited for as long as the file changes; an OSError
        after `PATIENCE` seconds without a change. Ctrl-C interrupts the wait."""
        if not os.path.exists(lock.lock_file):  # made here, as filelock does not look at the umask
            Path(lock.lock_file).touch(files.mode(self.path, self._like))
        began, seen = time.monotonic(), _state(self.path)
        while True:
            with suppress(Timeout):
                lock.acquire(timeout=0.1, poll_interval=0.01)
                break
            if (state := _state(self.path)) != seen:
                began, seen = time.monotonic(), state
            if time.monotonic() - began > PATIENCE:
                raise OSError(
                    f"{self.path} is in use by another process, which has written nothing for {PATIENCE:g} seconds; "
                    "end that process if it is stopped, or wait for it, and begin again: no answer is lost"
                )
        try:
            yield
        finally:
            lock.release()


def _first(until: int) -> bytes:
    """The first line, of always the same length."""
    return b"%015d\n" % until


def _state(file: str | int) -> tuple[int, ...]:
    """Which file it is, and what changes whenever somebody writes to it; nothing if there is none."""
    with suppress(OSError):
        found = os.stat(file)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return ()


def call(oracle: Any, i: int, j: int, number: int) -> Any:
    """What the crowd says at the `number`-th question about i and j."""
    vote = getattr(oracle, "vote", None)
    return oracles.callable_oracle(oracle)(i, j) if vote is None else vote(i, j, number)


def _answer(said: Any, what: str) -> Answer:
    """What the crowd says, in any of the forms that an answer may have, checked."""
    if isinstance(said, tuple) and not isinstance(said, Answer):
        if len(said) != 2:
            raise TypeError(f"{what} must be True, False or None (unsure), perhaps with a worker")
        said = Answer(said[0], worker=said[1])
    answer = said if isinstance(said, Answer) else Answer(said)
    same, _ = oracles.checked(answer.same, None, what)
    confidence = answer.confidence
    if confidence is not None:
        confidence = float(checks.probability(confidence, f"the confidence of {what}"))
    cost, worker = checks.number(answer.cost, f"the cost of {what}"), _text(answer.worker, f"the worker of {what}")
    return Answer(same, confidence, cost, worker)


def _cost(said: Any) -> float | None:
    """What an answer of a wrong form cost; None if that cannot be read."""
    with suppress(Exception):
        return checks.number(said.cost, "the cost") or None
    return None


def _shown(said: Any) -> str:
    """What a crowd says, for messages."""
    with suppress(Exception):
        return repr(said)[:SHOWN]
    return f"something of type {type(said).__name__}"


def ordered(i: int, j: int) -> Pair:
    """The pair i < j, checked."""
    low, high = sorted(checks.whole(record, "a record", most=checks.MOST_RECORDS - 1) for record in (i, j))
    if low == high:
        raise ValueError(f"a pair must be two different records, not {(i, j)}")
    return low, high


def rows(value: Any, what: str, parts: str) -> Iterator[tuple[Any, ...]]:
    """Rows that have these parts each."""
    for number, row in enumerate(checks.kind(value, Iterable, f"{what} must be rows ({parts})")):
        found = tuple(row) if isinstance(row, Iterable) else ()
        if len(found) != len(parts.split(",")):
            raise ValueError(f"{what} must be ({parts}), not {row!r} in row {number}")
        yield found


def _text(value: Any, what: str) -> str | None:
    if value is not None and not (isinstance(value, str) and value):
        raise TypeError(f"{what} must be text, so that a journal can hold it, not {value!r}")
    return value and encodable(value)


def _named(same: bool | None, worker: str | None) -> str:
    """An answer, for messages."""
    said = "unsure" if same is None else str(same)
    return said if worker is None else f"{said} by {worker!r}"
