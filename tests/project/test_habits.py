"""Style and types: ruff on everything including notebooks, mypy on crowder, and the length of cells."""

import ast
import json
import subprocess
import sys

import pytest

from book.project import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))

#: Two names of one sort; compiled code has the older, which every Numba knows.
STABLE = ("stable", "mergesort")


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=lambda c: " ".join(c[:2])
)
def test_it_finds_nothing(command, tmp_path):
    cache = {"ruff": ["--no-cache"], "mypy": ["--cache-dir", str(tmp_path)]}[command[0]]
    done = subprocess.run([sys.executable, "-m", *command, *cache], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def code(path):
    """The code cells of a notebook, each with its tags."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), cell["metadata"].get("tags", [])


def test_every_argsort_is_stable():
    """Others put equal values into an order that depends on the processor: a replay took 1,257 questions on one and
    1,260 on another."""
    sources = {path: path.read_text("utf-8") for part in ("crowder", "book") for path in (ROOT / part).rglob("*.py")}
    sources |= {path: "\n".join(source for source, _ in code(path)) for path in NOTEBOOKS}
    calls = {
        (path.name, ast.unparse(node)): any(key.arg == "kind" and key.value.value in STABLE for key in node.keywords)
        for path, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("argsort")
    }
    assert len(calls) > 10 and [call for call, stable in calls.items() if not stable] == []
