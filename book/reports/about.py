"""What ran and when, what was read instead, and the work of others on the pages.

Run times come from ``book/data/measured/chapters.csv``, written by `make bench`: with times of its own, no build would
be identical to the last. The third-party parts of the pages are listed in ``licences.yml``, because no package says
which files of a page are its own; their licences are put beside the pages.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml

from book.make.chapters import number_of
from book.make.environment import ROOT, commit
from book.make.manifest import rows, versions
from book.make.words import numbered

LICENCES = "licences.txt"
_DATA = Path(__file__).resolve().parents[1] / "data"


def edition(date: int) -> dict[str, str]:
    """Version, commit and date for the foot of a page. The date is that of the sources, so builds of a commit agree."""
    project = ROOT / "pyproject.toml"
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    day = datetime.fromtimestamp(date, UTC).date().isoformat()
    return {"version": stated, "commit": commit() or "", "date": day}


def ran(results: Path, slugs: list[str], *, setting: str, measured: Path) -> str:
    """Profile and parameters, data, versions and run times of these chapters, as a table; `results` has them all."""
    used = {"{name} ({source})".format(**json.loads(path.read_text(encoding="utf-8")))
            for slug in slugs for path in (results / slug / "data").glob("*.json")}  # fmt: skip
    # An execution is current only if it had these versions.
    shown = {"profile": setting.replace("|", r"\|"), "data sets": "; ".join(sorted(used)) or "none",
             "versions": ", ".join(f"{name} {version}" for name, version in versions(ROOT).items())}  # fmt: skip
    if times := [row for row in rows(measured / "chapters.csv") if row["chapter"] in slugs]:
        times.sort(key=lambda row: -float(row["seconds"]))
        total = sum(float(row["seconds"]) for row in times) / 60
        longest = ", ".join(f"{row['chapter']} {float(row['seconds']):,.0f} s" for row in times[:3])
        shown["run time in full"] = f"{total:.0f} minutes, of which {longest} ({times[0]['versions']})"
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in shown.items())])


def recorded(results: Path, pages: Mapping[str, str], entries: Sequence[dict[str, Any]]) -> str:
    """The results that chapters read and did not compute, as a table, and the claims that rest on them.

    `pages` has the page of each chapter, `entries` are those of the ledger.
    """
    lines = []
    for slug, page in pages.items():
        where = f"{{doc}}`{numbered('chapter', number_of(slug))} </{page}>`"
        for path in sorted((results / slug / "recorded").glob("*.json")):
            made = json.loads(path.read_text(encoding="utf-8"))
            if made["read"]:
                given = "; ".join(f"{name} {value}" for name, value in made["parameters"].items())
                given = re.sub(r"['{}\[\]]", "", given).replace("|", r"\|")
                file = f"{{download}}`{path.stem} </book/data/recorded/{path.stem}.csv>`"
                lines.append(f"| {file} | {where} | {given} | {made['date']} | {made['commit'][:10]} |")
    if not lines:
        return "All results were computed in this build."
    resting = ", ".join(f"{{claim}}`{entry['id']}`" for entry in entries if entry["basis"] == "recorded")
    head = ["| result | chapter | parameters | recorded | commit |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *lines] + ["", f"On these rest {resting}."] * bool(resting))


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
