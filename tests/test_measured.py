"""Measurements are read, and fitted with an honest interval."""

import numpy as np
import pytest

from crowder.ledger.measured import read, slope


def test_a_power_law_is_found_and_its_interval_covers():
    x = np.geomspace(1, 1e4, 9)
    exact = slope(x, 3 * x**1.5)
    assert exact.exponent == pytest.approx(1.5) and exact.constant == pytest.approx(3)
    rng = np.random.default_rng(1)
    fits = [slope(x, x * np.exp(rng.normal(0, 0.3, len(x)))) for _ in range(400)]
    covered = np.mean([fit.low <= 1 <= fit.high for fit in fits])
    assert 0.91 < covered < 0.985  # 95 % of 400: four standard errors are 4.4 %


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 0, 2]), ([1, 2, 3], [1, 2])])
def test_what_is_no_power_law_is_refused(x, y):
    with pytest.raises(ValueError, match="three positive points"):
        slope(x, y)


def test_without_the_files_it_says_how_to_get_them(tmp_path):
    with pytest.raises(FileNotFoundError, match="make bench"):
        read("orderings", tmp_path)
