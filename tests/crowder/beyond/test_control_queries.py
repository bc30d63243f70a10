"""Control queries: exact with a perfect crowd at a stated price, expanders inside clusters, and what errors then do."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder.beyond.control_queries import ControlQueries


def drawn(n, seed):
    """A similarity that is independent of the labels."""
    return np.random.default_rng(seed).random(n * (n - 1) // 2)


def separated(labels, seed):
    """A similarity at which every match comes before every non-match."""
    i, j = np.triu_indices(len(labels), 1)
    return (np.asarray(labels)[i] == np.asarray(labels)[j]) * 0.5 + drawn(len(labels), seed) / 2


def as_lists(clusters):
    return cr.Resolution([], [], clusters).clusters.tolist()


def f1(clusters, labels):
    i, j = np.triu_indices(len(labels), 1)
    found, true = clusters[i] == clusters[j], labels[i] == labels[j]
    return 2 * (found & true).sum() / (found.sum() + true.sum())


def demand(a, b, beta):
    """The answers that the class promises between clusters of these sizes, from its docstring."""
    return max(1, min(math.ceil(beta * math.log2(a + b) * min(a, b)), a * b))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=14), st.sampled_from([0, 0.5, 1, 3]),
       st.sampled_from([0.5, 0.95]), st.sampled_from([1, 2]), st.integers(0, 2**32))  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_a_perfect_crowd_gives_the_truth_and_no_pair_is_asked_too_often(labels, beta, confidence, votes, seed):
    strategy = ControlQueries(drawn(len(labels), seed), beta=beta, confidence=confidence, votes=votes, rng=seed)
    assert as_lists(strategy.run(cr.Truth(labels))) == as_lists(labels)
    times = np.unique([sorted(answer[:2]) for answer in strategy.answers], axis=0, return_counts=True)[1]
    assert times.max(initial=0) <= votes and strategy.n_answers == times.sum()


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_without_control_queries_it_is_edge_ordering(labels, seed):
    """beta = 0 joins after one answer and confidence ½ separates after one, so each question is edge ordering's."""
    similarity = drawn(len(labels), seed)
    strategy = ControlQueries(similarity, beta=0, confidence=0.5, rng=seed)
    strategy.run(cr.Truth(labels))
    run = cr.EdgeOrdering(similarity, rng=seed).run(cr.Truth(labels))
    assert [list(answer[:2]) for answer in strategy.answers] == run.queries.tolist()


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_what_control_queries_cost_a_perfect_crowd(beta):
    """Every match comes first, so each join starts without answers, and the joins are Kruskal's. Two clusters are
    told apart by the fewest noes that reach the confidence, or by as many as would have joined them."""
    labels = np.repeat(np.arange(6), [20, 12, 6, 3, 1, 1])
    similarity = separated(labels, 1)
    strategy = ControlQueries(similarity, beta=beta, errors=(0.05, 0.2), confidence=0.99, rng=1)
    strategy.run(cr.Truth(labels))
    cluster, joins = {v: {v} for v in range(len(labels))}, 0
    for at in np.argsort(-similarity):
        i, j = (int(side[at]) for side in np.triu_indices(len(labels), 1))
        if labels[i] == labels[j] and cluster[i] is not cluster[j]:
            joins += demand(len(cluster[i]), len(cluster[j]), beta)
            joined = cluster[i] | cluster[j]
            cluster.update(dict.fromkeys(joined, joined))
    sizes = np.bincount(labels).tolist()
    noes = math.ceil(math.log(0.99 / 0.01) / math.log(0.95 / 0.2))
    yes = sum(same for _, _, same, _ in strategy.answers)
    assert strategy.n_answers - yes == sum(min(noes, demand(a, b, beta)) for a, b in combinations(sizes, 2))
    # Revisits add at most the degree that is promised to each record. Most records have it from the joins.
    assert joins <= yes <= joins + sum(size * math.ceil(beta * math.log2(size)) for size in sizes)
    # Halving again and again is the dearest way to join a cluster: log2(size) levels of size/2 records on the smaller
    # side, with at most beta log2(size) answers for each, rounded up once for each join.
    assert joins <= sum(size / 2 * math.log2(size) * beta * math.log2(size) + size - 1 for size in sizes)


