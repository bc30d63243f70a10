"""Placing ordering: its questions, what it accepts, the bands that it learns, how often it errs; and drawn counts."""

import copy
import math
from functools import cache, partial
from itertools import product
from math import exp, inf, lgamma, log, sqrt

import mpmath
import numpy as np
import pytest
from reference import placing_questions
from scipy.optimize import brentq

import crowder as cr
from crowder.beyond import placing, simulate_placing
from crowder.beyond.evidence import UNIT
from crowder.beyond.placing import Placed, PlacingOrdering, bin_edges, cautious_ratios, draw, learn, upper_ends
from crowder.counting.bounds import acceptance_threshold
from crowder_tool import Journal


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


def test_the_threshold_by_hand():
    """For c clusters and the v-th record: ln(c v (v + 1)/δ), or twice ln(c² (c + 1)/(δ x)) where that is less."""
    assert acceptance_threshold(1, 2, 1.0, 1.0) == pytest.approx(math.log(4))  # of ln 6 and 2 ln 2
    assert acceptance_threshold(3, 10, 0.25, 0.1) == pytest.approx(math.log(3300))  # of that and 2 ln 1440
    assert acceptance_threshold(3, 10**6, 0.25, 0.1) == pytest.approx(2 * math.log(1440))
    for x in (0.0, -0.5, -math.inf):  # an affinity of 1 or more says nothing
        assert acceptance_threshold(3, 10**6, x, 0.1) == pytest.approx(math.log(3e7 * (10**6 + 1)))
    assert acceptance_threshold([1, 2], [[2], [3]], 0.5, 1).shape == (2, 2)


def test_few_records():
    """None and one need no question. Of two, one question: there is no known non-match, or no earlier match."""
    for n in (0, 1, 2):
        for model in (None, cr.dist1(0.5)):
            run = PlacingOrdering(np.full((n, n), 0.9), model, delta=1, rng=1).run(cr.Truth([0] * n))
            assert (run.n_queries, len(run.accepted), len(run.clusters)) == (max(0, n - 1), 0, n)
    # Dist-2: two records of one entity may be surely a match, and then need none.
    assert PlacingOrdering([0.9], cr.dist2(0.3), delta=0.01, rng=1).run(cr.Truth([0, 0])).n_queries == 0


