"""Pieces of evidence: each computes by itself whether it holds, and the figure that shows it.

See `crowder.claims`, which turns them into verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import sympy as sp

__all__ = [
    "Evidence", "agreement", "argument", "bounded", "counterexample", "identity", "readings", "simulation", "trend",
]  # fmt: skip


class Evidence(NamedTuple):
    """One piece of evidence.

    Attributes
    ----------
    kind : str
        One of `VERDICTS`: what it carries if it holds.
    what : str
        What was checked, in words (Markdown).
    holds : bool
    figure : str
        The number that shows it (Markdown).
    """

    kind: str
    what: str
    holds: bool
    figure: str


def identity(what: str, *differences) -> Evidence:
    """Symbolic identities: each difference of two sides simplifies to zero.

    Parameters
    ----------
    what : str
    *differences : sympy expression
        At least one.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> identity("a square", (x + 1) ** 2 - x**2 - 2 * x - 1).holds
    True
    """
    _some(differences, what)
    left = [difference for difference in map(sp.simplify, differences) if difference != 0]
    return Evidence("proved", what, not left, f"{_many(len(differences), 'identity', 'identities')}, difference 0"
                    if not left else f"difference ${sp.latex(left[0])}$")  # fmt: skip


def argument(what: str, *steps) -> Evidence:
    """An exact argument in steps, each of them true.

    Parameters
    ----------
    what : str
    *steps : bool or sympy relation
        At least one; a relation that sympy cannot decide does not hold.

    Examples
    --------
    >>> argument("an inequality", sp.Rational(1, 3) < sp.Rational(1, 2)).figure
    '1 step'
    """
    _some(steps, what)
    wrong = [i for i, step in enumerate(steps, start=1) if not _is_true(step)]
    figure = f"step {wrong[0]} of {len(steps)} does not hold" if wrong else _many(len(steps), "step", "steps")
    return Evidence("proved", what, not wrong, figure)


def agreement(what: str, value, expected, *, tolerance: float = 0, relative: bool = False) -> Evidence:
    """Numbers that should be equal, to a stated tolerance; with tolerance 0, exactly (fractions, integers, symbols).

    Parameters
    ----------
    what : str
    value, expected : number or array_like, of one shape
    tolerance : float
    relative : bool
        Measure the difference as a share of the expected value, which must not be 0.

    Examples
    --------
    >>> agreement("a third", [0.3333, 0.6667], [1 / 3, 2 / 3], tolerance=1e-4).figure
    'largest difference 3.3e-05 (tolerance 0.0001, 2 values)'
    """
    value, expected = np.asarray(value, dtype=object), np.asarray(expected, dtype=object)
    if value.shape != expected.shape or value.size == 0:
        raise ValueError(f"{what}: values of shape {value.shape} against {expected.shape}")
    pairs = list(zip(value.ravel(), expected.ravel(), strict=True))
    gaps = [sp.simplify(a - b) if isinstance(a - b, sp.Basic) else a - b for a, b in pairs]
    size = _many(len(pairs), "value", "values")
    if tolerance == 0:
        wrong = [(a, b) for (a, b), gap in zip(pairs, gaps, strict=True) if gap != 0]
        figure = f"{wrong[0][0]} is not {wrong[0][1]}" if wrong else f"equal ({size})"
        return Evidence("exact", what, not wrong, figure)
    sizes = [abs(float(gap)) / (abs(float(b)) if relative else 1) for gap, (_, b) in zip(gaps, pairs, strict=True)]
    largest = float(np.max(sizes))  # NaN stays NaN, and holds for nothing
    measure = "relative difference" if relative else "difference"
    return Evidence("exact", what, largest <= tolerance,
                    f"largest {measure} {largest:.2g} (tolerance {tolerance:g}, {size})")  # fmt: skip


def bounded(what: str, value, limit) -> Evidence:
    """Values that must not exceed their limits, at every point evaluated.

    Parameters
    ----------
    what : str
        States the range.
    value, limit : float or array_like
        Broadcast together; limits positive, because the figure is the largest ratio of the two.

    Examples
    --------
    >>> bounded("x² ≤ x on [0, 1]", np.linspace(0.1, 1, 10) ** 2, np.linspace(0.1, 1, 10)).figure
    'largest ratio to the limit 1 (10 points)'
    """
    value, limit = np.broadcast_arrays(np.asarray(value, dtype=float), np.asarray(limit, dtype=float))
    if value.size == 0 or not (limit > 0).all():
        raise ValueError(f"{what}: needs values and positive limits")
    # A value that equals its limit in exact arithmetic may exceed it in the last digits.
    holds = bool((value <= limit * (1 + 1e-12)).all())
    return Evidence("exact", what, holds,
                    f"largest ratio to the limit {np.max(value / limit):.4g} ({_many(value.size, 'point', 'points')})")


def simulation(what: str, mean, error, expected, *, size: int, limit: float = 4.0) -> Evidence:
    """Means of seeded simulations against what they should be.

    Parameters
    ----------
    what : str
    mean, error : float or array_like
        Means and their standard errors.
    expected : float or array_like
    size : int
        Draws or runs behind each mean.
    limit : float
        How many standard errors a mean may be off. At 4, one true claim in 16,000 would be missed for each mean.

    Examples
    --------
    >>> simulation("a coin", 0.503, 0.005, 0.5, size=10_000).figure
    'z = 0.6 (10,000 runs, limit 4)'
    """
    mean, error, expected = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (mean, error, expected)))
    if mean.size == 0 or not (error >= 0).all():
        raise ValueError(f"{what}: needs means and standard errors that are not negative")
    gap = mean - expected
    # Without any spread, a mean is right or wrong.
    z = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.inf), where=error > 0).ravel()
    worst = float(z[np.argmax(np.abs(z))])
    name = "z" if z.size == 1 else f"largest of {z.size} z"
    return Evidence("simulated", what, abs(worst) <= limit, f"{name} = {worst:.1f} ({size:,} runs, limit {limit:g})")


def trend(what: str, x, y, *, exponent: float, within: float) -> Evidence:
    """A power law fitted by least squares in logarithms.

    Parameters
    ----------
    what : str
    x, y : array_like
        Positive; x spans at least three decades.
    exponent : float
        The claimed one.
    within : float
        How far the fitted exponent may be from it.

    Examples
    --------
    >>> n = np.array([10, 100, 1000, 10_000])
    >>> trend("quadratic", n, 3 * n**2.0, exponent=2, within=0.01).figure
    'exponent 2.000, constant 3 over 3.0 decades (claimed 2, within 0.01)'
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or not ((x > 0) & (y > 0)).all():
        raise ValueError(f"{what}: a trend needs positive x and y of one length")
    decades = float(np.log10(x.max() / x.min()))
    if decades < 3 - 1e-9:
        raise ValueError(f"{what}: a trend needs three decades, not {decades:.2f}")
    slope, level = np.polyfit(np.log(x), np.log(y), 1)
    figure = (f"exponent {slope:.3f}, constant {np.exp(level):.3g} over {decades:.1f} decades "
              f"(claimed {exponent:g}, within {within:g})")  # fmt: skip
    return Evidence("trend", what, abs(slope - exponent) <= within, figure)


