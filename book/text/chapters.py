"""What is known of a chapter before it runs: its file, its parameters, and those of a profile or a command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book.companion import ranges
from book.project import BuildError, number_of, read_yaml


@dataclass(frozen=True)
class Chapter:
    """One notebook of the table of contents."""

    slug: str  # "08-synthetic"
    path: Path  # relative to the project: notebooks/08-synthetic.ipynb
    root: Path

    def notebook(self) -> dict[str, Any]:
        """The notebook, with each cell's source as one string."""
        try:
            return read_notebook(self.root / self.path)
        except FileNotFoundError:
            raise BuildError(f"{self.slug}: {self.path} is in _toc.yml but does not exist") from None
        except (ValueError, KeyError, TypeError) as error:
            raise BuildError(f"{self.slug}: {self.path} is not a notebook ({type(error).__name__}: {error})") from None

    def defaults(self) -> dict[str, Any]:
        """The parameters and their values in the book, read from the tagged cell without running it."""
        self.notebook()  # which says what is wrong with it
        try:
            return {name: value for name, _, value, _ in ranges.read(self.root / self.path)}
        except (ValueError, SyntaxError) as error:
            raise BuildError(f"{self.slug}: the cell of parameters: {error}") from None


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook, with each cell's source as one string."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def read_chapters(root: Path) -> list[Chapter]:
    """The notebooks that _toc.yml names, in its order."""
    paths = [Path(page).with_suffix(".ipynb") for page in pages(read_yaml(root / "_toc.yml"))]
    for stray in sorted((root / "notebooks").rglob("*.ipynb")):
        path = stray.relative_to(root)
        if path not in paths and ".ipynb_checkpoints" not in path.parts:
            raise BuildError(f"{path.stem}: {path.as_posix()} is not in _toc.yml")
    return [Chapter(path.stem, path, root) for path in paths if path.parts[0] == "notebooks"]


def pages(entry: Any) -> Iterator[str]:
    """The pages below the root that the table of contents names, without suffix, in its order."""
    if isinstance(entry, dict):
        if "file" in entry:
            yield entry["file"]
        entry = list(entry.values())
    if isinstance(entry, list):
        for part in entry:
            yield from pages(part)


def select(chapters: list[Chapter], only: Sequence[str]) -> list[Chapter]:
    """The chapters of these numbers ("4", "04", "a2") or names; all if there are none."""
    chosen = []
    for wanted in only:
        found = [c for c in chapters if wanted == c.slug or wanted.upper().lstrip("0") == number_of(c.slug)]
        if not found:
            raise BuildError(f"no chapter {wanted}; there are {', '.join(c.slug for c in chapters)}")
        chosen += found
    return [c for c in chapters if c in chosen] if chosen else chapters


def read_profile(root: Path, name: str, chapters: list[Chapter]) -> dict[str, dict[str, Any]]:
    """Chapter -> parameter -> value, from profiles.yml. The profile "full" always exists and sets nothing."""
    profiles = {"full": {}} | read_yaml(root / "book" / "data" / "profiles.yml")
    if name not in profiles:
        raise BuildError(f"no profile {name}; there are {', '.join(profiles)}")
    settings = profiles[name] or {}
    if unknown := settings.keys() - {c.slug for c in chapters}:
        raise BuildError(f"profiles.yml: {name} names {min(unknown)}, which is not a chapter")
    return settings


def _from_outside(slug: str, value: Any) -> Any:
    """The value of a profile; for one like $CROWDER_CORA, the path in that environment variable."""
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    path = os.environ.get(value[1:])
    if not path or not Path(path).exists():
        raise BuildError(f"{slug}: {value[1:]} must be the path of data that are not shipped, "
                         f"not {path!r} (.ci/data.py fetches them)")  # fmt: skip
    return str(Path(path).resolve())


def chosen(chapters: list[Chapter], profile: dict[str, dict], typed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """For each of these chapters the values that are not the book's: those of the profile, and those typed.

    A chapter has those of the typed parameters that it knows. A value with which it cannot run is a BuildError.
    """
    defaults = {c.slug: c.defaults() for c in chapters}
    for name in typed:
        if not any(name in has for has in defaults.values()):
            known = "; ".join(f"{slug} has {', '.join(has) or 'none'}" for slug, has in defaults.items())
            raise BuildError(f"no parameter {name}: {known}")
    found = {}
    for slug, has in defaults.items():
        values = {name: _from_outside(slug, value) for name, value in profile.get(slug, {}).items()}
        values |= {name: value for name, value in typed.items() if name in has}
        if unknown := values.keys() - has.keys():
            raise BuildError(f"profiles.yml: {min(unknown)} is not a parameter of {slug}, which has {', '.join(has)}")
        try:
            ranges.differing(next(c.root / c.path for c in chapters if c.slug == slug), has | values)
        except ValueError as error:
            raise BuildError(f"{slug}: {error}") from None
        found[slug] = {name: value for name, value in values.items() if value != has[name]}
    return found


def run_name(words: list[str]) -> str:
    """The folder of a run with parameters, from the words of its command.

    >>> run_name(["08", "epsilons", "[0.1, 0.3]"])
    '08-epsilons-0.1-0.3'
    """
    return re.sub(r"[^\w.]+", "-", " ".join(words))[:80].strip("-.")