@pytest.mark.parametrize("values", [0.5, [0.2, 0.8]])
def test_without_a_model_a_single_cluster_is_asked_about_record_by_record(values):
    """Nothing is known of non-matches, so nothing can be told from them."""
    w = np.random.default_rng(3).choice(np.atleast_1d(values), 300 * 299 // 2)
    run = PlacingOrdering(w, delta=1, rng=3).run(cr.Truth([0] * 300))
    assert run.n_queries == 299 and not len(run.accepted)


@pytest.mark.parametrize("model", [None, cr.uniform()])
def test_equal_densities_never_place_a_record(model):
    """And then it is node ordering, which costs every cluster for every record in the worst case."""
    data = cr.datasets.synthetic([60, 40], cr.uniform(), rng=4, shuffle=True)
    run = PlacingOrdering(data.condensed, model, delta=0.5, rng=4).run(cr.Truth(data.labels))
    assert not len(run.accepted) and run.precision(data.labels)[-1] == run.recall(data.labels)[-1] == 1


def test_far_fewer_questions_than_records_where_records_are_many():
    """Five clusters of 400 under Dist-1, ε = ½: 1,995 questions cannot be avoided without an error. The limits are
    twice what these runs ask on average (147 and 168)."""
    for seed in range(3):
        data = cr.datasets.synthetic([400] * 5, cr.dist1(0.5), rng=seed, shuffle=True)
        for model, most in ((cr.dist1(0.5), 294), (None, 336)):
            run = PlacingOrdering(data.condensed, model, delta=0.2, bins=2, rng=seed).run(cr.Truth(data.labels))
            assert np.array_equal(run.clusters[:, None] == run.clusters, data.labels[:, None] == data.labels)
            assert run.n_queries <= most and run.n_queries + len(run.accepted) >= data.n - 1


# --- the bands -------------------------------------------------------------------------------------------------------


def test_upper_ends_are_the_roots():
    """Against mpmath at 40 digits: X draws of N, from none to all of them."""
    mpmath.mp.dps = 40
    for total in (1, 2, 7, 100, 4321, 10**7):
        for count in sorted({0, 1, total // 100, total // 3, total - 1, total}):
            for error in (0.5, 1e-2, 1e-9):
                end = float(upper_ends([count, total - count], error)[0])
                mixture = mpmath.beta(count + 0.5, total - count + 0.5) / mpmath.pi
                if count == total:
                    assert end == 1.0 and mixture < 1
                    continue
                below, above = (
                    mpmath.mpf(p) ** count * (1 - mpmath.mpf(p)) ** (total - count) / mixture
                    for p in (end * (1 - 1e-9), end * (1 + 1e-9))
                )
                assert below >= error > above and end > count / total


def test_bands_fail_as_rarely_as_they_say():
    """At any of some numbers of draws up to 1,800, for ε = ½: in no more than half of 400 runs, and in some, or the
    bands would be too wide."""
    rng, failed, end = np.random.default_rng(5), 0, cache(lambda x, n: upper_ends([x, n - x], 0.5)[0])
    numbers = sorted({int(1.15**e) for e in range(1, 54)})
    for _ in range(400):
        seen = np.cumsum(rng.random(2000) < 0.3)
        failed += any(end(int(seen[n - 1]), n) < 0.3 for n in numbers)
    assert 10 <= failed <= 200


@pytest.mark.parametrize("q", [2, 5, 20])
def test_the_moments_hold_wherever_the_truth_is_inside_the_bands(q):
    """E_r ℓ ≤ 1, E_g ℓ^-½ ≤ ρ̄ and E_r ℓ^½ ≤ ρ̄, of the rounded values, for densities that were drawn, and for the
    extreme ones that the bands admit: as much as they can have on each value in turn."""
    rng, tried = np.random.default_rng(q), 0
    for _ in range(200):
        g, r = rng.dirichlet(np.full(q, 0.4), 2)
        matches, others = rng.multinomial(rng.integers(1, 2000), g), rng.multinomial(rng.integers(1, 9000), r)
        delta = float(rng.choice([0.05, 1.0]))
        ratios, affinity = cautious_ratios(matches, others, delta)
        ends = [upper_ends(counts, delta / (8 * q)) for counts in (matches, others)]
        assert ends[1] @ np.exp(ratios / UNIT) <= 1  # however large r is: rounded down, not to the nearest
        extreme = [filled(end, rng.permutation(q)) for end in ends]
        for green, red in ((g, r), extreme, (extreme[0], r), (g, extreme[1])):
            if (green <= ends[0]).all() and (red <= ends[1]).all():
                tried += 1
                ratio = np.exp(ratios / UNIT)
                assert red @ ratio <= 1 + 1e-12
                assert green @ ratio**-0.5 <= affinity + 1e-12 and red @ ratio**0.5 <= affinity + 1e-12
                assert np.sqrt(green * red).sum() <= affinity + 1e-12
    assert tried >= 700


def filled(ends, order):
    """The probabilities that take as much as the ends allow, value by value."""
    p, left = np.zeros(len(ends)), 1.0
    for value in order:
        p[value] = min(ends[value], left)
        left -= p[value]
    return p


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
    ordering = PlacingOrdering(np.triu(w, 1) + np.triu(w, 1).T, delta=0.5, bins=2, rng=2)
    ordering.run(cr.Truth(labels))
    least, ratios = min(affinities)
    assert least < affinities[-1][0] and affinities[0][0] > 1
    assert ordering._x == 1 - least and ordering._ratio.tolist() == ratios


def test_bins_are_counted_or_listed():
    assert bin_edges(1).tolist() == [] and bin_edges(4).tolist() == [0.25, 0.5, 0.75]
    assert bin_edges([0.3, 0.9]).tolist() == [0.3, 0.9] and bin_edges([]).tolist() == []
    assert bin_edges(10)[2] == 0.3  # so that a similarity of 0.3 is in the bin that begins there


# --- how often it errs -----------------------------------------------------------------------------------------------


def errors(sizes, drawn, delta, runs, **options):
    """The share of runs in which some record is placed wrongly."""
    wrong, rng = 0, np.random.default_rng(6)
    for seed in range(runs):
        data = cr.datasets.synthetic(sizes, drawn, rng=rng, shuffle=True)
        run = PlacingOrdering(data.condensed, delta=delta, rng=seed, **options).run(cr.Truth(data.labels))
        wrong += not np.array_equal(run.clusters[:, None] == run.clusters, data.labels[:, None] == data.labels)
    return wrong / runs


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("sizes", [[37, 3], [15, 15, 15], [30] + [1] * 8])
def test_it_errs_in_no_more_runs_than_delta(sizes, epsilon):
    """For δ = ½, in 30 runs of each."""
    model = two_steps(epsilon)
    assert errors(sizes, model, 0.5, 30, bins=2) <= 0.5
    assert errors(sizes, model, 0.5, 30, model=model) <= 0.5


def test_shrunken_bands_err_more_often_than_delta(monkeypatch):
    """The control: a fiftieth of the way from the shares seen to the ends of the bands is not enough for δ = 0.1."""

    def shrunken(counts, error):
        share = counts / counts.sum()
        return share + (upper_ends(counts, error) - share) / 50

    assert errors([20, 20, 20], cr.dist1(0.05), 0.1, 25, bins=20) <= 0.1
    monkeypatch.setattr(placing, "cautious_ratios", partial(cautious_ratios, ends=shrunken))
    assert errors([20, 20, 20], cr.dist1(0.05), 0.1, 25, bins=20) > 0.2


def test_dependent_similarities_are_outside_the_guarantee():
    """cora's are, and about three in ten of the joined pairs are wrong, as the docstring says."""
    data = cr.datasets.cora()
    run = PlacingOrdering(data.similarity, delta=0.1, rng=1).run(cr.Truth(data.labels))
    assert 0.6 < run.precision(data.labels)[-1] < 0.8


# --- results, answers from elsewhere, journals ------------------------------------------------------------------------


def test_recall_and_precision_count_what_was_accepted():
    """Record 2 joins before any question, record 3 after the first, wrongly."""
    run = Placed([[1, 0], [4, 0]], [True, False], [0, 0, 0, 0, 4], accepted=[[2, 0], [3, 0]], after=[0, 1])
    labels = [0, 0, 0, 1, 1]  # three pairs of the first entity, and (3, 4)
    assert run.recall(labels).tolist() == [1 / 4, 3 / 4, 3 / 4]
    assert run.precision(labels).tolist() == [1, 3 / 6, 3 / 6]
    assert repr(run) == "Placed(5 records, 2 clusters, 2 questions, 2 accepted)"
    assert Placed([[1, 0]], [True], [0, 0]).recall([7, 7]).tolist() == [0, 1]


@pytest.mark.parametrize("model", [None, two_steps(0.6)])
def test_a_part_of_a_run_is_its_beginning(model):
    """Also of what it accepted; the components are those of answers and acceptances together."""
    data = cr.datasets.synthetic([60, 40, 5, 1], two_steps(0.6), rng=8, shuffle=True)
    crowd = cr.Truth(data.labels)
    ordering = PlacingOrdering(data.condensed, model, delta=0.3, bins=2, rng=8)
    whole = copy.deepcopy(ordering).run(crowd)
    recall, seen = whole.recall(data.labels), 0
    while (pair := ordering.ask()) is not None:
        assert ordering.ask() == pair and not ordering.settled(*pair)
        part = ordering.resolution
        assert asked(part) == dict(list(asked(whole).items())[: part.n_queries])
        assert accepted(part) == [one for one in accepted(whole) if one[2] <= part.n_queries]
        assert all(ordering.settled(*pair) for pair in part.accepted.tolist())
        same = part.clusters[:, None] == part.clusters
        true = data.labels[:, None] == data.labels
        assert part.recall(data.labels)[-1] == recall[part.n_queries] == (np.triu(same & true, 1).sum()
                                                                          / np.triu(true, 1).sum())  # fmt: skip
        seen += len(part.accepted)
        ordering.tell(pair, crowd(*pair))
    assert seen and accepted(ordering.resolution) == accepted(whole)
    counts = f"106 records, {whole.n_queries} questions, {len(whole.accepted)} accepted"
    assert repr(ordering) == f"PlacingOrdering({counts})"


@pytest.mark.parametrize("model", [None, cr.dist1(0.5)])
@pytest.mark.parametrize("seed", range(6))
def test_answers_from_elsewhere_settle_and_break_nothing(model, seed):
    """True ones, at the beginning and between questions, of records placed or not: all that comes out is right, and
    nobody is asked about what they settle."""
    data = cr.datasets.synthetic([30, 20, 10, 1], cr.dist1(0.5), rng=seed, shuffle=True)
    rng, crowd = np.random.default_rng(seed), cr.Truth(data.labels)
    ordering = PlacingOrdering(data.condensed, model, delta=0.01, bins=2, rng=seed)
    for i, j in rng.integers(data.n, size=(30, 2)).tolist():
        if i != j:
            ordering.learn((i, j), crowd(i, j))
    while (pair := ordering.ask()) is not None:
        assert not ordering.settled(*pair)
        i, j = rng.integers(data.n, size=2).tolist()
        if i != j:
            ordering.learn((i, j), crowd(i, j))
        if ordering.ask() == pair:
            ordering.tell(pair, crowd(*pair))
    run = ordering.resolution
    assert np.array_equal(run.clusters[:, None] == run.clusters, data.labels[:, None] == data.labels)
    assert all(ordering.settled(i, j) for i in range(data.n) for j in range(i))


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


@pytest.mark.parametrize("model", [None, cr.dist1(0.5)])
def test_a_journal_resumes_it(tmp_path, model):
    """Broken off at each third question: the rest goes on as if it had not been, and nothing is asked twice."""
    data = cr.datasets.synthetic([40, 20, 4], cr.dist1(0.5), rng=9, shuffle=True)

    def fresh():
        return PlacingOrdering(data.condensed, model, delta=0.2, bins=2, rng=9)

    whole, times = fresh().run(cr.Truth(data.labels)), 0
    assert len(whole.accepted)

    class Interrupted(Exception):
        pass

    def tired(i, j):
        nonlocal times
        times += 1
        if times % 3 == 0:
            raise Interrupted
        return bool(data.labels[i] == data.labels[j])

    while True:
        with Journal(tired, tmp_path / "answers.db") as journal:
            try:
                run = fresh().run(journal)
                break
            except Interrupted:
                continue
    assert (asked(run), accepted(run)) == (asked(whole), accepted(whole))
    assert len(journal.answers()) == whole.n_queries


LAWS = {
    "coins": ([0.25, 0.75], [0.75, 0.25]),
    "values that never occur": ([0.0, 0.5, 0.5], [0.5, 0.5, 0.0]),
    "equal": ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
}


def upper_end(x, n, error):
    """The root of the log-likelihood less that of the mixture over Beta(1/2, 1/2), above the share that was seen."""
    mixture = lgamma(x + 0.5) + lgamma(n - x + 0.5) - lgamma(n + 1) - 2 * lgamma(0.5)

    def left(p):
        return x * log(p) + (n - x) * log(1 - p) - mixture - log(error)

    return 1.0 if x == n else brentq(left, max(x / n, 1e-300), 1 - 1e-15, xtol=1e-15)


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
@pytest.mark.parametrize("sizes", [[30, 20, 9, 1], [1, 1, 1], [12]])
def test_runs_that_draw_counts_equal_plain_loops(laws, learned, sizes):
    """With delta 1, so that some are accepted early; bands are so wide that hardly any fails in so few records."""
    for seed in range(4):
        labels = np.random.default_rng(seed).permutation(np.repeat(range(len(sizes)), sizes))
        counts, before = draw(np.array(LAWS[laws]), labels, np.random.default_rng(seed))
        known = None if learned else LAWS[laws]
        *found, failed = simulate_placing(LAWS[laws], labels, known, delta=1, rng=seed)
        assert failed or tuple(found) == naive(counts, before, labels, 1.0, known)


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


@pytest.mark.parametrize(("delta", "learned"), [(0, False), (0.5, False), (0.001, True)])
def test_means_are_those_of_the_ordering(delta, learned):
    """Questions of 60 runs of each, which draw pairs or counts. No run errs, so both ask to the end, and ties are rare;
    then the means differ by less than four standard errors."""
    bins, sizes, asked, accepted = [0.31, 0.64, 0.82], [30, 30, 5], np.empty((2, 60)), 0
    weights = np.array([[1, 2, 4, 9], [9, 5, 3, 1]])
    heights = weights / weights.sum(axis=1, keepdims=True) / np.diff([0, *bins, 1])
    model = cr.SimilarityModel.from_steps([0, *bins, 1], *heights.tolist())
    known = None if learned else model
    for seed in range(60):
        data = cr.datasets.synthetic(sizes, model, rng=seed)
        ordering = PlacingOrdering(data.condensed, known, delta=delta, bins=bins, rng=seed)
        run = ordering.run(cr.Truth(data.labels))
        assert run.precision(data.labels)[-1] == run.recall(data.labels)[-1] == 1
        labels = np.random.default_rng(seed).permutation(data.labels)
        found = simulate_placing(model, labels, known, delta=delta, rng=seed)
        asked[:, seed] = run.n_queries, found[0]
        assert found[1:] == (False, False)
        accepted += len(run.accepted)
    assert (accepted > 100) == (delta > 0)
    difference = asked[0].mean() - asked[1].mean()
    assert abs(difference) <= 4 * np.sqrt(asked.var(axis=1, ddof=1).sum() / 60)


def test_a_model_is_the_weights_of_its_steps():
    """And of two models the steps of both: the believed one has none at one half."""
    true = cr.SimilarityModel.from_steps([0, 0.5, 1], [0.5, 1.5], [1.5, 0.5])
    believed = cr.SimilarityModel.from_steps([0, 0.25, 1], [0.4, 1.2], [1.6, 0.8])
    weights = [[1, 1, 6], [3, 3, 2]], [[1, 3, 6], [4, 2, 4]]  # of [0, 1/4], [1/4, 1/2] and [1/2, 1]
    labels = np.arange(90) % 3
    for delta in (0, 0.9):
        runs = [[simulate_placing(*of, delta=delta, rng=seed) for seed in range(5)]
                for of in ((true, labels, believed), (weights[0], labels, weights[1]))]  # fmt: skip
        assert runs[0] == runs[1]
    assert simulate_placing(true, [], believed, delta=0.5, rng=1) == (0, False, False)


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
