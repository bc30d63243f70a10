"""The texts of the executed chapters, with what was computed and what their links lead to."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from book.text import numbers, words
from book.text.chapters import Chapter
from book.text.plain import Page
from book.text.to_myst import kind_of


class Texts:
    """The sources of chapters and pages, beside the chapters as they ran; `badges` has the words of each claim.

    `ran` has the folder of the last execution of each chapter.
    """

    def __init__(self, root: Path, ran: Mapping[Chapter, Path], badges: Mapping[str, str]) -> None:
        self.root, self.ran = root, ran
        self.executed = {
            chapter: _merged(chapter.notebook(), json.loads((at / chapter.path.name).read_text(encoding="utf-8")))
            for chapter, at in ran.items()
        }
        self.places = words.read(root, self.executed, badges)
        self.answers = {
            f"{chapter.slug}#{asks}": found
            for chapter, notebook in self.executed.items()
            for asks, found in notebook["metadata"]["numbers"].items()
        }

    def page(self, chapter: Chapter) -> Page:
        return Page(chapter.path, self.places)

    def offered(self, chapter: Chapter, site: str) -> dict[str, Any]:
        """The chapter as it ran, for readers who have it alone: it says what was computed, and links to the pages."""
        notebook, page = copy.deepcopy(self.executed[chapter]), self.page(chapter)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = page.alone(page.corrected(cell["source"]), site)
            for output in cell.get("outputs", []):
                if kind_of(output) in ("caption", "table"):
                    data = output["data"]
                    data["text/markdown"] = page.alone(page.corrected("".join(data["text/markdown"])), site)
        return notebook

    def wrong_links(self) -> Iterator[tuple[str, str, str]]:
        """Chapter, words and right words of each link, title or tag that does not say what it should."""
        for chapter in self.executed:
            page = self.page(chapter)
            for cell in chapter.notebook()["cells"]:
                for said, right in page.corrections(cell["source"], code=cell["cell_type"] == "code"):
                    yield chapter.slug, said, right

    def wrong_numbers(self, *, pages: bool = True) -> Iterator[tuple[str, str, str, str]]:
        """Where, expression and sentence, value in the text, and computed value, of each that differs."""
        for chapter, notebook in self.executed.items():
            for text in numbers.texts(chapter.notebook()):
                yield from _differing(chapter.slug, text, notebook["metadata"]["numbers"])
        for path, text in numbers.on_pages(self.root).items() if pages else ():
            yield from _differing(path.name, text, self.answers)

    def write(self) -> list[Path]:
        """Correct the sources; which files that changes."""
        paths = {self.root / chapter.path: partial(self._corrected, chapter) for chapter in self.executed}
        paths |= {path: lambda text, _: numbers.fill(text, self.answers) for path in numbers.on_pages(self.root)}
        return [path for path, change in paths.items() if numbers.rewrite(path, change)]

    def _corrected(self, chapter: Chapter, text: str, code: bool) -> str:
        filled = text if code else numbers.fill(text, self.executed[chapter]["metadata"]["numbers"])
        return self.page(chapter).corrected(filled, code=code)


def _differing(where: str, text: str, answers: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    for said, found in zip(numbers.find(text), numbers.find(numbers.fill(text, answers)), strict=True):
        if said.value != found.value:
            yield where, f"{said.asks} in “{numbers.sentence(text, said.end)}”", said.value, found.value


def _merged(source: dict[str, Any], executed: dict[str, Any]) -> dict[str, Any]:
    """The cells as they ran, with the text of the source, which may be newer, and what was computed in it."""
    ran = {cell["id"]: cell for cell in executed["cells"] if cell["cell_type"] == "code"}
    cells = []
    for cell in source["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = numbers.fill(cell["source"], executed["metadata"]["numbers"])
        cells.append(ran.get(cell["id"], cell))
        if "parameters" in cell["metadata"].get("tags", []) and "injected-parameters" in ran:
            cells.append(ran["injected-parameters"])
    return executed | {"cells": cells}
