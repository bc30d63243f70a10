"""The paper's upper bounds, as printed and as corrected: against fractions, exact counts and counterexamples."""

from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, permutations, product
from math import comb, lgamma

import networkx as nx
import numpy as np
import pytest
from in_fractions import expected_components, integral, theorem_2, theorem_3
from naive import splits

import crowder as cr
from crowder.counting.arrival import expected_queries_in_order, prob_nonmatch_first
from crowder.counting.bounds import disconnected, edge_tree_bound, edge_union_bound, three_steps
from crowder.counting.small_cases import questions_of_order

# --- Node ordering: Theorem 3 --------------------------------------------------------------------------------------


def node_sum(model, sizes, *, printed):
    """Theorem 3 in fractions: as printed; corrected, s from 0 to |V_i| - 1, and k - 1 for k."""
    L = partial(integral, model)
    return theorem_3(sizes, L) if printed else len(sizes) + theorem_3(sizes, L, corrected=True)


def sharp_node_bound(model, sizes):
    """The corrected bound, with the C(k, 2) openings counted once instead of k(k-1) times."""
    k = len(sizes)
    return cr.node_bound(model, sizes, printed=False) - k - comb(k, 2)


NODE_MODELS = [
    cr.SimilarityModel.from_steps([Fraction(0), Fraction(1)], [Fraction(1)], [Fraction(1)], name="uniform"),
    cr.dist1(Fraction(2, 7)),
    cr.dist1(Fraction(1, 2)),
    cr.dist2(Fraction(1, 3)),
    cr.dist2(Fraction(1, 50)),
    cr.SimilarityModel.from_steps(
        [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)],
        [Fraction(5, 2), Fraction(0), Fraction(1)],
        [Fraction(0), Fraction(5, 3), Fraction(1)],
    ),
]
NODE_SIZES = [[1], [5], [1, 1], [2, 1], [1] * 4, [2] * 4, [7, 3, 3, 1], [12, 1, 1, 1], [30, 20], [4, 3, 2, 1] * 3]


@pytest.mark.parametrize("model", NODE_MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
@pytest.mark.parametrize("sizes", NODE_SIZES, ids=str)
def test_node_bound_is_its_sum_in_fractions(model, sizes):
    for printed in (True, False):
        in_fractions = node_sum(model, sizes, printed=printed)
        assert cr.node_bound(model, sizes, printed=printed) == pytest.approx(float(in_fractions), rel=1e-12)


def test_four_singletons_refute_theorem_3_as_printed_and_nothing_smaller_does():
    """Six pairs, each of which must be asked; n + n min(n, (n-1) L(1)) = 4 + 4 · 3/8, L(1) = 1/8 for ε = 1/3. Up to
    three records node ordering asks at most nk - k(k+1)/2 ≤ n, whatever the similarities."""
    model = cr.dist2(Fraction(1, 3))
    assert node_sum(model, [1] * 4, printed=True) == Fraction(11, 2)
    assert cr.node_bound(model, [1] * 4) == pytest.approx(5.5, rel=1e-12)
    assert cr.expected_queries(model, [1] * 4, "node") == cr.ideal_queries([1] * 4) == 6
    for n, k in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]:
        assert n * k - k * (k + 1) // 2 <= n


def test_theorem_3_as_printed_also_fails_on_clusters_of_two_and_on_many_small_ones():
    assert cr.node_bound(cr.dist2(0.4), [2] * 4) == pytest.approx(9.6296, abs=1e-4)  # the ideal count is 10
    sizes = cr.datasets.cora().sizes
    assert cr.node_bound(cr.dist2(0.45), sizes) < cr.ideal_queries(sizes) / 2
    # n singletons under Dist-1: C(n, 2) against n + n(n-1)(1-ε)/2, which is less from n = 1 + 2/ε on.
    for epsilon in (0.1, 0.25, 0.5):
        edge = round(1 + 2 / epsilon)
        assert cr.node_bound(cr.dist1(epsilon), [1] * (edge + 1)) < comb(edge + 1, 2)
        assert cr.node_bound(cr.dist1(epsilon), [1] * (edge - 1)) > comb(edge - 1, 2)


