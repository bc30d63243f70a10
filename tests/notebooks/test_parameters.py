"""papermill, as it is, knows every parameter of every chapter: its type, what it is for, and what it may be."""

import ast
import re

import pytest
from papermill.inspection import inspect_notebook
from papermill.translators import PythonTranslator

from book.companion import ranges
from book.project import ROOT
from book.text.chapters import read_chapters


def type_of(value):
    """The annotation of a default: of a list, with the one type that its values have."""
    if not isinstance(value, list):
        return type(value).__name__
    (inner,) = {type(part).__name__ for part in value}
    return f"list[{inner}]"


@pytest.mark.parametrize("chapter", read_chapters(ROOT), ids=lambda c: c.slug)
def test_papermill_shows_type_default_and_help_of_each_parameter(chapter):
    seen, defaults = inspect_notebook(chapter.root / chapter.path), chapter.defaults()
    assert list(seen) == list(defaults)  # a line that papermill cannot read, it leaves out
    for name, default in defaults.items():
        assert ast.literal_eval(seen[name]["default"]) == default
        assert seen[name]["inferred_type_name"] == type_of(default), name
        assert len(seen[name]["help"]) > 3, name
        # It would pass on a tuple, or a number that is the key of a dictionary, as a text.
        assert ast.literal_eval(PythonTranslator.translate(default)) == default, name


@pytest.mark.parametrize("chapter", read_chapters(ROOT), ids=lambda c: c.slug)
def test_the_books_own_parameters_are_in_their_ranges_and_every_number_has_one(chapter):
    asked = dict.fromkeys(name for name, kind, _, comment in ranges.read(ROOT / chapter.path)
                          if "str" not in kind and "bool" not in kind and not ranges.RANGE.search(comment))  # fmt: skip
    assert [*asked] in ([], ["member_votes"])  # pairs of numbers
    assert ranges.differing(ROOT / chapter.path, chapter.defaults()) == []


REFUSED = {
    "races": [(0, "an integer in [1, inf)"), (1.5, "an integer"), (True, "an integer"), ("5", "an integer")],
    "epsilons": [([], "a list of at least 1, each a number in (0, 0.5)"), ([0.1, 0.5], "in (0, 0.5)"),
                 ([0.1, float("nan")], "in (0, 0.5)"), ("[0.1]", "papermill passes a list with -y"), (0.1, "a list")],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "words"), [(n, *row) for n, rows in REFUSED.items() for row in rows])
def test_what_a_chapter_cannot_run_with_is_refused_in_a_line_that_names_it(name, value, words):
    given = {"seed": 2017, "races": 100, "epsilons": [0.1]} | {name: value}
    with pytest.raises(ValueError, match=f"^{name} is [^\n]*{re.escape(words)}[^\n]*$"):
        ranges.differing(ROOT / "notebooks" / "03-integral.ipynb", given)
