"""How objects show themselves: in one line, and in notebooks as a small table."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

__all__ = ["Shown"]


class Shown:
    """Base class of what has a few `facts`: names and values, of which whole numbers are counts of what they name."""

    def _facts(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = self._facts().items()
        said = [f"{x:,} {name.removesuffix('s') if x == 1 else name}" if isinstance(x, int) else f"{name}={x}"
                for name, x in facts]  # fmt: skip
        return f"{type(self).__name__}({', '.join(said)})"

    def _repr_html_(self) -> str:
        rows = [f"<tr><th>{escape(name)}</th><td>{escape(f'{x:,}' if isinstance(x, int) else str(x))}</td></tr>"
                for name, x in self._facts().items()]  # fmt: skip
        return f"<table><caption>{escape(type(self).__name__)}</caption>{''.join(rows)}</table>"
