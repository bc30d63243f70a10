r"""What answers are worth as evidence: errors that stay with a pair, and errors of single votes.

A pair has a look: to most people its records look the same, or they look different; or the pair is unclear, and the
crowd is divided. A pair of different records looks the same with probability e (`false_yes`), a matching pair looks
different with probability f (`false_no`); they look unclear with probabilities u and u'. Asking again does not change
the look. A vote follows the look, except for errors of its own: worker w says "yes" to a pair that looks different with
probability :math:`a_w`, and "no" to one that looks the same with probability :math:`b_w`, independently; to an unclear
pair everybody says "yes" with probability c. With the votes v of a pair, and :math:`A_1, A_0, A_c` the products of
P(v | look) over them if the pair looks the same, different, or unclear, the evidence that it is a match is

.. math:: \ln \frac{P(v \mid \text{match})}{P(v \mid \text{non-match})}
          = \ln \frac{(1 - f - u') A_1 + f A_0 + u' A_c}{e A_1 + (1 - e - u) A_0 + u A_c} .

However many votes agree, it stays between :math:`\ln f/(1-e-u)` and :math:`\ln (1-f-u')/e`. Without unclear pairs, the
default, u = u' = 0. On five votes for each of 4,371 pairs of a real crowd (gym, with the truth known), unclear pairs
raise the log-likelihood by 129, as much as beta-binomial votes; without them, the best rates have 1,135 pairs whose
votes disagree, where there are 1,003. `learn_errors` estimates all rates; `dawid_skene` is the classical model without
looks, for comparison.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.answers import Answers
from crowder.beyond.error_rates import PRIOR, ErrorRates, Prior, check_answers, check_probabilities
from crowder.beyond.looks import given_truth, log_votes, sum_by_pair

__all__ = ["PRIOR", "ErrorRates", "Prior", "dawid_skene", "learn_errors"]

#: Learned rates are kept in this range, so that no vote is proof and none counts for its opposite.
LEAST, MOST = 1e-4, 0.49

#: Pairs about which the crowd agrees more than this are not called unclear.
UNCLEAR = 0.1


def learn_errors(
    answers: Answers, same: ArrayLike, *, before: ErrorRates | None = None, prior: Prior = PRIOR, rounds: int = 100
) -> ErrorRates:
    r"""The rates under which the votes are likeliest, given the probability of a match for each pair.

    With :math:`s` the probability that a pair is a match, the EM algorithm maximises

    .. math:: \sum_{\text{pairs}} s \ln P(v \mid \text{match}) + (1 - s) \ln P(v \mid \text{non-match})

    plus :math:`\sum (\alpha \ln x + \beta \ln (1 - x))` over the rates x with the pseudo-counts of `prior`: first with
    one pair of rates for all workers; then, if there are several workers, with one for each, whose prior is the common
    one. The mean over all votes becomes `vote`.

    Parameters
    ----------
    answers : Answers
    same : array_like, shape (p,)
        s for each pair of ``answers.pairs``: 0 and 1 where the truth is known, or what a clustering says.
    before : ErrorRates, optional
        Where to start: rates learned from fewer answers save rounds.
    prior : Prior
        Pseudo-counts.
    rounds : int
        The largest number of rounds of each of the two fits; a fit also ends when no rate changes by 1e-6.

    Returns
    -------
    ErrorRates
        Each rate in [0.0001, 0.49].

    Raises
    ------
    ValueError
        If `same` does not hold one probability for each pair, or `rounds` or a pseudo-count is not positive.
    TypeError
        If `answers` are no `Answers`, `before` no `ErrorRates`, or `prior` no `Prior`.

    See Also
    --------
    dawid_skene : the classical model, which needs no `same`.

    Notes
    -----
    O(answers) a round. `same` stays as given; it is not revised by the votes. If it says nothing (1/2 everywhere),
    matches and non-matches have the same votes, and the rates go to where votes are no evidence. If no pair has two
    votes, only the total rates of single votes can be learned; `Prior` says how they are divided. Source: Dempster,
    Laird and Rubin (1977) for EM; the model is ours.

    Examples
    --------
    Three of four matches look like matches, to everybody:

    >>> answers = Answers.read([(k, 1000 + k, k % 4 > 0) for k in range(1000) for _ in range(3)])
    >>> rates = learn_errors(answers, [1] * 1000)
    >>> round(rates.false_no, 2), round(rates.vote[1], 2)
    (0.25, 0.0)
    """
    check_answers(answers)
    same = check_probabilities(same, answers)
    rounds = validation.whole(rounds, "rounds", least=1)
    validation.kind(prior, Prior, "prior must be a Prior")
    if before is not None and not isinstance(before, ErrorRates):
        raise TypeError(f"before must be ErrorRates, not {before!r}")
    if not all(count > 0 for counts in prior for count in np.ravel(counts)):
        raise ValueError(f"prior must have positive pseudo-counts, not {prior!r}")
    (wrong_yes, right_no), (wrong_no, right_yes) = prior.false_yes, prior.false_no
    pairs = np.array([[right_yes, wrong_yes], [wrong_no, right_no], [prior.unclear, prior.unclear]])
    single = np.array([prior.vote_yes, prior.vote_no])
    if before is None:
        mean = prior.unclear_yes[0] / sum(prior.unclear_yes)
        found = _Rates(pairs / pairs.sum(axis=0), single[None, :, 0] / single.sum(axis=1), mean)
    else:
        found = _Rates(before.looks, np.array([before.vote]), before.unclear_yes)
    found = _learn(*_patterns(answers, same), found, pairs, single, prior.unclear_yes, rounds)
    vote, named = found.vote[0], {}
    if len(answers.workers) > 1:
        each = np.repeat(found.vote, len(answers.workers), axis=0)
        if before is not None and before.workers:
            each = before.rates_of(answers.workers)
        common = prior.worker * np.stack([vote, 1 - vote], axis=-1)
        data = _Votes(answers.pair, answers.yes, answers.worker, np.ones(len(answers.yes)))
        found = found._replace(vote=each)
        found = _learn(data, np.array([same, 1 - same]), found, pairs, common, prior.unclear_yes, rounds)
        # That of a worker of whom nothing is known goes with these looks, not with those of the first fit.
        if len(answers.worker):
            vote = np.average(found.vote, axis=0, weights=np.bincount(answers.worker, minlength=len(answers.workers)))
        named = {worker: (float(a), float(b)) for worker, (a, b) in zip(answers.workers, found.vote, strict=True)}
    (_, e), (f, _), (v, u) = found.looks.tolist()
    return ErrorRates(e, f, named, (float(vote[0]), float(vote[1])), (u, v), float(found.unclear_yes))


class _Rates(NamedTuple):
    """P(look | truth), shape (3, 2); (a, b) of each worker, shape (w, 2); P("yes" | unclear)."""

    looks: np.ndarray
    vote: np.ndarray
    unclear_yes: float


class _Votes(NamedTuple):
    """Votes, each cast so many times."""

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
    votes: _Votes, weight: np.ndarray, rates: _Rates, prior_looks: np.ndarray, prior_votes: np.ndarray,
    prior_unclear: tuple[float, float], rounds: int,
) -> _Rates:  # fmt: skip
    """EM. `weight` is the number of matches and of non-matches at each pair, shape (2, p).

    Pseudo-counts: of looks, shape (3, 2); of votes, (wrong, right) for a and for b, shape (2, 2); of "yes" and "no" to
    unclear pairs.
    """
    pair, yes, worker, times = votes
    for _ in range(rounds):
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
        divided = unclear[yes].sum() + prior_unclear[0], unclear[~yes].sum() + prior_unclear[1]
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


def dawid_skene(
    answers: Answers, *, rounds: int = 100, tolerance: float = 1e-6
) -> tuple[np.ndarray, dict[Hashable, tuple[float, float]], float]:
    r"""The model of Dawid and Skene (1979) with pairs as tasks: every error is a worker's own, none stays with a pair.

    EM for the likelihood :math:`\prod_{\text{pairs}} \sum_{t} \pi_t \prod_{v} P_{w(v)}(v \mid t)`, t a match or a
    non-match, starting from the share of "yes" among the votes of each pair.

    Parameters
    ----------
    answers : Answers
    rounds : int
        The largest number of rounds.
    tolerance : float
        It ends earlier when no probability of a match changes by this much.

    Returns
    -------
    probability : ndarray of float64, shape (p,)
        P(match | votes) of each pair; the prior for a pair with no vote.
    confusion : dict
        For each worker P("yes" | non-match) and P("no" | match), in [0, 1], for they are learned without a prior.
    prior : float
        The share of matches.

    Raises
    ------
    ValueError
        If there is no vote, `rounds` is less than 1, or `tolerance` is not in [0, 1].
    TypeError
        If `answers` are no `Answers`.

    See Also
    --------
    learn_errors : errors that stay with a pair, too.

    Notes
    -----
    O(answers) a round. Source: A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using
    the EM algorithm, Applied Statistics 28 (1979). Transitivity is not used.

    Examples
    --------
    Two against one, and the one is wrong again and again:

    >>> rows = [(0, k, (k % 2 == 0) != (name == "eve"), name) for k in range(1, 21) for name in ("ann", "bob", "eve")]
    >>> probability, confusion, prior = dawid_skene(Answers.read(rows))
    >>> probability[:4].round(3), round(confusion["ann"][0], 3), round(confusion["eve"][0], 3)
    (array([0., 1., 0., 1.]), 0.0, 1.0)
    """
    check_answers(answers)
    rounds, tolerance = validation.whole(rounds, "rounds", least=1), validation.probability(tolerance, "tolerance")
    pair, yes, worker, p, w = answers.pair, answers.yes, answers.worker, len(answers.pairs), len(answers.workers)
    if not len(pair):
        raise ValueError("answers must have at least one that is yes or no")
    votes = np.bincount(pair, minlength=p)
    match = np.divide(np.bincount(pair, yes, minlength=p), votes, out=np.full(p, 0.5), where=votes > 0)

    def learn() -> tuple[float, np.ndarray]:
        """The share of matches, and P(said | truth) of each worker: truth (match first), said ("yes" first), worker."""
        each = match[pair]
        seen = [each * yes, each * ~yes, (1 - each) * yes, (1 - each) * ~yes]
        # no count is quite 0, for the logarithms
        counts = np.maximum([np.bincount(worker, x, minlength=w) for x in seen], 1e-10).reshape(2, 2, w)
        return float(match[votes > 0].mean()), counts / counts.sum(axis=1, keepdims=True)

    prior, table = learn()
    for _ in range(rounds):
        sums = sum_by_pair(np.log(table[:, 1 - yes.astype(int), worker]), pair, p)
        sums += np.log(np.maximum([[prior], [1 - prior]], 1e-10))
        new = np.exp(sums[0] - np.logaddexp(*sums))
        change, match = np.abs(new - match).max(), new
        prior, table = learn()
        if change < tolerance:
            break
    confusion = {name: (float(table[1, 0, k]), float(table[0, 1, k])) for k, name in enumerate(answers.workers)}
    return match, confusion, prior
