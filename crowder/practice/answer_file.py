"""A file of answers that survives what happens to machines: SQLite, set up for answers that cost money.

*Write-ahead log, synchronous = FULL.* An answer is one append to the log and one ``fsync``. A killed process loses
nothing that has reached the log, a power cut nothing whose commit has returned. A rollback journal takes four times as
long for an answer, and a kill meanwhile takes the answer back.

*A reserve.* A megabyte is set aside beside the file before a question is asked. If the disk has become full when
the answer comes, the reserve makes room for it.

*A lock for all that writes.* An SQLite transaction on an empty file of its own holds it, so it ends with the process.
It also keeps every checkpoint apart from commits and other checkpoints: up to SQLite 3.51.2 they could corrupt a file
(https://sqlite.org/wal.html#walresetbug).
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from crowder import validation

__all__ = ["AnswerFile", "read"]

#: Marks an SQLite file as one of answers ("crow" in ASCII), and tells the version of the tables in it.
APPLICATION, VERSION = 0x63726F77, 1
MARKS = ("application_id", "user_version")

#: The largest number of a record or a vote: SQLite keeps 63 bits.
LARGEST = 2**63 - 1

#: Bytes set aside on the disk.
RESERVE = 1 << 20

#: Answers, of 7 pages at most, after which the log is worked into the file: so it stays smaller than the reserve.
LOGGED = 32

TABLES = (
    """CREATE TABLE answers (
        i INTEGER NOT NULL, j INTEGER NOT NULL, vote INTEGER NOT NULL,
        same INTEGER NOT NULL CHECK (same IN (0, 1)),
        turn INTEGER UNIQUE, -- 1, 2, ... as they were asked; NULL if added
        PRIMARY KEY (i, j, vote), CHECK (0 <= i AND i < j AND 0 <= vote)
    ) WITHOUT ROWID""",
    "CREATE TABLE run (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class AnswerFile:
    """Answers on disk, by pair and vote, with the turn at which each was asked, and what run they are of.

    Parameters
    ----------
    path : str or path
        Made if it is not there.

    Raises
    ------
    ValueError
        If there is a file that is none of answers.
    OSError
        If it cannot be written. Every other method raises this, too, when the file or the disk fails.

    Notes
    -----
    An answer costs an ``fsync``, looking one up O(log q). Nothing is kept in memory.

    Examples
    --------
    >>> import tempfile
    >>> file = AnswerFile(os.path.join(tempfile.mkdtemp(), "answers.db"))
    >>> with file.writing():
    ...     file.put((0, 1, 0), True, turn=1)
    >>> file.find((0, 1, 0)), file.find((0, 1, 1)), file.last_turn()
    ((1, 1), None, 1)
    >>> file.close()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(validation.path(path))
        self._reserve = self.path + "-reserve"
        self._logged = LOGGED  # whatever a killed process has left in the log is worked in first
        self._process = os.getpid()
        self._db, self._gate = _connect(self.path), _connect(self.path + "-lock")
        self._shut = weakref.finalize(self, _shut, self._db, self._gate, self._reserve, self._process)
        try:
            self._patiently(self._gate, "PRAGMA journal_mode = OFF")  # nothing is ever written through it
            with self.alone():
                self._open()
        except BaseException:
            self.close()
            raise

    def find(self, key: tuple[int, int, int]) -> tuple[int, int | None] | None:
        """The answer (0 or 1) and turn (None if it was added) of a pair i < j and a vote."""
        rows = self._do("SELECT same, turn FROM answers WHERE i = ? AND j = ? AND vote = ?", key)
        if rows:
            same, turn = rows[0]
            _sound(self.path, [(0 if turn is None else turn, *key, same)])
        return rows[0] if rows else None

    def put(self, key: tuple[int, int, int], same: bool, turn: int | None) -> None:
        """Write an answer; only inside `writing`."""
        self._do("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", (*key, int(same), turn))
        self._logged += 1

    def last_turn(self) -> int:
        """The number of questions asked."""
        turn = self._do("SELECT coalesce(max(turn), 0) FROM answers")[0][0]
        _sound(self.path, [(turn, 0, 1, 0, 0)])
        return turn

    def size(self) -> int:
        """The number of answers, asked for or added."""
        return self._do("SELECT count(*) FROM answers")[0][0]

    def asked(self, after: int = 0) -> Any:
        """Pairs and turns of the questions asked, in turn, from the one after turn `after` on."""
        while rows := self._do("SELECT i, j, turn FROM answers WHERE turn > ? ORDER BY turn LIMIT 1000", (after,)):
            _sound(self.path, [(turn, i, j, 0, 0) for i, j, turn in rows])
            yield from rows
            after = rows[-1][2]

    def run(self) -> dict[str, object]:
        """What is known of the run."""
        return dict(self._do("SELECT what, value FROM run"))

    def describe(self, what: str, value: object) -> None:
        """Add to what is known of the run; only inside `writing`."""
        self._do("INSERT OR IGNORE INTO run VALUES (?, ?)", (what, value))

    def table(self) -> pd.DataFrame:
        """As `read`."""
        return _table(self.path, self._do(ROWS))

    @contextmanager
    def alone(self) -> Any:
        """The file for oneself, while others wait; may be nested."""
        self._check()
        if self._gate.in_transaction:
            yield
            return
        self._patiently(self._gate, "BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            self._gate.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Any:
        """The file for oneself, and all that is done inside in one commit, or none of it."""
        with self.alone():
            self._patiently(self._db, "BEGIN IMMEDIATE")
            try:
                yield
                self._do("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # it may be done already
                    self._db.execute("ROLLBACK")
                raise

    def keep_room(self) -> None:
        """Make sure, before an answer is paid for, that it can be written; an OSError if the disk is full."""
        with self.alone():
            try:
                if self._logged >= LOGGED:
                    self.work_in()
                if not os.path.exists(self._reserve) or os.path.getsize(self._reserve) < RESERVE:
                    with open(self._reserve, "wb") as file:
                        file.write(os.urandom(RESERVE))  # which no file system can compress
                        file.flush()
                        os.fsync(file.fileno())
            except OSError as error:
                self.free_reserve()
                raise OSError(
                    f"no room for another answer, so the question was not asked; those so far are safe: {error}"
                ) from error

    def free_reserve(self) -> None:
        """Give the reserve up."""
        with suppress(OSError):
            os.unlink(self._reserve)

    def work_in(self) -> None:
        """Work the log into the file, so that it can be written from its start again."""
        with self.alone():
            busy = self._do("PRAGMA wal_checkpoint(RESTART)")[0][0]
            self._do(f"PRAGMA user_version = {VERSION}")  # begins the log, which the next answer need not wait for
            self._logged = LOGGED if busy else 0

    def close(self) -> None:
        """Let go of the file; again is nothing."""
        self._shut()

    def _open(self) -> None:
        mark = tuple(self._do(f"PRAGMA {what}")[0][0] for what in MARKS)
        tables = self._do("SELECT count(*) FROM sqlite_master")[0][0]
        if mark != (APPLICATION, VERSION) and (tables or any(mark)):
            raise ValueError(f"{self.path} is an SQLite file, but no journal (or one of another version)")
        if self._do("PRAGMA journal_mode = WAL")[0][0] != "wal":
            raise OSError(f"{self.path} is on a disk where SQLite can keep no write-ahead log; put it on a local one")
        self._do("PRAGMA synchronous = FULL")
        self._do("PRAGMA fullfsync = ON")  # macOS: as far as the platter
        self._do("PRAGMA wal_autocheckpoint = 0")
        if not tables:
            with self.writing():
                for statement in TABLES:
                    self._do(statement)

    def _do(self, statement: str, values: Any = ()) -> list[tuple]:
        self._check()
        try:
            return self._db.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise _told(self.path, error) from error

    def _patiently(self, connection: sqlite3.Connection, statement: str) -> None:
        """A statement that may have to wait for another process, however long; Ctrl-C works meanwhile."""
        self._check()
        while True:
            try:
                connection.execute(statement)
                return
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    raise _told(self.path if connection is self._db else f"{self.path}-lock", error) from error

    def _check(self) -> None:
        if not self._shut.alive:
            raise ValueError(f"{self.path} has been closed")
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.path} was opened before this process was forked; open it in the new one")


def read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The answers of a journal, without changing it or waiting for those who write.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    DataFrame
        Columns turn (1, 2, ... as they were asked; 0 if the answer was added), i, j, vote, same; by turn, then by pair.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no file; if it holds no answers.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.db")
    >>> AnswerFile(path).close()
    >>> read(path).columns.tolist()
    ['turn', 'i', 'j', 'vote', 'same']
    """
    path = Path(validation.path(path)).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    # In a folder that cannot be written a log cannot be read either; where there is none, nothing can be missed.
    for how in ("mode=ro", "mode=ro&immutable=1") if not os.path.exists(f"{path}-wal") else ("mode=ro",):
        connection = sqlite3.connect(f"{path.as_uri()}?{how}", uri=True)
        try:
            mark = tuple(connection.execute(f"PRAGMA {what}").fetchone()[0] for what in MARKS)
            if mark != (APPLICATION, VERSION):
                raise ValueError(f"{path} is an SQLite file, but no journal (or one of another version)")
            return _table(str(path), connection.execute(ROWS).fetchall())
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where text is not what SQLite wrote
            failure = error
        finally:
            connection.close()
    raise ValueError(f"{path} cannot be read as a journal: {failure}") from failure


ROWS = "SELECT coalesce(turn, 0), i, j, vote, same FROM answers ORDER BY turn IS NULL, turn, i, j, vote"


def _sound(path: str, rows: list[tuple]) -> None:
    """Refuse rows (turn, i, j, vote, same) that no journal wrote; SQLite checks what it writes, not what it reads."""
    for row in rows:
        turn, i, j, vote, same = row
        if not (all(type(cell) is int for cell in row) and turn >= 0 and 0 <= i < j and vote >= 0 and same in (0, 1)):
            raise ValueError(f"{path} is damaged: turn, i, j, vote and same of an answer are {row}")


def _table(path: str, rows: list[tuple]) -> pd.DataFrame:
    _sound(path, rows)
    frame = pd.DataFrame(rows, columns=["turn", "i", "j", "vote", "same"], dtype="int64")
    return frame.astype({"same": bool})


def _connect(path: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=0.2, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise _told(path, error) from error


def _told(path: str, error: sqlite3.Error | UnicodeDecodeError) -> Exception:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
        return ValueError(f"{path} is no journal, nor any other SQLite file")
    return OSError(f"{path} cannot be used: {error}")


def _shut(db: sqlite3.Connection, gate: sqlite3.Connection, reserve: str, process: int) -> None:
    if os.getpid() != process:
        return  # the connections belong to the process that forked this one
    with suppress(sqlite3.Error):
        db.close()
        # Whoever holds the gate has a question out, and needs the reserve.
        gate.execute("BEGIN EXCLUSIVE")
        with suppress(OSError):
            os.unlink(reserve)
    gate.close()
