"""The values shipped with crowder: reading and checking them (see README.md in `values`).

A file holds no text, only the cluster number of each record and one whole number for each pair. This is either the
overlap of the two (:func:`crowder.similarity.overlaps`), which determines the similarity exactly, or, for a function
that is not a ratio of counts, the similarity in units of 10⁻⁴. Records whose numbers are all equal form one group,
stored once, and a row of the triangle of groups is stored as its difference from the row above.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from crowder.similarity import COUNTED, ratio, spread

__all__ = ["FOLDER", "SUMS", "UNITS", "file_of", "read", "sha256_of", "unpacked", "values"]

#: The folder with the values of cora, one file for each function; `python -m crowder.cora` makes them all.
FOLDER = Path(__file__).parent / "values"

#: The sha256 of each file, in the form of `sha256sum`.
SUMS = FOLDER / "SHA256SUMS"

#: A similarity that is not a ratio of counts is rounded to multiples of 1/UNITS.
UNITS = 10_000


def file_of(name: str) -> str:
    """The file of a member of :data:`crowder.cora.FAMILY`."""
    return f"cora-{name}.npz"


def sha256_of(name: str) -> str:
    """The expected sha256 of a member's file."""
    sums = (line.split() for line in SUMS.read_text(encoding="utf-8").splitlines())
    return {file: checksum for checksum, file in sums}[file_of(name)]


def read(name: str) -> dict[str, np.ndarray]:
    """The arrays of a member's file, after its checksum has been verified.

    Examples
    --------
    >>> len(read("jaccard-tokens")["labels"])
    1879
    """
    content = (FOLDER / file_of(name)).read_bytes()
    found, expected = hashlib.sha256(content).hexdigest(), sha256_of(name)
    if found != expected:
        raise ValueError(
            f"the checksum of {file_of(name)} does not match ({len(content)} bytes): "
            f"sha256 {found}, expected {expected}; the file is corrupt or truncated, install crowder again"
        )
    return unpacked(content)


def unpacked(content: bytes) -> dict[str, np.ndarray]:
    """The arrays in the content of a file: ``labels``, ``group`` and ``steps``."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return dict(archive)


def values(arrays: Mapping[str, np.ndarray], similarity: str) -> np.ndarray:
    """The condensed similarities. The function (not the member) determines what the whole numbers mean.

    Examples
    --------
    >>> float(values(read("jaccard-tokens-title"), "jaccard-tokens").max())
    1.0
    """
    group = arrays["group"]
    count = int(group.max(initial=-1)) + 1
    square = np.zeros((count, count), np.int32)
    square[np.triu_indices(count)] = arrays["steps"]
    np.cumsum(square, axis=0, out=square)  # correct on and above the diagonal, which is all that `spread` reads
    sizes = np.diag(square)
    return spread(ratio(similarity, sizes[:, None], sizes, square) if similarity in COUNTED else square / UNITS, group)
