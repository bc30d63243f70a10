"""The cells of the appendix that settle the printed Theorem 2, for Dist-2 and where F_g hardly exceeds F_r.

The appendix computes that one side of an inequality is below the other; here each side is held against exact numbers.
"""

from fractions import Fraction
from itertools import combinations
from math import comb, inf

import numpy as np
import pytest
from scipy.special import lambertw

import crowder as cr
from book.companion.intervals import balls, lower, upper
from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters
from crowder.counting.expected import component_numbers, expected_across
from crowder.models import L

(CHAPTER,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "A11-printed-theorem")
#: The cells with functions for Dist-2, and what they need; those for all models begin with "ph-", and those
#: for two small clusters with "pf-".
DIST2 = {f"p-{name}" for name in "imports intervals small small-large b j right right-large".split()}
#: A bound may equal what it bounds, which is rounded.
ROUNDED = 1 + 1e-9


@pytest.fixture(scope="module")
def known():
    """What the cells with functions define."""
    names = CHAPTER.defaults() | {"KNOTS": [2, 2.5, 3, 4], "MOST": [0.52, 0.28, 0.19, 0.085]}
    for cell in numbers.asking(CHAPTER)["cells"]:
        functions = cell["id"][:3] in ("ph-", "pf-") and cell["id"][3:] not in ("all", "check")
        if cell["cell_type"] == "code" and (functions or cell["id"] in DIST2):
            exec(cell["source"], names)  # noqa: S102 - the book's own code
    return names


@pytest.fixture(scope="module")
def tables(known):
    """Bounds for clusters of fewer than 100 records, with the large ones from 100 on."""
    return known["Tables"](100, 150)


def component_law(m, p):
    """Pr(|C| = a) for a = 1, ..., m, from the package: a record is in a component of a with probability a N_a / m."""
    return np.arange(1, m + 1) * component_numbers(m, p)[-m:] / m


# --- Dist-2 ----------------------------------------------------------------------------------------------------------


def depth(m, epsilon):
    return -m * np.log(1 - epsilon / (1 - epsilon))


