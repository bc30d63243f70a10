"""Claims on the pages: badges, the boxes beside statements, and the page that follows the paper.

They are made from the ledger, which `book.sphinx_ext.chapters` reads of the chapters as they ran::

    {claim}`C15`              a badge with the status, linked to the evidence
    ```{verdict} C15          the result in one sentence, with the evidence folded; the build inserts it where the
                              chapter checks the claim, and claims.css puts it into the margin where there is one
    ```{tally}                how many claims of the paper have which status; each count leads to their rows
    ```{paper} Main results   the statements of one section of the paper, a row each, which opens
    ```{own}                  the book's own statements, in the same form

``#claim-c09`` is the address of a box, ``#claim-row-c09`` that of the claim on the page that follows the paper, where
``?show=refuted`` selects rows (paper.js). Without a script that page lists all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from book.companion.results import NOT_SHOWN
from book.project import number_of
from book.reports.ledger import AMENDED, Row, counted, read_paper, sentence, standing, tally
from book.text.words import numbered

logger = logging.getLogger(__name__)

#: The page that follows the paper.
PAGE = "book/pages/paper"


class Tag(nodes.General, nodes.Element):
    """An element of HTML: the box of a claim, or a fold and the line of it that is always there."""


def fold(line: list[nodes.Node], looks: str, *inside: nodes.Node, classes: list[str]) -> Tag:
    """What is closed until a reader opens it, behind its line."""
    return Tag(
        "", Tag("", *line, tag="summary", classes=[looks] if looks else []), *inside, tag="details", classes=classes
    )


def dashed(text: str) -> str:
    return text.replace(" ", "-")


def look(entry: dict[str, Any]) -> list[str]:
    """The CSS classes of a status and its basis."""
    return ["verdict", f"status-{dashed(entry['status'])}"] + [f"basis-{entry['basis']}"] * bool(entry["basis"])


def coded(entry: dict[str, Any]) -> str:
    """Identifier and status, as in the rows of the page that follows the paper."""
    return f"{entry['id']} {standing(entry)}"


def mark(entry: dict[str, Any]) -> nodes.inline:
    """The same without a link."""
    return nodes.inline(coded(entry), coded(entry), classes=look(entry))


def badge(env: Any, entry: dict[str, Any], words: str, target: str = "") -> nodes.Node:
    """What became of a claim, linked to where it was checked or, if it was not, to its row."""
    name = entry["id"].lower()
    target = target or (f"claim-{name}" if entry["evidence"] else f"claim-row-{name}")
    # The classes are on a node around the link, because Sphinx replaces the node inside it.
    return nodes.inline("", "", link(env, target, words), classes=look(entry))


def link(env: Any, target: str, text: str) -> nodes.Node:
    return addnodes.pending_xref("", nodes.inline(text, text), refdomain="std", reftype="ref", reftarget=target,
                                 refdoc=env.docname, refexplicit=True)  # fmt: skip


class ClaimRole(SphinxRole):
    """{claim}`C15`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        entry = self.env.crowder_ledger.get(self.text)
        if entry is None:
            logger.warning("no claim %s in the ledger", self.text, location=self.get_location())
            return [nodes.inline(self.text, self.text)], []
        return [badge(self.env, entry, entry["status"])], []


class ClaimDirective(SphinxDirective):
    """What boxes and rows have in common: Markdown, and what they say of a claim."""

    def warn(self, text: str) -> None:
        logger.warning(text, location=self.get_location())

    def markdown(self, *lines: str) -> list[nodes.Node]:
        """Nodes for lines of Markdown, with maths and roles."""
        return self.parse_text_to_nodes("\n".join(lines), offset=self.content_offset)

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

    def labelled(self, texts: dict[str, str]) -> list[nodes.Node]:
        """A paragraph for each of these texts that is not empty, after its label."""
        return self.markdown(*(part for label, text in texts.items() if text for part in (f"**{label}:** {text}", "")))

    def amendment(self, entry: dict[str, Any]) -> list[nodes.Node]:
        """What holds instead of the printed statement, what that affects, and what stands."""
        return self.labelled({
            f"What holds ({entry['basis'] or NOT_SHOWN})": entry["corrected"], "Affects": entry["affects"],
            "What stands": entry["stands"],
        })  # fmt: skip

    def grounds(self, entry: dict[str, Any]) -> list[nodes.Node]:
        """How we know: the written argument, or where it was tried; and what of the paper it touches."""
        known = {}
        if entry["basis"] in ("proved", "argued") and entry["proof"]:
            label = entry["proof"].partition("#")[2]
            role = "prf:ref" if label.startswith(("thm-", "prop-", "cor-", "lem-")) else "ref"
            known[entry["basis"].title()] = f"in {{{role}}}`{label}`. In prose only: {entry['prose']}."
        elif entry["basis"] == "exact" and entry["where"]:
            known["Exact"] = f"at {entry['where']}."
        if entry["id"][0] != "B":
            touched = ", ".join(entry["touches"]).replace("F_g <= F_r", r"$F_g \le F_r$")
            known["Touches"] = f"{touched or 'nothing in the analysis or the experiments'}."
        return self.labelled(known)


