"""Claims of the chapter *Questions and transitivity*."""

from collections import Counter
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion import naive, published
from book.companion.claims import TOUCHED, agreement, also, cases, identity, of_chapter, says, simulation
from crowder.counting.enumeration import orders_by_questions, questions_of_order

__all__ = ["check"]

claim, check = of_chapter(__name__)

#: The questions of the good order in the paper, with records numbered from 0.
GOOD = [(0, 1), (1, 2), (3, 4), (0, 4)]


@claim("C01")
def figure_1(asked=None, counts=None):
    labels = cr.datasets.disney().labels
    if asked is None:
        others = [pair for pair in combinations(range(5), 2) if pair not in GOOD]
        asked = questions_of_order(GOOD + others, labels)
    counts = counts or orders_by_questions(labels)
    good, bad = published.read()["figure-1"].numbers.values()
    yield says(
        agreement(
            "the printed order, and the least and the most over all orders",
            [len(asked), min(counts), max(counts)],
            [good, good, bad],
        ),
        f"The printed order asks {len(asked)} questions; over all {sum(counts.values()):,} orders the minimum is "
        f"{min(counts)} and the maximum {max(counts)}.",
    )
    yield also(_with_and_without_the_rules(counts))
    yield also(cases("the four printed questions are asked", asked == GOOD, where="the printed order"))


@claim("C02")
def least_number_of_questions(counts=None):
    counts = counts or _counts()
    ideal = [cr.ideal_queries(sizes) for sizes in counts]
    tried = [list(_sets_of_questions(sizes)) for sizes in counts]
    i, k, m = *sp.symbols("i k", positive=True, integer=True), sp.IndexedBase("m")
    yield identity(
        "the matches within $k$ clusters of $m_i$ records, and the pairs of clusters",
        (sp.Sum(m[i] - 1, (i, 1, k)).expand().doit(), sp.Sum(m[i], (i, 1, k)) - k),
        (sp.summation(i - 1, (i, 1, k)), k * (k - 1) / 2),
    )
    complete = cases(
        "a set of questions without the required ones leaves a second clustering possible",
        *(all(enough for _, enough, settles in sets if settles) for sets in tried),
        where=f"all sets of questions, {len(counts)} partitions",
        shows=f"none of {sum(map(len, tried)):,} sets of questions settles all pairs with fewer",
    )
    yield also(
        says(
            complete,
            f"None of all {sum(map(len, tried)):,} sets of questions about two to five records settles all pairs with "
            "fewer.",
        )
    )
    yield also(
        agreement(
            "the fewest that settle all pairs, over all sets of questions",
            ideal,
            [min(size for size, _, settles in sets if settles) for sets in tried],
        )
    )
    yield also(agreement("the least over all orders", ideal, list(map(min, counts.values()))))
    large = [(50, 20, 20, 3, 1), (200,) * 2 + (100,) * 4 + (50,) * 8, (1,) * 191]
    yield also(
        agreement(
            "the formula for larger clusters, by direct summation",
            list(map(cr.ideal_queries, large)),
            [sum(m - 1 for m in sizes) + len(list(combinations(sizes, 2))) for sizes in large],
        )
    )


@claim("B01")
def largest_number_of_questions(counts=None):
    counts = counts or _counts()
    most = [sum(sizes) - len(sizes) + sum(a * b for a, b in combinations(sizes, 2)) for sizes in counts]
    m = sp.symbols("m1:7", positive=True)
    yield identity(
        "the pairs across clusters are all pairs less those within, two to six clusters",
        *(sum(a * b for a, b in combinations(m[:k], 2)) - _pairs(sum(m[:k])) + sum(map(_pairs, m[:k]))
          for k in range(2, 7)),
    )  # fmt: skip
    everywhere = f"all orders of {len(counts)} partitions"
    yield also(
        says(
            cases(
                "the maximum over all orders",
                *(max(found) == bound for found, bound in zip(counts.values(), most, strict=True)),
                where=everywhere,
                shows=f"{max(counts[3, 2])} for Figure 1",
            ),
            f"For all {len(counts)} clusterings of two to five records, the formula is the maximum over all orders.",
        )
    )
    yield also(cases("orders counted with and without the rules", *_same(counts), where=everywhere))


