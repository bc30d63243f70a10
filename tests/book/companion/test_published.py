"""The paper's numbers: the file, the rules of agreement, chapters that type none of them, the comparison in a build."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny_book import TinyBook

from book.companion import published
from book.reports import printed

ROOT = Path(__file__).resolve().parents[3]

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))


# --- the file -----------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_paper():
    """Against the paper's text, where it lies beside the project: each number stands in it as printed."""
    paper = ROOT.parent / "shared" / "paper" / "paper.tex"
    if not paper.exists():
        pytest.skip("the paper is not here to compare with")
    text = paper.read_text(encoding="utf-8", errors="replace")
    cells = r"\s*(\d+)\s*&\s*(\d+)\s*&\s*\{\\bf (Dist-\d)\}\s*&\s*\$\\epsilon=\\frac\{?(\d)\}?\{(\d+)\}\$"
    row = re.compile(f"^{cells}", re.MULTILINE)
    table = {f"{model}, {a}/{b}, {o}": int(value) for node, edge, model, a, b in row.findall(text)
             for o, value in (("node", node), ("edge", edge))}  # fmt: skip
    groups = published.read()
    assert len(table) == 18 and groups["table-1"].numbers == table
    for name in ("data-sets", "cora-records", "cora-questions", "cora-recall", "cora-within"):
        for number in groups[name].numbers.values():
            shapes = {f"{number}", f"{number:,}", "17,64,381" if number == 1764381 else "-"}
            assert any(re.search(rf"(?<![\d,.]){re.escape(shape)}(?![\d])", text) for shape in shapes), (name, number)


def test_the_listed_sizes_hold_the_announced_records_in_the_announced_clusters():
    announced = published.read()["data-sets"].numbers
    sizes = published.cluster_sizes()
    assert sizes == [200] * 2 + [100] * 4 + [50] * 8 + [30] * 2 + [20] * 2
    first = published.cluster_sizes(announced=True)
    assert first == [200] * 2 + [100] * 4 + [50] * 8  # the first three entries: 400 + 400 + 400 records
    assert (len(first), sum(first)) == (announced["clusters"], announced["records"])


def test_a_column_of_the_printed_table_is_spelled_as_the_package_spells_it():
    """Dist-1 is cr.dist1: the hyphen and the capital are the paper's."""
    group = published.read()["table-1"]
    coded = group.frame(as_code="model")
    assert coded["model"].tolist() == ["dist1"] * 6 + ["dist2"] * 3
    assert coded.drop(columns="model").equals(group.frame().drop(columns="model"))


def test_every_group_belongs_to_a_chapter_and_has_a_place():
    for name, group in published.read().items():
        assert (ROOT / "notebooks" / f"{group.chapter}.ipynb").exists(), name
        assert group.place and group.unit and group.numbers and set(group.differ or {}) <= set(group.numbers)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_chapter_types_a_printed_number(path):
    """Numbers of four digits and more, and the recall. Shorter ones and whole thousands have other business, too."""
    printed = [n for group in published.read().values() for n in group.numbers.values()]
    numbers = {n for n in printed if (n > 999 and n % 1000) or 0.9 < n < 1}
    shapes = {shape for n in numbers for shape in (f"{n}", f"{n:,}", f"{n:_}")}
    typed = re.compile(rf"(?<![\w.,]){'(?:' + '|'.join(map(re.escape, sorted(shapes))) + ')'}(?![\w]|[.,]\d)")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        found = typed.findall(source)
        assert not found, f"{path.stem}, cell {cell['id']}: {found}"


# --- the rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        ("equal", [100], [99, 101, 100.5]),
        ("at least", [100, 101], [99.9]),
        ("at most", [100, 99], [100.1]),
        ({"percent": 5}, [95, 105, 100], [94.9, 105.1]),
        ({"percent": 0.5}, [99.5, 100.5], [99.4, 100.6]),
    ],
)
def test_a_rule_says_yes_up_to_its_limit_and_no_beyond(rule, yes, no):
    assert all(published.agrees(rule, 100, value) for value in yes)
    assert not any(published.agrees(rule, 100, value) for value in no)


def test_deviations_are_as_rare_as_those_of_a_normal_number():
    """Of printed numbers that are one more run, a share 2 * (1 - Φ(2)) = 4.55 % is refused at 2, for few runs too."""
    rng = np.random.default_rng(7)
    for runs in (3, 12):
        draws = rng.normal(size=(6_000, runs + 1))
        refused = np.mean([
            not published.agrees({"deviations": 2}, row[-1], row[:-1].mean(), sd=row[:-1].std(ddof=1), runs=runs)
            for row in draws
        ])  # fmt: skip
        assert abs(refused - 0.0455) < 4 * np.sqrt(0.0455 * 0.9545 / len(draws))


