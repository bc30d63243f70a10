"""The ledger: for each claim what `book.claims` declares and what its chapter found.

A claim has *changed* if its status or basis differs from the declared one, or if its chapter recorded nothing.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from book import claims, strict_yaml
from book.build.chapters import BuildError, Chapter
from book.companion.claims import KINDS, NOT_CHECKED, NOT_SHOWN, STATUSES, Claim

_NO_RECORD = {"status": NOT_CHECKED, "basis": "", "where": "", "evidence": []}


def read_catalogue(root: Path, chapters: list[Chapter], only: list[Chapter] | None = None) -> dict[str, dict[str, Any]]:
    """Claim -> its declaration, in the order of the identifiers; with `only`, the claims of these chapters."""
    slugs = {claims.module_of(chapter.slug): chapter.slug for chapter in chapters}
    wanted = {chapter.slug for chapter in (chapters if only is None else only)}
    try:
        known = claims.load()
    except Exception as error:  # importing a module may raise anything
        raise BuildError(f"book/claims: {error}") from None
    catalogue: dict[str, dict[str, Any]] = {}
    for name, claim in known.items():
        module = claim.module.rpartition(".")[2]
        if module not in slugs:
            raise BuildError(f"book/claims/{module}.py: there is no chapter {module}")
        if slugs[module] in wanted:
            catalogue[name] = _entry(root, claim, slugs[module])
    for name, entry in catalogue.items():
        for other in entry["about"]:
            if other in catalogue:
                catalogue[other]["errata"].append(name)
            elif only is None:
                raise BuildError(f"{entry['chapter']}: {name} is about {other}, which is not a claim")
    for name, others in _rests_on(root / "book" / "data" / "rests_on.yml").items():
        if name in catalogue:
            catalogue[name]["rests_on"] = others
            for other in (other for other in others if other in catalogue):
                catalogue[other]["carries"].append(name)
        if only is None and (unknown := [one for one in (name, *others) if one not in catalogue]):
            raise BuildError(f"rests_on.yml: {unknown[0]} is not a claim")
    layers({name: entry["rests_on"] for name, entry in catalogue.items()})
    return dict(sorted(catalogue.items(), key=lambda item: ("CEB".index(item[0][0]), int(item[0][1:]))))


def _rests_on(path: Path) -> dict[str, list[str]]:
    """Claim -> the claims that it rests on, as the file declares."""
    if not path.is_file():
        return {}
    try:
        found = strict_yaml.read(path)
    except strict_yaml.Unreadable as error:
        raise BuildError(f"rests_on.yml: {error}") from None
    for name, others in found.items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise BuildError(f"rests_on.yml: {name} needs a list of claims, not {others!r}")
    return found


def layers(edges: dict[str, list[str]]) -> list[list[str]]:
    """The names in columns, each to the right of those it leads to; without those that no edge touches.

    In a column a name stands near the mean height of its neighbours, so that few lines cross.

    Raises
    ------
    BuildError
        If a name leads to itself.

    Examples
    --------
    >>> layers({"a": [], "b": ["a"], "c": ["a", "b"], "d": []})
    [['a'], ['b'], ['c']]
    """
    depth: dict[str, int] = {}

    def find(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise BuildError(f"rests_on.yml: {' rests on '.join((*above[above.index(name) :], name))}")
        if name not in depth:
            depth[name] = 1 + max((find(other, (*above, name)) for other in edges.get(name, ())), default=-1)
        return depth[name]

    touched = {name for name in edges if edges[name]} | {other for others in edges.values() for other in others}
    columns: list[list[str]] = [[] for _ in range(1 + max((find(name) for name in sorted(touched)), default=-1))]
    for name in sorted(touched):
        columns[depth[name]].append(name)
    near: dict[str, list[str]] = {name: list(edges.get(name, ())) for name in touched}
    for name, others in edges.items():
        for other in others:
            near[other].append(name)
    for _ in range(8):
        height = {name: (place + 0.5) / len(column) for column in columns for place, name in enumerate(column)}
        for column in columns:
            column.sort(key=lambda name: sum(height[other] for other in near[name]) / len(near[name]))
    return columns


def _entry(root: Path, claim: Claim, slug: str) -> dict[str, Any]:
    """The declaration of one claim, with the places of its code and tests."""
    entry: dict[str, Any] = {"id": claim.id, "chapter": slug, "errata": [], "about": list(claim.about)}
    entry |= {"rests_on": [], "carries": []}
    entry |= {name: getattr(claim, name) for name in
              ("place", "statement", "status", "basis", "kind", "corrected", "affects", "stands", "prose")}  # fmt: skip
    entry |= {"touches": None if claim.touches is None else list(claim.touches), "proof": None}
    if claim.proof:
        entry["proof"] = find_proof(root, claim.proof)
        if entry["proof"] is None:
            raise BuildError(f"{claim.id}: no argument is written out at {claim.proof}")
    for key, find, names in (("source", find_code, claim.code), ("test", find_test, claim.test)):
        entry[key] = list(_found(root, claim.id, key, find, names))
    return entry


def _found(root: Path, id: str, key: str, find: Any, names: Iterable[str]) -> Iterable[dict[str, Any]]:
    for name in names:
        place = find(root, name)
        if place is None:
            raise BuildError(f"{id}: {key} {name} does not exist")
        yield {"name": name, "path": place[0], "line": place[1]}


def find_code(root: Path, dotted: str) -> tuple[str, int] | None:
    """File and line of ``crowder.theory.L``, read without importing it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        path = root.joinpath(*parts[:cut]).with_suffix(".py")
        if path.is_file():
            return _find(path, root, parts[cut:])
    return None


