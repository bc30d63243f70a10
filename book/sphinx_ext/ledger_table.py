"""The page of the ledger: one row a claim, which opens; and the graph of which claim rests on which.

    ```{ledger-controls}   the place of tabs and filters, which ledger.js puts there
    ```{ledger} C          the rows of the claims of the paper (E: errata, B: the book's own statements)
    ```{rests-on}          the graph of the claims of the paper

Without a script every row is listed. ``#ledger-c09`` is the address of a row.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes

from book.reports.ledger import KINDS, by_weight, layers, status_and_basis
from book.sphinx_ext.verdicts import Fold, Line, MarkdownDirective, basis, css_classes, short, tag

TABS = {"C": "The paper", "E": "Errata", "B": "Our own"}
#: What the filter of the weight calls the kinds.
WEIGHTS = dict(zip(KINDS, ("result", "missing condition", "wording", "slip"), strict=True))


def chapter_name(slug: str) -> str:
    """A chapter's number and name, from its file.

    >>> chapter_name("05b-edge-proofs")
    '05b edge proofs'
    """
    number, _, words = slug.partition("-")
    return f"{number} {words.replace('-', ' ')}"


class Rows(nodes.General, nodes.Element):
    """The rows of one tab."""


class Controls(MarkdownDirective):
    """An empty place for tabs and filters; ledger.js fills it."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", '<div class="ledger-controls"></div>', format="html")]


class Ledger(MarkdownDirective):
    """The rows of all claims whose identifiers begin with a letter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        letter = self.arguments[0]
        entries = [e for e in self.env.crowder_ledger.values() if e["id"].startswith(letter)]
        rows = [self.entry(entry) for entry in (by_weight(entries) if letter == "E" else entries)]
        # The three lists are on one page, and refer to each other's rows.
        return [Rows("", *rows, classes=["ledger-list"], **{"data-tab": letter, "data-label": TABS[letter]})]

    def entry(self, entry: dict[str, Any]) -> nodes.Node:
        facts = {"data-weight": WEIGHTS[entry["kind"]], "data-chapter": chapter_name(entry["chapter"])}
        row = Fold("", classes=["ledger-row", *["claim-changed"] * entry["changed"]], **facts)
        self.target(row, f"ledger-{entry['id'].lower()}")
        # No link here: what is inside a summary opens it. Status and basis are read from the classes by ledger.js.
        shown = short(entry["place"])
        text = f"{entry['id']} {status_and_basis(entry) if entry['status'] == 'holds' else entry['status']}"
        row += Line(
            "",
            nodes.inline(text, text, classes=["verdict", *css_classes(entry)]),
            nodes.Text(" "),
            nodes.inline("", "", *self.inline(f"**{shown}.** {entry['statement']}"), classes=["row-text"]),
        )
        if shown != entry["place"]:
            row += self.markdown(f"**Place:** {entry['place']}")
        if entry["says"]:
            row += self.markdown(f"**Evidence:** {entry['says']}")
        row += self.correction(entry)
        row += self.markdown(*basis(entry))
        if entry["changed"]:
            row += self.line(f"Expected: {entry['expected']}", classes="claim-expected")
        related = []
        for key, words in (("rests_on", "rests on"), ("carries", "carries"), ("errata", "errata"), ("about", "about")):
            known = [name for name in entry[key] if name in self.env.crowder_ledger]
            for number, name in enumerate(known):
                related += [nodes.Text(", " if number else f" · {words} "), self.to_row(name)]
        links = self.links(entry, chapter=True)
        links += related
        row += links
        return row

    def to_row(self, name: str) -> nodes.Node:
        return nodes.raw("", f'<a href="#ledger-{name.lower()}">{name}</a>', format="html")


class RestsOn(MarkdownDirective):
    """The claims of the paper in columns, each to the right of those that it rests on, with lines between them."""

    #: In pixels: a node, and the distance between the corners of two.
    NODE = (152, 26)
    STEP = (178, 34)

    def run(self) -> list[nodes.Node]:
        entries = {name: entry for name, entry in self.env.crowder_ledger.items() if name.startswith("C")}
        edges = {name: [other for other in entry["rests_on"] if other in entries] for name, entry in entries.items()}
        columns = layers(edges)
        place = {name: (x, y) for x, column in enumerate(columns) for y, name in enumerate(column)}
        if not place:
            return []
        tallest = max(map(len, columns))
        width = self.STEP[0] * len(columns) - (self.STEP[0] - self.NODE[0]) + 4
        height = self.STEP[1] * tallest
        corner = {name: (2 + self.STEP[0] * x, self.STEP[1] * (y + (tallest - len(columns[x])) / 2) + 2)
                  for name, (x, y) in place.items()}  # fmt: skip
        parts = [self.edge(corner[other], corner[name]) for name in place for other in edges[name]]
        parts += [self.node(entries[name], corner[name]) for name in place]
        described = "; ".join(f"{name} rests on {', '.join(edges[name])}" for name in entries if edges[name])
        drawn = (f'<div class="rests-on" tabindex="0" role="group" aria-label="Graph of the claims: {described}.">'
                 f'<svg viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}">{"".join(parts)}</svg>'
                 "</div>")  # fmt: skip
        return [nodes.raw("", drawn, format="html")]

    def edge(self, start: tuple[float, float], end: tuple[float, float]) -> str:
        middle = self.NODE[1] / 2
        x0, y0, x1, y1 = start[0] + self.NODE[0], start[1] + middle, end[0], end[1] + middle
        bend = min((x1 - x0) / 2, 40)
        return f'<path d="M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x1 - bend:g} {y1:g} {x1:g} {y1:g}"/>'

    def node(self, entry: dict[str, Any], corner: tuple[float, float]) -> str:
        x, y = corner
        label = f"{entry['id']} {short(entry['place'])}"
        label = label if len(label) <= 20 else f"{label[:19].rstrip()}…"
        return (f'<a href="#ledger-{entry["id"].lower()}" class="{" ".join(["verdict", *css_classes(entry)])}">'
                f"<title>{escape(entry['id'])} {escape(status_and_basis(entry))}</title>"
                f'<rect x="{x:g}" y="{y:g}" width="{self.NODE[0]}" height="{self.NODE[1]}" rx="6"/>'
                f'<text x="{x + 8:g}" y="{y + 17.5:g}">{escape(label)}</text></a>')  # fmt: skip


def setup(app: Any) -> dict[str, bool]:
    app.add_node(Rows, html=tag("div", "data-tab", "data-label"))
    app.add_directive("ledger", Ledger)
    app.add_directive("ledger-controls", Controls)
    app.add_directive("rests-on", RestsOn)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_script(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "ledger-controls" in context.get("body", ""):
        app.add_js_file("ledger.js", loading_method="defer")
