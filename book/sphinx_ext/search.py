"""Let the search of the site find figures, tables and statements by their numbers, and some pages by a question.

Sphinx searches words and titles; "Figure 9.2" and "Theorem 2" are neither. What is added here stands in its search
index as a main entry of an index does, before all hits of single words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes

from book.sphinx_ext.statements import title_of

#: What readers ask for in words that the page itself does not have in its title: label of a section -> queries.
ASKED = {
    "ch-integral": ["what is L", "L"],
    "ch-cite": ["cite", "how to cite"],
    "sec-scored-pairs": ["own pairs", "own scored pairs"],
    "sec-cora-functions": ["which similarity", "similarity for cora"],
    "ch-faulty": ["a crowd that errs", "wrong answers"],
}


def entries(env: Any, page: str) -> Iterator[tuple[str, str]]:
    """Queries that lead to this page, each with the anchor that it leads to."""
    for kind, numbered in env.toc_fignumbers.get(page, {}).items():
        for anchor, number in numbered.items():
            if kind in ("figure", "table"):
                yield f"{kind} {'.'.join(map(str, number))}", anchor
    for label, known in getattr(env, "proof_list", {}).items():
        if known["docname"] == page:
            numbers = env.toc_fignumbers.get(page, {}).get(known.get("countertype"), {})
            number = ".".join(map(str, numbers.get(label, ())))
            name = known.get("name") or title_of(known["realtype"], number)
            yield name.removesuffix(" of the paper").removeprefix("Companion "), label
    labels = env.get_domain("std").anonlabels
    for label, queries in ASKED.items():
        if labels.get(label, ("",))[0] == page:
            yield from ((query, labels[label][1]) for query in queries)


def add_entries(app: Any, doctree: nodes.document, page: str) -> None:
    found = [("single", query, anchor, "main", None) for query, anchor in entries(app.env, page)]
    doctree += addnodes.index(entries=found)


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", add_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
