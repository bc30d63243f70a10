"""The page "What ran", and the links from a figure to its code."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tiny_book import TinyBook

from book.build.chapters import Chapter
from book.build.manifest import Manifest
from book.reports import status

ROOT = Path(__file__).resolve().parents[3]

USES = """
from types import SimpleNamespace
from book.companion.results import uses
for _ in range(2):
    uses(SimpleNamespace(name="cora", provenance={"source": "shipped values"}))
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = TinyBook(tmp_path_factory.mktemp("status") / "project")
    shutil.copy(ROOT / "book" / "pages" / "status.md", book.root / "book" / "pages")
    toc = book.root / "_toc.yml"
    last = "  - file: book/pages/bibliography"
    toc.write_text(toc.read_text().replace(last, f"  - file: book/pages/status\n{last}"))
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


def test_the_page_names_chapters_times_data_and_versions(book):
    shown = text(book.page("book/pages/status"))
    assert "Profile quick" in shown
    # 1,234.4 seconds, and none of a chapter that is not in this book; a chapter without a measurement has a dash.
    assert "21 minutes of run time in all, as last measured (3 cores; python 3.99)" in shown
    assert "02-two 1,234 s cora (shipped values) not a git checkout" in shown
    assert "01-one – – not a git checkout" in shown
    manifest = json.loads((book.out / "executed" / "quick" / "manifest.json").read_text())
    for name, version in manifest["chapters"]["02-two"]["versions"].items():
        assert f"{name} {version}" in shown


def test_the_page_is_the_same_however_long_a_build_takes(book):
    results = book.out / "results" / "quick"
    manifest = Manifest(book.out / "executed" / "quick" / "manifest.json", "quick", results)
    chapters = [Chapter(slug, Path("notebooks", f"{slug}.ipynb"), book.root) for slug in manifest.data["chapters"]]
    measured = book.root / "book" / "data" / "measured" / "chapters.csv"

    def page():
        return status.as_markdown(
            status.facts(manifest, chapters, profile_name="quick", results=results, measured=measured)
        )

    first = page()
    for entry in manifest.data["chapters"].values():
        entry["seconds"] = 98_765
    assert page() == first and "1,234 s" in "".join(first)


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
