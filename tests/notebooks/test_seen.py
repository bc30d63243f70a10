"""What a chapter computes for its message stands in visible cells, which can be read one after the other.

Statements are counted by their lines. One that draws, checks or sets up is not work; all others are.
"""

import ast
import builtins
import re
from collections import Counter

import pytest

from book.project import ROOT
from book.text.chapters import read_chapters

CHAPTERS = read_chapters(ROOT)
STORY = [chapter for chapter in CHAPTERS if chapter.slug[0] != "A"]
DRAWS = re.compile(r"(figure|table|slider|race|stepper|explorer|plots\.\w+|(plt|sns|fig|axe?s?)\.[\w.]+|[\w.]+\.show)$")
CHECKS = re.compile(r"(check|published\.compare)$")
SETS_UP = re.compile(r"parameters$")


def kind(statement):
    """What a statement is for: "work", "drawing", "checking" or "set-up"."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return "set-up"
    if isinstance(statement, ast.Assert):
        return "checking"
    if isinstance(statement, (ast.For, ast.If, ast.With)):
        inner = {kind(each) for each in statement.body + getattr(statement, "orelse", [])}
        return inner.pop() if len(inner) == 1 else "work"
    value = getattr(statement, "value", None)
    called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    found = {"drawing": DRAWS, "checking": CHECKS, "set-up": SETS_UP}
    return next((name for name, pattern in found.items() if pattern.match(called)), "work")


def counted(cell):
    """The lines of a cell for each kind of statement."""
    lines = Counter()
    for statement in ast.parse(cell["source"]).body:
        lines[kind(statement)] += statement.end_lineno - statement.lineno + 1
    return lines


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def is_seen(cell):
    return not {"hide-input", "hide-cell", "remove-cell"} & tags(cell)


def code(chapter):
    """The cells of code, without the one that fetches the book and the one with the parameters."""
    cells = [cell for cell in chapter.notebook()["cells"] if cell["cell_type"] == "code"]
    assert cells[0]["id"] == "fetch-the-book"
    return [cell for cell in cells[1:] if "parameters" not in tags(cell)]


def work(chapters):
    """Lines of work in visible cells, and in all."""
    cells = [cell for chapter in chapters for cell in code(chapter)]
    return (sum(counted(cell)["work"] for cell in chosen) for chosen in ([*filter(is_seen, cells)], cells))


def test_three_fifths_of_the_work_of_the_chapters_are_seen():
    seen, every = work(STORY)
    assert seen >= 0.6 * every, f"{seen} of {every} lines"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_half_of_the_work_of_each_is_seen(chapter):
    seen, every = work([chapter])
    assert seen >= 0.5 * every, f"{seen} of {every} lines"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_visible_cell_is_short_and_draws_nothing(chapter):
    for cell in filter(is_seen, code(chapter)):
        lines = [line for line in cell["source"].splitlines() if line.strip()]
        assert len(lines) <= 15 and max(map(len, lines)) <= 79, cell["id"]
        assert not counted(cell).keys() & {"drawing"}, cell["id"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_cell_that_draws_only_selects_what_it_draws(chapter):
    for cell in code(chapter):
        lines = counted(cell)
        assert not lines["drawing"] or lines["work"] <= 6, cell["id"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_imports_are_seen_in_one_cell_that_looks_at_the_parameters(chapter):
    importing = [cell for cell in code(chapter) if re.search(r"^\s*(import|from) ", cell["source"], re.MULTILINE)]
    (cell,) = importing
    assert cell == code(chapter)[0] and is_seen(cell)
    assert counted(cell).keys() == {"set-up"} and counted(cell)["set-up"] <= 11, "ten lines, and the parameters"
    assert f'\nparameters("{chapter.slug}")' in cell["source"]
    assert len(re.findall("^from book", cell["source"], re.MULTILINE)) <= 1


def names(tree, context):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def bound(tree):
    """The names that the statements of a cell bind; in a function or a comprehension its own, too."""
    found = names(tree, ast.Store)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found |= {node.name}
        elif isinstance(node, ast.alias):
            found |= {(node.asname or node.name).partition(".")[0]}
        elif isinstance(node, ast.arg):
            found |= {node.arg}
    return found


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_visible_cell_needs_no_name_of_a_folded_one(chapter):
    known = {*chapter.defaults(), *dir(builtins), "display"}
    for cell in filter(is_seen, code(chapter)):
        tree = ast.parse(cell["source"])
        known |= bound(tree)
        assert names(tree, ast.Load) <= known, (cell["id"], names(tree, ast.Load) - known)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_a_folded_cell_says_what_it_draws_or_checks(chapter):
    for cell in code(chapter):
        if not is_seen(cell):
            label = cell["source"].partition("\n")[0]
            assert re.match(r"# (Figure|Table|Check|For)\b.{12,}", label), (cell["id"], label)
