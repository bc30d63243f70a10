"""The paper's two heuristics as ask/tell objects, and what a run of one leaves behind.

Both walk the candidate pairs in an order that the similarities give, skip every pair whose answer transitivity already
implies (a match of a match is a match, a match of a non-match is a non-match), and ask about the rest.

`EdgeOrdering`
    all pairs by falling similarity (Wang, Li, Kraska, Franklin and Feng, 2013);
`NodeOrdering`
    records one by one, by falling expected cluster size, each against the clusters so far, its most similar pair first
    (Vesdapunt, Bellare and Dalvi, 2014).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from crowder import checked
from crowder.asking.engine import ASKED, LOW, edge_ask, edge_run, know_nothing, learn, node_ask, node_run, node_walk
from crowder.asking.oracles import Truth, begin, callable_oracle
from crowder.asking.pairs import Candidates, candidates
from crowder.asking.resolution import Resolution
from crowder.asking.sorting import by_arrival, edge_walk, square_sums, sums

__all__ = ["EdgeOrdering", "NodeOrdering", "Ordering", "edge_ordering", "node_ordering"]

#: Expected cluster sizes are compared to this many decimals, so that the rounding of sums does not break their ties.
SIZE_DECIMALS = 9

NONE = np.empty(0, np.float64)


class Ordering(ABC):
    """What every ordering offers: `ask` for the next question, `tell` its answer, read the `resolution` at any time."""

    def __init__(self, similarity) -> None:
        self._candidates = candidates(similarity)
        self._knowledge = know_nothing(self.n)
        self._pending: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        """Number of records."""
        return self._candidates.n

    @abstractmethod
    def _next(self) -> int:
        """The next unsettled pair, packed, or -1."""

    @abstractmethod
    def _run(self, labels: np.ndarray) -> None:
        """Ask everything that is left, answered by the labels."""

    def _order(self) -> tuple[np.ndarray, ...]:
        """What beside the similarities decides the questions, so that a journal can tell two runs apart."""
        return ()

    def _similarities(self) -> tuple[np.ndarray, ...]:
        """The candidate pairs' values and, unless every pair is one, the pairs: for a journal, too."""
        values, codes = self._candidates.listed()
        return (values,) if len(codes) == self.n * (self.n - 1) // 2 else (values, codes)

    def ask(self) -> tuple[int, int] | None:
        """The next question, or None when every candidate pair is asked or implied.

        Returns
        -------
        tuple of int, or None
            The pair (i, j) to put to the crowd. Asking again before `tell` gives the same pair.

        Notes
        -----
        The whole run costs O(m log n) for m candidate pairs, however many of them are asked.
        """
        if self._pending is None:
            code = self._next()
            if code != -1:
                self._pending = (int(code >> 32), int(code & LOW))
        return self._pending

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        """Take in the crowd's answer to the question that is open.

        Parameters
        ----------
        pair : tuple of int
            The pair that `ask` gave, in either order.
        same : bool
            Whether the two records refer to the same entity.

        Raises
        ------
        ValueError
            If this pair is not the open question. Nothing is recorded then.
        TypeError
            If `same` is not a boolean. Nothing is recorded then.
        """
        try:
            i, j = pair
            asked = self._pending is not None and {i, j} == set(self._pending)
        except (TypeError, ValueError):  # no two, or nothing that could be records
            asked = False
        if not asked:
            state = "no question is open" if self._pending is None else f"the open question is {self._pending}"
            raise ValueError(f"pair {pair!r} was not asked: {state}")
        if not isinstance(same, (bool, np.bool_)):
            raise TypeError(f"the answer to {self._pending} must be a boolean, not {same!r}")
        self._knowledge = learn(self._knowledge, *self._pending, bool(same))
        self._pending = None

    def run(self, oracle) -> Resolution:
        """Put every remaining question to `oracle` and return the resolution.

        Parameters
        ----------
        oracle : callable
            ``oracle(i, j)`` gives a boolean. A `Truth` is answered inside the compiled loop. An oracle with a method
            ``begin`` is told first which ordering asks, and may refuse.

        Raises
        ------
        ValueError
            If a `Truth` knows another number of records.
        TypeError
            If `oracle` cannot be called, or an answer is not a boolean; then the answers before it stand, and `run` can
            be called again.
        """
        begin(callable_oracle(oracle), self)
        if isinstance(oracle, Truth):
            self._run(oracle.labels)
            self._pending = None
        else:
            while (pair := self.ask()) is not None:
                self.tell(pair, oracle(*pair))
        return self.resolution

    @property
    def n_queries(self) -> int:
        """Number of questions answered so far."""
        return int(self._knowledge.count[ASKED])

    @property
    def resolution(self) -> Resolution:
        """What the answers so far have established."""
        codes = self._knowledge.asked[: self.n_queries]
        queries = np.empty((len(codes), 2), np.int64)
        np.right_shift(codes, 32, out=queries[:, 0])
        np.bitwise_and(codes, LOW, out=queries[:, 1])
        return Resolution(queries, self._knowledge.answer[: self.n_queries].copy(), self._knowledge.component)