class VerdictBox(ClaimDirective):
    """The result of one claim, where the chapter checks it: a badge, one sentence, and the rest folded."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        entry = self.env.crowder_ledger[self.arguments[0]]
        name = entry["id"].lower()
        row = f"claim-row-{name}"
        found = badge(self.env, entry, standing(entry), row)
        said = [self.line(found, " ", *self.inline(sentence(entry)), classes="claim-says")]
        if brief := 0 < len(entry["corrected"]) <= 60:
            said += self.labelled({"What holds": entry["corrected"]})
        printed = f"{'Printed' if entry['corrected'] else 'Claim'}, {entry['place']}"
        # A preview of the claim shows this part of the fold.
        stated = nodes.container("", *self.labelled({printed: entry["statement"]}), classes=["claim-statement"])
        stated += self.amendment(entry | {"corrected": ""} if brief else entry)
        evidence = fold([nodes.Text("Evidence")], "", stated, *self.grounds(entry),
                        *self.markdown(*pieces(entry["evidence"])),
                        self.line(link(self.env, row, f"{entry['id']} among all claims"), classes="claim-links"),
                        classes=["claim-evidence"])  # fmt: skip
        # The theme hides the list of contents where something of the class `popout` stands in its place.
        box = Tag("", *said, evidence, tag="div", classes=["claim", "popout"],
                  attributes={"role": "note", "aria-label": f"Evidence for {entry['id']}"})  # fmt: skip
        return [self.target(box, f"claim-{name}")]


def pieces(evidence: list[dict[str, Any]]) -> list[str]:
    """The evidence as a list; pieces for the printed statement come first."""
    lines = []
    for piece in sorted(evidence, key=lambda piece: piece["corrected"]):
        role = "*Instead:* " if piece["corrected"] else "*Also:* " if piece.get("also") else ""
        shown = ", by ".join(filter(None, (f"*{piece['figure']}*", piece["what"])))
        lines.append(f"- {role}{'' if piece['holds'] else '**Does not hold:** '}{shown}")
    return lines or ["No evidence was recorded."]


class Tally(ClaimDirective):
    """How many claims of the paper have which status; on the page that follows it also further choices."""

    def run(self) -> list[nodes.Node]:
        entries = self.env.crowder_ledger.values()
        kinds = {letter: [entry for entry in entries if entry["id"][0] == letter] for letter in "CEB"}
        parts: list[nodes.Node | str] = [nodes.strong("", f"{len(kinds['C'])} claims of the paper"), ": "]
        for status, count in tally(kinds["C"]).items():
            looks = ["verdict", f"status-{dashed(status)}"]
            parts += [nodes.inline("", "", self.rows(dashed(status), counted(status, count)), classes=looks), " "]
        found = [self.line(*parts, classes="tally")]
        if self.env.docname == PAGE:
            amended = sum(entry["status"] in AMENDED for entry in kinds["C"] + kinds["E"])
            choices = {"": "all", "amended": f"amended, with {len(kinds['E'])} further errata ({amended})",
                       "own": f"the book’s own ({len(kinds['B'])})"}  # fmt: skip
            shown = [self.rows(kind, words) for kind, words in choices.items()]
            dots = [part for each in shown for part in (nodes.Text(" · "), each)][1:]
            found += [self.line("Show ", *dots, nodes.inline(classes=["paper-shown"]), classes="paper-choices")]
        return found

    def rows(self, kind: str, words: str) -> nodes.reference:
        """A link to the rows of one kind."""
        page = "" if self.env.docname == PAGE else self.env.app.builder.get_relative_uri(self.env.docname, PAGE)
        return nodes.reference(words, words, internal=True, refuri=f"{page}?show={kind}")


class Rows(ClaimDirective):
    """Rows that open to claims."""

    def row(self, name: str, words: str, entries: list[dict[str, Any]], about: str, looks: list[str]) -> nodes.Element:
        """One row: what the paper says and the verdicts; opened, the claims, and where the book treats them."""
        marks = [part for entry in entries for part in (nodes.Text(" "), mark(entry))]
        parts = [nodes.inline("", "", *self.inline(name), classes=["row-name"]),
                 nodes.inline("", "", *self.inline(words), *marks, classes=["row-text"])]  # fmt: skip
        if not entries:  # there is nothing to open
            parts[1] += nodes.inline("", " ", *self.inline(about), classes=["row-where"])
            line = nodes.paragraph("", "", *parts, classes=["row-line"])
            return nodes.container("", line, classes=["paper-row", *looks])
        where = [self.line(*self.inline(about), classes="row-where")] * bool(about)
        blocks = [self.block(entry, name, words) for entry in entries]
        return fold(parts, "row-line", *where, *blocks, classes=["paper-row", *looks])

    def block(self, entry: dict[str, Any], row: str, words: str) -> nodes.Element:
        """What became of one claim; where it has been said in another row, a link there."""
        name = entry["id"].lower()
        box = nodes.container(classes=["paper-claim", f"was-{dashed(entry['status'])}"])
        homes = self.env.temp_data.setdefault("paper-homes", {})
        if name in homes:
            elsewhere = badge(self.env, entry, coded(entry), f"claim-row-{name}")
            box += self.line(elsewhere, *self.inline(f"is under *{homes[name]}*."))
            return box
        homes[name] = row
        place = self.inline(f"*{entry['place']}*" * (name[0] != "b"))
        box += self.line(badge(self.env, entry, coded(entry)), " ", *place)
        said = "What is wrong" if entry["corrected"] else "Evidence"
        box += self.labelled({"Printed": entry["statement"] * (entry["statement"] != words), said: sentence(entry)})
        box += self.amendment(entry)
        box += self.grounds(entry)
        related = []
        for key, verb in (("rests_on", "Rests on"), ("carries", "Carries"), ("about", "Concerns")):
            if entry[key]:
                related += [nodes.Text(f"{' ' * bool(related)}{verb} "), self.others(entry[key]), nodes.Text(".")]
        box += [self.line(*related, classes="claim-links")] * bool(related)
        return self.target(box, f"claim-row-{name}")

    def others(self, names: list[str]) -> nodes.inline:
        """Links to other claims on this page."""
        made = nodes.inline()
        for name in names:
            made += [nodes.Text(", ")] * bool(made.children)
            made += nodes.reference(name, name, internal=True, refid=f"claim-row-{name.lower()}")
        return made


class Paper(Rows):
    """The statements of one section of the paper."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        rows = read_paper(Path(self.env.srcdir)).get(self.arguments[0])
        if rows is None:
            self.warn(f"claims.yml has no section {self.arguments[0]}")
            return []
        return [self.statement(row) for row in rows]

    def statement(self, row: Row) -> nodes.Element:
        entries = [self.env.crowder_ledger[name] for name in row.claims if name in self.env.crowder_ledger]
        if len(entries) < len(row.claims):
            self.warn(f"{row.name}: the ledger has not all of {', '.join(row.claims)}")
        words = row.says or (entries[0]["statement"] if entries else "")
        slug = row.chapter or (entries[0]["chapter"] if entries else "")
        page, about = self.env.app.crowder_page_of.get(slug), ""
        if page:
            about = f"{{doc}}`{numbered('chapter', number_of(slug))} </{page}>`"
        elif slug:
            self.warn(f"there is no chapter {slug}")
        if row.figure:
            about += f" · {{numref}}`{row.figure.partition('#')[2]}`"
        looks = ["paper-numbered"] * row.numbered
        return self.target(self.row(row.name, words, entries, about, looks), "paper-" + nodes.make_id(row.name))


class Own(Rows):
    """The book's own statements."""

    def run(self) -> list[nodes.Node]:
        own = [entry for entry in self.env.crowder_ledger.values() if entry["id"][0] == "B"]
        return [
            self.row(numbered("chapter", number_of(entry["chapter"])), entry["statement"], [entry], "", ["paper-own"])
            for entry in own
        ]


def load(app: Any, env: Any, docnames: Any) -> None:
    env.crowder_ledger = {entry["id"]: entry for entry in app.crowder.entries}


def add_script(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page == PAGE:
        app.add_js_file("paper.js", loading_method="defer")


def enter(writer: Any, node: Tag) -> None:
    writer.body.append(writer.starttag(node, node["tag"], "", **node.get("attributes", {})))


def leave(writer: Any, node: Tag) -> None:
    writer.body.append(f"</{node['tag']}>\n")


def setup(app: Any) -> None:
    app.add_node(Tag, html=(enter, leave))
    app.add_css_file("claims.css")
    app.add_role("claim", ClaimRole())
    for name, directive in {"verdict": VerdictBox, "tally": Tally, "paper": Paper, "own": Own}.items():
        app.add_directive(name, directive)
    app.connect("env-before-read-docs", load)
    app.connect("html-page-context", add_script)