@pytest.mark.parametrize("model", NODE_MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
def test_the_corrected_node_bound_holds_for_every_order_and_is_reached(model):
    for sizes in (sizes for n in range(1, 6) for sizes in splits(n)):
        limit = sharp_node_bound(model, sizes)
        for order in set(permutations(np.repeat(range(len(sizes)), sizes).tolist())):
            assert expected_queries_in_order(model, order) <= limit * (1 + 1e-12)
    for m in (1, 2, 10, 60):
        # One record of its own kind first: every race has one rival, and the union bound gives nothing away.
        exact = expected_queries_in_order(model, [1] + [0] * m)
        assert exact == pytest.approx(sharp_node_bound(model, [m, 1]), rel=1e-9)


def test_the_corrected_node_bound_holds_on_random_models():
    rng = np.random.default_rng(11)
    for _ in range(60):
        edges = np.r_[0, np.sort(rng.random(rng.integers(1, 4))), 1]
        heights = rng.gamma(0.5, size=(2, len(edges) - 1)) + 1e-9
        green, red = heights / (heights @ np.diff(edges))[:, None]
        model = cr.SimilarityModel.from_steps(edges, green, red)
        sizes = rng.geometric(1 / rng.choice([1.3, 3, 20]), size=rng.integers(1, 20))
        exact = cr.expected_queries(model, sizes, "node")
        assert exact <= sharp_node_bound(model, sizes) * (1 + 1e-9)
        assert exact <= cr.node_bound(model, sizes, printed=False) * (1 + 1e-9)


def test_the_corrected_node_bound_needs_an_order_independent_of_the_similarities():
    """Rare non-matches between the two levels of matches move the expected size most, so the records that they lead
    astray arrive first, when few of their kind are there."""
    p, h = 1 / 40, 1 / 3000
    lure = cr.SimilarityModel.from_steps(
        [0, 0.02, 0.94, 0.96, 0.98, 1], [0, 0, 50 * (1 - p), 0, 50 * p], [50 * (1 - h), 0, 0, 50 * h, 0]
    )
    sizes, rng, runs = [430, 400], np.random.default_rng(3), []
    for _ in range(12):
        data = cr.datasets.synthetic(sizes, lure, rng=rng)
        truth = cr.Truth(data.labels)
        orders = ("expected-size", "random")
        runs.append([cr.node_ordering(data.similarity, truth, rng=rng, order=order).n_queries for order in orders])
    (peeking, random), error = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
    limit = cr.node_bound(lure, sizes, printed=False)
    assert peeking - 5 * error[0] > limit > random
    assert random == pytest.approx(cr.expected_queries(lure, sizes, "node"), abs=5 * error[1])


NODE_SHAPES = [[20] * 10, [4] * 50, [100] * 2, [500] + [1] * 100, list(range(1, 60)), [2**j for j in range(10)]]


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1 / 3, 0.4, 0.5])
@pytest.mark.parametrize("sizes", NODE_SHAPES, ids=lambda s: f"{len(s)}-of-{sum(s)}")
def test_node_ordering_on_dist1_keeps_the_factor_of_the_paper(epsilon, sizes):
    """n + nk r(1 - ln r) + k²(1/2 - r) ≤ n + nk(1 - ε²) for n ≥ 4k: min{k, nr/u} integrated, equal sizes the worst."""
    n, k, r = sum(sizes), len(sizes), (1 - epsilon) / (1 + epsilon)
    assert n >= 4 * k
    first = n + n * k * r * (1 - np.log(r)) + k * k * (1 / 2 - r)
    assert sharp_node_bound(cr.dist1(epsilon), sizes) <= first <= n + n * k * (1 - epsilon**2)
    assert cr.expected_queries(cr.dist1(epsilon), sizes, "node") <= first


def test_the_printed_step_for_dist1_fails():
    """(n - |V_i|) L(s) at s = (1-ε) n/k should be at most (1-ε) k, and tends to (k-1)/(1+ε)."""
    epsilon, size, k = Fraction(2, 5), 100, 50
    term = size * (k - 1) * integral(cr.dist1(epsilon), 60)
    assert term > Fraction(34) > (1 - epsilon) * k == 30


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.25, 0.4, 0.49])
@pytest.mark.parametrize("sizes", [*NODE_SHAPES, [1] * 30, [1000] * 1000], ids=lambda s: f"{len(s)}-of-{sum(s)}")
def test_node_ordering_on_dist2_needs_no_logarithm(epsilon, sizes):
    """A match above 1 - ε, of probability θ = ε/(1-ε), comes before all non-matches: Σ (1-θ)^s unlucky records."""
    n, k, theta = sum(sizes), len(sizes), epsilon / (1 - epsilon)
    exact = cr.expected_queries(cr.dist2(epsilon), sizes, "node")
    assert exact <= (n - k + comb(k, 2) * (2 / theta - 1)) * (1 + 1e-12) <= n + k * k / epsilon
    assert exact <= n + k * k * np.log(n) / epsilon


