"""Builds that are killed: readers find the last pages, and no process goes on; the next build completes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_book import ROOT, clean, tree

from book.make import folders

SAID = "from IPython.display import Markdown\nMarkdown(f'It is {size}.')"
TABLE = """import pandas as pd
from book.companion import figures
figures.table(pd.DataFrame({"x": [size] * 9}), "tab-x", caption="Nine.")
"""
#: One step for Python: no other thread of the kernel gets a turn, to find out that it is alone.
DEAF = "open({mark!r}, 'w').close()\nsum(range(10**10))"


def rewrite(book, size):
    """Two chapters that draw nothing: a build of seconds."""
    book.write("01-one", "# One", f"#p\nsize = {size}\nname = 'x'", SAID)
    book.write("02-two", "# Two", f"#p\nsize = {size}\nshare = 0.5", TABLE)


def belonging(out):
    """Processes that a build in this folder has started."""
    mark, found = f"={out}/.work-".encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes())
        except OSError:
            pass  # gone, or somebody else's
    return found


def alone_soon(out, patience=10.0):
    deadline = time.monotonic() + patience
    while (left := belonging(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not left


def start(book, *options):
    # A test run in the background has Ctrl-C switched off, and would pass that on.
    return subprocess.Popen(
        book.command(*options), cwd=book.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, start_new_session=True, env=clean(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def wait_for(build, what):
    deadline = time.monotonic() + 200
    while not what():
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def test_a_killed_build_leaves_the_last_pages_and_the_next_completes(tiny_built, tmp_path):
    book, mark = tiny_built.copied(tmp_path / "book"), tmp_path / "mark"
    pages, results = tree(book.out / "html"), tree(book.out / "results" / "full" / "01-one")
    book.write("01-one", "# One", "#p\nsize = 3", DEAF.format(mark=str(mark)))

    build = start(book, "--only", "01")
    wait_for(build, mark.exists)
    time.sleep(0.5)  # into the sum
    build.kill()  # alone, and not what it has started
    build.communicate(timeout=60)
    assert alone_soon(book.out), belonging(book.out)
    assert tree(book.out / "html") == pages and tree(book.out / "results" / "full" / "01-one") == results

    rewrite(book, 4)
    build = start(book)
    wait_for(build, lambda: any(b"jupyter_book" in command for command in belonging(book.out)))
    time.sleep(1)
    os.killpg(build.pid, signal.SIGKILL)
    build.communicate(timeout=60)
    assert alone_soon(book.out), belonging(book.out)
    assert tree(book.out / "html") == pages

    done = book.build()
    assert done.returncode == 0 and "executing 0 of 2" in done.stderr, done.stderr  # both had completed
    assert "It is 4" in book.page("notebooks/01-one") and not book.leftovers()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_told_to_stop_tidies_up(tiny_built, tmp_path, number):
    book, mark = tiny_built.copied(tmp_path / "book"), tmp_path / "mark"
    book.write("01-one", "# One", "#p\nsize = 3", DEAF.format(mark=str(mark)))
    build = start(book, "--only", "01")
    wait_for(build, mark.exists)
    build.send_signal(number)
    message = build.communicate(timeout=60)[1]
    assert build.returncode == (130 if number == signal.SIGINT else 128 + number) and "Traceback" not in message
    assert not book.leftovers() and alone_soon(book.out)


# --- the two renames ----------------------------------------------------------------------------------------------


DIES = """
import os, sys
from pathlib import Path
from book.make import folders
left, rename = int(sys.argv[2]), Path.rename
def dying(path, target):
    global left
    if not left:
        os._exit(9)
    left -= 1
    return rename(path, target)
Path.rename, folders.shutil.rmtree = dying, lambda *_, **__: None
folders.replace(Path(sys.argv[1], "new"), Path(sys.argv[1], "html"))
"""


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_build_killed_between_the_two_renames_is_put_right_by_the_next(tmp_path, moves):
    (tmp_path / ".lock").touch()
    for name in ("html", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    done = subprocess.run([sys.executable, "-c", DIES, str(tmp_path), str(moves)], cwd=ROOT)
    assert done.returncode == (9 if moves < 2 else 0)
    assert (tmp_path / "html").exists() == (moves != 1)
    with folders.build_lock(tmp_path):
        found = [path.name for path in (tmp_path / "html").iterdir()]
    assert found == (["new"] if moves == 2 else ["html"]) and not (tmp_path / "html.old").exists()
    with pytest.raises(FileNotFoundError):  # a rename that fails is undone
        folders.replace(tmp_path / "absent", tmp_path / "html")
    assert [path.name for path in (tmp_path / "html").iterdir()] == found and not (tmp_path / "html.old").exists()
