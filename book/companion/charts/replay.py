"""Replay a run step by step: the question, what follows from its answer, and the clusters known so far.

Two rules settle pairs without a question (Section "System model"): a match of a match is a match, and a match of a
non-match is a non-match. So an answer settles its own pair and every pair that these rules then imply.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from crowder.resolution import Resolution

Pair = tuple[int, int]


class Step(NamedTuple):
    """One question, its answer, and what is known afterwards."""

    pair: Pair | None  # the pair asked about, smaller index first; None before the first question
    same: bool | None  # the answer: True for a match
    matches: tuple[Pair, ...]  # the other pairs that this answer settles, sorted
    nonmatches: tuple[Pair, ...]
    components: tuple[tuple[int, ...], ...]  # the clusters known so far, ordered by their first record
    asked: int  # how many pairs have been asked about, settled without a question, and not settled
    inferred: int
    left: int


def steps(run: Resolution) -> list[Step]:
    """Replay a run question by question.

    The first step is the state before the questions. A question about a settled pair is a ValueError.

    >>> replay = steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))
    >>> replay[2].pair, replay[2].same, replay[2].nonmatches  # 2 does not match 1, so it does not match 0
    ((1, 2), False, ((0, 2),))
    """
    n = len(run.clusters)
    pairs = list(combinations(range(n), 2))
    home = list(range(n))  # the first record of each record's component
    refused: list[Pair] = []
    known: dict[Pair, bool] = {}
    found = [Step(None, None, (), (), _listed(home), 0, 0, len(pairs))]
    for asked, ((i, j), same) in enumerate(zip(run.queries.tolist(), run.answers.tolist(), strict=True), start=1):
        pair = (min(i, j), max(i, j))
        if pair in known:
            raise ValueError(f"question {asked}, ({i}, {j}), was already settled")
        if same:
            first, second = sorted((home[i], home[j]))
            home = [first if at == second else at for at in home]
        else:
            refused.append(pair)
        apart = {frozenset((home[a], home[b])) for a, b in refused}
        now = {(a, b): home[a] == home[b] for a, b in pairs
               if home[a] == home[b] or frozenset((home[a], home[b])) in apart}  # fmt: skip
        new = {other: match for other, match in now.items() if other not in known and other != pair}
        known = now
        matches, nonmatches = (tuple(other for other in new if new[other] == kind) for kind in (True, False))
        found.append(
            Step(pair, same, matches, nonmatches, _listed(home), asked, len(now) - asked, len(pairs) - len(now))
        )
    return found


def settled(replay: Sequence[Step]) -> pd.DataFrame:
    """All settled pairs, with when and how they were settled.

    Columns: a and b, the records of the pair; at, the number of the question that settled it; how, "asked" or
    "inferred"; same, whether it is a match. Rows are in the order of the questions, with the asked pair first.

    >>> settled(steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1])))
       a  b  at       how   same
    0  0  1   1     asked   True
    1  1  2   2     asked  False
    2  0  2   2  inferred  False
    """
    rows = []
    for at, step in enumerate(replay):
        if step.pair is not None:
            rows.append((*step.pair, at, "asked", step.same))
        rows += [(*pair, at, "inferred", True) for pair in step.matches]
        rows += [(*pair, at, "inferred", False) for pair in step.nonmatches]
    return pd.DataFrame(rows, columns=["a", "b", "at", "how", "same"])


def words(replay: Sequence[Step], at: int, names: Sequence[str], similarity=None, texts=None) -> str:
    """A step in words, for readers who cannot see the chart.

    `at` is the number of the question, 0 before the first. With a matrix of similarities, the words include that of the
    pair, and with the texts of the records, those of the two records.

    >>> replay = steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))
    >>> words(replay, 2, "abc")
    'Question 2 of 2: b and c? No. This settles 1 more pair. Known to be one: a b. Asked 2, inferred 1, open 0.'
    """
    last = len(replay) - 1
    step = replay[at]
    joined = [" ".join(names[record] for record in part) for part in step.components if len(part) > 1]
    known = f"Known to be one: {'; '.join(joined) or 'none yet'}. "
    counted = f"Asked {step.asked}, inferred {step.inferred}, open {step.left}."
    if step.pair is None:
        return f"Before the first of {last} questions. {known}{counted}"
    i, j = step.pair
    beside = "" if similarity is None else f", similarity {similarity[i][j]:.2f}"
    first, second = (names[k] if texts is None else f"{names[k]} ({texts[k]})" for k in (i, j))
    return f"Question {at} of {last}: {first} and {second}{beside}? {said(step)} {known}{counted}"


def said(step: Step) -> str:
    """The answer to a question, and how many other pairs it settles.

    >>> said(steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))[2])
    'No. This settles 1 more pair.'
    """
    more = len(step.matches) + len(step.nonmatches)
    return f"{'Yes' if step.same else 'No'}. This settles {more or 'no'} more pair{'s' if more != 1 else ''}."


def _listed(home: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The components, by the first record of each record's."""
    return tuple(tuple(record for record, at in enumerate(home) if at == first) for first in sorted(set(home)))
