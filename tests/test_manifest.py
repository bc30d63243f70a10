"""Which execution is current: everything that it depends on vouches for it, and any change of it ends that."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from tiny_book import notebook

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))

from chapters import Chapter
from manifest import Manifest


@pytest.fixture
def project(tmp_path):
    """A chapter that was executed, with its results, and all that it read."""
    for name in ("crowder/x.py", "notebooks/style.txt", "book/published.yml", "book/profiles.yml", "out/01-one.ipynb",
                 "results/01-one/fig-a.csv"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "notebooks" / "01-one.ipynb").write_text(json.dumps(notebook("# One", "#p\nsize = 3", "size")))
    manifest(tmp_path).record(chapter(tmp_path), {"size": 4}, 1.0, tmp_path / "out" / "01-one.ipynb")
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


@pytest.mark.parametrize("name", ["crowder/x.py", "notebooks/style.txt", "book/published.yml", "out/01-one.ipynb"])
def test_any_change_of_what_it_read_or_left_ends_it(project, name):
    """The code, what lies beside the chapters, the printed numbers; and the executed notebook itself."""
    (project / name).write_text("2\n")
    assert not current(project)
    (project / name).write_text("1\n")
    assert current(project)  # what counts is what a file holds, not when it was written


def test_a_file_more_and_a_file_less_end_it(project):
    (project / "crowder" / "y.py").touch()
    assert not current(project)
    (project / "crowder" / "y.py").unlink()
    assert current(project)
    (project / "out" / "01-one.ipynb").unlink()
    assert not current(project)


def test_another_cell_ends_it_and_another_expectation_does_not(project):
    (project / "book" / "claims").mkdir()
    (project / "book" / "claims" / "01-one.yml").write_text("C01: {}\n")
    (project / "book" / "profiles.yml").write_text("quick: {}\n")
    assert current(project)  # what is expected of a run does not change the run
    path = project / "notebooks" / "01-one.ipynb"
    path.write_text(json.dumps(notebook("# One", "#p\nsize = 3", "size + 1")))
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
