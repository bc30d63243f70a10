"""Numbers in the text: each stands there, and behind it, in a comment that no viewer shows, what it is computed from.

::

    Clusters of 38<!--sizes[0]--> and 37<!--sizes[1]--> records take 716.1<!--expected:.1f--> questions.
    There are <!--from-->14 clusters of 3<!--in_words-->, and on a page or in README.md 17<!--08-synthetic#n_near-->.

What is asked for is written as in an f-string: an expression over the names of the chapter, after its last cell, and a
format. The value is the word before the comment, or the formula or code that ends there, or all since ``<!--from-->``.
The build asks the kernel, and fills in what it answers; the book's own parameters must give what the text says.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from book.project import BuildError
from book.text.chapters import Chapter

#: The pages, besides the chapters, whose numbers are checked; they say of which chapter a number is.
PAGES = ("README.md", "book/pages/*.md")
#: The tag of the cell that the build adds, and removes once it has run.
TAG = "numbers-of-the-text"

_MARK = re.compile(r"(?<=\S)<!--(?!from-->)(?P<asks>(?! )(?:(?!-->).)+)-->")
_FROM = "<!--from-->"
_ITEM = r"\n(?=\n|[-*|] |\d+[.] )"  # what begins a paragraph or an item of a list
_WORD = re.compile(r"""[*_"“‘–]*([^\s(\[|]*)\Z""")


class Number(NamedTuple):
    """One number of a text."""

    start: int  # where the value begins, and where it ends
    end: int
    asks: str
    value: str


def find(text: str) -> Iterator[Number]:
    """The numbers of a text.

    >>> text = "Of (18<!--n--> by **17<!--m:.0f-->**, $p = \\\\frac14$<!--p--> and <!--from-->3 to 4<!--d['a b']-->"
    >>> [(number.value, number.asks) for number in find(text)]
    [('18', 'n'), ('17', 'm:.0f'), ('$p = \\\\frac14$', 'p'), ('3 to 4', "d['a b']")]
    """
    last = 0
    for mark in _MARK.finditer(text):
        end = mark.start()
        opened = text.rfind(_FROM, last, end)
        if opened >= 0:
            start = opened + len(_FROM)
        elif text[end - 1] in "$`":
            start = text.rfind(text[end - 1], last, end - 1)
        else:
            start = _WORD.search(text[last:end]).start(1) + last
        if start < last or not text[start:end].strip():
            raise BuildError(f"no value before <!--{mark['asks']}-->: {sentence(text, end)}")
        row = text[text.rfind("\n", 0, end) + 1 : end]
        if "--" in mark["asks"] or ("|" in mark["asks"] and row.startswith("|")):
            raise BuildError(f"viewers would show <!--{mark['asks']}-->, for its -- or, in a table, its |")
        yield Number(start, end, mark["asks"], " ".join(text[start:end].split()))
        last = mark.end()


def plain(text: str) -> str:
    """The text without the comments of its numbers."""
    return _MARK.sub("", text).replace(_FROM, "")


def sentence(text: str, at: int) -> str:
    """The sentence around a place of a text, without comments."""
    start = max((found.end() for found in re.finditer(rf"[.?!:]\s+|{_ITEM}", text[:at])), default=0)
    end = re.search(rf"[.?!](?=\s|$)|{_ITEM}|$", text[at:])
    return " ".join(re.sub("<!--.*?-->", "", text[start : at + end.end()]).split())


def parts(asks: str) -> tuple[str, str]:
    """The expression and the format.

    >>> parts("expected:.1f"), parts("d[1:2]"), parts("'a:b' if n else m:,")
    (('expected', '.1f'), ('d[1:2]', ''), ("'a:b' if n else m", ','))
    """
    for at in (len(asks), *(found.start() for found in reversed([*re.finditer(":", asks)]))):
        try:
            ast.parse(asks[:at].strip(), mode="eval")
            return asks[:at].strip(), asks[at + 1 :]
        except (SyntaxError, ValueError):
            continue
    raise BuildError(f"<!--{asks}--> is no expression with a format")


def texts(notebook: Mapping[str, Any]) -> list[str]:
    """The Markdown cells of a notebook."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]


def on_pages(root: Path) -> dict[Path, str]:
    """The pages beside the chapters."""
    return {path: path.read_text(encoding="utf-8") for name in PAGES for path in sorted(root.glob(name))}


def asked(chapter: Chapter) -> list[str]:
    """What the text of a chapter, and what pages ask of it."""
    own = [number.asks for text in texts(chapter.notebook()) for number in find(text)]
    there = [number.asks.partition("#") for text in on_pages(chapter.root).values() for number in find(text)]
    return sorted({*own, *(asks for of, _, asks in there if of == chapter.slug)})


def asking(chapter: Chapter) -> dict[str, Any]:
    """The notebook with a cell at its end that answers what is asked (see `book.companion.results.answer`)."""
    lines = [f"    {asks!r}: (lambda: ({expression}), {form!r}),"
             for asks in asked(chapter) for expression, form in [parts(asks)]]  # fmt: skip
    source = "\n".join(["from book.companion.results import answer", "answer({", *lines, "})"])
    cell = {"cell_type": "code", "id": TAG, "metadata": {"tags": [TAG]}, "source": source, "outputs": [],
            "execution_count": None}  # fmt: skip
    notebook = chapter.notebook()
    return notebook | {"cells": [*notebook["cells"], cell]}


def fill(text: str, answers: Mapping[str, str]) -> str:
    """The text with what was computed."""
    done, last = [], 0
    for number in find(text):
        if number.asks not in answers:
            raise BuildError(f"no chapter answers <!--{number.asks}-->")
        if number.value != answers[number.asks]:
            done += [text[last : number.start], answers[number.asks]]
            last = number.end
    return "".join([*done, text[last:]])


def rewrite(path: Path, change: Callable[[str, bool], str]) -> bool:
    """Change the text of a page or of the cells of a notebook, told which are code; whether that made a difference."""
    old = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        notebook = json.loads(old)
        for cell in notebook["cells"]:
            cell["source"] = change("".join(cell["source"]), cell["cell_type"] == "code").splitlines(keepends=True)
        new = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    else:
        new = change(old, False)
    if new != old:
        path.write_text(new, encoding="utf-8")
    return new != old
