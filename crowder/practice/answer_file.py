"""The file of a journal: an append-only log of answers in SQLite.

*Whole or not at all.* Its tables and its mark are made in one transaction: who is killed leaves an empty file, which
the next one makes a journal. *On disk.* Each answer is a transaction with a rollback journal, flushed before anything
follows from it. *Room.* Before a question there are free pages in the file, and the rollback journal keeps its size: an
answer that has been paid for overwrites what is allocated, and a full disk does not matter. *Damage.* Each entry has a
checksum, entries are numbered without gaps, and SQLite checks its own structure when the file is opened. *Asking.* Who
asks holds an SQLite transaction on a separate empty file, which ends with the process; others may write meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from crowder import files, validation

__all__ = ["LARGEST", "AnswerFile", "Entry"]

#: The application id ("crow" in ASCII) identifies the file; the version is that of its tables.
APPLICATION, VERSION = 0x63726F77, 4

#: The largest record or vote number: SQLite integers have 63 bits.
LARGEST = 2**63 - 1

#: SQLite's word for flushing every transaction to the disk.
FLUSH = "FULL"

#: Free pages in the file before a question is asked, of 4,096 bytes and some 60 answers each; and bytes added to it.
FREE, ROOM = 16, 1 << 17

TABLES = (
    """CREATE TABLE log (
        entry INTEGER PRIMARY KEY, -- 1, 2, ... in the order written
        i INTEGER NOT NULL, j INTEGER NOT NULL, vote INTEGER NOT NULL, -- which of the answers about the pair
        same INTEGER, -- 1, 0, or NULL: unsure
        worker TEXT, confidence REAL, cost REAL NOT NULL,
        gone INTEGER NOT NULL, -- 1: from here on there is no answer of this number
        checksum INTEGER NOT NULL
    )""",
    "CREATE TABLE about (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE leases (i INTEGER, j INTEGER, holder TEXT, until REAL, PRIMARY KEY (i, j)) WITHOUT ROWID",
    "CREATE TABLE space (bytes BLOB)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class Entry(NamedTuple):
    """From here on, the answer of this number about i < j is `same` (None: unsure), or it is `gone`; see `TABLES`."""

    entry: int
    i: int
    j: int
    vote: int
    same: bool | None
    worker: str | None = None
    confidence: float | None = None
    cost: float = 0.0
    gone: bool = False


class AnswerFile:
    """A log of answers on disk, found by the path of the file itself if it is a link; several hard links are refused,
    since other files are named after it. If `create`, it may be new, with at most the permissions of the file `like`.
    All methods raise an OSError if the file or the disk fails, and a ValueError if the content is not a journal's."""

    def __init__(self, path: Any, *, create: bool = True, like: str | os.PathLike[str] | None = None) -> None:
        self.path = os.path.realpath(validation.path(path))
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"{self.path} must be a file, not a directory; name a file in it: answers.db")
        if not create and not os.path.exists(self.path):
            raise FileNotFoundError(f"there is no file {self.path}")
        self._process, self._lock = os.getpid(), list[sqlite3.Connection]()
        try:
            if create:
                _touch(self.path, files.mode(like))
            self._mode, self._place = files.mode(self.path), self._where()
        except OSError as error:
            raise OSError(f"{self.path} cannot be used: {error}") from error
        self._db = _connect(f"{Path(self.path).as_uri()}?mode=rw", 20)
        self._finalizer = weakref.finalize(self, _close, self._db, self._lock, self._process)
        try:
            self.do(f"PRAGMA synchronous = {FLUSH}")
            self.do("PRAGMA fullfsync = ON")  # macOS: flush the drive's cache too
            self.do("PRAGMA secure_delete = ON")  # a page is written to the rollback journal when it becomes free
            self._check_or_create(create)
            self.check_in_place()
        except BaseException:
            self.close()
            raise

    def _check_or_create(self, create: bool) -> None:
        mark = tuple(self.do(f"PRAGMA {what}")[0][0] for what in ("application_id", "user_version"))
        new = mark == (0, 0) and not self.do("SELECT count(*) FROM sqlite_master")[0][0]
        if (not new and mark != (APPLICATION, VERSION)) or (new and not create and os.path.getsize(self.path)):
            later = "a later" if mark[1] > VERSION else "an earlier"
            version = f"one of {later} version of crowder (tables {mark[1]}, not {VERSION}); use that version"
            what = version if mark[0] == APPLICATION else "another SQLite file"
            raise ValueError(f"{self.path} is not a journal, but {what}")
        if not new and (found := self.do("PRAGMA quick_check(1)")) != [("ok",)]:
            raise self._damaged(found[0][0])
        if create:
            self.do("PRAGMA journal_mode = PERSIST")
            with self.transaction():  # fails where nothing can be written
                if new and not self.do("SELECT count(*) FROM sqlite_master")[0][0]:
                    for statement in TABLES:
                        self.do(statement)
        elif new:  # somebody was killed while creating it
            self.do("CREATE TEMP TABLE log AS SELECT 0 AS entry WHERE 0")

    def entries(self, after: int = 0) -> list[Entry]:
        """The entries after this one, checked."""
        found = []
        for *cells, checksum in self.do("SELECT * FROM log WHERE entry > ? ORDER BY entry", (after,)):
            if checksum != _checksum(cells) or cells[0] != after + 1:
                raise self._damaged(f"entry {after + 1} does not fit its checksum or its number")
            after, same, gone = cells[0], cells[4], cells[8]
            cells[4], cells[8] = None if same is None else bool(same), bool(gone)
            found.append(Entry(*cells))
        return found

    def append(self, i: int, j: int, vote: int, same: bool | None, *rest: Any) -> None:
        """Add an entry, with the fields of `Entry`; only inside `transaction`."""
        number = self.do("SELECT coalesce(max(entry), 0) + 1 FROM log")[0][0]
        cells: list[Any] = [*Entry(number, i, j, vote, same, *rest)]
        cells[4], cells[8] = None if same is None else int(same), int(cells[8])
        self.do("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*cells, _checksum(cells)))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is written inside, or nothing if there is an error; may be nested."""
        if self._db.in_transaction:
            yield
            return
        self.check_in_place()
        self._when_free(self._db, "BEGIN IMMEDIATE")
        try:
            yield
            self.do("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite may have rolled back already
                self._db.execute("ROLLBACK")
            raise
        self.check_in_place()

    def make_room(self) -> None:
        """Before a question is asked: room for its answer, or an OSError if the disk is full."""
        with suppress(OSError):
            if os.path.getsize(f"{self.path}-journal") >= ROOM // 2 and self.do("PRAGMA freelist_count")[0][0] >= FREE:
                return
        try:
            with self.transaction():  # at random, so that no file system can compress it
                self.do("INSERT INTO space VALUES (randomblob(?))", (ROOM,))
            with self.transaction():
                self.do("DELETE FROM space")
        except OSError as error:
            raise OSError(
                f"no space for another answer, so the question was not asked; earlier answers are safe: {error}"
            ) from error

    def check_in_place(self) -> None:
        """An OSError if the file that is open is no longer the one with its name."""
        self.check_usable()
        there = self._where() if os.path.exists(self.path) else None
        if there != self._place:
            raise OSError(
                f"{self.path} was {'replaced' if there else 'deleted'} while it was in use, so nothing is asked or "
                "written; restore it, or save the answers of this object (answers()), and begin again"
            )

    def _where(self) -> tuple[int, int]:
        found = os.stat(self.path)
        if found.st_nlink > 1:
            raise ValueError(f"{self.path} must have one name, but is {found.st_nlink} hard links; copy it instead")
        return found.st_dev, found.st_ino

    def lock(self) -> None:
        """Wait until no other process asks; Ctrl-C interrupts the wait."""
        self.check_usable()
        if not self._lock:
            _touch(name := f"{self.path}-lock", self._mode)
            self._lock.append(_connect(Path(name).as_uri(), 0.2))
            self._when_free(self._lock[0], "PRAGMA journal_mode = OFF")  # nothing is written to it
        self._when_free(self._lock[0], "BEGIN EXCLUSIVE")

    def unlock(self) -> None:
        """Let other processes ask."""
        self._lock[0].execute("ROLLBACK")

    def do(self, statement: str, values: Iterable[Any] = ()) -> list[tuple]:
        """Execute a statement; its rows."""
        self.check_usable()
        try:
            return self._db.execute(statement, tuple(values)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._as_builtin(self.path, error) from error

    def _when_free(self, connection: sqlite3.Connection, statement: str) -> None:
        while True:
            try:
                connection.execute(statement)
                return
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    raise self._as_builtin(self.path + "-lock" * (connection is not self._db), error) from error

    def _as_builtin(self, path: str, error: Exception) -> Exception:
        self.check_in_place()  # perhaps this is the reason
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return ValueError(f"{path} is not a journal: it is not an SQLite file")
        broken = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR) or isinstance(error, UnicodeDecodeError)
        return self._damaged(str(error)) if broken else OSError(f"{path} cannot be used: {error}")

    def _damaged(self, what: str) -> ValueError:
        return ValueError(f"{self.path} is damaged: {what}; use a copy from before. Nothing in it was changed")

    def check_usable(self) -> None:
        """An error if the file was closed, or is that of another process."""
        if not self._finalizer.alive:
            raise ValueError(f"{self.path} has been closed")
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.path} was opened before this process was forked; open it again in this process")

    def close(self) -> None:
        """Close the file; closing it again has no effect."""
        self._finalizer()


def _checksum(cells: list) -> int:
    return zlib.crc32(repr(tuple(cells)).encode("utf-8", "surrogatepass"))


def _touch(path: str, mode: int) -> None:
    """An empty file, unless there is one. That must not be opened: closing it would end the locks of SQLite on it."""
    if not os.path.exists(path):
        with suppress(FileExistsError):  # another process was faster
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))
            files.sync_folder(os.path.dirname(path))


def _connect(uri: str, timeout: float) -> sqlite3.Connection:
    try:
        return sqlite3.connect(uri, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)
    except sqlite3.Error as error:
        raise OSError(f"{uri} cannot be used: {error}") from error


def _close(db: sqlite3.Connection, lock: list[sqlite3.Connection], process: int) -> None:
    if os.getpid() != process:
        return  # the connections belong to the process that forked this one
    with suppress(sqlite3.Error):
        db.execute("PRAGMA journal_mode = DELETE")  # removes the rollback journal
    for connection in (db, *lock):
        connection.close()
