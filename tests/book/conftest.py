"""A tiny book that is built once, however many workers the tests have; those who use it only look, or copy it."""

import pytest
from tiny_book import FIGURE, TinyBook


def built(root):
    book = TinyBook(root)
    (root / "book" / "pages" / "index.md").write_text('# Tiny\n\n<p id="pdf"></p>\n\nA book.\n')
    book.write("01-one", "# One", "#p\nsize = 3\nname = 'x'", f"#h\n# folded\n{FIGURE}")
    done = book.build()
    return done.stderr if done.returncode else ""


@pytest.fixture(scope="session")
def tiny_built(once):
    return TinyBook.existing(once("tiny", built))
