"""Builds that are killed: at every step on disk, at random moments, alone and with all that they have started.

What readers may find is then absent, or to the last byte that of a complete build; and the next build leaves what one
that nobody disturbed would have left. Power cuts are another matter: nothing here waits for a disk to have written.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killed_builds import tree
from tiny_book import ROOT, TinyBook

SAID = "from IPython.display import Markdown\nMarkdown(f'It is {size}.')"
TABLE = """import pandas as pd
from book.companion import figures
figures.table(pd.DataFrame({"x": [size] * 9}), "tab-x", caption="Nine.")
"""


def killed_at_every_step(tmp_path, *how):
    TinyBook(tmp_path)
    script = [sys.executable, str(ROOT / "tests" / "support" / "killed_builds.py"), str(tmp_path), *how]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    return found["deaths"]


@pytest.mark.parametrize(
    ("name", "how", "every", "least"),
    [("SIGKILL", "exchange", 3, 5), ("SIGKILL", "stepwise", 11, 3), ("SIGINT", "stepwise", 8, 4)],
)
def test_a_build_that_is_stopped_before_a_change_to_what_is_published_leaves_it_whole(
    tmp_path, name, how, every, least
):
    """By day before some of its changes. `stepwise` is a system that cannot let two folders change places."""
    assert killed_at_every_step(tmp_path, name, how, "published", str(every)) >= least


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "every"), [("SIGKILL", 1), ("SIGINT", 4), ("SIGTERM", 5), ("SIGHUP", 5)])
@pytest.mark.parametrize("how", ["exchange", "stepwise"])
def test_a_build_that_is_stopped_before_any_change_on_disk_leaves_what_is_published_whole(tmp_path, name, how, every):
    # More than a hundred files are copied before a chapter runs, and removed again at the end.
    assert killed_at_every_step(tmp_path, name, how, "everywhere", str(every)) * every > 200


# --- the whole build, chapters and pages included -----------------------------------------------------------------


def light(root):
    """Two chapters that draw nothing: a build of seconds."""
    book = TinyBook(root)
    book.write("01-one", "# One", "#p\nsize = 3\nname = 'x'", SAID)
    book.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", TABLE)
    return book


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A complete book, how long it took, and what must come of every other."""
    book = light(tmp_path_factory.mktemp("undisturbed"))
    start = time.monotonic()
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book, time.monotonic() - start


def outcome(out):
    """Results, executions and pages; without the manifest, which has times in it."""
    found = {folder: tree(out / folder) for folder in ("results", "executed", "html")}
    del found["executed"]["full/manifest.json"]
    return found


def belonging(out):
    """Processes that a build in this folder has started."""
    mark, found = f"CROWDER_WORK={out}/".encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes())
        except OSError:
            pass  # gone, or somebody else's
    return found


