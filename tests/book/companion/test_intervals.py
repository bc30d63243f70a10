"""Arrays of balls: the ends that are taken from them as floats are outside, and cells hold only for all numbers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from book.companion.intervals import balls, cellwise, e1, exp, log, lower, upper


def test_ends_are_beyond_exact_results():
    """Floats are fractions, so that each result is known exactly; the ends are at most a few roundings apart."""
    x, y = np.random.default_rng(2).uniform(0.1, 9, (2, 500))
    found = (balls(x) - y) * x / y + 3
    low, high = lower(found), upper(found)
    exact = [(Fraction(a) - Fraction(b)) * Fraction(a) / Fraction(b) + 3 for a, b in zip(x, y, strict=True)]
    assert all(Fraction(a) < e < Fraction(b) for a, e, b in zip(low, exact, high, strict=True))
    assert (high - low <= 1e-13 * (1 + high.max())).all()


@pytest.mark.parametrize("number", [0, 1, -3, 0.1, 2**53 + 1, 2**200 + 1, 5e-324, -1e308])
def test_ends_surround_a_number_itself(number):
    assert Fraction(float(lower(balls(number)))) < Fraction(number) < Fraction(float(upper(balls(number))))


def test_ends_beyond_all_floats():
    """2^2000 is above all floats and 2^-2000 below the positive ones."""
    assert np.isfinite(lower(balls(2) ** 2000)) and upper(balls(2) ** 2000) == np.inf
    assert lower(balls(2) ** -2000) < 0 < upper(balls(2) ** -2000)


@pytest.mark.parametrize("function, exact", [(exp, mpmath.exp), (log, mpmath.log), (e1, mpmath.e1)])
def test_functions_contain_the_value_with_fifty_digits(function, exact):
    x = np.random.default_rng(3).uniform(1e-3, 50, 100)
    low, high = lower(function(balls(x))), upper(function(balls(x)))
    with mpmath.workdps(50):
        assert all(a < exact(mpmath.mpf(value)) < b for a, value, b in zip(low.tolist(), x, high.tolist(), strict=True))
    assert np.allclose(low, high, rtol=1e-12)


@pytest.mark.parametrize("function", [exp, log, e1, lower, upper])
def test_only_balls_are_taken(function):
    """A method of `arb` that is called on the class reads any other object as if it were a ball."""
    with pytest.raises(AttributeError):
        function(np.array([arb(1), 2.0], dtype=object))


def test_evidence_asks_for_every_cell():
    assert cellwise([1, 2], 2)[:2] == ("proved", True)
    assert not cellwise([1, 3], 2).holds
    assert not cellwise([arb(1), arb(2, 0.1)], 2).holds  # some number of the second cell is beyond
    assert not cellwise([1, np.nan], 2).holds and not cellwise([arb(1) / 0], 2).holds
    with pytest.raises(ValueError):
        cellwise([], 1)
