"""Counts for large clusters: the limits against forty digits, and exact counts."""

import pytest
from mpmath import mp

import crowder as cr
from crowder.counting.expected import expected_across
from crowder.counting.limits import edge_limit, node_limit


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


def test_the_limit_is_smooth_where_the_giant_forms():
    """At a start of 1 giants and critical components appear at once; no digit may be lost there."""
    values = [edge_limit(1.0, start) for start in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert values == sorted(values, reverse=True) and values[0] - values[2] < 1e-7
    assert values[1] == pytest.approx(0.5815780942, abs=1e-9)  # by mpmath, 30 digits


def test_the_limit_falls_to_zero_also_where_the_giant_is_all_in_floats():
    """It is of the order of 1 - θ, which e^(-c) approaches; from 37 on θ is 1 in floats."""
    values = [edge_limit(1.0, start) for start in (5, 10, 20, 27, 28, 30, 40, 1000)]
    assert values == sorted(values, reverse=True) and 0 < values[3] < 1e-11 and values[4:] == [0.0] * 4


@pytest.mark.parametrize("epsilon", [None, 0.1, 0.5])
def test_exact_counts_tend_to_the_limit(epsilon):
    """The rest falls like m^(-2/3), the share of the critical window; one extrapolation takes most of it away."""
    model = cr.uniform() if epsilon is None else cr.dist1(epsilon)
    ratio = 1.0 if epsilon is None else (1 - epsilon) / (1 + epsilon)
    for ordering, limit, power in (("edge", edge_limit, 2 / 3), ("node", node_limit, 1)):
        a, b = (expected_across(model, m, m, ordering, nodes=12) / m for m in (300, 600))
        assert b + (b - a) / (2**power - 1) == pytest.approx(limit(ratio), rel=2e-3)
        assert abs(a - limit(ratio)) > abs(b - limit(ratio)) or abs(b - limit(ratio)) < 1e-9


def test_node_counts_of_dist2_are_near_the_limit():
    for c, epsilon in ((1.0, 0.004), (4.0, 0.002)):
        m = round(c * (1 - epsilon) / epsilon)
        node = expected_across(cr.dist2(epsilon), m, m, "node")
        assert node / m == pytest.approx(node_limit(1, m * epsilon / (1 - epsilon)), rel=0.005)
