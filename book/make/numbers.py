"""Numbers in the text: each stands there, and behind it, in a comment that no viewer shows, what it is computed from.

::

    Clusters of 38<!--sizes[0]--> and 37<!--sizes[1]--> records take 716.1<!--expected:.1f--> questions.
    There are <!--from-->14 clusters of 3<!--in_words-->, and on a page or in README.md 17<!--08-synthetic#n_near-->.
    The F1 is 0.93<!--f1:.2f ± 0.02-->, where another processor may find another digit.

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

from book.make.chapters import BuildError, Chapter

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


def parts(asks: str) -> tuple[str, str, float]:
    """The expression, the format, and how far off a computed value may be.

    >>> parts("expected:.1f"), parts("d[1:2]"), parts("'a:b' if n else m:,"), parts("f1:.2f ± 0.02")
    (('expected', '.1f', 0.0), ('d[1:2]', '', 0.0), ("'a:b' if n else m", ',', 0.0), ('f1', '.2f', 0.02))
    """
    whole, _, off = asks.partition(" ± ")
    for at in (len(whole), *(found.start() for found in reversed([*re.finditer(":", whole)]))):
        try:
            ast.parse(whole[:at].strip(), mode="eval")
            return whole[:at].strip(), whole[at + 1 :], float(off or 0)
        except (SyntaxError, ValueError):
            continue
    raise BuildError(f"<!--{asks}--> is no expression with a format and, after ' ± ', a tolerance")


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
             for asks in asked(chapter) for expression, form, _ in [parts(asks)]]  # fmt: skip
    source = "\n".join(["from book.companion.results import answer", "answer({", *lines, "})"])
    cell = {"cell_type": "code", "id": TAG, "metadata": {"tags": [TAG]}, "source": source, "outputs": [],
            "execution_count": None}  # fmt: skip
    notebook = chapter.notebook()
    return notebook | {"cells": [*notebook["cells"], cell]}


def fill(text: str, answers: Mapping[str, str], *, tolerant: bool = False) -> str:
    """The text with what was computed; for a source, which is `tolerant`, a value within its tolerance stays."""
    done, last = [], 0
    for number in find(text):
        if number.asks not in answers:
            raise BuildError(f"no chapter answers <!--{number.asks}-->")
        right = answers[number.asks]
        if number.value != right and not (tolerant and _close(number, right)):
            done += [text[last : number.start], right]
            last = number.end
    return "".join([*done, text[last:]])


def _close(number: Number, right: str) -> bool:
    off = parts(number.asks.partition("#")[2] or number.asks)[2]
    try:
        said, found = (float(re.sub("[,%]", "", value)) for value in (number.value, right))
    except ValueError:
        return False
    return abs(said - found) <= off


def differences(where: str, text: str, filled: str) -> list[str]:
    """A line for each number that the text says otherwise than it was computed."""
    return [
        f"{where}: the text says {said.value}, and {said.asks} is {found.value}, in: {sentence(text, said.end)}"
        for said, found in zip(find(text), find(filled), strict=True) if said.value != found.value
    ]  # fmt: skip


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
