"""Failures while a build runs: each gives one clear message that names the cause."""

import os
import time
from pathlib import Path

import pytest
from tiny_book import TinyBook

from book.make import render
from book.make.chapters import BuildError
from book.make.guard import Guard

PLAIN = ("# Title", "#p\nsize = 3")


def of(root, cells):
    """A book of one chapter for each piece of code."""
    book = TinyBook(root)
    for slug in ("01-one", "02-two"):
        (book.root / "notebooks" / f"{slug}.ipynb").unlink()
    toc = ["format: jb-book", "root: book/pages/index", "chapters:"]
    for slug, code in cells.items():
        book.write(slug, *PLAIN, code)
        toc.append(f"- file: notebooks/{slug}")
    (book.root / "_toc.yml").write_text("\n".join(toc) + "\n")
    book.profiles("quick: {}")
    return book


DEAD = "cell 3 of 3 failed: DeadKernelError"
LATE = "cell 3 of 3 failed: CellTimeoutError"
BAD = {
    "01-segfault": ("import ctypes\nctypes.string_at(0)", DEAD),
    "02-endless": ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass", LATE),
    # What cannot stand on a page.
    "03-warns": ("import warnings\nwarnings.warn('beware')", "cell 3 writes to standard error"),
    "04-unsaid": (
        "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
        "cell 3 shows an image (image/svg+xml) without caption and alt text",
    ),
}


def alive(mark):
    """Whether a process has these words in its command."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                return True
        except OSError:
            pass  # gone meanwhile
    return False


def test_every_way_in_which_a_chapter_can_die_is_named_and_costs_only_that_chapter(tmp_path):
    """And a child that outlives its chapter neither delays the build nor outlives it."""
    child = f"sleep 98{os.getpid()}"
    book = of(tmp_path, {"00-forks": f"import subprocess\nsubprocess.Popen({child.split()!r})"}
              | {slug: code for slug, (code, _) in BAD.items()})  # fmt: skip
    start = time.monotonic()
    message = book.refused("--timeout", "9", "--jobs", "3").partition("error: ")[2]
    assert time.monotonic() - start < 400
    for slug, (_, expected) in BAD.items():
        assert any(line.startswith(f"{slug}: {expected}") for line in message.splitlines()), message
    assert "00-forks:" not in message
    assert sorted(p.name for p in (book.out / "executed" / "full").iterdir()) == ["00-forks.ipynb", "manifest.json"]
    assert not alive(child)


def test_why_sphinx_failed_is_told(tmp_path, monkeypatch):
    for code, expected in (
        ("print('/x/src/a.md:3: WARNING: no such thing')", "a.md:3: WARNING: no such thing"),
        ("raise ImportError('no theme')", "ImportError: no theme"),
        ("import os; print('last words', flush=True); os.kill(os.getpid(), 9)", "last words"),
        ("", "the book did not render"),
    ):
        monkeypatch.setattr(render, "_JUPYTER_BOOK", code)
        with pytest.raises(BuildError) as error, Guard() as guard:
            render.render(Path("/x/src"), tmp_path, tmp_path / "log", dict(os.environ), guard)
        assert expected in str(error.value) and "Traceback" not in str(error.value)
