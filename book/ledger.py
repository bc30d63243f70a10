"""The ledger: what book/claims/ expects of each claim, beside the verdict that its chapter recorded.

A claim *moved* when the two differ, or when its chapter recorded nothing. One file a chapter lists its claims; the name
of the file is the chapter's.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from chapters import BuildError, Chapter, read_yaml

SCALE = ("proved", "exact", "simulated", "trend", "refuted", "unclear")
NOT_SHOWN, NOT_CHECKED = "not shown", "not checked"

_ID = re.compile(r"[BCE](?:\d\d|[1-9]\d\d)")
_NEEDED = {"place", "statement", "verdict", "source", "test"}
_ERRATUM = {"matters", "weight", "claims"}
WEIGHTS = ("result", "gap", "slip")
_NO_RECORD = {"verdict": NOT_CHECKED, "evidence": [], "corrected": None, "corrected_evidence": []}


def read_catalogue(root: Path, chapters: list[Chapter], only: list[Chapter] | None = None) -> dict[str, dict[str, Any]]:
    """Claim -> what is expected of it, in the order of the identifiers; with `only`, of these chapters alone."""
    catalogue: dict[str, dict[str, Any]] = {}
    known = {c.slug for c in chapters}
    wanted = known if only is None else {c.slug for c in only}
    for path in sorted((root / "book" / "claims").glob("*.yml")):
        where = f"book/claims/{path.name}"
        if path.stem not in known:
            raise BuildError(f"{where}: there is no chapter {path.stem}")
        if path.stem not in wanted:
            continue
        for name, entry in read_yaml(root, where).items():
            if name in catalogue:
                raise BuildError(f"{where}: {name} is also in book/claims/{catalogue[name]['chapter']}.yml")
            catalogue[name] = _checked(root, where, name, entry) | {"id": name, "chapter": path.stem}
    for name, entry in catalogue.items():
        for other in entry.get("claims", []):
            if other in catalogue:
                catalogue[other].setdefault("errata", []).append(name)
            elif only is None:
                raise BuildError(f"book/claims/{entry['chapter']}.yml: {name} concerns {other}, which is not there")
    return dict(sorted(catalogue.items(), key=lambda item: ("CEB".index(item[0][0]), int(item[0][1:]))))


def _checked(root: Path, where: str, name: str, entry: Any) -> dict[str, Any]:
    """One entry, complete, with its sources and tests found."""
    if not isinstance(name, str) or not _ID.fullmatch(name) or not isinstance(entry, dict):
        raise BuildError(f"{where}: {name!r}: expected C, E or B and two or three digits, then what is known of it")
    erratum = name.startswith("E")
    needed = _NEEDED | (_ERRATUM if erratum else set())
    refuted = entry.get("verdict") == "refuted"
    allowed = needed | ({"corrected"} if refuted else set())
    if lacks := sorted(needed - set(entry)):
        raise BuildError(f"{where}: {name} lacks {', '.join(lacks)}")
    if surplus := sorted(map(str, set(entry) - allowed)):
        raise BuildError(f"{where}: {name} has no use for {', '.join(surplus)}")
    verdicts = [entry["verdict"]]
    if refuted:
        if not isinstance(entry.get("corrected"), dict) or set(entry["corrected"]) != {"statement", "verdict"}:
            raise BuildError(f"{where}: {name}: a refuted claim has corrected: {{statement, verdict}}")
        verdicts.append(entry["corrected"]["verdict"])
    for verdict in verdicts:
        if verdict not in SCALE:
            raise BuildError(f"{where}: {name}: verdict {verdict!r}; the scale is {', '.join(SCALE)}")
    if erratum and entry["weight"] not in WEIGHTS:
        raise BuildError(f"{where}: {name}: weight {entry['weight']!r}; expected {', '.join(WEIGHTS)}")
    entry = dict(entry)
    for key, find in (("source", find_code), ("test", find_test)):
        names = entry[key] if isinstance(entry[key], list) else [entry[key]]
        found = [(text, find(root, text)) for text in names]
        if missing := [text for text, place in found if place is None]:
            raise BuildError(f"{where}: {name}: {key} {missing[0]} does not exist")
        entry[key] = [{"name": text, "path": path, "line": line} for text, (path, line) in found]
    return entry


def find_code(root: Path, dotted: str) -> tuple[str, int] | None:
    """File and line of ``crowder.model.theory.L``, read without importing it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        path = root.joinpath(*parts[:cut]).with_suffix(".py")
        if path.is_file():
            return _find(path, root, parts[cut:])
    return None


