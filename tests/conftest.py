"""Fixtures: the records of cora and real crowds, where they are at hand; the rendered book, and a browser for it.

The pages of the last build are used if their sources have not changed since; otherwise the book is built once, with the
quick profile, however many workers the tests have. Its pages are laid out as those of the full book, and have fewer
numbers behind them; what tests say holds of both. CROWDER_BOOK may name a folder of other pages. The records are
looked for in CROWDER_CORA and beside the project, the crowds in CROWDER_CROWDS and there. Where they are absent, the
tests that need them are skipped, or fail if CROWDER_REQUIRE says "cora" or "crowds".
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings
from needing import chromium, missing
from nightly import NIGHTLY

from book.project import ROOT, digest
from book.sphinx_ext.chapters import DIGEST, SOURCES
from crowder.cora import CORA_VARIABLE, cora_records
from crowder.crowds import Crowd, read_crowd

BESIDE = ROOT.parent / "shared" / "data"

settings.load_profile("nightly" if NIGHTLY else "same")

#: The planted faults are no tests; test_faults tests them.
collect_ignore = ["faults", "conftest.py", "book/conftest.py"]


#: The files that take longest go first, each to one worker, which keeps what it has built.
LONGEST = ("tiny_pages", "run", "check", "alone", "charts", "learning", "journal",
           "noisy", "expected", "audit")  # fmt: skip
#: One opened page is like another: these tests come last, one by one, so that the workers end together.
LAST = "test_pages"
#: Seconds for a build of the quick book.
BUILD = 1800


def pytest_collection_modifyitems(config, items):
    """The longest first; and by day without the tests of the night.

    These are deselected, because a skip would look like something that is missing.
    """
    place = {f"test_{name}": number for number, name in enumerate(LONGEST)} | {LAST: 1000}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))
    for item in items:
        if item.path.stem != LAST:
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(ROOT))))
    if not NIGHTLY:
        left_out = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def cora_path() -> Path:
    """The file of cora's records."""
    path = Path(os.environ.get(CORA_VARIABLE) or BESIDE / "cora.csv")
    if not path.is_file():
        missing("cora", f"{CORA_VARIABLE} leads to no file, and there is no ../shared/data/cora.csv")
    return path


@pytest.fixture(scope="session")
def cora_frame(cora_path: Path) -> pd.DataFrame:
    """The records themselves."""
    return cora_records(cora_path)


@pytest.fixture(scope="session")
def crowds_path() -> Path:
    """The folder of the real crowds."""
    path = Path(os.environ.get("CROWDER_CROWDS") or BESIDE / "crowds")
    if not path.is_dir():
        missing("crowds", "CROWDER_CROWDS leads to no folder, and there is no ../shared/data/crowds")
    return path


@pytest.fixture(scope="session")
def real_crowds(crowds_path: Path) -> dict[str, Crowd]:
    """The crowds themselves, by name."""
    return {name: read_crowd(crowds_path / name) for name in ("gym", "allsports", "landmarks")}


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """A function that makes a folder of this name, once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def made(name, make):
        done = shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes first makes it
            if not done.exists():
                done.write_text(make(shared / name) or "")
        if why := done.read_text():
            pytest.fail(why)
        return shared / name

    return made


@pytest.fixture(scope="session")
def html(once):
    """The folder of pages."""
    if given := os.environ.get("CROWDER_BOOK"):
        return Path(given).resolve()
    stamp = ROOT / "_build" / "html" / DIGEST
    if stamp.is_file() and stamp.read_text().strip() == digest(*SOURCES):
        return stamp.parent
    return once("book", quick_book) / "_build" / "html"


def quick_book(out: Path) -> str:
    """Build the quick book; why it failed, if it did."""
    env = os.environ | {"PROFILE": "quick", "PYTHONPATH": str(ROOT)}
    render = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--path-output", str(out), "-n", "-W"]
    for command in ([sys.executable, "-m", "book.run"], [sys.executable, "-m", "book.check"], render):
        done = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=BUILD)  # fmt: skip
        if done.returncode:
            return f"there are no pages to test (make book PROFILE=quick):\n{(done.stdout + done.stderr)[-3000:]}"
    return ""


@pytest.fixture(scope="session")
def browser(request):
    """Chromium, one for the tests of the book and of the tool: Playwright runs once in a process."""
    if opened := getattr(request.config, "browser", None):
        yield opened
        return
    from playwright.sync_api import sync_playwright

    executable = chromium()
    with sync_playwright() as playwright:
        # No sandbox, because CI is often root in a container; every page here is ours.
        request.config.browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield request.config.browser
        request.config.browser.close()


ABORTED = "net::ERR_ABORTED"

# How far the page moves what it has drawn.
SHIFT = """
window.shift = 0;
new PerformanceObserver(list => { for (const entry of list.getEntries()) window.shift += entry.value; })
    .observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture(scope="session")
def reader(browser):
    """One page for all tests, which keeps the style sheets and fonts; and what it complained of or asked for."""
    page, trouble = browser.new_context().new_page(), []
    page.add_init_script(SHIFT)
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    # A request that is aborted is one whose page was left before the answer came, such as that for a page's icon.
    page.on("requestfailed", lambda r: None if r.failure == ABORTED else trouble.append(f"{r.failure}: {r.url}"))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else trouble.append(r.url))
    return page, trouble


@pytest.fixture
def visit(reader, html):
    """Open a page as a reader would, which complains of nothing and asks no other host for anything."""
    page, trouble = reader
    trouble.clear()

    def open_page(name):
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(media="screen", color_scheme="light", reduced_motion="no-preference")
        page.goto((html / f"{name}.html").as_uri())
        return page

    yield open_page
    assert trouble == []
