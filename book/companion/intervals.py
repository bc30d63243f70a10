r"""Interval arithmetic on arrays: each exact value lies between two floats, and every rounding is outward.

NumPy rounds a sum, difference, product or quotient correctly, so that the next float is at or beyond the exact result.
Its exp, log and powers, and SciPy's :math:`E_1(x) = \int_x^\infty e^{-u}\,du/u`, have small errors, and are widened by
much more than these. So what is shown of intervals is shown of the exact numbers in them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import exp1

from book.companion.evidence import Evidence, nonempty

__all__ = ["ELEMENTARY", "INTEGRAL", "Interval", "cellwise", "e1", "exp", "log"]

#: Units in the last place by which exp, log and powers are widened. NumPy states an error below 4 for each.
ELEMENTARY = 8
#: By which E₁ is widened; its largest error at a million random points was 6.
INTEGRAL = 64


class Interval:
    """An array of numbers, each between `lo` and `hi`; without `hi`, the floats or integers themselves.

    Fractions, and integers beyond 2^53, become intervals around the floats that are nearest to them. ``a <= b`` says
    for each element whether it is so for all numbers in both intervals.

    Raises ValueError if a lower end is above the upper one or not a number, a divisor may be 0, or the base of a power
    may be negative.

    >>> from fractions import Fraction
    >>> third = Interval(1) / 3
    >>> bool(third.lo < Fraction(1, 3) < third.hi), bool(3 * third <= 1), bool(third.hi - third.lo < 1e-15)
    (True, False, True)
    """

    __array_ufunc__ = None  # so that array * Interval is left to Interval
    lo: np.ndarray
    hi: np.ndarray

    def __init__(self, lo, hi=None):
        given = np.asarray(lo)
        self.lo = given.astype(float)
        self.hi = self.lo if hi is None else np.asarray(hi, dtype=float)
        if given.dtype.kind == "O" or (given.dtype.kind in "iu" and (np.abs(self.lo) >= 2**53).any()):
            self.lo, self.hi = np.nextafter(self.lo, -np.inf), np.nextafter(self.hi, np.inf)
        if not (self.lo <= self.hi).all():
            raise ValueError("lo must be at most hi")

    def __repr__(self):
        return f"Interval({self.lo}, {self.hi})"

    def __getitem__(self, key):
        return Interval(self.lo[key], self.hi[key])

    def __add__(self, other):
        other = _interval(other)
        return _rounded(self.lo + other.lo, self.hi + other.hi, _nonnegative(self, other))

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    def __sub__(self, other):
        return self + -_interval(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = _interval(other)
        if _nonnegative(self, other):
            return _rounded(self.lo * other.lo, self.hi * other.hi, True)
        corners = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return _rounded(np.minimum.reduce(corners), np.maximum.reduce(corners))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        other = _interval(other)
        if ((other.lo <= 0) & (other.hi >= 0)).any():
            raise ValueError("the divisor must not contain 0")
        return self * _rounded(1 / other.hi, 1 / other.lo, _nonnegative(other))

    def __rtruediv__(self, other):
        return _interval(other) / self

    def __pow__(self, exponent):
        """A power of numbers that are not negative; the exponents are exact, and not negative."""
        exponent = np.asarray(exponent, dtype=float)
        if not _nonnegative(self) or (exponent < 0).any():
            raise ValueError("bases and exponents must not be negative")
        return _widened(self.lo**exponent, self.hi**exponent, ELEMENTARY, True)

    def __le__(self, other):
        return self.hi <= _interval(other).lo

    def __ge__(self, other):
        return self.lo >= _interval(other).hi

    def sum(self, axis=-1):
        """The sum along an axis: halves are added to each other, so that few roundings follow each other."""
        rest = Interval(np.moveaxis(self.lo, axis, -1), np.moveaxis(self.hi, axis, -1))
        while (size := rest.lo.shape[-1]) > 1:
            half = size // 2
            both = rest[..., :half] + rest[..., half : 2 * half]
            if size % 2:
                last = rest[..., -1:]
                both = Interval(np.append(both.lo, last.lo, axis=-1), np.append(both.hi, last.hi, axis=-1))
            rest = both
        return rest[..., 0] if rest.lo.shape[-1] else Interval(np.zeros(rest.lo.shape[:-1]))


def exp(x: Interval) -> Interval:
    """The exponential function."""
    return _widened(np.exp(x.lo), np.exp(x.hi), ELEMENTARY, True)


def log(x: Interval) -> Interval:
    """The natural logarithm of positive numbers."""
    if not (x.lo > 0).all():
        raise ValueError("the argument of a logarithm must be positive")
    return _widened(np.log(x.lo), np.log(x.hi), ELEMENTARY)


def e1(x: Interval) -> Interval:
    """The exponential integral of positive numbers, which decreases."""
    if not (x.lo > 0).all():
        raise ValueError("the argument of E1 must be positive")
    return _widened(exp1(x.hi), exp1(x.lo), INTEGRAL, True)


def cellwise(value: Interval, limit: Interval) -> Evidence:
    """Evidence from a finite computation: the value is at most its limit in each cell, whatever was rounded.

    The page argues that the cells cover all cases; with that argument, the inequality is proved for all of them.

    >>> from fractions import Fraction
    >>> eighths = Interval(np.arange(8) / 8, np.arange(1, 9) / 8)  # [0, 1] in cells
    >>> cellwise(eighths * (1 - eighths), Interval(Fraction(1, 2))).figure
    'largest ratio to the limit 0.625 (8 cells)'
    """
    cells = nonempty(np.ravel(holds := value <= limit), "cellwise").size
    ratio = np.max(value.hi / limit.lo)
    return Evidence("proved", bool(holds.all()), f"largest ratio to the limit {ratio:.4g} ({cells:,} cells)")


def _interval(x) -> Interval:
    return x if isinstance(x, Interval) else Interval(x)


def _nonnegative(*intervals: Interval) -> bool:
    return all((one.lo >= 0).all() for one in intervals)


def _rounded(lo, hi, nonnegative: bool = False) -> Interval:
    """From the nearest floats; the lower end is not below 0 if the numbers are not."""
    lo = np.nextafter(lo, -np.inf)
    return Interval(np.maximum(lo, 0) if nonnegative else lo, np.nextafter(hi, np.inf))


def _widened(lo, hi, ulps: int, nonnegative: bool = False) -> Interval:
    return _rounded(lo - ulps * np.spacing(np.abs(lo)), hi + ulps * np.spacing(np.abs(hi)), nonnegative)
