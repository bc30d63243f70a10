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
    exceeds,
    identity,
    of_chapter,
    says,
    simulation,
    trend,
)
from book.companion.empirical import mean_and_error
from book.companion.invented_crowds import ASKED, UP_TO, invented, summary
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.member_votes import MemberVote
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


def votes_agree(rates, failure):
    return agreement(
        "the least number of votes against its definition, in fractions",
        [votes_needed(*point, failure) for point in few_settings(rates)],
        [votes_by_definition(Fraction(str(rate)), q, Fraction(str(failure))) for rate, q in few_settings(rates)],
    )


def two_sided(rates, failure):
    grid = [(rate, 10**d) for rate in rates for d in range(13)]
    votes = np.array([votes_needed(*point, failure) for point in grid])
    rate, questions = (np.array(column, float) for column in zip(*grid, strict=True))
    drop = np.log(1 / (4 * rate * (1 - rate))) / 2  # ln(1/ρ)
    most = (np.log(questions) - np.log(2 * failure) + np.log(rate / (1 - rate)) / 2) / drop
    yield bounded(
        "this number of votes (rounded up to odd) is enough, up to 10¹² questions", votes, np.maximum(most, -1) + 2
    )
    yield bounded("fewer are not, up to the term in $\\ln r$", most - np.log((votes + 1) / 2) / drop, votes)


@cache
def _sampled(trials):
    """Simulated votes: p, r, the share of wrong ones, its standard error, and the exact error probability."""
    rng, rows = np.random.default_rng(1), []
    for p, votes in product(WRONG, (1, 3, 9)):
        exact = majority_error(votes, p)
        wrong = (2 * rng.binomial(votes, p, size=trials) > votes).mean()
        rows.append((p, votes, exact, wrong, np.sqrt(exact * (1 - exact) / trials)))
    return pd.DataFrame(rows, columns=["p", "votes", "exact", "simulated", "error"])


@claim("C33")
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
    yield corrected(votes_agree(rates, failure))
    yield from map(corrected, two_sided(rates, failure))
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


@claim("B97")
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


# --- answers as evidence -------------------------------------------------------------------------------------------


def _chance(votes, match, rates, vote):
    """The probability of these votes, from the definition: over both looks of the pair."""
    (e, f), (a, b) = rates, vote
    alike = 1 - f if match else e
    yes, no = sum(votes), len(votes) - sum(votes)
    return alike * (1 - b) ** yes * b**no + (1 - alike) * a**yes * (1 - a) ** no


@claim("B180")
def evidence_saturates(false_yes=0.01, false_no=0.15, most=4):
    e, f, x = sp.symbols("e f x", positive=True)
    odds = ((1 - f) * x + f) / (e * x + 1 - e)  # x: how much likelier the votes are if the pair looks the same
    grid = [(Fraction(1, 100), Fraction(3, 20)), (Fraction(1, 5), Fraction(2, 5))]
    votes = [(Fraction(1, 20), Fraction(1, 10)), (Fraction(2, 5), Fraction(1, 3))]
    patterns = [said for length in range(1, most + 1) for said in product([True, False], repeat=length)]
    settings = [(rates, vote, said) for rates in grid for vote in votes for said in patterns]
    naive = [_chance(said, True, r, v) / _chance(said, False, r, v) for r, v, said in settings]
    model = {(r, v): cr.ErrorRates(*map(float, r), vote=tuple(map(float, v))) for r in grid for v in votes}
    found = [model[r, v].of_votes(said, [None] * len(said)) for r, v, said in settings]
    alone = cr.ErrorRates(false_yes, false_no, vote=(0.05, 0.05))
    ends = [np.log(false_no / (1 - false_yes)), np.log((1 - false_no) / false_yes)]
    yield identity(
        "the derivative in the ratio of the likelihoods, and the limits",
        (sp.diff(odds, x), (1 - e - f) / (e * x + 1 - e) ** 2),
        (odds.subs(x, 0), f / (1 - e)),
        (sp.limit(odds, x, sp.oo), (1 - f) / e),
    )
    yield also(
        says(
            agreement(
                f"`ErrorRates.of_votes` against both looks of the pair, all patterns of up to {most} votes",
                found,
                [float(np.log(float(ratio))) for ratio in naive],
                tolerance=1e-12,
            ),
            f"The evidence of {len(settings)} patterns of votes agrees with the definition, and lies between the ends.",
        )
    )
    yield also(
        cases(
            "strictly between the ends, in fractions",
            *(r[1] / (1 - r[0]) < ratio < (1 - r[1]) / r[0] for ratio, (r, _, _) in zip(naive, settings, strict=True)),
            where=f"all patterns of up to {most} votes, four settings",
        )
    )
    yield also(
        agreement(
            "forty agreeing votes against the ends",
            [alone.of_votes([said] * 40, [None] * 40) for said in (False, True)],
            ends,
            tolerance=1e-9,
        )
    )


@claim("B181")
def noisy_ordering_on_invented_crowds(ends=None, rates=(0.01, 0.15), size=6):
    ends = summary(invented(rates, size, 1)) if ends is None else ends
    size = ends["run"].nunique()
    table = ends.pivot(index="run", columns="way")
    own = table.xs(ASKED[-1], axis=1, level="way")
    for way in ASKED[:-1]:
        gain = own["mean F1"] - table["mean F1", way]
        piece = exceeds(
            f"mean F1 over {UP_TO:,} answers, less that of {way}, same crowds", *mean_and_error(gain), size=size
        )
        if way == ASKED[0]:
            piece = says(piece, f"In {size} runs, its mean F1 is {gain.mean():.2f} higher than that of edge ordering.")
        yield piece
    yield exceeds(
        "the last F1, less that of edge ordering", *mean_and_error(own["F1"] - table["F1", ASKED[0]]), size=size
    )
