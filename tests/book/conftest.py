"""The tiny book, executed, accepted and rendered once, however many workers the tests have; others look, or copy it."""

import pytest
from tiny_book import TinyBook


def built(root):
    book = TinyBook(root)
    (root / "data.csv").touch()
    outside = {"CROWDER_CORA": str(root / "data.csv"), "PROFILE": "complete"}
    steps = [lambda: book.run(**outside), lambda: book.check("--accept", **outside), book.run,
             lambda: book.check("--accept"), book.check, book.render]  # fmt: skip
    for step in steps:
        done = step()
        if done.returncode or "RuntimeWarning" in done.stderr:
            return done.stdout + done.stderr
    return ""


@pytest.fixture(scope="session")
def tiny_built(once):
    return TinyBook.existing(once("tiny", built))
