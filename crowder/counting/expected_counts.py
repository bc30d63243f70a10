r"""The exact expected number of questions of both heuristics, for any piecewise-constant model and any cluster sizes.

The paper bounds these numbers from above (`crowder.counting.bounds`). Here they are exact, as integrals: over the
similarity that edge ordering has reached, and for node ordering also over the arrival time of a record. Both are
derived in the chapter "How many questions, exactly". `crowder.counting.exact_counts` computes them as fractions. For
node ordering that is if records arrive in random order; by expected size, the count is an approximation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from crowder import validation
from crowder.counting.expected_size import nonmatches_by_expected_size
from crowder.counting.quadrature import panels
from crowder.counting.random_graphs import component_numbers, numbers_at
from crowder.densities import common_steps
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

__all__ = ["ARRIVALS", "NODES", "ORDERINGS", "checked_ordering", "expected_across", "expected_queries"]

ORDERINGS = ("edge", "node")

#: Arrival orders of node ordering.
ARRIVALS = ("random", "expected size")

#: Nodes for each panel of the quadrature. Half as many already give twelve correct digits.
NODES = 24


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
    :math:`G(m_i, 1 - F_g(\tau))` (`crowder.counting.random_graphs`). For node ordering, with records arriving in
    uniformly random order:

    .. math:: E[Q] = (n - k) + \sum_{i\ne j} m_i m_j \int_0^1\!\!\int_0^1 x f_r(\tau)\,
        \bigl(1 - x + xF_g(\tau)\bigr)^{m_i-1} \bigl(1 - x + xF_r(\tau)\bigr)^{m_j-1}\, d\tau\, dx .

    The paper lets records arrive by expected size. A record of cluster c with similarity w to a record of expected size
    t then comes before it with a probability :math:`q_c(w, t)` in place of x, and for many records

    .. math:: E[Q] \approx (n - k) + \sum_{i\ne j} m_i m_j\, E \int_0^1\!\int f_r(\tau)\, q_j(\tau, t)\,
        Z_i(\tau, t)^{m_i-1} Z_j(\tau, t)^{m_j-1}\, \varphi(t; M, V)\, dt\, d\tau ,

    where :math:`Z_c` is the probability of not being an earlier record above τ, and φ the normal density of t if no
    other record is one; see `crowder.counting.expected_size.nonmatches_by_expected_size`.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes, each at least 1; any order.
    ordering : {"edge", "node"}
    arrival : {"random", "expected size"}, keyword only
        The arrival order of node ordering; random by default. "random" is exact. "expected size", the paper's order, is
        an approximation for many records, whose expected sizes are taken to be normal.
    nodes : int, keyword only
        Gauss-Legendre nodes on each panel. Every step of the densities is divided into panels that halve towards its
        upper end, down to the resolution that the largest cluster requires.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a size is not a positive integer, the ordering or the arrival order is unknown, an arrival order is given for
        edge ordering, or `nodes` is less than 1.
    TypeError
        If `nodes` is not a whole number.

    See Also
    --------
    crowder.edge_ordering : the heuristic whose questions these are.
    crowder.node_ordering : the other one.
    crowder.expected_queries_exact : the exact counts as fractions.
    crowder.counting.arrival_orders.expected_queries_in_order : node ordering for a given arrival order.

    Notes
    -----
    Edge ordering: O(m²) per node for clusters of one size m; with several sizes :math:`\sum m^2` over the distinct
    ones. Node ordering: O(distinct sizes) per node, on a grid of nodes; by expected size, O(distinct sizes squared) per
    node, and a second for a few sizes. Equal clusters are counted together, so their number does not affect the cost.
    No formula is in the paper. The heuristics are from its section "The two heuristic algorithms".

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_queries(uniform(), [2, 1]), 9)  # two questions of three, unless both non-matches come first
    2.333333333
    >>> round(expected_queries(uniform(), [2, 1], "node"), 9)
    2.333333333
    >>> from crowder.models import dist1
    >>> round(expected_queries(dist1(0.5), [30] * 5, "node"), 1)  # in random order, and by expected size
    299.5
    >>> round(expected_queries(dist1(0.5), [30] * 5, "node", arrival="expected size"), 1)
    304.6
    """
    sizes, model = cluster_sizes(sizes), validation.model(model)
    ordering, nodes = checked_ordering(ordering), validation.whole(nodes, "nodes", least=1)
    arrival = _checked_arrival(arrival, ordering)
    different, many = np.unique(sizes, return_counts=True)
    matches = int(sizes.sum()) - len(sizes)
    if len(sizes) < 2:
        return float(matches)
    if arrival == "expected size":
        return float(matches + nonmatches_by_expected_size(model, different, many, nodes))
    red = _edge_red if ordering == "edge" else _node_red
    return float(matches + sum(red(step, different, many, nodes) for step in _steps(model) if step.red > 0))


def expected_across(model: SimilarityModel, m: int, other: int, ordering: str = "edge", *, nodes: int = NODES) -> float:
    """The expected number of questions between two clusters of m and `other` records: a term of the sum over i < j.

    Parameters, cost and errors are those of `expected_queries`.

    Examples
    --------
    >>> from crowder.models import uniform
    >>> round(expected_across(uniform(), 30, 60, "node"), 9)  # without information, twice the product over the sum
    40.0
    """
    return expected_queries(model, [m, other], ordering, nodes=nodes) - (m + other - 2)


