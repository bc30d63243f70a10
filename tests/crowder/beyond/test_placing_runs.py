"""Runs of placing ordering of which only counts are drawn, against plain loops and against the ordering itself."""

from itertools import product
from math import exp, inf, lgamma, log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

import crowder as cr
from crowder.beyond import PlacingOrdering, simulate_placing
from crowder.beyond.placing import cautious_ratios, draw, learn, upper_ends
from crowder.counting.bounds import acceptance_threshold

LAWS = {
    "coins": ([0.25, 0.75], [0.75, 0.25]),
    "values that never occur": ([0.0, 0.5, 0.5], [0.5, 0.5, 0.0]),
    "equal": ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
}


def upper_end(x, n, error):
    """The root of the log-likelihood less that of the mixture over Beta(1/2, 1/2), above the share that was seen."""
    mixture = lgamma(x + 0.5) + lgamma(n - x + 0.5) - lgamma(n + 1) - 2 * lgamma(0.5)

    def left(p):
        return x * log(p) + (n - x) * log(1 - p) - mixture - log(error)

    return 1.0 if x == n else brentq(left, max(x / n, 1e-300), 1 - 1e-15, xtol=1e-15)


def naive(counts, before, labels, delta, law=None):
    """Questions up to the first wrong placement and whether there is one, record by record; ties for wrong clusters."""
    q = counts.shape[-1]
    seen, ratio, x, asked = [[0] * q, [0] * q], [0.0] * q, -inf, 0
    if law is not None:
        ratio, x = (
            [log(g / r) for g, r in zip(*law, strict=True)],
            1 - sum(sqrt(g * r) for g, r in zip(*law, strict=True)),
        )
    for v, own in enumerate(labels):
        n_g, n_r = map(sum, seen)
        if law is None and n_g and n_r:
            green, red = ([upper_end(each, sum(row), delta / (8 * q)) for each in row] for row in seen)
            new = [log(g / (sum(green) * r)) for g, r in zip(green, red, strict=True)]
            if (affinity := sum(g * exp(-each / 2) for g, each in zip(green, new, strict=True))) < 1 - x:
                ratio, x = new, 1 - affinity
        there = [c for c in range(len(before[v])) if before[v][c]]
        sums = {c: sum(many * each for many, each in zip(counts[v][c], ratio, strict=True)) for c in there}
        first = sorted(there, key=lambda c: (-round(sums[c], 9), c == own))
        c = len(there)
        least = log(c * (v + 1) * (v + 2) / delta) if c else inf
        if c and x > 0:
            least = min(least, 2 * log(c**2 * (c + 1) / (delta * x)))
        if first and sums[first[0]] >= least:
            if first[0] != own:
                return asked, True
        else:
            asked += first.index(own) + 1 if own in first else c
        for c in there:
            row = seen[0 if c == own else 1]
            row[:] = [a + int(b) for a, b in zip(row, counts[v][c], strict=True)]
    return asked, False


@pytest.mark.parametrize(
    ("laws", "learned"), [*product(("coins", "equal"), (False, True)), ("values that never occur", True)]
)
@pytest.mark.parametrize("sizes", [[30, 20, 9, 1], [1, 1, 1], [12]])
def test_runs_that_draw_counts_equal_plain_loops(laws, learned, sizes):
    """With delta 1, so that some are accepted early; bands are so wide that hardly any fails in so few records."""
    for seed in range(4):
        labels = np.random.default_rng(seed).permutation(np.repeat(range(len(sizes)), sizes))
        counts, before = draw(np.array(LAWS[laws]), labels, np.random.default_rng(seed))
        known = None if learned else LAWS[laws]
        *found, failed = simulate_placing(LAWS[laws], labels, known, delta=1, rng=seed)
        assert failed or tuple(found) == naive(counts, before, labels, 1.0, known)


def test_rows_at_once_are_each_row_alone():
    """Of bands, of learned evidence, and of thresholds, where x is known or not."""
    counts = np.array([[0, 1, 0], [3, 0, 97], [500, 499, 1]])
    assert np.array_equal(upper_ends(counts, 0.01), [upper_ends(row, 0.01) for row in counts])
    ratios, affinity = cautious_ratios(counts, counts[::-1], 0.2)
    for row in range(3):
        alone = cautious_ratios(counts[row], counts[2 - row], 0.2)
        assert np.array_equal(ratios[row], alone[0]) and affinity[row] == alone[1]
    of = np.array([1, 2, 5]), np.array([2, 30, 4]), np.array([0.25, -inf, 1])
    alone = [acceptance_threshold(*each, 0.1) for each in zip(*of, strict=True)]
    assert np.array_equal(acceptance_threshold(*of, 0.1), alone)


