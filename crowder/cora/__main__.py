"""Recompute the shipped values: ``python -m crowder.cora PATH_TO_cora.csv [FOLDER]``."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

from crowder.cora import FAMILY, FOLDER, SUMS, UNITS, anonymous_labels, cora_records, file_of
from crowder.similarity import COUNTED, compute, groups, overlaps

__all__ = ["main", "packed", "rounded"]


def main(source: str, folder: str = str(FOLDER)) -> None:
    """Read the records, compute and pack each function, and write its file and the list of checksums."""
    records, sums = cora_records(source), ""
    labels = anonymous_labels(records["label"])
    for name, (similarity, fields) in FAMILY.items():
        if similarity in COUNTED:
            diagonal, whole = overlaps(records, similarity, fields=fields)
        else:
            diagonal, whole = rounded(compute(records, similarity, fields=fields), len(records))
        content, file = packed(labels, diagonal, whole), file_of(name)
        (Path(folder) / file).write_bytes(content)
        sums += f"{hashlib.sha256(content).hexdigest()}  {file}\n"
    (Path(folder) / SUMS.name).write_bytes(sums.encode())


def rounded(condensed: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Similarities of n records in whole units of 1/UNITS, after the 1 on the diagonal.

    Examples
    --------
    >>> rounded(np.array([0.33333]), 2)
    (array([10000, 10000], dtype=int32), array([3333], dtype=int32))
    """
    return np.full(n, UNITS, np.int32), np.rint(condensed * UNITS).astype(np.int32)


def packed(labels: np.ndarray, diagonal: np.ndarray, whole: np.ndarray) -> bytes:
    """The content of a file: cluster numbers, and the whole numbers of the records and of the pairs.

    Equal input gives equal bytes. Groups are ordered so that neighbours are similar, which makes the differences small
    and the file compress well. The compression is bzip2, because its output has stayed the same for decades, while
    those of zlib and xz differ between versions. Numbers that do not fit 16 bits are a ValueError.
    """
    from scipy.spatial.distance import squareform

    square = squareform(whole, checks=False)
    np.fill_diagonal(square, diagonal)
    first, group = groups(row.tobytes() for row in square)
    square = square[np.ix_(first, first)]
    chain = _chain(square)
    square = square[np.ix_(chain, chain)]
    steps = np.diff(square, axis=0, prepend=0)[np.triu_indices(len(square))]
    arrays = {"labels": np.asarray(labels), "group": np.argsort(chain, kind="stable")[group], "steps": steps}
    if any(np.abs(array).max(initial=0) > np.iinfo(np.int16).max for array in arrays.values()):
        raise ValueError("the numbers of labels, groups and pairs must fit 16 bits")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            # Without a fixed date and system the bytes would differ from run to run.
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array.astype("<i2"), version=(1, 0), allow_pickle=False)
            archive.writestr(info, buffer.getvalue(), compress_type=zipfile.ZIP_BZIP2, compresslevel=9)
    return content.getvalue()


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


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
