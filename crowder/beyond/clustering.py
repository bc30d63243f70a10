r"""The likeliest clustering, given evidence for and against each pair of records; how likely a decision is wrong.

With the evidence :math:`g_{ij}` that records i and j are one entity (a log-likelihood ratio, in nats) and a prior that
favours each additional cluster by c nats, the log-likelihood of a clustering is, up to a constant,

.. math:: \sum_{i<j \text{ in one cluster}} g_{ij} + c \cdot (\text{number of clusters}) .

Finding its maximum is NP-hard (Bansal, Blum and Chawla, 2004). `improve` moves records and parts of clusters and merges
clusters until nothing helps; `exact` finds the maximum for a few records; `likeliest` combines them.

A decision is that two clusters are different entities, or that the two sides of a cut through a cluster are one. The
log-odds that two groups A and B of records are one entity are taken as

.. math:: \lambda(A, B) = b + \sum_{i \in A, j \in B} s_{ij}
          + \frac{\sum_{i \in A, j \in B} e_{ij}}{1 + \gamma (|A| |B| - 1)} ,

where s is the evidence of the answers, e that of the similarities, b the prior log-odds of a pair of records, and γ the
correlation that damps the sum of similarities (see `crowder.beyond.EvidenceOrdering`).

For clusters a and b, ``answered[a, b]`` and ``similar[a, b]`` are the two sums, kept while records move.
"""

from __future__ import annotations

from math import lgamma

import numpy as np
from numba import njit
from scipy.sparse.csgraph import connected_components

__all__ = [
    "certainty", "correlation", "cuts", "exact", "improve", "likeliest", "log_odds", "most", "most_urgent", "probable",
    "score", "sums_tell", "tally", "weak_cuts",
]  # fmt: skip

#: A change must gain more than this, so that rounding errors cannot make the search endless.
LEAST_GAIN = 1e-9

#: `likeliest` uses `exact` up to this many records, since it takes 3**n steps.
EXACT = 8


@njit(cache=True)
def score(evidence, cost, labels):
    """The log-likelihood of a clustering with labels in 0, ..., n - 1, up to a constant. O(n²)."""
    n = len(labels)
    used = np.zeros(n, np.bool_)
    total = 0.0
    for i in range(n):
        if not used[labels[i]]:
            used[labels[i]] = True
            total += cost
        for j in range(i):
            if labels[i] == labels[j]:
                total += evidence[i, j]
    return total


@njit(cache=True)
def spanning_tree(evidence, labels):
    """A maximum spanning tree of each cluster: each record's parent (-1 for a root), and the records, parents first.

    O(sum of squared cluster sizes), by Prim's algorithm.
    """
    n = len(labels)
    parent, order = np.full(n, -1, np.int64), np.empty(n, np.int64)
    reached, best = np.zeros(n, np.bool_), np.full(n, -np.inf)
    count = 0
    for root in range(n):
        if reached[root]:
            continue
        members = np.flatnonzero(labels == labels[root])
        newest = root
        for _ in range(len(members)):
            reached[newest] = True
            order[count] = newest
            count += 1
            following, most = -1, -np.inf
            for x in members:
                if not reached[x]:
                    if parent[x] == -1 or evidence[newest, x] > best[x]:
                        best[x], parent[x] = evidence[newest, x], newest
                    if following == -1 or best[x] > most:
                        following, most = x, best[x]
            newest = following
    return parent, order


@njit(cache=True)
def cuts(values, parent, order, labels):
    """For each record with a parent: the sum of `values` between its subtree and the rest of its cluster, (n,).

    A pair crosses the cut of v if exactly one of its records is in the subtree of v; if both are, their lowest common
    ancestor is too. So the cut is the sum over all pairs of records in the subtree, minus twice the pairs inside, which
    are counted at their lowest common ancestors. O(sum of squared cluster sizes) instead of their cubes.
    """
    n = len(order)
    outgoing, inside = np.zeros(n), np.zeros(n)
    ancestor = np.empty((n, n), np.int32)  # of two records of a cluster, by their places in `order`
    place = np.empty(n, np.int64)
    first = 0  # the place of the root of this cluster
    for t in range(n):
        x = order[t]
        place[x] = t
        if parent[x] == -1:
            first = t
        for u in range(first, t):
            y = order[u]
            above = place[parent[x]]
            common = above if u == above else ancestor[max(above, u), min(above, u)]
            ancestor[t, u] = common
            outgoing[x] += values[x, y]
            outgoing[y] += values[x, y]
            inside[order[common]] += values[x, y]
    cut = np.zeros(n)
    for t in range(n - 1, -1, -1):
        x = order[t]
        cut[x] = outgoing[x] - 2 * inside[x]
        if parent[x] != -1:
            outgoing[parent[x]] += outgoing[x]
            inside[parent[x]] += inside[x]
    return cut


