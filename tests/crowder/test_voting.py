"""Majority votes: the formula against every pattern of answers, against SciPy, and the votes that it asks for."""

import copy
from fractions import Fraction
from itertools import combinations, product
from math import log, sqrt

import numpy as np
import pytest
import sympy as sp
from scipy import stats

import crowder as cr
from crowder.voting import expected_answers, log_majority_error, majority_error, run_failure, votes_needed


@pytest.mark.parametrize("votes", [1, 3, 5, 7, 9])
@pytest.mark.parametrize("error", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), 0, 1])
def test_every_pattern_of_answers(votes, error):
    """Each pattern of right and wrong answers has its probability; those with more wrong than right are summed."""
    total = Fraction(0)
    for pattern in product([True, False], repeat=votes):
        wrong = sum(pattern)
        if wrong > votes - wrong:
            total += Fraction(error) ** wrong * (1 - Fraction(error)) ** (votes - wrong)
    assert majority_error(votes, error) == total
    assert majority_error(votes, float(error)) == pytest.approx(float(total), rel=1e-12)


def test_symbols_pass_through():
    p = sp.Symbol("p")
    assert sp.expand(majority_error(3, p) - (3 * p**2 - 2 * p**3)) == 0


@pytest.mark.parametrize("error", [0.01, 0.2, 0.45])
@pytest.mark.parametrize("votes", [1, 5, 51, 301])
def test_floats_agree_with_scipy(votes, error):
    expected = stats.binom.logsf(votes // 2, votes, error)
    assert log_majority_error(votes, error) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("error", [0.02, 0.1, 0.3, 0.45, 0.49])
def test_the_two_sided_bound_of_chapter_10(error):
    """√(p/q) ρ^r / (r+1) ≤ e_r ≤ ½ √(p/q) ρ^r with ρ = 2√(pq), and Hoeffding above."""
    rho, tilt = 2 * sqrt(error * (1 - error)), sqrt(error / (1 - error))
    for votes in (1, 3, 5, 11, 101, 1001):
        logarithm, upper = log_majority_error(votes, error), log(tilt / 2) + votes * log(rho)
        assert upper + log(2 / (votes + 1)) - 1e-9 <= logarithm <= upper + 1e-9
        assert logarithm <= -2 * votes * (0.5 - error) ** 2


def test_below_one_half_more_votes_help_and_above_they_harm():
    odd = range(1, 30, 2)
    for error, sign in ((Fraction(2, 5), -1), (Fraction(1, 2), 0), (Fraction(3, 5), 1)):
        values = [majority_error(votes, error) for votes in odd]
        assert set(np.sign(np.diff(np.array(values, dtype=object).astype(float)).round(15))) == {sign}


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize("questions", [1, 100, 10**6])
def test_the_least_number_of_votes(error, questions):
    """The definition, walked through one odd number after the other."""
    votes = votes_needed(error, questions, 0.01)
    allowed = log(0.01 / questions)
    assert votes % 2 == 1 and log_majority_error(votes, error) <= allowed
    assert all(log_majority_error(r, error) > allowed for r in range(1, votes, 2))


def test_votes_grow_with_the_logarithm_of_the_questions():
    """From 10^100 to 10^1000 questions: tenfold, at the rate 2/ln(1/(4pq)), however large the numbers."""
    few, many = (votes_needed(0.1, 10**digits, 0.01) for digits in (100, 1000))
    assert many / few == pytest.approx(10, rel=0.02)
    assert many / log(10**1000) == pytest.approx(2 / log(1 / 0.36), rel=0.01)


def answers_by_steps(votes, p, right=0, wrong=0):
    """From scratch: one answer after the other, until one side has more than half of all votes."""
    if 2 * max(right, wrong) > votes:
        return Fraction(0)
    return (1 + (1 - p) * answers_by_steps(votes, p, right + 1, wrong)
            + p * answers_by_steps(votes, p, right, wrong + 1))  # fmt: skip


@pytest.mark.parametrize("votes", [1, 3, 5, 7, 9])
@pytest.mark.parametrize("error", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 5), Fraction(1)])
def test_answers_of_a_vote_that_stops_when_it_is_decided(votes, error):
    assert expected_answers(votes, error) == answers_by_steps(votes, error)
    assert expected_answers(votes, float(error)) == pytest.approx(float(expected_answers(votes, error)), rel=1e-12)


@pytest.mark.parametrize("error", [0.01, 0.2, 0.45])
def test_an_early_end_saves_at_most_what_wald_allows(error):
    """The right answers counted are at most h = (r+1)/2, and on average q of all: E[N] ≤ h/q; long votes reach it."""
    for votes in (1, 3, 21, 1001, 100_001):
        half = (votes + 1) / 2
        assert half * (1 - 1e-9) <= expected_answers(votes, error) <= min(votes, half / (1 - error)) * (1 + 1e-9)
    assert expected_answers(100_001, error) == pytest.approx(50_001 / (1 - error), rel=1e-6)


