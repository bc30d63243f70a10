r"""An upper bound on the probability that two components are one entity, given all similarities and answers so far.

Similarities are independent given the clusters, with known densities f_g and f_r; the answers are true. Let o be the
prior odds: of two partitions that differ only in one component, which belongs to another entity in the first and is an
entity of its own in the second, the first is at most o times as probable. Write E(A, B) for the summed log-likelihood
ratios across two components, and call two of them open if no answer implies that they differ. Then

.. math:: \Pr(A \sim B \mid \text{all}) \le
          \sigma\Bigl(\ln o + E(A, B) + \min_{X \in \{A, B\}} \sum_C \max(0, E(X, C))\Bigr), \quad
          \sigma(x) = \frac1{1 + e^{-x}} ,

where C runs over the components that are open to both. Proof: given the partition of all but A, the odds for A in the
block T of B are at most o·exp(E(A, T)), and all of T is open to A. It is an equality if A and B are open to no other
component. With densities that were learned from the answers, or damped evidence, the right-hand side is an estimate.

Plain functions over the arrays of a `crowder.beyond.log_likelihood.SummedEvidence`, compiled by numba. Constants of
that file are passed as arguments (see `crowder.engine`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["doubtful", "left_open"]


@njit(cache=True)
def _nats(total, size, rho, unit, a, b):
    """The evidence of two open components in nats, divided by the design effect."""
    return total[a, b] / unit / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def doubtful(codes, at, summed, least, settled, unit):
    """The first position, from `at` on, of a packed pair of open components with evidence above `least`, or the end.

    O(m) over a whole run of m pairs.
    """
    total, size, name, rho = summed.total, summed.size, summed.name, summed.dependence[0]
    for place in range(at, len(codes)):
        a, b = name[codes[place] >> 32], name[codes[place] & 0xFFFFFFFF]
        if a != b and total[a, b] != settled and _nats(total, size, rho, unit, a, b) > least:
            return place
    return len(codes)


@njit(cache=True)
def left_open(summed, log_odds, settled, certain, unit):
    """The open pairs of components, by name, and the bound on each probability: (d, 2) int64 and (d,) float64.

    ``log_odds`` is ln o. `settled` marks settled components; with evidence of at most -`certain`/2 a pair is certainly
    a non-match. O(d p) for d open pairs if no component has positive evidence with more than p others.
    """
    total, size, rho = summed.total, summed.size, summed.dependence[0]
    alive = np.flatnonzero(size > 0)
    m = len(alive)
    # The components with positive evidence: partner[s, :n_partners[s]] for alive[s], and gain, in nats.
    n_partners = np.zeros(m, np.int64)
    count = 0
    for s in range(m):
        for t in range(m):
            if s != t and total[alive[s], alive[t]] != settled:
                count += 1
                n_partners[s] += total[alive[s], alive[t]] > 0
    widest = n_partners.max() if m > 0 else 0
    partner = np.empty((m, widest), np.int64)
    gain = np.empty((m, widest), np.float64)
    n_partners[:] = 0
    for s in range(m):
        for t in range(m):
            if s != t and total[alive[s], alive[t]] != settled and total[alive[s], alive[t]] > 0:
                partner[s, n_partners[s]] = alive[t]
                gain[s, n_partners[s]] = _nats(total, size, rho, unit, alive[s], alive[t])
                n_partners[s] += 1
    pairs = np.empty((count // 2, 2), np.int64)
    chance = np.zeros(count // 2)
    d = 0
    for s in range(m):
        for t in range(s + 1, m):
            a, b = alive[s], alive[t]
            if total[a, b] == settled:
                continue
            pairs[d, 0], pairs[d, 1] = a, b
            if total[a, b] > -certain / 2:
                least = np.inf
                for here, there in ((s, b), (t, a)):
                    more = 0.0
                    for f in range(n_partners[here]):
                        c = partner[here, f]
                        if c != there and total[there, c] != settled and total[there, c] > -certain / 2:
                            more += gain[here, f]
                    least = min(least, more)
                # exp(750) is too large for a float; the probability is then 0.
                power = log_odds + _nats(total, size, rho, unit, a, b) + least
                chance[d] = 1.0 / (1.0 + np.exp(-power)) if power > -700.0 else 0.0
            d += 1
    return pairs, chance
