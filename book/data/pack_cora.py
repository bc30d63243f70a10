"""Make the shipped values of cora again, in `crowder/values`: ``python -m book.data.pack_cora [cora.csv]``."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist, squareform

from crowder.cora import FAMILY, FOLDER, SUMS, UNITS, cora_records, file_of
from crowder.similarity import COUNTED, _all_pairs, columns, compute, groups


def main(source: str | None = None, folder: Path = FOLDER) -> None:
    """Read or download the records, pack what each function says of them, and write its file and the checksums."""
    records, sums = cora_records(source), ""
    labels = groups(records["label"])[1]
    for name, (similarity, fields) in FAMILY.items():
        if similarity in COUNTED:
            found = columns(records, fields)
            diagonal, overlap = COUNTED[similarity](found)
            whole = _all_pairs(found, overlap, np.int32)
        else:
            diagonal, whole = UNITS, np.rint(compute(records, similarity, fields=fields) * UNITS).astype(np.int32)
        square = squareform(whole, checks=False)
        np.fill_diagonal(square, diagonal)
        content, file = packed(labels, square), file_of(name)
        (folder / file).write_bytes(content)
        sums += f"{hashlib.sha256(content).hexdigest()}  {file}\n"
    (folder / SUMS.name).write_bytes(sums.encode())


def packed(labels: np.ndarray, square: np.ndarray) -> bytes:
    """The content of a file: cluster numbers, and the whole numbers of the records and of the pairs.

    Equal input gives equal bytes. Groups are ordered so that neighbours are similar, which makes the differences small
    and the file compress well. The compression is bzip2, because its output has stayed the same for decades, while
    those of zlib and xz differ between versions.
    """
    first, group = groups(row.tobytes() for row in square)
    square = square[np.ix_(first, first)]
    chain = nearest_next(square)
    square = square[np.ix_(chain, chain)]
    steps = np.diff(square, axis=0, prepend=0)[np.triu_indices(len(square))]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in (("labels", labels), ("group", np.argsort(chain, kind="stable")[group]), ("steps", steps)):
            # Without a fixed date and system the bytes would differ from run to run.
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array.astype("<i2"), version=(1, 0), allow_pickle=False)
            archive.writestr(info, buffer.getvalue(), compress_type=zipfile.ZIP_BZIP2, compresslevel=9)
    return content.getvalue()


def nearest_next(square: np.ndarray) -> np.ndarray:
    """From the first row always to the nearest not yet visited: whole distances, so no rounding and no randomness."""
    apart = cdist(square, square, "cityblock")
    order = np.zeros(len(square), dtype=np.intp)
    for step in range(1, len(square)):
        apart[:, order[step - 1]] = np.inf
        order[step] = np.argmin(apart[order[step - 1]])
    return order


if __name__ == "__main__":
    main(*sys.argv[1:])
