"""Random graphs: connection and component numbers against every graph on a few vertices, and in fractions."""

from fractions import Fraction
from itertools import combinations, product

import in_fractions
import numpy as np
import pytest
from naive import components

from crowder.counting.exact_counts import connected_polynomials
from crowder.counting.random_graphs import component_numbers, connected, log_connected


def numbers_by_enumeration(m, p):
    """Expected number of components of each size, over all graphs on m vertices."""
    pairs = list(combinations(range(m), 2))
    numbers = [0 * p] * m
    for present in product((False, True), repeat=len(pairs)):
        edges = [pair for pair, there in zip(pairs, present, strict=True) if there]
        weight = p ** len(edges) * (1 - p) ** (len(pairs) - len(edges))
        for part in components(range(m), edges):
            numbers[len(part) - 1] += weight
    return numbers


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(9, 10), Fraction(1, 50)])
def test_numbers_are_those_of_all_graphs_on_up_to_five_vertices(p):
    for m in range(1, 6):
        expected = numbers_by_enumeration(m, p)
        assert np.allclose(component_numbers(m, float(p)), np.array(expected, dtype=float), rtol=1e-13)
        # The whole graph is one component exactly when it is connected.
        assert connected_polynomials(m, 1 - p)[-1] == expected[-1]
        assert connected(m, float(p))[-1] == pytest.approx(float(expected[-1]), rel=1e-13)


@pytest.mark.parametrize("p", [Fraction(1, 7), Fraction(1, 1000), Fraction(2, 3)])
def test_the_recursion_of_positive_terms_is_the_one_that_subtracts(p):
    exact = in_fractions.connected(40, p)[1:]
    assert connected_polynomials(40, 1 - p) == exact
    assert np.allclose(connected(40, float(p)), np.array(exact, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("p", [1e-6, 0.002, 0.01, 0.03, 0.1, 0.5, 0.999])
def test_no_term_is_left_out_that_would_change_the_sum(p):
    """The recursion once more, with all its terms and in logarithms; it may end early only where nothing changes."""
    m, log_q = 300, np.log1p(-p)
    logs, log_factorial = [0.0], np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])
    for n in range(2, m + 1):
        k = np.arange(1, n)
        log_choose = log_factorial[n - 2] - log_factorial[k - 1] - log_factorial[n - 1 - k]
        terms = log_choose + np.log(-np.expm1(k * log_q)) + k * (n - 1 - k) * log_q
        terms += np.array(logs)[k - 1] + np.array(logs)[n - k - 1]
        logs.append(float(np.logaddexp.reduce(terms)))
    assert np.allclose(log_connected(m, p), logs, rtol=1e-12, atol=1e-12)


def test_subtraction_would_lose_what_the_positive_terms_keep():
    """At p = 1/1000 forty vertices are connected with probability 2e-60: far below what 1 minus something can tell."""
    exact = float(in_fractions.connected(40, Fraction(1, 1000))[-1])
    assert exact < 1e-55 and connected(40, 0.001)[-1] == pytest.approx(exact, rel=1e-12)
    assert abs(in_fractions.connected(40, 0.001)[-1]) > 1e-20  # in floats: noise


@pytest.mark.parametrize("m", [2, 50, 500, 2000])
@pytest.mark.parametrize("c", [0.0, 1e-6, 0.5, 1.0, 1.3, 8.0, 40.0, 1e9])
def test_component_sizes_add_up_to_all_vertices(m, c):
    """Each vertex is in one component: nothing is lost to overflow or underflow, sparse, critical or dense."""
    numbers = component_numbers(m, min(1.0, c / m))
    assert numbers @ np.arange(1, m + 1) == pytest.approx(m, rel=1e-9)
    assert (numbers >= 0).all() and np.isfinite(numbers).all()


def test_a_critical_graph_has_the_classical_number_of_lone_vertices():
    """A vertex is alone with probability (1-p)^(m-1)."""
    assert component_numbers(3000, 1 / 3000)[0] == pytest.approx(3000 * (1 - 1 / 3000) ** 2999, rel=1e-12)


def test_several_sizes_at_once():
    together = component_numbers(60, 0.05, sizes=[1, 7, 60, 30])
    assert together.shape == (4, 60)
    for row, size in zip(together, (1, 7, 60, 30), strict=True):
        assert np.allclose(row[:size], component_numbers(size, 0.05), rtol=1e-12) and (row[size:] == 0).all()


def test_no_edge_and_every_edge():
    assert component_numbers(4, 0) == pytest.approx([4, 0, 0, 0])
    assert component_numbers(4, 1).tolist() == [0, 0, 0, 1]
    assert connected(3, 0).tolist() == [1, 0, 0] and connected(3, 1).tolist() == [1, 1, 1]
    assert log_connected(1, 0.3).tolist() == [0.0]


@pytest.mark.parametrize(("m", "p"), [(0, 0.5), (-1, 0.5), (2.5, 0.5), ("a", 0.5), (3, -0.1), (3, 1.1), (3, np.nan)])
def test_what_is_no_graph_is_refused(m, p):
    with pytest.raises((TypeError, ValueError), match=r"^[mp] must be"):
        component_numbers(m, p)


def test_sizes_out_of_range_are_refused():
    with pytest.raises(ValueError, match="between 1 and m = 5"):
        component_numbers(5, 0.5, sizes=[6])
