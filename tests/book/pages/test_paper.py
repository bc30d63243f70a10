"""The page that follows the paper has all of it, in its order."""

import re

from book.project import ROOT
from book.reports.ledger import read_paper

SECTIONS = read_paper(ROOT)
ROWS = [row for rows in SECTIONS.values() for row in rows]

#: What the paper numbers. The definitions in its source are inside \remove, and are not printed.
NUMBERED = {"Theorem": 3, "Corollary": 1, "Proposition": 7, "Equation": 1, "Figure": 2, "Table": 1}


def test_every_numbered_statement_has_its_row_in_the_order_of_its_numbers():
    names = [re.match(r"(\w+) \(?(\d+)", row.name) for row in ROWS if row.numbered]
    found = {kind: [int(name[2]) for name in names if name[1] == kind] for kind in NUMBERED}
    assert {kind: list(dict.fromkeys(n)) for kind, n in found.items()} == {
        kind: list(range(1, most + 1)) for kind, most in NUMBERED.items()
    }


def test_the_page_shows_all_sections_in_order():
    page = (ROOT / "book" / "pages" / "paper.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{paper\} (.+)$", page, re.MULTILINE) == list(SECTIONS)