_RELATIONS = {
    "at most": lambda value, printed: value <= printed,
    "at least": lambda value, printed: value >= printed,
    "equal": lambda value, printed: value == printed,
}


def counterexample(what: str, *, value, relation: str, printed, margin: float = 0.0) -> Evidence:
    """One instance in which the printed statement says one thing and the arithmetic another.

    Parameters
    ----------
    what : str
        The instance.
    value : number
        What it is.
    relation : {"at most", "at least", "equal"}
        What the statement says the value is, relative to `printed`.
    printed : number
        What the statement gives.
    margin : float
        How far value and printed must be apart to count as a contradiction; 0 for exact numbers.

    Examples
    --------
    >>> counterexample("two records", value=3, relation="at most", printed=Fraction(5, 2)).figure
    'printed: at most 2.5; it is 3'
    """
    if relation not in _RELATIONS:
        raise ValueError(f"relation {relation!r}: expected one of {', '.join(map(repr, _RELATIONS))}")
    breaks = not bool(_RELATIONS[relation](value, printed)) and abs(float(value) - float(printed)) > margin
    said = "equal to" if relation == "equal" else relation
    return Evidence("refuted", what, bool(breaks), f"printed: {said} {_number(printed)}; it is {_number(value)}")


def readings(what: str, scores: Mapping[str, float], *, fits: str, unit: str) -> Evidence:
    """Several readings of one statement, each run and scored; the best is the one that the page names.

    Parameters
    ----------
    what : str
    scores : mapping
        Reading to score; the smallest fits best.
    fits : str
        The reading that the page names.
    unit : str
        What a score is.

    Examples
    --------
    >>> readings("rounding", {"none": 1.2, "to tenths": 15.0}, fits="none", unit="worst |z|").figure
    'none 1.2, to tenths 15 (worst |z|)'
    """
    if fits not in scores or len(scores) < 2:
        raise ValueError(f"{what}: needs at least two readings, {fits!r} among them")
    order = sorted(scores, key=scores.get)
    holds = order[0] == fits and scores[order[0]] < scores[order[1]]
    figure = ", ".join(f"{name} {_number(scores[name])}" for name in order)
    return Evidence("unclear", what, holds, f"{figure} ({unit})")


def _is_true(step) -> bool:
    return bool(step) if isinstance(step, (bool, np.bool_)) else step == sp.true


def _some(values: Sequence, what: str) -> None:
    if not values:
        raise ValueError(f"{what}: nothing was given to check")


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _number(value) -> str:
    """A number as a reader would write it."""
    if isinstance(value, (int, np.integer)) or (isinstance(value, (Fraction, sp.Integer)) and value == int(value)):
        return f"{int(value):,}"
    value = float(value)
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
