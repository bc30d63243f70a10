"""Likelihood ratios: sorted outcomes against enumeration, and the count of evidence ordering against all its runs."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod

import in_fractions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shared import step_models

import crowder as cr
from crowder.counting.likelihood import expected_evidence_queries, log_ratios, prob_wrong_first, product_tv

# --- Evidence and the distance of products -------------------------------------------------------------------------


def distance(model, a, b):
    """By all ways to put a + b similarities on steps."""
    g, r = np.array([(green, red) for *_, green, red in in_fractions.steps(model)], dtype=float).T
    return sum(
        abs(prod(g[s] for s in steps[:a]) * prod(r[s] for s in steps[a:])
            - prod(r[s] for s in steps[:a]) * prod(g[s] for s in steps[a:]))
        for steps in product(range(len(g)), repeat=a + b)
    ) / 2  # fmt: skip


@given(step_models(most=4), st.integers(0, 3), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_the_distance_against_all_outcomes(model, a, b):
    assert product_tv(model, a, b) == pytest.approx(distance(model, a, b), abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 0.49])
def test_closed_forms_for_the_two_models(epsilon):
    """Dist-1: the number above one half, one side turned round. Dist-2: nothing is known only between the ends."""
    for a in (1, 4, 50):
        p, q = (stats.binom.pmf(range(2 * a + 1), 2 * a, (1 + sign * epsilon) / 2) for sign in (1, -1))
        assert product_tv(cr.dist1(epsilon), a) == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-11)
        middle = ((1 - 2 * epsilon) / (1 - epsilon)) ** (2 * a)
        assert product_tv(cr.dist2(epsilon), a) == pytest.approx(1 - middle, abs=1e-11)


def test_steps_of_one_ratio_count_as_one_and_too_many_outcomes_are_refused():
    """Only ratios matter: a model cut into needless steps has as many outcomes as before."""
    cut = cr.SimilarityModel.from_steps([0, 0.1, 0.3, 0.5, 1], green=[0.75] * 3 + [1.25], red=[1.25] * 3 + [0.75])
    assert len(log_ratios(cut, 5)[0]) == 6
    assert product_tv(cut, 3) == pytest.approx(product_tv(cr.dist1(0.25), 3), abs=1e-14)
    many = cr.SimilarityModel.from_steps(np.linspace(0, 1, 7), green=[1.2, 0.8, 1.1, 0.9, 1.3, 0.7], red=[1.0] * 6)
    with pytest.raises(ValueError, match="too many outcomes to list"):
        expected_evidence_queries(many, [200, 200])


# --- The count of evidence ordering --------------------------------------------------------------------------------

THIRD = Fraction(1, 3)
#: Two values of f_g/f_r that do not cancel, 13/6 and 1/2: evidence ties only between equal numbers of equal votes.
UNEVEN = cr.SimilarityModel.from_steps([0, 0.7, 1], [0.5, 13 / 6], [1, 1])

#: A model, the masses of f_g and of f_r on its steps, and their evidence: under Dist-1 with ε = 1/3 a match votes for
#: itself with probability 2/3; under Dist-2 with ε = 1/4 a third of the pairs are proven, and the rest say nothing.
VOTES = {
    "dist1": (cr.dist1(THIRD), (THIRD, 2 * THIRD), (2 * THIRD, THIRD), (-1, 1)),
    "uneven": (UNEVEN, (0.35, 0.65), (0.7, 0.3), (np.log(0.5), np.log(13 / 6))),
    "proofs": (cr.dist2(0.25), (0, 2 * THIRD, THIRD), (THIRD, 2 * THIRD, 0), (-1000, 0, 1000)),
}


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


@pytest.mark.parametrize("name", VOTES)
@pytest.mark.parametrize("labels", [(0, 0), (0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 2)])
def test_few_records_against_all_orders_and_votes(labels, name):
    """Over all arrival orders, and all steps of the similarities."""
    model, green, red, weights = VOTES[name]
    pairs, total = list(combinations(range(len(labels)), 2)), 0
    for steps in product(range(len(weights)), repeat=len(pairs)):
        chance = prod((green if labels[i] == labels[j] else red)[s] for (i, j), s in zip(pairs, steps, strict=True))
        if chance != 0:
            vote = {frozenset(pair): weights[s] for pair, s in zip(pairs, steps, strict=True)}
            total += chance * sum(asked(order, labels, vote) for order in permutations(range(len(labels))))
    mean = float(total / factorial(len(labels)))
    assert expected_evidence_queries(model, np.bincount(labels)) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 0.3, 0.05])
def test_one_record_against_two_equal_clusters(epsilon):
    """With s = t the right cluster is first with probability (1 + TV)/2, TV the distance of the products of densities:
    evidence is the best test, and either cluster is as likely to be the right one."""
    table = prob_wrong_first(cr.dist1(epsilon), 30, 30)
    for m in (1, 2, 7, 30):
        assert 1 - table[m, m] == pytest.approx((1 + product_tv(cr.dist1(epsilon), m)) / 2, abs=1e-12)


@pytest.mark.parametrize("sizes", [[], [500], [1, 1, 1], [5, 3, 1], [40, 7]], ids=str)
def test_without_information_as_node_ordering_and_with_proof_as_the_ideal(sizes):
    """Without information t of s + t candidates are wrong, whatever is compared."""
    apart = cr.SimilarityModel.from_steps([0, 0.5, 1], [0, 2], [2, 0])
    plain = cr.expected_queries(cr.uniform(), sizes, "node")
    assert expected_evidence_queries(cr.uniform(), sizes) == pytest.approx(plain, rel=1e-12)
    assert expected_evidence_queries(apart, sizes) == pytest.approx(cr.ideal_queries(sizes), rel=1e-12)
