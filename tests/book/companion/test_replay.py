"""A replayed run, compared with the clusterings that remain possible."""

from itertools import combinations

import numpy as np
import pytest
import reference
from naive import clusterings

from book.companion.charts import replay
from crowder.resolution import Resolution


def run_in(order, labels):
    """Ask about the pairs in this order, but for what is implied."""
    answers = reference.ask_in_order(order, len(labels), lambda i, j: labels[i] == labels[j])
    return Resolution(list(answers), list(answers.values()), labels)


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 0, 1, 2, 2, 0]])
def test_a_step_settles_the_pairs_on_which_all_clusterings_that_remain_agree(labels):
    rng = np.random.default_rng(7)
    pairs = list(combinations(range(len(labels)), 2))
    for _ in range(3):
        run = run_in([pairs[p] for p in rng.permutation(len(pairs))], labels)
        fit, found, known = list(clusterings(len(labels))), replay.steps(run), {}
        for at, step in enumerate(found[1:], start=1):
            i, j = step.pair
            fit = [c for c in fit if (c[i] == c[j]) == step.same]
            agreed = {(a, b): fit[0][a] == fit[0][b] for a, b in pairs if len({c[a] == c[b] for c in fit}) == 1}
            gained = {pair: same for pair, same in agreed.items() if pair not in known and pair != step.pair}
            assert dict.fromkeys(step.matches, True) | dict.fromkeys(step.nonmatches, False) == gained
            assert (step.asked, step.inferred, step.left) == (at, len(agreed) - at, len(pairs) - len(agreed))
            together = {pair for part in step.components for pair in combinations(part, 2)}
            assert together == {pair for pair, same in agreed.items() if same}
            known = agreed
            so_far = (settled := replay.settled(found))[settled["at"] <= at]
            assert dict(zip(zip(so_far.a, so_far.b, strict=True), so_far.same, strict=True)) == agreed
        assert step.left == 0


def test_a_settled_question_is_refused():
    with pytest.raises(ValueError, match=r"question 3, \(0, 2\), was already settled"):
        replay.steps(Resolution([[0, 1], [1, 2], [0, 2]], [True, True, True], [0, 0, 0]))
