"""The basis of evidence is that of the numbers from which it is computed, and a caption says which were recorded.

The cells of a chapter are read, not run.
"""

import ast

import pytest

from book.project import ROOT
from book.text.chapters import read_chapters

#: What a value was computed from: nothing of these, random numbers, a mean of what they gave, a file.
NEITHER, RANDOM, MEAN, READ = range(4)
#: What evidence may say its basis is. A statement may be exact at random cases, if they are named.
FITS = {NEITHER: ["exact"], RANDOM: ["simulated", "exact, where"], MEAN: ["simulated"], READ: ["recorded"]}

SOURCES = {"rng", "seed", "seeds", "default_rng", "SeedSequence"}
FILES = {"recorded"}
MEANS = {"mean", "mean_and_error", "median", "std", "sem"}
ADDS = {"add", "append", "extend", "insert", "update"}
EVIDENCE = {"agreement": "exact", "bounded": "exact", "published.compare": "exact", "simulation": "simulated",
            "exceeds": "simulated"}  # fmt: skip
ABOUT = {"basis", "where", "size", "limit", "tolerance", "relative", "setting", "runs"}  # of no value that is compared


class Reader(ast.NodeVisitor):
    """Reads cells in order; `wrong` has the evidence whose basis is not that of its numbers."""

    def __init__(self, known=()):
        self.known, self.wrong = dict(known), []

    def level(self, node):
        """The level of an expression or a function: the highest of its parts."""
        parts = [self.level(part) for part in ast.iter_child_nodes(node)]
        name = getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "attr", None)
        if name in SOURCES:
            parts.append(RANDOM)
        elif isinstance(node, ast.Name):
            parts.append(self.known.get(name, NEITHER))
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in FILES:
                parts.append(READ)
            elif called.rpartition(".")[2] in MEANS and any(parts):
                parts.append(MEAN)
        return max(parts, default=NEITHER)

    def bind(self, target, level):
        """Names take the level of a value; what changes in a part, keeps its own if that is higher."""
        for name in ast.walk(target):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                self.known[name.id] = level
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            self.change(target, level)

    def change(self, target, level):
        while isinstance(target, (ast.Attribute, ast.Subscript, ast.Call)):
            target = target.func if isinstance(target, ast.Call) else target.value
        if isinstance(target, ast.Name):
            self.known[target.id] = max(self.known.get(target.id, NEITHER), level)

    def visit_Assign(self, node):
        self.judge(node)
        for target in node.targets:
            self.bind(target, self.level(node.value))

    def visit_AugAssign(self, node):
        self.judge(node)
        self.change(node.target, self.level(node.value))

    def visit_Expr(self, node):
        self.judge(node)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ADDS:
            self.change(call.func.value, self.level(call))

    def visit_For(self, node):
        self.bind(node.target, self.level(node.iter))
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        """Its result is of the level of anything in it."""
        inside = Reader(self.known | {arg.arg: NEITHER for arg in node.args.args + node.args.kwonlyargs})
        for part in node.body:
            inside.visit(part)
        self.known[node.name] = max(map(inside.level, [node.args, *node.body]))
        self.wrong += inside.wrong

    def judge(self, statement):
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("figure", "table"):
                (caption,) = (word.value for word in call.keywords if word.arg == "caption")
                if max(map(self.level, call.args)) == READ and "said" not in ast.unparse(caption):
                    self.wrong.append(f"a caption does not say that it is recorded: {ast.unparse(call)}")
            if isinstance(call, ast.Call) and (name := ast.unparse(call.func).removeprefix("ev.")) in EVIDENCE:
                words = {word.arg: word.value for word in call.keywords}
                level = max(map(self.level, [*call.args, *(words[word] for word in words if word not in ABOUT)]))
                said = ast.unparse(words["basis"]).strip("'") if "basis" in words else EVIDENCE[name]
                said = "simulated" if "runs" in words and "basis" not in words else said
                said = "recorded" if said.endswith(".basis") else said
                said += ", where" * (said == "exact" and level == RANDOM and {"where", "basis"} <= words.keys())
                if said not in FITS[level]:
                    self.wrong.append(f"{said}, not {' or '.join(FITS[level])}: {ast.unparse(call)}")


def wrong(cells):
    """The evidence in these cells whose basis is not that of its numbers."""
    reader = Reader()
    for cell in cells:
        reader.visit(ast.parse(cell))
    return reader.wrong


def cells(chapter):
    return [cell["source"] for cell in chapter.notebook()["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("chapter", read_chapters(ROOT), ids=lambda chapter: chapter.slug)
def test_evidence_is_on_the_basis_of_its_numbers(chapter):
    assert wrong(cells(chapter)) == []


GAP, WANTED = "12-closing-the-gap", 'basis="simulated"'
BEST, IDEAL, RUNS = 'real["evidence"].mean()', "1.01 * ideal", "\nruns = pd.DataFrame(lines)"
#: What is planted: the chapter, what stands there and what instead; what is said then, and is not so.
PLANTED = {
    "a mean is exact": (GAP, f"{BEST}, {WANTED}", BEST, "exact, not simulated"),
    "a mean is exact at runs": (GAP, f"{BEST}, {WANTED}", f'{BEST}, basis="exact", where="x"', "exact, not simulated"),
    "runs are exact": (GAP, f"{IDEAL}, {WANTED}", f'{IDEAL}, where="x"', "exact, not"),
    "cases are not named": ("10-faulty-crowd", "where=places_tried", "", "exact, not"),
    "the paper's number is compared with one": ("09-cora", WANTED, 'basis="exact"', "exact, not simulated"),
    "a table is computed": (GAP, RUNS, f'\nruns = recorded("x", {BEST}).table', "simulated, not recorded"),
    "a figure is computed": ("15-which-ordering", " {replayed.said}", "", "does not say that it is recorded"),
    "runs are read": (GAP, f"{IDEAL}, {WANTED}", f"{IDEAL}, basis=found.basis", "recorded, not"),
    "print is random": ("08-synthetic", "(in_print, 0.5", f"(in_print, 0.5, {WANTED}", "simulated, not exact"),
    "print has an error": ("08-synthetic", "exceeds(less, its_error", "exceeds(in_print, 0.01", "simulated, not exact"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_another_basis_is_noticed(planted):
    slug, there, instead, complaint = PLANTED[planted]
    (before,) = (cells(chapter) for chapter in read_chapters(ROOT) if chapter.slug == slug)
    after = [cell.replace(there, instead) for cell in before]
    assert after != before
    found = {*wrong(after)} - {*wrong(before)}
    assert any(complaint in line for line in found)


def test_what_was_read_may_say_so():
    given = "found = recorded('x', f, anew=anew, seed=seed)\nq = found.table['q'].mean()\n"
    assert wrong([f"{given}check('B01', bounded(q, 1, basis=found.basis), exceeds(q, 1, basis='recorded'))"]) == []
    assert len(wrong([f"{given}check('B01', bounded(q, 1, basis='simulated'), exceeds(q, 1))"])) == 2
