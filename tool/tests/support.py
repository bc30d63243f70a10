"""What several test files use: more examples at night, partitions, a browser, and what a spreadsheet reads."""

import csv
import io
import os
import shutil
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import settings

NIGHTLY = bool(os.environ.get("CROWDER_NIGHTLY"))


def examples(usual: int, *, night: int) -> settings:
    """Draw `usual` examples, the same ones each time; or, with CROWDER_NIGHTLY, `night` new ones."""
    return settings(max_examples=night if NIGHTLY else usual, derandomize=not NIGHTLY, deadline=None, database=None)


def chromium() -> str:
    """The browser that this machine has. Without one, a test is skipped, or fails if CROWDER_REQUIRE names browser."""
    if path := next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None):
        return path
    if "browser" in os.environ.get("CROWDER_REQUIRE", ""):
        pytest.fail("CROWDER_REQUIRE promises a browser, but there is no chromium here")
    pytest.skip("there is no chromium here")


def clusterings(n: int, labels: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All clusterings of n records, as labels numbered in order of first appearance."""
    if len(labels) == n:
        yield labels
    else:
        for label in range(max(labels, default=-1) + 2):
            yield from clusterings(n, (*labels, label))


def cells(text: str, sep: str = ",") -> list[list[str]]:
    """The rows, by the csv module, which begins one after each of the three line ends that is not quoted."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True))


def is_formula(cell: str) -> bool:
    """Whether its first character that can be seen begins a formula (half or full width), or it begins with a control
    character or a line separator, which some spreadsheets take for the beginning of another cell.

    A single + or - begins none if nothing but numbers follows: no operator, name or call, and no bracket around all."""
    seen = cell.lstrip("".join(c for c in cell if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Zs")))
    number = not any(c.isalpha() or c in '+-*/^&<>=%:;!@#$"_' or not c.isprintable() for c in seen[1:])
    if seen[:1] in ("+", "-") and number and seen[1:].lstrip()[:1] not in ("(", "'") and cell.lstrip(" ") == seen:
        return False
    return unicodedata.category(cell[:1] or "x") in ("Cc", "Zl", "Zp") or seen[:1] in tuple("=+-@＝＋－＠")
