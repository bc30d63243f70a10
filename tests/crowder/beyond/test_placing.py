"""Placing ordering: its questions, what it accepts, the bands that it learns, how often it errs; and drawn counts."""

import math
from itertools import product
from math import exp, inf, lgamma, log, sqrt

import mpmath
import numpy as np
import pytest
from reference import placing_questions, upper_end

import crowder as cr
from crowder.beyond import placing, simulate_placing
from crowder.beyond.placing import Placed, PlacingOrdering, bin_edges, cautious_ratios, draw, learn, upper_ends
from crowder.counting.bounds import acceptance_threshold


def two_steps(epsilon):
    """Dist-1 for any ε below 1: what is below and above one half."""
    return cr.SimilarityModel.from_steps([0, 0.5, 1], [1 - epsilon, 1 + epsilon], [1 + epsilon, 1 - epsilon])


def asked(run):
    return dict(zip(map(tuple, run.queries.tolist()), run.answers.tolist(), strict=True))


def accepted(run):
    return [(*pair, after) for pair, after in zip(run.accepted.tolist(), run.after.tolist(), strict=True)]


# --- the questions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_questions_are_those_of_the_plain_form(seed):
    """Known densities and learned ones, a crowd that is right and one that contradicts itself; each δ, also 0. In every
    other case similarities are rounded, so that some are on an edge between steps, and sums tie."""
    rng = np.random.default_rng(seed)
    drawn = (two_steps(0.9), cr.dist1(0.5), cr.dist2(0.3), cr.uniform())[seed % 4]
    data = cr.datasets.synthetic(rng.integers(1, 25, rng.integers(1, 6)), drawn, rng=rng, shuffle=True)
    similarity = data.similarity.round(1 if seed % 2 else 17)
    model = (None, cr.dist1(0.5), cr.dist2(0.25))[seed % 3]
    delta = float(rng.choice([0.01, 0.5, 1.0])) if seed % 5 or model is None else 0.0
    if model is None:
        edges, evidence, x = [0.2, 0.5, 0.9], [0] * 4, None
    else:  # ln 3 on either side of one half; Dist-2 is sure of the outer quarters, and 1/4 of each density is there
        edges = [0.5] if seed % 3 == 1 else [0.25, 0.75]
        unit = round(math.log(3) * 2**20)
        evidence, x = ([-unit, unit], 1 - math.sqrt(0.75)) if seed % 3 == 1 else ([-(2**36), 0, 2**36], 1 / 3)
    steps = [[sum(w >= edge for edge in edges) for w in row] for row in similarity.tolist()]
    for crowd in (cr.Truth(data.labels), lambda i, j: (i * j + i + j) % 3 == 0):
        ordering = PlacingOrdering(similarity, model, delta=delta, bins=[0.2, 0.5, 0.9], rng=seed)
        arrivals = np.random.default_rng(seed).permutation(data.n).tolist()
        run = ordering.run(crowd)
        expected = placing_questions(steps, arrivals, crowd, delta, evidence, x)
        assert (asked(run), accepted(run)) == expected
        assert not expected[1] or delta


# --- the bands -------------------------------------------------------------------------------------------------------


def test_upper_ends_are_the_roots():
    """Against mpmath at 40 digits: X draws of N, from none to all of them. None is too small, by whatever rounding."""
    mpmath.mp.dps = 40
    for total in (1, 2, 7, 100, 4321, 10**7):
        for count in sorted({0, 1, total // 100, total // 3, total - 1, total}):
            for error in (0.5, 1e-2, 1e-9):
                end = float(upper_ends([count, total - count], error)[0])
                mixture = mpmath.beta(count + 0.5, total - count + 0.5) / mpmath.pi
                if count == total:
                    assert end == 1.0 and mixture < 1
                    continue
                below, here = (
                    mpmath.mpf(p) ** count * (1 - mpmath.mpf(p)) ** (total - count) / mixture
                    for p in (end * (1 - 1e-9), end)
                )
                assert below >= error >= here and end > count / total


def exact_moments(green, red, ratios):
    """E_r ℓ and E_g ℓ^-½ of evidence in multiples of 2⁻²⁰ nat, at 40 digits; an impossible value says nothing."""
    mpmath.mp.dps = 40
    logs = [mpmath.mpf(int(ratio)) / 2**20 for ratio in ratios]
    return (sum(mpmath.mpf(p) * mpmath.exp(each) for p, each in zip(red, logs, strict=True) if p),
            sum(mpmath.mpf(p) * mpmath.exp(-each / 2) for p, each in zip(green, logs, strict=True) if p))  # fmt: skip


@pytest.mark.parametrize("q", [1, 2, 5, 20])
def test_learned_evidence_is_on_the_safe_side_of_every_rounding(q):
    """E_r ℓ ≤ 1 and E_g ℓ^-½ ≤ ρ̄ of the ends themselves, of which no probability inside the bands is larger. (The
    rest follows: E_r ℓ^½ and the affinity are at most the root of the product of the two.)"""
    rng = np.random.default_rng(q)
    for _ in range(100):
        g, r = rng.dirichlet(np.full(q, 0.4), 2)
        matches, others = rng.multinomial(rng.integers(1, 2000), g), rng.multinomial(rng.integers(1, 9000), r)
        delta = float(rng.choice([0.05, 1.0]))
        ratios, affinity = cautious_ratios(matches, others, delta)
        green, red = (upper_ends(counts, delta / (8 * q)) for counts in (matches, others))
        above, below = exact_moments(green, red, ratios)
        assert above <= 1 and below <= float(affinity) < below * (1 + mpmath.mpf(10) ** -12)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.5])
