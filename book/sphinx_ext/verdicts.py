"""The Sphinx role and directives that show the ledger.

They read ``ledger.json``, which the build writes beside the sources once the chapters have run (see `ledger`)::

    {claim}`C15`          a badge, linked to the evidence
    ```{verdict} C15      the result in one sentence, with the evidence folded; the build inserts it where the chapter
                          checks the claim, and claims.css puts it into the margin where there is one
    ```{errata} results   the errata that are results, in full (rest: the others, a line each, which opens)
    ```{tally}            how many claims have which status

The page of the ledger itself is made by `ledger_table`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from book.companion.claims import NOT_SHOWN
from book.reports.ledger import counted, errata, sentence, status_and_basis, tally

logger = logging.getLogger(__name__)

HEADINGS = {"condition": "Conditions that are left out", "wording": "Wording", "misprint": "Slips"}
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


class ClaimRole(SphinxRole):
    """{claim}`C15`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        entry = self.env.crowder_ledger.get(self.text)
        if entry is None:
            logger.warning("no claim %s in the ledger", self.text, location=self.get_location())
            return [nodes.inline(self.text, self.text)], []
        return [badge(self.env, entry)], []


def short(place: str) -> str:
    """The beginning of a claim's place, for a column.

    >>> short("Theorem 2 (edge ordering) and its proof"), short("Experimental Observations, Table 1")
    ('Theorem 2', 'Table 1')
    """
    place = re.sub(r"^(?:Experimental Observations|Appendix), (?:the )?", "", place)
    return re.split(r"[,;:]| \((?!i)| and | to ", place)[0].strip()


class Box(nodes.General, nodes.Element):
    """The box of a claim beside its statement."""


class Fold(nodes.General, nodes.Element):
    """What is closed until a reader opens it; its first child is a `Line`."""


class Line(nodes.General, nodes.Element):
    """The line of a fold that is always there."""


class MarkdownDirective(SphinxDirective):
    """Helpers for directives that insert Markdown."""

    def markdown(self, *lines: str) -> list[nodes.Node]:
        """Nodes for lines of Markdown, with maths and roles."""
        box = nodes.container()
        self.state.nested_parse(StringList(list(lines), source="ledger"), self.content_offset, box)
        return box.children

    def inline(self, text: str) -> list[nodes.Node]:
        """The nodes of one paragraph of Markdown."""
        return [node for paragraph in self.markdown(text) for node in paragraph.children]

    def line(self, *parts: nodes.Node | str, classes: str = "") -> nodes.paragraph:
        made = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
        return nodes.paragraph("", "", *made, classes=[classes] if classes else [])

    def target(self, node: nodes.Element, name: str) -> nodes.Element:
        node["names"].append(name)
        self.state.document.note_explicit_target(node, node)
        return node

    def links(self, entry: dict[str, Any], *, chapter: bool) -> nodes.paragraph:
        """A link to the evidence in the chapter, or from there to the ledger."""
        name = entry["id"].lower()
        if chapter:
            return self.line(*[link(self.env, f"claim-{name}", "evidence")] * bool(entry["evidence"]), classes="claim-links")
        return self.line(link(self.env, f"ledger-{name}", "ledger"), classes="claim-links")

    def correction(self, entry: dict[str, Any], *, instance: bool = False) -> list[nodes.Node]:
        """What holds instead of the printed statement, what that affects, and what stands; with the first instance."""
        lines = []
        if entry["corrected"]:
            lines += [f"**What holds** ({entry['basis'] or NOT_SHOWN}): {entry['corrected']}", ""]
        if instance:
            lines += [f"**Smallest instance:** {sentence(entry)}", ""]
        for label, text in (("Affects", entry["affects"]), ("What stands", entry["stands"])):
            lines += [f"**{label}:** {text}", ""] if text else []
        return self.markdown(*lines) if lines else []


