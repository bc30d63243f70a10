"""Claims from the cell that checks them to the page that shows them, and what happens when one changes."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest
from tiny_book import TinyBook

import book.claims
from book import strict_yaml
from book.build.chapters import BuildError, Chapter
from book.build.to_myst import to_myst
from book.companion.claims import AMENDED, Claim
from book.reports.ledger import (
    as_csv,
    by_weight,
    changes,
    errata,
    find_code,
    find_proof,
    find_test,
    judge,
    layers,
    read_catalogue,
    read_records,
    tally,
)

ROOT = Path(__file__).resolve().parents[3]

MODULE = '''"""Claims of the chapter *One*."""

import sympy as sp

from book.companion.claims import (agreement, also, corrected, counterexample, identity, of_chapter,
    readings, says)

claim, check = of_chapter(__name__)
x = sp.Symbol("x")


@claim("C01", place="Section $1$", statement="A square $x^2$ it is.", basis="proved",
       proof="01-one#a-square", prose="that it is one", touches=["Dist-1", "F_g <= F_r"],
       code=identity, test="test_it.py::test_square")
def square(factor=2):
    yield identity("a square", (x + 1) ** 2 - x**2 - factor * x - 1)


@claim("C02", place="Lemma 2", statement="Three are two.", status="refuted", basis="exact", corrected="It is three.",
       affects="whatever counts", stands="two", touches=(),
       code=[counterexample, "book.companion.claims.also"], test="test_it.py::test_square")
def three(count=3):
    yield says(counterexample("three records", value=3, relation="at most", printed=2), "There are $3$ records.")
    yield corrected(agreement("the count", [count] * 2, [3, 3], where="two records"))
    yield corrected(also(agreement("counted again", [1, 2], [1, 2])))


@claim("C03", place="Section 3", statement="As before.", status="undecided", touches="experiments", stands="all else")
def before():
    yield readings("what came before", {"this": 1, "that": 2}, fits="this", unit="errors")


@claim("E01", place="Lemma 2, its proof", statement="Two and one are two.", status="misprint", basis="exact",
       kind="misprint", corrected="They are three.", affects="the lemma", about="C02", touches=())
def sums():
    yield counterexample("a sum", value=2 + 1, relation="equal", printed=2)
    yield corrected(agreement("the sum", 2 + 1, 3))
'''
CHECKS = """
from book.claims.one import check
check("C01", factor=factor);
"""
MORE = """check("C02")
check("C03")
check("E01");"""
TEXT = (
    """# One

A square {claim}`C01` grows as $x^2$, and {claim}`C02` does not; {claim}`C03` may.

(a-square)=
## A square

"""
    + "The argument goes on for as many words as an argument needs. " * 4
    + """

```{tally}
```

```{tally} E
```

```{ledger-controls}
```

```{ledger} C
```

```{ledger} E
```

```{rests-on}
```

```{errata} results
```

