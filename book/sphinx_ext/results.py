"""Figures of the chapters on pages that are not chapters.

::

    ```{shown} 08-synthetic#fig-counts      a figure of the chapter, linked to its place there
    A caption of its own.
    ```

A chapter or figure that does not exist is a warning, and so an error in a build of the whole book.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from book.project import ROOT
from book.text.to_myst import chart

logger = logging.getLogger(__name__)


def drawn(notebook: dict[str, Any], name: str, page: Path) -> str:
    """What draws the chart of a figure on another page, where a run plays by itself; empty if the figure has none."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            facts, more = output.get("metadata", {}).get("crowder", {}), {"stepper": " data-play", "slider": ""}
            if facts.get("name") == name and facts["kind"] in more:
                return chart(facts, output["data"], page, f"shown-{name}", more[facts["kind"]])
    return ""


class Shown(SphinxDirective):
    """A figure of a chapter, with another caption, and its slider or its steps, if it has any."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        slug, _, name = self.arguments[0].partition("#")
        app = self.env.app
        page = app.crowder_page_of.get(slug)
        chapter = app.crowder_pages.get(page)
        folder = app.crowder.folders[chapter] if chapter else Path()
        known = folder / f"{name}.json"
        if not known.with_suffix(".svg").is_file():
            logger.warning("no chapter shows %s", self.arguments[0], location=self.get_location())
            return []
        alt = json.loads(known.read_text(encoding="utf-8"))["alt"]
        image = nodes.image(uri=f"/{folder.relative_to(ROOT).as_posix()}/{name}.svg", alt=alt, classes=["drawn"])
        to = app.builder.get_relative_uri(self.env.docname, page) + f"#{name}"
        picture = nodes.reference("", "", image, internal=True, refuri=to)
        caption = nodes.container("", *self.parse_content_to_nodes(), classes=["shown-caption"])
        box = nodes.container("", nodes.paragraph("", "", picture), caption, classes=["shown"], ids=[f"shown-{name}"])
        script = drawn(app.crowder.texts.executed[chapter], name, Path(self.env.docname))
        return [box, nodes.raw("", script, format="html")] if script else [box]


def setup(app: Any) -> None:
    app.add_directive("shown", Shown)
