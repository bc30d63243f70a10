"""Numbers that stand in two chapters: where they have one name, they must have one value.

A name is that of a glued number or, in a table, a setting with the name of a column: the row of Dist-1 and ε = 1/4 in
edge ordering has one exact count, in whichever chapter it stands.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

#: Columns that together tell which setting a row is about, under all the names that the chapters use.
SETTINGS = {"model": "model", "ε": "ε", "epsilon": "ε", "ordering": "ordering", "n": "n", "k": "k", "m": "m", "p": "p",
            "sizes": "sizes", "clusters": "clusters", "shape": "shape", "function": "function",
            "rounded": "rounded"}  # fmt: skip
#: Columns of numbers that a setting determines, whoever computes them.
DETERMINED = {"exact": "exact", "printed": "printed", "published": "printed", "corrected": "corrected"}
#: Numbers that differ by less were computed in another way, and look the same on a page.
TOLERANCE = 1e-6


def differing(executed: Path, results: Path, slugs: list[str]) -> list[str]:
    """A line for each name that has different values in two of these chapters."""
    first: dict[Any, tuple[str, str, str]] = {}
    lines = []
    for slug in slugs:
        for name, words, value in (*glued(executed / f"{slug}.ipynb"), *_tabled(results / slug)):
            one, where, other = first.setdefault(name, (slug, words, value))
            if one != slug and not _equal(value, other):
                lines.append(f"{slug}: {words} is {value}, but {other} in {one}" + f" ({where})" * (where != words))
    return lines


def glued(path: Path) -> Iterator[tuple[str, str, str]]:
    """The names and values of the numbers that a chapter glues into its prose."""
    if not path.exists():
        return
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            text = output.get("data", {}).get("application/papermill.record/text/plain")
            if name and text:
                yield name, name, text


def _tabled(folder: Path) -> Iterator[tuple[Any, str, str]]:
    """The same of the tables and of the data of figures, for columns whose values follow from the setting."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        keys = [[(SETTINGS[c], _plain(v)) for c, v in row.items() if c in SETTINGS] for row in rows]
        if not rows or "ordering" not in dict(keys[0]) or len({tuple(sorted(key)) for key in keys}) < len(keys):
            continue  # of which ordering is not said, or rows of one setting differ in something else
        for key, row in zip(keys, rows, strict=True):
            setting = ", ".join(f"{name} {value}" for name, value in key)
            for column, value in row.items():
                if column in DETERMINED and value:
                    yield (DETERMINED[column], *sorted(key)), f"{column} at {setting} in {path.stem}", value


def _plain(value: str) -> str:
    """A setting as text: 0.25 for 1/4, dist1 for Dist-1."""
    top, _, bottom = value.partition("/")
    try:
        return f"{float(top) / float(bottom or 1):.9g}"
    except ValueError:
        return value.lower().replace("-", "")


def _equal(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=TOLERANCE)
    except ValueError:
        return one == other
