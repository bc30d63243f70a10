"""Bounds from above, as printed and as corrected, in fractions and with every graph listed.

And from below, for every algorithm, against its loop; and what similarities prove, against enumeration. That the bounds
hold, and where the printed ones fail, is what their chapters show."""

from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, product
from math import comb, exp, inf, log, prod, sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_fractions import integral, theorem_2, theorem_3
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr
from crowder.counting.bounds import (
    disconnected,
    edge_tree_bound,
    edge_union_bound,
    error_bound,
    prob_fully_determined,
    question_bound,
    three_steps,
)

BACKWARDS = cr.SimilarityModel.from_steps([0, Fraction(1, 2), 1], [2, 0], [0, 2], name="backwards")
MODELS = [
    cr.uniform(), cr.dist1(Fraction(2, 7)), cr.dist1(Fraction(1, 2)),
    cr.dist2(Fraction(1, 3)), cr.dist2(Fraction(1, 50)),
    cr.SimilarityModel.from_steps([0, Fraction(1, 5), Fraction(1, 2), 1],
                                  [Fraction(5, 2), 0, 1], [0, Fraction(5, 3), 1]),
    three_steps(Fraction(1, 6)), BACKWARDS,
]  # fmt: skip
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
SIZES = [[1], [5], [1, 1], [2, 1], [1] * 4, [2] * 4, [4, 3, 2, 2], [7, 3, 3, 1], [12, 1, 1, 1], [30, 20], [9] * 5]


# --- The formulas --------------------------------------------------------------------------------------------------


def union_bound(model, sizes):
    """Theorem 2 with the factor C(m, s + 1), in fractions: some s + 1 records have no pair met among them."""
    n, k, L = sum(sizes), len(sizes), partial(integral, model)
    apart = {s: sum(m * (n - m) * comb(m, s + 1) * L(comb(s + 1, 2)) for m in sizes) for s in range(1, max(sizes) + 1)}
    return n - k + min(comb(k, 2) * s**2 + of_s for s, of_s in apart.items())


@EVERY_MODEL
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_sums_of_theorems_2_and_3_in_fractions(model, sizes):
    """Corrected, Theorem 3 has s from 0 to m - 1, and k - 1 for k; the k first records are counted among n."""
    L = partial(integral, model)
    found = [cr.edge_bound(model, sizes), edge_union_bound(model, sizes),
             cr.node_bound(model, sizes), cr.node_bound(model, sizes, printed=False)]  # fmt: skip
    expected = [theorem_2(sizes, L), union_bound(model, sizes),
                theorem_3(sizes, L), len(sizes) + theorem_3(sizes, L, corrected=True)]  # fmt: skip
    assert found == pytest.approx([*map(float, expected)], rel=1e-11)


