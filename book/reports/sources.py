"""Pages of code: the cells behind the figures, and files to which pages link."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book.build.chapters import Chapter

_STYLE = """
body { margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff;
        font: 1rem/1.5 system-ui, sans-serif; }
pre { overflow-x: auto; font-size: .85rem; line-height: 1.45; }
a:target { background: #fff3bf; }
.cell { border-left: 3px solid #ccc; padding-left: 1rem; margin: 1rem 0; }
.cell:target { border-left-color: #d55e00; }
a { color: #0a5a9c; }
.l { color: #666; text-decoration: none; padding-right: 1em; user-select: none; }
%(style)s
@media (prefers-color-scheme: dark) {
body { color: #ddd; background: #14181e; } a { color: #8ac0ff; } .l { color: #999; } a:target { background: #4d4000; }
%(dark)s
}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<link rel="stylesheet" href="{up}source/style.css">
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


def without_plain_spans(code: str) -> str:
    """Remove the spans around names, punctuation and white space, which no style uses.

    >>> without_plain_spans('<span class="n">x</span><span class="o">=</span>')
    'x<span class="o">=</span>'
    """
    return re.sub(r'<span class="(?:n|p|w)">([^<]*)</span>', r"\1", code)


def _lighter(code: str) -> str:
    """Shorten the HTML: no plain spans, and one element for a line's number, anchor and link instead of three."""
    code = without_plain_spans(code)
    numbered = r'<a id="(L-\d+)" name="\1"></a><a href="#\1"><span class="linenos">( *\d+)</span></a>'
    return re.sub(numbered, r'<a class="l" id="\1" href="#\1">\2</a>', code)


def write(
    html_folder: Path,
    root: Path,
    copy: Path,
    chapters: list[Chapter],
    executed: Path,
    commit: str | None,
    more: Iterable[str] = (),
) -> None:
    """Write the pages under ``source/``: files with an anchor ``L-n`` on each line, notebooks with one on each cell.

    They are read from `copy` where possible, because `root` may have
    been edited since.
    """
    paths = sorted(set(more))
    styles = html_folder / "source" / "style.css"
    styles.parent.mkdir(parents=True, exist_ok=True)
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    styles.write_text(_STYLE % {"style": light, "dark": dark}, encoding="utf-8")
    where = "As it was when these pages were built" + (f", at commit {commit}." if commit else ".")
    for chapter in chapters:
        page = html_folder / "source" / "notebooks" / f"{chapter.slug}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        notebook = json.loads((executed / f"{chapter.slug}.ipynb").read_text(encoding="utf-8"))
        code = "\n".join(
            f'<div id="cell-{html.escape(cell["id"])}" class="cell">'
            + highlight("".join(cell["source"]), PythonLexer(stripnl=False), HtmlFormatter()) + "</div>"
            for cell in notebook["cells"] if cell["cell_type"] == "code"
        )  # fmt: skip
        name = f"{chapter.path.as_posix()}: the code"
        page.write_text(_PAGE.format(name=html.escape(name), where=html.escape(where), home="../../index.html",
                                     code=_lighter(code), up="../../"), encoding="utf-8")  # fmt: skip
    for path in paths:
        # Each line has an anchor, and its number links to it.
        formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=False)
        page = html_folder / "source" / f"{path}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        file = copy / path if (copy / path).exists() else root / path
        code = highlight(file.read_text(encoding="utf-8"), PythonLexer(stripnl=False), formatter)
        home = "../" * (path.count("/") + 1) + "index.html"
        page.write_text(_PAGE.format(name=html.escape(path), where=html.escape(where), home=home, code=_lighter(code),
                                     up="../" * (path.count("/") + 1)), encoding="utf-8")  # fmt: skip
