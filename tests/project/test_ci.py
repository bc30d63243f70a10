"""What CI runs: the script, and the workflows, whose actions are pinned and whose commands exist."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess

import pytest
import yaml

from book.make.environment import ROOT
from crowder.cora import CORA_SHA256, CORA_URL

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


# --- the records of cora ------------------------------------------------------------------------------------------


@pytest.fixture
def cora():
    spec = importlib.util.spec_from_file_location("fetch_cora", ROOT / ".ci" / "cora.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cora_is_fetched_from_where_the_module_says_and_taken_only_with_its_checksum(
    cora, tmp_path, monkeypatch, capsys
):
    assert cora.source() == (CORA_URL, CORA_SHA256)
    there, here = tmp_path / "there.csv", tmp_path / "here.csv"
    there.write_bytes(b"id,label\n")
    monkeypatch.setattr(cora, "source", lambda: (there.as_uri(), "0" * 64))
    with pytest.raises(ValueError, match="the checksum of "):
        cora.main(here)
    assert not here.exists() and capsys.readouterr().out == ""
    monkeypatch.setattr(cora, "source", lambda: (there.as_uri(), hashlib.sha256(b"id,label\n").hexdigest()))
    cora.main(here)
    assert here.read_bytes() == b"id,label\n"
    assert capsys.readouterr().out == f"CROWDER_CORA={here}\nCROWDER_REQUIRE=browser,cora,registry\n"
    # Where it cannot be had, a warning says what is skipped.
    there.unlink()
    cora.main(here)
    said = capsys.readouterr()
    assert said.out == "CROWDER_REQUIRE=browser,registry\n"
    assert said.err.startswith("::warning title=cora::tests that need the")
