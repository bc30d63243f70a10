"""Oracles: whoever answers "do records i and j refer to the same entity?".

An oracle is any callable ``oracle(i, j)`` that returns a boolean. It may offer two things more:

``begin(ordering)``
    is told, before its first question, which ordering asks;
``vote(i, j, number)``
    gives the answer of one person of the crowd, the `number`-th (from 0) to be asked about this pair.

The oracles here wrap one another and pass both on: ``MajorityVote(Journal(crowd, "answers.db"), 3)`` keeps every vote.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import numpy as np

from crowder import checked
from crowder.asking.votes import odd

__all__ = ["Faulty", "MajorityVote", "Truth"]


class Truth:
    """The perfect oracle: it knows every record's cluster and never errs (Section "System model").

    Parameters
    ----------
    labels : array_like, shape (n,)
        The cluster of each record, as any values that can be sorted and compared.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        The same clusters, numbered 0, 1, ... in sorted order of the given values.

    Raises
    ------
    ValueError
        If `labels` is not one-dimensional, or a label is missing.
    TypeError
        If they are of kinds that cannot be compared (text and numbers); on a question, if a record is no whole number.
    IndexError
        On a question, if there is no such record.

    Examples
    --------
    >>> oracle = Truth(["orlando", "orlando", "anaheim"])
    >>> oracle(0, 1), oracle(1, 2)
    (True, False)
    """

    def __init__(self, labels) -> None:
        self.labels = checked.labels(labels)

    def __len__(self) -> int:
        return len(self.labels)

    def begin(self, ordering) -> None:
        """Refuse, with a ValueError, an ordering of another number of records."""
        if not isinstance(getattr(ordering, "n", None), int):
            raise TypeError(f"an ordering knows its number of records, n; {ordering!r} is none")
        if len(self) != ordering.n:
            raise ValueError(f"the oracle has labels for {len(self)} records; the similarity has {ordering.n}")

    def __call__(self, i: int, j: int) -> bool:
        i, j = record_number(i), record_number(j)
        n = len(self.labels)
        if not (0 <= i < n and 0 <= j < n):  # a negative number would count from the end, and be somebody else
            record = j if 0 <= i < n else i
            raise IndexError(f"there is no record {record}: labels are of {n}, 0 to {n - 1}")
        return bool(self.labels[i] == self.labels[j])


class Faulty:
    r"""A crowd whose members err: each answer is turned round with probability p (Section "System model").

    Parameters
    ----------
    oracle : callable
        Who knows the answers.
    error : float
        p, in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Decides which answers are wrong.
    persistent : bool, keyword only
        Whether the same question, in either order, always gets the same, possibly wrong, answer. If not, every asking
        errs independently.

    Raises
    ------
    ValueError
        If p is not a probability or `rng` is missing.
    TypeError
        If `oracle` cannot be called or `rng` is no seed; on a question, if the oracle's answer is not a boolean.

    Notes
    -----
    Whether the t-th answer about a pair is wrong is a keyed hash of the pair and t, compared with p. So it does not
    depend on what else is asked, or when: two orderings with one seed meet the same errors, and a run that is resumed
    meets those that it would have met. A persistent error is the hash at t = 0, and takes no memory.

    Examples
    --------
    >>> crowd = Faulty(Truth([0, 0]), 0.3, rng=7)
    >>> sum(crowd(0, 1) for _ in range(1000))  # right in seven of ten
    717
    >>> stubborn = Faulty(Truth([0, 0]), 0.3, rng=7, persistent=True)
    >>> sum(stubborn(0, 1) for _ in range(1000))
    1000
    """

    def __init__(self, oracle, error: float, *, rng=None, persistent: bool = False) -> None:
        self.error = checked.probability(error, "the probability of a wrong answer")
        self.persistent = checked.flag(persistent, "persistent")
        self._oracle = callable_oracle(oracle)
        self._key = checked.generator(rng, "errors").bytes(16)
        self._askings: Counter[tuple[int, int]] = Counter()

    def begin(self, ordering) -> None:
        """Tell the oracle inside which ordering asks."""
        begin(self._oracle, ordering)

    def vote(self, i: int, j: int, number: int) -> bool:
        """The answer of the `number`-th person to be asked about i and j; always the same."""
        low, high = sorted((record_number(i), record_number(j)))
        asking = 0 if self.persistent else checked.whole(number, "the number of a vote")
        draw = blake2b(b"%d %d %d" % (low, high, asking), key=self._key, digest_size=8).digest()
        wrong = int.from_bytes(draw, "little") < self.error * 2**64
        return answer(self._oracle, i, j, number) != wrong

    def __call__(self, i: int, j: int) -> bool:
        low, high = sorted((record_number(i), record_number(j)))
        pair = (low, high)
        number = self._askings[pair]
        if not self.persistent:
            self._askings[pair] = number + 1
        return self.vote(i, j, number)


class MajorityVote:
    r"""Ask r times and believe most of the answers (Section "System model").

    Of a crowd that errs independently with probability p this is a crowd that errs with probability
    :math:`\sum_{j > r/2} \binom rj p^j (1-p)^{r-j}` (`crowder.asking.votes.majority_error`), r times as dear. Where the
    crowd repeats its errors, it buys nothing.

    Parameters
    ----------
    oracle : callable
        The crowd.
    votes : int
        r, odd.
    early : bool, keyword only
        Stop as soon as the majority is decided. The answers stay the same; only questions are saved.

    Attributes
    ----------
    asked : int
        The votes that have been taken so far.

    Raises
    ------
    ValueError
        If the number of votes is not odd and positive.
    TypeError
        On a question, if one of the answers is not a boolean.

    Examples
    --------
    >>> crowd = MajorityVote(Faulty(Truth([0, 0, 1]), 0.1, rng=7), 5)
    >>> crowd(0, 1), crowd(1, 2), crowd.asked
    (True, False, 10)
    >>> hasty = MajorityVote(Truth([0, 0, 1]), 5, early=True)
    >>> hasty(0, 1), hasty.asked
    (True, 3)
    """

    def __init__(self, oracle, votes: int, *, early: bool = False) -> None:
        self.votes = odd(votes)
        self.early = checked.flag(early, "early")
        self.asked = 0
        self._oracle = callable_oracle(oracle)

    def begin(self, ordering) -> None:
        """Tell the crowd which ordering asks."""
        begin(self._oracle, ordering)

    def __call__(self, i: int, j: int) -> bool:
        count = [0, 0]
        for number in range(self.votes):
            count[answer(self._oracle, i, j, number)] += 1
            self.asked += 1
            if self.early and max(count) > self.votes // 2:
                break
        return count[True] > count[False]


def record_number(record) -> int:
    """A record's number, checked to be one.

    Raises
    ------
    TypeError
        If it is no whole number.

    Examples
    --------
    >>> record_number(np.int32(3))
    3
    """
    if type(record) is int:  # many questions come this way
        return record
    return checked.whole(record, "a record", least=-(2**63))


def begin(oracle, ordering) -> None:
    """Tell an oracle that wants to know it which ordering is about to ask.

    Examples
    --------
    >>> begin(lambda i, j: True, ordering=None)  # does not care
    """
    told = getattr(oracle, "begin", None)
    if told is not None:
        told(ordering)


def callable_oracle(oracle):
    """The oracle, if it is one: something to call.

    Raises
    ------
    TypeError
        If not.

    Examples
    --------
    >>> callable_oracle([0, 0, 1])
    Traceback (most recent call last):
    ...
    TypeError: an oracle answers oracle(i, j), which [0, 0, 1] cannot; of true labels, pass crowder.Truth(labels)
    """
    if not callable(oracle) and not hasattr(oracle, "vote"):
        raise TypeError(
            f"an oracle answers oracle(i, j), which {oracle!r} cannot; of true labels, pass crowder.Truth(labels)"
        )
    return oracle


def answer(oracle, i: int, j: int, number: int) -> bool:
    """The `number`-th answer about i and j of an oracle that may or may not count its answers; checked to be a boolean.

    Raises
    ------
    TypeError
        If the answer is not a boolean.

    Examples
    --------
    >>> answer(lambda i, j: np.bool_(True), 0, 1, 0)
    True
    """
    vote = getattr(callable_oracle(oracle), "vote", None)
    same = oracle(i, j) if vote is None else vote(i, j, number)
    if not isinstance(same, (bool, np.bool_)):
        raise TypeError(f"the answer to {(i, j)} must be a boolean, not {same!r}")
    return bool(same)
