"""Strict reading of the book's own YAML files: mappings of plain values, without repeated keys or aliases.

PyYAML keeps the second of two equal keys without a warning, so an entry copied but not renamed would vanish.
"""

from pathlib import Path
from typing import Any

import yaml


class Unreadable(ValueError):
    """A file cannot be read; the message says where and why."""


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


def read(path: Path) -> dict[Any, Any]:
    """The mapping in a file; empty for an empty file."""
    try:
        found = yaml.load(path.read_bytes(), Loader=StrictLoader)  # a safe loader: plain values only
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(" ".join(str(error).split()) or type(error).__name__) from None
    if found is not None and not isinstance(found, dict):
        raise Unreadable(f"expected a mapping, not {str(found)[:60]!r}")
    return found or {}
