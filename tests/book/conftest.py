"""A tiny book that is built once, however many workers the tests have; those who use it only look, or copy it."""

import fcntl
import os

import pytest
from tiny_book import FIGURE, TinyBook


@pytest.fixture(scope="session")
def tiny_built(tmp_path_factory):
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "tiny.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes first builds for all
        if (shared / "tiny").exists():
            return TinyBook.existing(shared / "tiny")
        book = TinyBook(shared / "tiny")
        (book.root / "book" / "pages" / "index.md").write_text('# Tiny\n\n<p id="pdf"></p>\n\nA book.\n')
        book.write("01-one", "# One", "#p\nsize = 3\nname = 'x'", f"#h\n# folded\n{FIGURE}")
        done = book.build()
        assert done.returncode == 0, done.stderr
    return book
