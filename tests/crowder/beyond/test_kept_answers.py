"""Answers that are kept: unsure ones, workers, answers from elsewhere, and oracles of every form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder.beyond.control_queries import ControlQueries
from crowder.beyond.noisy_queries import NoisyQueries

SIMILARITY = np.random.default_rng(1).random(45)
MAKE = {
    "control": lambda votes: ControlQueries(SIMILARITY, votes=votes, rng=2),
    "noisy": lambda votes: NoisyQueries(SIMILARITY, votes=0.2, rng=2),
    "ordering": lambda votes: cr.NoisyOrdering(SIMILARITY, votes=votes, rng=2),
}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("votes", [1, 3])
def test_unsure_answers_are_counted_and_nothing_follows_from_them(name, votes):
    """Nobody knows anything: every question ends, no pair is asked more often than allowed, and no record is joined."""
    strategy = MAKE[name](votes)
    assert strategy.run(lambda i, j: None).tolist() == list(range(10))
    assert strategy.n_answers == strategy._asked.sum() // 2 > 0 == strategy._yes.sum() + strategy._no.sum()
    assert strategy._asked.max() <= (1 if name == "noisy" else votes)
    assert all(row[2:] == (None, None) for row in strategy.answers)


@pytest.mark.parametrize("name", ["control", "noisy"])  # which join by answers alone
@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_a_perfect_crowd_that_is_sometimes_unsure_joins_no_strangers(name, seed):
    """A yes is always true, so no two records of different clusters can come together."""
    labels = np.arange(10) % 3
    unsure = np.random.default_rng(seed).random((10, 10)) < 0.3
    strategy = MAKE[name](2)
    clusters = strategy.run(lambda i, j: None if unsure[i, j] else bool(labels[i] == labels[j]))
    assert all(len(set(labels[clusters == cluster])) == 1 for cluster in clusters)
    assert strategy.n_answers == len(strategy.answers)


@pytest.mark.parametrize("second", [False, None])  # an unsure answer is a vote too
def test_an_oracle_is_asked_for_the_kth_vote_and_may_name_workers(second):
    numbers = []

    class Crowd:
        def vote(self, i, j, number):
            numbers.append(number)
            return second if number == 1 else True, f"worker {number}"

    strategy = ControlQueries([0.5], votes=3, beta=3, confidence=0.99, rng=1)
    strategy.run(Crowd())
    assert numbers == [0, 1, 2]  # three votes on the only pair, each under its number
    assert strategy.answers == [(0, 1, True, "worker 0"), (0, 1, second, "worker 1"), (0, 1, True, "worker 2")]
    assert strategy.clusters.tolist() == [0, 0]


def test_the_votes_of_a_faulty_crowd_are_those_under_their_numbers():
    crowd = cr.Faulty(cr.Truth([0, 1]), 0.5, rng=7)
    strategy = ControlQueries([0.5], votes=6, beta=6, confidence=0.999, rng=1)
    strategy.run(crowd)
    assert [same for _, _, same, _ in strategy.answers] == [crowd.vote(0, 1, k) for k in range(strategy.n_answers)]


@pytest.mark.parametrize("bad", ["yes", 1, (True,), (True, "ann", 3), ("no", "ann"), (True, ["ann"]), np.nan])
def test_any_other_answer_names_the_question_and_what_was_told_is_kept(bad):
    said = iter([False, None, bad])
    strategy = MAKE["control"](1)
    with pytest.raises(TypeError, match=r"the answer to \(\d, \d\) must|the worker of the answer to \(\d, \d\) must"):
        strategy.run(lambda i, j: next(said))
    assert [row[2] for row in strategy.answers] == [False, None]
    strategy.run(lambda i, j: (True, "ann"))  # goes on with the question that was open
    assert strategy.answers[2][2:] == (True, "ann")


@pytest.mark.parametrize("name", ["control", "noisy"])  # which join by answers alone
def test_answers_from_elsewhere_are_learned_and_not_asked_for_again(name):
    labels = np.arange(10) % 3
    strategy = MAKE[name](1)
    for i, j in [(4, 1), (2, 3), (0, 9)]:
        strategy.learn((i, j), bool(labels[i] == labels[j]), "ann")
    strategy.learn(strategy.ask(), None)  # the open question is settled by it
    assert strategy.n_answers == 4 and strategy._pending is None
    clusters = strategy.run(cr.Truth(labels))
    assert strategy._asked.max() == 1
    assert all(len(set(labels[clusters == cluster])) == 1 for cluster in clusters)


def test_what_cannot_be_learned_changes_nothing():
    strategy = MAKE["control"](1)
    open_pair = strategy.ask()
    for pair, same, error, message in [
        ((0, 10), True, ValueError, r"\(0, 10\) must be two different records out of 10"),
        ((-1, 2), True, ValueError, "two different records"),
        ((3, 3), True, ValueError, "two different records"),
        ((0.5, 1), True, TypeError, "two record numbers"),
        (7, True, TypeError, "two record numbers"),
        ((0, 1), "yes", TypeError, r"the answer to \(0, 1\) must"),
    ]:
        with pytest.raises(error, match=message):
            strategy.learn(pair, same)
    assert strategy.n_answers == 0 and strategy.ask() == open_pair