@given(st.integers(0, 2**32), st.sampled_from([0.5, 1, 2]))
@settings(max_examples=20, deadline=None)
def test_at_the_end_every_record_has_the_promised_degree_and_fits_in_its_cluster(seed, beta):
    labels = np.repeat(np.arange(4), [12, 8, 3, 1])
    crowd = cr.Faulty(cr.Truth(labels), 0.15, rng=seed, persistent=True)
    strategy = ControlQueries(drawn(24, seed), beta=beta, errors=(0.15, 0.15), rng=seed)
    clusters = strategy.run(crowd)
    within = np.zeros((24, 2), int)
    for i, j, same, _ in strategy.answers:
        if clusters[i] == clusters[j]:
            within[[i, j], int(same)] += 1
    size = np.bincount(clusters)[clusters]
    promised = np.minimum(size - 1, np.ceil(beta * np.log2(size) - 1e-9))
    assert (within.sum(axis=1) >= promised).all()
    assert (within[:, 1] >= within[:, 0]).all()  # both rates are equal, so evidence is the number of yes minus no


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_the_sums_between_clusters_are_those_of_the_answers(seed):
    """They are updated with every answer, join and departure; here they are summed again. Unsure answers count, since
    they were asked for, but are no evidence."""
    labels = np.repeat(np.arange(3), [8, 6, 2])
    faulty = cr.Faulty(cr.Truth(labels), 0.25, rng=seed)

    class Crowd:
        def vote(self, i, j, number):
            return None if (i + j + number) % 7 == 0 else faulty.vote(i, j, number)

    strategy = ControlQueries(drawn(16, seed), errors=(0.2, 0.3), votes=2, rng=seed)
    strategy.run(Crowd())
    worth = {True: math.log(0.7 / 0.2), False: math.log(0.3 / 0.8), None: 0.0}
    count, evidence = np.zeros((16, 16)), np.zeros((16, 16))
    for i, j, same, _ in strategy.answers:
        for a, b in (strategy._sums.label[[i, j]], strategy._sums.label[[j, i]]):
            count[a, b] += 1
            evidence[a, b] += worth[same]
    between = ~np.eye(16, dtype=bool)
    assert (strategy._sums.count == count)[between].all()
    assert np.allclose(strategy._sums.evidence[between], evidence[between])


def test_a_control_query_is_about_any_pair_between_the_clusters():
    """Clusters of two and four records without an answer between them: each of the eight pairs is drawn in an eighth of
    800 cases, 100, and 4 standard errors are 37. Of the smaller
    cluster, only records with the fewest answers are drawn."""
    strategy = ControlQueries([0.5] * 15, rng=1)
    for a, b in [(0, 1), (2, 3), (2, 4), (2, 5)]:
        strategy._sums.join(a, b)
    pairs = [strategy._control(2, 0) for _ in range(800)]
    assert all(63 <= pairs.count((i, j)) <= 137 for i in (0, 1) for j in (2, 3, 4, 5))
    strategy.learn((4, 0), None)
    assert {strategy._control(0, 2) for _ in range(100)} == {(1, j) for j in (2, 3, 4, 5)}  # 1 has fewer answers


def test_the_questions_inside_a_cluster_form_an_expander():
    """Cheeger: a cut with s records on its smaller side has at least s λ/2 edges, λ the second eigenvalue of the
    Laplacian. The spanning tree of edge ordering has cuts of one edge with many records on both sides."""
    similarity = drawn(64, 3)
    strategy = ControlQueries(similarity, beta=2, rng=3)
    strategy.run(cr.Truth([0] * 64))
    run = cr.EdgeOrdering(similarity, rng=3).run(cr.Truth([0] * 64))

    def second(pairs):
        laplacian = np.zeros((64, 64))
        for i, j in pairs:
            laplacian[[i, j], [j, i]] -= 1
            laplacian[[i, j], [i, j]] += 1
        return np.linalg.eigvalsh(laplacian)[1]

    assert second(run.queries.tolist()) / 2 < 0.05
    assert second([answer[:2] for answer in strategy.answers]) / 2 > 2  # each cut has more than two answers a record


