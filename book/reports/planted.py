"""What was broken on purpose, and who noticed: the record of `make faults`, as the page of it shows it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

#: The folders in the order of the page.
FOLDERS = {
    "crowder": "Models, questions, answers, data",
    "crowder/counting": "Counting questions",
    "crowder/similarity": "Similarity functions",
    "crowder/cora": "The records of cora",
    "crowder/beyond": "Beyond the paper",
    "crowder/practice": "Records of your own",
    "notebooks": "Beside a chapter",
    "book/companion": "Figures, evidence, verdicts",
    "book/build": "The build",
    "book/reports": "The build’s own judges",
}


def read(path: Path) -> list[dict[str, str]]:
    """The rows of the record; none if there is no record."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_markdown(rows: list[dict[str, str]]) -> list[str]:
    """A count by kind, then every fault under its folder, each with those who noticed."""
    noticed = sum(bool(_who(row)) for row in rows)
    moved = sum(bool(row["verdicts"]) for row in rows)
    lines = [f"**{len(rows)} faults** were planted; {noticed} were noticed, {moved} of them by a verdict, too.", ""]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines += ["| what was wrong | faults |", "| --- | ---: |"]
    lines += [f"| {kind} | {sum(row['kind'] == kind for row in rows)} |" for kind in kinds]
    for folder, title in FOLDERS.items():
        if there := [row for row in rows if folder_of(row["file"]) == folder]:
            lines += ["", f"**{title}**", ""]
            lines += [f"- *{_words(row['fault'])}* ({row['kind']}, {_module(row['file'])}): {row['why']}. "
                      + (f"Noticed by {_who(row)}." if _who(row) else "**Not noticed.**") for row in there]  # fmt: skip
    return lines


def folder_of(file: str) -> str:
    """The folder of a module, two deep at most.

    >>> [folder_of(f"crowder/{name}.py") for name in ("engine", "beyond/posterior", "practice/planner/clusterings")]
    ['crowder', 'crowder/beyond', 'crowder/practice']
    """
    return "/".join(Path(file).parts[:-1][:2])


def _module(file: str) -> str:
    return f"`{Path(file).stem}`"


def _words(name: str) -> str:
    """A hyphenated name, or a test's, as the words it is made of."""
    return re.sub(r"[-_]", " ", name)


def _who(row: dict[str, str]) -> str:
    """Those who noticed: how many tests, the first by name, and the verdicts that moved."""
    parts = []
    count, names = int(row["tests"]), row["first"].split("; ")
    if "it hangs" in names:
        parts.append("a run that never ended")
        names.remove("it hangs")
    if count:
        said = _words(names[0].rpartition("::")[2].removeprefix("test_"))
        parts.append(f"{count} tests, the first “{said}”" if count > 1 else f"the test “{said}”")
    if row["verdicts"]:
        claims = row["verdicts"].split("; ")
        if any("stopped" in claim for claim in claims):  # its chapter did not come to its end
            parts.append(f"the build: {', '.join(claims)}")
        else:
            parts.append(f"{'verdicts' if len(claims) > 1 else 'the verdict'} {', '.join(claims)}")
    return " and by ".join(parts)
