"""The results beyond the paper, each against a computation of its own."""

from itertools import combinations

import numpy as np
import pytest

import crowder as cr


def model_of(h2):
    """A share of each density is where the other vanishes, and the rest is equal, so that H² is this share."""
    both = 3 * (1 - h2)
    return cr.SimilarityModel.from_steps(np.arange(4) / 3, [3 * h2, both, 0], [0, both, 3 * h2])


@pytest.mark.parametrize("sizes", [[1], [1, 1], [3, 1], [5, 5, 2, 1], [40, 20, 20, 1]])
@pytest.mark.parametrize("h2", [0.00125, 0.125, 0.5, 0.9, 1])
def test_the_bounds_for_evidence_are_their_sums(h2, sizes):
    """With an error probability δ, the s-th later record of a cluster has a question about a match with probability at
    most e^L ρ^s, where L is the lesser of both; which one that is differs among these cases."""
    k, n, model = len(sizes), sum(sizes), model_of(h2)
    assert model.hellinger2 == pytest.approx(h2, abs=1e-15)
    rho = 1 - model.hellinger2  # a rounding of H² = 1 is multiplied by 10¹²
    across = sum(1 + sum(rho**r for r in range(2, a + b)) for a, b in combinations(sizes, 2))
    assert cr.evidence_bound(model, sizes) == pytest.approx(n - k + across, rel=1e-12)
    for delta in (1, 0.1, 1e-3, 1e-12):
        least = min(k**2 * (k + 1) / (delta * h2), (k * n * (n + 1) / delta) ** 0.5)
        matches = sum(min(1.0, least * rho**s) for m in sizes for s in range(1, m))
        assert cr.evidence_bound(model, sizes, delta=delta) == pytest.approx(matches + across, rel=1e-12)


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
