"""Every third-party file of the pages is listed with its licence, and the texts are beside the pages."""

from fnmatch import fnmatch
from pathlib import Path

import yaml

from book.reports import licences
from book.sphinx_ext import search_text

ROOT = Path(__file__).resolve().parents[3]

#: Of our own making, in book/static/ or made by the build (and what hover.js shows, in previews/).
OURS = {path.name for path in (ROOT / "book" / "static").iterdir()} | {search_text.SCRIPT}


def test_every_static_file_of_the_pages_has_an_owner(html):
    patterns = [pattern for part in licences.components(ROOT) for pattern in part["files"]]
    static = [p.relative_to(html / "_static").as_posix() for p in (html / "_static").rglob("*") if p.is_file()]
    assert len(static) > 30
    ours = [name for name in static if name in OURS or name.startswith("previews/")]
    assert [name for name in static if name not in ours and not any(fnmatch(name, p) for p in patterns)] == []
    # A pattern that fits nothing is about a file that is gone.
    assert [p for p in patterns if not any(fnmatch(n, p) for n in static)] == []


def test_the_texts_of_the_licences_lie_beside_the_pages(html):
    texts = {path.stem: path.read_text() for path in (html / "licences").iterdir()}
    wanted = {part["package"] for part in licences.components(ROOT)}
    assert texts.keys() == {name for name in wanted if licences.text_of(name)} and len(texts) >= 10
    for words in ("Permission is hereby granted", "Redistribution and use in source and binary forms"):
        assert any(words in text for text in texts.values())
    page = (html / "book" / "pages" / "licences.html").read_text()
    assert all(f'href="../../licences/{name}.txt"' in page for name in texts)


def test_every_package_of_the_lock_declares_a_licence():
    rows = licences.packages(ROOT / "requirements.lock")
    assert len(rows) > 100 and {"numpy", "scipy", "sympy", "papermill", "jupyter-book"} <= {name for name, *_ in rows}
    assert [name for name, _, licence in rows if not licence] == []
    # None asks that what is built with it be under the same terms.
    strict = [row for row in rows if "GPL" in row[2] and "BSD" not in row[2]]
    assert strict == []


def test_what_a_package_says_of_its_licence_is_found_wherever_it_stands(monkeypatch):
    from email.message import Message
    from types import SimpleNamespace

    def said(**fields):
        metadata = Message()
        for name, value in fields.items():
            metadata[name.replace("_", "-")] = value
        return licences.declared(SimpleNamespace(metadata=metadata))

    assert said(License_Expression="MIT", License="something else") == "MIT"
    assert said(License="BSD", Classifier="License :: OSI Approved :: MIT License") == "BSD"
    # The whole text where the name belongs, or a word that says nothing: then the class tells.
    text = "Copyright (c) 2020\nRedistribution and use ..."
    assert said(License=text, Classifier="License :: OSI Approved :: BSD License") == "BSD License"
    assert said(License="UNKNOWN", Classifier="License :: OSI Approved :: ISC License") == "ISC License"
    assert said(Classifier="Topic :: Software") == ""


def test_the_list_is_well_formed():
    parts = yaml.safe_load((ROOT / "book" / "data" / "licences.yml").read_text())
    assert all(part.keys() == {"name", "licence", "package", "files"} for part in parts)