class EdgeOrdering(Ordering):
    """Ask about pairs by falling similarity, unless transitivity already tells (Section "The two heuristics").

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Breaks ties. Required unless `ties` names another rule.
    ties : {"random", "index"} or array_like, shape (m,), keyword only
        Order of equally similar pairs: shuffled; by (i, j); or by rising priority, one a candidate pair in the order
        (0, 1), (0, 2), ..., (1, 2), ...

    Raises
    ------
    ValueError
        If the similarity or the rule for ties is not one of these.

    Notes
    -----
    Sorting and walking cost O(m log m) time and O(m) memory for m candidate pairs.

    Only the order of the similarities counts. Called by other names, records meet the same questions if the priorities
    in `ties` go along; by index, or by a seed, ties do not go along.

    Examples
    --------
    >>> ordering = EdgeOrdering([[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]], rng=7)
    >>> crowd = {(0, 1): True, (0, 2): False}
    >>> while (pair := ordering.ask()) is not None:
    ...     ordering.tell(pair, same=crowd[pair])
    >>> ordering.resolution.clusters  # (1, 2) is implied
    array([0, 0, 1])
    """

    def __init__(self, similarity, *, rng=None, ties="random") -> None:
        super().__init__(similarity)
        values, codes = self._candidates.listed()
        draws, priority = NONE, NONE
        if _random_ties(ties):
            draws = _generator(rng).random(len(values))
        elif not isinstance(ties, str):
            priority = _priorities(ties, len(values))
        self._walk = edge_walk(values, codes, draws, priority)

    def _next(self) -> int:
        return edge_ask(self._walk, self._knowledge)

    def _order(self) -> tuple[np.ndarray, ...]:
        return (self._walk.codes,)

    def _run(self, labels: np.ndarray) -> None:
        self._knowledge = edge_run(self._walk, self._knowledge, labels)


class NodeOrdering(Ordering):
    r"""Place records one by one, each against the clusters so far, most similar first.

    Record v comes in order of its expected cluster size :math:`\sum_u w_{uv}`, largest first, and is asked about with
    at most one record of each cluster, the clusters in order of their largest similarity to v (Section "The two
    heuristic algorithms").

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Breaks ties. Required unless neither `ties` nor `order` needs it.
    ties : {"random", "index"} or array_like, shape (m,), keyword only
        Order of a record's equally similar pairs: at random; by the earlier record's index; or by rising priority, one
        a candidate pair in the order (0, 1), (0, 2), ..., (1, 2), ...
    order : {"expected-size", "random"} or array_like, shape (n,), keyword only
        Arrival of the records: by falling expected size, ties as `ties` says (a priority array leaves them to the
        index); in uniformly random order; or as listed.

    Raises
    ------
    ValueError
        If the similarity, the rule for ties or the order is not one of these.

    Notes
    -----
    O(m + q log k) time for m candidate pairs and q questions, and O(m) memory (a condensed vector unfolds to n x n).

    Called by other names, records meet the same questions if `ties` and `order` go along; by expected size, where no
    two sizes tie. Sizes are compared to nine decimals, and no order of summation shows in them.

    Of a sparse similarity, a record that matches one cluster is still asked about others that no answer has told
    apart from it: it may be the bridge between them.

    Examples
    --------
    >>> similarity = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]]
    >>> NodeOrdering(similarity, rng=7).run(Truth([0, 0, 1])).queries  # record 0 first, then 1, then 2
    array([[1, 0],
           [2, 0]])
    """

    def __init__(self, similarity, *, rng=None, ties="random", order="expected-size") -> None:
        super().__init__(similarity)
        random_ties = _random_ties(ties)
        generator = _generator(rng) if random_ties or (isinstance(order, str) and order == "random") else None
        arrivals = self._arrivals(order, generator, random_ties)
        first, square, partner, value, position = self._earlier_pairs(arrivals, not isinstance(ties, str))
        if random_ties:
            priority = generator.random(first[-1])
        elif isinstance(ties, str):
            priority = NONE  # the walk falls back on the record's index
        else:
            listed = self.n * (self.n - 1) // 2 if self._candidates.complete else len(value)
            priority = _priorities(ties, listed)[position() if self._candidates.complete else position]
        self._walk = node_walk(arrivals, first, square, partner, value, priority)

    def _arrivals(self, order, generator, random_ties: bool) -> np.ndarray:
        if isinstance(order, str) and order == "random":
            return generator.permutation(self.n)
        if isinstance(order, str) and order == "expected-size":
            sizes = np.round(expected_sizes(self._candidates), SIZE_DECIMALS)
            ties = generator.permutation(self.n) if random_ties else np.arange(self.n)
            return np.lexsort((ties, -sizes))
        if isinstance(order, str):
            raise ValueError(f'order must be "expected-size", "random" or a list of records, not {order!r}')
        arrivals = np.asarray(order)
        whole = arrivals.dtype.kind in "iu" or not arrivals.size
        if not whole or arrivals.shape != (self.n,) or not np.array_equal(np.sort(arrivals), np.arange(self.n)):
            raise ValueError(f"an order must list each of the {self.n} records, 0 to {self.n - 1}, once")
        return arrivals.astype(np.int64)

    def _earlier_pairs(self, arrivals: np.ndarray, listed: bool):
        """For each arrival the pairs with earlier ones: where they start, what they are, where they were `listed`."""
        n = self.n
        if self._candidates.complete:
            first = np.arange(n + 1) * np.arange(-1, n) // 2
            first[0] = 0

            def position():
                i, j = np.tril_indices(n, -1)
                low, high = np.minimum(arrivals[i], arrivals[j]), np.maximum(arrivals[i], arrivals[j])
                return low * (2 * n - low - 1) // 2 + high - low - 1

            return first, self._candidates.square(), np.empty(0, np.int32), NONE, position
        first, partner, value, position = by_arrival(*self._candidates.listed(), arrivals, listed)
        return first, np.empty((0, 0)), partner, value, position

    def _next(self) -> int:
        return node_ask(self._walk, self._knowledge)

    def _order(self) -> tuple[np.ndarray, ...]:
        return (self._walk.arrivals, self._walk.priority)

    def _run(self, labels: np.ndarray) -> None:
        self._knowledge = node_run(self._walk, self._knowledge, labels)


