"""An ordering that keeps answers which contradict one another, and may revise its clusters.

`crowder.Ordering` never asks what an earlier answer implies, so it never meets a contradiction. An ordering for a crowd
that errs asks such questions on purpose: `crowder.beyond.NoisyOrdering`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.oracles import Crowd, answer_and_worker, begin, callable_oracle, checked, record_number
from crowder.pairs import candidates
from crowder.shown import Shown

__all__ = ["RevisingOrdering"]


class RevisingOrdering(Shown, ABC):
    """Base class: `ask` returns the next question, `tell` keeps its answer, `clusters` is the best clustering so far.

    It stands in a module of its own so that a journal (`crowder_tool.Journal`), which takes every subclass, need
    not load `crowder.beyond.NoisyOrdering`.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1]. Pairs that
        are not candidates are not asked about.

    Raises
    ------
    ValueError
        If the similarity is not one of these.
    """

    def __init__(self, similarity: ArrayLike) -> None:
        self._candidates = candidates(similarity)
        self.n = self._candidates.n
        self._asked = np.zeros((self.n, self.n), np.int32)  # answers about each pair, including unsure ones
        self._answers: list[tuple[int, int, bool | None, Hashable]] = []
        self._pending: tuple[int, int] | None = None

    def _facts(self) -> dict[str, Any]:
        return {"records": self.n, "answers": self.n_answers}

    @abstractmethod
    def next_question(self) -> tuple[int, int] | None:
        """The pair of records to ask about next, None at the end. An unsure answer counts as an answer."""

    @property
    @abstractmethod
    def clusters(self) -> np.ndarray:
        """The cluster of each record given the answers so far, shape (n,), int64."""

    @property
    def n_answers(self) -> int:
        """The number of answers so far, unsure ones included; two answers about one pair count as two."""
        return len(self._answers)

    @property
    def answers(self) -> list[tuple[int, int, bool | None, Hashable]]:
        """All answers in order: two records, whether the worker said "same" (None if unsure), and the worker."""
        return list(self._answers)

    def ask(self) -> tuple[int, int] | None:
        """The next question, None at the end. Calling it again before `tell` returns the same pair."""
        if self._pending is None:
            self._pending = self.next_question()
        return self._pending

    def tell(self, pair: tuple[int, int], same: bool | None, worker: Hashable = None) -> None:
        """Keep the answer to the open question.

        Parameters
        ----------
        pair : tuple of int
            The pair that `ask` returned, in either order.
        same : bool or None
            None means unsure: an answer that was paid for, but is no evidence.
        worker : hashable, optional
            The name of the worker who gave it.

        Raises
        ------
        ValueError
            If this pair is not the open question; nothing is kept.
        TypeError
            If `same` is neither a boolean nor None, or `worker` is not hashable; nothing is kept.
        """
        if self._pending is None or not self._is_open(pair):
            state = "no question is open" if self._pending is None else f"the open question is {self._pending}"
            raise ValueError(f"pair {pair!r} was not asked: {state}")
        self.learn(self._pending, same, worker)

    def learn(self, pair: tuple[int, int], same: bool | None, worker: Hashable = None) -> None:
        """Keep an answer about any pair, from a question sheet for example; parameters as in `tell`.

        Raises
        ------
        ValueError
            If these are not two different records; nothing is kept.
        TypeError
            As in `tell`.
        """
        try:
            i, j = (record_number(record) for record in pair)
        except (TypeError, ValueError):
            raise TypeError(f"pair must be two record numbers, not {pair!r}") from None
        if not (0 <= min(i, j) and max(i, j) < self.n and i != j):
            raise ValueError(f"{(i, j)} must be two different records out of {self.n}, 0 to {self.n - 1}")
        same, worker = checked(same, worker, f"the answer to {(i, j)}")
        if self._is_open(pair):
            self._pending = None
        self._learn(i, j, same, worker)

    def _is_open(self, pair: Any) -> bool:
        """Whether this is the open question, in either order."""
        try:
            i, j = pair
            return {i, j} == set(self._pending or ())
        except (TypeError, ValueError):  # not two values, or not record numbers
            return False

    def _learn(self, i: int, j: int, same: bool | None, worker: Hashable = None) -> None:
        """Keep an answer; a subclass may draw its conclusions here."""
        for pair in ((i, j), (j, i)):
            self._asked[pair] += 1
        self._answers.append((i, j, same, worker))

    def run(self, oracle: Crowd, budget: int | None = None) -> np.ndarray:
        """Ask `oracle` until nothing is left to ask, or until there are `budget` answers in all; return `clusters`.

        Parameters
        ----------
        oracle : callable
            ``oracle(i, j)`` returns True, False, None (unsure), or a tuple of one of these and the worker. If it has a
            method ``vote``, that is called with the number of answers about the pair so far (`crowder.oracles`).
        budget : int, optional

        Raises
        ------
        TypeError
            If `oracle` is not callable or an answer is not one of these; the answers before it are kept, and `run` can
            be called again.
        """
        begin(callable_oracle(oracle), self)
        most = None if budget is None else validation.whole(budget, "budget")
        while (most is None or self.n_answers < most) and (pair := self.ask()) is not None:
            self.tell(pair, *answer_and_worker(oracle, *pair, int(self._asked[pair])))
        return self.clusters
