"""Evidence ordering: asked one by one or run at once, with known and with learned densities, and what it saves."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from reference import Closure

import crowder as cr
from crowder.beyond.evidence import FIRST_UPDATE, FORMS, UNIT, UPDATE_FACTOR, into_steps, learned_densities, log_ratios
from crowder_tool import people

MODELS = {"dist1": cr.dist1(0.3), "dist2": cr.dist2(0.2), "uniform": cr.uniform(), "learned": None}


def test_the_first_questions_by_hand():
    """Dist-1 with ε = ½: ln 3 above one half, -ln 3 below. Records 0 and 1 stand out, whatever the arrivals."""
    similarity = [[1.0, 0.9, 0.1, 0.2], [0.9, 1.0, 0.3, 0.4], [0.1, 0.3, 1.0, 0.2], [0.2, 0.4, 0.2, 1.0]]
    for form in ("auto", "pairs"):
        for seed in range(5):
            ordering = cr.beyond.EvidenceOrdering(similarity, cr.dist1(0.5), form=form, rng=seed)
            assert sorted(ordering.ask()) == [0, 1]
    assert ordering.evidence([0.9, 0.1]).tolist() == pytest.approx([math.log(3), -math.log(3)], abs=1e-6)
    assert (
        cr.beyond.EvidenceOrdering(similarity, cr.dist1(Fraction(1, 2)), rng=4).ask() is not None
    )  # any kind of number
    # Dist-2 with ε = 0.2: below 0.2 surely no match, above 0.8 surely one.
    ordering = cr.beyond.EvidenceOrdering(similarity, cr.dist2(0.2), rng=1)
    assert ordering.evidence([0.1, 0.2, 0.5, 0.8, 1.0]).tolist() == [-65536, 0, 0, 65536, 65536]
    w = np.linspace(0, 1, 101)
    model = cr.SimilarityModel.from_steps([0, 0.3, 1], [0, 10 / 7], [1, 1])
    expected = np.where(w < 0.3, -65536, math.log(10 / 7))  # the steps of a density take their left ends
    assert np.allclose(cr.beyond.EvidenceOrdering(similarity, model, rng=1).evidence(w), expected, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_ties_are_broken_without_bias(form):
    """Without information, sorted clusters cost what shuffled ones cost: 400 runs of each, means within 5 errors.

    A rule that breaks ties by index would find the first cluster of sorted records at once.
    """
    runs, counts = 400, []
    for shuffle in (False, True):
        data = [cr.datasets.synthetic([8, 4, 2], cr.uniform(), rng=s, shuffle=shuffle) for s in range(runs)]
        asked = []
        for seed, drawn in enumerate(data):
            ordering = cr.beyond.EvidenceOrdering(drawn.similarity, cr.uniform(), form=form, rng=seed)
            asked.append(ordering.run(cr.Truth(drawn.labels)).n_queries)
        counts.append(np.array(asked))
    error = math.sqrt(sum(c.var() for c in counts) / runs)
    assert abs(counts[0].mean() - counts[1].mean()) < 5 * error
    assert counts[0].std() > 0


@pytest.mark.parametrize("mistakes", [1, 5])
def test_without_a_model_it_asks_hardly_more_than_the_better_heuristic(mistakes):
    """Similarities of records depend on each other, and sums alone may ask some per cent more than the heuristics; with
    edge ordering in turns, hardly more. Sums over ten tables of invented people."""
    asked = np.zeros(3)
    for seed in range(10):
        table = people([12] * 5 + [4] * 8 + [2] * 10 + [1] * 12, mistakes=mistakes, rng=seed)
        similarity = cr.similarity.compute(table.drop(columns=["id", "label"]), "jaccard-qgrams")
        crowd = cr.Truth(table["label"].factorize()[0])
        for at, kind in enumerate((cr.EdgeOrdering, cr.NodeOrdering, cr.beyond.EvidenceOrdering)):
            asked[at] += kind(similarity, rng=seed).run(crowd).n_queries
    assert asked[2] <= 1.05 * asked[:2].min()


def test_dependent_evidence_is_noticed_on_cora_and_not_among_independent_draws():
    """cora's similarities hang together; what is drawn pair by pair does not. The true clusters come out of both."""
    data = cr.datasets.cora()
    ordering = cr.beyond.EvidenceOrdering(data.similarity, rng=1)
    got = ordering.run(cr.Truth(data.labels))
    assert ordering.dependence > 0.5 and got.recall(data.labels)[-1] == 1
    drawn = cr.datasets.synthetic([60, 40, 20], cr.dist1(0.3), rng=3)
    ordering = cr.beyond.EvidenceOrdering(drawn.similarity, rng=1)
    ordering.run(cr.Truth(drawn.labels))
    assert ordering.dependence < 0.05
    # And the densities of Dist-1 have been found, on either side of one half: ln(1.3/0.7) = 0.62 (the prior counts as
    # 1,000 of the 7,140 pairs, most of which were known at the last update).
    assert ordering.evidence([0.1, 0.9]).tolist() == pytest.approx([-0.62, 0.62], abs=0.2)


