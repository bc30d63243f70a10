"""Bad input, and the error it gets: the tables of all rooms, and bad_input.md, which shows them to a reader.

A table is a file ``bad_….py``; a row is a call, the error's class, and what the message must say. To write
``bad_input.md`` anew after a change: ``CROWDER_WRITE=1 make test ARGS=tests/test_bad_input.py``.
"""

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bad_material import ROOM, Row

HERE = Path(__file__).parent
PAGE = HERE / "bad_input.md"

#: The tables, in the order of the page.
TABLES = ("bad_orderings", "bad_runs", "bad_records", "bad_data", "bad_formulas", "bad_pages", "bad_commands")

HEAD = """# Bad input

What is called, with what, and the error it gets. Written by `tests/test_bad_input.py`, which makes every one of these
calls; short names such as `V` (three similarities) and `file(name, content)` are in `tests/bad_material.py`.
"""


class Case(NamedTuple):
    """A row, with the words of its call."""

    about: str
    source: str
    row: Row


def cases() -> list[Case]:
    """Every row of every table; the words of a call are those of the file, so they are what is called."""
    found = []
    for name in TABLES:
        tree = ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))
        (table,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "TABLE"]
        rows = importlib.import_module(name).TABLE
        for about, written in zip(table.keys, table.values, strict=True):
            for row, call in zip(rows[about.value], written.elts, strict=True):
                found.append(Case(about.value, ast.unparse(call.args[0].body), row))
    return found


CASES = cases()


@cache
def outcome(number: int) -> Exception | str:
    """The error that a case gets, or what came instead."""
    try:
        return f"no error, but {CASES[number].row.call()!r}"
    except Exception as error:
        return error


def message(error: Exception) -> str:
    """An error's words, without the folder that a file happens to be in."""
    text = re.sub(re.escape(str(ROOM["folder"])) + r"/(?:bad-\w+/?)?", "", str(error))
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", text)  # where in memory an object is
    text = re.sub(r"\s+", " ", text.replace(f"{HERE.parent}/", ""))
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def page() -> str:
    """The tables as Markdown."""
    lines, about = [HEAD], None
    for number, case in enumerate(CASES):
        if case.about != about:
            about = case.about
            lines += ["", f"## {about}", "", "| call | error |", "| --- | --- |"]
        error = outcome(number)
        said = f"{type(error).__name__}: {message(error)}" if isinstance(error, Exception) else error
        said = said if len(said) <= 200 else said[:199] + "…"
        lines.append(f"| {code(case.source)} | {code(said)} |")
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Text between backticks, more of them than it has, in the cell of a table."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    text = text.replace("|", "\\|")
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"`{text}`"
