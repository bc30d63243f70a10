"""Expected question counts of a few records the long way: every order of the pairs, every order of arrival.

For a model of steps: every way for the pairs to fall into steps, with its probability, and then every order within
each step, the upper step first. In whatever arithmetic the probabilities come.
"""

from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations, product
from math import factorial, prod

from crowder.counting.enumeration import questions_of_order


def masses(edges, heights):
    return [height * (right - left) for height, (left, right) in zip(heights, pairwise(edges), strict=True)]


def mean_over_orders(pairs, steps, questions):
    """Of all orders of the pairs that take the pairs of a higher step first."""
    groups = [[pair for pair, s in zip(pairs, steps, strict=True) if s == t] for t in sorted(set(steps), reverse=True)]
    counts = [questions([*chain(*parts)]) for parts in product(*map(permutations, groups))]
    return Fraction(sum(counts), len(counts))


def weighted(chances, mean):
    """The product of all chances and the mean, in their arithmetic."""
    return prod(chances) * mean.numerator / mean.denominator if any(map(_symbol, chances)) else prod(chances) * mean


def edge_mean(labels, green, red):
    """Edge ordering; masses of f_g and f_r on each step, the lowest first."""
    pairs = list(combinations(range(len(labels)), 2))
    total = 0
    for steps in product(range(len(green)), repeat=len(pairs)):
        chances = [(green if labels[i] == labels[j] else red)[s] for (i, j), s in zip(pairs, steps, strict=True)]
        if 0 not in chances:
            mean = mean_over_orders(pairs, steps, lambda order: len(questions_of_order(order, labels)))
            total += weighted(chances, mean)
    return total


def node_mean(labels, green, red):
    """Node ordering, records arriving in random order: each newcomer's pairs with the earlier ones, in every order."""
    total = 0
    for arrivals in permutations(range(len(labels))):
        for at, newcomer in enumerate(arrivals):
            earlier = arrivals[:at]

            def asked(order, own=labels[newcomer]):
                met = []
                for record in order:
                    if labels[record] not in met:
                        met.append(labels[record])
                    if labels[record] == own:
                        break
                return len(met)

            for steps in product(range(len(green)), repeat=at):
                same = [labels[record] == labels[newcomer] for record in earlier]
                chances = [(green if match else red)[s] for match, s in zip(same, steps, strict=True)]
                if 0 not in chances:
                    total += weighted(chances, mean_over_orders(earlier, steps, asked))
    return total / factorial(len(labels))


def _symbol(value):
    return not isinstance(value, (int, Fraction))
