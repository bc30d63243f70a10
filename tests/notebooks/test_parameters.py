"""papermill, as it is, knows every parameter of every chapter: its type, and what it is for."""

import ast

import pytest
from papermill.inspection import inspect_notebook
from papermill.translators import PythonTranslator

from book.make.chapters import read_chapters
from book.make.environment import ROOT


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