@claim("B02")
def two_rules_are_complete(counts=None, drawn=None):
    counts = counts or _counts()
    disney = cr.datasets.disney().labels
    figure = orders_by_questions(disney)
    yield says(
        agreement(
            f"with and without the rules, Figure 1 and {len(counts)} partitions",
            [_with_and_without_the_rules(figure).holds, *_same(counts)],
            [True] * (1 + len(counts)),
            where=f"all orders of Figure 1 and of {len(counts)} partitions",
        ),
        f"Counting with the two rules and by ruling out clusterings agrees for all {len(counts)} clusterings of two "
        "to five records.",
    )
    walked = [_walked(naive.labels_of(sizes)) for sizes in naive.splits(4)]
    yield also(
        cases(
            f"counted by what is implied, against {sum(w.total() for w in walked):,} orders one by one",
            *(
                found == orders_by_questions(naive.labels_of(sizes))
                for found, sizes in zip(walked, naive.splits(4), strict=True)
            ),
            where="all partitions of four records",
        )
    )
    drawn = _drawn(disney) if drawn is None else drawn
    orders = sum(figure.values())
    mean = sum(q * count for q, count in figure.items()) / orders
    sd = np.sqrt(sum(q * q * count for q, count in figure.items()) / orders - mean**2)
    yield also(
        simulation(
            "the mean over random orders of the pairs of Figure 1",
            np.mean(drawn),
            sd / np.sqrt(len(drawn)),
            mean,
            size=len(drawn),
        )
    )
    expected = [len(drawn) * count / orders for count in figure.values()]
    fit = stats.chisquare([list(drawn).count(q) for q in figure], expected).pvalue
    yield also(cases("chi-square test of the shares of random orders: p above $10^{-6}$", bool(fit > 1e-6),
                     where=f"{len(drawn):,} random orders", shows=f"p = {fit:.2f}"))  # fmt: skip


def _counts(records=5):
    """Orders by questions, for every partition of at most this many records."""
    return {
        sizes: orders_by_questions(naive.labels_of(sizes)) for n in range(2, records + 1) for sizes in naive.splits(n)
    }


def _pairs(m):
    return m * (m - 1) / 2


def _same(counts):
    """For each partition, whether the counts agree with those that use no rule."""
    return [found == naive.orders_by_ruling_out(naive.labels_of(sizes)) for sizes, found in counts.items()]


def _with_and_without_the_rules(counts):
    again = naive.orders_by_ruling_out("aaabb")
    tally = range(comb(5, 2) + 1)
    return agreement(
        "all orders of the pairs of Figure 1, with and without the rules",
        [*(counts.get(q, 0) for q in tally), sum(counts.values())],
        [*(again[q] for q in tally), factorial(comb(5, 2))],
    )


def _sets_of_questions(sizes):
    """For each set of questions: its size; whether it has what the proof requires; whether it settles all pairs."""
    labels = naive.labels_of(sizes)
    truth, pairs = naive.matches(labels), list(combinations(labels, 2))
    possible = [naive.matches(other) for other in naive.clusterings(len(labels))]
    for chosen in range(2 ** len(pairs)):
        asked = [pair for p, pair in enumerate(pairs) if chosen >> p & 1]
        joined = sum(a == b for a, b in asked) >= len(labels) - len(sizes)
        apart = len({frozenset(pair) for pair in asked if len(set(pair)) == 2}) == comb(len(sizes), 2)
        yield len(asked), joined and apart, not naive.undecided(chosen, truth, possible)


def _walked(labels):
    """Orders by questions, each order of the pairs taken separately."""
    pairs = list(combinations(range(len(labels)), 2))
    return Counter(len(questions_of_order(order, labels)) for order in permutations(pairs))


def _drawn(labels, sample=1000):
    """The questions of random orders."""
    pairs, rng = list(combinations(range(len(labels)), 2)), np.random.default_rng(1)
    return [len(questions_of_order(rng.permutation(pairs).tolist(), labels)) for _ in range(sample)]
