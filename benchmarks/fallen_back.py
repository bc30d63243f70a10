"""Say which measurements have fallen back against those that are committed.

    python benchmarks/fallen_back.py [--results FOLDER]     or, with the benchmarks, `make bench`

Compared is what hardly depends on the machine's load: ratios of orderings.csv and scale.csv to one sort of the same
similarities, the memory of scale.csv, and the sizes in pages.csv. A row is listed if its value is
more than a quarter above the committed one. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import io
import subprocess
from pathlib import Path

import pandas as pd
from conftest import ROOT, results_folder

#: Table -> the columns that name a row, and those that should not grow.
WATCHED = {
    "orderings": (["sweep", "contestant", "n", "k"], ["ratio"]),
    "scale": (["kind", "ordering", "records"], ["ratio", "peak_mb"]),
    "pages": (["page"], ["kilobytes"]),
}
MOST = 1.25


def committed(name: str) -> pd.DataFrame:
    text = subprocess.run(
        ["git", "-C", str(ROOT), "show", f"HEAD:book/data/measured/{name}.csv"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return pd.read_csv(io.StringIO(text))


def fallen_back(now: pd.DataFrame, before: pd.DataFrame, keys: list[str], values: list[str]) -> list[str]:
    """A line for each value that has grown by more than a quarter; rows that only one table has are not compared."""
    both = now.merge(before, on=keys, suffixes=("", " before"))
    lines = []
    for value in values:
        worse = both[both[value] > MOST * both[f"{value} before"]]
        for _, row in worse.iterrows():
            name = ", ".join(f"{key} {row[key]}" for key in keys)
            lines.append(f"{name}: {value} {row[f'{value} before']:g} before, {row[value]:g} now")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="compare _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the new CSV files (default: book/data/measured)")
    arguments = parser.parse_args()
    folder = results_folder(arguments.results, arguments.quick)
    lines = []
    for name, (keys, values) in WATCHED.items():
        if (folder / f"{name}.csv").is_file():
            found = fallen_back(pd.read_csv(folder / f"{name}.csv"), committed(name), keys, values)
            lines += [f"{name}: {line}" for line in found]
    print("\n".join(lines) or "nothing has fallen back")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
