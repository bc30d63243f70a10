"""Recall and the ideal run."""

import copy
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import clusterings
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr


@st.composite
def answered(draw):
    """Pairs of a few records, answers, right or wrong, and the records' labels."""
    labels = draw(st.lists(st.integers(0, 3), min_size=0, max_size=10))
    pairs = list(permutations(range(len(labels)), 2))
    pairs = draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    return pairs, draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), labels


def by_counting(queries, answers, labels):
    """Recall and precision after each question: pairs that match, and that are in one component, counted one by one."""
    parts, pairs, found = DisjointSet(range(len(labels))), list(combinations(range(len(labels)), 2)), []
    for (i, j), same in [((0, 0), False), *zip(queries, answers, strict=True)]:
        if same:
            parts.merge(i, j)
        match, joined = ({p for p in pairs if at[p[0]] == at[p[1]]} for at in (labels, parts))
        found.append([len(match & joined) / len(every) if every else 1.0 for every in (match, joined)])
    return np.transpose(found)


@given(answered())
@settings(max_examples=100, deadline=None)
def test_recall_and_precision_count_pairs_inside_components(run):
    """Also when the answers are wrong: any list of pairs and answers will do."""
    pairs, answers, labels = run
    recall, precision = by_counting(*run)
    got = cr.Resolution(pairs, answers, np.zeros(len(labels), int))
    assert got.recall(labels) == pytest.approx(recall) and got.precision(labels) == pytest.approx(precision)


def made():
    """One of every kind of result and data, and the arrays that it was made of."""
    pairs, share, after, clusters = np.array([[0, 2]]), np.array([0.1]), np.array([1]), np.array([0, 0, 1])
    values, votes, asked = np.array([0.9, 0.1, 0.2]), np.array([[1.0], [0], [0]]), (pairs, np.array([True]), clusters)
    found = [
        cr.Resolution(*asked), cr.beyond.Stopped(*asked, declared=pairs, chance=share), cr.beyond.Audited(*asked),
        cr.beyond.Placed(*asked, accepted=pairs, after=after), cr.Truth(clusters),
        cr.beyond.Resolved(clusters, share, cr.beyond.ErrorRates(0.1, 0.1)),
        cr.datasets.Dataset("three", values, clusters), cr.crowds.Crowd("three", values, clusters, votes=votes),
    ]  # fmt: skip
    return found, (*asked, share, after, values, votes)


@pytest.mark.parametrize("copied", [lambda run: run, copy.deepcopy])
def test_no_array_of_a_result_can_be_changed(copied):
    """Compiled code takes its records for places in memory, checked when it was made: a later change would crash."""
    found, given = made()
    for run in found:
        run = copied(run) if isinstance(run, cr.Resolution) else run
        arrays = [value for value in vars(run).values() if isinstance(value, np.ndarray)]
        assert arrays and not any(array.flags.writeable for array in arrays), run
        assert not any(np.shares_memory(array, other) for array in arrays for other in given), run


@pytest.mark.parametrize("labels", [(0,), (0, 0, 0), (0, 1, 2), (0, 0, 1, 1, 1), (2, 0, 0, 1, 0, 1)])
def test_the_ideal_recall_is_the_best_that_so_many_matches_can_do(labels):
    """q matches leave n - q parts, none across clusters: of all such partitions, the one that joins the most pairs."""
    n = len(labels)
    matching = [p for p in combinations(range(n), 2) if labels[p[0]] == labels[p[1]]]
    most = [0] * n
    for parts in clusterings(n):
        joined = [p for p in combinations(range(n), 2) if parts[p[0]] == parts[p[1]]]
        if set(joined) <= set(matching):
            q = n - len(set(parts))
            most[q] = max(most[q], len(joined))
    curve = [found / len(matching) if matching else 1.0 for found in most[: n - len(set(labels)) + 1]]
    k = len(set(labels))
    assert cr.ideal_recall(labels) == pytest.approx(curve + [1.0] * (k * (k - 1) // 2))
