"""Claims of the appendix *What votes cost*."""

import copy
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.faulty_crowd import (
    FAILURE,
    LIMIT,
    ODD,
    ORDERINGS,
    RATES,
    WRONG,
    few_settings,
    majority_by_patterns,
    patterns_agree,
    two_sided,
    votes_agree,
    votes_by_definition,
)
from book.companion.claims import agreement, also, bounded, cases, identity, of_chapter, says, simulation
from crowder.voting import expected_answers, log_majority_error, majority_error, run_failure, votes_needed

claim, check = of_chapter(__name__)


@claim("B91")
def two_sided_bound(points=20):
    p, r, j = sp.symbols("p r j", positive=True)
    q, smallest = 1 - p, (r + 1) / 2
    pattern = sp.log(p) * j + sp.log(q) * (r - j)  # logarithm of the probability of a pattern
    rho = 2 * sp.sqrt(p * q)
    tail = sp.log(sp.sqrt(p / q)) + r * sp.log(rho) - r * sp.log(2)
    steps = [
        sp.expand_log(
            pattern.subs(j, smallest) - tail, force=True
        ),  # the smallest majority has probability √(p/q) (ρ/2)^r
        sp.diff(pattern, j) - (sp.log(p) - sp.log(q)),  # negative for p < q: another wrong answer is less likely
        sp.expand(rho**2 - (1 - (1 - 2 * p) ** 2)),
    ]
    lengths = range(1, 400, 2)
    counts = [sum(comb(n, w) for w in range(n // 2 + 1, n + 1)) == 2 ** (n - 1) for n in lengths]
    largest = [comb(n, n // 2 + 1) * (n + 1) >= 2**n for n in lengths]
    grid = [(float(x), n) for x in np.linspace(0.001, 0.499, points) for n in (1, 3, 5, 9, 21, 101, 1001)]
    exact = np.array([log_majority_error(n, x) for x, n in grid])
    x, n = (np.array(column) for column in zip(*grid, strict=True))
    high = 0.5 * np.log(x / (1 - x)) + n * np.log(4 * x * (1 - x)) / 2 - np.log(2)
    yield identity("the smallest majority, the effect of another wrong answer, and $\\rho$", *steps)
    yield also(
        cases(
            "the number of patterns and the largest binomial coefficient",
            *counts,
            *largest,
            where=f"all odd $r$ up to {lengths[-1]}",
        )
    )
    yield also(patterns_agree())
    yield also(
        says(
            bounded("$e_r$ over the upper bound, 0.001 ≤ p ≤ 0.499, r ≤ 1001", np.exp(exact - high), 1),
            f"In {len(grid):,} settings of up to {max(n):,} votes the exact error lies between the two bounds.",
        )
    )
    yield also(bounded("the lower bound over $e_r$, same range", np.exp(high + np.log(2 / (n + 1)) - exact), 1))
    yield also(bounded("the upper bound over Hoeffding's", np.exp(high + 2 * n * (0.5 - x) ** 2), 1))


@claim("B94")
def votes_that_are_enough(rates=WRONG, failure=FAILURE):
    yield says(
        votes_agree(rates, failure),
        f"In {len(few_settings(rates))} settings the computed number of votes is the least that is enough.",
    )
    yield from two_sided(rates, failure)
    yield also(patterns_agree())


def _any_wrong(Q, e):
    """The probability that any of Q votes is wrong, summed over all patterns."""
    return sum(e ** sum(w) * (1 - e) ** (Q - sum(w)) for w in product([True, False], repeat=Q) if any(w))


@claim("B95")
def union_bound_is_nearly_exact(surplus=None, rates=WRONG, failure=FAILURE):
    if surplus is None:
        settings = [(0.1, 10**d, chance) for d in (0, 2, 4) for chance in (failure, 0.1)]
        surplus = [votes_needed(*at) - votes_needed(*at, exact=True) for at in settings]
    p, r = sp.symbols("p r", positive=True)
    q, h = 1 - p, sp.Symbol("h", positive=True, integer=True)
    step = sp.binomial(2 * h - 1, h) * (p * q) ** h * (q - p)  # e_r - e_{r+2}, where r = 2h - 1
    growth = sp.combsimp(step.subs(h, h + 1) / step) - (4 * p * q * (r + 2) / (r + 3)).subs(r, 2 * h - 1)
    near = [(rate, Q, chance) for rate, Q in few_settings(rates) if Q <= 100 for chance in (failure, 0.5)]
    chances, sizes = 10.0 ** -np.arange(1, 16)[:, None], 10 ** np.arange(1, 10)
    failing = np.array([[run_failure(int(size), float(e)) for size in sizes] for e in chances[:, 0]])
    every = [_any_wrong(Q, x) for Q in range(1, 7) for x in RATES]
    yield agreement(
        "the failure probability against every pattern of up to six votes, in fractions",
        [run_failure(Q, x) for Q in range(1, 7) for x in RATES],
        every,
    )
    yield agreement(
        "the same in floats",
        [run_failure(Q, float(x)) for Q in range(1, 7) for x in RATES],
        [_any_wrong(Q, float(x)) for Q in range(1, 7) for x in RATES],
        tolerance=1e-12,
    )
    yield bounded(
        "it is at most the union bound, $10^{-15} \\le e \\le 0.1$, up to $10^9$ votes", failing, sizes * chances
    )
    yield bounded(
        "and the union bound exceeds it by at most $\\binom Q2 e^2$",
        sizes * chances - failing,
        sizes * (sizes - 1) / 2 * chances**2 + 1e-12 * sizes * chances,
    )
    yield agreement(
        "votes by the exact condition against its definition, in fractions",
        [votes_needed(*at, exact=True) for at in near],
        [votes_by_definition(Fraction(str(rate)), Q, Fraction(str(chance)), exact=True) for rate, Q, chance in near],
    )
    yield says(
        cases(
            "the union bound requires the same number or two more",
            *(bool(extra in (0, 2)) for extra in surplus),
            where=f"{len(surplus)} settings",
        ),
        f"In {len(surplus)} settings the union bound requires at most two votes more than necessary.",
    )
    yield also(identity("each step is $4pq\\frac{r+2}{r+3}$ times the previous one", growth))
    yield also(
        agreement(
            "the steps of $e_r$, from all patterns, in fractions",
            [comb(n, (n + 1) // 2) * (x * (1 - x)) ** ((n + 1) // 2) * (1 - 2 * x) for n in ODD[:-1] for x in RATES],
            [majority_by_patterns(n, x) - majority_by_patterns(n + 2, x) for n in ODD[:-1] for x in RATES],
        )
    )
    yield also(patterns_agree())


def _early_stopping_moments(votes, p):
    """Mean and variance of the answers to a vote that stops early, over the states (right, wrong)."""
    open_ends, law = {(0, 0): 1}, {}
    while open_ends:
        after = {}
        for (right, wrong), chance in open_ends.items():
            for end, share in (((right + 1, wrong), 1 - p), ((right, wrong + 1), p)):
                ended = law if 2 * max(end) > votes else after
                key = sum(end) if 2 * max(end) > votes else end
                ended[key] = ended.get(key, 0) + chance * share
        open_ends = after
    mean = sum(size * chance for size, chance in law.items())
    return mean, sum(size**2 * chance for size, chance in law.items()) - mean**2


def _few_paid(p, runs=20):
    """Votes, questions and answers of some runs of both orderings on few records."""
    rng, rows = np.random.default_rng(1), []
    for kind in ORDERINGS.values():
        put, answers = 0, 0
        for _ in range(runs):
            data = cr.datasets.synthetic([4, 3, 2], cr.dist2(0.2), rng=rng)
            crowd = cr.MajorityVote(cr.Faulty(cr.Truth(data.labels), p, rng=rng), 9, early=True)
            put += kind(data.similarity, rng=rng).run(crowd).n_queries
            answers += crowd.asked
        rows.append((9, put, answers))
    return rows


@claim("B96")
def cost_of_a_vote_that_stops_early(paid=None, error=0.2, size=20, points=6):
    paid = paid or _few_paid(error)
    halves = [(r, x) for r in (1, 3, 5, 9, 21, 101, 1001) for x in np.linspace(0.001, 0.499, points)]
    short = np.array([expected_answers(r, float(x)) for r, x in halves])
    middle = np.array([(r + 1) / 2 for r, _ in halves])
    laws = [_early_stopping_moments(votes, error) for votes, *_ in paid]
    off = [
        (answers, np.sqrt(put * variance), put * mean)
        for (_, put, answers), (mean, variance) in zip(paid, laws, strict=True)
    ]
    formula = agreement(
        f"the formula against a recursion over answers, up to {ODD[-1]} votes, in fractions",
        [expected_answers(n, x) for n in ODD for x in RATES],
        [_early_stopping_moments(n, x)[0] for n in ODD for x in RATES],
    )
    yield says(
        formula,
        f"The expected number of answers agrees with a recursion over all courses of a vote of up to {ODD[-1]}.",
    )
    yield agreement(
        "the same in floats",
        [expected_answers(n, float(x)) for n in ODD for x in RATES],
        [_early_stopping_moments(n, float(x))[0] for n in ODD for x in RATES],
        tolerance=1e-12,
    )
    yield bounded("at least $h$, 0.001 ≤ p ≤ 0.499, r ≤ 1001", middle, short)
    yield bounded(
        "at most $\\min(r, h/q)$, same range",
        short,
        np.minimum(2 * middle - 1, middle / (1 - np.array([x for _, x in halves]))),
    )
    yield also(
        simulation(
            f"all answers of {len(paid)} kinds of run, both orderings, $p = {error:g}$",
            *zip(*off, strict=True),
            size=size,
            limit=LIMIT,
        )
    )


FIVE = "aaabb"  # the places of Figure 1
PAIRS = list(combinations(range(5), 2))
ORDERS = {"good": [(0, 1), (1, 2), (3, 4), (0, 4)], "bad": [(i, j) for i, j in PAIRS if FIVE[i] != FIVE[j]]}


def _all_sequences(order, p):
    """The probability that edge ordering is correct, over all sequences of answers; questions of the correct one."""
    order, truth = order + [pair for pair in PAIRS if pair not in order], cr.Truth(list(FIVE))
    ordering = cr.EdgeOrdering([1 - order.index(pair) / 20 for pair in PAIRS], ties="index")
    total, courses = 0, [(ordering, 1)]
    while courses:
        run, chance = courses.pop()
        if (pair := run.ask()) is None:
            total += chance * int(np.array_equal(run.resolution.clusters, truth.labels))
            continue
        for same in (True, False):
            branch = copy.deepcopy(run)
            branch.tell(pair, same)
            courses.append((branch, chance * (1 - p if same == truth(*pair) else p)))
    return total, copy.deepcopy(ordering).run(truth).n_queries


def _few_whole(runs):
    """Simulated runs of few records, and the probability that they are correct."""
    rng, rows = np.random.default_rng(1), []
    data = cr.datasets.synthetic([3, 2, 1], cr.dist2(0.2), rng=rng)
    truth = cr.Truth(data.labels)
    for ordering, kind in ORDERINGS.items():
        fresh = kind(data.similarity, rng=0)
        perfect, right = copy.deepcopy(fresh).run(truth), 0
        for _ in range(runs):
            found = copy.deepcopy(fresh).run(lambda i, j: truth(i, j) != (rng.random() < 0.1))
            right += np.array_equal(found.clusters, perfect.clusters)
        exact = 0.9**perfect.n_queries
        rows.append((ordering, right / runs, exact, np.sqrt(exact * (1 - exact) / runs)))
    return pd.DataFrame(rows, columns=["ordering", "simulated", "exact", "error"])


@claim("B92")
def prob_of_a_correct_run(small=None, p=Fraction(1, 10), whole=None, runs=200):
    small = small or [_all_sequences(order, p) for order in ORDERS.values()]
    whole = _few_whole(runs) if whole is None else whole
    yield says(
        agreement(
            "all sequences of answers for Figure 1, good and bad order, $p = 1/10$, in fractions",
            [chance for chance, _ in small],
            [(1 - p) ** questions for _, questions in small],
        ),
        "For five records and two orders, summing over all sequences of answers gives exactly this probability.",
    )
    yield also(
        simulation(
            "20 records, both orderings, votes of 5 to 15 at $p = 1/5$" if "votes" in whole else "six records",
            whole["simulated"],
            whole["error"],
            whole["exact"],
            size=runs,
            limit=LIMIT,
        )
    )
