"""Where the project is, and how its own files are read: YAML as mappings of plain values, without repeated keys.

PyYAML keeps the second of two equal keys without a warning, so an entry copied but not renamed would vanish.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
#: What executions and builds make.
OUT = ROOT / "_build"


class BuildError(Exception):
    """An error for the author of the book to fix; its text is the complete message."""


def number_of(slug: str) -> str:
    """The number of a chapter, from the name of its file; empty if it has none.

    >>> number_of("08-synthetic"), number_of("A2-edge-ordering"), number_of("preface")
    ('8', 'A2', '')
    """
    found = re.match(r"0*(A?\d+)-", slug)
    return found[1] if found else ""


def digest(*names: str, read: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """A hash of what these files and folders of the project hold, without caches and pages that are made there."""
    facts = []
    for name in names:
        for file in sorted([ROOT / name, *(ROOT / name).rglob("*")]):
            path = file.relative_to(ROOT)
            made = path.is_relative_to("book/pages/api") or any(part.startswith((".", "__pyc")) for part in path.parts)
            if file.is_file() and not made:
                facts.append((path.as_posix(), hashlib.sha256(read(file)).hexdigest()))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def addresses() -> dict[str, str]:
    """Where the project is on the web, as pyproject.toml says: the pages (`Homepage`), the sources (`Repository`)."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]


class StrictLoader(yaml.SafeLoader):
    """A safe loader that rejects repeated keys and aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.constructor.ConstructorError(None, None, "aliases are not allowed", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        known: set[Any] = set()
        for key, _ in node.value:
            name = self.construct_object(key) if isinstance(key, yaml.ScalarNode) else None
            if name is None or {name, key.value} & known:  # 1 is "1" to a reader, and 0x1 to Python
                problem = "a key is not text" if name is None else f"{name!r} appears twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            known |= {name, key.value}
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[Any, Any]:
    """The mapping in a YAML file of the book, empty for an empty file; a BuildError if it cannot be read."""
    try:
        found = yaml.load(path.read_bytes(), Loader=StrictLoader)  # a safe loader: plain values only
    except (yaml.YAMLError, ValueError, RecursionError, OSError) as error:
        raise BuildError(f"{path.name}: {' '.join(str(error).split()) or type(error).__name__}") from None
    if found is not None and not isinstance(found, dict):
        raise BuildError(f"{path.name}: expected a mapping, not {str(found)[:60]!r}")
    return found or {}
