"""What links say: the names and numbers of chapters, statements, equations, figures, tables, claims and works.

A label is an anchor before what it names, ``<a id="thm-name"></a>``, so that links work in every viewer; that of a
chapter stands in a comment after its title, and a figure or table has it as its name. Numbers are counted as the pages
count them, by chapter and kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pybtex.database import parse_file
from pybtex.richtext import Text

from book.project import BuildError, number_of
from book.text.chapters import Chapter

BIBLIOGRAPHY = Path("book/data/references.bib")
#: Statements of the book's own that are companions to what the paper numbers.
COMPANIONS = ("theorem", "proposition", "corollary", "lemma")
STATEMENTS = (*COMPANIONS, "definition", "remark", "example")

_ANCHOR = r'<a id="(?P<label>[\w-]+)"></a>'
#: A comment on a line of its own: it begins a block, ends it, or is the label of a chapter.
COMMENT = re.compile(r"^<!-- (.*?) -->", re.MULTILINE)
STATEMENT = re.compile(
    rf"^<!-- (?P<kind>{'|'.join(STATEMENTS)}) -->{_ANCHOR}\n+\*\*(?P<head>.+?)\.\*\*(?=\s)",
    re.MULTILINE | re.DOTALL,
)
TAG = re.compile(
    rf"^ *{_ANCHOR}\n+(?P<formula> *\$\$\n(?:(?! *\$\$$).*\n)*?) *\\tag\{{(?P<number>[^}}]*)\}}\n(?P<end> *\$\$)$",
    re.MULTILINE,
)
TITLE = re.compile(r"\A# (?P<title>.*)\n<!-- (?P<label>[\w-]+) -->$", re.MULTILINE)
HEADING = re.compile(rf"^{_ANCHOR}\n+(?P<level>#+) (?P<title>.*)$", re.MULTILINE)
_LABEL = re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>.*)$", re.MULTILINE)  # of pages that are no notebooks
# Statements of the paper keep its name: "Theorem 2 of the paper", "Worst case (the paper, introduction)".
_OURS = re.compile(rf"(?:Companion )?(?:{'|'.join(map(str.title, STATEMENTS))}) [\w?]+[.]?[\d?]*(?= \(|$)")
_OF_THE_PAPER = re.compile(r"[A-Z][^{}$*]*? of the paper\b|[A-Z][^{}$*(]*?(?= \(the paper\b)")


class Place(NamedTuple):
    """Where a label is, and what links to it say."""

    page: Path  # the file, relative to the project
    kind: str  # "chapter", "page", "section", "equation", "figure", "table", "claim", "work", or a kind of statement
    words: str  # with its number, if it has one


def numbered(kind: str, number: str) -> str:
    """What a numbered thing is called; statements that the paper also has are companions to its own.

    >>> numbered("theorem", "5.2"), numbered("definition", "2.1"), numbered("chapter", "A2")
    ('Companion Theorem 5.2', 'Definition 2.1', 'Appendix A2')
    """
    if kind == "equation":
        return f"({number})"
    if kind == "chapter":
        return f"{'Chapter' if number.isdigit() else 'Appendix'} {number}"
    return f"{'Companion ' * (kind in COMPANIONS)}{kind.title()} {number}"


def read(src: Path, executed: Mapping[Chapter, Mapping[str, Any]], claims: Mapping[str, str]) -> dict[str, Place]:
    """All labels, from the executed chapters; `claims` has the words of the badges."""
    found: dict[str, Place] = {}
    every = [*_works(src), *_pages(src)]
    for chapter, notebook in executed.items():
        every += _of_chapter(chapter, notebook, claims)
    for label, place in every:
        if label in found:
            raise BuildError(f"{place.page}: the label {label} is also in {found[label].page}")
        found[label] = place
    return found


def _of_chapter(chapter: Chapter, notebook: Mapping[str, Any], claims: Mapping[str, str]) -> Iterator[tuple]:
    counts: Counter[str] = Counter()

    def place(kind: str) -> Place:
        counts[kind] += 1
        return Place(chapter.path, kind, numbered(kind, f"{number_of(chapter.slug)}.{counts[kind]}"))

    yield chapter.path.name, Place(chapter.path, "chapter", numbered("chapter", number_of(chapter.slug)))
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if title := TITLE.match(text):
                yield title["label"], Place(chapter.path, "chapter", title["title"])
            for heading in HEADING.finditer(text):
                yield heading["label"], Place(chapter.path, "section", heading["title"])
            for statement in STATEMENT.finditer(text):
                kind, head = statement["kind"], statement["head"]
                yield statement["label"], place(kind) if ours(head) else Place(chapter.path, kind, name_of(head))
            for tag in TAG.finditer(text):
                yield tag["label"], place("equation")
        for output in cell.get("outputs", []):
            facts = output.get("metadata", {}).get("crowder", {})
            if facts.get("kind") in ("figure", "table"):
                yield facts["name"], place(facts["kind"])
            elif facts.get("kind") == "claim":
                name = facts["name"]
                yield f"claim-{name.lower()}", Place(chapter.path, "claim", claims.get(name, name))


def ours(head: str) -> str:
    """The name and number with which the head of a statement begins; empty if it is one of the paper's, and has none.

    >>> ours("Companion Theorem 5.2 (A tree)"), ours("Remark 5.1"), ours("Theorem 2 of the paper (edge ordering)")
    ('Companion Theorem 5.2', 'Remark 5.1', '')
    """
    found = _OURS.match(head)
    return found[0] if found else ""


def name_of(head: str) -> str:
    """What a statement of the paper is called, the beginning of its head.

    >>> name_of("Theorem 2 of the paper (edge ordering)"), name_of("Equation (1) of the paper")
    ('Theorem 2 of the paper', 'Equation (1) of the paper')
    >>> name_of("Without similarities (the paper, section *Lower bound*)")
    'Without similarities'
    """
    found = _OF_THE_PAPER.match(head)
    return found[0] if found else head


def _works(src: Path) -> Iterator[tuple[str, Place]]:
    """Works are cited by authors and year."""
    path = src / BIBLIOGRAPHY
    for key, entry in parse_file(str(path)).entries.items() if path.exists() else ():
        names = [str(Text.from_latex(" ".join(person.last_names))) for person in entry.persons["author"]]
        words = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        yield key, Place(BIBLIOGRAPHY, "work", f"{words}, {entry.fields['year']}")


def _pages(src: Path) -> Iterator[tuple[str, Place]]:
    for path in sorted(src.glob("book/pages/*.md")):
        text, page = path.read_text(encoding="utf-8"), path.relative_to(src)
        if title := re.search(r"^# (.*)$", text, re.MULTILINE):
            yield path.name, Place(page, "page", title[1])
        yield from ((label["label"], Place(page, "section", label["title"])) for label in _LABEL.finditer(text))