@pytest.mark.parametrize(("delta", "learned"), [(0, False), (0.5, False), (0.001, True)])
def test_means_are_those_of_the_ordering(delta, learned):
    """Questions of 60 runs of each, which draw pairs or counts. No run errs, so both ask to the end, and ties are rare;
    then the means differ by less than four standard errors."""
    bins, sizes, asked, accepted = [0.31, 0.64, 0.82], [30, 30, 5], np.empty((2, 60)), 0
    weights = np.array([[1, 2, 4, 9], [9, 5, 3, 1]])
    heights = weights / weights.sum(axis=1, keepdims=True) / np.diff([0, *bins, 1])
    model = cr.SimilarityModel.from_steps([0, *bins, 1], *heights.tolist())
    known = None if learned else model
    for seed in range(60):
        data = cr.datasets.synthetic(sizes, model, rng=seed)
        ordering = PlacingOrdering(data.condensed, known, delta=delta, bins=bins, rng=seed)
        run = ordering.run(cr.Truth(data.labels))
        assert run.precision(data.labels)[-1] == run.recall(data.labels)[-1] == 1
        labels = np.random.default_rng(seed).permutation(data.labels)
        found = simulate_placing(model, labels, known, delta=delta, rng=seed)
        asked[:, seed] = run.n_queries, found[0]
        assert found[1:] == (False, False)
        accepted += len(run.accepted)
    assert (accepted > 100) == (delta > 0)
    difference = asked[0].mean() - asked[1].mean()
    assert abs(difference) <= 4 * np.sqrt(asked.var(axis=1, ddof=1).sum() / 60)


def test_a_model_is_the_weights_of_its_steps():
    """And of two models the steps of both: the believed one has none at one half."""
    true = cr.SimilarityModel.from_steps([0, 0.5, 1], [0.5, 1.5], [1.5, 0.5])
    believed = cr.SimilarityModel.from_steps([0, 0.25, 1], [0.4, 1.2], [1.6, 0.8])
    weights = [[1, 1, 6], [3, 3, 2]], [[1, 3, 6], [4, 2, 4]]  # of [0, 1/4], [1/4, 1/2] and [1/2, 1]
    labels = np.arange(90) % 3
    for delta in (0, 0.9):
        runs = [[simulate_placing(*of, delta=delta, rng=seed) for seed in range(5)]
                for of in ((true, labels, believed), (weights[0], labels, weights[1]))]  # fmt: skip
        assert runs[0] == runs[1]
    assert simulate_placing(true, [], believed, delta=0.5, rng=1) == (0, False, False)


@pytest.mark.parametrize("delta", [16.0, 1.0, 0.01])
def test_a_band_fails_where_a_probability_is_outside_of_it(delta):
    """Fair coins, taken for biased ones. With delta = 8q, p has to be likelier than the mixture; with less, bands fail
    later."""
    fair, labels = np.array([0.5, 0.5]), np.repeat([0, 1], 6)
    counts, _ = draw(np.array([fair, fair]), labels, np.random.default_rng(1))
    failed = learn(counts, labels, np.array([[0.5, 0.5], [0.9, 0.1]]), delta, upper_ends)[2]
    seen = np.zeros((2, 2), int)
    for v in range(len(labels)):
        inside = []
        for row, law in zip(seen, ((0.5, 0.5), (0.9, 0.1)), strict=True):
            x, y = map(int, row)
            mixture = lgamma(x + 0.5) + lgamma(y + 0.5) - lgamma(x + y + 1) - 2 * lgamma(0.5)
            inside += [
                log(delta / 16) + mixture <= x * log(law[0]) + y * log(law[1])
            ]  # two values: both bands are the same
        assert failed[v] == (seen.sum(axis=1).all() and not all(inside))
        own = counts[v, labels[v]]
        seen += [own, counts[v].sum(axis=0) - own]
    assert 0 < failed.sum() < 6


def test_a_run_ends_with_the_first_band_that_fails():
    """In the first run in which one does, for δ = 1. Ends of 1 make evidence negative, so that nothing is accepted."""
    fair = np.full((2, 2), 0.5)
    labels = np.r_[0, 0, 0, 1, np.random.default_rng(3).permutation(np.repeat(range(3), 200))]

    def ones(seen, error):
        return np.ones(seen.shape)

    for seed in range(200):
        counts, before = draw(fair, labels, np.random.default_rng(seed))
        failing = learn(counts, labels, fair, 1.0, ones)[2]
        if failing.any():
            break
    end = failing.argmax()
    asked = 0
    for v in range(end):  # smaller clusters have more evidence, and of equal ones its own comes last
        there, mine = before[v][before[v] > 0], before[v, labels[v]]
        asked += (there <= mine).sum() if mine else len(there)
    assert 3 < end < 600 and failing[end]
    assert simulate_placing(fair, labels, delta=1, rng=seed, ends=ones) == (asked, False, True)
