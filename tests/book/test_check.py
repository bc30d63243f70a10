"""What the book says, shows and draws is compared with what was computed: a table of edits, each named in a line."""

import json
import shutil

import pandas as pd
import pytest
from tiny_book import CHAPTERS, INDEX, TinyBook, tree

from book.check import alike, frames
from book.project import ROOT
from book.text.chapters import read_chapters

#: Chapter, what stands in its cells, what is planted there, and what the check says. The program stays without errors.
EDITS = [
    ("01-one", "There are $3$ records.", "There are $3$ clusters.",
     "01-one: C02 says: the book has There are $3$ records.; computed: There are $3$ clusters."),
    ("01-one", 'caption="Sizes."', 'caption="Models."',
     "01-one: tab-a caption: the book has Sizes.; computed: Models."),
    ("01-one", '"rising"), ("b", "falling")', '"falling"), ("b", "rising")',
     "01-one: fig-a drawn 1: the book has axes 1: rising; computed: axes 1: falling"),
    ("01-one", 'ylabel="questions"', 'ylabel="answers"',
     "01-one: fig-a drawn 3: the book has axes 1, y: questions, linear from"),
    ("01-one", "ax.plot([0, size], **figures.PRINTED.line", "ax.plot([0, size], **figures.NODE.line",
     "01-one: fig-a drawn 6: the book has axes 1, line #d55e00 1.8 --: 1 with 2 points; sums 1, 3, 3; computed: axes"),
    ("01-one", "[0, size], [1, size + 1])", "[1, size + 1])",  # no longer stacked
     "01-one: fig-a drawn 8: the book has … 2b2: 1 with 7 points; sums 3, 14, 11; computed: … 2b2: 1 with 7 points; s"),
    ("01-one", '"y": [0.1, size]', '"y": [0.1, 1.001 * size]',
     "01-one: fig-a.csv, y, row 2 (1 of 2 differ): the book has 3.0; computed: 3.00299"),
    ("01-one", '["node", "edge"]', '["edge", "node"]',
     "01-one: fig-a.csv, of, row 1 (2 of 2 differ): the book has node; computed: edge"),
    ("01-one", "factor == 2 and size > 1", "factor == 2",
     "01-one: cell-3 asserts 1: the book has factor == 2 and size > 1; computed: factor == 2"),
    ("01-one", "- 1 < 1e-12", "- 1 < 1e-10",
     "01-one: cell-3 asserts 2: the book has size / 3 - 1 < 1e-12; computed: size / 3 - 1 < 1e-10"),
    ("01-one", "agreement(2 + 1, 3)", "agreement(3, 3)",  # a thing with itself
     "01-one: E01 evidence 2 code: the book has agreement(2 + 1, 3); computed: agreement(3, 3)"),
    ("01-one", "identity((x + 1) ** 2 - x**2 - factor * x - 1)", "agreement(factor, 2)",  # a weaker basis
     "01-one: C01: the book has holds (proved); computed: holds (exact) (`agreement(factor, 2)`: equal: 2)"),
    ("01-one", "[3, 3]", "[4, 3]",  # a correction that no longer holds
     "01-one: C02: the book has refuted (exact); computed: not shown (exact) (`agreement([count] * 2"),
    ("01-one", 'fits="this"', 'fits="that"',
     "01-one: C03: the book has undecided; computed: not shown (`readings("),
    ("01-one", 'check("B01"', 'if factor > 9: check("B01"',
     "no chapter: B01: the book has holds (exact); computed: not checked (no evidence was recorded)"),
    ("01-one", "has 3<!--size-->", "has 4<!--size-->",
     "01-one: size in “[Figure 1.1](#fig-a) has 4 points, and"),
    ("01-one", "[Figure A2.1]", "[Figure A2.2]",
     "01-one: link: the book has [Figure A2.2](appendix/A2-more.ipynb#fig-c); computed: [Figure A2.1]("),
    ("02-two", "size + 99", "size + 101",
     "02-two: printed counts, a (within 5 %): the book has 100; computed: 106"),
    ("02-two", "It ends at {size}.", "It ends at {size + 1}.",
     "02-two: fig-states slider size 3 says: the book has It ends at 3.; computed: It ends at 4."),
    ("02-two", "ax.plot([0, size])", "ax.plot([1, size])",
     "02-two: fig-states slider size 2 drawn 3: the book has … "),
]  # fmt: skip


@pytest.fixture(scope="module")
def edited(tiny_built, tmp_path_factory):
    """The book with all edits, executed."""
    book = tiny_built.copied(tmp_path_factory.mktemp("check") / "book")
    for slug in CHAPTERS:
        book.edit(slug, *((old, new) for chapter, old, new, _ in EDITS if chapter == slug))
    book.file("book/pages/index.md", INDEX.replace("1,234.6", "1,234.7"))
    done = book.run()
    assert done.returncode == 0, done.stderr
    return book


def test_each_edit_is_named_in_a_line_and_can_be_accepted(edited):
    done = edited.check()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert [said for *_, said in EDITS if not any(line.startswith(said) for line in lines)] == []
    assert any(line.startswith("index.md: 02-two#area:,.1f in “Area 1,234.7, word") for line in lines)
    assert "counts, b" not in done.stderr and lines[-1] == "if this is meant: make accept"
    alone = [line for line in lines if line.startswith("02-two: ") and ": link: " not in line]  # of the whole book
    assert edited.check("02").stderr.splitlines()[:-1] == alone
    # What is accepted is the program's; a verdict is for the author to change.
    assert edited.check("--accept").returncode == 0
    left = edited.check().stderr.splitlines()[:-1]
    assert sorted(line.partition(":")[2][1:4] for line in left) == ["B01", "C01", "C02", "C03", "pri"]
    assert "has 3<!--size-->" in (edited.root / "notebooks" / "01-one.ipynb").read_text()


