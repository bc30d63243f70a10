"""Crowds of people: reading their answers, voting, and what a replay counts and compares."""

import numpy as np
import pytest

import crowder as cr
from crowder.beyond import NoisyOrdering
from crowder.crowds import Crowd, read_crowd, replay

# --- their answers ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["by entity", "by record"])
def folder(request, tmp_path):
    """Four records, two entities, in both forms of the files; the pair (5, 7) is answered wrongly by two of three."""
    gold, between = ("Ann Lee,5,7\n1,6,9\n", ",") if request.param == "by entity" else ("5 0\n6 1\n7 0\n9 1\n", " ")
    scores = {(5, 7): 0.9, (6, 9): 0.8, (5, 6): 0.3, (5, 9): 0.2, (7, 6): 0.1, (7, 9): 1.5, (5, 1): 0.4}
    votes = dict.fromkeys(scores, (0, 0, 0)) | {(5, 7): (1, 0, 0), (6, 9): (1, 1, 1), (7, 9): (1, 0)}
    (tmp_path / "gold.txt").write_text(gold)
    for name, head, rows in (("graph", "4 7\n", {pair: [w] for pair, w in scores.items()}), ("answers", "", votes)):
        lines = [between.join(map(str, (*pair, *values))) + "\n" for pair, values in rows.items()]
        (tmp_path / f"{name}.txt").write_text(head + "".join(lines))
    return tmp_path


def test_a_crowd_is_read_in_the_order_of_its_records(folder):
    crowd = read_crowd(folder)
    assert (crowd.name, crowd.labels.tolist()) == (folder.name, [0, 1, 0, 1])  # records 5, 6, 7, 9
    # (5,6), (5,7), (5,9), (6,7), (6,9), (7,9); similarities are clipped to [0, 1]
    assert crowd.condensed.tolist() == [0.3, 0.9, 0.2, 0.1, 0.8, 1.0]
    assert crowd.votes[1].tolist() == [1, 0, 0] and np.isnan(crowd.votes[5]).tolist() == [False, False, True]
    assert crowd.oracle(1)(2, 0) and not crowd.oracle(3)(0, 2) and crowd.oracle(3)(1, 3)
    assert crowd.oracle(1)(2, 3) and not crowd.oracle(3)(2, 3)  # of two votes, one is no majority
    for pair in ((2, 2), (-1, 2), (2, 4)):  # no place in the list of all pairs, or that of another
        with pytest.raises(ValueError, match="must be two different records out of 4"):
            crowd.oracle(1)(*pair)
    with pytest.raises(ValueError, match="votes must be at least 1"):
        crowd.oracle(0)


@pytest.mark.parametrize("name", ["graph", "answers"])
def test_a_missing_pair_of_a_crowd_is_an_error(folder, name):
    path = folder / f"{name}.txt"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if line[0] != "6"))
    with pytest.raises(ValueError, match="a pair has no similarity or no answer"):
        read_crowd(folder)


def test_a_missing_file_of_a_crowd_is_named(folder):
    (folder / "gold.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no gold\.txt"):
        read_crowd(folder)


@pytest.mark.parametrize("votes", [[[0], [1]], [[0], [np.nan], [1]], [[0], [1], [2]]])
def test_votes_are_0_or_1_and_there_is_one_on_each_pair(votes):
    with pytest.raises(ValueError, match=r"a vote on each of the 3 pairs|votes must be 0 or 1"):
        Crowd("three", [0.9, 0.1, 0.2], [0, 0, 1], votes=votes)


# --- replays ---------------------------------------------------------------------------------------------------------

LABELS = [0, 1, 0, 1, 1]
FALLING = [0.1, 0.9, 0.2, 0.15, 0.3, 0.8, 0.7, 0.25, 0.05, 0.6]  # of (0, 1), (0, 2), ...


def denied(i, j):
    """Right about all pairs but records 1 and 3."""
    return LABELS[i] == LABELS[j] and {i, j} != {1, 3}


def test_a_replay_counts_answers_and_compares_clusters_after_each():
    """Asked about in turn: (0, 2), (1, 3), (1, 4), (3, 4), ...; records 1 and 3 are told apart, then 1 and 4 joined."""
    found = replay(cr.EdgeOrdering(FALLING, rng=1), denied, LABELS)
    # 0 and 2 are one of four matches; then nothing; then two of four; that 3 and 4 differ is known by then.
    assert found["answers"].tolist() == list(range(len(found))) and found["recall"][:4].tolist() == [0, 0.25, 0.25, 0.5]
    assert (found["precision"] == 1).all() and found["F1"][:4].tolist() == [0, 0.4, 0.4, pytest.approx(2 / 3)]
    joins = replay(cr.EdgeOrdering(FALLING, rng=1), lambda i, j: True, LABELS).iloc[-1]
    assert joins[["recall", "precision"]].tolist() == [1, 0.4] and joins["F1"] == pytest.approx(4 / 7)


