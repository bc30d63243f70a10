"""Render the executed chapters with Jupyter Book; every warning is an error that names its page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from book.make import numbers
from book.make.chapters import BuildError, Chapter
from book.make.environment import ROOT, reference
from book.make.guard import Guard
from book.make.texts import Texts
from book.make.to_myst import to_myst

# "/…/src/notebooks/04-synthetic.ipynb:30002: WARNING: undefined label: 'x' [ref.ref]"
_PROBLEM = re.compile(r"^.*(?:WARNING|ERROR|CRITICAL|SEVERE): .+$", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_GITHUB = "https://github.com"  # unless GITHUB_SERVER_URL says otherwise

_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"

#: Files of the themes that no page uses: templates, source maps, fonts for old browsers, icons drawn by a script.
_UNUSED = ("*webpack-macros.html", "**/*.map", "**/fontawesome/**/*.ttf", "scripts/fontawesome.js*")


def place(texts: Texts, results: Path) -> None:
    """Put the executed chapters and their results, and pages with their numbers, among the Sphinx sources."""
    for chapter, notebook in texts.executed.items():
        shutil.copytree(results / chapter.slug, texts.src / "results" / chapter.slug)
        page = to_myst(notebook, texts.page(chapter))
        (texts.src / chapter.path).write_text(json.dumps(page, ensure_ascii=False), encoding="utf-8")
    for path, text in numbers.on_pages(texts.src).items():
        path.write_text(numbers.plain(numbers.fill(text, texts.answers)), encoding="utf-8")


def configure(src: Path, profile: str, edition: dict[str, str], parameters: str = "") -> None:
    """Adapt the copy of _config.yml to this build; `edition` is for the foot of each page."""
    config = yaml.safe_load((src / "_config.yml").read_text(encoding="utf-8"))
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        config["repository"]["url"] = f"{os.environ.get('GITHUB_SERVER_URL', _GITHUB)}/{repository}"
    if exactly := reference():  # links lead to what was built, however the branch moves on
        config["repository"]["branch"] = exactly
    if address := site():
        config["html"]["baseurl"] = address
    config["sphinx"]["config"]["html_context"]["edition"] = edition
    if profile not in ("full", "complete"):
        # A reader must not mistake the numbers of a quick build for the book's.
        config["html"]["announcement"] = f"<b>{profile.capitalize()} profile:</b> fewer repetitions than the full book."
    if parameters:
        config["html"]["announcement"] = (
            f"<b>{escape(parameters)}</b> instead of the book's own values, profile {profile}."
        )
    (src / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), encoding="utf-8")


def site() -> str:
    """The address that the pages will have, with a slash at its end; empty if it is not known.

    It is ``CROWDER_SITE``, or else that of GitHub Pages for the repository whose workflow this is.
    """
    given = os.environ.get("CROWDER_SITE", "")
    owner, _, name = os.environ.get("GITHUB_REPOSITORY", "").partition("/")
    if not given and name and os.environ.get("GITHUB_SERVER_URL", _GITHUB) == _GITHUB:
        host = f"{owner.lower()}.github.io"
        given = f"https://{host}/{'' if name.lower() == host else name}"
    parts = urlsplit(given)
    if given and not (parts.scheme in ("http", "https") and parts.netloc):
        raise BuildError(f"CROWDER_SITE={given}: expected an address such as https://example.org/book/")
    return given and given.rstrip("/") + "/"


def render(src: Path, work: Path, log: Path, env: dict[str, str], guard: Guard) -> Path:
    """Run Jupyter Book on `src`; return the folder of finished pages, inside `work`."""
    options = ["build", str(src), "--path-output", str(work), "-n", "-W", "--keep-going"]
    done = subprocess.Popen(
        [sys.executable, "-c", _JUPYTER_BOOK, *options], cwd=ROOT,  # so that this `book` is imported
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    )  # fmt: skip
    guard.starts(done.pid)
    output = _COLOUR.sub("", done.communicate()[0])
    guard.ends(done.pid)
    log.write_text(output, encoding="utf-8")
    problems = _problems(output, src)
    html = work / "_build" / "html"
    if done.returncode or problems or not (html / "index.html").exists():
        shown = problems or _ERROR.findall(output)[:1] or output.strip().splitlines()[-15:]
        raise BuildError("\n".join(["the book did not render; warnings count as errors:", *shown, f"more in {log}"]))
    for path in {path for pattern in _UNUSED for path in html.glob(f"_static/{pattern}")}:
        path.unlink()
    shutil.rmtree(html / "_static" / "locales", ignore_errors=True)  # translations of the themes' own texts
    # Sphinx's note for incremental builds is not needed here, and differs between clones with the same pages.
    (html / ".buildinfo").unlink(missing_ok=True)
    return html


def _problems(output: str, src: Path) -> list[str]:
    """The warnings and errors of Sphinx, each once, starting with the page."""
    lines = dict.fromkeys(line.replace(f"{src}/", "") for line in _PROBLEM.findall(output))
    # myst-nb counts 10,000 lines per cell, and from 2 within a cell.
    place = lambda found: f".ipynb cell {int(found[1]) // 10000}, line {max(1, int(found[1]) % 10000 - 1)}:"  # noqa: E731
    return [f"  {re.sub(r'[.]ipynb:([0-9]+):', place, line)}" for line in lines]


def offer_executed(html: Path, notebooks: Mapping[Chapter, dict[str, Any]], src: Path) -> None:
    """Let the download button give these notebooks, as they ran, not the copies with directives that Sphinx read.

    Where it is run alone, its first cell fetches what the links of its page lead to.
    """
    config = yaml.safe_load((src / "_config.yml").read_text(encoding="utf-8"))
    line = r"address, version = \"{url}\", \"{branch}\"".format(**config["repository"])
    for chapter, notebook in notebooks.items():
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        text = re.sub(r"address, version = .*?(?=\\n)", lambda _: line, text, count=1)
        for copy in html.glob(f"_sources/{chapter.path.as_posix()}*"):
            copy.write_text(text, encoding="utf-8")
