"""Results of the chapters, and reports of the build, on pages that are not chapters.

::

    {found}`08-synthetic#n_near:.0f`        a number that the chapter names with `glue`, formatted
    ```{shown} 08-synthetic#fig-counts      a figure of the chapter, linked to its place there
    A caption of its own.
    ```
    ```{printed}                            the paper's numbers beside ours (from ``printed.json``, see `printed`)
    ```{about} ran                          what ran (or: faults; from ``about.json``, see `about`)

A chapter, number or figure that does not exist is a warning, and so an error in a build of the whole book.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from book.reports import about
from book.reports.printed import agreement, regenerated, show, tally
from book.sphinx_ext.claims import MarkdownDirective, page_of

logger = logging.getLogger(__name__)


def glued(path: Path) -> dict[str, str]:
    """The names and values of the numbers that a chapter glues into its prose."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [
        output for cell in cells for output in cell.get("outputs", []) if "scrapbook" in output.get("metadata", {})
    ]
    return {output["metadata"]["scrapbook"]["name"]: "".join(text) for output in outputs
            if (text := output["data"].get("application/papermill.record/text/plain"))}  # fmt: skip


class FoundRole(SphinxRole):
    """{found}`08-synthetic#n_near:.0f`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        place, _, form = self.text.partition(":")
        slug, _, name = place.partition("#")
        page, text = page_of(self.env, slug), "?"
        try:
            path = Path(self.env.srcdir, f"{page}.ipynb")
            text = format(ast.literal_eval(glued(path)[name]), form)
        except (KeyError, OSError):
            logger.warning("chapter %s names no number %s", slug, name, location=self.get_location())
        except ValueError as error:
            logger.warning("%s: %s", self.text, error, location=self.get_location())
        return [nodes.inline(text, text, classes=["pasted-text"])], []


def stepper(path: Path, name: str, box: str) -> str:
    """The settings of a chapter's chart that steps through runs, for another place; empty if it has none."""
    head = '<script type="application/json" class="stepper-settings" data-figure="{}"'
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            _, found, rest = "".join(output.get("data", {}).get("text/markdown", "")).partition(head.format(name))
            if found:
                return f"{head.format(box)} data-play{rest.partition('</script>')[0]}</script>"
    return ""


class Shown(MarkdownDirective):
    """A figure of a chapter, with another caption; a chart that steps through runs plays by itself."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        slug, _, name = self.arguments[0].partition("#")
        page, known = page_of(self.env, slug), Path(self.env.srcdir, "results", slug, f"{name}.json")
        if page is None or not known.with_suffix(".svg").is_file():
            self.warn(f"no chapter shows {self.arguments[0]}")
            return []
        alt = json.loads(known.read_text(encoding="utf-8"))["alt"]
        image = nodes.image(uri=f"/results/{slug}/{name}.svg", alt=alt, classes=["drawn"])
        to = self.env.app.builder.get_relative_uri(self.env.docname, page) + f"#{name}"
        picture = nodes.reference("", "", image, internal=True, refuri=to)
        caption = nodes.container(classes=["shown-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        box = nodes.container("", nodes.paragraph("", "", picture), caption, classes=["shown"], ids=[f"shown-{name}"])
        script = stepper(Path(self.env.srcdir, f"{page}.ipynb"), name, f"shown-{name}")
        return [box, nodes.raw("", script, format="html")] if script else [box]


def read(env: Any, name: str) -> Any:
    """What the build left beside the sources; None if it is not there."""
    path = Path(env.srcdir, name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


class Printed(MarkdownDirective):
    """The paper's numbers as a table, and the rules by which they agree."""

    def run(self) -> list[nodes.Node]:
        groups = read(self.env, "printed.json") or []
        size = sum(len(group["numbers"]) for group in groups)
        lines = [f"**{size} printed numbers**: {tally(groups)}.", ""]
        lines += ["| in the paper | | printed | here | |", "| --- | --- | ---: | ---: | --- |"]
        rules: dict[str, list[str]] = {}
        for group in groups:
            place = f"{group['place']} ({group['unit']})"
            where = f"{{doc}}`{place} </{page_of(self.env, group['chapter'])}>`"
            for number in group["numbers"]:
                verdict = agreement(number) + (f": {number['differ']}" if number["differ"] else "")
                cells = (where, number["name"], show(number["printed"]), regenerated(number), verdict)
                lines.append(f"| {' | '.join(cells)} |")
                where = ""
            rule = group["rule"] + f", with {group['setting']}, which the paper leaves open" * bool(group["setting"])
            rule += f", the mean of {group['runs']} runs ± the standard deviation of one" * bool(group["runs"])
            rules.setdefault(rule, []).append(place)
        lines += ["", "Rules of agreement:", "", *(f"- {'; '.join(places)}: {rule}" for rule, places in rules.items())]
        return self.markdown(*lines) if groups else []


class About(MarkdownDirective):
    """A report on the build."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        known, made = read(self.env, "about.json"), {"ran": about.ran, "faults": about.faults}[self.arguments[0]]
        return self.markdown(*made(known)) if known else []


def foot(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Version, commit and date for the foot of the page."""
    if not hasattr(app, "crowder_edition"):
        app.crowder_edition = about.edition()
    context["edition"] = app.crowder_edition


def setup(app: Any) -> dict[str, bool]:
    app.add_role("found", FoundRole())
    for name, directive in {"shown": Shown, "printed": Printed, "about": About}.items():
        app.add_directive(name, directive)
    app.connect("html-page-context", foot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
