"""Claims of the chapter *A crowd that errs*."""

import copy
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    of_chapter,
    says,
    simulation,
    trend,
)
from crowder.beyond.wrong_answers import damage, precision_recall, wrong_once
from crowder.voting import log_majority_error, majority_error, votes_needed

claim, check = of_chapter(__name__)

ORDERINGS = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}
RATES = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(3, 5)]
ODD = [1, 3, 5, 7, 9]
LIMIT = 5  # standard errors; exceeded by a true mean once in two million times
WRONG = (0.1, 0.3)  # default rates of wrong answers
FAILURE = 0.01


# --- a vote --------------------------------------------------------------------------------------------------------


def majority_by_patterns(votes, p):
    """The error of a vote, from every pattern of answers and its probability."""
    patterns = product([True, False], repeat=votes)  # True where an answer is wrong
    return sum(p ** sum(w) * (1 - p) ** (votes - sum(w)) for w in patterns if 2 * sum(w) > votes)


@cache
def patterns_agree():
    return agreement(
        f"the formula against all patterns of up to {ODD[-1]} answers, in fractions",
        [majority_error(r, p) for r in ODD for p in RATES],
        [majority_by_patterns(r, p) for r in ODD for p in RATES],
    )


@claim(
    "B91",
    place="beyond the paper",
    status="holds",
    basis="proved",
    proof="10-faulty-crowd#prop-faulty-vote",
    prose="that half of all patterns have a wrong majority, and that the largest coefficient is at least the mean",
    statement=r"""The error probability of a majority of $r$ votes lies between $\sqrt{p/q}\,\rho^r/(r+1)$ and
         $\frac12\sqrt{p/q}\,\rho^r$, with $\rho = 2\sqrt{pq}$, $p < \frac12$.""",
    code=[majority_error, log_majority_error],
    test="test_voting.py::test_the_two_sided_bound_of_chapter_10",
)
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


# --- votes for a whole run -----------------------------------------------------------------------------------------