def test_a_replay_goes_on_from_where_an_ordering_is_and_ends_with_the_budget():
    ordering = cr.EdgeOrdering(FALLING, rng=1)
    ordering.tell(ordering.ask(), True)
    assert replay(ordering, cr.Truth(LABELS), LABELS, budget=1)["recall"].tolist() == [0.25, 0.5]
    assert ordering.resolution.n_queries == 2  # nobody is asked for an answer that is left out


def test_a_replay_of_an_ordering_that_revises_ends_at_the_truth():
    found = replay(NoisyOrdering(FALLING, rng=1), cr.Truth(LABELS), LABELS)
    assert found["F1"].iloc[0] == 0 and found["F1"].iloc[-1] == 1 and found["answers"].is_monotonic_increasing


def three_then_two(oracle):
    for answers, clusters in ((0, "abcde"), (3, "abacd"), (2, "abaab")):
        [oracle(0, 1) for _ in range(answers)]
        yield list(clusters)


def test_a_replay_of_a_function_counts_what_it_asks_between_two_clusterings():
    found = replay(three_then_two, cr.Truth(LABELS), LABELS)
    assert found["answers"].tolist() == [0, 3, 5] and found["recall"].tolist() == [0, 0.25, 0.5]
    assert found["precision"].tolist() == [1, 1, 0.5]
    assert replay(three_then_two, cr.Truth(LABELS), LABELS, budget=4)["answers"].tolist() == [0, 3]
    with pytest.raises(ValueError, match="an entry for each of the 6 records"):
        replay(three_then_two, cr.Truth(LABELS), [*LABELS, 2])


def test_where_nothing_matches_all_is_found():
    found = replay(cr.EdgeOrdering([0.5], rng=1), cr.Truth([0, 1]), [0, 1])
    assert found[["recall", "F1"]].to_numpy().tolist() == [[1, 1]] * 2


STRATEGIES = [lambda: cr.EdgeOrdering(FALLING, rng=1), lambda: NoisyOrdering(FALLING, rng=1), lambda: three_then_two]


@pytest.mark.parametrize("make", STRATEGIES)
def test_a_replay_takes_answers_with_a_worker_and_no_others_than_a_run(make):
    """The truth of a text, or of a tuple with "different" in it, would be "same"."""
    truth = cr.Truth(LABELS)
    named = replay(make(), lambda i, j: (truth(i, j), "ann"), LABELS)
    assert named.equals(replay(make(), truth, LABELS))
    for said in ("no", 0, (0, "ann"), (False, ["ann"])):
        with pytest.raises(TypeError, match=r"the answer to|the worker of"):
            replay(make(), lambda i, j, said=said: said, LABELS)


@pytest.mark.parametrize("make", STRATEGIES)
def test_a_replay_takes_an_unsure_answer_where_the_strategy_does(make):
    if isinstance(make(), NoisyOrdering):
        found = replay(make(), lambda i, j: (None, "ann"), LABELS)
        assert found["answers"].iloc[-1] == 10 and (found["recall"] == 0).all()  # each of the ten pairs was paid for
    else:
        with pytest.raises(TypeError, match="not None"):
            replay(make(), lambda i, j: None, LABELS)


def test_a_replay_keeps_who_answered_and_asks_another_person_each_time():
    class People:
        def vote(self, i, j, number):
            return number == 1, f"person {number}"

    kept = NoisyOrdering([0.5], rng=1)
    replay(kept, People(), [0, 0])
    assert kept.answers[0] == (*kept.answers[0][:2], False, "person 0")

    def twice(oracle):
        yield [0, 0] if [oracle(0, 1), oracle(1, 0)] == [False, True] else [0, 1]

    assert replay(twice, People(), [0, 0])["recall"].tolist() == [1]


def test_a_replay_within_no_budget_or_with_the_truth_of_other_records_is_refused():
    for oracle, budget, says in (
        (cr.Truth(LABELS), -1, "budget must be at least 0, not -1"),
        (cr.Truth([0, 1]), 9, "labels for 2 records; the similarity has 5"),
    ):
        with pytest.raises(ValueError, match=says):
            replay(cr.EdgeOrdering(FALLING, rng=1), oracle, LABELS, budget=budget)
