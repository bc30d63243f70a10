"""Failures while a build runs: each gives one clear message that names the cause."""

import fcntl
import os
import resource
import subprocess
import time
from pathlib import Path

import pytest
from tiny_book import TinyBook

from book.build import render
from book.build.chapters import BuildError

PLAIN = ("# Title", "#p\nsize = 3")


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A book that is never executed: what is wrong is found before."""
    return TinyBook(tmp_path_factory.mktemp("still"))


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


# --- chapters -----------------------------------------------------------------------------------------------------

BAD = {
    "01-segfault": ("import ctypes\nctypes.string_at(0)", ["cell 3 of 3 failed: its kernel died"]),
    "02-endless": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass",
        ["cell 3 of 3 failed: the cell ran longer than 9 s"],
    ),
    "03-talkative": ("print('x' * 60_000_000)", ["cell 3 of 3 failed: its output exceeds 50 MB"]),
    "04-bereft": ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", ["its process was killed (signal 9)"]),
}
NIGHT = {
    "05-exit": ("import os\nos._exit(3)", ["cell 3 of 3 failed: its kernel died"]),
    "06-killed": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ["cell 3 of 3 failed: its kernel died"]),
    "07-stopped": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", ["longer than 9 s"]),
    "08-deaf": (
        "import time\nwhile True:\n    try:\n        time.sleep(1)\n    except KeyboardInterrupt:\n        pass",
        ["longer than 9 s"],
    ),
    "09-chatty": ("while True:\n    print('x' * 100_000)", ["its output exceeds 50 MB"]),
    "10-shown": (
        "from IPython.display import HTML, display\ndisplay(HTML('x' * 60_000_000))",
        ["its output exceeds 50 MB"],
    ),
    "11-hungry": (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\nlist(range(10**10))",
        ["cell 3 of 3 failed: MemoryError"],
    ),
    "12-quitter": ("import sys\nsys.exit(3)", ["cell 3 of 3 failed: SystemExit: 3"]),
}  # fmt: skip


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
    """And a child that outlives its chapter, in a session of its own, neither delays the build nor outlives it."""
    child = f"sleep 98{os.getpid()}"
    fork = f"import subprocess\nsubprocess.Popen({child.split()!r}, start_new_session=True)"
    book = of(tmp_path, {"00-forks": fork} | {slug: code for slug, (code, _) in BAD.items()})
    start = time.monotonic()
    message = book.refused("--timeout", "9", "--jobs", "3")
    assert time.monotonic() - start < 400
    for slug, (_, expected) in BAD.items():
        line = next(line for line in message.splitlines() if line.removeprefix("error: ").startswith(f"{slug}: "))
        assert all(words in line for words in expected), message
    assert "00-forks:" not in message.partition("error: ")[2]
    assert sorted(p.name for p in (book.out / "executed" / "full").iterdir()) == ["00-forks.ipynb", "manifest.json"]
    assert not alive(child)


@pytest.mark.nightly
@pytest.mark.parametrize("slug", NIGHT)
def test_a_chapter_that_ends_badly_is_named(tmp_path, slug):
    code, expected = NIGHT[slug]
    message = of(tmp_path, {slug: code}).refused("--timeout", "9")
    assert all(words in message for words in [f"error: {slug}: ", *expected]), message


BROKEN = {
    "ipykernel": ["01-one: its kernel did not start", "ImportError: broken ipykernel"],
    "papermill": ["01-one: its process ended with code 1", "ImportError: broken papermill"],
    "sphinx": ["the book did not render", "ImportError: broken sphinx"],
}


@pytest.mark.nightly
@pytest.mark.parametrize("package", BROKEN)
def test_a_package_that_is_broken_is_named(tmp_path, package):
    site = tmp_path / "site" / package
    site.mkdir(parents=True)
    (site / "__init__.py").write_text(f"raise ImportError('broken {package}')")
    message = of(tmp_path / "book", {"01-one": "size"}).refused(PYTHONPATH=str(site.parent))
    assert all(words in message for words in BROKEN[package]), message


FAILS_ONCE = """
import os, sys
if "ipykernel_launcher" in sys.orig_argv and not os.path.exists({mark!r}):
    open({mark!r}, "w").close()
    os._exit(1)
