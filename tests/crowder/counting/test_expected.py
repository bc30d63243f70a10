"""Expected counts: random graphs against every graph, the counts against fractions, closed forms and more nodes.

Chapters compare them with data sets that are drawn, and with their bounds.
"""

from fractions import Fraction
from itertools import combinations, product

import in_fractions
import numpy as np
import pytest
from naive import components

import crowder as cr
from crowder.counting.expected import component_numbers, expected_across, log_connected
from crowder.models import StepDensity

BOTH = pytest.mark.parametrize("ordering", ["edge", "node"])


def connected(m, p):
    return np.exp(log_connected(m, np.array([p]))[0])


# --- Random graphs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 50), Fraction(1, 3), Fraction(9, 10), Fraction(1)])
def test_component_numbers_are_those_of_all_graphs_on_up_to_five_vertices(p):
    for m in range(1, 6):
        pairs, expected = list(combinations(range(m), 2)), [Fraction(0)] * m
        for present in product((False, True), repeat=len(pairs)):
            edges = [pair for pair, there in zip(pairs, present, strict=True) if there]
            for part in components(range(m), edges):
                expected[len(part) - 1] += p ** len(edges) * (1 - p) ** (len(pairs) - len(edges))
        assert component_numbers(m, float(p)) == pytest.approx(np.array(expected, dtype=float), rel=1e-13)
        # The whole graph is one component exactly when it is connected.
        assert connected(m, float(p))[-1] == pytest.approx(float(expected[-1]), rel=1e-13)


@pytest.mark.parametrize("p", [Fraction(1, 7), Fraction(1, 1000), Fraction(2, 3)])
def test_the_recursion_of_positive_terms_is_the_one_that_subtracts(p):
    """At p = 1/1000 forty vertices are connected with probability 2e-60, which subtraction in floats cannot tell."""
    exact = in_fractions.connected(40, p)[1:]
    assert np.allclose(connected(40, float(p)), np.array(exact, dtype=float), rtol=1e-12, atol=0)
    assert p != Fraction(1, 1000) or abs(in_fractions.connected(40, 0.001)[-1]) > 1e-20 > 1e-55 > exact[-1]


@pytest.mark.parametrize("m", [2, 50, 500, 2000])
@pytest.mark.parametrize("c", [0.0, 1e-6, 0.5, 1.0, 1.3, 8.0, 40.0, 1e9])
def test_component_sizes_add_up_to_all_vertices(m, c):
    """Nothing is lost to overflow, underflow or sums by panels, sparse or dense; a vertex is alone with (1-p)^(m-1)."""
    p = min(1.0, c / m)
    numbers = component_numbers(m, p)
    assert numbers @ np.arange(1, m + 1) == pytest.approx(m, rel=1e-9)
    assert (numbers >= 0).all() and np.isfinite(numbers).all()
    assert numbers[0] == pytest.approx(m * (1 - p) ** (m - 1), rel=1e-9, abs=1e-30)


# --- Expected counts -----------------------------------------------------------------------------------------------


def random_density(rng):
    """Steps at random in fractions, zero heights among them."""
    inner = sorted({Fraction(int(x), 1000) for x in rng.integers(1, 1000, rng.integers(0, 4))})
    edges = [Fraction(0), *inner, Fraction(1)]
    heights = [Fraction(int(h), 100) for h in rng.integers(0, 100, len(inner) + 1) * (rng.random(len(inner) + 1) < 0.7)]
    heights[0] += not any(heights)
    mass = sum(h * (b - a) for h, a, b in zip(heights, edges, edges[1:], strict=False))
    return StepDensity(edges, [h / mass for h in heights])


@BOTH
@pytest.mark.parametrize("seed", range(12))
def test_random_models_against_fractions(seed, ordering):
    rng = np.random.default_rng(seed)
    model = cr.SimilarityModel(random_density(rng), random_density(rng))
    sizes = rng.choice([1, 1, 2, 3, 4, 5], size=rng.integers(1, 5)).tolist()
    exact = cr.expected_queries_exact(model, sizes, ordering)
    assert cr.expected_queries(model, sizes, ordering) == pytest.approx(float(exact), rel=1e-11)