def find_test(root: Path, text: str) -> tuple[str, int] | None:
    """File and line of ``test_theory.py::test_name``, wherever under ``tests`` the one file of that name is."""
    file, _, name = text.partition("::")
    paths = list((root / "tests").rglob(file)) if re.fullmatch(r"test_\w+\.py", file) else []
    return _find(paths[0], root, [name]) if len(paths) == 1 and name.startswith("test_") else None


#: At least so many words must follow a label for something to be an argument.
_WORDS = 40


def find_proof(root: Path, text: str) -> dict[str, str] | None:
    """The page and label of ``05-edge-ordering#thm-edge-likely``, and the role that links to it.

    None if no page of that name has the label, if it is that of a definition, or if fewer than forty words of prose
    stand between it (a theorem ends first) and the next label of a theorem, or the next heading that is not below it.
    """
    page, _, label = text.partition("#")
    for path in (*(root / "notebooks" / folder / f"{page}.ipynb" for folder in ("", "appendix")),
                 root / "book" / "pages" / f"{page}.md"):  # fmt: skip
        if path.is_file():
            lines = _prose(path)
            break
    else:
        return None
    if f"({label})=" in lines:
        start, role = lines.index(f"({label})=") + 2, "ref"
        depth = len(lines[start - 1]) - len(lines[start - 1].lstrip("#"))
    elif f":label: {label}" in lines:
        start, role = lines.index(f":label: {label}"), "prf:ref"
        fence = next(line for line in reversed(lines[:start]) if "{prf:" in line)
        if "{prf:definition}" in fence:
            return None
        start += 1 + lines[start:].index(fence[: fence.index("{")])
        depth = 6
    else:
        return None
    words = 0
    for line in lines[start:]:
        if re.match(rf"#{{1,{depth}}} ", line) or (role == "prf:ref" and line.startswith(":label:")):
            break
        words += 0 if line.startswith((":", "```")) else len(re.findall(r"[A-Za-z]{2,}", line))
    return {"page": page, "label": label, "role": role} if words >= _WORDS else None


