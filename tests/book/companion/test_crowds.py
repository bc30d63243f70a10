"""The real crowds: reading their files."""

import numpy as np
import pytest

from book.companion import crowds


@pytest.fixture
def invented(tmp_path):
    """Four records, two entities; the pair (5, 7) is answered wrongly by two of three."""
    folder = tmp_path / "gym"
    folder.mkdir()
    (folder / "gold.txt").write_text("0,5,7\n1,6,9\n")
    scores = {(5, 7): 0.9, (6, 9): 0.8, (5, 6): 0.3, (5, 9): 0.2, (7, 6): 0.1, (7, 9): 1.5}
    (folder / "graph.txt").write_text("".join(f"{i},{j},{w}\n" for (i, j), w in scores.items()))
    votes = dict.fromkeys(scores, "0,0,0") | {(5, 7): "1,0,0", (6, 9): "1,1,1", (7, 9): "0,0"}
    (folder / "answers.txt").write_text("".join(f"{i},{j},{v}\n" for (i, j), v in votes.items()))
    return tmp_path


def test_a_crowd_is_read_in_the_order_of_its_records(invented):
    crowd = crowds.read(invented, "gym")
    assert crowd.labels.tolist() == [0, 1, 0, 1]  # records 5, 6, 7, 9
    # (5,6), (5,7), (5,9), (6,7), (6,9), (7,9); similarities are clipped to [0, 1]
    assert crowd.similarity.tolist() == [0.3, 0.9, 0.2, 0.1, 0.8, 1.0]
    assert crowd.votes[1].tolist() == [1, 0, 0] and np.isnan(crowd.votes[5]).tolist() == [False, False, True]
    assert crowd.oracle(1)(2, 0) and not crowd.oracle(3)(0, 2) and crowd.oracle(3)(1, 3)


def test_a_missing_pair_is_an_error(invented):
    path = invented / "gym" / "answers.txt"
    path.write_text("\n".join(path.read_text().splitlines()[1:]))
    with pytest.raises(ValueError, match="a pair has no similarity or no answer"):
        crowds.read(invented, "gym")
