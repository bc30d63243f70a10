"""Printed against regenerated: what the chapters handed over of the numbers in book/data/published.yml.

A number *is lost* when it should agree and does not, or when its chapter regenerated nothing. Reasons for numbers that
differ stand in the file; they are shown and fail nothing.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from book.build.chapters import BuildError, Chapter, read_yaml


def read_groups(root: Path, chapters: list[Chapter]) -> dict[str, str]:
    """Group of printed numbers -> the chapter that regenerates it."""
    path = root / "book" / "data" / "published.yml"
    groups = read_yaml(root, "book/data/published.yml") if path.exists() else {}
    known = {c.slug for c in chapters}
    for name, entry in groups.items():
        if not isinstance(entry, dict):
            raise BuildError(f"book/data/published.yml: {name}: expected its chapter, place and numbers, not {entry!r}")
        if entry.get("chapter") not in known:
            raise BuildError(f"book/data/published.yml: {name}: there is no chapter {entry.get('chapter')}")
    return {name: entry["chapter"] for name, entry in groups.items()}


def judge(groups: dict[str, str], results: Path, slugs: list[str]) -> list[dict[str, Any]]:
    """One entry a group of these chapters, with what its chapter recorded; without numbers if it recorded nothing."""
    found: dict[str, dict[str, Any]] = {}
    for slug in slugs:
        for path in sorted((results / slug / "published").glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if groups.get(record["group"]) != slug:
                raise BuildError(f"{slug}: compares {record['group']}, which book/data/published.yml gives to "
                                 f"{groups.get(record['group'], 'no chapter')}")  # fmt: skip
            found[record["group"]] = record
    lacking = {"place": "", "unit": "", "rule": "", "runs": None, "numbers": []}
    return [
        {"chapter": slug} | found.get(name, lacking | {"group": name}) for name, slug in groups.items() if slug in slugs
    ]


def verdict(number: dict[str, Any]) -> str:
    """ "agrees", "differs" (as recorded), "lost", or "agrees now" (recorded as differing)."""
    if number["agrees"]:
        return "agrees now" if number["differ"] else "agrees"
    return "differs" if number["differ"] else "lost"


def say_lost(entries: list[dict[str, Any]]) -> list[str]:
    """One line for each number that should agree and does not, and for each group that nobody regenerated."""
    lines = []
    for entry in entries:
        if not entry["numbers"]:
            lines.append(f"{entry['chapter']}: the printed numbers of {entry['group']} were not regenerated")
        lines += [
            f"{entry['chapter']}: {_name(entry, number)} no longer agrees: printed {show(number['printed'])}, "
            f"regenerated {regenerated(number)} ({entry['rule']})"
            for number in entry["numbers"] if verdict(number) == "lost"
        ]  # fmt: skip
    return lines


def diff(entries: list[dict[str, Any]]) -> list[str]:
    """All printed numbers beside the regenerated ones, then a count."""
    rows = [
        (_name(entry, number), show(number["printed"]), regenerated(number), verdict(number))
        for entry in entries for number in entry["numbers"]
    ]  # fmt: skip
    if not rows:
        return []
    head = ("", "printed", "regenerated", "")
    wide = [max(len(row[i]) for row in [head, *rows]) for i in range(4)]
    lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in [head, *rows]]
    return [*lines, f"printed numbers: {tally(entries)}"]


#: How many numbers have each verdict, in words.
_PLURAL = {"agrees": "agree", "differs": "differ, as noted", "lost": "no longer agree", "agrees now": "agree now"}


def tally(entries: list[dict[str, Any]]) -> str:
    """How many printed numbers have which verdict."""
    every = [verdict(number) for entry in entries for number in entry["numbers"]]
    return "; ".join(f"{every.count(word)} {words}" for word, words in _PLURAL.items() if word in every)


def as_csv(entries: list[dict[str, Any]]) -> str:
    """The comparison as a file for others: one line a number."""
    text = io.StringIO()
    columns = ["group", "name", "place", "unit", "printed", "regenerated", "sd", "runs", "rule", "verdict", "reason",
               "chapter"]  # fmt: skip
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        for number in entry["numbers"]:
            writer.writerow(entry | number | {"verdict": verdict(number), "reason": number["differ"]})
    return text.getvalue()


def _name(entry: dict[str, Any], number: dict[str, Any]) -> str:
    return f"{entry['group']}, {number['name']}"


def regenerated(number: dict[str, Any]) -> str:
    spread = "" if number["sd"] is None else f" ± {number['sd']:,.0f}"
    return show(number["regenerated"]) + spread


def show(value: float) -> str:
    """A number as a page prints it: whole ones and large ones without decimals."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.4g}"
