"""What the build knows about a chapter before running it: its file and its parameters."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book import strict_yaml


class BuildError(Exception):
    """An error for the author of the book to fix; its text is the complete message."""


@dataclass(frozen=True)
class Chapter:
    """One notebook of the table of contents."""

    slug: str  # "08-synthetic"
    path: Path  # relative to the project: notebooks/08-synthetic.ipynb
    root: Path

    def notebook(self) -> dict[str, Any]:
        """The notebook, with each cell's source as one string."""
        try:
            notebook = json.loads((self.root / self.path).read_text(encoding="utf-8"))
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"])
                cell["cell_type"], cell["metadata"].get("tags", []).count("parameters")
        except FileNotFoundError:
            raise BuildError(f"{self.slug}: {self.path} is in _toc.yml but does not exist") from None
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
            raise BuildError(f"{self.slug}: {self.path} is not a notebook ({type(error).__name__}: {error})") from None
        return notebook

    def exists(self) -> bool:
        return (self.root / self.path).exists()

    def defaults(self) -> dict[str, Any]:
        """The parameters and their defaults, read from the tagged cell without running it."""
        tagged = [c for c in self.notebook()["cells"] if "parameters" in c.get("metadata", {}).get("tags", [])]
        if len(tagged) != 1 or tagged[0]["cell_type"] != "code":
            raise BuildError(f"{self.slug}: needs exactly one code cell tagged 'parameters', has {len(tagged)}")
        values, target = {}, ast.Name("")
        try:
            for statement in ast.parse(tagged[0]["source"]).body:
                if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                    target = statement.targets[0]
                elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                    target = statement.target
                else:
                    continue
                if isinstance(target, ast.Name):
                    values[target.id] = ast.literal_eval(statement.value)
        except SyntaxError as error:
            raise BuildError(f"{self.slug}: the parameters cell is not Python: {error}") from None
        except (ValueError, TypeError, RecursionError, MemoryError):
            raise BuildError(f"{self.slug}: parameter {target.id} must be a literal") from None
        return values


def read_yaml(root: Path, name: str) -> dict[Any, Any]:
    """A YAML file of the book as a mapping; a BuildError if it cannot be read."""
    try:
        return strict_yaml.read(root / name)
    except strict_yaml.Unreadable as error:
        raise BuildError(f"{name}: {error}") from None


def read_chapters(root: Path) -> list[Chapter]:
    """The notebooks that _toc.yml names, in its order."""
    try:
        toc = read_yaml(root, "_toc.yml")
    except FileNotFoundError:
        raise BuildError(f"there is no _toc.yml in {root}") from None
    paths = [Path(file).with_suffix(".ipynb") for file in _files(toc)]
    chapters = [Chapter(path.stem, path, root) for path in paths if path.parts[0] == "notebooks"]
    for stray in sorted((root / "notebooks").rglob("*.ipynb")):
        path = stray.relative_to(root)
        if path not in paths and ".ipynb_checkpoints" not in path.parts:
            raise BuildError(f"{path.stem}: {path.as_posix()} is not in _toc.yml")
    return chapters


def _files(entry: Any) -> Iterator[str]:
    """The pages that the table of contents names, in its order."""
    if isinstance(entry, dict) and "file" in entry:
        if not isinstance(entry["file"], str) or not re.fullmatch(r"(?!.*\.\.)[\w-][\w./-]*", entry["file"]):
            raise BuildError(f"_toc.yml: file: {entry['file']!r} is not a page of the book")
        yield entry["file"]
    if isinstance(entry, dict | list):
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _files(part)


def number_of(slug: str) -> str:
    """The number of a chapter, from the name of its file; empty if it has none.

    >>> number_of("08-synthetic"), number_of("A2-edge-ordering"), number_of("preface")
    ('8', 'A2', '')
    """
    found = re.match(r"0*(A?\d+[a-z]?)-", slug)
    return found[1] if found else ""


def select(chapters: list[Chapter], only: list[str]) -> list[Chapter]:
    """The chapters that ``--only`` asks for: by number ("4", "04", "a2") or by name."""
    chosen = []
    for wanted in only:
        name = wanted.lower().lstrip("0")
        found = [c for c in chapters if name and name in (c.slug.lower().lstrip("0"), number_of(c.slug).lower())]
        if not found:
            raise BuildError(f"--only {wanted}: no such chapter; there are {', '.join(c.slug for c in chapters)}")
        chosen += found
    return [c for c in chapters if c in chosen] if only else chapters


