"""The values shipped with crowder: how they are packed, checked and read (see README.md in `values`).

A file holds no text, only the cluster number of each record and one whole number for each pair. This is either the
overlap of the two (:func:`crowder.similarity.counted.counts`), which determines the similarity exactly, or, for a
function that is not a ratio of counts, the similarity in units of 10⁻⁴.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from crowder.similarity.counted import COUNTED, from_counts
from crowder.similarity.texts import expand

__all__ = ["FOLDER", "SUMS", "UNITS", "file_of", "pack", "read", "rounded", "sha256_of", "values"]

#: The folder with the values of cora, one file for each function; `python -m crowder.cora` makes them all.
FOLDER = Path(__file__).parent / "values"

#: The sha256 of each file, in the form of `sha256sum`.
SUMS = FOLDER / "SHA256SUMS"

#: A similarity that is not a ratio of counts is rounded to multiples of 1/UNITS.
UNITS = 10_000


def file_of(name: str) -> str:
    """The file of a member of :data:`crowder.cora.family.FAMILY`.

    Examples
    --------
    >>> file_of("jaro-winkler")
    'cora-jaro-winkler.npz'
    """
    return f"cora-{name}.npz"


def sha256_of(name: str) -> str:
    """The expected sha256 of a member's file."""
    lines = (line.split() for line in SUMS.read_text(encoding="utf-8").splitlines())
    checksum = next((words[0] for words in lines if words[1:] == [file_of(name)]), None)
    if checksum is None:
        raise ValueError(f"{name!r} has no shipped values: {SUMS.name} does not list {file_of(name)}")
    return checksum


