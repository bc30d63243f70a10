"""The table of answers: all forms are read alike, contradictions are kept, and what is refused changes nothing."""

import numpy as np
import pandas as pd
import pytest

from crowder.beyond.answers import Answers

FRAME = pd.DataFrame(
    {"left": [0, 2, 1], "right": [1, 1, 0], "answer": ["Yes", "no ", "UNSURE"], "worker": ["ann", "ann", "bob"]}
)


def test_a_data_frame_and_tuples_give_the_same_table():
    tuples = Answers.read([(0, 1, True, "ann"), (2, 1, np.False_, "ann"), (1, 0, None, "bob")])
    for answers in (Answers.read(FRAME), tuples):
        assert (len(answers), answers.n, answers.n_unsure, answers.workers) == (3, 3, 1, ["ann", "bob"])
        assert answers.pairs.tolist() == [[0, 1], [1, 2]] and answers.pairs.dtype == np.int64
        assert (answers.pair.tolist(), answers.yes.tolist(), answers.worker.tolist()) == ([0, 1], [True, False], [0, 0])
        for array in (answers.pairs, answers.pair, answers.yes, answers.worker):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    # rows of an array, without workers
    assert Answers.read(np.array([[0, 1, 1], [1, 2, 0]])).pairs.tolist() == [[0, 1], [1, 2]]


def test_every_way_to_say_yes_is_kept_and_so_are_contradictions():
    answers, ways = Answers(), [True, "yes", "YES", 1, 1.0, np.True_, np.int64(1), "1", "y", "true"]
    for said in [*ways, "no", None, 0]:
        answers.add(4, 2, said)
    assert answers.yes.tolist() == [True] * len(ways) + [False, False] and len(answers) == len(ways) + 3
    assert answers.pairs.tolist() == [[2, 4]] and answers.workers == [None]


def test_a_refused_answer_changes_nothing():
    answers = Answers(3)
    answers.add(0, 1, "yes", "ann")
    for bad in ((0, 3, "yes", "bob"), (1, 1, "no", "bob"), (0, 2, "perhaps", "bob"), (0, 2, "no", ["bob"]),
                (-1, 2, "no", "bob"), (0.0, 2, "no", "bob"), (0, 2, "no", float("nan"))):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            answers.add(*bad)
        assert (len(answers), answers.pairs.tolist(), answers.workers) == (1, [[0, 1]], ["ann"])


@pytest.mark.parametrize("blank", [None, float("nan"), pd.NA, pd.NaT, " "])
@pytest.mark.parametrize("column", ["left", "answer", "worker"])
def test_a_missing_cell_is_named(column, blank):
    frame = FRAME.astype(object)
    frame.at[1, column] = blank
    with pytest.raises(ValueError, match=rf"row 1, .*: {column} is missing"):
        Answers.read(frame)


def test_numbers_that_a_missing_cell_made_floats():
    frame = pd.DataFrame({"left": [0, None], "right": [1, 2], "answer": ["yes", "no"]})
    with pytest.raises(ValueError, match=r"row 1, \(nan, 2, 'no'\): left is missing; fill it in"):
        Answers.read(frame)
    assert Answers.read(frame[:1]).pairs.tolist() == [[0, 1]]


def test_no_answers():
    answers = Answers()
    assert (len(answers), answers.n, answers.pairs.shape, answers.yes.dtype) == (0, 0, (0, 2), bool)