```{errata} rest
```"""
)
NAMES = ("c01", "c02", "c03", "e01")


def book_with_claims(root, module=MODULE):
    book = TinyBook(root)
    book.write("01-one", TEXT, "#p\nfactor = 2", CHECKS, MORE)
    (root / "tests").mkdir()
    (root / "tests" / "test_it.py").write_text("\n\ndef test_square():\n    assert 2**2 == 4\n")
    book.claims("one", module)
    (root / "book" / "data" / "rests_on.yml").write_text("C01: []\nC02: [C01]\nC03: [C01, C02]\n")
    return book


@pytest.fixture
def tiny(tmp_path):
    return book_with_claims(tmp_path / "project")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = book_with_claims(tmp_path_factory.mktemp("ledger") / "project")
    done = made.build()
    assert done.returncode == 0, done.stderr
    assert "claims: 1 holds, 1 refuted, 1 undecided\n" in done.stdout
    return made


# --- the page -----------------------------------------------------------------------------------------------------


def plain(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def box(page, name):
    """The part of a page from an anchor to the next one of the ledger, or of a claim."""
    start = page.index(f'id="{name}"')
    ends = [found.start() for found in re.finditer(r'id="(?:claim|ledger)-|class="rests-on|</article>', page)]
    return page[start : min([end for end in ends if end > start], default=len(page))]


def test_a_badge_leads_to_the_evidence_and_the_evidence_to_code_and_test(built):
    page = built.page("notebooks/01-one")
    for name, looks, words in [
        ("c01", "status-holds basis-proved", "C01 holds (proved)"),
        ("c02", "status-refuted basis-exact", "C02 refuted"),
        ("c03", "status-undecided", "C03 undecided"),
        ("e01", "status-misprint basis-exact", "E01 misprint"),
    ]:  # fmt: skip
        badge = rf'<span class="verdict {looks}"><a [^>]*href="#claim-{name}"><[^>]*>{re.escape(words)}<'
        assert re.search(badge, page), name
        for anchor in (f"claim-{name}", f"ledger-{name}"):
            assert page.count(f'id="{anchor}"') == 1, anchor
    places = [("tests/test_it.py", "test_square"), ("book/companion/evidence.py", "identity"),
              ("book/companion/evidence.py", "counterexample"), ("book/companion/claims.py", "also")]  # fmt: skip
    for file, definition in places:
        lines = set(re.findall(rf'href="\.\./source/{file}\.html#(L-\d+)"', page))
        source = (built.out / "html" / "source" / f"{file}.html").read_text()
        # The anchor stands on the very line that defines the name.
        rows = [row for row in source.splitlines() if any(f'id="{line}"' in row for line in lines)]
        assert any(f"def {definition}" in re.sub("<[^>]*>", "", row) for row in rows), definition


def test_one_sentence_stands_where_the_claim_was_checked_and_the_evidence_is_folded(built):
    page = built.page("notebooks/01-one")
    for name, outside, inside in [
        # Without a sentence of its own, a claim has the words and the figure of what carries it.
        ("c01", ["C01 holds (proved) A square : 1 identity, difference 0."],
         ["Claim, Section", "Proved in A square . In prose only: that it is one.", "Touches: Dist-1,"]),
        ("c02", ["C02 refuted There are", "What holds: It is three."],
         ["Printed, Lemma 2: Three are two.", "Affects: whatever counts", "What stands: two", "Exact at two records.",
          "Touches: nothing in the analysis or the experiments.", "three records : printed: at most 2; it is 3",
          "Instead: the count : equal: 3, 3", "Instead: counted again : equal: 1, 2"]),
        ("c03", ["What came before : this: 1; that: 2 (errors)."], ["Claim, Section 3: As before."]),
        ("e01", ["A sum : printed: equal to 2; it is 3.", "What holds: They are three."],
         ["Printed, Lemma 2, its proof: Two and one are two.", "Affects: the lemma", "Instead: the sum : equal: 3"]),
    ]:  # fmt: skip
        shown = box(page, f"claim-{name}")
        before, folded = shown.split("<details", 1)
        assert "open" not in folded[: folded.index(">")]
        folded = folded[: folded.index("</details>")]
        assert "Evidence" in re.search("<summary.*?</summary>", folded, re.DOTALL)[0]
        for words, part, other in ((outside, before, folded), (inside, folded, before)):
            for text in words:
                wanted = text.replace(" ", "")
                assert wanted in plain(part).replace(" ", ""), (name, text)
                assert wanted not in plain(other).replace(" ", ""), (name, text)
        assert f'href="#ledger-{name}"' in folded
        # What holds instead comes after what is printed.
        assert "Instead" not in folded or folded.index("printed:") < folded.index("Instead")


def test_code_that_only_checks_is_not_on_the_page_but_in_the_notebook(built):
    page = built.page("notebooks/01-one")
    code = plain("".join(re.findall(r'<div class="cell_input.*?</pre>', page, re.DOTALL))).replace(" ", "")
    assert 'check("C01"' in unescape(code)  # that cell imports as well
    assert "C02" not in code and "E01" not in code
    (source,) = (built.out / "html" / "_sources" / "notebooks").glob("01-one*")
    assert r"check(\"E01\")" in source.read_text()
    assert "What was checked" not in page  # each claim is on the page once


def test_a_box_follows_its_cell_and_replaces_one_that_only_checks():
    def ran(id, source, *names):
        outputs = [{"output_type": "display_data", "data": {}, "metadata": {"crowder": {"kind": "claim", "name": name}}}
                   for name in names]  # fmt: skip
        return {"cell_type": "code", "id": id, "metadata": {}, "source": source, "outputs": outputs}

    cells = [ran("a", 'n = 3\ncheck("C01")', "C01"), ran("b", 'check("C02")\ncheck("E01", most=6);', "C02", "E01"),
             ran("c", "n")]  # fmt: skip
    made = to_myst({"cells": cells}, "01-one", "results")["cells"]
    assert [cell["id"] for cell in made] == ["a", "a-claims", "b-claims", "c"]
    assert [re.findall(r"\{verdict\} (\w+)", cell["source"]) for cell in made] == [[], ["C01"], ["C02", "E01"], []]
    assert made[0]["outputs"] == [] and cells[0]["outputs"]  # the notebook is as it was


def test_the_ledger_has_a_row_a_claim_and_errata_are_linked_both_ways(built):
    page = built.page("notebooks/01-one")
    for name in NAMES:
        row = box(page, f"ledger-{name}")
        summary = re.search("<summary.*?</summary>", row, re.DOTALL)[0]
        assert "<a " not in summary  # a summary opens, and does nothing else
        assert f'href="#claim-{name}"' in row
        assert "Expected" not in row and "claim-changed" not in page
    assert 'href="#ledger-e01"' in box(page, "ledger-c02") and 'href="#ledger-c02"' in box(page, "ledger-e01")
    assert 'href="#ledger-e01"' not in box(page, "ledger-c01")
    assert "Evidence: There are" in plain(box(page, "ledger-c02"))
    # The list of claims has no erratum, that of errata no claim.
    assert [page.index(f'id="ledger-{name}"') for name in NAMES] == sorted(
        page.index(f'id="ledger-{name}"') for name in NAMES
    )


def test_the_graph_has_a_line_for_each_claim_that_rests_on_another(built):
    page = built.page("notebooks/01-one")
    graph = page[page.index('<div class="rests-on"') :].partition("</svg>")[0]
    assert 'aria-label="Graph of the claims: C02 rests on C01; C03 rests on C01, C02."' in graph
    assert graph.count("<path ") == 3
    assert re.findall(r'<a href="#ledger-(\w+)" class="verdict ([\w -]+)"', graph) == [
        ("c01", "status-holds basis-proved"), ("c02", "status-refuted basis-exact"), ("c03", "status-undecided"),
    ]  # fmt: skip
    assert "rests on C01 , C02" in plain(box(page, "ledger-c03"))
    assert "carries C02 , C03" in plain(box(page, "ledger-c01"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C01: [C02]\nC02: [C01]", "rests_on.yml: C01 rests on C02 rests on C01"),
        ("C01: [C09]", "rests_on.yml: C09 is not a claim"),
        ("C09: []", "rests_on.yml: C09 is not a claim"),
        ("C01: C02", "rests_on.yml: C01 needs a list of claims, not 'C02'"),
        ("C01: [", "rests_on.yml: "),
    ],
)
def test_a_claim_rests_on_claims_and_never_on_itself(catalogue, tmp_path, text, expected):
    (tmp_path / "book" / "data").mkdir()
    (tmp_path / "book" / "data" / "rests_on.yml").write_text(text)
    with pytest.raises(BuildError, match=re.escape(expected)):
        catalogue(declare(), declare("C02", "two_more"))


def test_every_claim_of_the_paper_says_what_it_rests_on():
    declared = strict_yaml.read(ROOT / "book" / "data" / "rests_on.yml")
    assert sorted(declared) == [name for name in sorted(book.claims.load()) if name.startswith("C")]
    columns = layers(declared)
    place = {name: number for number, column in enumerate(columns) for name in column}
    assert all(place[other] < place[name] for name, others in declared.items() for other in others)


def test_the_lists_of_errata_are_made_from_the_ledger(built):
    page = built.page("notebooks/01-one")
    results, rest = (part.partition('<div class="cell ')[0] for part in page.split('<div class="errata ')[1:])
    words = ["C02 refuted Lemma 2", "Printed: Three are two.", "What holds (exact): It is three.",
             "Smallest instance: There are", "Affects: whatever counts", "What stands: two"]  # fmt: skip
    places = [plain(results).index(text) for text in words]
    assert places == sorted(places)
    assert "E01" not in plain(results) and "C02" not in plain(rest)
    assert not re.search("C01|C03", plain(results + rest))  # which hold, or are undecided
    said = plain(rest).replace(" :", ":")
    for text in ("Slips (1)", "E01 Lemma 2: the lemma", "Printed (Lemma 2, its proof): Two and one are two.",
                 "What holds (exact): They are three."):  # fmt: skip
        assert text in said, said
    assert "Results" not in said and "Wording" not in said  # of which there are none


def test_the_tally_and_the_file_count_what_ran(built):
    tallies = re.findall(r'<p class="tally">(.*?)</p>', built.page("notebooks/01-one"), re.DOTALL)
    assert [plain(text).replace(" :", ":") for text in tallies] == [
        "3 claims of the paper: 1 holds 1 refuted 1 undecided", "1 further errata: 1 misprint",
    ]  # fmt: skip
    with (built.out / "results" / "full" / "ledger.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0])[:7] == ["id", "place", "statement", "expected", "status", "basis", "where"]
    assert [(line["id"], line["expected"], line["status"], line["basis"]) for line in lines] == [
        ("C01", "holds (proved)", "holds", "proved"), ("C02", "refuted (exact)", "refuted", "exact"),
        ("C03", "undecided", "undecided", ""), ("E01", "misprint (exact)", "misprint", "exact"),
    ]  # fmt: skip
    assert lines[1]["source"] == "book.companion.evidence.counterexample book.companion.claims.also"
    assert (lines[1]["corrected"], lines[1]["affects"]) == ("It is three.", "whatever counts")
    assert [line["proof"] for line in lines] == ["01-one#a-square", "", "", ""]
    assert (lines[0]["prose"], lines[1]["where"], lines[1]["stands"]) == (
        "that it is one", "two records", "two",
    )  # fmt: skip
    assert [line["touches"] for line in lines] == ["Dist-1; F_g <= F_r", "", "experiments", ""]


# --- claims that move -----------------------------------------------------------------------------------------------


def test_a_claim_that_moves_fails_by_name_and_leaves_the_good_pages(built, tmp_path):
    tiny = built.copied(tmp_path / "project")
    good = tiny.page("notebooks/01-one")
    tiny.write("01-one", TEXT, "#p\nfactor = 3", CHECKS, MORE)  # (x + 1)² is not x² + 3x + 1
    done = tiny.build()
    assert done.returncode == 1
    expected = "01-one: C01 changed: expected holds (proved), found not shown (proved) (a square: difference $"
    assert expected in done.stderr
    assert not re.search("C02|C03|E01", done.stderr)  # only what moved
    assert tiny.page("notebooks/01-one") == good
    moved = (tiny.out / "changed" / "notebooks" / "01-one.html").read_text()
    assert "C01 not shown" in moved and "Does not hold" in moved
    for anchor in ("claim-c01", "ledger-c01"):
        assert "Expected: holds (proved)" in plain(box(moved, anchor))
    assert "Changed in this run: C01." in plain(moved)


def test_other_parameters_may_move_a_claim_and_say_so(tiny):
    done = tiny.build("--only", "01", "-p", "factor=3")
    assert done.returncode == 0, done.stderr
    assert "with these parameters:" in done.stderr and "C01 changed" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # The status stays, on a weaker basis.
        ('identity("a square", (x + 1) ** 2 - x**2 - factor * x - 1)', 'agreement("a square", factor, 2)',
         "C01 changed: expected holds (proved), found holds (exact) (a square: equal: 2)"),
        # A correction that no longer holds; a refutation that no longer refutes; a reading that no longer fits.
        ("[3, 3]", "[4, 3]",
         "C02 changed: expected refuted (exact), found not shown (exact) (the count: 3 is not 4)"),
        ("value=3, relation", "value=2, relation",
         "C02 changed: expected refuted (exact), found not shown (exact) (three records: printed: at most 2;"),
        ('fits="this"', 'fits="that"', "C03 changed: expected undecided, found not shown (what came before:"),
        # A formula that breaks is named, and the chapter goes on.
        ("2 + 1, 3)", "2 + 1, 3 / 0)",
         "E01 changed: expected misprint (exact), found not shown (ZeroDivisionError: division by zero: no"),
    ],
)  # fmt: skip
def test_what_moved_is_said_of_status_and_of_basis(tiny, old, new, said):
    assert MODULE.count(old) == 1
    tiny.claims("one", MODULE.replace(old, new))
    done = tiny.build("--only", "01")
    assert done.returncode == 1
    assert f"01-one: {said}" in done.stderr
    assert done.stderr.count(" changed: ") == 1 and "Traceback" not in done.stderr


def test_a_claim_without_evidence_is_not_checked_and_fails(tiny):
    tiny.write("01-one", TEXT, "#p\nfactor = 2", CHECKS, MORE.replace('check("C03")\n', ""))
    done = tiny.build("--only", "01")
    assert done.returncode == 1
    said = "01-one: C03 changed: expected undecided, found not checked (no evidence was recorded)"
    assert said in done.stderr and done.stderr.count(" changed: ") == 1


def test_a_change_of_a_claim_makes_its_chapter_run_again(built, tmp_path):
    again = built.copied(tmp_path / "project")
    again.claims("one", MODULE.replace("factor * x", "x * factor"))
    done = again.build("--only", "02")
    assert "no current execution in profile full: 01-one" in done.stdout


def test_a_chapter_that_stops_names_the_claims_it_leaves_unchecked(tiny):
    tiny.write("01-one", TEXT, "#p\nfactor = 2", "1 / 0", CHECKS, MORE)
    done = tiny.build()
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "01-one: not checked in this run: C01, C02, C03, E01" in done.stderr


OWN = """
from book.companion.claims import agreement, of_chapter
claim, own = of_chapter("its own")
claim("C07", place="here", statement="So.", basis="exact", touches=())(lambda: iter([agreement("so", 1, 1)]))
own("C07");
"""


@pytest.mark.parametrize(
    ("slug", "cells", "expected"),
    [
        ("01-one", [CHECKS, MORE, OWN], "01-one: records C07, which is in no module of book/claims"),
        ("02-two", [CHECKS], "02-two: records C01, and so does 01-one"),
    ],
)
def test_a_record_needs_its_place(tiny, slug, cells, expected):
    tiny.write(slug, "# One\n" if slug == "02-two" else TEXT, "#p\nfactor = 2\nsize = 5\nshare = 0.5", *cells)
    assert expected in tiny.refused("--only", "01", "02")


def test_a_claim_that_is_checked_twice_stops_its_chapter(tiny):
    tiny.write("01-one", TEXT, "#p\nfactor = 2", CHECKS, CHECKS, MORE)
    message = tiny.refused("--only", "01")
    assert "C01 was checked twice in one run" in message and "01-one: not checked in this run: C01" in message


# --- the catalogue ------------------------------------------------------------------------------------------------

CHAPTERS = [Chapter(slug, Path(f"notebooks/{slug}.ipynb"), ROOT) for slug in ("01-one", "02-two-more")]


def declare(id="C01", module="one", **changed):
    facts = {"place": "p", "statement": "s", "status": "holds", "basis": "exact", "touches": ()}
    if changed.get("status", "holds") not in ("holds", "undecided"):
        facts |= {"corrected": "c", "affects": "a"}
    if changed.get("status", "holds") != "holds":
        facts["stands"] = "r"
    return Claim(id, **facts | {"evidence": lambda: iter([]), "module": f"book.claims.{module}"} | changed)


#: Headings and theorems, some with an argument below them.
PAGE = """(top)=
# A note