def edge_ordering(similarity, oracle, *, rng=None, ties="random") -> Resolution:
    """Resolve all records by edge ordering: ``EdgeOrdering(similarity, rng=rng, ties=ties).run(oracle)``.

    Examples
    --------
    >>> edge_ordering([[1.0, 0.9], [0.9, 1.0]], Truth([0, 0]), rng=7).n_queries
    1
    """
    return EdgeOrdering(similarity, rng=rng, ties=ties).run(oracle)


def node_ordering(similarity, oracle, *, rng=None, ties="random", order="expected-size") -> Resolution:
    """Resolve all records by node ordering: ``NodeOrdering(similarity, rng=rng, ...).run(oracle)``.

    Examples
    --------
    >>> node_ordering([[1.0, 0.9], [0.9, 1.0]], Truth([0, 1]), rng=7).n_queries
    1
    """
    return NodeOrdering(similarity, rng=rng, ties=ties, order=order).run(oracle)


def expected_sizes(pairs: Candidates) -> np.ndarray:
    r"""The expected cluster size of each record, :math:`\sum_{u \ne v} w_{uv}` (n,), from candidate pairs.

    Examples
    --------
    >>> expected_sizes(candidates([[1.0, 0.5, 0.25], [0.5, 1.0, 0.0], [0.25, 0.0, 1.0]]))
    array([0.75, 0.5 , 0.25])
    """
    return square_sums(pairs.square()) if pairs.complete else sums(*pairs.listed(), pairs.n)


def _random_ties(ties) -> bool:
    if isinstance(ties, str) and ties not in ("random", "index"):
        raise ValueError(f'ties must be "random", "index" or one priority a pair, not {ties!r}')
    return isinstance(ties, str) and ties == "random"


def _generator(rng) -> np.random.Generator:
    return checked.generator(rng, "random ties")


def _priorities(ties, m: int) -> np.ndarray:
    try:
        exact = np.asarray(ties)
        if exact.dtype.kind not in "fiubO":
            raise TypeError
        priority = np.asarray(exact, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"ties must give one number for each of the {m} candidate pairs, not {ties!r}") from None
    if priority.shape != (m,):
        raise ValueError(f"ties must give one number for each of the {m} candidate pairs; shape {priority.shape}")
    if np.isnan(priority).any():
        raise ValueError(f"ties: the priority of candidate pair {int(np.flatnonzero(np.isnan(priority))[0])} is NaN")
    if exact.dtype.kind in "iuO" and (np.abs(priority) >= 2**53).any():
        # Such integers (hashes, say) may differ and have the same float; their ranks do not.
        return np.unique(exact, return_inverse=True)[1].astype(np.float64)
    return priority
