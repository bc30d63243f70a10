"""The verdicts of faults/mutation.csv, module by module, as the table of faults/mutation.md.

.venv/bin/python faults/tally.py
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

FILE = Path(__file__).with_name("mutation.csv")


def table(rows: list[dict]) -> str:
    """A line for each folder and one for all: mutants, killed by a test, out of time, alive; then what is alive."""
    lines = ["| folder | modules | mutants | killed | out of time | alive |", "| --- | --: | --: | --: | --: | --: |"]
    folders = sorted({row["room"].rpartition("/")[0] for row in rows})
    for folder in [*folders, None]:
        own = [row for row in rows if folder is None or row["room"].rpartition("/")[0] == folder]
        count = Counter(row["verdict"] for row in own)
        killed = sum(n for verdict, n in count.items() if verdict.startswith("killed"))
        name = "all" if folder is None else folder or "–"
        numbers = [len({row["room"] for row in own}), len(own), killed, count["timeout"], count["survived"]]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    alive = [row for row in rows if row["verdict"] == "survived"]
    lines += ["", "| alive | edit | why |", "| --- | --- | --- |"]
    for row in alive:
        if not row["reason"]:
            raise SystemExit(f"{row['room']}:{row['line']} survived, and nobody says why")
        before, after = (row[key].replace("|", "\\|") for key in ("before", "after"))
        short = before if len(before) <= 70 else before[:34] + " … " + before[-34:]
        lines.append(f"| {row['room']}:{row['line']} | {row['kind']}: `{short}` → `{after[:60]}` | {row['reason']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    with FILE.open(newline="", encoding="utf-8") as file:
        print(table(list(csv.DictReader(file))))
