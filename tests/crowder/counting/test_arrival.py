"""Node ordering by the order of arrival: fixed orders by enumeration, and the paper's by draws from its model.

The appendix on node ordering compares the latter with runs on the rows of Table 1.
"""

from fractions import Fraction
from itertools import permutations

import in_fractions
import numpy as np
import pytest

import crowder as cr
from crowder.counting import arrival
from crowder.counting.arrival import expected_queries_in_order, prob_nonmatch_first
from crowder.models import StepDensity

#: A model with an empty step on either side, and steps that f_g and f_r do not share.
UNEVEN = cr.SimilarityModel(StepDensity([0, 0.3, 0.6, 1], [0, 2, 1]), StepDensity([0, 0.5, 0.8, 1], [1.4, 1, 0]))
MODELS = pytest.mark.parametrize("model", [cr.uniform(), cr.dist1(0.3), cr.dist2(0.2), UNEVEN], ids=lambda m: m.name)

# --- In a fixed order ----------------------------------------------------------------------------------------------


@MODELS
def test_the_largest_of_s_and_t_similarities(model):
    """By a midpoint rule for the distribution of the best non-match: no density and no quadrature of ours. Column 1 is
    the paper's L; without a non-match nothing is asked, and without a match the non-match is first."""
    table = prob_nonmatch_first(model, 6, 4)
    level = np.linspace(0, 1, 60_001)
    middle = (level[1:] + level[:-1]) / 2
    for s in range(7):
        for t in range(1, 5):
            chance = np.diff(model.red.cdf(level) ** t) @ model.green.cdf(middle) ** s
            assert table[s, t] == pytest.approx(chance, abs=1e-7)
    assert table[:, 1] == pytest.approx(cr.L(model, np.arange(7)), rel=1e-12)
    assert (table[:, 0] == 0).all() and table[0, 1:] == pytest.approx(1, rel=1e-12)


def test_many_similarities_stay_exact():
    """Uniform: t of s + t equal chances to be the largest."""
    s, t = np.arange(301)[:, None], np.arange(1, 201)
    assert prob_nonmatch_first(cr.uniform(), 300, 200)[:, 1:] == pytest.approx(t / (s + t), rel=1e-11)
    assert prob_nonmatch_first(cr.uniform(), 2, 0).tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("arrivals", ["aab", "aba", "baa", "abab", "aabb", "abca", "aaab", "baaa"])
def test_a_fixed_order_against_all_orders_of_the_pairs(arrivals):
    """Under the uniform model each order of the pairs by similarity is as likely as any other."""
    pairs = [(u, v) for v in range(len(arrivals)) for u in range(v)]
    counts = [in_fractions.node_questions(arrivals, ranked, range(len(arrivals)))[0] for ranked in permutations(pairs)]
    mean = Fraction(sum(counts), len(counts))
    assert expected_queries_in_order(cr.uniform(), arrivals) == pytest.approx(float(mean), rel=1e-12)


@MODELS
@pytest.mark.parametrize("sizes", [[3, 2], [2, 2, 1], [1, 1, 1, 1], [4, 1]])
def test_averaged_over_all_orders_it_is_the_count_for_random_arrival(model, sizes):
    labels = np.repeat(range(len(sizes)), sizes)
    mean = np.mean([expected_queries_in_order(model, order) for order in permutations(labels)])
    assert mean == pytest.approx(cr.expected_queries(model, sizes, "node"), rel=1e-10)


# --- By expected size ----------------------------------------------------------------------------------------------

#: f_g and f_r differ in variance (0.073 and 0.047), and f_r is skewed.
SKEWED = cr.SimilarityModel.from_steps([0, 0.1, 0.5, 1], [0.5, 1, 1.1], [6, 0.5, 0.4])


def by_size(model, sizes, **how):
    return cr.expected_queries(model, sizes, "node", arrival="expected size", **how)


def drawn(model, sizes, runs, rng):
    """The model behind the formula, drawn: a record's row, and normal sums for all others with a common part."""
    n, total, error = sum(sizes), sum(sizes) - len(sizes), 0.0
    green, red = model.green, model.red
    moments = [(float(law.mean), float(law.variance)) for law in (green, red)]
    shared = (moments[0][1] + moments[1][1]) / 2
    for i, m in enumerate(sizes):
        rows = [(j, size - (i == j)) for j, size in enumerate(sizes)]
        w = [(green if j == i else red).sample(runs * size, rng=rng).reshape(runs, size) for j, size in rows]
        size_of_v = sum(part.sum(axis=1) for part in w)[:, None]
        common, best = rng.normal(size=(runs, 1)), []
        for j, size in rows:
            counted = [sizes[j] - 1 - (i == j), n - sizes[j] - 1 + (i == j)]  # its other matches and non-matches
            mean, variance = (sum(c * moment[p] for c, moment in zip(counted, moments, strict=True)) for p in (0, 1))
            sums = mean + np.sqrt(variance - shared) * rng.normal(size=(runs, size)) + np.sqrt(shared) * common
            best.append(np.where(sums + w[j] > size_of_v, w[j], -1).max(axis=1, initial=-1))
        counts = sum((best[j] > best[i]) for j in range(len(sizes)) if j != i)
        total, error = total + m * counts.mean(), np.hypot(error, m * counts.std() / np.sqrt(runs))
    return total, error


@pytest.mark.parametrize("model", [cr.dist1(0.4), cr.dist2(0.1), SKEWED], ids=lambda m: m.name)
def test_the_integral_is_the_mean_of_its_own_model(model):
    """Another road to the formula: no tilted densities and no quadrature, only draws."""
    sizes = [30, 20, 20, 10]
    mean, error = drawn(model, sizes, 20_000, np.random.default_rng(5))
    assert by_size(model, sizes) == pytest.approx(mean, abs=4 * error)


@pytest.mark.parametrize("model", [cr.dist2(0.05), SKEWED], ids=lambda m: m.name)
def test_more_nodes_change_nothing(model, monkeypatch):
    """Nor do more of them above the level, of which there are few where expected sizes deviate by more than four."""
    few, usual, many = (by_size(model, [200, 100, 50], **how) for how in ({"nodes": 12}, {}, {"nodes": 40}))
    assert usual == pytest.approx(many, rel=1e-6)
    assert few == pytest.approx(usual, rel=1e-4)
    monkeypatch.setattr(arrival, "FEW_ABOVE", arrival.ABOVE)
    assert usual == pytest.approx(by_size(model, [200, 100, 50]), rel=1e-13)


@pytest.mark.parametrize(("model", "sizes", "asked"), [
    (cr.dist1(0.3), [], 0), (cr.dist2(0.3), [50], 49), (cr.dist1(0.3), [1] * 7, 21),  # singletons: every pair
    (cr.SimilarityModel.from_steps([0, 0.5, 1], [0, 2], [2, 0]), [60, 30, 30], 120),  # all proven: the ideal
], ids=["nobody", "one cluster", "singletons", "proven"])  # fmt: skip
def test_simple_cases(model, sizes, asked):
    assert by_size(model, sizes) == pytest.approx(asked, rel=1e-5)


def test_arrival_is_random_by_default():
    model, sizes = cr.dist1(0.3), [40, 4]
    count = cr.expected_queries(model, sizes, "node")
    assert count == cr.expected_queries(model, sizes, "node", arrival="random") != pytest.approx(by_size(model, sizes))
