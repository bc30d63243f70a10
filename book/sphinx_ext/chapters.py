"""Let `jupyter-book build .` render the chapters as `python -m book.run` executed them, and pages with their numbers.

Sphinx reads each chapter as it ran, translated to MyST (`book.text.to_myst`), with its figures and data in
``_build/<profile>/<chapter>``, and pages include what is in ``_build/reports``. The environment variable PROFILE names
the execution; without it, it is that of the book.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.util import logging

from book.project import OUT, ROOT, BuildError, addresses, digest
from book.reports import about, ledger, printed
from book.reports.executed import Book
from book.sphinx_ext.site import GITHUB, site
from book.text import numbers
from book.text.to_myst import to_myst

logger = logging.getLogger(__name__)

#: What pages are made from; and the file among them with a hash of it, by which tests know whether they are current.
SOURCES = ("crowder", "tool/crowder_tool", "notebooks", "book", "_config.yml", "_toc.yml", "pyproject.toml")
DIGEST = "sources.sha256"
#: Where autosummary writes pages of the module.
API = ROOT / "book" / "pages" / "api"
#: Files of the themes that no page uses: templates, source maps, fonts for old browsers, icons drawn by a script.
UNUSED = ("*webpack-macros.html", "**/*.map", "**/fontawesome/**/*.ttf", "scripts/fontawesome.js*")


def begin(app: Any, config: Any) -> None:
    """Read what was executed; write the reports; tell the theme which edition this is."""
    profile = os.environ.get("PROFILE") or "full"
    try:
        book = app.crowder = Book(profile)
        config.html_baseurl = site() or config.html_baseurl
    except BuildError as error:
        sys.exit(f"error: {error}")
    listed = (ROOT / "book" / "pages" / "api.md").read_text(encoding="utf-8").split() if API.exists() else []
    for path in API.glob("*.rst"):  # of a name that the page of the module no longer lists
        if path.stem.partition(".")[2] not in listed:
            path.unlink()
    app.crowder_pages = {c.path.with_suffix("").as_posix(): c for c in book.chapters}
    for chapter in book.chapters:
        if changed(chapter.notebook(), book.texts.executed[chapter]):
            logger.info("%s has other code than when it was executed; `make book` executes it", chapter.slug)
    pages = app.crowder_page_of = {chapter.slug: page for page, chapter in app.crowder_pages.items()}
    folders = [*book.folders.values()]
    groups = printed.read(folders)
    reports = {
        "ledger.csv": ledger.as_csv(book.entries), "printed.csv": printed.as_csv(groups),  # for readers
        # What pages include.
        "printed.md": printed.as_markdown(groups, pages),
        "ran.md": about.ran(folders, setting=profile, measured=ROOT / "book" / "data" / "measured"),
        "recorded.md": about.recorded(folders, pages, book.entries),
    }  # fmt: skip
    (OUT / "reports").mkdir(exist_ok=True)
    for name, text in reports.items():
        path = OUT / "reports" / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # or Sphinx would read its pages again
            path.write_text(text, encoding="utf-8")
    config.html_context["edition"] = about.edition(int(os.environ.setdefault("SOURCE_DATE_EPOCH", about.date())))
    theme = config.html_theme_options
    theme["repository_url"] = addresses()["Repository"]
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        theme["repository_url"] = f"{os.environ.get('GITHUB_SERVER_URL', GITHUB)}/{repository}"
    theme["repository_branch"] = about.reference() or theme["repository_branch"]  # however the branch moves on
    if profile not in ("full", "complete"):
        # A reader must not mistake these numbers for the book's.
        _, run, name = profile.rpartition("runs/")
        quick = f"<b>{name.capitalize()} profile:</b> fewer repetitions than the full book."
        theme["announcement"] = f"<b>A run with other parameters:</b> {name}." if run else quick


def changed(source: dict[str, Any], ran: dict[str, Any]) -> bool:
    """Whether the code of a chapter is another one than that which ran."""
    before, now = (
        [(cell["id"], "".join(cell["source"])) for cell in each["cells"] if cell["cell_type"] == "code"]
        for each in (ran, source)
    )
    return [each for each in before if each[0] != "injected-parameters"] != now


def read(app: Any, page: str, content: list[str]) -> None:
    """The chapter as it ran, or the page with its numbers."""
    if chapter := app.crowder_pages.get(page):
        texts, folder = app.crowder.texts, app.crowder.folders[chapter].relative_to(ROOT).as_posix()
        made = to_myst(texts.executed[chapter], texts.page(chapter), f"/{folder}")
        content[0] = json.dumps(made, ensure_ascii=False)
    elif page.startswith("book/pages/"):
        content[0] = filled(app, content[0])


def filled(app: Any, text: str) -> str:
    return numbers.plain(numbers.fill(text, app.crowder.texts.answers))


def outdated(app: Any, env: Any, added: set, changed: set, removed: set) -> list[str]:
    """All pages if anything that was executed or judged has changed: chapters show each other's numbers."""
    texts = app.crowder.texts
    made, now = getattr(env, "crowder_made", None), [texts.answers, texts.places, app.crowder.entries, _times(app)]
    env.crowder_made = now
    return [] if made == now else sorted(env.found_docs)


def _times(app: Any) -> list[int]:
    return [(at / "ran.json").stat().st_mtime_ns for at in app.crowder.folders.values()]


def offered(notebook: dict[str, Any], address: str, version: str) -> str:
    """What a reader downloads: run alone, the notebook fetches this version of the book from this address."""
    line = rf"address, version = \"{address}\", \"{version}\""
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r"address, version = .*?(?=\\n)", lambda _: line, text, count=1)


def finish(app: Any, error: Exception | None) -> None:
    """Offer the chapters as they ran for download; remove what no page uses; say what the pages were made from."""
    if error is not None:
        return
    html, texts = Path(app.outdir), app.crowder.texts
    address, version = (app.config.html_theme_options[f"repository_{name}"] for name in ("url", "branch"))
    for page, chapter in app.crowder_pages.items():
        text = offered(texts.offered(chapter, app.config.html_baseurl or addresses()["Homepage"]), address, version)
        (html / "_sources" / f"{page}.ipynb").write_text(text, encoding="utf-8")
    for path in (html / "_sources" / "book").rglob("*.md"):
        path.write_text(filled(app, path.read_text(encoding="utf-8")), encoding="utf-8")
    about.write_licences(html)
    for path in {path for pattern in UNUSED for path in html.glob(f"_static/{pattern}")}:
        path.unlink()
    shutil.rmtree(html / "_static" / "locales", ignore_errors=True)  # translations of the themes' own texts
    # Sphinx's note for incremental builds differs between clones with the same pages.
    (html / ".buildinfo").unlink(missing_ok=True)
    (html / DIGEST).write_text(digest(*SOURCES) + "\n", encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("config-inited", begin, priority=1)
    app.connect("source-read", read)
    app.connect("env-get-outdated", outdated)
    app.connect("build-finished", finish, priority=900)