@njit(cache=True)
def weak_cuts(s, e, labels, base, rho, order_by):
    """λ (`crowder.beyond.clustering`) of the cut above each record in a spanning tree of its cluster, inf for a root;
    the number of records below the cut; and the trees, which are maximum spanning trees by `order_by`."""
    n = len(labels)
    parent, order = spanning_tree(order_by, labels)
    answered, similar = cuts(s, parent, order, labels), cuts(e, parent, order, labels)
    size, below = np.bincount(labels), np.ones(n, np.int64)
    weak = np.full(n, np.inf)
    for t in range(n - 1, -1, -1):
        x = order[t]
        if parent[x] != -1:
            below[parent[x]] += below[x]
            pairs = below[x] * (size[labels[x]] - below[x])
            weak[x] = base + answered[x] + similar[x] / (1.0 + rho * (pairs - 1))
    return weak, below, parent, order


@njit(cache=True)
def _move(evidence, sums, size, labels, i, to):
    """Move record i to another cluster; sums[j, a] is the evidence of record j with the other records of cluster a."""
    before = labels[i]
    labels[i] = to
    size[before] -= 1
    size[to] += 1
    for j in range(len(labels)):
        if j != i:
            sums[j, before] -= evidence[i, j]
            sums[j, to] += evidence[i, j]


@njit(cache=True)
def _move_records(evidence, cost, sums, size, labels, order):
    """Move single records while that helps; whether any has moved."""
    moved, again = False, True
    while again:
        again = False
        for i in order:
            here = labels[i]
            alone = size[here] == 1
            stay = 0.0 if alone else sums[i, here] - cost
            best, to = (0.0 if not alone else -np.inf), -1  # -1: a cluster of its own
            for a in range(len(size)):
                if a != here and size[a] > 0 and sums[i, a] - cost > best:
                    best, to = sums[i, a] - cost, a
            if best > stay + LEAST_GAIN:
                if to == -1:
                    to = np.flatnonzero(size == 0)[0]
                _move(evidence, sums, size, labels, i, to)
                moved = again = True
    return moved


@njit(cache=True)
def _merge(evidence, cost, sums, size, labels):
    """Merge clusters while that helps, the pair that gains most first; whether any were merged."""
    n = len(labels)
    between = np.zeros((n, n))
    for i in range(n):
        for a in range(n):
            if size[a] > 0:
                between[labels[i], a] += sums[i, a]
    merged = False
    alive = np.flatnonzero(size > 0)
    while True:
        best, kept, gone = cost + LEAST_GAIN, -1, -1
        for s, a in enumerate(alive):
            for b in alive[:s]:
                if between[a, b] > best:
                    best, kept, gone = between[a, b], a, b
        if kept == -1:
            return merged
        for i in range(n):
            if labels[i] == gone:
                _move(evidence, sums, size, labels, i, kept)
        for a in alive:
            between[kept, a] += between[gone, a]
            between[a, kept] = between[kept, a]
        alive = alive[alive != gone]
        merged = True


@njit(cache=True)
def _move_part(evidence, cost, sums, size, labels):
    """Move one subtree of the spanning trees, to another cluster or to one of its own, whichever gains most; whether
    any gained."""
    n = len(labels)
    parent, order = spanning_tree(evidence, labels)
    cut = cuts(evidence, parent, order, labels)
    reach = sums.copy()  # of a subtree, with each cluster
    best, top, to = LEAST_GAIN, -1, -1
    for t in range(n - 1, -1, -1):
        x = order[t]
        if parent[x] == -1:
            continue
        if cost - cut[x] > best:
            best, top, to = cost - cut[x], x, -1
        for a in range(n):
            if size[a] > 0:
                reach[parent[x], a] += reach[x, a]
                if a != labels[x] and reach[x, a] - cut[x] > best:
                    best, top, to = reach[x, a] - cut[x], x, a
    if top == -1:
        return False
    if to == -1:
        to = np.flatnonzero(size == 0)[0]
    below = np.zeros(n, np.bool_)
    below[top] = True
    for x in order:
        if below[x] or (parent[x] != -1 and below[parent[x]]):
            below[x] = True
            _move(evidence, sums, size, labels, x, to)
    return True