def in_pieces(model, m):
    """D(m): the graphs on m vertices that are not connected, by their number of edges, and the integral of each
    polynomial in F_g, exact because Gauss and Legendre's nodes suffice for its degree."""
    pairs = list(combinations(range(m), 2))
    tally = [0] * (len(pairs) + 1)
    for edges in (some for many in range(len(pairs) + 1) for some in combinations(pairs, many)):
        graph = nx.Graph(edges)
        graph.add_nodes_from(range(m))
        tally[len(edges)] += not nx.is_connected(graph)
    nodes, weights = np.polynomial.legendre.leggauss(len(pairs) // 2 + 1)
    total, below = 0.0, Fraction(0)
    for (a, b), g, h in zip(pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        level = float(below) + float(g * (b - a)) * (nodes + 1) / 2
        apart = sum(many * (1 - level) ** e * level ** (len(pairs) - e) for e, many in enumerate(tally))
        total += float(h * (b - a)) * float(weights @ apart) / 2
        below += g * (b - a)
    return total


@EVERY_MODEL
def test_the_corrected_edge_bound_with_every_graph_listed(model):
    """Each of the four numbers is the smallest for some of these models and sizes."""
    D = {m: in_pieces(model, m) for m in range(1, 6)}
    assert disconnected(model, [5, 1, 3, 2, 4, 3]) == pytest.approx([D[m] for m in (5, 1, 3, 2, 4, 3)], abs=1e-13)
    for sizes in ([1], [4], [1, 1], [2, 1], [1] * 4, [3, 2], [4, 3, 2, 2], [5, 5, 1], [2, 5, 3]):
        pairs = sum(
            min(a * b, a + a * b * D[b], b + a * b * D[a], 1 + a * b * (D[a] + D[b])) for a, b in combinations(sizes, 2)
        )
        expected = sum(sizes) - len(sizes) + pairs
        assert cr.edge_bound(model, sizes, printed=False) == pytest.approx(expected, rel=1e-12)


def test_a_large_cluster_is_in_pieces():
    """Without information D is the mean level at which a random graph becomes connected, (ln m + γ)/m from below."""
    m = np.arange(2, 601)
    scaled = m * disconnected(cr.uniform(), m) - np.log(m)
    assert (scaled < np.euler_gamma).all() and scaled[-1] > 0.54


@pytest.mark.parametrize("sizes", [*SIZES, [60, 7, 7, 2], [200] * 2 + [100] * 4 + [50] * 8], ids=str)
def test_the_tree_bound_is_its_formula(sizes):
    pairs = sum(min(Fraction(2 * a * b, a + 1), Fraction(2 * a * b, b + 1)) for a, b in combinations(sizes, 2))
    for model in (cr.uniform(), cr.dist1(0.2), cr.dist2(0.4)):
        expected = float(sum(sizes) - len(sizes) + pairs)
        assert edge_tree_bound(model, sizes) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", [BACKWARDS, three_steps(Fraction(1, 10))], ids=lambda model: model.name)
def test_the_tree_bound_refuses_a_model_without_dominance(model):
    with pytest.raises(ValueError, match="F_g is larger by"):
        edge_tree_bound(model, [3, 2])


def test_no_records():
    corrected = partial(cr.edge_bound, printed=False), partial(cr.node_bound, printed=False)
    for bound in (cr.edge_bound, cr.node_bound, edge_tree_bound, edge_union_bound, cr.evidence_bound, *corrected):
        assert bound(cr.uniform(), []) == 0
    assert disconnected(cr.uniform(), []).shape == (0,)


# --- From below, and what similarities prove ------------------------------------------------------------------------

APART = cr.SimilarityModel.from_steps([0, 0.5, 1], green=[0, 2], red=[2, 0])


def plain_bound(h2, n, k):
    def doubt(similarities):
        return (1 - sqrt(1 - (1 - h2) ** (2 * similarities))) / 2

    hidden = [m * (k - 2) / 2 * doubt(2 + 2 * (m - 1) / (k - 1)) for m in range(1, n - k + 1)]
    return max(*hidden, (comb(k, 2) - 1) * doubt(2))


@given(st.floats(0.001, 0.49), st.integers(3, 40), st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_the_bound_is_the_loop_over_hidden_records(epsilon, k, more):
    for model in (cr.dist1(epsilon), cr.dist2(epsilon)):
        expected = plain_bound(float(model.hellinger2), k + more, k)
        assert question_bound(model, k + more, k) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def evidence(model, own, other, others):
    """The law of X by enumeration: each of `others` is in a record's cluster, in that it is moved to, or in neither."""
    widths = np.diff(model.green.edges)
    g, r = widths * model.green.heights, widths * model.red.heights
    matches = [(a, log(a / b) if b else inf) for a, b in zip(g, r, strict=True) if a]
    nonmatches = [(b, log(b / a) if a else inf) for a, b in zip(g, r, strict=True) if b]
    kinds = [[(own * a, x) for a, x in matches] + [(other * b, x) for b, x in nonmatches] + [(1 - own - other, 0)]]
    return [
        (prod(a for a, _ in terms), sum(x for _, x in terms)) for terms in product(matches, nonmatches, *kinds * others)
    ]


def plain_error_bound(model, n, k, delta):
    """The same bounds over the same p, and over every τ."""
    found, equal = [0.0], 1 / (k - 1)
    for m in range(1, n - k + 1):
        for p in np.geomspace(min(0.01 / m, equal), equal, 16):
            own, c = (equal, 1) if p == equal else ((1 - p) / (k - 2), (1 - p) / (k - 2) / p)
            moved, law = m * own * (k - 1 if p == equal else k - 2), evidence(model, own, p, m - 1)
            for _, tau in law:
                if tau < inf:
                    above = sum(a for a, x in law if x > tau + 1e-9)
                    found.append((moved * (1 - delta - above) - c * delta * exp(tau)) / 2)
            if p == equal:
                doubt = sum(a * min(1, exp(-x)) for a, x in law) / 2 - delta
                found += [m * (k - 2) / 2 * doubt] + [(comb(k, 2) - 1) * doubt] * (m == 1)
    return max(found)


THREE = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0.5, 1.5, 1], red=[1.5, 1, 0.75])


@pytest.mark.parametrize("model", [cr.dist1(0.3), cr.dist2(0.2), THREE, APART], ids=lambda model: model.name)
@pytest.mark.parametrize("n, k", [(6, 3), (7, 4), (12, 9)])
def test_the_bound_for_errors_by_enumeration(model, n, k):
    """On a grid the three-valued evidence is rounded up, so that the bound is too small, but hardly."""
    deltas = np.array([0, 1e-9, 1e-3, 0.05, 0.3])
    expected = [plain_error_bound(model, n, k, delta) for delta in deltas]
    assert error_bound(model, n, k, deltas) == pytest.approx(
        expected, rel=1e-7 if model is not THREE else 0.02, abs=1e-7
    )
    assert (error_bound(model, n, k, deltas) <= np.array(expected) + 1e-7).all()


def test_more_is_asked_for_a_smaller_error_up_to_half_of_the_hidden_records():
    found = error_bound(cr.dist1(0.2), 2000, 20, [1, 0.5, 0.01, 1e-8, 1e-30, 0])
    assert found[0] == 0 and (np.diff(found) > 0).all() and found[-1] == pytest.approx(1980 / 2, rel=1e-6)
    assert error_bound(cr.uniform(), 10, 10, 0.01) == error_bound(cr.uniform(), 10, 2, 0.01) == 0
    with pytest.raises(ValueError, match="delta in"):
        error_bound(cr.uniform(), 10, 3, [0.1, np.nan])


def test_where_nothing_or_everything_is_told():
    assert question_bound(APART, 100, 10) == 0
    assert question_bound(cr.uniform(), 10, 10) == question_bound(cr.uniform(), 10, 2) == 0
    assert prob_fully_determined(APART, [3, 2]) == 1 and prob_fully_determined(APART, []) == 1
    assert prob_fully_determined(cr.dist1(0.3), [2, 1]) == 0


@pytest.mark.parametrize("sizes", [[1], [2, 1], [3], [2, 2], [3, 1], [2, 1, 1]])
def test_what_similarities_prove_by_enumeration(sizes):
    """Every pattern of pairs that prove themselves: each cluster connected and each two kept apart."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    pairs = list(combinations(range(len(labels)), 2))
    model = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0, 2, 1], red=[0.4, 3.6, 0])
    p, q = 0.5, 0.1
    total = 0.0
    for pattern in product((False, True), repeat=len(pairs)):
        chance, parts, apart = 1.0, DisjointSet(range(len(labels))), set()
        for (u, v), proved in zip(pairs, pattern, strict=True):
            same = labels[u] == labels[v]
            chance *= (p if same else q) if proved else (1 - p if same else 1 - q)
            if proved and same:
                parts.merge(u, v)
            elif proved:
                apart.add((labels[u], labels[v]))
        total += chance * (parts.n_subsets == len(sizes) and len(apart) == len(sizes) * (len(sizes) - 1) // 2)
    assert prob_fully_determined(model, sizes) == pytest.approx(total, rel=1e-10)
