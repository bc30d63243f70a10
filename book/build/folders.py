"""Folders that are whole or not there: one build at a time, everything moved into place when it is complete."""

from __future__ import annotations

import contextlib
import ctypes
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

#: What a build replaces as a whole.
_REPLACED = ("html", "preview", "moved", "src", "results", "executed")
_SOURCES = ("crowder", "notebooks", "book")


@contextlib.contextmanager
def alone(out: Path) -> Iterator[None]:
    """One build at a time in a folder, and a tidy start: what a killed build left is put right."""
    _refuse(out)
    out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(FileLock(out / ".lock", blocking=False))
        except Timeout:
            raise BuildError(f"another build is at work in {out}") from None
        old = [out / f"{name}.old" for name in _REPLACED] + list(out.glob("results/*/*.old"))
        for path in filter(Path.is_dir, old):
            # Killed between the two moves of a swap: the old one is the good one.
            if not (target := path.with_name(path.name.removesuffix(".old"))).exists():
                path.rename(target)
            shutil.rmtree(path, ignore_errors=True)
        for work in out.glob(".work-*"):
            processes.end(WORK, str(work))  # what outlived its build would go on writing
            shutil.rmtree(work, ignore_errors=True)
        for part in [*out.glob("results/*/*.part"), *out.glob("executed/*/*.part")]:
            part.unlink()
        yield


def _refuse(out: Path) -> None:
    """Folders in which a build would harm what is not its own."""
    if out == ROOT or any(out.is_relative_to(ROOT / name) for name in _SOURCES):
        raise BuildError(f"--output {out}: the sources are there; name another folder")
    for part in (out, *out.parents):
        if part.exists() and not part.is_dir():
            raise BuildError(f"--output {out}: {part} is a file, not a folder")
    if not (out / ".lock").exists():
        theirs = [name for name in _REPLACED if (out / name).exists()]
        if theirs:
            raise BuildError(f"--output {out}: {', '.join(theirs)} would be replaced there, and no build has made "
                             "that; name another folder, or move it away")  # fmt: skip


def swap(new: Path, target: Path) -> None:
    """Put a finished folder in the place of another; in one step where the system can: the place is never empty."""
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
        if not target.exists() and old.exists():  # interrupted between the two
            old.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where the system or the disk does not know how."""
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
            shutil.copytree(root / name, copy / name, ignore=ignored)  # keeps times, so numba's cache stays good
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy2(root / name, copy / name)
    swap(copy, target)
    return target


def complete_records(folder: Path, chapter: Chapter, profile: str, parameters: dict[str, Any]) -> None:
    """Add to each result what only the build knows: the chapter, the profile and all parameters."""
    for path in folder.glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["parameters"] = chapter.defaults() | parameters | record.get("parameters", {})
        record |= {"chapter": chapter.slug, "profile": profile}
        path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
