"""Densities learned from answers: f_g/f_r on steps, rising with the similarity, and how far evidence is independent.

What the compiled functions here know of `crowder.beyond.log_likelihood` comes as an argument (`settled` is what marks
components that are settled there): numba's cache would not notice an edit of a constant in another file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.optimize import isotonic_regression

__all__ = ["dependence", "into_steps", "known_pairs", "learned_densities"]

#: Learned densities: so many steps of equal width, cut by as many of equal mass.
STEPS = 50

#: The prior guess: it weighs as much as so many pairs, and f_g/f_r rises from (1 - TILT)/(1 + TILT) to the inverse.
PRIOR_PAIRS, TILT = 1000.0, 0.1


@njit(cache=True)
def known_pairs(summed, steps, number, settled):
    """How many pairs on each of the steps are known matches, and known non-matches: two arrays (number,), float64."""
    name, total = summed.name, summed.total
    matches, others = np.zeros(number), np.zeros(number)
    for i in range(len(name)):
        for j in range(i):
            if name[i] == name[j]:
                matches[steps[i, j]] += 1
            elif total[name[i], name[j]] == settled:
                others[steps[i, j]] += 1
    return matches, others


@njit(cache=True)
def dependence(summed, steps, ratio, settled):
    """How much the terms of a sum hang together: their intraclass correlation, as far as the non-matches prove it.

    ``ratio`` is the evidence of a pair on each step, in any unit. Of components known to differ, a sum of m terms has
    the variance σ²m(1 + ρ(m - 1)).
    """
    name, total, size = summed.name, summed.total, summed.size
    n = len(name)
    sums = np.zeros((n, n))
    pairs, mean, square = 0, 0.0, 0.0
    for i in range(n):
        for j in range(i):
            a, b = min(name[i], name[j]), max(name[i], name[j])
            if a != b and total[a, b] == settled:
                x = ratio[steps[i, j]]
                sums[a, b] += x
                pairs, mean, square = pairs + 1, mean + x, square + x * x
    if pairs == 0:
        return 0.0
    mean /= pairs
    variance = square / pairs - mean * mean
    spread, cells, terms = 0.0, 0, 0
    for a in range(n):
        for b in range(a + 1, n):
            m = size[a] * size[b]
            if m > 1 and total[a, b] == settled:
                spread += (sums[a, b] - m * mean) ** 2 / m
                cells += 1
                terms += m - 1
    if cells == 0 or variance <= 0.0:
        return 0.0
    # Without dependence, spread / variance is about `cells`, give or take √(2 cells).
    return min(1.0, max(0.0, (spread / variance - cells - 3.0 * np.sqrt(2.0 * cells)) / terms))


def learned_densities(matches: Any, others: Any, mass: Any) -> tuple[np.ndarray, np.ndarray]:
    """What known pairs say of f_g and f_r on each step, if their ratio does not fall as the similarity rises.

    The share of matches on each step, with the prior guess counted in, is brought to the nearest rising sequence; that
    is the rising ratio of greatest likelihood. Only the ratio of what is returned means something.

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
    tilt = TILT * (2 * np.cumsum(mass) - mass - 1)  # by the rank of the step's middle, from -TILT to TILT
    green = matches + PRIOR_PAIRS * mass * (1 + tilt)
    red = others + PRIOR_PAIRS * mass * (1 - tilt)
    share = isotonic_regression(green / (green + red), weights=green + red).x
    return share / green.sum(), (1 - share) / red.sum()


def into_steps(square: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges between the steps that hold a pair, the step of every pair (n, n), and the share of pairs on each step."""
    even = np.linspace(0, 1, STEPS + 1)[1:-1]
    if len(values) == 0:
        return even[:0], np.zeros(square.shape, np.uint8), np.ones(1)
    edges = np.unique(np.concatenate([even, np.quantile(values, even)]))
    used = np.flatnonzero(np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1))
    edges = edges[used[1:] - 1]  # an empty step goes to the one below it
    mass = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1) / len(values)
    return edges, np.searchsorted(edges, square, side="right").astype(np.uint8), mass
