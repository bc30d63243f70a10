"""Fixtures of the tool's tests."""

from types import SimpleNamespace

import pytest

from crowder_tool import Journal, asking, files

from .support import chromium


@pytest.fixture(scope="session", autouse=True)
def flushing():
    """Files are not flushed to the disk in tests, which would take most of their time; how they are otherwise."""
    usual, files.flush = files.flush, lambda file: None
    yield usual
    files.flush = usual


@pytest.fixture
def journal(tmp_path):
    with Journal(None, tmp_path / "answers.journal") as journal:
        yield journal


@pytest.fixture
def waits(monkeypatch):
    """The pauses of `ask_all`, none of which is made."""
    found = []

    class Event(asking.threading.Event):
        def wait(self, timeout=None):  # without a limit: of a thread that starts
            return super().wait() if timeout is None else found.append(timeout) or self.is_set()

    monkeypatch.setattr(asking, "threading", SimpleNamespace(Event=Event))
    return found


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
