"""What was measured once, read from ``book/data/measured/``.

The pages must be identical in every build, so chapters measure no times: they read what ``make bench`` wrote.
"""

from pathlib import Path

import pandas as pd

__all__ = ["read"]

#: The files, in the clone that contains this package.
FOLDER = Path(__file__).resolve().parents[1] / "data" / "measured"


def read(name: str) -> pd.DataFrame:
    """One table of measurements, such as "orderings"."""
    return pd.read_csv(FOLDER / f"{name}.csv")