def test_races_of_dist2_need_bad_luck():
    for epsilon in (0.05, 0.3, 0.45):
        unlucky = (1 - epsilon / (1 - epsilon)) ** np.arange(31)
        assert (prob_nonmatch_first(cr.dist2(epsilon), 30, 30) <= unlucky[:, None] + 1e-12).all()


def test_node_ordering_on_dist2_in_any_order():
    """Records that make a detour, and the first of their cluster, are independent in the graph of certain matches."""
    rng, sizes, epsilon = np.random.default_rng(8), [6, 5, 3], 0.2
    for _ in range(40):
        data = cr.datasets.synthetic(sizes, cr.dist2(epsilon), rng=rng)
        w, truth, alpha, hostile = data.similarity, cr.Truth(data.labels), 0, []
        for i in range(len(sizes)):
            own = np.flatnonzero(data.labels == i)
            independent = max(
                (some for many in range(1, len(own) + 1) for some in combinations(own, many)
                 if all(w[u, v] <= 1 - epsilon for u, v in combinations(some, 2))), key=len)  # fmt: skip
            alpha += len(independent)
            hostile += [*independent, *(v for v in own if v not in independent)]
        limit = cr.ideal_queries(sizes) + (len(sizes) - 1) * (alpha - len(sizes))
        for order in ("expected-size", "random", hostile):
            assert cr.node_ordering(w, truth, rng=rng, order=order).n_queries <= limit


@pytest.mark.parametrize("theta", [0.02, 0.2, 0.6])
def test_mean_independence_number_is_within_its_bound(theta):
    """Σ_a min(1, C(m, a) (1-θ)^C(a, 2)) ≤ e + (2/θ) ln m."""
    for m in (1, 2, 10, 300, 5000):
        union = sum(
            min(1.0, np.exp(lgamma(m + 1) - lgamma(a + 1) - lgamma(m - a + 1) + comb(a, 2) * np.log1p(-theta)))
            for a in range(1, m + 1)
        )
        assert union <= np.e + 2 / theta * np.log(m)


def test_node_bound_of_no_records_and_bad_sizes():
    assert cr.node_bound(cr.uniform(), []) == cr.node_bound(cr.uniform(), [], printed=False) == 0
    for sizes in ([0], [2, -1], [1.5], [[2, 1]]):
        with pytest.raises(ValueError, match="positive integers"):
            cr.node_bound(cr.uniform(), sizes)


# --- Edge ordering: Theorem 2 --------------------------------------------------------------------------------------

BACKWARDS = cr.SimilarityModel.from_steps([0, Fraction(1, 2), 1], [2, 0], [0, 2], name="backwards")


def printed_edge_bound(model, sizes):
    return theorem_2(sizes, partial(integral, model))


def restored_edge_bound(model, sizes):
    """Theorem 2 with the factor C(m, s + 1), in fractions: some s + 1 records have no pair met among them."""
    n, k, L = sum(sizes), len(sizes), partial(integral, model)
    apart = {s: sum(m * (n - m) * comb(m, s + 1) * L(comb(s + 1, 2)) for m in sizes) for s in range(1, max(sizes) + 1)}
    return n - k + min(comb(k, 2) * s**2 + of_s for s, of_s in apart.items())


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


EDGE_MODELS = [*NODE_MODELS, three_steps(Fraction(1, 6)), BACKWARDS]
EDGE_SIZES = [[1], [4], [1, 1], [2, 1], [1] * 4, [3, 2], [4, 3, 2, 2], [5, 5, 1]]


def random_edge_instance(rng):
    """Masses over three orders of magnitude and empty steps; now and then the model on three steps, at its worst."""
    largest, k, steps = int(rng.integers(2, 90)), int(rng.integers(2, 5)), int(rng.integers(2, 6))
    sizes = [largest] * k if rng.random() < 0.5 else rng.integers(1, largest + 1, size=k).tolist()
    if rng.random() < 0.2:
        return three_steps(rng.uniform(0.3, 1.5) / largest), [largest] * k
    mass = 10.0 ** rng.uniform(-3, 0, size=(2, steps)) * (rng.random((2, steps)) < 0.7)
    mass[:, 0] += mass.sum(axis=1) == 0
    green, red = steps * mass / mass.sum(axis=1, keepdims=True)
    return cr.SimilarityModel.from_steps(np.linspace(0, 1, steps + 1), green, red), sizes


