"""The ledger: for each claim what ``book/data/claims.yml`` declares and what its chapter found.

A claim has *changed* if its status or basis differs from the declared one, or if its chapter recorded nothing; but what
is declared recorded may be computed, as profile ``complete`` does. The part `paper` of the file has the statements of
the paper in its own order (`read_paper`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from book.companion.results import NOT_CHECKED, NOT_SHOWN
from book.project import BuildError, read_yaml

#: Statuses that require a corrected statement; and all, which book/pages/paper.md explains.
AMENDED = ("holds with a caveat", "misprint", "slip", "refuted")
STATUSES = ("holds", *AMENDED, "undecided")

FILE = "book/data/claims.yml"

#: Kinds of statements that the paper numbers.
NUMBERED = ("Theorem", "Corollary", "Proposition", "Definition", "Lemma", "Equation", "Figure", "Table")

_NO_RECORD: dict[str, Any] = {"chapter": "", "found": NOT_CHECKED, "basis": "", "where": "", "says": "", "evidence": []}
_TEXTS = ("place", "statement", "status", "basis", "kind", "corrected", "affects", "stands", "proof", "prose")
_LISTS = ("touches", "about", "rests_on")


def read_declared(root: Path) -> dict[str, dict[str, Any]]:
    """Claim -> what the file declares of it, with all its fields, and the claims that rest on it.

    Which fields and words there are, and which of them a claim needs, is held by tests/book/pages/test_ledger.py.
    """
    listed = read_yaml(root / FILE).get("claims", {}) if (root / FILE).exists() else {}
    empty = dict.fromkeys(_TEXTS, "") | {"kind": "result"}
    order = sorted(listed, key=lambda name: ("CEB".index(name[0]), int(name[1:])))
    known = {name: {"id": name} | empty | {key: [] for key in (*_LISTS, "carries")} | listed[name] for name in order}
    for name, entry in known.items():
        if name[0] == "B" and not entry["place"]:
            entry["place"] = "beyond the paper"
        for other in entry["rests_on"]:
            known[other]["carries"].append(name)
    return known


class Row(NamedTuple):
    """A statement of the paper, by its printed name."""

    name: str
    says: str = ""  # in our words; without it, the wording of its first claim
    claims: Sequence[str] = ()  # those that judge it: claims of the paper first, then errata
    chapter: str = ""  # where the book treats it; without it, the chapter of its first claim
    figure: str = ""  # ours for it, as "08-synthetic#fig-table1"

    @property
    def numbered(self) -> bool:
        """Whether the paper numbers it."""
        return bool(re.match(rf"({'|'.join(NUMBERED)}) \(?\d", self.name))


def read_paper(root: Path) -> dict[str, list[Row]]:
    """Section of the paper -> its statements, in order."""
    return {title: [Row(name, **given) for name, given in rows.items()]
            for title, rows in read_yaml(root / FILE)["paper"].items()}  # fmt: skip


def read_records(folders: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Claim -> what its chapter recorded; each folder has the name of its chapter."""
    records: dict[str, dict[str, Any]] = {}
    for folder in folders:
        slug = folder.name
        for path in sorted((folder / "claims").glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8")) | {"chapter": slug}
            if path.stem in records:
                raise BuildError(f"{slug}: records {path.stem}, and so does {records[path.stem]['chapter']}")
            records[path.stem] = record
    return records


def judge(declared: dict[str, dict], records: dict[str, dict], *, complete: bool) -> list[dict[str, Any]]:
    """An entry for each claim that was recorded: what is declared, what was found, and whether it changed.

    If the records are `complete`, that is of all chapters, there is an entry for each claim that is declared.
    """
    if unknown := records.keys() - declared.keys():
        name = min(unknown)
        raise BuildError(f"{records[name]['chapter']}: checks {name}, which is not in claims.yml")
    entries = []
    for name, claim in declared.items():
        if name not in records and not complete:
            continue
        record = records.get(name, _NO_RECORD)
        pieces = record["evidence"]
        # Show a failed piece in preference to the first.
        failed = [piece for piece in pieces if not piece["holds"]]
        shown = (failed or pieces or [{"what": "", "figure": "no evidence was recorded"}])[0]
        found = {"status": _status(claim, record["found"]), "basis": record["basis"]}
        if found["basis"] == "proved":  # calculations with symbols, with or without a written argument around them
            found["basis"] = "exact" if not claim["proof"] else "argued" if claim["basis"] == "argued" else "proved"
        computed = claim["basis"] == "recorded" and found["basis"] in ("exact", "simulated")
        entries.append(record | claim | found | {
            "expected": status_and_basis(claim), "what": shown["what"], "figure": shown["figure"],
            "changed": found["status"] != claim["status"] or (found["basis"] != claim["basis"] and not computed),
        })  # fmt: skip
    return entries


def _status(declared: dict[str, Any], found: str) -> str:
    """The status: how serious a counterexample is must be judged, and the data declare it."""
    if found == "counterexample":
        return declared["status"] if declared["status"] in AMENDED else NOT_SHOWN
    return found if found in (declared["status"], NOT_CHECKED) else NOT_SHOWN


def sentence(entry: dict[str, Any]) -> str:
    """What the page says while the evidence is folded: what the check `says`, or the figure of a piece.

    What fails comes first. Then, for an amended claim, comes what refutes it; for any other, what carries it.

    >>> piece = {"kind": "exact", "what": "`agreement(n, 3)`", "figure": "equal: 3", "holds": True}
    >>> sentence({"evidence": [piece], "corrected": "", "says": ""})
    'Equal: 3.'
    """
    pieces = entry["evidence"]
    failed = [piece for piece in pieces if not piece["holds"]]
    if entry["says"] and not failed:
        return entry["says"]
    amended = [piece for piece in pieces if piece["kind"] == "counterexample" and entry["corrected"]]
    if not (shown := [*failed, *amended, *pieces]):
        return "No evidence was recorded."
    what, figure = shown[0]["what"], shown[0]["figure"].rstrip(".")
    if failed:
        return f"Does not hold: {': '.join(filter(None, (what, figure)))}."
    return f"{figure[:1].upper()}{figure[1:]}."


def standing(entry: dict[str, Any]) -> str:
    """The status, and for what holds the basis; the book's own statements were checked.

    >>> standing({"id": "C15", "status": "refuted", "basis": "exact"})
    'refuted'
    >>> standing({"id": "B02", "status": "holds", "basis": "exact"})
    'checked (exact)'
    """
    words = status_and_basis(entry) if entry["status"] == "holds" else entry["status"]
    return words.replace("holds", "checked", 1) if entry["id"][0] == "B" else words


def status_and_basis(entry: dict[str, Any]) -> str:
    """Status and basis as text.

    >>> status_and_basis({"status": "holds", "basis": "proved"})
    'holds (proved)'
    """
    return entry["status"] + (f" ({entry['basis']})" if entry["basis"] else "")


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
