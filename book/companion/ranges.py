"""The parameters of a run: refused where a chapter cannot run with them, and named where they are not the book's."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from IPython.display import display

from book.companion import results
from book.project import number_of

__all__ = ["RANGE", "differing", "parameters", "read"]

_NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
#: The range that a comment ends with, as in "drawn, in (0, 0.5)" or "growing, at least 2, each in [1, inf)".
RANGE = re.compile(r"(?:at least (?P<count>\d+), )?(?:each )?in (?P<interval>(\[|\()([^ ,]+), ([^ ,]+)(\]|\)))$")
_TYPES = {"int": (int, "an integer"), "float": ((int, float), "a number"), "bool": (bool, "True or False"),
          "str": (str, "a text")}  # fmt: skip


def parameters(chapter: str) -> None:
    """Refuse parameters with which the calling chapter cannot run, and display those that are not the book's.

    The tagged cell of the notebook has a line for each: its type, the book's value and, in the comment, the interval in
    which it or, for a list, each of its values must lie. A list has at least one value. What does not fit is a
    ValueError in a line that names the parameter. Captions then have the numbers of this chapter.

    >>> seed, races, epsilons = 2017, 0, [0.1, 0.3]
    >>> parameters("03-integral")
    Traceback (most recent call last):
    ValueError: races is 0, but must be an integer in [1, inf)
    """
    (path,) = _NOTEBOOKS.rglob(f"{chapter}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    results.count(number_of(chapter), ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
    if others := differing(path, sys._getframe(1).f_globals):
        said = f"**Not the book's parameters:** {'; '.join(others)}."
        display({"text/markdown": said, "text/plain": said}, raw=True)


def differing(path: Path, given: Mapping[str, Any]) -> list[str]:
    """Which values are not the book's, in words; a ValueError for one with which the chapter cannot run."""
    others = []
    for name, kind, value, comment in read(path):
        found, inner = given[name], kind.removeprefix("list[").removesuffix("]")
        spec = RANGE.search(comment)
        count, interval = (int(spec["count"] or 1), spec["interval"]) if spec else (1, "[-inf, inf]")
        parts = found if kind != inner else [found]
        if not (isinstance(parts, list) and len(parts) >= count and all(_fits(p, inner, interval) for p in parts)):
            wanted = _TYPES.get(inner, (list, inner))[1] + f" in {interval}" * bool(spec)
            wanted = f"a list of at least {count}, each {wanted}" if kind != inner else wanted
            hint = " (papermill passes a list with -y)" if isinstance(parts, str) else ""
            raise ValueError(f"{name} is {found!r}, but must be {wanted}{hint}")
        if found != value:
            others.append(f"`{name}` is {_shown(found)} instead of {_shown(value)}")
    return others


def read(path: Path) -> Iterator[tuple[str, str, Any, str]]:
    """Name, type, value in the book and comment of each parameter of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    tagged = ["".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise ValueError(f"there must be exactly one cell with the tag parameters, not {len(tagged)}")
    for at in ast.parse(tagged[0]).body:
        if not isinstance(at, ast.AnnAssign) or at.value is None:
            raise ValueError(f"expected a name, its type and a value, not {ast.unparse(at)}")
        comment = tagged[0].splitlines()[at.end_lineno - 1].partition("  # ")[2]
        yield ast.unparse(at.target), ast.unparse(at.annotation), ast.literal_eval(at.value), comment.strip()


def _fits(value: Any, kind: str, interval: str) -> bool:
    """Whether a value has its type and lies in the interval; what is in a list in a list may be anything."""
    if not isinstance(value, _TYPES.get(kind, (list, ""))[0]) or isinstance(value, bool) != (kind == "bool"):
        return False
    if kind not in ("int", "float"):
        return True
    low, high = map(float, interval[1:-1].split(", "))
    return low < value < high or (value == low and interval[0] == "[") or (value == high and interval[-1] == "]")


def _shown(value: Any) -> str:
    """A value as text; of a path its last part, since folders differ between machines."""
    return f"`{Path(value).name if isinstance(value, str) and value else value!r}`"
