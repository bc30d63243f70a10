"""Similarities that prove something: against enumeration of all proofs, and against data."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr
from crowder.counting.lower_bounds import certain_mass, expected_undetermined, prob_fully_determined


def test_what_proves_itself_under_the_two_models():
    """Dist-1's densities vanish nowhere. Dist-2's cut an end of width ε off each other, of density 1/(1-ε)."""
    for epsilon in (0.01, 0.2, 0.49):
        assert certain_mass(cr.dist1(epsilon)) == (0, 0)
        assert certain_mass(cr.dist2(epsilon)) == pytest.approx([epsilon / (1 - epsilon)] * 2, rel=1e-12)


def test_both_ends_are_told_apart():
    model = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0, 1, 1.5], red=[2, 2, 0])
    assert certain_mass(model) == pytest.approx((0.75, 0.5))


@pytest.mark.parametrize("sizes", [[1], [3], [2, 2], [3, 1, 1]])
def test_undetermined_records_by_enumeration(sizes):
    """Every pattern of proved matches, weighted; the records without a determined match among the earlier ones."""
    model, p = cr.dist2(0.2), 0.25
    total = 0.0
    for size in sizes:
        pairs = list(combinations(range(size), 2))
        for pattern in product((False, True), repeat=len(pairs)):
            chance = np.prod([p if proved else 1 - p for proved in pattern])
            determined = {v for (_, v), proved in zip(pairs, pattern, strict=True) if proved}
            total += chance * (size - len(determined))
    assert expected_undetermined(model, sizes) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("sizes", [[1], [2, 1], [3], [2, 2], [3, 1]])
def test_the_chance_that_all_is_proved_by_enumeration(sizes):
    """Every pattern of pairs that prove themselves: each cluster connected, each two kept apart."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    pairs = list(combinations(range(len(labels)), 2))
    model = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0, 2, 1], red=[0.4, 3.6, 0])
    p, q = 0.5, 0.1
    total = 0.0
    for pattern in product((False, True), repeat=len(pairs)):
        chance, parts, apart = 1.0, DisjointSet(range(len(labels))), set()
        for (u, v), proved in zip(pairs, pattern, strict=True):
            same = labels[u] == labels[v]
            chance *= (p if same else q) if proved else (1 - p if same else 1 - q)
            if proved and same:
                parts.merge(u, v)
            elif proved:
                apart.add((labels[u], labels[v]))
        total += chance * (parts.n_subsets == len(sizes) and len(apart) == len(sizes) * (len(sizes) - 1) // 2)
    assert prob_fully_determined(model, sizes) == pytest.approx(total, rel=1e-10)


def test_the_ends_of_the_scale():
    apart = cr.SimilarityModel.from_steps([0, 0.5, 1], green=[0, 2], red=[2, 0])
    assert prob_fully_determined(apart, [3, 2]) == 1 and prob_fully_determined(apart, []) == 1
    assert expected_undetermined(apart, [3, 2]) == 2  # one a cluster: the first
    assert prob_fully_determined(cr.dist1(0.3), [2, 1]) == 0 and expected_undetermined(cr.dist1(0.3), [2, 1]) == 3
    with pytest.raises(ValueError, match="positive integers"):
        expected_undetermined(apart, [2, 0])


def test_questions_about_undetermined_records_do_not_grow_with_n():
    """At most k questions for each, k/p such records at most: k²/p, however many records there are."""
    model, p, k = cr.dist2(0.2), 0.25, 3
    assert k * expected_undetermined(model, [10**6] * k) <= k * k / p * (1 + 1e-12)
    rng, runs, asked = np.random.default_rng(5), 40, []
    for _ in range(runs):
        data = cr.datasets.synthetic([60] * k, model, rng=rng, shuffle=True)
        proof = model.red.pdf(data.similarity) == 0
        first = [v for v in range(data.n) if not proof[v, :v].any()]
        known, questions = [], 0
        for v in first:
            label = int(data.labels[v])
            questions += known.index(label) + 1 if label in known else len(known)
            known += [label] if label not in known else []
        asked.append((len(first), questions))
    without, questions = np.array(asked).T
    # 3 · 4 = 12 records on average; five standard errors allow for chance.
    assert abs(without.mean() - expected_undetermined(model, [60] * k)) < 5 * without.std() / np.sqrt(runs)
    assert (questions <= k * without).all() and questions.mean() < k * k / p
