"""The file of a journal: an append-only log of answers in SQLite.

*Whole or not at all.* Its tables and its mark are made in one transaction: a process that is killed meanwhile leaves an
empty file, which the next one turns into a journal. The file for asking, ``-lock``, is made afterwards: an empty file
beside one was a journal and has lost its answers. *On disk.* Each answer is a transaction with a rollback journal,
flushed before anything follows from it. *Room.* Before a question there are free pages in the file, and the rollback
journal keeps its size: an answer that has been paid for overwrites what is allocated, and a full disk does not matter.
*Damage.* Each entry has a checksum, entries are numbered without gaps, and SQLite checks its own structure when the
file is opened. *Asking.* The process that asks holds an SQLite transaction on ``-lock``, which ends with the process;
others may write meanwhile. *Reading* writes nothing, so it also works on a read-only disk, and waits neither for
writing nor for asking.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import tempfile
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from crowder import validation
from crowder_tool import files

__all__ = ["AnswerFile", "Entry"]

#: The application id ("crow" in ASCII) identifies the file; the version is that of its tables.
APPLICATION, VERSION = 0x63726F77, 6

#: SQLite's word for flushing every transaction to the disk.
FLUSH = "FULL"

#: Seconds that another process may hold the file and write nothing, before a warning and before an error.
TOLD, PATIENCE = 10.0, 60.0

#: Free pages in the file before a question is asked, of 4,096 bytes and some 60 answers each; and bytes added to it.
FREE, ROOM = 16, 1 << 17

TABLES = (
    """CREATE TABLE log (
        entry INTEGER PRIMARY KEY, -- 1, 2, ... in the order written
        i INTEGER NOT NULL, j INTEGER NOT NULL,
        vote INTEGER NOT NULL, -- the entry that gave this vote first
        same INTEGER, -- 1, 0, or NULL: unsure
        worker TEXT, confidence REAL, cost REAL NOT NULL,
        gone INTEGER NOT NULL, -- 1: from here on there is no such vote
        checksum INTEGER NOT NULL
    )""",
    "CREATE TABLE about (what TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "CREATE TABLE leases (i INTEGER, j INTEGER, holder TEXT, since REAL, until REAL, PRIMARY KEY (i, j)) WITHOUT ROWID",
    "CREATE TABLE space (bytes BLOB)",
    "INSERT INTO about VALUES ('id', lower(hex(randomblob(8))))",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class Entry(NamedTuple):
    """From here on, this vote about i < j says `same` (None: unsure), or it is `gone`; see `TABLES`."""

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
    since other files are named after it. It is made if there is none, with at most the permissions of the file `like`.
    All methods raise an OSError if the file or the disk fails, and a ValueError if the content is not a journal's."""

    def __init__(self, path: Any, like: str | os.PathLike[str] | None = None) -> None:
        self.path = os.path.realpath(validation.path(path))
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"{self.path} must be a file, not a directory; name a file in it: answers.db")
        self._lock_path, self._connections = f"{self.path}-lock", list[sqlite3.Connection]()
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _close, self._connections, os.getpid())
        self._asking: Any = None  # the connection for asking, once it is needed
        self._seen, self._last = (0, 0, 0), (0, None)  # the file when it was checked; the last entry read, its checksum
        self._stuck = (0.0, 0.0)  # when a wait began in vain, and ended
        self.id = ""
        try:
            # Looked for before anything else: another process may be making both.
            before = os.path.exists(self._lock_path) and os.path.exists(self.path)
            _touch(self.path, files.mode(None if like is None else validation.path(like, "like")))
            self._place = self._where()
            self._db = self._connect(self.path)
        except (OSError, sqlite3.Error) as error:
            raise OSError(f"{self.path} cannot be used: {error}") from error
        try:
            self._begin(before or os.path.getsize(self.path) == 1)  # which is empty to SQLite
        except BaseException:
            self.close()
            raise

    def _connect(self, path: str) -> sqlite3.Connection:
        made = sqlite3.connect(path, timeout=0.2, isolation_level=None, check_same_thread=False)
        self._connections.append(made)
        return made

    def _begin(self, before: bool) -> None:
        """Check the file, or make it a journal unless there has been one `before`."""
        self.do(f"PRAGMA synchronous = {FLUSH}")
        self.do("PRAGMA fullfsync = ON")  # macOS: flush the drive's cache too
        self.do("PRAGMA secure_delete = ON")  # a page is written to the rollback journal when it becomes free
        self.do("PRAGMA journal_mode = PERSIST")
        if self._is_new():
            if before:
                raise ValueError(f"{self.path} is empty, though it has been a journal: restore it, or remove it")
            with self.transaction():
                for statement in TABLES if self._is_new() else ():  # another process may have been faster
                    self.do(statement)
        self.id = self.do("SELECT value FROM about WHERE what = 'id'")[0][0]
        with suppress(OSError):  # reading needs no such file
            _touch(self._lock_path, files.mode(self.path))

    def _is_new(self) -> bool:
        """Whether the file is empty; an error if it is not a journal."""
        application, version = (self.do(f"PRAGMA {what}")[0][0] for what in ("application_id", "user_version"))
        if not (application or version or self.do("SELECT count(*) FROM sqlite_master")[0][0]):
            return True
        if application != APPLICATION:
            raise ValueError(f"{self.path} is not a journal, but another SQLite file")
        if version != VERSION:
            raise ValueError(f"{self.path} is a journal of another version of crowder ({version}, not {VERSION})")
        if (found := self.do("PRAGMA quick_check(1)")) != [("ok",)]:
            raise self._damaged(found[0][0])
        known = [(text,) for text in TABLES if text.startswith("CREATE")]  # SQLite makes do with other words in them
        if self.do("SELECT sql FROM sqlite_master ORDER BY rowid") != known:
            raise self._damaged("its tables are not those of a journal")
        return False

    def entries(self, after: int = 0) -> list[Entry]:
        """The entries after this one, checked."""
        found = []
        for *cells, checksum in self.do("SELECT * FROM log WHERE entry > ? ORDER BY entry", (after,)):
            if checksum != _checksum(cells) or cells[0] != after + 1:
                raise self._damaged(f"entry {after + 1} does not fit its checksum or its number")
            entry = Entry(*cells)
            after, same = entry.entry, None if entry.same is None else bool(entry.same)
            found.append(entry._replace(same=same, gone=bool(entry.gone)))
            self._last = (after, checksum)
        return found

    def append(self, entry: Entry) -> None:
        """Add an entry, inside `transaction`. It gets the next number, and a new vote (0) has this number too."""
        number = self.do("SELECT coalesce(max(entry), 0) + 1 FROM log")[0][0]
        entry = entry._replace(entry=number, vote=entry.vote or number)
        cells = [int(cell) if isinstance(cell, bool) else cell for cell in entry]
        self.do("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*cells, _checksum(cells)))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is written inside, or nothing if there is an error."""
        self.check_in_place()
        self.do("BEGIN IMMEDIATE")
        try:
            yield
            self.do("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite may have rolled back already
                self._db.execute("ROLLBACK")
            raise
        self.check_in_place()

    def make_room(self) -> None:
        """Before a question is asked: room for its answer, or an OSError if the disk is full or read only."""
        self.check_in_place()
        self.do("DELETE FROM space WHERE 0")  # fails where nothing can be written
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
        """An OSError if the file that is open is no longer the one with its name, or has the content of another one."""
        self.check_usable()
        there = self._where() if os.path.exists(self.path) else None
        if there != self._place or not self._is_same():
            raise OSError(
                f"{self.path} was {'replaced' if there else 'deleted'} while it was in use, so nothing is asked or "
                "written; restore it, or save the answers of this object (answers()), and begin again"
            )

    def _where(self) -> tuple[int, int]:
        found = os.stat(self.path)
        if found.st_nlink > 1 and not os.path.isdir(self.path):
            raise ValueError(f"{self.path} must have one name, but is {found.st_nlink} hard links; copy it instead")
        return found.st_dev, found.st_ino

    def _state(self) -> tuple[int, int, int]:
        """What changes whenever somebody writes to the file."""
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _is_same(self) -> bool:
        """Whether the file still has the name of this journal and the last entry that was read, if it has changed."""
        if not self.id or (state := self._state()) == self._seen:
            return True
        self._seen, same = state, False
        with suppress(OSError, ValueError):
            self.do("PRAGMA shrink_memory")  # what SQLite has in memory may be of the file as it was
            last = "SELECT value, (SELECT checksum FROM log WHERE entry = ?) FROM about WHERE what = 'id'"
            same = self.do(last, self._last[:1]) == [(self.id, self._last[1])]
        self._seen = state if same else (0, 0, 0)
        return same

    def lock(self) -> None:
        """Wait until no other process asks; Ctrl-C interrupts the wait."""
        if self._asking is None:
            try:
                _touch(self._lock_path, files.mode(self.path))
                self._asking = self._connect(self._lock_path)
            except sqlite3.Error as error:
                raise OSError(f"{self._lock_path} cannot be used: {error}") from error
        for statement in ("PRAGMA journal_mode = OFF", "BEGIN EXCLUSIVE"):  # nothing is written to it
            self.do(statement, on=self._asking)

    def unlock(self) -> None:
        """Let other processes ask."""
        self._asking.execute("ROLLBACK")

    def do(self, statement: str, values: Iterable[Any] = (), *, on: sqlite3.Connection | None = None) -> list[tuple]:
        """Execute a statement, once no other process is in the way; its rows."""
        self.check_usable()
        values, waiting = tuple(values), self._waiting()
        while True:
            try:
                return (on or self._db).execute(statement, values).fetchall()
            except (sqlite3.Error, UnicodeDecodeError) as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code == sqlite3.SQLITE_BUSY:
                    reads = on is None and not self._db.in_transaction and statement.startswith(("SELECT", "PRAGMA"))
                    if reads and (rows := self._without_lock(statement, values)) is not None:
                        return rows
                    next(waiting)
                    continue
                self.check_in_place()  # perhaps this is the reason
                if code == sqlite3.SQLITE_NOTADB:
                    raise ValueError(f"{self.path} is not a journal: it is not an SQLite file") from error
                if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR) or isinstance(error, UnicodeDecodeError):
                    raise self._damaged(str(error)) from error
                raise OSError(f"{self.path} cannot be used: {error}") from error

    def _without_lock(self, statement: str, values: tuple) -> list[tuple] | None:
        """The rows of a statement that reads, though another process has a lock; None if it is just writing."""
        before, rows = self._state(), None
        with suppress(sqlite3.Error):
            with closing(sqlite3.connect(f"{Path(self.path).as_uri()}?immutable=1", uri=True)) as beside:
                rows = beside.execute(statement, values).fetchall()
        with suppress(FileNotFoundError), open(f"{self.path}-journal", "rb") as rollback:
            if any(rollback.read(8)):  # what is written is half in the one file, half in the other
                return None
        return rows if self._state() == before else None

    def _waiting(self) -> Iterator[None]:
        """Wait for another process as long as the file changes; an OSError after `PATIENCE` seconds without a change,
        or at once if nobody is in the way and locks do not work."""
        _check_locks(self.path)
        now, told, seen = time.monotonic(), False, self._state()
        began = self._stuck[0] if now - self._stuck[1] < 1 else now  # of threads in a row, the first has waited for all
        while (now := time.monotonic()) - began < PATIENCE:
            if self._state() != seen:
                began, told, seen = now, False, self._state()
            if now - began > TOLD and not told:
                told = True
                logging.getLogger(__name__).warning(
                    "%s is in use by another process; waiting for it, %g seconds at most", self.path, PATIENCE - TOLD
                )
            yield
        self._stuck = began, now
        raise OSError(
            f"{self.path} is in use by another process, which has written nothing for {PATIENCE:g} seconds; end that "
            "process if it is stopped, or wait for it, and begin again: no answer is lost"
        )

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


def _check_locks(path: str) -> None:
    """An OSError if even a file that nobody else can have gets no lock. (SQLite takes that for a lock of others.)"""
    with suppress(ImportError):  # Windows
        import fcntl

        try:
            file = tempfile.TemporaryFile(dir=os.path.dirname(path))
        except OSError:  # nothing can be written here
            return
        with file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise OSError(f"{path} cannot be used: its file system gives no locks ({error.strerror}); "
                              "copy it to a local disk") from error  # fmt: skip


def _close(connections: list[sqlite3.Connection], process: int) -> None:
    if os.getpid() == process:  # otherwise they belong to the process that forked this one
        for connection in connections:
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA journal_mode = DELETE")  # removes the rollback journal
            connection.close()
