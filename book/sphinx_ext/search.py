"""Let the search of the site find figures, tables and statements by their numbers, and some pages by a question.

Sphinx searches words and titles; "Figure 9.2" and "Theorem 2" are neither. What is added here stands in its search
index as a main entry of an index does, before all hits of single words. A number of the paper's, such as "Table 1", is
an entry of its own, and so comes before ours that begin with it, "Table 1.1".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from book.reports.ledger import FILE, read_paper
from book.sphinx_ext.claims import PAGE
from book.text.words import numbered

#: What readers ask for in words that the page itself does not have in its title: label of a section -> queries.
ASKED = {
    "ch-integral": ["what is L", "L"],
    "sec-l-monte-carlo": ["Monte Carlo"],
    "ch-cite": ["cite", "how to cite"],
    "sec-scored-pairs": ["own pairs", "own scored pairs"],
    "sec-cora-functions": ["which similarity", "similarity for cora"],
    "ch-faulty": ["a crowd that errs", "wrong answers"],
    "tab-table1": ["Table 1"],
}


def spellings(name: str) -> set[str]:
    """How a reader may write a number of the paper.

    >>> sorted(spellings("Figure 2(a)")), sorted(spellings("Equation (1)"))
    (['Figure 2', 'Figure 2(a)', 'Figure 2a'], ['Equation (1)', 'Equation 1'])
    """
    return {name, re.sub("[()]", "", name), re.sub(r"\([a-z]\)$", "", name)}


@cache
def of_the_paper(src: Path) -> list[tuple[str, str, str]]:
    """Query, page (the end of its name) and anchor for what the paper numbers: our figure for one of its own, and the
    row that restates it.
    """
    rows = [row for rows in read_paper(src).values() for row in rows if row.numbered] if (src / FILE).exists() else []
    ours = [(row, *row.figure.split("#")) for row in rows if row.name.startswith("Figure") and row.figure]
    places = [*ours, *((row, PAGE, f"paper-{nodes.make_id(row.name)}") for row in rows)]
    return [(query, page, anchor) for row, page, anchor in places for query in sorted(spellings(row.name))]


def entries(env: Any, page: str) -> Iterator[tuple[str, str]]:
    """Queries that lead to this page, each with the anchor that it leads to."""
    for kind, counted in env.toc_fignumbers.get(page, {}).items():
        for anchor, number in counted.items():
            if kind in ("figure", "table"):
                yield f"{kind} {'.'.join(map(str, number))}", anchor
    for label, known in getattr(env, "proof_list", {}).items():
        if known["docname"] == page:
            numbers = env.toc_fignumbers.get(page, {}).get(known.get("countertype"), {})
            number = ".".join(map(str, numbers.get(label, ())))
            name = known.get("name") or numbered(known["realtype"], number)
            yield name.removesuffix(" of the paper").removeprefix("Companion "), label
    yield from ((query, anchor) for query, of, anchor in of_the_paper(Path(env.srcdir)) if page.endswith(of))
    labels = env.get_domain("std").anonlabels
    for label, queries in ASKED.items():
        if labels.get(label, ("",))[0] == page:
            yield from ((query, labels[label][1]) for query in queries)


def add_entries(app: Any, doctree: nodes.document, page: str) -> None:
    found = [("single", query, anchor, "main", None) for query, anchor in entries(app.env, page)]
    doctree += addnodes.index(entries=found)


def setup(app: Any) -> None:
    app.connect("doctree-resolved", add_entries)
