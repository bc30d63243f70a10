"""What is declared of claims, and how it is judged by what chapters find."""

import json
import re
from graphlib import TopologicalSorter

import pytest
import yaml

from book.companion.claims import BASES, NOT_CHECKED, NOT_SHOWN
from book.project import ROOT, BuildError
from book.reports.ledger import (
    AMENDED,
    FILE,
    STATUSES,
    judge,
    read_declared,
    read_records,
)

# --- the catalogue --------------------------------------------------------------------------------------------------

#: What kind of statement a claim is.
KINDS = {"result", "condition", "wording", "misprint"}
#: What a claim of the paper or an erratum may touch; some touch nothing of it.
TOUCHED = {"general densities", "F_g <= F_r", "Dist-1", "Dist-2", "experiments"}
GIVEN = yaml.safe_load((ROOT / FILE).read_text())["claims"]
#: What a claim may be declared to rest on: evidence, or an argument of which it checks calculations.
KNOWN = [BASES[0], "argued", *BASES[1:]]
PLACES = {given["place"] for name, given in GIVEN.items() if name[0] == "C"}


def test_no_claim_rests_on_itself():
    TopologicalSorter({name: given.get("rests_on", ()) for name, given in GIVEN.items()}).prepare()


@pytest.mark.parametrize("name", GIVEN)
def test_a_claim_declares_what_a_reader_needs_and_nothing_that_contradicts_its_verdict(name):
    """An amended claim says what holds instead and whom that affects; a proved or argued one names its argument."""
    given = GIVEN[name]
    status, basis = given["status"], given.get("basis", "")
    paper, amended, proved = name[0] in "CE", status in AMENDED, basis in ("proved", "argued")
    needed = {"place": True, "statement": True, "corrected": amended, "affects": paper and amended, "proof": proved,
              "stands": paper and given.get("kind", "result") == "result" and status != "holds", "prose": proved,
              "touches": paper, "rests_on": name[0] == "C", "about": name[0] == "E"}  # fmt: skip
    assert re.fullmatch(r"[BCE]\d\d+", name) and given.keys() <= needed.keys() | {"status", "basis", "kind"}
    assert status in STATUSES and basis in {"", *KNOWN} and given.get("kind", "result") in KINDS
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
    # An erratum has no place of a claim, which is itself an erratum if it is amended; and slips refute nothing.
    assert name[0] != "E" or (amended and given["place"] not in PLACES)
    kind = given.get("kind", "result")
    assert not (paper and amended) or ((kind == "misprint") == (status == "misprint"))
    assert status != "refuted" or not paper or kind == "result"


def test_every_status_and_basis_is_explained_on_a_page_and_a_status_has_a_sign_of_its_own():
    """A reader finds there what a badge means; a status without a sign would be told by its colour alone."""
    page = (ROOT / "book" / "pages" / "paper.md").read_text(encoding="utf-8")
    rows = page.partition("| status | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", rows, re.MULTILINE) == list(STATUSES)
    rows = page.partition("| basis | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z]+) \|", rows, re.MULTILINE) == KNOWN
    signs = re.findall(
        r"\.status-([a-z-]+) \{[^}]*--sign: (\S+);", (ROOT / "book/static/claims.css").read_text("utf-8")
    )
    others = {status.replace(" ", "-") for status in STATUSES} - {"holds"}  # which has the usual sign, a tick
    assert {name for name, _ in signs} >= others
    assert len({sign for _, sign in signs}) == len(signs)


# --- judging --------------------------------------------------------------------------------------------------------

PIECE = {"kind": "exact", "what": "w", "holds": True, "figure": "fine", "corrected": False}


def found(result="holds", basis="exact", evidence=(PIECE,), chapter="01-one"):
    return {"kind": "claim", "found": result, "basis": basis, "where": "", "says": "", "evidence": list(evidence),
            "chapter": chapter}  # fmt: skip


@pytest.fixture
def declared(tmp_path):
    """A function that declares claims of this status, whose other fields suit it, and reads them."""
    (tmp_path / "book" / "data").mkdir(parents=True)

    def read(*names, status="holds", basis="exact", statement="s"):
        made = {"place": "p", "statement": statement, "status": status, "basis": basis, "touches": [], "rests_on": []}
        made |= {"proof": "note#thm-shown"} if basis in ("proved", "argued") else {}
        text = json.dumps({"claims": dict.fromkeys(names, made)})  # which is YAML, without aliases
        (tmp_path / "book" / "data" / "claims.yml").write_text(text)
        return read_declared(tmp_path)

    return read


@pytest.fixture
def judged(declared):
    """A function that judges one declared claim by what a chapter recorded of it."""

    def judge_one(record, **words):
        (entry,) = judge(declared("C01", **words), {"C01": record} if record else {}, complete=True)
        return entry

    return judge_one


def test_a_claim_has_moved_when_status_or_basis_differ(judged):
    for status in STATUSES:
        fits = "counterexample" if status in AMENDED else status
        for basis in ("",) if status == "undecided" else ("exact", "simulated", "recorded"):
            for result in ("holds", "counterexample", "undecided", NOT_SHOWN):
                entry = judged(found(result, basis), status=status, basis=basis)
                assert entry["changed"] == (result != fits)
                assert entry["status"] == (status if result == fits else NOT_SHOWN)
            for other in {"", *BASES} - {basis, "proved"}:
                entry = judged(found(fits, other), status=status, basis=basis)
                # What is declared recorded may be computed.
                assert entry["changed"] == (basis != "recorded" or other not in ("exact", "simulated"))
                assert entry["basis"] == other
        entry = judged(None, status=status, basis="" if status == "undecided" else "exact")
        assert (entry["changed"], entry["status"], entry["basis"], entry["evidence"]) == (True, NOT_CHECKED, "", [])


def test_calculations_without_a_written_argument_are_exact(judged):
    assert judged(found(basis="proved"), basis="proved")["basis"] == "proved"
    assert judged(found(basis="proved"), basis="exact")["basis"] == "exact"
    assert judged(found(basis="exact"), basis="proved")["changed"]


def test_an_argument_of_which_code_checks_calculations_is_called_argued(judged):
    assert judged(found(basis="proved"), basis="argued")["basis"] == "argued"
    assert judged(found(basis="exact"), basis="argued")["changed"]


def test_a_record_belongs_to_a_claim_and_in_a_whole_book_each_claim_has_one(declared, tmp_path):
    known = declared("C01", "C02")
    with pytest.raises(BuildError, match=r"01-one: checks C03, which is not in claims\.yml"):
        judge(known, {"C03": found()}, complete=False)
    assert [entry["id"] for entry in judge(known, {"C01": found()}, complete=False)] == ["C01"]
    assert [entry["changed"] for entry in judge(known, {"C01": found()}, complete=True)] == [False, True]
    chapters = ("01-one", "02-two")
    for slug in chapters:
        (tmp_path / slug / "claims").mkdir(parents=True)
        (tmp_path / slug / "claims" / f"C{slug[:2]}.json").write_text(json.dumps(found(chapter="elsewhere")))
    assert read_records(tmp_path / slug for slug in (*chapters, "03-three")) == {
        "C01": found(),
        "C02": found(chapter="02-two"),
    }
    (tmp_path / "02-two" / "claims" / "C01.json").write_text(json.dumps(found()))
    with pytest.raises(BuildError, match="02-two: records C01, and so does 01-one"):
        read_records(tmp_path / slug for slug in chapters)
