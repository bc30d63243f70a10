"""Numbers that two chapters show under one name: a difference stops the build and says where both stand."""

import pytest
from tiny_book import TinyBook

from book.reports.same_numbers import differing

#: As `book.companion.glue` does it, without what that imports.
GLUE = "from myst_nb import glue\n"


def chapters(root, first, second):
    tiny = TinyBook(root)
    tiny.write("01-one", "# One\n\nIt is {glue:text}`excess`.", "#p\nsize = 3", GLUE + first)
    tiny.write("02-two", "# Two", "#p\nshare = 0.5", GLUE + second)
    return tiny


def test_a_glued_number_that_differs_between_chapters_stops_the_build(tmp_path):
    tiny = chapters(tmp_path / "project", "glue('excess', 16.0, display=False)", "glue('excess', 13.0, display=False)")
    done = tiny.build()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "02-two: excess is 13.0, but 16.0 in 01-one" in done.stderr
    assert not (tiny.out / "html").exists()
    # A number of one chapter alone may change in it, and other names have nothing to do with it.
    tiny.write("02-two", "# Two", "#p\nshare = 0.5", GLUE + "glue('excess', 16.0, display=False); glue('other', 13.0)")
    done = tiny.build()
    assert done.returncode == 0, done.stderr


@pytest.fixture
def tables(tmp_path):
    """What is said of tables, each of a chapter of its own."""

    def said(*texts):
        for number, text in enumerate(texts):
            (tmp_path / f"0{number}").mkdir(exist_ok=True)
            (tmp_path / f"0{number}" / "tab-x.csv").write_text(text)
        return differing(tmp_path / "nothing executed", tmp_path, [f"0{number}" for number in range(len(texts))])

    return said


ONE = "model,ε,ordering,exact,simulated\nDist-1,1/4,edge,6828.2,6830\nDist-1,1/4,node,6253.6,6251\n"


def test_the_numbers_of_one_setting_are_the_same_in_all_tables(tables):
    # Another order and another writing of the setting, and a simulation of its own.
    same = "ordering,mean,epsilon,model,exact\nnode,6240,0.25,dist1,6253.6000001\nedge,6833,0.25,dist1,6828.2\n"
    assert tables(ONE, same) == []
    assert tables(ONE, same.replace("6828.2", "6828.3")) == [
        "01: exact at ordering edge, ε 0.25, model dist1 in tab-x is 6828.3, but 6828.2 in 00 "
        "(exact at model dist1, ε 0.25, ordering edge in tab-x)",
    ]
    # Of another setting, or of one that is not said in full, nothing follows.
    for other in (same.replace("0.25", "0.2"), same.replace("dist1", "dist2"), same.replace("exact", "exactly"),
                  same.replace("ordering", "way"), same.replace("mean", "n")):  # fmt: skip
        assert tables(ONE, other.replace("6828.2", "6828.3")) == []
    # Rows of one setting that differ in something else say nothing about it.
    assert tables(ONE, ONE + "Dist-1,1/4,edge,7000.0,7000\n") == []


def test_what_the_paper_prints_is_the_same_under_both_names(tables):
    published = "model,ε,ordering,published\nDist-1,1/2,edge,4460\n"
    assert tables(published, published.replace("published", "printed")) == []
    assert len(tables(published, published.replace("published", "printed").replace("4460", "4475"))) == 1
