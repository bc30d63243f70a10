r"""Majority votes: ask several people the same question, and believe most of them (Section "System model").

Each of r answers is wrong with probability p, independently. The vote errs when more than half of them are wrong.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from math import comb, exp, log

import numpy as np
from scipy.special import gammaln, logsumexp

__all__ = ["log_majority_error", "majority_error", "votes_needed"]


def majority_error(votes: int, error):
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
        In the arithmetic that `error` brings.

    Raises
    ------
    ValueError
        If there is not an odd positive number of votes, or `error` is not a probability.

    Notes
    -----
    O(r). From floats by logarithms, so no term is lost however small it is; see `log_majority_error`.

    Examples
    --------
    >>> majority_error(3, Fraction(1, 10))  # 3/100 · 9/10 + 1/1000
    Fraction(7, 250)
    >>> majority_error(3, Fraction(3, 5))  # more than one answer's 3/5
    Fraction(81, 125)
    """
    votes = _odd(votes)
    if isinstance(error, (float, np.floating)):
        return exp(log_majority_error(votes, error))
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
        -inf where no answer is ever wrong.

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
    votes = _odd(votes)
    error = float(_probability(error))
    if error in (0.0, 1.0):
        return 0.0 if error else -np.inf
    wrong = np.arange(votes // 2 + 1, votes + 1)
    ways = gammaln(votes + 1) - gammaln(wrong + 1) - gammaln(votes - wrong + 1)
    return min(0.0, float(logsumexp(ways + wrong * log(error) + (votes - wrong) * np.log1p(-error))))


def votes_needed(error: float, questions: int, failure: float) -> int:
    r"""The least odd r for which :math:`Q` questions, each put to a vote, all come out right up to a chance of failure.

    By the union bound: the least r with :math:`Q \cdot \Pr(\text{a vote errs}) \le \delta`.

    Parameters
    ----------
    error : float
        p, the probability that one answer is wrong, in [0, ½).
    questions : int
        Q, at least 1; may be too large for a float.
    failure : float
        δ, in (0, 1).

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is out of its range: from p = ½ on no number of votes helps.

    Notes
    -----
    O(r log r). r grows like :math:`2 \ln(Q/\delta) / \ln\frac1{4p(1-p)}`.

    Examples
    --------
    >>> votes_needed(0.1, 1000, 0.01)  # a thousand questions, right all together in 99 of 100 runs
    19
    """
    if not 0 <= _probability(error) < 0.5:
        raise ValueError(f"a majority of answers that are wrong with probability {error!r} cannot be trusted: "
                         "error must be below 1/2")  # fmt: skip
    if operator.index(questions) < 1 or not 0 < failure < 1:
        raise ValueError(f"needs at least one question and a chance of failure in (0, 1), not {questions}, {failure!r}")
    allowed = log(failure) - log(questions)

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


def _odd(votes) -> int:
    votes = operator.index(votes)
    if votes < 1 or votes % 2 == 0:
        raise ValueError(f"a majority needs an odd number of votes, not {votes}")
    return votes


def _probability(error):
    try:
        inside = getattr(error, "free_symbols", None) or bool(0 <= error <= 1)
    except TypeError:
        inside = False
    if not inside:
        raise ValueError(f"the probability of a wrong answer must be in [0, 1], not {error!r}")
    return Fraction(error) if isinstance(error, int) else error
