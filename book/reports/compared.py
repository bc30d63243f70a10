"""What a run beside the book found, compared with what the book itself finds: printed numbers and claims."""

from __future__ import annotations

from typing import Any

import pandas as pd

from book.companion.claims import NOT_CHECKED
from book.reports.ledger import status_and_basis
from book.reports.printed import in_words, regenerated, show

#: The entries of claims and of printed numbers; see `book.reports.ledger.judge` and `book.reports.printed.judge`.
Found = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def as_markdown(book: Found, run: Found) -> str:
    """A table for each group of printed numbers, and the claims that differ."""
    parts = [_table(entry, book[1]) for entry in run[1]] or ["These chapters regenerate no printed numbers."]
    return "\n\n".join([*parts, _claims(book[0], run[0])]) + "\n"


def _table(entry: dict[str, Any], book: list[dict[str, Any]]) -> str:
    """The printed numbers of one group, those of the book, and those of the run."""
    if not entry["numbers"]:
        return f"The printed numbers of {entry['group']} were not regenerated."
    known = {(other["group"], number["name"]): regenerated(number) for other in book for number in other["numbers"]}
    rows = [(number["name"], show(number["printed"]), known.get((entry["group"], number["name"]), "none"),
             regenerated(number), in_words(number)) for number in entry["numbers"]]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[entry["unit"], "printed", "in the book", "in this run", ""])
    align = ("left", "right", "right", "right", "left")
    table = frame.to_markdown(index=False, disable_numparse=True, colalign=align)
    return f"**{entry['place']}**, {entry['chapter']} ({entry['rule']})\n\n{table}"


def _claims(book: list[dict[str, Any]], run: list[dict[str, Any]]) -> str:
    """The claims of which the run finds another status or basis than the book."""
    was, now = ({entry["id"]: entry for entry in entries} for entries in (book, run))
    lines = []
    for name, entry in (was | now).items():
        before, after = (status_and_basis(found[name]) if name in found else NOT_CHECKED for found in (was, now))
        if before != after:
            seen = f" ({': '.join(filter(None, (entry['what'], entry['figure'])))})" if name in now else ""
            lines.append(f"- {name}, {entry['chapter']}: in the book {before}, in this run {after}{seen}")
    if lines:
        return "\n".join(["**Claims that differ:**", "", *lines])
    return f"No claim differs from the book ({len(now)} checked)."
