r"""What answers are worth as evidence: errors that stay with a pair, and errors of single votes.

A pair has a look: to most people its records look the same, or they look different; or the pair is unclear, and the
crowd is divided. A pair of different records looks the same with probability :math:`p_\text{yes}` (`false_yes`), a
matching pair looks different with probability :math:`p_\text{no}` (`false_no`); they look unclear with probabilities u
and u'. Asking again does not change the look. Each voter reports the look, apart from slips of their own: worker w says
"yes" to a pair that looks different with probability :math:`a_w`, and "no" to one that looks the same with probability
:math:`b_w`, independently; to an unclear pair everybody says "yes" with probability c. With the votes v of a pair, and
:math:`A_1, A_0, A_c` the products of P(v | look) over them if the pair looks the same, different, or unclear, the
evidence that it is a match is

.. math:: \ln \frac{P(v \mid \text{match})}{P(v \mid \text{non-match})} =
          \ln \frac{(1 - p_\text{no} - u') A_1 + p_\text{no} A_0 + u' A_c}
                   {p_\text{yes} A_1 + (1 - p_\text{yes} - u) A_0 + u A_c} .

However many votes agree, it stays between :math:`\ln p_\text{no}/(1-p_\text{yes}-u)` and
:math:`\ln (1-p_\text{no}-u')/p_\text{yes}`. Without unclear pairs, the default, u = u' = 0. On five votes for each of
4,371 pairs of a real crowd (gym, with the truth known), unclear pairs raise the log-likelihood by 129. The model is not
in the paper, whose crowd errs at most independently (Section "System model").
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, expit

from crowder import checks
from crowder.beyond.answers import Answers
from crowder.oracles import majority_error

__all__ = ["PRIOR", "ErrorRates", "Prior", "learn_errors"]

#: Learned rates are kept in this range, so that no vote is proof and none counts for its opposite.
LEAST, MOST = 1e-4, 0.49

#: The largest number of rounds of each fit of `learn_errors`.
ROUNDS = 100

#: Pairs about which the crowd agrees more than this are not called unclear.
UNCLEAR = 0.1


class Prior(NamedTuple):
    """Pseudo-counts (wrong, right) that `learn_errors` adds to what it counts, and those of a worker.

    Three crowds were measured, single votes: "no" on 5 to 21 % of the matches, "yes" on 0.1 to 5 % of the non-matches.
    So the errors that stay with a pair are expected at 1 in 5 and 1 in 50: an ordering that expects fewer errors than
    there are asks too little to find out. As long as no pair has two votes, the tenth of an error of single votes
    leaves most of the errors to the pairs, so that asking again is not expected to help.
    """

    false_yes: tuple[float, float] = (0.5, 24.5)
    false_no: tuple[float, float] = (2.0, 8.0)
    vote_yes: tuple[float, float] = (0.1, 99.9)
    vote_no: tuple[float, float] = (0.1, 9.9)
    unclear: float = 0.05  # the share expected to be unclear, until divided votes show more
    unclear_yes: tuple[float, float] = (1.0, 1.0)
    worker: float = 10.0  # the rates of all workers together count like this many votes of each


PRIOR = Prior()


def _mean(counts: tuple[float, float]) -> float:
    return counts[0] / sum(counts)


@dataclass(frozen=True)
class ErrorRates:
    r"""How often a crowd errs: errors that stay with a pair, and those of single votes.

    Parameters
    ----------
    false_yes : float
        e: the probability that a pair of different records looks like a match; as all rates, in (0, 1/2), otherwise a
        ValueError.
    false_no : float
        f: the probability that a matching pair looks like a non-match.
    workers : dict, optional
        For each worker :math:`(a_w, b_w)`: the probability of a "yes" to a pair that looks different, and of a "no" to
        one that looks the same. A TypeError if it is not a dictionary.
    vote : tuple of float, optional
        The same for a worker who is not in `workers`.
    unclear : tuple of float, optional
        The probabilities that a non-match and a match look unclear, so that the crowd is divided about them, in [0,
        1/2).
    unclear_yes : float, optional
        The probability of a "yes" to a pair that looks unclear, in (0, 1).

    See Also
    --------
    learn_errors : the rates under which answers are likeliest.

    Notes
    -----
    The error rate of a single vote includes both kinds of error: an anonymous "yes" on a non-match has, without unclear
    pairs, probability :math:`e (1 - b) + (1 - e) a` (`majority` with one vote). The default of `vote` is where
    `learn_errors` starts.

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
        checks.kind(self.workers, Mapping, "workers must be a dictionary from worker to (false_yes, false_no)")
        checked = {
            "false_yes": _rate(self.false_yes, "false_yes"),
            "false_no": _rate(self.false_no, "false_no"),
            "workers": {name: two_rates(two, f"the rates of worker {name!r}") for name, two in self.workers.items()},
            "vote": two_rates(self.vote, "vote"),
            "unclear": two_rates(self.unclear, "unclear", zero=True),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if checks.probability(self.unclear_yes, "unclear_yes") in (0, 1):
            raise ValueError(f"unclear_yes must be in (0, 1), not {self.unclear_yes!r}")

    @property
    def looks(self) -> np.ndarray:
        """P(look | truth): rows same, different, unclear; columns match, non-match."""
        e, f, (u, v) = self.false_yes, self.false_no, self.unclear
        return np.array([[1 - f - v, e], [f, 1 - e - u], [v, u]])

    def evidence(self, answers: Answers) -> np.ndarray:
        """ln P(votes | match) / P(votes | non-match) of each pair of `answers`, shape (p,), in nats. O(answers).

        It is 0 for a pair with no answer but "unsure". Answers of another type are a TypeError.

        Examples
        --------
        >>> ErrorRates(0.01, 0.1, vote=(0.1, 0.1)).evidence(Answers.read([(0, 1, 1), (0, 1, 1), (0, 2, None)])).round(3)
        array([3.703, 0.   ])
        """
        check_answers(answers)
        rates = np.array([self.workers.get(worker, self.vote) for worker in answers.workers]).reshape(-1, 2)
        terms = log_votes(answers.yes, answers.worker, rates, self.unclear_yes)
        sums = sum_by_pair(terms, answers.pair, len(answers.pairs))
        match, non_match = given_truth(sums, self.looks)[0]
        return match - non_match

    def of_votes(self, yes: Sequence[bool], workers: Sequence[Hashable]) -> float:
        """The evidence of the votes `yes` on one pair, cast by `workers`, in nats. O(votes), without arrays.

        A ValueError if there is not one worker for each vote, a TypeError if a vote is neither True nor False.

        Examples
        --------
        >>> round(ErrorRates(0.01, 0.1, vote=(0.1, 0.1)).of_votes([True, True], ["ann", "bob"]), 3)
        3.703
        """
        checks.kind(yes, (Sequence, np.ndarray), "yes must be a list of True and False")
        checks.kind(workers, (Sequence, np.ndarray), "workers must be a list of names")
        if not all(isinstance(worker, Hashable) for worker in workers):
            raise TypeError(f"each worker must be hashable, such as text or a number, not {workers!r}")
        if len(yes) != len(workers):
            raise ValueError(f"there must be one worker for each vote, not {len(workers)} for {len(yes)}")
        same = different = unclear = 0.0  # ln P(votes | look)
        for said, worker in zip(yes, workers, strict=True):
            checks.flag(said, "a vote")  # text would count as true
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
        """P(majority says "yes" | non-match) and P(majority says "no" | match), of `votes` workers with rates `vote`.

        A ValueError if `votes` is not odd and positive.

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


def log_votes(yes: np.ndarray, worker: np.ndarray, rates: np.ndarray, unclear_yes: float) -> np.ndarray:
    """ln P(vote | look) of each vote, shape (3, v), for the looks same, different, unclear; `rates` has (a, b) for each
    worker."""
    a, b = rates[worker].T
    return np.log([np.where(yes, x, 1 - x) for x in (1 - b, a, np.full(len(yes), unclear_yes))])


def sum_by_pair(terms: np.ndarray, pair: np.ndarray, size: int) -> np.ndarray:
    """ln P(votes | look) of each pair: the sums of its votes' terms, shape (3, p)."""
    return np.array([np.bincount(pair, row, minlength=size) for row in terms])


def given_truth(sums: np.ndarray, looks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ln P(votes | truth), shape (2, p), and P(look | votes, truth), shape (3, 2, p); match first.

    ``looks`` is P(look | truth), shape (3, 2).
    """
    with np.errstate(divide="ignore"):  # a look may be impossible
        joint = np.log(looks)[:, :, None] + sums[:, None]
    total = np.logaddexp.reduce(joint, axis=0)
    return total, np.exp(joint - total)


def learn_errors(answers: Answers, same: ArrayLike) -> ErrorRates:
    r"""The rates under which the votes are likeliest, given the probability of a match for each pair.

    With :math:`s` the probability that a pair is a match, the EM algorithm maximises

    .. math:: \sum_{\text{pairs}} s \ln P(v \mid \text{match}) + (1 - s) \ln P(v \mid \text{non-match})

    plus :math:`\sum (\alpha \ln x + \beta \ln (1 - x))` over the rates x with the pseudo-counts of `PRIOR`: first with
    one pair of rates for all workers; then, if there are several workers, with one for each, whose prior is the common
    one. The mean over all votes becomes `vote`. Each rate is in [0.0001, 0.49].

    Parameters
    ----------
    answers : Answers
        Otherwise a TypeError.
    same : array_like, shape (p,)
        s for each pair of ``answers.pairs``: 0 and 1 where the truth is known, or what a clustering says. A ValueError
        if it does not hold one probability for each pair.

    See Also
    --------
    crowder.beyond.resolve : learns rates and clusters in turn.

    Notes
    -----
    O(answers) a round, of `ROUNDS` at most for each of the two fits; a fit also ends when no rate changes by 1e-6.
    `same` stays as given; it is not revised by the votes. If no pair has two votes, only the total rates of single
    votes can be learned; `Prior` says how they are divided. Source: Dempster, Laird and Rubin (1977) for EM; the model
    is ours.

    Examples
    --------
    Three of four matches look like matches, to everybody:

    >>> answers = Answers.read([(k, 1000 + k, k % 4 > 0) for k in range(1000) for _ in range(3)])
    >>> rates = learn_errors(answers, [1] * 1000)
    >>> round(rates.false_no, 2), round(rates.vote[1], 2)
    (0.25, 0.0)
    """
    check_answers(answers)
    same = checks.numbers(same, "same, the probabilities of a match,")
    if same.shape != (len(answers.pairs),) or not ((same >= 0) & (same <= 1)).all():
        raise ValueError(f"same must be a probability for each of the {len(answers.pairs)} pairs, not {same}")
    (wrong_yes, right_no), (wrong_no, right_yes) = PRIOR.false_yes, PRIOR.false_no
    pairs = np.array([[right_yes, wrong_yes], [wrong_no, right_no], [PRIOR.unclear, PRIOR.unclear]])
    single = np.array([PRIOR.vote_yes, PRIOR.vote_no])
    found = _Rates(pairs / pairs.sum(axis=0), single[None, :, 0] / single.sum(axis=1), _mean(PRIOR.unclear_yes))
    found = _learn(*_patterns(answers, same), found, pairs, single)
    vote, named = found.vote[0], {}
    if len(answers.workers) > 1:
        each = np.repeat(found.vote, len(answers.workers), axis=0)
        common = PRIOR.worker * np.stack([vote, 1 - vote], axis=-1)
        data = _Votes(answers.pair, answers.yes, answers.worker, np.ones(len(answers.yes)))
        found = _learn(data, np.array([same, 1 - same]), found._replace(vote=each), pairs, common)
        # That of a worker of whom nothing is known goes with these looks, not with those of the first fit.
        if len(answers.worker):
            vote = np.average(found.vote, axis=0, weights=np.bincount(answers.worker, minlength=len(answers.workers)))
        named = {worker: (float(a), float(b)) for worker, (a, b) in zip(answers.workers, found.vote, strict=True)}
    (_, e), (f, _), (v, u) = found.looks.tolist()
    return ErrorRates(e, f, named, (float(vote[0]), float(vote[1])), (u, v), float(found.unclear_yes))


#: The probability, before any answer, that a crowd's answers have nothing to do with the records.
NOISE = 0.2


def log_binomial(n: int, k: int) -> float:
    return -log(n + 1) - float(betaln(n - k + 1, k + 1))


def informative(answers: Answers, clusters: np.ndarray) -> float:
    r"""The probability that answers come from a crowd that sees these clusters, and not from one that says "yes" with
    one probability q to everything; q is the share of "yes".

    The clusters were fitted to the answers, so those that define them say nothing: a "yes" for each of J records joined
    to others, and a "no" for each of S pairs of clusters with one. With :math:`y_1, n_1` further votes "yes" and "no"
    inside clusters and :math:`y_0, n_0` between them, the rates of errors integrated over `PRIOR`, and y and n votes in
    all, the likelihood ratio is

    .. math:: \frac{B(n_1 + \alpha, y_1 + \beta)}{B(\alpha, \beta)}
              \cdot \frac{B(y_0 + \alpha', n_0 + \beta')}{B(\alpha', \beta')}
              \cdot \frac{\min\{q^J (1 - q)^S, 1/W\}}{q^y (1 - q)^n} ,

    where W, the number of ways in which J of N records can be joined to others by answers about p pairs, is taken as
    :math:`\min\{\binom pJ, \binom NJ (N - J)^J\}`: so contradictions that many clusters could explain are noise.

    Examples
    --------
    >>> round(informative(Answers.read([(0, 1, "yes"), (0, 1, "no")]), np.array([0, 0])), 2)
    0.62
    >>> round(informative(Answers.read([(0, 1, "yes")] * 4 + [(0, 2, "no")] * 4), np.array([0, 0, 1])), 2)
    0.99
    """
    one, other = np.sort(clusters[answers.pairs][answers.pair], axis=1).T
    inside, between = (np.bincount(answers.yes[of], minlength=2) for of in (one == other, one != other))  # no, yes
    records = np.unique(answers.pairs)
    joins = min(len(records) - len(np.unique(clusters[records])), int(inside[1]))
    apart = (one != other) & ~answers.yes
    parts = len(np.unique(np.stack([one[apart], other[apart]]), axis=1).T)
    (wrong_yes, right_no), (wrong_no, right_yes) = PRIOR.false_yes, PRIOR.false_no
    evidence = betaln(inside[0] + wrong_no, inside[1] - joins + right_yes) - betaln(wrong_no, right_yes)
    evidence += betaln(between[1] + wrong_yes, between[0] - parts + right_no) - betaln(wrong_yes, right_no)
    no, yes = inside + between
    share, n, p = (yes + 1) / (yes + no + 2), len(records), len(answers.pairs)
    ways = min(log_binomial(p, joins), log_binomial(n, joins) + joins * log(max(n - joins, 1)))
    evidence -= yes * log(share) + no * log(1 - share)
    evidence -= max(-joins * log(share) - parts * log(1 - share), ways)
    return float(expit(evidence + log((1 - NOISE) / NOISE)))


class _Rates(NamedTuple):
    """P(look | truth), shape (3, 2); (a, b) of each worker, shape (w, 2); P("yes" | unclear)."""

    looks: np.ndarray
    vote: np.ndarray
    unclear_yes: float


class _Votes(NamedTuple):
    """Votes, and how many times each was cast."""

    pair: np.ndarray
    yes: np.ndarray
    worker: np.ndarray
    times: np.ndarray


def _patterns(answers: Answers, same: np.ndarray) -> tuple[_Votes, np.ndarray]:
    """The votes without their workers: pairs with the same numbers of "yes" and "no" become one, for speed.

    The second array has, for each, how many matches and non-matches it stands for, shape (2, patterns).
    """
    counts = np.array([np.bincount(answers.pair[answers.yes == said], minlength=len(same)) for said in (True, False)])
    kinds, kind = np.unique(counts, axis=1, return_inverse=True)
    m = kinds.shape[1]
    weight = np.array([np.bincount(kind.ravel(), s, minlength=m) for s in (same, 1 - same)])
    two = np.repeat([True, False], m)
    return _Votes(np.tile(np.arange(m), 2), two, np.zeros(2 * m, np.int64), kinds.ravel()), weight


def _learn(
    votes: _Votes, weight: np.ndarray, rates: _Rates, prior_looks: np.ndarray, prior_votes: np.ndarray
) -> _Rates:
    """EM. `weight` is the number of matches and of non-matches at each pair, shape (2, p).

    Pseudo-counts: of looks, shape (3, 2); of votes, (wrong, right) for a and for b, shape (2, 2).
    """
    pair, yes, worker, times = votes
    for _ in range(ROUNDS):
        sums = sum_by_pair(times * log_votes(yes, worker, rates.vote, rates.unclear_yes), pair, weight.shape[1])
        joint = weight * given_truth(sums, rates.looks)[1]
        counts = joint.sum(axis=2) + prior_looks
        share = counts / counts.sum(axis=0)
        e, f = _within(np.array([share[0, 1], share[1, 0]]))
        v, u = share[2].clip(LEAST, MOST)
        same, different, unclear = times * joint.sum(axis=1)[:, pair]
        seen = np.array([[different * yes, different * ~yes], [same * ~yes, same * yes]])  # wrong and right; a, b
        counts = np.array([[np.bincount(worker, x, minlength=len(rates.vote)) for x in two] for two in seen])
        counts = counts.transpose(2, 0, 1) + prior_votes
        divided = unclear[yes].sum() + PRIOR.unclear_yes[0], unclear[~yes].sum() + PRIOR.unclear_yes[1]
        new = _Rates(
            np.array([[1 - f - v, e], [f, 1 - e - u], [v, u]]),
            _within(counts[..., 0] / counts.sum(axis=-1)),
            float(np.clip(divided[0] / sum(divided), UNCLEAR, 1 - UNCLEAR)),
        )
        change = max(np.abs(new.looks - rates.looks).max(), np.abs(new.vote - rates.vote).max())
        change = max(change, abs(new.unclear_yes - rates.unclear_yes))
        rates = new
        if change < 1e-6:
            break
    return rates


def _within(rates: np.ndarray) -> np.ndarray:
    """The rates (false yes, false no) in the range allowed, shape (..., 2).

    If a rate is above 0.49, some answers of the kind given too often are counted as their opposite, whatever the pair
    looks like: that reduces one rate, raises the other, and never makes an answer worth more than it is.
    """
    yes, no = rates[..., 0], rates[..., 1]
    raised = [1 - (1 - yes) * np.minimum(1, MOST / no), 1 - (1 - no) * np.minimum(1, MOST / yes)]
    return np.stack(raised, axis=-1).clip(LEAST, MOST)


def check_answers(answers: Any) -> None:
    checks.kind(answers, Answers, "answers must be Answers, such as Answers.read(rows)")


def _rate(value: Any, what: str, zero: bool = False) -> float:
    """A rate of errors, checked to be below one half; only `unclear` may be 0."""
    try:
        rate = np.nan if isinstance(value, (bool, np.bool_, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        rate = np.nan
    if not (0 < rate < 0.5 or (zero and rate == 0)):
        raise ValueError(f"{what} must be a rate of errors in {'[' if zero else '('}0, 1/2), not {value!r}")
    return rate


def two_rates(value: Any, what: str, zero: bool = False) -> tuple[float, float]:
    try:
        yes, no = value
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be (false_yes, false_no), not {value!r}") from None
    return _rate(yes, f"false_yes of {what}", zero), _rate(no, f"false_no of {what}", zero)
