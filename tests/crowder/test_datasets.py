"""Data sets: drawn from a model, the paper's example, and invented people. Cora is in test_cora."""

from collections import Counter
from datetime import date

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, kstest

from crowder import datasets, dist1, dist2, similarity
from crowder.datasets import people, typo

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
    assert first.provenance["levels"] is None  # nothing was brought to levels


@pytest.mark.parametrize("rule", ["round", "floor", "ceil"])
def test_synthetic_discretised_values_are_exact_multiples(rule):
    plain = datasets.synthetic([30, 20], dist1(0.2), rng=1)
    found = datasets.synthetic([30, 20], dist1(0.2), rng=1, discretize=rule)
    assert set(found.condensed) <= {k / 10 for k in range(11)}
    assert found.condensed.tolist() == similarity.discretize(plain.condensed, rule).tolist()
    halves = datasets.synthetic([30, 20], dist1(0.2), rng=1, discretize=rule, levels=2)
    assert set(halves.condensed) <= {0.0, 0.5, 1.0}


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


def test_square_and_condensed_say_the_same():
    found = datasets.synthetic([4, 3], dist1(0.1), rng=0)
    assert (found.similarity == found.similarity.T).all()
    assert found.similarity[np.triu_indices(7, 1)].tolist() == found.condensed.tolist()
    same = found.labels[:, None] == found.labels
    assert same[np.triu_indices(7, 1)].tolist() == found.matching.tolist()


def test_disney_is_figure_1():
    found = datasets.disney()
    assert found.records["id"].tolist() == ["r1", "r2", "r3", "r4", "r5"]
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    # "disneyland" has 8 trigrams, "disneyland park" the same and 5 more.
    assert found.similarity[3, 4] == 8 / 13
    # {disney, world} of {walt, disney, world, resort}.
    assert datasets.disney("jaccard-tokens").similarity[0, 1] == 2 / 4


# --- Invented people -------------------------------------------------------------------------------------------------


def test_a_typing_error_is_one_of_four_kinds_each_as_likely_anywhere():
    rng, text, runs = np.random.default_rng(1), "abcdefgh", 8000
    dropped = [text[:at] + text[at + 1 :] for at in range(8)]
    doubled = [text[:at] + text[at] * 2 + text[at + 1 :] for at in range(8)]
    swapped = [text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(7)]
    made = Counter(typo(text, rng) for _ in range(runs))
    for kind in (dropped, doubled):
        assert abs(sum(made[wrong] for wrong in kind) - runs / 4) < 5 * np.sqrt(runs / 4)
        assert chisquare([made[wrong] for wrong in kind]).pvalue > 1e-4
    # The last letter has no next to swap with, and one in 26 letters is replaced by itself.
    assert abs(sum(made[wrong] for wrong in swapped) - runs / 4 * 7 / 8) < 5 * np.sqrt(runs / 4)
    assert abs(made[text] - runs / 4 * (1 / 8 + 1 / 26)) < 5 * np.sqrt(made[text])
    replaced = made.keys() - {*dropped, *doubled, *swapped, text}
    assert all(sum(a != b for a, b in zip(wrong, text, strict=True)) == 1 for wrong in replaced)
    # Short texts lose no letter.
    assert typo("", rng) == ""
    assert [min(len(typo(short, rng)) for _ in range(200)) for short in ("a", "ab", "abc")] == [1, 2, 2]


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


def test_mistakes_are_as_many_as_asked_for_and_of_the_stated_kinds(monkeypatch):
    made = []
    mistake = datasets._mistake

    def counted(row, rng):
        before = dict(row)
        mistake(row, rng)
        made.append((before, dict(row)))

    monkeypatch.setattr(datasets, "_mistake", counted)
    records = people([2] * 2000, mistakes=0.8, rng=5)
    # A Poisson number a record: 4,000 of mean 0.8 have a deviation of the square root of 3,200 altogether.
    assert abs(len(made) - 0.8 * len(records)) < 4 * np.sqrt(3200)
    # Looked at where nothing was wrong yet, so that the kind shows.
    fresh = [(a, b) for a, b in made if all(a.values()) and " " in a["name"] and ". " not in a["name"]]
    short = sum(b["name"] == f"{a['name'][0]}. {a['name'].split(' ', 1)[1]}" for a, b in fresh)
    emptied = [field for a, b in fresh for field in FIELDS if not b[field]]
    moved = sum(a["street"] != b["street"] and a["city"] != b["city"] for a, b in fresh)
    # Somebody who moves may stay in the city, one of those there are.
    for count, share in ((short, 0.15), (len(emptied), 0.10), (moved, 0.10 * (1 - 1 / len(datasets.CITIES)))):
        assert binomtest(count, len(fresh), share).pvalue > 1e-4
    assert set(emptied) == {"street", "city", "birth"}  # nobody is without a name
