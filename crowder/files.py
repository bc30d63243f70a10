"""Atomic writing of files: a file is either complete or absent."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write"]


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and move it into place; if that fails, the previous file is unchanged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
