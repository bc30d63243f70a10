"""How long a full resolution takes, in units of one `numpy.argsort` of the same similarities.

Wall-clock times mean little on a shared machine, so contestants take turns and are compared by ratios (see
``conftest.py``). They are both orderings, naive versions of both in pure Python (``tests/support/reference.py``),
and FFQS of scikit-query (Basu, Banerjee and Mooney, 2004). FFQS has another purpose: constraints for a clustering of
points with a known number of clusters. With no limit on its questions it places every record, too.

The sweep `noisy` has no full resolutions: with the answers of a crowd that errs about the ten most similar pairs a
record, it takes the next question of `NoisyOrdering` after one more answer, a clustering of all answers, and `resolve`.

Run by ``make bench``; ``make bench ARGS=--quick`` takes a minute and does not change the book's data.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
from crowder.beyond.clustering import likeliest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
import reference

SEED = 7
MODEL = cr.dist1(0.25)


def pytest_generate_tests(metafunc):
    if "size" in metafunc.fixturenames:
        sizes = SIZES[metafunc.function.__name__]
        metafunc.parametrize("size", sizes[:2] if metafunc.config.getoption("quick") else sizes)


SIZES = {
    "test_plainest": [16, 32, 64, 128],
    "test_peer": [16, 32, 64, 128, 256, 512],
    "test_records": np.geomspace(150, 4800, 7).round().astype(int).tolist(),
    "test_clusters": np.geomspace(2, 2000, 7).round().astype(int).tolist(),
    "test_pairs": [round(10 ** (e / 2)) for e in range(8, 15)],
    "test_noisy": [1000],
}


def drawn(n, k):
    """n records in k clusters as equal as possible, with similarities for all pairs."""
    return cr.datasets.synthetic([n // k + (c < n % k) for c in range(k)], MODEL, rng=SEED)


def banded(pairs):
    """Twenty candidate pairs per record, its neighbours in a list of consecutive clusters of five."""
    reach, size = 10, 5
    n = pairs // reach
    i = np.repeat(np.arange(n), reach)
    j = (i + np.tile(np.arange(1, reach + 1), n)) % n
    labels = np.arange(n) // size
    rng = np.random.default_rng(SEED)
    same = labels[i] == labels[j]
    values = np.where(same, MODEL.green.sample(len(i), rng=rng), MODEL.red.sample(len(i), rng=rng))
    return sparse.coo_array((values, (i, j)), shape=(n, n)), values, labels


def ours(similarity, keys, labels):
    truth = cr.Truth(labels)
    return {
        "argsort": lambda: np.argsort(keys)[:0].size,  # no questions
        "edge": lambda: cr.edge_ordering(similarity, truth, rng=SEED).n_queries,
        "node": lambda: cr.node_ordering(similarity, truth, rng=SEED).n_queries,
    }


def test_cora(turns):
    data = cr.datasets.cora()
    contestants = ours(data.similarity, data.condensed, data.labels)
    turns("cora", contestants, n=data.n, k=len(data.sizes), pairs=len(data.condensed))


def test_plainest(turns, size):
    data = drawn(size, 4)
    contestants = ours(data.similarity, data.condensed, data.labels)
    w, labels = data.similarity.tolist(), data.labels.tolist()
    index = np.arange(size * size).reshape(size, size).tolist()  # breaks ties; there are none
    arrivals = np.argsort(-data.similarity.sum(axis=1)).tolist()

    def crowd(i, j):
        return labels[i] == labels[j]

    contestants["edge, plainest"] = lambda: len(reference.edge_questions(w, index, crowd))
    contestants["node, plainest"] = lambda: len(reference.node_questions(w, index, crowd, arrivals))
    turns("plainest", contestants, n=size, k=4, pairs=len(data.condensed))


def test_peer(turns, size):
    from skquery.oracle import MLCLOracle
    from skquery.pairwise import FFQS

    k = 8
    data = drawn(size, k)
    contestants = ours(data.similarity, data.condensed, data.labels)
    distances, labels = pd.DataFrame(1 - data.similarity), data.labels.tolist()

    def farthest_first():
        np.random.seed(SEED)  # noqa: NPY002 - it draws from the global generator
        crowd = MLCLOracle(budget=size * size, truth=labels)
        chosen = FFQS(distances=distances)
        chosen.fit(data.similarity, crowd, n_clusters=k)
        assert sorted(map(len, chosen.neighborhoods), reverse=True) == data.sizes.tolist()
        return crowd.queries

    turns("peer", contestants | {"FFQS": farthest_first}, n=size, k=k, pairs=len(data.condensed))


def test_records(turns, size):
    data = drawn(size, 20)
    turns("records", ours(data.similarity, data.condensed, data.labels), n=size, k=20, pairs=len(data.condensed))


def test_clusters(turns, size, request):
    n = 500 if request.config.getoption("quick") else 2000
    data = drawn(n, size)
    turns("clusters", ours(data.similarity, data.condensed, data.labels), n=n, k=size, pairs=len(data.condensed))


def test_pairs(turns, size):
    similarity, keys, labels = banded(size)
    turns("pairs", ours(similarity, keys, labels), n=len(labels), k=int(labels[-1]) + 1, pairs=len(keys))


def test_noisy(turns, size):
    data = cr.datasets.synthetic([50] * (size // 50), cr.dist2(0.2), rng=SEED)
    rates, same = cr.ErrorRates(0.01, 0.15), np.equal.outer(data.labels, data.labels)
    wrong = np.random.default_rng(SEED).random((size, size)) < np.where(same, rates.false_no, rates.false_yes)
    i, j = (side[np.argsort(-data.condensed)[: 10 * size]] for side in np.triu_indices(size, 1))
    answers = cr.Answers.read(zip(i.tolist(), j.tolist(), (same ^ wrong)[i, j].tolist(), strict=True))
    ordering, evidence = cr.NoisyOrdering(data.similarity, doubt=0, rng=SEED), np.zeros((size, size))
    ordering.take(answers)  # it goes on, however sure it is
    evidence[tuple(answers.pairs.T)] = evidence[tuple(answers.pairs.T[::-1])] = rates.evidence(answers)

    def next_question():
        ordering.tell(pair := ordering.ask(), bool(same[pair] ^ wrong[pair]))
        return int(ordering.ask() is not None)

    def clustering():
        likeliest(evidence, 0.0, start=np.arange(size), rng=np.random.default_rng(SEED))
        return len(i)

    contestants = {
        "argsort": lambda: np.argsort(data.condensed)[:0].size,
        "next question": next_question,
        "clustering": clustering,
        "resolve": lambda: cr.resolve(answers, data.similarity, rng=SEED).n_answers,
    }
    turns("noisy", contestants, n=size, k=len(data.sizes), pairs=len(data.condensed))


if __name__ == "__main__":
    sys.exit(pytest.main(["-c", str(Path(__file__).with_name("pytest.ini")), __file__, *sys.argv[1:]]))
