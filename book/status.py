"""What stands behind the pages: for each chapter its run time, commit and data sets; the versions that ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chapters import Chapter
from manifest import Manifest


def facts(manifest: Manifest, chapters: list[Chapter], *, profile_name: str, results: Path) -> dict[str, Any]:
    """Everything that the status page shows, of chapters that have been executed."""
    rows, versions = [], {}
    for chapter in chapters:
        entry = manifest.data["chapters"][chapter.slug]
        versions |= entry["versions"]
        used = sorted((results / chapter.slug / "data").glob("*.json"))
        rows.append({
            "chapter": chapter.slug, "page": chapter.path.with_suffix("").as_posix(),
            "seconds": entry["seconds"], "commit": entry["commit"],
            "data": [json.loads(path.read_text(encoding="utf-8")) for path in used],
        })  # fmt: skip
    return {"profile": profile_name, "chapters": rows, "versions": versions}


def as_markdown(status: dict[str, Any]) -> list[str]:
    """The page's tables."""
    total = sum(row["seconds"] for row in status["chapters"])
    lines = [f"Profile *{status['profile']}*; {total / 60:.0f} minutes of run time in all.", ""]
    lines += ["| chapter | run time | data sets | commit |", "| --- | ---: | --- | --- |"]
    for row in status["chapters"]:
        data = "; ".join(f"{used['name']} ({used['source']})" for used in row["data"]) or "–"
        commit = f"`{row['commit'][:10]}`" if row["commit"] else "not a git checkout"
        if (row["commit"] or "").endswith("-modified"):
            commit += ", modified"
        lines.append(f"| {{doc}}`{row['chapter']} </{row['page']}>` | {row['seconds']:,.0f} s | {data} | {commit} |")
    lines += ["", "| package | version |", "| --- | --- |"]
    lines += [f"| {name} | {version} |" for name, version in status["versions"].items()]
    return lines
