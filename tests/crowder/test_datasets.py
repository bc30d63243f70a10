"""Data sets: drawn from a model, and the paper's example. Cora is in test_cora."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest

import crowder
from crowder import crowds, datasets, dist1, dist2, similarity


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
    # {disney, world} of {walt, disney, world, resort}.
    assert datasets.disney("jaccard-tokens").similarity[0, 1] == 2 / 4


# --- crowds -----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["by entity", "by record"])
def folder(request, tmp_path):
    """Four records, two entities, in both forms of the files; the pair (5, 7) is answered wrongly by two of three."""
    gold, between = ("Ann Lee,5,7\n1,6,9\n", ",") if request.param == "by entity" else ("5 0\n6 1\n7 0\n9 1\n", " ")
    scores = {(5, 7): 0.9, (6, 9): 0.8, (5, 6): 0.3, (5, 9): 0.2, (7, 6): 0.1, (7, 9): 1.5, (5, 1): 0.4}
    votes = dict.fromkeys(scores, (0, 0, 0)) | {(5, 7): (1, 0, 0), (6, 9): (1, 1, 1), (7, 9): (1, 0)}
    (tmp_path / "gold.txt").write_text(gold)
    for name, head, rows in (("graph", "4 7\n", {pair: [w] for pair, w in scores.items()}), ("answers", "", votes)):
        lines = [between.join(map(str, (*pair, *values))) + "\n" for pair, values in rows.items()]
        (tmp_path / f"{name}.txt").write_text(head + "".join(lines))
    return tmp_path


def test_a_crowd_is_read_in_the_order_of_its_records(folder):
    crowd = crowds.read_crowd(folder)
    assert (crowd.name, crowd.labels.tolist()) == (folder.name, [0, 1, 0, 1])  # records 5, 6, 7, 9
    # (5,6), (5,7), (5,9), (6,7), (6,9), (7,9); similarities are clipped to [0, 1]
    assert crowd.condensed.tolist() == [0.3, 0.9, 0.2, 0.1, 0.8, 1.0]
    assert crowd.votes[1].tolist() == [1, 0, 0] and np.isnan(crowd.votes[5]).tolist() == [False, False, True]
    assert crowd.oracle(1)(2, 0) and not crowd.oracle(3)(0, 2) and crowd.oracle(3)(1, 3)
    assert crowd.oracle(1)(2, 3) and not crowd.oracle(3)(2, 3)  # of two votes, one is no majority


@pytest.mark.parametrize("name", ["graph", "answers"])
def test_a_missing_pair_of_a_crowd_is_an_error(folder, name):
    path = folder / f"{name}.txt"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if line[0] != "6"))
    with pytest.raises(ValueError, match="a pair has no similarity or no answer"):
        crowds.read_crowd(folder)


def test_a_missing_file_of_a_crowd_is_named(folder):
    (folder / "gold.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no gold\.txt"):
        crowds.read_crowd(folder)


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([[0], [1]], "a vote on each of the 3 pairs"),
        ([[0], [np.nan], [1]], "a vote on each"),
        ([[0], [1], [2]], "0 or 1"),
    ],
)
def test_votes_are_0_or_1_and_there_is_one_on_each_pair(votes, message):
    with pytest.raises(ValueError, match=message):
        crowds.Crowd("three", [0.9, 0.1, 0.2], [0, 0, 1], votes=votes)
