"""Numbers in the prose are computed. What is typed stands in a short list, with the reason: tests/notebooks/prose.yml.

Read are the Markdown cells of every chapter, and the constant words of what a cell says and of captions. Exempt are
numbers that are names (Dist-1, Theorem 2, step 3), code to be copied, 0 and 1 (the ends of a scale), the powers and
factors below ten of a formula, and number words up to ten, which are grammar as often as number.
"""

import ast
import json
import re
import warnings
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
LISTED = yaml.safe_load((ROOT / "tests" / "notebooks" / "prose.yml").read_text(encoding="utf-8"))

WORDS = (
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
    "seventy eighty ninety hundred thousand million billion dozen"
).split()

#: What has a digit and is not a quantity.
NAMES = [
    r"^```.*?^```",  # code to be copied
    r"``.*?``|`[^`]*`",  # roles ({claim}`C12`, {numref}`fig-x`), code
    r"^\([a-z0-9-]+\)=$",  # labels
    r"^:{3,}.*$|^:[a-z-]+:.*$",  # directives and their options
    r"\]\([^)]*\)",  # where a link leads
    r"\(eq-[a-z0-9-]+\)",  # the name of an equation
    r"^\s*\d+\. ",  # numbered lists
    r"(?i)\b(Tables?|Theorems?|Corollary|Propositions?|Lemma|Figures?|steps?) \d(\([ab]\))?( and \d)?",
    r"Dist-[12]",
    r"\br[_ ]?\d\b",  # records have names, too
]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\b(?:" + "|".join(WORDS) + r")s?\b", re.IGNORECASE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
#: Confidence levels belong to the name of an interval.
LEVELS = re.compile(r"\b9[59](?:\.99)?\s?% (?=intervals?|level)")


def plain(number):
    """One spelling a number: no separators of thousands."""
    return re.sub(r"[,_]|\{,\}", "", number).lower()


def in_formula(text):
    """The numbers of a formula that are more than a factor or a power: two digits, or a decimal."""
    text = re.sub(r"\{,\}", "", text)
    text = re.sub(r"\\[tdc]?frac(\d)(\d)", r" \1 \2 ", text)  # \frac12 is a half
    text = re.sub(r"\\binom(\d)(\d)", r" \1 \2 ", text)
    return [n for n in re.findall(r"\d+(?:\.\d+)?", text) if len(n) > 1]


def typed(text):
    """The numbers that are typed in a text, in one spelling each."""
    formulas = [n for formula in FORMULA.findall(text) for n in in_formula(formula)]
    text = FORMULA.sub(" ", text)
    for pattern in NAMES:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL if "```" in pattern else re.MULTILINE)
    words = [plain(n.rstrip(",")) for n in NUMBER.findall(LEVELS.sub(" ", text))]
    return formulas + [n for n in words if n not in ("0", "1")]


def constants(node):
    """The constant words of an expression that makes a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "…" for v in node.values)
    if isinstance(node, ast.BinOp):
        return constants(node.left) + constants(node.right)
    if isinstance(node, ast.IfExp):
        return constants(node.body) + " " + constants(node.orelse)
    return "…"


def said(source):
    """What a code cell writes on the page, as far as it is typed."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            yield from (constants(k.value) for k in node.keywords if k.arg in ("caption", "says"))


def literals(source):
    """The numbers of the code itself: not those in its texts."""
    constant = (node.value for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant))
    numbers = (value for value in constant if type(value) in (int, float))
    return {f"{value:g}" if isinstance(value, float) else str(value) for value in numbers}


def parsed(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of TeX in texts, which is no matter here
        warnings.simplefilter("ignore", DeprecationWarning)  # the same in Python 3.11
        return ast.parse(source)


def read(path):
    """The numbers typed in a chapter, with their cells; the numbers that stand in its code."""
    found, code = [], set()
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        texts = [source] if cell["cell_type"] == "markdown" else list(said(source))
        found += [(n, cell["id"]) for text in texts for n in typed(text)]
        if cell["cell_type"] == "code":
            code |= literals(source)
    plots = ROOT / "notebooks" / "plots" / f"{path.stem.partition('-')[2].replace('-', '_')}.py"
    code |= literals(plots.read_text(encoding="utf-8")) if plots.exists() else set()
    return found, code


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_number_in_the_prose_is_computed_or_listed_with_a_reason(path):
    found, code = read(path)
    allowed = {str(n) for entry in LISTED if entry["chapter"] in (path.stem, "any") for n in entry["numbers"]}
    assert not [f"{number} in {cell}" for number, cell in found if number not in allowed]
    # Nothing stands in the list longer than in the chapter; and what the code is said to hold, it holds.
    own = [entry for entry in LISTED if entry["chapter"] == path.stem]
    assert not {str(n) for entry in own for n in entry["numbers"]} - {number for number, _ in found}
    assert not {str(n) for entry in own if entry["in"] == "code" for n in entry["numbers"]} - code


def test_the_list_is_reasoned_and_short():
    assert all(set(entry) == {"chapter", "numbers", "in", "why"} and len(entry["why"]) > 20 for entry in LISTED)
    assert {entry["in"] for entry in LISTED} <= {"code", "formula", "words"}
    assert {entry["chapter"] for entry in LISTED} <= {path.stem for path in CHAPTERS} | {"any"}
    assert sum(len(entry["numbers"]) for entry in LISTED) <= 75


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Edge ordering asks 1,234 questions, i.e. 56% more.", ["1234", "56"]),
        ("It takes $k^2/78$ and $n = 1{,}200$.", ["78", "1200"]),
        ("1. first\n2. second, by Proposition 2 and step 3", []),
        ("(ch-x-2)=\n{claim}`C12` and `x[3]`, see [this](page-3.html)", []),
        ("```python\nrange(20, 120)\n```\nThen 20.", ["20"]),
        (r"For Dist-1, $2^{10} + \frac12 x^2 + \binom52$ lies between 0 and 1", ["10"]),
        ("with 95 % intervals, 95 in all", ["95"]),
        ("Eighteen of some hundreds", ["eighteen", "hundreds"]),
    ],
)
def test_what_counts_as_typed(text, expected):
    assert typed(text) == expected


def test_what_a_cell_says_is_read_too():
    cell = 'check("C09", says=f"about {x:,} of 77")\ntable(t, "tab-9", caption="88 runs" if a else f"{b} or 99")'
    assert [n for text in said(cell) for n in typed(text)] == ["77", "88", "99"]
