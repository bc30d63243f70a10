"""The values that crowder ships: how they are packed, checked and read (see README.md beside this file).

A file holds no text: of each record its cluster number and, for each similarity function, how much it has in common
with every other record, as whole numbers (:func:`crowder.counted.counts`). The similarities follow from these exactly.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist, squareform

from crowder.counted import from_counts
from crowder.texts import expand

__all__ = ["CORA", "CORA_SHA256", "pack", "read", "values"]

#: The shipped values of cora, and the sha256 of that file; `python -m crowder.data` makes it and prints the sum.
CORA = Path(__file__).with_name("cora.npz")
CORA_SHA256 = "f54ec0979e53254844e9dc253395c48d91b28c0eb16d208e5f0535ca34adb3ed"


def pack(path: str | os.PathLike, labels: np.ndarray, counted: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> str:
    """Write cluster numbers and counts to an ``.npz`` file; the same input gives the same bytes.

    Parameters
    ----------
    path : path
        The file to write; replaced in one move, so that a killed run leaves the old one.
    labels : ndarray of int, shape (n,)
        Cluster numbers.
    counted : mapping of str to (sizes, common)
        For each similarity's name what :func:`crowder.counted.counts` returned.

    Returns
    -------
    str
        The sha256 of the file.

    Notes
    -----
    Records that have all counts in common are one group, stored once. Groups are put in a chain, each next to one
    like it, and every row is stored as its difference from the row above: small numbers, which bzip2 packs well.
    bzip2 it is because its output has stayed the same for decades, while zlib's and xz's differ between versions.
    """
    members = {"labels": np.asarray(labels, dtype="<i2")}
    for name, (sizes, common) in counted.items():
        square = squareform(common, checks=False)
        np.fill_diagonal(square, sizes)
        first, group = _groups(square)
        square = square[np.ix_(first, first)]
        chain = _chain(square)
        square = square[np.ix_(chain, chain)]
        steps = np.diff(square, axis=0, prepend=0)[np.triu_indices(len(square))]
        if np.abs(steps).max(initial=0) > np.iinfo(np.int16).max:
            raise ValueError(f"counts of {name} do not fit 16 bits")
        members[f"{name}.group"] = np.argsort(chain)[group].astype("<i2")
        members[f"{name}.steps"] = steps.astype("<i2")
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    with zipfile.ZipFile(partial, "w") as archive:
        for name, array in members.items():
            # Without a fixed date and system the bytes would differ from run to run.
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            archive.writestr(info, buffer.getvalue(), compress_type=zipfile.ZIP_BZIP2, compresslevel=9)
    partial.replace(target)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def read(path: str | os.PathLike = CORA, sha256: str | None = CORA_SHA256) -> dict[str, np.ndarray]:
    """The arrays of a packed file, once its checksum is found right.

    Parameters
    ----------
    path : path
    sha256 : str or None
        What the file's must be; None to trust it.

    Returns
    -------
    dict
        Arrays by name, still packed; see :func:`values`.

    Raises
    ------
    ValueError
        If the checksum does not match: the file is corrupt, cut short, or not the one meant.

    Examples
    --------
    >>> len(read()["labels"])
    1879
    """
    content = Path(path).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ValueError(
            f"the checksum of {Path(path).name} does not match ({len(content)} bytes): "
            f"sha256 {found}, expected {sha256}; the file is corrupt or truncated, install crowder again"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return dict(archive)


def values(arrays: Mapping[str, np.ndarray], similarity: str) -> np.ndarray:
    """The condensed similarities of one function, unpacked.

    Examples
    --------
    >>> float(values(read(), "jaccard-tokens").max())
    1.0
    """
    group = arrays[f"{similarity}.group"]
    groups = int(group.max(initial=-1)) + 1
    upper = np.triu_indices(groups)
    square = np.zeros((groups, groups), np.int32)
    square[upper] = arrays[f"{similarity}.steps"]
    np.cumsum(square, axis=0, out=square)  # right on and above the diagonal; below it, nothing yet
    square = np.triu(square) + np.triu(square, 1).T
    return from_counts(similarity, np.diag(square)[group], expand(square, group))


def _groups(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first record of each group of equal rows, in order of appearance, and each record's group."""
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in square], dtype=np.intp)
    return np.unique(group, return_index=True)[1], group


def _chain(square: np.ndarray) -> np.ndarray:
    """From the first row on, always to the nearest row not yet visited (whole distances: no rounding, no chance)."""
    apart = cdist(square, square, "cityblock")
    order = np.zeros(len(square), dtype=np.intp)
    for step in range(1, len(square)):
        apart[:, order[step - 1]] = np.inf
        order[step] = np.argmin(apart[order[step - 1]])
    return order
