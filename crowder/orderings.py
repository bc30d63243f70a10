"""The paper's two heuristics as ask/tell objects.

Both go through the candidate pairs in an order determined by the similarities, skip every pair whose answer already
follows by transitivity (a match of a match is a match, a match of a non-match is a non-match), and ask about the rest:
`EdgeOrdering` (Wang, Li, Kraska, Franklin and Feng, 2013) and `NodeOrdering` (Vesdapunt, Bellare and Dalvi, 2014).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks, engine
from crowder.checks import Seed, Shown
from crowder.engine import ASKED, ELSEWHERE
from crowder.oracles import Oracle, Truth, begin, callable_oracle, same_records, two_records, unsure
from crowder.pairs import Candidates, EdgeWalk, by_arrival, candidates, edge_sort, shuffle_ties, unpack
from crowder.resolution import Resolution

__all__ = ["EdgeOrdering", "NodeOrdering", "Ordering", "edge_ordering", "node_ordering"]

#: Expected cluster sizes are compared to this many decimals, so that rounding errors in sums do not break ties.
SIZE_DECIMALS = 9

NONE = np.empty(0, np.float64)


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R = TypeVar("R", bound=Resolution, covariant=True, default=Resolution)
else:
    from typing import TypeVar

    R = TypeVar("R", covariant=True)


class Ordering(Shown, ABC, Generic[R]):
    """Base class of orderings: `ask` returns the next question, `tell` records its answer, `resolution` is the result
    so far.

    A new ordering is a subclass that defines `next_question`, for which `settled` says whether the answer about a pair
    is already implied. It works with `crowder.beyond.Stopping` and `crowder.beyond.Audit` as those of the paper do.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        As for `EdgeOrdering`.

    See Also
    --------
    EdgeOrdering : asks about pairs in decreasing order of similarity.
    NodeOrdering : places records one by one.

    Examples
    --------
    Ask in random order, whatever the similarities:

    >>> class RandomOrdering(Ordering):
    ...     def __init__(self, similarity, *, rng):
    ...         super().__init__(similarity)
    ...         i, j, _ = self.pairs()
    ...         order = np.random.default_rng(rng).permutation(len(i))
    ...         self.listed, self.at = np.column_stack([i, j])[order].tolist(), 0
    ...
    ...     def next_question(self):
    ...         while self.at < len(self.listed):
    ...             if not self.settled(*self.listed[self.at]):
    ...                 return tuple(self.listed[self.at])
    ...             self.at += 1
    >>> RandomOrdering([[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], rng=7).run(Truth([0, 0, 1])).n_queries
    2
    """

    #: Whether the crowd that answers is known to err; an oracle may set this in its method ``begin``.
    crowd_errs = False

    #: Whether records may join a cluster without a question, so that clusters do not follow from answers alone.
    joins_unasked = False

    def __init__(self, similarity: ArrayLike) -> None:
        self._begin(candidates(similarity))

    def _begin(self, pairs: Candidates) -> None:
        """Store the candidate pairs, with no answers yet."""
        self._candidates = pairs
        self._knowledge = engine.no_knowledge(pairs.n)
        self._pending: tuple[int, int] | None = None

    def _facts(self) -> dict[str, Any]:
        return {"records": self.n, "questions": self.n_queries}

    # --- what a subclass defines --------------------------------------------------------------------------------------

    @abstractmethod
    def next_question(self) -> tuple[int, int] | None:
        """Two records (i, j) that are not `settled`, the same until an answer is recorded; None at the end."""

    # --- what a subclass may use --------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of records."""
        return self._candidates.n

    @property
    def every_pair(self) -> bool:
        """Whether every pair is a candidate, as in a dense or condensed similarity."""
        return self._candidates.complete

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The candidate pairs i < j, ordered (0, 1), (0, 2), ..., (1, 2), ..., and their similarities: each (m,)."""
        values, codes = self._candidates.listed()
        values = values.view()
        values.flags.writeable = False  # they may be those that all runs with these candidates share
        return *unpack(codes), values

    def settled(self, i: int, j: int) -> bool:
        """Whether the answers so far already imply the answer about records i and j."""
        return self._settled(*self._two((i, j)))

    def _settled(self, i: int, j: int) -> bool:
        known = self._knowledge
        return bool(engine.settled(known.component, known.table, i, j))

    def learn(self, pair: tuple[int, int], same: bool) -> None:
        """Record an answer obtained elsewhere, unless it is implied; what it settles is not asked again."""
        i, j = self._two(pair)
        same = checks.flag(same, "same")
        if not self._settled(i, j):
            self._learn(i, j, same)
            self._knowledge.count[ELSEWHERE] = 1
            if self._pending is not None and self._settled(*self._pending):
                self._pending = None

    def _learn(self, i: int, j: int, same: bool) -> None:
        if not engine.learned(tuple(self._knowledge), i, j, same):
            self._knowledge = engine.learn(self._knowledge, i, j, same)

    def _join(self, i: int, j: int) -> None:
        """Put two records that are not settled into one component without a question."""
        self._learn(i, j, True)
        self._knowledge.count[ASKED] -= 1  # this is not an answer: the next one takes its place in the log

    def _two(self, pair: tuple[int, int]) -> tuple[int, int]:
        return two_records(pair, self.n)

    # --- what users call ----------------------------------------------------------------------------------------------

    def ask(self) -> tuple[int, int] | None:
        """The next question, or None when every candidate pair has been asked about or is implied.

        Calling `ask` again before `tell` returns the same pair. A whole run of edge or node ordering costs O(m log n)
        for m candidate pairs, however many of them are asked about. A ValueError if `next_question` does not return two
        records, or returns a pair that is settled.
        """
        compiled = type(self).next_question in COMPILED
        if self._pending is None and (pair := self.next_question()) is not None:
            i, j = pair if compiled else self._two(pair)
            if not compiled and self._settled(i, j):
                raise ValueError(f"{type(self).__name__}.next_question returned {(i, j)}, which is already implied")
            self._pending = (i, j)
        return self._pending

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        """Record the crowd's answer to the open question: whether the records of `pair` are the `same` entity.

        A ValueError if `pair`, in either order, is not what `ask` returned, a TypeError if `same` is not a boolean;
        nothing is then recorded.
        """
        if self._pending is None or (pair is not self._pending and not self._is_open(pair)):
            state = "no question is open" if self._pending is None else f"the open question is {self._pending}"
            raise ValueError(f"pair {pair!r} was not asked: {state}")
        if not isinstance(same, (bool, np.bool_)):  # the message takes time to format
            if same is None:
                raise unsure(self._pending)
            checks.flag(same, f"the answer to {self._pending}")
        self._learn(*self._pending, bool(same))
        self._pending = None

    def _is_open(self, pair: Any) -> bool:
        return same_records(pair, self._pending)

    def run(self, oracle: Oracle) -> R:
        """Ask `oracle` every remaining question and return the resolution.

        ``oracle(i, j)`` returns a boolean; a TypeError if it is not callable, or answers otherwise: the answers before
        are kept, and `run` can be called again. A `Truth` answers in the compiled loop; a ValueError if it has labels
        for another number of records. A method ``begin`` of the oracle is called first with the ordering.
        """
        begin(callable_oracle(oracle), self)
        if isinstance(oracle, Truth):
            self._run(oracle.labels)
            self._pending = None
        else:
            while (pair := self.ask()) is not None:
                self.tell(pair, oracle(*pair))
        return self.resolution

    def _run(self, labels: np.ndarray) -> None:
        """Ask all remaining questions, answered from the labels; subclasses with a compiled loop override this."""
        while (pair := self.ask()) is not None:
            self.tell(pair, bool(labels[pair[0]] == labels[pair[1]]))

    @property
    def n_queries(self) -> int:
        """Number of questions answered so far."""
        return int(self._knowledge.count[ASKED])

    @property
    def resolution(self) -> R:
        """The clusters that follow from the answers so far."""
        queries = np.column_stack(unpack(self._knowledge.asked[: self.n_queries]))
        answers, clusters = self._knowledge.answer[: self.n_queries].copy(), self._knowledge.component
        return Resolution(queries, answers, clusters)  # type: ignore[return-value]  # a subclass may say more


class EdgeOrdering(Ordering):
    """Ask about pairs in decreasing order of similarity, unless transitivity gives the answer (Section "The two
    heuristic algorithms").

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1]. Anything
        else is a ValueError (`crowder.pairs.candidates`).
    rng : int or numpy.random.Generator, keyword only
        Breaks ties. Required unless `ties` names another rule.
    ties : {"random", "index"} or array_like, shape (m,), keyword only
        Order of equally similar pairs: shuffled; by (i, j); or by increasing priority, one for each candidate pair in
        the order (0, 1), (0, 2), ..., (1, 2), ... Any other rule is a ValueError.

    See Also
    --------
    crowder.NodeOrdering : places records one by one.
    crowder.edge_ordering : the same in one call.

    Notes
    -----
    A run takes O(m log m) time and O(m) memory for m candidate pairs. Only the order of the similarities matters.
    Renumbering the records leaves the questions unchanged if `ties` gives priorities that are renumbered too, but not
    if ties are broken by index or by a seed.

    Examples
    --------
    >>> ordering = EdgeOrdering([[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], rng=7)
    >>> crowd = {(0, 1): True, (0, 2): False}
    >>> while (pair := ordering.ask()) is not None:
    ...     ordering.tell(pair, same=crowd[pair])
    >>> ordering.resolution.clusters  # (1, 2) is implied
    array([0, 0, 1])
    """

    def __init__(self, similarity: ArrayLike, *, rng: Seed | None = None, ties: str | ArrayLike = "random") -> None:
        super().__init__(similarity)
        random_ties = _random_ties(ties)
        if isinstance(ties, str) and isinstance(similarity, Candidates):  # sorted once for all who share it
            falling, codes = similarity.sorted[0], similarity.sorted[1].copy()
        else:
            values, codes = self._candidates.listed()
            if not isinstance(ties, str):
                first = np.argsort(_priorities(ties, len(values)), kind="stable")
                values, codes = values[first], codes[first]
            falling, codes = edge_sort(values, codes)
        generator = checks.generator(rng, "random ties") if random_ties or rng is not None else None
        if generator is not None and random_ties:
            shuffle_ties(falling, codes, generator.random(len(codes)))
        self._walk = EdgeWalk(codes, np.zeros(1, np.int64))

    def next_question(self) -> tuple[int, int] | None:
        codes, at = self._walk
        return unpacked(engine.edge_ask(codes, at, self._knowledge.component, self._knowledge.table))

    def _run(self, labels: np.ndarray) -> None:
        self._knowledge = engine.edge_run(self._walk, self._knowledge, labels)


class NodeOrdering(Ordering):
    r"""Assign records to clusters one by one, comparing each with the most similar of the clusters so far first.

    Records v arrive in decreasing order of their expected cluster size :math:`\sum_u w_{uv}`. Each is compared with at
    most one record of each cluster, the clusters in decreasing order of their largest similarity to v (Section "The two
    heuristic algorithms").

    Parameters
    ----------
    similarity, rng
        As for `EdgeOrdering`; `rng` is required unless neither `ties` nor `order` needs it.
    ties : {"random", "index"} or array_like, shape (m,), keyword only
        Order of a record's equally similar pairs: random; by the earlier record's index; or by priority, as there.
    order : {"expected-size", "random"} or array_like, shape (n,), keyword only
        Arrival order of the records: by decreasing expected size, ties broken according to `ties` (with a priority
        array, by index); uniformly random; or as listed. Any other order is a ValueError.

    See Also
    --------
    crowder.beyond.EvidenceOrdering : uses all similarities of a record.
    crowder.node_ordering : the same in one call.

    Notes
    -----
    O(m + q log k) time for m candidate pairs and q questions, and O(m) memory (condensed similarities become n x n).
    Renumbering the records leaves the questions unchanged if `ties` and `order` are renumbered too, or if the order is
    by expected size and no two sizes tie, to nine decimals. With a sparse similarity, a record that matches one cluster
    is still compared with others not known to differ from that cluster, because it may join them.

    Examples
    --------
    >>> similarity = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]]
    >>> NodeOrdering(similarity, rng=7).run(Truth([0, 0, 1])).queries  # record 0 first, then 1, then 2
    array([[1, 0],
           [2, 0]])
    """

    def __init__(
        self,
        similarity: ArrayLike,
        *,
        rng: Seed | None = None,
        ties: str | ArrayLike = "random",
        order: str | ArrayLike = "expected-size",
    ) -> None:
        super().__init__(similarity)
        random_ties = _random_ties(ties)
        wanted = random_ties or (isinstance(order, str) and order == "random") or rng is not None
        generator = checks.generator(rng, "random ties") if wanted else None
        arrivals = arrival_order(self._candidates, order, generator, random_ties)
        pairs, n = self._candidates, self.n
        if pairs.complete and isinstance(ties, str):  # pairs are read from the square
            first = np.arange(n + 1) * np.arange(-1, n) // 2
            square, partner, value, position = pairs.square(), np.empty(0, np.int32), NONE, NONE
        else:
            square = np.empty((0, 0))
            first, partner, value, position = by_arrival(*pairs.listed(), arrivals)
        if not isinstance(ties, str):
            priority = _priorities(ties, len(value))[position]
        else:  # without priorities, ties are broken by the record's index
            priority = generator.random(first[-1]) if generator is not None and random_ties else NONE
        self._walk = engine.node_walk(arrivals, first, square, partner, value, priority)

    def next_question(self) -> tuple[int, int] | None:
        return unpacked(engine.node_ask(tuple(self._walk), tuple(self._knowledge)))

    def _run(self, labels: np.ndarray) -> None:
        self._knowledge = engine.node_run(self._walk, self._knowledge, labels)


def unpacked(code: int) -> tuple[int, int] | None:
    """The pair of records that compiled code has packed into one number; None for -1."""
    return None if code == -1 else unpack(int(code))


#: These never return a pair that answers imply, so `Ordering.ask` need not check.
COMPILED = {EdgeOrdering.next_question, NodeOrdering.next_question}


def edge_ordering(
    similarity: ArrayLike, oracle: Oracle, *, rng: Seed | None = None, ties: str | ArrayLike = "random"
) -> Resolution:
    """The `Resolution` of all records by edge ordering: ``EdgeOrdering(similarity, rng=rng, ties=ties).run(oracle)``.

    Parameters
    ----------
    similarity, rng, ties
        As for `EdgeOrdering`.
    oracle : callable
        ``oracle(i, j)`` returns whether records i and j are the same entity, as `crowder.Truth` does.

    See Also
    --------
    crowder.EdgeOrdering : the same, one question at a time.
    crowder.expected_queries : how many questions to expect.

    Examples
    --------
    >>> edge_ordering([[1.0, 0.9], [0.9, 1.0]], Truth([0, 0]), rng=7).n_queries
    1
    """
    return EdgeOrdering(similarity, rng=rng, ties=ties).run(oracle)


def node_ordering(
    similarity: ArrayLike,
    oracle: Oracle,
    *,
    rng: Seed | None = None,
    ties: str | ArrayLike = "random",
    order: str | ArrayLike = "expected-size",
) -> Resolution:
    """The `Resolution` of all records by node ordering: ``NodeOrdering(similarity, rng=rng, ...).run(oracle)``.

    Parameters
    ----------
    similarity, rng, ties, order
        As for `NodeOrdering`.
    oracle : callable
        As for `edge_ordering`.

    See Also
    --------
    crowder.NodeOrdering : the same, one question at a time.
    crowder.expected_queries : how many questions to expect.

    Examples
    --------
    >>> node_ordering([[1.0, 0.9], [0.9, 1.0]], Truth([0, 1]), rng=7).n_queries
    1
    """
    return NodeOrdering(similarity, rng=rng, ties=ties, order=order).run(oracle)


def arrival_order(pairs: Candidates, order: Any, generator: Any, random_ties: bool) -> np.ndarray:
    """The records in the order in which node ordering places them (n,); `order` is as for `NodeOrdering`."""
    n = pairs.n
    if isinstance(order, str) and order == "random":
        return generator.permutation(n)
    if isinstance(order, str) and order == "expected-size":
        sizes = np.round(pairs.sums, SIZE_DECIMALS)
        ties = generator.permutation(n) if random_ties else np.arange(n)
        return np.lexsort((ties, -sizes))
    if isinstance(order, str):
        raise ValueError(f'order must be "expected-size", "random" or a list of records, not {order!r}')
    listed = checks.as_array(order, "order")
    whole = listed.ndim == 1 and (listed.dtype.kind in "iu" or not listed.size)
    if not whole or not np.array_equal(np.sort(listed), np.arange(n)):
        raise ValueError(f"order must list each of the {n} records, 0 to {n - 1}, once")
    return listed.astype(np.int64)


def _random_ties(ties: Any) -> bool:
    if isinstance(ties, str) and ties not in ("random", "index"):
        raise ValueError(f'ties must be "random", "index" or one priority for each pair, not {ties!r}')
    return isinstance(ties, str) and ties == "random"


def _priorities(ties: Any, m: int) -> np.ndarray:
    """The ranks of the priorities: only their order matters, and large whole numbers could become equal as floats."""
    given = checks.as_array(ties, "ties")
    real = given.dtype.kind in "fiub" or (given.dtype == object and all(isinstance(x, Real) for x in given.flat))
    if given.shape != (m,) or not real:
        raise ValueError(f"ties must give one number for each of the {m} candidate pairs, not {ties!r}")
    if (given != given).any():
        raise ValueError(f"ties: the priority of candidate pair {int(np.argmax(given != given))} is NaN")
    return np.unique(given, return_inverse=True)[1].astype(np.float64)
