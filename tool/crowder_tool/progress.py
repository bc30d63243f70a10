"""What the command says on standard error during work that takes long, a line every five seconds. Python is silent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeVar

__all__ = ["counted", "told"]

EVERY = 5.0
T = TypeVar("T")
#: What is being done, how much of it is done, and how much it is in all; nothing if no loop is counted.
_now: list[tuple[str, int, int]] = []


def counted(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one by one; `told` says how far it is."""
    for done, item in enumerate(items):
        _now[:] = [(what, done, len(items))]
        yield item
    _now.clear()


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say every five seconds what is being done, and for how long.

    A thread does, so that no step of the work is too long for it.
    """
    ended, began = Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(EVERY):
            far = "".join(f": {name}, {100 * done // most} %" for name, done, most in _now)
            print(f"{what}{far} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
