"""The functions with which the appendix *Where the printed Theorem 2 holds* treats Dist-2, against exact numbers."""

from itertools import product

import numpy as np
import pytest

import crowder as cr
from book.companion.intervals import balls, lower, upper
from book.project import ROOT
from book.text.chapters import read_chapters
from crowder.counting.expected import component_numbers

(CHAPTER,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "A11-printed-theorem")
#: A bound may equal what it bounds, which is rounded.
ROUNDED = 1 + 1e-9


@pytest.fixture(scope="module")
def known():
    """What the cells with functions define."""
    cells = {cell["id"]: cell["source"] for cell in CHAPTER.notebook()["cells"] if cell["cell_type"] == "code"}
    names = CHAPTER.defaults() | {"KNOTS": [2, 2.5, 3, 4], "MOST": [0.52, 0.28, 0.19, 0.085]}
    for name in ("imports", "intervals", "small", "small-large", "b", "j", "left", "right", "right-large"):
        exec(cells[f"p-{name}"], names)  # noqa: S102 - the book's own code
    return names


def depth(m, epsilon):
    return -m * np.log(1 - epsilon / (1 - epsilon))


def exactly_small(m, c):
    """Pr(|C| <= m/2), from the probabilities that graphs are connected."""
    size = np.arange(1, m // 2 + 1)
    return float(size @ component_numbers(m, -np.expm1(-c / m))[: m // 2] / m)


@pytest.mark.parametrize("c", [2, 2.5, 3, 4, 7])
def test_small_components_are_bounded(known, c):
    exact = {m: exactly_small(m, c) for m in (3, 4, 5, 6, 12, 13, 60, 300)}
    for m, value in exact.items():
        assert value <= known["small"](m, c) * ROUNDED, m
        assert value <= upper(known["B"](balls(float(c)))) * ROUNDED, m
    # One record of three, or of two, is alone: there is no other small component, and the bound is exact.
    assert known["small"](3, c) == pytest.approx(np.exp(-2 * c / 3), rel=1e-12)


@pytest.mark.parametrize("c", [2, 2.5, 3, 4])
def test_the_bound_for_many_records_is_above_the_sum_for_each_number(known, c):
    """Wherever trees end, that is, when most of the bound is the geometric series, too."""
    for m, trees_to in product((100, 300), (1, 5, 20)):
        most = known["small_in_large"](m, c, trees_to)
        assert all(known["small"](more, c) <= most for more in (m, m + 1, 2 * m)), (m, trees_to)


@pytest.mark.parametrize("m, M", [(3, 3), (3, 40), (20, 20), (30, 90)])
@pytest.mark.parametrize("epsilon", [0.01, 0.03, 0.1, 0.3])
def test_questions_are_bounded(known, m, M, epsilon):
    exact = cr.expected_queries(cr.dist2(epsilon), [m, M]) - (m + M - 2)
    share = np.array([m / M])
    (most,) = known["J"](np.array([depth(m, epsilon)]), share, share, [balls(m - 1) / (2 * m)])
    assert exact <= (1 + m * upper(most)[0]) * ROUNDED


@pytest.mark.parametrize("m, s", [(3, 2), (12, 3), (19, 6)])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4])
def test_the_right_side_is_that_of_the_printed_bound(known, m, s, epsilon):
    ell, mu = np.arange(s, m + 1), 0.25
    total = (ell * cr.L(cr.dist2(epsilon), ell * (ell - 1) / 2)).sum()
    found = known["right_side"](m, s, np.array([0, depth(m, epsilon)]), np.array([0, mu]))
    assert lower(found)[0, 0] == pytest.approx(s * s / m + (1 + 1 / mu) * total, rel=1e-9)


@pytest.mark.parametrize("m", [20, 37, 200])
@pytest.mark.parametrize("epsilon", [0.0005, 0.003, 0.02, 0.2, 0.4])
def test_from_20_records_the_right_side_is_no_less_for_any_s(known, m, epsilon):
    ell, mu = np.arange(1, m + 1), 1.0
    terms = ell * cr.L(cr.dist2(epsilon), ell * (ell - 1) / 2)
    tails = np.cumsum(terms[::-1])[::-1]
    least = min(s * s / m + (1 + 1 / mu) * tails[s - 1] for s in range(2, m + 1) if s * s < 2 * m)
    found = known["right_side_from_20"](np.array([0, depth(m, epsilon)]), np.array([0, mu]))
    assert lower(found)[0, 0] <= least
