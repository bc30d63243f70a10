"""Let the search of the site find chapters by their subjects, and figures, tables and statements by their numbers.

Sphinx searches words and titles; "Figure 9.2" and "Theorem 2" are neither, and *cora* stands in many titles. What is
added here stands in its search index as a main entry of an index does, before all hits of single words: numbers,
questions, and each term of the glossary, which leads to the chapters that its definition names. A number of the
paper's, such as "Table 1", is an entry of its own, and so comes before ours that begin with it, "Table 1.1".

The page of search also has the order of the book, for hits of the same score, and the names of what hits lead to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from book.project import number_of
from book.reports.ledger import FILE, read_paper
from book.sphinx_ext.claims import PAGE
from book.text.words import numbered

#: What readers ask for in words that are no terms of the glossary: label of a section -> queries.
ASKED = {
    "ch-integral": ["what is L", "L", "the integral"],
    "sec-l-monte-carlo": ["Monte Carlo"],
    "ch-lower": ["lower bound"],
    "ch-counts": ["exact counts", "expected number of questions"],
    "ch-synthetic": ["synthetic data", "experiments"],
    "ch-cite": ["cite", "how to cite"],
    "sec-scored-pairs": ["own pairs", "own scored pairs"],
    "sec-cora-functions": ["which similarity", "similarity for cora"],
    "ch-faulty": ["a crowd that errs", "wrong answers"],
    "ch-stopping": ["stopping", "when to stop"],
    "ch-your-data": ["own data", "own records"],
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


@cache
def subjects(env: Any) -> dict[str, list[str]]:
    """The terms of the glossary, by the labels of the chapters and sections that their definitions name."""
    found: dict[str, list[str]] = {}
    for page in {page for page, _, _ in _terms(env)}:
        for item in env.get_doctree(page).findall(nodes.definition_list_item):
            terms = [term.astext() for term in item.findall(nodes.term)]
            for link in item.findall(addnodes.pending_xref):
                if link["reftype"] == "ref":
                    found.setdefault(link["reftarget"], []).extend(terms)
    return found


def _terms(env: Any) -> list[tuple[str, str, str]]:
    """Page, anchor and words of each term of the glossary."""
    known = env.get_domain("std").get_objects()
    return [(page, anchor, name) for name, _, kind, page, anchor, _ in known if kind == "term"]


def names(env: Any, page: str) -> Iterator[tuple[str, str]]:
    """What is numbered on this page, as links name it, each with its anchor."""
    for kind, counted in env.toc_fignumbers.get(page, {}).items():
        for anchor, number in counted.items():
            if kind in ("figure", "table"):
                yield f"{kind.title()} {'.'.join(map(str, number))}", anchor
    for label, known in getattr(env, "proof_list", {}).items():
        if known["docname"] == page:
            numbers = env.toc_fignumbers.get(page, {}).get(known.get("countertype"), {})
            number = ".".join(map(str, numbers.get(label, ())))
            yield known.get("name") or numbered(known["realtype"], number), label


def entries(env: Any, page: str) -> Iterator[tuple[str, str]]:
    """Queries that lead to this page, each with the anchor that it leads to."""
    for name, anchor in names(env, page):
        short = name.removesuffix(" of the paper").removeprefix("Companion ")
        yield from ((query, anchor) for query in dict.fromkeys((short, name)))
    yield from ((query, anchor) for query, of, anchor in of_the_paper(Path(env.srcdir)) if page.endswith(of))
    if number := number_of(page.rpartition("/")[2]):
        yield numbered("chapter", number), ""
    std = env.get_domain("std")
    for asked in (ASKED, subjects(env)):
        for label, queries in asked.items():
            if std.anonlabels.get(label, ("",))[0] == page:
                title = std.labels.get(label, ("", "", None))[2]
                anchor = "" if title == env.titles[page].astext() else std.anonlabels[label][1]
                yield from ((query, anchor) for query in queries)


def add_entries(app: Any, doctree: nodes.document, page: str) -> None:
    found = [("single", query, anchor, "main", None) for query, anchor in entries(app.env, page)]
    doctree += addnodes.index(entries=found)


def describe_hits(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the page of search what `search.js` needs: pages in their order, and names of places on them."""
    if page != "search":
        return
    env = app.env
    known: dict[str, dict[str, str]] = {
        name: {anchor: words for words, anchor in names(env, name)} for name in sorted(env.found_docs)
    }
    for name, anchor, words in _terms(env):
        known[name][anchor] = words
    for words, page_of_rows, anchor in sorted(of_the_paper(Path(env.srcdir)), key=lambda row: len(row[0])):
        if page_of_rows == PAGE and PAGE in known:
            known[PAGE][anchor] = words
    for label in (*ASKED, *subjects(env)):
        if label in (labels := env.get_domain("std").labels):
            name, anchor, words = labels[label]
            known[name].setdefault(anchor, words)
    book = {"order": in_order(env), "names": {name: found for name, found in known.items() if found}}
    context["searched"] = json.dumps(book, ensure_ascii=False).replace("<", "\\u003c")


def in_order(env: Any) -> list[str]:
    """The pages in the order of the contents: chapters and appendices, then all others."""
    found: list[str] = []

    def add(page: str) -> None:
        if page not in found:
            found.append(page)
            for below in env.toctree_includes.get(page, ()):
                add(below)

    add(env.config.root_doc)
    return sorted(found, key=lambda page: not number_of(page.rpartition("/")[2]))


def setup(app: Any) -> None:
    app.connect("doctree-resolved", add_entries)
    app.connect("html-page-context", describe_hits)
