"""What the build knows about a chapter before running it: its file, its parameters and its fingerprint."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from book import strict_yaml
from book.build import closure


class BuildError(Exception):
    """An error for the author of the book to fix; its text is the complete message."""


def os_error_message(error: OSError) -> str:
    """The system's error in one line that names the file."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return f"{error.args[0][0][2]} ({len(error.args[0])} files)"
    where = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    return f"{error.strerror}: {where}" if error.strerror and where else str(error) or type(error).__name__


@dataclass(frozen=True)
class Chapter:
    """One notebook of the table of contents."""

    slug: str  # "08-synthetic"
    path: Path  # relative to the project: notebooks/08-synthetic.ipynb
    root: Path

    def notebook(self) -> dict[str, Any]:
        try:
            notebook = json.loads((self.root / self.path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BuildError(f"{self.slug}: {self.path} is in _toc.yml but does not exist") from None
        except ValueError as error:
            raise BuildError(f"{self.slug}: {self.path} is not a notebook ({error})") from None
        except RecursionError:
            raise BuildError(f"{self.slug}: {self.path} is not a notebook (nested too deeply)") from None
        # The format of a notebook allows a cell's source to be one string or a list of lines.
        try:
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"])
                cell["cell_type"], cell["metadata"].get("tags", []).count("parameters")
        except (AttributeError, KeyError, TypeError):
            raise BuildError(f"{self.slug}: {self.path} is not a notebook (a cell lacks its type, source or "
                             "metadata)") from None  # fmt: skip
        return notebook

    def exists(self) -> bool:
        return (self.root / self.path).exists()

    def defaults(self) -> dict[str, Any]:
        """The parameters and their defaults, read from the tagged cell without running it."""
        tagged = [c for c in self.notebook()["cells"] if "parameters" in c.get("metadata", {}).get("tags", [])]
        if len(tagged) != 1 or tagged[0]["cell_type"] != "code":
            raise BuildError(f"{self.slug}: needs exactly one code cell tagged 'parameters', has {len(tagged)}")
        try:
            statements = ast.parse(tagged[0]["source"]).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise BuildError(f"{self.slug}: the parameters cell is not Python: {error}") from None
        values = {}
        for statement in statements:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                target = statement.target
            else:
                continue
            if not isinstance(target, ast.Name):
                continue
            try:
                values[target.id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError):  # TypeError: an unhashable element of a set or dict
                raise BuildError(f"{self.slug}: parameter {target.id} must be a literal, so that its type is known "
                                 "before the chapter runs") from None  # fmt: skip
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
    files: list[str] = []

    def walk(entry: Any) -> None:
        if isinstance(entry, dict):
            if "file" in entry:
                file = entry["file"]
                if not isinstance(file, str) or not re.fullmatch(r"[\w-][\w./-]*", file) or ".." in file:
                    raise BuildError(f"_toc.yml: file: {file!r} is not a page of the book")
                files.append(file)
            for value in entry.values():
                walk(value)
        elif isinstance(entry, list):
            for value in entry:
                walk(value)

    walk(toc)
    named = [Path(f).with_suffix(".ipynb") if not f.endswith(".ipynb") else Path(f) for f in files]
    # A page of the table of contents is a chapter if it is in notebooks/ or if its notebook exists.
    chapters = [Chapter(p.stem, p, root) for p in named if p.parts[0] == "notebooks" or (root / p).exists()]
    listed = {c.path for c in chapters}
    for stray in sorted((root / "notebooks").rglob("*.ipynb")):
        if stray.relative_to(root) not in listed and ".ipynb_checkpoints" not in stray.parts:
            raise BuildError(f"{stray.stem}: {stray.relative_to(root).as_posix()} is not in _toc.yml")
    return chapters


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


def _coerce(value: Any, default: Any) -> Any:
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
        return [_coerce(item, default[0]) for item in value] if len(kinds) == 1 else list(value)
    elif isinstance(value, type(default)):
        return value
    raise TypeError


def check_value(chapter: Chapter, name: str, value: Any, defaults: dict[str, Any], origin: str) -> Any:
    """The value as the chapter will receive it; a BuildError if it does not fit the default."""
    if name not in defaults:
        raise BuildError(f"{chapter.slug}: {origin} sets {name!r}, which is not a parameter; "
                         f"it has {', '.join(defaults) or 'none'}")  # fmt: skip
    try:
        return _coerce(value, defaults[name])
    except TypeError:
        kind = type(defaults[name]).__name__
        raise BuildError(f"{chapter.slug}: {origin} sets {name} to {value!r}, but its default {defaults[name]!r} "
                         f"is of type {kind}") from None  # fmt: skip


def read_profiles(root: Path, chapters: list[Chapter]) -> dict[str, dict[str, dict[str, Any]]]:
    """profiles.yml, checked: profile -> chapter -> parameter -> value. "full" always exists and sets nothing."""
    path = root / "book" / "data" / "profiles.yml"
    profiles = read_yaml(root, "book/data/profiles.yml") if path.exists() else {}
    known = {c.slug: c for c in chapters}
    for profile, settings in profiles.items():
        if not isinstance(profile, str) or not re.fullmatch(r"[\w-]+", profile) or profile == "full":
            raise BuildError(f"book/data/profiles.yml: {profile!r} cannot be the name of a profile "
                             "(\"full\" sets nothing)")  # fmt: skip
        if not isinstance(settings, dict | None):
            raise BuildError(f"book/data/profiles.yml: profile {profile} must map chapters to values, "
                             f"not {settings!r}")  # fmt: skip
        for slug, values in (settings or {}).items():
            if not isinstance(values, dict | None):
                raise BuildError(
                    f"book/data/profiles.yml: {slug} in profile {profile} must map parameters to values, not {values!r}"
                )
            if slug not in known:
                raise BuildError(f"book/data/profiles.yml: profile {profile} names {slug}, which is not a chapter; "
                                 f"there are {', '.join(known)}")  # fmt: skip
            if known[slug].exists():
                defaults = known[slug].defaults()
                for name, value in (values or {}).items():
                    values[name] = check_value(known[slug], name, value, defaults, "book/data/profiles.yml")
    return {"full": {}} | {profile: settings or {} for profile, settings in profiles.items()}


def parse_assignments(assignments: list[str]) -> dict[str, str]:
    """``-p name=value`` as typed; each chapter converts the value to the type of its own default."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip().isidentifier():
            raise BuildError(f"-p {assignment}: expected name=value")
        values[name.strip()] = value.strip()
    return values


def _read_literal(text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    if isinstance(default, bool) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text


def overrides(selected: list[Chapter], profile: dict[str, dict], typed: dict[str, str]) -> dict[str, dict[str, Any]]:
    """For each selected chapter, the values that differ from its defaults."""
    defaults = {c.slug: c.defaults() for c in selected}
    for name in typed:
        if not any(name in values for values in defaults.values()):
            known = "; ".join(f"{slug} has {', '.join(values) or 'none'}" for slug, values in defaults.items())
            raise BuildError(f"-p {name}: not a parameter of any selected chapter ({known})")
    chosen = {}
    for chapter in selected:
        has = defaults[chapter.slug]
        values = dict(profile.get(chapter.slug) or {})
        for name, text in typed.items():
            if name in has:
                values[name] = check_value(chapter, name, _read_literal(text, has[name]), has, "-p")
        same = {n: list(v) if isinstance(v, tuple) else v for n, v in has.items()}
        chosen[chapter.slug] = {n: v for n, v in values.items() if v != same[n]}
    return chosen


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a result."""
    try:
        wanted = importlib.metadata.requires("crowder") or []
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    # Only the extras that compute or draw; the other packages only render.
    extras = ("experiments", "symbolic", "text")
    names = {
        r.name for r in map(Requirement, wanted) if not r.marker or any(r.marker.evaluate({"extra": e}) for e in extras)
    }
    names = sorted(names | {"altair", "matplotlib", "pyyaml", "seaborn", "vl-convert-python"})
    return {"python": sys.version.split()[0]} | {name: importlib.metadata.version(name) for name in names}


def fingerprint(chapter: Chapter, parameters: dict[str, Any]) -> str:
    """A hash of everything an execution depends on; when it changes, the chapter must run again."""
    cells = [(c["cell_type"], c["source"], c.get("metadata", {})) for c in chapter.notebook()["cells"]]
    # Settings from outside, such as the path to the records of cora.
    outside = {k: v for k, v in sorted(os.environ.items()) if k.startswith("CROWDER_") and k != "CROWDER_RESULTS"}
    digest = hashlib.sha256(json.dumps([cells, parameters, versions(), outside], sort_keys=True).encode())
    code = "\n".join(source for kind, source, _ in cells if kind == "code")
    try:
        inputs = closure.files_of(chapter.root, chapter.root / chapter.path, code)
    except SyntaxError as error:
        raise BuildError(f"{chapter.slug}: {error.filename or 'a cell'} is not Python: {error}") from None
    for path in inputs:
        digest.update(f"{path.as_posix()}\0".encode() + hashlib.sha256((chapter.root / path).read_bytes()).digest())
    return digest.hexdigest()
