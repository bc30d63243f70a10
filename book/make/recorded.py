"""What chapters computed anew, beside what is recorded of it in ``book/data/recorded``."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from book.companion.recording import facts
from book.companion.results import as_json, write

FOLDER = Path("book", "data", "recorded")


def otherwise(root: Path, results: Path, slugs: list[str], *, every: bool) -> list[str]:
    """A line for each result of these chapters that is not as recorded; and for each that none computed, if `every`."""
    lines, left = [], {path.stem for path in (root / FOLDER).glob("*.csv")} if every else set()
    for slug, found in _computed(results, slugs):
        if how := difference(root / FOLDER, found):
            lines.append(f"{slug}: {found.stem}, recorded in {FOLDER}, {how}")
        left.discard(found.stem)
    return lines + [f"{name}, recorded in {FOLDER}, was computed by no chapter" for name in sorted(left)]


def difference(folder: Path, found: Path) -> str:
    """How a result that was computed differs from what is recorded in a folder, if it does."""
    made, known = (facts(at, found.stem) for at in (found.parent, folder))
    if not known:
        return "is missing there"
    if made["parameters"] != known["parameters"]:
        return f"was made there with {known['parameters']}, not {made['parameters']}"
    new, old = (pd.read_csv(at / found.name) for at in (found.parent, folder))
    if list(new) != list(old) or len(new) != len(old):
        return f"has {len(old)} rows of {list(old)}, not {len(new)} of {list(new)}"
    for name in new:
        numbers = all(pd.api.types.is_numeric_dtype(table[name]) for table in (new, old))
        same = (np.isclose(new[name], old[name], rtol=made["within"], atol=1e-9, equal_nan=True) if numbers
                else new[name].map(str) == old[name].map(str))  # fmt: skip
        if not np.all(same):
            row = int(np.argmin(same))
            return f"has {name} {old[name][row]} in row {row + 1}, which is {new[name][row]}"
    return ""


def keep(root: Path, results: Path, slugs: list[str], sources: str | None) -> Iterator[Path]:
    """Record what these chapters computed, with the date and the commit of the sources; what is as recorded stays."""
    folder, today = root / FOLDER, datetime.date.today().isoformat()
    for slug, found in _computed(results, slugs):
        if difference(folder, found):
            made = facts(found.parent, found.stem) | {"chapter": slug, "date": today, "commit": sources}
            write(folder / found.name, found.read_bytes())
            write(folder / f"{found.stem}.json", as_json({key: made[key] for key in made if key != "read"}))
            yield FOLDER / found.name


def _computed(results: Path, slugs: list[str]) -> Iterator[tuple[str, Path]]:
    """Chapter and table of each result that was not read."""
    for slug in slugs:
        for path in sorted((results / slug / "recorded").glob("*.json")):
            if not json.loads(path.read_text(encoding="utf-8"))["read"]:
                yield slug, path.with_suffix(".csv")
