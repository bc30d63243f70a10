"""Sphinx shows the ledger: badges beside statements, a box where a verdict was recorded, the table, the tally.

All read ``ledger.json``, which the build puts beside the sources after the chapters have run (see `ledger`)::

    {claim}`C15`          a badge, linked to the evidence
    {corrected}`E01`      the same for the corrected statement
    ```{verdict} C15      the evidence itself; the build puts it where the chapter recorded the claim
    ```{ledger} C         every claim of the paper (E: errata, B: the book's own statements)
    ```{tally}            how many claims have which verdict
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from ledger import tally
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

logger = logging.getLogger(__name__)

NAMES = {"C": "claims of the paper", "E": "errata", "B": "statements of the book’s own"}


def read(app: Any) -> dict[str, dict[str, Any]]:
    """Claim -> its entry in the ledger."""
    path = Path(app.srcdir) / "ledger.json"
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {entry["id"]: entry for entry in entries}


def badge(env: Any, entry: dict[str, Any], *, corrected: bool = False, target: str | None = None) -> nodes.Node:
    """Identifier and verdict, linked to where the verdict was recorded, or to the ledger if it was not."""
    name, verdict = entry["id"], (entry["corrected"] if corrected else entry)["verdict"]
    text = f"corrected: {verdict}" if corrected else f"{name} {verdict}"
    if target is None:
        target = f"claim-{name.lower()}" if entry["evidence"] else f"ledger-{name.lower()}"
    # The frame is around the link: Sphinx makes the link's own inner node anew.
    return nodes.inline("", "", link(env, target, text), classes=["verdict", "verdict-" + verdict.replace(" ", "-")])


def link(env: Any, target: str, text: str) -> nodes.Node:
    return addnodes.pending_xref("", nodes.inline(text, text), refdomain="std", reftype="ref", reftarget=target,
                                 refdoc=env.docname, refexplicit=True, refwarn=True)  # fmt: skip


def source_link(env: Any, item: dict[str, Any]) -> nodes.Node:
    """A link to the line, in the page of that file that the build makes (see `sources`)."""
    up = "../" * env.docname.count("/")
    label = item["name"].split("::")[-1]
    return nodes.reference("", "", nodes.literal(label, label), internal=False,
                           refuri=f"{up}source/{item['path']}.html#L-{item['line']}")  # fmt: skip


class ClaimRole(SphinxRole):
    """{claim}`C15`, {corrected}`E01`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        entry = self.env.crowder_ledger.get(self.text)
        if entry is None or (self.name == "corrected" and "corrected" not in entry):
            logger.warning("no %s %s in the ledger", self.name, self.text, location=self.get_location())
            return [nodes.inline(self.text, self.text)], []
        return [badge(self.env, entry, corrected=self.name == "corrected")], []


class Shown(SphinxDirective):
    """What the directives share."""

    has_content = False

    def words(self, *lines: str) -> list[nodes.Node]:
        """Markdown, with its maths and roles, as nodes."""
        box = nodes.container()
        self.state.nested_parse(StringList(list(lines), source="ledger"), self.content_offset, box)
        return box.children

    def line(self, *parts: nodes.Node | str, classes: str = "") -> nodes.paragraph:
        made = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
        return nodes.paragraph("", "", *made, classes=[classes] if classes else [])

    def head(self, mark: nodes.Node, entry: dict[str, Any]) -> nodes.paragraph:
        """The badge, then the place; a place may hold maths."""
        (place,) = self.words(entry["place"])
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
        for key in ("source", "test"):
            for item in entry[key]:
                parts += [f"{key} ", source_link(self.env, item), " · "]
        return self.line(*parts[:-1], classes="claim-links")

    def weight(self, entry: dict[str, Any]) -> list[nodes.Node]:
        """How much an erratum matters."""
        if "matters" not in entry:
            return []
        return self.words(f"*How much it matters ({entry['weight']}):* {entry['matters']}")

    def corrected(self, entry: dict[str, Any]) -> list[nodes.Node]:
        found = self.words(entry["corrected"]["statement"] or "(no corrected statement is in the catalogue)")
        target = f"{'claim' if entry['evidence'] else 'ledger'}-{entry['id'].lower()}"
        found[0].insert(0, [badge(self.env, entry, corrected=True, target=target), nodes.Text(" ")])
        return found


