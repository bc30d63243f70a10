r"""Evidence ordering: ask where the summed log-likelihood ratio is largest, with densities that are known or learned.

Both of the paper's heuristics compare single similarities. The evidence of a pair of records with similarity w is the
log-likelihood ratio :math:`\ln f_g(w)/f_r(w)`; that of two components is the sum over all pairs across them. Sums are
kept as whole multiples of 2⁻²⁰ nat: they are exact, so that ties do not depend on the order of addition. When
components merge, their rows of an n x n array are added. It goes beyond the paper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from crowder import checks
from crowder.beyond.clustering import sums_tell
from crowder.checks import Seed
from crowder.engine import ASKED
from crowder.models import SimilarityModel, common_steps
from crowder.orderings import EdgeOrdering, Ordering
from crowder.pairs import unpack

__all__ = [
    "CERTAIN", "FORMS", "SETTLED", "TAU", "UNIT", "EvidenceOrdering", "SummedEvidence", "absorb", "dependence",
    "into_steps", "known_pairs", "learned_densities", "log_ratios", "question", "rank", "reweigh", "step_of",
    "sum_evidence",
]  # fmt: skip

#: Evidence is counted in multiples of 1/UNIT nat; infinite evidence of one pair counts as ±CERTAIN, 65,536 nats.
UNIT = 1 << 20
CERTAIN = 1 << 36

#: Stands in place of the evidence between components that are settled or have been merged away.
SETTLED = -(1 << 62)

#: With at least this much evidence (in nats), a pair of components is asked about before any record is placed. Tuned on
#: the paper's synthetic data, like ALPHA and the square root; between 1 and 5 the counts differ by a few per cent.
TAU = 2.0

#: Weight of "in none of the clusters so far", compared with the square root of the size of each cluster.
ALPHA = 5.0

#: A cluster that is e^FAR times less likely than the most likely one is left out of the expected questions.
FAR = 15.0

#: Expected numbers of unnecessary questions are rounded to multiples of 1/GRAIN.
GRAIN = 1000.0

# Where a SummedEvidence counts in its `at`: the newcomer (or -1), records not yet in a cluster, components.
NEWCOMER, LOOSE, ALIVE = 0, 1, 2

#: Stands in place of the best of a row that has lost it.
STALE = -1

#: The steps of learned densities end at the edges of this many steps of equal width and this many of equal mass.
STEPS = 50

#: The prior counts as this many pairs, with a ratio f_g/f_r that increases from (1 - TILT)/(1 + TILT) to its inverse.
PRIOR_PAIRS, TILT = 1000.0, 0.1


class SummedEvidence(NamedTuple):
    """The evidence between components, each named by one of its records.

    ``total[a, b]`` is the summed evidence, or SETTLED; ``best[a]`` the index of the first maximum of row a and
    ``most[a]`` that maximum in nats; or STALE and a bound from above, until a question depends on it. `size` is the
    number of a component's records, 0 once it has been merged away; `name` the component of each record, and
    ``alive[:at[ALIVE]]`` all components in increasing order. `asked` marks the records that were asked about: of the
    others nothing is known, and each is a component. `opened` marks the clusters, with which newcomers are
    compared. `dependence` holds γ: a sum of m terms is divided by its design effect 1 + γ(m - 1).
    """

    total: np.ndarray
    best: np.ndarray
    most: np.ndarray
    size: np.ndarray
    name: np.ndarray
    alive: np.ndarray
    asked: np.ndarray
    opened: np.ndarray
    dependence: np.ndarray
    at: np.ndarray


def log_ratios(green: np.ndarray, red: np.ndarray) -> np.ndarray:
    """The evidence ln(green / red) of two arrays of densities, in multiples of 1/UNIT, int64; 0 where both vanish.

    Rounded to the nearest multiple, so that equal votes for and against cancel, and ties are ties. A sum may therefore
    exceed the exact one, or fall short of it, by not quite a unit for each pair (half of one, and the error of two
    logarithms in floats, below 10⁻⁶ of a unit).
    """
    green, red = np.asarray(green, dtype=np.float64), np.asarray(red, dtype=np.float64)
    both = (green > 0) & (red > 0)
    ratio = np.log(np.where(both, green, 1.0)) - np.log(np.where(both, red, 1.0))
    certain = np.where(both, 0, CERTAIN * (np.sign(green) - np.sign(red)))
    return np.rint(ratio * UNIT + certain).astype(np.int64)


@njit(cache=True)
def sum_evidence(evidence):
    """The sums before any answer, from the (n, n) evidence of all pairs of records, which is modified."""
    n = len(evidence)
    for a in range(n):
        evidence[a, a] = SETTLED
    summed = SummedEvidence(
        evidence,
        np.zeros(n, np.int64),
        np.zeros(n),
        np.ones(n, np.int64),
        np.arange(n),
        np.arange(n),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(1),
        np.array([-1, n, n]),
    )
    rank(summed)
    return summed


@njit(cache=True)
def _weight(total, size, rho, a, b):
    """The evidence between a and b in nats, divided by the design effect; -inf if they are settled."""
    if total[a, b] == SETTLED:
        return -np.inf
    nats = total[a, b] / UNIT
    return nats if rho == 0.0 else nats / (1.0 + rho * (size[a] * size[b] - 1))


@njit(cache=True)
def _search(summed, a):
    """Find the first maximum of row a; if every entry is settled, it is -inf at a itself."""
    total, size, rho = summed.total, summed.size, summed.dependence[0]
    most, place = -np.inf, a
    for b in summed.alive[: summed.at[ALIVE]]:
        weight = _weight(total, size, rho, a, b)
        if weight > most:
            most, place = weight, b
    summed.best[a], summed.most[a] = place, most


@njit(cache=True)
def rank(summed):
    """Find the best of every row anew, as after a change of the sums or of γ."""
    for a in summed.alive[: summed.at[ALIVE]]:
        _search(summed, a)


@njit(cache=True)
def _open(summed, a):
    if not summed.opened[a]:
        summed.opened[a] = True
        summed.at[LOOSE] -= 1


@njit(cache=True)
def absorb(summed, i, j, same):
    """Update the sums with an answer about records i and j, of components not yet settled."""
    total, best, most, size, name = summed.total, summed.best, summed.most, summed.size, summed.name
    rho, alive = summed.dependence[0], summed.alive[: summed.at[ALIVE]]
    summed.asked[i] = summed.asked[j] = True
    a, b = name[i], name[j]
    if not same:
        total[a, b] = total[b, a] = SETTLED
        if best[a] == b:
            best[a] = STALE
        if best[b] == a:
            best[b] = STALE
        return
    if size[a] < size[b] or (size[a] == size[b] and b < a):
        a, b = b, a  # the larger component keeps its name; of equals, the one with the smaller name
    _open(summed, a)
    _open(summed, b)
    size[a] += size[b]
    size[b] = 0
    for c in range(len(name)):
        if name[c] == b:
            name[c] = a
    left = 0
    for c in alive:
        if c != b:
            alive[left] = c  # the list closes up
            left += 1
    summed.at[ALIVE] = left
    best[a], most[a] = a, -np.inf
    for c in alive[:left]:
        if c != a:
            if total[a, c] == SETTLED or total[b, c] == SETTLED:
                total[a, c] = SETTLED
            else:
                total[a, c] += total[b, c]
            total[c, a] = total[a, c]
            new = _weight(total, size, rho, a, c)
            if new > most[a]:
                best[a], most[a] = c, new
            if new > most[c] or (new == most[c] and a < best[c]):
                best[c], most[c] = a, new
            elif best[c] == b or (best[c] == a and new < most[c]):
                best[c] = STALE
        total[b, c] = total[c, b] = SETTLED


@njit(cache=True)
def question(summed, tau):
    """The next pair of components to ask about, as (newcomer, cluster) or (a, b), packed; -1 when all are settled.

    The two with the most evidence, if that is at least `tau` nats or every record is in a cluster. Otherwise the most
    likely cluster of the newcomer; one that differs from all clusters opens a new one, and another is chosen.
    """
    total, best, size, opened, at = summed.total, summed.best, summed.size, summed.opened, summed.at
    rho, alive = summed.dependence[0], summed.alive[: at[ALIVE]]
    a = _first(summed, alive)
    while a >= 0 and best[a] == STALE:
        _search(summed, a)
        a = _first(summed, alive)
    if a < 0:
        return -1
    top = summed.most[a]
    while at[LOOSE] > 0 and top < tau:
        if at[LOOSE] == len(summed.name):
            _open(summed, a)
        v = at[NEWCOMER]
        if v < 0 or opened[v] or size[v] == 0:
            v = at[NEWCOMER] = _newcomer(summed)
        cluster, most = -1, -np.inf
        for c in alive:
            if opened[c] and total[v, c] != SETTLED:
                weight = _weight(total, size, rho, v, c) + 0.5 * np.log(size[c])
                if weight > most:
                    cluster, most = c, weight
        if cluster >= 0:
            return (v << 32) | cluster
        _open(summed, v)
    return (a << 32) | best[a]


@njit(cache=True)
def _first(summed, alive):
    """The first component with the largest maximum, or bound on it; -1 when all are settled."""
    most, a, top = summed.most, -1, -np.inf
    for c in alive:
        if most[c] > top:
            a, top = c, most[c]
    return a


@njit(cache=True)
def _chances(weight, most, chance, ends):
    """Fill `chance` with e^(weight - most), falling, for weights above most - FAR; how many there are.

    The chances are put into as many buckets as `ends` has places, and then sorted by insertion, nearly in O(k).
    """
    scale = (len(ends) - 2) / FAR
    ends[:] = 0
    for x in weight:
        if x > most - FAR:
            ends[int((most - x) * scale) + 1] += 1
    for bucket in range(1, len(ends)):
        ends[bucket] += ends[bucket - 1]
    for x in weight:
        if x > most - FAR:
            bucket = int((most - x) * scale)
            chance[ends[bucket]] = np.exp(x - most)
            ends[bucket] += 1
    near = ends[-1]
    for q in range(1, near):
        x, p = chance[q], q
        while p > 0 and chance[p - 1] < x:
            chance[p] = chance[p - 1]
            p -= 1
        chance[p] = x
    return near


@njit(cache=True)
def _newcomer(summed):
    """The record to place next: the one with the fewest expected unnecessary questions."""
    total, size, rho = summed.total, summed.size, summed.dependence[0]
    alive = summed.alive[: summed.at[ALIVE]]
    opened = summed.opened[alive]
    loose, clusters = alive[~opened], alive[opened]
    weight = np.empty((len(loose), len(clusters)))
    for s, c in enumerate(clusters):  # row by row of the sums, which are symmetric: neighbours in memory
        prior = 0.5 * np.log(size[c])
        for r, v in enumerate(loose):
            weight[r, s] = _weight(total, size, rho, c, v) + prior
    chance, ends = np.empty(len(clusters)), np.empty(2 * len(clusters) + 2, np.int64)
    chosen, least, surest = -1, np.inf, 0.0
    for r, v in enumerate(loose):
        most = np.log(ALPHA)
        for x in weight[r]:
            most = max(most, x)
        near = _chances(weight[r], most, chance, ends)
        whole = np.exp(np.log(ALPHA) - most)
        for q in range(near):
            whole += chance[q]
        # Clusters are tried by decreasing probability, so the q-th costs q unnecessary questions (from q = 0). For a
        # record that opens a new cluster, no question is unnecessary.
        wasted = 0.0
        for q in range(1, near):
            wasted += q * chance[q] / whole
        wasted = np.rint(wasted * GRAIN)
        sure = chance[0] / whole if near > 0 else 0.0
        if wasted < least or (wasted == least and sure > surest):
            chosen, least, surest = v, wasted, sure
    return chosen


@njit(cache=True)
def reweigh(summed, steps, ratio):
    """Recompute the sums; the evidence of a pair of records on step s is now ``ratio[s]``."""
    name, alive = summed.name, summed.alive[: summed.at[ALIVE]]
    member = np.argsort(name, kind="mergesort")  # component by component; Numba before 0.68 has no "stable", the same
    row, p = np.zeros(len(name), summed.total.dtype), 0
    for a in alive:
        row[:] = 0
        while p < len(name) and name[member[p]] == a:
            line = steps[member[p]]
            for j in range(len(name)):
                row[name[j]] += ratio[line[j]]
            p += 1
        for b in alive:
            if summed.total[a, b] != SETTLED:
                summed.total[a, b] = row[b]
        _search(summed, a)


# --- Densities learned from answers, and the correlation of the evidence ----------------------------------------------


@njit(cache=True)
def known_pairs(summed, steps, number):
    """The numbers of known matches and of known non-matches on each step: two arrays (number,), float64."""
    name = summed.name
    matches, others = np.zeros(number), np.zeros(number)
    asked = np.flatnonzero(summed.asked)  # nothing is known of the other records
    for s, i in enumerate(asked):
        a, row, line = name[i], summed.total[name[i]], steps[i]
        for j in asked[:s]:
            if name[j] == a:
                matches[line[j]] += 1
            elif row[name[j]] == SETTLED:
                others[line[j]] += 1
    return matches, others


@njit(cache=True)
def dependence(summed, steps, ratio):
    """The intraclass correlation γ of the terms of a sum, from known non-matches, minus three standard errors.

    ``ratio`` is the evidence of a pair on each step, in any unit. Between components known to differ, a sum of m terms
    has the variance σ²m(1 + γ(m - 1)).
    """
    name, total, size = summed.name, summed.total, summed.size
    n = len(name)
    sums = np.zeros((n, n))
    pairs, mean, square = 0, 0.0, 0.0
    asked = np.flatnonzero(summed.asked)  # no component is known to differ from the other records
    for s, i in enumerate(asked):
        a, row, line = name[i], total[name[i]], steps[i]
        for j in asked[:s]:
            b = name[j]
            if row[b] == SETTLED and a != b:
                x = ratio[line[j]]
                sums[min(a, b), max(a, b)] += x
                pairs, mean, square = pairs + 1, mean + x, square + x * x
    if pairs == 0:
        return 0.0
    mean /= pairs
    variance = square / pairs - mean * mean
    spread, cells, terms = 0.0, 0, 0
    alive = np.flatnonzero(size)
    for s, a in enumerate(alive):
        for b in alive[s + 1 :]:
            m = size[a] * size[b]
            if m > 1 and total[a, b] == SETTLED:
                spread += (sums[a, b] - m * mean) ** 2 / m
                cells += 1
                terms += m - 1
    if cells == 0 or variance <= 0.0:
        return 0.0
    # If terms are independent, spread / variance has mean `cells` and standard deviation √(2 cells), nearly.
    return min(1.0, max(0.0, (spread / variance - cells - 3.0 * np.sqrt(2.0 * cells)) / terms))


def learned_densities(matches: Any, others: Any, mass: Any) -> tuple[np.ndarray, np.ndarray]:
    """f_g and f_r on each step, estimated from known pairs under the condition that their ratio does not decrease.

    `matches` and `others` are the numbers of known matches and non-matches on each step, `mass` the share of all pairs
    there. The share of matches on each step, including the prior, is replaced by its isotonic regression, which gives
    the nondecreasing ratio of maximum likelihood. Only the ratio of the two results is meaningful.
    """
    tilt = TILT * (2 * np.cumsum(mass) - mass - 1)  # from -TILT to TILT, by the rank of the middle of the step
    green = matches + PRIOR_PAIRS * mass * (1 + tilt)
    red = others + PRIOR_PAIRS * mass * (1 - tilt)
    share = isotonic_regression(green / (green + red), weights=green + red).x
    return share / green.sum(), (1 - share) / red.sum()


def into_steps(square: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges between the steps that contain pairs, the step of every pair (n, n), and the share of pairs on each."""
    even = np.linspace(0, 1, STEPS + 1)[1:-1]
    if len(values) == 0:
        return even[:0], np.zeros(square.shape, np.uint8), np.ones(1)
    edges = np.unique(np.concatenate([even, np.quantile(values, even)]))
    count = np.bincount(step_of(edges, values), minlength=len(edges) + 1)
    used = np.flatnonzero(count)
    edges = edges[used[1:] - 1]  # an empty step is merged with the one below it
    return edges, step_of(edges, square).astype(np.uint8), count[used] / len(values)


