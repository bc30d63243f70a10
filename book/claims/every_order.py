"""The mean over all orders of the pairs, for the claims of the appendix on readings."""

from itertools import combinations, permutations, product
from math import factorial, prod

import sympy as sp

import crowder as cr

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
