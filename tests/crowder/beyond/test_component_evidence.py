"""Summed evidence and learned densities: against sums, counts and shares made anew, pair by pair, at every question."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import DisjointSet
from scipy.optimize import minimize
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.beyond.evidence import (
    ALPHA,
    FAR,
    GRAIN,
    PRIOR_PAIRS,
    SETTLED,
    STEPS,
    TILT,
    UNIT,
    absorb,
    dependence,
    into_steps,
    known_pairs,
    learned_densities,
    log_ratios,
    question,
    reweigh,
    sum_evidence,
)


class Naive:
    """The same rule in plain words: components as lists of records, nothing kept from one question to the next."""

    def __init__(self, evidence, tau, rho):
        self.evidence, self.tau, self.rho = evidence.tolist(), tau, rho
        self.components = {i: [i] for i in range(len(evidence))}  # by name
        self.different, self.opened, self.newcomer = set(), set(), None

    def weight(self, a, b):
        """Evidence in nats, or None if the two are known to differ (or are one)."""
        if a == b or frozenset((a, b)) in self.different:
            return None
        terms = [self.evidence[i][j] for i in self.components[a] for j in self.components[b]]
        return sum(terms) / UNIT / (1 + self.rho * (len(terms) - 1))

    def clusters_of(self, v):
        """What v could still belong to: (log weight, cluster)."""
        prior = [0.5 * math.log(len(members)) for members in self.components.values()]
        weighed = [(self.weight(v, c), p, c) for (c, p) in zip(self.components, prior, strict=True) if c in self.opened]
        return [(w + p, c) for w, p, c in weighed if w is not None]

    def vain(self, v):
        """Expected number of clusters tried in vain, and the chance of the likeliest."""
        top = max([math.log(ALPHA), *(w for w, _ in self.clusters_of(v))])
        chances = sorted((math.exp(w - top) for w, _ in self.clusters_of(v) if w > top - FAR), reverse=True)
        whole = sum([math.exp(math.log(ALPHA) - top), *chances])
        sure = chances[0] / whole if chances else 0.0
        return round(GRAIN * sum(r * c / whole for r, c in enumerate(chances))), -sure

    def question(self):
        names = sorted(self.components)
        open_pairs = [(self.weight(a, b), a, b) for a in names for b in names if self.weight(a, b) is not None]
        if not open_pairs:
            return None
        most, a, b = max(open_pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
        loose = [v for v in names if v not in self.opened]
        while loose and most < self.tau:
            if not self.opened:
                self.opened.add(a)
                loose = [v for v in names if v not in self.opened]
            if self.newcomer not in loose:
                self.newcomer = min(loose, key=lambda v: (*self.vain(v), v))
            choice = self.clusters_of(self.newcomer)
            if choice:
                return self.newcomer, max(choice, key=lambda wc: (wc[0], -wc[1]))[1]
            self.opened.add(self.newcomer)
            loose.remove(self.newcomer)
        return a, b

    def absorb(self, a, b, same):
        if not same:
            self.different.add(frozenset((a, b)))
            return
        keep, gone = sorted((a, b), key=lambda c: (-len(self.components[c]), c))
        self.components[keep] += self.components.pop(gone)
        self.opened |= {keep}
        self.opened.discard(gone)
        renamed = (frozenset(keep if c == gone else c for c in pair) for pair in self.different)
        self.different = set(renamed)


def symmetric(values, n):
    matrix = np.zeros((n, n), np.int64)
    matrix[np.triu_indices(n, 1)] = values
    return matrix + matrix.T


@given(st.integers(0, 8), st.sampled_from([-np.inf, 0.5, 2.0, np.inf]), st.sampled_from([0.0, 0.3]), st.data())
@settings(max_examples=200, deadline=None)
def test_questions_are_those_of_the_naive_version(n, tau, rho, data):
    # Multiples of a quarter nat: ties abound. Now and then a pair is certain.
    quarter = st.integers(-8, 8).map(lambda k: k * UNIT // 4) | st.sampled_from([1 << 36, -(1 << 36)])
    m = n * (n - 1) // 2
    evidence = symmetric(data.draw(st.lists(quarter, min_size=m, max_size=m)), n)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    naive, summed = Naive(evidence, tau, rho), sum_evidence(evidence.copy())
    summed.dependence[0] = rho
    ratio, steps = np.unique(evidence, return_inverse=True)
    steps, relearned = steps.reshape(n, n), data.draw(st.integers(0, m))
    reweigh(summed, steps, ratio)  # with this γ
    for answers in range(m + 1):
        if answers == relearned:  # the rarest evidence becomes the commonest, and sums are made anew
            reweigh(summed, steps, ratio[::-1].copy())
            naive.evidence = ratio[::-1][steps].tolist()
        code, expected = question(summed, tau), naive.question()
        if expected is None:
            break
        i, j = code >> 32, code & 0xFFFFFFFF
        assert (i, j) == expected
        assert question(summed, tau) == code  # asking again asks the same
        absorb(summed, i, j, labels[i] == labels[j])
        naive.absorb(i, j, labels[i] == labels[j])
    assert code == -1
    named = summed.name.tolist()
    assert [[a == b for a in named] for b in named] == [[a == b for a in labels] for b in labels]


def test_log_ratios_by_hand():
    """ln 3 = 1.098612…, in multiples of 2⁻²⁰; certain where one density vanishes; none where both do."""
    got = log_ratios([[1.5, 0.5], [1.0, 0.0]], [[0.5, 1.5], [0.0, 1.0]])
    assert got.tolist() == [[round(math.log(3) * 2**20), -round(math.log(3) * 2**20)], [2**36, -(2**36)]]
    assert log_ratios([0.0], [0.0]).tolist() == [0]
    # No sum of certain pairs leaves 63 bits, or comes near the mark of the settled: 2²⁴ pairs are 4,096 by 4,096.
    assert 2**36 * 2**24 < -SETTLED < 2**63


# --- Densities learned from answers, and the correlation of the evidence ----------------------------------------------


def told(labels, answers, evidence=None):
    """The sums after truthful answers."""
    n = len(labels)
    summed = sum_evidence(np.zeros((n, n), np.int64) if evidence is None else evidence)
    for i, j in answers:
        absorb(summed, i, j, labels[i] == labels[j])
    return summed


@given(st.lists(st.tuples(*[st.integers(0, 5000)] * 2, st.integers(1, 20)), min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_ratio_is_the_rising_one_of_greatest_likelihood(table):
    """Against a general optimiser: shares of matches p_1 ≤ p_2 ≤ ... that maximise Σ g ln p + r ln(1 - p)."""
    matches, others, mass = np.array(table, dtype=float).T
    mass /= mass.sum()
    green, red = learned_densities(matches, others, mass)
    tilt = TILT * (2 * np.cumsum(mass) - mass - 1)
    g, r = matches + PRIOR_PAIRS * mass * (1 + tilt), others + PRIOR_PAIRS * mass * (1 - tilt)

    def loss(steps):  # logits: a first one, then what each rises by
        logit = np.cumsum(np.concatenate([steps[:1], steps[1:] ** 2]))
        return (g @ np.logaddexp(0, -logit) + r @ np.logaddexp(0, logit)) / (g.sum() + r.sum())

    share = green * g.sum() / (green * g.sum() + red * r.sum())
    assert (np.diff(share) >= -1e-12).all()
    mine = -(g @ np.log(share) + r @ np.log1p(-share)) / (g.sum() + r.sum())
    best = min(minimize(loss, start).fun for start in (np.full(len(g), 0.1), np.full(len(g), 1.0)))
    assert mine <= best + 1e-9
    # Shares become densities: a match is that much likelier on a step than a non-match, by the odds of all pairs.
    assert np.allclose(green / red, share / (1 - share) * r.sum() / g.sum())


@given(st.integers(2, 12), st.sampled_from([1, 3, 1000]), st.data())
@settings(max_examples=100, deadline=None)
def test_steps_hold_every_pair(n, levels, data):
    m = n * (n - 1) // 2
    values = np.array(data.draw(st.lists(st.integers(0, levels), min_size=m, max_size=m)), dtype=float) / levels
    edges, steps, mass = into_steps(squareform(values), values)
    assert len(edges) + 1 == len(mass) <= 2 * STEPS and (mass > 0).all() and mass.sum() == pytest.approx(1)
    upper = steps[np.triu_indices(n, 1)]
    assert np.array_equal(np.bincount(upper, minlength=len(mass)) / m, mass)
    order = np.argsort(values, kind="stable")
    assert (np.diff(upper[order].astype(int)) >= 0).all()  # more similar, never on a lower step
    # Two values share a step just when neither an even cut nor one by rank lies between them.
    even = np.linspace(0, 1, STEPS + 1)[1:-1]
    cell = [int((np.union1d(even, np.quantile(values, even)) <= value).sum()) for value in values]
    assert upper.tolist() == np.unique(cell, return_inverse=True)[1].tolist()
    assert np.array_equal(steps, steps.T)


def parts_and_differences(n, queries, answers):
    """Which two components an answer tells apart, and all components: sets of records."""
    parts = DisjointSet(range(n))
    for (i, j), same in zip(queries, answers, strict=True):
        if same:
            parts.merge(i, j)
    apart = {frozenset([parts[i], parts[j]]) for (i, j), same in zip(queries, answers, strict=True) if not same}
    return [[parts.subset(v) for v in pair] for pair in apart], parts.subsets()


@pytest.mark.parametrize("seed", range(12))
def test_what_is_known_and_how_it_hangs_together_counted_pair_by_pair(seed):
    """A sum of m terms has the variance σ²m(1 + γ(m - 1)), so the squares over σ²m add up to about as many as there are
    sums, plus γ times the terms beyond the first; three standard errors √(2·sums) are taken off."""
    rng = np.random.default_rng(seed)
    n = 24
    labels = rng.integers(5, size=n)
    run = cr.EdgeOrdering(rng.random(n * (n - 1) // 2), rng=seed).run(cr.Truth(labels))
    some = rng.integers(n // 2, run.n_queries + 1)  # not everything is known yet
    queries, answers = run.queries[:some].tolist(), run.answers[:some].tolist()
    summed = told(labels, queries)
    group = rng.standard_normal((n, n)) * (seed % 3)  # evidence that hangs together not at all, some, much
    evidence = np.round(group[labels][:, labels] + group[labels][:, labels].T + rng.standard_normal((n, n)), 2)
    evidence = np.triu(evidence, 1) + np.triu(evidence, 1).T
    ratio, steps = np.unique(evidence, return_inverse=True)
    steps = steps.reshape(n, n)

    differences, parts = parts_and_differences(n, queries, answers)
    known = [[evidence[i, j] for i in a for j in b] for a, b in differences]
    terms = np.concatenate(known) if known else np.zeros(0)
    squares = [sum(x - terms.mean() for x in sums) ** 2 / len(sums) for sums in known if len(sums) > 1]
    more = sum(len(sums) - 1 for sums in known)
    rho = (sum(squares) / terms.var() - len(squares) - 3 * np.sqrt(2 * len(squares))) / more if more else 0.0
    assert dependence(summed, steps, ratio) == pytest.approx(min(1.0, max(0.0, rho)), abs=1e-9)

    matches, others = known_pairs(summed, steps, len(ratio))
    inside = [evidence[i, j] for part in parts for i in part for j in part if i < j]
    for counted, values in ((matches, inside), (others, terms)):
        assert {ratio[step]: count for step, count in enumerate(counted) if count} == dict(
            zip(*np.unique(values, return_counts=True), strict=True)
        )
