"""The results beyond the paper, each against a computation of its own."""

from fractions import Fraction
from itertools import combinations
from math import e, exp

import numpy as np
import pytest

import crowder as cr
from crowder.counting.expected import component_numbers

HALF = Fraction(1, 2)


# --- Placing records -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h2", [Fraction(0), Fraction(1, 7), HALF, Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("sizes", [[1], [1, 1], [4, 1], [5, 5, 2, 1]])
def test_the_bound_for_evidence_is_its_sum(h2, sizes):
    # A share h of each density is where the other vanishes, and the rest is equal, so that H² = h.
    model = cr.SimilarityModel.from_steps([0, Fraction(1, 3), Fraction(2, 3), 1], [3 * h2, 3 * (1 - h2), 0],
                                          [0, 3 * (1 - h2), 3 * h2])  # fmt: skip
    assert model.hellinger2 == pytest.approx(float(h2), abs=1e-15)
    across = sum(1 + sum((1 - h2) ** r for r in range(2, a + b)) for a, b in combinations(sizes, 2))
    assert cr.evidence_bound(model, sizes) == pytest.approx(float(sum(sizes) - len(sizes) + across), rel=1e-12)


def test_without_information_the_bound_is_the_worst_case():
    n, k = 60, 5
    assert cr.evidence_bound(cr.uniform(), [12] * 5) == n * k - k * (k + 1) / 2


@pytest.mark.parametrize("delta", [1, 0.1, 1e-3, 1e-12])
@pytest.mark.parametrize("sizes", [[1], [3, 1], [40, 20, 20, 1]])
@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_the_bound_with_an_error_is_its_sum(epsilon, sizes, delta):
    """Questions about matches: the s-th later record of a cluster is asked one with probability at most e^L ρ^s, where
    L is the lesser of both; which one that is differs among these cases."""
    k, n, rho = len(sizes), sum(sizes), (1 - epsilon**2) ** 0.5
    least = min(k**2 * (k + 1) / (delta * (1 - rho)), (k * n * (n + 1) / delta) ** 0.5)
    matches = sum(min(1.0, least * rho**s) for m in sizes for s in range(1, m))
    across = sum(1 + sum(rho**r for r in range(2, a + b)) for a, b in combinations(sizes, 2))
    assert cr.evidence_bound(cr.dist1(epsilon), sizes, delta=delta) == pytest.approx(matches + across, rel=1e-12)


# --- No information is the worst case --------------------------------------------------------------------------------


def test_the_count_depends_on_the_curve():
    """Random models, the same with uniform matches, and others with a higher curve."""
    rng, sizes = np.random.default_rng(8), (6, 3, 1)
    for _ in range(20):
        x, green, red = (np.concatenate([[0.0], np.sort(rng.random(3)), [1.0]]) for _ in range(3))
        higher = np.concatenate([[0.0], 1 - (1 - red[1:-1]) * rng.random(), [1.0]])
        f_g, f_r, f_h = (np.diff(values) / np.diff(x) for values in (green, red, higher))
        asked, transformed, less = (
            cr.expected_queries(cr.SimilarityModel.from_steps(*steps), sizes)
            for steps in ((x, f_g, f_r), (green, np.ones(4), np.diff(red) / np.diff(green)), (x, f_g, f_h))
        )
        assert transformed == pytest.approx(asked, rel=1e-12)
        assert less < asked


# --- The constant of edge ordering -----------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [16, 50, 200])
def test_the_dominating_function(m):
    """E[(1 - c/m)^(AB - 1)], from the distribution of a record's component, is at most 3e e^(-c/2) from c = 8 on."""
    a = np.arange(1, m + 1)
    for c in (8, 9, 10, 14, 30):
        if not 8 <= c < m:
            continue
        size = a * component_numbers(m, c / m) / m  # Pr(A = a)
        assert size.sum() == pytest.approx(1, abs=1e-10)
        h = float(size @ (1 - c / m) ** (np.outer(a, a) - 1.0) @ size)
        assert h <= 3 * e * exp(-c / 2)


def test_what_bins_lose_is_within_them_and_little():
    """Remark A10.2, for random densities on 64 steps in 8 bins: what H² loses, and that it is at most η²/32."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        slow, fine = rng.normal(0, rng.choice([0.01, 0.1, 0.5]), 64).cumsum(), rng.dirichlet(np.ones(64))
        g, r = fine * np.exp(slow / 2), fine * np.exp(-slow / 2)
        g, r = g / g.sum(), r / r.sum()
        in_bins = [f.reshape(8, 8) for f in (g, r)]
        G, R = (f.sum(axis=1) for f in in_bins)
        lost = np.sqrt(G * R).sum() - np.sqrt(g * r).sum()  # H² less that of the bins
        given = [f / f.sum(axis=1, keepdims=True) for f in in_bins]  # the densities within each bin
        within = 1 - np.sqrt(given[0] * given[1]).sum(axis=1)
        assert lost == pytest.approx((np.sqrt(G * R) * within).sum(), rel=1e-6)
        eta = np.ptp(np.log(in_bins[0] / in_bins[1]), axis=1).max()
        assert 0 < lost <= eta**2 / 32