def test_of_known_densities_x_is_that_of_the_evidence_used(epsilon):
    """1 - E_g ℓ^-½, rounded down, for ln ℓ a unit below what was rounded to the nearest: then E_r ℓ ≤ 1. H² is more."""
    uneven = cr.SimilarityModel.from_steps([0, 0.2, 0.7, 1], [0.5, 0.8, 5 / 3], [2, 1, 1 / 3])
    for model in (cr.dist1(epsilon), cr.dist2(epsilon * 0.9), uneven):
        ordering = PlacingOrdering([0.5], model, delta=0.1, rng=1)
        masses = (np.diff([0, *ordering._edges, 1]) * of.pdf([0, *ordering._edges]) for of in (model.green, model.red))
        above, least = exact_moments(*masses, ordering._ratio - 1)
        assert above <= 1 and 0 <= 1 - least - mpmath.mpf(ordering._x) < 1e-12
        assert ordering._x == pytest.approx(model.hellinger2, abs=1e-6)


def test_the_evidence_is_that_with_the_least_affinity_so_far(monkeypatch):
    """The next bands may be worse; x must not fall for that. Here matches are more similar until record 60 arrives."""
    rng, affinities, labels = np.random.default_rng(2), [], np.arange(90) % 3
    late = np.argsort(np.random.default_rng(2).permutation(90), kind="stable") >= 60
    w = np.where(late[:, None] | late, rng.random((90, 90)), np.where(labels[:, None] == labels, 0.9, 0.1))

    def noted(*of):
        ratios, affinity = cautious_ratios(*of)
        affinities.append((affinity, ratios.tolist()))
        return ratios, affinity

    monkeypatch.setattr(placing, "cautious_ratios", noted)
    ordering = PlacingOrdering(np.triu(w, 1) + np.triu(w, 1).T + np.eye(90), delta=0.5, bins=2, rng=2)
    ordering.run(cr.Truth(labels))
    least, ratios = min(affinities)
    assert least < affinities[-1][0] and affinities[0][0] > 1
    assert ordering._x == 1 - least and ordering._ratio.tolist() == ratios


def test_bins_are_counted_or_listed():
    assert bin_edges(1).tolist() == [] and bin_edges(4).tolist() == [0.25, 0.5, 0.75]
    assert bin_edges([0.3, 0.9]).tolist() == [0.3, 0.9] and bin_edges([]).tolist() == []
    assert bin_edges(10)[2] == 0.3  # so that a similarity of 0.3 is in the bin that begins there


# --- results and answers from elsewhere ------------------------------------------------------------------------------


def test_recall_and_precision_count_what_was_accepted():
    """Record 2 joins before any question, record 3 after the first, wrongly."""
    run = Placed([[1, 0], [4, 0]], [True, False], [0, 0, 0, 0, 4], accepted=[[2, 0], [3, 0]], after=[0, 1])
    labels = [0, 0, 0, 1, 1]  # three pairs of the first entity, and (3, 4)
    assert run.recall(labels).tolist() == [1 / 4, 3 / 4, 3 / 4]
    assert run.precision(labels).tolist() == [1, 3 / 6, 3 / 6]
    assert repr(run) == "Placed(5 records, 2 clusters, 2 questions, 2 accepted)"
    assert Placed([[1, 0]], [True], [0, 0]).recall([7, 7]).tolist() == [0, 1]


