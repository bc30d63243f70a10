"""The Sphinx role and directives that show the ledger.

They read ``ledger.json``, which the build writes beside the sources once the chapters have run (see `ledger`)::

    {claim}`C15`          a badge, linked to the evidence
    ```{verdict} C15      the result, with the evidence folded; the build inserts it where the chapter checks the claim
    ```{checked} 05-name  the claims that a chapter checks; the build inserts it at the chapter's end
    ```{ledger} C         all claims of the paper (E: errata, B: the book's own statements)
    ```{errata}           all errata, results first: the claims of the paper that are amended, and the others
    ```{tally}            how many claims have which status
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from book.companion.claims import NOT_SHOWN
from book.reports.ledger import by_weight, counted, errata, status_and_basis, tally

logger = logging.getLogger(__name__)

HEADINGS = {"result": "Results", "condition": "Conditions that are left out", "wording": "Wording",
            "misprint": "Slips"}  # fmt: skip
NAMES = {"C": "claims of the paper", "E": "further errata", "B": "statements of the book’s own"}


def read(app: Any) -> dict[str, dict[str, Any]]:
    """Claim -> its entry in the ledger."""
    path = Path(app.srcdir) / "ledger.json"
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {entry["id"]: entry for entry in entries}


def badge(env: Any, entry: dict[str, Any], *, target: str | None = None) -> nodes.Node:
    """Identifier and status, linked to where the claim was checked or, if it was not, to the ledger."""
    name, status = entry["id"], entry["status"]
    text = f"{name} {status_and_basis(entry) if status == 'holds' else status}"
    if target is None:
        target = f"claim-{name.lower()}" if entry["evidence"] else f"ledger-{name.lower()}"
    # The classes are on a node around the link, because Sphinx replaces the node inside it.
    return nodes.inline("", "", link(env, target, text), classes=["verdict", *css_classes(entry)])


def css_classes(entry: dict[str, Any]) -> list[str]:
    """The CSS classes of a status and its basis."""
    return [f"status-{entry['status'].replace(' ', '-')}"] + [f"basis-{entry['basis']}"] * bool(entry["basis"])


def link(env: Any, target: str, text: str) -> nodes.Node:
    return addnodes.pending_xref("", nodes.inline(text, text), refdomain="std", reftype="ref", reftarget=target,
                                 refdoc=env.docname, refexplicit=True, refwarn=True)  # fmt: skip


def source_link(env: Any, item: dict[str, Any]) -> nodes.Node:
    """A link to the line on the page that the build makes of the file (see `sources`)."""
    up = "../" * env.docname.count("/")
    label = item["name"].split("::")[-1]
    return nodes.reference("", "", nodes.literal(label, label), internal=False,
                           refuri=f"{up}source/{item['path']}.html#L-{item['line']}")  # fmt: skip


class ClaimRole(SphinxRole):
    """{claim}`C15`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        entry = self.env.crowder_ledger.get(self.text)
        if entry is None:
            logger.warning("no claim %s in the ledger", self.text, location=self.get_location())
            return [nodes.inline(self.text, self.text)], []
        return [badge(self.env, entry)], []


