"""Fixtures of the tool's tests."""

import pytest

from crowder_tool import files

from .support import chromium


@pytest.fixture(scope="session", autouse=True)
def flushing():
    """Files are not flushed to the disk in tests, which would take most of their time; how they are otherwise."""
    usual, files.flush = files.flush, lambda file: None
    yield usual
    files.flush = usual


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
