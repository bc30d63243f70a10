"""Expected counts in floats: against fractions, against simulation, against themselves with more nodes."""

import time
from fractions import Fraction

import numpy as np
import pytest

import crowder as cr
from crowder.counting.expected_counts import expected_across
from crowder.densities import StepDensity

TABLE1 = [200] * 2 + [100] * 4 + [50] * 8
ROWS = [cr.dist1(1 / d) for d in (2, 3, 4, 5, 10, 20)] + [cr.dist2(1 / d) for d in (5, 10, 20)]
BOTH = pytest.mark.parametrize("ordering", ["edge", "node"])

#: What is hard for a quadrature: peaks near the top, supports that hardly meet, steps that are missing.
HARD = {
    "dist2, tiny epsilon": (cr.dist2(0.01), [500, 500]),
    "dist2, larger": (cr.dist2(0.2), [500, 500, 1]),
    "dist1, one half": (cr.dist1(0.5), [500] * 3),
    "uniform": (cr.uniform(), [500, 500]),
    "no green on top": (cr.SimilarityModel.from_steps((0, 0.5, 0.9, 1), (1, 1.25, 0), (0.5, 1.5, 1.5)), [500, 60, 60]),
    "red on top of all green": (cr.SimilarityModel.from_steps((0, 0.6, 1), (1 / 0.6, 0), (0, 2.5)), [300, 200]),
    "a little red on top": (cr.SimilarityModel.from_steps((0, 0.99, 1), (0, 100), (0.999 / 0.99, 0.1)), [400, 20]),
    "steep": (cr.SimilarityModel.from_steps((0, 0.999, 1), (0.5 / 0.999, 500), (1, 1)), [500, 500, 2]),
    "lone records": (cr.dist1(0.25), [1] * 30),
    "one giant": (cr.dist1(0.25), [500] + [1] * 30),
}


def random_density(rng):
    edges = np.concatenate([[0], np.sort(rng.random(rng.integers(0, 4))), [1]])
    heights = rng.random(len(edges) - 1) * (rng.random(len(edges) - 1) < 0.7)
    heights[rng.integers(len(heights))] += 0.1
    return edges, heights / (heights @ np.diff(edges))


@BOTH
@pytest.mark.parametrize("seed", range(12))
def test_random_models_against_fractions(seed, ordering):
    """Steps at random, f_g and f_r with other edges, zero heights among them: the two arithmetics agree."""
    rng = np.random.default_rng(seed)
    densities = []
    for edges, heights in (random_density(rng), random_density(rng)):
        edges = [Fraction(0), *(Fraction(round(x * 1000), 1000) for x in edges[1:-1]), Fraction(1)]
        edges = sorted(set(edges))
        heights = [Fraction(round(h * 100), 100) for h in heights[: len(edges) - 1]]
        if not any(heights):
            heights[0] = Fraction(1)
        mass = sum(h * (b - a) for h, a, b in zip(heights, edges, edges[1:], strict=False))
        densities.append(StepDensity(edges, [h / mass for h in heights]))
    model = cr.SimilarityModel(*densities)
    sizes = rng.choice([1, 1, 2, 3, 4, 5], size=rng.integers(1, 5)).tolist()
    exact = cr.expected_queries_exact(model, sizes, ordering)
    assert cr.expected_queries(model, sizes, ordering) == pytest.approx(float(exact), rel=1e-11)


def test_node_ordering_without_information_is_in_closed_form():
    """Between clusters of a and b, 2ab/(a+b) non-matches: the chapter on exact counts derives it."""
    sizes = [300, 40, 40, 7, 1]
    between = sum(2 * a * b / (a + b) for i, a in enumerate(sizes) for b in sizes[:i])
    assert cr.expected_queries(cr.uniform(), sizes, "node") == pytest.approx(sum(sizes) - 5 + between, rel=1e-12)


