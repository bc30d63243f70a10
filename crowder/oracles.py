"""Oracles, which answer "do records i and j refer to the same entity?", and how reliable a majority vote is.

An oracle is any callable ``oracle(i, j)`` that returns a boolean. It may have two methods:

``begin(ordering)``
    is called with the ordering before the first question; if answers may be wrong, it sets ``ordering.crowd_errs``;
``vote(i, j, number)``
    returns the answer of one member of the crowd, the `number`-th (from 0) to be asked about this pair.

For an ordering that keeps contradicting answers (`crowder.beyond.noisy`), an answer may also be None, which
means unsure, or a tuple of the answer and the worker who gave it.

The oracles here can wrap one another and forward both calls: ``MajorityVote(Journal(crowd, path), 3)`` stores every
vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from hashlib import blake2b
from math import comb, exp, log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks
from crowder.checks import Seed, Shown

__all__ = ["Faulty", "MajorityVote", "Oracle", "Truth", "majority_error"]

#: The largest number of votes on one question.
MOST_VOTES = 1_000_000

#: The type of an oracle: ``oracle(i, j)`` returns whether records i and j refer to the same entity.
Oracle: TypeAlias = Callable[[int, int], bool]

#: The type of an answer: whether it is "same", None if the worker is unsure; or a tuple of this and the worker.
Answer: TypeAlias = bool | tuple[bool | None, Hashable] | None

#: The type of an oracle whose answers have any of these forms.
Crowd: TypeAlias = Callable[[int, int], Answer]


class Truth(Shown):
    """The perfect oracle: it answers from the true labels and never errs (Section "System model").

    Parameters
    ----------
    labels : array_like, shape (n,)
        The cluster of each record, as values of any type that can be sorted (a TypeError for text and numbers); a
        ValueError if one is missing. A question about a record that does not exist is an IndexError.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        The same clusters, numbered 0, 1, ... in sorted order of the given values.

    See Also
    --------
    crowder.Faulty : a crowd that errs.

    Examples
    --------
    >>> oracle = Truth(["orlando", "orlando", "anaheim"])
    >>> oracle(0, 1), oracle(1, 2)
    (True, False)
    """

    def __init__(self, labels: ArrayLike) -> None:
        self.labels = checks.owned(checks.labels(labels))

    def _facts(self) -> dict[str, Any]:
        return {"records": len(self.labels), "clusters": len(np.unique(self.labels))}

    def begin(self, ordering: Any) -> None:
        """Raise a ValueError if the ordering has another number of records."""
        if len(self.labels) != _an_ordering(ordering).n:
            raise ValueError(f"the oracle has labels for {len(self.labels)} records; the similarity has {ordering.n}")

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
        Gives the true answers; a TypeError if it is not callable or, on a question, if an answer is not a boolean.
    error : float
        p; a ValueError if it is not in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Decides which answers are wrong; a ValueError if it is missing, a TypeError if it is no seed.
    persistent : bool, keyword only
        Whether the same question, in either order, always gets the same, possibly wrong, answer. If not, repeated
        answers err independently.

    See Also
    --------
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
        self.error = checks.probability(error, "error")
        self.persistent = checks.flag(persistent, "persistent")
        self._oracle = callable_oracle(oracle)
        self._key = checks.generator(rng, "errors").bytes(16)
        self._askings: Counter[tuple[int, int]] = Counter()

    def begin(self, ordering: Any) -> None:
        """Pass the ordering on to the wrapped oracle, and let it know that answers may be wrong."""
        if self.error:
            _an_ordering(ordering).crowd_errs = True
        begin(self._oracle, ordering)

    def vote(self, i: int, j: int, number: int) -> bool:
        """The answer of the `number`-th person asked about i and j; repeated calls return the same answer."""
        low, high = sorted((record_number(i), record_number(j)))
        asking = 0 if self.persistent else checks.whole(number, "number")
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
    """Ask r times and return the majority answer (Section "System model").

    If the crowd errs independently, the majority errs with the smaller probability `majority_error`, at r times the
    cost. If errors are persistent, a majority vote has no effect.

    Parameters
    ----------
    oracle : callable
        The crowd, as for `Faulty`.
    votes : int
        r; a ValueError if it is not odd and positive.

    Attributes
    ----------
    asked : int
        The number of answers obtained so far.

    See Also
    --------
    crowder.Faulty : a crowd whose votes it can count.

    Examples
    --------
    >>> crowd = MajorityVote(Faulty(Truth([0, 0, 1]), 0.1, rng=7), 5)
    >>> crowd(0, 1), crowd(1, 2), crowd.asked
    (True, False, 10)
    """

    def __init__(self, oracle: Oracle, votes: int) -> None:
        self.votes = odd(votes)
        self.asked = 0
        self._oracle = callable_oracle(oracle)

    def begin(self, ordering: Any) -> None:
        """Pass the ordering on to the crowd."""
        begin(self._oracle, ordering)

    def __call__(self, i: int, j: int) -> bool:
        same = 0
        for number in range(self.votes):
            same += answer(self._oracle, i, j, number)
            self.asked += 1
        return same > self.votes // 2


# --- Majority votes: each of r answers is wrong with probability p, independently ------------------------------------


def majority_error(votes: int, error: Any) -> Any:
    r"""The probability that most of r answers are wrong, :math:`\sum_{j > r/2} \binom rj p^j (1-p)^{r-j}`.

    For an odd number r of votes, and p, `error`, the probability that one answer is wrong, as a float, int, Fraction or
    sympy expression; the result is in its arithmetic. O(r). Floats are handled in logarithms, so that no term
    underflows. A ValueError if r is not odd and positive, or p not a probability.

    Examples
    --------
    >>> majority_error(3, Fraction(1, 10))  # 3/100 · 9/10 + 1/1000
    Fraction(7, 250)
    >>> majority_error(3, Fraction(3, 5))  # larger than the 3/5 of a single answer
    Fraction(81, 125)
    """
    votes = odd(votes)
    if not getattr(error, "free_symbols", None):
        error = checks.probability(error, "error")
    if isinstance(error, float):
        if error in (0.0, 1.0):
            return error
        from scipy.special import gammaln, logsumexp  # a tenth of the time of `import crowder`

        wrong = np.arange(votes // 2 + 1, votes + 1)
        ways = gammaln(votes + 1) - gammaln(wrong + 1) - gammaln(votes - wrong + 1)
        return min(1.0, exp(logsumexp(ways + wrong * log(error) + (votes - wrong) * np.log1p(-error))))
    error = Fraction(error) if isinstance(error, int) else error
    return sum(comb(votes, j) * error**j * (1 - error) ** (votes - j) for j in range(votes // 2 + 1, votes + 1))


def odd(votes: Any) -> int:
    """The number of votes, checked to be odd, so that there is always a majority."""
    votes = checks.whole(votes, "votes", least=-(2**63))
    if not 1 <= votes <= MOST_VOTES or votes % 2 == 0:
        raise ValueError(f"votes must be an odd number from 1 to {MOST_VOTES:,}, not {votes}")
    return votes


# --- Calls of oracles, checked ---------------------------------------------------------------------------------------


def record_number(record: object) -> int:
    """The record's number, checked to be a whole number."""
    if type(record) is int:  # the common case, checked fast
        return record
    return checks.whole(record, "a record", least=-(2**63))


