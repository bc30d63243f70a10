"""The dendrogram cut, and the plausible clusterings that follow from it: each weight computed again, one by one."""

import math
from itertools import product

import numpy as np
import pytest

import crowder as cr
from crowder.people import people
from crowder.practice.planner import cuts
from crowder.practice.planner.clusterings import DRAWS, MISSED, PlausibleClusterings, _missed_share
from crowder.practice.planner.cuts import CutDistribution, base_similarity, fit_cut, linkage_tree


def places(n):
    """Where each pair stands in a condensed vector, by walking it."""
    return {pair: at for at, pair in enumerate((i, j) for i in range(n) for j in range(i + 1, n))}


def linked_at(joined, i, j):
    """The height of the lowest merge that has both records below it."""
    groups = {v: {v} for v in range(len(joined) + 1)}
    for merge, (a, b, distance, _) in enumerate(joined.tolist()):
        both = groups[int(a)] | groups[int(b)]
        if {i, j} <= both:
            return 1 - distance
        groups[len(joined) + 1 + merge] = both
    raise AssertionError("the tree joins all records")


def logistic(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


ANSWERS = [((0, 1), True), ((2, 5), False), ((7, 3), False), ((9, 4), True), ((6, 8), False), ((1, 0), False)]


@pytest.mark.parametrize("answers", [[], ANSWERS], ids=["no answer", "answers"])
def test_the_weight_of_every_level_is_worked_out_one_by_one(answers):
    """By the documented rule, with the numbers stated beside the constants rather than read from them."""
    records = people([2] * 4 + [1] * 6, rng=3)[["name", "street", "city", "birth"]]
    values, n = cr.similarity.compute(records, "jaccard-qgrams"), 14
    pairs, same = [pair for pair, _ in answers], [answer for _, answer in answers]
    got = fit_cut(records, "jaccard-qgrams", values, pairs, same, rng=1)
    joined = linkage_tree(values)
    heights = [1 - distance for distance in joined[:, 2]]

    assert got.base == base_similarity(values) == np.median(values)
    # z from -2.8 to 2.8 in 140 steps; 97 % of the weight is the lognormal guess's over the crowding by merges near it,
    # 3 % is spread over 40 levels from just below the lowest merge to the highest.
    levels, weights = [], []
    for step in range(141):
        z = -2.8 + 0.04 * step
        level = got.base + math.exp(-0.12 + 0.32 * z) * (got.wrong - got.base)
        near = sum(math.exp(-(((level - h) / (0.06 * (1 - got.base))) ** 2) / 2) for h in heights)
        levels.append(level)
        weights.append(math.exp(-z * z / 2) / (1 / 2 + n / 100 + near))
    weights = [0.97 * w / sum(weights) for w in weights]
    low, high = min(heights) - 0.05, max(heights)
    levels += [low + (high - low) * step / 39 for step in range(40)]
    weights += [0.03 / 40] * 40

    expected = []
    at = [linked_at(joined, *pair) for pair in pairs]
    for (level, weight), (way, chance) in product(
        zip(levels, weights, strict=True), [(0.02, 0.4), (0.05, 0.3), (0.1, 0.2), (0.2, 0.1)]
    ):
        soft, log = way * (abs(level - got.base) + 0.01), math.log(weight * chance)
        for merge in sorted(set(at)):  # a merge counts once, whatever the number of its answers
            right = 0.01 + 0.98 * logistic((merge - level) / soft)
            terms = [math.log(right if yes else 1 - right) for yes, h in zip(same, at, strict=True) if h == merge]
            log += sum(terms) / len(terms)
        expected.append((level, soft, math.exp(log)))
    total = sum(weight for *_, weight in expected)
    assert got.height == pytest.approx([level for level, *_ in expected])
    assert got.width == pytest.approx([soft for _, soft, _ in expected])
    assert got.weight == pytest.approx([weight / total for *_, weight in expected], rel=1e-6)


def test_the_level_of_accidents_is_near_the_highest_of_shuffled_merges(monkeypatch):
    """Three tenths of the highest, the rest the 95th in a hundred; the mean of two shuffles, first of all records, then
    of one of each cluster that this level makes, until it stands still."""
    records = people([3] * 5 + [1] * 5, mistakes=0.3, rng=3)[["name", "street", "city", "birth"]]
    values, shuffled = cr.similarity.compute(records, "jaccard-qgrams"), []

    def heights(some, name, *, rng):
        shuffled.append(len(some))
        return np.linspace(0.2, 0.4, len(some) - 1)[::-1] + 0.1 * (len(shuffled) % 2)

    monkeypatch.setattr(cuts, "shuffled_merge_heights", heights)
    got = fit_cut(records, "jaccard-qgrams", values, rng=1)
    # From 0.3 to 0.5 and from 0.2 to 0.4: on average from 0.25 to 0.45, the 95th of which is 0.44.
    assert got.wrong == pytest.approx(0.3 * 0.45 + 0.7 * 0.44)
    # Above that level merge the pairs of a cluster of the tree.
    left = 20 - int((1 - linkage_tree(values)[:, 2] >= got.wrong).sum())
    assert shuffled == [20, 20, left, left] and left < 20


def test_known_matches_of_dissimilar_records_are_merged_first():
    """0 = 1 and 1 = 2 imply 0 = 2, at similarity 0; by the average alone, 2 would join them at the height 1."""
    joined = linkage_tree([0.5, 0.0, 0.9, 0.5, 0.9, 0.9], [(0, 1), (2, 1)], [True, True])
    assert (1 - joined[:, 2]).tolist() == pytest.approx([2, 2, 0.9])


def test_the_base_is_the_middle_of_all_but_leaves_room_above():
    assert base_similarity([0.0, 0.4, 0.5, 0.6]) == pytest.approx(0.45)
    assert base_similarity([0.95, 0.99, 1.0]) == 0.9


def test_too_few_records_have_no_level():
    records = people([1, 1, 1], rng=1)[["name", "city"]]
    assert fit_cut(records, "jaccard-tokens", np.zeros(3), rng=1).weight.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="records must"):
        fit_cut(records[:2], "jaccard-tokens", np.zeros(1), rng=1)


