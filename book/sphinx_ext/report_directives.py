"""Sphinx directives for the reports of the build, and a role that links a figure to its code.

::

    ```{printed}            the paper's numbers beside the regenerated ones (from ``printed.json``, see `printed`)
    ```{status}             run times, versions, commit and data sets of the chapters (``status.json``, see `status`)
    ```{licences}           third-party parts of the pages (``licences.json``, see `licences`)
    ```{faults}             planted faults (from ``book/data/measured/faults.csv``, see `planted`)
    {cell}`08-synthetic#x`  a link to the cell that made a figure, on the page of the notebook's code (see `sources`)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxRole

from book.reports.licences import as_markdown as licences_as_markdown
from book.reports.planted import as_markdown as faults_as_markdown
from book.reports.planted import read as read_faults
from book.reports.printed import agreement, regenerated, show, tally
from book.reports.status import as_markdown
from book.sphinx_ext.verdicts import MarkdownDirective


class CellRole(SphinxRole):
    """{cell}`08-synthetic#show-table`"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        slug, _, cell = self.text.partition("#")
        up = "../" * self.env.docname.count("/")
        return [nodes.reference("", "code", internal=False, refuri=f"{up}source/notebooks/{slug}.html#cell-{cell}")], []


class Printed(MarkdownDirective):
    """The paper's numbers, one table per group."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.app.srcdir) / "printed.json"
        groups = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        size = sum(len(group["numbers"]) for group in groups)
        found = self.markdown(f"**{size} printed numbers**: {tally(groups)}.")
        for group in groups:
            runs = ""
            if group["runs"]:
                runs = f" Regenerated: the mean of {group['runs']} runs ± the standard deviation of one."
            chapter = f"{{doc}}`chapter </notebooks/{group['chapter']}>`"
            head = f"*{group['place']}* ({group['unit']}), regenerated in its {chapter}. Rule: {group['rule']}."
            setting = f" Regenerated with {group['setting']}, which the paper leaves open." if group["setting"] else ""
            lines = [head + setting + runs, ""]
            lines += ["| | printed | regenerated | |", "| --- | ---: | ---: | --- |"]
            for number in group["numbers"]:
                reason = f": {number['differ']}" if number["differ"] else ""
                row = (number["name"], show(number["printed"]), regenerated(number), agreement(number) + reason)
                lines.append(f"| {' | '.join(row)} |")
            found += self.markdown(*lines)
        return found


class Status(MarkdownDirective):
    """Which chapters ran, with what (from ``status.json``, see `status`)."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.app.srcdir) / "status.json"
        return self.markdown(*as_markdown(json.loads(path.read_text(encoding="utf-8")))) if path.exists() else []


class Licences(MarkdownDirective):
    """Third-party parts of the pages (from ``licences.json``, see `licences`)."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.app.srcdir) / "licences.json"
        up = "../" * self.env.docname.count("/")
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        return self.markdown(*licences_as_markdown(known, up)) if known else []


class Faults(MarkdownDirective):
    """The planted faults and what noticed them (see `planted`)."""

    def run(self) -> list[nodes.Node]:
        record = Path(self.env.app.srcdir, "book", "data", "measured", "faults.csv")
        return self.markdown(*faults_as_markdown(read_faults(record)))


def setup(app: Any) -> dict[str, bool]:
    app.add_role("cell", CellRole())
    app.add_directive("printed", Printed)
    app.add_directive("status", Status)
    app.add_directive("faults", Faults)
    app.add_directive("licences", Licences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
