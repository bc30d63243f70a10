"""What the best test can tell: sorted outcomes against enumeration and closed forms, bounds against what they bound."""

import itertools
from fractions import Fraction
from math import comb, prod, sqrt

import in_fractions
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shared import step_models

import crowder as cr
from crowder.counting.small_cases import fewest_expected
from crowder.counting.lower_bounds import expected_undetermined
from crowder.counting.lower_bounds import chain, evidence, hidden_size, product_tv, question_bound

THREE = cr.SimilarityModel.from_steps([0, 0.25, 0.5, 1], green=[0.5, 1.5, 1], red=[1.5, 1, 0.75])
MODELS = [cr.dist1(0.25), cr.dist1(0.5), cr.dist2(0.2), THREE, cr.uniform()]


def masses(model):
    return np.array([(green, red) for *_, green, red in in_fractions.steps(model)], dtype=float).T


def all_outcomes(model, a, b):
    """Both probabilities of every way to put a + b similarities on steps."""
    g, r = masses(model)
    for steps in itertools.product(range(len(g)), repeat=a + b):
        yield (prod(g[s] for s in steps[:a]) * prod(r[s] for s in steps[a:]),
               prod(r[s] for s in steps[:a]) * prod(g[s] for s in steps[a:]))  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name}-{m.epsilon}")
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 1), (1, 3), (3, 3)])
def test_the_distance_against_all_outcomes(model, shape):
    direct = sum(abs(p - q) for p, q in all_outcomes(model, *shape)) / 2
    assert product_tv(model, *shape) == pytest.approx(direct, abs=1e-12)


