"""Counts for large clusters: the limits against series, against each other and against exact counts."""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy import integrate

import crowder as cr
from crowder.counting.asymptotics import (
    edge_limit,
    giant_share,
    linear_bound,
    matches_above,
    node_limit,
    reversed_hazard_rate_ordered,
)


def series(ratio, start):
    """The same integral in c, with the component sizes of a Poisson branching process summed term by term (Borel)."""

    def at(c):
        theta = giant_share(c)
        a = np.arange(1, 4000)
        log_borel = a * math.log(c) - math.log(c) - c * a + (a - 1) * np.log(a) - np.cumsum(np.log(a))
        return (1 - theta) ** 2 + 2 * theta * np.exp(log_borel - ratio * (c - start) * theta * a).sum()

    low = max(start, 1.02)
    head = integrate.quad(at, start, low, limit=200)[0] if start < 1 else 0.0
    return ratio * (head + integrate.quad(at, low, 40, limit=200)[0])


@pytest.mark.parametrize(("ratio", "start"), [(1, 0), (1 / 3, 0), (0.8, 0), (1, 0.5), (1, 2.5), (0.4, 1.5)])
def test_the_limit_is_the_series(ratio, start):
    # Close to c = 1 the series needs more terms than are summed: hence no more than four digits.
    assert edge_limit(ratio, start) == pytest.approx(series(ratio, start), abs=2e-4)


def precisely(ratio, start):
    """The same integral over θ = 1 - exp(-v), in forty digits, where no series is needed and nothing cancels."""
    with mp.workdps(40):

        def at(v):
            theta = -mp.expm1(-v)
            c, slope = v / theta, (mp.expm1(v) - v) / theta**2  # c = -ln(1-θ)/θ, and dc/dθ
            s = mp.exp(-ratio * (c - start) * theta)
            small = -mp.lambertw(-c * s * mp.exp(-c)) / c
            return (mp.exp(-2 * v) + 2 * theta * small) * slope * mp.exp(-v)

        first = mp.findroot(lambda v: v / -mp.expm1(-v) - start, 2 * (start - 1)) if start > 1 else mp.mpf(10) ** -30
        whole = mp.quad(at, [first, first + 0.01, first + 0.5, first + 3, first + 10, 80])
        return float(ratio * (max(0, 1 - start) + whole))


@pytest.mark.parametrize(("ratio", "start"), [(1, 0), (1 / 3, 0), (0.8, 0.5), (1, 1.02), (0.4, 2.5)])
def test_the_limit_to_nine_digits(ratio, start):
    assert edge_limit(ratio, start) == pytest.approx(precisely(ratio, start), rel=1e-9)


def test_the_part_of_small_components_is_in_closed_form():
    """∫ (1-θ)² dc = π²/3 - 2: by parts, with c = -ln(1-θ)/θ. For a ratio near 0 giants ask nothing of their own, and
    the bracket is (1-θ)² + 2θ(1-θ) = 1 - θ², whose integral is 2: by parts, 2∫ θ c dθ = -2∫ ln(1-θ) dθ = 2."""
    c = np.concatenate([[0, 1], np.linspace(1, 60, 400_001)[1:]])
    alone = np.array([(1 - giant_share(x)) ** 2 for x in c])
    assert np.trapezoid(alone, c) == pytest.approx(math.pi**2 / 3 - 2, abs=1e-6)
    assert edge_limit(1e-6) / 1e-6 == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize("epsilon", [None, 0.1, 0.5])
def test_exact_counts_tend_to_the_limit(epsilon):
    """The rest falls like m^(-2/3), the share of the critical window; one extrapolation takes most of it away."""
    model = cr.uniform() if epsilon is None else cr.dist1(epsilon)
    ratio = 1.0 if epsilon is None else (1 - epsilon) / (1 + epsilon)
    for ordering, limit, power in (("edge", edge_limit, 2 / 3), ("node", node_limit, 1)):
        a, b = ((cr.expected_queries(model, [m, m], ordering, nodes=12) - 2 * (m - 1)) / m for m in (300, 600))
        assert b + (b - a) / (2**power - 1) == pytest.approx(limit(ratio), rel=2e-3)
        assert abs(a - limit(ratio)) > abs(b - limit(ratio)) or abs(b - limit(ratio)) < 1e-9


