r"""The exact expected number of questions of both heuristics, for any piecewise-constant model and any cluster sizes.

The paper bounds these numbers from above (`crowder.counting.bounds`). Here they are integrals over the similarity that
an ordering has reached, derived in the chapter "How many questions, exactly". The matches above a given similarity form
an Erdős-Rényi graph on each cluster, so the count of edge ordering needs the components of random graphs.
`crowder.counting.arrival` has the integral for node ordering, and `crowder.counting.exact` both as fractions.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks
from crowder.checks import compiled
from crowder.counting.arrival import (
    MOST_NODES,
    NODES,
    Step,
    nonmatches_at_random,
    nonmatches_by_expected_size,
    panels,
    steps_down,
)
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

__all__ = ["checked_ordering", "component_numbers", "expected_across", "expected_queries", "log_connected"]

#: If the probability of being disconnected is less than this, a graph counts as connected.
NEVER = 1e-30


def expected_queries(
    model: SimilarityModel,
    sizes: ArrayLike,
    ordering: str = "edge",
    *,
    arrival: str | None = None,
    nodes: int = NODES,
) -> float:
    r"""The expected number of questions until every pair is settled, with a perfect oracle.

    Both orderings ask n - k questions about matches. Edge ordering asks about a non-match of similarity τ, between
    components of a and b records, if none of the other ab - 1 pairs between the two has come before:

    .. math:: E[Q] = (n - k) + \sum_{i<j} \int_0^1 \sum_{a,b} N_i(a;\tau)\, N_j(b;\tau)\,
        ab\, f_r(\tau)\, F_r(\tau)^{ab-1}\, d\tau,

    where :math:`N_i(a; \tau)` is the expected number of components of a vertices in the random graph
    :math:`G(m_i, 1 - F_g(\tau))` (`component_numbers`). For node ordering, with records arriving in uniformly random
    order:

    .. math:: \begin{aligned} E[Q] = (n - k) + \sum_{i\ne j} m_i m_j & \int_0^1\!\!\int_0^1 x f_r(\tau)\,
        \bigl(1 - x + xF_g(\tau)\bigr)^{m_i-1} \\
        & \cdot \bigl(1 - x + xF_r(\tau)\bigr)^{m_j-1}\, d\tau\, dx . \end{aligned}

    The paper lets records arrive by expected size. In place of x is then a probability that depends on the expected
    size and the similarity (`crowder.counting.arrival`).

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes, in any order; a ValueError if one is not a positive integer.
    ordering : {"edge", "node"}
        A ValueError for another.
    arrival : {"random", "expected size"}, keyword only
        The arrival order of node ordering, random by default; a ValueError for another, or for edge ordering. "random"
        is exact. "expected size", the paper's order, is an approximation for many records.
    nodes : int, keyword only
        Gauss-Legendre nodes on each panel, a ValueError below 1. Every step of the densities is divided into panels
        that halve towards its upper end, down to the resolution that the largest cluster requires.

    See Also
    --------
    crowder.expected_queries_exact : the exact counts as fractions.
    crowder.counting.arrival.expected_queries_in_order : node ordering for a given arrival order.

    Notes
    -----
    Edge ordering: O(m log m) per node for clusters of one size m, near the level at which they connect, and little
    at others, summed over the distinct sizes; two clusters of 50,000 take eight seconds. Node ordering: O(distinct
    sizes) per node, on a grid of nodes; by expected size, O(distinct sizes squared), and a second for a few sizes.
    No formula is in the paper. The heuristics are from its section "The two heuristic algorithms".

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(expected_queries(uniform(), [2, 1]), 9)  # two questions of three, unless both non-matches come first
    2.333333333
    >>> round(expected_queries(uniform(), [2, 1], "node"), 9)
    2.333333333
    >>> round(expected_queries(dist1(0.5), [30] * 5, "node"), 1)  # in random order, and by expected size
    299.5
    >>> round(expected_queries(dist1(0.5), [30] * 5, "node", arrival="expected size"), 1)
    304.6
    """
    sizes, model = cluster_sizes(sizes), checks.model(model)
    ordering, nodes = checked_ordering(ordering), checks.whole(nodes, "nodes", least=1, most=MOST_NODES)
    if arrival is not None and (not isinstance(arrival, str) or arrival not in ("random", "expected size")):
        raise ValueError(f"arrival must be 'random' or 'expected size', not {arrival!r}")
    if arrival is not None and ordering != "node":
        raise ValueError(f"arrival must be left out: {ordering} ordering has no arrival order, not {arrival!r}")
    different, many = np.unique(sizes, return_counts=True)
    matches = int(sizes.sum()) - len(sizes)
    if len(sizes) < 2:
        return float(matches)
    if arrival == "expected size":
        return float(matches + nonmatches_by_expected_size(model, different, many, nodes))
    nonmatches = _nonmatches if ordering == "edge" else nonmatches_at_random
    return float(matches + sum(nonmatches(step, different, many, nodes) for step in steps_down(model) if step.red > 0))


def expected_across(model: SimilarityModel, m: int, other: int, ordering: str = "edge", *, nodes: int = NODES) -> float:
    """The expected number of questions between two clusters of m and `other` records: a term of the sum over i < j.

    Parameters, cost and errors are those of `expected_queries`.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_across(uniform(), 30, 60, "node"), 9)  # without information, twice the product over the sum
    40.0
    """
    m, other = checks.whole(m, "m", least=1), checks.whole(other, "other", least=1)
    return expected_queries(model, [m, other], ordering, nodes=nodes) - (m + other - 2)


def checked_ordering(ordering: str) -> str:
    """The name of an ordering, checked to be "edge" or "node"."""
    if not isinstance(ordering, str) or ordering not in ("edge", "node"):
        raise ValueError(f"ordering must be 'edge' or 'node', not {ordering!r}")
    return ordering


# --- Random graphs -------------------------------------------------------------------------------------------------


def component_numbers(m: int, p: float) -> np.ndarray:
    r"""The expected number of components of each size in the random graph G(m, p), an array of shape (m,).

    .. math:: N(a) = \binom ma\, C_a\, q^{a(m-a)}, \qquad a = 1, \dots, m,

    with q = 1 - p and :math:`C_a` the probability that G(a, p) is connected (`log_connected`). Entry a - 1 belongs to
    components of a vertices; :math:`\sum_a a N(a) = m`. O(m log m), and less where no component is large or the graph
    is certain to be connected.

    Examples
    --------
    >>> component_numbers(3, 0.5)  # (4 · 0 + 3 · 1 + 1 · 3) / 8 isolated vertices, 3/8 pairs, 4/8 triples
    array([0.75 , 0.375, 0.5  ])
    """
    m = checks.whole(m, "m", least=1, most=checks.MOST_RECORDS)
    p = float(checks.probability(p, "p"))
    return _component_numbers(np.array([p]), np.array([m]), m)[0, 0]


def _component_numbers(p: np.ndarray, sizes: np.ndarray, m: int) -> np.ndarray:
    """`component_numbers` for several p and sizes at most m at once, of shape (len(p), len(sizes), m)."""
    result = np.zeros((len(p), len(sizes), m))
    log_factorial, log_q = _log_factorials(m), _log_q(p)
    # Disconnected with probability at most the sum of C(m, a) q^(a (m - a)) over a <= m/2, hence of (m q^(m/2))^a.
    whole = (np.log(sizes) + sizes / 2 * log_q[:, None] < np.log(NEVER)) | (sizes == 1)
    largest = np.minimum(np.where(whole, 1, sizes).max(axis=1), _longest(p, m))
    chance = _log_connected_each(largest, log_q, m)
    for s, size in enumerate(sizes):
        result[whole[:, s], s, size - 1] = 1.0
        some = ~whole[:, s]
        a = np.arange(1, size + 1)
        log_choose = log_factorial[size] - log_factorial[a] - log_factorial[size - a]
        result[some, s, :size] = np.exp(log_choose + chance[some, :size] + a * (size - a) * log_q[some, None])
    return result


def _longest(p: np.ndarray, m: int) -> np.ndarray:
    r"""The size of a component that is improbable, at most m.

    A vertex has more than a with probability at most :math:`e^{-a(c-1-\ln c)}/c`, c = pm < 1, since the component
    is no larger than the total progeny of a branching process with binomial numbers of children (Chernoff).
    """
    c = np.clip(p * m, 1e-300, 1.0)
    with np.errstate(divide="ignore"):
        return np.minimum(m, np.ceil(np.log(m / (c * NEVER)) / (c - 1 - np.log(c)))).astype(np.int64)


def log_connected(m: int, p: np.ndarray) -> np.ndarray:
    r"""The logarithm of the probability :math:`C_a` that the random graph G(a, p) is connected.

    Remove the last vertex. The component of the first one then has k of the other n - 1 vertices; at least one of k
    edges joined it to the last vertex, and the remaining graph is connected without it. With q = 1 - p,

    .. math:: C_n = \sum_{k=1}^{n-1} \binom{n-2}{k-1}\, (1 - q^k)\, q^{k(n-1-k)}\, C_k\, C_{n-k}, \qquad C_1 = 1.

    No term is negative: unlike the recursion of E. N. Gilbert, Random Graphs (1959), it loses no digits. For r
    probabilities p of an edge the result has shape (r, m), and column a - 1 belongs to a vertices; a ValueError if p is
    not one-dimensional and in [0, 1]. O(r m log m), since long sums are smooth.
    """
    m, p = checks.whole(m, "m", least=1, most=checks.MOST_RECORDS), checks.numbers(p, "p")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p must be probabilities, one-dimensional, not {p}")
    return _log_connected_each(np.full(len(p), m), _log_q(p), m)


def _log_connected_each(largest: np.ndarray, log_q: np.ndarray, m: int) -> np.ndarray:
    """The rows ln C_1, ..., ln C_m for each q, filled up to `largest`, and -inf beyond."""
    result = np.full((len(log_q), m), -np.inf)
    result[:, 0] = 0.0
    result[log_q == -np.inf] = 0.0
    _fill_log_connected(result, largest, log_q, _log_factorials(m), *_rules(m))
    return result


#: The terms of a long sum are smooth: a panel of no more terms than there are before it is summed by the polynomial
#: through AT of its terms. The lengths of panels are powers of two from SHORTEST.
SHORTEST, AT = 64, 18


@cache
def _rules(m: int) -> tuple[np.ndarray, np.ndarray]:
    """For sums over SHORTEST, 2 SHORTEST, ... up to m terms: the terms to evaluate, from 0, and their weights."""
    terms, weights = [], []
    for doublings in range(max(1, (m // SHORTEST).bit_length())):
        length = SHORTEST << doublings
        powers = np.polynomial.chebyshev.chebvander(np.linspace(-1, 1, length), AT - 1)
        chosen = np.round((1 - np.cos(np.pi * (np.arange(AT) + 0.5) / AT)) / 2 * (length - 1)).astype(np.int64)
        terms.append(chosen)
        weights.append(np.linalg.solve(powers[chosen].T, powers.sum(axis=0)))
    return np.array(terms), np.array(weights)


@compiled
def _fill_log_connected(result, largest, log_q, log_factorial, terms, weights):
    """Fill the rows of `result` with ln C_2, ln C_3, ... for each q, up to `largest`.

    The terms of the sum for k and n - k are combined; each is relative to the first, the largest.
    """
    m = result.shape[1]
    power, some, share = np.empty(m + 1), np.empty(m + 1), np.empty(m + 1)
    for r in range(len(log_q)):
        if log_q[r] == 0 or log_q[r] == -np.inf:
            continue  # no edges at all, or every one
        for k in range(largest[r]):
            power[k] = math.exp(log_q[r] * k)  # q^k
            some[k] = -math.expm1(log_q[r] * k)  # 1 - q^k
        share[1] = 0.0  # ln C_k / (k - 1)!, at k
        for n in range(2, largest[r] + 1):
            first, half, total = share[n - 1], n // 2, 0.0
            k = 1
            while k <= half:
                # A panel of the sum, if one is short enough, or a single term, as that of k = n - k always is.
                room, rule = min(k, (n + 1) // 2 - k), -1
                while SHORTEST << (rule + 1) <= room:
                    rule += 1
                part, term = 0.0, 0.0
                for t in range(AT if rule >= 0 else 1):
                    i = k + terms[rule, t] if rule >= 0 else k
                    j = n - i
                    both = some[j] if j == i else some[j] + power[j - i] * some[i]
                    term = math.exp(share[i] + share[j] + (i - 1) * j * log_q[r] - first) * both
                    part += weights[rule, t] * term if rule >= 0 else term
                total += part
                k += SHORTEST << rule if rule >= 0 else 1
                if term < 1e-18 * total:
                    break  # the terms fall towards the middle; from here on they do not change the sum
            result[r, n - 1] = log_factorial[n - 2] + first + math.log(total)
            if n < m:
                share[n] = result[r, n - 1] - log_factorial[n - 1]


def _log_q(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):  # q may be 0
        return np.log1p(-p)


@cache
def _log_factorials(m: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])


# --- Edge ordering -------------------------------------------------------------------------------------------------


def _nonmatches(step: Step, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    """Expected non-matches that edge ordering asks about on one step, over all pairs of clusters."""
    largest = int(different[-1])
    if step.green == 0:
        # The components are constant, and each ab f_r F_r^(ab-1) is the derivative of F_r^ab.
        numbers = _component_numbers(np.array([step.seen_green]), different, largest)[0]
        before, after = (_log(1 - step.seen_red - down) for down in (0.0, step.red * step.width))
        return _over_clusters(numbers, different, many, before, 1) - _over_clusters(numbers, different, many, after, 1)
    # If large components exist from the start, the question between them comes soon; otherwise the integrand first
    # changes where they form.
    finest = 1 / (4 * step.green * largest)
    if step.seen_green > 0:
        finest = min(finest, 1 / (step.red * largest**2))
    total = 0.0
    for depths, weights in panels(step.width, finest, nodes):
        chances = np.minimum(1.0, step.seen_green + step.green * depths)
        each = _component_numbers(chances, different, largest)
        for depth, weight, numbers in zip(depths, weights, each, strict=True):
            log_red = _log(1 - step.seen_red - step.red * depth)
            total += weight * step.red * _over_clusters(numbers, different, many, log_red, 0)
    return total


def _over_clusters(numbers: np.ndarray, different: np.ndarray, many: np.ndarray, log_red: float, whole: int) -> float:
    """`_over_components`, summed over all pairs of clusters: each size with itself and with all smaller ones."""
    total, smaller = 0.0, np.zeros(int(different[-1]))
    for size, count, found in zip(different.tolist(), many.tolist(), numbers, strict=True):
        own = found[:size]
        if count > 1:
            total += count * (count - 1) / 2 * _over_components(own, own, log_red, whole)
        total += count * _over_components(own, smaller[:size], log_red, whole)
        smaller[:size] += count * own
    return total


@compiled
def _over_components(first, second, log_red, whole):
    r"""The sum of N(a) N'(b) ab F^(ab-1) over all a and b, or of N(a) N'(b) F^ab if `whole` is 1; F = exp(log_red)."""
    total = 0.0
    for a in range(1, len(first) + 1):
        if a * first[a - 1] < 1e-30:
            continue
        power = 1.0 if a == 1 and whole == 0 else math.exp((a - 1 + whole) * log_red)
        factor = math.exp(a * log_red)
        inner = 0.0
        for b in range(1, len(second) + 1):
            inner += second[b - 1] * power * (1 if whole else b)
            power *= factor
            if power < 1e-40:
                break
        total += first[a - 1] * inner * (1 if whole else a)
    return total


def _log(x: float) -> float:
    return float(np.log(x)) if x > 0 else -np.inf
