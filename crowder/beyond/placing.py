r"""Placing ordering: on strong evidence, a record joins a cluster without a question; densities known or unknown.

The evidence that a record belongs to a cluster is the sum of :math:`\ln \ell(w)` over its similarities w to the
members. With known densities :math:`\ell = f_g/f_r`. Otherwise :math:`\ell` is computed from the upper ends of
confidence bands for both, and so small that a wrong cluster has evidence T with probability at most :math:`e^{-T}`,
whatever the densities are. It goes beyond the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, xlog1py, xlogy

from crowder import checks
from crowder.beyond.evidence import UNIT, log_ratios
from crowder.checks import Seed
from crowder.counting.bounds import acceptance_threshold
from crowder.models import SimilarityModel, common_steps
from crowder.orderings import Ordering
from crowder.resolution import Resolution

__all__ = [
    "Placed", "PlacingOrdering", "cautious_ratios", "draw", "in_band", "learn", "simulate_placing", "upper_ends",
]  # fmt: skip

#: The ordering computes bands anew when the known matches or non-matches have grown by this factor; `simulate_placing`
#: for each of so many records, and then for every STRIDE-th one.
GROWTH, EACH, STRIDE = 1.01, 1000, 100

#: After so many halvings of [0, 1] the ends are too large by 10⁻¹⁵ at most.
HALVINGS = 50

#: Rounding errors are a smaller share than this of a sum, and of a logarithm of a likelihood.
ROUNDING = 1e-13

MOST_BINS = 10_000


@dataclass(frozen=True, repr=False)
class Placed(Resolution):
    """A `Resolution` in which some records were placed without a question: its clusters do not follow from the answers
    alone, and may be wrong though every answer is true.

    Attributes
    ----------
    accepted : ndarray of int64, shape (a, 2)
        In order, each record that was placed without a question, and the first record of the cluster that it joined.
    after : ndarray of int64, shape (a,)
        After how many questions each of them was placed. Recall and precision count it from there on.

    See Also
    --------
    crowder.beyond.PlacingOrdering : the ordering that returns it.

    Examples
    --------
    >>> run = Placed([[1, 0]], [True], [0, 0, 0], accepted=[[2, 0]], after=[1])
    >>> run
    Placed(3 records, 1 cluster, 1 question, 1 accepted)
    >>> run.recall([5, 5, 5])
    array([0., 1.])
    """

    accepted: Any = field(default=())
    after: Any = field(default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        accepted = checks.pairs(self.accepted, len(self.clusters), "accepted").copy()
        after = checks.numbers(self.after, "after")
        steps = np.diff(after.ravel(), prepend=0, append=self.n_queries)
        if after.shape != (len(accepted),) or not ((steps >= 0) & (steps % 1 == 0)).all():
            raise ValueError(f"after must be a number of questions, not falling, for each accepted pair, not {after}")
        self._keep(accepted=accepted, after=after.astype(np.int64))

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "accepted": len(self.accepted)}

    def _pairs(self, labels: Any) -> tuple[np.ndarray, np.ndarray, int]:
        queries = np.insert(self.queries, self.after, self.accepted, axis=0)
        answers = np.insert(self.answers, self.after, True)
        right, joined, total = Resolution(queries, answers, self.clusters)._pairs(labels)
        asked = np.arange(self.n_queries + 1)
        last = asked + np.searchsorted(self.after, asked, side="right")
        return right[last], joined[last], total


class PlacingOrdering(Ordering[Placed]):
    r"""Place records one after another, without a question where the evidence for a cluster is strong.

    Records arrive in random order. The v-th is compared with the c clusters so far. If the largest evidence is at least

    .. math:: T(c, v, x) = \min\Bigl\{\ln\frac{c\,v(v+1)}\delta,\; 2\ln\frac{c^2(c+1)}{\delta x}\Bigr\} ,

    the record joins that cluster (of equal ones, the one whose first record came first); otherwise the clusters are
    asked about, those with more evidence first, until one answer is yes.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1], otherwise a ValueError. Every pair is a candidate.
    model : SimilarityModel, optional
        f_g and f_r; a TypeError if it is another object. The evidence is :math:`\ln f_g/f_r`, and :math:`x = H^2`, up
        to rounding to the safe side. Without a model nothing is assumed of them: the evidence is learned (see Notes).
    delta : float, keyword only
        δ in [0, 1]: an upper bound on the probability that any record is placed wrongly. With 0, every record is asked
        about. A ValueError if it is out of its range, or 0 without a model.
    bins : int or array_like, keyword only
        Without a model: the number of bins of equal width in which similarities are counted, 1 to 10,000, or the edges
        between bins, rising inside (0, 1); otherwise a ValueError. They have to be chosen before the similarities are
        seen.
    rng : int or numpy.random.Generator, keyword only
        Gives the order of the records. A ValueError if it is missing.

    See Also
    --------
    crowder.beyond.EvidenceOrdering : asks until every pair is settled by answers.
    crowder.beyond.simulate_placing : how many questions it asks about more records than fit in a matrix.

    Notes
    -----
    *The clusters do not follow from the answers alone.* `settled` is true of accepted pairs, as of any in one cluster.

    *Guarantee.* Let the answers be true, and the similarities independent, those of matches with one distribution and
    those of non-matches with another. Then all records are placed correctly with probability at least 1 - δ, for every
    partition: Companion Theorem A10.2 for known densities, A10.3 without. A wrong placement is never noticed.

    *Where it fails.* Similarities of real records depend on one another, and then far more placements are wrong than δ
    allows: on cora, with δ = 0.1 and no model, about a quarter of the pairs put in one cluster were not matches.

    *Questions.* For known densities, `crowder.evidence_bound` bounds their expected number up to the first wrong
    placement. For δ > 0 the bound does not grow with n, nor does that of Theorem A10.3 for equal clusters and nothing
    known. With known densities and under the conditions of Theorem A12.1, no algorithm asks fewer on the worst
    partition, up to a constant factor, than the better of this ordering, if stopped as there, and of that with δ = 0.

    *Without a model*, evidence is learned when both kinds of pairs are known (`cautious_ratios`), and
    :math:`x = 1 - \bar\rho`; the :math:`\ell` with the least :math:`\bar\rho` so far is used. As long as no non-match
    is known, every record is asked about; so are all records of a single entity (part 4 of the theorem).

    *Answers from elsewhere* (`learn`) settle a record's cluster when the record's turn comes.

    *Cost:* O(n + qk) for each record, for k clusters; without a model also O(q) for each of O(log n) updates, a
    fraction of a millisecond. Memory O(n²).

    Examples
    --------
    >>> from crowder import Truth, datasets, dist1
    >>> data = datasets.synthetic([200] * 5, dist1(0.5), rng=7)
    >>> crowd, model = Truth(data.labels), dist1(0.5)
    >>> [PlacingOrdering(data.similarity, model, delta=delta, rng=7).run(crowd).n_queries for delta in (0, 0.1)]
    [1010, 138]
    >>> run = PlacingOrdering(data.similarity, delta=0.1, bins=2, rng=7).run(crowd)  # the densities are not known
    >>> run.n_queries, len(run.accepted), run.precision(data.labels)[-1], run.recall(data.labels)[-1]
    (165, 849, np.float64(1.0), np.float64(1.0))
    """

    def __init__(
        self,
        similarity: ArrayLike,
        model: SimilarityModel | None = None,
        *,
        delta: float,
        bins: int | ArrayLike = 10,
        rng: Seed,
    ) -> None:
        super().__init__(similarity)
        self.delta = _error(delta, model)
        generator = checks.generator(rng, "the order of records")
        edges = bin_edges(bins)
        if not self.every_pair:
            raise ValueError("similarity must have every pair, dense or condensed, for placing ordering")
        self._learns = model is None
        if model is not None:
            checks.model(model)
            edges, green, red = common_steps(model.green, model.red)
            self._edges, self._ratio = edges[1:-1], log_ratios(green, red)
            self._x = float(1 - _affinity(green * np.diff(edges), self._ratio - 1))  # rounded to the nearest
        else:
            self._edges, self._ratio, self._x = edges, np.zeros(len(edges) + 1, np.int64), -inf
        self.joins_unasked = self.delta > 0
        self._square = self._candidates.square()
        self._arrivals = generator.permutation(self.n)
        self._cluster = np.empty(self.n, np.int64)  # of each placed record, in order of arrival
        self._first = np.empty(self.n, np.int64)  # the first record of each cluster
        self._placed, self._found = 0, 0  # how many of these there are
        self._counts: np.ndarray | None = None  # the newcomer's similarities, by cluster and step
        self._left: list[int] = []  # the clusters that it may belong to, that with the most evidence last
        self._known = np.zeros((2, len(self._ratio)), np.int64)  # matches and non-matches of placed records, by bin
        self._learned_from = np.zeros(2)  # how many there were at the last update
        self._accepted, self._after = list[tuple[int, int]](), list[int]()

    def next_question(self) -> tuple[int, int] | None:
        while self._placed < self.n:
            v = int(self._arrivals[self._placed])
            if self._counts is None:
                self._compare(v)
            if (first := self._likeliest(v)) is not None:
                return v, first
            self._place(v)
        return None

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "accepted": len(self._accepted)}

    @property
    def resolution(self) -> Placed:
        """The clusters that follow from the answers and acceptances so far."""
        plain = super().resolution
        return Placed(plain.queries, plain.answers, plain.clusters, self._accepted, self._after)

    def _compare(self, v: int) -> None:
        """Order the clusters by the newcomer's evidence, and accept the first if that is strong enough."""
        q, clusters = len(self._ratio), self._cluster[: self._placed]
        row = self._square[v, self._arrivals[: self._placed]]
        cells = clusters * q + np.searchsorted(self._edges, row, side="right")
        self._counts = np.bincount(cells, minlength=self._found * q).reshape(self._found, q)
        evidence = self._counts @ self._ratio  # whole numbers, so that ties are ties
        self._left = np.argsort(-evidence, kind="stable")[::-1].tolist()
        first = self._likeliest(v)
        if self.joins_unasked and first is not None:
            least = acceptance_threshold(self._found, self._placed + 1, self._x, self.delta)
            at = self._left[-1]  # for each pair a unit is taken off, more than rounding may have added
            if evidence[at] - self._counts[at].sum() >= least * UNIT:
                self._join(v, first)
                self._accepted.append((v, first))
                self._after.append(self.n_queries)

    def _likeliest(self, v: int) -> int | None:
        """The first record of the cluster with the most evidence among those not settled."""
        while self._left:
            first = int(self._first[self._left[-1]])
            if not self._settled(v, first):
                return first
            self._left.pop()
        return None

    def _place(self, v: int) -> None:
        """Add the newcomer to its cluster, as the answers have it, or to a new one."""
        component = self._knowledge.component
        own = np.flatnonzero(component[self._first[: self._found]] == component[v])
        if not len(own):
            self._first[self._found] = v
        self._cluster[self._placed] = own[0] if len(own) else self._found
        if self._learns:
            assert self._counts is not None
            matches = self._counts[own].sum(axis=0)
            self._known += [matches, self._counts.sum(axis=0) - matches]
            totals = self._known.sum(axis=1)
            if totals.min() >= 1 and (totals >= GROWTH * self._learned_from).any():
                self._learned_from = totals
                ratio, affinity = cautious_ratios(self._known[0], self._known[1], self.delta)
                if 1 - affinity > self._x:
                    self._ratio, self._x = ratio, 1 - affinity
        self._placed, self._found, self._counts = self._placed + 1, self._found + (not len(own)), None


