"""The small wrong edits of faults/mutants.py: each is one, each is wrong, and none is only in what is said."""

import ast
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "faults"))
from mutants import mutants  # noqa: E402

SOURCE = '''"""What this is: 1 < 2."""


def least(values: list, start: int = 0) -> int:
    """Not a formula: 3 + 4."""
    if not values:
        raise ValueError(f"nothing, not {len(values) + 1}")
    best = max(values[start:], key=abs)
    for value in values:
        if value < best and value is not None:
            best = value
            continue
    return best
'''


def test_every_edit_of_a_small_function():
    found = {(m.line, m.kind, " ".join(m.before.split()), m.after) for m in mutants(SOURCE)}
    assert found == {
        (4, "constant", "0", "1"),  # a default
        (6, "sign or not", "not values", "values"),
        (6, "test", "not values", "True"),
        (6, "test", "not values", "False"),
        (7, "left out", 'raise ValueError(f"nothing, not {len(values) + 1}")', "pass"),
        (8, "name", "max(values[start:], key=abs)", "min(values[start:], key=abs)"),
        (10, "and/or", "value < best and value is not None", "value < best or value is not None"),
        (10, "comparison", "value < best", "value <= best"),
        (10, "comparison", "value < best", "value > best"),
        (10, "comparison", "value is not None", "value is None"),
        (10, "test", "value < best and value is not None", "True"),
        (10, "test", "value < best and value is not None", "False"),
        (12, "left out", "continue", "pass"),
        (13, "left out", "return best", "return None"),
    }


SOURCES = [path for folder in ("crowder", "book/companion") for path in sorted((ROOT / folder).rglob("*.py"))]
MODULES = [path for path in SOURCES if not path.stem.startswith("__")]


@pytest.mark.parametrize("path", random.Random(1).sample(MODULES, 12), ids=lambda path: path.stem)
def test_an_edit_of_a_room_can_be_read_is_another_program_and_moves_no_line(path):
    source = path.read_text(encoding="utf-8")
    found = mutants(source)
    assert len(found) > 10 or len(source) < 2000  # the smallest has eight
    for mutant in random.Random(2).sample(found, min(len(found), 10)):
        wrong = mutant.apply(source)
        assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(source)), mutant
        assert wrong.count("\n") == source.count("\n")
