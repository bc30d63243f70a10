"""Mend the HTML of Sphinx and its themes where no setting and no template does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# Where long names of the module stand, and the points within a name at which a line may end.
_NAMES = re.compile(r'(?:<span class="pre">|<cite>|<h1>|<p class="prev-next-title">)[^<]{20,}')
_JOINT = re.compile(r"(?<=\w)([._])(?=[A-Za-z]|$)")
# What opens the pages below one in the navigation: an arrow.
_FOLD = re.compile(r'(<a class="(?:current )?reference internal" href="[^"]*">([^<]*)</a><details[^>]*><summary)(?=>)')
# Links from code back to its documentation, which miss their places where a name is shown under two modules.
_BACK = re.compile(r'<a class="viewcode-back"[^>]*>.*?</a>')


def mended(html: str) -> str:
    """The page, mended.

    >>> mended('<span class="pre">experiments.simulated_queries</span>')
    '<span class="pre">experiments.<wbr>simulated_<wbr>queries</span>'
    >>> mended('<a class="reference internal" href="api.html">API</a><details><summary>')
    '<a class="reference internal" href="api.html">API</a><details><summary aria-label="Pages of API">'
    >>> mended('<a class="current reference internal" href="#">API</a><details open="open"><summary>')[-35:]
    '<summary aria-label="Pages of API">'
    """
    html = _NAMES.sub(_parted, html)
    return _FOLD.sub(r'\1 aria-label="Pages of \2"', _BACK.sub("", html))


def _parted(found: re.Match[str]) -> str:
    done = found.string.startswith("<wbr>", found.end())  # a page that Sphinx has not written again
    return found[0] if done else _JOINT.sub(r"\1<wbr>", found[0])


def write(app: Any, error: Exception | None) -> None:
    if error is None:
        for path in Path(app.outdir).rglob("*.html"):
            path.write_text(mended(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("build-finished", write)
