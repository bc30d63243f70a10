"""A process that ends what a build has started, also if the build itself is killed and cannot.

The build writes a line for each process that starts or ends. When its end of the pipe closes, the build has ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any


class Guard:
    """What the build holds of it. Each process that it is told of leads a group, to which what it starts belongs."""

    def __enter__(self) -> Guard:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, text=True,
            start_new_session=True,  # Ctrl-C is for the build alone
        )  # fmt: skip
        return self

    def __exit__(self, *_: Any) -> None:
        """End them all. No other can start: the pipe is closed."""
        self.process.stdin.close()
        self.process.wait()

    def starts(self, process: int) -> None:
        print(process, "starts", file=self.process.stdin, flush=True)

    def ends(self, process: int) -> None:
        """End what it has started and left."""
        with contextlib.suppress(ValueError):  # the pipe is closed, and all have ended
            print(process, "ends", file=self.process.stdin, flush=True)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _watch() -> None:
    left = set()
    for line in sys.stdin:
        process, what = line.split()
        if what == "starts":
            left.add(int(process))
        else:
            left.discard(int(process))
            _kill(int(process))
    for process in left:
        _kill(process)


if __name__ == "__main__":
    _watch()
