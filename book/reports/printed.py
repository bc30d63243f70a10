"""Printed and regenerated numbers side by side: how results of the chapters compare with book/data/published.yml."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from book.project import ROOT, read_yaml

FILE = ROOT / "book" / "data" / "published.yml"


def read(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """The comparisons that chapters recorded, in the order of the file; each folder has the name of its chapter."""
    order = list(read_yaml(FILE)) if FILE.exists() else []
    paths = (path for folder in folders for path in (folder / "published").glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) | {"chapter": path.parents[1].name}
            for path in sorted(paths, key=lambda path: order.index(path.stem))]  # fmt: skip


def agreement(number: dict[str, Any]) -> str:
    """ "agrees", "differs" (as listed), "disagrees", or "agrees now" (though listed as differing)."""
    if number["agrees"]:
        return "agrees now" if number["differ"] else "agrees"
    return "differs" if number["differ"] else "disagrees"


#: Each result of `agreement` in words, singular and plural.
_WORDS = {
    "agrees": ("agrees", "agree"), "differs": ("differs, as noted", "differ, as noted"),
    "disagrees": ("no longer agrees", "no longer agree"), "agrees now": ("agrees now", "agree now"),
}  # fmt: skip


def tally(entries: list[dict[str, Any]]) -> str:
    """How many printed numbers agree, and how many do not."""
    every = [agreement(number) for entry in entries for number in entry["numbers"]]
    counts = {result: every.count(result) for result in _WORDS if result in every}
    return "; ".join(f"{count} {_WORDS[result][count > 1]}" for result, count in counts.items())


def as_csv(entries: list[dict[str, Any]]) -> str:
    """The comparison as CSV, one line per number."""
    columns = ["group", "name", "place", "unit", "printed", "regenerated", "sd", "runs", "setting", "rule", "verdict",
               "reason", "chapter"]  # fmt: skip
    lines = [entry | number | {"verdict": agreement(number), "reason": number["differ"]}
             for entry in entries for number in entry["numbers"]]  # fmt: skip
    # As objects, so that whole numbers stay whole where others are missing.
    return pd.DataFrame(lines, columns=columns, dtype=object).to_csv(index=False, lineterminator="\n")


def as_markdown(entries: list[dict[str, Any]], pages: dict[str, str]) -> str:
    """A table of the paper's numbers beside ours, and the rules by which they agree; `pages` has those of chapters."""
    size = sum(len(entry["numbers"]) for entry in entries)
    lines = [f"**{size} printed numbers**: {tally(entries)}.", ""]
    lines += ["| in the paper | number | printed | here | verdict |", "| --- | --- | ---: | ---: | --- |"]
    rules: dict[str, list[str]] = {}
    for entry in entries:
        place = f"{entry['place']} ({entry['unit']})"
        where = f"{{doc}}`{place} </{pages[entry['chapter']]}>`"
        for number in entry["numbers"]:
            verdict = agreement(number) + (f": {number['differ']}" if number["differ"] else "")
            cells = (where, number["name"], show(number["printed"]), regenerated(number), verdict)
            lines.append(f"| {' | '.join(cells)} |")
            where = ""
        rule = entry["rule"] + f", with {entry['setting']}, which the paper leaves open" * bool(entry["setting"])
        rule += f", the mean of {entry['runs']} runs ± the standard deviation of one" * bool(entry["runs"])
        rules.setdefault(rule, []).append(place)
    lines += ["", "Rules of agreement:", "", *(f"- {'; '.join(places)}: {rule}" for rule, places in rules.items())]
    return "\n".join(lines)


def regenerated(number: dict[str, Any]) -> str:
    spread = "" if number["sd"] is None else f" ± {number['sd']:,.0f}"
    return show(number["regenerated"]) + spread


def show(value: float) -> str:
    """A number as a page prints it: whole ones and large ones without decimals."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.4g}"
