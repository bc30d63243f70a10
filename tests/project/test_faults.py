"""The planted faults: every edit of the catalogue applies, and planting reports correctly what noticed a fault."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "faults"))

import catalogue  # noqa: E402
import plant  # noqa: E402
import sandbox  # noqa: E402

from book.reports import about  # noqa: E402

FAULTS = catalogue.read(ROOT / "faults" / "faults.yml")

#: What a fault in a formula or a heuristic most likely is, and what the catalogue must have of each.
WANTED = {"exponent", "index range", "comparison", "dropped term", "ties", "inference", "seed", "off by one"}


# --- the catalogue ------------------------------------------------------------------------------------------------


def test_there_are_faults_of_every_kind_in_every_folder():
    assert len(FAULTS) >= 40
    assert {fault.kind for fault in FAULTS} >= WANTED
    inside = {"counting", "similarity", "cora", "beyond", "scale", "practice"}
    assert {path.name for path in (ROOT / "crowder").iterdir() if (path / "__init__.py").is_file()} == inside
    ours = {"crowder", *(f"crowder/{name}" for name in inside)}
    ours |= {"book/companion", "book/build", "book/sphinx_ext", "book/reports", "notebooks", "notebooks/appendix"}
    assert {"/".join(Path(fault.file).parts[:-1][:2]) for fault in FAULTS} == ours
    # A dozen must be seen by a reader of the book, not by tests alone.
    assert sum(bool(fault.chapters) for fault in FAULTS) >= 12


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_an_edit_still_applies(fault):
    """It has one place in its file, changes it, and leaves Python."""
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    edited = fault.applied(text)
    assert edited != text
    assert len(edited) - len(text) == len(fault.new) - len(fault.old)


def test_targets_and_chapters_are_there():
    for fault in FAULTS:
        for target in fault.tests:
            file, _, name = target.partition("::")
            text = (ROOT / file).read_text(encoding="utf-8")  # a target that is nowhere would stop pytest
            assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), target
        for slug in fault.chapters:
            assert list((ROOT / "notebooks").rglob(f"{slug}.ipynb")), slug


def test_an_edit_without_its_one_place_is_stale():
    def edit(old, new, near=""):
        facts = {"name": "x", "kind": "ties", "file": "x.py", "why": "", "tests": ("tests/test_x.py",)}
        return catalogue.Fault(old=old, new=new, near=near, **facts)

    text = "a = 1\nb = 1\n"
    assert edit("b = 1", "b = 2").applied(text) == "a = 1\nb = 2\n"
    assert edit("1", "2", near="b =").applied(text) == "a = 1\nb = 2\n"
    for stale, words in [
        (edit("c", "d"), "occurs 0 times"), (edit("1", "2"), "occurs 2 times"), (edit("a", "a"), "are the same"),
        (edit("1", "2", near="c"), "occurs 0 times"), (edit("a = 1", "2", near="b"), "does not occur after"),
        (edit("b = 1", "b = "), "is not Python"),
    ]:  # fmt: skip
        with pytest.raises(catalogue.Stale, match=words):
            stale.applied(text)


def test_an_edit_in_a_notebook_leaves_its_cells_python():
    facts = {"name": "x", "kind": "ties", "file": "x.ipynb", "why": "", "chapters": ("x",)}
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": ["b ="]}, {"cell_type": "code", "source": ["a"]}]})
    assert catalogue.Fault(old='["a"]', new='["c"]', **facts).applied(text) == text.replace('["a"]', '["c"]')
    for broken in ('["a ="]', '["a"', '["a": 1]'):
        with pytest.raises(catalogue.Stale, match="is not Python"):
            catalogue.Fault(old='["a"]', new=broken, **facts).applied(text)


ENTRY = {"name": "a", "kind": "ties", "file": "x.py", "old": "1", "new": "2", "why": "so", "tests": ["t.py"]}


@pytest.mark.parametrize(("entries", "words"), [
    ([ENTRY, ENTRY], "two faults are called a"),
    ([ENTRY | {"kind": "mood"}], "kind 'mood'"),
    ([ENTRY | {"test": "t.py"}], r"unknown \['test'\]"),
    ([{k: v for k, v in ENTRY.items() if k != "why"}], r"missing \['why'\]"),
    ([ENTRY | {"tests": []}], "names no test and no chapter"),
])  # fmt: skip
def test_a_catalogue_that_is_none_is_refused(tmp_path, entries, words):
    path = tmp_path / "faults.yml"
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(ValueError, match=words):
        catalogue.read(path)


# --- planting -----------------------------------------------------------------------------------------------------

HALF = "def half(n):\n    return n // 2\n\n\ndef twice(n):\n    while n < 0:\n        n += 1\n    return 2 * n\n"
TEST = """from half import half, twice

