"""What the command says on standard error during work that takes long. Python is silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from tqdm import tqdm

__all__ = ["counted", "told"]

#: The seconds after which a loop is told, and between two reports.
FIRST, EVERY = 5.0, 1.0
T = TypeVar("T")
_now: list[str] = []  # what the command is doing


def counted(items: Sequence[T], what: str) -> Iterable[T]:
    """The items one by one; inside `told`, with how far it is."""
    said = f"{_now[-1]}: {what}" if _now else what
    return tqdm(items, said, delay=FIRST, mininterval=EVERY, leave=False, disable=not _now)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say how far the loops inside are, if they take long."""
    _now.append(what)
    try:
        yield
    finally:
        _now.pop()
