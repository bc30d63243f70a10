"""Questions to ask at once, and orderings that know the answers so far.

No question of a batch can be implied by the others, whatever their answers: each is still open when all before it have
been answered "same". (Answers "same" imply the most: a question that they leave open, others leave open, too.)

*Edge ordering* can be cut into batches for nothing. Walk the pairs as it does; take a pair if it is open, and would be
even if all open pairs before it, taken or not, were matches. Then every question is one that edge ordering would ask
anyway, and none of those is missed. (Wang, Li, Kraska, Franklin and Feng, 2013, ask in parallel by such a rule.)

The other orderings look at answers to choose, so a batch supposes "same" while it lasts, and may ask a little more.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.beyond.evidence_ordering import EvidenceOrdering
from crowder.engine import LOW
from crowder.orderings import EdgeOrdering, NodeOrdering, Ordering
from crowder.pairs import candidates
from crowder.validation import Seed

__all__ = ["STRATEGIES", "batch_of", "informed", "named", "not_settled"]

#: The orderings by their names.
STRATEGIES: dict[str, type[Ordering]] = {"edge": EdgeOrdering, "node": NodeOrdering, "evidence": EvidenceOrdering}


def named(strategy: str | type[Ordering]) -> tuple[str, type[Ordering]]:
    """The name and the class of a strategy: one of `STRATEGIES` by its name, or a class of ordering itself.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> named("edge")[1] is EdgeOrdering, named(EdgeOrdering)[0]
    (True, 'EdgeOrdering')
    """
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return strategy, STRATEGIES[strategy]
    if isinstance(strategy, type) and issubclass(strategy, Ordering):
        return strategy.__name__, strategy
    raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)} or a class of ordering, not {strategy!r}")


def informed(
    strategy: str | type[Ordering], similarity: Any, pairs: Any = (), same: Any = (), *, rng: Seed
) -> Ordering:
    """An ordering that knows these answers; those that are implied by the ones before them are passed over.

    Examples
    --------
    >>> informed("edge", [0.9, 0.8, 0.1], [(0, 1)], [True], rng=7).ask()
    (0, 2)
    """
    _, make = named(strategy)
    for answers, name in ((pairs, "pairs"), (same, "same")):
        validation.kind(answers, Sized, f"{name} must be a list, one a question")
    if issubclass(make, NodeOrdering) and len(pairs):
        # Answers that did not come in its own order may leave a record with a match open to other clusters. Node
        # ordering looks out for that where pairs may be missing, so they are handed over one by one.
        n = candidates(similarity).n
        if max(map(max, pairs)) >= n:
            raise ValueError(f"there is an answer about record {max(map(max, pairs))}; there are {n}, 0 to {n - 1}")
        similarity = sparse.coo_array((similarity, np.triu_indices(n, 1)), shape=(n, n))
    ordering = make(similarity, rng=rng)  # type: ignore[call-arg]  # that a strategy takes rng= is its promise
    if len(pairs) != len(same):
        raise ValueError(f"there are {len(pairs)} pairs and {len(same)} answers")
    for (i, j), answer in zip(pairs, same, strict=True):
        ordering.learn((i, j), bool(answer))
    return ordering


def batch_of(
    strategy: str | type[Ordering], similarity: Any, size: int, pairs: Any = (), same: Any = (), *, rng: Seed
) -> list[tuple[int, int]]:
    """Questions to ask at once, the most pressing first.

    Parameters
    ----------
    strategy : {"edge", "node", "evidence"} or subclass of `crowder.Ordering`
        A class is called with the similarity and ``rng``.
    similarity : ndarray, shape (n(n-1)/2,)
    size : int
        The most questions wanted. There may be fewer: no more than records, less one.
    pairs, same : array_like of int (q, 2) and of bool (q,)
        Answers so far.
    rng : int or numpy.random.Generator, keyword only
        The same seed all along: it breaks the ties.

    Returns
    -------
    list of tuple of int
        Empty only when every pair is settled.

    Raises
    ------
    ValueError
        For another strategy, or a size below 1.

    Notes
    -----
    O(n²) for edge ordering. Not in the paper, whose crowd answers one question at a time.

    Examples
    --------
    >>> batch_of("edge", [0.9, 0.8, 0.1], 5, rng=7)  # (0, 2) as well; then (1, 2) may be implied
    [(0, 1), (0, 2)]
    """
    validation.whole(size, "the size of a batch", least=1)
    ordering = informed(strategy, similarity, pairs, same, rng=rng)
    if isinstance(ordering, EdgeOrdering):
        return _of_edges(ordering, size)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < size and (pair := ordering.ask()) is not None:
        chosen.append(pair)
        ordering.tell(pair, True)
    return chosen


def not_settled(codes: Any, component: Any, differ: Any) -> np.ndarray:
    """Of packed pairs, the places of those that are open, one for each two components, in order.

    ``component`` (n,) numbers the component of each record from 0, ``differ`` (k, k) tells which are known to differ.

    Examples
    --------
    >>> not_settled(np.array([1, 2, (1 << 32) | 2]), np.array([0, 0, 1]), np.zeros((2, 2), bool))
    array([1])
    """
    a, b = component[codes >> 32], component[codes & LOW]
    low, high = np.minimum(a, b), np.maximum(a, b)
    free = np.flatnonzero((low != high) & ~differ[low, high])
    _, first = np.unique(low[free] * len(differ) + high[free], return_index=True)
    return free[np.sort(first)]


def _of_edges(ordering: EdgeOrdering, size: int) -> list[tuple[int, int]]:
    component = np.unique(ordering._knowledge.component, return_inverse=True)[1]
    k = int(component.max(initial=-1)) + 1
    differ = np.zeros((k, k), dtype=bool)
    told = ordering.resolution
    for i, j in told.queries[~told.answers]:
        differ[component[i], component[j]] = differ[component[j], component[i]] = True
    codes = ordering._walk.codes
    group, differ_now, chosen = np.arange(k), differ.copy(), list[tuple[int, int]]()
    left = k
    for at in not_settled(codes, component, differ):
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
