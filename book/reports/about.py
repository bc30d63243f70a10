"""What ran and when, the work of others on the pages, and the planted faults.

Run times come from ``book/data/measured/chapters.csv``, written by `make bench`: with times of its own, no build would
be identical to the last. The third-party parts of the pages are listed in ``licences.yml``, because no package says
which files of a page are its own; their licences are put beside the pages.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml

from book.build.chapters import Chapter
from book.build.environment import ROOT, commit
from book.build.manifest import rows, versions

LICENCES = "licences.txt"
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
        "machine": times[0]["versions"] if times else "",
        "faults": rows(data / "measured" / "faults.csv"),
    }  # fmt: skip


def ran(known: dict[str, Any]) -> list[str]:
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


def text_of(package: str) -> str:
    """The licence texts that a package ships, or that are kept here for what is not installed as a package."""
    if (kept := _DATA / "licences" / f"{package}.txt").exists():
        paths = [kept]
    else:
        files = [path for path in distribution(package).files or () if ".dist-info" in path.parts[0]]
        named = [path for path in files if re.search(r"licen[cs]e|copying|notice", path.name, re.IGNORECASE)]
        paths = [Path(path.locate()) for path in sorted(named, key=str)]
    return "\n\n".join(dict.fromkeys(path.read_text(encoding="utf-8").strip() for path in paths))


def write_licences(html: Path) -> None:
    """Write the licence texts beside the pages, as these licences require: the parts of each package, and its text."""
    packages: dict[str, list[str]] = {}
    for part in components():
        packages.setdefault(part["package"], []).append(f"{part['name']}: {part['licence']}")
    texts = ["\n".join([*parts, "", text_of(package), ""]) for package, parts in packages.items()]
    (html / LICENCES).write_text(f"\n{'=' * 80}\n\n".join(texts), encoding="utf-8")


# --- planted faults ---------------------------------------------------------------------------------------------------


def faults(known: dict[str, Any]) -> list[str]:
    """How many faults of which kind were planted, and how many were noticed."""
    planted = known["faults"]
    unseen = [row["fault"] for row in planted if not (int(row["tests"]) or row["claims"] or "it hangs" in row["first"])]
    changed = sum(bool(row["claims"]) for row in planted)
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(row["kind"] for row in planted).most_common())
    counts = f"{len(planted) - len(unseen)} were noticed, {changed} of them also by a claim or a chapter that stopped."
    return [f"**{len(planted)} faults** were planted; {counts}" + f" Not noticed: {', '.join(unseen)}." * bool(unseen),
            "", f"By kind: {kinds}."]  # fmt: skip