def step_of(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The step of each value, uint16: how many of the edges are at most the value."""
    return np.searchsorted(edges, values, side="right").astype(np.uint16)


#: For each form, the least evidence, in nats, at which a pair of components is asked about before any record is placed.
FORMS = {"auto": TAU, "pairs": -np.inf}

#: The number of questions before the first update of densities and correlation, and its factor between updates.
FIRST_UPDATE, UPDATE_FACTOR = 16, 1.4

#: At each question of edge ordering, its earlier ones keep this share of their weight: the last ten or so count.
RECENT = 0.9

#: Above this correlation the evidence hardly grows with the size of a cluster, so waiting for more gains nothing.
DEPENDENT = 0.1


class EvidenceOrdering(Ordering):
    r"""Ask about the components with the largest summed log-likelihood ratio, or place the least ambiguous record.

    The evidence for a match of components A and B is :math:`\sum_{u \in A, v \in B} \ln f_g(w_{uv})/f_r(w_{uv})`.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1], otherwise a ValueError. Every pair is a candidate.
    model : SimilarityModel, optional
        f_g and f_r. Where one of them vanishes, a pair is certainly a match or a non-match; it is still asked about or
        implied. Without a model the ratio is learned from the answers so far.
    form : {"auto", "pairs"}, keyword only
        "pairs" always asks about the two components with the most evidence. "auto" asks about two components if their
        evidence is at least two nats; otherwise it places the record with the fewest expected unnecessary questions,
        each cluster weighted by its evidence and the square root of its size. Without a model, "auto" does so only
        while this finds more matches than edge ordering. A ValueError for another form.
    rng : int or numpy.random.Generator, keyword only
        Gives a random order of the records, which breaks ties; and shuffles equally similar pairs for edge ordering. A
        ValueError if it is missing.

    See Also
    --------
    crowder.beyond.PlacingOrdering : places records one by one, with theorems on the number of questions.
    crowder.counting.bounds.question_bound : what every algorithm needs.

    Notes
    -----
    *Learned densities:* f_g and f_r are constant on steps, and their ratio increases with the similarity. The prior
    ratio is nearly constant; the known matches and non-matches, asked or implied, replace it. Densities and correlation
    are updated after 16 questions, and again whenever their number has grown by 1.4.

    *Dependence:* a sum is the evidence if its terms are independent. The records of a real cluster resemble one
    another, so their similarities to a third record have an intraclass correlation γ. A sum of m terms is divided by
    its design effect, 1 + γ(m - 1), and where γ exceeds 0.1, "auto" asks as "pairs" does.

    *Edge ordering first:* without a model "auto" begins as edge ordering, and chooses between it and the sums before
    each question by the share of their questions that found a match: :math:`(a + ½)/(q + ½)` for edge ordering, with a
    matches in q questions, both multiplied by 0.9 at each of its questions; :math:`(a + 5)/(q + 10)` for the sums,
    counted since the last update of the densities. Where γ exceeds 0.1 and the sums do not tell a record's cluster from
    others (`crowder.beyond.clustering.sums_tell`), as where entities are chains of records, edge ordering goes on. The
    constants were chosen on the data of the book. On cora and its real crowds, if these answer truly, the mean number
    of questions is at most 1.5 % above the better of edge and node ordering: a measurement, not a bound.

    *Cost:* usually O(n) per question; placing a record costs O(nk) for k clusters, and each of the O(log q) updates
    O(n²). Memory O(n²).

    Examples
    --------
    >>> from crowder import Truth, datasets, dist1, edge_ordering, ideal_queries
    >>> data, crowd = datasets.synthetic([40, 20, 20], dist1(0.5), rng=7), Truth([0] * 40 + [1] * 20 + [2] * 20)
    >>> EvidenceOrdering(data.similarity, dist1(0.5), rng=7).run(crowd).n_queries, ideal_queries(data.sizes)
    (83, 80)
    >>> edge_ordering(data.similarity, crowd, rng=7).n_queries
    125
    """

    def __init__(
        self,
        similarity: ArrayLike,
        model: SimilarityModel | None = None,
        *,
        form: str = "auto",
        rng: Seed | None = None,
    ) -> None:
        super().__init__(similarity)
        if not isinstance(form, str) or form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
        generator = checks.generator(rng, "random ties")
        if model is not None:
            checks.model(model)
        if not self.every_pair:
            raise ValueError("similarity must have every pair, dense or condensed, for evidence ordering")
        self.form = form
        self._arrivals = generator.permutation(self.n)
        square = self._candidates.square()
        self._learns, self._update_at = model is None, FIRST_UPDATE
        if model is None:
            self._edges, steps, self._mass = into_steps(square, self._candidates.listed()[0])
            self._ratio = log_ratios(*learned_densities(0 * self._mass, 0 * self._mass, self._mass))
        else:
            edges, green, red = common_steps(model.green, model.red)
            self._edges, self._ratio = edges[1:-1], log_ratios(green, red)
            steps = step_of(self._edges, square)
        self._steps = steps[self._arrivals][:, self._arrivals]
        self._summed = sum_evidence(self._ratio[self._steps])
        self._place = np.argsort(self._arrivals, kind="stable")
        self._edge: EdgeOrdering | None = None
        if model is None and form == "auto":
            self._edge = EdgeOrdering(self._candidates, rng=generator)  # type: ignore[arg-type]
        self._found = np.zeros((2, 2))  # matches and questions of edge ordering; of the sums since the last update
        self._sums_tell = True
        self._taken = 0

    @property
    def dependence(self) -> float:
        """γ, the estimated correlation of the terms of a sum, from 0 (independent) to 1."""
        return float(self._summed.dependence[0])

    def evidence(self, w: ArrayLike) -> np.ndarray:
        """The current evidence of pairs with similarities w (any shape), in nats; ±65,536 if they are certain."""
        w = checks.numbers(w, "w")
        if not ((w >= 0) & (w <= 1)).all():  # NaN is neither
            raise ValueError(f"w must be similarities in [0, 1], not {w.tolist()!r}")
        return self._ratio[np.searchsorted(self._edges, w, side="right")] / UNIT

    def next_question(self) -> tuple[int, int] | None:
        self._take_in()
        if (edge := self._leader()) is not None:
            edge._knowledge = self._knowledge
            return edge.next_question()
        least = FORMS[self.form]
        if self.form == "auto" and self.dependence > DEPENDENT:
            least = -np.inf
        code = question(self._summed, least)
        if code == -1:
            return None
        i, j = self._arrivals[[*unpack(code)]].tolist()
        return i, j

    def _take_in(self) -> None:
        """Update the sums with the answers since the last time."""
        while self._taken < self._knowledge.count[ASKED]:
            code, same = self._knowledge.asked[self._taken], self._knowledge.answer[self._taken]
            if self._leader() is not None:
                self._found[0] = RECENT * self._found[0] + (same, 1)
            else:
                self._found[1] += (same, 1)
            i, j = unpack(code)
            absorb(self._summed, self._place[i], self._place[j], same)
            self._taken += 1
            if self._taken == self._update_at:
                self._update()

    def _leader(self) -> EdgeOrdering | None:
        """Edge ordering if it asks next: unless the sums tell clusters apart, and have the larger share of matches."""
        (matches, asked), (by_sum, summed) = self._found.tolist()
        more = (by_sum + 5) / (summed + 10) > (matches + 0.5) / (asked + 0.5)
        return None if more and self._sums_tell else self._edge

    def _update(self) -> None:
        self._update_at = int(self._update_at * UPDATE_FACTOR)
        if self._learns:
            matches, others = known_pairs(self._summed, self._steps, len(self._mass))
            self._ratio = log_ratios(*learned_densities(matches, others, self._mass))
            self._found[1] = 0  # those were of the densities of before
        before = self.dependence
        self._summed.dependence[0] = dependence(self._summed, self._steps, self._ratio / UNIT)
        self._sums_tell = self._edge is None or self.dependence <= DEPENDENT or self._tell()
        if self._learns:
            reweigh(self._summed, self._steps, self._ratio)
        elif self.dependence != before:
            rank(self._summed)  # the sums themselves stay

    def _tell(self) -> bool:
        """Whether the sums tell a record's cluster from others; if not, the most similar pair does better."""
        name = self._summed.name
        some = np.flatnonzero(np.bincount(name)[name] > 1)  # the other records are alone
        within = np.ix_(some, some)
        free = np.ones(self._steps.shape, bool)
        i, j = self._place[np.stack(unpack(self._knowledge.asked[: self._taken]))]
        free[i, j] = free[j, i] = free[range(self.n), range(self.n)] = False
        clusters = np.unique(name[some], return_inverse=True)[1]
        return sums_tell(self._ratio[self._steps[within]] / UNIT, free[within], clusters, self.dependence)