def test_levels_are_drawn_as_often_as_they_weigh():
    """Systematic sampling: of 1,000 draws, a level of weight w has 1,000 w of them, give or take one."""
    levels = CutDistribution(np.array([0.3, 0.1, 0.2]), np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.2, 0.3]), 0.5, 0.0)
    for seed in range(5):
        level, soft = levels.draw(1000, seed)
        assert (np.diff(level) >= 0).all() and soft == pytest.approx(10 * level)
        for one, weight in ((0.1, 0.2), (0.2, 0.3), (0.3, 0.5)):
            assert abs((level == one).sum() - 1000 * weight) <= 1
    assert levels.draw(1, 0)[0].shape == (1,)


def test_known_matches_join_first_and_known_nonmatches_last():
    """Whatever the similarities are; between pairs that no answer tells about, they decide as ever."""
    n, rng = 7, np.random.default_rng(4)
    values, place = rng.random(21), places(7)
    pairs, same = [(5, 2), (0, 6), (1, 3), (4, 1)], [True, True, False, False]
    joined = linkage_tree(values, pairs, same)
    heights = 1 - joined[:, 2]
    assert [{*map(int, row[:2])} for row in joined[:2]] in ([{2, 5}, {0, 6}], [{0, 6}, {2, 5}])
    assert heights[:2] == pytest.approx(2)  # a distance of -1, past any similarity
    # One merge is left to which every way passes between records known to differ: a billion over its pairs, and more.
    assert (heights[2:-1] > -1).all() and heights[-1] < -1e7
    assert linked_at(joined, 1, 3) == heights[-1] or linked_at(joined, 4, 1) == heights[-1]
    # Without answers it is average linkage: the first merge is of the most similar pair, at its similarity.
    plain = linkage_tree(values)
    first = tuple(sorted(int(v) for v in plain[0, :2]))
    assert place[first] == np.argmax(values) and 1 - plain[0, 2] == pytest.approx(values.max())
    assert linked_at(plain, 0, n - 1) <= values.max()


