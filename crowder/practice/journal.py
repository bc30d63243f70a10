"""A journal of a crowd's answers: written to disk before they are used, so that an interrupted run can be resumed.

A `Journal` is an oracle between an ordering and the crowd: it answers from the disk (`crowder.practice.answer_file`)
where it can. Orderings are deterministic, so a run that is started again asks the same questions in the same order,
receives the stored answers, and continues where it stopped. Votes from elsewhere, such as question sheets, are
recorded, changed and taken back by worker and pair.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.revising_ordering import RevisingOrdering
from crowder.oracles import Answer, Crowd, answer_and_worker, begin, checked, unsure
from crowder.orderings import Ordering
from crowder.practice.answer_file import IN_ORDER, LARGEST, AnswerFile, Row, read, table

__all__ = ["Journal", "identity", "read"]

#: The parts of a run's identity, and the message if one differs.
DIFFERENCES = {
    "records": "it has {theirs} records, this run has {ours}",
    "text": "the text of its records differs",
    "similarity": "its similarities, known answers or tables differ",
    "ordering": "it is of {theirs}, this run is of {ours}",
    "order": "its ties or arrivals are in another order (perhaps because of another seed)",
}

ADVICE = "Use another file; answers that hold for this run too can be added with Journal.add"


class Journal:
    """An oracle that never asks the crowd a question whose answer is on disk.

    Parameters
    ----------
    oracle : callable
        The crowd; see `crowder.oracles`. None if all answers come from elsewhere.
    path : str or path
        The journal: an SQLite file on a local disk, created if it does not exist, continued if it does. While it is
        open, there are other files whose names begin with its name; copy all of them or none.
    run : Ordering or RevisingOrdering, keyword only
        The ordering whose answers these are. Needed only if you call ``ask`` and ``tell`` yourself;
        ``ordering.run(journal)`` and ``edge_ordering(similarity, journal, ...)`` pass it on.
    records : DataFrame or anything that `pandas.DataFrame` accepts, keyword only
        The text of the records, to distinguish runs whose similarities are the same.

    Attributes
    ----------
    asked : int
        Number of questions that this object has put to the crowd.
    path : str
        The absolute path of the file.

    Raises
    ------
    ValueError
        If the file is not a journal, or that of another run: of other records (in number, similarity or text), another
        class of ordering, or another order of ties or arrivals; or if answers that the run has followed have changed.
        Nothing is then asked.
    OSError
        If the journal cannot be written. A full disk is detected before a question is asked.
    TypeError
        When asking, if the answer is not True, False, None (unsure), or a tuple of one of these and the worker; nothing
        is then written. Also if an ordering, which needs a yes or no, gets an unsure answer; that is on disk, and the
        ordering goes on after a later answer to the same question, from `record` or `add`.

    See Also
    --------
    crowder.practice.votes.settle : clusters from all votes of a journal.

    Notes
    -----
    *Killed process or power failure:* every answer that the journal has returned is on disk. At most one question was
    open; the resumed run asks it first. *Full disk:* space is reserved before each question. If an answer still cannot
    be written, the error message contains it, and this object writes it when the question is asked again.

    *Several processes* on one machine may share a journal. Each holds a lock from before a question until its answer is
    committed, so that an answer is paid for once. Open a journal after forking, not before.

    *Another run:* the journal stores digests of similarities and order, and the turn of each question. A run that
    reaches a stored question out of turn is another run, and the crowd is not asked. When an answer is changed or taken
    back, those from its turn on lose their turns, since they may follow from it. A new run then asks its own questions,
    and those among them that are on disk are not paid for again.

    *Votes:* ``MajorityVote(Journal(crowd, path), 3)`` stores every vote, ``Journal(MajorityVote(crowd, 3), path)`` only
    the majority. *Cost:* for each new answer an ``fsync``, some milliseconds; for each stored one, some tens of
    microseconds; O(m) once, to digest the m candidate pairs. Memory does not grow with the answers.

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

    def __init__(
        self, oracle: Crowd | None, path: str | os.PathLike[str], *, run: Any = None, records: Any = None
    ) -> None:
        self.asked = 0
        self._oracle: Any = oracle
        try:
            text = None if records is None else pd.DataFrame(records).to_csv(index=False).encode()
        except (TypeError, ValueError) as error:
            raise ValueError(f"records must be a DataFrame, or convertible to one: {error}") from None
        self._text = {} if text is None else {"text": _digest(text)}
        self._turn = 0  # of this run's last question
        self._run: Callable[[], Any] = lambda: None  # the ordering, if it still exists
        self._unsaved: dict[tuple[int, int, int], tuple[bool | None, Any]] = {}  # answers that could not be written yet
        self._thread_lock = threading.RLock()
        self._file = AnswerFile(path)
        self.path = self._file.path
        if run is not None:
            self.begin(run)

    def begin(self, ordering: Any) -> None:
        """Check that the stored answers belong to this ordering; `Ordering.run` calls it."""
        ours = identity(ordering) | self._text
        begin(self._oracle, ordering)
        with self._thread_lock, self._file.transaction():
            theirs = self._file.run_identity()
            for what, value in ours.items():
                if theirs.get(what, value) != value:
                    reason = DIFFERENCES[what].format(theirs=theirs[what], ours=value)
                    raise ValueError(f"{self.path} is the journal of another run: {reason}. {ADVICE}")
                self._file.add_identity(what, value)
            if self._run() is not ordering:
                self._turn, kept = 0, isinstance(ordering, RevisingOrdering)
                told = Counter(_pair(*row[:2]) for row in (ordering.answers if kept else ordering.resolution.queries))
                for row in self._file.questions():
                    if told[row.i, row.j] <= row.vote * kept:  # an ordering is told one answer, made of several votes
                        break
                    self._turn = row.turn
                self._run = weakref.ref(ordering)
            self._check_answers()

    def vote(self, i: int, j: int, number: int) -> Answer:
        """The `number`-th answer about records i and j, from the disk or from the crowd: True, False, None (unsure), or
        a tuple of one of these and the worker."""
        key = (*_pair(i, j), _vote(number))  # checked first: an answer that cannot be stored must not be paid for
        with self._thread_lock:
            row = self._file.find(key) or self._written(
                lambda: self._ask_and_store(key, i, j),
                lambda: key in self._unsaved and f"the crowd's answer to {(i, j)} is {_named(*self._unsaved[key])}",
            )
            self._unsaved.pop(key, None)
            if row.turn:
                self._check_turn(key, row.turn)
                self._turn = max(self._turn, row.turn)
        return row.same if row.worker is None else (row.same, row.worker)

    def __call__(self, i: int, j: int) -> bool:
        """The first answer about records i and j that is not unsure."""
        same, _ = answer_and_worker(self, i, j, 0)
        if same is None:
            same = next((row.same for row in self._file.votes(_pair(i, j)) if row.same is not None), None)
        if same is None:  # asking again is for the user to decide
            raise unsure((i, j))
        return same

    def _ask_and_store(self, key: tuple[int, int, int], i: int, j: int) -> Row:
        with self._file.locked():
            if found := self._file.find(key):  # another process has asked meanwhile
                return found
            turn = self._file.last_turn() + 1
            if turn <= self._turn:  # the file has lost questions of this run
                self._check_answers()
            self._check_turn(key, turn)
            if key not in self._unsaved:
                self._file.reserve_space()
            with self._file.transaction():
                if key not in self._unsaved:
                    same, worker = answer_and_worker(self._oracle, i, j, key[2])
                    self._unsaved[key] = same, _worker(worker, f"the answer to {(i, j)}")
                    self.asked += 1
                same, worker = self._unsaved[key]
                self._file.insert(key, same, turn, worker)
            return Row(turn, *key, same, worker)

    def _written(self, write: Callable[[], Any], answer: Callable[[], str | bool]) -> Any:
        """Write; if there is an `answer` to lose, again without the reserve, and again after a checkpoint."""
        for free_space in (self._file.release_reserve, self._file.checkpoint, lambda: None):
            try:
                return write()
            except OSError as error:
                if not answer():
                    raise
                failure = error
            with suppress(OSError):
                free_space()
        raise OSError(
            f"{answer()}, but could not be written: {failure}. Free some space and run again with this Journal object; "
            "in a new process, pass the answer to Journal.add"
        ) from failure

    def _check_turn(self, key: tuple[int, int, int], turn: int) -> None:
        if turn > self._turn + 1:
            self._check_answers()
            row = next(self._file.questions(self._turn))
            raise ValueError(
                f"{self.path} is the journal of another run: its question {self._turn + 1} was {(row.i, row.j)}, this "
                f"run's is {key[:2]}. (If this run had already begun, pass its ordering as run=.) {ADVICE}"
            )

    def _check_answers(self) -> None:
        """Raise a ValueError if the ordering has been told what the journal no longer says."""
        if isinstance(ordering := self._run(), Ordering):
            told = ordering.resolution
            for pair, same in zip(told.queries.tolist(), told.answers.tolist(), strict=True):
                if {row.same for row in self._file.votes(_pair(*pair))} - {None} == {not same}:
                    raise ValueError(
                        f"the answer to {tuple(pair)} has changed: it is {not same} in {self.path}, but this run was "
                        f"told {same}. Begin a new run, which follows the journal, or change it by Journal.record"
                    )
        if self._file.last_turn() < self._turn:
            raise ValueError(
                f"answers in {self.path} that this run has followed were changed or taken back; begin a new run with a "
                "new ordering, which asks again where it must"
            )

    @property
    def n_answers(self) -> int:
        """Number of answers on disk."""
        return self._file._do("SELECT count(*) FROM answers")[0][0]

    def answers(self) -> pd.DataFrame:
        """The answers on disk, as from `crowder.practice.journal.read`."""
        return table(self._file.rows(IN_ORDER))

    def add(self, pairs: ArrayLike, answers: Any, vote: Any = 0, worker: Any = None) -> int:
        """Store answers from elsewhere under given numbers; the crowd is then not asked these questions.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2)
            Records, in either order.
        answers : array_like of bool, shape (m,)
            Whether they refer to the same entity; None, or a missing value of pandas, means unsure.
        vote : int or array_like of int, shape (m,)
            Number of the answer, if there are several answers to a question.
        worker : str or sequence of str, optional
            The worker who gave the answers, or one for each of them, None for a worker without a name.

        Returns
        -------
        int
            Number of answers that were new.

        Raises
        ------
        ValueError, TypeError
            If the shapes do not fit, a pair is not two of the run's records, an answer is neither a boolean nor unsure
            or contradicts the stored one of this number, or a worker is not text. Nothing is then added.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
        ...     journal.add([(0, 1), (2, 0), (1, 0)], [True, False, True]), journal(0, 2)
        (2, False)
        """
        rows, votes, new = self._rows(pairs, answers, worker), np.asarray(vote), 0
        if votes.dtype.kind not in "iu":
            raise TypeError(f"vote must be an integer, or one for each pair, not {vote!r}")
        if votes.shape not in ((), (len(rows),)):
            raise ValueError(f"vote must be one integer, or have shape {(len(rows),)}, not {votes.shape}")
        with self._thread_lock, self._file.transaction():
            for (pair, who, same), number in zip(rows, np.broadcast_to(votes, len(rows)).tolist(), strict=True):
                found = self._file.find((*pair, _vote(number)))
                if found is None:
                    self._file.insert((*pair, number), same, worker=who)
                    new += 1
                elif found[4:] != (same, who):
                    raise ValueError(
                        f"answers must agree with {self.path}: its answer to {pair} is {_named(*found[4:])}, not "
                        f"{_named(same, who)}; further answers to a question need another number, vote=, and "
                        "Journal.record changes an answer"
                    )
        return new

    def record(self, pairs: ArrayLike, answers: Any, workers: Any, gone: Iterable[tuple] = ()) -> tuple[int, int]:
        """Store one vote for each worker and pair; a later one replaces the earlier one.

        Parameters and errors are those of `add` (all workers without a name count as one), but no answer is refused
        because others contradict it. The votes (i, j, worker) in `gone` are taken back before. All of this is written
        together or, if the process is killed, nothing of it.

        Returns
        -------
        new, changed : int
            Number of votes that were new, and that replaced another answer.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
        ...     print(journal.record([(0, 1), (0, 1)], [True, False], ["ann", "bob"]))
        ...     print(journal.record([(1, 0), (1, 2)], [True, None], "bob"))
        ...     print(journal.answers()[["i", "j", "same", "worker"]].values.tolist())
        (2, 0)
        (1, 1)
        [[0, 1, True, 'ann'], [0, 1, True, 'bob'], [1, 2, <NA>, 'bob']]
        """
        latest = {(pair, who): same for pair, who, same in self._rows(pairs, answers, workers)}
        gone = list(validation.kind(gone, Iterable, "gone must be a list of votes (i, j, worker)"))
        told = f"there are {len(latest)} answers to record" + f" and {len(gone)} to take back" * bool(gone)

        def write() -> tuple[int, int]:
            new = changed = 0
            with self._file.transaction():
                for i, j, worker in gone:
                    self.take_back(i, j, worker)
                for (pair, who), same in latest.items():
                    votes = self._file.votes(pair)
                    found = next((row for row in votes[::-1] if row.worker == who), None)
                    if found is None:
                        self._file.insert((*pair, votes[-1].vote + 1 if votes else 0), same, worker=who)
                        new += 1
                    elif found.same != same:
                        self._file.rewrite([row._replace(same=same) if row == found else row for row in votes], found)
                        changed += 1
            with suppress(OSError):
                self._file.reserve_space()  # for the next answer of somebody who answers one by one
            return new, changed

        with self._thread_lock:
            return self._written(write, lambda: told)

    def take_back(self, i: int, j: int, worker: str | None = None) -> bool:
        """Remove the last vote about records i and j, or that of this worker; say whether there was one.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
        ...     journal.record([(0, 1)], [True], "ann"), journal.take_back(1, 0, "ann"), journal.take_back(1, 0)
        ((1, 0), True, False)
        """
        pair, worker = _pair(i, j), _worker(worker, "the vote to take back")
        with self._thread_lock, self._file.transaction():
            votes = self._file.votes(pair)
            found = next((row for row in votes[::-1] if worker is None or row.worker == worker), None)
            if found is not None:
                left = [row._replace(vote=row.vote - (row.vote > found.vote)) for row in votes if row != found]
                self._file.rewrite(left, found)
            return found is not None

    def _rows(self, pairs: Any, answers: Any, worker: Any) -> list[tuple[tuple[int, int], str | None, bool | None]]:
        """Each pair with its worker and its answer, checked."""
        shapes = "pairs must have shape (m, 2) and answers shape (m,)"
        try:
            pairs, answers = np.asarray(pairs), [None if pd.isna(said) is True else said for said in answers]
        except (TypeError, ValueError):
            raise ValueError(f"{shapes}; they are {pairs!r} and {answers!r}") from None
        if len(pairs) == len(answers) == 0:
            return []
        if pairs.shape != (len(answers), 2):
            raise ValueError(f"{shapes}, not {pairs.shape} and ({len(answers)},)")
        if pairs.dtype.kind not in "iu":
            raise TypeError(f"pairs must be integers, not {pairs.dtype}")
        many = isinstance(worker, Iterable) and not isinstance(worker, str)
        workers = list(worker) if many else [worker] * len(answers)
        if len(workers) != len(answers):
            raise ValueError(
                f"worker must be one name, or one for each of the {len(answers)} answers, not {len(workers)}"
            )
        n: Any = self._file.run_identity().get("records", np.inf)
        if len(beyond := pairs[(pairs >= n).any(axis=1)]):
            pair = tuple(beyond[0].tolist())
            raise ValueError(f"pairs must be of the {n} records of {self.path}, 0 to {n - 1}, not {pair}")
        rows = []
        for row, (pair, said, who) in enumerate(zip(pairs.tolist(), answers, workers, strict=True)):
            what = f"the answer in row {row}"
            same, _ = checked(said, None, what)
            rows.append((_pair(*pair), _worker(None if pd.isna(who) is True else who, what), same))
        return rows

    def close(self) -> None:
        """Close the file; this also happens when the journal is no longer referenced."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def identity(ordering: Any) -> dict[str, object]:
    """What identifies a run: the number of records, and digests of the similarities and of what orders the questions.

    See Also
    --------
    crowder.practice.Journal : uses it to refuse the answers of another run.

    Examples
    --------
    >>> from crowder.orderings import EdgeOrdering
    >>> one, other = (identity(EdgeOrdering([0.5, 0.5, 0.5], rng=seed)) for seed in (7, 8))
    >>> [what for what in one if one[what] != other[what]]
    ['order']
    """
    validation.kind(ordering, (Ordering, RevisingOrdering), "ordering must be an Ordering, such as an EdgeOrdering")
    return {
        "records": ordering.n,
        "similarity": _digest(*ordering._similarities()),
        "ordering": type(ordering).__name__,
        "order": _digest(*ordering.decided_by()),
    }


def _digest(*parts: Any) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else part)
    return digest.hexdigest()


def _pair(i: int, j: int) -> tuple[int, int]:
    low, high = sorted(validation.whole(record, "a record", least=-LARGEST) for record in (i, j))
    if low < 0 or low == high or high > LARGEST:
        raise ValueError(f"a pair must be two different records, numbered from 0, not {(i, j)}")
    return low, high


def _worker(worker: Any, what: str) -> str | None:
    if worker is not None and not (isinstance(worker, str) and worker):
        raise TypeError(f"the worker of {what} must be text, so that a journal can hold it, not {worker!r}")
    return worker


def _named(same: bool | None, worker: str | None) -> str:
    """An answer, for messages."""
    said = "unsure" if same is None else str(same)
    return said if worker is None else f"{said} by {worker!r}"


def _vote(number: int) -> int:
    if (vote := validation.whole(number, "the number of a vote")) > LARGEST:
        raise ValueError(f"the number of a vote must be at most {LARGEST}, not {vote}")
    return vote
