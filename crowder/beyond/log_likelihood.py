r"""Summed evidence: how much the similarities say for a match of two components, and which question that suggests.

The evidence of a pair of records with similarity w is the log-likelihood ratio :math:`\ln f_g(w)/f_r(w)`; that of two
components is the sum over all pairs across them. Sums are kept in whole multiples of 2⁻²⁰ nat, so that they are exact,
and ties are ties whatever the order of addition. Rows of one n x n array are added as components merge.

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

#: Evidence is counted in multiples of 1/UNIT nat; infinite evidence of one pair is worth ±CERTAIN, 65,536 nats.
UNIT = 1 << 20
CERTAIN = 1 << 36

#: In place of the evidence between components that are settled, or merged away. (No sum comes near it.)
SETTLED = -(1 << 62)

#: From this much evidence on (in nats; e² to one), a pair of components is asked about before anything else. Found by
#: trial on the paper's synthetic data, like ALPHA and the square root; from 1 to 5 the counts differ by a few per cent.
TAU = 2.0

#: Weight of "in none of the clusters so far", beside the square root of the size of each cluster.
ALPHA = 5.0

#: A cluster that is e^FAR times less likely than the likeliest is not counted among those to be tried.
FAR = 15.0

#: Expected numbers of vain questions are compared to this many to one.
GRAIN = 1000.0

# Where each running number of a SummedEvidence stands in its `at`: the newcomer (or -1), records not in a cluster yet.
NEWCOMER, LOOSE = 0, 1


class SummedEvidence(NamedTuple):
    """The evidence between components, each named by one of its records.

    ``total[a, b]`` is the summed evidence, or SETTLED; ``best[a]`` the place of the first maximum of row a; `size`
    counts a component's records, 0 once it has been merged away; `name` is each record's component. `opened` marks
    clusters: components that newcomers are held against. `dependence` holds ρ: a sum of m terms is taken for
    1/(1 + ρ(m - 1)) of itself.
    """

    total: np.ndarray
    best: np.ndarray
    size: np.ndarray
    name: np.ndarray
    opened: np.ndarray
    dependence: np.ndarray
    at: np.ndarray


def log_ratios(green: np.ndarray, red: np.ndarray) -> np.ndarray:
    """The evidence ln(green / red) in multiples of 1/UNIT, int64, of two arrays of densities; none where both vanish.

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
    """The sums before any answer, from the (n, n) evidence of all pairs of records, which it takes over."""
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
    """The evidence between a and b in nats, brought down for the dependence of its terms; -inf if it is settled."""
    if total[a, b] == SETTLED:
        return -np.inf
    nats = total[a, b] / UNIT
    return nats if rho == 0.0 else nats / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def _best(total, size, rho, a):
    """Where the first maximum of row a is; a itself if nothing in it is open."""
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
    """Take in an answer about records i and j, of components not yet settled."""
    total, best, size, name = summed.total, summed.best, summed.size, summed.name
    rho, n = summed.dependence[0], len(summed.total)
    a, b = name[i], name[j]
    if not same:
        total[a, b] = total[b, a] = SETTLED
        best[a] = _best(total, size, rho, a)
        best[b] = _best(total, size, rho, b)
        return
    if size[a] < size[b] or (size[a] == size[b] and b < a):
        a, b = b, a  # the larger component keeps its name; of equals, the one named first
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

    The two with the most evidence, if that is `tau` nats or more, or if no loose record is left. Otherwise the
    newcomer's likeliest cluster; a newcomer that differs from all clusters opens one, and another is chosen.
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
    """The loose record to be placed next: the first, or the one whose place is surest."""
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
        # Tried from the likeliest on, the r-th is reached in vain r times. A new cluster's refusals are never in vain.
        vain = 0.0
        for r in range(1, near):
            vain += r * chance[near - 1 - r] / whole
        vain = np.rint(vain * GRAIN)
        sure = chance[near - 1] / whole if near > 0 else 0.0
        if vain < least or (vain == least and sure > surest):
            chosen, least, surest = v, vain, sure
    return chosen


@njit(cache=True)
def reweigh(summed, steps, ratio):
    """Sum the evidence anew: that of a pair of records on step s is now ``ratio[s]``."""
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
