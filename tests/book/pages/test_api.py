"""The API reference lists every public name, and each has what a user needs to go on from there."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import crowder

PAGE = Path(__file__).resolve().parents[3] / "book" / "pages" / "api.md"


def public():
    """Each public function and class under its shortest name; in a module, that by which it is imported."""
    found = {}
    for name in crowder.__all__:
        thing = getattr(crowder, name)
        home = getattr(thing, "__name__", "").removeprefix("crowder.")
        inner = [f"{home}.{one}" for one in thing.__all__] if inspect.ismodule(thing) else [name]
        for path in inner:
            value = resolve([crowder], path)
            if inspect.isroutine(value) or inspect.isclass(value):
                found.setdefault(id(value), []).append((path.count("."), path))
    return [min(paths)[1] for paths in found.values()]


def resolve(starts, path):
    """What a dotted name means, seen from one of these modules; None if there is no such thing."""
    for thing in starts:
        for part in path.removeprefix("crowder.").split("."):
            try:
                thing = getattr(thing, part, None) or import_module(f"{thing.__name__}.{part}")
            except (ImportError, AttributeError):
                break
        else:
            return thing
    return None


NAMES = public()


def section(name, title):
    """The lines of a section of a docstring in numpydoc's form."""
    doc = inspect.getdoc(resolve([crowder], name))
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", doc, re.DOTALL | re.M)
    return found[1] if found else ""


def test_the_page_lists_every_public_name_once():
    assert sorted(re.findall(r"^   ([\w.]+)$", PAGE.read_text(), re.MULTILINE)) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_has_an_example_and_related_names_that_exist(name):
    assert ">>> " in section(name, "Examples")
    related = re.findall(r"^([\w.]+)(?= :|$)", section(name, "See Also"), re.MULTILINE)
    home = import_module(resolve([crowder], name).__module__)
    assert related and [other for other in related if resolve([crowder, home], other) is None] == []
