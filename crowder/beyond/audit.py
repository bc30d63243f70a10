r"""An audit of what an ordering leaves open: a bound on the matches missed that needs no model of the similarities.

Pairs of records are drawn at random from those that the answers leave open, and are asked about. Let g be the number of
matching pairs, and let F of them have been found before a draw. If the pair is drawn uniformly from R pairs that
contain every open pair, it shows a new match with probability :math:`(g - F)/R`, whatever happened before. The
*exposure* of g sums over the draws s that showed none,

.. math:: H(g) = -\sum_s \ln\Bigl(1 - \frac{g - F_s}{R_s}\Bigr),

and g is rejected once H(g) reaches :math:`c_k` (`limits`), where k is the number of draws that did show one. If all
answers are true, the probability that the true g is ever rejected is at most :math:`\alpha`, as the appendix *An audit*
proves. As long as no match is found, :math:`e^{-H(g)}` is the hypergeometric probability that the sample misses all of
them.

It goes beyond the paper. Betting on draws without replacement, of which this is a form, is due to Waudby-Smith and
Ramdas (NeurIPS 2020), and with unequal weights to Shekhar, Xu, Lipton, Liang and Ramdas (UAI 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, isnan, log
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from crowder import checks
from crowder.checks import Seed
from crowder.engine import Knowledge, apart, edge_ask, open_pairs
from crowder.orderings import Ordering
from crowder.pairs import unpack
from crowder.resolution import Resolution, cluster_sizes

__all__ = ["Audit", "AuditCost", "Audited", "Draws", "audit_cost", "inside", "limits"]

#: The audit starts after this many questions without a match, as a share of those that the audit would ask.
PATIENCE = 0.25

#: The number of questions before that number is first computed, and its factor until it is computed again.
FIRST_CHECK, CHECK_FACTOR = 10, 1.2

#: What rounding may add to an exposure: differences of `gammaln` at up to a billion pairs.
ROUNDING = 1e-5


@lru_cache(maxsize=64)
def limits(alpha: float, most: int) -> np.ndarray:
    r"""The exposures :math:`c_k` at which a number of matches is rejected after k = 0, ..., `most` - 1 discoveries.

    A Poisson process of rate 1 has more than k points before :math:`c_k`, for all k at once, with probability at least
    1 - `alpha`: the first k for which it has not is k with probability at most :math:`\alpha\,(\frac1{(k+1)^2} -
    \frac1{(k+2)^2})`; these sum to :math:`\alpha`, and three quarters are for k = 0. The probability of n points before
    :math:`c_k`, with more than j before :math:`c_j` for all j < k, follows from that for k - 1; the limit is then where
    the probability of just k falls to its share. O(most²).

    Examples
    --------
    >>> limits(0.05, 3).round(3)  # the first is -ln 0.0375
    array([3.283, 6.159, 8.716])
    """
    found, at = np.zeros(most), 0.0
    n = np.arange(most)
    log_factorial = gammaln(n + 1)
    chance = np.where(n == 0, 1.0, 0.0)  # of n points so far
    for k in range(most):
        share = alpha * (1 / (k + 1) ** 2 - 1 / (k + 2) ** 2)
        step = max(0.0, log(chance[k] / share))
        found[k] = at = at + step
        more = np.exp(xlogy(n, step) - step - log_factorial)
        more = more[: np.flatnonzero(more)[-1] + 1]  # some hundred points: the chances of others are below 1e-300
        chance[k:] = np.convolve(chance[k:], more)[: most - k]
        chance[k] = 0.0
    found.flags.writeable = False
    return found


class Draws:
    """Draws without replacement. `hits` of them showed a match; `runs` are successive ones that did not: the matches
    found before, the pairs that the first was drawn from, and how many draws."""

    def __init__(self) -> None:
        self.runs, self.hits = list[list[int]](), 0

    def add(self, found: int, pairs: int, number: int) -> None:
        """Count draws that showed no match."""
        if self.runs and self.runs[-1][0] == found and self.runs[-1][1] - self.runs[-1][2] == pairs:
            self.runs[-1][2] += number
        elif number:
            self.runs.append([found, pairs, number])

    def exposure(self, matches: int) -> float:
        """H of a number of matches."""
        if not self.runs:
            return 0.0
        found, pairs, draws = np.array(self.runs).T
        missed, rest = matches - found, pairs - draws
        if (rest < missed).any():  # a draw would have shown one of them
            return inf
        left_out = gammaln(pairs + 1) - gammaln(rest + 1) - gammaln(pairs - missed + 1) + gammaln(rest - missed + 1)
        return float(left_out.sum())

    def reject(self, matches: int, alpha: float) -> bool:
        """Whether they reject a number of matches."""
        most = 16 << max(0, self.hits.bit_length() - 4)  # so that few lengths are computed
        return self.exposure(matches) >= limits(alpha, most)[self.hits] + ROUNDING

    def most(self, low: int, high: int, alpha: float) -> int:
        """The largest number that they do not reject, from `low`, which is possible, to below `high`, which is not."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.reject(middle, alpha) else (middle, high)
        return low