@pytest.mark.parametrize("same", [[False], [True, False, False], [False] * 30, [True, False, True, False]])
def test_merges_left_open_get_rarer_the_longer_no_answer_was_same(same):
    """Every other draw has none; of the rest the mean is 1 / (20 + answers "different" since the last "same")."""
    since = len(same) - max((q + 1 for q, answer in enumerate(same) if answer), default=0)
    draws = np.array([_missed_share(same, np.random.default_rng(seed)) for seed in range(100)])
    assert MISSED == 1 / 20 and draws.shape == (100, DRAWS)
    assert (draws[:, ::2] == 0).all() and (draws >= 0).all() and (draws <= 1).all()
    rest, mean = draws[:, 1::2], 1 / (20 + since)
    # An exponential number scatters by its mean; 20,000 of them.
    assert abs(rest.mean() - mean) < 4 * mean / np.sqrt(rest.size)


def test_a_merge_is_accepted_as_often_as_its_height_says():
    """One level: the number of clusters is n less the accepted merges, each a coin of its own."""
    rng = np.random.default_rng(5)
    values, level, soft = rng.random(45), 0.6, 0.1
    levels = CutDistribution(np.array([level]), np.array([soft]), np.array([1.0]), 0.5, 0.0)
    chance = [logistic((1 - distance - level) / soft) for distance in linkage_tree(values)[:, 2]]
    k = np.concatenate([PlausibleClusterings(values, levels, rng=seed).k for seed in range(20)])
    error = np.sqrt(sum(p * (1 - p) for p in chance) / len(k))
    assert abs(k.mean() - (10 - sum(chance))) < 4 * error
    # A record known to match one and to differ from all others: for certain, in every draw.
    known = [((0, 9), True), *(((0, v), False) for v in range(1, 9))]
    drawn = PlausibleClusterings(values, levels, [pair for pair, _ in known], [answer for _, answer in known], rng=1)
    for quantile in (0, 0.3, 0.7, 1):
        labels = drawn.labels(quantile)
        assert np.flatnonzero(labels == labels[0]).tolist() == [0, 9]
        assert sorted(set(labels)) == list(range(len(set(labels))))  # numbered without a gap


def test_a_place_among_the_draws_is_the_draw_of_that_rank():
    rng = np.random.default_rng(6)
    values = rng.random(66)
    levels = CutDistribution(np.array([0.3, 0.7]), np.array([0.1, 0.1]), np.array([0.5, 0.5]), 0.5, 0.0)
    drawn = PlausibleClusterings(values, levels, rng=2)
    assert len(set(drawn.k)) > 3 and (np.diff(drawn.k) >= 0).all()
    for quantile, rank in ((0, 0), (0.25, 100), (0.4999, 199), (0.5, 200), (0.9999, 399), (1, 399)):
        assert len(set(drawn.labels(quantile))) == drawn.k[rank]


def test_of_a_group_that_fell_apart_the_largest_cluster_goes_on_to_merge():
    """0, 1 and 2 are one, 3 joined their group and was refused; 4 comes last, and is with the three, not with 3."""
    values = np.array([0.9, 0.8, 0.5, 0.3, 0.8, 0.5, 0.3, 0.5, 0.3, 0.3])
    cut = CutDistribution(np.array([0.6]), np.array([0.1]), np.array([1.0]), 0.5, 0.0)
    drawn = PlausibleClusterings(values, cut, rng=1)
    drawn._accepted = lambda d: np.array([True, True, False, True])
    assert drawn.labels(0.5).tolist() == [0, 0, 0, 1, 0]


def test_the_constants_are_the_documented_ones():
    assert (cuts.NOISE, cuts.OUTLIER, cuts.UNIFORM_GRID, cuts.GRID) == (0.01, 0.03, 40, 141)
    assert cuts.WIDTH_PRIOR.sum() == pytest.approx(1)
