"""Output folders: one build at a time, and each folder replaced only once its successor is complete."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from book.build.chapters import BuildError
from book.build.environment import ROOT

#: Folders that a build replaces as a whole.
_REPLACED = ("html", "src", "results", "executed")
_SOURCES = ("crowder", "notebooks", "book", "_config.yml", "_toc.yml", "requirements.lock")

#: The file among the pages with the `digest` of the sources that they were made from.
DIGEST = "sources.sha256"


@contextlib.contextmanager
def build_lock(out: Path) -> Iterator[None]:
    """Lock the output folder for one build, and clean up after a build that was killed."""
    if out == ROOT or any(out.is_relative_to(ROOT / name) for name in _SOURCES):
        raise BuildError(f"--output {out} contains sources; choose another folder")
    ours = (out / ".lock").exists()
    if not ours and (theirs := [name for name in _REPLACED if (out / name).exists()]):
        raise BuildError(f"--output {out}: would replace {', '.join(theirs)}, which no build has made")
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildError(f"another build is running in {out}") from None
        for old, target in ((out / f"{name}.old", out / name) for name in _REPLACED):
            if old.is_dir() and not target.exists():  # the build was killed between the two moves of `replace`
                old.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        for work in out.glob(".work-*"):
            shutil.rmtree(work, ignore_errors=True)
        yield


def replace(new: Path, target: Path) -> None:
    """Put a finished folder in the place of another: two renames, with the old one at hand until both are done."""
    old = target.with_name(f"{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    try:
        if target.exists():
            target.rename(old)
        new.rename(target)
    finally:
        if not target.exists() and old.exists():  # interrupted between the two
            old.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def copy_sources(root: Path, target: Path) -> Path:
    """A copy of the sources to execute and render, so that edits during a build do no harm."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in (root / name for name in _SOURCES):
        if path.is_dir():  # modification times are kept, so that Numba's cache stays valid
            shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif path.exists():
            shutil.copy2(path, target)
    return target


def digest(root: Path, names: tuple[str, ...] = _SOURCES, *, but: tuple[str, ...] = (), pattern: str = "*") -> str:
    """A hash of these files and folders, caches and `but` left out; by default of all sources of the book."""
    found = hashlib.sha256()
    for path in (root / name for name in names):
        for file in sorted(path.rglob(pattern)) if path.is_dir() else [path]:
            name = file.relative_to(root)
            cache = any(part.startswith((".", "__pycache__")) for part in name.parts)
            if file.is_file() and not cache and name.as_posix() not in but:
                found.update(f"{name.as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()
