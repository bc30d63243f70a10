"""What CI runs: the script, and the workflows, whose actions are pinned and whose commands exist."""

import importlib.util
import os
import re
import shutil
import subprocess

import pytest
import yaml
from file_server import file_server

from book.project import ROOT
from crowder.cora import cora_records
from crowder.datasets import read_crowd

TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
JOBS = {f"{name}, {job}": found for name, text in TEXTS.items() for job, found in yaml.safe_load(text)["jobs"].items()}
STEPS = [(job, step) for job, found in JOBS.items() for step in found["steps"]]
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_ci_runs_the_tests_of_pages_without_a_book_and_then_the_two_commands_of_the_readme():
    """On two clones, so that the first run of the tests finds no book, and the second that of `make book`."""
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], timeout=60).returncode == 0
    parts = re.findall(r'^part (\w+) "[^"]*" (\w+)', RUN, re.MULTILINE)
    assert parts == [("first", "test"), ("second", "book"), ("second", "test")]
    named = re.findall(r"tests/[\w/]+\.py", RUN)
    uses = [path for path in (ROOT / "tests" / "book" / "pages").glob("test_*.py")
            if "html" in (text := path.read_text(encoding="utf-8")) and "visit" in text]  # fmt: skip
    ours = {path.relative_to(ROOT).as_posix() for path in uses if "def html(" not in path.read_text(encoding="utf-8")}
    assert set(named) == ours


def test_what_a_machine_may_lack_is_required_by_ci_and_named_in_the_text():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    lack = set(re.findall(r'\bmissing\("(\w+)"', tests))
    (always,), (beside,) = (re.findall(named, RUN) for named in (r"CROWDER_REQUIRE:-([\w,]+)", r'beside=",([\w,]+)"'))
    assert {*always.split(","), *beside.split(",")} == lack
    (named,) = re.findall(r"`CROWDER_REQUIRE=([\w,]+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert named.split(",") == sorted(lack)


PARTS = """
book:
	@echo book >> pages; [ "$$FAILS" != book ]
test:
	@[ -f pages ] || echo "=== 3 passed in 1 s ==="
	@[ ! -f pages ] || echo "=== 9 $$CROWDER_REQUIRE passed in 2 s ==="
	@[ "$$FAILS" != test ] || [ ! -f pages ]
	@[ "$$FAILS" != alone ] || [ -f pages ]
"""


@pytest.mark.parametrize("fails", ["nothing", "alone", "book", "test"])
def test_a_part_that_fails_fails_the_run_and_the_last_line_is_that_of_all_tests(tmp_path, fails):
    """On a project that only says what it is asked: the first tests find no pages, the second those of `make book`."""
    root, bin = tmp_path / "project", tmp_path / "bin"
    for folder in (root / ".ci", bin):
        folder.mkdir(parents=True)
    (bin / "chromium").write_text("#!/bin/sh\n")
    (bin / "chromium").chmod(0o755)
    shutil.copy(ROOT / ".ci" / "run", root / ".ci")
    (root / "Makefile").write_text(PARTS)
    ours = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a"]):
        subprocess.run(["git", *ours, *words], cwd=root, check=True, timeout=60)
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("CROWDER_", "MAKE", "MFLAGS", "GIT_"))}
    more = {"FAILS": fails, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["./.ci/run"], cwd=root, env=keep | more, capture_output=True, text=True, timeout=120)
    assert done.returncode == (fails != "nothing"), done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "without a book: === 3 passed in 1 s ===", "=== 9 browser,cora,registry passed in 2 s ===",
    ]  # fmt: skip


# --- workflows ----------------------------------------------------------------------------------------------------


