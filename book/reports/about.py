"""What ran and when, what was read instead, and the work of others on the pages.

Run times come from ``book/data/measured/chapters.csv``, written by `make bench`: with times of its own, no build would
be identical to the last. The third-party parts of the pages are listed in ``licences.yml``, because no package says
which files of a page are its own; their licences are put beside the pages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from book.project import ROOT, number_of
from book.text.words import numbered

LICENCES = "licences.txt"
_DATA = Path(__file__).resolve().parents[1] / "data"


def _git(*command: str) -> str | None:
    """The output of git for this project; None without git or if the project is not a repository of its own."""
    # Inside a git hook, for example, these variables point to another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env["GIT_CEILING_DIRECTORIES"] = str(ROOT.parent)
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, env=env)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(but: str = "") -> str | None:
    """The commit of these sources, which says if they are modified, except for a folder that is named."""
    commit = _git("rev-parse", "HEAD")
    paths = ["--", ".", f":!{but}"] if but else []
    return f"{commit}-modified" if commit and _git("status", "--porcelain", *paths) else commit


def reference() -> str | None:
    """The tag or else the commit of exactly these sources; None if they are modified, or without git."""
    made = commit()
    if made is None or made.endswith("-modified"):
        return None
    return _git("describe", "--exact-match", "--tags", "--match", "v*") or made


def date() -> str:
    """The second of the last commit, so that builds of a commit agree; without git, one of the year in the footer."""
    return _git("log", "-1", "--format=%ct") or "1767225600"


def edition(date: int) -> dict[str, str]:
    """Version, commit and date for the foot of a page."""
    project = ROOT / "pyproject.toml"
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    day = datetime.fromtimestamp(date, UTC).date().isoformat()
    return {"version": stated, "commit": commit() or "", "date": day}


def asked_for(root: Path, extra: str) -> list[str]:
    """The packages that pyproject.toml asks for, with what an extra takes in."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names, wanted = set(), [*project["dependencies"], f"{project['name']}[{extra}]"]
    while wanted:
        name, extras = re.match(r"([\w.-]+)(?:\[(.*)\])?", wanted.pop()).groups()
        if name != project["name"]:
            names.add(name)
        else:
            wanted += [each for extra in extras.split(",") for each in project["optional-dependencies"][extra]]
    return sorted(names)


def versions(root: Path) -> dict[str, str]:
    """Versions of Python and of the packages that chapters ask for, where they are installed."""
    found = {"python": sys.version.split()[0]}
    for name in asked_for(root, "notebooks"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def ran(folders: Iterable[Path], *, setting: str, measured: Path) -> str:
    """Profile, data, versions and run times of the chapters, whose executions are in these folders, as a table."""
    folders = {folder.name: folder for folder in folders}
    used = {"{name} ({source})".format(**json.loads(path.read_text(encoding="utf-8")))
            for folder in folders.values() for path in (folder / "data").glob("*.json")}  # fmt: skip
    shown = {"profile": setting.replace("|", r"\|"), "data sets": "; ".join(sorted(used)) or "none",
             "versions": ", ".join(f"{name} {version}" for name, version in versions(ROOT).items())}  # fmt: skip
    times = pd.read_csv(measured / "chapters.csv") if (measured / "chapters.csv").exists() else None
    if times is not None and not (times := times[times["chapter"].isin(folders)]).empty:
        times = times.sort_values("seconds", ascending=False, kind="stable")
        longest = ", ".join(f"{row.chapter} {row.seconds:,.0f} s" for row in times.head(3).itertuples())
        total = times["seconds"].sum() / 60
        shown["run time in full"] = f"{total:.0f} minutes, of which {longest} ({times['versions'].iloc[0]})"
    return "\n".join(["| item | value |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in shown.items())])


def recorded(folders: Iterable[Path], pages: Mapping[str, str], entries: Sequence[dict[str, Any]]) -> str:
    """The results that chapters read and did not compute, as a table, and the claims that rest on them.

    `pages` has the page of each chapter, `entries` are those of the ledger.
    """
    lines = []
    for folder in folders:
        where = f"{{doc}}`{numbered('chapter', number_of(folder.name))} </{pages[folder.name]}>`"
        for path in sorted((folder / "recorded").glob("*.json")):
            made = json.loads(path.read_text(encoding="utf-8"))
            if made["read"]:
                given = "; ".join(f"{name} {value}" for name, value in made["parameters"].items())
                given = re.sub(r"['{}\[\]]", "", given).replace("|", r"\|")
                file = f"{{download}}`{path.stem} </book/data/recorded/{path.stem}.csv>`"
                lines.append(f"| {file} | {where} | {given} | {made['date']} | {(made['commit'] or '')[:10]} |")
    if not lines:
        return "All results were computed in this build."
    resting = ", ".join(f"{{ref}}`{name} <claim-row-{name.lower()}>`" for name in
                        (entry["id"] for entry in entries if entry["basis"] == "recorded"))  # fmt: skip
    head = ["| result | chapter | parameters | recorded | commit |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *lines] + ["", f"On these rest the claims {resting}."] * bool(resting))


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
