"""What the build knows about a chapter before running it: its file and its parameters."""

from __future__ import annotations

import ast
import hashlib
import json
import os
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
        except FileNotFoundError:
            raise BuildError(f"{self.slug}: {self.path} is in _toc.yml but does not exist") from None
        except (ValueError, KeyError, TypeError) as error:
            raise BuildError(f"{self.slug}: {self.path} is not a notebook ({type(error).__name__}: {error})") from None
        return notebook

    def defaults(self) -> dict[str, Any]:
        """The parameters and their defaults, read from the tagged cell without running it."""
        tagged = [c for c in self.notebook()["cells"] if "parameters" in c["metadata"].get("tags", [])]
        if len(tagged) != 1:
            raise BuildError(f"{self.slug}: needs exactly one code cell tagged 'parameters', has {len(tagged)}")
        values = {}
        try:
            for statement in ast.parse(tagged[0]["source"]).body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
                    values[ast.unparse(target)] = ast.literal_eval(statement.value)
        except SyntaxError as error:
            raise BuildError(f"{self.slug}: the parameters cell is not Python: {error}") from None
        except ValueError:
            raise BuildError(f"{self.slug}: a parameter must be a literal: {ast.unparse(statement)}") from None
        return values


def read_yaml(root: Path, name: str) -> dict[Any, Any]:
    """A YAML file of the book as a mapping; a BuildError if it cannot be read."""
    try:
        return strict_yaml.read(root / name)
    except (strict_yaml.Unreadable, FileNotFoundError) as error:
        raise BuildError(f"{name}: {error}") from None


def read_chapters(root: Path) -> list[Chapter]:
    """The notebooks that _toc.yml names, in its order."""
    paths = [Path(page).with_suffix(".ipynb") for page in pages(read_yaml(root, "_toc.yml"))]
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


def number_of(slug: str) -> str:
    """The number of a chapter, from the name of its file; empty if it has none.

    >>> number_of("08-synthetic"), number_of("A2-edge-ordering"), number_of("preface")
    ('8', 'A2', '')
    """
    found = re.match(r"0*(A?\d+)-", slug)
    return found[1] if found else ""


def select(chapters: list[Chapter], only: list[str]) -> list[Chapter]:
    """The chapters that ``--only`` asks for: by number ("4", "04", "a2") or by name; all if it names none."""
    chosen = []
    for wanted in re.findall(r"[^\s,]+", " ".join(only)):
        found = [c for c in chapters if wanted == c.slug or wanted.upper().lstrip("0") == number_of(c.slug)]
        if not found:
            raise BuildError(f"--only {wanted}: no such chapter; there are {', '.join(c.slug for c in chapters)}")
        chosen += found
    return [c for c in chapters if c in chosen] if chosen else chapters


def name_of_run(only: list[Chapter], profile: str, typed: dict[str, str]) -> str:
    """The name of the folder for a run with these parameters, the same for the same command.

    >>> name_of_run([], "quick", {"epsilons": "[0.1, 0.3]"})[:-8]  # a hash of all of it ends the name
    'all-quick-epsilons-0.1-0.3-'
    """
    said = [*(c.slug.partition("-")[0] for c in only), *([] if only else ["all"]), profile]
    said += [word for name in sorted(typed) for word in (name, typed[name])]
    short = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(said))[:50].strip("-.")
    return f"{short}-{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:8]}"


def read_profile(root: Path, name: str, chapters: list[Chapter]) -> dict[str, dict[str, Any]]:
    """Chapter -> parameter -> value, from profiles.yml. The profile "full" always exists and sets nothing."""
    profiles = {"full": {}} | read_yaml(root, "book/data/profiles.yml")
    if name not in profiles:
        raise BuildError(f"--profile {name}: expected one of {', '.join(profiles)}")
    settings = profiles[name] or {}
    if unknown := settings.keys() - {c.slug for c in chapters}:
        raise BuildError(f"book/data/profiles.yml: {name} names {min(unknown)}, which is not a chapter")
    return settings


