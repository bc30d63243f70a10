"""The API reference lists every public name, each with a page of its own."""

import inspect
import pydoc
import re

import crowder
import crowder_tool
from book.project import ROOT

PAGE = ROOT / "book" / "pages" / "api.md"


def public():
    """Each public function and class under its shortest name; in a module, that by which it is imported."""
    found = {}
    for package in (crowder, crowder_tool):
        for name in package.__all__:
            thing = getattr(package, name)
            paths = [f"{thing.__name__}.{one}" for one in thing.__all__] if inspect.ismodule(thing) else [
                f"{package.__name__}.{name}"]  # fmt: skip
            for path in paths:
                value = pydoc.locate(path)
                if inspect.isroutine(value) or inspect.isclass(value):
                    found.setdefault(id(value), []).append((path.count("."), path))
    return [min(paths)[1] for paths in found.values()]


def test_the_page_lists_every_public_name_once():
    _, *parts = re.split(r"^\.\. currentmodule:: (\w+)$", PAGE.read_text(), flags=re.MULTILINE)
    listed = [f"{package}.{name}" for package, part in zip(parts[::2], parts[1::2], strict=True)
              for name in re.findall(r"^   ([\w.]+)$", part, re.MULTILINE)]  # fmt: skip
    assert sorted(listed) == sorted(public())


def test_a_public_name_has_a_page_with_signature_example_related_names_and_code(html):
    code = re.compile(r'href="(?:\.\./)+_modules/crowder(?:_tool)?/[\w/]+\.html#[\w.]+"><span class="viewcode-link">')
    for name in public():
        page = (html / "book" / "pages" / "api" / f"{name}.html").read_text(encoding="utf-8")
        assert f'id="{name}"' in page and "&gt;&gt;&gt; " in page and "See also" in page and code.search(page), name
    page = (html / "book" / "pages" / "api" / "crowder.L.html").read_text(encoding="utf-8")
    assert 'href="crowder.edge_bound.html#crowder.edge_bound"' in page


def test_related_names_exist():
    for path in public():
        value = pydoc.locate(path)
        after = inspect.getdoc(value).partition("See Also\n--------\n")[2]
        related = re.findall(r"^([\w.]+)(?= :|$)", after.partition("\n\n")[0], re.MULTILINE)
        unknown = [name for name in related if not (pydoc.locate(name) or pydoc.locate(f"{value.__module__}.{name}"))]
        assert related and unknown == [], path
