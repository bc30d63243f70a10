"""What is declared of claims, and how it is judged by what chapters find."""

import csv
import json
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from book.build.chapters import BuildError, Chapter
from book.companion.claims import BASES, NOT_CHECKED, NOT_SHOWN
from book.reports.ledger import (
    AMENDED,
    FILE,
    STATUSES,
    as_csv,
    judge,
    read_catalogue,
    read_records,
)

# --- the catalogue --------------------------------------------------------------------------------------------------

CHAPTERS = ("01-one", "02-two")


def declare(**changed):
    """The fields of a claim of this status, whose other fields suit it."""
    status, basis = changed.get("status", "holds"), changed.get("basis", "exact")
    made = {"place": "p", "statement": "s", "status": status, "basis": basis, "touches": [], "rests_on": []}
    made |= {"corrected": "c", "affects": "a"} if status in AMENDED else {}
    made |= {"stands": "r"} if status != "holds" else {}
    made |= {"proof": "note#thm-shown", "prose": "all"} if basis == "proved" else {}
    made |= {"basis": ""} if status == "undecided" else {}
    return {key: value for key, value in (made | changed).items() if value is not None}


ERRATUM = {"status": "misprint", "rests_on": None}
OWN = {"place": None, "touches": None, "rests_on": None}


@pytest.fixture
def project(tmp_path):
    """A function that declares claims in a project, each as (chapter, fields), and reads its catalogue."""
    (tmp_path / "book" / "data").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    chapters = [Chapter(slug, Path(f"notebooks/{slug}.ipynb"), tmp_path) for slug in CHAPTERS]

    def read(claims):
        listed = {name: fields for name, (_, fields) in claims.items()}
        (tmp_path / "book" / "data" / "claims.yml").write_text(yaml.safe_dump({"claims": listed}))
        for chapter in chapters:
            code = "\n".join(f'check("{name}", one)' for name, (slug, _) in claims.items() if slug == chapter.slug)
            cell = {"cell_type": "code", "source": code, "metadata": {}}
            (tmp_path / chapter.path).write_text(json.dumps({"cells": [cell]}))
        return read_catalogue(tmp_path, chapters)

    return read


def test_what_is_declared_is_in_the_catalogue(project):
    made = project({
        "B01": ("02-two", declare(**OWN)), "E01": ("01-one", declare(**ERRATUM, about=["C02"])),
        "C02": ("01-one", declare(status="refuted", basis="proved", rests_on=["C10"], touches=["Dist-2"])),
        "C10": ("02-two", declare(status="undecided")),
    })  # fmt: skip
    assert list(made) == ["C02", "C10", "E01", "B01"]
    assert (made["B01"]["chapter"], made["B01"]["place"], made["B01"]["kind"]) == (
        "02-two",
        "beyond the paper",
        "result",
    )
    assert made["C02"]["proof"] == "note#thm-shown"
    assert (made["C02"]["rests_on"], made["C10"]["carries"], made["E01"]["about"]) == (["C10"], ["C02"], ["C02"])
    assert json.dumps(made)  # goes to Sphinx as JSON


#: What a claim of the paper or an erratum may touch; some touch nothing of it.
TOUCHED = {"general densities", "F_g <= F_r", "Dist-1", "Dist-2", "experiments"}
GIVEN = yaml.safe_load((Path(__file__).resolve().parents[3] / FILE).read_text())["claims"]


@pytest.mark.parametrize("name", GIVEN)
def test_a_claim_declares_what_a_reader_needs_and_nothing_that_contradicts_its_verdict(name):
    """An amended claim says what holds instead and whom that affects; a proved one names its written argument."""
    given = GIVEN[name]
    status, basis = given["status"], given.get("basis", "")
    paper, amended, proved = name[0] in "CE", status in AMENDED, basis == "proved"
    needed = {"place": True, "statement": True, "corrected": amended, "affects": paper and amended, "proof": proved,
              "stands": paper and given.get("kind", "result") == "result" and status != "holds", "prose": proved,
              "touches": paper, "rests_on": name[0] == "C"}  # fmt: skip
    lists = ("touches", "rests_on", "about")
    has = {key for key, value in given.items() if value or key in ("touches", "rests_on")} | (
        {"place"} if not paper else set()
    )
    assert {key for key, need in needed.items() if need} <= has
    assert {key for key in ("corrected", "proof", "prose", "rests_on") if not needed[key]} & has == set()
    assert all(isinstance(value, list if key in lists else str) for key, value in given.items())
    assert (basis == "") == (status == "undecided")
    assert set(given.get("touches", ())) <= TOUCHED
    assert not proved or re.fullmatch(r"[\w-]+#[\w-]+", given["proof"])
    assert {*given.get("about", ()), *given.get("rests_on", ())} <= GIVEN.keys()


