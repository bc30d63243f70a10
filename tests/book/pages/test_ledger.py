"""Claims from the cell that checks them to the pages that show them, and what happens when one changes."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest
import yaml
from tiny_book import TinyBook

from book.build.chapters import BuildError, Chapter
from book.build.to_myst import to_myst
from book.companion.claims import BASES, NOT_CHECKED, NOT_SHOWN
from book.reports.ledger import (
    AMENDED,
    KINDS,
    STATUSES,
    TOUCHED,
    as_csv,
    changes,
    find_proof,
    judge,
    read_catalogue,
    read_declared,
    read_records,
    tally,
)

ROOT = Path(__file__).resolve().parents[3]

DECLARED = """
claims:
  C01:
    place: Section $1$
    statement: A square $x^2$ it is.
    status: holds
    basis: proved
    proof: 01-one#a-square
    prose: that it is one
    touches: [Dist-1, F_g <= F_r]
    rests_on: []
  C02:
    place: Lemma 2
    statement: Three are two.
    status: refuted
    basis: exact
    corrected: It is three.
    affects: whatever counts
    stands: two
    touches: []
    rests_on: [C01]
  C03: {place: Section 3, statement: As before., status: undecided, stands: all else, touches: [experiments],
        rests_on: [C01, C02]}
  E01:
    place: Lemma 2, its proof
    statement: Two and one are two.
    status: misprint
    basis: exact
    kind: misprint
    corrected: They are three.
    affects: the lemma
    touches: []
    about: [C02]
  B01: {statement: It is so., status: holds, basis: exact}
