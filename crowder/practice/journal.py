"""Answers that cost money are never lost: on disk before they are used, so a run that dies goes on where it died.

A `Journal` stands between an ordering and the crowd. What it has on disk it answers itself; anything else it puts to
the crowd, commits, and only then hands on. Orderings are deterministic, so a run that is started again asks the same
questions in the same order, finds them answered as far as it had come, and ends as if nothing had happened.
`crowder.practice.answer_file` keeps the answers.
"""

from __future__ import annotations

import os
import threading
import weakref
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from crowder import validation
from crowder.oracles import Oracle, answer, begin
from crowder.orderings import Ordering
from crowder.practice.answer_file import LARGEST, AnswerFile, read

__all__ = ["Journal", "identity", "read"]

#: What tells one run from another, and how a difference is reported.
DIFFERENCES = {
    "records": "it has {theirs} records, this run {ours}",
    "text": "its records read otherwise",
    "similarity": "its records have other similarities",
    "ordering": "it is of {theirs}, this run of {ours}",
    "order": "its ties, or the arrivals of its records, are in another order (by another seed?)",
}

ELSEWHERE = "Use another file. Answers that hold there, too, can be taken over: see Journal.add"


class Journal:
    """An oracle that never asks the crowd what it has on disk.

    Parameters
    ----------
    oracle : callable
        The crowd; see `crowder.oracles`.
    path : str or path
        The journal: an SQLite file on a local disk, made if it is not there, continued if it is. While it is open,
        files whose names begin with its own stand beside it; copy none without the others.
    run : EdgeOrdering, NodeOrdering or another ordering, keyword only
        Whose answers these are. Needed only where an ordering is driven by hand; ``ordering.run(journal)`` and
        ``edge_ordering(similarity, journal, ...)`` tell it by themselves.
    records : DataFrame or what makes one, keyword only
        The text of the records, to tell runs apart whose records are equally similar.

    Attributes
    ----------
    asked : int
        Questions put to the crowd through this object.
    path : str
        Where the file is.

    Raises
    ------
    ValueError
        If the file is no journal, or the journal of another run: of other records (in number, similarity or text),
        another class of ordering, or ties or arrivals in another order. Nothing is asked then. (A seed that changes no
        question of edge ordering makes no other run.)
    OSError
        If the journal cannot be written. A full disk is reported before a question is asked, not after.
    TypeError
        On a question, if the crowd's answer is not a boolean. Nothing is written then.

    Notes
    -----
    *Killed, or without power:* what has been handed on is on disk. One question may have been out; the resumed run asks
    it first. A crowd that remembers its tasks by their pair can then give its answer without being paid again.

    *Full disk:* room is set aside before each question. Should an answer find none even so, the error tells it, and
    this object keeps it, to write it when the question comes again.

    *Several processes* may share a journal on one machine. Who asks locks it from before the question to after its
    commit; who comes to the same question meanwhile waits, and finds the answer. So all see the same answers, and each
    is paid for once. A process that dies holds no lock. Open a journal after a fork, not before.

    *Another run:* beside digests of similarity and order, the journal has the turn of every question. A run that comes
    to one out of turn is not this one, and the crowd is not asked.

    *Votes:* ``MajorityVote(Journal(crowd, path), 3)`` keeps every vote, ``Journal(MajorityVote(crowd, 3), path)`` only
    the verdicts.

    *Cost:* the ``fsync`` of an answer, some milliseconds; for one that is on disk already, some tens of microseconds. A
    digest of the m candidate pairs at the start, O(m). Memory does not grow with the answers.

    Examples
    --------
    >>> import os, tempfile
    >>> from crowder.oracles import Truth
    >>> from crowder.orderings import edge_ordering
    >>> similarity, crowd = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], Truth([0, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.db")
    >>> edge_ordering(similarity, Journal(crowd, path), rng=7).n_queries
    2
    >>> with Journal(crowd, path) as journal:  # another day
    ...     edge_ordering(similarity, journal, rng=7).n_queries, journal.asked
    (2, 0)
    """

    def __init__(
        self, oracle: Oracle, path: str | os.PathLike[str], *, run: Any = None, records: pd.DataFrame | None = None
    ) -> None:
        self.asked = 0
        self._oracle = oracle
        self._text = {} if records is None else {"text": _text(records)}
        self._turn = 0  # of this run's last question
        self._run: weakref.ref | None = None
        self._paid: dict[tuple[int, int, int], bool] = {}  # answers that are not on disk yet
        self._lock = threading.RLock()
        self._file = AnswerFile(path)
        self.path = self._file.path
        if run is not None:
            self.begin(run)

    def begin(self, ordering: Any) -> None:
        """Be told which ordering asks; a ValueError if these are not its answers."""
        if not isinstance(ordering, Ordering):
            identity(ordering)  # says that it is none
        begin(self._oracle, ordering)
        ours = identity(ordering) | self._text
        with self._lock, self._file.writing():
            theirs = self._file.run()
            for what, value in ours.items():
                if theirs.get(what, value) != value:
                    reason = DIFFERENCES[what].format(theirs=theirs[what], ours=value)
                    raise ValueError(f"{self.path} is the journal of another run: {reason}. {ELSEWHERE}")
                self._file.describe(what, value)
            if self._run is None or self._run() is not ordering:
                self._turn = 0
                known = {_pair(i, j) for i, j in ordering.resolution.queries.tolist()}
                for i, j, turn in self._file.asked():
                    if (i, j) not in known:
                        break
                    self._turn = turn
        self._run = weakref.ref(ordering)

    def vote(self, i: int, j: int, number: int) -> bool:
        """The `number`-th answer about i and j: from the disk, or else from the crowd and onto the disk."""
        # Checked before the crowd is asked: what cannot be kept must not be paid for.
        key = (*_pair(i, j), _vote(number))
        with self._lock:
            try:
                same, turn = self._file.find(key) or self._obtain(key, i, j)
            except OSError as error:
                if key not in self._paid:
                    raise
                same, turn = self._rescue(key, i, j, error)
            self._paid.pop(key, None)
            if turn is not None:
                self._check_turn(key, turn)
                self._turn = max(self._turn, turn)
        return bool(same)

    def __call__(self, i: int, j: int) -> bool:
        return self.vote(i, j, 0)

    def _obtain(self, key: tuple[int, int, int], i: int, j: int) -> tuple[bool, int | None]:
        with self._file.alone():
            if found := self._file.find(key):  # another process was faster
                return bool(found[0]), found[1]
            turn = self._file.last_turn() + 1
            self._check_turn(key, turn)
            if key not in self._paid:
                self._file.keep_room()
            with self._file.writing():
                if key not in self._paid:
                    self._paid[key] = answer(self._oracle, i, j, key[2])
                    self.asked += 1
                self._file.put(key, self._paid[key], turn)
            return self._paid[key], turn

    def _rescue(self, key: tuple[int, int, int], i: int, j: int, error: OSError) -> tuple[bool, int | None]:
        """Write an answer that has been paid for and could not be written."""
        for make_room in (self._file.free_reserve, self._file.work_in):
            try:
                make_room()
                return self._obtain(key, i, j)
            except OSError as again:
                error = again
        raise OSError(
            f"The crowd's answer to {(i, j)} is {self._paid[key]}, and could not be written: {error}. "
            "Make room and run again with this same journal; in a new process, give it the answer by Journal.add"
        ) from error

    def _check_turn(self, key: tuple[int, int, int], turn: int) -> None:
        if turn > self._turn + 1:
            i, j, _ = next(self._file.asked(self._turn))
            raise ValueError(
                f"{self.path} is the journal of another run: its question {self._turn + 1} was {(i, j)}, this run's is "
                f"{key[:2]}. (Or this run had begun before: say so by run=.) {ELSEWHERE}"
            )

    @property
    def n_answers(self) -> int:
        """Number of answers on disk."""
        return self._file.size()

    def answers(self) -> pd.DataFrame:
        """The answers on disk, as `crowder.practice.journal.read` gives them."""
        return self._file.table()

    def add(self, pairs: ArrayLike, answers: Any, vote: Any = 0) -> int:
        """Take in answers from elsewhere; a run that comes to one of these questions does not put it to the crowd.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2)
            Records, in either order.
        answers : array_like of bool, shape (m,)
            Whether they refer to the same entity.
        vote : int or array_like of int, shape (m,)
            Which answer about the pair this is, where there are several.

        Returns
        -------
        int
            How many were new.

        Raises
        ------
        ValueError
            If the shapes do not fit, a pair is not one of the run's records, or an answer contradicts one that is
            there. Nothing is added then.
        TypeError
            If the records are not integers, or the answers not booleans.

        Examples
        --------
        >>> import os, tempfile
        >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
        ...     journal.add([(0, 1), (2, 0), (1, 0)], [True, False, True]), journal(0, 2)
        (2, False)
        """
        try:
            pairs, answers = np.asarray(pairs), np.asarray(list(answers))
        except (TypeError, ValueError):
            raise ValueError(f"needs pairs (m, 2) and m answers, not {pairs!r} and {answers!r}") from None
        if len(pairs) == len(answers) == 0:
            return 0
        if pairs.ndim != 2 or pairs.shape[1] != 2 or answers.shape != pairs.shape[:1]:
            raise ValueError(f"needs pairs (m, 2) and m answers; the shapes are {pairs.shape} and {answers.shape}")
        if pairs.dtype.kind not in "iu" or answers.dtype != bool:
            raise TypeError(f"needs pairs of integers and boolean answers, not {pairs.dtype} and {answers.dtype}")
        votes = np.asarray(vote)
        if votes.dtype.kind not in "iu":
            raise TypeError(f"vote must be an integer, or one a pair, not {vote!r}")
        if votes.shape not in ((), answers.shape):
            raise ValueError(f"vote must be one number, or one a pair; {votes.shape} does not fit {answers.shape}")
        votes = np.broadcast_to(votes, answers.shape)
        new = 0
        with self._lock, self._file.writing():
            n: Any = self._file.run().get("records", np.inf)
            for (i, j), same, number in zip(pairs.tolist(), answers.tolist(), votes.tolist(), strict=True):
                key = (*_pair(i, j), _vote(number))
                if key[1] >= n:
                    raise ValueError(f"{(i, j)} is no pair of the {n} records, 0 to {n - 1}, of {self.path}")
                found = self._file.find(key)
                if found is None:
                    self._file.put(key, same, None)
                    new += 1
                elif found[0] != same:
                    raise ValueError(f"the answer to {(i, j)} in {self.path} is {bool(found[0])}, not {same}")
        return new

    def close(self) -> None:
        """Let go of the file, which happens by itself when the journal is no longer used."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def identity(ordering: Any) -> dict[str, object]:
    """What tells a run from others: number of records, digests of their similarities and of what orders the questions.

    Examples
    --------
    >>> from crowder.orderings import EdgeOrdering
    >>> one, other = (identity(EdgeOrdering([0.5, 0.5, 0.5], rng=seed)) for seed in (7, 8))
    >>> [what for what in one if one[what] != other[what]]
    ['order']
    """
    if not (isinstance(ordering, Ordering)):
        raise TypeError(f"a journal keeps the answers of an ordering, such as an EdgeOrdering; {ordering!r} is none")
    return {
        "records": ordering.n,
        "similarity": _digest(*ordering._similarities()),
        "ordering": type(ordering).__name__,
        "order": _digest(*ordering.decided_by()),
    }


def _text(records: pd.DataFrame) -> str:
    try:
        frame = pd.DataFrame(records)
    except (TypeError, ValueError) as error:
        raise ValueError(f"records must be a DataFrame, or what makes one: {error}") from None
    return _digest(frame.to_csv(index=False).encode())


def _digest(*parts: Any) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else part)
    return digest.hexdigest()


def _pair(i: int, j: int) -> tuple[int, int]:
    low, high = sorted(validation.whole(record, "a record", least=-LARGEST) for record in (i, j))
    if low < 0 or low == high or high > LARGEST:
        raise ValueError(f"{(i, j)} is no pair of records")
    return low, high


def _vote(number: int) -> int:
    if (vote := validation.whole(number, "the number of a vote")) > LARGEST:
        raise ValueError(f"the number of a vote must be at most {LARGEST}, not {vote}")
    return vote