#: What is hard for a quadrature: peaks near the top, supports that hardly meet, steps that are missing.
HARD = {
    "dist2, tiny epsilon": (cr.dist2(0.01), [500, 500]),
    "dist2, larger": (cr.dist2(0.2), [200, 200, 1]),
    "dist1, one half": (cr.dist1(0.5), [200] * 3),
    "uniform": (cr.uniform(), [200, 200]),
    "no green on top": (cr.SimilarityModel.from_steps((0, 0.5, 0.9, 1), (1, 1.25, 0), (0.5, 1.5, 1.5)), [200, 60, 60]),
    "red on top of all green": (cr.SimilarityModel.from_steps((0, 0.6, 1), (1 / 0.6, 0), (0, 2.5)), [300, 200]),
    "a little red on top": (cr.SimilarityModel.from_steps((0, 0.99, 1), (0, 100), (0.999 / 0.99, 0.1)), [400, 20]),
    "steep": (cr.SimilarityModel.from_steps((0, 0.999, 1), (0.5 / 0.999, 500), (1, 1)), [500, 500, 2]),
    "lone records": (cr.dist1(0.25), [1] * 30),
    "one giant": (cr.dist1(0.25), [200] + [1] * 30),
}


@BOTH
@pytest.mark.parametrize("case", HARD)
def test_more_nodes_change_nothing(case, ordering):
    model, sizes = HARD[case]
    few, many = (cr.expected_queries(model, sizes, ordering, nodes=nodes) for nodes in (60, 120))
    assert few == pytest.approx(many, rel=1e-12)
    assert cr.expected_queries(model, sizes, ordering) == pytest.approx(few, rel=1e-10)
    assert cr.expected_queries(model, sizes, ordering, nodes=12) == pytest.approx(few, rel=1e-6)
    assert cr.ideal_queries(sizes) * (1 - 1e-12) <= few <= sum(sizes) * (sum(sizes) - 1) / 2 + 1e-9


PERFECT = cr.SimilarityModel.from_steps((0, 0.5, 1), (0, 2), (2, 0))
UPSIDE_DOWN = cr.SimilarityModel.from_steps((0, 0.5, 1), (2, 0), (0, 2))


@pytest.mark.parametrize(("model", "ordering", "between"), [
    (cr.uniform(), "node", lambda a, b: 2 * a * b / (a + b)),  # the chapter on exact counts derives it
    (PERFECT, "edge", lambda a, b: 1),  # one question settles two clusters
    (PERFECT, "node", lambda a, b: 1),
    (UPSIDE_DOWN, "edge", lambda a, b: a * b),  # all non-matches come first
], ids=["uniform, node", "perfect, edge", "perfect, node", "upside down, edge"])  # fmt: skip
def test_closed_forms(model, ordering, between):
    sizes = [300, 40, 40, 7, 1] if ordering == "edge" or model is not PERFECT else [1, 1, 1]
    pairs = sum(between(a, b) for a, b in combinations(sizes, 2))
    expected = sum(sizes) - len(sizes) + pairs
    assert cr.expected_queries(model, sizes, ordering) == pytest.approx(expected, rel=1e-12)


@BOTH
def test_one_record_against_a_cluster_of_b_takes_2b_over_b_plus_1_questions(ordering):
    """Without information only the place of its most similar record among the b counts."""
    for b in (1, 2, 10, 300):
        assert expected_across(cr.uniform(), 1, b, ordering) == pytest.approx(2 * b / (b + 1), rel=1e-10)


def test_the_count_of_a_million_records_lies_between_the_limits():
    """1,000 clusters of 1,000: between the limits of `crowder.counting.limits` and 2nk."""
    count = cr.expected_queries(cr.dist1(0.3), [1000] * 1000)
    assert 0.4 < count / 1e9 < 0.45  # edge_limit(0.7/1.3) / 2 is 0.418
