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
    simulation,
    trend,
)
from crowder.beyond.member_votes import MemberVote, prob_placed_correctly
from crowder.beyond.wrong_answers import damage, precision_recall, wrong_once
from crowder.voting import expected_answers, log_majority_error, majority_error, run_failure, votes_needed

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
def _patterns_agree():
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
    yield also(_patterns_agree())
    yield also(bounded("$e_r$ over the upper bound, 0.001 ≤ p ≤ 0.499, r ≤ 1001", np.exp(exact - high), 1))
    yield also(bounded("the lower bound over $e_r$, same range", np.exp(high + np.log(2 / (n + 1)) - exact), 1))
    yield also(bounded("the upper bound over Hoeffding's", np.exp(high + 2 * n * (0.5 - x) ** 2), 1))


# --- votes for a whole run -----------------------------------------------------------------------------------------


def _votes_by_definition(p, questions, allowed, exact=False):
    """The least number of votes by its definition: the first odd number that is enough, in fractions."""
    votes = 1
    while True:
        bad = sum(comb(votes, w) * p**w * (1 - p) ** (votes - w) for w in range(votes // 2 + 1, votes + 1))
        if (1 - (1 - bad) ** questions if exact else questions * bad) <= allowed:
            return votes
        votes += 2


def _few(rates):
    return [(rate, 10**d) for rate in rates if rate < 0.35 for d in (0, 2, 4)]


def _votes_agree(rates, failure):
    return agreement(
        "the least number of votes against its definition, in fractions",
        [votes_needed(*point, failure) for point in _few(rates)],
        [_votes_by_definition(Fraction(str(rate)), q, Fraction(str(failure))) for rate, q in _few(rates)],
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
    yield _votes_agree(rates, failure)
    yield from _two_sided(rates, failure)
    yield also(_patterns_agree())


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
    affects="crowds that err at least half of the time.",
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
    yield counterexample(
        "three votes instead of one, $p = 3/5$: their error probability, which should not be larger",
        value=three,
        relation="at most",
        printed=one,
    )
    yield corrected(_votes_agree(rates, failure))
    yield from map(corrected, _two_sided(rates, failure))
    yield corrected(also(_patterns_agree()))
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


def _any_wrong(Q, e):
    """The probability that any of Q votes is wrong, summed over all patterns."""
    return sum(e ** sum(w) * (1 - e) ** (Q - sum(w)) for w in product([True, False], repeat=Q) if any(w))


@claim(
    "B95",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""Of $Q$ independent votes at least one errs with probability $1 - (1-e)^Q$, which is at most $Qe$ and
         smaller by at most $\binom Q2 e^2$; the union bound requires at most two votes more than necessary, where $4pq
         \le \delta/\ln\frac1{1-\delta}$.""",
    code=[run_failure, votes_needed, majority_error],
    test=[
        "test_voting.py::test_a_run_fails_when_one_of_its_votes_does",
        "test_voting.py::test_votes_by_the_exact_condition",
    ],
)
def union_bound_is_nearly_exact(surplus=None, rates=WRONG, failure=FAILURE):
    if surplus is None:
        settings = [(0.1, 10**d, chance) for d in (0, 2, 4) for chance in (failure, 0.1)]
        surplus = [votes_needed(*at) - votes_needed(*at, exact=True) for at in settings]
    p, r = sp.symbols("p r", positive=True)
    q, h = 1 - p, sp.Symbol("h", positive=True, integer=True)
    step = sp.binomial(2 * h - 1, h) * (p * q) ** h * (q - p)  # e_r - e_{r+2}, where r = 2h - 1
    growth = sp.combsimp(step.subs(h, h + 1) / step) - (4 * p * q * (r + 2) / (r + 3)).subs(r, 2 * h - 1)
    near = [(rate, Q, chance) for rate, Q in _few(rates) if Q <= 100 for chance in (failure, 0.5)]
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
        [_votes_by_definition(Fraction(str(rate)), Q, Fraction(str(chance)), exact=True) for rate, Q, chance in near],
    )
    yield cases(
        "the union bound requires the same number or two more",
        *(bool(extra in (0, 2)) for extra in surplus),
        where=f"{len(surplus)} settings",
    )
    yield also(identity("each step is $4pq\\frac{r+2}{r+3}$ times the previous one", growth))
    yield also(
        agreement(
            "the steps of $e_r$, from all patterns, in fractions",
            [comb(n, (n + 1) // 2) * (x * (1 - x)) ** ((n + 1) // 2) * (1 - 2 * x) for n in ODD[:-1] for x in RATES],
            [majority_by_patterns(n, x) - majority_by_patterns(n + 2, x) for n in ODD[:-1] for x in RATES],
        )
    )
    yield also(_patterns_agree())


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


@claim(
    "B96",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""A vote of $r$ that stops when it is decided takes an expected $E[N_r] \le \min(r, \frac{r+1}{2(1-p)})$
         answers, with a closed formula, and a run $E[Q]\,E[N_r]$.""",
    code=[expected_answers, cr.MajorityVote],
    test=[
        "test_voting.py::test_answers_of_a_vote_that_stops_when_it_is_decided",
        "test_voting.py::test_an_early_end_saves_at_most_what_wald_allows",
        "test_oracles.py::test_an_early_end_saves_votes_and_changes_no_answer",
    ],
)
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
    yield agreement(
        f"the formula against a recursion over answers, up to {ODD[-1]} votes, in fractions",
        [expected_answers(n, x) for n in ODD for x in RATES],
        [_early_stopping_moments(n, x)[0] for n in ODD for x in RATES],
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


# --- wrong answers in a run ----------------------------------------------------------------------------------------

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


@claim(
    "B92",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""A run that would ask a perfect crowd $Q$ questions finds the right clusters with probability exactly
         $(1-e)^Q$ when each answer is wrong with probability $e$, independently.""",
    code=[cr.EdgeOrdering, cr.NodeOrdering],
    test="test_voting.py::test_a_run_comes_out_right_exactly_when_no_answer_is_wrong",
)
def prob_of_a_correct_run(small=None, p=Fraction(1, 10), whole=None, runs=200):
    small = small or [_all_sequences(order, p) for order in ORDERS.values()]
    whole = _few_whole(runs) if whole is None else whole
    yield agreement(
        "all sequences of answers for Figure 1, good and bad order, $p = 1/10$, in fractions",
        [chance for chance, _ in small],
        [(1 - p) ** questions for _, questions in small],
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
    yield agreement(
        "the formulas against a count of all pairs, a mistake at every place, both orderings, in fractions",
        by_formula,
        by_count,
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


# --- errors that persist -------------------------------------------------------------------------------------------


def _pattern(votes, wrong, p):
    """The probability of so many wrong votes."""
    return comb(votes, wrong) * p**wrong * (1 - p) ** (votes - wrong)


def _majority_of_even(votes, p):
    """The error of a majority of an even number of votes, with a coin for a tie."""
    half = votes // 2
    return sum(_pattern(votes, w, p) for w in range(half + 1, votes + 1)) + _pattern(votes, half, p) / 2


def best_test_error(members, p):
    """Error of the best test between two equally likely clusters: half the overlap of the distributions of all
    answers."""
    total = 0
    for yes in product([0, 1], repeat=2 * members):
        here = yes[:members].count(1) + yes[members:].count(0)  # answers in favour of the first cluster
        first, second = ((1 - p) ** a * p ** (2 * members - a) for a in (here, 2 * members - here))
        total += min(first, second) / 2
    return total


@claim(
    "B93",
    proof="10-faulty-crowd#prop-faulty-stay",
    prose="that the answers are votes for one of two clusters, and that a tie is as good as one vote less",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""If errors are persistent, the answers of all members of two clusters of $m$ records place a record
         with an error probability of exactly $e_{2m-1}$, that of $2m - 1$ independent votes, which is never zero.""",
    code=majority_error,
    test="test_voting.py::test_the_members_of_two_clusters_are_worth_one_vote_less_than_they_are",
)
def members_count_as_independent_votes(members=3):
    rates = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
    tried = [(m, chance) for m in range(1, members + 1) for chance in rates]
    errors = [best_test_error(*case) for case in tried]
    ten = {5: "ten", 3: "six"}.get(members, 2 * members)
    p = sp.Symbol("p", positive=True)
    yield identity(
        f"a majority of $2m$ votes, a tie broken by a coin, is one of $2m - 1$: $m$ up to {members}, every $p$",
        *(_majority_of_even(2 * m, p) - sum(_pattern(2 * m - 1, w, p) for w in range(m, 2 * m))
          for m in range(1, members + 1)),
    )  # fmt: skip
    yield also(
        agreement(
            f"the overlap of the two distributions over all patterns of up to {ten} answers, in fractions",
            errors,
            [majority_error(2 * m - 1, c) for m, c in tried],
        )
    )
    yield also(
        cases(
            "it is at least $p^{2m-1}$, hence positive",
            *(error >= c ** (2 * m - 1) > 0 for error, (m, c) in zip(errors, tried, strict=True)),
            where=f"three error rates, all $m$ up to {members}",
        )
    )
    yield also(_patterns_agree())


def _transcript(data, kind, votes, stays, seed):
    """All questions, answers and clusters of a run in one list, its number of answers, and of questions."""
    crowd = cr.MajorityVote(cr.Faulty(cr.Truth(data.labels), 0.1, rng=seed, persistent=stays), votes)
    end = kind(data.similarity, rng=seed).run(crowd)
    return [*end.queries.ravel().tolist(), *end.answers.tolist(), *end.clusters.tolist()], crowd.asked, end.n_queries


@claim(
    "B99",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""If errors are persistent, votes of any size lead to the same questions, answers and clusters as single
         answers, at $r$ times the cost.""",
    code=[cr.Faulty, cr.MajorityVote],
    test="test_oracles.py::test_votes_do_not_help_against_errors_that_repeat",
)
def votes_do_not_help_against_persistent_errors(data=None, votes=9, seed=1):
    rng = np.random.default_rng(1)
    data = data or [cr.datasets.synthetic([6, 5, 4], cr.dist2(0.2), rng=rng, shuffle=True) for _ in range(2)]
    runs = [[_transcript(one, kind, r, True, seed) for r in (1, votes)] for one in data for kind in ORDERINGS.values()]
    persistent = cr.Faulty(cr.Truth([0] * 30), 0.3, rng=seed, persistent=True)
    same = [
        {persistent.vote(i, j, t) for t in range(votes)} | {persistent.vote(j, i, 0)}
        for i, j in combinations(range(30), 2)
    ]
    yield agreement(
        f"questions, answers and clusters with {votes} votes and with one, {len(runs)} runs",
        [x for _, many in runs for x in many[0]],
        [x for one, _ in runs for x in one[0]],
    )
    yield agreement("the number of answers", [many[1] for _, many in runs], [votes * one[2] for one, _ in runs])
    yield cases(
        "each pair always gets the same answer, right or wrong",
        *(len(s) == 1 for s in same),
        {True} in same,
        {False} in same,
        where=f"all pairs of 30 records, {votes} votes",
    )
    yield also(
        cases(
            "independent errors do change with repetition",
            *(
                _transcript(one, cr.EdgeOrdering, votes, False, seed)[0]
                != _transcript(one, cr.EdgeOrdering, 1, False, seed)[0]
                for one in data
            ),
            where=f"{len(data)} data sets",
        )
    )


def _by_answers(e, k):
    """Over all positions of its own cluster and patterns of wrong votes: correct if the first "same" is its own."""
    total = 0
    for own, wrong in product(range(k), product([True, False], repeat=k)):
        yes = [w != (place == own) for place, w in enumerate(wrong)]
        total += (True in yes and yes.index(True) == own) * e ** sum(wrong) * (1 - e) ** (k - sum(wrong)) / k
    return total


def _placed_correctly(votes, p, known, each, rng):
    """Whether one new record is placed correctly by votes of the members of known clusters."""
    labels = np.append(np.repeat(np.arange(known), each), 0)
    new, truth = len(labels) - 1, cr.Truth(labels)
    run = cr.NodeOrdering(rng.random(comb(len(labels), 2)), rng=rng, order=range(len(labels)))
    crowd = MemberVote(cr.Faulty(truth, p, rng=rng, persistent=True), votes)
    crowd.begin(run)
    while (pair := run.ask()) is not None:
        run.tell(pair, crowd(*pair) if new in pair else truth(*pair))
    return bool(run.resolution.clusters[new] == run.resolution.clusters[0])


@claim(
    "B98",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""If errors are persistent, a new record that is compared with $r$ members of each of $k$ known
         clusters, in random order, is placed correctly with probability $(1-e_r)\frac{1-(1-e_r)^k}{k\,e_r}$.""",
    code=[prob_placed_correctly, MemberVote],
    test=[
        "test_member_votes.py::test_prob_placed_correctly_by_every_pattern",
        "test_member_votes.py::test_a_new_record_is_placed_as_often_as_the_formula_says",
    ],
)
def prob_of_correct_placement(placed=None, p=0.2, known=3, size=200):
    if placed is None:
        rng = np.random.default_rng(1)
        placed = {votes: np.mean([_placed_correctly(votes, p, known, 3, rng) for _ in range(size)]) for votes in (1, 3)}
    e, most = sp.Symbol("e", positive=True), max(placed)
    should = np.array([prob_placed_correctly(majority_error(votes, p), known) for votes in placed])
    listed = ", ".join(map(str, list(placed)[:-1]))
    yield agreement(
        "the formula against every pattern of votes, one to six clusters, in fractions",
        [prob_placed_correctly(x, k) for x in RATES for k in range(1, 7)],
        [_by_answers(x, k) for x in RATES for k in range(1, 7)],
    )
    yield also(_patterns_agree())
    yield also(
        identity(
            "the closed form, two to nine clusters",
            *(prob_placed_correctly(e, k) - (1 - e) * (1 - (1 - e) ** k) / (k * e) for k in range(2, 10)),
        )
    )
    yield also(
        simulation(
            f"`MemberVote` with {listed} and {most} members, {known} clusters, $p = {p:g}$",
            list(placed.values()),
            np.sqrt(should * (1 - should) / size),
            should,
            size=size,
            limit=LIMIT,
        )
    )