def test_what_answers_teach_is_counted_at_each_look_and_stays_until_the_next():
    """After 16 answers, and two in five more each time, the densities are those of all pairs known by then."""
    data = cr.datasets.synthetic([12, 8, 6, 4], cr.dist1(0.4), rng=3, shuffle=True)
    crowd, n = cr.Truth(data.labels), data.n
    ordering = cr.beyond.EvidenceOrdering(data.similarity, rng=1)
    edges, steps, mass = into_steps(data.similarity, data.condensed)
    middles = np.r_[0, edges]  # a step takes its left end
    expected = log_ratios(*learned_densities(0 * mass, 0 * mass, mass)) / UNIT
    looks, look, closure = 0, FIRST_UPDATE, Closure(n)
    while (pair := ordering.ask()) is not None:
        assert ordering.evidence(middles) == pytest.approx(expected, abs=1e-9)
        ordering.tell(pair, crowd(*pair))
        closure.learn(*pair, crowd(*pair))
        if ordering.n_queries == look:
            looks, look = looks + 1, int(look * UPDATE_FACTOR)
            counts = np.zeros((2, len(mass)))
            for i, j in combinations(range(n), 2):
                if closure.knows(i, j):
                    counts[int(closure.same[i] != closure.same[j]), steps[i, j]] += 1
            expected = log_ratios(*learned_densities(*counts, mass)) / UNIT
    assert looks >= 2 and (FIRST_UPDATE, UPDATE_FACTOR) == (16, 1.4)


@pytest.mark.parametrize("seed", range(4))
def test_edge_ordering_and_the_sums_take_turns_by_their_shares_of_matches(seed):
    """Against shares counted from the list of all answers: each of edge ordering weighs 0.9 times as much as the next,
    those of the sums count from the last update on. Edge ordering asks about the most similar pair left."""
    data = cr.datasets.synthetic([12, 8, 6, 4], cr.dist1(0.4), rng=seed, shuffle=True)
    ordering, closure = cr.beyond.EvidenceOrdering(data.condensed, rng=1), Closure(data.n)
    pairs = list(combinations(range(data.n), 2))
    walk = [pairs[at] for at in np.argsort(-data.condensed)]
    by_edge, by_sum, update = [], [], FIRST_UPDATE
    while (pair := ordering.ask()) is not None:
        weights = 0.9 ** np.arange(len(by_edge))[::-1]
        share = (weights @ np.array(by_edge) + 0.5) / (weights.sum() + 0.5)
        edge = share >= (sum(by_sum) + 5) / (len(by_sum) + 10)
        if edge:
            assert pair == next((i, j) for i, j in walk if not closure.knows(i, j))
        else:
            places = ordering._place[list(pair)]
            assert ordering._summed.name[places].tolist() == places.tolist()  # the sums ask about components
        same = bool(data.labels[pair[0]] == data.labels[pair[1]])
        (by_edge if edge else by_sum).append(same)
        closure.learn(*pair, same)
        ordering.tell(pair, same)
        if ordering.n_queries == update:
            by_sum, update = [], int(update * UPDATE_FACTOR)
    assert by_edge and by_sum


def test_as_long_as_all_answers_are_matches_edge_ordering_asks():
    """Its share of matches is 1, and that of the sums, which were never asked, one half."""
    similarity, crowd = np.random.default_rng(2).random(190), cr.Truth([0] * 20)
    runs = cr.beyond.EvidenceOrdering(similarity, rng=1).run(crowd), cr.EdgeOrdering(similarity, rng=1).run(crowd)
    assert np.array_equal(*(np.sort(run.queries, axis=1) for run in runs)) and runs[0].n_queries == 19
