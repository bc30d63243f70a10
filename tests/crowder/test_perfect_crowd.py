"""Counts against a perfect crowd are those of the orderings themselves, which log every question."""

import numpy as np
import pytest
from instances import SEEDS, complete, instances, law
from scipy import sparse

import crowder as cr
from crowder.perfect_crowd import edge_questions, node_questions


@law(instances(whole=True), SEEDS, usual=150, night=10_000)
def test_counts_are_those_of_complete_runs(instance, seed):
    """Ties of every kind, values at the edges of bins, single clusters and single records among them."""
    values, labels = complete(instance).values, instance.labels
    crowd = cr.Truth(labels)
    for ties in ("random", "index"):
        priority = np.random.default_rng(seed).random(len(values)) if ties == "random" else ties
        run = cr.edge_ordering(values, crowd, ties=priority)
        assert edge_questions(values, labels, rng=seed, ties=ties) == run.n_queries
        for order in ("random", "expected-size", instance.arrivals):
            run = cr.node_ordering(values, crowd, rng=seed, ties=ties, order=order)
            assert node_questions(values, labels, rng=seed, ties=ties, order=order) == run.n_queries


@pytest.mark.parametrize("model", [cr.dist1(0.05), cr.dist2(0.05), cr.uniform()], ids=["dist1", "dist2", "noise"])
@pytest.mark.parametrize("discretize", [None, "round"])
def test_counts_of_a_few_hundred_records(model, discretize):
    """Many pieces of the pairs: informative similarities end in the first, noise in the last."""
    data = cr.datasets.synthetic([80, 40, 40, 20, 20, 1], model, rng=3, discretize=discretize, shuffle=True)
    crowd = cr.Truth(data.labels)
    priority = np.random.default_rng(4).random(len(data.condensed))
    edge = cr.edge_ordering(data.similarity, crowd, ties=priority).n_queries
    node = cr.node_ordering(data.similarity, crowd, rng=4).n_queries
    assert edge_questions(data.similarity, data.labels, rng=4) == edge
    assert node_questions(data.similarity, data.labels, rng=4) == node


def test_the_generator_is_left_as_the_orderings_leave_it():
    """So a count can take the place of a run in the middle of an experiment."""
    data = cr.datasets.synthetic([4, 3], cr.dist1(0.2), rng=1)
    crowd, one, two = cr.Truth(data.labels), np.random.default_rng(5), np.random.default_rng(5)
    cr.edge_ordering(data.similarity, crowd, rng=one), cr.node_ordering(data.similarity, crowd, rng=one)
    edge_questions(data.similarity, data.labels, rng=two), node_questions(data.similarity, data.labels, rng=two)
    assert one.random() == two.random()


def test_counts_by_hand():
    """One cluster of three: two matches. Three clusters: every pair. One record, or none: nothing to ask."""
    for count in (edge_questions, node_questions):
        assert count([0.9, 0.5, 0.1], [7, 7, 7], rng=1) == 2
        assert count([0.9, 0.5, 0.1], list("abc"), rng=1) == 3
        assert count(np.zeros((1, 1)), [0], rng=1) == 0
        assert count(np.zeros((0, 0)), [], rng=1) == 0


def test_what_cannot_be_counted():
    similarity = sparse.coo_array(([0.5], ([0], [1])), shape=(3, 3))
    for count in (edge_questions, node_questions):
        with pytest.raises(ValueError, match="similarity"):
            count(similarity, [0, 0, 1], rng=1)
        with pytest.raises(ValueError, match="labels"):
            count([0.5], [0, 0, 1], rng=1)
        with pytest.raises(ValueError, match="ties"):
            count([0.5], [0, 0], rng=1, ties="first")
        with pytest.raises(ValueError, match=r"rng|seed"):
            count([0.5], [0, 0])
