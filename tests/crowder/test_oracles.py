"""Crowds that err, and votes among them: rates, reproducibility, and the probabilities of majorities."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

import crowder as cr
from crowder.oracles import majority_error

TRUTH = cr.Truth(np.zeros(200, dtype=int))  # everything matches: an answer is wrong if it is False
PAIRS = [(i, j) for i in range(200) for j in range(i + 1, 200)]


def wrong(crowd, pairs=PAIRS):
    return np.array([not crowd(i, j) for i, j in pairs])


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("error", [0.05, 0.3, 0.5])
def test_as_many_answers_are_wrong_as_stated(error, persistent):
    # 19,900 pairs: a binomial count, which a right crowd misses here with probability 1e-6.
    mistakes = int(wrong(cr.Faulty(TRUTH, error, rng=1, persistent=persistent)).sum())
    assert binomtest(mistakes, len(PAIRS), error).pvalue > 1e-6


def test_errors_never_and_always():
    assert not wrong(cr.Faulty(TRUTH, 0, rng=1)).any()
    assert wrong(cr.Faulty(TRUTH, 1, rng=1)).all()
    assert cr.Faulty(cr.Truth([0, 1]), 1.0, rng=1)(0, 1) is True  # non-matches are turned round as well


@pytest.mark.parametrize(("error", "same"), [(np.float16(0.25), 0.25), (np.int8(1), 1), (np.array(0.5), 0.5)])
def test_a_rate_of_low_precision_is_the_number_that_it_is(error, same):
    assert np.array_equal(wrong(cr.Faulty(TRUTH, error, rng=1)), wrong(cr.Faulty(TRUTH, same, rng=1)))
    assert majority_error(3, error) == majority_error(3, same)


def test_repeated_askings_err_independently_and_persistent_errors_repeat():
    fresh, stubborn = (cr.Faulty(TRUTH, 0.3, rng=2, persistent=p) for p in (False, True))
    first, second = wrong(fresh), wrong(fresh, [(j, i) for i, j in PAIRS])
    both = int((first & second).sum())  # of independent errors, 0.3² of the pairs
    assert binomtest(both, len(PAIRS), 0.09).pvalue > 1e-6
    assert np.array_equal(wrong(stubborn), wrong(stubborn, [(j, i) for i, j in PAIRS]))


def test_errors_do_not_hang_on_the_order_of_the_questions():
    """So that two orderings meet the same crowd, and a run that is resumed the one that it would have met."""
    forwards = wrong(cr.Faulty(TRUTH, 0.3, rng=3))
    backwards = wrong(cr.Faulty(TRUTH, 0.3, rng=np.random.default_rng(3)), PAIRS[::-1])[::-1]
    assert np.array_equal(forwards, backwards)
    late = cr.Faulty(TRUTH, 0.3, rng=3)
    assert [late.vote(1, 0, number) for number in range(20)] == [late(0, 1) for _ in range(20)]
    assert not np.array_equal(forwards, wrong(cr.Faulty(TRUTH, 0.3, rng=4)))


@pytest.mark.parametrize(("votes", "error"), [(3, 0.2), (5, 0.3), (7, 0.6)])
def test_a_vote_errs_as_often_as_the_binomial_says(votes, error):
    crowd = cr.MajorityVote(cr.Faulty(TRUTH, error, rng=5), votes)
    mistakes = int(wrong(crowd, PAIRS[:6000]).sum())
    assert binomtest(mistakes, 6000, majority_error(votes, error)).pvalue > 1e-6
    assert crowd.asked == 6000 * votes


@pytest.mark.parametrize("records", [2, 4])
def test_the_truth_of_other_records_answers_nothing(records):
    """Neither in the compiled loop nor inside another oracle, also where there are more labels than records."""
    ordering, truth = cr.EdgeOrdering([0.5, 0.5, 0.5], rng=1), cr.Truth(range(records))
    for oracle in (truth, cr.Faulty(truth, 0.1, rng=1), cr.MajorityVote(truth, 3)):
        with pytest.raises(ValueError, match=f"labels for {records} records; the similarity has 3"):
            ordering.run(oracle)
    assert ordering.n_queries == 0
    for oracle in (cr.Faulty(lambda i, j: True, 0, rng=1), cr.MajorityVote(lambda i, j: True, 3)):
        assert ordering.run(oracle).n_queries == 2  # a plain function need not be told


# --- Probabilities of majorities -------------------------------------------------------------------------------------


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
