"""Which chapters were executed, how long that took, and whether it is still current."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from book.companion.results import write
from book.make import folders, numbers
from book.make.chapters import Chapter

#: What chapters import or read; when any of it changes, all chapters run again.
READ = ("crowder", "tool/crowder_tool", "book/companion", "book/strict_yaml.py", "notebooks/plots", "book/data/fonts",
        "book/data/recorded", "book/data/published.yml", "requirements.lock")  # fmt: skip


def inputs(root: Path, but: tuple[str, ...] = ()) -> str:
    """A hash of what all chapters depend on: sources and data without `but`, versions, and settings from outside."""
    elsewhere = ("CROWDER_RESULTS", "CROWDER_SITE")  # where results and pages will be, which changes none
    outside = {k: v for k, v in sorted(os.environ.items()) if k.startswith("CROWDER_") and k not in elsewhere}
    facts = [folders.digest(root, tuple(name for name in READ if name not in but)), versions(root), outside]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def versions(root: Path) -> dict[str, str]:
    """Versions of Python and of the packages that chapters ask for, where they are installed."""
    found = {"python": sys.version.split()[0]}
    for name in asked_for(root, "notebooks"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def asked_for(root: Path, extra: str) -> list[str]:
    """The packages that pyproject.toml asks for, with what an extra takes in."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names, wanted = set(), [*project["dependencies"], f"{project['name']}[{extra}]"]
    while wanted:
        name, extras = re.match(r"([\w.-]+)(?:\[(.*)\])?", wanted.pop()).groups()
        if name != project["name"]:
            names.add(name)
        else:
            wanted += [each for extra in extras.split(",") for each in project["optional-dependencies"][extra]]
    return sorted(names)


class Manifest:
    """The executed notebooks of one profile and their results, with what they were made from."""

    def __init__(self, path: Path, results: Path, inputs: str) -> None:
        self.path, self.results, self.inputs = path, results, inputs
        self.executed = path.parent
        try:
            self.chapters = json.loads(path.read_text(encoding="utf-8"))["chapters"]
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            self.chapters = {}  # nothing is current

    def expected(self, measured: Path | None) -> dict[str, float]:
        """The seconds of each chapter in the last build, or else in the committed table."""
        known = {row["chapter"]: float(row["seconds"]) for row in (rows(measured) if measured else ())}
        return known | {slug: entry["seconds"] for slug, entry in self.chapters.items()}

    def is_current(self, chapter: Chapter, parameters: dict[str, Any]) -> bool:
        """Whether the last execution had these inputs, and its notebook and results are as it left them."""
        entry = self.chapters.get(chapter.slug, {})
        return entry.get("made_from") == self._made_from(chapter, parameters) and entry["made"] == self._made(chapter)

    def _made_from(self, chapter: Chapter, parameters: dict[str, Any]) -> str:
        """A hash of everything that an execution depends on: of the text, what it asks for."""
        code = [(c["id"], c["source"], c["metadata"]) for c in chapter.notebook()["cells"] if c["cell_type"] == "code"]
        facts = [code, numbers.asked(chapter), parameters, self.inputs]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _made(self, chapter: Chapter) -> list[str]:
        """Hashes of the executed notebook and of the results."""
        places = ((self.executed, f"{chapter.slug}.ipynb"), (self.results, chapter.slug))
        return [folders.digest(folder, (name,)) for folder, name in places]

    def record(self, chapter: Chapter, parameters: dict[str, Any], seconds: float) -> None:
        """Note an execution whose notebook and results are in place."""
        self.chapters[chapter.slug] = {
            "made_from": self._made_from(chapter, parameters),
            "made": self._made(chapter),
            "seconds": seconds,
        }
        write(self.path, (json.dumps({"chapters": self.chapters}, indent=2, sort_keys=True) + "\n").encode())


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file of measurements; none if there is no such file."""
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records") if path.is_file() else []