def test_what_was_placed_is_a_copy_that_cannot_be_changed():
    pairs, after = np.array([[2, 0]]), np.array([1])
    run = Placed([[1, 0]], [True], [0, 0, 0], accepted=pairs, after=after)
    pairs[:], after[:] = 10**9, 0
    assert run.accepted.tolist() == [[2, 0]] and run.after.tolist() == [1]
    for array in (run.accepted, run.after):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_evidence_for_a_cluster_that_an_answer_rules_out_is_none_for_another():
    """Record 24, the last to arrive, resembles twenty records of a cluster that it is known not to belong to."""
    labels = np.array([0] * 20 + [1] * 5)
    w = np.where(labels[:, None] == labels, 0.9, 0.1)
    w[24, :] = w[:, 24] = np.where(labels == 0, 0.9, 0.1)
    seed = next(s for s in range(1000) if np.random.default_rng(s).permutation(25)[-1] == 24)
    alone, told = (PlacingOrdering(w, cr.dist1(0.5), delta=0.2, rng=seed) for _ in range(2))
    assert (24 in alone.run(cr.Truth(labels)).accepted[:, 0]) and alone.settled(24, 0)  # the guarantee is for others
    told.learn((24, 0), False)
    run = told.run(cr.Truth(labels))
    assert 24 not in run.accepted[:, 0] and 24 in run.queries[-1] and run.clusters.tolist() == labels.tolist()


# --- runs of which only counts are drawn ------------------------------------------------------------------------------


LAWS = {
    "coins": ([0.25, 0.75], [0.75, 0.25]),
    "values that never occur": ([0.0, 0.5, 0.5], [0.5, 0.5, 0.0]),
    "equal": ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
}


def naive(counts, before, labels, delta, law=None):
    """Questions up to the first wrong placement and whether there is one, record by record; ties for wrong clusters."""
    q = counts.shape[-1]
    seen, ratio, x, asked = [[0] * q, [0] * q], [0.0] * q, -inf, 0
    if law is not None:
        ratio, x = (
            [log(g / r) for g, r in zip(*law, strict=True)],
            1 - sum(sqrt(g * r) for g, r in zip(*law, strict=True)),
        )
    for v, own in enumerate(labels):
        n_g, n_r = map(sum, seen)
        if law is None and n_g and n_r:
            green, red = ([upper_end(each, sum(row), delta / (8 * q)) for each in row] for row in seen)
            new = [log(g / (sum(green) * r)) for g, r in zip(green, red, strict=True)]
            if (affinity := sum(g * exp(-each / 2) for g, each in zip(green, new, strict=True))) < 1 - x:
                ratio, x = new, 1 - affinity
        there = [c for c in range(len(before[v])) if before[v][c]]
        sums = {c: sum(many * each for many, each in zip(counts[v][c], ratio, strict=True)) for c in there}
        first = sorted(there, key=lambda c: (-round(sums[c], 9), c == own))
        c = len(there)
        least = log(c * (v + 1) * (v + 2) / delta) if c else inf
        if c and x > 0:
            least = min(least, 2 * log(c**2 * (c + 1) / (delta * x)))
        if first and sums[first[0]] >= least:
            if first[0] != own:
                return asked, True
        else:
            asked += first.index(own) + 1 if own in first else c
        for c in there:
            row = seen[0 if c == own else 1]
            row[:] = [a + int(b) for a, b in zip(row, counts[v][c], strict=True)]
    return asked, False


@pytest.mark.parametrize(
    ("laws", "learned"), [*product(("coins", "equal"), (False, True)), ("values that never occur", True)]
)
@pytest.mark.parametrize("sizes", [[30, 20, 9, 1], [1, 1, 1], [12], []])
def test_runs_that_draw_counts_equal_plain_loops(laws, learned, sizes):
    """With delta 1, so that some are accepted early; bands are so wide that hardly any fails in so few records."""
    for seed in range(4):
        labels = np.random.default_rng(seed).permutation(np.repeat(range(len(sizes)), sizes)).astype(int)
        counts, before = draw(np.array(LAWS[laws]), labels, np.random.default_rng(seed))
        known = None if learned else LAWS[laws]
        *found, failed = simulate_placing(LAWS[laws], labels, known, delta=1, rng=seed)
        assert failed or tuple(found) == naive(counts, before, labels, 1.0, known)


def test_in_simulated_runs_rounded_evidence_is_on_the_safe_side():
    """Forty times ln(1/0.3) is less than T, and forty times the nearest multiple of 2⁻²⁰ is not: all are asked."""
    law, m, exact = ([0.0, 1.0], [0.7, 0.3]), 40, -log(0.3)
    nearest = round(exact * 2**20) / 2**20
    assert nearest > exact
    delta = (m + 1) * (m + 2) * exp(-m * (exact + nearest) / 2)
    assert simulate_placing(law, [0] * (m + 1), law, delta=delta, rng=1) == (m, False, False)
    assert simulate_placing(law, [0] * (m + 1), law, delta=delta * (1 + 1e-4), rng=1) == (m - 1, False, False)


