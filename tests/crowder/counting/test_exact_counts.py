"""Expected counts in fractions against every order of a few records: equal, not close."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod

import in_fractions
import pytest
import sympy as sp
from naive import labels_of, splits

import crowder as cr
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


def masses(edges, heights):
    return [sp.sympify(h * (b - a)) for h, (a, b) in zip(heights, pairwise(edges), strict=True)]


def mean_over_orders(labels, ordering, green=(1,), red=(1,)):
    """The expected number of questions by enumeration: over the steps of the pairs, and the orders within steps.

    `green` and `red` are the masses of the steps, from the lowest to the highest. Pairs on a higher step come first;
    within a step all orders are equally likely.
    """
    if ordering == "node":
        return _node_mean(labels, green, red)
    if len(green) > 1:
        return _edge_mean(labels, green, red)
    orders = cr.enumeration.orders_by_questions(labels)
    return sp.Rational(sum(count * many for count, many in orders.items()), sum(orders.values()))


def _within_steps(items, fallen):
    """All orders of the items in which those on higher steps come first."""
    steps = sorted(set(fallen), reverse=True)
    groups = [[item for item, s in zip(items, fallen, strict=True) if s == step] for step in steps]
    return [sum(parts, ()) for parts in product(*map(permutations, groups))]


def _edge_mean(labels, green, red):
    pairs, total = list(combinations(range(len(labels)), 2)), 0
    for fallen in product(range(len(green)), repeat=len(pairs)):
        chance = prod(
            (green if labels[i] == labels[j] else red)[s] for (i, j), s in zip(pairs, fallen, strict=True)
        )  # fmt: skip
        if chance != 0:
            orders = _within_steps(pairs, fallen)
            counts = [len(cr.enumeration.questions_of_order(order, labels)) for order in orders]
            total += chance * sp.Rational(sum(counts), len(counts))
    return total


def _node_mean(labels, green, red):
    """Over all arrival orders, all steps of the pairs, and all orders within steps."""
    total = 0
    for arrivals in permutations(range(len(labels))):
        for at, own in enumerate(labels[v] for v in arrivals):
            earlier = [labels[u] for u in arrivals[:at]]
            for fallen in product(range(len(green)), repeat=at):
                chance = prod(
                    (green if label == own else red)[s] for label, s in zip(earlier, fallen, strict=True)
                )  # fmt: skip
                counts = [_asked_of_newcomer(order, own) for order in _within_steps(earlier, fallen)]
                total += chance * sp.Rational(sum(counts), len(counts))
    return total / factorial(len(labels))


def _asked_of_newcomer(order, own):
    """The number of clusters up to its own, in this order of the clusters of the earlier records."""
    return len(set(order[: order.index(own) + 1] if own in order else order))


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