def test_half():
    assert half(4) == 2

def test_twice():
    assert twice(-1) == 0
"""

NOTICED = ENTRY | {"name": "noticed", "file": "half.py", "old": "n // 2", "new": "n // 3", "tests": ["test_half.py"]}
MISSED = NOTICED | {"name": "missed", "new": "(n + 1) // 2"}  # the test knows only an even number
HANGS = NOTICED | {"name": "hangs", "old": "n += 1", "new": "n -= 1"}
STALE = NOTICED | {"name": "stale", "old": "n / 2"}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A project of one function, and the faults that a test wants in it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # for these few lines pytest starts a dozen times

    def make(*faults, test=TEST):
        (tmp_path / "faults").mkdir()
        (tmp_path / "half.py").write_text(HALF)
        (tmp_path / "test_half.py").write_text(test)
        (tmp_path / "faults" / "faults.yml").write_text(yaml.safe_dump(list(faults)))
        return tmp_path

    return make


def test_who_noticed_is_said_and_a_fault_that_nobody_notices_fails(tiny, capsys):
    root = tiny(NOTICED, MISSED, HANGS)
    assert plant.main(["--timeout", "2"], root=root) == 1
    said = capsys.readouterr().err
    assert "noticed: noticed: 1 tests (test_half::test_half)" in said
    assert "NOT NOTICED: missed: nothing" in said and "error: not noticed: missed\n" in said
    assert "noticed: hangs: it hangs" in said
    for path in (root / "_build" / "faults" / "faults.csv", root / "book" / "data" / "measured" / "faults.csv"):
        with path.open() as file:
            rows = {line["fault"]: (line["tests"], line["first"]) for line in csv.DictReader(file)}
        assert rows == {"noticed": ("1", "test_half::test_half"), "missed": ("0", ""), "hangs": ("0", "it hangs")}
    assert "**Not noticed.**" in (root / "_build" / "faults" / "faults.md").read_text()
    assert (root / "half.py").read_text() == HALF  # only the copy was ever broken


def test_an_edit_that_no_longer_applies_fails_before_anything_is_planted(tiny, capsys):
    root = tiny(NOTICED, STALE)
    assert plant.main([], root=root) == 1
    assert "error: stale: 'n / 2' occurs 0 times in half.py" in capsys.readouterr().err
    assert not (root / "_build").exists()
    assert plant.main(["nobody"], root=root) == 2  # a name that no fault has


def test_tests_that_fail_anyway_catch_nothing(tiny, capsys):
    root = tiny(NOTICED, test=TEST.replace("half(4) == 2", "half(4) == 3"))
    assert plant.main([], root=root) == 1
    assert "error: the unedited project fails: 1 tests (test_half::test_half)" in capsys.readouterr().err
    assert not (root / "_build").exists()


def test_a_target_that_is_nowhere_is_no_catch(tiny, capsys):
    assert plant.main([], root=tiny(NOTICED | {"tests": ["test_half.py::test_gone"]})) == 1
    assert "error: the unedited project fails: pytest ended with 4" in capsys.readouterr().err


def test_a_run_that_is_stopped_leaves_nothing_behind(tiny, tmp_path_factory):
    root, places = tiny(HANGS), tmp_path_factory.mktemp("places")
    call = f"import sys; sys.path.insert(0, {str(ROOT / 'faults')!r}); import pathlib, plant; " \
           f"sys.exit(plant.main([], root=pathlib.Path({str(root)!r})))"  # fmt: skip
    env = os.environ | {"TMPDIR": str(places)}
    # A test run in the background has Ctrl-C switched off, and would pass that on.
    listening = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen([sys.executable, "-c", call], env=env, stderr=subprocess.PIPE, text=True, **listening) as run:
        assert "checking" in run.stderr.readline() and "it passes" in run.stderr.readline()
        (copy,) = places.glob("crowder-faults-*/0/tree/half.py")
        until = time.monotonic() + 60
        while "n -= 1" not in copy.read_text() and time.monotonic() < until:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
        assert run.stderr.read() == "interrupted after 0 faults; the record is unchanged\n"
    assert list(places.iterdir()) == []  # no copy, and nobody at work in it
    assert not (root / "_build").exists()


# --- what is read from others -------------------------------------------------------------------------------------


def test_a_build_names_what_changed():
    said = """executing 1 of 16 chapters, profile quick