class VerdictBox(MarkdownDirective):
    """The result of one claim, where the chapter checks it: a badge, one sentence, and the rest folded."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        entry = self.env.crowder_ledger.get(self.arguments[0])
        if entry is None:
            logger.warning("no claim %s in the ledger", self.arguments[0], location=self.get_location())
            return []
        # The theme hides the list of contents where something of the class `popout` stands in its place.
        looks = ["claim", "popout", *["claim-changed"] * entry["changed"]]
        box = Box("", classes=looks, role="note", **{"aria-label": f"Evidence for {entry['id']}"})
        self.target(box, f"claim-{entry['id'].lower()}")
        mark = badge(self.env, entry, target=f"ledger-{entry['id'].lower()}")
        box += self.line(mark, " ", *self.inline(sentence(entry)), classes="claim-says")
        if brief := is_brief(entry["corrected"]):
            box += self.line(nodes.strong("", "What holds:"), " ", *self.inline(entry["corrected"]))
        if entry["changed"]:
            box += self.line(f"Expected: {entry['expected']}", classes="claim-expected")
        fold = Fold("", Line("", nodes.Text("Evidence")), classes=["claim-evidence"])
        title = "Printed" if entry["corrected"] else "Claim"
        # A preview of the claim shows this part of the fold.
        stated = nodes.container(classes=["claim-statement"])
        stated += self.line(nodes.strong("", f"{title}, "), *self.inline(entry["place"]), ": ",
                            *self.inline(entry["statement"]))  # fmt: skip
        stated += self.correction(entry | {"corrected": ""} if brief else entry)
        fold += stated
        fold += self.markdown(*basis(entry), "", *evidence(entry["evidence"]))
        fold += self.links(entry, chapter=False)
        box += fold
        return [box]


def is_brief(text: str) -> bool:
    """Whether a correction is short enough to stand beside the sentence.

    >>> is_brief("For $n \\\\ge 2k$."), is_brief("For small $n$. " * 6), is_brief("")
    (True, False, False)
    """
    return 0 < len(text) <= 60


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
    if entry["id"][0] == "B":
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


class Errata(MarkdownDirective):
    """The errata by weight: the results in full, or the rest, a line each, which opens."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        listed = errata(list(self.env.crowder_ledger.values()))
        if self.arguments[0] == "results":
            found = [self.erratum(entry) for entry in listed if entry["kind"] == "result"]
        else:
            found = []
            for kind, title in HEADINGS.items():
                alike = [entry for entry in listed if entry["kind"] == kind]
                found += [self.line(f"{title} ({len(alike)})", classes="errata-kind")] if alike else []
                found += [self.row(entry) for entry in alike]
        return [nodes.container("", *found, classes=["errata"])] if found else []

    def erratum(self, entry: dict[str, Any]) -> nodes.Node:
        box = nodes.container(classes=["claim", "erratum"])
        box += self.line(badge(self.env, entry), " ", *self.inline(entry["place"]), classes="claim-head")
        box += self.markdown(f"**Printed:** {entry['statement']}")
        box += self.correction(entry, instance=True)
        return box

    def row(self, entry: dict[str, Any]) -> nodes.Node:
        """The place and what is affected; opened, what is printed and what to read instead."""
        row = Fold("", classes=["ledger-row", "erratum-row"])
        row += Line("", nodes.inline(entry["id"], entry["id"], classes=["erratum-id"]), nodes.Text(" "),
                    nodes.inline("", "", *self.inline(f"**{short(entry['place'])}:** {entry['affects']}"),
                                 classes=["row-text"]))  # fmt: skip
        row += self.markdown(f"**Printed** ({entry['place']}): {entry['statement']}")
        row += self.correction(entry | {"affects": ""}, instance=True)
        row += self.line(badge(self.env, entry))
        return row


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


def tag(name: str, *attributes: str) -> tuple[Any, Any]:
    """How the HTML writer enters and leaves a node; those of its attributes that are named are written, too."""

    def enter(writer: Any, node: nodes.Element) -> None:
        given = {key: node[key] for key in attributes if key in node}
        writer.body.append(writer.starttag(node, name, "", **given))

    return enter, lambda writer, node: writer.body.append(f"</{name}>\n")


def setup(app: Any) -> dict[str, bool]:
    app.add_node(Box, html=tag("div", "role", "aria-label"))
    app.add_node(Fold, html=tag("details", *(f"data-{fact}" for fact in ("weight", "chapter"))))
    app.add_node(Line, html=tag("summary"))
    app.add_css_file("claims.css")
    app.add_role("claim", ClaimRole())
    app.add_directive("verdict", VerdictBox)
    app.add_directive("errata", Errata)
    app.add_directive("tally", Tally)
    app.connect("env-before-read-docs", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
