"""`python -m book.build` on a tiny book: its output, and every error that it must report."""

import copy
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from tiny_book import FIGURE, TinyBook


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Built once; the tests that use it only look."""
    book = TinyBook(tmp_path_factory.mktemp("built"))
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book


@pytest.fixture
def tiny(tmp_path):
    return TinyBook(tmp_path)


@pytest.fixture
def again(built, tmp_path):
    return built.copied(tmp_path / "again")


def refused(book, *options, **env):
    """The message of a build that must fail."""
    done = book.build(*options, **env)
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


# --- what a build makes -------------------------------------------------------------------------------------------


def test_figures_are_numbered_described_and_linked_to_their_data(built):
    page = built.page("notebooks/01-one")
    assert page.count('alt="A &quot;line&quot;: ') == 2
    for number in ("Figure 1.1", "Figure 1.2", "Table 1.1"):
        assert number in page
    assert page.count("data") >= 3 and page.count(".csv") == 3
    assert "Mazumdar and Saha [" in page  # a role in a caption
    assert 'Drawn to 3: see <a class="reference internal" href="#fig-b">' in page
    assert "x|y" in page


def test_results_land_once_with_their_parameters(built):
    folder = built.out / "results" / "full"
    assert sorted(p.name for p in (folder / "01-one").iterdir()) == sorted(
        [f"fig-{x}.{s}" for x in "ab" for s in ("csv", "json", "png", "svg")] + ["tab-a.csv", "tab-a.json"]
    )
    record = built.record("01-one", "fig-a")
    assert record["parameters"] == {"size": 3, "name": "x"}
    assert (record["chapter"], record["profile"]) == ("01-one", "full")
    assert not built.leftovers()


def test_the_manifest_says_what_ran(built):
    manifest = json.loads((built.out / "executed" / "full" / "manifest.json").read_text())
    entry = manifest["chapters"]["02-two"]
    assert entry["parameters"] == {"size": 5, "share": 0.5}
    assert entry["seconds"] > 0 and entry["versions"]["python"] and "commit" in entry


def test_the_executed_copy_is_clean_and_is_what_the_reader_downloads(built):
    path = built.out / "executed" / "full" / "01-one.ipynb"
    assert "papermill" not in path.read_text()
    notebook = json.loads(path.read_text())
    assert [c["id"] for c in notebook["cells"]] == ["cell-0", "cell-1", "cell-2"]
    assert "image/svg+xml" in notebook["cells"][2]["outputs"][0]["data"]
    assert (built.out / "html" / "_sources" / "notebooks" / "01-one.ipynb").read_bytes() == path.read_bytes()


def test_the_sources_stay_as_they_were(built):
    expected = {"book", "crowder", "notebooks", "_build", "_config.yml", "_toc.yml"}
    assert {p.name for p in built.root.iterdir()} == expected
    assert {p.name for p in (built.root / "notebooks").iterdir()} == {"01-one.ipynb", "02-two.ipynb"}
    assert not json.loads((built.root / "notebooks" / "01-one.ipynb").read_text())["cells"][2]["outputs"]
    assert not [p for p in built.root.rglob("__pycache__") if "_build" not in p.parts]


@pytest.mark.parametrize("where", ["the same clone", "another clone"])
def test_two_builds_are_the_same_bytes(built, tmp_path, where):
    twin = copy.copy(built)
    if where == "another clone":
        twin.root = tmp_path / "a longer name" / "of another clone"
        shutil.copytree(built.root, twin.root, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    again = twin.build("--output", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    for folder in ("html", "results"):
        first, other = (
            {p.relative_to(out): p.read_bytes() for p in (out / folder).rglob("*") if p.is_file()}
            for out in (built.out, tmp_path / "again")
        )
        assert first.keys() == other.keys()
        assert [name for name in first if first[name] != other[name]] == []


def test_pages_do_not_depend_on_the_way_they_came_about(built, tmp_path):
    """One chapter executed again, the others as they were: every page is that of a whole build, to the byte."""
    again = copy.copy(built)
    again.out = tmp_path / "again"
    shutil.copytree(built.out, again.out)
    done = again.build("--only", "02", "--output", str(again.out))
    assert done.returncode == 0 and "executing 1 of 2" in done.stderr, done.stderr
    pages, others = (
        {p.relative_to(out): p.read_bytes() for p in (out / "html").rglob("*") if p.is_file()}
        for out in (built.out, again.out)
    )
    assert pages.keys() == others.keys()
    assert [name for name in pages if pages[name] != others[name]] == []


# --- parameters, profiles, parts ----------------------------------------------------------------------------------


def test_a_profile_and_a_typed_value_reach_the_chapter_and_its_page(tiny):
    done = tiny.build("--profile", "quick", "-p", "size=8", "--jobs", "1", GITHUB_REPOSITORY="some/where")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tiny.out / "executed" / "quick" / "manifest.json").read_text())
    # An integer in profiles.yml serves where the default is a float.
    assert manifest["chapters"]["02-two"]["parameters"] == {"size": 8, "share": 1.0}
    assert tiny.record("01-one", "tab-a", "quick")["parameters"]["size"] == 8
    page = tiny.page("notebooks/02-two")
    assert '<span class="mi">8</span>' in page and "9.0" in page
    assert "<b>quick</b> profile" in page
    assert "github.com/some/where" in page and "crowder-book" not in page


def test_a_build_executes_only_what_has_changed(again):
    again.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "import crowder\nprint('changed')")
    page = again.page("notebooks/01-one")
    done = again.build()
    assert done.returncode == 0 and "executing 1 of 2 chapters, profile full; the others are up" in done.stderr
    assert "changed" in again.page("notebooks/02-two") and again.page("notebooks/01-one") == page
    # A parameter is a change, too, for the chapter that has it.
    assert "executing 1 of 2 chapters" in again.build("-p", "name=y").stderr
    assert again.record("01-one", "tab-a")["parameters"]["name"] == "y"


def test_one_chapter_again_renders_only_if_the_others_are_current(again):
    again.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "import crowder\nsize + share")
    assert "executing 1 of 2" in again.build().stderr
    first = again.page("notebooks/01-one")

    done = again.build("--only", "1", "-p", "size=4")
    assert done.returncode == 0 and "the book is at" in done.stdout
    assert again.record("01-one", "tab-a")["parameters"]["size"] == 4
    assert "Drawn to 4" in again.page("notebooks/01-one") != first

    # The other way round, 01-one is not current: it ran with a value of its own.
    done = again.build("--only", "02")
    assert done.returncode == 0 and "not rendered" in done.stdout and "01-one" in done.stdout

    # A change in a module that it imports makes an earlier execution stale.
    (again.root / "crowder" / "__init__.py").write_text("changed = True\n")
    done = again.build("--only", "01-one", "-p", "size=6")
    assert done.returncode == 0 and "profile full: 02-two" in done.stdout
    assert again.record("01-one", "tab-a")["parameters"]["size"] == 6
    assert "Drawn to 4" in again.page("notebooks/01-one")


def test_again_executes_what_is_up_to_date(tiny):
    tiny.write("01-one", "# One", "#p\nsize = 3", "size")
    assert tiny.build("--only", "01", "02").returncode == 0
    assert "executing 2 of 2 chapters, profile full\n" in tiny.build("--again").stderr


def test_a_preview_needs_no_other_chapter(tiny):
    (tiny.root / "notebooks" / "02-two.ipynb").unlink()
    tiny.write("01-one", "# One\n\nSee {ref}`elsewhere`.", "#p\nsize = 3", FIGURE)
    done = tiny.build("--only", "01", "--preview")
    assert done.returncode == 0, done.stderr
    assert "01-one" in done.stderr and "elsewhere" in done.stderr
    assert "Figure 1.2" in (tiny.out / "preview" / "notebooks" / "01-one.html").read_text()
    assert not (tiny.out / "html").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-p", "sized=3"], ["sized", "01-one has size, name", "02-two has size, share"]),
        (["--only", "02", "-p", "name=y"], ["name", "02-two has size, share"]),
        (["-p", "size=large"], ["01-one", "size", "'large'", "int"]),
        (["-p", "size=1.5"], ["01-one", "size", "1.5", "int"]),
        (["-p", "size"], ["expected name=value"]),
        (["--only", "07"], ["--only 07", "01-one, 02-two"]),
        (["--profile", "slow"], ["slow", "full, quick"]),
    ],
)
def test_what_is_typed_wrong_is_named(built, options, expected):
    message = refused(built, *options)
    assert all(words in message for words in expected), message


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        ("quick: {03-three: {size: 1}}", ["03-three", "01-one, 02-two"]),
        ("quick: {01-one: {sized: 1}}", ["01-one", "'sized'", "size, name"]),
        ("quick: {01-one: {size: many}}", ["01-one", "size", "'many'", "int"]),
    ],
)
def test_profiles_name_only_what_exists(tiny, profiles, expected):
    tiny.profiles(profiles)
    message = refused(tiny)
    assert all(words in message for words in ["book/data/profiles.yml", *expected]), message


def test_every_chapter_has_one_parameters_cell_of_literals(tiny):
    tiny.write("02-two", "# Two", "size = 5")
    assert "02-two: needs exactly one code cell tagged 'parameters', has 0" in refused(tiny)
    tiny.write("02-two", "# Two", "#p\nsize = 5", "#p\nsize = 6")
    assert "has 2" in refused(tiny)
    tiny.write("02-two", "# Two", "#p\nsize = 5 * 2")
    assert "02-two: parameter size must be a literal" in refused(tiny)


def test_chapters_and_contents_agree(tiny):
    tiny.write("03-three", "# Three", "#p\nsize = 1")
    assert "notebooks/03-three.ipynb is not in _toc.yml" in refused(tiny)
    for slug in ("03-three", "02-two"):
        (tiny.root / "notebooks" / f"{slug}.ipynb").unlink()
    assert "02-two: notebooks/02-two.ipynb is in _toc.yml but does not exist" in refused(tiny)


# --- failures -----------------------------------------------------------------------------------------------------


def test_a_failing_cell_is_named_and_costs_only_its_own_chapter(again):
    before = (again.out / "results/full/01-one/fig-a.json").read_bytes()
    page = again.page("notebooks/01-one")
    again.write("01-one", "# One", "#p\nsize = 3", FIGURE, "1 / (size - 4)")
    again.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "print('new')")
    message = refused(again, "-p", "size=4")
    assert "01-one: cell 4 of 4 failed: ZeroDivisionError" in message and "1 / (size - 4)" in message
    assert (again.out / "results/full/01-one/fig-a.json").read_bytes() == before
    assert again.page("notebooks/01-one") == page
    assert "new" in (again.out / "executed/full/02-two.ipynb").read_text()
    assert not again.leftovers()


def test_a_cell_that_never_ends_is_stopped(tiny):
    tiny.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "while True:\n    pass")
    message = refused(tiny, "--only", "02", "--timeout", "2")
    assert "02-two: cell 3 of 3 failed" in message and "longer than 2 s" in message


def test_a_dead_kernel_is_a_failure_of_its_chapter(tiny):
    tiny.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "import os\nos._exit(3)")
    assert "02-two: cell 3 of 3 failed" in refused(tiny, "--only", "02")


def test_an_image_without_alternative_text_is_refused(tiny):
    tiny.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    message = refused(tiny, "--only", "02")
    assert "02-two: cell 3 shows an image" in message and "figures.show" in message
    assert not (tiny.out / "results/full/02-two").exists()


def test_a_warning_of_a_cell_is_refused(tiny):
    tiny.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "import warnings\nwarnings.warn('beware')")
    message = refused(tiny)
    assert "02-two: cell 3 writes to standard error" in message and "beware" in message
    assert (tiny.out / "results/full/01-one/fig-a.svg").exists()


def test_a_name_of_two_chapters_is_refused(tiny):
    tiny.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", FIGURE)
    assert "02-two: shows fig-a, and so does 01-one" in refused(tiny)


def test_a_warning_of_sphinx_fails_and_names_its_page(tiny):
    tiny.write("02-two", "# Two\n\nSee {ref}`nowhere`.", "#p\nsize = 5\nshare = 0.5")
    (tiny.root / "book" / "pages" / "index.md").write_text("# Tiny\n\nSee [this](missing.md).\n")
    message = refused(tiny)
    assert "notebooks/02-two.ipynb cell 1, line 3: undefined label: 'nowhere'" in message
    assert "book/pages/index.md" in message and "missing.md" in message
    assert not (tiny.out / "html").exists() and not tiny.leftovers()


# --- interruption -------------------------------------------------------------------------------------------------

SLOW = FIGURE + "\nimport time, pathlib, os\npathlib.Path('{mark}').write_text(str(os.getpid()))\ntime.sleep(60)\n"


def interrupt(book, mark, number):
    """Start a build, wait until its chapter has written results, and send a signal."""
    # A test run in the background has Ctrl-C switched off, and would pass that on.
    listening = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(
        book.command(), cwd=book.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **listening
    ) as build:
        deadline = time.monotonic() + 60
        while not mark.exists() or not mark.read_text():
            assert build.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        build.send_signal(number)
        message = build.communicate(timeout=30)[1]
    return build.returncode, message


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{pid}/stat") as stat:  # a zombie that nobody has waited for is gone too
        return stat.read().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_stopped_leaves_no_half_and_the_next_completes(again, tmp_path, number):
    mark = tmp_path / "mark"
    before, page = (
        {p.name: p.read_bytes() for p in (again.out / "results/full/01-one").iterdir()},
        again.page("notebooks/01-one"),
    )

    again.write("01-one", "# One", "#p\nsize = 2\nname = 'x'", SLOW.replace("{mark}", str(mark)))
    code, message = interrupt(again, mark, number)
    assert code != 0 and "Traceback" not in message
    assert {p.name: p.read_bytes() for p in (again.out / "results/full/01-one").iterdir()} == before
    assert again.page("notebooks/01-one") == page
    if number != signal.SIGKILL:  # that one leaves no time to tidy up
        assert not again.leftovers()
    deadline = time.monotonic() + 20
    while not gone(int(mark.read_text())) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert gone(int(mark.read_text())), "the kernel outlived the build"

    again.write("01-one", "# One", "#p\nsize = 4\nname = 'x'", FIGURE)
    assert again.build().returncode == 0
    assert again.record("01-one", "tab-a")["parameters"]["size"] == 4
    assert "Drawn to 4" in again.page("notebooks/01-one") and not again.leftovers()


def test_a_swap_that_was_cut_in_two_is_undone(built):
    """Killed between the two moves, the good folder waits under another name."""
    (built.out / "html").rename(built.out / "html.old")
    refused(built, "--only", "07")  # any start puts it right
    assert (built.out / "html" / "index.html").exists() and not (built.out / "html.old").exists()


def test_one_build_at_a_time(built):
    import fcntl

    with open(built.out / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another build is running" in refused(built)


FOLDED = "#h\n# A sum, in *halves*\ntotal = size + 4\ntotal / 2"
UNFOLDED = "#\n# Not folded\nshown = total"


def test_a_folded_cell_says_what_it_holds(tiny):
    """Its figures and tables, by their numbers; else its first comment. What is not folded says nothing."""
    table = "figures.table(pd.DataFrame({'a': [1]}), 'tab-c', caption='More.')"
    folded = [FOLDED, f"#h{FIGURE}", "#h\n#  Drawn again\nsize = 2", f"#h\n# One more\n{table}"]
    tiny.write("01-one", "# One", "#p\nsize = 3\nname = 'x'", *folded, UNFOLDED)
    done = tiny.build("--only", "01", "--preview")
    assert done.returncode == 0, done.stderr
    page = (tiny.out / "preview" / "notebooks" / "01-one.html").read_text()
    found = re.findall(r'<details class="admonition hide.*?<summary.*?</summary>', page, re.DOTALL)
    said = [" ".join(re.sub("<[^>]*>", " ", text).split()) for text in found]
    expected = ["A sum, in *halves*", "Figure 1.1, Figure 1.2, Table 1.1", "Drawn again", "Table 1.2"]
    assert said == [f"Code: {what} Code: {what}" for what in expected]  # to show it, and to hide it
