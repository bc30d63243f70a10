"""For each chapter its run time, commit and data sets, and the versions of the packages.

Run times come from ``book/data/measured/chapters.csv``, written by `make bench`: with times of its own, no build would
be identical to the last.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from book.build.chapters import Chapter
from book.build.manifest import Manifest, measured_times


def facts(
    manifest: Manifest, chapters: list[Chapter], *, profile_name: str, results: Path, measured: Path
) -> dict[str, Any]:
    """Everything that the page *What ran* shows about these chapters, which have been executed."""
    rows, versions = [], {}
    measured_rows = measured_times(measured)
    times = {row["chapter"]: float(row["seconds"]) for row in measured_rows}
    machine = measured_rows[0]["versions"] if measured_rows else ""
    for chapter in chapters:
        entry = manifest.data["chapters"][chapter.slug]
        versions |= entry["versions"]
        used = sorted((results / chapter.slug / "data").glob("*.json"))
        rows.append({
            "chapter": chapter.slug, "page": chapter.path.with_suffix("").as_posix(),
            "seconds": times.get(chapter.slug), "commit": entry["commit"],
            "data": [json.loads(path.read_text(encoding="utf-8")) for path in used],
        })  # fmt: skip
    # The order must not depend on which chapters ran now: Python first, then the packages.
    versions = {name: versions[name] for name in sorted(versions, key=lambda name: (name != "python", name))}
    return {"profile": profile_name, "machine": machine, "chapters": rows, "versions": versions}


def as_markdown(status: dict[str, Any]) -> list[str]:
    """The tables of the page."""
    lines = [f"Profile *{status['profile']}*."]
    if times := [row["seconds"] for row in status["chapters"] if row["seconds"] is not None]:
        lines[0] += (
            f" In full, these chapters take {sum(times) / 60:.0f} minutes of run time in all, as last measured "
            f"({status['machine']})."
        )
    lines += ["", "| chapter | run time | data sets | commit |", "| --- | ---: | --- | --- |"]
    for row in status["chapters"]:
        data = "; ".join(f"{used['name']} ({used['source']})" for used in row["data"]) or "–"
        commit = f"`{row['commit'][:10]}`" if row["commit"] else "not a git checkout"
        if (row["commit"] or "").endswith("-modified"):
            commit += ", modified"
        took = "–" if row["seconds"] is None else f"{row['seconds']:,.0f} s"
        lines.append(f"| {{doc}}`{row['chapter']} </{row['page']}>` | {took} | {data} | {commit} |")
    lines += ["", "| package | version |", "| --- | --- |"]
    lines += [f"| {name} | {version} |" for name, version in status["versions"].items()]
    return lines
