"""Crowds that err, and votes among them: rates, reproducibility, and what the orderings make of wrong answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binom, binomtest

import crowder as cr
from crowder.oracles import answers
from crowder.voting import majority_error

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


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("oracle", [cr.Truth([0, 0, 1]), lambda i, j: i + j == 1, cr.Faulty(TRUTH, 0.2, rng=5)])
def test_answers_in_turn_are_those_one_by_one(oracle, persistent):
    crowd = cr.Faulty(oracle, 0.3, rng=4, persistent=persistent)
    for pair in ((0, 1), (2, 0)):
        assert list(answers(crowd, *pair, range(2, 30))) == [crowd.vote(*pair, number) for number in range(2, 30)]


@pytest.mark.parametrize(("votes", "error"), [(3, 0.2), (5, 0.3), (7, 0.6)])
def test_a_vote_errs_as_often_as_the_binomial_says(votes, error):
    crowd = cr.MajorityVote(cr.Faulty(TRUTH, error, rng=5), votes)
    mistakes = int(wrong(crowd, PAIRS[:6000]).sum())
    assert binomtest(mistakes, 6000, majority_error(votes, error)).pvalue > 1e-6
    assert crowd.asked == 6000 * votes


def test_an_early_end_saves_votes_and_changes_no_answer():
    patient = cr.MajorityVote(cr.Faulty(TRUTH, 0.3, rng=6), 5)
    hasty = cr.MajorityVote(cr.Faulty(TRUTH, 0.3, rng=6), 5, early=True)
    pairs = PAIRS[:6000]
    assert np.array_equal(wrong(patient, pairs), wrong(hasty, pairs))
    # Three votes with 0.3³ + 0.7³, five when the first four are split, C(4, 2) 0.3² 0.7², and otherwise four. The mean
    # of 6,000 such numbers, whose deviation is below 1, lies within 5/sqrt(6000) of its expectation.
    three, five = 0.3**3 + 0.7**3, 6 * 0.3**2 * 0.7**2
    assert abs(hasty.asked / 6000 - (3 * three + 5 * five + 4 * (1 - three - five))) < 5 / np.sqrt(6000)


def test_votes_do_not_help_against_errors_that_repeat():
    one, many = cr.Faulty(TRUTH, 0.3, rng=7, persistent=True), cr.Faulty(TRUTH, 0.3, rng=7, persistent=True)
    assert np.array_equal(wrong(one, PAIRS[:2000]), wrong(cr.MajorityVote(many, 9), PAIRS[:2000]))


def test_asking_several_members_of_a_cluster_helps_against_errors_that_repeat():
    """The paper's remark: record 0 put to the members 1, ..., 9 of its cluster gives nine independent answers."""
    errors = [sum(wrong(cr.Faulty(TRUTH, 0.3, rng=seed, persistent=True), PAIRS[:9])) for seed in range(2000)]
    mistaken = int((np.array(errors) > 4).sum())
    assert binomtest(mistaken, 2000, binom.sf(4, 9, 0.3)).pvalue > 1e-6


@st.composite
def faulty_runs(draw):
    n = draw(st.integers(1, 10))
    m = n * (n - 1) // 2
    values = np.array(draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)), dtype=float) / 3
    kept = np.array(draw(st.lists(st.booleans(), min_size=m, max_size=m)), dtype=bool)
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return values, kept, labels, draw(st.sampled_from([0.1, 0.5, 1.0])), draw(st.integers(0, 2**32))


@pytest.mark.parametrize("run", [cr.edge_ordering, cr.node_ordering])
@pytest.mark.parametrize("persistent", [False, True])
@given(instance=faulty_runs())
@settings(max_examples=80, deadline=None)
def test_orderings_bear_wrong_answers(run, persistent, instance):
    """Whatever is answered: each pair is asked once at most, and the clusters fit every answer. A pair that is implied
    is not asked, so answers cannot contradict one another; a wrong one is simply believed."""
    values, kept, labels, error, seed = instance
    n = len(labels)
    i, j = np.triu_indices(n, 1)
    for similarity in (values, sparse.coo_matrix((values[kept], (i[kept], j[kept])), shape=(n, n))):
        crowd = cr.Faulty(cr.Truth(labels), error, rng=seed, persistent=persistent)
        got = run(similarity, cr.MajorityVote(crowd, 3), rng=seed)
        asked = [frozenset(pair) for pair in got.queries.tolist()]
        assert len(set(asked)) == got.n_queries <= n * (n - 1) // 2
        together = [got.clusters[a] == got.clusters[b] for a, b in got.queries]
        assert together == got.answers.tolist()
        assert got.n_matches == n - len(set(got.clusters.tolist()))


def test_one_wrong_match_joins_two_clusters_and_nothing_takes_it_back():
    # (0, 2) is asked first and wrongly answered "same"; (0, 1) and (2, 3) follow, and then all four are one.
    answers = {(0, 2): True, (0, 1): True, (2, 3): True}
    got = cr.edge_ordering([0.8, 0.9, 0.1, 0.1, 0.1, 0.7], lambda i, j: answers[i, j], ties="index")
    assert got.clusters.tolist() == [0, 0, 0, 0] and got.n_queries == 3


def test_wrappers_tell_the_oracle_inside_which_ordering_asks():
    ordering = cr.EdgeOrdering([0.5, 0.5, 0.5], rng=1)
    for wrap in (lambda oracle: cr.Faulty(oracle, 0.1, rng=1), lambda oracle: cr.MajorityVote(oracle, 3)):
        with pytest.raises(ValueError, match="labels for 2 records; the similarity has 3"):
            ordering.run(wrap(cr.Truth([0, 1])))
        assert wrap(lambda i, j: i == j)(0, 1) in (True, False)  # a plain function need not be told


@pytest.mark.parametrize("error", [-0.1, 1.1, float("nan")])
def test_a_probability_of_error_is_one(error):
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        cr.Faulty(TRUTH, error, rng=1)


def test_errors_need_a_seed():
    with pytest.raises(ValueError, match="pass rng="):
        cr.Faulty(TRUTH, 0.1)


@pytest.mark.parametrize("votes", [0, 2, -1])
def test_a_majority_needs_an_odd_number_of_votes(votes):
    with pytest.raises(ValueError, match="votes must be"):
        cr.MajorityVote(TRUTH, votes)
    with pytest.raises(TypeError):
        cr.MajorityVote(TRUTH, 2.5)


@pytest.mark.parametrize("answer", [1, None, "yes"])
def test_crowds_that_do_not_answer_yes_or_no_are_refused(answer):
    for crowd in (cr.Faulty(lambda i, j: answer, 0.1, rng=1), cr.MajorityVote(lambda i, j: answer, 3)):
        with pytest.raises(TypeError, match=r"\(0, 1\) must be True(, False or None| or False)"):
            crowd(0, 1)