def random_edge_instances(many=80):
    rng = np.random.default_rng(5)
    return [random_edge_instance(rng) for _ in range(many)]


@pytest.mark.parametrize("model", EDGE_MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
@pytest.mark.parametrize("sizes", [*EDGE_SIZES, [30, 20], [9] * 5], ids=str)
def test_edge_bound_is_its_formula_in_fractions(model, sizes):
    assert cr.edge_bound(model, sizes) == pytest.approx(float(printed_edge_bound(model, sizes)), rel=1e-12)
    assert edge_union_bound(model, sizes) == pytest.approx(float(restored_edge_bound(model, sizes)), rel=1e-11)


def test_the_model_on_three_steps():
    """Non-matches are all met at one stage, when cluster i is in c_i pieces: E[Q] = n - k + Σ E[c_i] E[c_j]."""
    for sizes, p in (([2, 1], Fraction(1, 2)), ([4, 3, 3, 1], Fraction(2, 7)), ([25, 18], Fraction(1, 30))):
        expected = sum(sizes) - len(sizes)
        expected += sum(expected_components(a, p) * expected_components(b, p) for a, b in combinations(sizes, 2))
        assert cr.expected_queries(three_steps(p), sizes) == pytest.approx(float(expected), rel=1e-12)
        t = np.array([0, 1, 3, 10, 200])
        assert cr.L(three_steps(p), t) == pytest.approx(float(1 - p) ** t, rel=1e-12)


def test_seventy_five_records_exceed_theorem_2():
    """716.05 questions against 712.11: both in fractions, in floats, and by running edge ordering."""
    sizes, p = [38, 37], Fraction(1, 56)
    exact = 73 + expected_components(38, p) * expected_components(37, p)
    printed = printed_edge_bound(three_steps(p), sizes)
    assert exact > printed + 3
    assert cr.expected_queries(three_steps(p), sizes) == pytest.approx(float(exact), rel=1e-11)
    assert cr.edge_bound(three_steps(p), sizes) == pytest.approx(float(printed), rel=1e-12)
    rng, runs = np.random.default_rng(75), []
    for _ in range(150):
        data = cr.datasets.synthetic(sizes, three_steps(p), rng=rng)
        runs.append(cr.edge_ordering(data.condensed, cr.Truth(data.labels), rng=rng).n_queries)
    assert np.mean(runs) == pytest.approx(float(exact), abs=4 * np.std(runs, ddof=1) / np.sqrt(150))


def test_theorem_2_can_be_exceeded_by_any_factor():
    """At p = 1/m a pair that is met takes away one piece at most: E[c] ≥ (m + 1)/2. The printed bound is O(m ln m)."""
    ratios = []
    for m in (30, 100, 300, 1000, 3000):
        model, sizes = three_steps(1 / m), [m, m]
        exact, printed = cr.expected_queries(model, sizes), cr.edge_bound(model, sizes)
        assert exact >= 2 * m - 2 + (m + 1) ** 2 / 4
        assert printed <= 2 * m + 4 + (2 + np.sqrt(6 * m * np.log(m))) ** 2
        ratios.append(exact / printed * np.log(m) / m)
    assert min(ratios) > 1 / 24 and ratios[-1] == pytest.approx(ratios[-2], rel=0.1)
    assert exact / printed > 20


def test_theorem_2_with_its_factor_holds_on_random_models():
    instances = random_edge_instances()
    exact = [cr.expected_queries(model, sizes) for model, sizes in instances]
    for (model, sizes), count in zip(instances, exact, strict=True):
        assert count <= edge_union_bound(model, sizes) * (1 + 1e-9)
    # Without the factor it does not, on some of them.
    assert any(count > cr.edge_bound(*instance) for instance, count in zip(instances, exact, strict=True))


@pytest.mark.parametrize("labels", ["aab", "aabb", "aaab"])
def test_the_lemmas_of_the_edge_bounds_in_every_order(labels):
    """Between two clusters: questions ≤ s t + non-matches met while one has more than s, or the other more than t,
    components; and no more than the records of the second cluster take one by one."""
    first, second = ([v for v, name in enumerate(labels) if name == cluster] for cluster in "ab")

    def across(pairs):
        return sum(labels[i] != labels[j] for i, j in questions_of_order(pairs, labels))

    def met(own, pairs):
        graph = nx.Graph(pair for pair in pairs if set(pair) <= set(own))
        graph.add_nodes_from(own)
        return nx.number_connected_components(graph)

    for order in permutations(combinations(range(len(labels)), 2)):
        nonmatches = [t for t, (i, j) in enumerate(order) if labels[i] != labels[j]]
        left = [(met(first, order[:t]), met(second, order[:t])) for t in nonmatches]
        asked = across(order)
        for s, t in product(range(1, len(first) + 1), range(1, len(second) + 1)):
            assert asked <= s * t + sum(a > s or b > t for a, b in left)
        assert asked <= sum(across([pair for pair in order if set(pair) <= {*first, v}]) for v in second)


@pytest.mark.parametrize("model", EDGE_MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
def test_corrected_edge_bound_is_its_formula_with_every_graph_listed(model):
    D = {m: in_pieces(model, m) for m in range(1, 6)}
    assert disconnected(model, [5, 1, 3, 2, 4, 3]) == pytest.approx([D[m] for m in (5, 1, 3, 2, 4, 3)], abs=1e-13)
    for sizes in EDGE_SIZES:
        pairs = sum(
            min(a * b, a + a * b * D[b], b + a * b * D[a], 1 + a * b * (D[a] + D[b])) for a, b in combinations(sizes, 2)
        )
        expected = sum(sizes) - len(sizes) + pairs
        assert cr.edge_bound(model, sizes, printed=False) == pytest.approx(expected, rel=1e-12)


def test_each_of_the_four_numbers_is_sometimes_the_smallest():
    """Two single records; a cluster sure to be whole against one that is not, both ways round; two that are whole."""
    model = cr.dist2(0.2)
    whole, torn = 200, 3
    D = dict(zip((whole, torn), disconnected(model, [whole, torn]), strict=True))
    assert torn * whole * D[whole] < 1e-9 and D[torn] > 0.25
    assert cr.edge_bound(model, [1, 1], printed=False) == 1
    assert cr.edge_bound(model, [whole, torn], printed=False) == pytest.approx(201 + torn, abs=1e-6)
    assert cr.edge_bound(model, [torn, whole], printed=False) == pytest.approx(201 + torn, abs=1e-6)
    assert cr.edge_bound(model, [whole, whole], printed=False) == pytest.approx(398 + 1, abs=1e-6)
    # Never whole in time: all pairs, and so many are asked.
    assert cr.edge_bound(BACKWARDS, [5, 4], printed=False) == 7 + 20
    assert cr.expected_queries(BACKWARDS, [5, 4]) == pytest.approx(7 + 20, rel=1e-12)


def test_the_corrected_edge_bound_holds_on_random_models():
    for model, sizes in random_edge_instances():
        assert cr.expected_queries(model, sizes) <= cr.edge_bound(model, sizes, printed=False) * (1 + 1e-9)


def test_chance_to_be_in_pieces():
    """Without information D is the mean level at which a random graph becomes connected: (ln m + γ)/m from below."""
    m = np.arange(2, 601)
    scaled = m * disconnected(cr.uniform(), m) - np.log(m)
    assert (scaled < np.euler_gamma).all() and scaled[-1] > 0.54
    assert disconnected(cr.uniform(), [2, 3]) == pytest.approx([1 / 2, 1 / 2], abs=1e-14)
    # A maximum over the levels of a spanning tree: simulated for a size that no list of graphs reaches.
    rng, levels = np.random.default_rng(12), []
    for _ in range(400):
        weights = rng.random((12, 12))
        graph = nx.Graph()
        graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in combinations(range(12), 2))
        levels.append(max(data["weight"] for *_, data in nx.minimum_spanning_edges(graph)))
    error = np.std(levels, ddof=1) / np.sqrt(len(levels))
    assert disconnected(cr.uniform(), [12])[0] == pytest.approx(np.mean(levels), abs=4 * error)
    assert disconnected(cr.uniform(), []).shape == (0,)


@pytest.mark.parametrize("same", [cr.uniform(), cr.SimilarityModel.from_steps([0, 0.2, 1], [3, 0.5], [3, 0.5])])
def test_one_record_against_a_cluster_is_asked_about_less_than_twice(same):
    """The record's edges in a random spanning tree of m + 1 records that are all alike: 2m ends, m + 1 records."""
    for m in (1, 2, 3, 10, 150):
        assert cr.expected_queries(same, [m, 1]) == pytest.approx(m - 1 + 2 * m / (m + 1), rel=1e-12)


def test_questions_of_one_record_are_edges_of_a_spanning_tree():
    rng = np.random.default_rng(20)
    for m in (2, 5, 20):
        labels, weights = np.append(np.zeros(m, int), 1), rng.random((m + 1, m + 1))
        graph = nx.Graph()
        graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in combinations(range(m + 1), 2))
        tree = {frozenset(edge) for edge in nx.maximum_spanning_tree(graph).edges if m in edge}
        similarity = np.triu(weights, 1) + np.triu(weights, 1).T
        run = cr.edge_ordering(similarity, cr.Truth(labels), rng=rng)
        assert {frozenset(pair) for pair in run.queries[~run.answers].tolist()} == tree


