"""Render the executed chapters with Jupyter Book; every warning is an error that names its page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from book.build.chapters import BuildError, Chapter, number_of
from book.build.environment import ROOT
from book.build.to_myst import to_myst

# "/…/src/notebooks/04-synthetic.ipynb:30002: WARNING: undefined label: 'x' [ref.ref]"
_PROBLEM = re.compile(r"^(?:(?P<where>[^\n]*?): )?(?:WARNING|ERROR|CRITICAL|SEVERE): (?P<text>.+)$", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# Jupyter Book must end with the build, or it would go on writing while the next build runs.
_JUPYTER_BOOK = """
import sys, threading
from book.build.execute import end_with_parent
threading.Thread(target=end_with_parent, daemon=True).start()
from jupyter_book.cli.main import main
main()
"""


def place(chapters: list[Chapter], executed: Path, results: Path, src: Path) -> None:
    """Put the executed chapters and their results among the Sphinx sources."""
    for chapter in chapters:
        where = f"results/{chapter.slug}"
        shutil.copytree(results / chapter.slug, src / where)
        notebook = json.loads((executed / f"{chapter.slug}.ipynb").read_text(encoding="utf-8"))
        page = to_myst(notebook, chapter.slug, where, _seeds(results / chapter.slug), number_of(chapter.slug))
        (src / chapter.path).write_text(json.dumps(page, ensure_ascii=False), encoding="utf-8")


def _seeds(folder: Path) -> dict[str, str]:
    """Figure or table -> a note on the seed it was made with."""
    found = {}
    for path in folder.glob("*.json"):
        seed = json.loads(path.read_text(encoding="utf-8"))["parameters"].get("seed")
        found[path.stem] = "" if seed is None else f"run with seed {seed}"
    return found


def configure(src: Path, *, profile: str, keep: list[Chapter] | None = None) -> None:
    """Adapt the copies of _config.yml and _toc.yml to this build.

    With `keep`, the table of contents is reduced to these chapters and the pages that are not chapters.
    """
    config = yaml.safe_load((src / "_config.yml").read_text(encoding="utf-8"))
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        config.setdefault("repository", {})["url"] = f"{server}/{repository}"
    if profile != "full":
        # A reader must not mistake the numbers of a quick build for the book's.
        config.setdefault("html", {})["announcement"] = (
            f"Built with the <b>{profile}</b> profile: with fewer repetitions than the full book. "
            "Each chapter shows the parameters it ran with."
        )
    (src / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), encoding="utf-8")
    if keep is not None:
        toc = yaml.safe_load((src / "_toc.yml").read_text(encoding="utf-8"))
        toc = _pruned(toc, {c.path.with_suffix("").as_posix() for c in keep})
        (src / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")


def _pruned(entry: Any, keep: set[str]) -> Any:
    """A part of the table of contents without the other chapters; None if nothing is left of it."""
    if isinstance(entry, list):
        return [kept for item in entry if (kept := _pruned(item, keep)) is not None]
    if not isinstance(entry, dict):
        return entry
    if (file := str(entry.get("file", ""))).startswith("notebooks/") and file not in keep:
        return None
    kept = {key: _pruned(value, keep) for key, value in entry.items()}
    return None if kept.get("chapters") == [] else kept


def render(src: Path, work: Path, log: Path, env: dict[str, str], *, strict: bool = True) -> Path:
    """Run Jupyter Book on `src`; return the folder of finished pages, inside `work`."""
    options = ["-n", "--keep-going", *(["-W"] if strict else [])]
    with subprocess.Popen(
        [sys.executable, "-c", _JUPYTER_BOOK, "build", str(src), "--path-output", str(work), *options],
        cwd=ROOT,  # so that this `book` is imported
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace",
    ) as done:  # fmt: skip
        try:
            output = _COLOUR.sub("", done.stdout.read())
        except BaseException:
            done.kill()
            raise
    log.write_text(output, encoding="utf-8")
    problems = _problems(output, src)
    if not strict and (own := [problem for problem in problems if problem.startswith("  notebooks/")]):
        print("\n".join(["warnings, which are errors in a build of the whole book:", *own]), file=sys.stderr)
    html = work / "_build" / "html"
    if done.returncode or (strict and problems) or not (html / "index.html").exists():
        shown = problems or _ERROR.findall(output)[:1] or output.strip().splitlines()[-15:]
        raise BuildError("\n".join(["the book did not render; warnings count as errors:", *shown, f"more in {log}"]))
    # Files of the themes that no page uses: templates, source maps, fonts for old browsers, icons drawn by a script.
    for pattern in ("*webpack-macros.html", "**/*.map", "**/fontawesome/**/*.ttf", "scripts/fontawesome.js*"):
        for path in html.glob(f"_static/{pattern}"):
            path.unlink()
    shutil.rmtree(html / "_static" / "locales", ignore_errors=True)  # translations of the themes' own texts
    # Links from code back to its documentation, which miss their places where a name is shown under two modules.
    for path in (html / "_modules").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'<a class="viewcode-back"[^>]*>.*?</a>', "", text), encoding="utf-8")
    # Sphinx's note for incremental builds is not needed here, and differs between clones with the same pages.
    (html / ".buildinfo").unlink(missing_ok=True)
    return html


def _problems(output: str, src: Path) -> list[str]:
    """The warnings and errors of Sphinx, one line each, starting with the page."""
    found = []
    for match in _PROBLEM.finditer(output):
        where, text = (match["where"] or "").strip(), match["text"].strip()
        page, _, line = where.removeprefix(f"{src}/").partition(":")
        page = page.removeprefix(f"{src.resolve()}/") or "the book"
        if page.endswith(".ipynb") and line.isdigit():
            # myst-nb counts 10,000 lines per cell, and from 2 within a cell.
            line = f" cell {int(line) // 10000}, line {max(1, int(line) % 10000 - 1)}"
        elif line:
            line = f" line {line}"
        problem = f"  {page}{line}: {text}"
        if problem not in found:
            found.append(problem)
    return found


def offer_executed(html: Path, chapters: list[Chapter], executed: Path) -> None:
    """Let the download button give the notebook as it ran, not the copy with directives that Sphinx read."""
    for chapter in chapters:
        for copy in html.glob(f"_sources/{chapter.path.as_posix()}*"):
            shutil.copyfile(executed / f"{chapter.slug}.ipynb", copy)
