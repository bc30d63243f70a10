"""Evidence ordering by records, counted exactly: against enumeration in fractions, and against runs of the ordering."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod

import numpy as np
import pytest

import crowder as cr
from crowder.counting.evidence import expected_evidence_queries, prob_wrong_first
from crowder.counting.lower_bounds import product_tv

THIRD = Fraction(1, 3)
#: Two values of f_g/f_r that do not cancel, 13/6 and 1/2: evidence ties only between equal numbers of equal votes.
UNEVEN = cr.SimilarityModel.from_steps([0, 0.7, 1], [0.5, 13 / 6], [1, 1])


def asked(order, labels, vote):
    """Questions of one run, by the definition: clusters by falling sum of votes, of equals the one founded first."""
    clusters, total = [], 0
    for v in order:
        tried = sorted(clusters, key=lambda members: -round(sum(vote[frozenset((u, v))] for u in members), 9))
        own = next((members for members in tried if labels[members[0]] == labels[v]), None)
        total += len(tried) if own is None else tried.index(own) + 1
        clusters = [*clusters, own := []] if own is None else clusters
        own.append(v)
    return total


def mean_over_everything(labels, green, red, evidence):
    """Over all arrival orders, and all steps of the similarities; `green` and `red` are the masses of the steps."""
    pairs, total = list(combinations(range(len(labels)), 2)), 0
    for steps in product(range(len(evidence)), repeat=len(pairs)):
        chance = prod((green if labels[i] == labels[j] else red)[s] for (i, j), s in zip(pairs, steps, strict=True))
        if chance != 0:
            vote = {frozenset(pair): evidence[s] for pair, s in zip(pairs, steps, strict=True)}
            total += chance * sum(asked(order, labels, vote) for order in permutations(range(len(labels))))
    return total / factorial(len(labels))


@pytest.mark.parametrize("labels", [(0, 0), (0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 2)])
def test_few_records_against_all_orders_and_votes(labels):
    """In fractions: under Dist-1 with ε = 1/3 a match votes for itself with probability 2/3, a non-match with 1/3."""
    mean = mean_over_everything(labels, (2 * THIRD, THIRD), (THIRD, 2 * THIRD), (1, -1))
    sizes = np.bincount(labels).tolist()
    assert isinstance(mean, Fraction)
    assert expected_evidence_queries(cr.dist1(THIRD), sizes) == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("labels", [(0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 1)])
def test_votes_may_weigh_differently(labels):
    mean = mean_over_everything(labels, (0.65, 0.35), (0.3, 0.7), (np.log(13 / 6), np.log(0.5)))
    assert expected_evidence_queries(UNEVEN, np.bincount(labels)) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("labels", [(0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2)])
def test_proofs_outweigh_everything(labels):
    """Dist-2 with ε = 1/4: a third of the matches are proven, and a third of the non-matches; the rest say nothing."""
    mean = mean_over_everything(labels, (0, 2 * THIRD, THIRD), (THIRD, 2 * THIRD, 0), (-1000, 0, 1000))
    assert expected_evidence_queries(cr.dist2(0.25), np.bincount(labels)) == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("model", [cr.dist1(0.5), cr.dist1(0.2), UNEVEN, cr.dist2(0.1)], ids=range(4))
def test_runs_of_the_ordering_have_this_mean(model):
    """The class itself on 400 data sets: within five standard errors of their mean."""
    sizes, counts = [12, 8, 5, 3], []
    for rng in np.random.default_rng(1).spawn(400):
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        run = cr.evidence_ordering(data.condensed, cr.Truth(data.labels), model, form="records", rng=rng)
        counts.append(run.n_queries)
    error = np.std(counts, ddof=1) / np.sqrt(len(counts))
    assert expected_evidence_queries(model, sizes) == pytest.approx(np.mean(counts), abs=5 * error)


@pytest.mark.parametrize("epsilon", [0.5, 0.3, 0.05])
def test_one_record_against_two_equal_clusters(epsilon):
    """With s = t the right cluster is first with probability (1 + TV)/2, TV the distance of the products of densities:
    evidence is the best test, and either cluster is as likely to be the right one."""
    table = prob_wrong_first(cr.dist1(epsilon), 30, 30)
    for m in (1, 2, 7, 30):
        assert 1 - table[m, m] == pytest.approx((1 + product_tv(cr.dist1(epsilon), m)) / 2, abs=1e-12)


def test_without_information_as_node_ordering_and_with_proof_as_the_ideal():
    apart = cr.SimilarityModel.from_steps([0, 0.5, 1], [0, 2], [2, 0])
    for sizes in ([1, 1, 1], [5, 3, 1], [40, 7]):
        assert expected_evidence_queries(cr.uniform(), sizes) == pytest.approx(
            cr.expected_queries(cr.uniform(), sizes, "node"), rel=1e-12
        )  # t of s + t candidates are wrong, whatever is compared
        assert expected_evidence_queries(apart, sizes) == pytest.approx(cr.ideal_queries(sizes), rel=1e-12)
    assert expected_evidence_queries(cr.dist1(0.3), []) == 0
    assert expected_evidence_queries(cr.dist1(0.3), [500]) == 499


def test_too_many_values_are_refused():
    """Six ratios: sums of 200 have more than a thousand million values."""
    many = cr.SimilarityModel.from_steps(np.linspace(0, 1, 7), green=[1.2, 0.8, 1.1, 0.9, 1.3, 0.7], red=[1.0] * 6)
    with pytest.raises(ValueError, match="too many outcomes to list"):
        expected_evidence_queries(many, [200, 200])
