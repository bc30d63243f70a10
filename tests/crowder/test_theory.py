"""L_{g,r}(t): the closed form against exact fractions. Chapter 3 has the forms that the paper prints."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_fractions import integral
from shared import step_models

import crowder as cr


@given(step_models(), st.integers(0, 40))
@settings(max_examples=80, deadline=None)
def test_closed_form_equals_fractions(model, t):
    """Steps without matches, without non-matches, and without both occur. Chapter 3 counts ranks on random models."""
    assert cr.L(model, t) == pytest.approx(float(integral(model, t)), rel=1e-10, abs=1e-13)


@given(step_models(), st.floats(0, 1e6))
@settings(max_examples=80, deadline=None)
def test_a_probability_that_falls_with_t(model, t):
    values = cr.L(model, np.array([0.0, t, t + 1]))
    assert values[0] == pytest.approx(1, abs=1e-12)
    assert (values >= 0).all() and (np.diff(values) <= 1e-15).all()
    assert isinstance(cr.L(model, t), float) and cr.L(model, np.full((2, 3), t)).shape == (2, 3)


def test_large_t_does_not_cancel_or_vanish_too_soon():
    # Dist-1, t = 10⁶: the lower half contributes nothing, and L = (1-ε)/((1+ε)(t+1)) to all digits.
    assert cr.L(cr.dist1(0.1), 10**6) == pytest.approx(0.9 / 1.1 / (10**6 + 1), rel=1e-13)
    # Dist-2, ε = 0.49, t = 90: about 10^-130, in fractions.
    e = Fraction(49, 100)
    exact = ((1 - 2 * e) / (1 - e)) ** 91 / 91
    assert cr.L(cr.dist2(0.49), 90) == pytest.approx(float(exact), rel=1e-11)