TREE_SIZES = [[1], [6], [1] * 5, [4, 3, 2, 2], [60, 7, 7, 2], [200] * 2 + [100] * 4 + [50] * 8]


@pytest.mark.parametrize("sizes", TREE_SIZES, ids=lambda s: f"{len(s)}-of-{sum(s)}")
def test_the_tree_bound_is_its_formula(sizes):
    n, k = sum(sizes), len(sizes)
    pairs = sum(min(Fraction(2 * a * b, a + 1), Fraction(2 * a * b, b + 1)) for a, b in combinations(sizes, 2))
    for model in (cr.uniform(), cr.dist1(0.2), cr.dist2(0.4)):
        assert edge_tree_bound(model, sizes) == pytest.approx(float(n - k + pairs), rel=1e-12)
        assert edge_tree_bound(model, sizes) <= k * (n - 1)


def test_the_tree_bound_holds_on_random_models_with_dominance():
    """F_g ≤ F_r: two lists of masses, sorted in opposite directions, or one of the paper's models."""
    rng = np.random.default_rng(44)
    for _ in range(60):
        steps, largest = int(rng.integers(1, 6)), int(rng.integers(2, 60))
        ratio, red = np.sort(rng.gamma(0.3, size=steps)) + 1e-9, rng.dirichlet(np.ones(steps))
        green = ratio * red / (ratio @ red)  # a likelihood ratio that rises
        edges = np.linspace(0, 1, steps + 1)
        model = cr.SimilarityModel.from_steps(edges, steps * green, steps * red)
        sizes = rng.integers(1, largest + 1, size=int(rng.integers(2, 6))).tolist()
        assert cr.expected_queries(model, sizes) <= edge_tree_bound(model, sizes) * (1 + 1e-9)
        assert cr.expected_queries(model, sizes) <= cr.edge_bound(model, sizes)  # here the printed one held, too