def test_another_profile_has_other_numbers_and_the_same_verdicts(edited):
    assert edited.run("--profile", "quick").returncode == 0
    said = edited.check("--profile", "quick").stderr.splitlines()[:-1]
    lines = [line for line in said if ": link: " not in line]  # which the test above may have mended
    assert sorted(line.partition(":")[2][1:4] for line in lines) == ["B01", "C01", "C02", "C03", "pri"]


def test_what_is_held_is_all_that_is_shown(tiny_built):
    at = tiny_built.root / "book" / "data" / "results"
    assert {name for name in tree(at) if name.startswith("02")} == {"02-two/fig-states.csv", "02-two/shown.yml"}
    text = (at / "01-one" / "shown.yml").read_text()
    for words in (
        "identity((x + 1) ** 2",
        "- -x**2 - 2*x + (x + 1)**2 - 1 = 0",
        "alt: 'A \"line\": a.'",
        "| x\\|y",
        "Drawn to 3",
    ):
        assert words in text, words


def test_a_recorded_result_is_read_and_computed_by_the_complete_profile_alone(tiny_built, tmp_path):
    book = tiny_built.copied(tmp_path / "book")
    at = book.root / "book" / "data" / "recorded"
    facts, first = json.loads((at / "powers.json").read_text()), (at / "powers.csv").read_text()
    assert len(pd.read_csv(at / "powers.csv")) == 8 and facts["parameters"] == {"n": 4, "exponents": [1, 2]}
    assert facts["chapter"] == "02-two" and facts.keys() == {"parameters", "within", "chapter", "date", "commit"}
    assert "recorded 8" in book.page("notebooks/02-two")
    outside = {"PROFILE": "complete", "CROWDER_CORA": str(book.root / "data.csv")}
    why = "error: 02-two: CROWDER_CORA must be the path of data that are not shipped"
    assert book.run(PROFILE="complete", CROWDER_CORA="/nowhere").stderr.startswith(why)
    # Only the complete profile knows that a number is not what the chapter computes, or that none computes a result.
    (at / "powers.csv").write_text(first.replace("2,1.3333", "2,1.4444"))
    (at / "roots.csv").write_text("root\n1\n")
    assert book.check(**outside).stderr.splitlines() == [
        "02-two: recorded powers, power, row 7 (1 of 8 differ): "
        "the book has 1.4444333333333332; computed: 1.3333333333333333",
        "no chapter: recorded roots.csv: the book has a file; computed: none",
        "if this is meant: make accept",
    ]  # fmt: skip
    assert book.check("--accept", **outside).returncode == 0 and (at / "powers.csv").read_text() == first


def test_each_recorded_result_is_named_in_the_chapter_that_asks_for_it():
    """By this name a chapter is executed again when the result has changed."""
    texts = {c.slug: "".join(cell["source"] for cell in c.notebook()["cells"]) for c in read_chapters(ROOT)}
    for path in (ROOT / "book" / "data" / "recorded").glob("*.json"):
        facts = json.loads(path.read_text())
        assert facts.keys() == {"parameters", "within", "chapter", "date", "commit"}
        assert f'"{path.stem}"' in texts[facts["chapter"]] and path.with_suffix(".csv").stat().st_size, path


FRAME = pd.DataFrame({"name": ["a", None], "x": [1.0, float("nan")], "n": [3, 4], "tiny": [1e-200, 0]})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (FRAME, []),
        (FRAME.assign(x=[1.009, None]), []),  # as near as two machines may be
        (FRAME.assign(x=[1.02, None]), ["x, row 1 (1 of 2 differ)"]),
        (FRAME.assign(x=[1.0, 2.0]), ["x, row 2 (1 of 2 differ)"]),
        (FRAME.assign(tiny=[1e-200, 0]), []),
        (FRAME.assign(tiny=[1.1e-200, 0]), ["tiny, row 1 (1 of 2 differ)"]),  # a probability
        (FRAME.assign(tiny=[1e-200, 2e-16]), ["tiny, row 2 (1 of 2 differ)"]),  # beside which this is none of rounding
        (FRAME.assign(tiny=[1e-200, float("inf")]), ["tiny, row 2 (1 of 2 differ)"]),
        (FRAME.assign(name=["a", "b"], n=[3, 5]), ["name, row 2 (1 of 2 differ)", "n, row 2 (1 of 2 differ)"]),
        (FRAME.assign(n=["3", "four"]), ["n, row 2 (1 of 2 differ)"]),
        (FRAME[:1], ["rows and columns"]),
        (FRAME[["x", "name", "n", "tiny"]], ["rows and columns"]),
    ],
)
def test_where_two_tables_differ(other, said):
    assert [what for what, *_ in frames(FRAME, other, 0.01)] == said


def test_numbers_of_a_text_may_differ_in_their_last_digits_and_integers_and_words_not():
    assert alike("1,764,381 of 0.25", "1,764,381 of 0.2500001", 1e-5)
    for other in ("1,764,382 of 0.25", "1,764,381 of 0.2501", "1,764,381 in 0.25", "1,764,381 of 25"):
        assert not alike("1,764,381 of 0.25", other, 1e-5)


def test_what_was_not_executed_is_named(tiny_built, tmp_path):
    book = TinyBook(tmp_path / "book")
    said = "error: not executed: 01-one, 02-two, A2-more; run `make book`, or python -m book.run\n"
    assert book.check().stderr == said
    done = book.render()
    assert done.returncode and said in done.stderr and "Traceback" not in done.stderr
    shutil.copytree(tiny_built.out / "full", book.out / "full")
    assert "02-two: recorded powers" not in book.check().stderr  # it reads what another execution left
