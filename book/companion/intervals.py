r"""Interval arithmetic on arrays of python-flint's `arb`, a middle with a radius that encloses the exact number.

So what is shown of such balls is shown of the exact numbers in them. ``a <= b`` says whether it is so for all of these.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from book.companion.evidence import Evidence, nonempty

__all__ = ["balls", "cellwise", "e1", "exp", "log", "lower", "upper"]

#: Floats and integers as balls without a radius; a number becomes a single ball.
balls = np.frompyfunc(arb, 1, 1)
# Not arb.exp itself, which does not look whether its argument is a ball.
exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
log = np.frompyfunc(lambda x: x.log(), 1, 1)
#: The exponential integral :math:`E_1(x) = \int_x^\infty e^{-u}\,du/u`.
e1 = np.frompyfunc(lambda x: x.expint(1), 1, 1)
_lower, _upper = np.frompyfunc(lambda x: x.lower(), 1, 1), np.frompyfunc(lambda x: x.upper(), 1, 1)


def lower(x) -> np.ndarray:
    """Floats below all numbers in the balls."""
    return np.nextafter(np.asarray(_lower(x), dtype=float), -np.inf)


def upper(x) -> np.ndarray:
    """Floats above all numbers in the balls."""
    return np.nextafter(np.asarray(_upper(x), dtype=float), np.inf)


def cellwise(value, limit) -> Evidence:
    """Evidence from a finite computation: the value is at most its limit in each cell, whatever was rounded.

    The page argues that the cells cover all cases; with that argument, the inequality is proved for all of them.

    >>> eighths = [arb(k / 8).union(arb((k + 1) / 8)) for k in range(8)]  # [0, 1] in cells
    >>> cellwise([x * (1 - x) for x in eighths], balls(1) / 2).figure
    'largest ratio to the limit 0.625 (8 cells)'
    """
    value, limit = balls(value), balls(limit)
    holds = nonempty(np.ravel(value <= limit), "cellwise")
    figure = f"largest ratio to the limit {np.max(upper(value / limit)):.4g} ({holds.size:,} cells)"
    return Evidence("proved", bool(holds.all()), figure)
