"""A run told step by step: what was asked, what followed from the answer, which records are one entity by then.

Two rules settle pairs without a question (Section "System model"): a match of a match is a match, and a match of a
non-match is a non-match. So an answer settles its own pair and, at once, every pair that it lets the rules reach.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from itertools import product
from typing import NamedTuple

import pandas as pd

from crowder import validation
from crowder.resolution import Resolution

__all__ = ["Step", "settled", "steps", "words"]

Pair = tuple[int, int]


class Step(NamedTuple):
    """One question, its answer, and what is known then.

    Attributes
    ----------
    pair : tuple of int, or None
        The pair asked about, smaller index first; None before the first question.
    same : bool, or None
        The answer: True for a match.
    matches, nonmatches : tuple of tuple of int
        The pairs that the rules settle because of this answer, sorted; `pair` is not among them.
    components : tuple of tuple of int
        The records by what is known to match, each component sorted, the components by their first record.
    asked, inferred, left : int
        How many pairs were asked about so far, how many were settled without a question, how many are open.

    Examples
    --------
    >>> Step((0, 1), True, (), (), ((0, 1),), 1, 0, 0).settles
    1
    """

    pair: Pair | None
    same: bool | None
    matches: tuple[Pair, ...]
    nonmatches: tuple[Pair, ...]
    components: tuple[tuple[int, ...], ...]
    asked: int
    inferred: int
    left: int

    @property
    def settles(self) -> int:
        """How many pairs this answer settles, its own among them; 0 before the first question."""
        return (self.pair is not None) + len(self.matches) + len(self.nonmatches)


def steps(run: Resolution) -> list[Step]:
    """Tell a run question by question.

    Parameters
    ----------
    run : Resolution
        The questions and answers of an ordering, or any others that ask about nothing settled.

    Returns
    -------
    list of Step
        One more than there are questions: the first is the state before any.

    Raises
    ------
    ValueError
        If a pair is asked about that the answers before it settle, or that is no pair of records.

    Notes
    -----
    Every pair is settled once, so the whole takes O(n²) time and memory beside the components that each step lists.

    Examples
    --------
    >>> told = steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))
    >>> told[1].components, told[1].left
    (((0, 1), (2,)), 2)
    >>> told[2].pair, told[2].same, told[2].nonmatches  # 2 differs from 1, so from 0
    ((1, 2), False, ((0, 2),))
    """
    n = len(validation.kind(run, Resolution, "run must be a Resolution").clusters)
    home = list(range(n))  # the first record of each record's component
    members = {record: [record] for record in range(n)}
    apart: dict[int, set[int]] = {record: set() for record in range(n)}
    pairs, inferred = n * (n - 1) // 2, 0
    told = [Step(None, None, (), (), _listed(members), 0, 0, pairs)]
    for asked, ((i, j), same) in enumerate(zip(run.queries.tolist(), run.answers.tolist(), strict=True), start=1):
        if not (0 <= min(i, j) and max(i, j) < n and i != j):
            raise ValueError(f"question {asked}, ({i}, {j}), is no pair of {n} records")
        a, b = sorted((home[i], home[j]))
        if a == b or b in apart[a]:
            raise ValueError(f"question {asked}, ({i}, {j}), was settled by the answers before it")
        pair = (min(i, j), max(i, j))
        across = _across(members[a], members[b], but=pair)
        if same:
            matches = across
            # What differs from one half, and is not known to differ from the other, differs from both now.
            reached = [(b, other) for other in apart[a] - apart[b]] + [(a, other) for other in apart[b] - apart[a]]
            nonmatches = tuple(sorted(p for one, other in reached for p in _across(members[one], members[other])))
            for record in members[b]:
                home[record] = a
            members[a] = sorted(members[a] + members.pop(b))
            apart[a] |= apart.pop(b)
            for other in apart[a]:
                apart[other] = (apart[other] - {b}) | {a}
        else:
            matches, nonmatches = (), across
            apart[a].add(b)
            apart[b].add(a)
        inferred += len(matches) + len(nonmatches)
        left = pairs - asked - inferred
        told.append(Step(pair, same, matches, nonmatches, _listed(members), asked, inferred, left))
    return told


def settled(told: Sequence[Step]) -> pd.DataFrame:
    """Every settled pair, when and how.

    Parameters
    ----------
    told : sequence of Step
        As `steps` gives them.

    Returns
    -------
    DataFrame
        Columns a and b, the pair's records; at, the number of the question that settled it; how, "asked" or
        "inferred"; same, whether it is a match. Rows in order of at, the pair asked first.

    Examples
    --------
    >>> settled(steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1])))
       a  b  at       how   same
    0  0  1   1     asked   True
    1  1  2   2     asked  False
    2  0  2   2  inferred  False
    """
    rows = []
    for at, step in enumerate(_told(told)):
        if step.pair is not None:
            rows.append((*step.pair, at, "asked", step.same))
        rows += [(*pair, at, "inferred", True) for pair in step.matches]
        rows += [(*pair, at, "inferred", False) for pair in step.nonmatches]
    return pd.DataFrame(rows, columns=["a", "b", "at", "how", "same"])


def words(told: Sequence[Step], at: int, names: Sequence[str], similarity=None) -> str:
    """A step in words, for whoever does not see the picture.

    Parameters
    ----------
    told : sequence of Step
    at : int
        The number of the question; 0 before the first, and beyond the last the end.
    names : sequence of str
        The records' names.
    similarity : array_like, shape (n, n), optional
        Said beside the pair, where given.

    Returns
    -------
    str

    Examples
    --------
    >>> told = steps(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))
    >>> words(told, 2, "abc")
    'Question 2 of 2: b and c? No. This settles 1 more pair. Known to be one: a b. Asked 2, inferred 1, open 0.'
    """
    last = len(_told(told)) - 1
    validation.kind(names, Sized, "names must be those of the records, in order")
    if validation.whole(at, "the number of a question", least=-(2**63)) < 0 or len(names) != sum(
        map(len, told[0].components)
    ):
        raise ValueError(f"needs a question from 0 on, not {at}, and a name for each record, not {len(names)}")
    if similarity is not None:
        similarity = validation.numbers(similarity, "similarity")
        if similarity.shape != (len(names), len(names)):
            raise ValueError(f"similarity must have a value for each two records, not the shape {similarity.shape}")
    step = told[min(at, last)]
    joined = [" ".join(names[record] for record in part) for part in step.components if len(part) > 1]
    known = f"Known to be one: {'; '.join(joined) or 'none yet'}. "
    counted = f"Asked {step.asked}, inferred {step.inferred}, open {step.left}."
    if step.pair is None:
        return f"Before the first of {last} questions. {known}{counted}"
    if at > last:
        return f"Done after question {last}. {known}{counted}"
    i, j = step.pair
    beside = "" if similarity is None else f", similarity {similarity[i][j]:.2f}"
    more = step.settles - 1
    return (
        f"Question {at} of {last}: {names[i]} and {names[j]}{beside}? {'Yes' if step.same else 'No'}. This settles "
        f"{more or 'no'} more pair{'s' if more != 1 else ''}. {known}{counted}"
    )


def _told(told) -> Sequence[Step]:
    validation.kind(told, Sequence, "steps come from `steps`, as a list")
    for step in told:
        validation.kind(step, Step, "steps come from `steps`")
    if not told:
        raise ValueError("there is no step: the first is the state before any question")
    return told


def _across(these: Sequence[int], those: Sequence[int], but: Pair | None = None) -> tuple[Pair, ...]:
    """The pairs between two components, smaller index first, sorted."""
    return tuple(sorted(p for i, j in product(these, those) if (p := (min(i, j), max(i, j))) != but))


def _listed(members: dict[int, list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(members[first]) for first in sorted(members))
