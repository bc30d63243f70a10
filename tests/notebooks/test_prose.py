"""Numbers in the prose are computed: each has its comment (`book.make.numbers`), which the build checks.

Exempt are numbers in formulas and captions, numbers that are names (Dist-1, Theorem 2, step 3), code to be copied, 0
and 1 (the ends of a scale), number words up to ten, which are grammar as often as number, and orders of magnitude.
"""

import ast
import re

import pytest

from book.make import numbers
from book.make.chapters import read_chapters
from book.make.environment import ROOT

CHAPTERS = read_chapters(ROOT)

WORDS = (
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
    "seventy eighty ninety"
).split()

#: What has a digit and is not a quantity.
NAMES = [
    r"(?s)^```.*?^```",  # code to be copied
    r"(?s)\$\$.*?\$\$|\$[^$]*\$",
    r"``.*?``|`[^`]*`",
    r"<!--.*?-->",  # labels
    r"\[[^]]*\]\([^)]*\)\]?",  # links, which the build checks
    r"^\s*\d+\. ",  # numbered lists
    r"^\*\*(Companion )?\w+ A?\d+\.\d+ ",  # heads of statements, which it checks, too
    r"(?i)\b(Tables?|Theorems?|Corollary|Propositions?|Lemma|Figures?|steps?) \d(\([ab]\))?( and \d)?",
    r"Dist-[12]",
    r"\br[_ ]?\d\b",  # records have names, too
    r"\b9[59](?:\.99)?\s?% (?=intervals?|level)",  # levels belong to the name of an interval
]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\b(?:" + "|".join(WORDS) + r")\b", re.IGNORECASE)


def texts(chapter):
    """The text cells of a chapter, by their identifiers."""
    return {cell["id"]: cell["source"] for cell in chapter.notebook()["cells"] if cell["cell_type"] == "markdown"}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_every_number_in_the_prose_is_computed(chapter):
    for name, text in texts(chapter).items():
        for number in reversed([*numbers.find(text)]):
            text = f"{text[: number.start]} {text[number.end :]}"
        for pattern in NAMES:
            text = re.sub(pattern, " ", text, flags=re.MULTILINE)
        assert [number for number in NUMBER.findall(text) if number.rstrip(",") not in ("0", "1")] == [], name


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_name_that_the_text_asks_for_stands_for_one_value(chapter):
    """The build asks after the last cell: a name that a later cell gives another value would mislead."""
    asked = {node.id for number in numbers.find("\n".join(texts(chapter).values()))
             for node in ast.walk(ast.parse(numbers.parts(number.asks)[0], mode="eval"))
             if isinstance(node, ast.Name)}  # fmt: skip
    given: dict[str, set] = {}
    for cell in chapter.notebook()["cells"]:
        if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", []):
            for name in bound(ast.parse(cell["source"])):
                given.setdefault(name, set()).add(cell["id"])
    assert {name: cells for name, cells in given.items() if name in asked and len(cells) > 1} == {}


def bound(node):
    """The names to which code gives values outside functions, classes and comprehensions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield child.name
        elif isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        else:
            yield from bound(child)
