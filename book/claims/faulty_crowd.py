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
    argument,
    bounded,
    corrected,
    counterexample,
    identity,
    of_chapter,
    simulation,
    trend,
)
from crowder.beyond.member_votes import MemberVote, share_placed
from crowder.beyond.wrong_answers import damage, precision_recall, wrong_once
from crowder.voting import expected_answers, log_majority_error, majority_error, run_failure, votes_needed

claim, check = of_chapter(__name__)

ORDERINGS = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}
RATES = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(3, 5)]
ODD = [1, 3, 5, 7, 9]
LIMIT = 5  # standard errors; a true mean is so far off once in two million times
WRONG = (0.1, 0.3)  # rates of wrong answers, where the chapter hands over none
FAILURE = 0.01


# --- a vote --------------------------------------------------------------------------------------------------------


def _by_patterns(votes, p):
    "The error of a vote from scratch: every pattern of answers with its probability."
    patterns = product([True, False], repeat=votes)  # True where an answer is wrong
    return sum(p ** sum(w) * (1 - p) ** (votes - sum(w)) for w in patterns if 2 * sum(w) > votes)


@cache
def _patterns_agree():
    return agreement(
        f"the formula and all patterns of up to {ODD[-1]} answers, as fractions",
        [majority_error(r, p) for r in ODD for p in RATES],
        [_by_patterns(r, p) for r in ODD for p in RATES],
    )


@claim(
    "B91",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""The error of a majority of $r$ votes lies between $\sqrt{p/q}\,\rho^r/(r+1)$ and
         $\frac12\sqrt{p/q}\,\rho^r$, with $\rho = 2\sqrt{pq}$, $p < \frac12$.""",
    code=[majority_error, log_majority_error],
    test="test_votes.py::test_the_two_sided_bound_of_chapter_10",
)
def two_sided_bound(points=20):
    p, r, j = sp.symbols("p r j", positive=True)
    q, barest = 1 - p, (r + 1) / 2
    pattern = sp.log(p) * j + sp.log(q) * (r - j)  # logarithm of the probability of a pattern
    rho = 2 * sp.sqrt(p * q)
    tail = sp.log(sp.sqrt(p / q)) + r * sp.log(rho) - r * sp.log(2)
    steps = [
        sp.expand_log(pattern.subs(j, barest) - tail, force=True),  # the barest majority has probability √(p/q) (ρ/2)^r
        sp.diff(pattern, j) - (sp.log(p) - sp.log(q)),  # negative for p < q: one more wrong answer is less likely
        sp.expand(rho**2 - (1 - (1 - 2 * p) ** 2)),
    ]
    lengths = range(1, 400, 2)
    counts = [sum(comb(n, w) for w in range(n // 2 + 1, n + 1)) == 2 ** (n - 1) for n in lengths]
    largest = [comb(n, n // 2 + 1) * (n + 1) >= 2**n for n in lengths]
    grid = [(float(x), n) for x in np.linspace(0.001, 0.499, points) for n in (1, 3, 5, 9, 21, 101, 1001)]
    exact = np.array([log_majority_error(n, x) for x, n in grid])
    x, n = (np.array(column) for column in zip(*grid, strict=True))
    high = 0.5 * np.log(x / (1 - x)) + n * np.log(4 * x * (1 - x)) / 2 - np.log(2)
    yield identity("the barest majority, what one more wrong answer does, and $\\rho$", *steps)
    yield argument(f"half of all patterns, and the largest binomial, up to $r = {lengths[-1]}$", *counts, *largest)
    yield also(_patterns_agree())
    yield also(bounded("$e_r$ under the upper bound, 0.001 ≤ p ≤ 0.499, r ≤ 1001", np.exp(exact - high), 1))
    yield also(bounded("the lower bound under $e_r$, same range", np.exp(high + np.log(2 / (n + 1)) - exact), 1))
    yield also(bounded("the upper bound under Hoeffding's", np.exp(high + 2 * n * (0.5 - x) ** 2), 1))


# --- votes for a whole run -----------------------------------------------------------------------------------------


def _walk(p, questions, allowed, exact=False):
    "The least number of votes by its definition: up the odd numbers, in fractions."
    votes = 1
    while True:
        bad = sum(comb(votes, w) * p**w * (1 - p) ** (votes - w) for w in range(votes // 2 + 1, votes + 1))
        if (1 - (1 - bad) ** questions if exact else questions * bad) <= allowed:
            return votes
        votes += 2


def _few(rates):
    return [(rate, 10**d) for rate in rates if rate < 0.35 for d in (0, 2, 4)]


def _walked(rates, failure):
    return agreement(
        "the least number of votes, against a walk in fractions",
        [votes_needed(*point, failure) for point in _few(rates)],
        [_walk(Fraction(str(rate)), q, Fraction(str(failure))) for rate, q in _few(rates)],
    )


def _two_sided(rates, failure):
    grid = [(rate, 10**d) for rate in rates for d in range(13)]
    votes = np.array([votes_needed(*point, failure) for point in grid])
    rate, questions = (np.array(column, float) for column in zip(*grid, strict=True))
    drop = np.log(1 / (4 * rate * (1 - rate))) / 2  # ln(1/ρ)
    most = (np.log(questions) - np.log(2 * failure) + np.log(rate / (1 - rate)) / 2) / drop
    yield bounded("so many votes are enough (rounded up to odd), up to 10¹² questions", votes, np.maximum(most, -1) + 2)
    yield bounded("and no fewer, but for the term in $\\ln r$", most - np.log((votes + 1) / 2) / drop, votes)


@claim(
    "B94",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""For $Q$ questions and a chance of failure $\delta$, $2 \ln(Q/2\delta) / \ln\frac1{4pq}$ votes a
         question are enough, and no fewer, but for a term in $\ln r$.""",
    code=votes_needed,
    test="test_votes.py::test_the_least_number_of_votes",
)
def votes_that_are_enough(rates=WRONG, failure=FAILURE):
    yield _walked(rates, failure)
    yield from _two_sided(rates, failure)
    yield also(_patterns_agree())


