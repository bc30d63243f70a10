"""The errata: one statement has one verdict; and their small instances, recomputed from the printed words in fractions.

Those whose counterexample needs more than that are guarded where their subject is: test_bounds, test_voting.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from in_fractions import connected, integral, node_questions, orders, questions_by_evidence, steps
from naive import clusterings, splits

import crowder as cr
from book.reports.ledger import STATUSES, read_declared
from crowder.counting.bounds import certain_mass, prob_fully_determined
from crowder.counting.evidence import product_tv
from crowder.counting.small_cases import orders_by_questions

F = Fraction
QUARTER, THIRD = F(1, 4), F(1, 3)
CLAIMS = read_declared(Path(__file__).resolve().parents[2])
ERRATA = [claim for name, claim in CLAIMS.items() if name[0] == "E"]
AMENDED = [claim for name, claim in CLAIMS.items() if name[0] != "B" and claim["corrected"]]
TABLE1 = [200] * 2 + [100] * 4 + [50] * 8  # Datasets (i), the first three entries


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda claim: claim["id"])
def test_one_statement_has_one_status(erratum):
    """No erratum has the place of a claim of the paper: an amended claim is itself an erratum."""
    assert erratum["about"] and erratum["corrected"]
    assert erratum["place"] not in [claim["place"] for name, claim in CLAIMS.items() if name[0] == "C"]


@pytest.mark.parametrize("claim", AMENDED, ids=lambda claim: claim["id"])
def test_slips_refute_nothing(claim):
    assert (claim["kind"] == "misprint") == (claim["status"] == "misprint")
    assert claim["status"] != "refuted" or claim["kind"] == "result"


def test_the_sorting_of_the_amended_claims():
    """What is false, what lacks a condition, and what is only misprinted."""
    found = {status: [claim["id"] for claim in AMENDED if claim["status"] == status] for status in STATUSES}
    assert found["refuted"] == ["C07", "C09", "C10", "C14", "C19", "E03"]
    assert [name for name in found["misprint"] if name[0] == "C"] == ["C25", "C26", "C29"]
    assert [name for name in found["holds with a caveat"] if name[0] == "C"] == [
        "C06", "C12", "C15", "C16", "C23", "C27", "C33",
    ]  # fmt: skip


def sorted_three(model):
    """Records 0 and 1 match, 2 does not: expected questions when sorted, chance that a red pair wins the last race of a
    record that matches, chance that 0 comes before 2."""
    pairs, asked, race, lost, before = [(0, 1), (0, 2), (1, 2)], 0, 0, 0, 0
    for order, chance in orders(model, "grr").items():
        top = pairs[order[0]]  # its two records have the largest sums
        count, _ = node_questions("aab", [pairs[i] for i in order], [*top, 3 - sum(top)])
        asked += chance * count
        race += chance * (order[0] != 0)
        lost += chance * (count == 3)
        before += chance * (order.index(0) < order.index(2))
    return asked, lost / race, before


def test_three_records_sorted_by_expected_size():
    """E03: 7/17 is more than L(1) = 3/8; 5/8 is more than a coin; 71/32 is less than 9/4 in random order."""
    model = cr.dist1(QUARTER)
    assert sorted_three(model) == (F(71, 32), F(7, 17), F(5, 8))
    assert integral(model, 1) == F(3, 8) == 1 - F(5, 8)
    assert cr.expected_queries_exact(model, [2, 1], "node") == F(9, 4)
    for other in (cr.dist1(F(1, 10)), cr.dist2(THIRD)):
        assert sorted_three(other)[2] == 1 - integral(other, 1) > F(1, 2)


def test_the_sum_in_place_of_the_minimum():
    """C07: three records have three pairs; two clusters of 30 prove themselves nearly always, Dist-2 with ε = 1/3."""
    assert 4 / cr.dist1(0.01).hellinger2 > 1000 * comb(3, 2)
    model = cr.dist2(THIRD)
    assert certain_mass(model) == pytest.approx((0.5, 0.5))
    left_open = 1 - connected(30, F(1, 2))[30] ** 2 * (1 - F(1, 2) ** 900)
    assert comb(60, 2) * left_open < F(1, 1000)
    assert prob_fully_determined(model, [30, 30]) == pytest.approx(float(1 - left_open), abs=1e-12)


def certificate(labels, known=False):
    """The least number of true answers that leave one clustering possible, over all sets of questions."""
    worlds = {parts for parts in clusterings(len(labels)) if not known or len({*parts}) == len({*labels})}
    agree = [{parts for parts in worlds if (parts[u] == parts[v]) == (labels[u] == labels[v])}
             for u, v in combinations(range(len(labels)), 2)]  # fmt: skip
    sizes = (size for size in range(len(agree) + 1) for some in combinations(agree, size)
             if len(worlds.intersection(*some)) == 1)  # fmt: skip
    return next(sizes)


@pytest.mark.parametrize("labels", ["a", "aa", "ab", "aab", "abc", "aabb", "aaab", "abcd"])
def test_what_the_answers_alone_must_settle(labels):
    """C07, corrected: n - k + C(k, 2) when k is not told, n - k when it is (k ≥ 2)."""
    n, k = len(labels), len(set(labels))
    assert certificate(labels) == n - k + comb(k, 2) == cr.ideal_queries(list(Counter(labels).values()))
    if k > 1:
        assert certificate(labels, known=True) == n - k


def test_two_clusters_of_200_records_need_no_question():
    """C06: the union bound over all other clusterings; and where the proof does apply, TV stays under 1/√2."""
    assert sum(comb(200, j) * F(9, 10) ** (j * (200 - j)) for j in range(1, 200)) / 2 < F(1, 10**6)
    for model in (*map(cr.dist1, (0.05, 0.2, 0.45)), *map(cr.dist2, (0.02, 0.1))):
        assert product_tv(model, int(1 / (8 * model.hellinger2))) <= 1 / sqrt(2)


def test_the_factor_for_dist1_vanishes_and_the_questions_do_not():
    """C16: three questions at least for two clusters of two; 1 - ε in the place of 1 - 2ε is an upper bound."""
    assert cr.expected_queries_exact(cr.dist1(F(49, 100)), [2, 2]) == F(688159635283, 200000000000) > 3
    assert 8 * (1 - 2 * 0.49) * log(2) < 0.12
    for epsilon, t in product((F(1, 20), QUARTER, F(1, 2)), (1, 2, 9)):
        first, second = (1 - epsilon) / ((1 + epsilon) * (t + 1)), (1 - 2 * epsilon) / F(t + 1)
        assert second < first < integral(cr.dist1(epsilon), t) <= (1 - epsilon) / F(t + 1)


def test_edge_over_node_ordering_does_not_grow_like_the_logarithm():
    """C19: from n/k = 10 to 300 the logarithm grows by 2.5, the ratio under Dist-1 by a seventh."""
    model, ratio = cr.dist1(0.25), {}
    for m in (10, 300):
        edge, node = (cr.expected_queries(model, [m, m], ordering) - 2 * m + 2 for ordering in ("edge", "node"))
        ratio[m] = edge / node
    assert 1.05 < ratio[300] / ratio[10] < 1.2 < log(300) / log(10) / 2
    red = [cr.expected_queries(cr.uniform(), [m, m]) - 2 * m + 2 for m in (100, 400)]
    assert 1.35 < red[0] / 100 < red[1] / 400 < 1.4287  # κ = 1.42864


def test_uniform_noise_where_clusters_are_small():
    """C15: one question at k = n, where ln(n/k) = 0; an empty sum above a negative logarithm; nk is enough."""
    assert cr.expected_queries_exact(cr.uniform(), [1, 1]) == 1
    assert sum(1 / (ell - 1) for ell in range(4, 2 + 1)) == 0 > log((2 - 1) / (4 - 2))
    for sizes in (s for n in range(1, 8) for s in splits(n)):
        assert cr.expected_queries_exact(cr.uniform(), sizes) <= sum(sizes) * len(sizes)
    for sizes, s in product(([1] * 9, [2, 1], [50, 3, 1], [200] * 4), (3, 4, 12)):
        n, k = sum(sizes), len(sizes)
        exact = sum(2 * ell / (ell * (ell - 1) + 2) for m in sizes for ell in range(s, m + 1))
        assert exact <= 2 * k * log(1 + n / (k * (s - 2)))


def test_hellinger_distance_does_not_decide():
    """E11: L(1) is 3/8 and 1/8, and edge ordering asks 1327 and 235, at the same distances."""
    low = cr.SimilarityModel.from_steps([0, QUARTER, F(1, 2), 1], green=[0, 2, 1], red=[2, 0, 1])
    top = cr.dist2(THIRD)
    assert [v for m in (low, top) for v in (m.hellinger2, m.total_variation)] == pytest.approx([0.5] * 4)
    assert integral(low, 1) == F(3, 8) and integral(top, 1) == F(1, 8)
    assert cr.expected_queries(low, [20] * 10) > 5 * cr.expected_queries(top, [20] * 10)


def test_all_the_evidence_asks_far_less_than_nk():
    """By the number of similarities above 1/2, Dist-1 with ε = 1/2, ten clusters of 100: nk is no optimum there."""
    data, rng = cr.datasets.synthetic([100] * 10, cr.dist1(0.5), rng=5), np.random.default_rng(5)
    asked = questions_by_evidence(data.similarity, data.labels, rng.permutation(1000))
    assert 1000 - 10 + comb(10, 2) <= asked < 1300 < cr.expected_queries(cr.dist1(0.5), [100] * 10, "node") / 2


def test_the_reduction_from_dist1_to_dist2_needs_many_clusters():
    """E13: two clusters keep two thirds; a thousand keep 0.59, 0.14, 0.015. With one large cluster matches remain."""

    def share(sizes, ordering="edge"):
        return np.divide(*(cr.expected_queries(law, sizes, ordering) for law in (cr.dist2(0.2), cr.dist1(0.2))))

    assert 0.5 < share([400, 400]) == pytest.approx(0.670, abs=5e-4)
    assert 0.5 < share([400, 400], "node") == pytest.approx(0.717, abs=5e-4)
    many = [share([m] * 1000) for m in (5, 12, 80)]
    assert many == pytest.approx([0.589, 0.143, 0.0150], rel=5e-3)
    assert share([10_000] + [1] * 20) > 0.9  # k = o(n), but n - k matches are asked about either way


def test_the_closed_form_for_dist2_begins_at_one():
    """C23, E18: at ε = 1/4, L(0) = 1 against 2/3 and e^(-1/4); L(1) = 2/9 against e^(-1/4)/2, which is a bound."""
    model = cr.dist2(QUARTER)
    assert integral(model, 0) == 1 == cr.L(model, 0) > exp(-0.25) > F(2, 3)
    assert [integral(model, t) for t in (1, 2)] == [F(2, 3) ** 2 / 2, F(2, 3) ** 3 / 3]
    assert integral(model, 1) == F(2, 9)
    for epsilon, s in product((F(1, 40), QUARTER, F(19, 40)), (0, 1, 5, 40)):
        assert integral(cr.dist2(epsilon), s) <= exp(-epsilon * s) / (s + 1) * (1 + 1e-15)


def test_one_variable_with_two_names():
    """E19: to the letter, ∫ (∫_0^r dy) dx = r; what is meant is 1/2, the chance that one of two is the larger."""
    r, x, y = sp.symbols("r x y", positive=True)
    assert sp.integrate(sp.integrate(1, (y, 0, r)), (x, 0, 1)) == r
    assert sp.integrate(sp.integrate(1, (y, 0, x)), (x, 0, 1)) == sp.Rational(1, 2)
    assert cr.L(cr.uniform(), 1) == 0.5
    first = sum(chance for order, chance in orders(cr.dist1(QUARTER), "gggr").items() if order[0] == 3)
    assert first == integral(cr.dist1(QUARTER), 3) == F(159, 1024)


def test_dist1_is_half_of_epsilon_from_uniform():
    """C12: f_g = 1 ∓ ε: half the integral of ε is ε/2. Dist-2 misses a mass of ε."""
    flat = cr.uniform().green
    for epsilon in (F(1, 10), QUARTER, F(2, 5)):
        for model, expected in ((cr.dist1(epsilon), epsilon / 2), (cr.dist2(epsilon), epsilon)):
            for density in (model.green, model.red):
                assert cr.SimilarityModel(density, flat).total_variation == pytest.approx(float(expected), abs=1e-14)


def test_dist1_is_a_pair_of_densities_at_one_half():
    """E22: the first row of Table 1."""
    model = cr.dist1(F(1, 2))
    assert sum(g for *_, g, _ in steps(model)) == sum(r for *_, r in steps(model)) == 1
    assert model.hellinger2 == pytest.approx(1 - sqrt(3 / 4), abs=1e-15)


def test_two_against_one_is_seven_thirds():
    """E24: of the three orders of the pairs' first, two ask two questions, one three; Theorem 2 says 10."""
    assert orders_by_questions("aab") == {2: 4, 3: 2}
    assert cr.expected_queries_exact(cr.uniform(), [2, 1]) == F(7, 3)
    assert cr.edge_bound(cr.uniform(), [2, 1]) == pytest.approx(10)


