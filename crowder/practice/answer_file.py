"""Crash-safe storage of a crowd's answers in an SQLite file.

*Write-ahead log, synchronous = FULL.* Each answer is one append to the log and one ``fsync``. A killed process loses
nothing that has reached the log; a power failure loses nothing whose commit has returned.

*Reserve.* Before a question is asked, one megabyte is allocated in a file of its own. If the disk is full when the
answer arrives, deleting that file makes room for it.

*Lock.* Every write holds a lock: an SQLite transaction on a separate empty file, which ends with the process. The lock
also keeps each checkpoint apart from commits and other checkpoints, which up to SQLite 3.51.2 could corrupt a file
(https://sqlite.org/wal.html#walresetbug).

*Versions.* Version 2 of the tables added workers and unsure answers. A file of version 1 is converted when it is opened
for writing; programs that know only version 1 refuse the file from then on, since they would lose both.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from crowder import validation

__all__ = ["IN_ORDER", "AnswerFile", "Row", "read", "table"]

#: The application id ("crow" in ASCII) identifies the file; the version is that of its tables.
APPLICATION, VERSION = 0x63726F77, 2
MARKS = ("application_id", "user_version")

#: The largest record or vote number: SQLite integers have 63 bits.
LARGEST = 2**63 - 1

#: Bytes reserved on the disk.
RESERVE = 1 << 20

#: Answers (of at most 7 pages each) between two checkpoints, so that the log stays smaller than the reserve.
CHECKPOINT_EVERY = 32

TABLES = (
    """CREATE TABLE answers (
        i INTEGER NOT NULL, j INTEGER NOT NULL, vote INTEGER NOT NULL,
        same INTEGER CHECK (same IN (0, 1)), -- NULL if unsure
        turn INTEGER UNIQUE, -- 1, 2, ... in the order asked; NULL if added
        worker TEXT, -- NULL if unnamed
        PRIMARY KEY (i, j, vote), CHECK (0 <= i AND i < j AND 0 <= vote)
    ) WITHOUT ROWID""",
    "CREATE TABLE run (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

#: From version 1 to the current one.
CONVERSION = (
    "ALTER TABLE answers RENAME TO before",
    TABLES[0],
    "INSERT INTO answers SELECT i, j, vote, same, turn, NULL FROM before",
    "DROP TABLE before",
    TABLES[-1],
)

#: For each version, the query for the cells of a `Row`.
SELECT = {
    version: f"SELECT coalesce(turn, 0), i, j, vote, {cells} FROM answers "
    for version, cells in ((1, "same, NULL"), (VERSION, "same, worker"))
}
IN_ORDER = "ORDER BY turn IS NULL, turn, i, j, vote"


class Row(NamedTuple):
    """The turn of an answer (0 if added), its pair i < j, its number, the answer (None if unsure), and the worker."""

    turn: int
    i: int
    j: int
    vote: int
    same: bool | None
    worker: str | None


class AnswerFile:
    """Answers on disk, by pair and vote, each with the turn at which it was asked, and the identity of their run.

    The file is created if it does not exist. A ValueError is raised if it does not hold answers; an OSError if it is a
    directory or cannot be written, also by all methods when the file or the disk fails. Writing costs one ``fsync`` for
    each transaction, looking up O(log q) among q answers. No answers are kept in memory.

    Examples
    --------
    >>> import tempfile
    >>> file = AnswerFile(os.path.join(tempfile.mkdtemp(), "answers.db"))
    >>> with file.transaction():
    ...     file.insert((0, 1, 0), True, turn=1)
    >>> file.find((0, 1, 0)), file.find((0, 1, 1)), file.last_turn()
    (Row(turn=1, i=0, j=1, vote=0, same=True, worker=None), None, 1)
    >>> file.close()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _not_a_directory(path)
        self._reserve = self.path + "-reserve"
        self._logged = CHECKPOINT_EVERY  # the log may hold answers of a killed process: start with a checkpoint
        self._process = os.getpid()
        self._db, self._lock = _connect(self.path), _connect(self.path + "-lock")
        self._finalizer = weakref.finalize(self, _close, self._db, self._lock, self._reserve, self._process)
        try:
            self._execute_when_free(self._lock, "PRAGMA journal_mode = OFF")  # nothing is written to the lock file
            with self.locked():
                self._open()
        except BaseException:
            self.close()
            raise

    def rows(self, condition: str, *values: object) -> list[Row]:
        """The answers that fulfil a condition in SQL, with ``?`` for each value."""
        return _checked(self.path, self._do(SELECT[VERSION] + condition, values))

    def find(self, key: tuple[int, int, int]) -> Row | None:
        """The answer about a pair i < j with this number, or None."""
        return next(iter(self.rows("WHERE i = ? AND j = ? AND vote = ?", *key)), None)

    def votes(self, pair: tuple[int, int]) -> list[Row]:
        """All answers about a pair i < j, by number."""
        return self.rows("WHERE i = ? AND j = ? ORDER BY vote", *pair)

    def questions(self, after: int = 0) -> Iterator[Row]:
        """The questions asked after this turn, in order."""
        while rows := self.rows("WHERE turn > ? ORDER BY turn LIMIT 1000", after):
            yield from rows
            after = rows[-1].turn

    def last_turn(self) -> int:
        """Number of questions asked."""
        return sum(row.turn for row in self.rows("WHERE turn IS NOT NULL ORDER BY turn DESC LIMIT 1"))

    def insert(self, key: tuple[int, int, int], same: bool | None, turn: int = 0, worker: str | None = None) -> None:
        """Write an answer; only inside `transaction`."""
        self._do("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*key, same, turn or None, worker))
        self._logged += 1

    def rewrite(self, votes: list[Row], changed: Row) -> None:
        """Replace all votes about the pair of `changed`; the questions from its turn on count as added, because they
        followed from it. Only inside `transaction`."""
        self._do("UPDATE answers SET turn = NULL WHERE turn >= ?", (changed.turn,))
        self._do("DELETE FROM answers WHERE i = ? AND j = ?", (changed.i, changed.j))
        for row in votes:
            turn = row.turn if row.turn < changed.turn else 0
            self.insert((row.i, row.j, row.vote), row.same, turn, row.worker)

    def run_identity(self) -> dict[str, object]:
        """What identifies the run, as stored by `add_identity`."""
        return dict(self._do("SELECT what, value FROM run"))

    def add_identity(self, what: str, value: object) -> None:
        """Store something that identifies the run, unless it is already stored; only inside `transaction`."""
        self._do("INSERT OR IGNORE INTO run VALUES (?, ?)", (what, value))

    @contextmanager
    def locked(self) -> Any:
        """Hold the lock while other writers wait; may be nested."""
        self._check_usable()
        if self._lock.in_transaction:
            yield
            return
        self._execute_when_free(self._lock, "BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            self._lock.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Any:
        """Hold the lock, and commit all that is written inside, or nothing if there is an error; may be nested."""
        with self.locked():
            if self._db.in_transaction:
                yield
                return
            self._execute_when_free(self._db, "BEGIN IMMEDIATE")
            try:
                yield
                self._do("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have rolled back already
                    self._db.execute("ROLLBACK")
                raise

    def reserve_space(self) -> None:
        """Make sure, before a question is asked, that its answer can be written; raises OSError if the disk is full."""
        with self.locked():
            try:
                if self._logged >= CHECKPOINT_EVERY:
                    self.checkpoint()
                if not os.path.exists(self._reserve) or os.path.getsize(self._reserve) < RESERVE:
                    with open(self._reserve, "wb") as file:
                        file.write(os.urandom(RESERVE))  # random, so that no file system can compress it
                        file.flush()
                        os.fsync(file.fileno())
            except OSError as error:
                self.release_reserve()
                raise OSError(
                    f"no space for another answer, so the question was not asked; earlier answers are safe: {error}"
                ) from error

    def release_reserve(self) -> None:
        """Delete the reserve, to make room for an answer."""
        with suppress(OSError):
            os.unlink(self._reserve)

    def checkpoint(self) -> None:
        """Copy the log into the file, so that the log is written from its beginning again."""
        with self.locked():
            busy = self._do("PRAGMA wal_checkpoint(RESTART)")[0][0]
            self._do(f"PRAGMA user_version = {VERSION}")  # restarts the log now rather than with the next answer
            self._logged = CHECKPOINT_EVERY if busy else 0

    def close(self) -> None:
        """Close the file; closing it again has no effect."""
        self._finalizer()

    def _open(self) -> None:
        mark = tuple(self._do(f"PRAGMA {what}")[0][0] for what in MARKS)
        tables = self._do("SELECT count(*) FROM sqlite_master")[0][0]
        if tables or any(mark):
            _check_mark(self.path, mark)
        if self._do("PRAGMA journal_mode = WAL")[0][0] != "wal":
            raise OSError(f"{self.path} must be on a local disk: SQLite cannot keep a write-ahead log there")
        self._do("PRAGMA synchronous = FULL")
        self._do("PRAGMA fullfsync = ON")  # macOS: flush the drive's cache too
        self._do("PRAGMA wal_autocheckpoint = 0")
        if not tables or mark[1] != VERSION:
            with self.transaction():
                for statement in CONVERSION if tables else TABLES:
                    self._do(statement)

    def _do(self, statement: str, values: Any = ()) -> list[tuple]:
        self._check_usable()
        try:
            return self._db.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _as_builtin_error(self.path, error) from error

    def _execute_when_free(self, connection: sqlite3.Connection, statement: str) -> None:
        """Execute a statement, waiting as long as another process holds the lock; Ctrl-C interrupts the wait."""
        self._check_usable()
        while True:
            try:
                connection.execute(statement)
                return
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    path = self.path if connection is self._db else f"{self.path}-lock"
                    raise _as_builtin_error(path, error) from error

    def _check_usable(self) -> None:
        if not self._finalizer.alive:
            raise ValueError(f"{self.path} has been closed")
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.path} was opened before this process was forked; open it again in this process")


def read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The answers in a journal. The file is not changed, and writers are not waited for.

    Returns
    -------
    DataFrame
        Columns turn (1, 2, ... in the order asked; 0 if the answer was added), i, j, vote, same, worker (None if
        unnamed); sorted by turn, then by pair. `same` is of type bool or, if an answer is unsure, of the type boolean
        of pandas, in which that answer is missing.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, ValueError
        If there is no such file, it is a directory, or it is not a journal.

    See Also
    --------
    crowder.practice.Journal : writes what this reads.

    Examples
    --------
    >>> import tempfile
    >>> AnswerFile(path := os.path.join(tempfile.mkdtemp(), "answers.db")).close()
    >>> read(path).columns.tolist()
    ['turn', 'i', 'j', 'vote', 'same', 'worker']
    """
    path = Path(_not_a_directory(path))
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    # In a read-only folder, SQLite cannot read a log. If there is no log, opening the file as immutable misses nothing.
    for how in ("mode=ro", "mode=ro&immutable=1") if not os.path.exists(f"{path}-wal") else ("mode=ro",):
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True)) as connection:
                mark = tuple(connection.execute(f"PRAGMA {what}").fetchone()[0] for what in MARKS)
                _check_mark(path, mark)
                return table(_checked(path, connection.execute(SELECT[mark[1]] + IN_ORDER).fetchall()))
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter for text that SQLite did not write
            failure = error
    raise ValueError(f"{path} cannot be read as a journal: {failure}") from failure


def _checked(path: str | Path, rows: list[tuple]) -> list[Row]:
    """The rows; a ValueError for an invalid one, since SQLite checks its constraints only on writing."""
    sound = []
    for cells in rows:
        turn, i, j, vote, same, worker = cells
        whole = all(type(cell) is int for cell in (turn, i, j, vote, 0 if same is None else same))
        named = worker is None or type(worker) is str
        if not (whole and named and turn >= 0 and 0 <= i < j and vote >= 0 and same in (0, 1, None)):
            raise ValueError(f"{path} is damaged: it has an answer with {', '.join(Row._fields)} = {cells}")
        sound.append(Row(turn, i, j, vote, None if same is None else bool(same), worker))
    return sound


def table(rows: list[Row]) -> pd.DataFrame:
    """The rows as a DataFrame, as from `read`."""
    frame = pd.DataFrame(rows, columns=list(Row._fields), dtype="object")
    same = "boolean" if frame["same"].isna().any() else "bool"
    return frame.astype(dict.fromkeys(["turn", "i", "j", "vote"], "int64") | {"same": same})


def _not_a_directory(path: Any) -> str:
    absolute = os.path.abspath(validation.path(path))
    if os.path.isdir(absolute):
        raise IsADirectoryError(f"{absolute} must be a file, not a directory; name a file in it, such as answers.db")
    return absolute


def _connect(path: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=0.2, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise _as_builtin_error(path, error) from error


def _as_builtin_error(path: str, error: sqlite3.Error | UnicodeDecodeError) -> Exception:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
        return ValueError(f"{path} is not a journal: it is not an SQLite file")
    return OSError(f"{path} cannot be used: {error}")


def _check_mark(path: str | Path, mark: tuple) -> None:
    if mark[0] == APPLICATION and mark[1] > VERSION:
        later = f"it was written by a later version of crowder (tables {mark[1]}, not {VERSION}); install that version"
        raise ValueError(f"{path} is not a journal that this version can read without losing something: {later}")
    if mark[0] != APPLICATION or mark[1] not in SELECT:
        raise ValueError(f"{path} is not a journal, but another SQLite file")


def _close(db: sqlite3.Connection, lock: sqlite3.Connection, reserve: str, process: int) -> None:
    if os.getpid() != process:
        return  # the connections belong to the process that forked this one
    with suppress(sqlite3.Error):
        db.close()
        # A process that holds the lock is waiting for an answer, and needs the reserve.
        lock.execute("BEGIN EXCLUSIVE")
        with suppress(OSError):
            os.unlink(reserve)
    lock.close()