@cache
def _sampled(trials):
    "Simulated votes: p, r, the share that went wrong, its standard error, and the exact error."
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
    statement=r"""If each answer is wrong with some probability strictly between 0 and 1, then $\Omega(\log n)$
         answers a question and their majority bring back the perfect oracle.""",
    corrected=r"""With answers wrong with probability at most $p < \frac12$, independently, $O(\log n)$ votes a
         question make all answers right with any stated probability, and no fewer than the order of
         $\log n$ do: about $2/\ln\frac1{4p(1-p)}$ times the logarithm of the number of questions.""",
    affects="crowds that are wrong half of the time or more; not the factor of $\\log n$ for any better crowd",
    code=[votes_needed, log_majority_error, majority_error],
    test=[
        "test_votes.py::test_every_pattern_of_answers",
        "test_votes.py::test_the_least_number_of_votes",
        "test_votes.py::test_votes_grow_with_the_logarithm_of_the_questions",
        "test_votes.py::test_below_one_half_more_votes_help_and_above_they_harm",
    ],
)
def majority_brings_back_the_perfect_oracle(
    one=None, three=None, rates=WRONG, failure=FAILURE, sampled=None, trials=20_000
):
    one, three = (majority_error(r, Fraction(3, 5)) if e is None else e for r, e in ((1, one), (3, three)))
    sampled = _sampled(trials) if sampled is None else sampled
    digits = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
    logs = np.array(digits) * np.log(10) - np.log(failure)  # ln(Q/δ)
    half = Fraction(1, 2)
    yield counterexample(
        "three votes instead of one, answers wrong with $p = 3/5$: more votes should not err more",
        value=three,
        relation="at most",
        printed=one,
    )
    yield corrected(_walked(rates, failure))
    yield from map(corrected, _two_sided(rates, failure))
    yield corrected(also(_patterns_agree()))
    yield corrected(
        also(
            agreement(
                "votes at $1 - p$ are votes at $p$ turned round, and at one half they say nothing",
                [*(majority_error(r, 1 - x) for r in ODD for x in RATES), *(majority_error(r, half) for r in ODD)],
                [*(1 - majority_error(r, x) for r in ODD for x in RATES), *[half] * len(ODD)],
            )
        )
    )
    yield corrected(
        also(
            simulation(
                f"the error of a vote, {len(sampled)} settings",
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
    "Every pattern of Q right and wrong votes, but for the one with none wrong."
    return sum(e ** sum(w) * (1 - e) ** (Q - sum(w)) for w in product([True, False], repeat=Q) if any(w))


@claim(
    "B95",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""Of $Q$ independent votes at least one errs with probability $1 - (1-e)^Q$, at most $Qe$ and
         short of it by at most $\binom Q2 e^2$; sized by the union bound, a vote has at most two votes
         more than it needs, where $4pq \le \delta/\ln\frac1{1-\delta}$.""",
    code=[run_failure, votes_needed, majority_error],
    test=[
        "test_votes.py::test_a_run_fails_when_one_of_its_votes_does",
        "test_votes.py::test_votes_by_the_exact_condition",
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
        "the chance of failure and every pattern of up to six votes, as fractions",
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
        "it stays under the union bound, $10^{-15} \\le e \\le 0.1$, up to $10^9$ votes", failing, sizes * chances
    )
    yield bounded(
        "and the union bound above it by $\\binom Q2 e^2$ at most",
        sizes * chances - failing,
        sizes * (sizes - 1) / 2 * chances**2 + 1e-12 * sizes * chances,
    )
    yield agreement(
        "votes by the exact condition, against a walk in fractions",
        [votes_needed(*at, exact=True) for at in near],
        [_walk(Fraction(str(rate)), Q, Fraction(str(chance)), exact=True) for rate, Q, chance in near],
    )
    yield argument(
        f"the union bound asks for as many, or two more, in {len(surplus)} settings",
        *(bool(extra in (0, 2)) for extra in surplus),
    )
    yield also(identity("a step is $4pq\\frac{r+2}{r+3}$ times the one before", growth))
    yield also(
        agreement(
            "the steps of $e_r$, from all patterns, as fractions",
            [comb(n, (n + 1) // 2) * (x * (1 - x)) ** ((n + 1) // 2) * (1 - 2 * x) for n in ODD[:-1] for x in RATES],
            [_by_patterns(n, x) - _by_patterns(n + 2, x) for n in ODD[:-1] for x in RATES],
        )
    )
    yield also(_patterns_agree())


def _stops(votes, p):
    "Mean and variance of the answers of a vote that stops, by a walk over (right, wrong), answer by answer."
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
    "Votes, questions and answers of some runs of both orderings on few records."
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
    statement=r"""A vote of $r$ that stops when it is decided takes $E[N_r] \le \min(r, \frac{r+1}{2(1-p)})$
         answers, by a formula, and a run $E[Q]\,E[N_r]$.""",
    code=[expected_answers, cr.MajorityVote],
    test=[
        "test_votes.py::test_answers_of_a_vote_that_stops_when_it_is_decided",
        "test_votes.py::test_an_early_end_saves_at_most_what_wald_allows",
        "test_oracles.py::test_an_early_end_saves_votes_and_changes_no_answer",
    ],
)
def price_of_a_vote_that_stops(paid=None, priced=0.2, size=20, points=6):
    paid = paid or _few_paid(priced)
    halves = [(r, x) for r in (1, 3, 5, 9, 21, 101, 1001) for x in np.linspace(0.001, 0.499, points)]
    short = np.array([expected_answers(r, float(x)) for r, x in halves])
    middle = np.array([(r + 1) / 2 for r, _ in halves])
    laws = [_stops(votes, priced) for votes, *_ in paid]
    off = [
        (answers, np.sqrt(put * variance), put * mean)
        for (_, put, answers), (mean, variance) in zip(paid, laws, strict=True)
    ]
    yield agreement(
        f"the formula and the walk from answer to answer, up to {ODD[-1]} votes, as fractions",
        [expected_answers(n, x) for n in ODD for x in RATES],
        [_stops(n, x)[0] for n in ODD for x in RATES],
    )
    yield agreement(
        "the same in floats",
        [expected_answers(n, float(x)) for n in ODD for x in RATES],
        [_stops(n, float(x))[0] for n in ODD for x in RATES],
        tolerance=1e-12,
    )
    yield bounded("not below $h$, 0.001 ≤ p ≤ 0.499, r ≤ 1001", middle, short)
    yield bounded(
        "not above $\\min(r, h/q)$, same range",
        short,
        np.minimum(2 * middle - 1, middle / (1 - np.array([x for _, x in halves]))),
    )
    yield also(
        simulation(
            f"all answers of {len(paid)} kinds of run, both orderings, $p = {priced:g}$",
            *zip(*off, strict=True),
            size=size,
            limit=LIMIT,
        )
    )


# --- wrong answers in a run ----------------------------------------------------------------------------------------

FIVE = "aaabb"  # the places of Figure 1
PAIRS = list(combinations(range(5), 2))
ORDERS = {"good": [(0, 1), (1, 2), (3, 4), (0, 4)], "bad": [(i, j) for i, j in PAIRS if FIVE[i] != FIVE[j]]}


def _every_course(order, p):
    "The chance that edge ordering comes out right, over every course of answers; questions of the right course."
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
    "Simulated runs of few records, and the chance that they come out right."
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
    statement=r"""A run that would put $Q$ questions to a perfect crowd finds the right clusters with probability
         exactly $(1-e)^Q$ when each answer is wrong with probability $e$, independently.""",
    code=[cr.EdgeOrdering, cr.NodeOrdering],
    test="test_votes.py::test_a_run_comes_out_right_exactly_when_no_answer_is_wrong",
)
def run_comes_out_right(small=None, p=Fraction(1, 10), whole=None, runs=200):
    small = small or [_every_course(order, p) for order in ORDERS.values()]
    whole = _few_whole(runs) if whole is None else whole
    yield agreement(
        "every course of answers for Figure 1, good order and bad, $p = 1/10$, as fractions",
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
    "Precision and recall, pair by pair."
    joined, match = ([side[i] == side[j] for i, j in combinations(range(len(side)), 2)] for side in (ends, labels))
    both = sum(j and m for j, m in zip(joined, match, strict=True))
    return [Fraction(both, sum(joined)) if any(joined) else Fraction(1), Fraction(both, sum(match))]


def _mistakes(orderings, labels) -> Iterator:
    "One wrong answer at each place of each run: what it damaged, and the end."
    for ordering in orderings:
        asked = copy.deepcopy(ordering).run(cr.Truth(list(labels))).n_queries
        for mistake in wrong_once(ordering, list(labels), range(asked)):
            yield mistake, damage(mistake, list(labels)), mistake.resolution


def _few_once():
    "Mistakes in runs of some more records, with the formulas and the resolution's own count."
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
    statement=r"""One wrong answer splits one cluster in two (recall $1 - ab/M$, precision 1), or joins parts $a$,
         $b$ of two clusters and leaves $a'$, $b'$ outside: precision $\frac{M-x}{M-x+ab}$, recall $1 -
         x/M$, $x = aa' + bb'$.""",
    code=[precision_recall, wrong_once, cr.Resolution],
    test=[
        "test_mistakes.py::test_every_place_of_a_run",
        "test_mistakes.py::test_a_wrong_match_can_cost_recall_too",
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
            mistake.said == (len(hit) == 2),
            mistake.said or len(parts[min(hit)]) == 2,
        ]
    yield agreement(
        "the formulas and a count of all pairs, a mistake at every place, both orderings, as fractions",
        by_formula,
        by_count,
    )
    yield agreement("precision and recall of a run, by the same count", by_crowder, by_count, tolerance=1e-12)
    yield argument("two pieces of a cluster that was hit at most, of others one", *shapes)
    yield also(
        agreement(
            f"{len(once):,} mistakes {where}",
            once[["formula_p", "formula_r"]],
            once[["precision", "recall"]],
            tolerance=1e-12,
        )
    )


# --- errors that persist -------------------------------------------------------------------------------------------


def _best_test(members, p):
    "Error of the best test between two equally likely clusters: half the overlap of the two laws of all answers."
    total = 0
    for yes in product([0, 1], repeat=2 * members):
        here = yes[:members].count(1) + yes[members:].count(0)  # answers in favour of the first cluster
        first, second = ((1 - p) ** a * p ** (2 * members - a) for a in (here, 2 * members - here))
        total += min(first, second) / 2
    return total


@claim(
    "B93",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement=r"""When errors stay, the answers of all members of two clusters of $m$ place a record with an error
         of exactly $e_{2m-1}$, the error of $2m - 1$ fresh votes, and never with certainty.""",
    code=majority_error,
    test="test_votes.py::test_the_members_of_two_clusters_are_worth_one_vote_less_than_they_are",
)
def members_of_two_clusters(members=3):
    rates = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
    cases = [(m, chance) for m in range(1, members + 1) for chance in rates]
    errors = [_best_test(*case) for case in cases]
    ten = {5: "ten", 3: "six"}.get(members, 2 * members)
    yield agreement(
        f"the overlap of the two laws over all patterns of up to {ten} answers, as fractions",
        errors,
        [majority_error(2 * m - 1, c) for m, c in cases],
    )
    yield argument(
        "it is at least $p^{2m-1}$, hence never 0",
        *(error >= c ** (2 * m - 1) > 0 for error, (m, c) in zip(errors, cases, strict=True)),
    )
    yield also(_patterns_agree())


def _heard(data, kind, votes, stays, seed):
    "All questions, answers and clusters of a run in one list, what it paid, and its questions."
    crowd = cr.MajorityVote(cr.Faulty(cr.Truth(data.labels), 0.1, rng=seed, persistent=stays), votes)
    end = kind(data.similarity, rng=seed).run(crowd)
    return [*end.queries.ravel().tolist(), *end.answers.tolist(), *end.clusters.tolist()], crowd.asked, end.n_queries


@claim(
    "B99",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""When errors stay, votes of any size lead to the same questions, answers and clusters as single
         answers, at $r$ times the cost.""",
    code=[cr.Faulty, cr.MajorityVote],
    test="test_oracles.py::test_votes_do_not_help_against_errors_that_repeat",
)
def repeating_an_error_that_stays(data=None, votes=9, seed=1):
    rng = np.random.default_rng(1)
    data = data or [cr.datasets.synthetic([6, 5, 4], cr.dist2(0.2), rng=rng, shuffle=True) for _ in range(2)]
    runs = [[_heard(one, kind, r, True, seed) for r in (1, votes)] for one in data for kind in ORDERINGS.values()]
    stubborn = cr.Faulty(cr.Truth([0] * 30), 0.3, rng=seed, persistent=True)
    same = [
        {stubborn.vote(i, j, t) for t in range(votes)} | {stubborn.vote(j, i, 0)} for i, j in combinations(range(30), 2)
    ]
    yield agreement(
        f"questions, answers and clusters with {votes} votes and with one, {len(runs)} runs",
        [x for _, many in runs for x in many[0]],
        [x for one, _ in runs for x in one[0]],
    )
    yield agreement("the bill", [many[1] for _, many in runs], [votes * one[2] for one, _ in runs])
    yield argument(
        "each pair gets one answer, however often it is asked, right or wrong",
        *(len(s) == 1 for s in same),
        {True} in same,
        {False} in same,
    )
    yield also(
        argument(
            "fresh errors do change with repetition",
            *(
                _heard(one, cr.EdgeOrdering, votes, False, seed)[0] != _heard(one, cr.EdgeOrdering, 1, False, seed)[0]
                for one in data
            ),
        )
    )


def _by_answers(e, k):
    "Own cluster at each place, every pattern of wrong verdicts: right if the first yes is its own."
    total = 0
    for own, wrong in product(range(k), product([True, False], repeat=k)):
        yes = [w != (place == own) for place, w in enumerate(wrong)]
        total += (True in yes and yes.index(True) == own) * e ** sum(wrong) * (1 - e) ** (k - sum(wrong)) / k
    return total


def _comes_home(votes, p, known, each, rng):
    "Put one new record to the members of known clusters; does it find its own?"
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
    statement=r"""When errors stay, a new record that asks $r$ members of each of $k$ known clusters, in random
         order, is placed right with probability $(1-e_r)\frac{1-(1-e_r)^k}{k\,e_r}$.""",
    code=[share_placed, MemberVote],
    test=[
        "test_members.py::test_share_placed_by_every_pattern",
        "test_members.py::test_a_new_record_is_placed_as_often_as_the_formula_says",
    ],
)
def new_record_is_placed(home=None, p=0.2, known=3, size=200):
    if home is None:
        rng = np.random.default_rng(1)
        home = {votes: np.mean([_comes_home(votes, p, known, 3, rng) for _ in range(size)]) for votes in (1, 3)}
    e, most = sp.Symbol("e", positive=True), max(home)
    should = np.array([share_placed(majority_error(votes, p), known) for votes in home])
    listed = ", ".join(map(str, list(home)[:-1]))
    yield agreement(
        "the formula and every pattern of verdicts, one to six clusters, as fractions",
        [share_placed(x, k) for x in RATES for k in range(1, 7)],
        [_by_answers(x, k) for x in RATES for k in range(1, 7)],
    )
    yield also(_patterns_agree())
    yield also(
        identity(
            "the closed form, two to nine clusters",
            *(share_placed(e, k) - (1 - e) * (1 - (1 - e) ** k) / (k * e) for k in range(2, 10)),
        )
    )
    yield also(
        simulation(
            f"`MemberVote` with {listed} and {most} members, {known} clusters, $p = {p:g}$",
            list(home.values()),
            np.sqrt(should * (1 - should) / size),
            should,
            size=size,
            limit=LIMIT,
        )
    )