class VerdictBox(Shown):
    """The record of one claim, where the chapter made it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        entry = self.env.crowder_ledger.get(self.arguments[0])
        if entry is None:
            logger.warning("no claim %s in the ledger", self.arguments[0], location=self.get_location())
            return []
        box = nodes.container(classes=["claim", "claim-moved"] if entry["moved"] else ["claim"])
        self.target(box, f"claim-{entry['id'].lower()}")
        head = badge(self.env, entry, target=f"ledger-{entry['id'].lower()}")
        box += self.head(head, entry)
        box += self.words(entry["statement"])
        box += self.words(*evidence(entry["evidence"]))
        if "corrected" in entry:
            box += self.corrected(entry)
            box += self.words(*evidence(entry["corrected"]["evidence"]))
        box += self.weight(entry)
        if entry["moved"]:
            box += self.line(f"Expected: {expected(entry)}", classes="claim-expected")
        box += self.links(entry, chapter=False)
        return [box]


def evidence(pieces: list[dict[str, Any]]) -> list[str]:
    return [f"- {'' if p['holds'] else '**Does not hold:** '}{p['what']}: *{p['figure']}*" for p in pieces]


def expected(entry: dict[str, Any]) -> str:
    correction = entry.get("corrected", {}).get("expected")
    return entry["expected"] + (f", corrected {correction}" if correction else "")


class Ledger(Shown):
    """All claims of one kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found = []
        for entry in self.env.crowder_ledger.values():
            if not entry["id"].startswith(self.arguments[0]):
                continue
            box = nodes.container(classes=["claim", "claim-moved"] if entry["moved"] else ["claim"])
            self.target(box, f"ledger-{entry['id'].lower()}")
            box += self.head(badge(self.env, entry), entry)
            box += self.words(entry["statement"])
            box += self.words(f"{entry['what']}: *{entry['figure']}*" if entry["what"] else f"*{entry['figure']}*")
            if "corrected" in entry:
                box += self.corrected(entry)
            box += self.weight(entry)
            if entry["moved"]:
                box += self.line(f"Expected: {expected(entry)}", classes="claim-expected")
            links = self.links(entry, chapter=True)
            for name in entry.get("errata", []) + entry.get("claims", []):
                if name in self.env.crowder_ledger:
                    links += [nodes.Text(" · "), link(self.env, f"ledger-{name.lower()}", name)]
            box += links
            found.append(box)
        return found


class Tally(Shown):
    """How many claims have which verdict, then each as a badge."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        letter = self.arguments[0] if self.arguments else "C"
        entries = [entry for entry in self.env.crowder_ledger.values() if entry["id"].startswith(letter)]
        parts: list[nodes.Node | str] = [nodes.strong("", f"{len(entries)} {NAMES[letter]}"), ": "]
        for verdict, count in tally(entries, letter).items():
            text = f"{count} {verdict}"
            parts += [nodes.inline(text, text, classes=["verdict", "verdict-" + verdict.replace(" ", "-")]), " "]
        moved = [entry["id"] for entry in entries if entry["moved"]]
        if moved:
            parts += [nodes.strong("", f" In this run {', '.join(moved)} moved.")]
        return [self.line(*parts, classes="tally")]


def load(app: Any, env: Any, docnames: Any) -> None:
    env.crowder_ledger = read(app)


def setup(app: Any) -> dict[str, bool]:
    app.add_role("claim", ClaimRole())
    app.add_role("corrected", ClaimRole())
    app.add_directive("verdict", VerdictBox)
    app.add_directive("ledger", Ledger)
    app.add_directive("tally", Tally)
    app.connect("env-before-read-docs", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