def _prose(path: Path) -> list[str]:
    """The lines of a page without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return text.splitlines()


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
    """An entry for each claim of these chapters: what is declared, what was found, and whether it changed."""
    for name, record in records.items():
        declared = catalogue.get(name, {}).get("chapter")
        if declared != record["chapter"]:
            belongs = f"belongs to {declared}" if declared else "is in no module of book/claims"
            raise BuildError(f"{record['chapter']}: records {name}, which {belongs}")
    entries = []
    for name, declared in catalogue.items():
        if declared["chapter"] not in slugs:
            continue
        record = records.get(name, _NO_RECORD)
        pieces = record["evidence"]
        # Show a failed piece in preference to the first.
        failed = [piece for piece in pieces if not piece["holds"]]
        shown = (failed or pieces or [{"what": "", "figure": "no evidence was recorded"}])[0]
        expected, found = status_and_basis(declared), status_and_basis(record)
        entries.append(declared | {
            "expected": expected, "status": record["status"], "basis": record["basis"], "where": record["where"],
            "evidence": pieces,
            "says": next((piece["says"] for piece in pieces if piece.get("says")), ""),
            "what": shown["what"], "figure": shown["figure"], "changed": found != expected,
        })  # fmt: skip
    return entries


def sentence(entry: dict[str, Any]) -> str:
    """What the page says while the evidence is folded: what a piece `says`, or its words and its figure.

    What fails comes first. Then, for an amended claim, comes what refutes it; for any other, what carries it.

    >>> piece = {"kind": "exact", "what": "the count", "figure": "equal: 3", "holds": True, "says": ""}
    >>> sentence({"evidence": [piece], "corrected": "", "says": ""})
    'The count: equal: 3.'
    """
    pieces = entry["evidence"]
    failed = [piece for piece in pieces if not piece["holds"]]
    if entry["says"] and not failed:
        return entry["says"]
    amended = [piece for piece in pieces if piece["kind"] == "counterexample" and entry["corrected"]]
    if not (shown := [*failed, *amended, *pieces]):
        return "No evidence was recorded."
    what, figure = shown[0]["what"], shown[0]["figure"].rstrip(".")
    return f"{'Does not hold: ' if failed else ''}{what if failed else what[:1].upper() + what[1:]}: {figure}."


def status_and_basis(entry: dict[str, Any]) -> str:
    """Status and basis as text.

    >>> status_and_basis({"status": "holds", "basis": "proved"})
    'holds (proved)'
    """
    return entry["status"] + (f" ({entry['basis']})" if entry["basis"] else "")


def changes(entries: list[dict[str, Any]]) -> list[str]:
    """One line for each claim whose status or basis is not the declared one."""
    return [
        f"{entry['chapter']}: {entry['id']} changed: expected {entry['expected']}, found {status_and_basis(entry)} "
        f"({': '.join(filter(None, (entry['what'], entry['figure'])))})"
        for entry in entries if entry["changed"]
    ]  # fmt: skip


def tally(entries: list[dict[str, Any]], letter: str = "C") -> dict[str, int]:
    """Status -> how many of the paper's claims (or errata, E; own statements, B) have it."""
    counts = dict.fromkeys((*STATUSES, NOT_SHOWN, NOT_CHECKED), 0)
    for entry in entries:
        if entry["id"].startswith(letter):
            counts[entry["status"]] += 1
    return {status: count for status, count in counts.items() if count}


def counted(status: str, count: int) -> str:
    """A status and how many claims have it.

    >>> counted("holds", 1), counted("holds with a caveat", 2), counted("misprint", 3), counted("refuted", 4)
    ('1 holds', '2 hold with a caveat', '3 misprints', '4 refuted')
    """
    plural = status.replace("holds", "hold").replace("misprint", "misprints")
    return f"{count} {status if count == 1 else plural}"


def errata(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errata by weight: amended claims of the paper, and what is listed as an erratum only."""
    return by_weight([e for e in entries if e["id"][0] == "E" or (e["id"][0] == "C" and e["corrected"])])


def by_weight(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results first, then conditions, wording and misprints; each in the order of the claims that they are about."""
    return sorted(entries, key=lambda e: (KINDS.index(e["kind"]), min([e["id"], *e["about"]])))


def as_csv(entries: list[dict[str, Any]]) -> str:
    """The ledger as CSV, one line per claim."""
    text = io.StringIO()
    columns = ["id", "place", "statement", "expected", "status", "basis", "where", "proof", "prose", "kind", "touches",
               "corrected", "affects", "stands", "figure", "says", "rests_on", "chapter", "source", "test"]  # fmt: skip
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        line = {key: " ".join(str(value).split()) for key, value in entry.items()}
        line["proof"] = "{page}#{label}".format(**entry["proof"]) if entry["proof"] else ""
        line["touches"] = "; ".join(entry["touches"] or ())
        line["rests_on"] = " ".join(entry["rests_on"])
        for key in ("source", "test"):
            line[key] = " ".join(item["name"] for item in entry[key])
        writer.writerow(line)
    return text.getvalue()
