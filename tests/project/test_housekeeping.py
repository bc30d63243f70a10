"""The repository, where none of the tools looks that `make test` calls: notebooks, sorts, the version, foreign data."""

import ast
import json
import re
import subprocess
import tomllib

import pytest
import yaml

import crowder
from book.project import ROOT
from book.text.chapters import read_chapters

NOTEBOOKS = [ROOT / chapter.path for chapter in read_chapters(ROOT)]


def tracked():
    """The project's own files: what git has, or what it would take."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs_on_any_python_and_its_second_cell_of_code_is_the_one_that_a_reader_changes(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    identifiers = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identifiers)) == len(identifiers)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if "parameters" in cell["metadata"].get("tags", [])] == [code[1]["id"]]


#: Two names of one sort; compiled code has the older, which every Numba knows.
STABLE = ("stable", "mergesort")


def test_every_argsort_is_stable():
    """Others put equal values into an order that depends on the processor: a replay took 1,257 questions on one and
    1,260 on another."""
    sources = [path.read_text("utf-8") for part in ("crowder", "book") for path in (ROOT / part).rglob("*.py")]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    calls = {
        ast.unparse(node): any(key.arg == "kind" and key.value.value in STABLE for key in node.keywords)
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("argsort")
    }
    assert len(calls) > 10 and [call for call, stable in calls.items() if not stable] == []


def test_the_version_is_the_same_wherever_it_is_stated():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    archived = json.loads((ROOT / ".zenodo.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert crowder.__version__ == project["version"] == cited["version"] == archived["version"]


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