@njit(cache=True)
def improve(evidence, cost, labels, order):
    """Change `labels` until moving a record or a part of a cluster, or merging two clusters, gains nothing.

    `evidence` is (n, n), symmetric, its diagonal ignored; `cost` is c; `labels`, in 0, ..., n - 1, are changed in
    place; `order` is that in which records are tried. Every step increases the log-likelihood, so it ends. O(n²) for
    each round and O(n) for each record moved.
    """
    n = len(labels)
    size, sums = np.zeros(n, np.int64), np.zeros((n, n))
    for i in range(n):
        size[labels[i]] += 1
        for j in range(n):
            if j != i:
                sums[i, labels[j]] += evidence[i, j]
    while True:
        moved = _move_records(evidence, cost, sums, size, labels, order)
        merged = _merge(evidence, cost, sums, size, labels)
        if not merged and not moved and not _move_part(evidence, cost, sums, size, labels):
            return


def exact(evidence: np.ndarray, cost: float) -> np.ndarray:
    """The likeliest clustering of a few records (n,), by dynamic programming over the sets of records. O(3**n).

    `evidence` is (n, n), symmetric, its diagonal ignored; `cost` is c: what each additional cluster gains.

    Examples
    --------
    >>> exact(np.array([[0, 3.0, -1], [3, 0, -1], [-1, -1, 0]]), 0.0)
    array([0, 0, 1])
    """
    n = len(evidence)
    inside = np.zeros(1 << n)  # the evidence within each set of records
    for members in range(1, 1 << n):
        first = (members & -members).bit_length() - 1
        rest = members & (members - 1)
        inside[members] = inside[rest] + sum(evidence[first, j] for j in range(n) if rest >> j & 1)
    best, block = np.zeros(1 << n), np.zeros(1 << n, np.int64)
    for members in range(1, 1 << n):
        lowest, rest = members & -members, members & (members - 1)
        best[members], part = -np.inf, rest
        while True:  # every block that contains the first record
            value = inside[part | lowest] + cost + best[rest ^ part]
            if value > best[members]:
                best[members], block[members] = value, part | lowest
            if part == 0:
                break
            part = (part - 1) & rest
    labels, left = np.zeros(n, np.int64), (1 << n) - 1
    while left:
        labels[[j for j in range(n) if block[left] >> j & 1]] = n - left.bit_count()
        left ^= int(block[left])
    return np.unique(labels, return_inverse=True)[1]


def likeliest(evidence: np.ndarray, cost: float, *, start: np.ndarray, rng: np.random.Generator,
              starts: int = 3) -> np.ndarray:  # fmt: skip
    """The best clustering found (n,), part by part: `exact` for small parts, otherwise `improve` from several starts.

    `evidence` and `cost` as in `exact`, with c ≥ 0. Of the `starts` starting points the first is `start`, the second
    has every record alone, and the others are random clusters; `rng` draws these, and the order in which records are
    tried.

    Since c ≥ 0, to split records that no chain of positive evidence joins loses nothing: each part is clustered alone.

    Examples
    --------
    >>> evidence = np.array([[0, 3.0, -1], [3, 0, -1], [-1, -1, 0]])
    >>> likeliest(evidence, 0.0, start=np.arange(3), rng=np.random.default_rng(7))
    array([0, 0, 1])
    """
    labels, count = np.zeros(len(evidence), np.int64), 0
    parts, part = connected_components(evidence > 0, directed=False)
    ends = np.cumsum(np.bincount(part, minlength=parts))
    for members in np.split(np.argsort(part, kind="stable"), ends[:-1]):
        within = np.ascontiguousarray(evidence[np.ix_(members, members)])
        if len(members) <= EXACT:
            found = exact(within, cost)
        else:
            _, first = np.unique(start[members], return_inverse=True)
            tries = [first, np.arange(len(members))]
            tries += [rng.integers(len(members), size=len(members)) for _ in range(starts - 2)]
            for labelled in tries[:starts]:
                improve(within, cost, labelled, rng.permutation(len(members)))
            found = max(tries[:starts], key=lambda labelled: score(within, cost, labelled))
            found = np.unique(found, return_inverse=True)[1]
        labels[members] = count + found
        count += len(np.unique(found))
    return labels


#: Values whose variance is smaller are equal up to rounding.
SAME = 1e-12

