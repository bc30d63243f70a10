"""What was measured once, read from ``book/data/measured/``.

The pages must be identical in every build, so chapters measure no times: they read what ``make bench`` wrote.

>>> table = read("orderings")
>>> {"sweep", "contestant", "n", "k", "pairs", "ratio"} <= set(table)
True
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

__all__ = ["read"]

#: The files, in the clone that contains this package.
FOLDER = Path(__file__).resolve().parents[1] / "data" / "measured"


def read(name: str, folder=None) -> pd.DataFrame:
    """One table of measurements."""
    path = Path(folder or FOLDER) / f"{name}.csv"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: measurements are part of the book; work in a clone of it, or run `make bench`"
        )
    try:
        return pd.read_csv(path)
    except ValueError as error:  # from pandas: the file is empty or not a table
        raise ValueError(f"{path.name} is not a table of measurements: {error}") from None