@pytest.mark.parametrize("questions", [0, 1, 2, 6])
@pytest.mark.parametrize("error", [Fraction(0), Fraction(1, 10), Fraction(1)])
def test_a_run_fails_when_one_of_its_votes_does(questions, error):
    """Every pattern of right and wrong votes, the one with none wrong left out; and Bonferroni on either side."""
    patterns = product([True, False], repeat=questions)
    total = sum((error ** sum(w) * (1 - error) ** (questions - sum(w)) for w in patterns if any(w)), Fraction(0))
    assert run_failure(questions, error) == total
    assert run_failure(questions, float(error)) == pytest.approx(float(total), rel=1e-12)
    pairs = questions * (questions - 1) // 2
    assert questions * error - pairs * error**2 <= total <= questions * error


def test_a_failure_too_small_for_one_minus_it_is_not_lost():
    assert run_failure(10**6, 1e-30) == pytest.approx(1e-24, rel=1e-12)
    with pytest.raises(ValueError, match="questions must be"):
        run_failure(-1, 0.1)


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize("questions", [1, 100, 10**6])
@pytest.mark.parametrize("failure", [0.01, 0.6])
def test_votes_by_the_exact_condition(error, questions, failure):
    """The definition, one odd number after the other; the union bound asks for as many or two more (e_r falls by more
    than 4pq with two votes, and 4pq ≤ δ/ln(1/(1-δ)) for these)."""
    votes = votes_needed(error, questions, failure, exact=True)
    assert run_failure(questions, majority_error(votes, error)) <= failure
    assert all(run_failure(questions, majority_error(r, error)) > failure for r in range(1, votes, 2))
    if 4 * error * (1 - error) <= failure / -np.log1p(-failure):
        assert votes_needed(error, questions, failure) - votes in (0, 2)


def test_the_two_conditions_part_where_the_failure_is_large():
    # One answer, wrong with p = 1/10, nine times: 9/10 by the union bound, 1 - 0.9^9 = 0.61 exactly.
    assert votes_needed(0.1, 9, 0.65) == 3 and votes_needed(0.1, 9, 0.65, exact=True) == 1
    assert votes_needed(0.1, 10**400, 0.01, exact=True) == votes_needed(0.1, 10**400, 0.01)


@pytest.mark.parametrize("votes", [0, 2, -1])
def test_a_majority_needs_an_odd_number(votes):
    with pytest.raises(ValueError, match="odd"):
        majority_error(votes, 0.1)


@pytest.mark.parametrize("error", [-0.1, 1.5, float("nan"), "a", None])
def test_an_error_is_a_probability(error):
    with pytest.raises(ValueError, match="error must be"):
        majority_error(3, error)


def test_from_one_half_on_no_number_of_votes_is_enough():
    with pytest.raises(ValueError, match="below 1/2"):
        votes_needed(0.5, 10, 0.01)
    with pytest.raises(ValueError, match="questions must be"):
        votes_needed(0.1, 0, 0.01)
    with pytest.raises(ValueError, match="failure must be"):
        votes_needed(0.1, 10, 0.0)
    # By the union bound and (4pq)^(r/2) up to 1e20 votes: counting them out would never end.
    with pytest.raises(ValueError, match="error must be"):
        votes_needed(0.4999999999, 10, 0.1)


@pytest.mark.parametrize(("order", "questions"), [("good", 4), ("bad", 9)])
def test_a_run_comes_out_right_exactly_when_no_answer_is_wrong(order, questions):
    """The five places of Figure 1: both answers to every question followed to the end, with their probabilities."""
    labels, p = list("aaabb"), Fraction(1, 10)
    truth = cr.Truth(labels)
    pairs = list(combinations(range(5), 2))
    first = [(0, 1), (1, 2), (3, 4), (0, 4)] if order == "good" else [(i, j) for i, j in pairs if not truth(i, j)]
    similarity = np.eye(5)
    for place, (i, j) in enumerate(first + [pair for pair in pairs if pair not in first]):
        similarity[i, j] = similarity[j, i] = 1 - place / 20

    def follow(run):
        if (pair := run.ask()) is None:
            return int(np.array_equal(run.resolution.clusters, truth.labels)), 1
        ends = []
        for same in (True, False):
            branch = copy.deepcopy(run)
            branch.tell(pair, same)
            chance, leaves = follow(branch)
            ends.append(((1 - p if same == truth(*pair) else p) * chance, leaves))
        return tuple(map(sum, zip(*ends, strict=True)))

    chance, leaves = follow(cr.EdgeOrdering(similarity, rng=0))
    assert chance == (1 - p) ** questions
    assert leaves == 52  # Bell's number: a course of answers for each way to cluster five records


@pytest.mark.parametrize("members", [1, 2, 3, 4])
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(2, 5)])
def test_the_members_of_two_clusters_are_worth_one_vote_less_than_they_are(members, p):
    """The best test between two laws errs by half their overlap; here over all patterns of 2m answers."""
    overlap = 0
    for answers in product([0, 1], repeat=2 * members):
        first = sum(a == (place < members) for place, a in enumerate(answers))
        laws = [(1 - p) ** f * p ** (2 * members - f) for f in (first, 2 * members - first)]
        overlap += min(laws) / 2
    assert overlap == majority_error(2 * members - 1, p) > 0
