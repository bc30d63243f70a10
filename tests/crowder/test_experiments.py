"""Repetition and summary: seeds, processes, intervals."""

import numpy as np
import pandas as pd
import pytest
from reference import edge_questions, node_questions

from crowder import EdgeOrdering, Truth, dist1, dist2, edge_ordering, expected_queries, node_ordering
from crowder.beyond import NoisyOrdering
from crowder.crowds import replay
from crowder.datasets import synthetic
from crowder.experiments import mean_interval, repeat, simulated_queries, sweep


def draw(rng, shift=0):
    return {"x": shift + float(rng.random())}


def test_every_repetition_has_a_generator_of_its_own():
    values = [result["x"] for result in repeat(draw, 50, rng=1)]
    assert len(set(values)) == 50
    assert values == [result["x"] for result in repeat(draw, 50, rng=1)]
    assert values != [result["x"] for result in repeat(draw, 50, rng=2)]
    # The first ten do not depend on how many follow.
    assert values[:10] == [result["x"] for result in repeat(draw, 10, rng=1)]


def test_processes_do_not_change_results():
    assert repeat(draw, 6, rng=3, shift=1) == repeat(draw, 6, rng=3, n_jobs=2, shift=1)


def test_a_sweep_is_its_repeats_side_by_side():
    frame = sweep(draw, [{"shift": 10}, {"shift": 20}], 3, rng=5)
    assert frame["shift"].tolist() == [10, 10, 10, 20, 20, 20]
    assert frame["repetition"].tolist() == [0, 1, 2] * 2
    parents = np.random.default_rng(5).spawn(2)
    expected = [
        r["x"]
        for parent, shift in zip(parents, (10, 20), strict=True)
        for r in repeat(draw, 3, rng=parent, shift=shift)
    ]
    assert frame["x"].tolist() == expected
    assert set(np.floor(frame["x"])) == {10, 20}


@pytest.mark.parametrize(("values", "quantile"), [([1, 3], 12.706), ([2, 4, 6], 4.303), ([2, 4, 6, 9], 3.1824)])
def test_interval_of_a_few_values(values, quantile):
    """Student's quantiles of 97.5 % for 1 to 3 degrees of freedom, from a printed table."""
    half = quantile * np.std(values, ddof=1) / len(values) ** 0.5
    mean, low, high = mean_interval(values)
    assert (mean, (low + high) / 2) == pytest.approx((np.mean(values), np.mean(values)), rel=1e-12)
    assert (high - low) / 2 == pytest.approx(half, rel=1e-4)


def test_one_repetition_has_a_mean_and_no_interval():
    mean, low, high = mean_interval([5.0])
    assert mean == 5.0 and np.isnan(low) and np.isnan(high)


def in_random_order(similarity, oracle, rng):
    return node_ordering(similarity, oracle, order="random", rng=rng)


@pytest.mark.parametrize("model", [dist1(0.3), dist2(0.2)], ids=lambda model: model.name)
def test_simulated_questions_have_the_exact_mean(model):
    orderings, runs = {"node": in_random_order, "edge": edge_ordering}, 4000
    counts = pd.DataFrame(repeat(simulated_queries, runs, model=model, sizes=[4, 3, 1], orderings=orderings, rng=3))
    exact = pd.Series({name: expected_queries(model, [4, 3, 1], name) for name in orderings})
    assert ((counts.mean() - exact).abs() <= 4.5 * counts.std() / runs**0.5).all()


@pytest.mark.parametrize("seed", range(20))
def test_simulated_questions_are_those_of_the_plain_orderings_about_the_drawn_data(seed):
    sizes, model = [5, 3, 2, 1], dist1(0.3)
    data = synthetic(sizes, model, rng=seed)
    w, crowd, no_ties = data.similarity, Truth(data.labels), np.zeros((data.n, data.n))
    by_size = np.argsort(-(w.sum(axis=1) - np.diag(w)))
    asked = {"edge": edge_questions(w, no_ties, crowd), "node": node_questions(w, no_ties, crowd, by_size)}
    assert simulated_queries(model, sizes, rng=seed) == {name: len(pairs) for name, pairs in asked.items()}


LABELS = [0, 1, 0, 1, 1]
FALLING = [0.1, 0.9, 0.2, 0.15, 0.3, 0.8, 0.7, 0.25, 0.05, 0.6]  # of (0, 1), (0, 2), ...


def denied(i, j):
    """Right about all pairs but records 1 and 3."""
    return LABELS[i] == LABELS[j] and {i, j} != {1, 3}


def test_a_replay_counts_answers_and_compares_clusters_after_each():
    """Asked about in turn: (0, 2), (1, 3), (1, 4), (3, 4), ...; records 1 and 3 are told apart, then 1 and 4 joined."""
    found = replay(EdgeOrdering(FALLING, rng=1), denied, LABELS)
    # 0 and 2 are one of four matches; then nothing; then two of four; that 3 and 4 differ is known by then.
    assert found["answers"].tolist() == list(range(len(found))) and found["recall"][:4].tolist() == [0, 0.25, 0.25, 0.5]
    assert (found["precision"] == 1).all() and found["F1"][:4].tolist() == [0, 0.4, 0.4, pytest.approx(2 / 3)]
    joins = replay(EdgeOrdering(FALLING, rng=1), lambda i, j: True, LABELS).iloc[-1]
    assert joins[["recall", "precision"]].tolist() == [1, 0.4] and joins["F1"] == pytest.approx(4 / 7)


def test_a_replay_goes_on_from_where_an_ordering_is_and_ends_with_the_budget():
    ordering = EdgeOrdering(FALLING, rng=1)
    ordering.tell(ordering.ask(), True)
    assert replay(ordering, Truth(LABELS), LABELS, budget=1)["recall"].tolist() == [0.25, 0.5]
    assert ordering.resolution.n_queries == 2  # nobody is asked for an answer that is left out


def test_a_replay_of_an_ordering_that_revises_ends_at_the_truth():
    found = replay(NoisyOrdering(FALLING, rng=1), Truth(LABELS), LABELS)
    assert found["F1"].iloc[0] == 0 and found["F1"].iloc[-1] == 1 and found["answers"].is_monotonic_increasing


def test_a_replay_of_a_function_counts_what_it_asks_between_two_clusterings():
    def three_then_two(oracle):
        for answers, clusters in ((0, "abcde"), (3, "abacd"), (2, "abaab")):
            [oracle(0, 1) for _ in range(answers)]
            yield list(clusters)

    found = replay(three_then_two, Truth(LABELS), LABELS)
    assert found["answers"].tolist() == [0, 3, 5] and found["recall"].tolist() == [0, 0.25, 0.5]
    assert found["precision"].tolist() == [1, 1, 0.5]
    assert replay(three_then_two, Truth(LABELS), LABELS, budget=4)["answers"].tolist() == [0, 3]
    with pytest.raises(ValueError, match="an entry for each of the 6 records"):
        replay(three_then_two, Truth(LABELS), [*LABELS, 2])


def test_where_nothing_matches_all_is_found():
    assert (
        replay(EdgeOrdering([0.5], rng=1), Truth([0, 1]), [0, 1])[["recall", "F1"]].to_numpy().tolist() == [[1, 1]] * 2
    )