def alone_soon(out, patience=20.0):
    deadline = time.monotonic() + patience
    while (left := belonging(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not left


def kill(book, number, group, after):
    """Start a build and stop it; False if it was faster."""
    build = subprocess.Popen(
        book.command("--again"), cwd=book.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, start_new_session=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("CROWDER_")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        build.wait(after)
    except subprocess.TimeoutExpired:
        (os.killpg if group else os.kill)(build.pid, number)
    message = build.communicate(timeout=60)[1]
    assert "Traceback" not in message
    return build.returncode != 0


@pytest.mark.nightly
def test_builds_that_are_killed_at_random_moments_publish_no_half_and_the_next_completes(undisturbed, tmp_path):
    """Moments are spread over the whole length of a build: execution, publishing, rendering, the last moves."""
    good, seconds = undisturbed
    want = outcome(good.out)
    book = light(tmp_path)
    kills = 24
    ways = [(signal.SIGKILL, True), (signal.SIGINT, True), (signal.SIGKILL, False), (signal.SIGTERM, False)]
    moments, deaths = random.Random(7), 0
    for turn in range(kills):
        number, group = ways[turn % len(ways)]
        deaths += kill(book, number, group, seconds * (turn + moments.random()) / kills)
        for folder, files in want.items():
            there = tree(book.out / folder) if (book.out / folder).exists() else {}
            there.pop("full/manifest.json", None)
            assert {name: files.get(name) for name in there} == there, (turn, folder)
        assert tree(book.out / "html") in ({}, want["html"]), turn
        for slug in ("01-one", "02-two"):
            whole = tree(good.out / "results" / "full" / slug)
            assert tree(book.out / "results" / "full" / slug) in ({}, whole), (turn, slug)
        assert alone_soon(book.out), (turn, belonging(book.out))
    assert deaths >= kills // 2
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert outcome(book.out) == want
    assert not book.leftovers() and not belonging(book.out)
    assert {path.name for path in book.out.iterdir()} == {path.name for path in good.out.iterdir()}


@pytest.mark.nightly
def test_sphinx_ends_with_the_build_that_started_it(undisturbed, tmp_path):
    """Alone it would go on writing pages where the next build begins."""
    book = light(tmp_path)
    build = subprocess.Popen(
        book.command(), cwd=book.root, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not any(b"jupyter_book" in command for command in belonging(book.out)):
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    build.kill()
    build.communicate()
    assert alone_soon(book.out, 5), belonging(book.out)


def test_a_kernel_that_listens_to_nobody_ends_with_its_build(tmp_path):
    """The sum is one step for Python: no other thread of the kernel gets a turn, to find out that it is alone."""
    book, mark = light(tmp_path), tmp_path / "mark"
    book.write("01-one", "# One", "#p\nsize = 3", f"open({str(mark)!r}, 'w').close()\nsum(range(10**10))")
    build = subprocess.Popen(
        book.command("--only", "01"), cwd=book.root, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not mark.exists():
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)  # into the sum
    build.kill()
    build.wait()
    assert alone_soon(book.out, 5), belonging(book.out)


def test_the_next_build_ends_what_a_killed_one_has_left_running(undisturbed):
    """A kernel may be deep in compiled code, and a chapter may have started what listens to nobody."""
    book, _ = undisturbed
    work = book.out / ".work-dead"
    work.mkdir()
    stray = subprocess.Popen(["sleep", "600"], env=os.environ | {"CROWDER_WORK": str(work)}, start_new_session=True)
    other = subprocess.Popen(["sleep", "600"], env=os.environ | {"CROWDER_WORK": f"{work}-of-another"})
    try:
        book.build("--only", "07")  # no such chapter; any start tidies up
        assert stray.wait(10) == -signal.SIGKILL
        assert other.poll() is None and not work.exists()
    finally:
        stray.kill(), other.kill()
        stray.wait(), other.wait()


# --- the environment that make sets up ----------------------------------------------------------------------------

PYTHON = """#!/bin/sh
# Stands in for Python: notes what it is asked, makes what venv would, and waits for its end where the test says.
echo "$*" >> "{folder}/asked"
case "$*" in
    *"-m venv "*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; wait_at=venv;;
    *"install --quiet --no-compile --require-hashes"*) wait_at=install;;
esac
if [ -n "$wait_at" ] && [ -e "{folder}/stop-$wait_at" ]; then
    rm "{folder}/stop-$wait_at"
    touch "{folder}/reached"
    exec sleep 600
fi
exit 0
"""


@pytest.mark.parametrize("where", ["venv", "install"])
def test_an_environment_whose_making_was_killed_is_not_trusted(tmp_path, where):
    project, fake = tmp_path / "project", tmp_path / "python"
    project.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        (project / name).write_bytes((ROOT / name).read_bytes())
    fake.write_text(PYTHON.format(folder=tmp_path))
    fake.chmod(0o755)
    (tmp_path / f"stop-{where}").touch()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = {"args": ["make", ".venv/.book", f"PYTHON={fake}"], "cwd": project, "stdout": subprocess.DEVNULL}
    make = subprocess.Popen(**command, env=clean, start_new_session=True)
    deadline = time.monotonic() + 20
    while not (tmp_path / "reached").exists():
        assert make.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(make.pid, signal.SIGKILL)
    make.wait()
    before = (tmp_path / "asked").read_text().splitlines()
    assert (project / ".venv" / "bin" / "python").exists() and not (project / ".venv" / ".book").exists()

    subprocess.run(**command, env=clean, check=True)
    after = (tmp_path / "asked").read_text().splitlines()[len(before) :]
    assert any("-m venv" in line for line in after) == (where == "venv")
    install = next(line for line in after if "--require-hashes" in line)
    assert ("--force-reinstall" in install) == (where == "install")
    assert {path.name for path in (project / ".venv").iterdir()} == {"bin", ".book"}
    subprocess.run(**command, env=clean, check=True)
    assert len((tmp_path / "asked").read_text().splitlines()) == len(before) + len(after)  # a stamp means done
