"""Formatting of numbers."""

from fractions import Fraction

import numpy as np
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from book.companion.printing import number


def test_a_number_is_written_plainly():
    written = {np.int64(-1234567): "-1,234,567", Fraction(12, 4): "3", sp.Integer(10_000): "10,000",
               sp.Rational(1, 8): "0.125", 0.00012345: "0.0001234", 9999.4: "9999",
               9999.5: "10,000",  # four digits would be 1e+04
               float("inf"): "inf"}  # fmt: skip
    assert [number(value) for value in written] == [*written.values()]


@given(st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) >= 1e-4))
def test_what_is_written_is_within_a_unit_of_the_fourth_digit_or_a_whole_number(value):
    written = number(value)
    assert "e" not in written
    # Half a unit of the fourth digit is at most five parts in ten thousand.
    assert abs(float(written.replace(",", "")) - value) <= 0.5 * (abs(value) >= 9999.5) + 5.01e-4 * abs(value)
