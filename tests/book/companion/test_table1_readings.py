"""The readings of the synthetic experiment, each compared with a direct run, and their scores."""

import doctest

import numpy as np
import pytest
from scipy import integrate

import crowder as cr
from book.companion import published
from book.companion import table1_readings as readings
from book.companion.table1_readings import (
    ARRIVALS,
    ROUNDINGS,
    TIES,
    count_readings,
    joint_score,
    one_more_run,
    size_readings,
    spread,
)

MODELS = {"dist1": cr.dist1(0.25), "dist2": cr.dist2(0.05)}


def test_the_ways_to_read_the_papers_list():
    announced = published.read()["data-sets"].numbers
    ways = size_readings(published.cluster_sizes(), **announced)
    assert ways["first clusters"] == [200] * 2 + [100] * 4 + [50] * 8
    assert (sum(ways["whole list"]), len(ways["whole list"])) == (1300, 18)
    # Two of 200, four of 100, two of 30, two of 20 are 900; five of 50 leave 50 for five of 10.
    assert sorted(ways["cut list"], reverse=True) == [200] * 2 + [100] * 4 + [50] * 5 + [30] * 2 + [20] * 2 + [10] * 5


def test_every_reading_is_counted_once():
    runs = count_readings([5, 3, 2], MODELS["dist1"], rng=1)
    seen = [(run["rounding"], run["ties"], run["arrival"]) for run in runs]
    wanted = [
        (rounding, ties, arrival)
        for rounding in ROUNDINGS for ties in (("none",) if rounding == "as drawn" else TIES)
        for arrival in (*ARRIVALS, "none")
    ]  # fmt: skip
    assert seen == wanted and len(seen) == 21
    assert all((run["ordering"] == "edge") == (run["arrival"] == "none") for run in runs)


def test_only_keeps_what_is_asked_for_and_edge_ordering_has_no_arrival():
    only = readings.select(rounding="nearest", ties="index", arrival="random")
    runs = count_readings([5, 3, 2], MODELS["dist1"], rng=1, only=only)
    assert [(run["ordering"], run["arrival"]) for run in runs] == [("node", "random"), ("edge", "none")]
    assert {(run["rounding"], run["ties"]) for run in runs} == {("nearest", "index")}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_ties_by_index_in_listed_order_are_those_of_the_orderings(model):
    """Nothing is random there but the draws: the same data set resolved directly asks the same."""
    sizes = [30, 20, 10, 5]
    runs = count_readings(sizes, model, rng=3)
    data = cr.datasets.synthetic(sizes, model, rng=np.random.default_rng(3))
    truth = cr.Truth(data.labels)
    for rounding in ("nearest", "down or up"):
        values = cr.similarity.discretize(data.similarity, ROUNDINGS[rounding])
        node = cr.node_ordering(values, truth, ties="index").n_queries
        edge = cr.edge_ordering(values, truth, ties="index").n_queries
        got = {
            run["ordering"]: run["questions"] for run in runs
            if (run["rounding"], run["ties"]) == (rounding, "index, listed") and run["arrival"] != "random"
        }  # fmt: skip
        assert got == {"node": node, "edge": edge}


def test_similarities_as_drawn_are_the_plain_experiment():
    """Continuous draws have no ties, so edge ordering asks exactly what it asks directly."""
    data = cr.datasets.synthetic([30, 20, 10], MODELS["dist1"], rng=np.random.default_rng(5))
    runs = count_readings([30, 20, 10], MODELS["dist1"], rng=5, only=readings.select(rounding="as drawn"))
    direct = cr.edge_ordering(data.similarity, cr.Truth(data.labels), rng=0).n_queries
    assert [run["questions"] for run in runs if run["ordering"] == "edge"] == [direct]


def test_records_listed_by_cluster_profit_from_ties_by_index():
    """All similarities equal, ties by index: listed, cluster after cluster, neighbours match; shuffled, they do not."""
    model = cr.SimilarityModel.from_steps([0, 0.04, 1], [25, 0], [25, 0])  # all values round to 0
    sizes, means = [8] * 4, {}
    for ties in ("index", "index, listed"):
        only = readings.select(rounding="nearest", ties=ties)
        runs = [run for rng in range(20) for run in count_readings(sizes, model, rng=rng, only=only)]
        means[ties] = np.mean([run["questions"] for run in runs if run["ordering"] == "edge"])
    # The first record is asked about everyone: 7 matches, one non-match for each later record; and so on by cluster.
    assert means["index, listed"] == 7 + 24 + 7 + 16 + 7 + 8 + 7
    assert means["index"] == means["index, listed"]  # edge ordering by index goes record by record, in any order
    # Node ordering meets each earlier record's cluster by index: the first cluster first, whoever comes.
    node = [run["questions"] for rng in range(20) for run in count_readings(
        sizes, model, rng=rng, only=readings.select(rounding="nearest", ties="index, listed", arrival="expected size"))
        if run["ordering"] == "node"]  # fmt: skip
    # Record r of cluster c asks c non-matches and, unless it is the first, one match.
    assert set(node) == {sum(8 * c + 7 for c in range(4))}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_spread_atom_asks_what_random_ties_ask(rounding, model):
    """Exact expectation of the spread model against simulated discretised similarities."""
    sizes, runs = [9, 6, 5, 4], 400
    only = readings.select(rounding=rounding, ties="random", arrival="random")
    counts = {"node": [], "edge": []}
    for child in np.random.default_rng(11).spawn(runs):
        for run in count_readings(sizes, model, rng=child, only=only):
            counts[run["ordering"]].append(run["questions"])
    for ordering, values in counts.items():
        exact = cr.expected_queries(spread(model, rounding), sizes, ordering)
        assert abs(np.mean(values) - exact) < 4.5 * np.std(values, ddof=1) / np.sqrt(runs), (ordering, exact)


