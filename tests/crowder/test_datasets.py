"""Data sets: drawn from a model, and the paper's example. Cora is in test_cora."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest

import crowder
from crowder import datasets, dist1, dist2


def test_synthetic_draws_matches_from_green_and_others_from_red():
    model = dist2(0.3)
    found = datasets.synthetic([60, 40], model, rng=5)
    assert found.labels.tolist() == [0] * 60 + [1] * 40
    assert found.sizes.tolist() == [60, 40]
    inside, across = found.condensed[found.matching], found.condensed[~found.matching]
    assert (len(inside), len(across)) == (60 * 59 // 2 + 40 * 39 // 2, 60 * 40)
    assert kstest(inside, model.green.cdf).pvalue > 1e-3
    assert kstest(across, model.red.cdf).pvalue > 1e-3
    assert inside.min() >= 0.3 and across.max() <= 0.7  # Dist-2's supports


def test_synthetic_places_each_draw_where_its_pair_is():
    class Constant:
        def __init__(self, value):
            self.value = value

        def sample(self, size, *, rng):
            return np.full(size, self.value)

    class Model:
        green, red = Constant(0.9), Constant(0.1)

    found = datasets.synthetic([2, 1, 2], Model(), rng=0)
    assert found.similarity.tolist() == [
        [1.0, 0.9, 0.1, 0.1, 0.1],
        [0.9, 1.0, 0.1, 0.1, 0.1],
        [0.1, 0.1, 1.0, 0.1, 0.1],
        [0.1, 0.1, 0.1, 1.0, 0.9],
        [0.1, 0.1, 0.1, 0.9, 1.0],
    ]


def test_synthetic_is_the_seed_s():
    first, again, other = (datasets.synthetic([5, 4], dist1(0.2), rng=seed) for seed in (3, 3, 4))
    assert first.condensed.tolist() == again.condensed.tolist() != other.condensed.tolist()
    generator = np.random.default_rng(3)
    assert datasets.synthetic([5, 4], dist1(0.2), rng=generator).condensed.tolist() == first.condensed.tolist()
    assert datasets.synthetic([5, 4], dist1(0.2), rng=generator).condensed.tolist() != first.condensed.tolist()


def test_synthetic_shuffled_keeps_sizes_and_model():
    found = datasets.synthetic([30, 20, 10], dist2(0.4), rng=2, shuffle=True)
    assert found.labels.tolist() != sorted(found.labels)
    assert np.bincount(found.labels).tolist() == [30, 20, 10]
    assert found.condensed[found.matching].min() >= 0.4
    assert found.condensed[~found.matching].max() <= 0.6


@pytest.mark.parametrize(("sizes", "n"), [([], 0), ([1], 1), ([1, 1], 2), (np.array([2, 3]), 5)])
def test_synthetic_of_few(sizes, n):
    found = datasets.synthetic(sizes, dist1(0.1), rng=0)
    assert found.n == n
    assert found.similarity.shape == (n, n)
    assert found.sizes.sum() == n


def test_citations_are_a_typical_dozen_whose_similarity_is_the_share_of_words_in_common():
    data = datasets.citations()
    assert data.n == 12 and data.sizes.tolist() == [5, 4, 3]
    assert data.records["id"].tolist() == [f"r{i}" for i in range(1, 13)] and data.records["text"].is_unique
    # i, moreau, t, becker, vldb of these and asking, people, 2012, matching, products, 2013.
    assert data.similarity[2, 7] == 5 / 11
    truth, model = crowder.Truth(data.labels), data.densities([0, Fraction(1, 5), Fraction(2, 5), 1])
    for run, ordering in ((crowder.edge_ordering, "edge"), (crowder.node_ordering, "node")):
        # Ties change nothing; and with independent similarities of the same densities it would be about as many.
        assert {run(data.similarity, truth, rng=seed).n_queries for seed in range(100)} == {15}
        assert abs(crowder.expected_queries(model, data.sizes, ordering) - 15) < 0.6


def test_densities_are_the_shares_of_matches_and_of_non_matches_on_each_step():
    # Matches: .5 and .9. Non-matches: .1, .2, .2 and .9. A step contains its lower end, and the last one both.
    data = datasets.Dataset("four", [0.5, 0.1, 0.2, 0.2, 0.9, 0.9], [0, 0, 1, 1])
    model = data.densities([0, Fraction(1, 5), Fraction(1, 2), 1])
    assert model.green.heights == (0, 0, 2) and model.red.heights == (Fraction(5, 4), Fraction(5, 3), Fraction(1, 2))
    assert data.densities([0.0, 0.5, 1.0]).red.heights == (1.5, 0.5)
    for edges in ([0, 0.5], [0.5, 1], [0, 1, 0.5], [], [0], [0, float("nan"), 1]):
        with pytest.raises(ValueError, match="edges"):
            data.densities(edges)
    for labels in ([0, 0], [0, 1]):
        with pytest.raises(ValueError, match="matches and non-matches"):
            datasets.Dataset("two", [0.5], labels).densities([0, 1])


def test_disney_is_figure_1():
    found = datasets.disney()
    assert found.records["id"].tolist() == ["r1", "r2", "r3", "r4", "r5"]
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    # "disneyland" has 8 trigrams, "disneyland park" the same and 5 more.
    assert found.similarity[3, 4] == 8 / 13