class AuditCost(NamedTuple):
    """Questions of an audit: the expected number if no match is left, and the number that would settle every pair."""

    expected: float
    most: int


def audit_cost(sizes: Any, recall: float = 0.95, confidence: float = 0.95) -> AuditCost:
    """What an audit will cost if all matches of entities of these sizes have been found, and no other answer is known.

    An audit that finds no match asks about two components of a and b records with probability about :math:`1 - e^{-c_0
    ab/x}`, where x is the smallest number of matching pairs that must not be missed. (This is the probability for draws
    with independent inclusion; a sample without replacement differs little.) Answers that the ordering obtains along
    the way reduce both numbers. O(d²) for d different sizes.

    Examples
    --------
    >>> cost = audit_cost([20] * 10 + [1] * 30, recall=0.9)
    >>> round(cost.expected), cost.most
    (132, 780)
    """
    sizes = cluster_sizes(sizes)
    weight, count = _products(sizes)
    found = int((sizes * (sizes - 1) // 2).sum())
    return _cost(weight, count, found, _target(recall), 1 - inside(confidence, "confidence"))


@dataclass(frozen=True, repr=False)
class Audited(Resolution):
    """A `Resolution` that says what recall is certified, with a given confidence, if all answers are true.

    Attributes
    ----------
    found : int
        Matching pairs of records found, among those that count (see `among`).
    missed : int
        An upper limit on the number of such pairs that were missed.
    confidence : float
        A lower bound on the probability, over the draws, that these limits are right at all times at once.
    audited, discovered : int
        Questions of the audit, and those that found a match.
    expected : float
        The questions that the audit was expected to need when it started, if no match was left; NaN if it did not.
    reason : str
        Why the run ended: "recall" (the target is certified) or "settled" (every pair is); "" while it continues.
    crowd_errs : bool
        Whether the crowd is known to err, as `crowder.Faulty` is. Reading `certified` is then an AttributeError.
    among : str
        Which pairs count: "all pairs", or "candidate pairs" only. `Resolution.recall` always refers to all pairs.

    See Also
    --------
    crowder.beyond.Audit : the ordering that returns it.

    Examples
    --------
    >>> run = Audited([[0, 1]], [True], [0, 0, 1], found=1, missed=2)
    >>> run.certified  # at least one of at most three
    0.3333333333333333
    """

    found: int = 0
    missed: int = 0
    confidence: float = 0.95
    audited: int = 0
    discovered: int = 0
    expected: float = float("nan")
    reason: str = ""
    crowd_errs: bool = False
    among: str = "all pairs"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("found", "missed", "audited", "discovered"):
            checks.whole(getattr(self, name), name)
        inside(self.confidence, "confidence")

    @property
    def certified(self) -> float:
        """The recall certified with this confidence: found / (found + missed); 1 if both are 0."""
        if self.crowd_errs:
            raise AttributeError("no recall is certified: the crowd is known to err")
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0


class Audit(Ordering[Audited]):
    """An ordering followed by an audit, which certifies its recall without any model of the similarities.

    It asks the questions of the wrapped ordering until they seem to find no more matches: the last of them found none
    and were a quarter as many as those that the audit would ask. Then it asks about pairs drawn at random from those
    still open. A match makes the ordering continue. The run ends as soon as the recall is certified.

    Parameters
    ----------
    ordering : Ordering
        Any ordering, including a `Stopping`, otherwise a TypeError; a ValueError if it has already asked, is an `Audit`
        or joins records without a question. It must not be used separately afterwards.
    recall : float, keyword only
        The recall wanted, τ in (0, 1), otherwise a ValueError: the share of the matching candidate pairs that is found.
    confidence : float, keyword only
        1 - α in (0, 1), otherwise a ValueError: a lower bound on the probability, over the draws, that the recall is at
        least the certified one.
    rng : int or numpy.random.Generator, keyword only
        Draws the pairs. A TypeError if it has another type.

    See Also
    --------
    crowder.beyond.audit.audit_cost : what the audit will cost, before anything is asked.
    crowder.beyond.Stopping : stops according to a model of the similarities.

    Notes
    -----
    *Guarantee.* Suppose that the answers are true, and so is every match that the ordering assumes without an answer.
    Then, with probability at least ``confidence``, at most `Audited.missed` matching pairs are missed, at all times
    during the run at once. This holds for all similarities and orderings, and whenever the run is broken off. So to
    stay within a budget, ask that many questions and read `resolution`. If answers are wrong, nothing is guaranteed.
    *Unsure* is refused with a TypeError, since a pair that is left out would bias the sample.

    *Draws* are made without replacement. A question settles all pairs of two components, so large components are asked
    about first. A pair that is settled already counts as a draw and costs nothing.

    *Answers from elsewhere* (`learn`) are used when the run comes to these pairs, so they do not change the draws. With
    the same seed a run is resumed; with another seed the draws are new ones. If the best of several runs is chosen,
    their error probabilities add up.

    *Which ordering.* One that asks about likely matches first, such as `crowder.EdgeOrdering`. Node ordering finds
    matches up to its last records, so little is left to save.

    *Cost.* That of the ordering, O(m) time and memory for m candidate pairs when the audit starts, some tens of
    microseconds a question, and a microsecond for each discovery so far.

    Examples
    --------
    >>> import crowder as cr
    >>> data = cr.datasets.synthetic([40, 30, 10] + [1] * 40, cr.dist1(0.25), rng=7)
    >>> crowd = cr.Truth(data.labels)
    >>> cr.EdgeOrdering(data.similarity, rng=7).run(crowd).n_queries
    1066
    >>> run = Audit(cr.EdgeOrdering(data.similarity, rng=7), recall=0.95, rng=7).run(crowd)
    >>> run.n_queries, run.audited, run.reason, round(run.certified, 3), round(run.recall(data.labels)[-1], 3)
    (395, 65, 'recall', 0.951, np.float64(0.979))
    """

    def __init__(self, ordering: Ordering, *, recall: float = 0.95, confidence: float = 0.95, rng: Seed) -> None:
        if isinstance(ordering, Audit):
            raise ValueError("ordering must not be an Audit itself")
        check_fresh(ordering)
        self.target, self.confidence = _target(recall), float(inside(confidence, "confidence"))
        self.ordering = ordering  # which knows what this run has used, and nothing else
        self._begin(ordering._candidates)
        self._rng = np.random.default_rng(checks.generator(rng, "the audit").integers(2**63))
        self._question: tuple[tuple[int, int], bool] | None = None  # the next one, and whether it was drawn
        self._auditing, self._listed, self._expected, self._reason = False, False, float("nan"), ""
        self._audited = 0  # questions drawn
        self._misses, self._patience, self._check_at = 0, inf, FIRST_CHECK  # questions since the last match
        self._pool, self._at = np.empty(0, np.int64), np.zeros(1, np.int64)  # pairs in random order, and the next one
        self._draws = Draws()
        self._found_now: int | None = None  # pairs found, unless there was a match since they were counted

    def _facts(self) -> dict[str, Any]:
        of_it = {"ordering": type(self.ordering).__name__, "recall": float(self.target), "confidence": self.confidence}
        return {**of_it, **super()._facts(), "drawn questions": self._audited}

    # --- questions ----------------------------------------------------------------------------------------------------

    def next_question(self) -> tuple[int, int] | None:
        while not self._reason:
            self._question = self._question or self._next()
            if self._question is None:
                break
            (i, j), _ = self._question
            if not self._settled(i, j):
                return i, j
            self._use(bool(self._knowledge.component[i] == self._knowledge.component[j]))  # an answer from elsewhere
        return None

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        """Record the crowd's answer to the open question, as `Ordering.tell`."""
        super().tell(pair, same)
        self._use(same)

    @property
    def auditing(self) -> bool:
        """Whether the question that `ask` returned last, if not yet answered, was drawn for the audit."""
        return self._question is not None and self._question[1]

    def _next(self) -> tuple[tuple[int, int], bool] | None:
        if not self._auditing and not self._due() and (pair := self.ordering.ask()) is not None:
            return pair, False
        if not self._auditing:
            self._auditing = True
            self._refill()
            if isnan(self._expected):
                self._expected = self.cost().expected
        return self._draw()

    def _due(self) -> bool:
        """Whether to turn from the ordering to the audit."""
        asked = self.ordering.n_queries - self._audited
        if asked >= self._check_at:
            self._check_at = int(asked * CHECK_FACTOR) + 1
            self._patience = PATIENCE * self.cost().expected
        return self._misses >= self._patience

    def _refill(self) -> None:
        """Pairs in random order; to leave out those that were settled meanwhile keeps the others in random order."""
        known = self.ordering._knowledge
        if self._listed:
            self._pool = open_pairs(self._pool[self._at[0] :], known.component, known.table)
        else:
            codes = open_pairs(self._candidates.listed()[1], known.component, known.table)
            self._pool, self._listed = self._rng.permutation(codes), True
        self._at[0] = 0

    def _draw(self) -> tuple[tuple[int, int], bool] | None:
        """Draw until a pair is open, or the recall is certified."""
        while True:
            if 8 * self._at[0] >= len(self._pool):  # refilling takes as long as drawing all that is left
                self._refill()
            if not len(self._pool):
                self._reason = "settled"
                return None
            known, before = self.ordering._knowledge, int(self._at[0])
            code = edge_ask(self._pool, self._at, known.component, known.table)
            self._draws.add(self._found(), len(self._pool) - before, int(self._at[0]) - before)
            if self._is_certified():
                self._reason = "recall"
                return None
            if code != -1:
                return unpack(int(code)), True

    def _use(self, same: bool) -> None:
        """Go on with the answer to the question."""
        assert self._question is not None
        pair, drawn = self._question
        self._question = None
        if drawn:
            at = int(self._at[0])
            if same:
                self._draws.hits += 1
                self._auditing = False
            else:
                self._draws.add(self._found(), len(self._pool) - at, 1)
            self._at[0] = at + 1
            self._audited += 1
            self.ordering.learn(pair, same)
        else:
            self.ordering.tell(pair, same)
        if same:
            self._found_now = None
        self._misses = 0 if same else self._misses + 1

    # --- limits -------------------------------------------------------------------------------------------------------

    def _is_certified(self) -> bool:
        found = self._found()
        enough = int(found / self.target) + 1  # matches with which the recall would be too low
        return enough - found > len(self._pool) - self._at[0] or self._draws.reject(enough, 1 - self.confidence)

    def _found(self) -> int:
        """The pairs that count and that this run has found to match."""
        if self._found_now is None:
            self._found_now = self._matching(self.ordering._knowledge)
        return self._found_now

    def _matching(self, known: Knowledge) -> int:
        """The pairs that count and are known to match."""
        if self.every_pair:
            sizes = np.bincount(known.component)
            return int((sizes * (sizes - 1) // 2).sum())
        i, j = unpack(self._candidates.listed()[1])
        return int((known.component[i] == known.component[j]).sum())

    def _units(self, known: Knowledge) -> tuple[np.ndarray, np.ndarray]:
        """The open pairs of components: how many pairs that count each has, and how many such pairs there are."""
        component = known.component.astype(np.int64)
        if self.every_pair:
            sizes = np.bincount(component)
            weight, count = _products(sizes[sizes > 0])
            low, high = apart(known)
            differ = sizes[low] * sizes[high]
            return np.r_[weight, differ], np.r_[count, np.full(len(differ), -1)]
        i, j = unpack(open_pairs(self._candidates.listed()[1], known.component, known.table))
        a, b = component[i], component[j]
        weight = np.unique(np.minimum(a, b) << 32 | np.maximum(a, b), return_counts=True)[1]
        return weight, np.ones(len(weight), np.int64)

    def cost(self) -> AuditCost:
        """What an audit that starts now would cost: its expected questions if no match is left, and at most."""
        known = self.ordering._knowledge
        return _cost(*self._units(known), self._matching(known), self.target, 1 - self.confidence)

    @property
    def resolution(self) -> Audited:
        """The clusters that follow from the answers so far, and the limit of what they miss."""
        plain, known = super().resolution, self._knowledge
        found = self._matching(known)
        weight, count = self._units(known)
        most = self._draws.most(found, found + int(weight @ count) + 1, 1 - self.confidence)
        return Audited(plain.queries, plain.answers, plain.clusters, found, most - found, self.confidence,
                       self._audited, self._draws.hits, self._expected, self._reason, self.crowd_errs,
                       "all pairs" if self.every_pair else "candidate pairs")  # fmt: skip


def check_fresh(ordering: Any) -> None:
    """An ordering that has not asked, and joins no records without a question: the guarantees are about answers."""
    checks.kind(ordering, Ordering, "ordering must be an edge, node, evidence or other ordering")
    if ordering.joins_unasked:
        name = type(ordering).__name__
        raise ValueError(f"ordering must join records by answers only, but {name} joins some without a question")
    if ordering.n_queries or ordering._pending is not None:
        raise ValueError("ordering must not have asked any question yet")


def inside(value: Any, name: str) -> Any:
    """A number in (0, 1)."""
    if checks.probability(value, name) in (0, 1):
        raise ValueError(f"{name} must be between 0 and 1, not {value!r}")
    return value


def _target(recall: Any) -> Fraction:
    """A recall as it is written: 0.95 is 19/20."""
    return Fraction(str(inside(recall, "recall")))


def _products(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The products of the sizes of two components, and for how many pairs of components."""
    size, times = np.unique(sizes, return_counts=True)
    i, j = np.triu_indices(len(size))
    return size[i] * size[j], np.where(i == j, times[i] * (times[i] - 1) // 2, times[i] * times[j])


def _cost(weight: np.ndarray, count: np.ndarray, found: int, target: Fraction, alpha: float) -> AuditCost:
    excess = int(found / target) + 1 - found
    return AuditCost(float(-np.expm1(-limits(alpha, 1)[0] / excess * weight) @ count), int(count.sum()))
