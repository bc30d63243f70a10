"""Densities learned from answers, with an increasing ratio f_g/f_r on steps; and the correlation of the evidence.

Constants of `crowder.beyond.log_likelihood` are passed as arguments (see `crowder.engine`); `settled` marks settled
components.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.optimize import isotonic_regression

__all__ = ["dependence", "into_steps", "known_pairs", "learned_densities", "step_of"]

#: The steps of learned densities have the edges of this many of equal width and of this many of equal mass.
STEPS = 50

#: A value's step is looked up by its bin, one of this many; a power of two, so that no product is rounded.
BINS = 1 << 10

#: The prior counts as this many pairs, with a ratio f_g/f_r that increases from (1 - TILT)/(1 + TILT) to its inverse.
PRIOR_PAIRS, TILT = 1000.0, 0.1


@njit(cache=True)
def known_pairs(summed, steps, number, settled):
    """The numbers of known matches and of known non-matches on each step: two arrays (number,), float64."""
    name = summed.name
    matches, others = np.zeros(number), np.zeros(number)
    asked = np.flatnonzero(summed.asked)  # nothing is known of the other records
    for s, i in enumerate(asked):
        a, row, line = name[i], summed.total[name[i]], steps[i]
        for j in asked[:s]:
            if name[j] == a:
                matches[line[j]] += 1
            elif row[name[j]] == settled:
                others[line[j]] += 1
    return matches, others


@njit(cache=True)
def dependence(summed, steps, ratio, settled):
    """The intraclass correlation ρ of the terms of a sum, estimated from known non-matches, less three standard errors.

    ``ratio`` is the evidence of a pair on each step, in any unit. Between components known to differ, a sum of m terms
    has the variance σ²m(1 + ρ(m - 1)).
    """
    name, total, size = summed.name, summed.total, summed.size
    n = len(name)
    sums = np.zeros((n, n))
    pairs, mean, square = 0, 0.0, 0.0
    asked = np.flatnonzero(summed.asked)  # no component is known to differ from the other records
    for s, i in enumerate(asked):
        a, row, line = name[i], total[name[i]], steps[i]
        for j in asked[:s]:
            b = name[j]
            if row[b] == settled and a != b:
                x = ratio[line[j]]
                sums[min(a, b), max(a, b)] += x
                pairs, mean, square = pairs + 1, mean + x, square + x * x
    if pairs == 0:
        return 0.0
    mean /= pairs
    variance = square / pairs - mean * mean
    spread, cells, terms = 0.0, 0, 0
    alive = np.flatnonzero(size)
    for s, a in enumerate(alive):
        for b in alive[s + 1 :]:
            m = size[a] * size[b]
            if m > 1 and total[a, b] == settled:
                spread += (sums[a, b] - m * mean) ** 2 / m
                cells += 1
                terms += m - 1
    if cells == 0 or variance <= 0.0:
        return 0.0
    # If terms are independent, spread / variance has mean `cells` and standard deviation √(2 cells), nearly.
    return min(1.0, max(0.0, (spread / variance - cells - 3.0 * np.sqrt(2.0 * cells)) / terms))


def learned_densities(matches: Any, others: Any, mass: Any) -> tuple[np.ndarray, np.ndarray]:
    """f_g and f_r on each step, estimated from known pairs under the condition that their ratio does not decrease.

    The share of matches on each step, including the prior, is replaced by its isotonic regression, which gives the
    nondecreasing ratio of maximum likelihood. Only the ratio of the two results is meaningful.

    Parameters
    ----------
    matches, others : ndarray, shape (s,)
        Number of known matches and non-matches on each step, asked or implied.
    mass : ndarray, shape (s,)
        Share of all pairs on each step, positive.

    Returns
    -------
    green, red : ndarray of float64, shape (s,)

    Examples
    --------
    >>> mass, none = np.array([0.5, 0.5]), np.zeros(2)
    >>> green, red = learned_densities(none, none, mass)
    >>> green / red  # (20 - 1) / (20 + 1), and the inverse
    array([0.9047619 , 1.10526316])
    >>> green, red = learned_densities(np.array([1e6, 3e6]), np.array([8e6, 8e6]), mass)
    >>> (green / red).round(3)  # 1/4 to 1/2, and 3/4 to 1/2
    array([0.5, 1.5])
    """
    tilt = TILT * (2 * np.cumsum(mass) - mass - 1)  # from -TILT to TILT, by the rank of the middle of the step
    green = matches + PRIOR_PAIRS * mass * (1 + tilt)
    red = others + PRIOR_PAIRS * mass * (1 - tilt)
    share = isotonic_regression(green / (green + red), weights=green + red).x
    return share / green.sum(), (1 - share) / red.sum()


def into_steps(square: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges between the steps that contain pairs, the step of every pair (n, n), and the share of pairs on each."""
    even = np.linspace(0, 1, STEPS + 1)[1:-1]
    if len(values) == 0:
        return even[:0], np.zeros(square.shape, np.uint8), np.ones(1)
    edges = np.unique(np.concatenate([even, np.quantile(values, even)]))
    count = np.bincount(step_of(edges, values), minlength=len(edges) + 1)
    used = np.flatnonzero(count)
    edges = edges[used[1:] - 1]  # an empty step is merged with the one below it
    return edges, step_of(edges, square).astype(np.uint8), count[used] / len(values)


def step_of(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The step of each value in [0, 1], uint16: ``np.searchsorted(edges, values, side="right")``, several times faster.

    Examples
    --------
    >>> step_of(np.array([0.25, 0.5]), np.array([[0.1, 0.25], [0.5, 1.0]]))
    array([[0, 1],
           [2, 2]], dtype=uint16)
    """
    first = np.searchsorted(edges, np.arange(BINS + 1) / BINS, side="right")
    return _step_of(edges, first, np.ascontiguousarray(values).reshape(-1)).reshape(values.shape)


@njit(cache=True)
def _step_of(edges, first, values):
    """Count on from `first`, the number of edges up to the left end of a value's bin."""
    step = np.empty(len(values), np.uint16)
    for p, x in enumerate(values):
        s = first[int(x * BINS)]
        while s < len(edges) and edges[s] <= x:
            s += 1
        step[p] = s
    return step
