"""Processes that a build has started, and theirs: none of them outlives it, nor the chapter that it was started for.

A chapter may start processes that nobody ends, and a build that is killed ends nothing. Each is known by a variable in
its surroundings, which names a folder that one build alone has ever had.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")  # elsewhere there is none, and kernels notice by themselves that they are alone


def end(variable: str, value: str, *, grace: float = 1.0) -> None:
    """End every process that has `variable` set to `value`; those that are about to end may do so by themselves."""
    patience = time.monotonic() + grace
    while list(_having(variable, value)) and time.monotonic() < patience:
        time.sleep(0.05)
    patience = time.monotonic() + 5
    while (found := list(_having(variable, value))) and time.monotonic() < patience:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _having(variable: str, value: str) -> Iterator[int]:
    for entry in _PROC.glob("[0-9]*"):
        pid = int(entry.name)
        if pid != os.getpid() and _has(pid, variable, value):
            yield pid


def _has(pid: int, variable: str, value: str) -> bool:
    wanted = os.fsencode(f"{variable}={value}")
    with contextlib.suppress(OSError):  # gone meanwhile, or somebody else's
        return wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    return False
