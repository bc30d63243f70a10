"""The directive that follows the paper section by section (see `book.reports.paper`).

::

    ```{paper} Main results
    ```
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging

from book.reports.paper import Row, number, read
from book.sphinx_ext.front import figure, page_of
from book.sphinx_ext.verdicts import MarkdownDirective, badge, link

logger = logging.getLogger(__name__)


class Paper(MarkdownDirective):
    """The statements of one section."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, "book", "data", "claims.yml")
        self.env.note_dependency(path)
        rows = read(path).get(self.arguments[0])
        if rows is None:
            self.warn(f"claims.yml has no section {self.arguments[0]}")
            return []
        return [nodes.container("", *map(self.row, rows), classes=["paper"])]

    def warn(self, text: str) -> None:
        logger.warning(text, location=self.get_location())

    def row(self, row: Row) -> nodes.Node:
        entries = [self.env.crowder_ledger[name] for name in row.claims if name in self.env.crowder_ledger]
        if len(entries) < len(row.claims):
            self.warn(f"{row.name}: the ledger has not all of {', '.join(row.claims)}")
        body = nodes.container(classes=["paper-body"])
        body += self.markdown(row.says or (entries[0]["statement"] if entries else row.name))
        # What judges the statement: claims of the paper, or else errata. Other errata are on a word or a step.
        judging = [entry for entry in entries if entry["id"][0] != "E"] or entries
        body += self.marks(row, judging)
        seen = self.env.temp_data.setdefault("paper-amended", set())
        for entry in judging:
            if entry["id"] not in seen and entry["id"][0] != "E" and entry["corrected"]:
                seen.add(entry["id"])
                body += self.amendment(entry)
        if smaller := [entry for entry in entries if entry["id"][0] == "E"]:
            body += self.folded(smaller)
        box = nodes.container("", nodes.container("", *self.markdown(row.name), classes=["paper-name"]), body)
        box["classes"] = ["paper-row", *["paper-numbered"] * (number(row.name) is not None)]
        if row.figure:
            picture = figure(self.env, row.figure)
            if picture is None:
                self.warn(f"{row.name}: no chapter shows {row.figure}")
            else:
                box += nodes.container("", nodes.paragraph("", "", picture), classes=["paper-figure"])
        return self.target(box, "paper-" + nodes.make_id(row.name))

    def amendment(self, entry: dict[str, Any]) -> list[nodes.Node]:
        """How an amended claim should read, and what that affects."""
        affects = f" *Affects* {entry['affects'].rstrip('.')}." if entry["affects"] else ""
        return self.markdown(f"*Should read:* {entry['corrected'].rstrip('.')}.{affects}")

    def marks(self, row: Row, entries: list[dict[str, Any]]) -> nodes.Node:
        """Badges, which lead to the evidence, the chapter, and the entries of amended claims."""
        parts: list[nodes.Node] = []
        for entry in entries:
            parts += [badge(self.env, entry), nodes.Text(" ")]
        slug = row.chapter or (entries[0]["chapter"] if entries else "")
        if page_of(self.env, slug) is None:
            self.warn(f"{row.name}: there is no chapter {slug}")
        else:
            digits = slug.partition("-")[0].lstrip("0")
            where = "chapter" if digits.isdigit() else "appendix"
            parts += self.markdown(f"{{doc}}`{where} {digits} </{page_of(self.env, slug)}>`")[0].children
        for entry in entries:
            if entry["corrected"]:
                parts += [
                    nodes.Text(" · "),
                    link(
                        self.env,
                        f"ledger-{entry['id'].lower()}",
                        f"erratum {entry['id']}" if len(entries) > 1 else "erratum",
                    ),
                ]
        return self.line(*parts, classes="paper-marks")

    def folded(self, entries: list[dict[str, Any]]) -> list[nodes.Node]:
        """Errata on a word or a step, each with what is printed and what to read."""
        names = ", ".join(entry["id"] for entry in entries)
        lines = [
            f"- {{claim}}`{entry['id']}` *Printed:* {entry['statement'].rstrip('.')}. "
            f"*Should read:* {entry['corrected'].rstrip('.')}. *Affects* {entry['affects'].rstrip('.')}."
            for entry in entries
        ]
        title = f"{'Errata' if len(entries) > 1 else 'Erratum'} {names}"
        return self.markdown(f":::::{{dropdown}} {title}", *lines, ":::::")


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("paper", Paper)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
