"""Batches of questions to ask in parallel, and orderings that continue from the answers so far.

A batch first has questions that no answers to the others can imply: each is still open if all before it are answered
"same", which implies the most. If it is to be larger, the ordering goes on as if the answers were the expected ones.
Where they are not, some of these questions are wasted: `expected_waste` says how many.

*Edge ordering* can be asked in batches of the first kind at no extra cost. Go through its pairs in order, and take a
pair if it is open and would be open if all open pairs before it, taken or not, were matches. Every pair taken is one
that edge ordering would ask about, and none of those is missed. (Wang, Li, Kraska, Franklin and Feng, 2013, ask in
parallel by a similar rule.) Other orderings choose questions by the answers. For them a batch assumes "same", and may
therefore ask a few more; where an audit draws pairs that are hardly ever matches, it assumes "different".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.beyond.audit import Audit
from crowder.beyond.evidence_ordering import EvidenceOrdering
from crowder.constraints import open_pairs
from crowder.engine import LOW
from crowder.oracles import Truth
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering
from crowder.pairs import Candidates, candidates
from crowder.validation import Seed

__all__ = [
    "STRATEGIES", "expected_waste", "name_and_class", "ordering_with_answers", "pilot", "question_batch",
    "waste_free_questions",
]  # fmt: skip

#: The orderings by name.
STRATEGIES: dict[str, type[Ordering]] = {"edge": EdgeOrdering, "node": NodeOrdering, "evidence": EvidenceOrdering}


#: Questions of a pilot: at most so many, and one for so many records; the last rank is so many for each record.
PILOT, RECORDS, REACH = 50, 10, 50


def name_and_class(strategy: str | type[Ordering]) -> tuple[str, type[Ordering]]:
    """The name and the class of a strategy, which is a key of `STRATEGIES` or a subclass of `crowder.Ordering`.

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
    if len(pairs) != len(same):
        raise ValueError(f"pairs and same must have the same length, not {len(pairs)} and {len(same)}")
    similarity = candidates(similarity)
    if issubclass(make, NodeOrdering) and len(pairs):
        # After answers in another order, a record may have a match and still be open to other clusters. Node ordering
        # allows for this only if pairs may be missing.
        similarity = _listed(similarity)
    ordering = make(similarity, rng=rng)  # type: ignore[call-arg, arg-type]  # a strategy must accept rng=
    for (i, j), answer in zip(pairs, same, strict=True):
        ordering.learn((i, j), bool(answer))
    return ordering


