"""Ends all processes that a build or a chapter has started, directly or indirectly.

A chapter may leave processes running, and a killed build cannot clean up. Each process is identified by a variable in
its environment, which names a folder that no other build uses.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import psutil


def end(variable: str, value: str, *, grace: float = 1.0) -> None:
    """End every process that has `variable` set to `value`, after `grace` seconds in which it may end by itself."""
    psutil.wait_procs(list(_processes_with(variable, value)), timeout=grace)
    for _ in range(50):  # a process may start others until it is dead
        if not (found := list(_processes_with(variable, value))):
            return
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, timeout=0.1)


def _processes_with(variable: str, value: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or belongs to another user
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                yield process