#: The largest similarity is preferred to sums only if it tells a record's cluster from another in more than the first
#: share of the comparisons, and sums in fewer than the second: where both do, sums need fewer answers.
TELLING = 0.9, 0.97


@njit(cache=True)
def tally(values, labels):
    """The sums of symmetric values of pairs of records between clusters, (n, n)."""
    n = len(labels)
    sums = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if j != i:
                sums[labels[i], labels[j]] += values[i, j]
    return sums


@njit(cache=True)
def most(values, labels):
    """The largest of symmetric values of pairs of records between clusters, (n, n)."""
    n = len(labels)
    largest = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(n):
            if j != i:
                largest[labels[i], labels[j]] = max(largest[labels[i], labels[j]], values[i, j])
    return largest


@njit(cache=True)
def log_odds(answered, similar, size, base, rho, a, b):
    """λ of two clusters; γ is `rho`, and b is `base`."""
    return base + answered[a, b] + similar[a, b] / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def most_urgent(answered, similar, nearest, unasked, size, base, rho, least, by_sums, fitted):
    """The most urgent pair of clusters, and its urgency; (-1, -1, -inf) if none expects more than e^`least` wrong pairs
    of records, nearly min(e^λ, 1) |A||B|, or none has a pair that was not asked about. O(k²) for k clusters.

    With `by_sums`, the urgency is the logarithm of this number. Otherwise it is that of the records expected to be in
    the wrong cluster, min(|A|, |B|) for two clusters that are one; and in λ the evidence of the most similar pair,
    `nearest`, replaces the damped sum.

    With `fitted`, λ of clusters whose records are similar is without what they owe to having been fitted to the
    answers: of many splits of one entity, that with the fewest "yes" across was found. There are about
    Γ(|A| + |B|) / (Γ(|A|) Γ(|B|)) of these sizes.
    """
    alive = np.flatnonzero(size)
    log_size = np.log(np.maximum(size, 1))
    best, x, y = -np.inf, -1, -1
    for t, a in enumerate(alive):
        for b in alive[:t]:
            if unasked[a, b] == 0:
                continue
            value = log_odds(answered, similar, size, base, rho, a, b)
            if fitted and similar[a, b] > 0:
                value += lgamma(size[a] + size[b]) - lgamma(size[a]) - lgamma(size[b])
            value = min(value, 0.0) + log_size[a] + log_size[b]
            if value <= least:
                continue
            if not by_sums:
                value = min(base + answered[a, b] + nearest[a, b], 0.0) + min(log_size[a], log_size[b])
            if value > best:
                best, x, y = value, a, b
    return x, y, best


@njit(cache=True)
def probable(answered, similar, size, labels, base, rho, weak, parent, order):
    """The probability that each two records are one entity, (n, n).

    Across clusters it is that of the clusters; within one, that of the weakest cut on the path between the records.
    """
    n = len(labels)
    chance = np.ones((n, n))
    for t in range(n):
        x = order[t]
        own = 1.0 / (1.0 + np.exp(-weak[x]))
        for u in range(t):
            y = order[u]
            if labels[x] != labels[y]:
                value = log_odds(answered, similar, size, base, rho, labels[x], labels[y])
                chance[x, y] = 1.0 / (1.0 + np.exp(-value))
            elif parent[x] == y:
                chance[x, y] = own
            else:
                chance[x, y] = min(own, chance[parent[x], y])
            chance[y, x] = chance[x, y]
    return chance


def _by_cluster(values: np.ndarray, clusters: np.ndarray, reduce: np.ufunc = np.add) -> np.ndarray:
    """The sums, or largest, of each record's values with the records of each cluster, (n, k)."""
    size = np.bincount(clusters)
    return reduce.reduceat(values[:, np.argsort(clusters, kind="stable")], np.cumsum(size) - size, axis=1)


