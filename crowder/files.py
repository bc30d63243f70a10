"""Atomic writing of files: a file is either complete or absent."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write"]


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, then move it into place, so that no reader sees an incomplete file.

    Parameters
    ----------
    path : Path
        Its folder is created if necessary.
    content : bytes

    Raises
    ------
    OSError
        If writing fails (for example on a full disk); a previous file at `path` is then unchanged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "new" / "a.txt", b"whole")
    ...     (Path(folder) / "new" / "a.txt").read_bytes()
    b'whole'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
