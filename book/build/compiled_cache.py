"""The cache of compiled code, valid only for exactly these sources and only as the last build left it."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

from book.build.manifest import sha256
from crowder import files

_SEAL = "sums.json"


def folder(src: Path, cache: Path) -> Path:
    """The cache folder for these sources, emptied if its files are not those that the last build recorded.

    Numba notices a change in the file of a compiled function, but not in another file that the function calls, so a
    single cache could run outdated code. Nor does it check the files in its cache, which may be incomplete.
    """
    digest = hashlib.sha256()
    for path in sorted((src / "crowder").rglob("*.py")):
        digest.update(path.read_bytes() + b"\0")
    chosen = cache / f"numba-{digest.hexdigest()[:16]}"
    for other in cache.glob("numba*"):
        if other != chosen:
            shutil.rmtree(other, ignore_errors=True)
    if chosen.exists() and _sums(chosen) != _sealed(chosen):
        print(f"the compiled code in {chosen} has changed since the last build; compiling again", file=sys.stderr)
        shutil.rmtree(chosen)
    return chosen


def seal(chosen: Path) -> None:
    """Record the checksums of the folder, so that the next build can tell whether it has changed."""
    if chosen.exists():
        files.write(chosen / _SEAL, json.dumps(_sums(chosen), indent=1).encode())


def _sums(chosen: Path) -> dict[str, str]:
    files = (path for path in sorted(chosen.rglob("*")) if path.is_file() and path.name != _SEAL)
    return {path.relative_to(chosen).as_posix(): sha256(path) for path in files}


def _sealed(chosen: Path) -> dict[str, str] | None:
    try:
        return json.loads((chosen / _SEAL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
