"""Executing chapters: what is due, what fails and how it is said, and what is left when a build is stopped."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tiny_book import CHAPTERS, TinyBook, clean, notebook, tree

from book import project
from book import run as running
from book.text.chapters import Chapter

ONE, TWO = ("#p\nsize: int = 3  # points, in [1, inf)", "print(size, end='', flush=True)\nprint(size)")
#: One step for Python: no other thread of the kernel gets a turn, to find out that it is alone.
DEAF = "open({mark!r}, 'w').close()\nsum(range(10**10))"


@pytest.fixture
def book(tiny_built, tmp_path):
    return tiny_built.copied(tmp_path / "book")


def executed(book, slug, profile="full"):
    return json.loads((book.out / profile / slug / f"{slug}.ipynb").read_text())


# --- what is due --------------------------------------------------------------------------------------------------


@pytest.fixture
def project_at(tmp_path, monkeypatch):
    """A chapter, and all that it may read."""
    for name in ("crowder/a.py", "book/companion/a.py", "notebooks/plots/own.py", "notebooks/plots/other.py",
                 "book/data/published.yml", "book/data/recorded/used.csv", "book/data/recorded/left.csv",
                 "requirements.lock", "book/data/claims.yml"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"""A docstring."""\na = 1  # a comment\n' if name.endswith(".py") else "1\n")
    monkeypatch.setattr(running, "ROOT", tmp_path)
    monkeypatch.setattr(project, "ROOT", tmp_path)
    code = 'from notebooks.plots import own\nfrom book.companion import published, recorded\nrecorded("used", f)'
    (tmp_path / "notebooks" / "01-one.ipynb").write_text(
        json.dumps(notebook("# One\n\nIt is 3<!--size-->.", ONE, code))
    )
    return tmp_path


def key(root, **parameters):
    return running.key(Chapter("01-one", Path("notebooks/01-one.ipynb"), root), parameters, running.shared())


def test_a_chapter_is_due_when_what_it_reads_has_changed_and_not_for_words(project_at):
    first = key(project_at)
    assert key(project_at, size=4) != first
    for name in ("crowder/a.py", "book/companion/a.py", "notebooks/plots/own.py", "book/data/published.yml",
                 "book/data/recorded/used.csv", "requirements.lock"):  # fmt: skip
        path = project_at / name
        before = path.read_text()
        path.write_text(before.replace("1", "2"))
        assert key(project_at) != first, name
        path.write_text(before)
    for name in ("notebooks/plots/other.py", "book/data/recorded/left.csv", "book/data/claims.yml"):
        (project_at / name).write_text("2\n")  # what another chapter reads, or none
    (project_at / "crowder" / "a.py").write_text("# Another comment.\na = 1\n")
    path = project_at / "notebooks" / "01-one.ipynb"
    text = path.read_text()
    path.write_text(text.replace("It is", "There are"))
    assert key(project_at) == first
    path.write_text(text.replace("<!--size-->", "<!--size + 0-->"))  # what the text asks for is computed there
    assert key(project_at) != first


def test_only_what_is_due_runs_and_a_failing_chapter_costs_only_itself(book):
    before = tree(book.out / "full" / "01-one")
    (book.out / "full" / "02-two" / "of-before.csv").touch()
    book.write("01-one", "# One", ONE, "import sys\nsize\n1 / (size - 3)")
    book.edit("02-two", ("size + share", "size - share"))
    done = book.run()
    assert done.returncode == 1 and "Traceback" not in done.stderr and "A2-more" not in done.stderr
    lines = done.stderr.partition("error: ")[2].splitlines()
    assert lines[0] == "01-one: cell 3 of 3: ZeroDivisionError: division by zero"
    assert [line.strip() for line in lines[1:4]] == ["import sys", "size", "1 / (size - 3)"]
    assert lines[4] == "    more in _build/full/01-one.failed.ipynb, _build/full/01-one.log"
    assert tree(book.out / "full" / "01-one") == before  # as it was
    assert not (book.out / "full" / "02-two" / "of-before.csv").exists()
    assert executed(book, "02-two")["cells"][-1]["source"] in ("size - share", ["size - share"])
    assert not [*book.out.glob("full/.*")]


#: What chapters start and leave. A kernel that ends in order ends it, too; one that dies does not.
LEFT = f"sleep 300.{os.getpid()}"
LEAVES = f"import subprocess\nsubprocess.Popen({LEFT.split()!r})"
BAD = {
    "segfault": (f"import ctypes\n{LEAVES}\nctypes.string_at(0)", "cell 3 of 3: DeadKernelError"),
    "warns": ("import warnings\nwarnings.warn('beware')", "BuildError: cell 3 writes to standard error"),
    "unsaid": ("from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
               "BuildError: cell 3 shows an image (image/svg+xml) without caption and alt text"),
}  # fmt: skip


def test_every_way_in_which_a_chapter_can_die_is_named_and_nothing_of_it_goes_on(book):
    toc = (book.root / "_toc.yml").read_text()
    for slug, (code, _) in BAD.items():
        book.write(f"0{slug}", "# Title", ONE, code)
        toc += f"- chapters: [{{file: notebooks/0{slug}}}]\n"
    book.file("_toc.yml", toc)
    book.write("01-one", "# One\n\nIt is 9<!--sizes:.0f-->.", ONE, LEAVES)
    done = book.run("01", *(f"0{slug}" for slug in BAD))
    assert done.returncode == 1
    for slug, (_, said) in BAD.items():
        assert f"0{slug}: {said}" in done.stderr, done.stderr
    assert "01-one: a number of the text: ValueError: <!--sizes:.0f-->: NameError: name 'sizes'" in done.stderr
    commands = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not [command for command in commands if LEFT in command]


#: Stands in for a kernel: the first one finds that another program has taken its port.
TAKEN = """
import json, os, socket, sys
from pathlib import Path
mark, connection = Path(sys.argv[1]), Path(sys.argv[2])
left = int(mark.read_text())
mark.write_text(str(left - 1))
if left > 0:
    facts = json.loads(connection.read_text())
    other = socket.socket()
    other.bind((facts["ip"], facts["shell_port"]))
    other.listen()
    os.set_inheritable(other.fileno(), True)
