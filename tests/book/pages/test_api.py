"""The API reference has a page for every public name, with what a user needs to go on from there."""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import crowder
from book.build.chapters import Chapter
from book.reports import api

NAMES = api.names()


def thing(name):
    module, _, last = name.defined.rpartition(".")
    return getattr(import_module(module), last)


def section(name, title):
    """The lines of a section of a docstring in numpydoc's form."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", inspect.getdoc(thing(name)), re.DOTALL | re.M)
    return found[1] if found else ""


def test_every_public_function_and_class_is_listed_once():
    public = {id(value) for _, value in api._public() if inspect.isroutine(value) or inspect.isclass(value)}
    assert {id(thing(name)) for name in NAMES} == public and len(NAMES) == len(public)


def test_every_name_is_in_one_group():
    grouped = [module for modules in api.GROUPS.values() for module in modules]
    assert len(grouped) == len(set(grouped))
    assert {name.defined.split(".")[1] for name in NAMES} == set(grouped)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.name)
def test_a_docstring_has_an_example_and_related_names_that_exist(name):
    assert ">>> " in section(name, "Examples")
    related = re.findall(r"^([\w.]+)(?= :|$)", section(name, "See Also"), re.MULTILINE)
    assert related
    for other in related:
        scope = [crowder, import_module(name.defined.rpartition(".")[0])]
        path = other.removeprefix("crowder.").split(".")
        assert any(_has(start, path) for start in scope), f"{name.name}: there is no {other}"


def _has(start, path):
    for part in path:
        try:
            start = getattr(start, part, None) or import_module(f"{start.__name__}.{part}")
        except (ImportError, AttributeError):
            return False
    return True


def test_the_chapters_that_use_a_name_are_found(tmp_path):
    """By attribute, by an import of the name and under another name."""
    code = ["import crowder as cr\ncr.L(model, 3)", "from crowder.orderings import NodeOrdering as N\nN(w)",
            "from crowder import datasets\ndatasets.synthetic([2], model)\nuniform = 3"]  # fmt: skip
    cells = [{"cell_type": "code", "metadata": {}, "source": text} for text in code]
    (tmp_path / "01-one.ipynb").write_text(json.dumps({"cells": cells}))
    chapter = Chapter("01-one", Path("01-one.ipynb"), tmp_path)
    used = {name for name, chapters in api.used([chapter]).items() if chapters}
    assert used == {"crowder.theory.L", "crowder.orderings.NodeOrdering", "crowder.datasets.synthetic"}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.name)
def test_a_page_shows_signature_example_related_names_and_code(html, name):
    page = (html / f"{api.PAGE}/{name.name}.html").read_text(encoding="utf-8")
    assert f'id="crowder.{name.name}"' in page and "&gt;&gt;&gt; " in page and "See also" in page
    ((file, line),) = re.findall(r'href="(?:\.\./)+(source/[\w/]+\.py\.html)#(L-\d+)">The code', page)
    assert f'id="{line}"' in (html / file).read_text(encoding="utf-8")


def test_related_names_are_links(html):
    page = (html / f"{api.PAGE}/L.html").read_text(encoding="utf-8")
    assert 'href="edge_bound.html#crowder.edge_bound"' in page and "The integral" in page
