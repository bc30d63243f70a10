"""Reading measurements, and the interval of a fitted exponent."""

import numpy as np
import pytest
from scipy import stats

from book.companion.measured import read, slope


def test_a_power_law_is_found_and_its_interval_covers():
    x = np.geomspace(1, 1e4, 9)
    exact = slope(x, 3 * x**1.5)
    assert exact.exponent == pytest.approx(1.5) and exact.constant == pytest.approx(3)
    rng = np.random.default_rng(1)
    fits = [slope(x, x * np.exp(rng.normal(0, 0.3, len(x)))) for _ in range(400)]
    covered = np.mean([fit.low <= 1 <= fit.high for fit in fits])
    assert 0.91 < covered < 0.985  # 95 % of 400: four standard errors are 4.4 %


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("points", [3, 9])
def test_the_interval_is_that_of_a_fit_by_other_means(points, confidence):
    """NumPy has the same exponent and its variance; Student's t has two degrees of freedom fewer than points."""
    x = np.geomspace(2, 5e3, points)
    y = 7 * x**1.2 * np.exp(np.random.default_rng(2).normal(0, 0.4, points))
    (exponent, level), covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    low, high = stats.t.interval(confidence, points - 2, loc=exponent, scale=np.sqrt(covariance[0, 0]))
    fit = slope(x, y, confidence=confidence)
    assert fit == pytest.approx((exponent, low, high, np.exp(level)), rel=1e-9)
    if confidence == 0.95:
        assert slope(x, y) == fit  # what is not said is 95 %


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 2], [1, 2]),
        ([1, 2, 3], [1, 0, 2]),
        ([0, 1, 2], [1, 2, 3]),
        ([1, 2, 3], [1, np.nan, 2]),
        ([1, 2, 3], [1, 2]),
    ],
)
def test_what_is_no_power_law_is_refused(x, y):
    with pytest.raises(ValueError, match="three positive points"):
        slope(x, y)


def test_without_the_files_it_says_how_to_get_them(tmp_path):
    with pytest.raises(FileNotFoundError, match="make bench"):
        read("orderings", tmp_path)
