"""The chart that steps through runs: what each question settles, what the page draws, and its still picture."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import reference
from naive import clusterings

from book.companion.charts import stepper
from book.text.plain import Page
from book.text.to_myst import to_myst
from crowder.resolution import Resolution


def run_in(order, labels):
    """Ask about the pairs in this order, but for what is implied."""
    answers = reference.ask_in_order(order, len(labels), lambda i, j: labels[i] == labels[j])
    return Resolution(list(answers), list(answers.values()), labels)


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 0, 1, 2, 2, 0]])
def test_a_question_settles_the_pairs_on_which_all_clusterings_that_remain_agree(labels):
    rng = np.random.default_rng(7)
    n, pairs = len(labels), list(combinations(range(len(labels)), 2))
    for _ in range(3):
        run = run_in([pairs[p] for p in rng.permutation(len(pairs))], labels)
        fit, table = list(clusterings(n)), stepper.settled(run)
        given = stepper.replayed(run, "abcdefg"[:n], np.eye(n), None, "")
        for at, (tints, done, words) in enumerate(
            zip(*(given[key] for key in ("tints", "settled", "words")), strict=True)
        ):
            if at:
                i, j = sorted(run.queries[at - 1])
                fit = [c for c in fit if (c[i] == c[j]) == run.answers[at - 1]]
            agreed = {(a, b): fit[0][a] == fit[0][b] for a, b in pairs if len({c[a] == c[b] for c in fit}) == 1}
            so_far = table[table["at"] <= at]
            assert dict(zip(zip(so_far["a"], so_far["b"], strict=True), so_far["same"], strict=True)) == agreed
            assert so_far[so_far["how"] == "asked"]["at"].tolist() == [*range(1, at + 1)]
            assert done == len(agreed)
            assert words.endswith(f"Asked {at}, inferred {len(agreed) - at}, open {len(pairs) - len(agreed)}.")
            for a, b in pairs:
                same = agreed.get((a, b), False)
                assert same == (tints[a] == tints[b] != stepper.SINGLE)
        assert done == len(pairs)


NAMES = ["r1", "r2", "r3", "r4", "r5"]
TEXTS = ["A", "B", "C", "D", "E"]


def test_words_say_the_step():
    # r1 = r2, r2 = r3 (so r1 = r3), r3 is not r4 (so neither are r1 and r2).
    run = Resolution([[0, 1], [1, 2], [3, 2]], [True, True, False], [0, 0, 0, 1])
    given = stepper.replayed(run, NAMES[:4], np.full((4, 4), 0.25), TEXTS[:4], "One place?")
    before, first, _, last = given["words"]
    assert before == "Before the first of 3 questions. Known to match: none yet. Asked 0, inferred 0, open 6."
    assert first.startswith("Question 1 of 3: r1 (A) and r2 (B), similarity 0.25? Yes. This settles no more pairs.")
    assert last == (
        "Question 3 of 3: r3 (C) and r4 (D), similarity 0.25? No. This settles 2 more pairs. "
        "Known to match: r1 r2 r3. Asked 3, inferred 3, open 0."
    )
    assert given["said"][::3] == ["No question yet.", "One place? Similarity 0.25. No. This settles 2 more pairs."]


def test_no_word_of_a_chart_ends_its_script():
    given = {"application/vnd.crowder.stepper+json": json.dumps({"names": ["</script>"]})}
    facts = {"crowder": {"kind": "stepper", "name": "fig-a"}}
    output = {"output_type": "display_data", "data": given, "metadata": facts}
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": "show()", "outputs": [output]}
    page = to_myst({"cells": [cell]}, Page(Path("notebooks/01-one.ipynb"), {}), "/files")
    text = page["cells"][0]["outputs"][0]["data"]["text/markdown"]
    settings, _, after = text.partition('data-figure="fig-a">')[2].partition("</script>")
    assert json.loads(settings) == {"names": ["</script>"]} and after.startswith("<script src=")
