"""Stop Sphinx outside the build, as in `jupyter-book build .`: only the build has executed chapters to render.

This extension comes first, before another one writes among the sources.
"""

from __future__ import annotations

import sys
from typing import Any


def setup(app: Any) -> None:
    if "edition" not in app.config.html_context:  # see book.make.render
        sys.exit("error: this book is built by `make book`, which executes the chapters first; nothing was rendered")
