"""Expected counts in fractions against every order of a few records: equal, not close."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod

import in_fractions
import pytest
import sympy as sp
from naive import labels_of, splits
from reference import ask_in_order

import crowder as cr
from crowder.counting.small_cases import orders_by_questions
from crowder.models import StepDensity

HALF, QUARTER, THIRD = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)
BOTH = pytest.mark.parametrize("ordering", ["edge", "node"])

#: The paper's; edges that differ, zero heights, red above all green, green above all red, a step with neither.
MODELS = {
    "dist1": cr.dist1(THIRD),
    "dist2": cr.dist2(Fraction(1, 5)),
    "edges differ": cr.SimilarityModel(
        StepDensity((0, THIRD, 1), (HALF, Fraction(5, 4))), StepDensity((0, HALF, 1), (Fraction(3, 2), HALF))
    ),
    "red on top": cr.SimilarityModel.from_steps((0, HALF, 1), (2, 0), (0, 2)),
    "red among and above": cr.SimilarityModel.from_steps((0, QUARTER, HALF, 1), (0, 4, 0), (0, 2, 1)),
    "a gap": cr.SimilarityModel.from_steps((0, QUARTER, 3 * QUARTER, 1), (2, 0, 2), (3, 0, 1)),
    "perfect": cr.SimilarityModel.from_steps((0, HALF, 1), (0, 2), (2, 0)),
}


def within_steps(items, fallen):
    """All orders of the items in which those on higher steps come first."""
    steps = sorted(set(fallen), reverse=True)
    groups = [[item for item, s in zip(items, fallen, strict=True) if s == step] for step in steps]
    return [sum(parts, ()) for parts in product(*map(permutations, groups))]


def edge_mean(labels, green, red):
    """Over the steps of the pairs, of masses `green` and `red`, and the orders within steps."""
    pairs, total = list(combinations(range(len(labels)), 2)), 0

    def truth(i, j):
        return labels[i] == labels[j]

    for fallen in product(range(len(green)), repeat=len(pairs)):
        chance = prod((green if truth(i, j) else red)[s] for (i, j), s in zip(pairs, fallen, strict=True))
        if chance:
            counts = [len(ask_in_order(order, len(labels), truth)) for order in within_steps(pairs, fallen)]
            total += chance * Fraction(sum(counts), len(counts))
    return total


def node_mean(labels, green, red):
    """Over all arrival orders, all steps of the pairs, and all orders within steps."""
    total = 0
    for arrivals in permutations(range(len(labels))):
        for at, own in enumerate(labels[v] for v in arrivals):
            earlier = [labels[u] for u in arrivals[:at]]
            for fallen in product(range(len(green)), repeat=at):
                chance = prod((green if label == own else red)[s] for label, s in zip(earlier, fallen, strict=True))
                # the clusters up to its own, in this order of the clusters of the earlier records
                counts = [len({*(order[: order.index(own) + 1] if own in order else order)})
                          for order in within_steps(earlier, fallen)]  # fmt: skip
                total += chance * Fraction(sum(counts), len(counts))
    return total / factorial(len(labels))


@pytest.mark.parametrize("sizes", [sizes for n in range(1, 6) for sizes in splits(n)], ids=str)
def test_uniform_counts_are_the_means_over_all_orders(sizes):
    labels = labels_of(sizes)
    counts = orders_by_questions(labels)
    mean = Fraction(sum(q * orders for q, orders in counts.items()), sum(counts.values()))
    assert cr.expected_queries_exact(cr.uniform(), sizes) == mean
    assert cr.expected_queries_exact(cr.uniform(), sizes, "node") == node_mean(labels, (1,), (1,))


@BOTH
@pytest.mark.parametrize("sizes", [[1, 1], [2, 1], [2, 2], [3, 1], [1, 1, 1], [2, 1, 1]], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_counts_of_a_model_are_the_means_over_steps_and_orders(name, sizes, ordering):
    green, red = zip(*(mass for _, _, *mass in in_fractions.steps(MODELS[name])), strict=True)
    expected = {"edge": edge_mean, "node": node_mean}[ordering](labels_of(sizes), green, red)
    assert cr.expected_queries_exact(MODELS[name], sizes, ordering) == expected


@BOTH
def test_few_records_and_numbers_of_sympy(ordering):
    found = [cr.expected_queries_exact(cr.uniform(), sizes, ordering) for sizes in ([], [1], [4])]
    assert found == [0, 0, 3]  # one cluster: its matches alone
    ours, of_sympy = (cr.expected_queries_exact(cr.dist1(x), [3, 2], ordering) for x in (THIRD, sp.Rational(1, 3)))
    assert ours == of_sympy


def test_what_is_not_exact_is_refused():
    with pytest.raises(ValueError, match="whole numbers or fractions"):
        cr.expected_queries_exact(cr.dist1(0.25), [2, 1])
    near = cr.SimilarityModel.from_steps((0, HALF, 1), (1, 1), (1, 1 + Fraction(1, 10**12)))
    with pytest.raises(ValueError, match="f_r has"):
        cr.expected_queries_exact(near, [2, 1])
