"""The record of which chapters were executed, with what, and whether that is still current."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

from book.build.chapters import Chapter, fingerprint, versions
from book.build.environment import commit
from crowder import files

_KINDS = {"parameters": dict, "seconds": (int, float), "versions": dict} | dict.fromkeys(
    ("fingerprint", "sha256", "results"), str
)


class Manifest:
    """The executed notebooks of one profile and their results, with their fingerprints and checksums."""

    def __init__(self, path: Path, profile: str, results: Path) -> None:
        self.path, self.results = path, results
        self.commit = commit()  # now, when the sources are copied: a chapter may run for minutes
        self.data = {"profile": profile, "chapters": _read(path)}

    def expected(self, measured: Path) -> dict[str, float]:
        """The seconds of each chapter in the last build; for the full book, else those of the committed table."""
        rows = measured_times(measured) if self.data["profile"] == "full" else []
        known = {row["chapter"]: float(row["seconds"]) for row in rows}
        return known | {slug: entry["seconds"] for slug, entry in self.data["chapters"].items()}

    def is_current(self, chapter: Chapter, parameters: dict[str, Any]) -> bool:
        entry = self.data["chapters"].get(chapter.slug)
        notebook = self.path.parent / f"{chapter.slug}.ipynb"
        return (
            entry is not None
            and entry["fingerprint"] == fingerprint(chapter, parameters)
            and notebook.exists()
            and entry["sha256"] == sha256(notebook)
            and entry["results"] == sha256(self.results / chapter.slug)
        )

    def forget(self, slug: str) -> None:
        if self.data["chapters"].pop(slug, None) is not None:
            self._write()

    def record(self, chapter: Chapter, parameters: dict[str, Any], took: dict[str, Any], notebook: Path) -> None:
        self.data["chapters"][chapter.slug] = {
            "fingerprint": fingerprint(chapter, parameters),
            "parameters": chapter.defaults() | parameters,
            **took,  # seconds, processor time, and the seconds of each cell
            "commit": self.commit,
            "versions": versions(),
            "sha256": sha256(notebook),
            "results": sha256(self.results / chapter.slug),
        }
        self._write()

    def _write(self) -> None:
        files.write(self.path, (json.dumps(self.data, indent=2, sort_keys=True) + "\n").encode())


def measured_times(path: Path) -> list[dict[str, str]]:
    """The rows of the committed table of run times; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The valid entries of a manifest; none if it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    chapters = found.get("chapters") if isinstance(found, dict) else None
    return {
        slug: entry for slug, entry in (chapters.items() if isinstance(chapters, dict) else ())
        if isinstance(entry, dict) and isinstance(entry.get("commit", 0), (str, type(None)))
        and all(isinstance(entry.get(key), kind) for key, kind in _KINDS.items())
    }  # fmt: skip


def sha256(path: Path) -> str:
    """The SHA-256 of a file, or of all files in a folder with their names."""
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes() if path.exists() else b"").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
