"""The API reference lists every public name. What a page of it has, test_pages says."""

import inspect
import pydoc
import re
from operator import attrgetter
from pathlib import Path

import crowder

PAGE = Path(__file__).resolve().parents[3] / "book" / "pages" / "api.md"


def public():
    """Each public function and class under its shortest name; in a module, that by which it is imported."""
    found = {}
    for name in crowder.__all__:
        thing = getattr(crowder, name)
        home = getattr(thing, "__name__", "").removeprefix("crowder.")
        for path in [f"{home}.{one}" for one in thing.__all__] if inspect.ismodule(thing) else [name]:
            value = attrgetter(path)(crowder)
            if inspect.isroutine(value) or inspect.isclass(value):
                found.setdefault(id(value), []).append((path.count("."), path))
    return [min(paths)[1] for paths in found.values()]


def test_the_page_lists_every_public_name_once():
    assert sorted(re.findall(r"^   ([\w.]+)$", PAGE.read_text(), re.MULTILINE)) == sorted(public())


def test_related_names_exist():
    for path in public():
        value = attrgetter(path)(crowder)
        after = inspect.getdoc(value).partition("See Also\n--------\n")[2]
        related = re.findall(r"^([\w.]+)(?= :|$)", after.partition("\n\n")[0], re.MULTILINE)
        unknown = [name for name in related if not (pydoc.locate(name) or pydoc.locate(f"{value.__module__}.{name}"))]
        assert related and unknown == [], path
