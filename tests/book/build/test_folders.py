"""Where a build may write, and which existing files it accepts."""

import json
import os
import resource
import subprocess
import sys

import pytest
from tiny_book import TinyBook

from book.build import compiled_cache, environment, folders
from book.build import manifest as manifests
from book.build.chapters import Chapter, os_error_message
from crowder import files

PLAIN = ("# Title", "#p\nsize = 3")


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A book that is never executed, because the errors are found before."""
    return TinyBook(tmp_path_factory.mktemp("still"))


# --- where a build may write --------------------------------------------------------------------------------------


def test_an_output_that_cannot_be_one_is_named(still, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert still.refused("--output", str(file)) == f"error: --output {file}: {file} is a file, not a folder\n"
    below = file / "below"
    assert still.refused("--output", str(below)) == f"error: --output {below}: {file} is a file, not a folder\n"
    assert file.read_text() == "mine"
    for place in (still.root, still.root / "book" / "out"):
        assert f"--output {place} contains sources" in still.refused("--output", str(place))


def test_a_folder_that_no_build_has_made_is_never_replaced(still, tmp_path):
    """A home folder may have an `html` of its own; no name of ours makes it ours."""
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "thesis.html").write_text("years of work")
    (tmp_path / "results").mkdir()
    message = still.refused("--output", str(tmp_path))
    assert "would replace html, results" in message
    assert (tmp_path / "html" / "thesis.html").read_text() == "years of work"


def test_tidying_up_touches_only_what_a_build_leaves(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / "thesis.old").mkdir()
    (tmp_path / "note.old").write_text("mine")
    (tmp_path / "html.old").mkdir()
    (tmp_path / "html.old" / "index.html").write_text("the last complete book")
    (tmp_path / ".work-x").mkdir()
    for name in ("executed/full/manifest.json.part", "results/full/ledger.csv.part"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("half")
    with folders.build_lock(tmp_path):
        there = {path.name for path in tmp_path.iterdir()}
    assert there == {".lock", "thesis.old", "note.old", "html", "executed", "results"}
    assert not list(tmp_path.rglob("*.part"))
    assert (tmp_path / "html" / "index.html").exists()


def test_a_full_disk_is_named_with_the_file_that_had_no_room(still, tmp_path):
    """A limit on the size of files is the full disk that every machine has."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    message = still.refused("--output", str(tmp_path / "out"), before=limit)
    assert message.startswith("error: ") and "File too large" in message and str(tmp_path / "out") in message
    assert len(message.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a file that is always full")
def test_a_screen_that_cannot_be_written_is_an_error_and_no_traceback(still):
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = subprocess.run(still.command("--only", "07"), cwd=still.root, stderr=full, stdout=subprocess.DEVNULL)
    finally:
        os.close(full)
    assert done.returncode == 1


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux has /proc, where nobody may make a folder")
def test_a_folder_that_cannot_be_made_is_named(still):
    assert still.refused("--output", "/proc/book").startswith("error: ")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(28, "No space left on device", "/book/x"), "No space left on device: /book/x"),
        (OSError(18, "Cross-device link", "/a", None, "/b"), "Cross-device link: /a -> /b"),
        (OSError("no number"), "no number"),
        (OSError(), "OSError"),
    ],
)
def test_what_the_system_refuses_is_told_in_a_line(error, text):
    assert os_error_message(error) == text


@pytest.mark.parametrize("way", ["exchange", "stepwise"])
def test_a_swap_leaves_the_new_and_nothing_else(tmp_path, monkeypatch, way):
    if way == "stepwise":
        monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    for name in ("html", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    folders.swap(tmp_path / "new", tmp_path / "html")
    assert [path.name for path in tmp_path.rglob("*")] == ["html", "new"]
    folders.swap(tmp_path / "html", tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "new").exists()


def test_a_swap_that_fails_between_its_two_moves_is_undone(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "good").touch()
    with pytest.raises(FileNotFoundError):
        folders.swap(tmp_path / "absent", tmp_path / "html")
    assert (tmp_path / "html" / "good").exists() and not (tmp_path / "html.old").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="how folders change places differs from system to system")
