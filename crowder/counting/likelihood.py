r"""The likelihood ratios of several similarities, and what follows from them exactly.

A record's similarities to its own cluster are drawn from f_g, those to another from f_r. How well they tell the two
apart without any question is the total variation distance of two products of densities (proof of Theorem 1). How many
questions placing ordering asks depends on which of the two has the larger sum of logarithms, its evidence.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from crowder import checks
from crowder.models import SimilarityModel, common_steps
from crowder.resolution import cluster_sizes

__all__ = ["expected_evidence_queries", "log_ratios", "prob_wrong_first", "product_tv"]

#: The largest number of outcomes that are listed.
MOST_OUTCOMES = 5_000_000

#: Equal sums of logarithms may differ by a rounding error.
EQUAL = 1e-9


def log_ratios(model: SimilarityModel, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""The possible likelihood ratios of `size` similarities, with their probabilities.

    Three arrays of shape (outcomes,): the logarithm of the likelihood ratio, ascending, from -inf to inf; its
    probability if all similarities are drawn from f_g; and if all are drawn from f_r. With c different ratios
    :math:`f_g/f_r` there are :math:`\binom{size + c - 1}{c - 1}` outcomes, which are sorted; a ValueError if too many.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> log_ratio, green, red = log_ratios(dist1(0.5), 2)
    >>> green.round(4), red.round(4)
    (array([0.0625, 0.375 , 0.5625]), array([0.5625, 0.375 , 0.0625]))
    """
    size = checks.whole(size, "size", most=checks.MOST_RECORDS)
    g, r = _ratio_classes(checks.model(model))
    if (outcomes := comb(size + len(g) - 1, len(g) - 1)) > MOST_OUTCOMES:
        raise ValueError(f"size {size} has too many outcomes to list, {outcomes:,} with {len(g)} likelihood ratios")
    counts = _compositions(size, len(g))
    ways = gammaln(size + 1) - gammaln(counts + 1.0).sum(axis=1)
    log_green, log_red = (ways + xlogy(counts, mass).sum(axis=1) for mass in (g, r))
    possible = np.maximum(log_green, log_red) > -np.inf
    log_green, log_red = log_green[possible], log_red[possible]
    log_ratio = log_green - log_red
    order = np.argsort(log_ratio, kind="stable")
    return log_ratio[order], np.exp(log_green[order]), np.exp(log_red[order])


def _ratio_classes(model: SimilarityModel) -> tuple[np.ndarray, np.ndarray]:
    """Masses under f_g and f_r of the sets on which f_g/f_r is constant."""
    edges, g, r = common_steps(model.green, model.red)
    some = (g > 0) | (r > 0)
    width, g, r = np.diff(edges)[some], g[some], r[some]
    # The share of f_g, between 0 and 1, represents the ratio; it is rounded, as float heights do not divide exactly.
    kind = np.unique(np.round(g / (g + r), 13), return_inverse=True)[1]
    return np.bincount(kind, width * g), np.bincount(kind, width * r)