paper:
  Main results:
    Theorem 1: {claims: [C01], figure: 01-one#fig-a}
    Lemma 2: {says: Three are two or one., claims: [C02, E01]}
    Remark: {says: Nothing is claimed., chapter: 02-two}
    Proof of Lemma 2: {says: It is clear., claims: [C02]}
    Section 3: {claims: [C03]}
"""
CHECKS = """
import sympy as sp
from book.companion.claims import agreement, check, corrected, counterexample, identity, readings
x, count = sp.Symbol("x"), 3
check("C01", identity("a square", (x + 1) ** 2 - x**2 - factor * x - 1));
"""
MORE = """check("C02", counterexample("three records", value=3, relation="at most", printed=2),
      corrected(agreement("the count", [count] * 2, [3, 3], where="two records")), says="There are $3$ records.")
check("C03", readings("what came before", {"this": 1, "that": 2}, fits="this", unit="errors"))
check("E01", counterexample("a sum", value=2 + 1, relation="equal", printed=2),
      corrected(agreement("the sum", 2 + 1, 3)))
check("B01", agreement("one", 1, 1))"""
TEXT = (
    """# One

A square {claim}`C01` grows as $x^2$, and {claim}`C02` does not; {claim}`C03` may.

(a-square)=
## A square

"""
    + "The argument goes on for as many words as an argument needs. " * 4
    + "\n\n```{tally}\n```"
)
PAPER = """# The paper, in order

```{tally}
```

## Main results

```{paper} Main results
```

## The printed numbers

```{printed}
```

## What this book adds

```{own}
```
"""
FIGURE = """
import matplotlib.pyplot as plt, pandas as pd
from book.companion import figures
fig, ax = plt.subplots(figsize=(2, 1))
figures.show(fig, "fig-a", caption="A frame.", alt="A frame.", data=pd.DataFrame({"y": [0]}))
"""
NAMES = ("c01", "c02", "e01", "c03", "b01")  # in the order of the paper


def book_with_claims(root):
    book = TinyBook(root)
    book.write("01-one", TEXT, "#p\nfactor = 2", FIGURE, CHECKS, MORE)
    book.claims(DECLARED)
    (root / "book" / "pages" / "paper.md").write_text(PAPER)
    toc = root / "_toc.yml"
    toc.write_text(toc.read_text() + "  - file: book/pages/paper\n")
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


# --- the pages ------------------------------------------------------------------------------------------------------


def plain(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def box(page, name):
    """The part of a page from an anchor to the next one of a claim."""
    start = page.index(f'id="{name}"')
    ends = [found.start() for found in re.finditer(r'id="claim-|<details class="paper-row|<section|</article>', page)]
    return page[start : min([end for end in ends if end > start], default=len(page))]


def says(page, words):
    """Whether a part of a page has these words, wherever tags stand."""
    return words.replace(" ", "") in plain(page).replace(" ", "")


def test_a_badge_leads_to_the_evidence_and_the_evidence_to_the_row_of_the_paper(built):
    page = built.page("notebooks/01-one")
    for name, looks, words in [
        ("c01", "status-holds basis-proved", "C01 holds (proved)"),
        ("c02", "status-refuted basis-exact", "C02 refuted"),
        ("c03", "status-undecided", "C03 undecided"),
    ]:  # fmt: skip
        assert re.search(
            rf'<span class="verdict {looks}"><a [^>]*href="#claim-{name}"><[^>]*>{re.escape(words)}<', page
        )
        assert box(page, f"claim-{name}").count(f'href="../book/pages/paper.html#claim-row-{name}"') == 2
    assert all(page.count(f'id="claim-{name}"') == 1 for name in NAMES)


def test_one_sentence_stands_where_the_claim_was_checked_and_the_evidence_is_folded(built):
    page = built.page("notebooks/01-one")
    for name, outside, inside in [
        # Without a sentence of its own, a claim has the words and the figure of what carries it.
        ("c01", ["C01 holds (proved) A square : 1 identity, difference 0."],
         ["Claim, Section", "Proved: in A square . In prose only: that it is one.", "Touches: Dist-1,"]),
        ("c02", ["C02 refuted There are", "What holds: It is three."],
         ["Printed, Lemma 2: Three are two.", "Affects: whatever counts", "What stands: two", "Exact: at two records.",
          "Touches: nothing in the analysis or the experiments.", "three records : printed: at most 2; it is 3",
          "Instead: the count : equal: 3, 3"]),
        ("c03", ["What came before : this: 1; that: 2 (errors)."], ["Claim, Section 3: As before."]),
        ("e01", ["A sum : printed: equal to 2; it is 3.", "What holds: They are three."],
         ["Printed, Lemma 2, its proof: Two and one are two.", "Affects: the lemma", "Instead: the sum : equal: 3"]),
    ]:  # fmt: skip
        before, folded = box(page, f"claim-{name}").split("<details", 1)
        assert "open" not in folded[: folded.index(">")]
        folded = folded[: folded.index("</details>")]
        assert "Evidence" in re.search("<summary.*?</summary>", folded, re.DOTALL)[0]
        for words, part, other in ((outside, before, folded), (inside, folded, before)):
            for text in words:
                assert says(part, text) and not says(other, text), (name, text)
        # What holds instead comes after what is printed.
        assert "Instead" not in folded or folded.index("printed:") < folded.index("Instead")


def test_code_that_only_checks_is_not_on_the_page_but_in_the_notebook(built):
    page = built.page("notebooks/01-one")
    code = plain("".join(re.findall(r'<div class="cell_input.*?</pre>', page, re.DOTALL))).replace(" ", "")
    assert 'check("C01"' in unescape(code)  # that cell imports as well
    assert "C02" not in code and "E01" not in code
    (source,) = (built.out / "html" / "_sources" / "notebooks").glob("01-one*")
    assert r"check(\"E01\"" in source.read_text()


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


def test_a_row_has_what_the_paper_says_and_opens_to_what_became_of_it(built):
    page = built.page("book/pages/paper")
    summaries = re.findall(r'<summary class="row-line.*?</summary>', page, re.DOTALL)
    assert [says(summary, words) for summary, words in zip(
        summaries, ["Theorem 1 A square", "Lemma 2 Three are two or one. C02 refuted E01 misprint",
                    "Proof of Lemma 2 It is clear. C02 refuted", "Section 3 As before. C03 undecided",
                    "Chapter 1 It is so. B01 holds (exact)"], strict=True)] == [True] * 5  # fmt: skip
    assert not any("<a " in summary for summary in summaries)  # a summary opens, and does nothing else
    places = [page.index(f'id="claim-row-{name}"') for name in NAMES]  # each claim has one place
    assert places == sorted(places)
    for name in NAMES:
        assert f'href="../../notebooks/01-one.html#claim-{name}"' in box(page, f"claim-row-{name}")
    for name, words in [
        ("c01", ["Evidence: A square : 1 identity", "Proved: in A square . In prose only: that it is one.",
                 "Carries C02 , C03 ."]),
        ("c02", ["Printed: Three are two.", "What is wrong: There are", "What holds (exact): It is three.",
                 "Affects: whatever counts", "What stands: two", "Exact: at two records.", "Rests on C01 ."]),
        ("c03", ["Evidence: What came before", "What stands: all else", "Rests on C01 , C02 ."]),
        ("e01", ["Lemma 2, its proof", "Printed: Two and", "What holds (exact): They are three.", "Concerns C02 ."]),
    ]:  # fmt: skip
        assert [text for text in words if not says(box(page, f"claim-row-{name}"), text)] == []
    assert not says(box(page, "claim-row-c01"), "Printed")  # the row says it
    rest = page[page.index('id="paper-proof-of-lemma-2"') :]
    assert 'href="#claim-row-c02"' in rest[: rest.index("</details>")] and says(rest, "is under Lemma 2")
    assert says(page, "Nothing is claimed. Chapter 2") and says(page, "Chapter 1 · Fig")
    assert "Expected" not in page and "claim-changed" not in page


def test_the_tally_counts_and_its_counts_are_links(built):
    for name, start in (("notebooks/01-one", "../book/pages/paper.html?show="), ("book/pages/paper", "?show=")):
        (counts,) = re.findall(r'<p class="tally">(.*?)</p>', built.page(name), re.DOTALL)
        assert says(counts, "3 claims of the paper: 1 holds 1 refuted 1 undecided")
        assert re.findall(r'href="([^"]*)"', counts) == [start + kind for kind in ("holds", "refuted", "undecided")]
    assert says(built.page("book/pages/paper"), "Show all · amended, with 1 further errata (2) · the book’s own (1)")


def test_the_file_has_a_line_a_claim(built):
    with (built.out / "results" / "full" / "ledger.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["id"], line["expected"], line["status"], line["basis"]) for line in lines] == [
        ("C01", "holds (proved)", "holds", "proved"), ("C02", "refuted (exact)", "refuted", "exact"),
        ("C03", "undecided", "undecided", ""), ("E01", "misprint (exact)", "misprint", "exact"),
        ("B01", "holds (exact)", "holds", "exact"),
    ]  # fmt: skip
    assert [line["proof"] for line in lines] == ["01-one#a-square", "", "", "", ""]
    assert [line["rests_on"] for line in lines] == ["", "C01", "C01 C02", "", ""]
    assert (lines[1]["corrected"], lines[1]["where"], lines[0]["touches"], lines[1]["says"]) == (
        "It is three.", "two records", "Dist-1; F_g <= F_r", "There are $3$ records.",
    )  # fmt: skip


# --- claims that move -----------------------------------------------------------------------------------------------


def test_a_claim_that_moves_fails_by_name_and_leaves_the_good_pages(built, tmp_path):
    tiny = built.copied(tmp_path / "project")
    good = tiny.page("notebooks/01-one")
    tiny.write("01-one", TEXT, "#p\nfactor = 3", FIGURE, CHECKS, MORE)  # (x + 1)² is not x² + 3x + 1
    done = tiny.build()
    assert done.returncode == 1
    expected = "01-one: C01 changed: expected holds (proved), found not shown (proved) (a square: difference $"
    assert expected in done.stderr
    assert not re.search("C02|C03|E01", done.stderr)  # only what moved
    assert tiny.page("notebooks/01-one") == good
    pages = {
        name: (tiny.out / "changed" / f"{name}.html").read_text() for name in ("notebooks/01-one", "book/pages/paper")
    }
    for (name, page), anchor in zip(pages.items(), ("claim-c01", "claim-row-c01"), strict=True):
        assert "C01 not shown" in page and says(page, "Changed in this run: C01."), name
        assert says(box(page, anchor), "Expected: holds (proved)") and says(page, "Does not hold")


#: What is edited, and what the build says.
MOVES = {
    # The status stays, on a weaker basis.
    ('identity("a square", (x + 1) ** 2 - x**2 - factor * x - 1)', 'agreement("a square", factor, 2)'):
        "C01 changed: expected holds (proved), found holds (exact) (a square: equal: 2)",
    # A correction that no longer holds; a refutation that no longer refutes; a reading that no longer fits.
    ("[3, 3]", "[4, 3]"): "C02 changed: expected refuted (exact), found not shown (exact) (the count: 3 is not 4)",
    ("value=2 + 1", "value=2"): "E01 changed: expected misprint (exact), found not shown (exact) (a sum: printed:",
    ('fits="this"', 'fits="that"'): "C03 changed: expected undecided, found not shown (what came before:",
    # A call that is written out, but does not run.
    ('check("B01"', 'if factor > 9: check("B01"'):
        "B01 changed: expected holds (exact), found not checked (no evidence was recorded)",
}  # fmt: skip


def test_what_moved_is_said_of_status_and_of_basis(tiny):
    checks, more = CHECKS, MORE
    for old, new in MOVES:
        assert (checks + more).count(old) == 1
        checks, more = checks.replace(old, new), more.replace(old, new)
    tiny.write("01-one", TEXT, "#p\nfactor = 2", FIGURE, checks, more)
    done = tiny.build("--only", "01")
    assert done.returncode == 1
    assert [said for said in MOVES.values() if f"01-one: {said}" not in done.stderr] == []
    assert done.stderr.count(" changed: ") == len(MOVES) and "Traceback" not in done.stderr
    # Other parameters may move a claim, and say so.
    done = tiny.build("--only", "01", "-p", "factor=3")
    assert done.returncode == 0 and "with these parameters:" in done.stderr and "C01 changed" in done.stderr


def test_a_chapter_that_stops_names_the_claims_it_leaves_unchecked(tiny):
    for cells, said in (([CHECKS, "1 / 0", MORE], "ZeroDivisionError"),
                        ([CHECKS, CHECKS, MORE], "C01 was checked twice in one run")):  # fmt: skip
        tiny.write("01-one", TEXT, "#p\nfactor = 2", FIGURE, *cells)
        message = tiny.refused("--only", "01")
        assert said in message and "01-one: not checked in this run: C01, C02, C03, E01, B01" in message


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
def project(tmp_path):
    """A function that declares claims in a project, each as (chapter, fields), and reads its catalogue."""
    (tmp_path / "book" / "data").mkdir(parents=True)
    (tmp_path / "book" / "pages").mkdir()
    (tmp_path / "book" / "pages" / "note.md").write_text(PAGE)
    (tmp_path / "notebooks").mkdir()
    chapters = [Chapter(slug, Path(f"notebooks/{slug}.ipynb"), tmp_path) for slug in CHAPTERS]

    def read(claims, **options):
        listed = {name: fields for name, (_, fields) in claims.items()}
        (tmp_path / "book" / "data" / "claims.yml").write_text(yaml.safe_dump({"claims": listed}))
        for chapter in chapters:
            code = "\n".join(f'check("{name}", one)' for name, (slug, _) in claims.items() if slug == chapter.slug)
            cell = {"cell_type": "code", "source": code, "metadata": {}}
            (tmp_path / chapter.path).write_text(json.dumps({"cells": [cell]}))
        only = [chapter for chapter in chapters if chapter.slug in options["only"]] if options else None
        return read_catalogue(tmp_path, chapters, only=only)

    return read


def test_what_is_declared_is_in_the_catalogue(project):
    made = project({
        "B01": ("02-two", declare(**OWN)), "E01": ("01-one", declare(**ERRATUM, about=["C02"])),
        "C02": ("01-one", declare(status="refuted", basis="proved", rests_on=["C10"], touches=["Dist-2"])),
        "C10": ("02-two", declare(status="undecided")),
    })  # fmt: skip
    assert list(made) == ["C02", "C10", "E01", "B01"]
    assert made["B01"] == {
        "id": "B01", "chapter": "02-two", "place": "beyond the paper", "statement": "s", "status": "holds",
        "basis": "exact", "kind": "result", "corrected": "", "affects": "", "stands": "", "prose": "", "proof": None,
        "touches": [], "about": [], "rests_on": [], "carries": [],
    } | {"proof": made["B01"]["proof"]}  # fmt: skip
    assert not made["B01"]["proof"]
    assert made["C02"]["proof"] == {"page": "note", "label": "thm-shown", "role": "prf:ref"}
    assert (made["C02"]["rests_on"], made["C10"]["carries"], made["E01"]["about"]) == (["C10"], ["C02"], ["C02"])
    assert json.dumps(made)  # goes to Sphinx as JSON


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("C1", {}, "'C1' should be C, E or B and two or three digits"),
        ("C001", {}, "'C001' should be"),
        ("D01", {}, "'D01' should be"),
        ("C01", {"colour": "red"}, "C01: colour is unknown"),
        ("C01", {"status": "true"}, "C01: status 'true'; expected one of 'holds', 'holds with a caveat', 'misprint'"),
        ("C01", {"status": NOT_SHOWN}, "C01: status 'not shown'"),
        ("C01", {"basis": "sure"}, "C01: basis 'sure'; expected one of 'proved', 'exact', 'simulated', 'trend'"),
        ("C01", {"basis": ""}, "C01: basis ''"),
        ("C01", {"status": "undecided", "basis": "exact"}, "C01: basis 'exact'; expected one of ''"),
        ("C01", {"kind": "huge"}, "C01: kind 'huge'; expected one of 'result', 'condition', 'wording', 'misprint'"),
        ("C01", {"place": " "}, "C01: place is missing"),
        ("C01", {"statement": None}, "C01: statement is missing"),
        ("C01", {"corrected": "c"}, "C01: corrected is given, but it is holds (exact)"),
        ("C01", {"status": "refuted", "corrected": None}, "C01: corrected is missing"),
        ("C01", {"status": "refuted", "stands": None}, "C01: stands is missing"),
        ("C01", {"status": "misprint", "affects": None}, "C01: affects is missing"),
        ("C01", {"basis": "proved", "proof": None}, "C01: proof is missing"),
        ("C01", {"basis": "proved", "prose": None}, "C01: prose is missing"),
        ("C01", {"proof": "p#l"}, "C01: proof is given, but it is holds (exact)"),
        ("C01", {"basis": "proved", "proof": "see the page"}, "C01: proof 'see the page'; expected a page and a label"),
        ("C01", {"basis": "proved", "proof": "note#short"}, "C01: no argument is written out at note#short"),
        ("C01", {"touches": None}, "C01: touches is missing"),
        ("E01", {**ERRATUM, "touches": None}, "E01: touches is missing"),
        ("B01", {"place": None, "rests_on": None}, "B01: touches is given"),
        ("C01", {"touches": ["Dist-3"]}, "C01: touches 'Dist-3'; expected some of 'general densities', 'F_g <= F_r'"),
        ("C01", {"rests_on": None}, "C01: rests_on is missing"),
        ("C01", {"rests_on": "C02"}, "C01: rests_on must be a list of names, not 'C02'"),
        ("C01", {"rests_on": ["C09"]}, "C01: rests_on names C09, which is not a claim"),
        ("C01", {"about": ["C09"]}, "C01: about names C09, which is not a claim"),
        ("C01", {"rests_on": ["C01"]}, "claims.yml: C01 carries C01"),
    ],
)  # fmt: skip
def test_what_a_claim_declares_is_complete_and_of_its_scale(project, name, changed, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        project({name: ("01-one", declare(**changed))})


def test_every_status_basis_and_kind_may_be_declared(project):
    for status in STATUSES:
        for basis in ("",) if status == "undecided" else BASES:
            for kind in KINDS:
                assert project(
                    {"C01": ("01-one", declare(status=status, basis=basis, kind=kind, touches=list(TOUCHED)))}
                )
    for name, fields in {
        "B999": OWN,
        "E100": ERRATUM,
        "C02": {"status": "misprint", "kind": "misprint", "stands": None},
    }.items():
        assert list(project({name: ("01-one", declare(**fields))})) == [name]


def test_each_claim_is_checked_by_one_chapter_and_declared(project, tmp_path):
    one, two = ("01-one", declare()), ("02-two", declare(rests_on=["C01"]))
    with pytest.raises(BuildError, match=r"claims.yml: no chapter checks C02"):
        project({"C01": one, "C02": ("03-three", declare())})
    assert list(project({"C01": one, "C02": two, "C03": ("03-three", declare())}, only=["02-two"])) == [
        "C02"
    ]  # a preview
    with pytest.raises(BuildError, match="C01 carries C02 carries C01"):
        project({"C01": ("01-one", declare(rests_on=["C02"])), "C02": two})
    project({"C01": one, "C02": two})
    path = tmp_path / "notebooks" / "02-two.ipynb"
    for code, said in (('check("C01", two)', "02-two: checks C01, and so does 01-one"),
                       ('check("C02")\ncheck("C07")', "02-two: checks C07, which is not in claims.yml")):  # fmt: skip
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": code, "metadata": {}}]}))
        with pytest.raises(BuildError, match=said):
            read_catalogue(tmp_path, [Chapter(slug, Path(f"notebooks/{slug}.ipynb"), tmp_path) for slug in CHAPTERS])


@pytest.mark.parametrize(
    ("text", "message"),
    [("claims: [", "claims.yml: "), ("claims: [C01]", "claims.yml: claims should be a mapping"),
     ("claims: {C01: so}", "claims.yml: C01 should be a mapping, not 'so'"),
     ("claims: {C01: {}, C01: {}}", "claims.yml: 'C01' appears twice")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(project, tmp_path, text, message):
    (tmp_path / "book" / "data" / "claims.yml").write_text(text)
    with pytest.raises(BuildError, match=re.escape(message)):
        read_declared(tmp_path)


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
def test_a_written_argument_is_found_by_its_label(project, tmp_path, label, role):
    expected = None if role is None else {"page": "note", "label": label, "role": role}
    assert find_proof(tmp_path, f"note#{label}") == expected
    assert find_proof(tmp_path, f"another#{label}") is None


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


def test_what_failed_is_the_figure_of_a_moved_claim(project):
    entry = judged(project, found(NOT_SHOWN, "exact", [PIECE, BAD]))
    assert entry["changed"] and (entry["what"], entry["figure"]) == ("v", "off by one")
    assert changes([entry]) == ["01-one: C01 changed: expected holds (exact), found not shown (exact) (v: off by one)"]
    assert json.dumps(entry)  # goes to Sphinx as JSON
    entry = judged(project, found())
    assert not entry["changed"] and entry["figure"] == "fine" and changes([entry]) == []


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


def test_the_tally_is_of_the_paper_in_the_order_of_the_scale():
    rows = {"C01": "undecided", "C02": "holds", "C03": "holds", "E01": "misprint", "B01": "refuted", "C04": NOT_SHOWN}
    counts = tally([{"id": name, "status": status} for name, status in rows.items()])
    assert list(counts.items()) == [("holds", 2), ("undecided", 1), (NOT_SHOWN, 1)] and tally([]) == {}


def test_the_file_has_one_line_for_a_claim_whatever_its_words(project):
    text = as_csv([judged(project, found(NOT_SHOWN, "exact", [BAD]), statement='a,\n  "b"')])
    columns, line = csv.reader(text.splitlines())
    assert columns == ("id place statement expected status basis where proof prose kind touches corrected affects "
                       "stands figure says rests_on chapter").split()  # fmt: skip
    assert line == ["C01", "p", 'a, "b"', "holds (exact)", NOT_SHOWN, "exact", *[""] * 3, "result", *[""] * 4,
                    "off by one", "", "", "01-one"]  # fmt: skip
