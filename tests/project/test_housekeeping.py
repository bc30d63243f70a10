"""The repository, where none of the tools looks that `make test` calls: notebooks, sorts, the version, foreign data."""

import ast
import json
import os
import re
import subprocess
import tomllib

import pytest
import yaml

import crowder
from book.project import ROOT, addresses
from book.sphinx_ext.site import site
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


def test_a_release_has_a_date_and_what_is_unreleased_has_none():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert ("date-released" in cited) == (".dev" not in cited["version"])


def test_the_addresses_are_those_of_pyproject_wherever_they_are_stated(monkeypatch):
    known = addresses()
    sources, pages = known["Repository"], known["Homepage"]
    assert known["Issues"] == f"{sources}/issues" and known["Changelog"] == f"{sources}/blob/main/CHANGELOG.md"
    for name in ("CROWDER_SITE", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_REPOSITORY", sources.removeprefix("https://github.com/"))
    assert site() == pages  # where the workflow publishes
    for name in ("README.md", "CITATION.cff", "notebooks/README.md"):
        assert named(ROOT / name) == {sources, pages.rstrip("/")}, name
    assert named(ROOT / "book" / "pages" / "run.md") == {sources} and named(ROOT / "_config.yml") == set()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["url"] == pages and cited["repository-code"] == sources


def named(path):
    """The addresses in a file that could be those of the project."""
    stated = re.compile(r"https://(?:github\.com/[\w-]+/crowder|[\w-]+\.github\.io/crowder)\b")
    return set(stated.findall(path.read_text("utf-8", "replace")))


def test_no_file_names_another_address():
    ours = [path for path in tracked() if path.suffix != ".patch"]
    assert set().union(*map(named, ours)) == {addresses()["Repository"], addresses()["Homepage"].rstrip("/")}


@pytest.mark.parametrize(
    ("workflow", "job", "then"), [("book", "publish", "deploy-pages"), ("release", "notes", "upload")]
)
def test_nothing_is_published_from_a_repository_of_another_address(workflow, job, then):
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text())["jobs"][job]["steps"]
    (at,) = (i for i, step in enumerate(steps) if step.get("name", "").startswith("The address"))
    assert then in " ".join(step.get("uses", "") for step in steps[at + 1 :])
    server, owner, name = addresses()["Repository"].rsplit("/", 2)
    ours = f"{owner}/{name}"
    for repository in (ours, f"{ours}s", f"a{ours}", ours[:-1]):
        env = {"PATH": os.environ["PATH"], "GITHUB_SERVER_URL": server, "GITHUB_REPOSITORY": repository}
        done = subprocess.run(["bash", "-e", "-c", steps[at]["run"]], cwd=ROOT, env=env, capture_output=True, text=True)
        assert (done.returncode, "::error" in done.stdout) == ((0, False) if repository == ours else (1, True)), (
            repository
        )


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
