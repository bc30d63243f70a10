"""Output folders: one build at a time, and each folder replaced only once its successor is complete."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from book.build import processes
from book.build.chapters import BuildError, Chapter
from book.build.environment import ROOT, WORK

#: Folders that a build replaces as a whole.
_REPLACED = ("html", "preview", "changed", "src", "results", "executed")
_SOURCES = ("crowder", "notebooks", "book")

#: The file among the pages with the `digest` of the sources that they were made from.
DIGEST = "sources.sha256"


@contextlib.contextmanager
def build_lock(out: Path) -> Iterator[None]:
    """Lock the output folder for one build, and clean up after a build that was killed."""
    _check_output(out)
    out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(FileLock(out / ".lock", blocking=False))
        except Timeout:
            raise BuildError(f"another build is running in {out}") from None
        old = [out / f"{name}.old" for name in _REPLACED] + list(out.glob("results/*/*.old"))
        for path in filter(Path.is_dir, old):
            # Killed between the two moves of a swap: the old folder is the complete one.
            if not (target := path.with_name(path.name.removesuffix(".old"))).exists():
                path.rename(target)
            shutil.rmtree(path, ignore_errors=True)
        for work in out.glob(".work-*"):
            processes.end(WORK, str(work))  # processes that outlived their build
            shutil.rmtree(work, ignore_errors=True)
        for part in [*out.glob("results/*/*.part"), *out.glob("executed/*/*.part")]:
            part.unlink()
        yield


def _check_output(out: Path) -> None:
    """Reject folders in which a build would overwrite files that are not its own."""
    if out == ROOT or any(out.is_relative_to(ROOT / name) for name in _SOURCES):
        raise BuildError(f"--output {out} contains sources; choose another folder")
    for part in (out, *out.parents):
        if part.exists() and not part.is_dir():
            raise BuildError(f"--output {out}: {part} is a file, not a folder")
    if not (out / ".lock").exists():
        theirs = [name for name in _REPLACED if (out / name).exists()]
        if theirs:
            raise BuildError(f"--output {out}: would replace {', '.join(theirs)}, which no build has made; "
                             "choose another folder, or move them away")  # fmt: skip


def swap(new: Path, target: Path) -> None:
    """Replace a folder by a finished one, atomically where the system supports it."""
    if not target.exists():
        new.rename(target)
        return
    if exchange(new, target):
        shutil.rmtree(new, ignore_errors=True)
        return
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    try:
        target.rename(old)
        new.rename(target)
    finally:
        if not target.exists() and old.exists():  # interrupted between the two moves
            old.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically; False where the system or the file system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    with contextlib.suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return libc.renamex_np(*names, 2) == 0  # RENAME_SWAP
        here = -100  # AT_FDCWD
        return libc.renameat2(here, names[0], here, names[1], 2) == 0  # RENAME_EXCHANGE
    return False


def copy_sources(root: Path, work: Path, target: Path) -> Path:
    copy = work / "src"
    copy.mkdir()
    for name in _SOURCES:
        if (root / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(
                root / name, copy / name, ignore=ignored
            )  # keeps modification times, so numba's cache stays valid
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy2(root / name, copy / name)
    swap(copy, target)
    return target


def digest(root: Path) -> str:
    """A hash of all sources of the book: pages that carry it were made from exactly these."""
    names = [path for name in _SOURCES for path in sorted((root / name).rglob("*")) if path.is_file()]
    found = hashlib.sha256()
    for path in [*names, root / "_config.yml", root / "_toc.yml"]:
        name = path.relative_to(root)
        if not any(part.startswith((".", "__pycache__")) for part in name.parts):  # caches
            found.update(f"{name.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def complete_records(folder: Path, chapter: Chapter, profile: str, parameters: dict[str, Any]) -> None:
    """Add the chapter, the profile and all parameters to the record of each result."""
    for path in folder.glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["parameters"] = chapter.defaults() | parameters | record.get("parameters", {})
        record |= {"chapter": chapter.slug, "profile": profile}
        path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
