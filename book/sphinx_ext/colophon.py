"""What stands at the foot of every page: version, commit and date, and how to cite the page and the paper.

The date is that of the sources, so that two builds of one commit are equal.
"""

from __future__ import annotations

import os
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from docutils import nodes

from book.build.environment import ROOT, commit

PAPER = "mazumdar2017first"


def entry(bibliography: str, key: str) -> str:
    """One entry of a BibTeX file, as it is written there.

    Examples
    --------
    >>> entry("@book{a,\\n  title = {A},\\n}\\n\\n@book{b,\\n}\\n", "a")
    '@book{a,\\n  title = {A},\\n}'
    """
    found = re.search(rf"^@\w+{{{re.escape(key)},.*?^}}$", bibliography, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def citation(page: str, title: str, book: dict[str, str]) -> str:
    """The BibTeX entry of a page."""
    fields = {"author": f"{{{book['author']}}}", "title": title, "booktitle": book["title"], "year": book["date"][:4],
              "note": f"Version {book['version']}", "url": book["url"]}  # fmt: skip
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@incollection{{crowder-{page.rpartition('/')[2]},", *lines, "}"])


def _facts(app: Any) -> dict[str, str]:
    """What is the same on all pages."""
    project, bibliography = ROOT / "pyproject.toml", Path(app.srcdir) / "book" / "data" / "references.bib"
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] if project.exists() else "0"
    date = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC)
    return {
        "title": app.config.html_title or app.config.project, "author": app.config.author, "version": stated,
        "commit": commit() or "", "date": date.date().isoformat(),
        "url": app.config.html_theme_options.get("repository_url", ""),
        "paper": entry(bibliography.read_text(encoding="utf-8"), PAPER) if bibliography.exists() else "",
    }  # fmt: skip


def add(app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if not hasattr(app, "colophon"):
        app.colophon = _facts(app)
    context["colophon"] = app.colophon
    if page in app.env.found_docs:
        title = " ".join(app.env.titles[page].astext().split())
        context["cite"] = {"page": citation(page, title, app.colophon), "paper": app.colophon["paper"]}
        context["pdf"] = f"{page.rpartition('/')[2]}.pdf"


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
