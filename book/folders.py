"""Folders that are whole or not there: one build at a time, everything moved into place when it is complete."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chapters import BuildError, Chapter


@contextlib.contextmanager
def alone(out: Path) -> Iterator[None]:
    """One build at a time in a folder, and a tidy start: what a killed build left is put right."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildError(f"another build is at work in {out}") from None
        for old in [*out.glob("*.old"), *out.glob("results/*/*.old")]:
            # Killed between the two moves of a swap: the old one is the good one.
            if not (target := old.with_suffix("")).exists():
                old.rename(target)
        for leftover in [*out.glob(".work-*"), *out.glob("*.old"), *out.glob("results/*/*.old")]:
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def swap(new: Path, target: Path) -> None:
    """Put a finished folder in the place of another."""
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def copy_sources(root: Path, work: Path, target: Path) -> Path:
    copy = work / "src"
    copy.mkdir()
    for name in ("crowder", "notebooks", "book"):
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