def test_rows_at_once_are_each_row_alone():
    """Of bands, of learned evidence, and of thresholds, where x is known or not."""
    counts = np.array([[0, 1, 0], [3, 0, 97], [500, 499, 1]])
    assert np.array_equal(upper_ends(counts, 0.01), [upper_ends(row, 0.01) for row in counts])
    ratios, affinity = cautious_ratios(counts, counts[::-1], 0.2)
    for row in range(3):
        alone = cautious_ratios(counts[row], counts[2 - row], 0.2)
        assert np.array_equal(ratios[row], alone[0]) and affinity[row] == alone[1]
    of = np.array([1, 2, 5]), np.array([2, 30, 4]), np.array([0.25, -inf, 1])
    alone = [acceptance_threshold(*each, 0.1) for each in zip(*of, strict=True)]
    assert np.array_equal(acceptance_threshold(*of, 0.1), alone)


def test_counts_are_drawn_of_the_records_before():
    """As many values as there are records in each cluster so far, with the probabilities of its kind of pairs, within
    four standard errors."""
    labels, weights = np.arange(600) % 3, np.array([[0.1, 0.9], [0.6, 0.4]])
    counts, before = draw(weights, labels, np.random.default_rng(1))
    assert before[4].tolist() == [2, 1, 1] and np.array_equal(counts.sum(axis=2), before)
    own = labels[:, None] == np.arange(3)
    for pairs, chance in ((own, 0.1), (~own, 0.6)):
        total = before[pairs].sum()
        assert abs(counts[pairs][:, 0].sum() - total * chance) < 4 * np.sqrt(total * chance * (1 - chance))


@pytest.mark.parametrize("delta", [16.0, 1.0, 0.01])
def test_a_band_fails_where_a_probability_is_outside_of_it(delta):
    """Fair coins, taken for biased ones. With delta = 8q, p has to be likelier than the mixture; with less, bands fail
    later."""
    fair, labels = np.array([0.5, 0.5]), np.repeat([0, 1], 6)
    counts, _ = draw(np.array([fair, fair]), labels, np.random.default_rng(1))
    failed = learn(counts, labels, np.array([[0.5, 0.5], [0.9, 0.1]]), delta, upper_ends)[2]
    seen = np.zeros((2, 2), int)
    for v in range(len(labels)):
        inside = []
        for row, law in zip(seen, ((0.5, 0.5), (0.9, 0.1)), strict=True):
            x, y = map(int, row)
            mixture = lgamma(x + 0.5) + lgamma(y + 0.5) - lgamma(x + y + 1) - 2 * lgamma(0.5)
            inside += [
                log(delta / 16) + mixture <= x * log(law[0]) + y * log(law[1])
            ]  # two values: both bands are the same
        assert failed[v] == (seen.sum(axis=1).all() and not all(inside))
        own = counts[v, labels[v]]
        seen += [own, counts[v].sum(axis=0) - own]
    assert 0 < failed.sum() < 6


def test_a_run_ends_with_the_first_band_that_fails():
    """In the first run in which one does, for δ = 1. Ends of 1 make evidence negative, so that nothing is accepted."""
    fair = np.full((2, 2), 0.5)
    labels = np.r_[0, 0, 0, 1, np.random.default_rng(3).permutation(np.repeat(range(3), 200))]

    def ones(seen, error):
        return np.ones(seen.shape)

    for seed in range(200):
        counts, before = draw(fair, labels, np.random.default_rng(seed))
        failing = learn(counts, labels, fair, 1.0, ones)[2]
        if failing.any():
            break
    end = failing.argmax()
    asked = 0
    for v in range(end):  # smaller clusters have more evidence, and of equal ones its own comes last
        there, mine = before[v][before[v] > 0], before[v, labels[v]]
        asked += (there <= mine).sum() if mine else len(there)
    assert 3 < end < 600 and failing[end]
    assert simulate_placing(fair, labels, delta=1, rng=seed, ends=ones) == (asked, False, True)


def test_on_cora_whose_similarities_are_dependent_it_errs_as_its_docstring_says():
    """About a quarter of the pairs put in one cluster are no matches."""
    data = cr.datasets.cora()
    run = PlacingOrdering(data.similarity, delta=0.1, rng=1).run(cr.Truth(data.labels))
    assert 0.6 < run.precision(data.labels)[-1] < 0.8
