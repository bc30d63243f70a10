"""The files that the ledger links to, as pages with numbered lines: the code that ran, readable without a network."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
body {{ margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff;
        font: 1rem/1.5 system-ui, sans-serif; }}
pre {{ overflow-x: auto; font-size: .85rem; line-height: 1.45; }}
:target + a {{ background: #fff3bf; }}
a {{ color: #0a5a9c; }}
.linenos {{ color: #666; text-decoration: none; padding-right: 1em; user-select: none; }}
{style}
@media (prefers-color-scheme: dark) {{
body {{ color: #ddd; background: #14181e; }} a {{ color: #8ac0ff; }} .linenos {{ color: #999; }}
{dark}
}}
</style>
</head>
<body>
<main>
<h1>{name}</h1>
<p>{where} <a href="{home}">Back to the book</a></p>
{code}
</main>
</body>
</html>
"""


def write(html_folder: Path, root: Path, entries: list[dict[str, Any]], commit: str | None) -> None:
    """One page a file, under ``source/``, with an anchor ``L-n`` on each line."""
    paths = sorted({item["path"] for entry in entries for item in [*entry["source"], *entry["test"]]})
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    where = "As it was when these pages were built" + (f", at commit {commit}." if commit else ".")
    for path in paths:
        # An anchor of its own on each line; the number is a link to it.
        formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=False)
        page = html_folder / "source" / f"{path}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        code = highlight((root / path).read_text(encoding="utf-8"), PythonLexer(stripnl=False), formatter)
        home = "../" * (path.count("/") + 1) + "index.html"
        page.write_text(_PAGE.format(name=html.escape(path), where=html.escape(where), home=home, code=code,
                                     style=light, dark=dark), encoding="utf-8")  # fmt: skip
