"""Oracles: they answer "do records i and j refer to the same entity?".

An oracle is any callable ``oracle(i, j)`` that returns a boolean. It may have two methods:

``begin(ordering)``
    is called with the ordering before the first question;
``vote(i, j, number)``
    returns the answer of one member of the crowd, the `number`-th (from 0) to be asked about this pair.

For a strategy that keeps contradicting answers (`crowder.beyond.kept_answers`), an answer may also be None, which means
unsure, or a tuple of the answer and the worker who gave it.

The oracles here can wrap one another and forward both calls: ``MajorityVote(Journal(crowd, "answers.db"), 3)`` stores
every vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.validation import Seed
from crowder.voting import odd

__all__ = ["Faulty", "MajorityVote", "Oracle", "Truth"]

#: The type of an oracle: ``oracle(i, j)`` returns whether records i and j refer to the same entity.
Oracle: TypeAlias = Callable[[int, int], bool]

#: The type of an answer: whether it is "same", None if the worker is unsure; or a tuple of this and the worker.
Answer: TypeAlias = bool | tuple[bool | None, Hashable] | None

#: The type of an oracle whose answers have any of these forms.
Crowd: TypeAlias = Callable[[int, int], Answer]


class Truth:
    """The perfect oracle: it answers from the true labels and never errs (Section "System model").

    Parameters
    ----------
    labels : array_like, shape (n,)
        The cluster of each record, as values of any type that can be sorted.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        The same clusters, numbered 0, 1, ... in sorted order of the given values.

    Raises
    ------
    ValueError
        If `labels` is not one-dimensional, or a label is missing.
    TypeError
        If the labels cannot be compared (text and numbers); on a question, if a record is not a whole number.
    IndexError
        On a question, if there is no such record.

    See Also
    --------
    crowder.Faulty : a crowd that errs.
    crowder.Journal : answers kept in a file.

    Examples
    --------
    >>> oracle = Truth(["orlando", "orlando", "anaheim"])
    >>> oracle(0, 1), oracle(1, 2)
    (True, False)
    """

    def __init__(self, labels: ArrayLike) -> None:
        self.labels = validation.labels(labels)

    def __len__(self) -> int:
        return len(self.labels)

    def begin(self, ordering: Any) -> None:
        """Raise a ValueError if the ordering has another number of records."""
        if not isinstance(getattr(ordering, "n", None), int):
            raise TypeError(f"ordering must be an ordering, such as EdgeOrdering, not {ordering!r}")
        if len(self) != ordering.n:
            raise ValueError(f"the oracle has labels for {len(self)} records; the similarity has {ordering.n}")

    def __call__(self, i: int, j: int) -> bool:
        i, j = record_number(i), record_number(j)
        n = len(self.labels)
        if not (0 <= i < n and 0 <= j < n):  # a negative index would count from the end
            record = j if 0 <= i < n else i
            raise IndexError(f"record {record} does not exist: there are labels for {n}, 0 to {n - 1}")
        return self.labels.item(i) == self.labels.item(j)


class Faulty:
    r"""A crowd that errs: each answer is wrong with probability p (Section "System model").

    Parameters
    ----------
    oracle : callable
        Gives the true answers.
    error : float
        p, in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Decides which answers are wrong.
    persistent : bool, keyword only
        Whether the same question, in either order, always gets the same, possibly wrong, answer. If not, repeated
        answers err independently.

    Raises
    ------
    ValueError
        If p is not a probability or `rng` is missing.
    TypeError
        If `oracle` is not callable or `rng` is not a seed; on a question, if the oracle's answer is not a boolean.

    See Also
    --------
    crowder.Truth : a crowd that never errs.
    crowder.MajorityVote : several votes on each question.

    Notes
    -----
    Whether the t-th answer about a pair is wrong is decided by comparing a keyed hash of the pair and t with p. It
    therefore does not depend on the other questions or their order: two orderings with the same seed get the same
    errors, and so does a run that is resumed. Persistent errors use the hash at t = 0 and need no memory.

    Examples
    --------
    >>> crowd = Faulty(Truth([0, 0]), 0.3, rng=7)
    >>> sum(crowd(0, 1) for _ in range(1000))  # right in seven of ten
    717
    >>> persistent = Faulty(Truth([0, 0]), 0.3, rng=7, persistent=True)
    >>> sum(persistent(0, 1) for _ in range(1000))
    1000
    """

    def __init__(self, oracle: Oracle, error: float, *, rng: Seed | None = None, persistent: bool = False) -> None:
        self.error = validation.probability(error, "error")
        self.persistent = validation.flag(persistent, "persistent")
        self._oracle = callable_oracle(oracle)
        self._key = validation.generator(rng, "errors").bytes(16)
        self._askings: Counter[tuple[int, int]] = Counter()

    def begin(self, ordering: Any) -> None:
        """Pass the ordering on to the wrapped oracle, and let it know that answers may be wrong."""
        if self.error:
            ordering.crowd_errs = True
        begin(self._oracle, ordering)

    def vote(self, i: int, j: int, number: int) -> bool:
        """The answer of the `number`-th person asked about i and j; repeated calls return the same answer."""
        number = validation.whole(number, "number")
        return next(self._votes(i, j, range(number, number + 1)))

    def _votes(self, i: int, j: int, numbers: range) -> Iterator[bool]:
        """`vote` for each of these numbers in turn, with what the answers have in common computed once."""
        low, high = sorted((record_number(i), record_number(j)))
        pair, threshold = blake2b(b"%d %d " % (low, high), key=self._key, digest_size=8), self.error * 2**64
        fixed = answer(self._oracle, i, j, 0) if type(self._oracle) is Truth else None
        for number in numbers:
            asking = 0 if self.persistent else number
            draw = pair.copy()
            draw.update(b"%d" % asking)
            wrong = int.from_bytes(draw.digest(), "little") < threshold
            yield (answer(self._oracle, i, j, number) if fixed is None else fixed) != wrong

    def __call__(self, i: int, j: int) -> bool:
        low, high = sorted((record_number(i), record_number(j)))
        pair = (low, high)
        number = self._askings[pair]
        if not self.persistent:
            self._askings[pair] = number + 1
        return self.vote(i, j, number)


class MajorityVote:
    r"""Ask r times and return the majority answer (Section "System model").

    If the crowd errs independently with probability p, the majority errs with probability
    :math:`\sum_{j > r/2} \binom rj p^j (1-p)^{r-j}` (`crowder.voting.majority_error`), at r times the cost. If errors
    are persistent, a majority vote has no effect.

    Parameters
    ----------
    oracle : callable
        The crowd.
    votes : int
        r, odd.
    early : bool, keyword only
        Stop as soon as the majority is decided. This saves questions and does not change the answers.

    Attributes
    ----------
    asked : int
        The number of answers obtained so far.

    Raises
    ------
    ValueError
        If the number of votes is not odd and positive.
    TypeError
        On a question, if one of the answers is not a boolean.

    See Also
    --------
    crowder.Faulty : the crowd whose votes it may count.
    crowder.Truth : a crowd that never errs.

    Examples
    --------
    >>> crowd = MajorityVote(Faulty(Truth([0, 0, 1]), 0.1, rng=7), 5)
    >>> crowd(0, 1), crowd(1, 2), crowd.asked
    (True, False, 10)
    >>> early = MajorityVote(Truth([0, 0, 1]), 5, early=True)
    >>> early(0, 1), early.asked
    (True, 3)
    """

    def __init__(self, oracle: Oracle, votes: int, *, early: bool = False) -> None:
        self.votes = odd(votes)
        self.early = validation.flag(early, "early")
        self.asked = 0
        self._oracle = callable_oracle(oracle)

    def begin(self, ordering: Any) -> None:
        """Pass the ordering on to the crowd."""
        begin(self._oracle, ordering)

    def __call__(self, i: int, j: int) -> bool:
        count = [0, 0]
        for said in answers(self._oracle, i, j, range(self.votes)):
            count[said] += 1
            self.asked += 1
            if self.early and count[said] > self.votes // 2:
                break
        return count[True] > count[False]


def record_number(record: object) -> int:
    """The record's number, checked to be a whole number.

    Raises
    ------
    TypeError
        If it is not a whole number.

    Examples
    --------
    >>> record_number(3)
    3
    """
    if type(record) is int:  # the common case, checked fast
        return record
    return validation.whole(record, "a record", least=-(2**63))


def begin(oracle: Crowd, ordering: Any) -> None:
    """Call the oracle's method ``begin`` with the ordering, if it has one.

    Examples
    --------
    >>> begin(lambda i, j: True, ordering=None)  # has no such method
    """
    method = getattr(validation.not_a_class(oracle, "oracle must be a crowd that answers"), "begin", None)
    if method is not None:
        method(ordering)


def callable_oracle(oracle: Crowd) -> Any:
    """The oracle, checked to be callable.

    Raises
    ------
    TypeError
        If it is not callable, or a class such as `Truth`.

    Examples
    --------
    >>> callable_oracle([0, 0, 1])
    Traceback (most recent call last):
    ...
    TypeError: oracle must be callable, not [0, 0, 1]; pass true labels as crowder.Truth(labels)
    """
    if not callable(oracle) and not hasattr(oracle, "vote"):
        raise TypeError(f"oracle must be callable, not {oracle!r}; pass true labels as crowder.Truth(labels)")
    return validation.not_a_class(oracle, "oracle must be a crowd that answers")


def answer(oracle: Oracle, i: int, j: int, number: int) -> bool:
    """The oracle's `number`-th answer about i and j, checked to be a boolean; oracles without ``vote`` ignore the
    number.

    Raises
    ------
    TypeError
        If the answer is neither a boolean nor a tuple of one and a worker.

    Examples
    --------
    >>> answer(lambda i, j: True, 0, 1, 0)
    True
    """
    same, _ = answer_and_worker(oracle, i, j, number)
    if same is None:
        raise unsure((i, j))
    return same


def answer_and_worker(oracle: Crowd, i: int, j: int, number: int) -> tuple[bool | None, Hashable]:
    """The oracle's `number`-th answer about i and j, None if it is unsure, and the worker who gave it, None if unnamed.

    Raises
    ------
    TypeError
        If the answer is not one of the forms of `Answer`.

    Examples
    --------
    >>> answer_and_worker(lambda i, j: (None, "ann"), 0, 1, 0), answer_and_worker(Truth([0, 0]), 0, 1, 0)
    ((None, 'ann'), (True, None))
    """
    vote = getattr(oracle, "vote", None)
    said = callable_oracle(oracle)(i, j) if vote is None else vote(i, j, number)
    if type(said) is bool:  # the common case, checked fast
        return said, None
    same, worker = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
    return checked(same, worker, f"the answer to {(i, j)}")


def checked(same: Any, worker: Any, what: str) -> tuple[bool | None, Hashable]:
    """The answer and its worker, checked; ``what`` names the answer in the error.

    Raises
    ------
    TypeError
        If the answer is not True, False or None, or the worker cannot be told from others because it is not hashable.

    Examples
    --------
    >>> checked(np.True_, "ann", "the answer to (0, 1)")
    (True, 'ann')
    """
    if same is not None and not isinstance(same, (bool, np.bool_)):
        raise TypeError(f"{what} must be True, False or None (unsure), not {same!r}")
    if not isinstance(worker, Hashable):
        raise TypeError(f"the worker of {what} must be a name, not {worker!r}")
    return None if same is None else bool(same), worker


def unsure(pair: tuple[int, int]) -> TypeError:
    """The error of an ordering that needs a yes or no and is told None.

    Examples
    --------
    >>> str(unsure((0, 1)))[:62]
    'the answer to (0, 1) must be True or False, not None (unsure):'
    """
    return TypeError(
        f"the answer to {pair} must be True or False, not None (unsure): ask somebody else, pass that answer to tell "
        "(with a journal, to Journal.add with vote=1), and go on; or use a strategy that keeps contradicting answers"
    )


def answers(oracle: Oracle, i: int, j: int, numbers: range) -> Iterator[bool]:
    """`answer` for each of these numbers, obtained when it is needed.

    Examples
    --------
    >>> list(answers(lambda i, j: True, 0, 1, range(3)))
    [True, True, True]
    """
    if type(oracle) is Faulty:  # the same, faster
        return oracle._votes(i, j, numbers)
    return (answer(oracle, i, j, number) for number in numbers)