def test_no_claim_rests_on_itself():
    TopologicalSorter({name: given.get("rests_on", ()) for name, given in GIVEN.items()}).prepare()


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("C1", {}, "C1: its name is not C, E or B"),
        ("C01", {"colour": "red"}, "C01: colour is unknown"),
        ("C01", {"status": "true"}, "C01: status must be one of 'holds', 'holds with a caveat', 'misprint'"),
        ("C01", {"basis": "sure"}, "C01: basis must be one of 'proved', 'exact', 'simulated', 'trend'"),
        ("C01", {"kind": "huge"}, "C01: kind must be one of 'result', 'condition', 'wording', 'misprint'"),
    ],
)  # fmt: skip
def test_a_field_or_a_word_that_is_unknown_stops_the_build(project, name, changed, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        project({name: ("01-one", declare(**changed))})


def test_each_claim_is_checked_by_one_chapter_and_declared(project, tmp_path):
    one, two = ("01-one", declare()), ("02-two", declare(rests_on=["C01"]))
    with pytest.raises(BuildError, match=r"claims.yml: no chapter checks C02"):
        project({"C01": one, "C02": ("03-three", declare())})
    project({"C01": one, "C02": two})
    path = tmp_path / "notebooks" / "02-two.ipynb"
    for code, said in (('check("C01", two)', "02-two: checks C01, and so does 01-one"),
                       ('check("C02")\ncheck("C07")', "02-two: checks C07, which is not in claims.yml")):  # fmt: skip
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": code, "metadata": {}}]}))
        with pytest.raises(BuildError, match=said):
            read_catalogue(tmp_path, [Chapter(slug, Path(f"notebooks/{slug}.ipynb"), tmp_path) for slug in CHAPTERS])


# --- judging --------------------------------------------------------------------------------------------------------

PIECE = {"kind": "exact", "what": "w", "holds": True, "figure": "fine", "corrected": False}
BAD = PIECE | {"what": "v", "holds": False, "figure": "off by one"}


def found(result="holds", basis="exact", evidence=(PIECE,), chapter="01-one"):
    return {"found": result, "basis": basis, "where": "", "says": "", "evidence": list(evidence), "chapter": chapter}


def judged(project, record, **changed):
    known = project({"C01": ("01-one", declare(**changed))})
    (entry,) = judge(known, {"C01": record} if record else {}, ["01-one"])
    return entry


def test_a_claim_has_moved_when_status_or_basis_differ(project):
    results = ("holds", "counterexample", "undecided", NOT_SHOWN)
    for status in STATUSES:
        fits = "counterexample" if status in AMENDED else status
        bases = ("",) if status == "undecided" else ("exact", "simulated")
        for basis in bases:
            for result in results:
                entry = judged(project, found(result, basis), status=status, basis=basis)
                assert entry["changed"] == (result != fits) and entry["status"] == (
                    status if result == fits else NOT_SHOWN
                )
            for other in {"", *BASES} - {basis, "proved"}:
                assert judged(project, found(fits, other), status=status, basis=basis)["changed"]
        entry = judged(project, None, status=status)
        assert (entry["changed"], entry["status"], entry["basis"], entry["evidence"]) == (True, NOT_CHECKED, "", [])


def test_calculations_without_a_written_argument_are_exact(project):
    assert judged(project, found(basis="proved"), basis="proved")["basis"] == "proved"
    assert judged(project, found(basis="proved"), basis="exact")["basis"] == "exact"
    assert judged(project, found(basis="exact"), basis="proved")["changed"]


@pytest.mark.parametrize(
    ("name", "chapter", "expected"),
    [("C02", "01-one", "01-one: records C02, which has no check written out in a chapter"),
     ("C01", "02-two", "02-two: records C01, which belongs to 01-one")],
)  # fmt: skip
def test_a_record_belongs_to_the_claim_of_its_chapter(project, name, chapter, expected):
    with pytest.raises(BuildError, match=re.escape(expected)):
        judge(project({"C01": ("01-one", declare())}), {name: found(chapter=chapter)}, list(CHAPTERS))


def test_records_are_read_once_each(tmp_path):
    for slug in CHAPTERS:
        (tmp_path / slug / "claims").mkdir(parents=True)
        (tmp_path / slug / "claims" / f"C{slug[:2]}.json").write_text(json.dumps(found(chapter="elsewhere")))
    assert read_records(tmp_path, [*CHAPTERS, "03-three"]) == {"C01": found(), "C02": found(chapter="02-two")}
    (tmp_path / "02-two" / "claims" / "C01.json").write_text(json.dumps(found()))
    with pytest.raises(BuildError, match="02-two: records C01, and so does 01-one"):
        read_records(tmp_path, list(CHAPTERS))


def test_the_file_has_one_line_for_a_claim_whatever_its_words(project):
    text = as_csv([judged(project, found(NOT_SHOWN, "exact", [BAD]), statement='a,\n  "b"')])
    columns, line = csv.reader(text.splitlines())
    assert columns == ("id place statement expected status basis where proof prose kind touches corrected affects "
                       "stands figure says rests_on chapter").split()  # fmt: skip
    assert line == ["C01", "p", 'a, "b"', "holds (exact)", NOT_SHOWN, "exact", *[""] * 3, "result", *[""] * 4,
                    "off by one", "", "", "01-one"]  # fmt: skip
