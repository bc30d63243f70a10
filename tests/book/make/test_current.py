"""Where a build may write; and an execution is current until something that it depends on changes."""

import ast
import json
import resource
import shutil
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tiny_book import ROOT, TinyBook, notebook

from book.make import folders
from book.make.chapters import BuildError, Chapter, read_chapters
from book.make.manifest import READ, Manifest, asked_for, inputs, versions

# --- where a build may write --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A book that is never executed, because the errors are found before."""
    return TinyBook(tmp_path_factory.mktemp("still"))


def test_an_output_that_cannot_be_one_is_named_and_stays(still, tmp_path):
    """A home folder may have an `html` of its own; no name of ours makes it ours."""
    file, home = tmp_path / "file", tmp_path / "home"
    file.write_text("mine")
    (home / "html").mkdir(parents=True)
    for output in (file, Path("/proc/book")):
        message = still.refused("--output", str(output))
        assert message.startswith("error: ") and str(output) in message and len(message.splitlines()) == 1
    sources = "contains sources"
    for output, words in ((ROOT, sources), (ROOT / "book" / "out", sources), (home, "would replace html")):
        with pytest.raises(BuildError, match=words), folders.build_lock(output):
            pass
    assert file.read_text() == "mine" and (home / "html").exists()


def test_tidying_up_touches_only_what_a_build_leaves(tmp_path):
    for name in ("thesis.old", "html.old", ".work-x", "runs/08-seed-0.5.old"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".lock").touch()
    with folders.build_lock(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {".lock", "thesis.old", "html", "runs"}
        assert [path.name for path in (tmp_path / "runs").iterdir()] == ["08-seed-0.5"]


def test_a_full_disk_is_named_with_the_file_that_had_no_room(still, tmp_path):
    """A limit on the size of files is the full disk that every machine has."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    message = still.refused("--output", str(tmp_path / "out"), before=limit)
    assert message.startswith("error: ") and "File too large" in message and str(tmp_path / "out") in message


# --- what is current ----------------------------------------------------------------------------------------------

INPUTS = ("crowder/x.py", "crowder/cora/values/a.npz", "book/companion/x.py", "notebooks/plots/x.py",
          "book/data/published.yml", "book/data/recorded/crowds.csv", "requirements.lock")  # fmt: skip
OTHERS = ("book/make/x.py", "book/data/claims.yml", "book/data/profiles.yml", "book/pages/index.md",
          "book/data/measured/chapters.csv", "crowder/__pycache__/x.pyc")  # fmt: skip


@pytest.fixture
def project(tmp_path):
    """A chapter that was executed, with its results, and all that it may have read."""
    for name in (*INPUTS, *OTHERS, "out/01-one.ipynb", "results/01-one/fig-a.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "notebooks" / "01-one.ipynb").write_text(json.dumps(notebook("# One", "#p\nsize = 3", "size")))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    manifest(tmp_path).record(chapter(tmp_path), {"size": 4}, {"seconds": 1.0})
    return tmp_path


def manifest(root):
    return Manifest(root / "out" / "manifest.json", root / "results", inputs(root))


def chapter(root):
    return Chapter("01-one", Path("notebooks", "01-one.ipynb"), root)


def current(root, **parameters):
    return manifest(root).is_current(chapter(root), parameters or {"size": 4})


def test_what_was_recorded_is_current_for_its_own_parameters_alone(project):
    assert current(project)
    assert not current(project, size=5)  # another value
    assert not manifest(project).is_current(chapter(project), {})  # the default, which did not run
    assert not manifest(project).is_current(Chapter("02-two", Path("notebooks/01-one.ipynb"), project), {"size": 4})
    path = project / "notebooks" / "01-one.ipynb"
    path.write_text(json.dumps(notebook("# One", "#p\nsize = 3", "size + 1")))
    assert not current(project)


def test_any_change_of_what_it_read_or_left_ends_it_and_of_what_builds_it_does_not(project):
    for name in (*INPUTS, "out/01-one.ipynb", "results/01-one/fig-a.csv"):
        (project / name).write_text("2\n")
        assert not current(project), name
        (project / name).rename(project / f"{name}-elsewhere")
        assert not current(project), name
        (project / f"{name}-elsewhere").unlink()
        (project / name).write_text("1\n")
        assert current(project), name  # what counts is what a file holds, not when it was written
    for name in OTHERS:
        (project / name).write_text("2\n")
    assert current(project)


def test_versions_and_settings_from_outside_end_it(project, monkeypatch):
    with monkeypatch.context() as outside:
        outside.setenv("CROWDER_CORA", "/elsewhere/cora.csv")
        assert not current(project)
    assert current(project)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    assert not current(project)


def test_versions_are_those_of_all_packages_that_chapters_ask_for(tmp_path):
    """Directly or by an extra that `notebooks` takes in, and installed; not what only renders or tests."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "own"\ndependencies = ["numpy>=2.1"]\n[project.optional-dependencies]\n'
        'notebooks = ["own[text,more]", "not-installed<1"]\ntext = ["scipy==1.0"]\nmore = ["own[last]"]\n'
        'last = ["scikit-learn"]\nbook = ["own[notebooks]", "sphinx"]\ntest = ["pytest"]\n'
    )
    assert asked_for(tmp_path, "notebooks") == ["not-installed", "numpy", "scikit-learn", "scipy"]
    assert list(versions(tmp_path)) == ["python", "numpy", "scikit-learn", "scipy"]


def test_versions_are_those_of_what_chapters_and_their_packages_import():
    """Of all of it and of nothing else; IPython only shows what was computed, and tabulate is imported by pandas."""
    sources = [
        c["source"] for each in read_chapters(ROOT) for c in each.notebook()["cells"] if c["cell_type"] == "code"
    ]
    for read in (ROOT / name for name in READ):
        sources += [path.read_text(encoding="utf-8") for path in (read, *read.rglob("*.py")) if path.suffix == ".py"]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    named, own = packages_distributions(), {"book", "crowder", "crowder_tool", "notebooks"}
    others = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - own - {"IPython"}
    assert {"python", "tabulate", *(named[name][0].lower() for name in others)} == versions(ROOT).keys()


@pytest.mark.parametrize("text", ["[]", "half"])
def test_a_manifest_that_is_none_vouches_for_nothing(project, text):
    path = project / "out" / "manifest.json"
    path.write_text(path.read_text()[:-20] if text == "half" else text)
    found = manifest(project)
    assert not found.is_current(chapter(project), {"size": 4}) and found.expected(None) == {}
    found.record(chapter(project), {"size": 4}, {"seconds": 1.5})
    assert current(project)


def test_what_chapters_read_is_there():
    assert [name for name in READ if not (ROOT / name).exists()] == []


# --- the sources --------------------------------------------------------------------------------------------------


def test_pages_are_known_by_their_sources_and_by_no_cache(project):
    """The digest in the pages tells `make test` whether they are current; a cache makes no difference."""
    first = folders.digest(project)
    (project / "crowder" / "__pycache__" / "x.pyc").write_text("2")
    (project / "notebooks" / ".ipynb_checkpoints").mkdir()
    (project / "notebooks" / ".ipynb_checkpoints" / "a.ipynb").write_text("1")
    assert folders.digest(project) == first
    for name in ("crowder/x.py", "book/pages/index.md", "requirements.lock"):
        (project / name).write_text("2")
        assert folders.digest(project) != first
        (project / name).write_text("1\n")
    assert folders.digest(project) == first
    (project / "crowder" / "x.py").rename(project / "crowder" / "y.py")
    assert folders.digest(project) != first