def test_without_spread_only_the_mean_agrees():
    rule = {"deviations": 4}
    assert published.agrees(rule, 1277, 1277.0, sd=0.0, runs=9)
    assert published.agrees(rule, 1277, 1277.002, sd=0.0, runs=9)  # the expected number, of which no run was off
    assert not published.agrees(rule, 1277, 1277.5, sd=0.0, runs=9)
    assert not published.agrees(rule, 1277, 1278.0, sd=0.0, runs=9)
    # Without a standard deviation, or runs to have one of, nothing agrees.
    assert not published.agrees(rule, 1, 1, runs=9) and not published.agrees(rule, 1, 1, sd=np.inf, runs=9)
    assert not published.agrees(rule, 1, 1, sd=1.0, runs=1)


def test_each_printed_number_needs_one_of_ours():
    with pytest.raises(KeyError):
        published.compare("figure-1", {"good order": 4})


# --- the build ----------------------------------------------------------------------------------------------------

GROUPS = """
counts: {chapter: 01-one, place: Table 1, unit: questions, rule: {percent: 5}, numbers: {a: 100, b: 50},
         differ: {b: a slip}}
"""
COMPARES = """from book.companion import published
published.compare("counts", {"a": size, "b": 60}, setting="titles alone");"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Built once, with what the build said."""
    book = TinyBook(tmp_path_factory.mktemp("published") / "project")
    shutil.copy(ROOT / "book" / "companion" / "published.py", book.root / "book" / "companion")
    (book.root / "book" / "data" / "published.yml").write_text(GROUPS)
    (book.root / "notebooks" / "02-two.ipynb").unlink()
    (book.root / "_toc.yml").write_text(
        "format: jb-book\nroot: book/pages/index\nparts:\n- numbered: 1\n  chapters:\n  - file: notebooks/01-one\n"
        "- chapters:\n  - file: book/pages/bibliography\n"
    )
    book.profiles("quick: {}")
    book.write("01-one", "# One\n\nAs printed.\n\n```{printed}\n```", "#p\nsize = 104", COMPARES)
    return book, book.build()


@pytest.fixture
def book(built, tmp_path):
    return built[0].copied(tmp_path / "project")


def test_the_build_shows_printed_beside_regenerated(built):
    book, done = built
    assert done.returncode == 0, done.stderr
    assert re.search(r"counts, a\s+100\s+104\s+agrees\n", done.stdout)
    assert re.search(r"counts, b\s+50\s+60\s+differs\n", done.stdout)
    assert "printed numbers: 1 agrees; 1 differs, as noted" in done.stdout
    page = re.sub("<[^>]*>|\\s+", " ", book.page("notebooks/01-one"))
    assert "differs: a slip" in page and "within 5 %" in page
    assert "with titles alone, which the paper leaves open" in page
    lines = (book.out / "results" / "full" / "printed.csv").read_text().splitlines()
    assert len(lines) == 3 and lines[1].startswith("counts,a,Table 1,questions,100,104,")
    assert ",titles alone," in lines[1]


def test_an_agreement_that_is_lost_fails_by_name_and_leaves_the_good_pages(book):
    book.write("01-one", "# One\n\nAs printed.", "#p\nsize = 106", COMPARES)
    done = book.build()
    assert done.returncode == 1
    assert "01-one: counts, a no longer agrees: printed 100, regenerated 106 (within 5 %)" in done.stderr
    assert "counts, b" not in done.stderr
    assert "As printed" in book.page("notebooks/01-one")
    # Parameters of a reader's own may well give other numbers.
    done = book.build("--only", "01", "-p", "size=110")
    assert done.returncode == 0 and "no longer agrees" in done.stderr


def test_a_number_that_nobody_regenerates_fails(book):
    book.write("01-one", "# One", "#p\nsize = 104", "size")
    done = book.build()
    assert done.returncode == 1 and "the printed numbers of counts were not regenerated" in done.stderr


def test_what_agrees_now_is_said_and_fails_nothing(book):
    book.write("01-one", "# One", "#p\nsize = 104", COMPARES.replace("60", "50"))
    done = book.build()
    assert done.returncode == 0 and re.search(r"counts, b\s+50\s+50\s+agrees now\n", done.stdout)


def test_a_group_has_one_chapter(book):
    (book.root / "book" / "data" / "published.yml").write_text(GROUPS.replace("01-one", "09-none"))
    done = book.build()
    assert done.returncode == 1 and "book/data/published.yml: counts: there is no chapter 09-none" in done.stderr


def test_the_words_of_the_build():
    number = {"agrees": True, "differ": None}
    assert printed.agreement(number) == "agrees"
    assert printed.agreement(number | {"differ": "why"}) == "agrees now"
    assert printed.agreement({"agrees": False, "differ": "why"}) == "differs"
    assert printed.agreement({"agrees": False, "differ": None}) == "disagrees"
