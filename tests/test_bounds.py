"""The paper's upper bounds, as printed and as corrected: against fractions, exact counts and counterexamples."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import comb, lgamma

import numpy as np
import pytest

import crowder as cr
from crowder.arrivals import expected_queries_in_order, races

# --- Node ordering: Theorem 3 --------------------------------------------------------------------------------------


def exact_L(model, t):
    """L(t) in fractions: the antiderivative of F_g^t f_r on each step."""
    total = reached = Fraction(0)
    for (a, b), g, h in zip(pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        after = reached + g * (b - a)
        total += h * ((after ** (t + 1) - reached ** (t + 1)) / (g * (t + 1)) if g else (b - a) * reached**t)
        reached = after
    return total


def node_sum(model, sizes, most, lengths):
    n = sum(sizes)
    return n + sum(min(most, (n - m) * exact_L(model, s)) for m in sizes for s in lengths(m))


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
    """As printed: s from 1 to |V_i| and the minimum with k. As corrected: s from 0 to |V_i| - 1, and k - 1."""
    printed = node_sum(model, sizes, len(sizes), lambda m: range(1, m + 1))
    corrected = node_sum(model, sizes, len(sizes) - 1, range)
    assert cr.node_bound(model, sizes) == pytest.approx(float(printed), rel=1e-12)
    assert cr.node_bound(model, sizes, printed=False) == pytest.approx(float(corrected), rel=1e-12)


def test_four_singletons_refute_theorem_3_as_printed_and_nothing_smaller_does():
    """Six pairs, each of which must be asked; n + n min(n, (n-1) L(1)) = 4 + 4 · 3/8, L(1) = 1/8 for ε = 1/3. Up to
    three records node ordering asks at most nk - k(k+1)/2 ≤ n, whatever the similarities."""
    model = cr.dist2(Fraction(1, 3))
    assert node_sum(model, [1] * 4, 4, lambda m: range(1, m + 1)) == Fraction(11, 2)
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


def all_sizes(n, most=None):
    return [[]] if n == 0 else [[m, *rest] for m in range(min(n, most or n), 0, -1) for rest in all_sizes(n - m, m)]


@pytest.mark.parametrize("model", NODE_MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
def test_the_corrected_node_bound_holds_for_every_order_and_is_reached(model):
    for sizes in (sizes for n in range(1, 6) for sizes in all_sizes(n)):
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


def test_the_corrected_node_bound_needs_an_order_that_does_not_look():
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
    term = size * (k - 1) * exact_L(cr.dist1(epsilon), 60)
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
        assert (races(cr.dist2(epsilon), 30, 30) <= unlucky[:, None] + 1e-12).all()


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
