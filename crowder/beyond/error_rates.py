"""How often a crowd errs, and what its votes are worth as evidence: `crowder.ErrorRates`.

`crowder.beyond.answer_model` explains the model and learns the rates.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import exp, log, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.answer_fit import Fit, fit_of
from crowder.beyond.answers import Answers
from crowder.beyond.looks import given_truth, log_votes, sum_by_pair
from crowder.oracles import majority_error

__all__ = ["PRIOR", "ErrorRates", "Prior", "check_answers", "check_probabilities"]


class Prior(NamedTuple):
    """Pseudo-counts (wrong, right) that `learn_errors` adds to what it counts, and those of a worker.

    Two crowds were measured, single votes: "no" on 5 to 21 % of the matches, "yes" on 0.2 to 5 % of the non-matches.
    So the errors that stay with a pair are expected at 1 in 5 and 1 in 50: an ordering that expects fewer errors than
    there are asks too little to find out. As long as no pair has two votes, only :math:`e (1 - b) + (1 - e) a` and its
    counterpart can be learned. The tenth of an error of single votes then leaves most of the errors to the pairs, so
    that asking again is not expected to help until repeated votes have shown that it does.
    """

    false_yes: tuple[float, float] = (0.5, 24.5)
    false_no: tuple[float, float] = (2.0, 8.0)
    vote_yes: tuple[float, float] = (0.1, 99.9)
    vote_no: tuple[float, float] = (0.1, 9.9)
    unclear: float = 0.05  # so few pairs of either kind are expected to be unclear, until divided votes show them
    unclear_yes: tuple[float, float] = (1.0, 1.0)
    worker: float = 10.0  # the rates of all workers together count like so many votes of each one


PRIOR = Prior()


def _mean(counts: tuple[float, float]) -> float:
    return counts[0] / sum(counts)


@dataclass(frozen=True)
class ErrorRates:
    r"""How often a crowd errs: errors that stay with a pair, and those of single votes.

    Parameters
    ----------
    false_yes : float
        e: the probability that a pair of different records looks like a match.
    false_no : float
        f: the probability that a matching pair looks like a non-match.
    workers : dict, optional
        For each worker :math:`(a_w, b_w)`: the probability of a "yes" to a pair that looks different, and of a "no" to
        one that looks the same.
    vote : tuple of float, optional
        The same for a worker who is not in `workers`.
    unclear : tuple of float, optional
        The probabilities that a non-match and a match look unclear, so that the crowd is divided about them.
    unclear_yes : float, optional
        The probability of a "yes" to a pair that looks unclear.

    Raises
    ------
    ValueError
        If a rate is not in (0, 1/2), `unclear` has a probability outside [0, 1/2), or `unclear_yes` is not in (0, 1).
    TypeError
        If `workers` is not a dictionary.

    See Also
    --------
    crowder.Answers : the answers.

    Notes
    -----
    The rate of a single vote counts all: an anonymous "yes" on a non-match has, without unclear pairs, probability
    :math:`e (1 - b) + (1 - e) a` (`majority` with one vote). The default of `vote` is where `learn_errors`
    starts. Not in the paper, whose crowd errs at most independently (Section "System model").

    Examples
    --------
    Three votes for a match are worth more than one, but no more than the look of the pair:

    >>> rates = ErrorRates(0.01, 0.1, vote=(0.05, 0.05))
    >>> [round(rates.of_votes([True] * votes, ["ann"] * votes), 2) for votes in (1, 2, 3, 100)]
    [2.68, 4.26, 4.49, 4.5]
    >>> rates.evidence(Answers.read([(0, 1, "yes"), (1, 2, "no")])).round(2)
    array([ 2.68, -1.91])
    """

    false_yes: float
    false_no: float
    workers: Mapping[Hashable, tuple[float, float]] = field(default_factory=dict)
    vote: tuple[float, float] = (_mean(PRIOR.vote_yes), _mean(PRIOR.vote_no))
    unclear: tuple[float, float] = (0.0, 0.0)
    unclear_yes: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.workers, Mapping):
            raise TypeError(f"workers must be a dictionary from worker to (false_yes, false_no), not {self.workers!r}")
        for name in ("false_yes", "false_no"):
            object.__setattr__(self, name, _rate(getattr(self, name), name))
        object.__setattr__(self, "vote", _two_rates(self.vote, "vote"))
        rates = {worker: _two_rates(two, f"the rates of worker {worker!r}") for worker, two in self.workers.items()}
        object.__setattr__(self, "workers", rates)
        if not isinstance(self.unclear, (tuple, list, np.ndarray)) or len(self.unclear) != 2:
            raise ValueError(f"unclear must be two probabilities, of non-matches and matches, not {self.unclear!r}")
        unclear = tuple(0.0 if value == 0 else _rate(value, "unclear") for value in self.unclear)
        object.__setattr__(self, "unclear", unclear)
        if validation.probability(self.unclear_yes, "unclear_yes") in (0, 1):
            raise ValueError(f"unclear_yes must be in (0, 1), not {self.unclear_yes!r}")

    @property
    def looks(self) -> np.ndarray:
        """P(look | truth): rows same, different, unclear; columns match, non-match."""
        e, f, (u, v) = self.false_yes, self.false_no, self.unclear
        return np.array([[1 - f - v, e], [f, 1 - e - u], [v, u]])

    def rates_of(self, workers: Iterable[Hashable]) -> np.ndarray:
        """The rates (a, b) of these workers, shape (number of workers, 2).

        Raises
        ------
        TypeError
            If they are not a sequence of names.

        Examples
        --------
        >>> ErrorRates(0.01, 0.1, {"ann": (0.02, 0.03)}, (0.1, 0.2)).rates_of(["ann", "bob"])
        array([[0.02, 0.03],
               [0.1 , 0.2 ]])
        """
        names = _listed(workers, "workers")
        return np.array([self.workers.get(worker, self.vote) for worker in names], dtype=float).reshape(-1, 2)

    def evidence(self, answers: Answers) -> np.ndarray:
        """ln P(votes | match) / P(votes | non-match) of each pair of `answers`, shape (p,). O(answers).

        Parameters
        ----------
        answers : Answers

        Returns
        -------
        ndarray of float64, shape (p,)
            In the order of ``answers.pairs``; 0 for a pair with no answer but "unsure".

        Raises
        ------
        TypeError
            If they are not `Answers`.

        Examples
        --------
        >>> ErrorRates(0.01, 0.1, vote=(0.1, 0.1)).evidence(Answers.read([(0, 1, 1), (0, 1, 1), (0, 2, None)])).round(3)
        array([3.703, 0.   ])
        """
        check_answers(answers)
        terms = log_votes(answers.yes, answers.worker, self.rates_of(answers.workers), self.unclear_yes)
        sums = sum_by_pair(terms, answers.pair, len(answers.pairs))
        match, non_match = given_truth(sums, self.looks)[0]
        return match - non_match

    def of_votes(self, yes: Iterable[bool], workers: Iterable[Hashable]) -> float:
        """The evidence of the votes on one pair. O(votes), without arrays.

        Parameters
        ----------
        yes : sequence of bool
            The votes.
        workers : sequence
            Who cast them.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there is not one worker for each vote.
        TypeError
            If these are not sequences, of votes and of names.

        Examples
        --------
        >>> round(ErrorRates(0.01, 0.1, vote=(0.1, 0.1)).of_votes([True, True], ["ann", "bob"]), 3)
        3.703
        """
        yes, workers = _listed(yes, "yes"), _listed(workers, "workers")
        if len(yes) != len(workers):
            raise ValueError(f"there must be one worker for each vote, not {len(workers)} for {len(yes)}")
        same = different = unclear = 0.0  # ln P(votes | look)
        for said, worker in zip(yes, workers, strict=True):
            a, b = self.workers.get(worker, self.vote)
            same += log1p(-b) if said else log(b)
            different += log(a) if said else log1p(-a)
            unclear += log(self.unclear_yes) if said else log1p(-self.unclear_yes)
        top = max(same, different, unclear if any(self.unclear) else same)
        # where no pair is unclear, the last is multiplied by 0, and must not overflow
        same, different, unclear = exp(same - top), exp(different - top), exp(min(unclear - top, 0))
        e, f, (u, v) = self.false_yes, self.false_no, self.unclear
        match = (1 - f - v) * same + f * different + v * unclear
        return log(match / (e * same + (1 - e - u) * different + u * unclear))

    def majority(self, votes: int) -> tuple[float, float]:
        """P(majority says "yes" | non-match) and P(majority says "no" | match), of so many workers with rates `vote`.

        Parameters
        ----------
        votes : int
            Odd.

        Returns
        -------
        tuple of float

        Raises
        ------
        ValueError
            If `votes` is not odd and positive.

        Examples
        --------
        No number of votes brings the errors below those that stay with a pair:

        >>> rates = ErrorRates(0.01, 0.1, vote=(0.05, 0.05))
        >>> [tuple(round(rate, 3) for rate in rates.majority(votes)) for votes in (1, 3, 15)]
        [(0.059, 0.14), (0.017, 0.106), (0.01, 0.1)]
        """
        a, b = (float(majority_error(votes, rate)) for rate in self.vote)
        says_yes = np.array([1 - b, a, float(majority_error(votes, float(self.unclear_yes)))])  # by look
        match, non_match = self.looks.T
        return float(non_match @ says_yes), float(match @ (1 - says_yes))

    def surprise(self, answers: Answers, same: ArrayLike) -> Fit:
        """Whether these rates fit the answers, and whether the workers differ.

        Parameters
        ----------
        answers : Answers
        same : array_like, shape (p,)
            The probability that each pair of ``answers.pairs`` is a match, best from elsewhere, such as a pilot whose
            truth is known. Where it follows from the same answers, wrong answers are partly explained away, and fewer
            seem to be wrong than are.

        Returns
        -------
        crowder.beyond.answer_fit.Fit
            Printing it states the findings.

        Raises
        ------
        ValueError
            If `same` does not hold one probability for each pair.
        TypeError
            If `answers` are no `Answers`.

        Examples
        --------
        >>> answers = Answers.read([(0, k, k % 4 == 0) for k in range(1, 201)])  # wrong on every fourth
        >>> print(ErrorRates(0.01, 0.1, vote=(0.01, 0.01)).surprise(answers, [0] * 200))
        rates do not fit: "yes" on non-matches: expected 4.0 of 200, seen 50.0 (about 0.25), +23.4 standard errors
        """
        check_answers(answers)
        return fit_of(self, answers, check_probabilities(same, answers))


def _listed(values: Iterable[Hashable], what: str) -> list[Hashable]:
    """A list of votes or of workers."""
    try:
        hash(listed := tuple(values))
    except TypeError:
        raise TypeError(f"{what} must be a sequence with one value for each vote, not {values!r}") from None
    return list(listed)


def check_answers(answers: Any) -> None:
    validation.kind(answers, Answers, "answers must be Answers, such as Answers.read(rows)")


def check_probabilities(same: ArrayLike, answers: Answers) -> np.ndarray:
    """The probability of a match for each pair."""
    array = validation.numbers(same, "same, the probabilities of a match,")
    if array.shape != (len(answers.pairs),):
        raise ValueError(
            f"same must have one entry for each of the {len(answers.pairs)} pairs, not shape {array.shape}"
        )
    outside = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(outside):
        at = int(outside[0])
        raise ValueError(f"same must be in [0, 1], not {array[at]} for pair {tuple(answers.pairs[at].tolist())}")
    return array


def _rate(value: Any, what: str) -> float:
    try:
        inside = not isinstance(value, (bool, np.bool_, str)) and 0 < float(value) < 0.5
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise ValueError(f"{what} must be a rate of errors in (0, 1/2), not {value!r}")
    return float(value)


def _two_rates(value: Any, what: str) -> tuple[float, float]:
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ValueError(f"{what} must be (false_yes, false_no), not {value!r}")
    return _rate(value[0], f"false_yes of {what}"), _rate(value[1], f"false_no of {what}")
