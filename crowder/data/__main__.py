"""Make the shipped values again: ``python -m crowder.data PATH_TO_cora.csv [OUTPUT.npz]``."""

from __future__ import annotations

import sys

from crowder import data
from crowder.counted import COUNTED, counts
from crowder.records import anonymous, cora_records

__all__ = ["main"]


def main(source: str, target: str = str(data.CORA)) -> str:
    """Read the records, count, pack; returns the sha256 of the file written."""
    records = cora_records(source)
    return data.pack(target, anonymous(records["label"]), {name: counts(records, name) for name in COUNTED})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    print(main(*sys.argv[1:]), "(crowder.data.CORA_SHA256 must say the same)")
