"""Data sets: drawn from a model, the paper's example, and invented people. Cora is in test_cora."""

from datetime import date

import numpy as np
import pytest
from scipy.stats import kstest

from crowder import datasets, dist1, dist2, similarity
from crowder.datasets import people

FIELDS = ["name", "street", "city", "birth"]


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
    assert (first.provenance["seed"], first.provenance["sizes"]) == (3, [5, 4])


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


# --- Invented people -------------------------------------------------------------------------------------------------


def test_records_without_mistakes_are_those_of_their_people():
    records = people([4, 1, 3], mistakes=0, rng=3)
    assert list(records) == ["id", *FIELDS, "label"] and all(type(cell) is str for cell in records.to_numpy().ravel())
    assert records["id"].tolist() == [f"r{number}" for number in range(1, 9)]
    assert records["label"].value_counts().to_dict() == {"p1": 4, "p3": 3, "p2": 1}
    assert (records.groupby("label")[FIELDS].nunique() == 1).all(axis=None)
    assert records["label"].tolist() != sorted(records["label"])  # in random order
    assert records.equals(people([4, 1, 3], mistakes=0, rng=3))


def test_people_are_born_on_a_day_that_there_was():
    born = [date.fromisoformat(day) for day in people([1] * 4000, mistakes=0, rng=4)["birth"]]
    assert (min(born).year, max(born).year) == (1935, 2004)


def test_mistakes_are_as_many_as_asked_for():
    """Two records of a person agree if neither has a mistake, exp(-1.6) = 0.202 of 2,000, or if those change nothing,
    as one typing error in 25 does: 0.21, and four standard errors are 0.04."""
    records = people([2] * 2000, mistakes=0.8, rng=5)
    alike = records.groupby("label")[FIELDS].nunique().eq(1).all(axis=1).mean()
    assert abs(alike - 0.21) < 0.04
    assert (records["name"] != "").all() and all((records[field] == "").any() for field in FIELDS[1:])
    assert records["name"].str.match(r"[A-Z]\. ").any()
