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
from book.sphinx_ext.chapters import translated
from book.sphinx_ext.claims import page_of
from book.text.to_myst import scripts

logger = logging.getLogger(__name__)


def chart(notebook: dict[str, Any], name: str, box: str, page: Path) -> str:
    """A chapter's chart for another place, its settings and its script; empty if the figure has none.

    A chart that steps through runs plays by itself there.
    """
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            text = "".join(output.get("data", {}).get("text/markdown", ""))
            for kind, more in (("stepper", " data-play"), ("slider", "")):
                head = f'<script type="application/json" class="{kind}-settings" data-figure="{{}}"'
                _, found, rest = text.partition(head.format(name))
                if found:
                    return f"{head.format(box)}{more}{rest.partition('</script>')[0]}</script>{scripts(kind, page)}"
    return ""


class Shown(SphinxDirective):
    """A figure of a chapter, with another caption, and its slider or its steps, if it has any."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        slug, _, name = self.arguments[0].partition("#")
        page, app = page_of(self.env, slug), self.env.app
        folder = next((at for at in app.crowder.folders.values() if at.name == slug), Path())
        known = folder / f"{name}.json"
        if page is None or not known.with_suffix(".svg").is_file():
            logger.warning("no chapter shows %s", self.arguments[0], location=self.get_location())
            return []
        alt = json.loads(known.read_text(encoding="utf-8"))["alt"]
        image = nodes.image(uri=f"/{folder.relative_to(ROOT).as_posix()}/{name}.svg", alt=alt, classes=["drawn"])
        to = app.builder.get_relative_uri(self.env.docname, page) + f"#{name}"
        picture = nodes.reference("", "", image, internal=True, refuri=to)
        caption = nodes.container("", *self.parse_content_to_nodes(), classes=["shown-caption"])
        box = nodes.container("", nodes.paragraph("", "", picture), caption, classes=["shown"], ids=[f"shown-{name}"])
        drawn = chart(translated(app, page), name, f"shown-{name}", Path(self.env.docname))
        return [box, nodes.raw("", drawn, format="html")] if drawn else [box]


def setup(app: Any) -> None:
    app.add_directive("shown", Shown)
