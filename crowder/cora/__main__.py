"""Recompute the shipped values: ``python -m crowder.cora PATH_TO_cora.csv [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

from crowder import files
from crowder.cora import shipped
from crowder.cora.family import members
from crowder.cora.records import anonymous_labels, cora_records
from crowder.similarity.counted import COUNTED, counts
from crowder.similarity.functions import compute

__all__ = ["main"]


def main(source: str, folder: str = str(shipped.FOLDER)) -> dict[str, str]:
    """Read the records, compute and pack each function; returns the sha256 of each file, which it also writes."""
    records = cora_records(source)
    labels, sums = anonymous_labels(records["label"]), {}
    for name, (similarity, fields) in members():
        if similarity in COUNTED:
            diagonal, whole = counts(records, similarity, fields=fields)
        else:
            diagonal, whole = shipped.rounded(compute(records, similarity, fields=fields), len(records))
        sums[shipped.file_of(name)] = shipped.pack(Path(folder) / shipped.file_of(name), labels, diagonal, whole)
    lines = [f"{checksum}  {file}\n" for file, checksum in sums.items()]
    files.write(Path(folder) / shipped.SUMS.name, "".join(lines).encode())
    return sums


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