def certainty(s: np.ndarray, e: np.ndarray, base: float, rho: float, clusters: np.ndarray) -> np.ndarray:
    r"""The probability that each record belongs to its cluster rather than to another or to none, (n,).

    .. math:: e^{\lambda(r, C)} \Big/ \Bigl(1 + \sum_D e^{\lambda(r, D)}\Bigr) ,

    where the clusters C and D are without the record r, and D those with an answer or a similarity; if it is alone, the
    numerator is 1. `s` and `e` have zeros on the diagonal; `clusters` are in 0, ..., k - 1.

    Examples
    --------
    >>> evidence = np.array([[0, 3.0, -2], [3, 0, -2], [-2, -2, 0]])
    >>> certainty(evidence, 0 * evidence, 0.0, 1.0, np.array([0, 0, 1])).round(2)
    array([0.95, 0.95, 0.98])
    """
    n, size = len(clusters), np.bincount(clusters)
    answered, similar = (_by_cluster(x, clusters) for x in (s, e))
    others = np.tile(size, (n, 1))
    others[np.arange(n), clusters] -= 1  # without the record itself
    odds = base + answered + similar / (1 + rho * (np.maximum(others, 1) - 1))
    odds[(answered == 0) & (similar == 0)] = -np.inf  # there is no evidence for it
    odds[others == 0] = 0.0  # alone
    rest = np.where(size[clusters] > 1, 0.0, -np.inf)[:, None]  # a cluster of its own, if it is not in one
    every = np.hstack([odds, rest])
    every = np.exp(every - every.max(axis=1, keepdims=True))
    return every[np.arange(n), clusters] / every.sum(axis=1)


def correlation(values: np.ndarray, clusters: np.ndarray) -> float:
    r"""The intraclass correlation of the values that a record has with the records of another cluster.

    With :math:`x_1, \dots, x_m` such values, μ their mean over all records and clusters and σ² their variance, it is

    .. math:: \sum \sum_{s \ne t} (x_s - \mu)(x_t - \mu) \Big/ \sigma^2 \sum m (m - 1) ,

    the outer sums over each record and each cluster without it that has at least two records; 1 if there are none, or
    σ² is below `SAME`. `values` is symmetric, `clusters` are in 0, ..., k - 1. O(n²).

    Examples
    --------
    Records 2 and 3 are each equally similar to both records of a cluster; then one of them is not:

    >>> values, clusters = np.zeros((4, 4)), np.array([0, 0, 1, 2])
    >>> values[2, :2] = values[:2, 2] = 1.0
    >>> correlation(values, clusters)
    1.0
    >>> values[2, 1] = values[1, 2] = 0.0
    >>> round(correlation(values, clusters), 2)
    -0.33
    """
    size = np.bincount(clusters)
    of = np.tile(size > 1, (len(clusters), 1))
    of[np.arange(len(clusters)), clusters] = False
    m = np.broadcast_to(size, of.shape)[of]
    if len(m) == 0:
        return 1.0
    sums, squares = (_by_cluster(x, clusters)[of] for x in (values, values**2))
    mean = sums.sum() / m.sum()
    own = squares - 2 * mean * sums + m * mean**2
    variance = own.sum() / m.sum()
    return float(((sums - m * mean) ** 2 - own).sum() / (m * (m - 1)).sum() / variance) if variance > SAME else 1.0


def sums_tell(values: np.ndarray, free: np.ndarray, clusters: np.ndarray, rho: float) -> bool:
    """Whether damped sums of `values` tell a record's cluster from the others; if not, the largest value does better.

    For each record, its cluster is compared with every other one, if the record has at least two `free` pairs with
    both. Only these count: to be asked about, a pair had to be similar. The largest value does better if it is larger
    in the record's own cluster more often than the sum is, within the limits `TELLING`. `values` and `free` are
    symmetric, (n, n); `clusters` are in 0, ..., k - 1. O(n²).

    Examples
    --------
    Two clusters of three records in a row: each is similar to its neighbours, and a little to the other cluster.

    >>> clusters, places = np.repeat([0, 1], 3), np.array([0, 1, 2, 10, 11, 12])
    >>> near = (abs(places[:, None] - places) == 1) * 1.0
    >>> other = clusters[:, None] != clusters
    >>> free = ~np.eye(6, dtype=bool)
    >>> [sums_tell(near + little * other, free, clusters, 0.5) for little in (0.1, 0.8)]
    [True, False]
    """
    number, sums = (_by_cluster(x, clusters) for x in (free.astype(np.int64), values * free))
    largest = _by_cluster(np.where(free, values, -np.inf), clusters, np.maximum)
    own = np.arange(len(clusters)), clusters
    compared = (number > 1) & (number[own] > 1)[:, None]
    compared[own] = False
    if not compared.any():
        return True
    by_sum, by_largest = (
        ((x[own][:, None] > x)[compared].sum() + (x[own][:, None] >= x)[compared].sum()) / (2 * compared.sum())
        for x in (sums / (1 + rho * np.maximum(number - 1, 0)), largest)
    )
    return bool(by_largest <= max(by_sum, TELLING[0]) or by_sum >= TELLING[1])
