"""The results in faults/mutation.csv, folder by folder, as the tables of faults/mutation.md.

.venv/bin/python faults/tally.py
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

FILE = Path(__file__).with_name("mutation.csv")


def table(rows: list[dict]) -> str:
    """A table of mutants, killed, timed out and alive by folder; then a table of those that are alive."""
    lines = ["| folder | modules | mutants | killed | timed out | alive |", "| --- | --: | --: | --: | --: | --: |"]
    folders = sorted({row["module"].rpartition("/")[0] for row in rows})
    for folder in [*folders, None]:
        own = [row for row in rows if folder is None or row["module"].rpartition("/")[0] == folder]
        count = Counter(row["result"] for row in own)
        killed = sum(n for result, n in count.items() if result.startswith("killed"))
        name = "all" if folder is None else folder or "–"
        numbers = [len({row["module"] for row in own}), len(own), killed, count["timeout"], count["survived"]]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    alive = [row for row in rows if row["result"] == "survived"]
    lines += ["", "| alive | edit | why |", "| --- | --- | --- |"]
    for row in alive:
        if not row["reason"]:
            raise SystemExit(f"{row['module']}:{row['line']} survived, and the reason is missing")
        before, after = (row[key].replace("|", "\\|") for key in ("before", "after"))
        short = before if len(before) <= 70 else before[:34] + " … " + before[-34:]
        lines.append(f"| {row['module']}:{row['line']} | {row['kind']}: `{short}` → `{after[:60]}` | {row['reason']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    with FILE.open(newline="", encoding="utf-8") as file:
        print(table(list(csv.DictReader(file))))