def two_records(pair: Any, n: int) -> tuple[int, int]:
    """The numbers of two different records out of n."""
    try:
        i, j = (record_number(record) for record in pair)
    except (TypeError, ValueError):
        raise TypeError(f"pair must be two record numbers, not {pair!r}") from None
    if not (0 <= min(i, j) and max(i, j) < n and i != j):
        raise ValueError(f"{(i, j)} must be two different records out of {n}, 0 to {n - 1}")
    return i, j


def same_records(pair: Any, pending: tuple[int, int] | None) -> bool:
    """Whether this is the open question, in either order; not if no question is open."""
    try:
        i, j = pair
        return {i, j} == set(pending or ())
    except (TypeError, ValueError):  # not two values, or not record numbers
        return False


def begin(oracle: Crowd, ordering: Any) -> None:
    """Call the oracle's method ``begin`` with the ordering, if it has one."""
    method = getattr(oracle, "begin", None)
    if method is not None:
        method(ordering)


def _an_ordering(ordering: Any) -> Any:
    if not isinstance(getattr(ordering, "n", None), int):
        raise TypeError(f"ordering must be an ordering, such as EdgeOrdering, not {ordering!r}")
    return ordering


def callable_oracle(oracle: Crowd) -> Any:
    """The oracle, or a TypeError if it is not callable, or a class such as `Truth`."""
    if not callable(oracle) and not hasattr(oracle, "vote"):
        raise TypeError(f"oracle must be callable, not {oracle!r}; pass true labels as crowder.Truth(labels)")
    return checks.not_a_class(oracle, "oracle must be a crowd that answers")


def answer(oracle: Oracle, i: int, j: int, number: int) -> bool:
    """The oracle's `number`-th answer about i and j, checked; oracles without ``vote`` ignore the number."""
    same, _ = answer_and_worker(oracle, i, j, number)
    if same is None:
        raise unsure((i, j))
    return same


def answer_and_worker(oracle: Crowd, i: int, j: int, number: int) -> tuple[bool | None, Hashable]:
    """The oracle's `number`-th answer about i and j, None if it is unsure, and its worker, None if unnamed."""
    vote = getattr(oracle, "vote", None)
    said = callable_oracle(oracle)(i, j) if vote is None else vote(i, j, number)
    if type(said) is bool:  # the common case, checked fast
        return said, None
    same, worker = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
    return checked(same, worker, f"the answer to {(i, j)}")


def checked(same: Any, worker: Any, what: str) -> tuple[bool | None, Hashable]:
    """The answer and its worker, checked; ``what`` names the answer in the TypeError."""
    if same is not None and not isinstance(same, (bool, np.bool_)):
        raise TypeError(f"{what} must be True, False or None (unsure), not {same!r}")
    if not isinstance(worker, Hashable):
        raise TypeError(f"the worker of {what} must be a name, not {worker!r}")
    return None if same is None else bool(same), worker


def unsure(pair: tuple[int, int]) -> TypeError:
    """The error of an ordering that needs a yes or no and is told None."""
    return TypeError(
        f"the answer to {pair} must be True or False, not None (unsure): ask somebody else, pass that answer to tell "
        "(with a journal, to Journal.record), and go on; or use a strategy that keeps contradicting answers"
    )
