"""The planted faults: every edit of the catalogue applies, and planting reports correctly what noticed a fault."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from book.project import ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

import plant

FAULTS = plant.read(ROOT)

#: What a fault in a formula, a heuristic or a chapter most likely is; the catalogue must have some of each.
KINDS = {"exponent", "index range", "comparison", "dropped term", "ties", "inference", "seed", "off by one",
         "words", "drawing", "itself", "weaker", "held"}  # fmt: skip


def test_there_are_faults_of_every_kind_in_every_folder():
    assert {fault["kind"] for fault in FAULTS.values()} >= KINDS
    ours = {f"crowder/{path.parent.name}" for path in (ROOT / "crowder").glob("*/*.py")}
    ours |= {"crowder", "tool/crowder_tool", "notebooks", "notebooks/appendix", "notebooks/plots"}
    ours |= {"book", *(f"book/{name}" for name in ("companion", "sphinx_ext", "reports", "data"))}
    assert {"/".join(Path(fault["file"]).parts[:-1][:2]) for fault in FAULTS.values()} == ours


@pytest.mark.parametrize("name", FAULTS)
def test_an_edit_applies_and_its_tests_and_chapters_are_there(name):
    fault = FAULTS[name]
    plant.edited(ROOT, fault)
    assert fault.get("tests") or fault.get("chapters")
    for target in fault.get("tests", ()):
        file, _, test = target.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")  # a target that is nowhere would stop pytest
        assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE), target
    for slug in fault.get("chapters", ()):
        assert list((ROOT / "notebooks").rglob(f"{slug}.ipynb")), slug


def test_the_record_in_the_book_is_of_this_catalogue_and_every_fault_was_noticed():
    rows = plant.recorded(ROOT)
    assert {name: (row["kind"], row["file"], row["why"]) for name, row in rows.items()} == {
        name: (fault["kind"], fault["file"], fault["why"]) for name, fault in FAULTS.items()
    }
    assert [name for name, row in rows.items() if not row["first"] and not row["claims"]] == []


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
HANGS = NOTICED | {"name": "hangs", "old": "n += 1", "new": "n -= 1"}  # no test says what is wrong


def test_a_fault_that_nobody_notices_fails_and_the_others_are_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # for these few lines pytest starts a dozen times
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_timeout")
    monkeypatch.setattr(plant, "TIMEOUT", 3)
    texts = {"half.py": HALF, "test_half.py": TEST, plant.RECORD: ",".join(plant.COLUMNS),
             "tests/faults/faults.yml": yaml.safe_dump([NOTICED, MISSED, HANGS])}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert plant.main(["noticed"], root=tmp_path) == 0
    assert list(plant.recorded(tmp_path)) == ["noticed"]
    assert plant.main(["--new"], root=tmp_path) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == ["noticed: test_half::test_half", "missed: NOT NOTICED", "hangs: NOT NOTICED"]
    assert said.err == "error: not noticed: missed, hangs\n"
    rows = {row["fault"]: (row["tests"], row["first"]) for row in plant.recorded(tmp_path).values()}
    assert rows == {"noticed": ("1", "test_half::test_half"), "missed": ("0", ""), "hangs": ("0", "")}
    assert (tmp_path / "half.py").read_text() == HALF  # only the copy was ever broken
