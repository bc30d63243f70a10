"""The similarity models: closed forms against quadrature, samples against the cdf, symbols against numbers."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from shared import step_models

import crowder as cr
from crowder.densities import StepDensity, hellinger2, kl, total_variation
from crowder.models import MODEL_NAMES, rounded, steps

EPSILONS = [0.01, 0.05, 0.2, 0.37, 0.49]


def integral(function, density):
    """Quadrature, told where the integrand jumps."""
    ends = zip(density._edges, density._edges[1:], strict=False)
    return sum(integrate.quad(function, a, b, epsabs=1e-13)[0] for a, b in ends)


@given(step_models(), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_mass_moments_and_cdf_by_quadrature(model, order):
    def check(density):
        moment = integral(lambda x: x**order * density.pdf(x), density)
        assert density.moment(order) == pytest.approx(moment, rel=1e-9)
        spread = integral(lambda x: (x - density.mean) ** 2 * density.pdf(x), density)
        assert density.variance == pytest.approx(spread, abs=1e-9)
        # The mass below x, step by step.
        widths = np.diff(density._edges)
        for x in np.linspace(0, 1, 41):
            below = np.clip(x - density._edges[:-1], 0, widths) @ density._heights
            assert density.cdf(x) == pytest.approx(below, abs=1e-12)

    check(model.green)
    check(model.red)


@given(step_models(), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_quantiles_invert_the_cdf(model, q):
    for density in (model.green, model.red):
        x = float(density.ppf(q))
        assert 0 <= x <= 1
        assert float(density.cdf(x)) == pytest.approx(q, abs=1e-12)


def test_of_several_quantiles_the_largest_is_given():
    """Where a density vanishes its cdf stands still: every x there is a quantile, the last one sup {x: F(x) ≤ q}."""
    gap = StepDensity((0, 0.25, 0.75, 1), (2, 0, 2))  # half of the mass below 1/4, half above 3/4
    assert float(gap.ppf(0.5)) == 0.75
    assert float(gap.ppf(np.nextafter(0.5, 0))) == pytest.approx(0.25)
    assert float(StepDensity((0, 0.5, 1), (0, 2)).ppf(0)) == 0.5  # nothing lies below 1/2
    assert float(StepDensity((0, 0.5, 1), (2, 0)).ppf(1)) == 0.5  # at q = 1 the least, so that no draw is where f is 0


@pytest.mark.parametrize("name", ["dist1", "dist2"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_samples_follow_the_cdf(name, epsilon):
    """Kolmogorov and Smirnov, 20,000 draws, seeded; the level allows one false alarm in ten thousand."""
    model = getattr(cr, name)(epsilon)
    for density in (model.green, model.red):
        draws = density.sample(20_000, rng=3)
        assert stats.kstest(draws, density.cdf).pvalue > 1e-4
    assert model.green.sample((2, 3), rng=3).shape == (2, 3)
    assert np.array_equal(model.green.sample(5, rng=3), model.green.sample(5, rng=np.random.default_rng(3)))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_closed_forms_of_the_paper(epsilon):
    one, two = cr.dist1(epsilon), cr.dist2(epsilon)
    assert one.hellinger2 == pytest.approx(1 - np.sqrt(1 - epsilon**2), rel=1e-9)
    assert two.hellinger2 == pytest.approx(epsilon / (1 - epsilon), rel=1e-12)
    # |f_g - f_r| is 2ε everywhere for Dist-1; 1/(1-ε) on two intervals of length ε for Dist-2.
    assert one.total_variation == pytest.approx(epsilon, rel=1e-12)
    assert two.total_variation == pytest.approx(epsilon / (1 - epsilon), rel=1e-12)
    assert one.kl == pytest.approx(epsilon * np.log((1 + epsilon) / (1 - epsilon)), rel=1e-9)
    assert two.kl == float("inf")  # f_g puts mass where f_r has none
    # From the uniform distribution: Dist-1 is ε/2 away, Dist-2 is ε.
    flat = cr.uniform().green
    assert total_variation(one.green, flat) == pytest.approx(epsilon / 2, rel=1e-12)
    assert total_variation(two.green, flat) == pytest.approx(epsilon, rel=1e-9)
    # The means in the paper's source: 1/2 ± ε/4 and 1/2 ± ε/2.
    assert one.green.mean == pytest.approx(0.5 + epsilon / 4)
    assert two.red.mean == pytest.approx(0.5 - epsilon / 2)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 0.001, 0.4999])
def test_dist1_is_the_closer_one_in_every_reading(epsilon):
    """f_g from uniform, f_r from uniform, f_g from f_r; and the readings of total variation differ by a factor."""
    one, two, flat = cr.dist1(epsilon), cr.dist2(epsilon), cr.uniform().green
    for distance in (hellinger2, total_variation):
        assert distance(one.green, flat) < distance(two.green, flat)
        assert distance(one.red, flat) < distance(two.red, flat)
        assert distance(one.green, one.red) < distance(two.green, two.red)
    both = np.sqrt(1 + epsilon) + np.sqrt(1 - epsilon)
    assert hellinger2(one.green, flat) == pytest.approx(1 - both / 2, abs=1e-12)
    assert hellinger2(two.red, flat) == pytest.approx(1 - np.sqrt(1 - epsilon), abs=1e-12)
    assert two.total_variation / one.total_variation == pytest.approx(1 / (1 - epsilon))  # below 2
    # H² of Dist-1 is at most ε², that of Dist-2 at least ε.
    assert two.hellinger2 / one.hellinger2 >= 1 / epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_the_rules_of_thumb_miss(epsilon):
    h2 = cr.dist1(epsilon).hellinger2
    assert epsilon**2 / 2 == pytest.approx(h2 * (1 - h2 / 2), rel=1e-9)
    assert epsilon == pytest.approx(cr.dist2(epsilon).hellinger2 * (1 - epsilon), rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_two_models_are_the_two_edges_of_what_is_possible(epsilon):
    """H² <= TV <= H sqrt(2 - H²): Dist-2 attains the first, Dist-1 the second."""
    one, two = cr.dist1(epsilon), cr.dist2(epsilon)
    assert two.total_variation == pytest.approx(two.hellinger2, rel=1e-12)
    assert one.total_variation == pytest.approx(np.sqrt(one.hellinger2 * (2 - one.hellinger2)), rel=1e-9)


@pytest.mark.parametrize("model", [cr.dist1(0.3), cr.dist2(0.2)], ids=["dist1", "dist2"])
def test_hellinger_of_many_looks_multiplies(model):
    """Against the definition, over every pattern of steps that m similarities can fall in."""
    mass = [np.array(d.heights, float) * np.diff(d.edges) for d in (model.green, model.red)]
    for m in (1, 2, 5):
        green, red = (np.array([np.prod(pattern) for pattern in product(law, repeat=m)]) for law in mass)
        h2 = ((np.sqrt(green) - np.sqrt(red)) ** 2).sum() / 2
        assert 1 - (1 - model.hellinger2) ** m == pytest.approx(h2, rel=1e-12)
        assert h2 - 1e-12 <= abs(green - red).sum() / 2 <= np.sqrt(h2 * (2 - h2)) + 1e-12


@given(step_models())
@settings(max_examples=60, deadline=None)
def test_distances_by_quadrature_and_their_inequalities(model):
    g, r = model.green, model.red
    h2 = integral(lambda x: (np.sqrt(g.pdf(x)) - np.sqrt(r.pdf(x))) ** 2 / 2, g)
    tv = integral(lambda x: abs(g.pdf(x) - r.pdf(x)) / 2, g)
    assert model.hellinger2 == pytest.approx(h2, abs=1e-12)
    assert model.total_variation == pytest.approx(tv, abs=1e-12)
    # H² <= TV <= sqrt(2) H, and Pinsker: TV <= sqrt(KL / 2).
    assert h2 - 1e-12 <= tv <= np.sqrt(2 * h2) + 1e-12
    assert tv <= np.sqrt(model.kl / 2) + 1e-12
    assert hellinger2(g, r) == hellinger2(r, g)
    assert kl(g, g) == 0.0


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_symbols_and_numbers_are_one_formula(name):
    x, epsilon = sp.symbols("x epsilon", positive=True)
    edges, green, red = steps(name, epsilon)
    value = sp.Rational(3, 10)
    model = cr.uniform() if name == "uniform" else getattr(cr, name)(Fraction(3, 10))
    for heights, density in ((green, model.green), (red, model.red)):
        # Mass one for every ε, as an identity.
        assert sp.simplify(sum(h * (b - a) for a, b, h in zip(edges, edges[1:], heights, strict=False)) - 1) == 0
        expression = density.symbolic(x)
        for point in (sp.Rational(1, 10), sp.Rational(1, 2), sp.Rational(7, 10), sp.Integer(1)):
            assert float(expression.subs(x, point)) == pytest.approx(float(density.pdf(float(point))))
        assert [sp.sympify(h).subs(epsilon, value) for h in heights] == [sp.Rational(h) for h in density.heights]


def test_fractions_stay_exact():
    model = cr.dist1(Fraction(1, 3))
    assert model.green.heights == (Fraction(2, 3), Fraction(4, 3))
    assert model.green.mean == Fraction(7, 12)  # 1/2 + ε/4
    assert model.green.variance == Fraction(1, 12) - Fraction(1, 144)  # 1/12 - (ε/4)²


def test_pdf_is_zero_outside_and_closed_at_one():
    density = cr.dist1(0.25).green
    assert density.pdf([-0.1, 0.0, 0.5, 1.0, 1.1]).tolist() == [0.0, 0.75, 1.25, 1.25, 0.0]
    assert density.cdf([-1.0, 2.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        density.ppf(1.1)


@pytest.mark.parametrize("make", [cr.dist1, cr.dist2])
@pytest.mark.parametrize("epsilon", [0, -0.1, 0.51, 1, float("nan"), "a lot", None])
def test_epsilon_outside_its_range_is_refused(make, epsilon):
    with pytest.raises(ValueError, match="ε must lie"):
        make(epsilon)


def test_one_half_is_the_paper_s_first_row_for_dist1_only():
    assert cr.dist1(0.5).green.heights == (0.5, 1.5)
    with pytest.raises(ValueError, match="no longer overlap"):
        cr.dist2(0.5)


@pytest.mark.parametrize(
    ("edges", "green", "red", "message"),
    [
        ([0, 0.5, 1], [1, 1], [1, 0.5], "f_r: heights"),
        ([0, 0.5, 1], [0.5, 0.5], [1, 1], "f_g: heights"),
        ([0, 0.5, 1], [-1, 3], [1, 1], "f_g: heights must be finite and not negative"),
        ([0, 0.5, 0.5, 1], [1, 1, 1], [1, 1, 1], "increase strictly"),
        ([0, 0.7, 0.5, 1], [1, 1, 1], [1, 1, 1], "increase strictly"),
        ([0, 2], [0.5], [0.5], "from 0 to 1"),
        ([0, 1], [1, 1], [1], "edges must be"),
        ([0, 1], [float("nan")], [1], "finite"),
    ],
)
def test_what_is_not_a_density_is_refused(edges, green, red, message):
    with pytest.raises(ValueError, match=message):
        cr.SimilarityModel.from_steps(edges, green, red)


def test_unknown_model():
    with pytest.raises(ValueError, match="dist3"):
        steps("dist3", 0.1)
    with pytest.raises(ValueError, match="edges must be"):
        StepDensity((0, 1), (1, 1))


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_mass_may_miss_one_by_a_billionth(sign):
    """Heights such as 1/3 and 4/3 in floats do not sum exactly; a wrong height misses by more."""
    assert StepDensity((0, 0.5, 1), (1, 1 + sign * 1.8e-9)).cdf(1) == 1  # and what is left of the error is taken out
    with pytest.raises(ValueError, match="must sum to 1"):
        StepDensity((0, 0.5, 1), (1, 1 + sign * 2.4e-9))


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
        data = cr.datasets.synthetic(sizes, model, rng=rng, discretize=rule)
        crowd = cr.Truth(data.labels)
        counts["edge"].append(cr.edge_ordering(data.similarity, crowd, rng=rng).n_queries)
        counts["node"].append(cr.node_ordering(data.similarity, crowd, rng=rng, order="random").n_queries)
    for ordering, asked in counts.items():
        exact = cr.expected_queries(rounded(model, rule), sizes, ordering)
        assert abs(np.mean(asked) - exact) < 4.5 * np.std(asked, ddof=1) / np.sqrt(len(asked)), (ordering, exact)


def test_a_rule_for_rounding_is_named():
    with pytest.raises(ValueError, match='"round", "floor" or "ceil"'):
        rounded(cr.dist1(0.25), "down")
