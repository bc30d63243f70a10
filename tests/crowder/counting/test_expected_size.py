"""Node ordering by expected size: the formula against runs, against its own model drawn at random, in simple cases."""

import numpy as np
import pytest

import crowder as cr

TABLE1 = [200] * 2 + [100] * 4 + [50] * 8
#: f_g and f_r differ in variance (0.073 and 0.047), and f_r is skewed.
SKEWED = cr.SimilarityModel.from_steps([0, 0.1, 0.5, 1], [0.5, 1, 1.1], [6, 0.5, 0.4])


def expected(model, sizes, **how):
    return cr.expected_queries(model, sizes, "node", arrival="expected size", **how)


def mean_of_runs(model, sizes, runs):
    counts = []
    for rng in np.random.default_rng(3).spawn(runs):
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        counts.append(cr.node_ordering(data.condensed, cr.Truth(data.labels), rng=rng).n_queries)
    return np.mean(counts), np.std(counts, ddof=1) / np.sqrt(runs)


@pytest.mark.parametrize("model", [cr.dist1(0.5), cr.dist1(0.05), cr.dist2(0.2), cr.dist2(0.05)], ids=range(4))
def test_table_1_is_what_runs_give(model):
    """Four standard errors of 60 runs are about 40 questions of thousands; random arrival is 20 to 220 away."""
    mean, error = mean_of_runs(model, TABLE1, 60)
    assert expected(model, TABLE1) == pytest.approx(mean, abs=4 * error)


@pytest.mark.parametrize("model", [cr.uniform(), cr.dist1(0.5), cr.dist2(0.05), SKEWED], ids=lambda m: m.name)
@pytest.mark.parametrize("sizes", [[5, 4, 3], [20] * 5, [40, 20, 10, 10]], ids=str)
def test_few_records_are_within_half_a_per_cent(model, sizes):
    """An approximation for many records is already close for a dozen."""
    mean, error = mean_of_runs(model, sizes, 1500)
    assert expected(model, sizes) == pytest.approx(mean, abs=4 * error + 0.002 * mean)


def drawn(model, sizes, runs, rng):
    """The model behind the formula, drawn: a record's row, and normal sums for all others with a common part."""
    n, total, error = sum(sizes), sum(sizes) - len(sizes), 0.0
    green, red = model.green, model.red
    moments = [(float(law.mean), float(law.variance)) for law in (green, red)]
    shared = (moments[0][1] + moments[1][1]) / 2
    for i, m in enumerate(sizes):
        counts = np.zeros(runs)
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
    assert expected(model, sizes) == pytest.approx(mean, abs=4 * error)


def test_more_nodes_change_nothing():
    for model in (cr.dist1(0.5), cr.dist2(0.05), SKEWED):
        assert expected(model, TABLE1) == pytest.approx(expected(model, TABLE1, nodes=40), rel=1e-6)
        assert expected(model, TABLE1, nodes=12) == pytest.approx(expected(model, TABLE1), rel=1e-4)


def test_simple_cases():
    """Singletons ask about every pair and one cluster only about matches; where similarities prove everything, and
    arrivals come in clusters, the ideal is asked."""
    apart = cr.SimilarityModel.from_steps([0, 0.5, 1], [0, 2], [2, 0])
    assert expected(cr.dist1(0.3), []) == 0
    assert expected(cr.dist1(0.3), [1] * 7) == 21
    assert expected(cr.dist2(0.3), [50]) == 49
    assert expected(apart, [60, 30, 30]) == pytest.approx(120, rel=1e-5)
    assert expected(cr.uniform(), [2, 1]) == pytest.approx(7 / 3, rel=0.02)  # so few are not many


def test_arrival_is_for_node_ordering_and_random_by_default():
    model = cr.dist1(0.3)
    assert cr.expected_queries(model, [5, 4], "node", arrival="random") == cr.expected_queries(model, [5, 4], "node")
    assert expected(model, [40, 4]) != pytest.approx(cr.expected_queries(model, [40, 4], "node"), rel=0.01)
    with pytest.raises(ValueError, match="arrival must be 'random' or 'expected size', not 'expected-size'"):
        cr.expected_queries(model, [5, 4], "node", arrival="expected-size")
    for arrival in ("random", "expected size"):
        with pytest.raises(ValueError, match="edge ordering has no arrival order"):
            cr.expected_queries(model, [5, 4], arrival=arrival)
