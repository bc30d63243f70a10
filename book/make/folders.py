"""Output folders: one build at a time, and each folder replaced only once its successor is complete."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from book.make.chapters import BuildError
from book.make.environment import ROOT

#: Folders that belong to the build. It replaces them as a whole, and in the last one each run by itself.
_OURS = ("html", "src", "results", "executed", "runs")
_SOURCES = ("crowder", "tool", "notebooks", "book", "_config.yml", "_toc.yml", "pyproject.toml", "requirements.lock")
#: Pages that Sphinx makes among the sources.
_MADE = Path("book", "pages", "api")

#: The file among the pages with the `digest` of the sources that they were made from.
DIGEST = "sources.sha256"


@contextlib.contextmanager
def build_lock(out: Path) -> Iterator[None]:
    """Lock the output folder for one build, and clean up after a build that was killed."""
    if out == ROOT or any(out.is_relative_to(ROOT / name) for name in _SOURCES):
        raise BuildError(f"--output {out} contains sources; choose another folder")
    ours = (out / ".lock").exists()
    if not ours and (theirs := [name for name in _OURS if (out / name).exists()]):
        raise BuildError(f"--output {out}: would replace {', '.join(theirs)}, which no build has made")
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildError(f"another build is running in {out}") from None
        for old in (*(out / f"{name}.old" for name in _OURS), *(out / "runs").glob("*.old")):
            if old.is_dir() and not old.with_suffix("").exists():  # killed between the two moves of `replace`
                old.rename(old.with_suffix(""))
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


def sources(root: Path, names: tuple[str, ...] = _SOURCES, pattern: str = "*") -> Iterator[Path]:
    """The files of these sources, by default of all, relative to `root`; no caches, and nothing that was made there."""
    for path in (root / name for name in names):
        for file in sorted(path.rglob(pattern)) if path.is_dir() else [path]:
            name = file.relative_to(root)
            made = name.is_relative_to(_MADE) or any(part.startswith((".", "__pycache__")) for part in name.parts)
            if file.is_file() and not made:
                yield name


def copy_sources(root: Path, target: Path) -> Path:
    """A copy of the sources to execute and render, so that edits during a build do no harm."""
    shutil.rmtree(target, ignore_errors=True)
    for name in sources(root):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name)  # keeps the modification time, so Numba's cache stays valid
    return target


def digest(root: Path, names: tuple[str, ...] = _SOURCES, *, pattern: str = "*") -> str:
    """A hash of these files and folders; by default of all sources of the book."""
    found = hashlib.sha256()
    for name in sources(root, names, pattern):
        found.update(f"{name.as_posix()}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return found.hexdigest()