os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", "-f", str(connection)])
"""


@pytest.mark.parametrize(("taken", "good"), [(1, True), (9, False)])
def test_a_kernel_whose_port_is_taken_is_started_again(book, tmp_path, taken, good):
    """Up to three times."""
    (tmp_path / "taken.py").write_text(TAKEN)
    (tmp_path / "left").write_text(str(taken))
    argv = [sys.executable, str(tmp_path / "taken.py"), str(tmp_path / "left"), "{connection_file}"]
    kernel = tmp_path / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    book.write("01-one", "# One", ONE, "size")
    done = book.run("01", JUPYTER_PATH=str(tmp_path))
    assert (done.returncode == 0) == good, done.stderr
    assert taken - int((tmp_path / "left").read_text()) == (2 if good else running.STARTS)
    if not good:
        assert "01-one: RuntimeError: Kernel died before replying to kernel_info" in done.stderr


# --- parameters ---------------------------------------------------------------------------------------------------


def test_a_profile_reaches_the_chapter_and_is_no_part_of_the_book(book):
    before = tree(book.out / "full")
    assert book.run("--profile", "quick").returncode == 0
    assert json.loads((book.out / "quick" / "02-two" / "ran.json").read_text())["parameters"]["n"] == 3
    assert "simulated 6" in json.dumps(executed(book, "02-two", "quick"))  # of 3 numbers; 4 are recorded
    assert tree(book.out / "quick" / "01-one") == tree(book.out / "full" / "01-one")  # it has the same parameters there
    assert tree(book.out / "full") == before
    done = book.render(PROFILE="quick")
    assert done.returncode == 0 and "<b>Quick profile:</b>" in book.page("notebooks/02-two")


def test_a_run_with_parameters_lists_what_differs_and_its_notebook_says_what_was_computed(book):
    before = tree(book.out / "full")
    done = book.run("02", "-p", "share", "0.25", "-y", "{sizes: [2, 4], size: 20}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for said in (
        "02-two: printed counts, a (within 5 %): the book has 100; computed: 119",
        "02-two: share:.0% in “The share is **50%** of 5.”: the book has 50%; computed: 25%",
        "02-two: fig-states.csv, size, row 2 (1 of 2 differ): the book has 3; computed: 4",
        "02-two: 11 more differences in captions, tables, drawings and other output",
    ):
        assert said in lines, done.stdout
    name = "02-share-0.25-sizes-2-4-size-20"
    assert lines[-1].startswith(f"The notebooks are in _build/runs/{name}; ")
    text = json.dumps(executed(book, "02-two", f"runs/{name}"), ensure_ascii=False)
    assert "**25%<!--share:.0%-->** of 20<!--size-->" in text
    assert "**Not the book's parameters:** `size` is `20` instead of `5`; `share` is" in text
    assert tree(book.out / "full") == before
    # Its pages, with the other chapters as in the book.
    assert book.render(PROFILE=f"runs/{name}").returncode == 0
    assert "<strong>25%</strong> of 20." in book.page("notebooks/02-two") and "Figure 1.1" in book.page(
        "notebooks/01-one"
    )


def test_without_chapters_those_run_that_have_the_parameter(book):
    done = book.run("-p", "name", "y")
    assert done.returncode == 0 and [p.name for p in book.out.glob("runs/*/*/")] == ["01-one"]


def test_what_is_typed_wrong_is_named_before_anything_runs(tiny_built):
    for words, said in (
        (["-p", "sized", "3"], "no parameter sized: 01-one has size, factor, name; 02-two has size, share, n, "),
        (["07"], "no chapter 07; there are 01-one, 02-two, A2-more"),
        (["--profile", "slow"], "no profile slow; there are full, quick, complete"),
        (["02", "-p", "size", "0"], "02-two: size is 0, but must be an integer in [1, inf)"),
        (["02", "-p", "sizes", "[2]"], "02-two: sizes is '[2]', but must be a list of at least 1, each an integer in "
                                       "[1, inf) (papermill passes a list with -y)"),
        (["-y", "3"], "-y 3: expected names and values"),
    ):  # fmt: skip
        done = tiny_built.run(*words)
        assert done.returncode == 1 and done.stderr.startswith(f"error: {said}"), done.stderr


def test_profiles_chapters_and_contents_name_only_what_exists(tmp_path):
    still = TinyBook(tmp_path / "still")
    profiles, one, three = "book/data/profiles.yml", "notebooks/01-one.ipynb", "notebooks/03-three.ipynb"
    for name, text, said in (
        (profiles, "quick: {01-one: {sized: 1}}", "profiles.yml: sized is not a parameter of 01-one, which has size"),
        (profiles, "quick: {03-three: {size: 1}}", "profiles.yml: quick names 03-three, which is not a chapter"),
        (profiles, "quick: [", "profiles.yml: "),
        (one, json.dumps(notebook("# One", "size = 5")), "01-one: the cell of parameters: there must be exactly one"),
        (one, json.dumps(notebook("# One", "#p\nsize = 5")), "01-one: the cell of parameters: expected a name"),
        (one, "{", "01-one: notebooks/01-one.ipynb is not a notebook"),
        (three, "{}", "03-three: notebooks/03-three.ipynb is not in _toc.yml"),
    ):
        path = still.root / name
        before = path.read_text() if path.exists() else None
        still.file(name, text)
        done = still.run("--profile", "quick")
        assert done.returncode == 1 and done.stderr.startswith(f"error: {said}"), done.stderr
        path.write_text(before) if before else path.unlink()


# --- builds that are stopped --------------------------------------------------------------------------------------


def test_two_builds_at_once_are_one_too_many(tiny_built):
    with (tiny_built.out / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert tiny_built.run().stderr == "error: another build is running\n"


def started(book, mark):
    """A build whose chapter is in a step that hears nothing, in the kernel."""
    book.write("01-one", "# One", ONE, DEAF.format(mark=str(mark)))
    # A test run in the background has Ctrl-C switched off, and would pass that on.
    build = subprocess.Popen(
        book.command("book.run", "01"), cwd=book.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, start_new_session=True, env=clean(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while not mark.exists():
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)  # into the sum
    return build, psutil.Process(build.pid).children(recursive=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_stopped_leaves_the_last_results_and_no_process(book, tmp_path, number):
    before = tree(book.out / "full" / "01-one")
    build, processes = started(book, tmp_path / "mark")
    assert len(processes) >= 2  # a worker and its kernel
    build.send_signal(number)
    message = build.communicate(timeout=60)[1]
    assert "Traceback" not in message
    assert build.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert psutil.wait_procs(processes, timeout=10)[1] == []
    assert tree(book.out / "full" / "01-one") == before
    book.write("01-one", *CHAPTERS["01-one"])
    assert book.run().stderr == "" and not [*book.out.glob("full/.*")]  # what was executed is current