class MarkdownDirective(SphinxDirective):
    """Helpers for directives that insert Markdown."""

    def markdown(self, *lines: str) -> list[nodes.Node]:
        """Nodes for lines of Markdown, with maths and roles."""
        box = nodes.container()
        self.state.nested_parse(StringList(list(lines), source="ledger"), self.content_offset, box)
        return box.children

    def line(self, *parts: nodes.Node | str, classes: str = "") -> nodes.paragraph:
        made = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
        return nodes.paragraph("", "", *made, classes=[classes] if classes else [])

    def head(self, mark: nodes.Node, entry: dict[str, Any]) -> nodes.paragraph:
        """The badge, then the place, which may contain maths."""
        (place,) = self.markdown(entry["place"])
        return self.line(mark, " ", *place.children, classes="claim-head")

    def target(self, node: nodes.Element, name: str) -> nodes.Element:
        node["names"].append(name)
        self.state.document.note_explicit_target(node, node)
        return node

    def links(self, entry: dict[str, Any], *, chapter: bool) -> nodes.paragraph:
        parts: list[nodes.Node | str] = []
        if chapter and entry["evidence"]:
            parts += [link(self.env, f"claim-{entry['id'].lower()}", "evidence"), " · "]
        if not chapter:
            parts += [link(self.env, f"ledger-{entry['id'].lower()}", "ledger"), " · "]
        for label, key in (("code", "source"), ("tests", "test")):
            for number, item in enumerate(entry[key]):
                parts += [", " if number else f"{label}: ", source_link(self.env, item)]
            parts += [" · "] if entry[key] else []
        return self.line(*parts[:-1], classes="claim-links")

    def correction(self, entry: dict[str, Any], *, instance: bool = False) -> list[nodes.Node]:
        """What holds instead of the printed statement, what that affects, and what stands; with the first instance."""
        lines = []
        if entry["corrected"]:
            lines += [f"**What holds** ({entry['basis'] or NOT_SHOWN}): {entry['corrected']}", ""]
        if instance:
            first = [piece for piece in entry["evidence"] if piece["kind"] == "counterexample"][:1]
            lines += [line for piece in first for line in (f"**Instance:** {piece['what']}: *{piece['figure']}*", "")]
        for label, text in (("Affects", entry["affects"]), ("What stands", entry["stands"])):
            lines += [f"**{label}:** {text}", ""] if text else []
        return self.markdown(*lines) if lines else []

    def folded(self, entry: dict[str, Any], links: nodes.Node) -> nodes.Node:
        """Basis and evidence, in a dropdown."""
        box = nodes.container(classes=["claim-evidence"])
        lines = [entry["statement"], ""] if entry["status"] == "holds" else []
        lines += [*basis(entry), ""]
        box += self.markdown(":::::{dropdown} Evidence", *lines, *evidence(entry["evidence"]), ":::::")
        box.children[0] += links
        return box


class VerdictBox(MarkdownDirective):
    """The result of one claim, where the chapter checks it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        entry = self.env.crowder_ledger.get(self.arguments[0])
        if entry is None:
            logger.warning("no claim %s in the ledger", self.arguments[0], location=self.get_location())
            return []
        box = nodes.container(classes=["claim", "claim-changed"] if entry["changed"] else ["claim"])
        self.target(box, f"claim-{entry['id'].lower()}")
        box += self.head(badge(self.env, entry, target=f"ledger-{entry['id'].lower()}"), entry)
        if entry["status"] != "holds":
            box += self.markdown(entry["statement"])
            box += self.correction(entry)
        if entry["changed"]:
            box += self.line(f"Expected: {entry['expected']}", classes="claim-expected")
        box += self.folded(entry, self.links(entry, chapter=False))
        return [box]


def basis(entry: dict[str, Any]) -> list[str]:
    """How we know: the written argument and what of it is prose only, or where something was tried."""
    lines = []
    if entry["basis"] == "proved" and entry["proof"]:
        lines.append(
            "**Proved** in {{{role}}}`{label}`. ".format(**entry["proof"]) + f"In prose only: {entry['prose']}."
        )
    elif entry["basis"] == "exact" and entry["where"]:
        lines.append(f"**Exact** at {entry['where']}.")
    return [*lines, "", *touching(entry)]


def touching(entry: dict[str, Any]) -> list[str]:
    """What of the paper a claim touches."""
    if entry["touches"] is None:
        return []
    listed = ", ".join(entry["touches"]).replace("F_g <= F_r", r"$F_g \le F_r$")
    return [f"**Touches:** {listed or 'nothing in the analysis or the experiments'}."]


def evidence(pieces: list[dict[str, Any]]) -> list[str]:
    """The evidence as a list; pieces for the printed statement come first."""
    lines = []
    for piece in sorted(pieces, key=lambda piece: piece["corrected"]):
        role = "*Instead:* " if piece["corrected"] else ""
        lines.append(f"- {role}{'' if piece['holds'] else '**Does not hold:** '}{piece['what']}: *{piece['figure']}*")
    return lines or ["No evidence was recorded."]


class Checked(MarkdownDirective):
    """The claims that one chapter checks, one line each."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        listed = nodes.bullet_list(classes=["checked"])
        for entry in self.env.crowder_ledger.values():
            if entry["chapter"] == self.arguments[0]:
                (paragraph,) = self.markdown(entry["statement"])
                line = self.line(badge(self.env, entry), " ", *paragraph.children)
                listed += nodes.list_item("", line)
        return [listed] if listed.children else []