def _from_outside(slug: str, value: Any) -> Any:
    """The value of a profile; for one like $CROWDER_CORA, the path in that environment variable."""
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    path = os.environ.get(value[1:])
    if not path or not Path(path).exists():
        raise BuildError(f"{slug}: {value[1:]} must be the path of data that are not shipped, "
                         f"not {path!r} (CONTRIBUTING.md says where they can be had)")  # fmt: skip
    return str(Path(path).resolve())


# A text in quotes; and where an assignment begins.
_QUOTED = re.compile("'[^']*'|" + '"[^"]*"')
_ASSIGNED = re.compile(r"(?:^|(?<=[\s;,]))([^\W\d]\w*)\s*=")


def assignments(typed: list[str]) -> dict[str, str]:
    """Name -> value, as typed. A text may have several, separated by blanks, commas or semicolons.

    A value extends to the next name that is not in quotes.

    >>> assignments(["seed=8", "epsilons=[0.1, 0.3], votes=[[0.1, 9]]; name='a b=2'"])
    {'seed': '8', 'epsilons': '[0.1, 0.3]', 'votes': '[[0.1, 9]]', 'name': "'a b=2'"}
    """
    given: dict[str, str] = {}
    for text in filter(str.strip, typed):
        found = list(_ASSIGNED.finditer(_QUOTED.sub(lambda quoted: "." * len(quoted[0]), text)))
        if not found or text[: found[0].start()].strip(" ;,"):
            raise BuildError(f"-p {text}: expected name=value")
        ends = [*(next.start() for next in found[1:]), len(text)]
        for name, start, end in zip((f[1] for f in found), (f.end() for f in found), ends, strict=True):
            if name in given:
                raise BuildError(f"-p {name}: given twice")
            given[name] = text[start:end].strip().rstrip("; \t\n,")
    return given


def overrides(selected: list[Chapter], profile: dict[str, dict], typed: list[str]) -> dict[str, dict[str, Any]]:
    """For each selected chapter, the values that differ from its defaults: the profile's and those typed."""
    defaults, given = {c.slug: c.defaults() for c in selected}, assignments(typed)
    for name in given:
        if not any(name in has for has in defaults.values()):
            known = "; ".join(f"{slug} has {', '.join(has) or 'none'}" for slug, has in defaults.items())
            raise BuildError(f"-p {name}: not a parameter of any selected chapter ({known})")
    chosen = {}
    for slug, has in defaults.items():
        values = {name: _from_outside(slug, value) for name, value in profile.get(slug, {}).items()}
        values |= {n: _literal(text, has[n]) for n, text in given.items() if n in has}
        if unknown := values.keys() - has.keys():
            raise BuildError(f"book/data/profiles.yml: {min(unknown)!r} is not a parameter of {slug}, "
                             f"which has {', '.join(has)}")  # fmt: skip
        for name, value in values.items():
            try:
                values[name] = _fitting(value, has[name])
            except TypeError:
                raise BuildError(f"{slug}: {name} is set to {value!r}, but its default {has[name]!r} "
                                 f"is of type {_kind(has[name])}") from None  # fmt: skip
        chosen[slug] = {name: value for name, value in values.items() if value != has[name]}
    return chosen


def _literal(text: str, default: Any) -> Any:
    """What is typed for a parameter: a literal of Python; where the default is a text, it needs no quotes."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text
    return text if isinstance(default, str) and not isinstance(value, str) else value


def _fitting(value: Any, default: Any) -> Any:
    """The value as the chapter will receive it, of the type of its default; a TypeError if it has another."""
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if isinstance(default, list) and isinstance(value, tuple):  # without brackets
        value = [*value]
    if type(value) is not type(default):
        raise TypeError
    if not isinstance(default, list):
        return value
    kinds = {type(each): each for each in default}
    if len(kinds) == 1:
        return [_fitting(each, *kinds.values()) for each in value]
    if kinds and not {type(each) for each in value} <= kinds.keys():
        raise TypeError
    return value


def _kind(default: Any) -> str:
    """The type of a default in words, such as "list of float"."""
    parts = " or ".join(sorted({_kind(each) for each in default})) if isinstance(default, list) else ""
    return type(default).__name__ + f" of {parts}" * bool(parts)
