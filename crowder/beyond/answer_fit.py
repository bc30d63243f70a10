"""Whether error rates fit the answers, and whether workers differ: `crowder.ErrorRates.surprise`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import chi2

from crowder.beyond.looks import given_truth, log_votes, sum_by_pair

if TYPE_CHECKING:
    from crowder.beyond.answer_model import ErrorRates
    from crowder.beyond.answers import Answers

__all__ = ["Check", "Fit", "WorkerFit", "fit_of"]

#: Standard errors from which a rate does not fit, and the p-value below which workers differ.
FAR, UNLIKELY = 3.0, 1e-3

#: With fewer votes, rates are not said to fit: hardly any could be refuted.
FEW = 30

#: Nats by which the rates of the workers must fit worse than one for all before this is said.
WORSE = 1.0

#: A check that assumes that how often a pair is asked about does not depend on the answers.
DISAGREE = "pairs whose votes disagree"


class Check(NamedTuple):
    """A number that was seen, against its expected value and standard error if the rates hold."""

    what: str
    seen: float
    expected: float
    error: float
    of: float

    @property
    def z(self) -> float:
        """How many standard errors lie between what was seen and what was expected."""
        return (self.seen - self.expected) / self.error if self.error > 0 else 0.0

    def __str__(self) -> str:
        numbers = f"expected {self.expected:.1f} of {self.of:.0f}, seen {self.seen:.1f} (about {self.rate:.2g})"
        return f"{self.what}: {numbers}, {self.z:+.1f} standard errors"

    @property
    def rate(self) -> float:
        """The share that was seen."""
        return self.seen / self.of if self.of else 0.0


class WorkerFit(NamedTuple):
    """A worker's votes against how the pairs look by the truth and the other votes.

    ``wrong`` is the expected number of votes against the look, ``common`` what it would be if all workers were alike;
    ``information`` is the correlation of votes and looks in standard errors, ``possible`` its value if all were alike.
    """

    votes: int
    wrong: float
    common: float
    information: float
    possible: float


@dataclass(frozen=True)
class Fit:
    """What `crowder.ErrorRates.surprise` found; `print` states it in words.

    Attributes
    ----------
    checks : tuple of Check
        "Yes" on non-matches, "no" on matches, and pairs whose votes disagree.
    workers : dict
        A `WorkerFit` for each worker with a vote.
    statistic, freedom, p_value : float
        The test that all workers are alike: chi-square, its degrees of freedom, and the p-value (1 if there is only
        one).
    gain : float
        The log-likelihood of the votes with a rate for each worker, less that with the rate `vote` for all. If the
        rates were learned from the same answers, it is too large by about one for each rate.
    """

    checks: tuple[Check, ...]
    workers: dict[Hashable, WorkerFit]
    statistic: float
    freedom: int
    p_value: float
    gain: float

    @property
    def rates_fit(self) -> bool:
        """Whether no check is further than three standard errors from what is expected."""
        return all(abs(check.z) <= FAR for check in self.checks)

    @property
    def workers_differ(self) -> bool:
        """Whether the p-value is below 0.001."""
        return self.p_value < UNLIKELY

    @property
    def uninformative(self) -> list[Hashable]:
        """Workers whose votes show no relation to the looks (within 2 standard errors, where 4 were to be expected)."""
        return [name for name, fit in self.workers.items() if abs(fit.information) < 2 and fit.possible > 4]

    @property
    def contrary(self) -> list[Hashable]:
        """Workers whose votes are against the looks (by more than 3 standard errors, where 4 in favour were to be
        expected), as if yes and no had been confused."""
        return [name for name, fit in self.workers.items() if fit.information < -FAR and fit.possible > 4]

    def __str__(self) -> str:
        lines = [f"rates do not fit: {check}" for check in self.checks if abs(check.z) > FAR]
        enough = sum(fit.votes for fit in self.workers.values()) >= FEW
        lines = lines or ["rates fit" if enough else "too few answers to tell whether rates fit"]
        if self.freedom:
            test = f"chi-square {self.statistic:.1f}, {self.freedom} degrees of freedom, p = {self.p_value:.2g}"
            lines.append(f"workers {'differ' if self.workers_differ else 'do not differ'} ({test})")
        if self.gain < -WORSE:
            lines.append(f"the rates of the workers fit worse than one for all, by {-self.gain:.1f} nats")
        if self.uninformative:
            lines.append(f"no information in the answers of {', '.join(map(str, self.uninformative))}; leave them out")
        if self.contrary:
            lines.append(f"the answers of {', '.join(map(str, self.contrary))} contradict those of the others; "
                         "reverse them or leave them out")  # fmt: skip
        return "\n".join(lines)


def fit_of(rates: ErrorRates, answers: Answers, same: np.ndarray) -> Fit:
    """See `crowder.ErrorRates.surprise`. O(answers).

    Examples
    --------
    >>> from crowder.beyond.answer_model import ErrorRates
    >>> from crowder.beyond.answers import Answers
    >>> answers = Answers.read([(0, 1, "yes"), (1, 2, "no")])
    >>> print(fit_of(ErrorRates(0.01, 0.1), answers, np.array([1.0, 0.0])))
    too few answers to tell whether rates fit
    """
    pair, yes, worker, p = answers.pair, answers.yes, answers.worker, len(answers.pairs)
    own = rates.rates_of(answers.workers)
    everyone = np.broadcast_to(rates.vote, own.shape)
    likelihood = []
    for each in (own, everyone):
        terms = log_votes(yes, worker, each, rates.unclear_yes)
        total, _ = given_truth(sum_by_pair(terms, pair, p), rates.looks)
        likelihood.append(float(same @ total[0] + (1 - same) @ total[1]))
    says_yes = np.exp(log_votes(np.ones_like(yes), worker, own, rates.unclear_yes))
    checks = _checks(says_yes, yes, pair, same, rates.looks)
    workers, statistic, freedom = _compare(terms, answers, same, rates)
    return Fit(
        checks, workers, statistic, freedom, float(chi2.sf(statistic, freedom)) if freedom else 1.0,
        likelihood[0] - likelihood[1],
    )  # fmt: skip


def _checks(says_yes: np.ndarray, yes: np.ndarray, pair: np.ndarray, same: np.ndarray, looks: np.ndarray) -> tuple:
    """Votes of one pair share its look: var = E var(votes | look) + var E(votes | look)."""

    def total(values: np.ndarray) -> np.ndarray:
        return sum_by_pair(np.atleast_2d(values), pair, len(same))

    votes, yeses = total(np.ones(len(yes)))[0], total(yes)[0]
    mean, spread = total(says_yes), total(says_yes * (1 - says_yes))  # of the number of "yes", by look
    found = []
    for what, weight, look, wrong in (
        ('"yes" on non-matches', 1 - same, looks[:, 1], yeses),
        ('"no" on matches', same, looks[:, 0], votes - yeses),
    ):
        expected = look @ mean
        error = sqrt(float(weight @ (look @ spread + look @ mean**2 - expected**2)))
        expected = votes - expected if what.startswith('"no') else expected
        found.append(Check(what, float(weight @ wrong), float(weight @ expected), error, float(weight @ votes)))
    united = np.exp(total(np.log(says_yes))) + np.exp(total(np.log(1 - says_yes)))  # all "yes" or all "no", by look
    chance = (1 - (looks @ np.array([same, 1 - same]) * united).sum(axis=0))[votes > 1]
    split = float(((0 < yeses) & (yeses < votes)).sum())
    error = sqrt(float((chance * (1 - chance)).sum()))
    found.append(Check(DISAGREE, split, float(chance.sum()), error, len(chance)))
    return tuple(found)


def _compare(terms: np.ndarray, answers: Answers, same: np.ndarray, rates: ErrorRates) -> tuple[dict, float, int]:
    """Each worker's votes against the looks by the other votes on the same pairs, if all have the rates `vote`.

    Were all workers alike, each would be wrong as often as expected, up to one factor for all, which is estimated; so a
    wrong rate for all is not taken for a difference.
    """
    pair, yes, worker, names = answers.pair, answers.yes, answers.worker, answers.workers
    if not len(yes):
        return {}, 0.0, 0
    others = sum_by_pair(terms, pair, len(same))[:, pair] - terms
    looks = given_truth(others, rates.looks)[1]
    looks = same[pair] * looks[:, 0] + (1 - same[pair]) * looks[:, 1]  # P(look), without this vote
    a, b = rates.vote
    says_yes = np.array([1 - b, a, rates.unclear_yes]) @ looks
    look = looks[0] + looks[2] / 2  # an unclear pair says nothing about a worker

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(worker, values, minlength=len(names))

    votes, wrong = total(np.ones(len(yes))), total(np.where(yes, 1 - look, look))
    common = total(says_yes * (1 - look) + (1 - says_yes) * look)
    spread = total(says_yes * (1 - says_yes) * (1 - 2 * look) ** 2)
    factor = wrong.sum() / common.sum()
    common, spread = factor * common, factor * spread
    large = common >= 1  # a chi-square needs expected counts; the other workers are compared together
    groups = [*zip(wrong[large], common[large], spread[large], strict=True)]
    if common[~large].sum() > 0:
        groups.append((wrong[~large].sum(), common[~large].sum(), spread[~large].sum()))
    statistic = sum((seen - mean) ** 2 / var for seen, mean, var in groups if var > 0)
    some = np.maximum(votes, 1)
    centred = look - (total(look) / some)[worker]
    relations = []  # of votes and looks: as seen, and as expected
    for said in (yes, says_yes):
        share = total(said) / some
        error = np.sqrt(share * (1 - share) * total(centred**2))
        relations.append(np.divide(total(said * centred), error, out=np.zeros(len(names)), where=error > 0))
    fits = {
        name: WorkerFit(int(votes[k]), *(float(x[k]) for x in (wrong, common, *relations)))
        for k, name in enumerate(names)
        if votes[k]
    }
    return fits, float(statistic), max(len(groups) - 1, 0)