def votes_by_definition(p, questions, allowed, exact=False):
    """The least number of votes by its definition: the first odd number that is enough, in fractions."""
    votes = 1
    while True:
        bad = sum(comb(votes, w) * p**w * (1 - p) ** (votes - w) for w in range(votes // 2 + 1, votes + 1))
        if (1 - (1 - bad) ** questions if exact else questions * bad) <= allowed:
            return votes
        votes += 2


def few_settings(rates):
    return [(rate, 10**d) for rate in rates if rate < 0.35 for d in (0, 2, 4)]


def _votes_agree(rates, failure):
    return agreement(
        "the least number of votes against its definition, in fractions",
        [votes_needed(*point, failure) for point in few_settings(rates)],
        [votes_by_definition(Fraction(str(rate)), q, Fraction(str(failure))) for rate, q in few_settings(rates)],
    )


def _two_sided(rates, failure):
    grid = [(rate, 10**d) for rate in rates for d in range(13)]
    votes = np.array([votes_needed(*point, failure) for point in grid])
    rate, questions = (np.array(column, float) for column in zip(*grid, strict=True))
    drop = np.log(1 / (4 * rate * (1 - rate))) / 2  # ln(1/ρ)
    most = (np.log(questions) - np.log(2 * failure) + np.log(rate / (1 - rate)) / 2) / drop
    yield bounded(
        "this number of votes (rounded up to odd) is enough, up to 10¹² questions", votes, np.maximum(most, -1) + 2
    )
    yield bounded("fewer are not, up to the term in $\\ln r$", most - np.log((votes + 1) / 2) / drop, votes)


@claim(
    "B94",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""For $Q$ questions and a failure probability $\delta$, $2 \ln(Q/2\delta) / \ln\frac1{4pq}$ votes per
         question are enough, and fewer are not, up to a term in $\ln r$.""",
    code=votes_needed,
    test="test_voting.py::test_the_least_number_of_votes",
)
def votes_that_are_enough(rates=WRONG, failure=FAILURE):
    yield says(
        _votes_agree(rates, failure),
        f"In {len(few_settings(rates))} settings the computed number of votes is the least that is enough.",
    )
    yield from _two_sided(rates, failure)
    yield also(patterns_agree())


@cache
def _sampled(trials):
    """Simulated votes: p, r, the share of wrong ones, its standard error, and the exact error probability."""
    rng, rows = np.random.default_rng(1), []
    for p, votes in product(WRONG, (1, 3, 9)):
        exact = majority_error(votes, p)
        wrong = (2 * rng.binomial(votes, p, size=trials) > votes).mean()
        rows.append((p, votes, exact, wrong, np.sqrt(exact * (1 - exact) / trials)))
    return pd.DataFrame(rows, columns=["p", "votes", "exact", "simulated", "error"])


@claim(
    "C33",
    place="System model, the faulty crowd",
    status="holds with a caveat",
    basis="exact",
    kind="condition",
    statement=r"""If each answer is wrong with some probability strictly between 0 and 1, then the majority of
         $\Omega(\log n)$ answers per question restores the perfect oracle.""",
    corrected=r"""If each answer is wrong with probability at most $p < \frac12$, independently, $O(\log n)$ votes per
         question make all answers right with any given probability, and the order of $\log n$ is also necessary: about
         $2/\ln\frac1{4p(1-p)}$ times the logarithm of the number of questions.""",
    affects="crowds whose answers are wrong with probability one half or more.",
    touches=(),
    stands="The factor of $\\log n$ for any better crowd, which is surely meant; and all theorems.",
    code=[votes_needed, log_majority_error, majority_error],
    test=[
        "test_voting.py::test_every_pattern_of_answers",
        "test_voting.py::test_the_least_number_of_votes",
        "test_voting.py::test_votes_grow_with_the_logarithm_of_the_questions",
        "test_voting.py::test_below_one_half_more_votes_help_and_above_they_harm",
    ],
)
def majority_restores_the_perfect_oracle(
    one=None, three=None, rates=WRONG, failure=FAILURE, sampled=None, trials=20_000
):
    one, three = (majority_error(r, Fraction(3, 5)) if e is None else e for r, e in ((1, one), (3, three)))
    sampled = _sampled(trials) if sampled is None else sampled
    digits = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
    logs = np.array(digits) * np.log(10) - np.log(failure)  # ln(Q/δ)
    half = Fraction(1, 2)
    yield says(
        counterexample(
            "three votes instead of one, $p = 3/5$: their error probability, which should not be larger",
            value=three,
            relation="at most",
            printed=one,
        ),
        f"If one answer is wrong with probability {one}, a majority of three is with {three}, which is more.",
    )
    yield corrected(_votes_agree(rates, failure))
    yield from map(corrected, _two_sided(rates, failure))
    yield corrected(also(patterns_agree()))
    yield corrected(
        also(
            agreement(
                "error at $1 - p$: one minus that at $p$; and at $p = \\frac12$: one half",
                [*(majority_error(r, 1 - x) for r in ODD for x in RATES), *(majority_error(r, half) for r in ODD)],
                [*(1 - majority_error(r, x) for r in ODD for x in RATES), *[half] * len(ODD)],
            )
        )
    )
    yield corrected(
        also(
            simulation(
                f"the error probability of a vote, {len(sampled)} settings",
                sampled["simulated"],
                sampled["error"],
                sampled["exact"],
                size=trials,
                limit=LIMIT,
            )
        )
    )
    for rate in rates:
        needed = [votes_needed(rate, 10**d, failure) for d in digits]
        yield corrected(
            also(trend(f"votes against $\\ln(Q/\\delta)$, $p = {rate:g}$", logs, needed, exponent=1, within=0.1))
        )


# --- a wrong answer in a run -----------------------------------------------------------------------------------------


HIDDEN = "aaaabbbccd"


def _counted(ends, labels):
    """Precision and recall, pair by pair."""
    joined, match = ([side[i] == side[j] for i, j in combinations(range(len(side)), 2)] for side in (ends, labels))
    both = sum(j and m for j, m in zip(joined, match, strict=True))
    return [Fraction(both, sum(joined)) if any(joined) else Fraction(1), Fraction(both, sum(match))]


def _mistakes(orderings, labels) -> Iterator:
    """One wrong answer at each place of each run: the mistake, its damage and the result."""
    for ordering in orderings:
        asked = copy.deepcopy(ordering).run(cr.Truth(list(labels))).n_queries
        for mistake in wrong_once(ordering, list(labels), range(asked)):
            yield mistake, damage(mistake, list(labels)), mistake.resolution


def _few_once():
    """Precision and recall of larger runs with one mistake, by the formulas and by `Resolution`."""
    rng, rows = np.random.default_rng(2), []
    data = cr.datasets.synthetic([5, 4, 3, 1], cr.dist1(0.4), rng=rng)
    orderings = [kind(data.similarity, rng=rng) for kind in ORDERINGS.values()]
    for _, what, end in _mistakes(orderings, data.labels.tolist()):
        formula = map(float, precision_recall(what, int(data.matching.sum())))
        rows.append((*formula, end.precision(data.labels)[-1], end.recall(data.labels)[-1]))
    return pd.DataFrame(rows, columns=["formula_p", "formula_r", "precision", "recall"])


@claim(
    "B97",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""One wrong answer either splits a cluster into two parts of $a$ and $b$ records (recall $1 - ab/M$,
         precision 1), or joins parts of $a$ and $b$ records of two clusters and leaves $a'$ and $b'$ outside: precision
         $\frac{M-x}{M-x+ab}$, recall $1 - x/M$, $x = aa' + bb'$.""",
    code=[precision_recall, wrong_once, cr.Resolution],
    test=[
        "test_wrong_answers.py::test_every_place_of_a_run",
        "test_wrong_answers.py::test_a_wrong_match_can_cost_recall_too",
        "test_resolution.py::test_precision_by_hand",
        "test_resolution.py::test_precision_counts_all_pairs_inside_components",
    ],
)
def damage_of_one_wrong_answer(orderings=None, once=None, where="in runs of 13 records"):
    rng = np.random.default_rng(1)
    orderings = orderings or [kind(rng.random(comb(len(HIDDEN), 2)), rng=rng) for kind in ORDERINGS.values()]
    once = _few_once() if once is None else once
    by_formula, by_count, by_crowder, shapes = [], [], [], []
    pairs = sum(a == b for a, b in combinations(HIDDEN, 2))
    for mistake, what, end in _mistakes(orderings, HIDDEN):
        by_formula += precision_recall(what, pairs)
        by_count += _counted(end.clusters, HIDDEN)
        by_crowder += [end.precision(list(HIDDEN))[-1], end.recall(list(HIDDEN))[-1]]
        parts = {x: {end.clusters[i] for i in range(len(HIDDEN)) if HIDDEN[i] == x} for x in HIDDEN}
        hit = {HIDDEN[i] for i in mistake.pair}
        shapes += [
            all(len(ends) <= 1 + (x in hit) for x, ends in parts.items()),
            mistake.answer == (len(hit) == 2),
            mistake.answer or len(parts[min(hit)]) == 2,
        ]
    yield says(
        agreement(
            "the formulas against a count of all pairs, a mistake at every place, both orderings, in fractions",
            by_formula,
            by_count,
        ),
        f"For {len(by_formula) // 2:,} mistakes the formulas give precision and recall as counted pair by pair.",
    )
    yield agreement("`Resolution.precision` and `recall` against the same count", by_crowder, by_count, tolerance=1e-12)
    yield cases("clusters of the two records have at most two parts, all others one", *shapes,
                where="a mistake at every place, both orderings")  # fmt: skip
    yield also(
        agreement(
            f"{len(once):,} mistakes {where}",
            once[["formula_p", "formula_r"]],
            once[["precision", "recall"]],
            tolerance=1e-12,
        )
    )
