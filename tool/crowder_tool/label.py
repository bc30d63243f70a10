"""Labelling: questions answered by single keys in a terminal, or on a page that needs no network."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import IO, TYPE_CHECKING

from crowder_tool.journal import Pair, Vote
from crowder_tool.sheets import FORMULA, QUOTED, token

if TYPE_CHECKING:
    from crowder_tool.project import Project

__all__ = ["ask", "page", "shown", "visible"]

KEYS = {"y": "yes", "n": "no", "u": "unsure", "z": "undo", "b": "undo", "q": "quit", "\x04": "quit"}
SAID = {"yes": True, "no": False, "unsure": None}
#: Questions that a terminal has at once, and for how many seconds without an answer.
FEW, HELD = 10, 600
HELP = "y same, n different, u not sure, z takes the last answer back, q ends (every answer is already saved)"


def ask(project: Project, worker: str, stdin: IO[str], stdout: IO[str], first: Sequence[Pair] = ()) -> int:
    """Ask questions until none is open, the input ends or somebody quits; the number of answers given. Those of `first`
    are asked first, and although they have been answered."""
    holder, words = secrets.token_hex(8), _keys(stdin)
    given, queue, ahead, last = 0, list[Pair](), list(first), None
    try:
        while queue := ahead or project.still_open(queue) or project.draw(FEW, holder, HELD, worker):
            if queue[0] != last:
                last = queue[0]
                _forget_typed(stdin)
                print(f"\n{project.progress()}\n\n{shown(project, last)}\n", file=stdout)
            print("The same? y n u, z undo, q quit: ", end="", file=stdout, flush=True)
            word = next(words, "quit")
            said = KEYS.get(word, word)
            print(said if stdin.isatty() else "", file=stdout)
            if said in SAID:
                project.record([Vote(*queue.pop(0), SAID[said], worker)])
                given += 1
            elif said == "quit":
                break
            elif said != "undo":
                print(HELP, file=stdout)
            elif taken := project.undo(worker):
                queue.insert(0, taken)
                given -= 1
            else:
                print("There is no answer to take back.", file=stdout)
    finally:
        with suppress(OSError):
            project.journal.release(holder)
    return given


def shown(project: Project, pair: Pair) -> str:
    """Two records as text, one below the other in each field that is not equal."""
    a, b = (project.records.iloc[record] for record in pair)
    fields = [field for field in ["id", *project.fields] if (a[field] + b[field]).strip()]
    room, lines = max(len(visible(field)) for field in fields), []
    for field in fields:
        lines.append(f"  {visible(field):{room}}  {visible(a[field]) or '-'}")
        if a[field] != b[field]:
            lines.append(f"{'':{room + 2}}  {visible(b[field]) or '-'}")
    return "\n".join(lines)


def page(project: Project, pairs: list[Pair]) -> tuple[str, str]:
    """A page in HTML with these questions, complete in one file, and its random code."""
    code, (group, apart) = secrets.token_hex(4), project.known
    texts = project.records[project.fields].to_numpy()
    questions = [
        {
            "ids": [project.ids[i], project.ids[j]],
            "a": [*texts[i]],
            "b": [*texts[j]],
            "groups": [group[i], group[j]],
            "token": token(code, project.records, project.fields, (i, j)),
        }
        for i, j in pairs
    ]
    here = {group for question in questions for group in question["groups"]}
    data = {
        "id": code, "name": project.files[0].name, "fields": project.fields, "sep": project.settings["sep"],
        "formula": f"^(?:{FORMULA.pattern})", "quoted": QUOTED.pattern,
        "apart": [pair for pair in sorted(apart) if here.issuperset(pair)], "questions": questions,
    }  # fmt: skip
    text = json.dumps(data).replace("<", "\\u003c")  # no record can end the script element
    template = files("crowder_tool").joinpath("label.html").read_text("utf-8")
    return template.replace("{{data}}", text), code


def _keys(stream: IO[str]) -> Iterator[str]:
    """What is typed: a key at a time in a terminal, else (and on Windows) a line."""
    if os.name == "nt" or not stream.isatty():
        yield from (line.strip().lower() for line in stream)
        return
    import termios
    import tty

    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream, termios.TCSANOW)
        while typed := os.read(stream.fileno(), 64).decode(errors="replace").lower():
            if typed.startswith("\x1b"):  # an arrow is several characters, which may come one by one
                time.sleep(0.05)
                _forget_typed(stream)
            yield "?" if typed.startswith("\x1b") else typed[0]
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


def _forget_typed(stream: IO[str]) -> None:
    """Drop the keys typed so far: nobody answers a question before it is shown."""
    if os.name != "nt" and stream.isatty():
        import termios

        termios.tcflush(stream, termios.TCIFLUSH)


def visible(text: str) -> str:
    """The text on one line, with what cannot be seen, or would steer the terminal, by number."""
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in " ".join(text.split()))