def _compositions(total: int, parts: int) -> np.ndarray:
    """All ways to write `total` as an ordered sum of `parts` numbers from 0 up, as rows."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total])
    for _ in range(parts - 1):
        repeats = left + 1
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        here = np.arange(repeats.sum()) - start
        rows = np.column_stack([np.repeat(rows, repeats, axis=0), here])
        left = np.repeat(left, repeats) - here
    return np.column_stack([rows, left])


def product_tv(model: SimilarityModel, a: int, b: int | None = None) -> float:
    r"""Total variation distance of :math:`f_g^{a} \otimes f_r^{b}` and :math:`f_r^{a} \otimes f_g^{b}`, exactly.

    These are the distributions of a record's similarities to two clusters of sizes a and b (by default a), if it
    belongs to one or the other. The best test is correct with probability :math:`\frac12(1 + \mathrm{TV})`. With
    :math:`\ell` the likelihood ratios of the two, the first is larger where :math:`\ell_x > \ell_y`, so it is
    :math:`\sum_x g_x \Pr_r(\ell_y < \ell_x) - r_x \Pr_g(\ell_y < \ell_x)`: one pass over sorted outcomes.

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(product_tv(dist2(0.2), 1), 6)  # 1 - (1 - ε/(1-ε))²
    0.4375
    """
    x, g_x, r_x = log_ratios(model, a)
    y, g_y, r_y = log_ratios(model, a if b is None else b)
    below = np.searchsorted(y, x, side="left")
    green_below, red_below = (np.append(0.0, np.cumsum(mass))[below] for mass in (g_y, r_y))
    return float(np.clip(g_x @ red_below - r_x @ green_below, 0.0, 1.0))


def prob_wrong_first(model: SimilarityModel, right: int, wrong: int) -> np.ndarray:
    r"""The probability that a record is compared with a cluster of t others before its own cluster of s records.

    .. math:: W(s, t) = \Pr(E'_t > E_s) + \frac t{s+t} \Pr(E'_t = E_s)

    for the evidence :math:`E_s`, the sum of :math:`\ln f_g/f_r` at s similarities drawn from f_g, and :math:`E'_t` at t
    drawn from f_r; W(s, 0) = 0, and W(0, t) = 1 for t ≥ 1. Of two clusters with equal evidence, the first to have
    arrived is taken, in random order. Returns an array of shape (right + 1, wrong + 1), row s and column t.
    """
    right = checks.whole(right, "right", most=checks.MOST_RECORDS)
    wrong = checks.whole(wrong, "wrong", most=checks.MOST_RECORDS)
    checks.model(model)
    result = np.zeros((right + 1, wrong + 1))
    result[0, 1:] = 1.0
    sizes = range(max(right, wrong), -1, -1)  # the largest first: if it has too many outcomes, nothing is computed
    outcomes = [log_ratios(model, size) for size in sizes][::-1]
    for t in range(1, wrong + 1):
        other, _, mass = outcomes[t]
        above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)  # the mass from each value up
        for s in range(1, right + 1):
            own, chance, _ = outcomes[s]
            near = np.where(np.isfinite(own), EQUAL, 0.0)
            more = above[np.searchsorted(other, own + near, "right")]
            as_much = above[np.searchsorted(other, own - near, "left")]
            result[s, t] = chance @ (more + t / (s + t) * (as_much - more))
    return result


def expected_evidence_queries(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""The expected number of questions of placing ordering with known densities and δ = 0.

    .. math:: E[Q] = (n - k) + \sum_{i\ne j} m_i \sum_{s=0}^{m_i-1} \sum_{t=1}^{m_j}
        \frac{\binom{m_i-1}s \binom{m_j}t}{(m_i + m_j) \binom{m_i+m_j-1}{s+t}}\, W(s, t)

    for clusters of sizes m. The fraction is the probability that s records of its own cluster, and t of another, have
    arrived before a record, and W is `prob_wrong_first`. A ValueError if a size is not a positive integer, or the
    evidence has too many values. Not in the paper; it is derived in the appendix *Summed evidence* (Companion
    Proposition A8.2). If f_g/f_r takes two values, O(m³ log m) for a largest cluster of m: a second for hundreds. The
    ordering rounds evidence to multiples of 2⁻²⁰ nat, which may give it ties that the sums here do not have.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(expected_evidence_queries(uniform(), [2, 1]), 9)  # as node ordering: nothing is known
    2.333333333
    >>> round(expected_evidence_queries(dist1(0.5), [40, 20, 20]), 2)  # the ideal is 80
    83.03
    """
    sizes, model = cluster_sizes(sizes), checks.model(model)
    different, many = np.unique(sizes, return_counts=True)
    matches = float(sizes.sum() - len(sizes))
    if len(sizes) < 2:
        return matches
    wrong_first, total = prob_wrong_first(model, int(different[-1]) - 1, int(different[-1])), 0.0
    for i, (m, count) in enumerate(zip(different, many, strict=True)):
        for j, (other, rivals) in enumerate(zip(different, many, strict=True)):
            s, t = np.arange(m)[:, None], np.arange(other + 1)
            log_before = _log_choose(m - 1, s) + _log_choose(other, t) - _log_choose(m + other - 1, s + t)
            asked = np.exp(log_before) / (m + other) * wrong_first[:m, : other + 1]
            total += count * (rivals - (i == j)) * m * asked.sum()
    return matches + float(total)


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