def test_spreading_keeps_the_mass_of_every_tenth():
    for rounding, rule in (("nearest", "round"), ("down or up", "floor")):
        blurred = spread(MODELS["dist2"], rounding)
        draws = np.random.default_rng(2).random(200_000) * 0.95 + 0.05  # f_g of Dist-2, ε = 1/20
        values, counts = np.unique(cr.similarity.discretize(draws, rule), return_counts=True)
        edges = np.asarray(blurred.green.edges, float)
        mass = np.diff(blurred.green.cdf(edges))
        assert len(mass) == (11 if rule == "round" else 10)
        assert np.abs(counts / len(draws) - mass[-len(values) :]).max() < 0.005


def test_the_distance_of_one_more_run():
    # 10 questions at a standard deviation of 5, seen through 24 runs: 10 / (5 * sqrt(25/24)).
    assert one_more_run([20], [10], [5], 24)[0] == pytest.approx(2 / np.sqrt(25 / 24))
    assert one_more_run([1278], [1277], [0], 10**9)[0] == pytest.approx(1)  # one question off, where nothing varies
    with pytest.raises(ValueError, match="at least 2"):
        one_more_run([1], [1], [1], 1)


def test_the_joint_score_of_honest_numbers_is_about_one():
    rng = np.random.default_rng(4)
    scores = [joint_score(rng.standard_t(49, size=18), 50) for _ in range(2000)]
    assert np.mean([score["rms"] ** 2 for score in scores]) == pytest.approx(49 / 47, abs=0.03)  # variance of t
    # The chance of a worst one so far out is uniform: one in ten is below one tenth.
    assert np.mean([score["chance"] < 0.1 for score in scores]) == pytest.approx(0.1, abs=0.03)
    assert joint_score([0, -3.5, 2], 50)[["worst", "beyond"]].tolist() == [3.5, 1]


def test_a_true_reading_is_excluded_as_rarely_as_the_chance_says():
    """The z of a true reading follow Student's t; then the combined probability is uniform, in its tail too."""
    rng = np.random.default_rng(6)
    chances = np.array([readings.chance_together(rng.standard_t(7, size=9), 8) for _ in range(4000)])
    for level in (0.5, 0.1, 0.01):
        assert abs(np.mean(chances < level) - level) < 4 * np.sqrt(level / len(chances))
    # A single z is its two-sided tail, worked out for one degree of freedom: t = 1 is exceeded half of the time.
    assert readings.chance_together([1.0], 2) == pytest.approx(0.5)
    # Many moderate misses exclude where no single one would.
    assert readings.chance_together([4.0] * 9, 8) < 1e-9 < 1e-3 < readings.chance_together([4.0], 8)


def test_a_true_reading_survives_all_looks_as_often_as_promised():
    """Eighteen printed runs of two heuristics, which depend on each other, and looks after 3, 6 and 12 runs."""
    rng, level, looks, lost = np.random.default_rng(8), 0.2, (3, 6, 12), 0
    for _ in range(1000):
        runs = rng.normal(1000, 50, size=(1 + looks[-1], 9))
        pairs = runs, runs + rng.normal(0, 20, size=runs.shape)  # the first run of each is the printed one
        chances = [
            readings.chance_over_looks(
                [one_more_run(x[0], x[1 : 1 + r].mean(0), x[1 : 1 + r].std(0, ddof=1), r) for x in pairs], r, len(looks)
            )
            for r in looks
        ]
        lost += min(chances) < level
    # At most the level, up to four standard errors; and the bound is no empty one.
    assert 0.2 * level < lost / 1000 < level + 4 * np.sqrt(level / 1000)
    assert readings.chance_over_looks([[0.0] * 9] * 2, 5, 4) == 1  # a probability


def test_the_joint_score_of_a_few_numbers_worked_out():
    z, runs = [0.5, -3.0, 2.0, 3.25], 6
    score = joint_score(z, runs)
    assert score["rms"] == pytest.approx(((0.25 + 9 + 4 + 3.25**2) / 4) ** 0.5)
    assert score["worst"] == 3.25 and score["beyond"] == 1  # three itself is not beyond
    # Student's distribution with five degrees of freedom, integrated: all four inside ±3.25, or not.
    inside = integrate.quad(lambda x: 8 / (3 * np.pi * 5**0.5) * (1 + x * x / 5) ** -3, -3.25, 3.25)[0]
    assert score["chance"] == pytest.approx(1 - inside**4, rel=1e-9)


def test_one_unit_is_the_least_spread_unless_another_is_given():
    # Two runs: the mean scatters by half the variance of one, so the distance is over s times the root of 3/2.
    assert one_more_run([10, 13, 13], [10, 10, 10], [0.0, 0.5, 2.0], 2) == pytest.approx(
        np.array([0, 3, 1.5]) / np.sqrt(1.5)
    )
    assert one_more_run([13], [10], [0.0], 2, least=0.5)[0] == pytest.approx(6 / np.sqrt(1.5))


def test_the_examples_of_the_module_run():
    tried = doctest.testmod(readings)
    assert tried.attempted and not tried.failed
