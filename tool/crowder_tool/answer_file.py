"""The file of a journal: an append-only log of answers in SQLite.

*Whole or not at all.* Its tables and its mark are made in one transaction: a process that is killed meanwhile leaves an
empty file, which the next one turns into a journal. The file for asking, ``-lock``, is made afterwards: an empty file
beside one was a journal and has lost its answers. *On disk.* Each answer is a transaction with a rollback journal,
flushed before anything follows from it. *Room.* Before a question there are free pages in the file, and the rollback
journal keeps its size: an answer that has been paid for overwrites what is allocated, and a full disk does not matter.
*Damage.* Each entry has a checksum, entries are numbered without gaps, and SQLite checks its own structure when the
file is opened. *Asking.* The process that asks holds an SQLite transaction on ``-lock``, which ends with the process;
others may write meanwhile. *Reading* writes nothing, so it also works on a read-only disk, and waits only while another
process commits.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from crowder import checks
from crowder_tool import files

__all__ = ["AnswerFile", "Vote"]

#: The application id ("crow" in ASCII) identifies the file.
APPLICATION = 0x63726F77

#: SQLite's word for flushing every transaction to the disk.
FLUSH = "FULL"

#: Seconds that another process may hold the file and write nothing, before a warning and before an error.
TOLD, PATIENCE = 10.0, 60.0

#: Free pages in the file before a question is asked, of 4,096 bytes and some 60 answers each; and bytes added to it.
FREE, ROOM = 16, 1 << 17

TABLES = (
    """CREATE TABLE log (
        i INTEGER NOT NULL, j INTEGER NOT NULL,
        same INTEGER, -- 1, 0, or NULL: unsure
        worker TEXT, confidence REAL, cost REAL NOT NULL,
        entry INTEGER PRIMARY KEY, -- 1, 2, ... in the order written
        first INTEGER NOT NULL, -- the entry that gave this vote first
        gone INTEGER NOT NULL, -- 1: from here on there is no such vote
        checksum INTEGER NOT NULL
    )""",
    "CREATE TABLE about (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE leases (i INTEGER, j INTEGER, holder TEXT, since REAL, until REAL, PRIMARY KEY (i, j)) WITHOUT ROWID",
    "CREATE TABLE space (bytes BLOB)",
    "INSERT INTO about VALUES ('id', lower(hex(randomblob(8))))",
    f"PRAGMA application_id = {APPLICATION}",
)


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


class AnswerFile:
    """A log of answers on disk, found by the path of the file itself if it is a link. It is made if there is none, with
    at most the permissions of the file `like`. All methods raise an OSError if the file or the disk fails, and a
    ValueError if the content is not a journal's."""

    def __init__(self, path: Any, like: str | os.PathLike[str] | None = None) -> None:
        self.path = os.path.realpath(checks.path(path))
        mode = files.mode(None if like is None else checks.path(like, "like"))
        self._process, self._lock_path = os.getpid(), f"{self.path}-lock"
        self._asking: sqlite3.Connection | None = None  # made when somebody is asked
        self.id, self._seen = "", tuple[int, ...]()  # the random name of the journal; the file when it was checked
        self._last: tuple[int, int | None] = (0, None)  # the last entry read, and its checksum
        # Looked for before anything else: another process may be making both.
        emptied = os.path.exists(self._lock_path) and os.path.exists(self.path)
        with suppress(FileExistsError):
            Path(self.path).touch(mode, exist_ok=False)
        self._db = self._connect(self.path)
        # As text that was damaged need not be UTF-8.
        self._db.text_factory = lambda content: content.decode(errors="replace")
        try:
            self._begin(emptied)
        except BaseException:
            self.close()
            raise
        with suppress(OSError):  # reading needs no such file
            Path(self._lock_path).touch(files.mode(self.path), exist_ok=False)

    def _connect(self, path: str) -> sqlite3.Connection:
        try:
            return sqlite3.connect(path, timeout=0.2, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise OSError(f"{path} cannot be used: {error}") from error

    def _begin(self, emptied: bool) -> None:
        """Check the file, or make it a journal unless it has been `emptied`."""
        self.do(f"PRAGMA synchronous = {FLUSH}")
        self.do("PRAGMA fullfsync = ON")  # macOS: flush the drive's cache too
        self.do("PRAGMA secure_delete = ON")  # a page is written to the rollback journal when it becomes free
        self.do("PRAGMA journal_mode = PERSIST")
        if self._is_new():
            if emptied:
                raise ValueError(f"{self.path} is empty, though it has been a journal: restore it, or remove it")
            with self.transaction():
                for statement in TABLES if self._is_new() else ():  # another process may have been faster
                    self.do(statement)
        self.id = self.do("SELECT value FROM about WHERE what = 'id'")[0][0]
        self._seen = self._state()

    def _is_new(self) -> bool:
        """Whether the file is empty; an error if it is not a journal."""
        application, made = self.do("PRAGMA application_id")[0][0], self.do("SELECT sql FROM sqlite_master")
        if not (application or made):
            return True
        if application != APPLICATION:
            raise ValueError(f"{self.path} is not a journal, but another SQLite file")
        if (found := self.do("PRAGMA quick_check(1)")) != [("ok",)]:
            raise self._damaged(found[0][0])
        if made != [(text,) for text in TABLES if text.startswith("CREATE")]:  # SQLite makes do with other words
            raise self._damaged("its tables are not those of a journal")
        return False

    def entries(self, after: int = 0) -> list[Vote]:
        """The entries after this one, checked."""
        found = []
        for *cells, checksum in self.do("SELECT * FROM log WHERE entry > ? ORDER BY entry", (after,)):
            vote = Vote(*cells)
            if checksum != _checksum(cells) or vote.entry != after + 1:
                raise self._damaged(f"entry {after + 1} does not fit its checksum or its number")
            after, same = vote.entry, None if vote.same is None else bool(vote.same)
            found.append(vote._replace(same=same, gone=bool(vote.gone)))
            self._last = (after, checksum)
        return found

    def append(self, vote: Vote) -> None:
        """Add an entry, inside `transaction`. It gets the next number, and a new vote has it as its first."""
        number = self.do("SELECT coalesce(max(entry), 0) + 1 FROM log")[0][0]
        vote = vote._replace(entry=number, first=vote.first or number)
        cells = [int(cell) if isinstance(cell, bool) else cell for cell in vote]
        self.do("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*cells, _checksum(cells)))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is written inside, or nothing if there is an error."""
        self.check_in_place()
        with self._db:  # rolls back
            self.do("BEGIN IMMEDIATE")
            yield
            self.do("COMMIT")

    def make_room(self) -> None:
        """Before a question is asked: room for its answer, or an OSError if the disk is full or read only."""
        self.check_in_place()
        self.do("DELETE FROM space WHERE 0")  # fails where nothing can be written
        with suppress(FileNotFoundError):
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
        """An OSError if the file that is open is no longer the one with its name, or has the content of another one."""
        if self.id and (state := self._state()) != self._seen:
            if state[:2] != self._seen[:2] or not self._is_same():
                raise OSError(
                    f"{self.path} was {'replaced' if state else 'deleted'} while it was in use, so nothing is asked or "
                    "written; restore it, or save the answers of this object (answers()), and begin again"
                )
            self._seen = state

    def _state(self) -> tuple[int, ...]:
        """Which file it is, and what changes whenever somebody writes to it; nothing if there is none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return ()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _is_same(self) -> bool:
        """Whether the file still has the name of this journal, and the last entry that was read."""
        self.do("PRAGMA shrink_memory")  # what SQLite has in memory may be of the file as it was
        last = "SELECT value, (SELECT checksum FROM log WHERE entry = ?) FROM about WHERE what = 'id'"
        with suppress(ValueError):
            return self.do(last, self._last[:1]) == [(self.id, self._last[1])]
        return False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Meanwhile, no other process asks. Ctrl-C interrupts the wait for it."""
        if self._asking is None:
            self._asking = self._connect(self._lock_path)
            self.do("PRAGMA journal_mode = OFF", on=self._asking)  # nothing is written to it
        self.do("BEGIN EXCLUSIVE", on=self._asking)
        try:
            yield
        finally:
            self._asking.execute("ROLLBACK")

    def do(self, statement: str, values: tuple = (), *, on: sqlite3.Connection | None = None) -> list[tuple]:
        """Execute a statement, and return its rows.

        If another process is in the way, wait for it as long as the file changes; an OSError after `PATIENCE` seconds
        without a change."""
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.path} was opened before this process was forked; open it again in this process")
        began, seen, told = time.monotonic(), self._state(), False
        while True:
            try:
                return (on or self._db).execute(statement, values).fetchall()
            except sqlite3.Error as error:
                if (code := getattr(error, "sqlite_errorcode", 0) & 0xFF) != sqlite3.SQLITE_BUSY:
                    raise self._meant(error, code) from error
            if (state := self._state()) != seen:
                began, seen, told = time.monotonic(), state, False
            waited = time.monotonic() - began
            if waited > PATIENCE:
                raise OSError(
                    f"{self.path} is in use by another process, which has written nothing for {PATIENCE:g} seconds, or "
                    "on a disk without locks; end that process if it is stopped, or wait for it, or copy the file to a "
                    "local disk, and begin again: no answer is lost"
                )
            if waited > TOLD and not told:
                told = True
                logging.getLogger(__name__).warning(
                    "%s is in use by another process; waiting for it, %g seconds at most", self.path, PATIENCE - TOLD
                )

    def _meant(self, error: sqlite3.Error, code: int) -> Exception:
        """What an error of SQLite says about the file."""
        if code == sqlite3.SQLITE_NOTADB:
            return ValueError(f"{self.path} is not a journal: it is not an SQLite file")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            return self._damaged(str(error))
        return OSError(f"{self.path} cannot be used: {error}")

    def _damaged(self, what: str) -> ValueError:
        return ValueError(f"{self.path} is damaged: {what}; use a copy from before. Nothing in it was changed")

    def close(self) -> None:
        """Close the file; closing it again has no effect. The rollback journal stays: others may count on its room."""
        for connection in (self._db, self._asking):
            if connection:
                connection.close()


def _checksum(cells: list) -> int:
    return zlib.crc32(repr(tuple(cells)).encode("utf-8", "surrogatepass"))
