"""Batches of questions to ask in parallel, and orderings that continue from the answers so far.

No question of a batch can be implied by answers to the others: each is still open if all questions before it are
answered "same". (These answers imply the most; a question that they leave open is left open by all others.)

*Edge ordering* can be asked in batches at no extra cost. Go through its pairs in order, and take a pair if it is open
and would be open if all open pairs before it, taken or not, were matches. Every pair taken is one that edge ordering
would ask about, and none of those is missed. (Wang, Li, Kraska, Franklin and Feng, 2013, ask in parallel by a similar
rule.)

Other orderings choose questions by the answers. A batch assumes the answer "same" to each of its questions, and may
therefore ask a few more. An audit (`crowder.Audit`) draws pairs that are hardly ever matches: for these a batch assumes
the answer "different", and if some match, another of its questions may be implied.

Strategies that keep contradicting answers ask what other answers imply, on purpose. A batch for them (`next_questions`)
assumes that the answer to each of its questions agrees with the clusters so far.
"""

from __future__ import annotations

from collections.abc import Sized
from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.beyond.audit import Audit
from crowder.beyond.evidence_ordering import EvidenceOrdering
from crowder.beyond.kept_answers import KeptAnswers
from crowder.engine import LOW
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering
from crowder.pairs import candidates
from crowder.validation import Seed

__all__ = ["STRATEGIES", "name_and_class", "next_questions", "ordering_with_answers", "question_batch"]

#: The orderings by name.
STRATEGIES: dict[str, type[Ordering]] = {"edge": EdgeOrdering, "node": NodeOrdering, "evidence": EvidenceOrdering}


def name_and_class(strategy: str | type[Ordering]) -> tuple[str, type[Ordering]]:
    """The name and the class of a strategy, which is a key of `STRATEGIES` or a subclass of `crowder.Ordering`.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> name_and_class("edge")[1] is EdgeOrdering, name_and_class(EdgeOrdering)[0]
    (True, 'EdgeOrdering')
    """
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return strategy, STRATEGIES[strategy]
    if isinstance(strategy, type) and issubclass(strategy, Ordering):
        return strategy.__name__, strategy
    raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)} or a subclass of Ordering, not {strategy!r}")


def ordering_with_answers(
    strategy: str | type[Ordering], similarity: Any, pairs: Any = (), same: Any = (), *, rng: Seed
) -> Ordering:
    """An ordering to which these answers have been given; answers that earlier ones imply are skipped.

    Examples
    --------
    >>> ordering_with_answers("edge", [0.9, 0.8, 0.1], [(0, 1)], [True], rng=7).ask()
    (0, 2)
    """
    _, make = name_and_class(strategy)
    for answers, name in ((pairs, "pairs"), (same, "same")):
        validation.kind(answers, Sized, f"{name} must be a list with one element for each answer")
    if issubclass(make, NodeOrdering) and len(pairs):
        # After answers in another order, a record may have a match and still be open to other clusters. Node ordering
        # allows for this only if pairs may be missing, so the same pairs are passed as a sparse matrix.
        n = candidates(similarity).n
        similarity = sparse.coo_array((similarity, np.triu_indices(n, 1)), shape=(n, n))
    ordering = make(similarity, rng=rng)  # type: ignore[call-arg]  # a strategy must accept rng=
    if len(pairs) != len(same):
        raise ValueError(f"pairs and same must have the same length, not {len(pairs)} and {len(same)}")
    for (i, j), answer in zip(pairs, same, strict=True):
        ordering.learn((i, j), bool(answer))
    return ordering


def question_batch(
    strategy: str | type[Ordering], similarity: Any, size: int, pairs: Any = (), same: Any = (), *, rng: Seed
) -> list[tuple[int, int]]:
    """Questions to ask in parallel, in the order in which the strategy would ask them.

    Parameters
    ----------
    strategy : {"edge", "node", "evidence"} or subclass of `crowder.Ordering`
        A class is called with the similarity and ``rng``.
    similarity : ndarray, shape (n(n-1)/2,)
    size : int
        Most questions in the batch. There may be fewer, and there are at most n - 1.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties; use the same seed for all batches.

    Returns
    -------
    list of tuple of int
        Empty only when every pair is settled.

    Raises
    ------
    ValueError
        If `strategy` is not one of these, or `size` is less than 1.

    Notes
    -----
    O(n²) for edge ordering. Not in the paper, where the crowd answers one question at a time.

    Examples
    --------
    >>> question_batch("edge", [0.9, 0.8, 0.1], 5, rng=7)  # not (1, 2), which the others may imply
    [(0, 1), (0, 2)]
    """
    validation.whole(size, "size, the number of questions,", least=1)
    ordering = ordering_with_answers(strategy, similarity, pairs, same, rng=rng)
    if isinstance(ordering, EdgeOrdering):
        return _edge_batch(ordering, size)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < size and (pair := ordering.ask()) is not None:
        chosen.append(pair)
        ordering.tell(pair, not (isinstance(ordering, Audit) and ordering.auditing))
    return chosen


