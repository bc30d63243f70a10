"""The record of `make faults`: the planted faults and what noticed them, as text for the page."""

from __future__ import annotations

import csv
import re
from pathlib import Path

#: Folder -> heading, in the order of the page.
FOLDERS = {
    "crowder": "Models, questions, answers, data",
    "crowder/counting": "Counting questions",
    "crowder/similarity": "Similarity functions",
    "crowder/cora": "The records of cora",
    "crowder/beyond": "Beyond the paper",
    "crowder/scale": "Candidate pairs in large files",
    "crowder/practice": "Records of your own",
    "notebooks": "Beside a chapter",
    "book/companion": "Figures, evidence, claims",
    "book/build": "The build",
    "book/sphinx_ext": "Pages",
    "book/reports": "Reports of the build",
}


def read(path: Path) -> list[dict[str, str]]:
    """The rows of the record; none if there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_markdown(rows: list[dict[str, str]]) -> list[str]:
    """A count by kind, then all faults by folder, each with the tests and claims that noticed it."""
    noticed = sum(bool(_noticed_by(row)) for row in rows)
    changed = sum(bool(row["claims"]) for row in rows)
    lines = [f"**{len(rows)} faults** were planted; {noticed} were noticed, {changed} of them also by a claim.", ""]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines += ["| what was wrong | faults |", "| --- | ---: |"]
    lines += [f"| {kind} | {sum(row['kind'] == kind for row in rows)} |" for kind in kinds]
    for folder, title in FOLDERS.items():
        if there := [row for row in rows if folder_of(row["file"]) == folder]:
            lines += ["", f"**{title}**", ""]
            lines += map(_entry, there)
    return lines


def _entry(row: dict[str, str]) -> str:
    by = _noticed_by(row)
    what = f"- *{_words(row['fault'])}* ({row['kind']}, `{Path(row['file']).stem}`): {row['why']}."
    return f"{what} Noticed by {by}." if by else f"{what} **Not noticed.**"


def folder_of(file: str) -> str:
    """The folder of a module, at most two levels deep.

    >>> [folder_of(f"crowder/{name}.py") for name in ("engine", "beyond/posterior", "practice/plan")]
    ['crowder', 'crowder/beyond', 'crowder/practice']
    """
    return "/".join(Path(file).parts[:-1][:2])


def _words(name: str) -> str:
    """The words of a name with hyphens or underscores."""
    return re.sub(r"[-_]", " ", name)


def _noticed_by(row: dict[str, str]) -> str:
    """The number of tests that noticed, the name of the first, and the claims that changed."""
    parts = []
    count, names = int(row["tests"]), row["first"].split("; ")
    if "it hangs" in names:
        parts.append("a run that did not end")
        names.remove("it hangs")
    if count:
        name = _words(names[0].rpartition("::")[2].removeprefix("test_"))
        parts.append(f"{count} tests, the first “{name}”" if count > 1 else f"the test “{name}”")
    if row["claims"]:
        claims = row["claims"].split("; ")
        if any("stopped" in claim for claim in claims):  # its chapter failed
            parts.append(f"the build: {', '.join(claims)}")
        else:
            parts.append(f"{'claims' if len(claims) > 1 else 'claim'} {', '.join(claims)}")
    return " and by ".join(parts)
