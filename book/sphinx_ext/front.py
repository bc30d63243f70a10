"""Results of the chapters on pages that are not chapters.

::

    {found}`08-synthetic#n_near:.0f`        a number that the chapter names with `glue`, formatted
    {minutes}`notebooks/05-* notebooks/06-*`  how long these pages take to read (see `reading_time`)
    ```{shown} 08-synthetic#fig-counts      a figure of the chapter, linked to its place there
    A caption of its own.
    ```

A chapter, number or figure that does not exist is a warning, and so an error in a build of the whole book.
"""

from __future__ import annotations

import ast
import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from book.reports.same_numbers import glued
from book.sphinx_ext.verdicts import MarkdownDirective

logger = logging.getLogger(__name__)


class FoundRole(SphinxRole):
    """{found}`08-synthetic#n_near:.0f`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        place, _, form = self.text.partition(":")
        slug, _, name = place.partition("#")
        page = page_of(self.env, slug)
        numbers = {} if page is None else {name: value for name, _, value in glued(notebook(self.env, page))}
        try:
            text = format(ast.literal_eval(numbers[name]), form)
        except KeyError:
            logger.warning("chapter %s names no number %s", slug, name, location=self.get_location())
            text = "?"
        except ValueError as error:
            logger.warning("%s: %s", self.text, error, location=self.get_location())
            text = "?"
        return [nodes.inline(text, text, classes=["pasted-text"])], []


class MinutesRole(SphinxRole):
    """{minutes}`notebooks/0*`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        markup = f'<span data-minutes="{escape(self.text)}">0</span>'  # filled in when all pages are rendered
        return [nodes.raw(markup, markup, format="html")], []


class Shown(MarkdownDirective):
    """A figure of a chapter, with another caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        picture = figure(self.env, self.arguments[0])
        if picture is None:
            logger.warning("no chapter shows %s", self.arguments[0], location=self.get_location())
            return []
        box = nodes.container("", nodes.paragraph("", "", picture), classes=["shown"])
        caption = nodes.container(classes=["shown-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        box += caption
        return [box]


def page_of(env: Any, slug: str) -> str | None:
    """The page of a chapter, as ``notebooks/appendix/05a-name``."""
    pages = Path(env.srcdir).glob(f"notebooks/**/{slug}.ipynb")
    return next((path.relative_to(env.srcdir).with_suffix("").as_posix() for path in pages), None)


def notebook(env: Any, page: str) -> Path:
    """The executed notebook of a page; what depends on it is read again when it has changed."""
    path = Path(env.srcdir, f"{page}.ipynb")
    env.note_dependency(path)
    return path


def figure(env: Any, place: str) -> nodes.reference | None:
    """The figure ``08-synthetic#fig-counts`` as an image that leads to it; None if the chapter does not show it."""
    slug, _, name = place.partition("#")
    page, facts = page_of(env, slug), Path(env.srcdir, "results", slug, f"{name}.json")
    if page is None or not facts.with_suffix(".svg").is_file():
        return None
    alt = json.loads(facts.read_text(encoding="utf-8"))["alt"]
    image = nodes.image(uri=f"/results/{slug}/{name}.svg", alt=alt, classes=["drawn"])
    to = env.app.builder.get_relative_uri(env.docname, page) + f"#{name}"
    return nodes.reference("", "", image, internal=True, refuri=to)


def setup(app: Any) -> dict[str, bool]:
    app.add_role("found", FoundRole())
    app.add_role("minutes", MinutesRole())
    app.add_directive("shown", Shown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
