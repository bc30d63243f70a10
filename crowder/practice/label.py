"""Labelling: questions answered by single keys in a terminal, or on a page that needs no network."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.resources import files
from itertools import zip_longest
from typing import IO, TYPE_CHECKING

from crowder.practice.journal import process_name
from crowder.practice.sheets import token

if TYPE_CHECKING:
    from crowder.practice.project import Project

__all__ = ["ask", "page", "side_by_side", "visible"]

KEYS = {"y": "yes", "n": "no", "u": "unsure", "z": "undo", "b": "undo", "q": "quit", "\x04": "quit"}
SAID = {"yes": True, "no": False, "unsure": None}
#: Questions that a terminal has at once, and for how many seconds without an answer.
FEW, HELD = 10, 600
HELP = "y same, n different, u not sure, z takes the last answer back, q ends (every answer is already saved)"


def ask(
    project: Project, worker: str, stdin: IO[str], stdout: IO[str], first: Sequence[tuple[int, int]] = (), *,
    again: bool = False,
) -> int:  # fmt: skip
    """Ask questions until none is open, the input ends or somebody quits; the number of answers given. Those of `first`
    are asked first, and although they have been answered.

    Each answer is on disk before the next question is shown. Where `stdin` is not a terminal, it has one answer a line.
    What others have is not asked, unless `again`.
    """
    holder = process_name()
    try:
        return _ask(project, worker, stdin, stdout, list(first), holder, again)
    finally:
        with suppress(OSError):
            project.journal.release(holder=holder)


def _ask(
    project: Project,
    worker: str,
    stdin: IO[str],
    stdout: IO[str],
    ahead: list[tuple[int, int]],
    holder: str,
    again: bool,
) -> int:
    strong = stdout.isatty() and not os.environ.get("NO_COLOR")
    given, queue, shown = 0, list[tuple[int, int]](), None
    words = _keys(stdin)
    while queue := ahead or project.still_open(queue) or project.draw(FEW, holder, HELD, worker=worker, again=again):
        if queue[0] != shown:
            shown = queue[0]
            width = min(shutil.get_terminal_size().columns, 120)
            print(f"\n{project.progress()}\n\n{side_by_side(project, shown, width, strong)}\n", file=stdout)
        print("The same? y n u, z undo, q quit: ", end="", file=stdout, flush=True)
        word = next(words, "quit")
        said = KEYS.get(word, word)
        print(said if stdin.isatty() else "", file=stdout)
        if said in SAID:
            project.answer(queue.pop(0), SAID[said], worker)
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
    return given


def side_by_side(project: Project, pair: tuple[int, int], width: int, strong: bool = False) -> str:
    """Two records as text, `width` cells wide: a star at each field that differs; `strong`: words in bold that do."""
    a, b = (project.records.iloc[record] for record in pair)
    name = min(16, max(map(len, project.fields)))
    room = max(12, (width - name - 6) // 2)
    rows = [("", " ", a["id"], b["id"])]
    for field in project.fields:
        if a[field].strip() or b[field].strip():
            differs = list(map(_word, a[field].split())) != list(map(_word, b[field].split()))
            rows.append((visible(field)[:name], "*" if differs else " ", a[field], b[field]))
    lines = []
    for field, star, left, right in rows:
        columns = _column(left, right, room, strong and star == "*"), _column(right, left, room, strong and star == "*")
        for k, cells in enumerate(zip_longest(*columns, fillvalue=" " * room)):
            lines.append(f"{' ' if k else star} {'' if k else field:{name}}  {'  '.join(cells)}".rstrip())
    return "\n".join(lines)


def page(project: Project, pairs: list[tuple[int, int]]) -> tuple[str, str]:
    """A page in HTML with these questions, complete in one file, and what it is called."""
    group, apart = project.known
    texts = project.records[project.fields].to_numpy()
    questions = [
        {
            "ids": [project.ids[i], project.ids[j]],
            "a": [*texts[i]],
            "b": [*texts[j]],
            "groups": [group[i], group[j]],
            "token": token(project.journal.id, project.records, project.fields, (i, j)),
        }
        for i, j in pairs
    ]
    here = {group for question in questions for group in question["groups"]}
    data = {
        "name": project.csv.name, "fields": project.fields, "sep": project.settings["sep"],
        "apart": [pair for pair in sorted(apart) if here.issuperset(pair)], "questions": questions,
    }  # fmt: skip
    data["id"] = blake2b(json.dumps(data).encode(), digest_size=4).hexdigest()
    text = json.dumps(data).replace("<", "\\u003c")  # no record can end the script element
    template = files("crowder.practice").joinpath("label.html").read_text("utf-8")
    return template.replace("{{data}}", text), str(data["id"])


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
            yield from "?" if typed.startswith("\x1b") else typed  # an arrow is several characters
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


def visible(text: str) -> str:
    """The text on one line, with what cannot be seen, or would steer the terminal, by number."""
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in " ".join(text.split()))


def _word(text: str) -> str:
    """A word for comparison: capitals and punctuation around it do not count."""
    kept = [place for place, c in enumerate(text) if c.isalnum()]
    return text[kept[0] : kept[-1] + 1].lower() if kept else text


def _column(text: str, other: str, room: int, strong: bool) -> list[str]:
    """Lines of `room` cells; in bold, if `strong`, the words that the other text lacks."""
    text, theirs, lines = visible(text) or "-", {*map(_word, visible(other).split())}, []
    wide = {c for c in text if unicodedata.east_asian_width(c) in "WF"}  # two cells each
    for line in textwrap.wrap(text, room // (2 if wide else 1)):
        marked = [f"\x1b[1m{word}\x1b[0m" if strong and _word(word) not in theirs else word for word in line.split()]
        lines.append(" ".join(marked) + " " * (room - len(line) - sum(c in wide for c in line)))
    return lines