def next_questions(strategy: KeptAnswers, size: int) -> list[tuple[int, int]]:
    """Questions to ask in parallel for a strategy that keeps contradicting answers.

    The first is the open question of the strategy. The others are what a copy of it asks next if every answer agrees
    with its clusters at that moment. Where an answer does not, later questions of the batch may be unnecessary.

    Parameters
    ----------
    strategy : KeptAnswers
        It knows the answers so far (`KeptAnswers.learn`).
    size : int
        Most questions in the batch.

    Returns
    -------
    list of tuple of int
        Different pairs; empty at the end of the strategy. There may be fewer than `size` before, since a strategy may
        ask about the same pairs again and again: the copy is asked at most ten times as many questions.

    Raises
    ------
    TypeError
        If it is not a strategy of this kind, or cannot be copied (`NoisyQueries`): then ask one question at a time.
    ValueError
        If `size` is less than 1.

    Notes
    -----
    A copy of the strategy, O(n²), and its clusters after each question. On 75 invented records with 5 % wrong answers,
    `ControlQueries` asks 568 questions one at a time, 584 in batches of 10, and 576 in batches of 50. If "unsure" is
    assumed for each question instead, it asks 1,223 and 1,969 (means of three runs).

    See Also
    --------
    crowder.practice.sheets.question_sheet : the questions as a sheet.
    crowder.practice.sheets.read_votes : the answers in it.

    Examples
    --------
    >>> from crowder.beyond.control_queries import ControlQueries
    >>> next_questions(ControlQueries([0.9, 0.8, 0.1], rng=7), 5)
    [(0, 1), (0, 2), (1, 2)]
    """
    validation.kind(strategy, KeptAnswers, "strategy must keep contradicting answers, such as ControlQueries")
    validation.whole(size, "size, the number of questions,", least=1)
    strategy.ask()  # on the strategy itself, because a search for a question may change its state
    try:
        ahead = deepcopy(strategy)
    except TypeError as error:
        name = type(strategy).__name__
        raise TypeError(f"a strategy must be copied for a batch; ask {name} one question at a time: {error}") from None
    chosen: dict[frozenset[int], tuple[int, int]] = {}
    for _ in range(10 * size):
        if len(chosen) == size or (pair := ahead.ask()) is None:
            break
        chosen.setdefault(frozenset(pair), pair)
        labels = ahead.clusters
        ahead.tell(pair, bool(labels[pair[0]] == labels[pair[1]]))
    return list(chosen.values())


def _open_positions(codes: Any, component: Any, differ: Any) -> np.ndarray:
    """The positions of open pairs among the packed pairs, the first between any two components, in order.

    `component` (n,) numbers the component of each record, `differ` (k, k) says which components are known to differ.

    Examples
    --------
    >>> _open_positions(np.array([1, 2, (1 << 32) | 2]), np.array([0, 0, 1]), np.zeros((2, 2), bool))
    array([1])
    """
    a, b = component[codes >> 32], component[codes & LOW]
    low, high = np.minimum(a, b), np.maximum(a, b)
    free = np.flatnonzero((low != high) & ~differ[low, high])
    _, first = np.unique(low[free] * len(differ) + high[free], return_index=True)
    return free[np.sort(first)]


def _edge_batch(ordering: EdgeOrdering, size: int) -> list[tuple[int, int]]:
    component = np.unique(ordering._knowledge.component, return_inverse=True)[1]
    k = int(component.max(initial=-1)) + 1
    differ = np.zeros((k, k), dtype=bool)
    answered = ordering.resolution
    for i, j in answered.queries[~answered.answers]:
        differ[component[i], component[j]] = differ[component[j], component[i]] = True
    codes = ordering._walk.codes
    group, differ_now, chosen = np.arange(k), differ.copy(), list[tuple[int, int]]()
    left = k
    for at in _open_positions(codes, component, differ):
        i, j = int(codes[at] >> 32), int(codes[at] & LOW)
        a, b = group[component[i]], group[component[j]]
        if a == b:
            continue
        if not differ_now[a, b]:
            chosen.append((i, j))
            if len(chosen) == size:
                break
        group[group == b] = a
        differ_now[a] |= differ_now[b]
        differ_now[:, a] |= differ_now[:, b]
        left -= 1
        if left == 1:
            break
    return chosen
