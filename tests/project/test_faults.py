"""The planted faults: every edit applies, its tests and chapters are there, and it was seen to be noticed."""

import re
import sys

import pytest

from book.project import ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

import plant

FAULTS = plant.read(ROOT)


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
