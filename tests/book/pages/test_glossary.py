"""Terms of the glossary on a chapter's page: the first mention, in running text, with its explanation."""

import re

import pytest
from tiny_book import TinyBook

from book.sphinx_ext.glossary import pattern

NOTATION = """# Terms

:::{glossary}
match
  A pair of *one* cluster, with $x^2$.

edge ordering
  Asks by similarity.

ordering
  Any of them.
:::
"""
PAGE = """# A match

`match` and *match*, {doc}`match </book/pages/index>`, $match$ and a non-match say nothing.
Two Matches do, and a match no more.

Edge ordering is an ordering."""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    book = TinyBook(tmp_path_factory.mktemp("glossary") / "project")
    (book.root / "book" / "pages" / "notation.md").write_text(NOTATION)
    toc = book.root / "_toc.yml"
    last = "  - file: book/pages/bibliography"
    toc.write_text(toc.read_text().replace(last, f"  - file: book/pages/notation\n{last}"))
    book.write("02-two", PAGE, "#p\nsize = 5\nshare = 0.5")
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert 'class="term' not in book.page("book/pages/index")
    return book.page("notebooks/02-two")


def test_the_first_mention_is_linked_and_explained(page):
    links = re.findall(r'<a class="term[^"]*" href="([^"]+)" title="([^"]+)">([^<]+)</a>', page)
    assert [(href, text) for href, _, text in links] == [
        ("../book/pages/notation.html#term-match", "Matches"),
        ("../book/pages/notation.html#term-edge-ordering", "Edge ordering"),
        ("../book/pages/notation.html#term-ordering", "ordering"),
    ]
    assert links[0][1].startswith("A pair of one cluster")


@pytest.mark.parametrize(
    ("term", "yes", "no"),
    [
        ("match", ["match", "Matches,", "(match)"], ["non-match", "matched", "mismatch", "match-maker"]),
        ("recall", ["recall", "Recalls"], ["recalled"]),
        ("total variation", ["total variation", "Total variations"], ["total  variation"]),
    ],
)
def test_a_term_is_a_word_of_its_own(term, yes, no):
    assert all(pattern(term).search(text) for text in yes)
    assert not any(pattern(term).search(text) for text in no)
