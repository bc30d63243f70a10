"""The lower bound for all algorithms against its loop, and what similarities prove against enumeration and data."""

from itertools import combinations, product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr
from crowder.counting.lower_bounds import certain_mass, expected_undetermined, prob_fully_determined, question_bound

APART = cr.SimilarityModel.from_steps([0, 0.5, 1], green=[0, 2], red=[2, 0])


def plain_bound(h2, n, k, error):
    def doubt(similarities):
        return (1 - sqrt(1 - (1 - h2) ** (2 * similarities))) / 2 - error

    hidden = [m * (k - 2) / 2 * doubt(2 + 2 * (m - 1) / (k - 1)) for m in range(1, n - k + 1)]
    return max(*hidden, (comb(k, 2) - 1) * doubt(2), 0.0)


@given(st.floats(0.001, 0.49), st.integers(3, 40), st.integers(1, 200), st.sampled_from([0, 0.01, 0.2]))
@settings(max_examples=60, deadline=None)
def test_the_bound_is_the_loop_over_hidden_records(epsilon, k, more, error):
    for model in (cr.dist1(epsilon), cr.dist2(epsilon)):
        expected = plain_bound(float(model.hellinger2), k + more, k, error)
        assert question_bound(model, k + more, k, error=error) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_corrected_theorem_is_below_the_bound_that_it_comes_from():
    """min{k²/H², nk}/2025 for 3 ≤ k < n, H² ≤ 1/4 and an error of 1/100."""
    for h2 in np.geomspace(1e-4, 0.25, 9):
        model = cr.dist2(h2 / (1 + h2))
        for k in (3, 4, 17, 100):
            for n in (k + 1, 2 * k - 1, 2 * k, 7 * k, 100 * k):
                assert min(k * k / h2, n * k) / 2025 <= question_bound(model, n, k, error=0.01)


def test_no_bound_where_similarities_or_k_tell_all():
    assert question_bound(APART, 100, 10) == 0
    assert question_bound(cr.uniform(), 10, 10) == question_bound(cr.uniform(), 10, 2) == 0


@pytest.mark.parametrize(("model", "masses"), [
    (cr.dist1(0.3), (0, 0)),  # its densities vanish nowhere
    (cr.dist2(0.2), (0.25, 0.25)),  # an end of width ε each, of density 1/(1-ε)
    (cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0, 1, 1.5], red=[2, 2, 0]), (0.75, 0.5)),
], ids=["dist1", "dist2", "uneven"])  # fmt: skip
def test_both_ends_are_told_apart(model, masses):
    assert certain_mass(model) == pytest.approx(masses, rel=1e-12)


@pytest.mark.parametrize("sizes", [[1], [2, 1], [3], [2, 2], [3, 1], [2, 1, 1]])
def test_what_similarities_prove_by_enumeration(sizes):
    """Every pattern of pairs that prove themselves: each cluster connected and each two kept apart; and the records
    without a determined match among the earlier ones."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    pairs = list(combinations(range(len(labels)), 2))
    model = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0, 2, 1], red=[0.4, 3.6, 0])
    p, q = 0.5, 0.1
    total = without = 0.0
    for pattern in product((False, True), repeat=len(pairs)):
        chance, parts, apart, matched = 1.0, DisjointSet(range(len(labels))), set(), set()
        for (u, v), proved in zip(pairs, pattern, strict=True):
            same = labels[u] == labels[v]
            chance *= (p if same else q) if proved else (1 - p if same else 1 - q)
            if proved and same:
                parts.merge(u, v)
                matched.add(v)
            elif proved:
                apart.add((labels[u], labels[v]))
        total += chance * (parts.n_subsets == len(sizes) and len(apart) == len(sizes) * (len(sizes) - 1) // 2)
        without += chance * (len(labels) - len(matched))
    assert prob_fully_determined(model, sizes) == pytest.approx(total, rel=1e-10)
    assert expected_undetermined(model, sizes) == pytest.approx(without, rel=1e-12)


def test_where_nothing_or_everything_is_proved():
    assert prob_fully_determined(APART, [3, 2]) == 1 and prob_fully_determined(APART, []) == 1
    assert expected_undetermined(APART, [3, 2]) == 2  # one a cluster: the first
    assert prob_fully_determined(cr.dist1(0.3), [2, 1]) == 0 and expected_undetermined(cr.dist1(0.3), [2, 1]) == 3


def test_questions_about_undetermined_records_do_not_grow_with_n():
    """At most k questions for each, k/p such records at most: k²/p, however many records there are."""
    model, p, k = cr.dist2(0.2), 0.25, 3
    assert k * expected_undetermined(model, [10**6] * k) <= k * k / p * (1 + 1e-12)
    rng, runs, found = np.random.default_rng(5), 40, []
    for _ in range(runs):
        data = cr.datasets.synthetic([60] * k, model, rng=rng, shuffle=True)
        proof = model.red.pdf(data.similarity) == 0
        found.append(sum(not proof[v, :v].any() for v in range(data.n)))
    # 3 · 4 = 12 records on average; five standard errors allow for chance.
    assert abs(np.mean(found) - expected_undetermined(model, [60] * k)) < 5 * np.std(found) / np.sqrt(runs)
