"""Bounds from above, as printed and as corrected: against fractions, exact counts and counterexamples.

And from below, for every algorithm, against its loop; and what similarities prove, against enumeration and data."""

from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, permutations, product
from math import comb, sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_fractions import expected_components, integral, theorem_2, theorem_3
from naive import splits
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr
from crowder.counting.arrival import expected_queries_in_order
from crowder.counting.bounds import (
    disconnected,
    edge_tree_bound,
    edge_union_bound,
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


def random_instances(many=80):
    """Masses over three orders of magnitude and empty steps; now and then the model on three steps, at its worst."""
    rng = np.random.default_rng(5)
    for _ in range(many):
        largest, k, steps = int(rng.integers(2, 90)), int(rng.integers(2, 5)), int(rng.integers(2, 6))
        sizes = [largest] * k if rng.random() < 0.5 else rng.integers(1, largest + 1, size=k).tolist()
        if rng.random() < 0.2:
            yield three_steps(rng.uniform(0.3, 1.5) / largest), [largest] * k
            continue
        mass = 10.0 ** rng.uniform(-3, 0, size=(2, steps)) * (rng.random((2, steps)) < 0.7)
        mass[:, 0] += mass.sum(axis=1) == 0
        green, red = steps * mass / mass.sum(axis=1, keepdims=True)
        yield cr.SimilarityModel.from_steps(np.linspace(0, 1, steps + 1), green, red), sizes


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
    """Without information D is the mean level at which a random graph becomes connected, (ln m + γ)/m from below: the
    largest level of a spanning tree, simulated for a size that no list of graphs reaches."""
    m = np.arange(2, 601)
    scaled = m * disconnected(cr.uniform(), m) - np.log(m)
    assert (scaled < np.euler_gamma).all() and scaled[-1] > 0.54
    rng, levels = np.random.default_rng(12), []
    for _ in range(400):
        graph = nx.Graph()
        graph.add_weighted_edges_from((i, j, rng.random()) for i, j in combinations(range(12), 2))
        levels.append(max(data["weight"] for *_, data in nx.minimum_spanning_edges(graph)))
    error = np.std(levels, ddof=1) / np.sqrt(len(levels))
    assert disconnected(cr.uniform(), [12])[0] == pytest.approx(np.mean(levels), abs=4 * error)


@pytest.mark.parametrize("sizes", [*SIZES, [60, 7, 7, 2], [200] * 2 + [100] * 4 + [50] * 8], ids=str)
def test_the_tree_bound_is_its_formula(sizes):
    """At most k (n - 1), and without information at least the exact count."""
    n, k = sum(sizes), len(sizes)
    pairs = sum(min(Fraction(2 * a * b, a + 1), Fraction(2 * a * b, b + 1)) for a, b in combinations(sizes, 2))
    for model in (cr.uniform(), cr.dist1(0.2), cr.dist2(0.4)):
        assert edge_tree_bound(model, sizes) == pytest.approx(float(n - k + pairs), rel=1e-12)
    exact, tree = cr.expected_queries(cr.uniform(), sizes), edge_tree_bound(cr.uniform(), sizes)
    assert exact <= tree * (1 + 1e-12) and tree <= k * (n - 1)


def test_no_records():
    corrected = partial(cr.edge_bound, printed=False), partial(cr.node_bound, printed=False)
    for bound in (cr.edge_bound, cr.node_bound, edge_tree_bound, edge_union_bound, cr.evidence_bound, *corrected):
        assert bound(cr.uniform(), []) == 0
    assert disconnected(cr.uniform(), []).shape == (0,)


# --- What they bound -----------------------------------------------------------------------------------------------


def sharp_node_bound(model, sizes):
    """The corrected bound, with the C(k, 2) openings counted once instead of k(k-1) times."""
    k = len(sizes)
    return cr.node_bound(model, sizes, printed=False) - k - comb(k, 2)


@EVERY_MODEL
def test_the_corrected_node_bound_holds_for_every_order_and_is_reached(model):
    for sizes in (sizes for n in range(1, 6) for sizes in splits(n)):
        limit = sharp_node_bound(model, sizes)
        for order in set(permutations(np.repeat(range(len(sizes)), sizes).tolist())):
            assert expected_queries_in_order(model, order) <= limit * (1 + 1e-12)
    for m in (1, 2, 10, 60):
        # One record of its own kind first: every race has one rival, and the union bound gives nothing away.
        exact = expected_queries_in_order(model, [1] + [0] * m)
        assert exact == pytest.approx(sharp_node_bound(model, [m, 1]), rel=1e-9)


def test_the_corrected_bounds_hold_on_random_models():
    """And Theorem 2 without its union-bound factor does not, on some of them."""
    over = 0
    for model, sizes in random_instances():
        edge, node = (cr.expected_queries(model, sizes, ordering) for ordering in ("edge", "node"))
        assert edge <= edge_union_bound(model, sizes) * (1 + 1e-9)
        assert edge <= cr.edge_bound(model, sizes, printed=False) * (1 + 1e-9)
        assert node <= sharp_node_bound(model, sizes) * (1 + 1e-9)
        over += edge > cr.edge_bound(model, sizes)
    assert over


def test_the_tree_bound_holds_on_random_models_with_dominance_and_refuses_others():
    """F_g ≤ F_r: two lists of masses with a likelihood ratio that rises."""
    rng = np.random.default_rng(44)
    for _ in range(60):
        steps, largest = int(rng.integers(1, 6)), int(rng.integers(2, 60))
        ratio, red = np.sort(rng.gamma(0.3, size=steps)) + 1e-9, rng.dirichlet(np.ones(steps))
        green = ratio * red / (ratio @ red)
        model = cr.SimilarityModel.from_steps(np.linspace(0, 1, steps + 1), steps * green, steps * red)
        sizes = rng.integers(1, largest + 1, size=int(rng.integers(2, 6))).tolist()
        assert cr.expected_queries(model, sizes) <= edge_tree_bound(model, sizes) * (1 + 1e-9)
    for model in (BACKWARDS, three_steps(Fraction(1, 10))):
        with pytest.raises(ValueError, match="F_g is larger by"):
            edge_tree_bound(model, [3, 2])
    # and rightly so: 30² questions about non-matches, where the bound would allow 2 · 30²/31
    assert cr.expected_queries(BACKWARDS, [30, 30]) == pytest.approx(58 + 900, rel=1e-12)


# --- Counterexamples to the printed bounds -------------------------------------------------------------------------


def test_seventy_five_records_exceed_theorem_2():
    """Non-matches are all met at one stage, when cluster i is in c_i pieces: E[Q] = n - k + Σ E[c_i] E[c_j]. For 38 and
    37 records that is 716.05 against 712.11: in fractions, in floats, and by running edge ordering."""
    for sizes, p in (([2, 1], Fraction(1, 2)), ([4, 3, 3, 1], Fraction(2, 7)), ([38, 37], Fraction(1, 56))):
        pieces = [expected_components(m, p) for m in sizes]
        exact = sum(sizes) - len(sizes) + sum(a * b for a, b in combinations(pieces, 2))
        assert cr.expected_queries(three_steps(p), sizes) == pytest.approx(float(exact), rel=1e-11)
    t = np.array([0, 1, 3, 10, 200])
    assert cr.L(three_steps(p), t) == pytest.approx(float(1 - p) ** t, rel=1e-12)
    assert exact > theorem_2(sizes, partial(integral, three_steps(p))) + 3
    rng, runs = np.random.default_rng(75), []
    for _ in range(150):
        data = cr.datasets.synthetic(sizes, three_steps(p), rng=rng)
        runs.append(cr.edge_ordering(data.condensed, cr.Truth(data.labels), rng=rng).n_queries)
    assert np.mean(runs) == pytest.approx(float(exact), abs=4 * np.std(runs, ddof=1) / np.sqrt(150))


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


def test_no_bound_where_similarities_or_k_tell_all():
    assert question_bound(APART, 100, 10) == 0
    assert question_bound(cr.uniform(), 10, 10) == question_bound(cr.uniform(), 10, 2) == 0


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


def test_where_nothing_or_everything_is_proved():
    assert prob_fully_determined(APART, [3, 2]) == 1 and prob_fully_determined(APART, []) == 1
    assert prob_fully_determined(cr.dist1(0.3), [2, 1]) == 0
