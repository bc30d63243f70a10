"""A journal of a crowd's answers: written to disk before they are used, so that an interrupted run can be resumed.

A `Journal` is an oracle between an ordering and the crowd: it answers from the disk (`crowder_tool.answer_file`)
where it can. Orderings are deterministic, so a run that is started again asks the same questions, receives the stored
answers, and continues where it stopped; any other run uses the answers to those of its questions that are there.
Nothing that was paid for is ever deleted.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from math import inf
from typing import Any, NamedTuple

import pandas as pd

from crowder import checks, oracles
from crowder.beyond.noisy import NoisyOrdering
from crowder.orderings import Ordering
from crowder_tool.answer_file import AnswerFile, Vote
from crowder_tool.records import encodable

__all__ = ["Answer", "Journal", "Pair", "Vote", "call", "ordered", "rows"]

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


class Journal:
    """An oracle that never asks the crowd a question whose answer is on disk.

    Parameters
    ----------
    oracle : callable
        The crowd; see `crowder.oracles`. It may also return an `Answer`. None if all answers come from elsewhere.
    path : str or path
        The journal: an SQLite file on a local disk, created if it does not exist, continued if it does. Beside it are
        files with ``-journal`` and ``-lock`` after its name; while it is open, copy all or none.
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
        If the file is not a journal, is damaged or has been emptied; or if its answers are about other records, in
        number or similarity. Nothing is then asked.
    OSError
        If the journal cannot be written, or has been deleted or replaced while it was open; or if another process that
        holds it writes nothing for a minute. Reading only waits while it commits.
    TypeError
        When asking, if the answer is none of these forms; nothing is then written.

    See Also
    --------
    crowder_tool.ask_all : asks many questions at once.
    crowder_tool.votes.settle : clusters from all votes of a journal.

    Notes
    -----
    *Killed process, power failure, full disk:* every answer that the journal has returned is on disk; only questions
    that were open are asked again, and none is asked without room for its answer. If one still cannot be written, the
    error message contains it. *Several threads, and processes* on one machine, may share a journal; one of them asks at
    a time, `crowder_tool.ask_all` many questions at once.
    *Votes:* ``MajorityVote(Journal(crowd, path), 3)`` stores every vote, ``Journal(MajorityVote(crowd, 3), path)`` only
    the majority. *Time:* some milliseconds for a new answer, microseconds and 300 bytes of memory for a stored one.

    Examples
    --------
    >>> import os, tempfile
    >>> from crowder.oracles import Truth
    >>> from crowder.orderings import edge_ordering
    >>> similarity, crowd = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], Truth([0, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.db")
    >>> edge_ordering(similarity, Journal(crowd, path), rng=7).n_queries
    2
    >>> with Journal(crowd, path) as journal:  # resumed: both answers are on disk
    ...     edge_ordering(similarity, journal, rng=7).n_queries, journal.asked
    (2, 0)
    """

    def __init__(self, oracle: Any, path: str | os.PathLike[str], *, like: Any = None) -> None:
        self.asked = 0
        self._oracle = oracle
        self._read, self._votes = 0, defaultdict[Pair, dict[int, Vote]](dict)  # entries read; the votes of each pair
        self._lock = threading.RLock()  # of all of this, and of the file
        self._asking = threading.Lock()  # of the thread that asks
        self._file = AnswerFile(path, like=like)
        self.path = self._file.path
        self.id = self._file.id
        self._refresh()

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
        with self._lock, self._file.transaction():
            theirs = self._about()
            for what, value in ours.items():
                if theirs.get(what, value) != value:
                    raise ValueError(
                        f"{self.path} is the journal of other records: the {what} is {theirs[what]} there and {value} "
                        "here. Use another file; answers that hold here too can be added with Journal.record"
                    )
                self._file.do("INSERT OR IGNORE INTO about VALUES (?, ?)", (what, value))
            self._refresh()

    def vote(self, i: int, j: int, number: int) -> oracles.Answer:
        """The `number`-th answer about records i and j, from the disk or from the crowd: True, False, None (unsure), or
        a tuple of one of these and the worker."""
        pair, number = ordered(i, j), checks.whole(number, "the number of a vote")
        if not (found := self.find(pair, number)):
            with self.asking():
                if not (found := self.find(pair, number)):  # nobody else has asked meanwhile
                    self.make_room()
                    found = self.store(pair, call(self._oracle, i, j, number))
        return found.same if found.worker is None else (found.same, found.worker)

    def __call__(self, i: int, j: int) -> bool | None:
        """The first answer about records i and j that is not unsure; None if all are, and nobody is asked again."""
        self.vote(i, j, 0)
        return next((vote.same for vote in self._votes[ordered(i, j)].values() if vote.same is not None), None)

    def find(self, pair: Pair, number: int = 0) -> Vote | None:
        """The answer on disk about a pair i < j of this number."""
        with self._lock:
            # Another process may have asked, or taken an answer back. What was read can be had though the file is gone.
            with suppress(*([OSError] if len(self._votes.get(pair, ())) > number else [])):
                self._refresh()
            votes = list(self._votes.get(pair, {}).values())
        return votes[number] if number < len(votes) else None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Meanwhile, no other thread or process asks."""
        with self._asking, self._file.asking():
            yield

    def make_room(self) -> None:
        """An OSError if there is no room for another answer, before it is asked for."""
        with self._lock:
            self._file.make_room()

    def store(self, pair: Pair, said: Answer) -> Vote:
        """Write the answer about a pair i < j that the crowd has just given."""
        with self._lock:
            self.asked += 1
            try:
                with self._file.transaction():
                    self._file.append(Vote(*pair, said.same, said.worker, said.confidence, said.cost))
            except Exception as error:
                raise OSError(
                    f"the crowd's answer to {pair} is {_named(said.same, said.worker)}, but could not be written: "
                    f"{error}. Free some space, and pass the answer to Journal.record"
                ) from error
            self._refresh()
            return list(self._votes[pair].values())[-1]

    def _refresh(self) -> None:
        """Read the entries that this object or another process has written since; only with the lock."""
        self._file.check_in_place()
        for vote in self._file.entries(self._read):
            self._read, votes = vote.entry, self._votes[vote.i, vote.j]
            if vote.gone:
                del votes[vote.first]
            else:
                votes[vote.first] = vote  # one that is changed keeps its place

    # --- votes ----------------------------------------------------------------------------------------------------

    def costs(self) -> tuple[float, float]:
        """What all answers have cost, also those that were changed or taken back; and the dearest."""
        with self._lock:
            self._file.check_in_place()
            spent, dearest = self._file.do("SELECT total(cost), coalesce(max(cost), 0.0) FROM log")[0]
            return spent, dearest

    def votes(self) -> list[Vote]:
        """The votes that count, in the order of their entries."""
        with self._lock:
            with suppress(OSError):  # a file that was deleted does not take the answers with it
                self._refresh()
            found = [vote for votes in self._votes.values() for vote in votes.values()]
        return sorted(found, key=lambda vote: vote.entry)

    def answers(self) -> pd.DataFrame:
        """The votes that count as a table, with the fields of `Vote` as columns (same is missing if unsure)."""
        frame = pd.DataFrame(self.votes(), columns=list(Vote._fields), dtype="object").drop(columns="gone")
        types = dict.fromkeys(["entry", "i", "j", "first"], "int64") | dict.fromkeys(["confidence", "cost"], "float64")
        return frame.astype(types | {"same": "boolean"})

    def record(self, votes: Iterable[tuple], gone: Iterable[tuple] = ()) -> tuple[int, int]:
        """Store votes from elsewhere; the crowd is then not asked these questions. All is written, or nothing.

        `votes` are (i, j, same, worker): two records, whether they are the same (None, or a missing value of pandas:
        unsure), and who says so (None: somebody without a name). Each worker has one vote on a pair, and a later one
        replaces it. `gone` are (i, j, worker): votes that are taken back before. Returned is how many were new, and how
        many replaced another answer. A ValueError or TypeError if a vote is not of this form, its records are not two
        of the run's, or two votes about a pair under one name contradict each other.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
        ...     print(journal.record([(0, 1, True, "ann"), (0, 1, False, "bob")]))
        ...     print(journal.record([(1, 0, True, "bob"), (1, 2, None, "bob")]))
        ...     print([vote[:4] for vote in journal.votes()])
        (2, 0)
        (1, 1)
        [(0, 1, True, 'ann'), (0, 1, True, 'bob'), (1, 2, None, 'bob')]
        """
        said = self._checked(votes)
        taken = [(ordered(i, j), _text(worker, "the worker of the vote to take back"))
                 for i, j, worker in rows(gone, "gone", "i, j, worker")]  # fmt: skip
        new = changed = 0
        with self._lock:
            with self._file.transaction():
                self._refresh()
                pairs = dict.fromkeys(pair for pair, _ in [*taken, *said])
                now = {(pair, vote.worker): vote for pair in pairs for vote in self._votes[pair].values()}
                for key in taken:
                    if found := now.pop(key, None):
                        self._file.append(found._replace(same=None, confidence=None, cost=0.0, gone=True))
                for (pair, worker), same in said.items():
                    found = now.get((pair, worker))
                    if found is None or found.same != same:
                        self._file.append(Vote(*pair, same, worker, first=found.first if found else 0))
                        new, changed = new + (found is None), changed + (found is not None)
            self._refresh()
        return new, changed

    def _checked(self, votes: Any) -> dict[tuple[Pair, str | None], bool | None]:
        """Each answer by pair and worker."""
        n, found = self._about().get("number of records", inf), dict[tuple[Pair, str | None], bool | None]()
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
        with self._lock, self._file.transaction():
            taken, now = self.leased(holder), time.time()
            wanted = dict.fromkeys(ordered(i, j) for i, j in rows(pairs, "pairs", "i, j"))
            got = [pair for pair in wanted if pair not in taken]
            for pair in got:
                self._file.do("REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", (*pair, holder, now, now + seconds))
        return got

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Meanwhile, no other thread or process writes to the journal, or is here."""
        with self._lock, self._file.transaction():
            yield

    def leased(self, holder: str | None = None) -> dict[Pair, float]:
        """The pairs that others than this holder have, and until when (`time.time`)."""
        holder = _text(holder, "the holder")
        with self._lock:
            self._file.check_in_place()
            rows = self._file.do("SELECT * FROM leases WHERE ? BETWEEN since AND until ORDER BY until", (time.time(),))
        return {(i, j): until for i, j, who, _, until in rows if who != holder}

    def release(self, holder: str | None = None, pairs: Iterable[Pair] = ()) -> None:
        """Give back what this holder has, and these pairs."""
        with self._lock, self._file.transaction():
            self._file.do("DELETE FROM leases WHERE holder = ?", (_text(holder, "the holder"),))
            for i, j in rows(pairs, "pairs", "i, j"):
                self._file.do("DELETE FROM leases WHERE i = ? AND j = ?", ordered(i, j))

    def _about(self) -> dict[str, Any]:
        with self._lock:
            self._file.check_in_place()
            return dict(self._file.do("SELECT what, value FROM about"))

    def close(self) -> None:
        """Close the file; this also happens when the journal is no longer referenced."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def call(oracle: Any, i: int, j: int, number: int) -> Answer:
    """The crowd's `number`-th answer about i and j, in any of the forms that it may have, checked."""
    vote, what = getattr(oracle, "vote", None), f"the answer to {(i, j)}"
    said = oracles.callable_oracle(oracle)(i, j) if vote is None else vote(i, j, number)
    try:
        return _answer(said, what)
    except Exception as error:  # it may have been paid for
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{error}; the crowd said {said!r}") from None


def _answer(said: Any, what: str) -> Answer:
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


def ordered(i: int, j: int) -> Pair:
    """The pair i < j, checked."""
    low, high = sorted(checks.whole(record, "a record") for record in (i, j))
    if low == high:
        raise ValueError(f"a pair must be two different records, not {(i, j)}")
    return low, high


def rows(value: Any, what: str, parts: str) -> Iterator[tuple]:
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
