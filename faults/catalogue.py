"""The catalogue of faults: small wrong edits, each of which a test or a verdict must notice."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import yaml

#: What goes wrong most easily, and looks right.
KINDS = (
    "exponent", "index range", "comparison", "dropped term", "ties", "inference", "seed", "off by one", "constant",
    "wrong side", "order", "wrong data", "check left out", "rule", "one-sided",
)  # fmt: skip

_NEEDED = {"name", "kind", "file", "old", "new", "why", "tests"}


class Stale(Exception):
    """An edit that can no longer be made as the catalogue has it."""


@dataclass(frozen=True)
class Fault:
    """One wrong edit: `old` becomes `new` in `file`; the tests, and the ledgers of the chapters, that should notice.

    `old` stands in the file once; or, with `near`, it is the first one after that text, which stands there once. With
    `plain`, what is compiled elsewhere runs as plain Python, because it would take longer to compile than to run.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    chapters: tuple[str, ...] = ()
    near: str = ""
    plain: bool = False

    def applied(self, text: str) -> str:
        """The file's text with the fault in it; `Stale` if the edit has no one place, or leaves no Python."""
        if self.old == self.new:
            raise Stale(f"{self.name}: old and new are the same")
        for what in filter(None, (self.near, "" if self.near else self.old)):
            if (times := text.count(what)) != 1:
                raise Stale(f"{self.name}: {what!r} stands {times} times in {self.file}, not once")
        start = text.index(self.near) if self.near else 0
        at = text.find(self.old, start)
        if at < 0:
            raise Stale(f"{self.name}: {self.old!r} does not come after {self.near!r} in {self.file}")
        edited = text[:at] + self.new + text[at + len(self.old) :]
        if self.file.endswith(".py"):
            try:
                ast.parse(edited)
            except SyntaxError as error:
                raise Stale(f"{self.name}: the edited file is no Python: {error}") from None
        return edited


def read(path: Path) -> list[Fault]:
    """All faults of the catalogue, in its order; a ValueError if one of them is not as it should be."""
    faults: list[Fault] = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        name = entry.get("name")
        surplus = set(entry) - _NEEDED - {"chapters", "near", "plain"}
        if (lacks := _NEEDED - set(entry)) or surplus:
            raise ValueError(f"{name}: lacks {sorted(lacks)}, has no use for {sorted(surplus)}")
        if entry["kind"] not in KINDS:
            raise ValueError(f"{name}: kind {entry['kind']!r}; there are {', '.join(KINDS)}")
        if name in {fault.name for fault in faults}:
            raise ValueError(f"two faults are called {name}")
        if not entry["tests"]:
            raise ValueError(f"{name}: names no test")
        lists = {key: tuple(entry.get(key, ())) for key in ("tests", "chapters")}
        faults.append(Fault(**entry | lists))
    return faults