"""


def test_a_kernel_that_does_not_start_is_started_once_more(tmp_path):
    """As when another program takes one of the ports that were chosen for it."""
    site, mark = tmp_path / "site", tmp_path / "mark"
    site.mkdir()
    (site / "sitecustomize.py").write_text(FAILS_ONCE.format(mark=str(mark)))
    book = of(tmp_path / "book", {"01-one": "size"})
    done = book.build(PYTHONPATH=str(site))
    assert mark.exists() and done.returncode == 0, done.stderr


# --- rendering ----------------------------------------------------------------------------------------------------

COPY = "WARNING: Failed to copy a file in html_static_file: x.svg: OSError(28, 'No space left on device')"
RAISED = "Traceback\n  File x\nOSError: [Errno 28] No space left on device: '/from' -> '/to'\nRuntimeError: \n====\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"print({COPY!r})", "the book did not render: No space left on device; more in "),
        (f"import sys; print({RAISED!r}); sys.exit(1)", "the book did not render: No space left on device: "),
        ("import os; os.kill(os.getpid(), 9)", "the book did not render: Sphinx was killed (signal 9)"),
        ("raise ImportError('no theme')", "ImportError: no theme"),
        ("import sys; sys.exit(2)", "the book did not render"),
    ],
)
def test_why_sphinx_failed_is_told_first(tmp_path, monkeypatch, code, expected):
    monkeypatch.setattr(render, "_JUPYTER_BOOK", code)
    with pytest.raises(BuildError) as error:
        render.render(tmp_path / "src", tmp_path, tmp_path / "log", dict(os.environ))
    assert expected in str(error.value) and "Traceback" not in str(error.value)


@pytest.mark.nightly
@pytest.mark.parametrize("size", [20_000, 100_000, 400_000])
def test_a_disk_that_fills_up_late_is_named(tmp_path, size):
    book = of(tmp_path, {"01-one": "size"})
    message = book.refused(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert "File too large" in message and not (book.out / "html").exists()


# --- environment --------------------------------------------------------------------------------------------------

ODD = {
    "a path with spaces and accents": {},
    "no home": {"HOME": "/nonexistent"},
    "a home that is none": {"HOME": "/proc"},
    "a locale that is missing": {"LC_ALL": "xx_YY.UTF-8", "LANG": "xx"},
    "no place for temporary files": {"TMPDIR": "/nonexistent"},
    "no git": {"PATH": "/nonexistent"},
    "the year 1986": {"PYTHONPATH": "{site}"},
}


@pytest.mark.nightly
@pytest.mark.parametrize("what", ODD)
def test_odd_surroundings_change_nothing(tmp_path, what):
    site = tmp_path / "site"
    site.mkdir()
    clock = "import time\nreal = time.time\ntime.time = lambda: real() - 40 * 365 * 86400\n"
    (site / "sitecustomize.py").write_text(clock)
    book = of(tmp_path / "un été, fo öß", {"01-one": "print(size)"})
    done = book.build("--output", str(tmp_path / "aus gabe"), **{k: v.format(site=site) for k, v in ODD[what].items()})
    assert done.returncode == 0, done.stderr
    assert "3" in (tmp_path / "aus gabe" / "html" / "notebooks" / "01-one.html").read_text()


def test_a_screen_that_knows_only_ascii_still_hears_what_is_wrong(still):
    message = still.refused("--only", "ε", PYTHONIOENCODING="ascii:strict", LC_ALL="C.UTF-8")
    assert "--only \\u03b5: no such chapter" in message


# --- the PDF ------------------------------------------------------------------------------------------------------


def test_a_browser_that_does_not_start_prints_nothing_and_is_named(still, tmp_path):
    html = tmp_path / "html"
    for name in ("book/pages/index", "notebooks/01-one", "notebooks/02-two", "book/pages/bibliography"):
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / f"{name}.html").write_text("<article><h1>One</h1></article>")
    (tmp_path / "chromium").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "chromium").chmod(0o755)
    before = sorted(html.rglob("*"))
    done = subprocess.run(
        still.command("--html", str(html), module="book.build.pdf"), cwd=still.root, capture_output=True, text=True,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith(f"error: {tmp_path / 'chromium'} printed no PDF: ")
    assert sorted(html.rglob("*")) == before


def test_no_pdf_is_printed_of_pages_that_a_build_is_about_to_replace(still, tmp_path):
    with open(tmp_path / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = still.command("--html", str(tmp_path / "html"), module="book.build.pdf")
        done = subprocess.run(command, cwd=still.root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"error: another build is running in {tmp_path}\n")