@given(step_models(most=4), st.integers(0, 3), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_the_distance_of_random_models(model, a, b):
    direct = sum(abs(p - q) for p, q in all_outcomes(model, a, b)) / 2
    assert product_tv(model, a, b) == pytest.approx(direct, abs=1e-10)


@given(step_models(most=4), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_evidence_is_two_laws_sorted_by_their_ratio(model, size):
    log_ratio, green, red = evidence(model, size)
    assert green.sum() == pytest.approx(1) and red.sum() == pytest.approx(1)
    assert (np.diff(log_ratio[np.isfinite(log_ratio)]) >= 0).all()
    inside = np.isfinite(log_ratio)
    assert np.allclose(green[inside], np.exp(log_ratio[inside]) * red[inside], rtol=1e-9)
    assert (red[log_ratio == np.inf] == 0).all() and (green[log_ratio == -np.inf] == 0).all()


def test_closed_forms_for_the_two_models():
    """Dist-1: the number above one half, one side turned round. Dist-2: nothing is known only between the ends."""
    for epsilon in (0.01, 0.1, 0.3, 0.5):
        for a in (1, 4, 50):
            p, q = (stats.binom.pmf(range(2 * a + 1), 2 * a, (1 + sign * epsilon) / 2) for sign in (1, -1))
            assert product_tv(cr.dist1(epsilon), a) == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-11)
            if epsilon < 0.5:
                middle = ((1 - 2 * epsilon) / (1 - epsilon)) ** (2 * a)
                assert product_tv(cr.dist2(epsilon), a) == pytest.approx(1 - middle, abs=1e-11)


def test_steps_of_one_ratio_count_as_one():
    """Only ratios matter: a model cut into needless steps has as many outcomes as before."""
    cut = cr.SimilarityModel.from_steps([0, 0.1, 0.3, 0.5, 1], green=[0.75] * 3 + [1.25], red=[1.25] * 3 + [0.75])
    assert len(evidence(cut, 5)[0]) == 6
    assert product_tv(cut, 3) == pytest.approx(product_tv(cr.dist1(0.25), 3), abs=1e-14)


@given(step_models(most=4), st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_each_link_of_the_chain_is_at_most_the_next(model, a):
    links = chain(model, a)
    values = np.array(links[1:])
    assert links.size == a and (np.diff(values) >= -1e-7).all()
    affinity = sum(sqrt(p * q) for p, q in all_outcomes(model, a, a)) if a < 3 else (1 - model.hellinger2) ** (2 * a)
    assert links.hellinger == pytest.approx(sqrt(max(2 - 2 * affinity, 0)), abs=1e-6)
    assert links.affine == pytest.approx(sqrt(max(1 - affinity**2, 0)), abs=1e-6)
    assert links.subadditive == pytest.approx(sqrt(4 * a * model.hellinger2), rel=1e-12)


def test_the_size_of_the_proof_in_exact_arithmetic():
    """⌊1/(8H²)⌋; at ε = 1/9, H² = 1/8 exactly, and a is 1. Beyond, the proof has no clusters."""
    for j in range(1, 50):
        e = sp.Rational(j, 100)
        assert hidden_size(cr.dist1(j / 100)) == int(sp.floor(1 / (8 * (1 - sp.sqrt(1 - e**2)))))
        assert hidden_size(cr.dist2(j / 100)) == int((1 - e) / (8 * e))
    assert hidden_size(cr.dist2(1 / 9)) == 1 and hidden_size(cr.dist2(0.112)) == 0
    for size in range(1, 60):  # f_g and f_r with H² = 1/(8 size)
        assert hidden_size(cr.dist2(1 / (8 * size + 1))) == size
    with pytest.raises(ValueError, match="model must"):
        hidden_size(cr.uniform())


def test_the_mean_rank_of_the_right_cluster():
    """1 + (K-1)(1-TV)/2, from all outcomes: three clusters of two records."""
    for model in MODELS:
        g, r = masses(model)
        total = 0.0
        for steps in itertools.product(range(len(g)), repeat=6):
            blocks = [steps[c : c + 2] for c in (0, 2, 4)]
            chance = [
                prod(prod((g if b == c else r)[s] for s in block) for b, block in enumerate(blocks)) for c in range(3)
            ]
            ahead = sum(1.0 if c > chance[0] * (1 + 1e-12) else 0.5 * (c > chance[0] * (1 - 1e-12)) for c in chance[1:])
            total += chance[0] * ahead
        assert 2 * (1 - product_tv(model, 2)) / 2 == pytest.approx(total, abs=1e-10)


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


def test_best_play_on_one_hidden_record_is_above_the_bound():
    """One record in three clusters with one shown record each: best play by search, over all similarities."""
    for model in (cr.dist1(Fraction(1, 4)), cr.dist2(Fraction(1, 5)), cr.dist1(Fraction(1, 2))):
        g, r = masses(model)
        total = 0.0
        for steps in itertools.product(range(len(g)), repeat=3):
            weights = {(0, 1, 2, c): prod((g if c == j else r)[s] for j, s in enumerate(steps)) / 3 for c in range(3)}
            weights = {world: weight for world, weight in weights.items() if weight > 0}
            if weights:
                total += fewest_expected(weights) * sum(weights.values())
        exact = (1 - product_tv(model, 1)) / 2  # (m/2)(k-2) times the error of the best test; m = 1, k = 4
        # Three small clusters and a large one that the record is known not to be in.
        assert question_bound(model, 5, 4) <= max(exact, 5 * (1 - product_tv(model, 1)) / 2)
        assert exact <= total


def test_the_corrected_theorem_is_below_the_bound_that_it_comes_from():
    """min{k²/H², nk}/2025 for 3 ≤ k < n, H² ≤ 1/4 and an error of 1/100."""
    for h2 in np.geomspace(1e-4, 0.25, 9):
        model = cr.dist2(h2 / (1 + h2))
        for k in (3, 4, 17, 100):
            for n in (k + 1, 2 * k - 1, 2 * k, 7 * k, 100 * k):
                assert min(k * k / h2, n * k) / 2025 <= question_bound(model, n, k, error=0.01)


def test_no_bound_where_similarities_or_k_tell_all():
    apart = cr.SimilarityModel.from_steps([0, 0.5, 1], green=[0, 2], red=[2, 0])
    assert question_bound(apart, 100, 10) == 0
    assert question_bound(cr.uniform(), 10, 10) == question_bound(cr.uniform(), 10, 2) == 0
    with pytest.raises(ValueError, match="k must be"):
        question_bound(apart, 3, 4)


def test_as_the_densities_meet_the_printed_corollary_wants_more_than_all_pairs():
    """n + k²/H² for three records in two clusters; there are three pairs."""
    for epsilon in (0.3, 0.1, 0.01):
        assert 3 + 4 / cr.dist1(epsilon).hellinger2 > 10 * comb(3, 2)
    assert 3 + 4 / cr.dist1(0.001).hellinger2 > 1e6


def test_the_corrected_bounds_for_the_two_models():
    """H² ≤ ε² for Dist-1; ε ≤ H² ≤ 5ε/4 for Dist-2 up to 1/5, where k²/p = k²/H² questions are enough."""
    for epsilon in np.linspace(0.01, 0.49, 25):
        h2 = cr.dist1(epsilon).hellinger2
        assert h2 <= epsilon**2 and h2 <= 1 / 4
    for epsilon in np.linspace(0.01, 0.2, 20):
        model, k, n = cr.dist2(epsilon), 5, 500
        assert epsilon <= model.hellinger2 <= 1.25 * epsilon * (1 + 1e-12)
        above = k * expected_undetermined(model, [n // k] * k)
        assert min(k * k / epsilon, n * k) / 2532 <= question_bound(model, n, k) <= above
        assert above <= min(k * k / epsilon, n * k)


def test_two_clusters_need_no_questions():
    """The likeliest split of four records by two-valued similarities, over all of them and all truths."""
    mass, pairs = 0.05, list(itertools.combinations(range(4), 2))
    affinity = 2 * sqrt(mass * (1 - mass))
    model = cr.SimilarityModel.from_steps([0, 0.5, 1], green=[0.1, 1.9], red=[1.9, 0.1])
    assert 1 - model.hellinger2 == pytest.approx(affinity, rel=1e-12)
    splits = [(0, *bits) for bits in itertools.product((0, 1), repeat=3)]
    for truth in splits:
        wrong = 0.0
        for values in itertools.product((0, 1), repeat=6):

            def chance(split, values=values):
                return prod(
                    1 - mass if (split[u] == split[v]) == value else mass
                    for (u, v), value in zip(pairs, values, strict=True)
                )

            rivals = max(chance(split) for split in splits if split != truth)
            wrong += chance(truth) * (rivals >= chance(truth) * (1 - 1e-12))
        assert wrong <= comb(4, 1) * affinity**3 + comb(4, 2) * affinity**4 <= (1 + affinity**2) ** 4 - 1


@pytest.mark.parametrize("size", [-1, 1.5, "2"])
def test_a_number_of_similarities_must_be_whole(size):
    with pytest.raises((TypeError, ValueError), match="size must be"):
        product_tv(cr.dist1(0.2), size)


def test_too_many_outcomes_are_refused_before_they_are_listed():
    many = cr.SimilarityModel.from_steps(np.linspace(0, 1, 7), green=[1.2, 0.8, 1.1, 0.9, 1.3, 0.7], red=[1.0] * 6)
    with pytest.raises(ValueError, match="too many"):
        product_tv(many, 1000)


def test_small_epsilon_gives_the_sum_a_slope_that_grows_as_a_root():
    """TV/2 = c_m ε + O(ε³) under Dist-1: of 2m - 1 fair coins one decides when the others are split evenly.

    That is c_m = (2m-1) C(2m-2, m-1) / 2^(2m-1): ½, ¾ and 15/16 for 1, 2 and 3 records, and about √(m/π) for many.
    """
    epsilon = 1e-4
    for m, slope in [(1, 1 / 2), (2, 3 / 4), (3, 15 / 16)]:
        assert product_tv(cr.dist1(epsilon), m) / 2 / epsilon == pytest.approx(slope, abs=1e-6)
    assert product_tv(cr.dist1(epsilon), 200) / 2 / epsilon == pytest.approx(sqrt(200 / np.pi), rel=1e-3)
    # mε² alone tells how often one other cluster has more votes: the normal tail beyond ε√(2m).
    for m, epsilon in [(100, 0.1), (400, 0.05)]:
        assert (1 - product_tv(cr.dist1(epsilon), m)) / 2 == pytest.approx(stats.norm.sf(sqrt(2)), abs=2e-3)
