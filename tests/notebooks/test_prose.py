"""Numbers in the prose are computed: each has its comment (`book.text.numbers`), which the build checks.

A number inside a formula, a caption or a sentence that code writes has no comment: it must stand in the code of the
chapter, which draws, checks or asserts with it. Exempt are numbers that are names (Dist-1, Theorem 2, step 3), code to
be copied, 0 and 1 (the ends of a scale), the powers and factors below ten of a formula, number words up to ten, which
are grammar as often as number, and orders of magnitude.
"""

import ast
import re
from pathlib import Path

import pytest

from book.text import numbers
from book.text.chapters import read_chapters

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = read_chapters(ROOT)

WORDS = (
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
    "seventy eighty ninety"
).split()

#: What has a digit and is not a quantity.
NAMES = [
    r"^```.*?^```",  # code to be copied
    r"``.*?``|`[^`]*`",
    r"<!--.*?-->|<a id=.*?>",  # labels
    r"\[[^]]*\]\([^)]*\)\]?",  # links, which the build checks
    r"^\s*\d+\. ",  # numbered lists
    r"^\*\*(Companion )?\w+ A?\d+\.\d+ ",  # heads of statements, which it checks, too
    r"(?i)\b(Tables?|Theorems?|Corollary|Propositions?|Lemma|Figures?|steps?) \d(\([ab]\))?( and \d)?",
    r"Dist-[12]",
    r"\br[_ ]?\d\d?\b",  # records have names, too
]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\b(?:" + "|".join(WORDS) + r")\b", re.IGNORECASE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
#: Confidence levels belong to the name of an interval.
LEVELS = re.compile(r"\b9[59](?:\.99)?\s?% (?=intervals?|level)")


def plain(number):
    """One spelling a number: no separators of thousands."""
    return re.sub(r"[,_]|\{,\}", "", number).lower()


def in_formula(text):
    """The numbers of a formula that are more than a factor or a power: two digits, or a decimal."""
    text = re.sub(r"\\tag\{.*", "", text)
    text = re.sub(r"\{,\}", "", text)
    text = re.sub(r"\\[tdc]?frac(\d)(\d)", r" \1 \2 ", text)  # \frac12 is a half
    text = re.sub(r"\\binom(\d)(\d)", r" \1 \2 ", text)
    return [n for n in re.findall(r"\d+(?:\.\d+)?", text) if len(n) > 1]


def typed(text):
    """The numbers that are typed in a text, in one spelling each: outside formulas, and in them."""
    for number in reversed([*numbers.find(text)]):
        text = f"{text[: number.start]} {text[number.end :]}"
    formulas = [n for formula in FORMULA.findall(text) for n in in_formula(formula)]
    text = FORMULA.sub(" ", text)
    for pattern in NAMES:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL if "```" in pattern else re.MULTILINE)
    words = [plain(n.rstrip(",")) for n in NUMBER.findall(LEVELS.sub(" ", text))]
    return [n for n in words if n not in ("0", "1")], formulas


def constants(node):
    """The constant words of an expression that makes a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "…" for v in node.values)
    if isinstance(node, ast.BinOp):
        return constants(node.left) + constants(node.right)
    return "…"


def said(source):
    """What a code cell writes on the page, as far as it is typed."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield from (constants(k.value) for k in node.keywords if k.arg in ("caption", "says"))


def literals(source):
    """The numbers of the code itself: not those in its texts."""
    constant = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    found = (value for value in constant if type(value) in (int, float))
    return {f"{value:g}" if isinstance(value, float) else str(value) for value in found}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_every_number_in_the_prose_is_computed(chapter):
    loose, held, code = [], [], set()
    for cell in chapter.notebook()["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words, formulas = typed(source)
            loose += [f"{number} in {cell['id']}" for number in words]
            held += [(number, cell["id"]) for number in formulas]
            code |= set(re.findall(r"\\tag\{([\d.]+)\}", source))  # a caption may name a formula
        else:
            held += [(number, cell["id"]) for text in said(source) for part in typed(text) for number in part]
            code |= literals(source)
    plots = ROOT / "notebooks" / "plots" / f"{chapter.slug.partition('-')[2].replace('-', '_')}.py"
    code |= literals(plots.read_text(encoding="utf-8")) if plots.exists() else set()
    assert loose + [f"{number} in {cell}" for number, cell in held if number not in code] == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_name_that_the_text_asks_for_stands_for_one_value(chapter):
    """The build asks after the last cell: a name that a later cell gives another value would mislead."""
    cells = chapter.notebook()["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    asked = {node.id for number in numbers.find(text)
             for node in ast.walk(ast.parse(numbers.parts(number.asks)[0], mode="eval"))
             if isinstance(node, ast.Name)}  # fmt: skip
    given: dict[str, set] = {}
    for cell in cells:
        if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", []):
            for name in bound(ast.parse("".join(cell["source"]))):
                given.setdefault(name, set()).add(cell["id"])
    assert {name: cells for name, cells in given.items() if name in asked and len(cells) > 1} == {}


def test_what_the_text_asks_for_is_short():
    """The source is read, too: an expression of more than forty characters hides the sentence that it stands in."""
    every = [text for chapter in CHAPTERS for text in numbers.texts(chapter.notebook())]
    every += numbers.on_pages(ROOT).values()
    asked = [number.asks.partition("#")[2] or number.asks for text in every for number in numbers.find(text)]
    assert [asks for asks in asked if len(numbers.parts(asks)[0]) > 40] == []


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