def upper_ends(counts: ArrayLike, error: float) -> np.ndarray:
    r"""Upper ends of confidence bands for the probabilities of q values, which hold for all numbers of draws at once.

    For a value that occurred X times in N draws, where `counts` (..., q) has X, it is the largest p with

    .. math:: p^X (1-p)^{N-X} \ge \varepsilon\, \frac{B(X + \frac12, N - X + \frac12)}\pi ,

    where B is the beta function and ε in (0, 1) the `error`: the p whose likelihood is at least ε times that of their
    mixture over Beta(½, ½). The true p fails to be among them, at any time, with probability at most ε (Ville's
    inequality). The ends, (..., q), are found by bisection; they are too large by 10⁻¹⁵, and by what rounding errors
    may take from the likelihood.

    Examples
    --------
    >>> upper_ends([0, 5, 45], 0.05).round(3)  # of 50 draws
    array([0.105, 0.287, 0.984])
    """
    seen, contains = np.asarray(counts, dtype=np.float64), in_band(counts, error)
    low = seen / np.maximum(1.0, seen.sum(axis=-1, keepdims=True))
    high = np.ones_like(seen)  # the likelihood falls from its maximum X/N on
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        inside = contains(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def in_band(counts: ArrayLike, error: float) -> Callable[[np.ndarray], np.ndarray]:
    """A function that says which probabilities are in the bands of `upper_ends`."""
    seen = np.asarray(counts, dtype=np.float64)
    other = seen.sum(axis=-1, keepdims=True) - seen
    least = log(error) + betaln(seen + 0.5, other + 0.5) - log(pi)
    least -= ROUNDING * (1 - least)
    return lambda p: xlogy(seen, p) + xlog1py(other, -p) >= least


def cautious_ratios(
    matches: ArrayLike, others: ArrayLike, delta: float, ends: Callable[[Any, float], np.ndarray] = upper_ends
) -> tuple[np.ndarray, Any]:
    r"""Evidence learned from known pairs that overstates a match with probability at most δ/4, whatever the densities.

    With the `upper_ends` :math:`\bar g` and :math:`\bar r` of the q values, each with an error of δ/(8q),

    .. math:: \ell = \frac{\bar g}{Z \bar r}, \quad Z = \sum \bar g, \qquad \bar\rho = \sum \bar g\,\ell^{-1/2} .

    Where :math:`g \le \bar g` and :math:`r \le \bar r`,

    .. math:: E_r\,\ell \le 1, \qquad E_g\,\ell^{-1/2} \le \bar\rho, \qquad E_r\,\ell^{1/2} \le \bar\rho .

    `matches` and `others` (..., q) say how often each value occurred among known matches, and among known non-matches;
    at least one of each. δ in (0, 1] is `delta`; `ends` is used in place of `upper_ends`, to try other bands. Returns
    :math:`\ln \ell` (..., q), in multiples of 2⁻²⁰ nat, rounded down, so that the inequalities hold of the rounded
    values; and :math:`\bar\rho` (...) of these, rounded up, which is at least the affinity :math:`\sum\sqrt{g r}`.

    Examples
    --------
    >>> ratios, affinity = cautious_ratios([30, 270], [900, 300], delta=0.1)
    >>> (ratios / UNIT).round(2), round(float(affinity), 2)
    (array([-1.6 ,  1.01]), 0.99)
    """
    error = delta / (8 * np.shape(matches)[-1])
    green, red = ends(matches, error), ends(others, error)
    ratios = np.floor(UNIT * (np.log(green / red) - np.log(green.sum(axis=-1, keepdims=True))))
    return ratios.astype(np.int64), _affinity(green, ratios)


def _affinity(green: np.ndarray, ratios: np.ndarray) -> Any:
    """The sum of g ℓ^(-1/2) over the values, rounded up, of evidence ln ℓ in multiples of 1/UNIT."""
    terms = green * np.exp(np.where(green > 0, -ratios, 0) / (2 * UNIT))
    return terms.sum(axis=-1) * (1 + ROUNDING)


def _error(delta: Any, model: Any) -> float:
    """δ, which may be 0 for known densities alone."""
    if (error := float(checks.probability(delta, "delta"))) == 0 and model is None:
        raise ValueError("delta must be greater than 0 without a model: unknown densities are never known for sure")
    return error


def bin_edges(bins: Any) -> np.ndarray:
    """The edges between bins, of a number of bins of equal width or as listed."""
    if checks.as_array(bins, "bins").ndim == 0:
        number = checks.whole(bins, "bins", least=1, most=MOST_BINS)
        return np.arange(1, number) / number
    edges = checks.numbers(bins, "bins")
    if edges.ndim != 1 or not (np.diff(edges, prepend=0, append=1) > 0).all():
        raise ValueError(f"bins must be their number, or edges that rise inside (0, 1), not {bins!r}")
    return edges


def simulate_placing(
    weights: ArrayLike,
    labels: ArrayLike,
    believed: ArrayLike | None = None,
    *,
    delta: float,
    rng: Seed,
    ends: Callable[[np.ndarray, float], np.ndarray] = upper_ends,
) -> tuple[int, bool, bool]:
    r"""Simulate placing ordering without a matrix of similarities, up to its first failure.

    The ordering looks at nothing but how often each value, or bin, of the similarities occurs between a record and each
    cluster so far; until a record is placed wrongly, these are the true clusters. Between a record and a cluster of m,
    with the probabilities g or r of the q values, for the record's own cluster and for another, the counts are

    .. math:: N \sim \mathrm{Multinomial}(m, g) \quad\text{or}\quad N \sim \mathrm{Multinomial}(m, r) ,

    and the evidence is :math:`\sum_w N_w \ln \ell(w)`. All else is as in `PlacingOrdering`, but ties are decided for
    wrong clusters, and bands are found anew at other times.

    Parameters
    ----------
    weights : array_like, shape (2, q)
        The weights of the values for matches and for non-matches, in any unit: for a model with steps, heights times
        widths. A ValueError if one is negative, or each is 0; a TypeError if they are not numbers.
    labels : array_like, shape (n,)
        The cluster of each record, in order of arrival. A ValueError if one is missing, a TypeError if they are not of
        one type.
    believed : array_like, shape (2, q), optional
        What the ordering takes for `weights`, with the same errors; the truth or not. Without it, nothing is known.
    delta : float, keyword only
        δ in [0, 1], as for the ordering, otherwise a ValueError. With 0, every record is asked about; without
        `believed`, that is a ValueError.
    rng : int or numpy.random.Generator, keyword only
        Gives the counts. A ValueError if it is missing.
    ends : callable, keyword only
        A function of counts and error, as `upper_ends` is. Another one shows what happens without its guarantee.

    Returns
    -------
    questions : int
        How many questions are asked before the first failure, or in the whole run.
    wrong : bool
        Whether this is a wrong placement.
    failed : bool
        Whether a confidence band misses the true probability of its value by then; never with `believed`.

    See Also
    --------
    crowder.beyond.PlacingOrdering : the ordering, which does not know when it fails.
    crowder.evidence_bound : a bound on the expected number of questions for known densities.

    Notes
    -----
    O(nkq) time and memory for k clusters: half a second for 200,000 records of five clusters and two values.

    Examples
    --------
    Questions about 200,000 records, with densities known and with nothing known:

    >>> rng, dist1 = np.random.default_rng(7), [[1, 3], [3, 1]]  # of [0, 1/2) and [1/2, 1], for ε = 1/2
    >>> labels = rng.permutation(np.repeat(range(5), 40_000))
    >>> [simulate_placing(dist1, labels, known, delta=0.2, rng=rng)[0] for known in (dist1, None)]
    [148, 162]
    """
    true, labels = _shares(weights, "weights"), checks.labels(labels)
    delta, generator = _error(delta, believed), checks.generator(rng, "the counts")
    counts, before = draw(true, labels, generator)
    x: Any
    if believed is not None:
        green, red = _shares(believed, "believed", true.shape[1])
        ratios, failed, spare = log_ratios(green, red)[None], np.zeros(len(labels), bool), 1
        x = 1 - _affinity(green, ratios[0] - 1)
    else:
        ratios, x, failed = learn(counts, labels, true, delta, ends)
        spare = 0  # they are rounded down
    present = before > 0
    sums = np.where(present, (counts @ ratios[:, :, None])[..., 0], -np.inf)
    own = labels[:, None] == np.arange(before.shape[1])
    right = np.where(own, sums, -np.inf).max(axis=1, initial=-np.inf)
    ahead = present & ~own & (sums >= right[:, None])
    top = sums.max(axis=1, initial=-np.inf)
    accepted = np.zeros(len(labels), bool)
    if delta > 0:
        clusters = np.maximum(present.sum(axis=1), 1)  # the first record has no evidence, and so is not accepted
        least = UNIT * acceptance_threshold(clusters, np.arange(1, len(labels) + 1), x, delta)
        accepted = ((sums == top[:, None]) & (sums - spare * before >= least[:, None])).any(axis=1)
    wrong = accepted & (ahead & (sums == top[:, None])).any(axis=1)
    asked = (ahead.sum(axis=1) + (right > -np.inf)) * ~accepted
    end = np.append(np.flatnonzero(wrong | failed), len(labels))[0]
    return int(asked[:end].sum()), bool(wrong[: end + 1].any()), bool(failed[: end + 1].any())


def draw(weights: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How often each value occurs between a record and each cluster so far, (n, k, q); and the sizes so far, (n, k)."""
    own = labels[:, None] == np.arange(labels.max(initial=-1) + 1)
    before = own.cumsum(axis=0) - own
    counts = np.empty((*own.shape, weights.shape[1]), np.int64)
    for pairs, chances in zip((own, ~own), weights, strict=True):
        counts[pairs] = rng.multinomial(before[pairs], chances)
    return counts, before


def learn(
    counts: np.ndarray, labels: np.ndarray, true: np.ndarray, delta: float, ends: Callable
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each record the evidence of a value with the least affinity so far, in multiples of 1/UNIT nat; x, which is
    -inf where nothing is known; and whether a band fails."""
    n = len(labels)
    matches = counts[np.arange(n), labels]
    both = np.array([matches, counts.sum(axis=1) - matches])
    seen = both.cumsum(axis=1) - both
    known = np.flatnonzero((seen.sum(axis=2) > 0).all(axis=0))
    ratios, x, failed = np.zeros(matches.shape, np.int64), np.full(n, -np.inf), np.zeros(n, bool)
    if len(known):
        looks = known[(known < known[0] + EACH) | (known % STRIDE == 0)]
        found, affinity = cautious_ratios(seen[0, looks], seen[1, looks], delta, ends)
        best = np.maximum.accumulate(np.where(affinity <= np.minimum.accumulate(affinity), range(len(looks)), 0))
        best = best[np.searchsorted(looks, known, side="right") - 1]
        ratios[known], x[known] = found[best], 1 - affinity[best]
        inside = in_band(seen[:, looks], delta / (8 * true.shape[1]))(true[:, None])
        failed[looks] = ~inside.all(axis=(0, 2))
    return ratios, x, failed


def _shares(weights: Any, what: str, q: int | None = None) -> np.ndarray:
    """The probabilities of q values for matches and non-matches, (2, q), from weights in any unit."""
    rows = checks.numbers(weights, what)
    if rows.ndim != 2 or len(rows) != 2 or not (np.isfinite(rows) & (rows >= 0)).all() or not rows.any(axis=1).all():
        raise ValueError(f"{what} must be two lists of weights, at least 0 and not all 0, not {weights!r}")
    if q not in (None, rows.shape[1]):
        raise ValueError(f"{what} must have as many values as weights, {q}, not {rows.shape[1]}")
    return rows / rows.sum(axis=1, keepdims=True)
