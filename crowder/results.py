"""Where a result goes: onto the screen of whoever runs the cell and, while the book is built, into a folder.

The build names that folder in the environment variable ``CROWDER_RESULTS``; without it nothing is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["as_json", "display", "folder", "used", "write"]

_RESULTS = "CROWDER_RESULTS"


def folder() -> Path | None:
    """The folder of the build at work; None in a session of a reader's own."""
    named = os.environ.get(_RESULTS)
    return Path(named) if named else None


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, then move it: nobody sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:  # a full disk, say: what was there stays, and no half beside it
        temporary.unlink(missing_ok=True)
        raise


_used: set[tuple[str, str]] = set()


def used(name: str, source: str) -> None:
    """Note, while the book is built, that a chapter used a data set, and where its values come from."""
    if (at := folder()) is not None and (name, source) not in _used:
        _used.add((name, source))
        slug = "-".join(filter(None, "".join(c if c.isalnum() else " " for c in f"{name} {source}".lower()).split()))
        write(at / "data" / f"{slug}.json", as_json({"kind": "data", "name": name, "source": source}))


def as_json(record: Mapping[str, Any]) -> bytes:
    """A record as JSON text; what JSON does not know becomes a number, a list or text."""
    return (json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def display(bundle: dict[str, str], facts: dict[str, Any]) -> None:
    """Publish to the notebook, `facts` as the output's metadata; outside a notebook, print the plain text."""
    try:
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.display import display as publish
    except ImportError:  # crowder itself does not need IPython
        print(bundle["text/plain"])
        return
    if not InteractiveShell.initialized():
        print(bundle["text/plain"])
        return
    publish(bundle, raw=True, metadata={"crowder": facts})
