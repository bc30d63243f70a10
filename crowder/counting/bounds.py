r"""Bounds on the expected number of questions: from above for three orderings, and from below for every algorithm.

From above, those of the paper for edge and node ordering (Theorems 2 and 3), as printed and as corrected, and one for
placing ordering. The lower bound rests on how well similarities distinguish two clusters that a record may belong to
(`crowder.counting.likelihood.product_tv`). Under Dist-2, some similarities prove a match or a non-match.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.special import gammaln

from crowder import checks
from crowder.counting.arrival import NODES, panels, steps_down
from crowder.counting.expected import log_connected
from crowder.counting.likelihood import log_ratios
from crowder.models import L, SimilarityModel, common_steps
from crowder.resolution import cluster_sizes

__all__ = [
    "acceptance_threshold", "certain_mass", "disconnected", "edge_bound", "edge_tree_bound", "edge_union_bound",
    "error_bound", "evidence_bound", "node_bound", "prob_fully_determined", "question_bound", "three_steps",
]  # fmt: skip


def edge_bound(model: SimilarityModel, sizes: ArrayLike, *, printed: bool = True) -> float:
    r"""The bound of Theorem 2 for edge ordering, as printed, or a corrected one that holds for every model.

    As printed,

    .. math:: n + \min_{1\le s\le n}\Bigl[\binom k2 s^2 + n\sum_{i=1}^k\sum_{\ell=s}^{|V_i|} \ell\,
        L_{g,r}\bigl(\tbinom\ell2\bigr)\Bigr],

    which fails for some models, but not where F_g ≤ F_r (Companion Theorem A11.3). Between two clusters, at most ss'
    questions are asked once they consist of s and s' components; all others are asked before. With :math:`D_i` from
    `disconnected`, and s and s' either 1 or the number of records,

    .. math:: \begin{aligned} n - k + \sum_{i<j} \min\bigl\{ & m_i m_j,\; m_i + m_i m_j D_j,\; m_j + m_i m_j D_i, \\
        & 1 + m_i m_j (D_i + D_j)\bigr\}, \qquad m_i = |V_i| . \end{aligned}

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes :math:`|V_i|`, each at least 1; a ValueError otherwise.
    printed : bool, keyword only
        The printed bound, or the corrected one.

    See Also
    --------
    crowder.expected_queries : the exact count that it bounds.

    Notes
    -----
    Printed: O(largest size). Corrected, and derived in the appendix on edge ordering: as `disconnected`, and O(distinct
    sizes squared).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> edge_bound(uniform(), [1, 1])  # two records; at s = 2 it is 4 · C(2, 2)
    6.0
    >>> edge_bound(uniform(), [1, 1], printed=False)
    1.0
    """
    sizes, model, printed = cluster_sizes(sizes), checks.model(model), checks.flag(printed, "printed")
    if not len(sizes):
        return 0.0
    if not printed:
        different, many = np.unique(sizes, return_counts=True)
        apart = disconnected(model, different)
        a, b = different[:, None], different[None, :]
        # Questions at s and t components and before: either one component, or every record on its own from the start.
        each: np.ndarray = np.minimum.reduce([  # type: ignore[arg-type]  # arrays of one shape, and numbers
            s * t + before + as_well
            for s, before in ((1, a * b * apart[:, None]), (a, 0))
            for t, as_well in ((1, a * b * apart[None, :]), (b, 0))
        ])  # fmt: skip
        return float(sizes.sum() - len(sizes) + (_pairs_of_clusters(many) * each).sum())
    n, k, largest = int(sizes.sum()), len(sizes), int(sizes.max())
    ell = np.arange(1, largest + 1)
    terms = ell * L(model, ell * (ell - 1) / 2)
    # The number of clusters with a term in ℓ.
    clusters = (sizes[:, None] >= ell).sum(axis=0)
    tail = np.append(np.cumsum((terms * clusters)[::-1])[::-1], 0.0)
    s = np.arange(1.0, largest + 2)  # above, the sums are empty; floats: for many clusters, integers would overflow
    inside = s <= n
    return float(n + np.min((comb(k, 2) * s**2 + n * tail)[inside]))


def edge_tree_bound(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""A bound for edge ordering under first-order stochastic dominance: :math:`F_g \le F_r` everywhere.

    .. math:: n - k + \sum_{i<j} \frac{2 m_i m_j}{\max(m_i, m_j) + 1} \;\le\; k (n - 1), \qquad m_i = |V_i| .

    It applies to the uniform model, Dist-1 and Dist-2; a ValueError if F_g is above F_r somewhere. O(distinct sizes
    squared). Not in the paper; it is derived in the chapter "Edge ordering". Sharper, but not in closed form, is
    ``expected_queries(uniform(), sizes)``, the most for F_g ≤ F_r (Companion Theorem A10.4). If only
    1 - F_g ≥ γ(1 - F_r), 0 < γ ≤ 1, the sum over pairs has to be divided by γ (Companion Proposition A11.1).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(edge_tree_bound(uniform(), [4, 1]), 9)  # three matches, 8/5 questions for the singleton: exact here
    4.6
    """
    sizes, model = cluster_sizes(sizes), checks.model(model)
    edges, _, _ = common_steps(model.green, model.red)
    excess = model.green.cdf(edges) - model.red.cdf(edges)
    if excess.max() > 1e-12:
        raise ValueError(
            f"model must have F_g <= F_r; at {edges[excess.argmax()]:g}, F_g is larger by {excess.max():.3g}"
        )
    different, many = np.unique(sizes, return_counts=True)
    a, b = different[:, None], different
    each = 2 * a * b / (np.maximum(a, b) + 1)
    return float(sizes.sum() - len(sizes) + (_pairs_of_clusters(many) * each).sum())


