"""The runs of which only counts are drawn, on the page of results and in its proofs, against plain loops."""

from itertools import product
from math import exp, inf, lgamma, log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from crowder.beyond import placing_ordering
from crowder.counting.bounds import acceptance_threshold
from notebooks.plots import results

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
        counts, before = results.draw(*map(np.array, LAWS[laws]), labels, np.random.default_rng(seed))
        judge = results.upper_ends if learned else None
        *found, failed = results.up_to_first_error(LAWS[laws], labels, 1.0, np.random.default_rng(seed), judge=judge)
        assert failed or tuple(found) == naive(counts, before, labels, 1.0, None if learned else LAWS[laws])


def test_bands_and_thresholds_are_those_of_the_ordering():
    """Two implementations each: by rows here, for one record there."""
    counts = np.array([[0, 1, 0], [3, 0, 97], [500, 499, 1]])
    ends = [placing_ordering.upper_ends(row, 0.2 / (8 * 3)) for row in counts]
    assert results.upper_ends(counts, 0.2) == pytest.approx(np.array(ends), abs=1e-12)
    clusters = np.array([0, 1, 2, 2, 5])
    expected = acceptance_threshold(clusters[1:], np.arange(2, 6), 0.25, 0.1)
    found = results.thresholds(clusters, 0.25, 0.1)
    assert found[0] == inf and found[1:] == pytest.approx(expected, rel=1e-12)


def test_a_band_fails_where_a_probability_is_outside_of_it():
    """Fair coins, taken for biased ones; with delta = 8q, p has to be likelier than the mixture."""
    fair, labels = np.array([0.5, 0.5]), np.repeat([0, 1], 6)
    counts, _ = results.draw(fair, fair, labels, np.random.default_rng(1))
    failed = results.learn(counts, labels, np.array([[0.5, 0.5], [0.9, 0.1]]), 16.0, results.upper_ends)[2]
    seen = np.zeros((2, 2), int)
    for v in range(len(labels)):
        inside = []
        for row, law in zip(seen, ((0.5, 0.5), (0.9, 0.1)), strict=True):
            x, y = map(int, row)
            mixture = lgamma(x + 0.5) + lgamma(y + 0.5) - lgamma(x + y + 1) - 2 * lgamma(0.5)
            inside += [mixture <= x * log(law[0]) + y * log(law[1])]  # two values: both bands are the same
        assert failed[v] == (seen.sum(axis=1).all() and not all(inside))
        own = counts[v, labels[v]]
        seen += [own, counts[v].sum(axis=0) - own]
    assert 0 < failed.sum() < 6


def test_a_run_ends_with_the_first_band_that_fails():
    """With delta = 8q one soon does. Ends of 1 make evidence negative: nothing is accepted after three records."""
    fair, rng = [0.5, 0.5], np.random.default_rng(3)
    labels = np.r_[0, 0, 0, 1, rng.permutation(np.repeat(range(3), 200))]

    def ones(seen, delta):
        return np.ones(seen.shape)

    counts, before = results.draw(*map(np.array, (fair, fair)), labels, np.random.default_rng(3))
    failing = results.learn(counts, labels, np.array([fair, fair]), 16.0, ones)[2]
    end = failing.argmax()
    found = results.up_to_first_error((fair, fair), labels, 16.0, np.random.default_rng(3), judge=ones)
    asked = 0
    for v in range(3, end):  # smaller clusters have more evidence, and of equal ones its own comes last
        there, mine = before[v][before[v] > 0], before[v, labels[v]]
        asked += (there <= mine).sum() if mine else len(there)
    assert failing[end] and 3 < end < 500 and found[1:] == (False, True)
    assert found[0] == asked