def read_profiles(root: Path, chapters: list[Chapter]) -> dict[str, dict[str, dict[str, Any]]]:
    """profiles.yml: profile -> chapter -> parameter -> value. "full" always exists and sets nothing."""
    where = "book/data/profiles.yml"
    found = read_yaml(root, where) if (root / where).exists() else {}
    known, profiles = [c.slug for c in chapters], {"full": {}}
    for profile, settings in found.items():
        if not isinstance(profile, str) or not re.fullmatch(r"[\w-]+", profile) or profile == "full":
            raise BuildError(f'{where}: {profile!r} cannot be the name of a profile ("full" sets nothing)')
        profiles[profile] = _mapping(settings, f"{where}: profile {profile}")
        for slug, values in profiles[profile].items():
            if slug not in known:
                raise BuildError(f"{where}: profile {profile} names {slug}, which is not a chapter; "
                                 f"there are {', '.join(known)}")  # fmt: skip
            profiles[profile][slug] = _mapping(values, f"{where}: {slug} in profile {profile}")
    return profiles


def _mapping(value: Any, what: str) -> dict[Any, Any]:
    if value is not None and not isinstance(value, dict):
        raise BuildError(f"{what} must be a mapping, not {value!r}")
    return value or {}


def parse_assignments(assignments: list[str]) -> dict[str, str]:
    """``-p name=value`` as typed; each chapter converts the value to the type of its own default."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip().isidentifier():
            raise BuildError(f"-p {assignment}: expected name=value")
        values[name.strip()] = value.strip()
    return values


def overrides(selected: list[Chapter], profile: dict[str, dict], typed: dict[str, str]) -> dict[str, dict[str, Any]]:
    """For each selected chapter, the values that differ from its defaults: the profile's and those typed."""
    defaults = {c.slug: c.defaults() for c in selected}
    for name in typed:
        if not any(name in values for values in defaults.values()):
            known = "; ".join(f"{slug} has {', '.join(values) or 'none'}" for slug, values in defaults.items())
            raise BuildError(f"-p {name}: not a parameter of any selected chapter ({known})")
    chosen = {}
    for slug, has in defaults.items():
        values = {name: _fitting(slug, name, value, has, "book/data/profiles.yml")
                  for name, value in profile.get(slug, {}).items()}  # fmt: skip
        values |= {name: _fitting(slug, name, _literal(text, has[name]), has, "-p")
                   for name, text in typed.items() if name in has}  # fmt: skip
        same = {name: list(value) if isinstance(value, tuple) else value for name, value in has.items()}
        chosen[slug] = {name: value for name, value in values.items() if value != same[name]}
    return chosen


def _literal(text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    if isinstance(default, bool) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text


def _fitting(slug: str, name: str, value: Any, defaults: dict[str, Any], origin: str) -> Any:
    """The value as the chapter will receive it; a BuildError if it does not fit the default."""
    if name not in defaults:
        raise BuildError(f"{slug}: {origin} sets {name!r}, which is not a parameter; it has {', '.join(defaults)}")
    try:
        return _coerced(value, defaults[name])
    except TypeError:
        raise BuildError(f"{slug}: {origin} sets {name} to {value!r}, but its default {defaults[name]!r} "
                         f"is of type {type(defaults[name]).__name__}") from None  # fmt: skip


def _coerced(value: Any, default: Any) -> Any:
    """The value converted to the type of the default; TypeError if that is impossible."""
    if default is None:  # any type will do
        return value
    if isinstance(default, bool) or isinstance(value, bool):
        if isinstance(default, bool) and isinstance(value, bool):
            return value
    elif isinstance(default, float) and isinstance(value, (int, float)):
        return float(value)
    elif isinstance(default, (list, tuple)) and isinstance(value, (list, tuple)):
        kinds = {type(item) for item in default}
        # If all items of the default have one type, the new items must have it, too.
        return [_coerced(item, default[0]) for item in value] if len(kinds) == 1 else list(value)
    elif isinstance(value, type(default)):
        return value
    raise TypeError
