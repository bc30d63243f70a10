"""The planted faults: every patch applies, its tests and chapters are there, and it was seen to be noticed."""

import re
import sys

import pytest

from book.project import ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

import plant

FAULTS = plant.read(ROOT)


@pytest.mark.parametrize("name", FAULTS)
def test_a_patch_applies_and_its_tests_and_chapters_are_there(name):
    fault = FAULTS[name]
    plant.apply(ROOT, fault, "--check")
    assert fault["tests"] or fault["chapters"]
    for target in fault["tests"]:
        file, _, test = target.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")  # a target that is nowhere would stop pytest
        assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE), target
    for slug in fault["chapters"]:
        assert list((ROOT / "notebooks").rglob(f"{slug}.ipynb")), slug


def test_every_fault_was_planted_and_noticed():
    rows = plant.recorded(ROOT)
    assert rows.keys() == FAULTS.keys()
    assert [name for name, row in rows.items() if not row["first"] and not row["claims"]] == []
