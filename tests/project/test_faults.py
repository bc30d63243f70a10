"""The planted faults: every edit of the catalogue applies, and planting reports correctly what noticed a fault."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "faults"))

import plant  # noqa: E402

FAULTS = plant.read(ROOT / "tests" / "faults" / "faults.yml")

#: What a fault in a formula or a heuristic most likely is, and what the catalogue must have of each.
KINDS = {"exponent", "index range", "comparison", "dropped term", "ties", "inference", "seed", "off by one"}


# --- the catalogue ------------------------------------------------------------------------------------------------


def test_there_are_faults_of_every_kind_in_every_folder():
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 80
    assert {fault.kind for fault in FAULTS} >= KINDS
    ours = {f"crowder/{path.parent.name}" for path in (ROOT / "crowder").glob("*/*.py")} - {"crowder/cora"}
    ours |= {"crowder", "tool/crowder_tool", "notebooks", "notebooks/appendix"}
    ours |= {f"book/{name}" for name in ("companion", "make", "sphinx_ext", "reports")}
    assert {"/".join(Path(fault.file).parts[:-1][:2]) for fault in FAULTS} == ours
    # A dozen must be seen by a reader of the book, not by tests alone.
    assert sum(bool(fault.chapters) for fault in FAULTS) >= 12


def test_every_edit_still_applies():
    assert plant.stale_edits(ROOT, FAULTS) == []


def test_targets_and_chapters_are_there():
    for fault in FAULTS:
        assert fault.tests or fault.chapters, fault.name
        for target in fault.tests:
            file, _, name = target.partition("::")
            text = (ROOT / file).read_text(encoding="utf-8")  # a target that is nowhere would stop pytest
            assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), target
        for slug in fault.chapters:
            assert list((ROOT / "notebooks").rglob(f"{slug}.ipynb")), slug


# --- planting -----------------------------------------------------------------------------------------------------

HALF = "def half(n):\n    return n // 2\n\n\ndef twice(n):\n    while n < 0:\n        n += 1\n    return 2 * n\n"
TEST = """from half import half, twice

def test_half():
    assert half(4) == 2

def test_twice():
    assert twice(-1) == 0
"""

NOTICED = {"name": "noticed", "kind": "ties", "file": "half.py", "old": "n // 2", "new": "n // 3", "why": "so",
           "tests": ["test_half.py"]}  # fmt: skip
MISSED = NOTICED | {"name": "missed", "new": "(n + 1) // 2"}  # the test knows only an even number
HANGS = NOTICED | {"name": "hangs", "old": "n += 1", "new": "n -= 1"}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A project of two functions, and the faults that a test wants in it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # for these few lines pytest starts a dozen times
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_timeout")

    def make(*faults):
        (tmp_path / "tests" / "faults").mkdir(parents=True)
        (tmp_path / "half.py").write_text(HALF)
        (tmp_path / "test_half.py").write_text(TEST)
        (tmp_path / "tests" / "faults" / "faults.yml").write_text(yaml.safe_dump(list(faults)))
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        return tmp_path

    return make


def test_a_fault_that_nobody_notices_fails_and_the_others_are_recorded(tiny, capsys):
    root = tiny(NOTICED, MISSED, HANGS)
    assert plant.main(["noticed"], root=root) == 0
    assert list(plant.recorded(root / plant.RECORD)) == ["noticed"]
    assert plant.main(["--new", "--timeout", "3"], root=root) == 1
    said = capsys.readouterr().err
    assert "noticed: noticed: test_half::test_half" in said
    assert "NOT NOTICED: missed: nothing" in said and "error: not noticed: missed, hangs\n" in said
    assert "NOT NOTICED: hangs: it hangs" in said  # no test says what is wrong
    rows = {line["fault"]: (line["tests"], line["first"]) for line in plant.recorded(root / plant.RECORD).values()}
    assert rows == {"noticed": ("1", "test_half::test_half"), "missed": ("0", ""), "hangs": ("0", "")}
    assert (root / "half.py").read_text() == HALF  # only the copy was ever broken


def test_the_record_in_the_book_is_of_this_catalogue_and_every_fault_was_noticed():
    rows = plant.recorded(ROOT / plant.RECORD)
    assert {name: (line["kind"], line["file"], line["why"]) for name, line in rows.items()} == {
        fault.name: (fault.kind, fault.file, fault.why) for fault in FAULTS
    }
    assert [name for name, line in rows.items() if not line["first"] and not line["claims"]] == []
