"""Packages that only some of crowder needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needing"]


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import in this context what an extra of crowder installs.

    Where a package is missing, an ImportError names the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        command = f"python -m pip install 'crowder[{extra}]'"
        raise ImportError(f"{error.name} is missing; install it with: {command}", name=error.name) from error
