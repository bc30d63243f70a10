"""The explorer's clusterings, numbers and words."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import crowder as cr
from book.companion.charts import explorer
from crowder.counting.bounds import edge_bound, node_bound


@pytest.mark.parametrize("shape", explorer.SHAPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 5), (240, 1), (240, 4), (240, 120), (240, 239), (100, 7)])
def test_clusters_of_every_shape_add_up(n, k, shape):
    sizes = explorer.shaped(n, k, shape)
    assert (len(sizes), sum(sizes)) == (k, n)
    assert min(sizes) >= 1 and sizes == sorted(sizes, reverse=True)


def test_shapes_are_what_they_are_called():
    assert explorer.shaped(100, 8, "equal") == [13] * 4 + [12] * 4
    assert explorer.shaped(240, 4, "one large") == [120, 40, 40, 40]
    # 11 = 6 + 3 + 2 is in proportion 1 : 1/2 : 1/3, and the twelfth goes to the first.
    assert explorer.shaped(11, 3, "as 1/i") == [6, 3, 2] and explorer.shaped(12, 3, "as 1/i") == [7, 3, 2]


def test_a_shape_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="unknown shape 'round'"):
        explorer.shaped(4, 2, "round")
    with pytest.raises(ValueError, match="3 records cannot form 4 clusters"):
        explorer.shaped(3, 4, "equal")


@pytest.mark.parametrize("sizes", [[3, 2], [4, 1, 1]])
def test_each_number_is_the_one_it_is_called(sizes):
    model = cr.dist2(0.2)
    counted = explorer.questions(model, sizes)
    assert list(counted) == list(explorer.QUESTIONS)
    # Compare the exact counts with the same in fractions.
    for name in ("edge", "node"):
        exact = cr.expected_queries_exact(cr.dist2(Fraction(1, 5)), sizes, name)
        assert counted[f"{name}, exact"] == pytest.approx(float(exact), rel=1e-10)
    for name, bound in (("edge", edge_bound), ("node", node_bound)):
        assert counted[f"{name}, bound as printed"] == bound(model, sizes)
        assert counted[f"{name}, bound that holds"] == bound(model, sizes, printed=False) >= counted[f"{name}, exact"]
    n, k = sum(sizes), len(sizes)
    assert counted["least possible"] == n - k + k * (k - 1) / 2 and counted["nk"] == n * k


def test_the_grid_has_each_setting_with_its_own_numbers():
    models = {"uniform": lambda epsilon: cr.uniform(), "Dist-2": cr.dist2, "Dist-1": cr.dist1}
    counted = explorer.grid(models, [0.1, 0.3], 8, [2, 3])
    assert len(counted) == 3 * 2 * 2 * len(explorer.SHAPES)
    assert not counted.duplicated(["model", "epsilon", "clusters", "shape"]).any()
    for row in counted.to_dict("records"):
        model, sizes = models[row["model"]](row["epsilon"]), explorer.shaped(8, row["clusters"], row["shape"])
        assert {name: row[name] for name in explorer.QUESTIONS} == explorer.questions(model, sizes)


@pytest.mark.parametrize(
    ("k", "shape", "said"),
    [
        (1, "equal", "1 cluster of 12 records"),
        (3, "equal", "3 clusters of 4 records"),
        (12, "equal", "12 clusters of 1 record"),
        (2, "as 1/i", "2 clusters: 8 and 4 records"),
        (6, "one large", "6 clusters: 7, 1, 1, 1, 1 and 1 records"),
        (7, "one large", "7 clusters: 6, 1, 1, 1, 1, … records"),
    ],
)
def test_the_sizes_of_the_clusters_in_words(k, shape, said):
    counted = explorer.grid({"uniform": lambda epsilon: cr.uniform()}, [0.1], 12, [k])
    assert counted.set_index("shape")["sizes"][shape] == said


def test_words_tell_the_numbers_of_their_setting():
    rows = [
        {"model": "Dist-1", "epsilon": 0.2, "clusters": 2, "shape": shape, "sizes": "such clusters"}
        | {name: 1000.0 * at + i for i, name in enumerate(explorer.QUESTIONS)}
        for at, shape in enumerate(explorer.SHAPES)
    ]
    said = explorer.words(pd.DataFrame(rows)).texts["Dist-1", 0.2, 2, "as 1/i"]
    assert said == (
        "Dist-1 with ε = 0.2, such clusters. Questions on average: 2,000 for edge ordering, 2,001 for node ordering; "
        "least possible 2,006, nk 2,007. Bounds as printed: 2,002 for edge, 2,003 for node ordering; bounds that hold: "
        "2,004 and 2,005."
    )


def test_the_counts_are_what_runs_ask():
    """Compare with simulation: data drawn, questions counted. Five standard errors of 400 runs."""
    model, sizes, rng = cr.dist1(0.3), [6, 4, 2], np.random.default_rng(7)
    counted = explorer.questions(model, sizes)
    asked = {"edge": [], "node": []}
    for _ in range(400):
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        truth = cr.Truth(data.labels)
        asked["edge"].append(cr.edge_ordering(data.similarity, truth, rng=rng).n_queries)
        asked["node"].append(cr.node_ordering(data.similarity, truth, rng=rng, order="random").n_queries)
    for name, runs in asked.items():
        assert abs(np.mean(runs) - counted[f"{name}, exact"]) < 5 * np.std(runs) / 20


def test_near_one_half_only_dist2_comes_down_to_the_least():
    """At ε = 0.48 a similarity of Dist-2 is silent with probability 0.04/0.52, one in thirteen; Dist-1 never proves."""
    sizes = explorer.shaped(48, 4, "equal")
    least = 48 - 4 + 6
    proving, hinting = (explorer.questions(make(0.48), sizes) for make in (cr.dist2, cr.dist1))
    for name in ("edge, exact", "node, exact"):
        assert least <= proving[name] < 1.02 * least
        assert hinting[name] > 4 / 3 * least
