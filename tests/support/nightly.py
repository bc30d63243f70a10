"""What takes too long for every run: more examples and the tests marked ``nightly``, when ``CROWDER_NIGHTLY`` is set.

``make nightly`` sets it. Without it, Hypothesis draws the same examples each time, so that `make test` says the same of
the same code; at night it looks elsewhere every time.
"""

import os

from hypothesis import settings

NIGHTLY = bool(os.environ.get("CROWDER_NIGHTLY"))

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("nightly", deadline=None, print_blob=True)


def examples(usual: int, *, night: int) -> settings:
    """Draw `usual` examples in `make test`, `night` in `make nightly`."""
    return settings(max_examples=night if NIGHTLY else usual)
