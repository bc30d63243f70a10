"""Verdicts from the cell that records them to the page that shows them, and what happens when one moves."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from tiny_book import TinyBook

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
from chapters import BuildError, Chapter
from ledger import find_code, find_test, judge, read_catalogue, say_moved, tally

RECORDS = """
import sympy as sp
from crowder.ledger import claims
x = sp.Symbol("x")
claims.record("C01", claims.identity("a square", (x + 1) ** 2 - x**2 - factor * x - 1))
claims.record("C02", claims.counterexample("three records", value=3, relation="at most", printed=2),
              corrected=[claims.agreement("the count", 3, 3)]);
"""
TEXT = """# One

A square {claim}`C01` grows as $x^2$, and {claim}`C02` does not.

```{tally}
```

```{ledger} C
```"""
CLAIM = {"place": "Section 1", "statement": "A square $x^2$.", "verdict": "proved",
         "source": "crowder.ledger.claims.record", "test": "tests/test_it.py::test_square"}  # fmt: skip
REFUTED = CLAIM | {"verdict": "refuted", "corrected": {"statement": "It is three.", "verdict": "exact"}}
CATALOGUE = {"C01": CLAIM, "C02": REFUTED}


def write_catalogue(book, catalogue, slug="01-one"):
    folder = book.root / "book" / "claims"
    folder.mkdir(exist_ok=True)
    # By way of JSON, so that entries that are one object are written out each: aliases are refused.
    (folder / f"{slug}.yml").write_text(yaml.safe_dump(json.loads(json.dumps(catalogue))))


def book_with_claims(root):
    book = TinyBook(root)
    book.write("01-one", TEXT, "#p\nfactor = 2", RECORDS)
    (root / "tests").mkdir()
    (root / "tests" / "test_it.py").write_text("\n\ndef test_square():\n    assert 2**2 == 4\n")
    write_catalogue(book, CATALOGUE)
    return book


@pytest.fixture
def book(tmp_path):
    return book_with_claims(tmp_path / "project")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    book = book_with_claims(tmp_path_factory.mktemp("ledger") / "project")
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert "claims: 1 proved, 1 refuted" in done.stdout
    return book


def test_a_badge_leads_to_the_evidence_and_the_evidence_to_code_and_test(built):
    page = built.page("notebooks/01-one")
    assert re.search(r'<span class="verdict verdict-proved"><a [^>]*href="#claim-c01"><[^>]*>C01 proved', page)
    assert re.search(r'<span class="verdict verdict-refuted"><a [^>]*href="#claim-c02"><[^>]*>C02 refuted', page)
    # The correction has a verdict of its own, made from its own evidence.
    assert "corrected: exact" in page and "It is three." in page and "printed: at most 2; it is 3" in page
    for anchor in ("claim-c01", "claim-c02", "ledger-c01", "ledger-c02"):
        assert page.count(f'id="{anchor}"') == 1, anchor
    for file, definition in (("tests/test_it.py", "test_square"), ("crowder/ledger/claims.py", "record")):
        line = re.search(rf'href="\.\./source/{file}\.html#(L-\d+)"', page)[1]
        source = (built.out / "html" / "source" / f"{file}.html").read_text()
        # The anchor stands on the very line that defines the name.
        (found,) = [row for row in source.splitlines() if f'id="{line}"' in row]
        assert definition in re.sub("<[^>]*>", "", found)


def test_the_tally_and_the_file_count_what_ran(built):
    tally = re.search(r'<p class="tally">(.*?)</p>', built.page("notebooks/01-one"), re.DOTALL)[1]
    assert re.sub(r"<[^>]*>|\s+", " ", tally).split() == "2 claims of the paper : 1 proved 1 refuted".split()
    lines = (built.out / "results" / "full" / "ledger.csv").read_text().splitlines()
    assert lines[0].startswith("id,place,statement,expected,verdict") and len(lines) == 3


def test_a_verdict_that_moves_fails_by_name_and_leaves_the_good_pages(built, tmp_path):
    book = book_with_claims(tmp_path / "project")
    assert book.build().returncode == 0
    good = book.page("notebooks/01-one")
    book.write("01-one", TEXT, "#p\nfactor = 3", RECORDS)  # (x + 1)² is not x² + 3x + 1
    done = book.build()
    assert done.returncode == 1
    assert "01-one: C01 moved: proved was expected, the run says not shown" in done.stderr
    assert "C02" not in done.stderr  # only what moved
    assert book.page("notebooks/01-one") == good
    moved = (book.out / "moved" / "notebooks" / "01-one.html").read_text()
    assert "C01 not shown" in moved and "Does not hold" in moved and "Expected: proved" in moved


def test_other_parameters_may_move_a_verdict_and_say_so(book):
    done = book.build("--only", "01", "-p", "factor=3")
    assert done.returncode == 0, done.stderr
    assert "with these parameters:" in done.stderr and "C01 moved" in done.stderr


def test_a_correction_that_no_longer_holds_has_moved_too(book):
    book.write("01-one", TEXT, "#p\nfactor = 2", RECORDS.replace('"the count", 3, 3', '"the count", 3, 4'))
    done = book.build("--only", "01")
    assert done.returncode == 1
    assert "C02 moved: refuted was expected, the run says refuted; of the correction exact was expected" in done.stderr


def test_a_claim_without_evidence_is_not_checked_and_fails(book):
    write_catalogue(book, CATALOGUE | {"C03": CLAIM})
    done = book.build("--only", "01")
    assert done.returncode == 1
    assert "C03 moved: proved was expected, the run says not checked (no evidence was recorded)" in done.stderr


def test_a_chapter_that_stops_names_the_claims_it_leaves_unchecked(book):
    book.write("01-one", TEXT, "#p\nfactor = 2", "1 / 0", RECORDS)
    done = book.build()
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr and "01-one: not checked in this run: C01, C02" in done.stderr


@pytest.mark.parametrize(
    ("catalogue", "slug", "expected"),
    [
        ({"C01": CLAIM}, "01-one", "records C02, which is in no file of book/claims"),
        ({"C01": CLAIM, "C02": REFUTED}, "02-two", "records C01, which belongs to 02-two"),
    ],
)
def test_a_record_needs_its_entry(book, catalogue, slug, expected):
    (book.root / "book" / "claims" / "01-one.yml").unlink()
    write_catalogue(book, catalogue, slug)
    done = book.build("--only", "01", "02")
    assert done.returncode == 1 and expected in done.stderr


def without(entry, key):
    return {k: v for k, v in entry.items() if k != key}


@pytest.mark.parametrize(
    ("catalogue", "expected"),
    [
        ({"C1": CLAIM}, "'C1': expected C, E or B and two or three digits"),
        ({"C01": without(CLAIM, "test")}, "C01 lacks test"),
        ({"C01": CLAIM | {"corrected": {}}}, "C01 has no use for corrected"),
        ({"C01": CLAIM | {111: None, "colour": "red"}}, "C01 has no use for 111, colour"),
        ({"C01": without(REFUTED, "corrected")}, "a refuted claim has corrected"),
        ({"C01": CLAIM | {"verdict": "true"}}, "verdict 'true'; the scale is proved"),
        ({"C01": CLAIM | {"source": "crowder.ledger.claims.recrod"}}, "crowder.ledger.claims.recrod does not exist"),
        ({"C01": CLAIM | {"test": "tests/test_it.py::test_cube"}}, "test tests/test_it.py::test_cube does not exist"),
        ({"E01": CLAIM}, "E01 lacks claims, matters, weight"),
        ({"E01": CLAIM | {"matters": "A word.", "weight": "huge", "claims": []}}, "weight 'huge'"),
        ({"E01": CLAIM | {"matters": "A word.", "weight": "slip", "claims": ["C09"]}}, "E01 concerns C09"),
    ],
)
def test_a_catalogue_entry_is_complete(book, catalogue, expected):
    write_catalogue(book, catalogue)
    with pytest.raises(BuildError, match=re.escape(expected)):
        read_catalogue(book.root, [Chapter("01-one", Path("notebooks/01-one.ipynb"), book.root)])


def test_a_catalogue_belongs_to_a_chapter(book):
    write_catalogue(book, {"C05": CLAIM}, "09-none")
    with pytest.raises(BuildError, match="there is no chapter 09-none"):
        read_catalogue(book.root, [Chapter("01-one", Path("notebooks/01-one.ipynb"), book.root)])


def test_names_are_found_where_they_are_defined():
    root = Path(__file__).resolve().parents[1]
    path, line = find_code(root, "crowder.model.models.SimilarityModel.from_steps")
    assert path == "crowder/model/models.py" and "def from_steps" in (root / path).read_text().splitlines()[line - 1]
    assert find_code(root, "crowder.model.models") == ("crowder/model/models.py", 1)
    assert find_code(root, "crowder.model.models.nothing") is None
    assert find_test(root, "tests/test_ledger.py::test_names_are_found_where_they_are_defined")[0] == __file__[-20:]
    assert find_test(root, "tests/test_ledger.py") is None


def test_what_failed_is_the_figure_of_a_moved_claim():
    piece = {"kind": "exact", "what": "w", "holds": True, "figure": "fine"}
    bad = piece | {"holds": False, "figure": "off by one"}
    entry = CLAIM | {"verdict": "exact", "id": "C01", "chapter": "01-one", "source": [], "test": []}
    record = {"verdict": "not shown", "evidence": [piece, bad], "corrected": None, "corrected_evidence": [],
              "chapter": "01-one"}  # fmt: skip
    (judged,) = judge({"C01": entry}, {"C01": record}, ["01-one"])
    assert judged["moved"] and judged["figure"] == "off by one"
    assert say_moved([judged]) == ["01-one: C01 moved: exact was expected, the run says not shown (off by one)"]
    assert tally([judged]) == {"not shown": 1} and tally([judged], "E") == {}
    assert json.dumps(judged)  # goes to Sphinx as JSON
