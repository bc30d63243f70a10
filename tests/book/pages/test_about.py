"""The page about the build: what ran, the work of others; and the links from a figure to its code."""

import json
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tiny_book import TinyBook

from book.build.chapters import Chapter
from book.build.manifest import Manifest
from book.reports import about
from book.sphinx_ext import search_text

ROOT = Path(__file__).resolve().parents[3]

USES = """
from types import SimpleNamespace
from book.companion.results import uses
for _ in range(2):
    uses(SimpleNamespace(name="cora", provenance={"source": "shipped values"}))
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = TinyBook(tmp_path_factory.mktemp("about") / "project")
    shutil.copy(ROOT / "book" / "pages" / "about.md", book.root / "book" / "pages")
    toc = book.root / "_toc.yml"
    last = "  - file: book/pages/bibliography"
    toc.write_text(toc.read_text().replace(last, f"  - file: book/pages/about\n{last}"))
    book.write("02-two", "# Two", "#p\nseed = 5", USES,
               "import pandas as pd\nfrom book.companion import figures\n"
               "figures.table(pd.DataFrame({'x': [seed]}), 'tab-two', caption='A seed.')")  # fmt: skip
    book.profiles("quick: {02-two: {seed: 6}}")
    (book.root / "book" / "data" / "measured" / "chapters.csv").write_text(
        "chapter,seconds,versions\n02-two,1234.4,3 cores; python 3.99\n03-gone,9,3 cores; python 3.99\n"
    )
    done = book.build("--profile", "quick")
    assert done.returncode == 0, done.stderr
    return book


def text(page):
    return " ".join(re.sub("<[^>]*>", " ", page).split())


def test_the_page_names_times_data_and_versions(book):
    shown = text(book.page("book/pages/about"))
    assert "profile quick" in shown and "commit not a git checkout" in shown
    assert "data sets cora (shipped values)" in shown
    # 1,234.4 seconds, and none of a chapter that is not in this book.
    assert "run time in full 21 minutes, of which 02-two 1,234 s (3 cores; python 3.99)" in shown
    manifest = json.loads((book.out / "executed" / "quick" / "manifest.json").read_text())
    versions = manifest["chapters"]["02-two"]["versions"]
    assert "versions python " in shown and all(f"{name} {version}" in shown for name, version in versions.items())


def test_the_page_is_the_same_however_long_a_build_takes_and_tells_commits_apart(book):
    results = book.out / "results" / "quick"
    manifest = Manifest(book.out / "executed" / "quick" / "manifest.json", "quick", results)
    chapters = [Chapter(slug, Path("notebooks", f"{slug}.ipynb"), book.root) for slug in manifest.data["chapters"]]

    def page():
        known = about.facts(manifest, chapters, profile="quick", results=results, data=book.root / "book" / "data")
        return about.ran(known, "")

    first = page()
    for entry in manifest.data["chapters"].values():
        entry["seconds"] = 98_765
    assert page() == first and "1,234 s" in "".join(first)
    manifest.data["chapters"]["01-one"]["commit"] = "abc-modified"
    assert "| commit | `abc-modified` (01-one); `not a git checkout` (02-two) |" in page()


def test_a_table_leads_to_its_data_its_cell_and_its_seed(book):
    page = book.page("notebooks/02-two")
    assert "seed 6" in text(page)  # the one it ran with, not the default
    link = re.search(r'href="\.\./(source/notebooks/02-two\.html)#(cell-cell-3)"', page)
    source = (book.out / "html" / link[1]).read_text()
    cell = source[source.index(f'id="{link[2]}"') :].partition("</div>\n<div id=")[0]
    assert "tab-two" in text(cell).replace(" ", "") and source.count(f'id="{link[2]}"') == 1
    # The cell as it ran, with the parameter that the profile set before it.
    assert "seed = 6" in text(source)


def test_a_chapter_without_seed_shows_none(book):
    assert "seed" not in text(book.page("notebooks/01-one"))


# --- the work of others ---------------------------------------------------------------------------------------------

#: Of our own making, in book/static/ or made by the build (and what hover.js shows, in previews/).
OURS = {path.name for path in (ROOT / "book" / "static").iterdir()} | {search_text.SCRIPT}


def test_every_static_file_of_the_pages_has_an_owner(html):
    patterns = [pattern for part in about.components() for pattern in part["files"]]
    static = [p.relative_to(html / "_static").as_posix() for p in (html / "_static").rglob("*") if p.is_file()]
    assert len(static) > 30
    ours = [name for name in static if name in OURS or name.startswith("previews/")]
    assert [name for name in static if name not in ours and not any(fnmatch(name, p) for p in patterns)] == []
    # A pattern that fits nothing is about a file that is gone.
    assert [p for p in patterns if not any(fnmatch(n, p) for n in static)] == []


def test_the_texts_of_the_licences_lie_beside_the_pages(html):
    texts = {path.stem: path.read_text() for path in (html / "licences").iterdir()}
    wanted = {part["package"] for part in about.components()}
    assert texts.keys() == {name for name in wanted if about.text_of(name)} and len(texts) >= 10
    for words in ("Permission is hereby granted", "Redistribution and use in source and binary forms"):
        assert any(words in text for text in texts.values())
    page = (html / "book" / "pages" / "about.html").read_text()
    assert all(f'href="../../licences/{name}.txt"' in page for name in texts)


def test_the_list_is_well_formed():
    assert all(part.keys() == {"name", "licence", "package", "files"} for part in about.components())
