"""Fetch a file with a known checksum."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from crowder.optional import needing

__all__ = ["CORA_SHA256", "CORA_URL", "cache", "fetch", "verified"]

#: The public address of the records of cora, at a fixed commit.
CORA_URL = (
    "https://raw.githubusercontent.com/AI-team-UoA/pyJedAI/08210b42d7dceb5bf910c61c618999545fde8366"
    "/data/der/coraLarge/cora.csv"
)
CORA_SHA256 = "fc5b298391c3e428cae5b0332feae5a16334e59a43b759029026bedf11b5769c"


def cache() -> Path:
    """The folder for fetched files, ``crowder`` in ``XDG_CACHE_HOME`` or in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crowder"


def verified(content: bytes, sha256: str, name: object, otherwise: str) -> bytes:
    """The content, if it has this checksum; a ValueError that says what it is `otherwise`."""
    if (found := hashlib.sha256(content).hexdigest()) == sha256:
        return content
    raise ValueError(
        f"the checksum of {name} does not match ({len(content)} bytes): sha256 {found}, expected {sha256}; {otherwise}"
    )


def fetch(url: str, sha256: str, path: Path, *, change: Callable[[bytes], bytes] = bytes) -> bytes:
    """The content of a file, which is fetched from an address unless it is there with the right checksum.

    The checksum is that of the file, after any `change` to what was fetched. The path never has anything else: it is
    left as it was by a ConnectionError, which says why there is no answer, and by a ValueError for another content.
    """
    with needing("data"):
        import pooch
        import requests

    def download(url: str, file: str, _: object) -> None:
        pooch.HTTPDownloader(timeout=60)(url, file, None)
        content = change(Path(file).read_bytes())
        Path(file).write_bytes(verified(content, sha256, url, "it is another file, or not all of it"))

    pooch.get_logger().setLevel("WARNING")  # what is downloaded is no news
    try:
        pooch.retrieve(url, sha256, path.name, path.parent, downloader=download)
    except requests.RequestException as error:
        raise ConnectionError(f"{url} cannot be downloaded: {error}") from error
    return path.read_bytes()
