"""Writing of files: a file is complete and on the disk, or as it was before."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["flush", "mode", "write"]


def write(path: Path, content: bytes, *, like: str | os.PathLike[str] | None = None) -> None:
    """Write a file under a temporary name, flush it and move it into place; if that fails, the previous file is
    unchanged. Nobody may read it who may not read the previous file, or the file `like`, from which its content is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # which no other writer has
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode(path, like)), "wb") as file:
            file.write(content)
            file.flush()
            flush(file.fileno())
        temporary.replace(path)
        with suppress(PermissionError):  # Windows cannot open folders
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)  # so that a power failure does not undo the naming
            os.close(folder)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def flush(file: int) -> None:
    """Wait until what was written to an open file is on the disk; on macOS, also from the cache of the drive."""
    if sys.platform == "darwin":
        import fcntl

        with suppress(OSError):  # some drives cannot
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    os.fsync(file)


def mode(*paths: str | os.PathLike[str] | None) -> int:
    """The permissions that all of these files give, of those that exist; the umask narrows them further."""
    allowed = 0o666
    for path in paths:
        if path is not None and os.path.exists(path):
            allowed &= os.stat(path).st_mode
    return allowed
