"""What the claims of chapter 8 compute besides runs."""

import numpy as np
import pytest
from scipy import stats

import crowder as cr
from book.claims.synthetic import distance, expected, family_limit


def test_the_limit_for_many_numbers_is_that_of_student_s_distribution_and_bonferroni():
    """18 numbers at 1 %: 0.01/36 in each tail. Of 18 independent |t| the largest exceeds it slightly less often."""
    limit = family_limit(18, 200)
    assert stats.t.sf(limit, 199) == pytest.approx(0.01 / 36, rel=0.05)  # the limit is rounded to two decimals
    draws = np.abs(np.random.default_rng(1).standard_t(199, size=(200_000, 18))).max(axis=1)
    assert (draws > limit).mean() == pytest.approx(0.01, abs=0.001)
    assert family_limit(18, 8) > family_limit(18, 200) > family_limit(2, 200)


def test_a_printed_number_is_measured_from_what_is_expected_where_that_is_known():
    """(110 - 100)/5 = 2; from the mean 105 of four runs instead, (110 - 105)/(5 √(1 + 1/4)); a spread is at least 1."""
    z = distance(np.array([110, 110, 7]), np.array([100, np.nan, 5]), np.array([105, 105, 6]), np.array([5, 5, 0]), 4)
    assert z == pytest.approx([2, 1 / 1.25**0.5, 2])


def test_what_is_expected_is_known_for_random_ties_and_by_size_only_as_drawn():
    model, sizes = cr.dist2(0.1), [8, 5, 3]
    assert expected(model, sizes, "edge") == cr.expected_queries(model, sizes)
    assert expected(model, sizes, "node") == cr.expected_queries(model, sizes, "node", arrival="expected size")
    assert expected(model, sizes, "node", arrival="random") == cr.expected_queries(model, sizes, "node")
    # To the nearest tenth, conclusive similarities are lost at ε = 1/10; to the tenth below, none is.
    nearest, below = (expected(model, sizes, "edge", way, "random") for way in ("nearest", "down or up"))
    assert nearest > below == pytest.approx(expected(model, sizes, "edge"), rel=1e-9)
    assert np.isnan(expected(model, sizes, "edge", "nearest", "index"))
    assert np.isnan(expected(model, sizes, "node", "nearest", "random", "expected size"))
