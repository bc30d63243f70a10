"""The text of all pages for the page of search, which may not read other pages when it is opened from a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

SCRIPT = "searchtext.js"
_LINES = ["p", "li", "figcaption", "caption", "dt", "dd", "th", "td"]
#: Of no element, or of every statement.
_NO_PLACE = (None, "proof-content")
_NOT_READ = "script, style, pre, button, annotation, .headerlink, .claim-evidence"


def lines(page: str) -> list[list[str]]:
    """The lines of a page that a reader would recognise, each after the id of its section or statement.

    Examples
    --------
    >>> lines('<article><section id="a"><p>A whole <b>line</b>.</p><ul><li><p>An item of it.</p></li></ul></section>')
    [['a', 'A whole line.'], ['a', 'An item of it.']]
    """
    article = BeautifulSoup(page, "html.parser").find("article")
    if article is None:
        return []
    for part in article.select(_NOT_READ):
        part.decompose()
    for fraction in article.select("mfrac"):
        parts = fraction.find_all(recursive=False)
        if fraction.get("linethickness") != "0" and parts:
            parts[0].insert_after("/")
    found = []
    for element in article.find_all(lambda tag: tag.name in _LINES or "row-line" in tag.get("class", [])):
        if element.find(["p", "li"]):
            continue  # its parts are lines
        text = " ".join(element.get_text().split())
        if len(text) > (40 if element.name in ("td", "th") else 12) and "admonition-title" not in element.get(
            "class", []
        ):
            place = next((part["id"] for part in element.parents if part.get("id") not in _NO_PLACE), "")
            found.append([place, text])
    return found


def write(app: Any, exception: Exception | None) -> None:
    if exception is None:
        folder = Path(app.outdir)
        pages = {
            name: lines((folder / f"{name}.html").read_text(encoding="utf-8")) for name in sorted(app.env.found_docs)
        }
        text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
        (folder / "_static" / SCRIPT).write_text(f"const SEARCH_TEXT = {text};\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
