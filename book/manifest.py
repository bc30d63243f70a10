"""Which execution of which chapter is current: what vouches for the executed notebooks of one profile."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from chapters import Chapter, fingerprint, versions
from surroundings import commit


class Manifest:
    """What vouches for the executed notebooks of one profile."""

    def __init__(self, path: Path, profile: str) -> None:
        self.path = path
        try:
            self.data = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            self.data = {"profile": profile, "chapters": {}}

    def longest_first(self, chapters: list[Chapter]) -> list[Chapter]:
        took = {slug: entry["seconds"] for slug, entry in self.data["chapters"].items()}
        return sorted(chapters, key=lambda c: -took.get(c.slug, float("inf")))

    def is_current(self, chapter: Chapter, parameters: dict[str, Any]) -> bool:
        entry = self.data["chapters"].get(chapter.slug)
        notebook = self.path.parent / f"{chapter.slug}.ipynb"
        return (
            entry is not None
            and entry["fingerprint"] == fingerprint(chapter, parameters)
            and notebook.exists()
            and entry["sha256"] == sha256(notebook)
        )

    def forget(self, slug: str) -> None:
        if self.data["chapters"].pop(slug, None) is not None:
            self._write()

    def record(self, chapter: Chapter, parameters: dict[str, Any], seconds: float, notebook: Path) -> None:
        self.data["chapters"][chapter.slug] = {
            "fingerprint": fingerprint(chapter, parameters),
            "parameters": chapter.defaults() | parameters,
            "seconds": seconds,
            "commit": commit(),
            "versions": versions(),
            "sha256": sha256(notebook),
        }
        self._write()

    def _write(self) -> None:
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(self.data, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        temporary.replace(self.path)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