def rounded(condensed: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Similarities of n records in whole units of 1/UNITS, and the 1 on the diagonal, as :func:`pack` expects them.

    Examples
    --------
    >>> rounded(np.array([0.33333]), 2)
    (array([10000, 10000], dtype=int32), array([3333], dtype=int32))
    """
    return np.full(n, UNITS, np.int32), np.rint(np.asarray(condensed) * UNITS).astype(np.int32)


def pack(path: str | os.PathLike, labels: np.ndarray, diagonal: np.ndarray, whole: np.ndarray) -> str:
    """Write cluster numbers and one whole number for each pair to an ``.npz`` file; equal input gives equal bytes.

    Parameters
    ----------
    path : path
        The file to write; replaced atomically, so that an interrupted run leaves the old one.
    labels : ndarray of int, shape (n,)
        Cluster numbers.
    diagonal, whole : ndarray of int, shapes (n,) and (n(n-1)/2,)
        As returned by :func:`crowder.similarity.counted.counts` or :func:`rounded`.

    Returns
    -------
    str
        The sha256 of the file.

    Raises
    ------
    ValueError
        If a number does not fit into 16 bits; nothing is then written.

    Notes
    -----
    Records whose numbers are all equal form one group, stored once. Groups are ordered so that neighbours are similar,
    and every row is stored as its difference from the row above: small numbers, which compress well. The compression is
    bzip2, because its output has stayed the same for decades, while those of zlib and xz differ between versions.
    """
    from scipy.spatial.distance import squareform

    square = squareform(whole, checks=False)
    np.fill_diagonal(square, diagonal)
    first, group = _groups(square)
    square = square[np.ix_(first, first)]
    chain = _chain(square)
    square = square[np.ix_(chain, chain)]
    steps = np.diff(square, axis=0, prepend=0)[np.triu_indices(len(square))]
    members = {"labels": np.asarray(labels), "group": np.argsort(chain)[group], "steps": steps}
    if any(np.abs(array).max(initial=0) > np.iinfo(np.int16).max for array in members.values()):
        raise ValueError(f"numbers for {Path(path).name} do not fit 16 bits")
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    with zipfile.ZipFile(partial, "w") as archive:
        for name, array in members.items():
            # Without a fixed date and system the bytes would differ from run to run.
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array.astype("<i2"), version=(1, 0), allow_pickle=False)
            archive.writestr(info, buffer.getvalue(), compress_type=zipfile.ZIP_BZIP2, compresslevel=9)
    partial.replace(target)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def read(path: str | os.PathLike, sha256: str | None) -> dict[str, np.ndarray]:
    """The arrays of a packed file, after its checksum has been verified.

    Parameters
    ----------
    path : path
    sha256 : str or None
        The expected checksum; None skips the check.

    Returns
    -------
    dict
        Arrays by name, still packed; see :func:`values`.

    Raises
    ------
    ValueError
        If the checksum does not match: the file is corrupt, truncated, or a different one.

    Examples
    --------
    >>> len(read(FOLDER / file_of("jaccard-tokens"), sha256_of("jaccard-tokens"))["labels"])
    1879
    """
    content = Path(path).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ValueError(
            f"the checksum of {Path(path).name} does not match ({len(content)} bytes): "
            f"sha256 {found}, expected {sha256}; the file is corrupt or truncated, install crowder again"
        )
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive)
    except Exception as error:  # zip, bzip2 and NumPy raise many kinds of errors for a broken archive
        raise ValueError(f"{Path(path).name} is not an archive of arrays: {type(error).__name__}: {error}") from None
    if odd := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:  # bytes
        raise ValueError(f"{Path(path).name} is not an archive of arrays: not an array: {', '.join(odd)}")
    return arrays


def values(arrays: Mapping[str, np.ndarray], similarity: str) -> np.ndarray:
    """The condensed similarities, unpacked.

    Parameters
    ----------
    arrays : mapping
        As :func:`read` returns them.
    similarity : str
        The function (not the member), which determines the meaning of the whole numbers.

    Examples
    --------
    >>> arrays = read(FOLDER / file_of("jaccard-tokens-title"), sha256_of("jaccard-tokens-title"))
    >>> float(values(arrays, "jaccard-tokens").max())
    1.0
    """
    _check(arrays)
    group = arrays["group"]
    groups = int(group.max(initial=-1)) + 1
    upper = np.triu_indices(groups)
    square = np.zeros((groups, groups), np.int32)
    square[upper] = arrays["steps"]
    np.cumsum(square, axis=0, out=square)  # correct on and above the diagonal; filled in below it next
    square = np.triu(square) + np.triu(square, 1).T
    whole = expand(square, group)
    return from_counts(similarity, np.diag(square)[group], whole) if similarity in COUNTED else whole / UNITS


def _check(arrays: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError for members that are missing, of another type, or of inconsistent shapes."""
    if absent := [name for name in ("labels", "group", "steps") if name not in arrays]:
        raise ValueError(f"the archive lacks {', '.join(absent)}")
    for name in ("labels", "group", "steps"):
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu":
            raise ValueError(f"{name} must be a row of whole numbers, not {arrays[name].dtype} {arrays[name].shape}")
    group, groups = arrays["group"], int(arrays["group"].max(initial=-1)) + 1
    # For no records, the packed square had one empty row.
    fit = len(arrays["labels"]) == len(group) or (len(arrays["labels"]), len(group)) == (0, 1)
    if not fit or group.min(initial=0) < 0 or len(np.unique(group)) != groups:
        raise ValueError(f"{len(arrays['labels'])} labels and {len(group)} places of {groups} groups do not fit")
    if len(arrays["steps"]) != groups * (groups + 1) // 2:
        raise ValueError(f"steps must be {groups * (groups + 1) // 2} values, not {len(arrays['steps'])}")


def _groups(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first record of each group of equal rows, in order of appearance, and each record's group."""
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in square], dtype=np.intp)
    return np.unique(group, return_index=True)[1], group


def _chain(square: np.ndarray) -> np.ndarray:
    """From the first row, always to the nearest row not yet visited (whole distances, so no rounding and no
    randomness)."""
    from scipy.spatial.distance import cdist

    apart = cdist(square, square, "cityblock")
    order = np.zeros(len(square), dtype=np.intp)
    for step in range(1, len(square)):
        apart[:, order[step - 1]] = np.inf
        order[step] = np.argmin(apart[order[step - 1]])
    return order