class Ledger(MarkdownDirective):
    """All claims whose identifiers begin with a letter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found = []
        entries = [e for e in self.env.crowder_ledger.values() if e["id"].startswith(self.arguments[0])]
        for entry in by_weight(entries) if self.arguments[0] == "E" else entries:
            box = nodes.container(classes=["claim", "claim-changed"] if entry["changed"] else ["claim"])
            self.target(box, f"ledger-{entry['id'].lower()}")
            box += self.head(badge(self.env, entry), entry)
            box += self.markdown(entry["statement"])
            box += self.correction(entry)
            box += self.markdown(*basis(entry))
            if entry["changed"]:
                box += self.line(f"Expected: {entry['expected']}", classes="claim-expected")
            links = self.links(entry, chapter=True)
            for key in ("errata", "about"):
                known = [name for name in entry[key] if name in self.env.crowder_ledger]
                for number, name in enumerate(known):
                    words = ", " if number else f" · {key}: "
                    links += [nodes.Text(words), link(self.env, f"ledger-{name.lower()}", name)]
            box += links
            found.append(box)
        return found


class Errata(MarkdownDirective):
    """The errata by weight: what is printed, what holds, the smallest instance, what it affects and what stands; slips
    in one table."""

    HEAD = ("place", "printed", "read instead", "")

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        listed = errata(list(self.env.crowder_ledger.values()))
        for kind, title in HEADINGS.items():
            entries = [entry for entry in listed if entry["kind"] == kind]
            if entries:
                found.append(self.line(f"{title} ({len(entries)})", classes="errata-kind"))
                found += [self.slips(entries)] if kind == "misprint" else map(self.erratum, entries)
        return [nodes.container("", *found, classes=["errata"])] if found else []

    def erratum(self, entry: dict[str, Any]) -> nodes.Node:
        box = nodes.container(classes=["claim"])
        box += self.head(badge(self.env, entry), entry)
        box += self.markdown(f"**Printed:** {entry['statement']}")
        box += self.correction(entry, instance=True)
        box += self.markdown(*touching(entry))
        return box

    def slips(self, entries: list[dict[str, Any]]) -> nodes.Node:
        table = nodes.table(classes=["errata", "colwidths-given"])
        group = nodes.tgroup(cols=len(self.HEAD))
        group += [nodes.colspec(colwidth=width) for width in (24, 33, 33, 10)]
        group += nodes.thead("", self.row(*(self.line(title) for title in self.HEAD)))
        body = nodes.tbody()
        for entry in entries:
            target = f"claim-{entry['id'].lower()}" if entry["evidence"] else f"ledger-{entry['id'].lower()}"
            words = (self.markdown(entry[key]) for key in ("place", "statement", "corrected"))
            body += self.row(*words, self.line(link(self.env, target, entry["id"])))
        group += body
        table += group
        return table

    def row(self, *cells: nodes.Node | list[nodes.Node]) -> nodes.row:
        made = [cell if isinstance(cell, list) else [cell] for cell in cells]
        return nodes.row("", *(nodes.entry("", *cell) for cell in made))


class Tally(MarkdownDirective):
    """How many claims have which status."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        letter = self.arguments[0] if self.arguments else "C"
        entries = [entry for entry in self.env.crowder_ledger.values() if entry["id"].startswith(letter)]
        parts: list[nodes.Node | str] = [nodes.strong("", f"{len(entries)} {NAMES[letter]}"), ": "]
        for status, count in tally(entries, letter).items():
            text = counted(status, count)
            parts += [nodes.inline(text, text, classes=["verdict", f"status-{status.replace(' ', '-')}"]), " "]
        changed = [entry["id"] for entry in entries if entry["changed"]]
        if changed:
            parts += [nodes.strong("", f" Changed in this run: {', '.join(changed)}.")]
        return [self.line(*parts, classes="tally")]


def load(app: Any, env: Any, docnames: Any) -> None:
    env.crowder_ledger = read(app)


def setup(app: Any) -> dict[str, bool]:
    app.add_role("claim", ClaimRole())
    app.add_directive("verdict", VerdictBox)
    app.add_directive("checked", Checked)
    app.add_directive("ledger", Ledger)
    app.add_directive("errata", Errata)
    app.add_directive("tally", Tally)
    app.connect("env-before-read-docs", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
