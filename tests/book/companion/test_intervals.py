"""Interval arithmetic: exact results, as fractions or from mpmath, lie between the ends."""

from fractions import Fraction
from operator import add, mul, sub, truediv

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from book.companion.intervals import Interval, cellwise, e1, exp, log

FLOATS = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


def inside(exact, found):
    "Whether an exact number is between the ends, which are fractions as any float is."
    return Fraction(float(found.lo)) <= exact <= Fraction(float(found.hi))


@given(
    st.sampled_from([add, sub, mul, truediv]), FLOATS, FLOATS, FLOATS, FLOATS, st.fractions(0, 1), st.fractions(0, 1)
)
def test_results_of_all_numbers_are_inside(operation, a, b, c, d, at, to):
    (a, b), (c, d) = sorted([a, b]), sorted([c, d])
    assume(operation is not truediv or c > 0 or d < 0)
    x = Fraction(a) + at * (Fraction(b) - Fraction(a))
    y = Fraction(c) + to * (Fraction(d) - Fraction(c))
    assert inside(operation(x, y), operation(Interval(a, b), Interval(c, d)))


@given(st.lists(FLOATS, max_size=20))
def test_a_sum_contains_the_exact_one(numbers):
    assert inside(sum(map(Fraction, numbers)), Interval(numbers).sum())


def test_a_sum_is_along_an_axis():
    rows = np.arange(15.0).reshape(3, 5)  # sums of small integers are exact, and one rounding wide
    for axis in (0, 1, -1):
        found = Interval(rows).sum(axis=axis)
        assert (found.lo <= rows.sum(axis=axis)).all() and (found.hi >= rows.sum(axis=axis)).all()
        assert np.allclose(found.lo, found.hi, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("function, exact, low, high", [
    (exp, mpmath.exp, -700, 700), (log, mpmath.log, 1e-300, 1e6), (log, mpmath.log, 0.9, 1.1),
    (e1, mpmath.e1, 1e-9, 3), (e1, mpmath.e1, 0.1, 700)])  # fmt: skip
def test_functions_contain_the_value_with_fifty_digits(function, exact, low, high):
    x = np.random.default_rng(2).uniform(low, high, 3000)
    found = function(Interval(x))
    with mpmath.workdps(50):
        true = [exact(mpmath.mpf(value)) for value in x]
        assert all(lo <= value <= hi for lo, value, hi in zip(found.lo.tolist(), true, found.hi.tolist(), strict=True))
        # The error of the library is less than a quarter of the widening, so that this is no luck.
        middle = (found.lo + found.hi) / 2
        width = found.hi - found.lo
        assert all(abs(m - value) <= w / 8 for m, value, w in zip(middle.tolist(), true, width.tolist(), strict=True))


def test_powers_contain_the_exact_one():
    rng = np.random.default_rng(3)
    base, exponent = rng.random(300), rng.integers(0, 200, 300)
    found = Interval(base) ** exponent
    assert all(inside(Fraction(b) ** int(e), found[i]) for i, (b, e) in enumerate(zip(base, exponent, strict=True)))


def test_functions_are_taken_at_the_right_ends():
    x = Interval(1.0, 2.0)
    for function, at_one, at_two in (
        (exp, np.e, np.e**2),
        (log, 0.0, np.log(2)),
        (e1, 0.21938393439552, 0.0489005107080),
    ):
        found = function(x)
        assert found.lo == pytest.approx(min(at_one, at_two), abs=1e-12)
        assert found.hi == pytest.approx(max(at_one, at_two), abs=1e-12)
    assert (x**2).lo == pytest.approx(1) and (x**2).hi == pytest.approx(4)


def test_numbers_that_are_no_floats_are_surrounded():
    assert inside(Fraction(1, 3), Interval(Fraction(1, 3))) and inside(2**53 + 1, Interval(2**53 + 1))
    assert Interval(2).lo == Interval(2).hi == 2 and Interval(0.25).lo == Interval(0.25).hi == 0.25
    assert inside(Fraction(1, 3) + 1, 1 + Interval(Fraction(1, 3))) and inside(
        Fraction(2, 3), 1 - Interval(Fraction(1, 3))
    )


def test_integers_beyond_the_floats_are_surrounded_in_arrays():
    for numbers in ([2**53 + 1, 3], [2**200 + 1, 3]):  # kept as 64 bits, and as Python's integers
        found = Interval(numbers)
        assert all(inside(exact, found[i]) for i, exact in enumerate(numbers))


def test_evidence_asks_for_every_cell():
    assert cellwise(Interval([1, 2]), Interval([2, 2]))[:2] == ("proved", True)
    assert not cellwise(Interval([1, 2], [1, 2.1]), Interval(2)).holds  # some number of the second cell is beyond
    with pytest.raises(ValueError):
        cellwise(Interval([]), Interval(1))


def test_an_array_times_an_interval_is_one_interval():
    found = np.array([1.0, 2.0]) * Interval(1, 2)
    assert isinstance(found, Interval) and found.lo.shape == (2,)


def test_an_order_is_one_of_all_numbers():
    assert (Interval([1, 1], [2, 4]) <= Interval([2, 3], [3, 5])).tolist() == [True, False]
    assert (Interval([1, 3], [2, 4]) >= 2).tolist() == [False, True]


@pytest.mark.parametrize("broken", [
    lambda: Interval(2, 1), lambda: Interval(np.nan), lambda: 1 / Interval(-1, 1), lambda: log(Interval(0, 1)),
    lambda: e1(Interval(0, 1)), lambda: Interval(-1, 1) ** 2, lambda: Interval(2) ** -1])  # fmt: skip
def test_what_has_no_value_is_refused(broken):
    with pytest.raises(ValueError):
        broken()
