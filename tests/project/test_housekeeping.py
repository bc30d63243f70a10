"""The repository: clean notebooks, complete locks, files that agree with each other, the direction of imports."""

import ast
import json
import re
import subprocess
import tomllib

import pytest
import yaml

import crowder
from book.project import ROOT
from book.reports.about import asked_for
from book.text.chapters import read_chapters

NOTEBOOKS = [ROOT / chapter.path for chapter in read_chapters(ROOT)]
LOCK, LAB = "requirements.lock", "requirements-lab.lock"


def locked(name):
    """Package -> the versions that a lock allows (more than one where they differ by Python)."""
    found = {}
    for package, version in re.findall(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", (ROOT / name).read_text(), re.MULTILINE):
        found.setdefault(package, set()).add(version)
    return found


def tracked():
    """The project's own files: what git has, or what it would take."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


# --- notebooks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_committed_clean_and_imports_nothing_of_the_build(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) >= (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in notebook["metadata"] and "papermill" not in notebook["metadata"]
    identifiers = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identifiers)) == len(identifiers)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in code:
        assert cell["outputs"] == [] and cell["execution_count"] is None, cell["id"]
        # Warnings are errors here: from Python 3.12 on, a stray backslash in a text would be a warning on the page.
        names = imported("".join(cell["source"]))
        assert not [name for name in names if within(name, "book") and not within(name, "book.companion")], cell["id"]
    # Below the cell that fetches the book where it is missing is the one that a reader changes.
    assert [cell["id"] for cell in code if "parameters" in cell["metadata"].get("tags", [])] == [code[1]["id"]]


# --- layers -------------------------------------------------------------------------------------------------------


def imported(source):
    """The modules that a source imports, wherever in it, and what it takes from each."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "what a relative import takes is not seen here"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


#: The modules of a layer, and what they may not import: the others, and what is named, of a package that they may.
LAYERS = {
    "crowder": ["book", "crowder_tool", "notebooks"],
    "tool": ["book", "notebooks"],
    "book/companion": [
        "crowder_tool",
        "notebooks",
        *(f"book.{name}" for name in ("run", "check", "text", "reports", "sphinx_ext")),
    ],
}


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_one_way(layer):
    """What computes knows nothing of the book, the paper's modules nothing of `beyond`, and what notebooks import
    needs no build. `crowder` itself names `beyond`, and loads it when it is asked for."""
    for path in (ROOT / layer).rglob("*.py"):
        source, forbidden = path.read_text(encoding="utf-8"), LAYERS[layer]
        if layer == "crowder" and path.parent.name != "beyond" and path != ROOT / "crowder" / "__init__.py":
            forbidden = [*forbidden, "crowder.beyond"]
        assert [name for name in imported(source) if within(name, *forbidden)] == [], path
        assert layer == "book/companion" or not re.search(r"[\"']book(?:/[^\"']*)?[\"']", source), path


# --- packages -----------------------------------------------------------------------------------------------------


def test_the_locks_hold_what_the_project_asks_for_with_hashes_and_name_no_host():
    book, lab = locked(LOCK), locked(LAB)
    assert {*asked_for(ROOT, "book,test")} <= book.keys() and {*asked_for(ROOT, "lab")} <= book.keys() | lab.keys()
    # JupyterLab changes no package of the book. Both locks may have one, for different Pythons, but in one version.
    assert {name: lab[name] for name in book.keys() & lab.keys() if lab[name] != book[name]} == {}
    for name in (LOCK, LAB):
        text = (ROOT / name).read_text()
        packages = re.split(r"\n(?=\w)", text)
        assert len(packages) > 20 and [each for each in packages if "--hash=sha256:" not in each] == []
        assert not re.search("://|--index|--find-links|@", text)
        assert len(text) < 100_000  # hashes of supported platforms alone


def test_the_conda_environment_has_the_versions_of_the_lock():
    text = (ROOT / "environment.yml").read_text()
    pins = dict(re.findall(r"^ *- ([\w.-]+)==?(\S+)$", text, re.MULTILINE))
    assert pins.pop("python") in ("3.11", "3.12", "3.13") and "- -e ." in text
    lock = locked(LOCK)
    assert pins == {name: ", ".join(lock[name]) for name in asked_for(ROOT, "book")}


# --- files for people and machines --------------------------------------------------------------------------------


def test_who_cites_the_book_gets_the_same_from_every_file():
    """A BibTeX entry needs authors, title and year; programs take the year from the date."""
    known = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    archived = json.loads((ROOT / ".zenodo.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert crowder.__version__ == project["version"] == known["version"] == archived["version"]
    authors, year = [author["name"] for author in known["authors"]], str(known["date-released"].year)
    assert authors == [creator["name"] for creator in archived["creators"]] and authors
    for key in ("title", "license", "keywords"):
        assert known[key] == archived[key]
    assert known["license"] == project["license"]
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert known["title"].startswith(f"{config['title']}: ") and year == config["copyright"]
    assert known["repository-code"] == config["repository"]["url"]
    assert [work["year"] for work in known["references"]] == [2017, int(year)]  # the paper, and the note of this book
    entry = (ROOT / "book" / "pages" / "run.md").read_text().partition("@misc{")[2].partition("\n}")[0]
    whole = "{" + " and ".join(authors) + "}"  # in braces of its own, or BibTeX would look for a last name
    expected = {"author": whole, "title": known["title"], "year": year, "url": known["repository-code"]}
    assert dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE)) == expected


def test_no_file_names_a_machine_or_a_package_host():
    # Put together here so that this file does not hold them itself.
    forbidden = re.compile("|".join(["py" + r"pi\.org", "python" + r"hosted\.org", "/" + r"work/main", "/" + r"root/"]))
    assert [path for path in tracked() if forbidden.search(path.read_text(encoding="utf-8", errors="replace"))] == []


def test_no_record_of_cora_is_in_the_project(cora_path):
    # Long citations are telling: none of them may stand in any file of ours.
    lines = [line for line in cora_path.read_text(encoding="utf-8").splitlines()[1:] if len(line) > 60]
    pieces = {line[20:60] for line in lines[::50]}
    for path in tracked():
        content = path.read_bytes()
        assert not any(piece.encode() in content for piece in pieces), path


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "book/pages/index.md"])
def test_commands_and_files_that_a_text_names_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert target in targets, f"make {target}"
    if name != "book/pages/index.md":  # there Sphinx checks them
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / link).exists(), link