def test_workflows_run_pinned_actions_without_credentials_and_only_what_publishes_may_write():
    used = [line for text in TEXTS.values() for line in re.findall(r"^.*\buses:.*$", text, re.MULTILINE)]
    pinned = re.compile(r" *(?:- )?uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert len(used) > 20 and [line for line in used if not pinned.fullmatch(line)] == []
    checkouts = [step for _, step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) >= 8 and all(step["with"]["persist-credentials"] is False for step in checkouts)
    # What is typed into a form reaches a script as a variable, and is no part of it.
    assert [job for job, step in STEPS if "${{" in step.get("run", "")] == []
    assert "cache" not in TEXTS["release"]  # nothing that is released comes from one
    assert all(yaml.safe_load(text)["permissions"] == {"contents": "read"} for text in TEXTS.values())
    assert {job for job, found in JOBS.items() if "permissions" in found} == {"book, publish", "release, release"}


def test_what_is_published_was_tested_by_what_ci_runs():
    """The script needs no book, so that the job with the pages need not come before."""
    for job in ("book, test", "release, test"):
        assert [step["run"] for step in JOBS[job]["steps"] if "run" in step][-1] == ".ci/run"
    assert JOBS["book, publish"]["needs"] == ["test", "book"] and JOBS["release, release"]["needs"] == "test"


TARGETS = set(re.findall(r"^([\w./$()-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_every_command_of_a_workflow_that_is_ours_exists():
    commands = "\n".join(step.get("run", "") for _, step in STEPS)
    made, files, modules = (set(re.findall(pattern, commands)) for pattern in (
        r"(?<!\.)\bmake (\S+)", r"(?<![\w/])\.ci/[\w.]+", r"-m (book[\w.]*)"))  # fmt: skip
    made = made - {'"$WHAT"'} | {*JOBS["nightly, night"]["strategy"]["matrix"]["what"]}
    assert {name.replace(".venv", "$(VENV)") for name in made} <= TARGETS
    assert files and [name for name in files if not (ROOT / name).is_file()] == []
    assert modules and [name for name in modules if not importlib.util.find_spec(name)] == []


# --- the data -----------------------------------------------------------------------------------------------------


@pytest.fixture
def data(cora_path, crowds_path):
    """The script, and what a server has where it fetches from."""
    spec = importlib.util.spec_from_file_location("fetch_data", ROOT / ".ci" / "data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {url.split("/")[2] for url in (module.CORA_URL, module.CROWDS_URL)} == {"raw.githubusercontent.com"}
    files = {f"/crowds/{name}": (crowds_path / name).read_bytes() for name in module.CROWDS_SHA256}
    # In public the entities of gym have names.
    entities = files["/crowds/gym/gold.txt"].decode().splitlines()
    files["/crowds/gym/gold.txt"] = "".join(
        f"Ann the {number}th ,{line.partition(',')[2]}\n" for number, line in enumerate(entities)
    ).encode()
    return module, files | {"/cora.csv": cora_path.read_bytes()}


@pytest.fixture
def fetched(data, tmp_path, monkeypatch, capsys):
    """A function that runs the script with these files on the server; what it prints, and its warnings."""
    module, _ = data

    def run(files):
        with file_server(files) as (url, _):
            monkeypatch.setattr(module, "CORA_URL", f"{url}/cora.csv")
            monkeypatch.setattr(module, "CROWDS_URL", f"{url}/crowds")
            module.main(tmp_path / "data")
        return capsys.readouterr()

    return run


def test_the_records_and_the_crowds_are_fetched_and_their_tests_may_not_be_skipped(data, fetched, tmp_path):
    said = fetched(data[1])
    folder = tmp_path / "data"
    assert said.out.splitlines() == [
        f"CROWDER_CORA={folder / 'cora.csv'}", f"CROWDER_CROWDS={folder / 'crowds'}",
        "CROWDER_REQUIRE=browser,cora,crowds,registry",
    ]  # fmt: skip
    assert said.err == "" and len(cora_records(folder / "cora.csv")) == 1879
    for name in ("gym", "allsports", "landmarks"):
        assert {path.name for path in (folder / "crowds" / name).iterdir()} == {"answers.txt", "gold.txt", "graph.txt"}
    assert len(read_crowd(folder / "crowds" / "gym").labels) == 94


@pytest.mark.parametrize(
    ("gone", "left"),
    [("/cora.csv", "crowds"), ("/crowds/gym/gold.txt", "cora"), ("/crowds/landmarks/graph.txt", "cora")],
)
def test_what_cannot_be_had_is_a_warning_and_has_no_variable(gone, left, data, fetched):
    said = fetched({path: content for path, content in data[1].items() if path != gone})
    assert re.findall(r"^\w+", said.out, re.MULTILINE) == [f"CROWDER_{left.upper()}", "CROWDER_REQUIRE"]
    assert said.out.endswith(f"\nCROWDER_REQUIRE=browser,{left},registry\n")
    absent = {"cora": "crowds", "crowds": "cora"}[left]
    assert said.err.startswith(f"::warning title={absent}::tests that need {absent} are skipped: http://")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("harmed", ["/cora.csv", "/crowds/gym/gold.txt", "/crowds/allsports/answers.txt"])
def test_a_wrong_checksum_stops_everything(harmed, data, fetched, tmp_path):
    with pytest.raises(ValueError, match=rf"the checksum of http://\S+{harmed} does not match"):
        fetched(data[1] | {harmed: data[1][harmed].replace(b"1", b"2", 1)})
    assert not (tmp_path / "data" / harmed[1:]).exists()
