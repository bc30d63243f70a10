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

from book.make.to_myst import scripts
from book.sphinx_ext.claims import page_of

logger = logging.getLogger(__name__)


def settings(path: Path, name: str, box: str) -> str:
    """The settings of a chapter's chart that steps through runs, for another place; empty if it has none."""
    head = '<script type="application/json" class="stepper-settings" data-figure="{}"'
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            _, found, rest = "".join(output.get("data", {}).get("text/markdown", "")).partition(head.format(name))
            if found:
                return f"{head.format(box)} data-play{rest.partition('</script>')[0]}</script>"
    return ""


class Shown(SphinxDirective):
    """A figure of a chapter, with another caption; a chart that steps through runs plays by itself."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        slug, _, name = self.arguments[0].partition("#")
        page, known = page_of(self.env, slug), Path(self.env.srcdir, "results", slug, f"{name}.json")
        if page is None or not known.with_suffix(".svg").is_file():
            logger.warning("no chapter shows %s", self.arguments[0], location=self.get_location())
            return []
        alt = json.loads(known.read_text(encoding="utf-8"))["alt"]
        image = nodes.image(uri=f"/results/{slug}/{name}.svg", alt=alt, classes=["drawn"])
        to = self.env.app.builder.get_relative_uri(self.env.docname, page) + f"#{name}"
        picture = nodes.reference("", "", image, internal=True, refuri=to)
        caption = nodes.container("", *self.parse_content_to_nodes(), classes=["shown-caption"])
        box = nodes.container("", nodes.paragraph("", "", picture), caption, classes=["shown"], ids=[f"shown-{name}"])
        given = settings(Path(self.env.srcdir, f"{page}.ipynb"), name, f"shown-{name}")
        chart = nodes.raw("", given + scripts("stepper", Path(self.env.docname)), format="html")
        return [box, chart] if given else [box]


def setup(app: Any) -> None:
    app.add_directive("shown", Shown)
