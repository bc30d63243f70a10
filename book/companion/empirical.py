"""Empirical evidence: simulated means, fitted power laws (see `evidence` for the other kinds)."""

from __future__ import annotations

import numpy as np

from book.companion.evidence import Evidence, based, nonempty
from crowder import validation

#: What means of runs may be.
_RUNS = ("simulated", "recorded")


def simulation(mean, error, expected, *, size: int, limit: float = 4.0, basis: str = "simulated") -> Evidence:
    """Means of seeded simulations compared with their expected values.

    `size` is the number of draws or runs per mean, and `limit` how many standard errors a mean may be off. At 4, a true
    claim fails once in 16,000 times for each mean. Means that were read and not computed in this build are "recorded".

    >>> simulation(0.503, 0.005, 0.5, size=10_000).figure
    'distance 0.6 standard errors (10,000 runs, limit 4)'
    """
    z = _scores("simulation", mean, error, expected)
    worst = float(z[np.argmax(np.abs(z))])  # NaN, if there is one
    name = "distance" if z.size == 1 else f"largest of {z.size} distances"
    figure = f"{name} {worst:.1f} standard errors ({size:,} runs, limit {limit:g})"
    return Evidence(based(basis, "simulation", _RUNS), bool(abs(worst) <= limit < np.inf), figure)


def exceeds(mean, error, floor=0.0, *, size: int, limit: float = 4.0, basis: str = "simulated") -> Evidence:
    """Means of seeded simulations, with their numbers of runs, that lie at least `limit` standard errors above a floor.

    >>> exceeds(0.6, 0.005, 0.5, size=10_000).figure
    'distance 20.0 standard errors (10,000 runs, at least 4)'
    """
    z = _scores("exceeds", mean, error, floor)
    least = float(np.min(z))
    name = "distance" if z.size == 1 else f"least of {z.size} distances"
    figure = f"{name} {least:.1f} standard errors ({size:,} runs, at least {limit:g})"
    return Evidence(based(basis, "exceeds", _RUNS), bool(least >= limit), figure)


def _scores(name: str, mean, error, expected) -> np.ndarray:
    """Distances in standard errors; NaN where a value or an error is not finite."""
    found = (validation.numbers(x, f"{name}: means, errors and expected values") for x in (mean, error, expected))
    mean, error, expected = np.broadcast_arrays(*found)
    nonempty(mean.ravel(), name)
    # With a standard error of 0, the mean must be exact.
    with np.errstate(invalid="ignore"):  # where both are infinite
        gap = mean - expected
        z = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.copysign(np.inf, gap)), where=error != 0)
    return np.where((error >= 0) & np.isfinite(error) & np.isfinite(gap), z, np.nan).ravel()


def trend(x, y, *, exponent: float, within: float) -> Evidence:
    """A power law fitted by least squares in logarithms, over at least three decades of x.

    The fitted exponent may be off by `within`; with a y that is not positive, the evidence does not hold.

    >>> n = np.array([10, 100, 1000, 10_000])
    >>> trend(n, 3 * n**2.0, exponent=2, within=0.01).figure
    'exponent 2.000, constant 3 over 3.0 decades (claimed 2, within 0.01)'
    """
    x, y = validation.numbers(x, "trend: x"), validation.numbers(y, "trend: y")
    decades = float(np.log10(x.max() / x.min())) if (nonempty(x, "trend") > 0).all() else np.nan
    if not decades >= 3 - 1e-9:
        raise ValueError(f"trend: positive x over three decades are needed, not {decades:.2f}")
    if not (np.isfinite(y) & (y > 0)).all():
        return Evidence("trend", False, "not all values are positive")
    slope, level = np.polyfit(np.log(x), np.log(y), 1)
    figure = (f"exponent {slope:.3f}, constant {np.exp(level):.3g} over {decades:.1f} decades "
              f"(claimed {exponent:g}, within {within:g})")  # fmt: skip
    return Evidence("trend", bool(abs(slope - exponent) <= within < np.inf), figure)
