"""The ledger: for each claim what ``book/data/claims.yml`` declares and what its chapter found.

A claim has *changed* if its status or basis differs from the declared one, or if its chapter recorded nothing. The part
`paper` of the file has the statements of the paper in its own order (`read_paper`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from book.build.chapters import BuildError, Chapter, read_yaml
from book.companion.claims import BASES, NOT_CHECKED, NOT_SHOWN

STATUSES = ("holds", "holds with a caveat", "misprint", "slip", "refuted", "undecided")
#: Statuses that require a corrected statement.
AMENDED = ("holds with a caveat", "misprint", "slip", "refuted")
#: What kind of statement it is.
KINDS = ("result", "condition", "wording", "misprint")

FILE = "book/data/claims.yml"

#: Kinds of statements that the paper numbers.
NUMBERED = ("Theorem", "Corollary", "Proposition", "Definition", "Lemma", "Equation", "Figure", "Table")

_NO_RECORD: dict[str, Any] = {"found": NOT_CHECKED, "basis": "", "where": "", "says": "", "evidence": []}
_TEXTS = ("place", "statement", "status", "basis", "kind", "corrected", "affects", "stands", "proof", "prose")
_LISTS = ("touches", "about", "rests_on")
_ID = re.compile(r"[BCE]\d\d+")
_CHECK = re.compile(r"""\bcheck\(\s*["']([BCE]\d+)["']""")


def read_catalogue(root: Path, chapters: list[Chapter]) -> dict[str, dict[str, Any]]:
    """Claim -> its declaration, in the order of the identifiers."""
    declared, checked = read_declared(root), checked_in(chapters)
    if unknown := [name for name in checked if name not in declared]:
        raise BuildError(f"{checked[unknown[0]]}: checks {unknown[0]}, which is not in claims.yml")
    if lacking := [name for name in declared if name not in checked]:
        raise BuildError(f"claims.yml: no chapter checks {', '.join(lacking)}")
    catalogue = {name: entry | {"chapter": checked[name], "carries": []} for name, entry in declared.items()}
    for name, entry in catalogue.items():
        for other in entry["rests_on"]:
            catalogue[other]["carries"].append(name)
    return dict(sorted(catalogue.items(), key=lambda item: ("CEB".index(item[0][0]), int(item[0][1:]))))


def checked_in(chapters: list[Chapter]) -> dict[str, str]:
    """Claim -> the chapter with the call that checks it."""
    found: dict[str, str] = {}
    for chapter in chapters:
        code = "\n".join(cell["source"] for cell in chapter.notebook()["cells"] if cell["cell_type"] == "code")
        for name in dict.fromkeys(_CHECK.findall(code)):
            if name in found:
                raise BuildError(f"{chapter.slug}: checks {name}, and so does {found[name]}")
            found[name] = chapter.slug
    return found


def read_declared(root: Path) -> dict[str, dict[str, Any]]:
    """Claim -> what the file declares of it, with all its fields.

    Which fields a claim needs, whose absence a page could not show, is held by tests/book/pages/test_ledger.py.
    """
    listed = read_yaml(root, FILE).get("claims", {}) if (root / FILE).exists() else {}
    empty = dict.fromkeys(_TEXTS, "") | {key: [] for key in _LISTS}
    for name, given in listed.items():
        if not _ID.fullmatch(name):
            raise BuildError(f"claims.yml: {name}: its name is not C, E or B and two digits or more")
        for key in given.keys() - empty.keys():
            raise BuildError(f"claims.yml: {name}: {key} is unknown")
        for key, known in (("status", STATUSES), ("kind", KINDS), ("basis", (*BASES, ""))):
            if key in given and given[key] not in known:
                raise BuildError(f"claims.yml: {name}: {key} must be one of {', '.join(map(repr, known))}")
    place = {"B": "beyond the paper"}
    return {name: {"id": name} | empty | {"place": place.get(name[0], ""), "kind": "result"} | given
            for name, given in listed.items()}  # fmt: skip


class Row(NamedTuple):
    """A statement of the paper, by its printed name.

    Attributes
    ----------
    says : str
        What it says, in our words; without it, the wording of its first claim.
    claims : tuple of str
        The claims that judge it, those of the paper first, then errata.
    chapter : str
        Where the book treats it; without it, the chapter of its first claim.
    figure : str
        Ours for it, as ``08-synthetic#fig-table1``.
    """

    name: str
    says: str
    claims: tuple[str, ...]
    chapter: str
    figure: str

    @property
    def numbered(self) -> bool:
        """Whether the paper numbers it."""
        return bool(re.match(rf"({'|'.join(NUMBERED)}) \(?\d", self.name))


def read_paper(root: Path) -> dict[str, list[Row]]:
    """Section of the paper -> its statements, in order."""
    return {title: [_row(name, given) for name, given in rows.items()]
            for title, rows in read_yaml(root, FILE)["paper"].items()}  # fmt: skip


def _row(name: str, given: dict[str, Any]) -> Row:
    row = {"says": "", "claims": [], "chapter": "", "figure": ""} | given
    if unknown := row.keys() - set(Row._fields):
        raise BuildError(f"claims.yml: {name}: unknown {min(unknown)}")
    if not row["claims"] and not (row["says"] and row["chapter"]):
        raise BuildError(f"claims.yml: {name}: without claims, it needs both says and chapter")
    return Row(name, **row | {"claims": tuple(row["claims"])})


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
            belongs = f"belongs to {declared}" if declared else "has no check written out in a chapter"
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
        found = {"status": _status(declared, record["found"]), "basis": record["basis"]}
        if found["basis"] == "proved" and not declared["proof"]:
            found["basis"] = "exact"  # calculations with symbols, but no written argument that rests on them
        expected = status_and_basis(declared)
        entries.append(declared | found | {
            "expected": expected, "where": record["where"], "evidence": pieces, "says": record["says"],
            "what": shown["what"], "figure": shown["figure"], "changed": status_and_basis(found) != expected,
        })  # fmt: skip
    return entries


def _status(declared: dict[str, Any], found: str) -> str:
    """The status: how serious a counterexample is must be judged, and the data declare it."""
    if found == "counterexample":
        return declared["status"] if declared["status"] in AMENDED else NOT_SHOWN
    return found if found in (declared["status"], NOT_CHECKED) else NOT_SHOWN


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


def tally(entries: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Status -> how many of the paper's claims have it."""
    found = [entry["status"] for entry in entries if entry["id"].startswith("C")]
    counts = {status: found.count(status) for status in (*STATUSES, NOT_SHOWN, NOT_CHECKED)}
    return {status: count for status, count in counts.items() if count}


def counted(status: str, count: int) -> str:
    """A status and how many claims have it.

    >>> counted("holds", 1), counted("holds with a caveat", 2), counted("misprint", 3), counted("refuted", 4)
    ('1 holds', '2 hold with a caveat', '3 misprints', '4 refuted')
    """
    plural = status.replace("holds", "hold").replace("misprint", "misprints").replace("slip", "slips")
    return f"{count} {status if count == 1 else plural}"


def as_csv(entries: list[dict[str, Any]]) -> str:
    """The ledger as CSV, one line per claim."""
    columns = ["id", "place", "statement", "expected", "status", "basis", "where", "proof", "prose", "kind", "touches",
               "corrected", "affects", "stands", "figure", "says", "rests_on", "chapter"]  # fmt: skip
    lists = {"touches": "; ", "rests_on": " "}
    lines = [{key: " ".join((lists[key].join(entry[key]) if key in lists else entry[key]).split()) for key in columns}
             for entry in entries]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).to_csv(index=False, lineterminator="\n")
