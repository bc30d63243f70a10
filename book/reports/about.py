"""What ran and when, the work of others on the pages, and the planted faults.

Run times come from ``book/data/measured/chapters.csv``, written by `make bench`: with times of its own, no build would
be identical to the last. The third-party parts of the pages are listed in ``licences.yml``, because no package says
which files of a page are its own.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import yaml

from book.build.chapters import Chapter
from book.build.environment import ROOT, commit
from book.build.manifest import rows, versions

FOLDER = "licences"
_DATA = Path(__file__).resolve().parents[1] / "data"


def edition() -> dict[str, str]:
    """Version, commit and date. The date is that of the sources, so that two builds of one commit are equal."""
    project = ROOT / "pyproject.toml"
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] if project.exists() else "0"
    date = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC).date().isoformat()
    return {"version": stated, "commit": commit() or "", "date": date}


def facts(results: Path, chapters: list[Chapter], *, profile: str, data: Path) -> dict[str, Any]:
    """What the page says of these chapters, whose `results` are complete; `data` is the folder of the book's data."""
    slugs = {chapter.slug for chapter in chapters}
    used = {"{name} ({source})".format(**json.loads(path.read_text(encoding="utf-8")))
            for slug in slugs for path in (results / slug / "data").glob("*.json")}  # fmt: skip
    times = [row for row in rows(data / "measured" / "chapters.csv") if row["chapter"] in slugs]
    return {
        # An execution is current only if it had these versions.
        "profile": profile, "data": sorted(used), "versions": versions(),
        "seconds": {row["chapter"]: float(row["seconds"]) for row in times},
        "machine": times[0]["versions"] if times else "", "parts": components(),
        "faults": rows(data / "measured" / "faults.csv"),
    }  # fmt: skip


def ran(known: dict[str, Any], up: str) -> list[str]:
    """Profile, data, versions and run times, as a table."""
    shown = {"profile": known["profile"], "data sets": "; ".join(known["data"]) or "none",
            "versions": ", ".join(f"{name} {version}" for name, version in known["versions"].items())}  # fmt: skip
    if times := known["seconds"]:
        longest = sorted(times, key=times.get, reverse=True)[:3]
        most = ", ".join(f"{slug} {times[slug]:,.0f} s" for slug in longest)
        shown["run time in full"] = f"{sum(times.values()) / 60:.0f} minutes, of which {most} ({known['machine']})"
    return ["| | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in shown.items())]


# --- the work of others -----------------------------------------------------------------------------------------------


def components() -> list[dict[str, Any]]:
    """The third-party parts of the pages: name, licence, package, files."""
    return yaml.safe_load((_DATA / "licences.yml").read_text(encoding="utf-8"))


def text_of(package: str) -> str | None:
    """The licence texts that a package ships, if it is installed, and those that are kept here instead."""
    paths = list((_DATA / FOLDER).glob(f"{package}.txt"))
    try:
        listed = distribution(package).files or []
    except PackageNotFoundError:
        listed = []
    named = [path for path in listed if ".dist-info" in path.parts[0]
             and re.search(r"licen[cs]e|copying|notice", path.name, re.IGNORECASE)]  # fmt: skip
    texts = [Path(path.locate()).read_text(encoding="utf-8").strip() for path in sorted(named, key=str)]
    texts += [path.read_text(encoding="utf-8").strip() for path in paths]
    return "\n\n".join(dict.fromkeys(texts)) + "\n" if texts else None


def copy_texts(html: Path) -> None:
    """Copy the licence texts beside the pages, as these licences require: one file per package."""
    (html / FOLDER).mkdir(exist_ok=True)
    for package in sorted({part["package"] for part in components()}):
        if text := text_of(package):
            (html / FOLDER / f"{package}.txt").write_text(text, encoding="utf-8")


def parts(known: dict[str, Any], up: str) -> list[str]:
    """The third-party parts as a table; `up` is the path from the page to the root of the pages."""
    lines = ["| part of the pages | licence | package |", "| --- | --- | --- |"]
    for part in known["parts"]:
        name = part["package"]
        try:
            version = distribution(name).version
        except PackageNotFoundError:
            version = "(in this repository)"
        # As HTML, because Sphinx would look for a document of that name.
        label = f'<a href="{up}{FOLDER}/{name}.txt">{name}</a>' if text_of(name) else name
        lines.append(f"| {part['name']} | {part['licence']} | {label} {version} |")
    return lines


# --- planted faults ---------------------------------------------------------------------------------------------------


def faults(known: dict[str, Any], up: str) -> list[str]:
    """How many faults of which kind were planted, and how many were noticed."""
    planted = known["faults"]
    unseen = [row["fault"] for row in planted if not (int(row["tests"]) or row["claims"] or "it hangs" in row["first"])]
    changed = sum(bool(row["claims"]) for row in planted)
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(row["kind"] for row in planted).most_common())
    counts = f"{len(planted) - len(unseen)} were noticed, {changed} of them also by a claim or a chapter that stopped."
    return [f"**{len(planted)} faults** were planted; {counts}" + f" Not noticed: {', '.join(unseen)}." * bool(unseen),
            "", f"By kind: {kinds}."]  # fmt: skip
