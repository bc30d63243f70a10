"""Data sets: drawn from a model, and the paper's example. Cora is in test_cora."""

import numpy as np
import pytest
from scipy.stats import kstest

from crowder import datasets, dist1, dist2, similarity


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


@pytest.mark.parametrize("rule", ["round", "floor", "ceil"])
def test_synthetic_discretised_values_are_exact_multiples(rule):
    plain = datasets.synthetic([30, 20], dist1(0.2), rng=1)
    found = datasets.synthetic([30, 20], dist1(0.2), rng=1, discretize=rule)
    assert set(found.condensed) <= {k / 10 for k in range(11)}
    assert found.condensed.tolist() == similarity.discretize(plain.condensed, rule).tolist()


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


def test_disney_is_figure_1():
    found = datasets.disney()
    assert found.records["id"].tolist() == ["r1", "r2", "r3", "r4", "r5"]
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    # "disneyland" has 8 trigrams, "disneyland park" the same and 5 more.
    assert found.similarity[3, 4] == 8 / 13
    # {disney, world} of {walt, disney, world, resort}.
    assert datasets.disney("jaccard-tokens").similarity[0, 1] == 2 / 4
