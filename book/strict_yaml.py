"""The book's own YAML files, read strictly: plain values alone, by names, none of them twice.

YAML takes the second of two equal names without a word, so a claim that was copied and not renamed would be gone.
"""

from pathlib import Path
from typing import Any

import yaml


class Unreadable(ValueError):
    """Why a file cannot be read; its text says where."""


class Once(yaml.SafeLoader):
    """Names nothing twice, and repeats nothing by an alias."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.constructor.ConstructorError(None, None, "an alias, which these files have no use for", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        names: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in names:
                said = f"{key.value!r} is there twice" if isinstance(key, yaml.ScalarNode) else "a name that is no text"
                raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
            names.add(key.value)
        return super().construct_mapping(node, deep)


def read(path: Path) -> dict[Any, Any]:
    """What the file says by name; an empty file says nothing."""
    try:
        found = yaml.load(path.read_bytes(), Loader=Once)  # a safe loader: it makes nothing but plain values
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(" ".join(str(error).split()) or type(error).__name__) from None
    if found is not None and not isinstance(found, dict):
        raise Unreadable(f"expected names and what they stand for, not {str(found)[:60]!r}")
    return found or {}
