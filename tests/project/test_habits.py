"""Style and types: ruff on everything including notebooks, mypy on crowder, and the length of cells and lines."""

import io
import json
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))

#: What the page shows of a line of code without scrolling.
WIDEST = 79


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=lambda c: " ".join(c[:2])
)
def test_it_finds_nothing(command, tmp_path):
    cache = {"ruff": ["--no-cache"], "mypy": ["--cache-dir", str(tmp_path)]}[command[0]]
    done = subprocess.run([sys.executable, "-m", *command, *cache], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def code(path):
    """The code cells of a notebook, each with whether it is folded on the page."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tags = cell["metadata"].get("tags", [])
            yield "".join(cell["source"]), any(tag.startswith(("hide", "remove")) for tag in tags)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_visible_line_is_wider_than_the_page(path):
    assert [
        line for source, folded in code(path) if not folded for line in source.splitlines() if len(line) > WIDEST
    ] == []


def size(source):
    """Names, numbers and operators: what there is to read, however it is laid out, captions and comments apart."""
    kinds = (tokenize.NAME, tokenize.NUMBER, tokenize.OP)
    return sum(token.type in kinds for token in tokenize.generate_tokens(io.StringIO(source).readline))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_most_code_is_seen_and_most_cells_are_short(path):
    lines = sorted(source.count("\n") + 1 for source, _ in code(path))
    assert lines[len(lines) // 2] <= 12 or len(lines) < 10  # of a handful of cells, the median is any of them
    sizes = [(size(source), folded) for source, folded in code(path)]
    assert sum(count for count, folded in sizes if folded) <= sum(count for count, _ in sizes) / 2


def test_the_sentences_of_the_book_stand_in_markdown():
    """Of all its words at most a seventh stand in texts inside code: captions, alternative texts, what was checked."""
    import ast

    markdown = inside = 0
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                markdown += len("".join(cell["source"]).split())
        for source, _ in code(path):
            texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
            inside += sum(len(text.split()) for text in texts if isinstance(text, str) and len(text.split()) > 7)
    assert inside <= (markdown + inside) / 7
