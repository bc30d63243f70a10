"""Measured run times, read from ``book/data/measured/``, and the power laws fitted to them.

The pages must be identical in every build, so chapters measure no times: they read those that ``make bench`` wrote.

>>> table = read("orderings")
>>> {"sweep", "contestant", "n", "k", "pairs", "ratio"} <= set(table)
True
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from crowder import validation

__all__ = ["Slope", "read", "slope"]

#: The files, in the clone that contains this package.
FOLDER = Path(__file__).resolve().parents[1] / "data" / "measured"


def read(name: str, folder=None) -> pd.DataFrame:
    """One table of measurements.

    Parameters
    ----------
    name : str
        ``"orderings"``, ``"cluster"``, ``"scale"``, ``"chapters"`` or ``"cells"``.
    folder : path, optional
        Another folder to which ``make bench`` wrote its files.

    Raises
    ------
    FileNotFoundError
        The files are part of a clone of the book, not of an installed package.
    """
    path = Path(folder or FOLDER) / f"{name}.csv"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: measurements are part of the book; work in a clone of it, or run `make bench`"
        )
    try:
        return pd.read_csv(path)
    except ValueError as error:  # from pandas: the file is empty or not a table
        raise ValueError(f"{path.name} is not a table of measurements: {error}") from None


class Slope(NamedTuple):
    """A fitted exponent, the ends of its confidence interval, and the constant."""

    exponent: float
    low: float
    high: float
    constant: float


def slope(x, y, *, confidence: float = 0.95) -> Slope:
    """Fit a power law to positive points, by least squares in logarithms.

    Parameters
    ----------
    x, y : array_like
        At least three points, all positive.
    confidence : float, keyword only
        Level of Student's t interval for the exponent.

    Raises
    ------
    ValueError
        For fewer than three points, or points that are not positive.

    Examples
    --------
    >>> slope([1, 10, 100], [3, 300, 30_000])[0].round(6)
    np.float64(2.0)
    """
    x, y = validation.numbers(x, "x"), validation.numbers(y, "y")
    validation.probability(confidence, "confidence")
    if x.shape != y.shape or x.size < 3 or not ((x > 0).all() and (y > 0).all()):
        raise ValueError("a slope needs at least three positive points")
    fit = stats.linregress(np.log(x), np.log(y))
    half = stats.t.ppf((1 + confidence) / 2, x.size - 2) * fit.stderr
    return Slope(fit.slope, fit.slope - half, fit.slope + half, float(np.exp(fit.intercept)))
