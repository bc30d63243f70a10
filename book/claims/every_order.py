"""Claims of the appendix *Every order of a few records*."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.no_logarithm import masses
from book.companion import naive
from book.companion.claims import agreement, also, of_chapter, says
from crowder.theory import EPSILON

claim, check = of_chapter(__name__)


# --- the mean over all orders --------------------------------------------------------------------------------------


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


# --- the two formulas ----------------------------------------------------------------------------------------------


def _few_orders(most=4):
    """Formula and mean over all orders, uniform model, all partitions of at most this many records."""
    ways = [way for n in range(1, most + 1) for way in naive.splits(n)]
    small = pd.DataFrame({"clusters": ways})
    for o in ("edge", "node"):
        small[o] = [cr.expected_queries_exact(cr.uniform(), list(way), o) for way in ways]
        small[f"{o}, all orders"] = [mean_over_orders(naive.labels_of(way), o) for way in ways]
    return small


def _few_symbolic(ordering):
    """Formula and mean over all orders as functions of ε, for three records."""
    formula, enumerated = {}, {}
    for name in ("dist1", "dist2"):
        edges, green, red = cr.models.steps(name, EPSILON)
        mean = mean_over_orders((0, 0, 1), ordering, masses(edges, green), masses(edges, red))
        formula[name, (2, 1), ordering] = cr.expected_queries_symbolic(name, [2, 1], ordering)
        enumerated[name, (2, 1), ordering] = sp.cancel(mean)
    return formula, enumerated


def _random_density(rng):
    """A random density with three steps, in fractions; a height may be zero."""
    inner = sorted(Fraction(int(x), 20) for x in rng.choice(range(1, 20), 2, replace=False))
    edges = [Fraction(0), *inner, Fraction(1)]
    heights = [Fraction(int(h)) for h in rng.integers(0, 4, 3)]
    heights[rng.integers(3)] += 1
    mass = sum(h * (b - a) for h, (a, b) in zip(heights, pairwise(edges), strict=True))
    return cr.densities.StepDensity(edges, [h / mass for h in heights])


def _by_quadrature(ordering, models, seed):
    """Counts by quadrature and in fractions, for random step densities and sizes."""
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])  # the first draws Table 1
    for each, _ in product(("edge", "node"), range(models)):
        model = cr.SimilarityModel(_random_density(rng), _random_density(rng))
        sizes = rng.choice([1, 2, 3, 4, 5], 3).tolist()
        if each == ordering:
            yield cr.expected_queries(model, sizes, ordering), float(cr.expected_queries_exact(model, sizes, ordering))


def _few_hard(ordering):
    model, sizes = cr.dist2(0.05), [60, 30]
    few, many = (cr.expected_queries(model, sizes, ordering, nodes=nodes) for nodes in (24, 48))
    return pd.DataFrame([{"ordering": ordering, "few nodes": few, "many nodes": many}])


def _formula(ordering, small, symbolic, stable, quadratures, models, seed):
    small = _few_orders() if small is None else small
    formula, enumerated = _few_symbolic(ordering) if symbolic is None else symbolic
    hard = _few_hard(ordering) if stable is None else stable
    keys = [key for key in formula if key[-1] == ordering]
    hard = hard[hard["ordering"] == ordering]
    most = max(map(sum, small["clusters"]))
    said = f"For all {len(small)} partitions of up to {most} records the formula is the mean over all orders."
    piece = agreement("all orders of up to five records, uniform model, in fractions",
                      [sp.Rational(count) for count in small[ordering]], small[f"{ordering}, all orders"])  # fmt: skip
    yield says(piece, said)
    yield agreement("up to four records, Dist-1 and Dist-2, as functions of $\\epsilon$",
                    [formula[key] for key in keys], [enumerated[key] for key in keys])  # fmt: skip
    yield agreement("quadrature against fractions, random step densities",
                    *zip(*_by_quadrature(ordering, models, seed), strict=True), tolerance=1e-10,
                    relative=True)  # fmt: skip
    yield also(agreement(f"{quadratures[0]} nodes against {quadratures[1]}, clusters up to 500", hard["few nodes"],
                         hard["many nodes"], tolerance=1e-6, relative=True))  # fmt: skip


_CODE = [cr.expected_queries, cr.expected_queries_exact, cr.expected_queries_symbolic]
_TESTS = [
    "test_exact_counts.py::test_uniform_counts_are_the_means_over_all_orders",
    "test_exact_counts.py::test_dist1_and_dist2_counts_are_the_same_functions_of_epsilon",
    "test_exact_counts.py::test_odd_models_too",
    "test_expected_counts.py::test_random_models_against_fractions",
    "test_expected_counts.py::test_table_1_is_what_simulation_gives",
    "test_expected_counts.py::test_more_nodes_change_nothing",
]


@claim("B61")
def exact_count_of_edge_ordering(small=None, symbolic=None, stable=None, quadratures=(24, 48), models=4, seed=2017):
    yield from _formula("edge", small, symbolic, stable, quadratures, models, seed)


@claim("B63")
def exact_count_of_node_ordering(small=None, symbolic=None, stable=None, quadratures=(24, 48), models=4, seed=2017):
    yield from _formula("node", small, symbolic, stable, quadratures, models, seed)