error: 04-lower-bound: C05 changed: expected proved, found not shown (step 1 of 2 does not hold)
04-lower-bound: B31 changed: expected exact, found not shown (3 is not 2)
08-synthetic: table-1, Dist-1, edge no longer agrees: printed 3,000, regenerated 2,000 ± 10 (equal)
02-models: not checked in this run: C11, C12, B11
"""
    assert sandbox.changed_claims(said) == [
        "C05", "B31", "printed table-1, Dist-1, edge", "02-models stopped, 3 claims unchecked"
    ]  # fmt: skip
    assert sandbox.changed_claims("claims: 4 proved\nthe book is at /x/index.html\n") == []


def test_compiled_code_goes_when_a_file_it_has_constants_of_is_edited():
    """The loops of `engine` are called from orderings and stream; those of sorting and random_graphs do without it."""
    stale = sandbox.dependents(ROOT, "crowder/engine.py")
    assert {"engine", "orderings", "stream"} <= stale
    assert not {"densities", "random_graphs", "sorting"} & stale
    assert sandbox.dependents(ROOT, "book/companion/charts/explorer.py") == {"explorer"}


def test_the_copy_is_the_project_without_what_is_made(tmp_path):
    for name in ("a.py", "b/c.yml", "_build/x", ".venv/y", "b/__pycache__/c.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert sandbox.sources(tmp_path) == [Path("a.py"), Path("b/c.yml")]
    ours = sandbox.sources(ROOT)
    assert {Path("faults/faults.yml"), Path("crowder/__init__.py"), Path("notebooks/02-models.ipynb")} <= set(ours)
    assert not [path for path in ours if path.parts[0] in (".venv", "_build", ".git")]


# --- the page -----------------------------------------------------------------------------------------------------


def test_the_page_counts_the_faults_that_were_noticed(tmp_path):
    faults = [catalogue.Fault(**NOTICED | {"file": file, "name": name}) for file, name in [
        ("crowder/x.py", "one-power-less"), ("crowder/x.py", "left-edge"), ("book/reports/ledger.py", "no-judge"),
    ]]  # fmt: skip
    outcomes = [
        sandbox.Outcome(tests=["test_x::test_a_law[1]", "test_x::test_a_law[2]"], claims=["C11", "B12"]),
        sandbox.Outcome(hung=True), sandbox.Outcome(),
    ]  # fmt: skip
    rows = [plant.row(fault, outcome) for fault, outcome in zip(faults, outcomes, strict=True)]
    plant.record(tmp_path / "faults.csv", rows)
    text = "\n".join(about.faults({"faults": about.rows(tmp_path / "faults.csv")}, ""))
    assert "**3 faults** were planted; 2 were noticed, 1 of them also by a claim" in text
    assert "Not noticed: no-judge." in text and "By kind: ties 3." in text
    assert about.rows(tmp_path / "none.csv") == []


def test_the_record_in_the_book_is_of_this_catalogue_and_of_faults_that_were_noticed():
    known = {fault.name: (fault.kind, fault.file, fault.why) for fault in FAULTS}
    rows = about.rows(ROOT / plant.RECORD)
    assert len(rows) >= 40
    for line in rows:
        assert known[line["fault"]] == (line["kind"], line["file"], line["why"])
        assert line["first"] or line["claims"], line["fault"]


def test_what_is_left_to_plant_is_what_nobody_has_noticed_yet(tiny, capsys):
    root = tiny(NOTICED, MISSED, HANGS)
    noticed = plant.row(catalogue.Fault(**NOTICED), sandbox.Outcome(tests=["test_half::test_half"]))
    plant.write(root / plant.STATE, [noticed, plant.row(catalogue.Fault(**MISSED), sandbox.Outcome())])
    assert plant.main(["--missed", "--list"], root=root) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["missed", "hangs"]


def test_a_record_is_complete_when_every_fault_has_been_planted(tiny):
    root = tiny(NOTICED, HANGS)
    assert plant.main(["noticed"], root=root) == 0  # by name: what was noticed is kept, the record waits
    assert list(plant.recorded(root / plant.STATE)) == ["noticed"] and not (root / plant.RECORD).exists()
    assert plant.main(["--missed", "--timeout", "2"], root=root) == 0
    assert list(plant.recorded(root / plant.RECORD)) == ["noticed", "hangs"]
    assert plant.main(["--missed"], root=root) == 0  # nothing is left
