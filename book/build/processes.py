"""Processes that a build has started, and theirs: none of them outlives it, nor the chapter that it was started for.

A chapter may start processes that nobody ends, and a build that is killed ends nothing. Each is known by a variable in
its environment, which names a folder that one build alone has ever had.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import psutil


def end(variable: str, value: str, *, grace: float = 1.0) -> None:
    """End every process that has `variable` set to `value`; those that are about to end may do so by themselves."""
    psutil.wait_procs(list(_having(variable, value)), timeout=grace)
    for _ in range(50):  # a process that is being ended may start others until it is
        if not (found := list(_having(variable, value))):
            return
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, timeout=0.1)


def _having(variable: str, value: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # gone meanwhile, or somebody else's
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                yield process
