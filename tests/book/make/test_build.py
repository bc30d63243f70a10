"""`python -m book.make` on a tiny book: what it makes, what it executes again, and what it refuses."""

import fcntl
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import FIGURE, TinyBook, clean, tree

from book.make.__main__ import _arguments
from book.make.chapters import BuildError, overrides, read_chapters, read_profile, select

TABLE = """import pandas as pd
from book.companion import figures
figures.table(pd.DataFrame({"x": [size]}), "tab-a", caption="One.")"""
TWO = "#p\nsize = 5\nshare = 0.5"


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A book that is never executed, because the errors are found before."""
    return TinyBook(tmp_path_factory.mktemp("still"))


def refusal(book, *options):
    """Why nothing of this is executed, asked in this process."""
    args = _arguments(list(options))
    with pytest.raises(BuildError) as error:
        chapters = read_chapters(book.root)
        profile = read_profile(book.root, args.profile, chapters)
        overrides(select(chapters, args.only), profile, args.parameters)
    return str(error.value)


@pytest.fixture
def again(tiny_built, tmp_path):
    return tiny_built.copied(tmp_path / "again")


# --- what a build makes -------------------------------------------------------------------------------------------


def test_results_land_once_with_their_parameters_and_are_linked_and_the_sources_stay(tiny_built):
    page = tiny_built.page("notebooks/01-one")
    assert page.count(".csv") == 3 and "Mazumdar and Saha [" in page  # a role in a caption
    folder = tiny_built.out / "results" / "full"
    assert sorted(p.name for p in (folder / "01-one").iterdir()) == sorted(
        [f"fig-{x}.{s}" for x in "ab" for s in ("csv", "json", "svg")] + ["tab-a.csv", "tab-a.json"]
    )
    record = tiny_built.record("01-one", "fig-a")
    assert record["parameters"] == {"size": 3, "name": "x"}
    assert (record["chapter"], record["profile"]) == ("01-one", "full")
    entry = json.loads((tiny_built.out / "executed" / "full" / "manifest.json").read_text())["chapters"]["02-two"]
    assert entry.keys() == {"made_from", "made", "seconds"} and entry["seconds"] > 0
    assert not tiny_built.leftovers()
    expected = {"book", "crowder", "notebooks", "_build", "_config.yml", "_toc.yml", "pyproject.toml"}
    assert {p.name for p in tiny_built.root.iterdir()} == expected
    assert {p.name for p in (tiny_built.root / "notebooks").iterdir()} == {"01-one.ipynb", "02-two.ipynb"}
    assert not json.loads((tiny_built.root / "notebooks" / "01-one.ipynb").read_text())["cells"][2]["outputs"]


def test_the_executed_copy_is_clean_and_the_reader_downloads_it_with_numbered_captions(tiny_built):
    path = tiny_built.out / "executed" / "full" / "01-one.ipynb"
    assert "papermill" not in path.read_text()
    executed = json.loads(path.read_text())
    assert [c["id"] for c in executed["cells"]] == ["cell-0", "cell-1", "cell-2"]
    outputs = executed["cells"][2]["outputs"]
    assert outputs[0]["data"].keys() == {"image/png", "text/plain"}
    offered = json.loads((tiny_built.out / "html" / "_sources" / "notebooks" / "01-one.ipynb").read_text())
    captions = [output for output in outputs if output["metadata"].get("crowder", {}).get("kind") == "caption"]
    for output, number in zip(captions, ("Figure 1.1", "Figure 1.2", "Table 1.1"), strict=True):
        caption = f"**{number}.** {''.join(output['data']['text/markdown'])}"
        output["data"] = dict.fromkeys(("text/markdown", "text/plain"), caption)
    assert offered["cells"][0]["source"] == "# One"  # text is that of the source
    assert offered["cells"][1:] == executed["cells"][1:]


def test_two_clones_make_the_same_bytes(tiny_built, tmp_path):
    """The other one in a folder whose name is not ASCII, on a machine that knows nothing else, without git or home, in
    two builds: every page is that of a whole build, whatever it came from, and whatever Sphinx left among the sources.
    """
    twin = TinyBook.existing(tmp_path / "un été" / "fo öß")
    shutil.copytree(tiny_built.root, twin.root, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    (twin.root / "book" / "pages" / "api").mkdir()
    (twin.root / "book" / "pages" / "api" / "crowder.rst").write_text("left")
    out = tmp_path / "aus gäbe"
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "HOME": "/nonexistent", "PATH": "/nonexistent"}
    assert (done := twin.build("--output", str(out), **bare)).returncode == 0, done.stderr
    (out / "executed" / "full" / "01-one.ipynb").unlink()
    done = twin.build("--output", str(out), **bare)
    assert "executing 1 of 2 chapters, profile full; the others are up to date" in done.stderr
    assert done.returncode == 0, done.stderr
    for folder in ("html", "results"):
        first, other = tree(tiny_built.out / folder), tree(out / folder)
        assert first.keys() == other.keys()
        assert [name for name in first if first[name] != other[name]] == []


# --- what is executed again ---------------------------------------------------------------------------------------


def test_a_failing_chapter_costs_only_itself(again):
    results, pages = again.out / "results" / "full" / "01-one", tree(again.out / "html")
    before = tree(results)
    again.write("01-one", "# One", "#p\nsize = 3", FIGURE, "1 / (size - 3)")
    again.write("02-two", "# Two", TWO, "size - share")
    message = again.refused()
    assert "01-one: cell 4 of 4 failed: ZeroDivisionError" in message and "1 / (size - 3)" in message
    assert tree(results) == before and tree(again.out / "html") == pages
    assert "size - share" in (again.out / "executed/full/02-two.ipynb").read_text()


def test_a_profile_reaches_the_chapter_and_its_page(again):
    again.write("01-one", "# One", "#p\nname = 'y'", "print(name, end='', flush=True)\nprint(name)")
    again.write("02-two", "# Two", TWO, f"import crowder\n{TABLE}", "size + share")
    again.profiles("quick: {02-two: {size: 8, share: 1}}")
    done = again.build("--profile", "quick", GITHUB_REPOSITORY="some/where")
    assert done.returncode == 0 and "executing 2 of 2 chapters, profile quick\n" in done.stderr
    assert re.search(r"<pre>(<span></span>)?yy\n", again.page("notebooks/01-one"))
    executed = json.loads((again.out / "executed" / "quick" / "01-one.ipynb").read_text())
    assert len(executed["cells"][-1]["outputs"]) == 1  # however many pieces it came in
    assert again.record("02-two", "tab-a", "quick")["parameters"]["size"] == 8
    page = again.page("notebooks/02-two")
    assert '<span class="mi">8</span>' in page and "9.0" in page  # an integer serves where the default is a float
    assert "<b>Quick profile:</b>" in page
    assert "github.com/some/where" in page and "crowder-book" not in page


# --- other commands ------------------------------------------------------------------------------------------------


def test_jupyter_book_and_sphinx_stop_at_once_and_touch_nothing(again, tmp_path):
    """One line names `make book`, from any folder, and also where there are pages already."""
    bin, out, env = Path(sys.executable).parent, tmp_path / "out", clean()
    env |= {"PYTHONPATH": str(again.root), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([bin / "jupyter-book", "config", "sphinx", again.root], env=env, check=True, timeout=300)
    before = tree(again.root)
    commands = [(tmp_path, "jupyter-book", "build", "--all", again.root),
                (again.root, "jupyter-book", "build", "notebooks/02-two.ipynb"),
                (again.root, "sphinx-build", ".", out)]  # fmt: skip
    for folder, name, *words in commands:
        done = subprocess.run([bin / name, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode and "`make book`" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert tree(again.root) == before and not out.exists()


# --- what is refused ----------------------------------------------------------------------------------------------


def test_what_is_typed_wrong_is_named(still):
    for options, expected in (
        (["-p", "sized=3"], ["sized", "01-one has size, name", "02-two has size, share"]),
        (["--only", "02", "-p", "name=y"], ["name", "02-two has size, share"]),
        (["-p", "size=3 size=4"], ["-p size: given twice"]),
        (["-p", "name=", "-p", "8, size=3"], ["-p 8, size=3: expected name=value"]),
        (["--only", "07"], ["--only 07: no such chapter", "01-one, 02-two"]),
        (["--profile", "slow"], ["slow", "full, quick"]),
    ):
        message = refusal(still, *options)
        assert all(words in message for words in expected), message


def test_a_chapter_has_one_cell_of_literal_parameters_which_may_have_types(still):
    """papermill shows the types in its help."""
    for cells, words in (
        (["size = 5"], "needs exactly one code cell tagged 'parameters', has 0"),
        (["#p\nsize = 5", "#p\nsize = 6"], "has 2"),
        (["#p\nsize = 5 * 2"], "a parameter must be a literal: size = 5 * 2"),
        (["#p\nsize = "], "the parameters cell is not Python"),
        (["#p\nsize: int"], "a parameter must be a literal: size: int"),
    ):
        still.write("02-two", "# Two", *cells)
        message = refusal(still)
        assert message.startswith("02-two: ") and words in message
    still.write("02-two", "# Two", "#p\nsize: int = 5  # how many\nshares: list[float] = [0.5]\nshare = 'x'")
    assert read_chapters(still.root)[1].defaults() == {"size": 5, "shares": [0.5], "share": "x"}
    still.write("02-two", "# Two", TWO)


def test_profiles_and_contents_name_only_what_exists(still):
    for text, words in (("quick: {01-one: {sized: 1}}", "'sized' is not a parameter of 01-one, which has size, name"),
                        ("quick: {03-three: {size: 1}}", "quick names 03-three, which is not a chapter"),
                        ("quick: [", "book/data/profiles.yml: ")):  # fmt: skip
        still.profiles(text)
        assert words in refusal(still, "--profile", "quick")
    still.profiles("{}")
    still.write("03-three", "# Three", "#p\nsize = 1")
    assert "notebooks/03-three.ipynb is not in _toc.yml" in refusal(still)
    for slug in ("03-three", "02-two"):
        (still.root / "notebooks" / f"{slug}.ipynb").unlink()
    assert "02-two: notebooks/02-two.ipynb is in _toc.yml but does not exist" in refusal(still)


def test_two_builds_at_once_are_one_too_many(tiny_built):
    """And a terminal that knows only ASCII still shows what is wrong."""
    with (tiny_built.out / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert tiny_built.refused() == f"error: another build is running in {tiny_built.out}\n"
    message = tiny_built.refused("--only", "ε", PYTHONIOENCODING="ascii:strict", LC_ALL="C.UTF-8")
    assert "--only \\u03b5: no such chapter" in message
