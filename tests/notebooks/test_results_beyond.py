"""The results beyond the paper, each against a computation of its own."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import crowder as cr
from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters


def model_of(h2):
    """A share of each density is where the other vanishes, and the rest is equal, so that H² is this share."""
    both = 3 * (1 - h2)
    return cr.SimilarityModel.from_steps(np.arange(4) / 3, [3 * h2, both, 0], [0, both, 3 * h2])


@pytest.mark.parametrize("sizes", [[1], [1, 1], [3, 1], [5, 5, 2, 1], [40, 20, 20, 1]])
@pytest.mark.parametrize("h2", [0.00125, 0.125, 0.5, 0.9, 1])
def test_the_bounds_for_evidence_are_their_sums(h2, sizes):
    """With an error probability δ, the s-th later record of a cluster has a question about a match with probability at
    most e^L ρ^s, where L is the lesser of both; which one that is differs among these cases."""
    k, n, model = len(sizes), sum(sizes), model_of(h2)
    assert model.hellinger2 == pytest.approx(h2, abs=1e-15)
    rho = 1 - model.hellinger2  # a rounding of H² = 1 is multiplied by 10¹²
    across = sum(1 + sum(rho**r for r in range(2, a + b)) for a, b in combinations(sizes, 2))
    assert cr.evidence_bound(model, sizes) == pytest.approx(n - k + across, rel=1e-12)
    for delta in (1, 0.1, 1e-3, 1e-12):
        least = min(k**2 * (k + 1) / (delta * h2), (k * n * (n + 1) / delta) ** 0.5)
        matches = sum(min(1.0, least * rho**s) for m in sizes for s in range(1, m))
        assert cr.evidence_bound(model, sizes, delta=delta) == pytest.approx(matches + across, rel=1e-12)


def test_the_count_depends_on_the_curve():
    """Random models, the same with uniform matches, and others with a higher curve."""
    rng, sizes = np.random.default_rng(8), (6, 3, 1)
    for _ in range(20):
        x, green, red = (np.concatenate([[0.0], np.sort(rng.random(3)), [1.0]]) for _ in range(3))
        higher = np.concatenate([[0.0], 1 - (1 - red[1:-1]) * rng.random(), [1.0]])
        f_g, f_r, f_h = (np.diff(values) / np.diff(x) for values in (green, red, higher))
        asked, transformed, less = (
            cr.expected_queries(cr.SimilarityModel.from_steps(*steps), sizes)
            for steps in ((x, f_g, f_r), (green, np.ones(4), np.diff(red) / np.diff(green)), (x, f_g, f_h))
        )
        assert transformed == pytest.approx(asked, rel=1e-12)
        assert less < asked


@pytest.fixture(scope="module")
def known():
    """What the cells of the chapter define that simulate runs, and that read clusters off."""
    (chapter,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "14-results")
    names = chapter.defaults() | {"repetitions": 400}
    for cell in numbers.asking(chapter)["cells"]:
        if cell["id"] in ("n-imports", "n-simulated", "n-read-off"):
            exec(cell["source"], names)  # noqa: S102 - the book's own code
    return names


@pytest.mark.parametrize("delta", [0.2, 1e-6])
def test_a_single_cluster_takes_the_questions_of_a_binomial_walk(known, delta):
    """A record after s others is asked about if their similarities, each of ±ln 3, add up to less than T."""
    s = np.arange(1, 60)
    enough = np.minimum(np.log((s + 1) * (s + 2) / delta), 2 * np.log(2 / delta / (1 - 0.75**0.5)))
    exact = stats.binom.cdf(np.ceil((enough / np.log(3) + s) / 2) - 1, s, 0.75).sum()
    assert known["simulated"](known["dist1"](0.5), 1, 60, delta) == pytest.approx(exact, rel=0.02)


def test_means_over_the_error_are_within_the_bound_and_bend_where_clusters_end():
    """As the chapter recorded them. The bound is that of Companion Theorem A10.2 or, for certainty, A10.1."""
    over = pd.read_csv(ROOT / "book/data/results/14-results/fig-results-errors.csv", index_col=0)
    for n, x in product((2_000, 10_000, 50_000), over.index):
        mean = over.loc[x, str(n)]
        assert mean <= cr.evidence_bound(cr.dist1(0.2), [n // 20] * 20, delta=np.exp(-x)), (n, x)
        assert x <= 1.15 * 0.2 * np.log(1.5) * n / 20 or mean == pytest.approx(over.loc[np.inf, str(n)], rel=0.05)
    assert (over["at least"] < over["50000"]).all() and (np.diff(over["at least"]) > 0).all()


@pytest.mark.parametrize("sizes", [[60] * 4, [80], [80, 100, 120]])
def test_large_clusters_are_read_off(known, sizes):
    for seed in range(5):
        data = cr.datasets.synthetic(sizes, cr.dist1(0.5), rng=seed)
        found = known["read_off"](data.similarity, np.random.default_rng(seed))
        assert len({*zip(data.labels, found, strict=True)}) == len({*found}) == len(sizes), "one to one"