def edge_union_bound(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""Theorem 2 with the union-bound factor that its proof leaves out, which holds for every model.

    .. math:: n - k + \min_{s\ge 1}\Bigl[\binom k2 s^2 + \sum_{i=1}^k m_i (n - m_i) \binom{m_i}{s+1}
        L_{g,r}\bigl(\tbinom{s+1}2\bigr)\Bigr], \qquad m_i = |V_i| .

    For s at or above the largest size the sum is empty. O(number of clusters times the largest size). It is derived in
    the chapter "Edge ordering".

    Examples
    --------
    >>> edge_union_bound(three_steps(Fraction(1, 2)), [2, 2])  # s = 1: 2 + 1 + 2 · 4 · 1 · ½ is more than s = 2: 2 + 4
    6.0
    """
    sizes, model = cluster_sizes(sizes)[:, None], checks.model(model)
    if not len(sizes):
        return 0.0
    n, k, s = int(sizes.sum()), len(sizes), np.arange(1, sizes.max() + 1)
    inside = s < sizes
    choices = gammaln(sizes + 1) - gammaln(s + 2) - gammaln(np.where(inside, sizes - s, 1))  # ln C(m, s + 1)
    chance = np.log(np.maximum(L(model, s * (s + 1) / 2), 1e-300))
    apart = np.where(inside, sizes * (n - sizes) * np.exp(np.minimum(choices + chance, 600)), 0).sum(axis=0)
    return float(n - k + np.min(comb(k, 2) * s**2 + apart))


def three_steps(p: float | Fraction) -> SimilarityModel:
    r"""A model that violates Theorem 2: a match is above all non-matches with probability p, and below them otherwise.

    On the three thirds of [0, 1], with 0 < p < 1,

    .. math:: f_g = 3(1 - p),\; 0,\; 3p \quad\text{and}\quad f_r = 0,\; 3,\; 0, \qquad L_{g,r}(t) = (1 - p)^t .

    Examples
    --------
    >>> L(three_steps(Fraction(1, 4)), [1, 2])
    array([0.75  , 0.5625])
    """
    third, p = Fraction(1, 3), checks.probability(p, "p")
    return SimilarityModel.from_steps(
        [0, third, 2 * third, 1], green=[3 * (1 - p), 0, 3 * p], red=[0, 3, 0], name="three steps"
    )


def disconnected(model: SimilarityModel, sizes: ArrayLike) -> np.ndarray:
    r"""The probability that a cluster of each of these sizes is not yet connected when a given non-match comes up.

    .. math:: D(m) = \int_0^1 f_r(\tau)\, \Pr\bigl(G(m, 1 - F_g(\tau)) \text{ is not connected}\bigr)\, d\tau

    O(M² log M) for each common step of the densities, M the largest size, in panels that double in width.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> disconnected(uniform(), [1, 2, 3]).round(9)  # three uniform pairs: the second largest connects
    array([0. , 0.5, 0.5])
    """
    sizes, model = cluster_sizes(sizes), checks.model(model)
    largest, total = int(sizes.max(initial=1)), np.zeros(len(sizes))
    for step in steps_down(model):
        if step.red == 0.0:
            continue
        # The graph becomes connected on a scale of 1/M in F_g.
        for depths, weights in panels(step.width, 1 / max(step.green * largest, 1 / step.width), NODES):
            chances = np.minimum(1.0, step.seen_green + step.green * depths)
            apart = -np.expm1(log_connected(largest, chances)[:, sizes - 1])
            total += step.red * (weights @ np.ascontiguousarray(apart))
    return total


def _pairs_of_clusters(many: np.ndarray) -> np.ndarray:
    """The number of pairs of clusters with two given sizes, each pair counted once, on or below the diagonal."""
    return np.tril(np.outer(many, many), -1) + np.diag(many * (many - 1) // 2)


def node_bound(model: SimilarityModel, sizes: ArrayLike, *, printed: bool = True) -> float:
    r"""The bound of Theorem 3 for node ordering, for an arrival order independent of the similarities.

    As printed, :math:`n + \sum_{i=1}^k \sum_{s=1}^{|V_i|} \min\{k, (n-|V_i|)\,L_{g,r}(s)\}`. A record with s earlier
    ones in its cluster contributes L(s); the first of a cluster has none and is compared with all clusters so far. The
    sum therefore has to run over :math:`s = 0, \dots, |V_i|-1`, and there are :math:`k - 1` other clusters: :math:`n +
    \sum_{i=1}^k \sum_{s=0}^{|V_i|-1} \min\{k-1, (n-|V_i|)\,L_{g,r}(s)\}`.

    Parameters
    ----------
    model, sizes, printed
        As for `edge_bound`.

    See Also
    --------
    crowder.expected_queries : the exact count that it bounds.

    Notes
    -----
    O(sum of the distinct sizes). The printed sum is not a bound for many small clusters: k clusters of one record
    exceed it exactly if L(1) < 1/2 - 1/(k - 1) (Companion Remark A3.3).

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(node_bound(dist2(1 / 3), [1, 1, 1, 1]), 6)  # but four different records take C(4, 2) = 6 questions
    5.5
    >>> node_bound(dist2(1 / 3), [1, 1, 1, 1], printed=False)
    16.0
    """
    sizes, model, printed = cluster_sizes(sizes), checks.model(model), checks.flag(printed, "printed")
    if not len(sizes):
        return 0.0
    n, k, first = int(sizes.sum()), len(sizes), int(printed)
    most = k if printed else k - 1
    total = float(n)
    for size, many in zip(*np.unique(sizes, return_counts=True), strict=True):
        s = np.arange(first, size + first)
        total += int(many) * float(np.minimum(most, (n - size) * L(model, s)).sum())
    return total


def evidence_bound(model: SimilarityModel, sizes: ArrayLike, *, delta: float = 0.0) -> float:
    r"""A bound on the questions of `PlacingOrdering`, which places records by summed log-likelihood ratios.

    With :math:`\rho = 1 - H^2` the run that asks about every record asks in expectation

    .. math:: \begin{aligned} E[Q] & \le n - k + \sum_{i<j} \Bigl(1 + \sum_{r=2}^{m_i+m_j-1} \rho^r\Bigr),
        \qquad m_i = |V_i|, \\
        & \le n - k + \binom k2 \Bigl(1 + \frac{\rho^2}{H^2}\Bigr) \le n + \frac{k^2}{2H^2} \end{aligned}

    questions. With an error probability δ, the expected number of questions up to the first wrong placement is at most

    .. math:: \sum_i \sum_{s=1}^{m_i-1} \min\{1, e^L \rho^s\}
        + \sum_{i<j} \Bigl(1 + \sum_{r=2}^{m_i+m_j-1} \rho^r\Bigr) \le \frac{\binom k2 + k + kL}{H^2},
        \qquad L = \tfrac12 T(k, n, H^2),

    where T is the `acceptance_threshold`.

    Parameters
    ----------
    model, sizes
        As for `edge_bound`; the ordering knows the true densities, which may be any two.
    delta : float, keyword only
        δ in [0, 1], as for the ordering, otherwise a ValueError; with 0, no record is placed without a question, and
        the result is the first of the bounds above; for δ > 0 it is the first of those with δ.

    See Also
    --------
    crowder.counting.bounds.question_bound : a lower bound for all algorithms that never err.
    crowder.counting.bounds.error_bound : the same for those that may err.

    Notes
    -----
    For every arrival order that is independent of the similarities. O(distinct sizes squared), for δ > 0 also O(largest
    size). Not in the paper: Companion Theorem A10.1 for δ = 0, A10.2 for δ > 0. What all algorithms ask: Theorem A12.1.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(evidence_bound(dist1(0.5), [100] * 10), 1)  # at least 1,035 are needed
    1286.9
    >>> evidence_bound(uniform(), [100] * 10)  # nothing to rank by: the worst case, nk - k(k + 1)/2
    9945.0
    >>> [round(evidence_bound(dist1(0.5), [n // 5] * 5, delta=0.2), 1) for n in (500, 50_000)]
    [370.2, 398.3]
    """
    sizes, model = cluster_sizes(sizes), checks.model(model)
    different, many = np.unique(sizes, return_counts=True)
    records = different[:, None] + different[None, :]
    # After r records of two clusters, the wrong one has as much evidence as the right one with probability ρ^r at most.
    each = 1 + _geometric_sum(model.hellinger2, records - 2.0)
    matches = _asked_matches(model.hellinger2, different, many, float(checks.probability(delta, "delta")))
    return float(matches + (_pairs_of_clusters(many) * each).sum())


def acceptance_threshold(clusters: Any, arrival: Any, x: Any, delta: float) -> Any:
    r"""The least evidence, in nats, with which `crowder.beyond.PlacingOrdering` places a record without a question.

    .. math:: T(c, v, x) = \min\Bigl\{\ln\frac{c\,v(v+1)}\delta,\; 2\ln\frac{c^2(c+1)}{\delta x}\Bigr\}

    for the v-th record to arrive and c clusters so far; the second only if x > 0. Here :math:`1 - x` is the affinity of
    the densities, or an upper bound on it, and 0 < δ ≤ 1. Each of c, v and x is one number or an array.

    Examples
    --------
    >>> acceptance_threshold(5, [10, 1000, 100_000], 0.25, 0.1).round(3)  # 2 ln(25 · 6 / 0.025) = 17.399
    array([ 8.613, 17.399, 17.399])
    """
    c, v = (checks.numbers(each, "clusters and arrival") for each in (clusters, arrival))
    x, delta = checks.numbers(x, "x"), float(checks.probability(delta, "delta"))
    if (c < 1).any() or (v < 1).any() or delta == 0:
        raise ValueError("clusters and arrival must be at least 1, and delta more than 0")
    by_record = np.log(c * v * (v + 1)) - np.log(delta)
    by_cluster = 2 * (np.log(c**2 * (c + 1) / np.where(x > 0, x, 1)) - np.log(delta))
    return np.minimum(by_record, np.where(x > 0, by_cluster, np.inf))


def _asked_matches(h2: float, different: np.ndarray, many: np.ndarray, delta: float) -> float:
    """The bound on questions about matches if evidence of at least T is accepted: the sum of min(1, e^(T/2) ρ^s)."""
    if delta == 0 or h2 == 0 or not len(different):  # no evidence is ever enough
        return float((different - 1) @ many)
    most = acceptance_threshold(many.sum(), different @ many, h2, delta) / 2
    with np.errstate(divide="ignore"):  # rounding may take H² to 1 or beyond
        per_record = np.log(max(1 - h2, 0.0))
    log_chance = most + np.arange(1, different.max()) * per_record
    asked = np.concatenate([[0.0], np.cumsum(np.exp(np.minimum(log_chance, 0.0)))])
    return float(asked[different - 1] @ many)


def _geometric_sum(h2: float, terms: np.ndarray) -> np.ndarray:
    """The sum of (1 - H²)^r for r = 2, 3, ..., with this many terms."""
    if h2 == 0:
        return terms
    if h2 >= 1:  # rounding may exceed 1
        return np.zeros_like(terms)
    return (1 - h2) ** 2 * -np.expm1(terms * np.log1p(-h2)) / h2


# --- What every algorithm must ask, and what similarities prove ------------------------------------------------------


def question_bound(model: SimilarityModel, n: int, k: int) -> float:
    r"""A lower bound on the expected questions of every algorithm, for some partition of n records into k clusters.

    The algorithm knows f_g, f_r, k and all similarities, may be randomised, and never errs. With
    :math:`q = (1 - H^2)^4` it is the larger of

    .. math:: \max_{1 \le m \le n-k} \frac{m(k-2)}4 \Bigl(1 - \sqrt{1 - q^{1 + (m-1)/(k-1)}}\Bigr)
        \quad\text{and}\quad \frac{(k-2)(k+1)}4\bigl(1-\sqrt{1-q}\bigr).

    It is 0 for k = n, and for k ≤ 2, where similarities may determine the clustering. A ValueError if not 1 ≤ k ≤ n.
    O(n). Replaces the sketch after Theorem 1 by a bound with explicit constants (Companion Theorems A1.1 and A12.1).

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(question_bound(uniform(), 1200, 14), 1), round(question_bound(dist1(0.05), 1200, 14), 1)
    (3558.0, 1395.0)
    """
    n, k = checks.whole(n, "n", most=checks.MOST_RECORDS), checks.whole(k, "k")
    checks.model(model)
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n, but {n} records cannot form {k} clusters")
    if k <= 2 or k == n:
        return 0.0
    q = (1 - model.hellinger2) ** 4
    m = np.arange(1, n - k + 1)
    hidden = m * (k - 2) / 2 * _least_error(q ** (1 + (m - 1) / (k - 1)))
    return float(max(hidden.max(), (k - 2) * (k + 1) / 2 * _least_error(q)))


def _least_error(affinity_squared: Any) -> Any:
    """A lower bound on the error probability of the best test: half of 1 - sqrt(1 - affinity²)."""
    return (1 - np.sqrt(1 - affinity_squared)) / 2


def error_bound(model: SimilarityModel, n: int, k: int, delta: ArrayLike) -> np.ndarray:
    r"""A lower bound on the expected questions of every algorithm that errs with probability at most δ.

    As `question_bound`, for *some* partition: equal clusters may take fewer. It is the largest, over m, τ and p, of the
    bounds of Companion Theorem A1.1 and Companion Lemma A12.1, the latter with p equal, or but for one,

    .. math:: \frac{m(k-2)}2 \Bigl(\frac{E\min\{1, e^{-X}\}}2 - \delta\Bigr)
        \;\text{and}\; \frac m2 \sum_{i \in I} p_i\bigl(1 - \delta - \Pr(X > \tau)\bigr) - \frac{c\,\delta e^\tau}2,

    for the log-likelihood ratio X of a hidden record's own cluster and another, and for each δ of an array in [0, 1],
    otherwise a ValueError. X is rounded up to a grid, which keeps the bound valid, unless :math:`\ln(f_g/f_r)` is ±a, 0
    or infinite, as under Dist-1 and Dist-2; these take a fraction of a second, others up to minutes.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> error_bound(dist1(0.2), 50_000, 20, [0.01, 1e-20, 1e-200]).round()
    array([  321.,  3471., 24990.])
    """
    n, k = checks.whole(n, "n", most=checks.MOST_RECORDS), checks.whole(k, "k")
    delta, steps = checks.numbers(delta, "delta"), log_ratios(checks.model(model), 1)
    if not 1 <= k <= n or not ((delta >= 0) & (delta <= 1)).all():
        raise ValueError(f"k must be from 1 to n and delta in [0, 1], not {k} of {n} and {delta}")
    best, equal = np.zeros(delta.shape), 1 / max(k - 1, 1)
    for m in np.unique(np.geomspace(1, n - k, 60).astype(int)) if 3 <= k < n else ():
        for p in np.geomspace(min(0.01 / m, equal), equal, 16):  # of the cluster that records are moved to
            own, share = (1 - p) / (k - 2), 1 - p * (p < equal)  # of the record's cluster, and of all that are moved
            x, chance = _moved(steps, own, p, m - 1)
            some = np.flatnonzero(chance > 1e-9)
            some = some[:: 1 + len(some) // 1000]  # a choice of τ
            with np.errstate(divide="ignore"):
                spent = np.exp(np.minimum(x[some] + np.log(own / p * delta[..., None]), 600))
            asked = m * share * (np.cumsum(chance)[some] - delta[..., None]) - spent
            best = np.maximum(best, asked.max(axis=-1, initial=0) / 2)
            if share == 1:
                errs = chance @ np.exp(-np.maximum(x, 0)) / 2 - delta
                best = np.maximum(best, max(m, (k + 1) * (m == 1)) * (k - 2) / 2 * errs)
    return best


def _moved(steps: tuple[np.ndarray, ...], own: float, other: float, others: int) -> tuple[np.ndarray, np.ndarray]:
    """X on a grid, and its probabilities if finite. Each of `others` is in a record's cluster, or in the one that it
    is moved to, with the probabilities `own` and `other`, besides one record in each."""
    log_ratio, green, red = (each[np.isfinite(steps[0])] for each in steps)
    values, weights = np.append(log_ratio, -log_ratio), np.append(own * green, other * red)
    total, most = max(1 - own - other + weights.sum(), 1e-300), np.abs(values).max(initial=0) or 1.0
    # Outside of the window X has probability e^-40 at most (Bernstein).
    wide = 31 * most + np.sqrt((27 * most) ** 2 + 80 * others * (weights @ values**2) / total)
    whole = np.allclose(values / most, np.rint(values / most), rtol=0, atol=1e-9)
    unit = most / (1 if whole else max(1, int(most * 2**14 / wide)))
    up, size = np.ceil(values / unit - 1e-9).astype(int), fft.next_fast_len(2 * int(wide / unit) + 8, real=True)
    start, laws = int(others * (weights @ up) / total) - size // 2, np.zeros((2, size))
    np.add.at(laws, (np.repeat([0, 1], len(green)), up % size), np.append(green, red))
    match, apart = fft.rfft(laws)
    chance = fft.irfft(match * apart * (1 - own - other + own * match + other * apart) ** others, size)
    return (start + np.arange(size) + 1e-9 * (others + 2)) * unit, np.roll(chance, -start)


def prob_fully_determined(model: SimilarityModel, sizes: ArrayLike) -> float:
    r"""The probability that the similarities determine the whole clustering without any question, if k is not given.

    Determined matches must connect every cluster, and every two clusters need a determined non-match. With p and q the
    probabilities that a match and a non-match are determined, and :math:`C(m, p)` the probability that the random graph
    G(m, p) is connected, this is

    .. math:: \prod_i C(m_i, p) \prod_{i<j} \bigl(1 - (1-q)^{m_i m_j}\bigr).

    O(largest² + k²) for the largest of the cluster sizes m.

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(prob_fully_determined(dist2(0.2), [2, 1]), 6)  # the match, and one of two non-matches
    0.109375
    """
    sizes = cluster_sizes(sizes)
    p, q = certain_mass(model)
    if not len(sizes):
        return 1.0
    whole = np.exp(log_connected(int(sizes.max()), np.array([p]))[0])[sizes - 1]
    pairs = np.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)]
    return float(whole.prod() * (1 - (1 - q) ** pairs).prod())


def certain_mass(model: SimilarityModel) -> tuple[float, float]:
    """The probabilities that a match is determined (f_r vanishes at its similarity), and a non-match (f_g vanishes)."""
    checks.model(model)
    edges, g, r = common_steps(model.green, model.red)
    width = np.diff(edges)
    return float((width * g)[r == 0].sum()), float((width * r)[g == 0].sum())
