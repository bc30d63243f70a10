"""The texts of the executed chapters, and whether they say what was computed and what their links lead to."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from book.make import numbers, words
from book.make.chapters import Chapter
from book.make.plain import Page


class Texts:
    """The sources of chapters and pages, beside the chapters as they ran; `badges` has the words of each claim."""

    def __init__(self, src: Path, chapters: list[Chapter], executed: Path, badges: Mapping[str, str]) -> None:
        self.src = src
        self.executed = {
            chapter: _merged(
                chapter.notebook(), json.loads((executed / f"{chapter.slug}.ipynb").read_text(encoding="utf-8"))
            )
            for chapter in chapters
        }
        self.places = words.read(src, self.executed, badges)
        self.answers = {
            f"{chapter.slug}#{asks}": found
            for chapter, notebook in self.executed.items()
            for asks, found in notebook["metadata"]["numbers"].items()
        }

    def page(self, chapter: Chapter) -> Page:
        return Page(chapter.path, self.places)

    def offered(self, chapter: Chapter) -> dict[str, Any]:
        """The chapter as it ran, for readers: it says what was computed, and its captions have the page's numbers."""
        notebook, page = copy.deepcopy(self.executed[chapter]), self.page(chapter)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = page.corrected(cell["source"])[0]
            for output in cell.get("outputs", []):
                facts = output.get("metadata", {}).get("crowder", {})
                if facts.get("kind") == "caption":
                    caption = page.corrected("".join(output["data"]["text/markdown"]))[0]
                    text = f"**{self.places[facts['name']].words}.** {caption}"
                    output["data"] = dict.fromkeys(("text/markdown", "text/plain"), text)
        return notebook

    def changes(self, *, computed: bool) -> list[str]:
        """A line for each word or, if what was computed counts, number that is not what it should be."""
        found = []
        for chapter, notebook in self.executed.items():
            for cell in chapter.notebook()["cells"]:
                found += self.page(chapter).corrected(cell["source"], code=cell["cell_type"] == "code")[1]
            found += numbers_otherwise(chapter, notebook) if computed else []
        for path, text in numbers.on_pages(self.src).items() if computed else ():
            found += numbers.differences(path.name, text, numbers.fill(text, self.answers, tolerant=True))
        return found

    def write(self, root: Path) -> list[Path]:
        """Correct the sources; which files that changes."""
        paths = {chapter.path: partial(self._corrected, chapter) for chapter in self.executed}
        paths |= {path.relative_to(self.src): lambda text, _: numbers.fill(text, self.answers, tolerant=True)
                  for path in numbers.on_pages(self.src)}  # fmt: skip
        return [path for path, change in paths.items() if numbers.rewrite(root / path, change)]

    def _corrected(self, chapter: Chapter, text: str, code: bool) -> str:
        filled = text if code else numbers.fill(text, self.executed[chapter]["metadata"]["numbers"], tolerant=True)
        return self.page(chapter).corrected(filled, code=code)[0]


def numbers_otherwise(chapter: Chapter, executed: Mapping[str, Any]) -> list[str]:
    """A line for each number of a chapter that its text says otherwise than it was computed."""
    texts, answers = numbers.texts(chapter.notebook()), executed["metadata"]["numbers"]
    filled = [numbers.fill(text, answers, tolerant=True) for text in texts]
    return [line for said in zip(texts, filled, strict=True) for line in numbers.differences(chapter.slug, *said)]


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
