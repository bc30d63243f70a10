"""L_{g,r}(t): closed form against quadrature, symbols against the paper, both against exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from test_models import step_models

import crowder as cr
from crowder.theory import EPSILON, T, step_integral

# The printed closed forms (appendix), typed here once more to compare with what is derived.
PRINTED = {
    "uniform": lambda t, e: 1 / (t + 1),
    "dist1": lambda t, e: (1 - e) / ((1 + e) * (t + 1)) * (1 + e * ((1 - e) / 2) ** (t - 1)),
    "dist2": lambda t, e: ((1 - 2 * e) / (1 - e)) ** (t + 1) / (t + 1),
}


def model_of(name, epsilon):
    return cr.uniform() if name == "uniform" else getattr(cr, name)(epsilon)


@given(step_models(), st.integers(0, 40))
@settings(max_examples=80, deadline=None)
def test_closed_form_equals_quadrature(model, t):
    edges = np.union1d(model.green._edges, model.red._edges)
    by_quadrature = sum(
        integrate.quad(lambda x: float(model.green.cdf(x)) ** t * float(model.red.pdf(x)), a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(edges)
    )
    assert cr.L(model, t) == pytest.approx(by_quadrature, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", ["uniform", "dist1", "dist2"])
@pytest.mark.parametrize("t", [1, 2, 3, 10, 45, 1000])
@pytest.mark.parametrize("epsilon", [0.05, 0.25, 0.49])
def test_numbers_symbols_and_the_printed_forms_agree(name, t, epsilon):
    number = cr.L(model_of(name, epsilon), t)
    assert number == pytest.approx(PRINTED[name](t, epsilon), rel=1e-11)
    symbol = cr.L_symbolic(name).subs({T: t, EPSILON: sp.Rational(epsilon)})
    assert number == pytest.approx(float(symbol), rel=1e-11)


def test_the_printed_forms_are_identities_for_every_t_and_epsilon():
    q, t = sp.symbols("q t", positive=True)  # ε = 1 - 2q, so that powers of (1-ε)/2 = q combine
    for name, substitution in (("uniform", EPSILON), ("dist1", 1 - 2 * q), ("dist2", EPSILON)):
        difference = cr.L_symbolic(name, t, substitution) - PRINTED[name](t, substitution)
        assert sp.simplify(difference) == 0, name


@pytest.mark.parametrize("name", ["uniform", "dist1", "dist2"])
def test_nothing_to_exceed_is_always_exceeded(name):
    """t = 0: L = 1 for every model, though the form printed for Dist-2 gives less."""
    assert cr.L(model_of(name, 0.3), 0) == pytest.approx(1, abs=1e-15)
    assert sp.simplify(cr.L_symbolic(name).subs(T, 0)) == 1
    printed = PRINTED[name](0, 0.3)
    assert (printed == pytest.approx(1)) == (name != "dist2")


@given(step_models(), st.floats(0, 1e6))
@settings(max_examples=80, deadline=None)
def test_a_probability_that_falls_with_t(model, t):
    values = cr.L(model, np.array([0.0, t, t + 1]))
    assert values[0] == pytest.approx(1, abs=1e-12)
    assert (values >= 0).all() and (np.diff(values) <= 1e-15).all()


def test_exact_fractions_for_a_model_with_a_gap():
    """f_g = 0 on the middle third: F_g^t stays at 2^-t there, and L is a sum of three fractions."""
    third = Fraction(1, 3)
    model = cr.SimilarityModel.from_steps([0, third, 2 * third, 1], [Fraction(3, 2), 0, Fraction(3, 2)], [1, 1, 1])
    for t in (0, 1, 2, 7):
        half = Fraction(1, 2) ** t
        rising = Fraction(2, 3) / (t + 1)  # ∫ F^t over a step where F has slope 3/2, from 0 to 1/2 or 1/2 to 1
        exact = rising * half / 2 + third * half + rising * (1 - half / 2)
        assert cr.L(model, t) == pytest.approx(float(exact), rel=1e-14)


def test_large_t_does_not_cancel_or_vanish_too_soon():
    # Dist-1, t = 10⁶: the lower half contributes nothing, and L = (1-ε)/((1+ε)(t+1)) to all digits.
    assert cr.L(cr.dist1(0.1), 10**6) == pytest.approx(0.9 / 1.1 / (10**6 + 1), rel=1e-13)
    # Dist-2, ε = 0.49, t = 90: about 10^-130, from 30 digits.
    e, t = sp.Rational(49, 100), 90
    exact = ((1 - 2 * e) / (1 - e)) ** (t + 1) / (t + 1)
    assert cr.L(cr.dist2(0.49), t) == pytest.approx(float(exact.evalf(30)), rel=1e-11)


def test_shapes_and_errors():
    model = cr.dist1(0.2)
    assert isinstance(cr.L(model, 3), float)
    assert cr.L(model, np.ones((2, 3))).shape == (2, 3)
    for t in (-1, np.nan, [1, -2]):
        with pytest.raises(ValueError, match="t >= 0"):
            cr.L(model, t)
    with pytest.raises(ValueError, match="dist9"):
        cr.L_symbolic("dist9")
    assert step_integral(sp.Rational(1, 2), 0, 1, sp.Rational(1, 4), 2) == sp.Rational(1, 16)  # h b c^t


@pytest.mark.parametrize("name", ["uniform", "dist1", "dist2"])
@pytest.mark.parametrize("t", [0, 1, 5])
def test_monte_carlo(name, t):
    """The definition itself, a red draw at least as large as t green ones: 100,000 trials, 4 standard errors."""
    model, rng = model_of(name, 0.3), np.random.default_rng(t)
    best = model.green.sample((100_000, t), rng=rng).max(axis=1, initial=0.0)
    share = (model.red.sample(100_000, rng=rng) >= best).mean()
    exact = cr.L(model, t)
    assert abs(share - exact) <= 4 * np.sqrt(exact * (1 - exact) / 100_000)
