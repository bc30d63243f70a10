"""Skip tests whose requirements are missing on this machine, unless CROWDER_REQUIRE lists them."""

import os
import shutil

import pytest


def missing(what: str, reason: str) -> None:
    """Skip the test for want of `what`; fail it when ``CROWDER_REQUIRE`` names that (comma-separated)."""
    promised = [name.strip() for name in os.environ.get("CROWDER_REQUIRE", "").split(",")]
    if what in promised:
        pytest.fail(f"CROWDER_REQUIRE promises {what}, but {reason}")
    pytest.skip(reason)


def chromium() -> str:
    """The browser that this machine has; Playwright's own is never downloaded."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return missing("browser", "there is no chromium here")