def pilot(pairs: Candidates, answered: int = 0) -> list[tuple[int, int]]:
    """Pairs to ask about first: 50, or one for each ten records if fewer; none once there are as many answers.

    Their ranks by falling similarity have equal ratios, from n/50 to 50n, for n records.

    Examples
    --------
    >>> pilot(candidates(np.arange(780)[::-1] / 780))
    [(0, 1), (0, 9), (2, 9), (38, 39)]
    """
    size, codes = min(PILOT, pairs.n // RECORDS), pairs.sorted[1]
    if pairs.tables is not None:
        codes = codes[pairs.tables[codes >> 32] != pairs.tables[codes & LOW]]
    if answered >= size or not len(codes):
        return []
    first, last = (min(rank, len(codes)) for rank in (1 + pairs.n // REACH, REACH * pairs.n))
    ranks = np.unique(np.geomspace(first, last, size).astype(int))
    return [(int(code >> 32), int(code & LOW)) for code in codes[ranks - 1]]


def question_batch(
    ordering: str | type[Ordering],
    similarity: Any,
    size: int,
    pairs: Any = (),
    same: Any = (),
    *,
    first: Iterable[tuple[int, int]] = (),
    last: Iterable[tuple[int, int]] = (),
    expected: Callable[[int, int], bool] | None = None,
    rng: Seed,
) -> list[tuple[int, int]]:
    """Questions to ask in parallel, first those that no answers to the others can imply.

    Parameters
    ----------
    ordering : {"edge", "node", "evidence"} or subclass of `crowder.Ordering`
        A class is called with the candidate pairs and ``rng``.
    similarity
        In any form that `crowder.pairs.candidates` takes.
    size : int
        Most questions in the batch. There are fewer only if the expected answers would settle every pair.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    first : iterable of tuple of int, keyword only
        Pairs to ask about before all others, such as those of a `pilot`.
    last : iterable of tuple of int, keyword only
        Pairs to ask about only after all others, such as those about which somebody was unsure. (Evidence ordering
        needs every pair, and meanwhile assumes the expected answers to them.)
    expected : callable, keyword only
        ``expected(i, j)`` says whether two records probably match. By default no two do.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties; use the same seed for all batches.

    Returns
    -------
    list of tuple of int
        Empty only when every pair is settled.

    Raises
    ------
    ValueError
        If `ordering` is not one of these, or `size` is less than 1.

    Notes
    -----
    O(m log m) for m candidate pairs. Not in the paper, where the crowd answers one question at a time.

    Examples
    --------
    >>> question_batch("edge", [0.9, 0.8, 0.1], 2, rng=7)
    [(0, 1), (0, 2)]
    >>> question_batch("edge", [0.9, 0.8, 0.1], 5, rng=7)  # (1, 2) unless both match
    [(0, 1), (0, 2), (1, 2)]
    """
    validation.whole(size, "size, the number of questions,", least=1)
    every, late = candidates(similarity), {(int(min(pair)), int(max(pair))) for pair in last}
    if late and issubclass(name_and_class(ordering)[1], EvidenceOrdering):
        more = size + len(late)
        batch = question_batch(ordering, every, more, pairs, same, first=first, expected=expected, rng=rng)
        return sorted(batch, key=lambda pair: (min(pair), max(pair)) in late)[:size]
    guess, assumed = expected or (lambda i, j: False), dict[tuple[int, int], bool]()
    for pool in (_listed(every, late), every) if late else (every,):
        answers, begun = [*same, *assumed.values()], bool(assumed)
        ahead = ordering_with_answers(ordering, pool, [*pairs, *assumed], answers, rng=deepcopy(rng))
        for pair in [] if begun else first:
            if len(assumed) < size and pair not in late and not ahead.settled(*pair):
                assumed[pair] = bool(guess(*pair))
                ahead.learn(pair, assumed[pair])
        for pair in [] if begun else waste_free_questions(deepcopy(ahead), size - len(assumed)):
            assumed[pair] = bool(guess(*pair))
            ahead.learn(pair, assumed[pair])
        while len(assumed) < size and (pair := ahead.ask()) is not None:
            assumed[pair] = bool(guess(*pair))
            ahead.tell(pair, assumed[pair])
    return list(assumed)


def waste_free_questions(ahead: Ordering, size: int) -> list[tuple[int, int]]:
    """At most `size` questions, none of which can be implied by answers to the others; they use up the ordering.

    Examples
    --------
    >>> waste_free_questions(EdgeOrdering([0.9, 0.8, 0.1], rng=7), 5)  # not (1, 2), which the others may imply
    [(0, 1), (0, 2)]
    """
    chosen: list[tuple[int, int]] = []
    if not isinstance(ahead, EdgeOrdering):
        while len(chosen) < size and (pair := ahead.ask()) is not None:
            chosen.append(pair)
            ahead.tell(pair, not (isinstance(ahead, Audit) and ahead.auditing))
        return chosen
    left = len(np.unique(ahead._knowledge.component))
    for code in open_pairs(ahead._walk.codes, ahead._knowledge, ahead._candidates.tables).tolist():
        i, j = code >> 32, code & LOW
        if len(chosen) == size or left == 1:
            break
        if ahead._knowledge.component[i] != ahead._knowledge.component[j]:
            if not ahead.settled(i, j):
                chosen.append((i, j))
            ahead._learn(i, j, True)
            left -= 1
    return chosen


def expected_waste(batch: Sequence[tuple[int, int]], draws: Sequence[Any], pairs: Any = (), same: Any = ()) -> float:
    r"""The mean number of questions of a batch that are implied once those before it have been answered.

    .. math:: \frac1D \sum_{d=1}^D \sum_{q} [\text{the answers of clustering } d \text{ to questions }
        1, \dots, q - 1 \text{ imply the answer to } q]

    Parameters
    ----------
    batch : sequence of tuple of int
        The questions, in order; a ValueError if a pair is in it twice.
    draws : sequence of array_like, shape (n,)
        Clusterings, at least one, each with the label of every record. O(b log b + n + q) for each.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far, which all clusterings agree with.

    Examples
    --------
    >>> expected_waste([(0, 1), (0, 2), (1, 2)], [[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 0]])
    0.75
    """
    if not len(draws):
        raise ValueError("draws must have at least one clustering")
    if not len(batch):
        return 0.0
    if len({frozenset(pair) for pair in batch}) < len(batch):
        raise ValueError("batch must have different pairs")
    n, falling = len(draws[0]), 1 - np.arange(len(batch)) / len(batch)  # edge ordering keeps the order of the batch
    in_order = sparse.coo_array((falling, np.array(batch).T), shape=(n, n))
    known, needed = ordering_with_answers("edge", in_order, pairs, same, rng=0), 0
    for labels in draws:
        needed += deepcopy(known).run(Truth(labels)).n_queries - known.n_queries
    return len(batch) - needed / len(draws)


def _listed(pairs: Candidates, without: Iterable[tuple[int, int]] = ()) -> Candidates:
    """The candidate pairs as a list, some of them left out."""
    values, codes = pairs.listed()
    kept = ~np.isin(codes, np.array([i << 32 | j for i, j in without], np.int64))
    return replace(pairs, complete=False, _square=None, _values=values[kept], _codes=codes[kept])
