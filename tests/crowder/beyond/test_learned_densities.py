"""What the answers teach about the densities: counts, the rising ratio of greatest likelihood, dependence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import DisjointSet
from scipy.optimize import minimize
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.beyond.learned_densities import (
    PRIOR_PAIRS,
    STEPS,
    TILT,
    dependence,
    into_steps,
    known_pairs,
    learned_densities,
    step_of,
)
from crowder.beyond.log_likelihood import SETTLED, absorb, sum_evidence


def told(labels, answers, evidence=None):
    """The sums after truthful answers."""
    n = len(labels)
    summed = sum_evidence(np.zeros((n, n), np.int64) if evidence is None else evidence)
    for i, j in answers:
        absorb(summed, i, j, labels[i] == labels[j])
    return summed


def test_known_pairs_by_hand():
    """0 = 1 ≠ 2: one known match, and two known non-matches, one of them implied. Nothing is known of 3."""
    summed = told([0, 0, 1, 1], [(0, 1), (1, 2)])
    steps = squareform(np.array([0, 1, 2, 1, 2, 2])).astype(np.uint8)  # pairs 01 02 03 12 13 23
    matches, others = known_pairs(summed, steps, 3, SETTLED)
    assert matches.tolist() == [1, 0, 0] and others.tolist() == [0, 2, 0]


def test_before_any_answer_the_ratio_barely_rises():
    """By rank: on the middle of s equal steps it is one; at the ends (1 ∓ TILT)/(1 ± TILT), up to half a step."""
    mass = np.full(101, 1 / 101)
    green, red = learned_densities(np.zeros(101), np.zeros(101), mass)
    assert green[50] / red[50] == pytest.approx(1)
    assert (np.diff(green / red) > 0).all()
    end = TILT * 100 / 101
    assert green[-1] / red[-1] == pytest.approx((1 + end) / (1 - end))
    assert green[0] / red[0] == pytest.approx((1 - end) / (1 + end))


@given(st.lists(st.tuples(*[st.integers(0, 5000)] * 2, st.integers(1, 20)), min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_ratio_is_the_rising_one_of_greatest_likelihood(table):
    """Against a general optimiser: shares of matches p_1 ≤ p_2 ≤ ... that maximise Σ g ln p + r ln(1 - p)."""
    matches, others, mass = np.array(table, dtype=float).T
    mass /= mass.sum()
    green, red = learned_densities(matches, others, mass)
    tilt = TILT * (2 * np.cumsum(mass) - mass - 1)
    g, r = matches + PRIOR_PAIRS * mass * (1 + tilt), others + PRIOR_PAIRS * mass * (1 - tilt)

    def loss(steps):  # logits: a first one, then what each rises by
        logit = np.cumsum(np.concatenate([steps[:1], steps[1:] ** 2]))
        return (g @ np.logaddexp(0, -logit) + r @ np.logaddexp(0, logit)) / (g.sum() + r.sum())

    share = green * g.sum() / (green * g.sum() + red * r.sum())
    assert (np.diff(share) >= -1e-12).all()
    mine = -(g @ np.log(share) + r @ np.log1p(-share)) / (g.sum() + r.sum())
    best = min(minimize(loss, start).fun for start in (np.full(len(g), 0.1), np.full(len(g), 1.0)))
    assert mine <= best + 1e-9
    # Shares become densities: a match is that much likelier on a step than a non-match, by the odds of all pairs.
    assert np.allclose(green / red, share / (1 - share) * r.sum() / g.sum())


def test_many_answers_outweigh_the_prior():
    green, red = learned_densities(np.array([1e8, 3e8]), np.array([5e8, 5e8]), np.array([0.5, 0.5]))
    assert (green / red).tolist() == pytest.approx([0.5, 1.5], rel=1e-4)


@given(st.integers(2, 12), st.sampled_from([1, 3, 1000]), st.data())
@settings(max_examples=100, deadline=None)
def test_steps_hold_every_pair(n, levels, data):
    m = n * (n - 1) // 2
    values = np.array(data.draw(st.lists(st.integers(0, levels), min_size=m, max_size=m)), dtype=float) / levels
    edges, steps, mass = into_steps(squareform(values), values)
    assert len(edges) + 1 == len(mass) <= 2 * STEPS and (mass > 0).all() and mass.sum() == pytest.approx(1)
    upper = steps[np.triu_indices(n, 1)]
    assert np.array_equal(np.bincount(upper, minlength=len(mass)) / m, mass)
    order = np.argsort(values, kind="stable")
    assert (np.diff(upper[order].astype(int)) >= 0).all()  # more similar, never on a lower step
    # Two values share a step just when neither an even cut nor one by rank lies between them.
    even = np.linspace(0, 1, STEPS + 1)[1:-1]
    cell = [int((np.union1d(even, np.quantile(values, even)) <= value).sum()) for value in values]
    assert upper.tolist() == np.unique(cell, return_inverse=True)[1].tolist()
    assert np.array_equal(steps, steps.T)


@given(st.lists(st.floats(0, 1), max_size=9), st.lists(st.floats(0, 1), max_size=30))
def test_a_step_is_found_as_by_bisection(edges, values):
    edges, values = np.unique(edges), np.array(values + edges)  # an edge itself belongs to the step above it
    assert np.array_equal(step_of(edges, values), np.searchsorted(edges, values, side="right"))


def test_steps_without_pairs():
    edges, steps, mass = into_steps(np.zeros((1, 1)), np.zeros(0))
    assert edges.tolist() == [] and steps.tolist() == [[0]] and mass.tolist() == [1.0]


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.75])
def test_dependence_is_the_intraclass_correlation(rho):
    """Twelve clusters of ten, known to differ; evidence 2 + √ρ·(one draw a pair of clusters) + √(1 - ρ)·(one a pair).

    66 pairs of clusters estimate a variance to a relative √(2/66) = 0.17; the estimate is lowered by three such
    errors of the independent part, which is next to nothing with 100 terms a sum.
    """
    labels = np.repeat(np.arange(12), 10)
    generator = np.random.default_rng(5)
    cluster, own = (np.triu(generator.standard_normal((k, k)), 1) for k in (12, 120))
    cluster, own = cluster + cluster.T, own + own.T
    evidence = 2 + np.sqrt(rho) * cluster[labels][:, labels] + np.sqrt(1 - rho) * own
    different, steps = np.unique(evidence, return_inverse=True)
    inside = [(i, i + 1) for i in range(119) if labels[i] == labels[i + 1]]
    across = [(10 * a, 10 * b) for a in range(12) for b in range(a)]
    summed = told(labels, inside + across)
    got = dependence(summed, steps.reshape(120, 120), different, SETTLED)
    assert got == 0 if rho == 0 else abs(got - rho) < 4 * 0.17 * rho
    # Nothing is known of dependence before two records are one, or if all evidence is the same.
    assert dependence(told(labels, []), steps.reshape(120, 120), different, SETTLED) == 0
    assert dependence(summed, np.zeros((120, 120), np.uint8), np.ones(1), SETTLED) == 0


def parts_and_differences(n, queries, answers):
    """Which two components an answer tells apart, and all components: sets of records."""
    parts = DisjointSet(range(n))
    for (i, j), same in zip(queries, answers, strict=True):
        if same:
            parts.merge(i, j)
    apart = {frozenset([parts[i], parts[j]]) for (i, j), same in zip(queries, answers, strict=True) if not same}
    return [[parts.subset(v) for v in pair] for pair in apart], parts.subsets()


@pytest.mark.parametrize("seed", range(12))
def test_what_is_known_and_how_it_hangs_together_counted_pair_by_pair(seed):
    """A sum of m terms has the variance σ²m(1 + ρ(m - 1)), so the squares over σ²m add up to about as many as there are
    sums, plus ρ times the terms beyond the first; three standard errors √(2·sums) are taken off."""
    rng = np.random.default_rng(seed)
    n = 24
    labels = rng.integers(5, size=n)
    run = cr.EdgeOrdering(rng.random(n * (n - 1) // 2), rng=seed).run(cr.Truth(labels))
    some = rng.integers(n // 2, run.n_queries + 1)  # not everything is known yet
    queries, answers = run.queries[:some].tolist(), run.answers[:some].tolist()
    summed = told(labels, queries)
    group = rng.standard_normal((n, n)) * (seed % 3)  # evidence that hangs together not at all, some, much
    evidence = np.round(group[labels][:, labels] + group[labels][:, labels].T + rng.standard_normal((n, n)), 2)
    evidence = np.triu(evidence, 1) + np.triu(evidence, 1).T
    ratio, steps = np.unique(evidence, return_inverse=True)
    steps = steps.reshape(n, n)

    differences, parts = parts_and_differences(n, queries, answers)
    known = [[evidence[i, j] for i in a for j in b] for a, b in differences]
    terms = np.concatenate(known) if known else np.zeros(0)
    squares = [sum(x - terms.mean() for x in sums) ** 2 / len(sums) for sums in known if len(sums) > 1]
    more = sum(len(sums) - 1 for sums in known)
    rho = (sum(squares) / terms.var() - len(squares) - 3 * np.sqrt(2 * len(squares))) / more if more else 0.0
    assert dependence(summed, steps, ratio, SETTLED) == pytest.approx(min(1.0, max(0.0, rho)), abs=1e-9)

    matches, others = known_pairs(summed, steps, len(ratio), SETTLED)
    inside = [evidence[i, j] for part in parts for i in part for j in part if i < j]
    for counted, values in ((matches, inside), (others, terms)):
        assert {ratio[step]: count for step, count in enumerate(counted) if count} == dict(
            zip(*np.unique(values, return_counts=True), strict=True)
        )
