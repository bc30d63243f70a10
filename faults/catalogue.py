"""The catalogue of faults: small wrong edits, each of which a test or a claim must notice."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path

import yaml

#: Kinds of mistakes that are easily made and hard to see.
KINDS = (
    "exponent", "index range", "comparison", "dropped term", "ties", "inference", "seed", "off by one", "constant",
    "wrong side", "order", "wrong data", "check left out", "rule", "one-sided",
)  # fmt: skip

_NEEDED = {"name", "kind", "file", "old", "new", "why"}


class Stale(Exception):
    """An edit of the catalogue that no longer applies."""


@dataclass(frozen=True)
class Fault:
    """One wrong edit, `old` to `new` in `file`, with the tests and chapters that should notice it.

    In a notebook it is an edit of a cell, as JSON writes it, and its chapter should notice.

    `old` occurs once in the file or, with `near`, is the first occurrence after that text, which occurs once. With
    `plain`, compiled functions run as plain Python, because compiling them would take longer than the tests.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    near: str = ""
    plain: bool = False

    def applied(self, text: str) -> str:
        """The text of the file with the fault; `Stale` if the place is not unique or the result is not Python."""
        if self.old == self.new:
            raise Stale(f"{self.name}: old and new are the same")
        for what in filter(None, (self.near, "" if self.near else self.old)):
            if (times := text.count(what)) != 1:
                raise Stale(f"{self.name}: {what!r} occurs {times} times in {self.file}, not once")
        start = text.index(self.near) if self.near else 0
        at = text.find(self.old, start)
        if at < 0:
            raise Stale(f"{self.name}: {self.old!r} does not occur after {self.near!r} in {self.file}")
        edited = text[:at] + self.new + text[at + len(self.old) :]
        try:
            for source in _sources(self.file, edited):
                ast.parse(source)
        except (SyntaxError, json.JSONDecodeError) as error:
            raise Stale(f"{self.name}: the edited file is not Python: {error}") from None
        return edited


def _sources(file: str, text: str) -> list[str]:
    """The Python of a file: all of a module, the code cells of a notebook."""
    if file.endswith(".ipynb"):
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return [text] if file.endswith(".py") else []


def read(path: Path) -> list[Fault]:
    """All faults of the catalogue, in order; a ValueError if an entry is not valid."""
    faults: list[Fault] = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        name = entry.get("name")
        surplus = set(entry) - _NEEDED - {"tests", "chapters", "near", "plain"}
        if (lacks := _NEEDED - set(entry)) or surplus:
            raise ValueError(f"{name}: missing {sorted(lacks)}, unknown {sorted(surplus)}")
        if entry["kind"] not in KINDS:
            raise ValueError(f"{name}: unknown kind {entry['kind']!r}; expected one of {', '.join(KINDS)}")
        if name in {fault.name for fault in faults}:
            raise ValueError(f"two faults are called {name}")
        lists = {key: tuple(entry.get(key, ())) for key in ("tests", "chapters")}
        if not any(lists.values()):
            raise ValueError(f"{name}: names no test and no chapter")
        faults.append(Fault(**entry | lists))
    return faults
