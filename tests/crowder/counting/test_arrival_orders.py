"""Node ordering in one fixed order of arrival: races and expected counts, against enumeration and sampling."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import crowder as cr
from crowder.counting.arrival_orders import expected_queries_in_order, prob_nonmatch_first

#: A model with an empty step on either side, and steps that f_g and f_r do not share.
UNEVEN = cr.SimilarityModel(
    cr.densities.StepDensity([0, 0.3, 0.6, 1], [0, 2, 1]), cr.densities.StepDensity([0, 0.5, 0.8, 1], [1.4, 1, 0])
)
MODELS = [cr.uniform(), cr.dist1(0.3), cr.dist2(0.2), UNEVEN]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_races_are_what_a_fine_midpoint_rule_gives(model):
    """The distribution of the best non-match, differenced: no density and no quadrature of ours."""
    level = np.linspace(0, 1, 60_001)
    middle = (level[1:] + level[:-1]) / 2
    table = prob_nonmatch_first(model, 6, 4)
    for s in range(7):
        for t in range(1, 5):
            chance = np.diff(model.red.cdf(level) ** t) @ model.green.cdf(middle) ** s
            assert table[s, t] == pytest.approx(chance, abs=1e-7)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_one_rival_is_the_integral_of_the_paper_and_no_rival_asks_nothing(model):
    table = prob_nonmatch_first(model, 50, 3)
    assert table[:, 1] == pytest.approx(cr.L(model, np.arange(51)), rel=1e-12)
    assert (table[:, 0] == 0).all() and table[0, 1:] == pytest.approx(1, rel=1e-12)


def test_large_races_stay_exact():
    """Uniform: t of s + t equal chances to be the largest."""
    s, t = np.arange(601)[:, None], np.arange(1, 401)
    assert prob_nonmatch_first(cr.uniform(), 600, 400)[:, 1:] == pytest.approx(t / (s + t), rel=1e-11)


def test_a_race_may_lack_either_side():
    assert prob_nonmatch_first(cr.dist1(0.3), 0, 2) == pytest.approx(np.array([[0, 1, 1]]))  # no match to lose to
    assert prob_nonmatch_first(cr.dist1(0.3), 2, 0).tolist() == [[0], [0], [0]]  # nobody to ask about
    assert prob_nonmatch_first(cr.dist1(0.3), 0, 0).tolist() == [[0]]


def naive_count(ranked, arrivals):
    """Questions of one run: `ranked` lists the pairs of positions, most similar first."""
    rank = {pair: place for place, pair in enumerate(ranked)}
    total = 0
    for v, own in enumerate(arrivals):
        nearest = {}
        for u in range(v):
            place = rank[u, v]
            nearest[arrivals[u]] = min(nearest.get(arrivals[u], place), place)
        for cluster in sorted(nearest, key=nearest.get):
            total += 1
            if cluster == own:
                break
    return total


@pytest.mark.parametrize("arrivals", ["aab", "aba", "baa", "abab", "aabb", "abca", "aaab", "baaa"])
def test_a_fixed_order_against_all_orders_of_the_pairs(arrivals):
    """Under the uniform model each order of the pairs by similarity is as likely as any other."""
    pairs = [(u, v) for v in range(len(arrivals)) for u in range(v)]
    counts = [naive_count(ranked, arrivals) for ranked in permutations(pairs)]
    mean = Fraction(sum(counts), len(counts))
    assert expected_queries_in_order(cr.uniform(), arrivals) == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
@pytest.mark.parametrize("sizes", [[3, 2], [2, 2, 1], [1, 1, 1, 1], [4, 1]])
def test_averaged_over_all_orders_it_is_the_count_for_random_arrival(model, sizes):
    labels = np.repeat(range(len(sizes)), sizes)
    mean = np.mean([expected_queries_in_order(model, order) for order in permutations(labels)])
    assert mean == pytest.approx(cr.expected_queries(model, sizes, "node"), rel=1e-10)


def test_a_fixed_order_against_runs():
    model, labels = cr.dist1(0.4), np.repeat([0, 1, 2], [12, 3, 7])
    rng = np.random.default_rng(5)
    runs = []
    for _ in range(2000):
        data = cr.datasets.synthetic([12, 3, 7], model, rng=rng)
        runs.append(cr.node_ordering(data.similarity, cr.Truth(labels), rng=rng, order=np.arange(22)).n_queries)
    expected = expected_queries_in_order(model, labels)
    assert abs(np.mean(runs) - expected) < 4.5 * np.std(runs) / np.sqrt(len(runs))


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.5])
def test_large_clusters_under_dist1_make_half_of_one_minus_epsilon_detours(epsilon):
    """At the top of the scale non-matches have density 1 - ε and matches 1 + ε: with as many of each, a non-match is
    the largest with probability (1 - ε)/2. The rest falls like 1/m."""
    for m in (10**4, 10**6):
        detours = cr.expected_queries(cr.dist1(epsilon), [m, m], "node") - 2 * (m - 1)
        assert detours / (2 * m) == pytest.approx((1 - epsilon) / 2, abs=1 / m)


@pytest.mark.parametrize("epsilon", [0.02, 0.2, 0.45])
def test_large_clusters_under_dist2_cost_a_constant(epsilon):
    """(1 + ρ²)/(1 - ρ²) non-matches for two clusters, ρ = (1 - 2ε)/(1 - ε): ∫∫ m² x exp(-mx(u + v)) in the limit."""
    rho, m = (1 - 2 * epsilon) / (1 - epsilon), 10**6
    asked = cr.expected_queries(cr.dist2(epsilon), [m, m], "node") - 2 * (m - 1)
    assert asked == pytest.approx((1 + rho**2) / (1 - rho**2), rel=1e-5)


def test_few_records():
    assert expected_queries_in_order(cr.uniform(), []) == 0
    assert expected_queries_in_order(cr.uniform(), ["a"]) == 0
    assert expected_queries_in_order(cr.uniform(), ["a", "a", "a"]) == 2  # one match each


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", None])
def test_a_race_needs_whole_numbers(wrong):
    with pytest.raises((TypeError, ValueError), match=r"^matches must be"):
        prob_nonmatch_first(cr.uniform(), wrong, 1)
    with pytest.raises((TypeError, ValueError), match=r"^nonmatches must be"):
        prob_nonmatch_first(cr.uniform(), 1, wrong)
