"""An execution is current until something that it depends on changes."""

import json
import shutil
from pathlib import Path

import pytest
from tiny_book import notebook

from book.build.chapters import Chapter, fingerprint
from book.build.manifest import Manifest

ROOT = Path(__file__).resolve().parents[3]

IMPORTS = """
import crowder.x
from book.companion import published, x
open("./style.txt")
"""


@pytest.fixture
def project(tmp_path):
    """A chapter that was executed, with its results, and all that it read."""
    for name in ("crowder/x.py", "notebooks/style.txt", "book/data/published.yml", "book/data/profiles.yml",
                 "book/companion/x.py", "book/companion/published.py",
                 "book/build/x.py", "crowder/practice/y.py", "out/01-one.ipynb",
                 "results/01-one/fig-a.csv"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "notebooks" / "01-one.ipynb").write_text(json.dumps(notebook("# One", "#p\nsize = 3", IMPORTS, "size")))
    manifest(tmp_path).record(chapter(tmp_path), {"size": 4}, {"seconds": 1.0}, tmp_path / "out" / "01-one.ipynb")
    return tmp_path


def manifest(root):
    return Manifest(root / "out" / "manifest.json", "full", root / "results")


def chapter(root):
    return Chapter("01-one", Path("notebooks", "01-one.ipynb"), root)


def current(root, **parameters):
    return manifest(root).is_current(chapter(root), parameters or {"size": 4})


def test_what_was_recorded_is_current_for_its_own_parameters_alone(project):
    assert current(project)
    assert not current(project, size=5)  # another value
    assert not manifest(project).is_current(chapter(project), {})  # the default, which did not run
    assert not manifest(project).is_current(Chapter("02-two", Path("notebooks/01-one.ipynb"), project), {"size": 4})


@pytest.mark.parametrize(
    "name",
    ["crowder/x.py", "book/companion/x.py", "notebooks/style.txt", "book/data/published.yml",
     "out/01-one.ipynb"],
)  # fmt: skip
def test_any_change_of_what_it_read_or_left_ends_it(project, name):
    """Code that it imports, what lies beside the chapters, the printed numbers; and the executed notebook itself."""
    (project / name).write_text("2\n")
    assert not current(project)
    (project / name).write_text("1\n")
    assert current(project)  # what counts is what a file holds, not when it was written


def test_what_it_does_not_import_does_not_matter(project):
    (project / "crowder" / "practice" / "y.py").write_text("2\n")
    (project / "crowder" / "new.py").touch()
    assert current(project)
    (project / "crowder" / "x.py").write_text("import crowder.practice.y\n")
    assert not current(project)  # and now it does


def test_a_file_less_ends_it(project):
    (project / "crowder" / "x.py").rename(project / "crowder" / "z.py")
    assert not current(project)
    (project / "crowder" / "z.py").rename(project / "crowder" / "x.py")
    assert current(project)
    (project / "out" / "01-one.ipynb").unlink()
    assert not current(project)


def test_another_cell_ends_it_and_another_expectation_does_not(project):
    (project / "book" / "data" / "claims.yml").write_text("claims: {}\n")
    (project / "book" / "data" / "profiles.yml").write_text("quick: {}\n")
    (project / "book" / "build" / "x.py").write_text("2\n")
    assert current(project)  # what is expected of a run does not change the run, nor does what builds it
    path = project / "notebooks" / "01-one.ipynb"
    path.write_text(json.dumps(notebook("# One", "#p\nsize = 3", IMPORTS, "size + 1")))
    assert not current(project)


def test_what_was_forgotten_or_lost_vouches_for_nothing(project):
    kept = project / "kept.json"
    shutil.copy(project / "out" / "manifest.json", kept)
    manifest(project).forget("01-one")
    assert not current(project)
    shutil.copy(kept, project / "out" / "manifest.json")
    assert current(project)
    (project / "out" / "manifest.json").write_text(kept.read_text()[:-20])  # cut short
    assert not current(project)


# --- the chapters of this book -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The sources of this book, to edit."""
    root = tmp_path_factory.mktemp("clone")
    for name in ("crowder", "notebooks", "book"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    return root


@pytest.mark.parametrize(
    ("file", "stale", "current"),
    [
        ("crowder/engine.py", ["01-questions", "05-edge-ordering", "08-synthetic"], []),
        ("crowder/practice/journal.py", [], ["01-questions", "05-edge-ordering", "08-synthetic", "13-stopping"]),
        ("crowder/practice/plan.py", ["16-your-data"], ["02-models", "08-synthetic", "12-closing-the-gap"]),
        ("crowder/beyond/stopping.py", ["13-stopping"], ["02-models", "08-synthetic", "12-closing-the-gap"]),
        ("crowder/counting/small_cases.py", ["04-lower-bound"], ["02-models", "08-synthetic"]),
        ("book/data/published.yml", ["08-synthetic", "09-cora"], ["17-explorer"]),
        ("book/data/measured/plans.csv", ["16-your-data"], ["02-models", "08-synthetic"]),
        ("book/data/measured/faults.csv", [], ["02-models", "16-your-data"]),
        ("book/build/render.py", [], ["02-models", "08-synthetic"]),
        ("crowder/cora/values/SHA256SUMS", ["09-cora"], []),
    ],
)
def test_an_edit_makes_stale_what_depends_on_it_and_nothing_else(clone, file, stale, current):
    def fingerprints():
        paths = {slug: Path("notebooks", f"{slug}.ipynb") for slug in [*stale, *current]}
        return {slug: fingerprint(Chapter(slug, path, clone), {}) for slug, path in paths.items()}

    before, whole = fingerprints(), (clone / file).read_bytes()
    (clone / file).write_bytes(whole + b"\n# edited\n")
    try:
        after = fingerprints()
    finally:
        (clone / file).write_bytes(whole)
    assert {slug for slug in before if before[slug] != after[slug]} == set(stale)
