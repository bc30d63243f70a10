"""Formatting of numbers, and tables that no cell can break."""

from fractions import Fraction

import numpy as np
import pandas as pd
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from book.companion.printing import exactly, markdown_table, number


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


def test_a_value_as_it_is():
    written = [(1234, "1,234"), (sp.Integer(1234), "1,234"), (True, "True"), (np.True_, "True"), (0.1 + 0.2, "0.3"),
               (np.float64(1e-20), "1e-20"), (Fraction(-5, 10), "-1/2"), (sp.Rational(2, 3), "2/3"),
               (sp.Symbol("x") ** 2, "$x^{2}$"), ("a", "a")]  # fmt: skip
    assert [exactly(value) for value, _ in written] == [text for _, text in written]


def test_a_table_has_a_rule_for_each_kind_of_cell():
    frame = pd.DataFrame({
        "n": [12_345, 7], "x": [0.000123456, np.nan], "flag": [True, False], "what": ["a|b\nc", r"d\|e"],
        "share": [0.5, 0.25], "odd": [None, Fraction(1, 2)],
    })  # fmt: skip
    lines = markdown_table(frame, {"share": ".0%", "odd": lambda value: f"<{value}>"}).splitlines()
    cells = [[cell.strip() for cell in line.replace(r"\|", "¦").strip("|").split("|")] for line in lines]
    assert cells[0] == list(frame)
    # Numbers to the right, the rest to the left; a truth value counts as a number.
    assert [cell.endswith(":") for cell in cells[1]] == [True, True, True, False, True, False]
    assert cells[2] == ["12,345", "0.0001235", "True", "a¦b c", "50%", "–"]
    assert cells[3] == ["7", "–", "False", "d¦e", "25%", "<1/2>"]
    assert len({len(line) for line in lines}) == 1 and len(lines) == 4
