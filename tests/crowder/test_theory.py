"""L_{g,r}(t): closed form against quadrature, symbols against the paper, both against exact fractions."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from shared import step_models

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
    edges = sorted({*model.green.edges, *model.red.edges})
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
        with pytest.raises(ValueError, match="t must be"):
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


def by_counting(model, t):
    """The chance that R is at least the largest of t G's: R's step holds j of them, and is won by one of j + 1."""
    total, below = 0, 0
    for (a, b), g, h in zip(itertools.pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        here = g * (b - a)
        total += sum(comb(t, j) * here**j * below ** (t - j) * h * (b - a) / (j + 1) for j in range(t + 1))
        below += here
    return total


@given(step_models(), st.integers(0, 12))
@settings(max_examples=80, deadline=None)
def test_counting_where_each_similarity_falls(model, t):
    """No integral, and t = 0 included."""
    assert cr.L(model, t) == pytest.approx(by_counting(model, t), rel=1e-10, abs=1e-13)


def test_a_step_s_share_for_every_symbol():
    b, c, g, h = sp.symbols("b c g h", positive=True)
    share = step_integral(c, g, h, b, T)
    assert sp.simplify(share.subs(b, 0)) == 0
    assert sp.simplify(sp.diff(share, b) - (c + g * b) ** T * h) == 0  # it grows by the integrand
    assert step_integral(c, 0, h, b, T) == h * b * c**T


@pytest.mark.parametrize(("name", "ratio"), [("uniform", 1), ("dist1", Fraction(3, 5)), ("dist2", 0)])
def test_only_the_top_of_the_scale_counts(name, ratio):
    """(t + 1) L(t) goes to h/g of the top step; at ε = 1/4 that of Dist-1 is (3/4)/(5/4)."""
    assert 1001 * cr.L(model_of(name, Fraction(1, 4)), 1000) == pytest.approx(float(ratio), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.25, 0.5])
def test_simplifications_for_dist1_err_downwards(epsilon):
    t = np.arange(1, 60)
    exact = cr.L(cr.dist1(epsilon), t)
    first, second = (1 - epsilon) / (1 + epsilon) / (t + 1), (1 - 2 * epsilon) / (t + 1)
    assert (second < first).all() and (first <= exact * (1 + 1e-14)).all()
    assert first == pytest.approx(exact / (1 + epsilon * ((1 - epsilon) / 2) ** (t - 1.0)), rel=1e-12)
    assert second == pytest.approx(first * (1 - 2 * epsilon**2 / (1 - epsilon)), rel=1e-12, abs=1e-15)
    # What does hold as an upper bound, with equality at t = 1.
    bound = (1 - epsilon) / (t + 1)
    assert exact[0] == pytest.approx(bound[0], rel=1e-14) and (exact[1:] < bound[1:]).all()


@pytest.mark.parametrize("epsilon", [0.01, 0.25, 0.49])
def test_bounds_for_dist2_hold_from_one_on(epsilon):
    t = np.arange(60)
    exact, h2 = cr.L(cr.dist2(epsilon), t), epsilon / (1 - epsilon)
    chain = [base ** (t + 1.0) / (t + 1) for base in (np.exp(-h2), 1 - epsilon, np.exp(-epsilon))]
    for smaller, larger in itertools.pairwise([exact, *chain]):
        assert (smaller < larger)[1:].all()
    assert exact[0] == 1 > chain[-1][0]  # at t = 0 none of them holds
    # The form that the proof for node ordering writes, with s for s + 1: right at 0, a bound beyond.
    written = np.exp(-epsilon * t) / (t + 1)
    assert written[0] == exact[0] and (exact < written)[1:].all()


def test_the_same_distances_and_another_integral():
    quarter = Fraction(1, 4)
    bottom = cr.SimilarityModel.from_steps([0, quarter, 2 * quarter, 1], [0, 2, 1], [2, 0, 1])
    top, t = cr.dist2(Fraction(1, 3)), np.arange(1, 30)
    for model in (bottom, top):
        assert model.hellinger2 == pytest.approx(0.5) and model.total_variation == pytest.approx(0.5)
    assert cr.L(top, t) == pytest.approx(0.5 ** (t + 1) / (t + 1))
    assert cr.L(bottom, t) == pytest.approx((1 - 0.5 ** (t + 1)) / (t + 1))
