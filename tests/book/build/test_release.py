"""A release is complete, from one commit, and has the version of the project."""

import hashlib
import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from tiny_book import TinyBook

from book.build.chapters import BuildError
from book.build.pdf import NAME as PDF
from book.build.release import archive, notes, release, version

ROOT = Path(__file__).resolve().parents[3]

AS_SOMEBODY = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch):
    """What the module is told from outside counts as an input of a chapter; the tiny book was built without."""
    for name in [name for name in os.environ if name.startswith("CROWDER_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A tiny book, committed and built, its PDF in place."""
    book = TinyBook(tmp_path_factory.mktemp("release") / "project")
    (book.root / "pyproject.toml").write_text('[project]\nversion = "2.3.4"\n')
    changes = "# Changes\n\n## 2.3.4 (soon)\n\nNew.\n\n- Better.\n\n## 2.3.3 (once)\n\nOld.\n"
    (book.root / "CHANGELOG.md").write_text(changes)
    (book.root / ".gitignore").write_text("_build\n__pycache__\n")
    for command in ("init -q", "add -A", "commit -qm all"):
        subprocess.run(["git", *command.split()], cwd=book.root, check=True, env=os.environ | AS_SOMEBODY)
    done = book.build()
    assert done.returncode == 0, done.stderr
    (book.out / "html" / PDF).write_bytes(b"%PDF-")
    return book


def test_everything_is_attached_with_its_checksum(book):
    folder = release(book.root, book.out, "v2.3.4")
    attached = {f"crowder-2.3.4{end}" for end in ("-html.zip", "-results.zip", ".pdf")}
    assert {path.name for path in folder.iterdir()} == attached | {"SHA256SUMS", "notes.md"}
    sums = dict(line.split()[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in attached}
    for part, source in (("html", "html"), ("results", "results/full")):
        with zipfile.ZipFile(folder / f"crowder-2.3.4-{part}.zip") as packed:
            held = {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
        built = {p.relative_to(book.out / source).as_posix(): p for p in (book.out / source).rglob("*") if p.is_file()}
        assert held == {name: path.read_bytes() for name, path in built.items()}
    assert (folder / "notes.md").read_text() == "New.\n\n- Better.\n"
    assert not list(book.out.glob(".work-*")) and (folder.stat().st_mode & 0o777) == 0o755


def test_the_same_files_make_the_same_archive(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        for file in ("z", "y") if name == "a" else ("y", "z"):  # written in another order, at another time
            (tmp_path / name / file).write_text(file)
            os.utime(tmp_path / name / file, (0, 1e9 if name == "a" else 1.5e9))
        archive(tmp_path / name, tmp_path / f"{name}.zip", "inside")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_is_not_the_book_is_not_released(book):
    with pytest.raises(BuildError, match=r"the tag is v2\.3\.3, but pyproject\.toml states version 2\.3\.4"):
        release(book.root, book.out, "v2.3.3")
    path = book.out / "executed" / "full" / "manifest.json"
    good = path.read_text()
    manifest = json.loads(good)

    def refused(match, **entry):
        manifest = json.loads(good)
        manifest["chapters"]["02-two"] |= entry
        path.write_text(json.dumps(manifest))
        with pytest.raises(BuildError, match=match):
            release(book.root, book.out)
        path.write_text(good)

    refused("no current execution of 02-two", fingerprint="of other code")
    refused("from 2 commits", commit="another")
    both = json.loads(good)
    for entry in both["chapters"].values():
        entry["commit"] += "-modified"
    path.write_text(json.dumps(both))
    with pytest.raises(BuildError, match="clean commit"):
        release(book.root, book.out)
    path.write_text(good)
    (book.out / "html" / PDF).rename(book.out / "kept.pdf")
    with pytest.raises(BuildError, match="run `make pdf` first"):
        release(book.root, book.out)
    (book.out / "kept.pdf").rename(book.out / "html" / PDF)
    assert manifest == json.loads(path.read_text())
    (book.root / "CHANGELOG.md").write_text("# Changes\n\n## 2.3.3 (once)\n")
    with pytest.raises(BuildError, match=r"no section for version 2\.3\.4"):
        version(book.root)


def test_a_version_that_is_being_worked_on_is_not_released(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "3.0.0.dev1"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 3.0.0 (soon)\n\nNew.\n")
    assert version(tmp_path) == "3.0.0.dev1" and notes(tmp_path, "3.0.0.dev1") == "New.\n"
    with pytest.raises(BuildError, match=r"development version 3\.0\.0\.dev1"):
        release(tmp_path, tmp_path / "_build")


def test_this_version_has_its_section_and_the_workflow_releases_it():
    stated = version(ROOT)
    assert len(notes(ROOT, stated)) > 100
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", stated)
    text = (ROOT / ".github/workflows/release.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` as the truth value
    steps = workflow["jobs"]["release"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    wanted = ("make book", "make pdf", "python -m book.build.release --tag", "sha256sum", "gh release create")
    order = [commands.index(command) for command in wanted]
    assert order == sorted(order) and workflow["jobs"]["release"]["needs"] == "test"
    for attached in ("./*.zip", "./*.pdf", "SHA256SUMS"):
        assert attached in commands


@pytest.mark.parametrize("name", ["release", "nightly", "book"])
def test_no_workflow_puts_an_input_into_a_command(name):
    workflow = yaml.safe_load((ROOT / ".github/workflows" / f"{name}.yml").read_text())
    commands = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert not [command for command in commands if "${{" in command]
    assert workflow["permissions"] == {"contents": "read"}  # a job that needs more says so itself
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {t for c in commands for t in re.findall(r"\bmake ([a-z]+)", c)} <= targets


def test_the_night_compares_builds_and_scans_for_vulnerabilities():
    workflow = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())
    assert workflow["jobs"]["night"]["strategy"]["matrix"]["what"] == ["nightly", "faults"]
    pythons = [entry["python"] for entry in workflow["jobs"]["build"]["strategy"]["matrix"]["include"]]
    assert sorted(pythons) == ["3.11", "3.12", "3.12", "3.13"]
    compare, scan = (
        "\n".join(step.get("run", "") for step in workflow["jobs"][job]["steps"])
        for job in ("compare", "vulnerabilities")
    )
    assert "builds/build-first builds/build-second" in compare and "--tolerance" in compare
    assert "pip-audit --strict --require-hashes" in scan
