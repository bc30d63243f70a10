"""What hover.js shows of other pages: theorems, equations, figures, tables, works and claims to which they link.

These are written to ``_static/previews`` as scripts, one a page, because a page opened from a folder may not read
data. A browser loads one when a reader first points at a link to that page.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

#: What can be shown: the beginning of an element, up to its identifier.
SHOWN = re.compile(
    r'<(?P<tag>div|figure|table)\b(?=[^>]*\bclass="(?:[^"]* )?(?:proof|math|claim|citation|table|align-default)[ "])'
    r'[^>]*\bid="(?P<id>[^"]+)"[^>]*>'
)
_LINK = re.compile(r'<a\b[^>]*\bhref="([^"#:]*)#([^"]+)"')
_NOT_SHOWN = re.compile(r'<a class="headerlink".*?</a>|<script\b.*?</script>', re.DOTALL)
_SOURCE = re.compile(r'\b(src|href)="(?![#/:]|\w+:)([^"]*)"')
#: At most this many rows of a table are shown.
_ROWS = 8


def element(html: str, start: re.Match[str]) -> str:
    """The element that begins there, to its end.

    >>> html = '<div><table id="t"><tr></tr></table><div class="math" id="e"><div>1</div></div></div>'
    >>> element(html, SHOWN.search(html))
    '<div class="math" id="e"><div>1</div></div>'
    """
    depth = 0
    for found in re.finditer(rf"<(/?){start['tag']}\b", html[start.start() :]):
        depth += -1 if found[1] else 1
        if not depth:
            return html[start.start() : html.index(">", start.start() + found.end()) + 1]
    return html[start.start() :]


def snippet(html: str, page: str) -> str:
    """What is shown of an element: of a table the first rows. Addresses are made relative to the root of the site."""
    html = _NOT_SHOWN.sub("", html)
    rows = [found.end() for found in re.finditer("</tr>", html)]
    if html.startswith("<table") and len(rows) > _ROWS + 1:
        html = html[: rows[_ROWS]] + "</tbody></table>"
    folder = posixpath.dirname(page)
    return _SOURCE.sub(lambda f: f'{f[1]}="{posixpath.normpath(posixpath.join(folder, f[2]))}"', html)


def write(app: Any, error: Exception | None) -> None:
    """Write for each page the script with what the others refer to."""
    if error is not None:
        return
    out = Path(app.outdir)
    pages = {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in sorted(app.env.found_docs)}
    wanted: dict[str, set[str]] = {name: set() for name in pages}
    for name, html in pages.items():
        for href, label in _LINK.findall(html):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), href)).removesuffix(".html")
            if href and target in wanted:
                wanted[target].add(label)
    folder = out / "_static" / "previews"
    folder.mkdir(parents=True, exist_ok=True)
    for name, html in pages.items():
        found = {start["id"]: snippet(element(html, start), name)
                 for start in SHOWN.finditer(html) if start["id"] in wanted[name]}  # fmt: skip
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        path = folder / f"{name.replace('/', '--')}.js"
        path.write_text(f"crowderPreviews({json.dumps(name)},{text});\n", encoding="utf-8")


def setup(app: Any) -> None:
    app.add_js_file("hover.js", loading_method="defer")
    app.connect("build-finished", write)
