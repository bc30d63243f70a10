"""The similarity models: closed forms against quadrature, samples against the cdf, symbols against numbers."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from shared import step_models

import crowder as cr
from crowder.models import StepDensity, rounded, steps


def integral(function, *densities):
    """Quadrature, told where the integrand jumps."""
    ends = sorted({float(edge) for density in densities for edge in density.edges})
    return sum(integrate.quad(function, a, b, epsabs=1e-13)[0] for a, b in pairwise(ends))


@given(step_models())
@settings(max_examples=60, deadline=None)
def test_mean_variance_cdf_and_distances_by_quadrature(model):
    g, r = model.green, model.red
    for density in (g, r):
        mean = integral(lambda x, f=density: x * f.pdf(x), density)
        assert density.mean == pytest.approx(mean, rel=1e-9)
        square = integral(lambda x, f=density: x**2 * f.pdf(x), density)
        assert density.variance == pytest.approx(square - mean**2, abs=1e-9)
        ends, heights = np.array(density.edges), np.array(density.heights)
        for x in np.linspace(0, 1, 41):  # the mass below x, step by step
            below = np.clip(x - ends[:-1], 0, np.diff(ends)) @ heights
            assert density.cdf(x) == pytest.approx(below, abs=1e-12)
    h2 = integral(lambda x: (np.sqrt(g.pdf(x)) - np.sqrt(r.pdf(x))) ** 2 / 2, g, r)
    tv = integral(lambda x: abs(g.pdf(x) - r.pdf(x)) / 2, g, r)
    assert model.hellinger2 == pytest.approx(h2, abs=1e-12) and cr.SimilarityModel(r, g).hellinger2 == model.hellinger2
    assert model.total_variation == pytest.approx(tv, abs=1e-12)
    assert h2 - 1e-12 <= tv <= np.sqrt(h2 * (2 - h2)) + 1e-12


@given(step_models(), st.floats(0, 1, exclude_max=True))
@settings(max_examples=100, deadline=None)
def test_samples_are_quantiles_of_uniform_numbers_where_the_density_is_positive(model, q):
    for density in (model.green, model.red):
        x = float(density._quantiles(np.array(q)))
        assert float(density.cdf(x)) == pytest.approx(q, abs=1e-12)
        assert density.pdf(x) > 0 or density.pdf(np.nextafter(x, 0)) > 0  # on a step with mass, or at its upper end


@pytest.mark.parametrize("name", ["uniform", "dist1", "dist2"])
def test_symbols_numbers_and_fractions_are_one_formula(name):
    epsilon, value = sp.Symbol("epsilon", positive=True), Fraction(3, 10)
    edges, green, red = steps(name, epsilon)
    model = cr.uniform() if name == "uniform" else getattr(cr, name)(value)
    for heights, density in ((green, model.green), (red, model.red)):
        # Mass one for every ε, as an identity; and exactly one in fractions.
        assert sp.simplify(sum(h * (b - a) for a, b, h in zip(edges, edges[1:], heights, strict=False)) - 1) == 0
        assert [sp.sympify(h).subs(epsilon, sp.Rational(3, 10)) for h in heights] == [
            *map(sp.Rational, density.heights)
        ]
        assert isinstance(density.mean, Fraction | float) and isinstance(density.heights[0], int | Fraction)
    assert cr.dist1(Fraction(1, 3)).green.variance == Fraction(1, 12) - Fraction(1, 144)  # 1/12 - (ε/4)²


def test_pdf_is_zero_outside_closed_at_one_and_belongs_to_the_step_above_an_edge():
    density = cr.dist1(0.25).green
    assert density.pdf([-0.1, 0.0, 0.5, 1.0, 1.1]).tolist() == [0.0, 0.75, 1.25, 1.25, 0.0]
    assert density.cdf([-1.0, 2.0]).tolist() == [0.0, 1.0] and np.isnan(density.pdf(np.nan))


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_mass_may_miss_one_by_a_billionth(sign):
    """Heights such as 1/3 and 4/3 in floats do not sum exactly; a wrong height misses by more."""
    assert StepDensity((0, 0.5, 1), (1, 1 + sign * 1.8e-9)).cdf(1) == 1  # and what is left of the error is taken out
    with pytest.raises(ValueError, match="must sum to 1"):
        StepDensity((0, 0.5, 1), (1, 1 + sign * 2.4e-9))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_numbers_of_any_precision_make_a_model(kind):
    """ε is taken for the float that it is. Heights are taken as they are, and sum to one as exactly as they can."""
    for make in (cr.dist1, cr.dist2):
        assert make(kind(0.2)) == make(float(kind(0.2)))
    thirds = np.array([1, 0.5, 1.5], kind) * kind(1.0001)
    heights = thirds / (thirds.sum() / kind(3))
    model = cr.SimilarityModel.from_steps([0, kind(1) / kind(3), kind(2) / kind(3), 1], heights, heights[::-1])
    assert cr.L(model, 0) == pytest.approx(1, abs=4 * float(np.finfo(kind).eps))
    with pytest.raises(ValueError, match="must sum to 1"):
        cr.SimilarityModel.from_steps([0, 1], [kind(1) + kind(0.01)], [1])


@pytest.mark.parametrize("rule", ["round", "floor"])
def test_a_rounded_model_keeps_the_mass_of_every_tenth(rule):
    blurred = rounded(cr.dist2(0.05), rule)
    draws = np.random.default_rng(2).random(200_000) * 0.95 + 0.05  # f_g of Dist-2, ε = 1/20
    _, counts = np.unique(cr.similarity.discretize(draws, rule), return_counts=True)
    mass = np.diff(blurred.green.cdf(np.asarray(blurred.green.edges, float)))
    assert len(mass) == (11 if rule == "round" else 10)
    assert np.abs(counts / len(draws) - mass[-len(counts) :]).max() < 0.005


@pytest.mark.parametrize("rule", ["round", "floor", "ceil"])
@pytest.mark.parametrize("model", [cr.dist1(0.25), cr.dist2(0.05)], ids=["dist1", "dist2"])
def test_a_rounded_model_asks_what_random_ties_ask(rule, model):
    """Exact expectations against 400 data sets with rounded similarities."""
    sizes, counts = [9, 6, 5, 4], {"edge": [], "node": []}
    for rng in np.random.default_rng(11).spawn(400):
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        values, crowd = cr.similarity.discretize(data.condensed, rule), cr.Truth(data.labels)
        counts["edge"].append(cr.edge_ordering(values, crowd, rng=rng).n_queries)
        counts["node"].append(cr.node_ordering(values, crowd, rng=rng, order="random").n_queries)
    for ordering, asked in counts.items():
        exact = cr.expected_queries(rounded(model, rule), sizes, ordering)
        assert abs(np.mean(asked) - exact) < 4.5 * np.std(asked, ddof=1) / np.sqrt(len(asked)), (ordering, exact)
