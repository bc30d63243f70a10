"""Fixtures of the tool's tests."""

import pytest

from crowder_tool import answer_file

from .support import chromium


@pytest.fixture(scope="session", autouse=True)
def flushing():
    """Journals are not flushed to the disk in tests, which would take most of their time; how they are otherwise."""
    usual, answer_file.FLUSH = answer_file.FLUSH, "OFF"
    yield usual
    answer_file.FLUSH = usual


@pytest.fixture(scope="session")
def browser(request):
    """Chromium, one for the tests of the book and of the tool: Playwright runs once in a process."""
    if opened := getattr(request.config, "browser", None):
        yield opened
        return
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    executable = chromium()
    with sync_playwright() as playwright:
        # No sandbox, because CI is often root in a container; every page here is ours.
        request.config.browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield request.config.browser
        request.config.browser.close()