def test_the_tree_bound_refuses_models_without_dominance():
    for model in (BACKWARDS, three_steps(Fraction(1, 10))):
        with pytest.raises(ValueError, match="F_g is larger by"):
            edge_tree_bound(model, [3, 2])
    # and rightly so: 30² questions about non-matches, where the bound would allow 2 · 30²/31
    assert cr.expected_queries(BACKWARDS, [30, 30]) == pytest.approx(58 + 900, rel=1e-12)


def test_backwards_similarities_cost_a_quarter_of_n_times_the_optimum():
    """All non-matches first, none of them implied: n²/4 + n - 2, where n - 1 do. At most C(n, 2)/(n - 1) = n/2."""
    for n in (2, 4, 10, 60, 300):
        data = cr.datasets.synthetic([n // 2, n // 2], BACKWARDS, rng=n)
        asked = cr.edge_ordering(data.condensed, cr.Truth(data.labels), rng=n).n_queries
        assert asked == n * n // 4 + n - 2 == round(cr.expected_queries(BACKWARDS, [n // 2, n // 2]))
        assert cr.ideal_queries([n // 2, n // 2]) == n - 1
        assert n / 4 <= asked / (n - 1) <= n / 2


def test_without_information_fewer_than_nk_questions():
    for sizes in ([1] * 7, [5, 5], [100] * 10, [250, 3, 2, 1], [20] * 50):
        n, k = sum(sizes), len(sizes)
        tree = edge_tree_bound(cr.uniform(), sizes)
        assert cr.expected_queries(cr.uniform(), sizes) <= tree * (1 + 1e-12) and tree <= k * (n - 1)
    assert cr.L(cr.uniform(), [0, 1, 9]) == pytest.approx([1, 1 / 2, 1 / 10], rel=1e-14)


def test_steps_of_the_printed_proof_for_uniform_similarities():
    """ℓ/(C(ℓ,2) + 1) ≤ 2/(ℓ-1); the sums by a logarithm for 3 ≤ s ≤ m; concavity, which small clusters break."""
    for size in range(2, 60):
        assert Fraction(size, comb(size, 2) + 1) <= Fraction(2, size - 1)
    for m in range(3, 60):
        for s in range(3, m + 1):
            assert sum(1 / (x - 1) for x in range(s, m + 1)) <= np.log((m - 1) / (s - 2)) + 1e-12
    # Sizes 3 and 1, s = 3: the sums make 1/2, and 2 ln((4 - 2)/(2 · 1)) = 0.
    assert 1 / 2 > 2 * np.log((4 - 2) / (2 * (3 - 2))) == 0
    # At s = √(n/k) ≥ 3 they make less even when all records but k - 1 are in one cluster.
    for s in (3, 5, 9):
        for k in (2, 5, 20):
            n = s * s * k
            one = sum(1 / (x - 1) for x in range(s, n - k + 2))
            assert one <= k * np.log((n - k) / (k * (s - 2)))


def test_dist1_at_one_half_asks_questions_all_the_same():
    """1 - 2ε is 0 there; (1-ε)/(1+ε) is 1/3."""
    sizes = [200] * 2 + [100] * 4 + [50] * 8
    assert cr.expected_queries(cr.dist1(Fraction(1, 2)), sizes) > 4000
    scaled = [cr.expected_queries(cr.dist1(0.5 - gap), [10] * 4) / (2 * gap) for gap in (1e-2, 1e-3, 1e-4)]
    assert scaled[2] > 9 * scaled[1] > 81 * scaled[0]  # no constant in O is large enough


def test_dist1_saves_the_corrected_factor():
    for epsilon in (0.05, 0.2, 0.35, 0.5):
        factor = (1 - epsilon) / (1 + epsilon)
        assert factor >= 1 / 3
        apart = disconnected(cr.dist1(epsilon), [100])[0] / disconnected(cr.uniform(), [100])[0]
        assert apart == pytest.approx(factor, rel=1e-6)
        for sizes in ([100] * 3, [30, 20, 5], [1] * 9):
            n, k = sum(sizes), len(sizes)
            assert cr.expected_queries(cr.dist1(epsilon), sizes) <= k * (n - 1) <= 3 * factor * n * k


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 0.49])
def test_dist2_within_its_explicit_bound(epsilon):
    for sizes in ([1, 1], [3] * 20, [50] * 3, [100, 30, 4, 1], [round(1 / epsilon)] * 4):
        n, k = sum(sizes), len(sizes)
        assert cr.expected_queries(cr.dist2(epsilon), sizes) <= n + 6 * k**2 * np.log(n) / epsilon
    m = next(m for m in range(2, 10**5) if epsilon * m > 6 * np.log(m))
    if m < 2000:
        assert disconnected(cr.dist2(epsilon), [m])[0] <= 4 / 3 / m**2


def test_the_printed_tail_for_dist2_is_below_one():
    for epsilon in (0.02, 0.2, 0.499):
        for sizes in ([2], [1, 1], [100], [400, 10], [40] * 10):
            n = sum(sizes)
            s = int(np.ceil(np.sqrt(4 * np.log(n) / epsilon) + 1))
            tail = n * sum(x * cr.L(cr.dist2(epsilon), comb(x, 2)) for m in sizes for x in range(s, m + 1))
            assert tail <= np.sqrt(epsilon / np.log(n)) < 1


def test_edge_bounds_of_no_records_and_bad_sizes():
    corrected = partial(cr.edge_bound, printed=False)
    for bound in (cr.edge_bound, corrected, edge_tree_bound, edge_union_bound):
        assert bound(cr.uniform(), []) == 0
        for sizes in ([0], [2, -1], [1.5], [[2, 1]]):
            with pytest.raises(ValueError, match="positive integers"):
                bound(cr.uniform(), sizes)