@pytest.mark.parametrize("c", [2, 2.5, 3, 4, 7])
def test_small_components_are_bounded(known, c):
    for m in (3, 4, 5, 6, 12, 13, 60, 300):
        exact = component_law(m, -np.expm1(-c / m))[: m // 2].sum()
        assert exact <= min(known["small"](m, c), upper(known["B"](balls(float(c))))) * ROUNDED, m
        if m >= 60 and c <= 4:  # wherever trees end, that is, when most of the bound is the geometric series, too
            assert known["small"](2 * m, c) <= min(known["small_in_large"](m, c, trees) for trees in (1, 5, 20)), m
    # One record of three, or of two, is alone: there is no other small component, and the bound is exact.
    assert known["small"](3, c) == pytest.approx(np.exp(-2 * c / 3), rel=1e-12)


@pytest.mark.parametrize("m, M", [(3, 3), (3, 40), (20, 20), (30, 90)])
@pytest.mark.parametrize("epsilon", [0.01, 0.03, 0.1, 0.3])
def test_questions_are_bounded(known, m, M, epsilon):
    exact = cr.expected_queries(cr.dist2(epsilon), [m, M]) - (m + M - 2)
    share = np.array([m / M])
    (most,) = known["J"](np.array([depth(m, epsilon)]), share, share, [balls(m - 1) / (2 * m)])
    assert exact <= (1 + m * upper(most)[0]) * ROUNDED


@pytest.mark.parametrize("m", [3, 12, 19, 20, 37, 200])
@pytest.mark.parametrize("epsilon", [0.0005, 0.01, 0.1, 0.4])
def test_the_right_side_is_that_of_the_printed_bound(known, m, epsilon):
    """Below 20 records for each s; from there on it is no less than what is computed, for any s."""
    ell, mu, d = np.arange(1, m + 1), 0.25, depth(m, epsilon)
    tails = np.cumsum((ell * cr.L(cr.dist2(epsilon), ell * (ell - 1) / 2))[::-1])[::-1]
    sides = {s: s * s / m + (1 + 1 / mu) * tails[s - 1] for s in range(2, m + 1) if s * s < 2 * m}
    if m < 20:
        for s, side in sides.items():
            found = known["right_side"](m, s, np.array([0, d]), np.array([0, mu]))
            assert lower(found)[0, 0] == pytest.approx(side, rel=1e-9)
    else:
        assert lower(known["right_side_from_20"](np.array([0, d]), np.array([0, mu])))[0, 0] <= min(sides.values())


# --- Where F_g is at most F_r, or nearly -----------------------------------------------------------------------------


def by_enumeration(m, p):
    """The same as fractions, from all graphs on m vertices."""
    pairs, law = list(combinations(range(m), 2)), [Fraction(0)] * (m + 1)
    for graph in range(2 ** len(pairs)):
        edges = [pair for i, pair in enumerate(pairs) if graph >> i & 1]
        reached = {0}
        for _ in range(m):
            reached |= {v for edge in edges if reached & set(edge) for v in edge}
        law[len(reached)] += p ** len(edges) * (1 - p) ** (len(pairs) - len(edges))
    return law


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_components_of_small_graphs(known, m):
    p, law = Fraction(1, 4), by_enumeration(m, Fraction(1, 4))
    q = balls(np.array([0.75]))  # exact in binary
    weight, linked = known["graphs"](m, q), known["connected"](m, q)
    for k in range(m + 1):
        exact = sum(law[: k + 1])
        (found,) = known["at_most"](m, [k], weight, linked) if k else [np.zeros(1)]
        assert exact <= Fraction(found[0]) <= exact + Fraction(1, 10**11)
    # The law of the first record's component has C(m-1, a-1) ways to be connected: a = m is all of them.
    all_of_them = linked[m, 0] / (m * weight[m, 0])
    assert lower(all_of_them) <= law[m] <= upper(all_of_them)
    assert law[m] <= (1 - (1 - p) ** m) ** (m - 1)  # what the proof says by coins


@pytest.mark.parametrize("m", [100, 137, 250])
@pytest.mark.parametrize("share", [1 / 2, 1 / 8])
def test_the_bounds_for_large_clusters_are_above_the_exact_law(known, m, share):
    c = np.array([0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0])
    bound = known["share_at_most"](c, 100, share)
    exact = np.array([component_law(m, each / m)[: int(m * share)].sum() for each in c])
    assert (exact <= bound).all()
    assert (bound[5:] <= 1.6 * exact[5:] + 1e-3).all()  # of use: at c = 3 at most 1.6 times too large


def test_what_is_spared_is_at_most_the_sum(known, tables):
    """The sum of l q^C(l,2) over l = s, ..., n, for all sizes n of a cell, over n."""
    p = tables.p
    for m, most, s in ((3, 3, 2), (10, 12, 2), (10, 12, 4), (60, 80, 9), (99, 150, 3)):
        bound = known["spared"](tables, s, m, most)
        sums = [sum(i * (1 - p) ** comb(i, 2) for i in range(s, n + 1)) / n for n in range(m, most + 1)]
        assert (bound[:-1] <= np.min(sums, axis=0) * (1 + 1e-12)).all() and bound[-1] == 0
        assert bound[0] > 0.5 * min(sums[0][0], sums[-1][0])


@pytest.mark.parametrize("m, other, p", [(16, 16, 0.1), (16, 100, 0.015), (16, 100, 0.06), (40, 60, 0.03), (3, 5, 0.4)])
def test_the_integrand_is_above_the_exact_expectation(known, m, other, p):
    """E(1 - h)^(ab - 1) where not both components are large; here each cell is one p and one h."""
    law, law_other = component_law(m, p), component_law(other, p)
    a, b = np.arange(1, m + 1)[:, None], np.arange(1, other + 1)
    weight = law[:, None] * law_other * ~((2 * a > m) & (2 * b > other))
    chances = [law[: m // 2].sum(), law[: m // 8].sum(), law_other[: other // 2].sum()]
    for eta in (0.01, 0.3, 1, 3, 4.9):  # h below 1
        exact = (weight * (1 - eta / other) ** (a * b - 1)).sum()
        rates = [1 / 2 - 1 / (2 * other), (m // 8 + 1) / 2 - 1 / (2 * other), (m - 1) / (2 * other)]
        bound = known["asked"](*chances, *np.exp(-eta * np.array(rates)))
        assert exact <= bound <= 1 + 1e-9


def hardly_harmful_models():
    """The paper's, steps whose matches move up by random amounts, and some with 1 - F_g = 0.95 (1 - F_r) at the top."""
    rng = np.random.default_rng(5)
    models = [cr.uniform(), cr.dist1(0.1), cr.dist1(0.45), cr.dist2(0.02), cr.dist2(0.1), cr.dist2(0.4)]
    for _ in range(14):
        steps = int(rng.integers(2, 7))
        red = np.sort(rng.dirichlet(np.full(steps, 0.4)))[::-1] + 1e-6
        lower = np.cumsum(red / red.sum()) ** rng.uniform(1, 9)  # F_g = F_r^x <= F_r
        edges = np.linspace(0, 1, steps + 1)
        models.append(cr.SimilarityModel.from_steps(edges, steps * np.diff(lower, prepend=0), steps * red / red.sum()))
    for level in (0.02, 0.5, 0.9):
        rest = (1 - 0.95 * (1 - level)) / level
        models.append(cr.SimilarityModel.from_steps([0, level, 1], [rest, 0.95], [1, 1]))
    return models


@pytest.mark.parametrize("m, other", [(2, 2), (2, 9), (3, 3), (6, 6), (6, 40), (12, 15), (20, 99), (40, 41), (30, 130)])
def test_no_model_asks_more_than_the_worst_curve(known, tables, m, other):
    """Exact questions less what the bound spares, over s^2, are at most what the cells say; and that is at most 1."""
    eta = np.concatenate(([0], np.geomspace(0.001, 60, 80), [inf]))
    worst = list(known["one_pair"](tables, m, m, other, other, eta))
    assert len(worst) == sum(0.95 * s * s < 2 * m for s in range(2, 2 * m)) and max(worst) <= 1
    for model in hardly_harmful_models():
        questions = expected_across(model, m, other)
        sums = [[i * L(model, comb(i, 2)) for i in range(2, n + 1)] for n in (m, other)]
        for s, ratio in enumerate(worst, start=2):
            left = questions - other * sum(sums[0][s - 2 :]) - m * sum(sums[1][s - 2 :])
            assert left / s**2 <= ratio + 1e-9


@pytest.mark.parametrize("ratio", [1.19, 3.9, 9.9, inf])
def test_near_one_holds_for_the_law_of_the_search(known, ratio):
    """Components with exactly Pr(|C| > xm) = theta(c(1 - x)), as few as the search allows, on constant curves.

    E e^(-a eta/2) = 1 - the integral of theta(c(1 - x)) (y/2) e^(-xy/2) over x, for y = m eta; components above m/2 are
    not counted.
    """
    y, most = np.geomspace(1e-3, 4000, 3000)[:, None], []
    for c in (1.003, 1.05, 1.3, 2.0, 2.5, 3.0, 4.0):
        x = np.linspace(0, min(1 - 1 / c, 0.5), 801)
        theta = 1 - known["dies_out"](c * (1 - x))
        apart = 1 - np.trapezoid(theta * y / 2 * np.exp(-x * y / 2), x, axis=1)
        apart -= theta[-1] * np.exp(-x[-1] * y[:, 0] / 2)
        other = 0 if ratio == inf else known["dies_out"](np.array([c * ratio]))[0]
        spared = 1 / c if ratio == inf else (1 + 1 / ratio) * np.exp(-0.75 * c * 0.03) / c
        left = np.cumsum((other + (1 - other) * apart - spared)[:-1] * np.diff(y[:, 0]))
        most.append(max(left.max(), 0))
    found = known["near_one"](800, 0.03, 200, 200)
    cell = next((key for key in found if key[0] != "s" and key[0] < ratio < key[1]), "s = 2")
    assert 1 + max(most) <= 4 * found[cell]
    # Near c = 1 and for r = oo, the integral of 2(2(1 - e^-v)/v - 1) from 0 to its zero is 1.37.
    assert ratio != inf or most[0] == pytest.approx(1.37, abs=0.05)


def test_the_inequality_for_pairs_is_sharp():
    """Questions over the right side of (A11.2) at s = 2, with the model of the proof that this tends to 1.

    The component of a record in G(m, 1/m) has in the limit Borel's law: u = E e^(-ax) solves u = e^(u - 1 - x).
    """

    def predicted(m):
        x = np.geomspace(1e-12, m**-0.5, 2001)
        return m * np.trapezoid(-lambertw(-np.exp(-1 - x)).real, x) / (4 + m**0.5)

    for m in (25, 100, 400):
        M, eta = 40 * m, m**-0.5
        edges = np.linspace(0, 1, 5)  # from below: other non-matches, other matches, eta / M of the non-matches, 1 / m
        model = cr.SimilarityModel.from_steps(edges, [0, 4 - 4 / m, 0, 4 / m], [4 - 4 * eta / M, 0, 4 * eta / M, 0])
        assert all(model.green.cdf(x) <= model.red.cdf(x) + 1e-12 for x in np.linspace(0, 1, 41))
        ell = np.arange(2, m + 200)
        sums = np.cumsum(ell * L(model, ell * (ell - 1) / 2))  # beyond m + 199 next to nothing
        quotient = expected_across(model, m, M) / (4 + M * sums[m - 2] + m * sums[-1])
        assert quotient == pytest.approx(predicted(m), rel=0.08)
    assert 0.99 < predicted(1e10) < 1


# --- Two clusters of fewer than 75 records ---------------------------------------------------------------------------


def along(curve, widths):
    """The model whose p(h) takes the values of the curve, on steps of h of these widths."""
    green, red = [1 - curve[-1]], [0.0]  # from the lowest similarity upwards
    for width, rise in zip(widths[::-1], np.diff(curve, prepend=0)[::-1], strict=True):
        green, red = [*green, 0.0, rise], [*red, width, 0.0]
    edges = np.linspace(0, 1, len(red) + 1)
    return cr.SimilarityModel.from_steps(edges, len(red) * np.array(green), len(red) * np.array(red))


def curves(p):
    """Constant ones at and between the ends of cells of p, and random ones."""
    rng = np.random.default_rng(6)
    yield from (along([x], [1.0]) for x in np.interp(np.arange(1, 4 * len(p) - 4) / 4, np.arange(len(p)), p))
    for steps in rng.integers(2, 6, size=40).tolist():
        yield along(np.sort(10 ** rng.uniform(-2.5, 0, size=steps)), rng.dirichlet(np.full(steps, 0.5)))


@pytest.mark.parametrize("m, other", [(1, 1), (2, 2), (3, 8), (9, 11), (18, 20), (37, 38)])
def test_no_curve_exceeds_the_printed_bound_by_more(known, m, other):
    """With few cells, so that a wrong end of a cell or a wrong side of the cut would show."""
    p, n = [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1], m + other
    most = known["excess"](known["Ends"](p, [0, 0.001, 0.005, 0.03, 0.1, 0.3, 1], n + 1), m, other)
    assert (len(most) + 1) ** 2 > m * other  # no more than m * other non-matches can be asked about, whatever s is
    s, ell = np.arange(1, len(most) + 1), np.arange(1, other + 1)
    for model in curves(p):
        terms = ell * L(model, ell * (ell - 1) / 2) * (1 + (ell <= m))
        tails = np.cumsum(terms[::-1])[::-1][: len(s)]
        exact = cr.expected_queries(model, [m, other]) - n - s**2 - n * tails
        assert (exact <= most + 1e-6).all()


def test_all_pairs_of_sizes_are_computed_and_by_finer_cells_where_these_are_needed(known):
    """Here the first cells are not enough for any pair with six records in one cluster, at s = 2."""
    (cell,) = (cell for cell in numbers.asking(CHAPTER)["cells"] if cell["id"] == "pf-all")
    stand_ins = {"cells": lambda number, *_: number}
    stand_ins["excess"] = lambda t, m, M: np.array([-3, -2 if m != 6 else 1 if t == 120 else -1])
    names = known | stand_ins
    exec(cell["source"], names)  # noqa: S102 - the book's own code
    all_pairs = {(m, M) for M in range(1, 74) for m in range(1, M + 1) if m + M < 75}
    assert len(all_pairs) == 37**2 and {(m, M) for m, M, s in names["nearest"] if s == 2} == all_pairs
    assert sorted(set(names["nearest"].values())) == [-2, -1]
