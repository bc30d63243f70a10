"""How long it takes to read each chapter: words at 200 a minute, and half a minute for each displayed equation.

    python -m book.reports.reading_time [FOLDER]     the pages, by default those of _build/html

Counted is what a reader sees on the rendered page without a click: prose, captions, tables, and notes in the margin;
neither code with what it prints, except in the last column, nor anything folded.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

WORDS_PER_MINUTE = 200
MINUTES_PER_EQUATION = 0.5
#: Parts of the book whose chapters are numbered and tell the story; the appendix and the audit are looked up.
STORY = ("The paper", "Beyond it", "Use it")

#: Not seen without a click, or not by the eye at all.
FOLDED = (
    "details > :not(summary), details.hide > summary, .toggle:not(.toggle-shown) > :not(.admonition-title, summary), "
    ".toggle-hidden, .dropdown.admonition > *, .tag_hide-input > .cell_input, .tag_hide-output > .cell_output, "
    ".cell.tag_hide-cell > *, script, style, .headerlink, annotation, .visually-hidden, .prompt"
)
#: Code, and what a cell prints whose code is seen: both are read together.
CODE = ".cell_input, div.highlight, .cell:not(.tag_hide-input, .tag_remove-input) > .cell_output"
_WORD = re.compile(r"[^\W_]")


class Reading(NamedTuple):
    """What there is to read on a page."""

    words: int
    equations: int
    figures: int
    tables: int
    code: int

    @property
    def minutes(self) -> float:
        return self.words / WORDS_PER_MINUTE + self.equations * MINUTES_PER_EQUATION


def of_page(html: str) -> Reading:
    """What there is to read on a rendered page.

    >>> of_page("<article>Two, <math>x</math><details><summary>More</summary><p>Not seen.</p></details></article>")
    Reading(words=3, equations=0, figures=0, tables=0, code=0)
    """
    article = BeautifulSoup(html, "html.parser").find("article")
    if not isinstance(article, Tag):
        raise ValueError("the page has no article")
    for folded in article.select(FOLDED):
        folded.extract()
    code = sum(_words(block) for block in _remove(article, CODE))
    equations = len(_remove(article, "div.math"))
    for formula in article.select("math"):  # a formula within the line is read as one word
        formula.replace_with(" x ")
    figures, tables = (len(article.select(kind)) for kind in ("figure", "table"))
    return Reading(_words(article), equations, figures, tables, code)


def _remove(article: Tag, selector: str) -> list[Tag]:
    found = [tag for tag in article.select(selector) if not tag.find_parent(class_="cell_input")]
    return [tag.extract() for tag in found]


def _words(tag: Tag) -> int:
    return sum(bool(_WORD.search(word)) for word in tag.get_text(" ").split())


def fill(html: Path, page: str = "book/pages/index") -> None:
    """Write the minutes into the page: `<span data-minutes="notebooks/0*">` becomes those of these pages together."""
    path = html / f"{page}.html"
    if not path.is_file():  # a book with other pages
        return

    def filled(span: re.Match) -> str:
        read = [path for pattern in span[2].split() for path in html.glob(f"{pattern}.html")]
        minutes = sum(of_page(path.read_text(encoding="utf-8")).minutes for path in read)
        return f"{span[1]}{max(minutes, 1):.0f}{span[3]}"

    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'(<span data-minutes="([^"]+)">)\d*(</span>)', filled, text), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("_build/html"))
    folder = parser.parse_args().folder
    total = 0.0
    for path in sorted(folder.glob("notebooks/[0-9][0-9]-*.html")):
        found = of_page(path.read_text(encoding="utf-8"))
        total += found.minutes
        print(f"{path.stem:22} {found.minutes:5.1f} min: {found.words:5} words, {found.equations:2} equations, "
              f"{found.figures} figures, {found.tables} tables; {found.code} words of code")  # fmt: skip
    print(f"{'together':22} {total:5.1f} min")


if __name__ == "__main__":
    main()