def test_node_ordering_stays_under_its_bounds():
    """With F_g ≤ F_r at most what no information asks, 2ab/(a+b); always at most min(a, 1/p) + min(b, 1/p), where p is
    the share of matches above all non-matches: p m matches, on average, come before any of them."""
    for model, share in ((cr.dist1(0.4), 0), (cr.dist2(0.1), 0.1 / 0.9), (cr.dist2(0.01), 0.01 / 0.99)):
        cap = 1 / share if share else float("inf")
        for a, b in ((1, 1), (3, 50), (50, 50), (200, 10), (300, 300)):
            across = expected_across(model, a, b, "node")
            assert 1 <= across + 1e-9 and across <= min(2 * a * b / (a + b), min(a, cap) + min(b, cap)) + 1e-9


def test_a_lone_record_meets_a_cluster_alike_in_both_orderings():
    """2b/(b+1) questions between one record and b others: only where it stands among the b counts."""
    for b in (1, 2, 10, 300):
        for ordering in ("edge", "node"):
            count = cr.expected_queries(cr.uniform(), [1, b], ordering)
            assert count == pytest.approx(b - 1 + 2 * b / (b + 1), rel=1e-10)


@pytest.mark.parametrize("row", range(9))
def test_table_1_is_what_simulation_gives(row):
    """Seeded, 4 standard errors; where nearly every run asks the ideal count, at least the spread of a rare event."""
    truth, runs = cr.Truth(np.repeat(np.arange(14), TABLE1)), []
    for rng in np.random.default_rng(row).spawn(6):
        data = cr.datasets.synthetic(TABLE1, ROWS[row], rng=rng)
        node = cr.node_ordering(data.similarity, truth, ties="index", order="random", rng=rng)
        runs.append((cr.edge_ordering(data.similarity, truth, ties="index").n_queries, node.n_queries))
    for ordering, counts in zip(("edge", "node"), np.array(runs).T, strict=True):
        exact = cr.expected_queries(ROWS[row], TABLE1, ordering)
        rare = max(0.0, exact - cr.ideal_queries(TABLE1)) % 1
        error = max(counts.std(ddof=1), (rare * (1 - rare)) ** 0.5, 1e-9) / len(counts) ** 0.5
        assert abs(counts.mean() - exact) < 4 * error


@BOTH
@pytest.mark.parametrize("case", HARD)
def test_more_nodes_change_nothing(case, ordering):
    model, sizes = HARD[case]
    few, many = (cr.expected_queries(model, sizes, ordering, nodes=nodes) for nodes in (60, 240))
    assert few == pytest.approx(many, rel=1e-12)
    assert cr.expected_queries(model, sizes, ordering) == pytest.approx(few, rel=1e-10)
    assert cr.expected_queries(model, sizes, ordering, nodes=12) == pytest.approx(few, rel=1e-6)
    assert cr.ideal_queries(sizes) * (1 - 1e-12) <= few <= sum(sizes) * (sum(sizes) - 1) / 2 + 1e-9


def test_perfect_similarities_ask_the_ideal_count_and_worthless_ones_everything():
    perfect = cr.SimilarityModel.from_steps((0, 0.5, 1), (0, 2), (2, 0))
    upside_down = cr.SimilarityModel.from_steps((0, 0.5, 1), (2, 0), (0, 2))
    sizes = [300, 30, 30, 2, 1]
    for ordering in ("edge", "node"):
        assert cr.expected_queries(perfect, [1, 1, 1], ordering) == pytest.approx(3, rel=1e-12)
    assert cr.expected_queries(perfect, sizes, "edge") == pytest.approx(cr.ideal_queries(sizes), rel=1e-12)
    between = sum(a * b for i, a in enumerate(sizes) for b in sizes[:i])
    assert cr.expected_queries(upside_down, sizes, "edge") == pytest.approx(sum(sizes) - 5 + between, rel=1e-12)