def find_test(root: Path, text: str) -> tuple[str, int] | None:
    """File and line of ``tests/test_theory.py::test_name``."""
    file, _, name = text.partition("::")
    path = root / file
    return _find(path, root, [name]) if path.is_file() and name.startswith("test_") else None


def _find(path: Path, root: Path, names: list[str]) -> tuple[str, int] | None:
    body, line = ast.parse(path.read_text(encoding="utf-8")).body, 1
    for name in names:
        for node in body:
            targets = [getattr(node, "name", None)]
            if isinstance(node, ast.Assign):
                targets = [t.id for t in node.targets if isinstance(t, ast.Name)]
            if name in targets:
                body, line = getattr(node, "body", []), node.lineno
                break
        else:
            return None
    return path.relative_to(root).as_posix(), line


def read_records(results: Path, slugs: list[str]) -> dict[str, dict[str, Any]]:
    """Claim -> what its chapter recorded."""
    records: dict[str, dict[str, Any]] = {}
    for slug in slugs:
        for path in sorted((results / slug / "claims").glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8")) | {"chapter": slug}
            if path.stem in records:
                raise BuildError(f"{slug}: records {path.stem}, and so does {records[path.stem]['chapter']}")
            records[path.stem] = record
    return records


def judge(catalogue: dict[str, dict], records: dict[str, dict], slugs: list[str]) -> list[dict[str, Any]]:
    """One entry a claim of these chapters: expected, recorded, moved."""
    for name, record in records.items():
        expected = catalogue.get(name, {}).get("chapter")
        if expected != record["chapter"]:
            belongs = f"belongs to {expected}" if expected else "is in no file of book/claims"
            raise BuildError(f"{record['chapter']}: records {name}, which {belongs}")
    entries = []
    for name, expected in catalogue.items():
        if expected["chapter"] not in slugs:
            continue
        record = records.get(name, _NO_RECORD)
        pieces = record["evidence"]
        entry = expected | {"expected": expected["verdict"], "verdict": record["verdict"], "evidence": pieces}
        wanted = (expected["verdict"], expected.get("corrected", {}).get("verdict"))
        moved = (record["verdict"], record["corrected"]) != wanted
        if "corrected" in expected or record["corrected"]:
            statement = expected.get("corrected", {}).get("statement", "")
            entry["corrected"] = {"statement": statement, "expected": wanted[1],
                                  "verdict": record["corrected"] or NOT_CHECKED,
                                  "evidence": record["corrected_evidence"]}  # fmt: skip
            pieces = [*pieces, *record["corrected_evidence"]]
        # What failed says more than what went first.
        failed = [piece for piece in pieces if not piece["holds"]]
        shown = (failed or pieces or [{"what": "", "figure": "no evidence was recorded"}])[0]
        entry |= {"what": shown["what"], "figure": shown["figure"]}
        entries.append(entry | {"moved": moved})
    return entries


def say_moved(entries: list[dict[str, Any]]) -> list[str]:
    """One line for each claim whose verdict is not the expected one."""
    lines = []
    for entry in entries:
        if entry["moved"]:
            said = [f"{entry['expected']} was expected, the run says {entry['verdict']}"]
            if "corrected" in entry and entry["corrected"]["verdict"] != entry["corrected"]["expected"]:
                said.append(f"of the correction {entry['corrected']['expected']} was expected, "
                            f"the run says {entry['corrected']['verdict']}")  # fmt: skip
            lines.append(f"{entry['chapter']}: {entry['id']} moved: {'; '.join(said)} ({entry['figure']})")
    return lines


def tally(entries: list[dict[str, Any]], letter: str = "C") -> dict[str, int]:
    """Verdict -> how many of the paper's claims (or errata, E; own statements, B) have it."""
    counts = {verdict: 0 for verdict in (*SCALE, NOT_SHOWN, NOT_CHECKED)}
    for entry in entries:
        if entry["id"].startswith(letter):
            counts[entry["verdict"]] += 1
    return {verdict: count for verdict, count in counts.items() if count}


def as_csv(entries: list[dict[str, Any]]) -> str:
    """The ledger as a file for others: one line a claim."""
    text = io.StringIO()
    columns = ["id", "place", "statement", "expected", "verdict", "corrected", "figure", "chapter", "source", "test"]
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        line = {key: " ".join(str(value).split()) for key, value in entry.items()}
        line["corrected"] = entry.get("corrected", {}).get("verdict", "")
        for key in ("source", "test"):
            line[key] = " ".join(item["name"] for item in entry[key])
        writer.writerow(line)
    return text.getvalue()