def test_two_folders_change_places_in_one_step_here(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "x").touch()
    assert folders.exchange(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two" / "x").exists() and not (tmp_path / "one" / "x").exists()
    assert not folders.exchange(tmp_path / "one", tmp_path / "absent")


def test_a_file_is_replaced_whole_or_stays(tmp_path, monkeypatch):
    path = tmp_path / "manifest.json"
    files.write(path, b"old")
    monkeypatch.setattr(files.Path, "write_bytes", _half)
    with pytest.raises(OSError, match="No space left"):
        files.write(path, b"new and longer")
    assert [p.name for p in tmp_path.iterdir()] == ["manifest.json"] and path.read_bytes() == b"old"


def _half(path, content):
    with path.open("wb") as file:
        file.write(content[: len(content) // 2])
    raise OSError(28, "No space left on device", str(path))


# --- which executions are current --------------------------------------------------------------------------------


@pytest.fixture
def executed(tmp_path):
    """A manifest with one current chapter."""
    for folder in ("notebooks", "crowder", "executed", "results/01-one"):
        (tmp_path / folder).mkdir(parents=True)
    chapter = Chapter("01-one", folders.Path("notebooks/01-one.ipynb"), tmp_path)
    TinyBook.write(type("Book", (), {"root": tmp_path}), "01-one", *PLAIN)
    (tmp_path / "executed" / "01-one.ipynb").write_text("ran")
    (tmp_path / "results" / "01-one" / "tab.csv").write_text("1")
    again = lambda: manifests.Manifest(tmp_path / "executed" / "manifest.json", "full", tmp_path / "results")  # noqa: E731
    again().record(chapter, {}, {"seconds": 1.5}, tmp_path / "executed" / "01-one.ipynb")
    assert again().is_current(chapter, {})
    return tmp_path, chapter, again


@pytest.mark.parametrize("change", ["edit", "add", "remove", "all"])
def test_results_that_are_not_what_the_chapter_left_are_not_current(executed, change):
    """Otherwise a page could show the figures of another execution."""
    root, chapter, again = executed
    folder = root / "results" / "01-one"
    if change == "edit":
        (folder / "tab.csv").write_text("2")
    elif change == "add":
        (folder / "other.csv").write_text("1")
    else:
        (folder / "tab.csv").unlink()
        if change == "all":
            folder.rmdir()
    assert not again().is_current(chapter, {})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"chapters": null}', '{"chapters": [1]}', '{"chapters": {"01-one": 3}}',
     '{"chapters": {"01-one": {"fingerprint": 1}}}', "\ud800", "[" * 100_000],
)  # fmt: skip
def test_a_manifest_that_is_none_vouches_for_nothing(executed, text):
    root, chapter, again = executed
    (root / "executed" / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    found = again()
    assert not found.is_current(chapter, {}) and found.expected(root / "no.csv") == {}
    found.record(chapter, {}, {"seconds": 1.5}, root / "executed" / "01-one.ipynb")
    assert again().is_current(chapter, {})


@pytest.mark.parametrize("name", ["seconds", "fingerprint", "results", "sha256", "parameters", "versions"])
def test_an_entry_that_lacks_something_vouches_for_nothing(executed, name):
    root, chapter, again = executed
    path = root / "executed" / "manifest.json"
    data = json.loads(path.read_text())
    del data["chapters"]["01-one"][name]
    path.write_text(json.dumps(data))
    assert not again().is_current(chapter, {})


def test_compiled_code_is_used_only_as_a_build_left_it(tmp_path, capsys):
    """numba loads half a file, or another, from its cache without a question."""
    src, cache = tmp_path / "src", tmp_path / "cache"
    (src / "crowder").mkdir(parents=True)
    (src / "crowder" / "a.py").write_text("x = 1")
    folder = compiled_cache.folder(src, cache)
    folder.mkdir(parents=True)
    (folder / "a.nbi").write_bytes(b"index")
    compiled_cache.seal(folder)
    assert compiled_cache.folder(src, cache) == folder and (folder / "a.nbi").exists()
    assert not capsys.readouterr().err
    for spoil in (lambda: (folder / "a.nbi").write_bytes(b"inde"), lambda: (folder / "b.nbc").touch()):
        spoil()
        assert compiled_cache.folder(src, cache) == folder and not folder.exists()
        assert "compiling again" in capsys.readouterr().err
        folder.mkdir()
        (folder / "a.nbi").write_bytes(b"index")
        compiled_cache.seal(folder)
    (src / "crowder" / "a.py").write_text("x = 2")
    assert compiled_cache.folder(src, cache) != folder and not folder.exists()


def test_git_is_asked_about_this_project_wherever_its_variables_lead(tmp_path, monkeypatch):
    """In a hook of another repository GIT_DIR would give that one's commit for ours."""
    git = lambda *words, at: subprocess.run(["git", "-C", str(at), *words], check=True, capture_output=True, text=True)  # noqa: E731
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for place in (ours, theirs):
        place.mkdir()
        git("init", "-q", at=place)
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", place.name, at=place)
    monkeypatch.setattr(environment, "ROOT", ours.resolve())
    commit = git("rev-parse", "HEAD", at=ours).stdout.strip()
    assert environment.commit() == commit
    monkeypatch.setenv("GIT_DIR", str(theirs / ".git"))
    assert environment.commit() == commit
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.commit() is None


def test_pages_are_known_by_their_sources_and_by_no_cache(tmp_path):
    """The digest in the pages tells `make test` whether they are current; a cache makes no difference."""
    for name in ("crowder/a.py", "notebooks/01-one.ipynb", "book/pages/index.md", "_config.yml", "_toc.yml"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("1")
    first = folders.digest(tmp_path)
    for name in ("crowder/__pycache__/a.pyc", "notebooks/.ruff_cache/x", "notebooks/.ipynb_checkpoints/a.ipynb"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("1")
    assert folders.digest(tmp_path) == first
    for name in ("crowder/a.py", "book/pages/index.md", "_toc.yml"):
        (tmp_path / name).write_text("2")
        assert folders.digest(tmp_path) != first
        (tmp_path / name).write_text("1")
    (tmp_path / "crowder" / "a.py").rename(tmp_path / "crowder" / "b.py")
    assert folders.digest(tmp_path) != first