@pytest.mark.parametrize("c", [1.0, 2.0])
def test_large_clusters_neither_overflow_nor_vanish(c):
    """Two clusters of 2,500 with 2,500 ε = c: a few questions more than one, as `test_asymptotics` expects."""
    count = cr.expected_queries(cr.dist2(c / 2500), [2500, 2500], nodes=6) - 2 * 2499
    assert 0.1 * 2500 < count < 2500


def test_equal_clusters_are_counted_together_and_order_does_not_matter():
    apart = cr.expected_queries(cr.dist1(0.3), [7, 3, 7, 3, 7])
    assert apart == pytest.approx(cr.expected_queries(cr.dist1(0.3), np.array([3, 3, 7, 7, 7])), rel=1e-14)
    pairs = [(7, 7)] * 3 + [(3, 3)] + [(7, 3)] * 6
    between = sum(cr.expected_queries(cr.dist1(0.3), pair) - sum(pair) + 2 for pair in pairs)
    assert apart == pytest.approx(27 - 5 + between, rel=1e-12)  # pairs of clusters do not disturb each other


@BOTH
def test_across_two_clusters_is_what_is_left_of_the_matches(ordering):
    count = cr.expected_queries(cr.dist2(0.1), [9, 4], ordering)
    assert expected_across(cr.dist2(0.1), 9, 4, ordering) == pytest.approx(count - (9 - 1) - (4 - 1), rel=1e-12)


@BOTH
def test_few_clusters_ask_their_matches(ordering):
    assert cr.expected_queries(cr.dist1(0.3), [], ordering) == 0
    assert cr.expected_queries(cr.dist1(0.3), [500], ordering) == 499
    assert cr.expected_queries(cr.dist1(0.3), [1, 1, 1], ordering) == pytest.approx(3, rel=1e-12)


def test_no_log_between_two_clusters():
    """At most 4 min(m, m', 1/p) non-matches between two clusters, p the matches above all non-matches (theorem of the
    chapter on exact counts); at most 2 were ever seen."""
    cases = [(cr.uniform(), 0), (cr.dist1(0.3), 0), (cr.dist2(0.1), 0.1 / 0.9), (cr.dist2(0.01), 0.01 / 0.99)]
    for model, share in cases:
        for a in (1, 3, 10, 60):
            for b in (1, 10, 200):
                between = cr.expected_queries(model, [a, b], nodes=12) - (a + b - 2)
                assert between <= 2.0 * min(a, b, 1 / share if share else a) + 1e-9


def test_table_1_is_quick():
    cr.expected_queries(cr.dist1(0.3), [3, 2])  # compiled by now
    for ordering, limit in (("edge", 1.0), ("node", 0.1)):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            cr.expected_queries(cr.dist1(0.3), TABLE1, ordering)
            times.append(time.perf_counter() - start)
        assert min(times) < limit


def test_a_million_records():
    """1,000 clusters of 1,000: under a minute, and between the limits of `crowder.counting.asymptotics` and 2nk."""
    start = time.perf_counter()
    count = cr.expected_queries(cr.dist1(0.3), [1000] * 1000)
    assert time.perf_counter() - start < 60
    assert 0.4 < count / 1e9 < 0.45  # edge_limit(0.7/1.3) / 2 is 0.418


@pytest.mark.parametrize("sizes", [[2, 0], [-1], [1.5, 2], ["a"], [[2, 1]], [True, True]])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(ValueError, match="positive integers"):
        cr.expected_queries(cr.uniform(), sizes)


@pytest.mark.parametrize("ordering", ["vertex", "Edge", None, ["edge"]])
def test_unknown_orderings_are_refused(ordering):
    with pytest.raises(ValueError, match="ordering must be"):
        cr.expected_queries(cr.uniform(), [2, 1], ordering)


@pytest.mark.parametrize("nodes", [0, -3, 1.5, None])
def test_a_quadrature_needs_nodes(nodes):
    with pytest.raises((TypeError, ValueError), match="nodes must be"):
        cr.expected_queries(cr.uniform(), [2, 1], nodes=nodes)