def test_edge_over_node_tends_to_a_constant():
    """Not to log(n/k): 1,000 clusters of 1,000 against 1,000 of 10, and the limit, 1.43 to 1.09 over all of Dist-1."""
    few, many = (
        cr.expected_queries(cr.dist1(0.1), [m] * 1000, nodes=12)
        / cr.expected_queries(cr.dist1(0.1), [m] * 1000, "node", nodes=12)
        for m in (10, 1000)
    )
    assert 1 < many / few < 1.2  # the logarithm has grown threefold
    ratios = [edge_limit((1 - s) / (1 + s)) / node_limit((1 - s) / (1 + s)) for s in (1e-6, 0.1, 0.25, 0.4, 0.5)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == pytest.approx(1.42864, abs=1e-4) and ratios[-1] == pytest.approx(1.09156, abs=1e-4)


def test_dist2_has_a_worst_cluster_size():
    """Between two clusters of m, with c = mε/(1-ε): c times the limit is a hump, largest near 1 and 0.58 high."""
    hump = {c: c * edge_limit(1, c) for c in np.arange(0.05, 8, 0.05)}
    top = max(hump, key=hump.get)
    assert 0.8 < top < 1.1 and 0.57 < hump[top] < 0.60
    epsilon = 0.004
    for c in (1.0, 2.0, 4.0):
        m = round(c * (1 - epsilon) / epsilon)
        start = m * epsilon / (1 - epsilon)
        # Two giants ask one question; the limit leaves it out.
        edge = cr.expected_queries(cr.dist2(epsilon), [m, m], nodes=12) - 2 * (m - 1) - 1
        assert edge / m == pytest.approx(edge_limit(1, start), rel=0.02, abs=2e-3)
        node = cr.expected_queries(cr.dist2(epsilon), [m, m], "node") - 2 * (m - 1)
        assert node / m == pytest.approx(node_limit(1, start), rel=0.005)


def test_the_giant_solves_its_equation():
    for c in (1 + 1e-12, 1 + 1e-7, 1.001, 1.5, 3.0, 20.0):
        assert 1 - giant_share(c) == pytest.approx(math.exp(-c * giant_share(c)), rel=1e-9)
    assert giant_share(0.0) == giant_share(1.0) == 0.0


def test_the_limit_is_smooth_where_the_giant_forms():
    """At a start of 1 giants and critical components appear at once; no digit may be lost there."""
    values = [edge_limit(1.0, start) for start in (1 - 1e-3, 1 - 1e-9, 1.0, 1 + 1e-9, 1 + 1e-3)]
    assert values == sorted(values, reverse=True)
    assert values[0] - values[-1] < 5e-3 and values[1] - values[3] < 1e-7
    assert values[2] == pytest.approx(0.5815780942, abs=1e-9)  # by mpmath, 30 digits


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_negative_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="must be"):
        giant_share(bad)
    for limit in (edge_limit, node_limit):
        with pytest.raises(ValueError, match="must be"):
            limit(bad)
        with pytest.raises(ValueError, match="must be"):
            limit(1.0, bad)


TILTED = cr.SimilarityModel.from_steps([0, 0.5, 0.8, 0.9, 1], [0.2, 1, 2, 4], [1.2, 1, 1, 0])


def test_matches_above_all_non_matches():
    assert matches_above(cr.uniform()) == matches_above(cr.dist1(0.5)) == 0
    assert matches_above(cr.dist2(0.1)) == pytest.approx(cr.dist2(0.1).hellinger2)  # both are ε/(1-ε)
    assert matches_above(TILTED) == pytest.approx(0.4)  # 4 times the last tenth
    apart = cr.SimilarityModel(
        cr.densities.StepDensity((0, 0.3, 1), (1, 1)), cr.densities.StepDensity((0, 0.6, 1), (1 / 0.6, 0))
    )
    assert matches_above(apart) == pytest.approx(0.4)  # edges differ: f_g is 1 on [0.6, 1]


def test_the_reversed_hazard_rate_order():
    for model in (cr.uniform(), cr.dist1(0.5), cr.dist1(0.01), cr.dist2(0.49), TILTED):
        assert reversed_hazard_rate_ordered(model)
    edges, low = (0, 0.5, 1), (2, 0)
    assert not reversed_hazard_rate_ordered(cr.SimilarityModel.from_steps(edges, low, low[::-1]))
    assert reversed_hazard_rate_ordered(cr.SimilarityModel.from_steps(edges, low[::-1], low))
    # Between ¼ and ½ there are only non-matches, while half of the matches are below.
    assert not reversed_hazard_rate_ordered(cr.SimilarityModel.from_steps((0, 0.25, 0.5, 1), (2, 0, 1), (0, 2, 1)))


@pytest.mark.parametrize("model", [cr.uniform(), cr.dist1(0.3), cr.dist2(0.1), cr.dist2(0.02), TILTED], ids=str)
@pytest.mark.parametrize("sizes", [[1, 1], [5, 1, 30], [40] * 6, [2] * 50, [200, 3, 3, 90, 1]], ids=str)
def test_the_bound_without_logarithm(model, sizes):
    """Pair by pair, as the theorem states it; the exact count is below; and so are the round numbers above it."""
    n, k = sum(sizes), len(sizes)
    share = matches_above(model)
    cap = 1 / share if share else math.inf
    pairs = [min(a, b, cap) for i, a in enumerate(sizes) for b in sizes[:i]]
    bound = linear_bound(model, sizes)
    assert bound == pytest.approx(n - k + 4 * sum(pairs), rel=1e-12)
    assert cr.expected_queries(model, sizes, nodes=12) <= bound
    assert bound <= n - k + 2 * n * (k - 1) + 1e-9
    if model.name == "dist2":
        assert bound <= n - k + 2 * k * (k - 1) / model.hellinger2 + 1e-9


def test_the_bound_needs_its_condition():
    upside_down = cr.SimilarityModel.from_steps([0, 0.5, 1], [2, 0], [0, 2])
    with pytest.raises(ValueError, match="model must be"):
        linear_bound(upside_down, [60, 60])
    # Without it, all 3,600 non-matches are asked about, where the bound would be 118 + 240.
    assert cr.expected_queries(upside_down, [60, 60]) == pytest.approx(118 + 3600)
    with pytest.raises(ValueError, match="positive integers"):
        linear_bound(cr.uniform(), [0, 1])