def checked_ordering(ordering: str) -> str:
    """The name of the ordering, checked to be "edge" or "node".

    Raises
    ------
    ValueError
        If not.

    Examples
    --------
    >>> checked_ordering("node")
    'node'
    """
    if not isinstance(ordering, str) or ordering not in ORDERINGS:
        raise ValueError(f"ordering must be {' or '.join(map(repr, ORDERINGS))}, not {ordering!r}")
    return ordering


def _checked_arrival(arrival: str | None, ordering: str) -> str | None:
    if arrival is not None and (not isinstance(arrival, str) or arrival not in ARRIVALS):
        raise ValueError(f"arrival must be {' or '.join(map(repr, ARRIVALS))}, not {arrival!r}")
    if arrival is not None and ordering != "node":
        raise ValueError(f"arrival must be left out: {ordering} ordering has no arrival order, not {arrival!r}")
    return arrival


class _Step(NamedTuple):
    """A step of both densities, described from its upper end, where decreasing similarities enter it."""

    width: float
    green: float  # height of f_g
    red: float
    seen_green: float  # share of f_g above the step
    seen_red: float


def _steps(model: SimilarityModel) -> Iterator[_Step]:
    """The common steps of f_g and f_r, from the top down."""
    edges, green, red = common_steps(model.green, model.red)
    width = np.diff(edges)
    green, red = green / (green @ width), red / (red @ width)  # a mass may differ from one by a rounding error
    seen_green = seen_red = 0.0
    for w, g, r in zip(width[::-1], green[::-1], red[::-1], strict=True):
        yield _Step(w, g, r, seen_green, seen_red)
        seen_green, seen_red = min(1.0, seen_green + g * w), min(1.0, seen_red + r * w)


# --- Edge ordering -------------------------------------------------------------------------------------------------


def _edge_red(step: _Step, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    """Expected non-matches asked about on one step, over all pairs of clusters."""
    largest = int(different[-1])
    if step.green == 0:
        # The components are constant, and each ab f_r F_r^(ab-1) is the derivative of F_r^ab.
        numbers = component_numbers(largest, step.seen_green, sizes=different)
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
        for depth, weight, numbers in zip(depths, weights, numbers_at(chances, different, largest), strict=True):
            log_red = _log(1 - step.seen_red - step.red * depth)
            total += weight * step.red * _over_clusters(numbers, different, many, log_red, 0)
    return total


@njit(cache=True)
def _over_clusters(numbers, different, many, log_red, whole):
    """`_over_components`, summed over all pairs of clusters: each size with itself and with all smaller ones."""
    total, smaller = 0.0, np.zeros(0)
    for s in range(len(different)):
        size, count = different[s], many[s]
        own = numbers[s, :size]
        if count > 1:
            total += count * (count - 1) / 2 * _over_components(own, own, log_red, whole)
        total += count * _over_components(own, smaller, log_red, whole)
        longer = count * own
        longer[: len(smaller)] += smaller
        smaller = longer
    return total


@njit(cache=True)
def _over_components(first, second, log_red, whole):
    r"""The sum of N(a) N'(b) ab F^(ab-1) over all a and b, or of N(a) N'(b) F^ab if `whole` is 1; F = exp(log_red)."""
    total = 0.0
    for a in range(1, len(first) + 1):
        if a * first[a - 1] < 1e-30:
            continue
        power = 1.0 if a == 1 and whole == 0 else np.exp((a - 1 + whole) * log_red)
        factor = np.exp(a * log_red)
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


# --- Node ordering -------------------------------------------------------------------------------------------------


def _node_red(step: _Step, different: np.ndarray, many: np.ndarray, nodes: int) -> float:
    """Expected non-matches asked about on one step, over all ordered pairs of clusters."""
    finest = 1 / int(different[-1])
    times, time_weights = map(np.concatenate, zip(*panels(1.0, finest, nodes), strict=True))
    total = 0.0
    for depths, weights in panels(step.width, finest / max(step.green, step.red), nodes):
        green = np.log1p(-np.outer(times, np.minimum(1.0, step.seen_green + step.green * depths)))
        red = np.log1p(-np.outer(times, np.minimum(1.0, step.seen_red + step.red * depths)))
        reds = np.array([count * size * np.exp((size - 1) * red) for size, count in zip(different, many, strict=True)])
        greens = np.array([size * np.exp((size - 1) * green) for size in different])
        # For each size, the number of clusters without one of this size.
        below = np.concatenate([np.zeros((1, *red.shape)), np.cumsum(reds, axis=0)[:-1]])
        above = np.concatenate([np.cumsum(reds[::-1], axis=0)[-2::-1], np.zeros((1, *red.shape))])
        own = (1 - 1 / many)[:, None, None] * reds
        density = np.einsum("s,sxy,sxy->xy", many.astype(float), greens, below + above + own)
        total += step.red * float((time_weights * times) @ density @ weights)
    return total