(short)=
## Too short

Clearly.

(long)=
## Long enough

ARGUMENT

:::{prf:theorem} Stated
:label: thm-stated

ARGUMENT
:::

Its proof is elsewhere.

::::{prf:theorem} Shown
:label: thm-shown

So.
::::

:::{prf:proof}
ARGUMENT
:::

:::{prf:definition}
:label: def-shown
:::

ARGUMENT

# The end

ARGUMENT
""".replace("ARGUMENT", "An argument needs a number of words, of which these are ten. " * 4)


@pytest.fixture
def catalogue(monkeypatch, tmp_path):
    """Read the catalogue of these claims, in a project of one module and one test."""
    (tmp_path / "code.py").write_text("def half():\n    pass\n\n\nclass Whole:\n    def part(self):\n        pass\n")
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "tests" / "deep" / "test_code.py").write_text("\n\ndef test_half():\n    pass\n")
    (tmp_path / "book" / "pages").mkdir(parents=True)
    (tmp_path / "book" / "pages" / "note.md").write_text(PAGE)

    def read(*claims, **options):
        monkeypatch.setattr(book.claims, "load", lambda: {claim.id: claim for claim in claims})
        return read_catalogue(tmp_path, CHAPTERS, **options)

    return read


def test_what_a_claim_declares_is_in_the_catalogue(catalogue):
    made = catalogue(
        declare("B01", "two_more", code=("code.half", "code.Whole.part"), test=("test_code.py::test_half",)),
        declare(
            "C02",
            status="refuted",
            basis="proved",
            kind="condition",
            corrected="c",
            affects="a",
            stands="b",
            proof="note#thm-shown",
            prose="all",
            touches=("Dist-2",),
        ),
    )
    assert list(made) == ["C02", "B01"]
    assert made["B01"] == {
        "id": "B01", "chapter": "02-two-more", "errata": [], "about": [], "place": "p", "statement": "s",
        "status": "holds", "basis": "exact", "kind": "result", "corrected": "", "affects": "", "stands": "",
        "prose": "", "proof": None, "touches": [], "rests_on": [], "carries": [],
        "source": [{"name": "code.half", "path": "code.py", "line": 1},
                   {"name": "code.Whole.part", "path": "code.py", "line": 6}],
        "test": [{"name": "test_code.py::test_half", "path": "tests/deep/test_code.py", "line": 3}],
    }  # fmt: skip
    assert made["C02"]["proof"] == {"page": "note", "label": "thm-shown", "role": "prf:ref"}
    assert (made["C02"]["prose"], made["C02"]["touches"]) == ("all", ["Dist-2"])
    told = {key: made["C02"][key] for key in ("chapter", "status", "basis", "kind", "corrected", "affects", "stands")}
    assert told == {"chapter": "01-one", "status": "refuted", "basis": "proved", "kind": "condition", "corrected": "c",
                    "affects": "a", "stands": "b"}  # fmt: skip
    assert json.dumps(made)  # goes to Sphinx as JSON


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"code": ("code.hlaf",)}, "C01: source code.hlaf does not exist"),
        ({"code": ("code.half", "code.Whole.prat")}, "C01: source code.Whole.prat does not exist"),
        ({"code": ("edoc.half",)}, "C01: source edoc.half does not exist"),
        ({"test": ("test_code.py::test_hlaf",)}, "C01: test test_code.py::test_hlaf does not exist"),
        ({"test": ("test_edoc.py::test_half",)}, "C01: test test_edoc.py::test_half does not exist"),
        ({"test": ("test_code.py",)}, "C01: test test_code.py does not exist"),
        ({"module": "three"}, "book/claims/three.py: there is no chapter three"),
        ({"module": "two"}, "book/claims/two.py: there is no chapter two"),
        ({"about": ("C09",)}, "01-one: C01 is about C09"),
        ({"basis": "proved", "prose": "s", "proof": "note#short"}, "C01: no argument is written out at note#short"),
    ],
)
def test_what_a_claim_names_must_be_there(catalogue, changed, expected):
    with pytest.raises(BuildError, match=re.escape(expected)):
        catalogue(declare(**changed))


def test_errata_are_linked_both_ways(catalogue):
    made = catalogue(
        declare("C01"), declare("C02", "two_more"), declare("C03"),
        declare("E01", status="misprint", about=("C01", "C02")), declare("E02", status="refuted", about=("C01",)),
    )  # fmt: skip
    assert {name: (entry["about"], entry["errata"]) for name, entry in made.items()} == {
        "C01": ([], ["E01", "E02"]), "C02": ([], ["E01"]), "C03": ([], []),
        "E01": (["C01", "C02"], []), "E02": (["C01"], []),
    }  # fmt: skip


def test_a_preview_needs_the_claims_of_its_chapter_alone(catalogue):
    """Neither what other chapters name nor what they are about."""
    claims = declare("E01", status="misprint", about=("C02",)), declare("C02", "two_more", code=("nothing.of_it",))
    assert list(catalogue(*claims, only=CHAPTERS[:1])) == ["E01"]
    with pytest.raises(BuildError, match=r"C02: source nothing\.of_it does not exist"):
        catalogue(*claims)


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("one", "def", "error: book/claims: invalid syntax"),
        ("one", "import nothing_of_this_name", "error: book/claims: No module named 'nothing_of_this_name'"),
        ("one", "claim", "error: book/claims: name 'claim' is not defined"),
        ("one", MODULE.replace('"C02", place', '"C01", place'), "book/claims: book.claims.one has two claims C01"),
        ("three", MODULE.replace('"C0', '"C1').replace("E01", "E11"), "three.py: there is no chapter three"),
        ("two", MODULE, "error: book/claims: C01 is in book.claims.one and in book.claims.two"),
    ],
)
def test_a_module_that_cannot_be_read_stops_the_build(tiny, module, text, expected):
    tiny.claims(module, text)
    assert expected in tiny.refused("--only", "01")


def test_names_are_found_where_they_are_defined():
    path, line = find_code(ROOT, "crowder.models.SimilarityModel.from_steps")
    assert path == "crowder/models.py" and "def from_steps" in (ROOT / path).read_text().splitlines()[line - 1]
    assert find_code(ROOT, "crowder.models") == ("crowder/models.py", 1)
    assert find_code(ROOT, "crowder.models.nothing") is None
    path, _ = find_test(ROOT, "test_ledger.py::test_names_are_found_where_they_are_defined")
    assert (ROOT / path).samefile(__file__)
    for text in ("test_ledger.py", "test_ledger.py::find_code", "tests/test_ledger.py::test_x", "test_none.py::test_x"):
        assert find_test(ROOT, text) is None  # a file; no test; no file's name; no file


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("top", "ref"),  # with all that is below it, up to the next heading of its level
        ("long", "ref"), ("thm-shown", "prf:ref"),
        ("short", None),  # a word is no argument
        ("thm-stated", None),  # nor is a statement
        ("def-shown", None),  # nor a definition, whatever follows it
        ("none", None),
    ],
)  # fmt: skip
def test_a_written_argument_is_found_by_its_label(catalogue, tmp_path, label, role):
    expected = None if role is None else {"page": "note", "label": label, "role": role}
    assert find_proof(tmp_path, f"note#{label}") == expected
    assert find_proof(tmp_path, f"another#{label}") is None


def test_the_code_and_the_tests_that_claims_name_exist():
    for claim in book.claims.load().values():
        assert [name for name in claim.code if find_code(ROOT, name) is None] == [], claim.id
        assert [name for name in claim.test if find_test(ROOT, name) is None] == [], claim.id
        assert not claim.proof or find_proof(ROOT, claim.proof), claim.id


# --- judging ------------------------------------------------------------------------------------------------------

PIECE = {"kind": "exact", "what": "w", "holds": True, "figure": "fine", "also": False, "corrected": False}
BAD = PIECE | {"what": "v", "holds": False, "figure": "off by one"}


def found(status="holds", basis="exact", evidence=(PIECE,), chapter="01-one"):
    return {"status": status, "basis": basis, "where": "", "evidence": list(evidence), "chapter": chapter}


def test_a_claim_has_moved_when_status_or_basis_differ(catalogue):
    known = catalogue(declare("C01"), declare("C02", status="refuted"), declare("C03", status="undecided", basis=""))

    def moved(name, *record):
        judged = judge(known, {name: found(*record)}, ["01-one"])
        return next(entry["changed"] for entry in judged if entry["id"] == name)

    as_declared = {"C01": ("holds", "exact"), "C02": ("refuted", "exact"), "C03": ("undecided", "")}
    for name, (status, basis) in as_declared.items():
        assert moved(name, status, basis) is False
        for other in {"holds", "holds with a caveat", "misprint", "refuted", "undecided", "not shown"} - {status}:
            assert moved(name, other, basis) is True
        for other in {"", "proved", "exact", "simulated", "trend"} - {basis}:
            assert moved(name, status, other) is True
        assert moved(name, "not checked", "", []) is True


def test_what_failed_is_the_figure_of_a_moved_claim(catalogue):
    known = catalogue(declare(), declare("C02", "two_more"))
    (judged,) = judge(known, {"C01": found("not shown", "exact", [PIECE, BAD])}, ["01-one"])
    assert judged["changed"] and (judged["what"], judged["figure"]) == ("v", "off by one")
    assert changes([judged]) == ["01-one: C01 changed: expected holds (exact), found not shown (exact) (v: off by one)"]
    assert tally([judged]) == {"not shown": 1} and tally([judged], "E") == {}
    assert json.dumps(judged)  # goes to Sphinx as JSON
    (judged,) = judge(known, {"C01": found()}, ["01-one"])
    assert not judged["changed"] and judged["figure"] == "fine" and changes([judged]) == []


def test_what_was_not_checked_is_said(catalogue):
    known = catalogue(declare(), declare("C02", "two_more", status="refuted"))
    first, second = judge(known, {}, ["01-one", "02-two-more"])
    assert (first["status"], first["basis"], first["evidence"]) == ("not checked", "", [])
    assert changes([first, second]) == [
        "01-one: C01 changed: expected holds (exact), found not checked (no evidence was recorded)",
        "02-two-more: C02 changed: expected refuted (exact), found not checked (no evidence was recorded)",
    ]
    assert tally([first, second]) == {"not checked": 2}


@pytest.mark.parametrize(
    ("name", "chapter", "expected"),
    [
        ("C02", "01-one", "01-one: records C02, which is in no module of book/claims"),
        ("C01", "02-two-more", "02-two-more: records C01, which belongs to 01-one"),
    ],
)
def test_a_record_belongs_to_the_claim_of_its_chapter(catalogue, name, chapter, expected):
    with pytest.raises(BuildError, match=re.escape(expected)):
        judge(catalogue(declare()), {name: found(chapter=chapter)}, ["01-one", "02-two-more"])


def test_records_are_read_once_each(tmp_path):
    for slug in ("01-one", "02-two"):
        (tmp_path / slug / "claims").mkdir(parents=True)
        (tmp_path / slug / "claims" / f"C{slug[:2]}.json").write_text(json.dumps(found(chapter="elsewhere")))
    records = read_records(tmp_path, ["01-one", "02-two", "03-three"])
    assert records == {"C01": found(), "C02": found(chapter="02-two")}
    (tmp_path / "02-two" / "claims" / "C01.json").write_text(json.dumps(found()))
    with pytest.raises(BuildError, match="02-two: records C01, and so does 01-one"):
        read_records(tmp_path, ["01-one", "02-two"])


def entries(*rows):
    keys = ("id", "status", "basis", "kind")
    return [dict(zip(keys, row, strict=True)) | {"about": []} for row in rows]


SOME = entries(
    ("C01", "undecided", "", "result"), ("C02", "holds", "trend", "result"), ("C03", "holds", "proved", "result"),
    ("E01", "misprint", "exact", "misprint"), ("E02", "refuted", "trend", "result"), ("E03", "undecided", "", "result"),
    ("E04", "refuted", "proved", "result"), ("E05", "not shown", "exact", "wording"),
    ("E06", "holds with a caveat", "simulated", "condition"), ("E07", "misprint", "exact", "misprint"),
)  # fmt: skip


def test_the_tally_is_of_one_kind_in_the_order_of_the_scale():
    assert list(tally(SOME).items()) == [("holds", 2), ("undecided", 1)]
    assert list(tally(SOME, "E").items()) == [
        ("holds with a caveat", 1), ("misprint", 2), ("refuted", 2), ("undecided", 1), ("not shown", 1),
    ]  # fmt: skip
    assert tally(SOME, "B") == tally([]) == {}


def test_errata_are_ordered_by_what_they_weigh():
    assert [entry["id"] for entry in by_weight(SOME[3:])] == ["E02", "E03", "E04", "E06", "E05", "E01", "E07"]


def test_an_amended_claim_is_an_erratum_and_a_book_s_own_statement_is_not():
    made = [entry | {"corrected": "c" * (entry["status"] in AMENDED)} for entry in SOME]
    made += [made[3] | {"id": "C04", "kind": "condition"}, made[3] | {"id": "B01"}]
    made += [made[3] | {"id": "E08", "kind": "condition", "about": ["C04"]}]  # beside its claim
    assert [entry["id"] for entry in errata(made)] == ["E02", "E03", "E04", "C04", "E08", "E06", "E05", "E01", "E07"]


def test_the_file_has_a_line_a_claim(catalogue):
    known = catalogue(declare(statement="a,\n  \"b\"", code=("code.half", "code.Whole"),
                              test=("test_code.py::test_half",)), declare("B02"))  # fmt: skip
    text = as_csv(judge(known, {"C01": found("not shown", "exact", [BAD])}, ["01-one"]))
    columns = ("id place statement expected status basis where proof prose kind touches corrected affects stands "
               "figure says rests_on chapter source test").split()  # fmt: skip
    lines = list(csv.reader(text.splitlines()))
    assert lines == [
        columns,
        ["C01", "p", 'a, "b"', "holds (exact)", "not shown", "exact", *[""] * 3, "result", *[""] * 4, "off by one",
         "", "", "01-one", "code.half code.Whole", "test_code.py::test_half"],
        ["B02", "p", "s", "holds (exact)", "not checked", *[""] * 4, "result", *[""] * 4, "no evidence was recorded",
         "", "", "01-one", "", ""],
    ]  # fmt: skip
