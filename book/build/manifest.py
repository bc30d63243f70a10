"""The record of which chapters were executed, with what, and whether that is still current."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

from book.build import folders
from book.build.chapters import Chapter
from book.build.environment import commit
from crowder import files

#: What chapters import or read; when any of it changes, all chapters run again.
READ = ("crowder", "book/companion", "book/strict_yaml.py", "notebooks/plots", "book/data/fonts", "book/data/measured",
        "book/data/published.yml", "requirements.lock")  # fmt: skip
#: Measurements that only the pages show: `make bench` changes them after every build.
NOT_READ = tuple(f"book/data/measured/{name}.csv" for name in ("chapters", "faults"))

#: The packages that compute or draw; the others only render.
PACKAGES = ("joblib", "matplotlib", "numba", "numpy", "pandas", "pyyaml", "rapidfuzz", "scipy",
            "seaborn", "sympy", "tqdm")  # fmt: skip

_KEYS = {"fingerprint", "parameters", "seconds", "versions", "commit", "sha256", "results"}


def inputs(root: Path) -> str:
    """A hash of what all chapters depend on: sources, data, lock, versions, and settings from outside."""
    outside = {k: v for k, v in sorted(os.environ.items()) if k.startswith("CROWDER_") and k != "CROWDER_RESULTS"}
    facts = [folders.digest(root, READ, but=NOT_READ), versions(), outside]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a result."""
    return {"python": sys.version.split()[0]} | {name: importlib.metadata.version(name) for name in PACKAGES}


class Manifest:
    """The executed notebooks of one profile and their results, with their fingerprints and checksums."""

    def __init__(self, path: Path, profile: str, results: Path, inputs: str = "") -> None:
        self.path, self.results, self.inputs = path, results, inputs
        self.commit = commit()  # now, when the sources are copied: a chapter may run for minutes
        self.data = {"profile": profile, "chapters": _read(path)}

    def expected(self, measured: Path) -> dict[str, float]:
        """The seconds of each chapter in the last build; for the full book, else those of the committed table."""
        rows = measured_times(measured) if self.data["profile"] == "full" else []
        known = {row["chapter"]: float(row["seconds"]) for row in rows}
        return known | {slug: entry["seconds"] for slug, entry in self.data["chapters"].items()}

    def fingerprint(self, chapter: Chapter, parameters: dict[str, Any]) -> str:
        """A hash of everything an execution depends on."""
        cells = [(c["cell_type"], c["source"], c["metadata"]) for c in chapter.notebook()["cells"]]
        return hashlib.sha256(json.dumps([cells, parameters, self.inputs], sort_keys=True).encode()).hexdigest()

    def is_current(self, chapter: Chapter, parameters: dict[str, Any]) -> bool:
        """Whether the last execution had these inputs, and its notebook and results are as it left them."""
        entry = self.data["chapters"].get(chapter.slug)
        return (
            entry is not None
            and entry["fingerprint"] == self.fingerprint(chapter, parameters)
            and entry["sha256"] == sha256(self.path.parent / f"{chapter.slug}.ipynb")
            and entry["results"] == sha256(self.results / chapter.slug)
        )

    def record(self, chapter: Chapter, parameters: dict[str, Any], took: dict[str, Any]) -> None:
        """Note an execution whose notebook and results are in place."""
        self.data["chapters"][chapter.slug] = {
            "fingerprint": self.fingerprint(chapter, parameters),
            "parameters": chapter.defaults() | parameters,
            **took,  # seconds, processor time, and the seconds of each cell
            "commit": self.commit,
            "versions": versions(),
            "sha256": sha256(self.path.parent / f"{chapter.slug}.ipynb"),
            "results": sha256(self.results / chapter.slug),
        }
        files.write(self.path, (json.dumps(self.data, indent=2, sort_keys=True) + "\n").encode())


def measured_times(path: Path) -> list[dict[str, str]]:
    """The rows of the committed table of run times; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a manifest; none if it cannot be read or is another version's."""
    try:
        chapters = json.loads(path.read_text(encoding="utf-8"))["chapters"]
        return {slug: entry for slug, entry in chapters.items() if entry.keys() >= _KEYS}
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def sha256(path: Path) -> str:
    """The SHA-256 of a file, or of all files in a folder with their names; empty if there is none."""
    if path.is_dir():
        return folders.digest(path.parent, (path.name,))
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
