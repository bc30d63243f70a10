r"""Summed evidence for a match of two components, and the next question that it suggests.

The evidence of a pair of records with similarity w is the log-likelihood ratio :math:`\ln f_g(w)/f_r(w)`; that of two
components is the sum over all pairs across them. Sums are kept as whole multiples of 2⁻²⁰ nat: they are exact, so
that ties do not depend on the order of addition. When components merge, their rows of an n x n array are added.

Plain functions over arrays, compiled by numba, in one file (see `crowder.engine`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "ALPHA",
    "SETTLED",
    "TAU",
    "UNIT",
    "SummedEvidence",
    "absorb",
    "log_ratios",
    "question",
    "reweigh",
    "sum_evidence",
]

#: Evidence is counted in multiples of 1/UNIT nat; infinite evidence of one pair counts as ±CERTAIN, 65,536 nats.
UNIT = 1 << 20
CERTAIN = 1 << 36

#: In place of the evidence between components that are settled or have been merged away. (No sum comes near it.)
SETTLED = -(1 << 62)

#: With at least this much evidence (in nats; odds of e² to 1), a pair of components is asked about before any record is
#: placed. Tuned on the paper's synthetic data, like ALPHA and the square root; between 1 and 5 the counts differ by a
#: few per cent.
TAU = 2.0

#: Weight of "in none of the clusters so far", compared with the square root of the size of each cluster.
ALPHA = 5.0

#: A cluster that is e^FAR times less likely than the most likely one is left out of the expected questions.
FAR = 15.0

#: Expected numbers of unnecessary questions are rounded to multiples of 1/GRAIN.
GRAIN = 1000.0

# The index of each counter of a SummedEvidence in its `at`: the newcomer (or -1), records not yet in a cluster.
NEWCOMER, LOOSE = 0, 1


class SummedEvidence(NamedTuple):
    """The evidence between components, each named by one of its records.

    ``total[a, b]`` is the summed evidence, or SETTLED; ``best[a]`` the index of the first maximum of row a; `size` the
    number of a component's records, 0 once it has been merged away; `name` the component of each record. `opened` marks
    the clusters, with which newcomers are compared. `dependence` holds ρ: a sum of m terms is divided by its design
    effect 1 + ρ(m - 1).
    """

    total: np.ndarray
    best: np.ndarray
    size: np.ndarray
    name: np.ndarray
    opened: np.ndarray
    dependence: np.ndarray
    at: np.ndarray


def log_ratios(green: np.ndarray, red: np.ndarray) -> np.ndarray:
    """The evidence ln(green / red) of two arrays of densities, in multiples of 1/UNIT, int64; 0 where both vanish.

    Examples
    --------
    >>> (log_ratios([1.0, 2.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0]) / UNIT).round(6).tolist()
    [0.0, 0.693147, -65536.0, 65536.0, 0.0]
    """
    green, red = np.asarray(green, dtype=np.float64), np.asarray(red, dtype=np.float64)
    both = (green > 0) & (red > 0)
    ratio = np.log(np.where(both, green, 1.0)) - np.log(np.where(both, red, 1.0))
    certain = np.where(both, 0, CERTAIN * (np.sign(green) - np.sign(red)))
    return np.rint(ratio * UNIT + certain).astype(np.int64)


@njit(cache=True)
def sum_evidence(evidence):
    """The sums before any answer, from the (n, n) evidence of all pairs of records, which is modified."""
    n = len(evidence)
    for a in range(n):
        evidence[a, a] = SETTLED
    summed = SummedEvidence(
        evidence,
        np.zeros(n, np.int64),
        np.ones(n, np.int64),
        np.arange(n),
        np.zeros(n, np.bool_),
        np.zeros(1),
        np.array([-1, n]),
    )
    for a in range(n):
        summed.best[a] = _best(summed.total, summed.size, summed.dependence[0], a)
    return summed


@njit(cache=True)
def _weight(total, size, rho, a, b):
    """The evidence between a and b in nats, divided by the design effect; -inf if they are settled."""
    if total[a, b] == SETTLED:
        return -np.inf
    nats = total[a, b] / UNIT
    return nats if rho == 0.0 else nats / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def _best(total, size, rho, a):
    """The index of the first maximum of row a; a itself if every entry is settled."""
    most, place = -np.inf, a
    for b in range(len(total)):
        if total[a, b] != SETTLED:
            weight = _weight(total, size, rho, a, b)
            if weight > most:
                most, place = weight, b
    return place


@njit(cache=True)
def _open(summed, a):
    if not summed.opened[a]:
        summed.opened[a] = True
        summed.at[LOOSE] -= 1


@njit(cache=True)
def absorb(summed, i, j, same):
    """Update the sums with an answer about records i and j, of components not yet settled."""
    total, best, size, name = summed.total, summed.best, summed.size, summed.name
    rho, n = summed.dependence[0], len(summed.total)
    a, b = name[i], name[j]
    if not same:
        total[a, b] = total[b, a] = SETTLED
        best[a] = _best(total, size, rho, a)
        best[b] = _best(total, size, rho, b)
        return
    if size[a] < size[b] or (size[a] == size[b] and b < a):
        a, b = b, a  # the larger component keeps its name; of equals, the one with the smaller name
    _open(summed, a)
    _open(summed, b)
    size[a] += size[b]
    size[b] = 0
    for c in range(n):
        if name[c] == b:
            name[c] = a
        if c != a and size[c] > 0:
            if total[a, c] == SETTLED or total[b, c] == SETTLED:
                total[a, c] = SETTLED
            else:
                total[a, c] += total[b, c]
            total[c, a] = total[a, c]
        total[b, c] = total[c, b] = SETTLED
    best[a] = _best(total, size, rho, a)
    for c in range(n):
        if c != a and size[c] > 0:
            if best[c] == a or best[c] == b:
                best[c] = _best(total, size, rho, c)
            else:
                top, new = _weight(total, size, rho, c, best[c]), _weight(total, size, rho, c, a)
                if new > top or (new == top and a < best[c]):
                    best[c] = a


@njit(cache=True)
def question(summed, tau, by_arrival):
    """The next pair of components to ask about, as (newcomer, cluster) or (a, b), packed; -1 when all are settled.

    The two with the most evidence, if that is at least `tau` nats or every record is in a cluster. Otherwise the most
    likely cluster of the newcomer; one that differs from all clusters opens a new one, and another is chosen.
    """
    total, best, size, opened, at = summed.total, summed.best, summed.size, summed.opened, summed.at
    rho, n = summed.dependence[0], len(summed.total)
    a, top = -1, -np.inf
    for c in range(n):
        if size[c] > 0:
            weight = _weight(total, size, rho, c, best[c])
            if weight > top:
                a, top = c, weight
    if a < 0:
        return -1
    while at[LOOSE] > 0 and top < tau:
        if at[LOOSE] == n:
            _open(summed, 0 if by_arrival else a)
        v = at[NEWCOMER]
        if v < 0 or opened[v] or size[v] == 0:
            v = at[NEWCOMER] = _newcomer(summed, by_arrival)
        cluster, most = -1, -np.inf
        for c in range(n):
            if opened[c] and size[c] > 0 and total[v, c] != SETTLED:
                weight = _weight(total, size, rho, v, c) + (0.0 if by_arrival else 0.5 * np.log(size[c]))
                if weight > most:
                    cluster, most = c, weight
        if cluster >= 0:
            return (v << 32) | cluster
        _open(summed, v)
    return (a << 32) | best[a]


@njit(cache=True)
def _newcomer(summed, by_arrival):
    """The record to place next: the first, or the one with the fewest expected unnecessary questions."""
    total, size, opened = summed.total, summed.size, summed.opened
    rho, n = summed.dependence[0], len(total)
    clusters = np.flatnonzero(opened & (size > 0))
    prior = 0.5 * np.log(size[clusters])
    chance = np.empty(len(clusters))
    chosen, least, surest = -1, np.inf, 0.0
    for v in range(n):
        if opened[v] or size[v] == 0:
            continue
        if by_arrival:
            return v
        most, m = np.log(ALPHA), 0
        for s, c in enumerate(clusters):
            if total[v, c] != SETTLED:
                chance[m] = _weight(total, size, rho, v, c) + prior[s]
                most = max(most, chance[m])
                m += 1
        near = 0
        for s in range(m):
            if chance[s] > most - FAR:
                chance[near] = np.exp(chance[s] - most)
                near += 1
        chance[:near].sort()
        whole = np.exp(np.log(ALPHA) - most)
        for r in range(near):
            whole += chance[near - 1 - r]
        # Clusters are tried by decreasing probability, so the r-th costs r unnecessary questions (from r = 0). For a
        # record that opens a new cluster, no question is unnecessary.
        wasted = 0.0
        for r in range(1, near):
            wasted += r * chance[near - 1 - r] / whole
        wasted = np.rint(wasted * GRAIN)
        sure = chance[near - 1] / whole if near > 0 else 0.0
        if wasted < least or (wasted == least and sure > surest):
            chosen, least, surest = v, wasted, sure
    return chosen


@njit(cache=True)
def reweigh(summed, steps, ratio):
    """Recompute the sums; the evidence of a pair of records on step s is now ``ratio[s]``."""
    total, best, size, name = summed.total, summed.best, summed.size, summed.name
    rho, n = summed.dependence[0], len(name)
    for a in range(n):
        for b in range(n):
            if total[a, b] != SETTLED:
                total[a, b] = 0
    for i in range(n):
        for j in range(n):
            if total[name[i], name[j]] != SETTLED:
                total[name[i], name[j]] += ratio[steps[i, j]]
    for a in range(n):
        if size[a] > 0:
            best[a] = _best(total, size, rho, a)
