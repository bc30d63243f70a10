"""Tell people at a terminal why nothing happens while numba compiles, which takes seconds if its cache is empty."""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

__all__ = ["Notice"]

#: Seconds of compilation after which the notice is printed.
PATIENCE = 1.0


class Notice(event.Listener):
    """Prints one line once functions of `crowder` have been compiling for `PATIENCE` seconds.

    Only on a terminal: in a notebook or a log it would be noise.
    """

    def __init__(self) -> None:
        self.depth, self.began, self.spent, self.printed = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = time.monotonic()
        self.depth += 1
        self._tell(event)

    def on_end(self, event: Any) -> None:
        self._tell(event)
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.monotonic() - self.began

    def _tell(self, event: Any) -> None:
        ours = str(event.data["dispatcher"].py_func.__module__).startswith("crowder.")
        if ours and not self.printed and self.spent + time.monotonic() - self.began > PATIENCE and sys.stderr.isatty():
            self.printed = True
            print("crowder: compiling for the first time, which takes some seconds", file=sys.stderr, flush=True)
