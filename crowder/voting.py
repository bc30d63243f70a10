r"""Majority votes: ask several people the same question and take the majority answer (Section "System model").

Each of r answers is wrong with probability p, independently. The vote is wrong when more than half of them are. Voting
can stop once the majority is decided (`expected_answers`); a run of Q questions fails when one of its Q votes is wrong
(`run_failure`).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, expm1, log, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation

__all__ = ["expected_answers", "log_majority_error", "majority_error", "odd", "run_failure", "votes_needed"]

#: The largest number of votes on one question that `votes_needed` considers.
MOST_VOTES = 1_000_000

#: The largest number of questions for which `run_failure` returns a fraction; beyond it, the digits would be too many.
MOST_EXACT = 1_000_000


def majority_error(votes: int, error: ArrayLike) -> Any:
    r"""The probability that most of r answers are wrong, :math:`\sum_{j > r/2} \binom rj p^j (1-p)^{r-j}`.

    Parameters
    ----------
    votes : int
        r, odd, so that there is always a majority.
    error : float, int, Fraction or sympy expression
        p, the probability that one answer is wrong, in [0, 1].

    Returns
    -------
    float, Fraction or sympy expression
        In the arithmetic of `error`.

    Raises
    ------
    ValueError
        If there is not an odd positive number of votes, or `error` is not a probability.

    Notes
    -----
    O(r). Floats are handled in logarithms, so that no term underflows; see `log_majority_error`.

    Examples
    --------
    >>> majority_error(3, Fraction(1, 10))  # 3/100 · 9/10 + 1/1000
    Fraction(7, 250)
    >>> majority_error(3, Fraction(3, 5))  # larger than the 3/5 of a single answer
    Fraction(81, 125)
    """
    votes = odd(votes)
    if isinstance(error, (float, np.floating)):
        return exp(log_majority_error(votes, float(error)))
    error = _probability(error)
    right = 1 - error
    return sum(comb(votes, j) * error**j * right ** (votes - j) for j in range(votes // 2 + 1, votes + 1))


def log_majority_error(votes: int, error: float) -> float:
    """The natural logarithm of `majority_error`, which itself may be too small for a float.

    Parameters
    ----------
    votes : int
        Odd.
    error : float
        In [0, 1].

    Returns
    -------
    float
        -inf if the probability is zero.

    Raises
    ------
    ValueError
        As `majority_error`.

    Notes
    -----
    O(r), with a relative error of the probability of about 1e-15 r.

    Examples
    --------
    >>> round(log_majority_error(10_001, 0.1))  # a probability with more than two thousand zeros
    -5115
    """
    votes = odd(votes)
    error = float(_probability(error))
    if error in (0.0, 1.0):
        return 0.0 if error else -np.inf
    wrong = np.arange(votes // 2 + 1, votes + 1)
    from scipy.special import gammaln, logsumexp  # a tenth of the time of `import crowder`

    ways = gammaln(votes + 1) - gammaln(wrong + 1) - gammaln(votes - wrong + 1)
    return min(0.0, float(logsumexp(ways + wrong * log(error) + (votes - wrong) * np.log1p(-error))))


def expected_answers(votes: int, error: ArrayLike) -> Any:
    r"""The expected number of answers to a vote that stops as soon as its majority of h = (r+1)/2 is decided.

    It stops at answer h + i if that is the h-th of one kind, after i of the other:

    .. math:: E[N] = \sum_{i=0}^{h-1} (h + i) \binom{h+i-1}{i} \left(q^h p^i + p^h q^i\right), \qquad q = 1 - p.

    Parameters
    ----------
    votes : int
        r, odd.
    error : float, int, Fraction or sympy expression
        p, in [0, 1].

    Returns
    -------
    float, Fraction or sympy expression
        In the arithmetic of `error`; at least h, at most r and, for p < ½, at most h/(1-p).

    Raises
    ------
    ValueError
        As `majority_error`.

    Notes
    -----
    O(r). The majority is that of all r answers (`crowder.oracles.MajorityVote` with ``early=True``). Not in the paper.

    Examples
    --------
    >>> expected_answers(3, Fraction(1, 10))  # a third answer where the first two differ, 2 · 1/10 · 9/10
    Fraction(109, 50)
    >>> round(expected_answers(101, 0.1), 3)  # close to 51/0.9
    56.667
    """
    votes = odd(votes)
    half = votes // 2 + 1
    if isinstance(error, (float, np.floating)):
        error = float(_probability(error))
        if error in (0.0, 1.0):
            return float(half)
        split = np.arange(half)
        from scipy.special import gammaln

        ways = gammaln(half + split) - gammaln(half) - gammaln(split + 1)
        p, q = log(error), log1p(-error)
        chance = np.exp(ways + half * q + split * p) + np.exp(ways + half * p + split * q)
        return float(((half + split) * chance).sum())
    error = _probability(error)
    right = 1 - error
    return sum((half + i) * comb(half + i - 1, i) * (right**half * error**i + error**half * right**i)
               for i in range(half))  # fmt: skip


def run_failure(questions: int, error: ArrayLike) -> Any:
    r"""The probability that at least one of Q independent answers is wrong, :math:`1 - (1 - e)^Q`.

    Parameters
    ----------
    questions : int
        Q, at least 0.
    error : float, int or Fraction
        e, the probability that one of them (a vote, say) is wrong, in [0, 1].

    Returns
    -------
    float or Fraction
        In the arithmetic of `error`; for floats without cancellation, however small e is.

    Raises
    ------
    ValueError
        If `error` is not a probability, the number of questions is negative, or a fraction would have too many digits.

    Notes
    -----
    At most :math:`Q e` (union bound), and less than that by at most :math:`\binom Q2 e^2`. O(1) for floats.

    Examples
    --------
    >>> run_failure(2, Fraction(1, 10))  # 1 - 81/100
    Fraction(19, 100)
    >>> round(run_failure(1000, 1e-20) * 1e17, 9)  # 1 - (1 - 1e-20)**1000 would be 0
    1.0
    """
    questions, error = validation.whole(questions, "questions"), _probability(error)
    if not isinstance(error, (float, np.floating)):
        if questions > MOST_EXACT:
            raise ValueError(f"error must be a float, not a fraction, for more than {MOST_EXACT:,} questions")
        return 1 - (1 - error) ** questions
    return 1.0 if error == 1 and questions else -expm1(questions * log1p(-float(error))) if questions else 0.0


def votes_needed(error: float, questions: int, failure: float, *, exact: bool = False) -> int:
    r"""The least odd r for which votes on :math:`Q` questions are all correct up to a given probability of failure.

    By the union bound: the least r with :math:`Q \cdot \Pr(\text{a vote errs}) \le \delta`. Exactly, for votes that
    err independently: the least r with :math:`1 - (1 - \Pr(\text{a vote errs}))^Q \le \delta`.

    Parameters
    ----------
    error : float
        p, the probability that one answer is wrong, in [0, ½).
    questions : int
        Q, at least 1; may be too large for a float.
    failure : float
        δ, in (0, 1).
    exact : bool, keyword only
        Whether to use the exact condition instead of the union bound.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is out of its range (for p ≥ ½ no number of votes is enough), or if p is so close to ½ that more
        than a million votes may be needed.

    Notes
    -----
    O(r log r). r grows like :math:`2 \ln(Q/\delta) / \ln\frac1{4p(1-p)}`.

    Examples
    --------
    >>> votes_needed(0.1, 1000, 0.01)  # a thousand questions, all correct in 99 of 100 runs
    19
    >>> votes_needed(0.1, 9, 0.5), votes_needed(0.1, 9, 0.5, exact=True)  # 9 votes of three answers: 0.252 and 0.226
    (3, 3)
    """
    if not 0 <= _probability(error) < 0.5:
        raise ValueError(f"error must be below 1/2, not {error!r}: otherwise no number of votes is enough")
    validation.whole(questions, "questions", least=1)
    if not 0 < validation.probability(failure, "failure") < 1:
        raise ValueError(f"failure must be in (0, 1), not {failure!r}")
    allowed = log(failure) - log(questions)
    if validation.flag(exact, "exact") and questions > 1:
        # e ≤ 1 - exp(-x), x = -ln(1 - δ)/Q, in logarithms: Q may be too large for a float.
        allowed = log(-log1p(-failure)) - log(questions)
        if allowed > -700:
            allowed = log(-expm1(-exp(allowed)))

    # A vote of r errs with probability at most (4pq)^(r/2), which bounds the votes needed.
    each = log1p(-((1 - 2 * error) ** 2)) if error > 0 else -np.inf
    most = 2 * allowed / each if each < 0 else np.inf
    if not most <= MOST_VOTES:
        raise ValueError(f"error must be further below 1/2 than {error!r}, which may need up to {most:.1g} votes; "
                         f"the limit is {MOST_VOTES:,}")  # fmt: skip

    def enough(half: int) -> bool:
        return log_majority_error(2 * half + 1, error) <= allowed

    high = 0
    while not enough(high):
        high = 2 * high + 1
    low = high // 2  # r = 2·half + 1; the answer is in [low, high]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return 2 * high + 1


def odd(votes: Any) -> int:
    """The number of votes, checked to be odd, so that there is always a majority.

    Examples
    --------
    >>> odd(3)
    3
    """
    votes = validation.whole(votes, "votes", least=-(2**63))
    if votes < 1 or votes % 2 == 0:
        raise ValueError(f"votes must be an odd number, at least 1, not {votes}")
    return votes


def _probability(error: Any) -> Any:
    if not getattr(error, "free_symbols", None):
        validation.probability(error, "error")
    return Fraction(error) if isinstance(error, int) else error
