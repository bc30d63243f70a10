"""Expected counts in fractions against every order of a few records: equal, not close."""

from fractions import Fraction

import in_fractions
import pytest
import sympy as sp

import crowder as cr
from book.claims.every_order import mean_over_orders
from book.claims.no_logarithm import masses
from book.companion.naive import labels_of, splits
from crowder.counting.enumeration import orders_by_questions
from crowder.models import steps
from crowder.theory import EPSILON

UP_TO_FIVE = [sizes for n in range(1, 6) for sizes in splits(n)]
HALF, QUARTER, THIRD = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)

#: Edges that differ, zero heights, red above all green, green above all red, a step with neither, floats nowhere.
ODD_MODELS = {
    "edges differ": cr.SimilarityModel(
        cr.densities.StepDensity((0, THIRD, 1), (HALF, Fraction(5, 4))),
        cr.densities.StepDensity((0, HALF, 1), (Fraction(3, 2), HALF)),
    ),
    "red on top": cr.SimilarityModel.from_steps((0, HALF, 1), (2, 0), (0, 2)),
    "red among and above": cr.SimilarityModel.from_steps((0, QUARTER, HALF, 1), (0, 4, 0), (0, 2, 1)),
    "a gap": cr.SimilarityModel.from_steps((0, QUARTER, 3 * QUARTER, 1), (2, 0, 2), (3, 0, 1)),
    "perfect": cr.SimilarityModel.from_steps((0, HALF, 1), (0, 2), (2, 0)),
}


def test_there_are_eighteen_partitions_of_up_to_five_records():
    assert len(UP_TO_FIVE) == 1 + 2 + 3 + 5 + 7


@pytest.mark.parametrize("sizes", UP_TO_FIVE, ids=str)
def test_uniform_counts_are_the_means_over_all_orders(sizes):
    labels = labels_of(sizes)
    counts = orders_by_questions(labels)
    mean = Fraction(sum(q * orders for q, orders in counts.items()), sum(counts.values()))
    assert cr.expected_queries_exact(cr.uniform(), sizes) == mean
    assert cr.expected_queries_exact(cr.uniform(), sizes, "node") == mean_over_orders(labels, "node")


@pytest.mark.parametrize("ordering", ["edge", "node"])
@pytest.mark.parametrize("sizes", [[2, 1], [2, 2], [3, 1], [2, 1, 1]], ids=str)
@pytest.mark.parametrize("name", ["dist1", "dist2"])
def test_dist1_and_dist2_counts_are_the_same_functions_of_epsilon(name, sizes, ordering):
    edges, green, red = steps(name, EPSILON)
    expected = mean_over_orders(labels_of(sizes), ordering, masses(edges, green), masses(edges, red))
    assert sp.cancel(cr.expected_queries_symbolic(name, sizes, ordering) - expected) == 0


@pytest.mark.parametrize("ordering", ["edge", "node"])
@pytest.mark.parametrize("sizes", [[1, 1], [2, 1], [2, 2], [3, 1], [1, 1, 1]], ids=str)
@pytest.mark.parametrize("which", ODD_MODELS)
def test_odd_models_too(which, sizes, ordering):
    model = ODD_MODELS[which]
    green, red = zip(*(mass for _, _, *mass in in_fractions.steps(model)), strict=True)
    assert sum(green) == sum(red) == 1
    expected = mean_over_orders(labels_of(sizes), ordering, green, red)
    assert cr.expected_queries_exact(model, sizes, ordering) == expected


def test_values_to_look_at():
    """The Disney records in random order: 463/84, which `orders_by_questions` gives too. One pair: one question."""
    assert cr.expected_queries_exact(cr.uniform(), [3, 2]) == Fraction(463, 84)
    assert cr.expected_queries_exact(cr.uniform(), []) == 0
    assert cr.expected_queries_exact(cr.uniform(), [1]) == 0
    assert cr.expected_queries_exact(cr.uniform(), [4]) == 3  # one cluster: its matches alone
    for ordering in ("edge", "node"):
        assert cr.expected_queries_exact(cr.dist2(THIRD), [1, 1], ordering) == 1


def test_symbols_and_numbers_agree():
    at_third = cr.expected_queries_symbolic("dist1", [3, 2]).subs(EPSILON, sp.Rational(1, 3))
    assert Fraction(int(at_third.p), int(at_third.q)) == cr.expected_queries_exact(cr.dist1(THIRD), [3, 2])
    assert cr.expected_queries_symbolic("dist1", [3, 2], epsilon=sp.Rational(1, 3)) == at_third
    assert cr.expected_queries_symbolic("uniform", [3, 2]) == sp.Rational(463, 84)


def test_what_is_not_exact_is_refused():
    with pytest.raises(ValueError, match="whole numbers or fractions"):
        cr.expected_queries_exact(cr.dist1(0.25), [2, 1])
    near = cr.SimilarityModel.from_steps((0, HALF, 1), (1, 1), (1, 1 + Fraction(1, 10**12)))
    with pytest.raises(ValueError, match="f_r has"):
        cr.expected_queries_exact(near, [2, 1])
    with pytest.raises(ValueError, match="model must be"):
        cr.expected_queries_symbolic("dist3", [2, 1])
    with pytest.raises(ValueError, match="ordering must be"):
        cr.expected_queries_symbolic("dist1", [2, 1], "vertex")
    with pytest.raises(ValueError, match="positive integers"):
        cr.expected_queries_symbolic("dist1", [2, 0])