@pytest.mark.parametrize(("error", "least", "beta"), [(0.1, 0.98, 2), (0.2, 0.95, 4)])
def test_with_random_errors_large_clusters_survive_and_those_of_edge_ordering_do_not(error, least, beta):
    """Errors that stay with the pair; similarities that say nothing."""
    labels = np.repeat(np.arange(4), 30)
    ours, edges = [], []
    for seed in range(5):
        similarity = drawn(120, seed)
        crowd = cr.Faulty(cr.Truth(labels), error, rng=seed, persistent=True)
        strategy = ControlQueries(similarity, beta=beta, errors=(error, error), confidence=0.99, rng=seed)
        ours.append(f1(strategy.run(crowd), labels))
        edges.append(f1(cr.edge_ordering(similarity, crowd, rng=seed).clusters, labels))
        assert strategy.n_answers < 7140  # all pairs
    assert np.mean(ours) > least and np.mean(edges) < 0.5


def test_a_wrong_join_is_undone():
    """The first answer joins records 0 and 1 wrongly. Edge ordering never looks at it again."""
    labels = np.array([0, 1, 0, 0, 0, 0, 1, 1])

    def crowd(i, j):
        return bool(labels[i] == labels[j]) or {i, j} == {0, 1}

    similarity = separated(labels, 5)
    similarity[0] = 1.0
    assert f1(cr.edge_ordering(similarity, crowd, rng=1).clusters, labels) < 1
    assert f1(ControlQueries(similarity, rng=1).run(crowd), labels) == 1


def test_a_budget_stops_a_run_that_can_be_continued():
    labels = np.repeat(np.arange(3), [6, 3, 1])
    whole, parts = (ControlQueries(drawn(10, 2), rng=2) for _ in range(2))
    whole.run(cr.Truth(labels))
    parts.run(cr.Truth(labels), budget=7)
    assert parts.n_answers == 7 and parts.clusters.shape == (10,)
    parts.run(cr.Truth(labels))
    assert parts.answers == whole.answers


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_ask(n):
    strategy = ControlQueries(np.zeros((n, n)), rng=1)
    assert strategy.ask() is None and strategy.clusters.tolist() == [0] * n


def test_answers_are_told_once_and_only_about_the_open_question():
    strategy = ControlQueries([0.9, 0.5, 0.4], rng=1)
    with pytest.raises(ValueError, match="no question is open"):
        strategy.tell((0, 1), True)
    assert strategy.ask() == strategy.ask() == (0, 1)
    for wrong in ((0, 2), None, 3):
        with pytest.raises(ValueError, match=r"the open question is \(0, 1\)"):
            strategy.tell(wrong, True)
    with pytest.raises(TypeError, match=r"the answer to \(0, 1\) must be True, False or None"):
        strategy.tell((0, 1), "yes")
    strategy.tell((1, 0), True)
    assert strategy.answers == [(0, 1, True, None)]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"beta": -1}, "beta must be a number of at least 0"),
        ({"beta": math.nan}, "beta must be a number of at least 0"),
        ({"errors": (0, 0.2)}, "errors must be two probabilities between 0 and 0.5"),
        ({"errors": 0.1}, "errors must be two probabilities"),
        ({"confidence": 1}, "confidence must be in"),
        ({"votes": 0}, "votes must be at least 1"),
        ({"rng": None}, "pass rng="),
    ],
)
def test_wrong_settings_are_named(wrong, error):
    with pytest.raises(ValueError, match=error):
        ControlQueries([0.5, 0.4, 0.3], **({"rng": 1} | wrong))