def test_five_places():
    """E25: three of one entity and two of another; between 4 and 9 questions."""
    assert Counter(cr.datasets.disney().labels.tolist()) == {0: 3, 1: 2}
    counts = orders_by_questions("aaabb")
    assert (min(counts), max(counts)) == (4, 9)


def test_the_first_three_entries_are_1200_records_in_14_clusters():
    """C25: and 1,277, the smallest number in Table 1, is the fewest questions that they allow."""
    assert (sum(TABLE1), len(TABLE1), cr.ideal_queries(TABLE1)) == (1200, 14, 1277)
    assert sum(TABLE1) + 2 * 30 + 2 * 20 == 1300 > 1200


@pytest.mark.parametrize("epsilon", [1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 1 / 20])
def test_edge_ordering_is_higher_in_expectation_under_dist1(epsilon):
    """C27: in all six rows of Table 1, although the first prints 4,460 under 4,475."""
    edge, node = (cr.expected_queries(cr.dist1(epsilon), TABLE1, ordering) for ordering in ("edge", "node"))
    assert edge > node


def test_cora_has_1879_records():
    """C29: 1,764,381 pairs; 1,688 matches and 18,145 pairs of clusters make the fewest questions."""
    cora = cr.datasets.cora()
    sizes = np.unique(cora.labels, return_counts=True)[1]
    assert len(cora.condensed) == comb(1879, 2) == 1764381 != comb(1878, 2) == 1762503
    assert (len(sizes), sizes.max(), (sizes > 1).sum()) == (191, 236, 123)
    assert (1879 - 191, comb(191, 2)) == (1688, 18145) and 1688 < (21099 - 4000) / 2
    assert cr.ideal_queries(sizes) == 19833


def test_recall_within_4000_questions_on_cora():
    """C32: edge ordering is past 0.996, node ordering by expected size is not (Jaccard similarity of words)."""
    cora = cr.datasets.cora()
    truth = cr.Truth(cora.labels)
    edge, node = (order(cora.similarity, truth, rng=1).recall(cora.labels)[4000]
                  for order in (cr.edge_ordering, cr.node_ordering))  # fmt: skip
    assert edge > 0.996 > 0.95 > node
