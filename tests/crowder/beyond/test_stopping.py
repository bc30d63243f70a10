"""Stopping early: the bound on what is missed against the exact posterior, and which questions are left out."""

from fractions import Fraction
from functools import cache
from math import comb, exp, log, prod

import numpy as np
import pytest
from naive import clusterings
from reference import Closure, bits

import crowder as cr
from crowder.pairs import candidates

MODELS = {
    "dist1": cr.dist1(Fraction(1, 2)),
    "dist2": cr.dist2(Fraction(1, 4)),
    "slope": cr.SimilarityModel.from_steps([0, 0.25, 0.5, 0.75, 1], [0.25, 0.75, 1.25, 1.75], [1.75, 1.25, 0.75, 0.25]),
}
WAYS = {
    "edge": lambda w, model: cr.EdgeOrdering(w, rng=1),
    "node": lambda w, model: cr.NodeOrdering(w, rng=1),
    "evidence": lambda w, model: cr.beyond.EvidenceOrdering(w, model, rng=1),
}


def stop(way, w, model, delta, odds=None):
    model = MODELS.get(model, model)
    return cr.beyond.Stopping(WAYS[way](w, model), model, delta=delta, odds=odds)


def broken_off(stopping, questions, labels):
    """The resolution after so many questions."""
    while stopping.n_queries < questions and (pair := stopping.ask()) is not None:
        stopping.tell(pair, bool(labels[pair[0]] == labels[pair[1]]))
    return stopping.resolution


def wrong(run, labels):
    """Which of the declared pairs are matches."""
    return labels[run.declared[:, 0]] == labels[run.declared[:, 1]]


@cache
def weights(n, odds):
    """Of the prior proportional to odds^-(number of clusters): all partitions of n records together; sizes of the first
    record's cluster."""
    first = [comb(n - 1, s - 1) / odds * (weights(n - s, odds)[0] if n > s else 1.0) for s in range(1, n + 1)]
    return sum(first), np.array(first) / sum(first)


def draw(n, odds, model, rng):
    """Labels from that prior and similarities from the model (condensed)."""
    labels, left, cluster = np.zeros(n, int), rng.permutation(n), 0
    while len(left):
        size = 1 + rng.choice(len(left), p=weights(len(left), odds)[1])
        labels[left[:size]], left, cluster = cluster, left[size:], cluster + 1
    return labels, similarities(labels, model, rng)


def similarities(labels, model, rng):
    i, j = np.triu_indices(len(labels), 1)
    green, red = (density.sample(len(i), rng=rng) for density in (model.green, model.red))
    return np.where(labels[i] == labels[j], green, red)


def matches(w, model, prior, run):
    """The exact probability of each declared pair, and of any, from all partitions that agree with the answers."""
    n = len(run.clusters)
    i, j = (side.tolist() for side in np.triu_indices(n, 1))
    green, red = ([Fraction(x) for x in density.pdf(w).tolist()] for density in (model.green, model.red))
    told = [(a, b, same) for (a, b), same in zip(run.queries.tolist(), run.answers.tolist(), strict=True)]
    chance = {
        p: prior(max(p) + 1) * prod(g if p[a] == p[b] else r for a, b, g, r in zip(i, j, green, red, strict=True))
        for p in clusterings(n)
        if all((p[a] == p[b]) == same for a, b, same in told)
    }
    whole = sum(chance.values())
    each = [float(sum(c for p, c in chance.items() if p[a] == p[b]) / whole) for a, b in run.declared.tolist()]
    return np.array(each), 1 - float(sum(c for p, c in chance.items() if max(p) == run.clusters.max()) / whole)


# --- the bound --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("odds", [Fraction(1), Fraction(1, 5), Fraction(4)])
def test_the_bound_is_never_below_the_exact_posterior_and_equal_for_a_lone_pair(model, odds):
    """Each entity more makes a partition 1/o times as likely: joining two components then has odds o, whatever the
    rest. Stop after some answers, and hold each declared pair against the enumeration of all partitions."""
    rng, n, equal = np.random.default_rng(3), 6, 0
    for trial in range(40):
        labels, w = draw(n, float(odds), MODELS[model], rng)
        run = broken_off(stop("edge", w, model, 0, float(odds)), trial % 13, labels)
        each, some = matches(w, MODELS[model], lambda k: Fraction(1) / odds**k, run)
        assert (run.chance >= each - 1e-5).all() and run.chance.sum() >= some - 1e-5
        ends = run.declared.ravel().tolist()
        lone = np.array([ends.count(a) == ends.count(b) == 1 for a, b in run.declared.tolist()], bool)
        assert run.chance[lone] == pytest.approx(each[lone], abs=1e-5)
        equal += lone.sum()
    assert equal > 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", MODELS)
def test_the_bound_is_its_formula_and_what_was_promised_holds_at_the_end(way, model):
    """The formula, added up pair by pair. Every two clusters have an answer or a declaration, never both."""
    rng = np.random.default_rng(5)
    for trial in range(4):
        labels, w = draw(20, 1.0, MODELS[model], rng)
        square, odds, delta = candidates(w).square(), 1.5, 0.2 / 10**trial
        run = stop(way, w, model, delta, odds).run(cr.Truth(labels))
        assert run.bound <= delta and run.precision(labels)[-1] == 1.0
        part = {c: np.flatnonzero(run.clusters == run.clusters[c]) for c in set(run.declared.ravel().tolist())}
        ratio = MODELS[model].green.pdf(square), MODELS[model].red.pdf(square)
        with np.errstate(divide="ignore"):
            evidence = np.clip(np.log(ratio[0]) - np.log(ratio[1]), -1e6, 1e6)
        together = {}  # of open pairs
        for a, b in run.declared.tolist():
            together[a, b] = together[b, a] = evidence[np.ix_(part[a], part[b])].sum()
        for (a, b), chance in zip(run.declared.tolist(), run.chance, strict=True):
            more = [
                sum(max(0, together[x, c]) for c in part if (x, c) in together and together.get((y, c), -1e6) > -1e5)
                for x, y in ((a, b), (b, a))
            ]
            expected = 0.0 if together[a, b] < -1e5 else 1 / (1 + exp(-log(odds) - together[a, b] - min(more)))
            assert chance == pytest.approx(expected, rel=1e-3, abs=1e-12)
        told = {frozenset(run.clusters[pair].tolist()) for pair in run.queries[~run.answers]}
        declared = {frozenset(run.clusters[pair].tolist()) for pair in run.declared}
        clusters = run.clusters.max() + 1
        assert not told & declared and len(declared) == len(run.declared)
        assert len(told) + len(declared) == clusters * (clusters - 1) // 2
        assert wrong(run, labels).any() == (run.recall(labels)[-1] < 1)


def test_a_crowd_that_is_known_to_err_gives_no_bound():
    for error in (0.0, 0.1):
        crowd = cr.MajorityVote(cr.Faulty(cr.Truth([0, 0, 1, 2]), error, rng=1), 3)
        run = stop("edge", [0.9, 0.1, 0.1, 0.2, 0.2, 0.3], "dist1", 0.1).run(crowd)
        assert run.crowd_errs == (error > 0) != hasattr(run, "bound")
    with pytest.raises(AttributeError, match="no bound: the crowd is known to err"):
        _ = run.bound


# --- the questions ----------------------------------------------------------------------------------------------------


def naive_first_pass(w, labels, order, votes):
    """Edge ordering, with the answer "no" taken for granted between components with at most so many votes."""
    closure, asked = Closure(len(labels)), []
    for u, v in order:
        if not closure.knows(u, v):
            across = [w[x, y] for x in bits(closure.same[u]) for y in bits(closure.same[v])]
            doubtful = sum(1 if value > 0.5 else -1 for value in across) > votes
            asked += [[u, v]] * doubtful
            closure.learn(u, v, doubtful and labels[u] == labels[v])
    return asked


@pytest.mark.parametrize(("odds", "votes"), [(1, -3), (3, -4), (1 / 3, -2)])
def test_the_first_pass_is_that_of_the_naive_version(odds, votes):
    """Under Dist-1 with ε = ½ a pair of components is a match with odds o 3^votes, and omitted at 1/26 or less."""
    for seed in range(10):
        data = cr.datasets.synthetic([6, 4, 3, 2], MODELS["dist1"], rng=seed, shuffle=True)
        i, j = np.triu_indices(data.n, 1)
        order = [(int(i[p]), int(j[p])) for p in np.argsort(-data.condensed)]
        run = stop("edge", data.condensed, "dist1", 1 / 27, odds).run(cr.Truth(data.labels))
        naive = naive_first_pass(data.similarity, data.labels, order, votes)
        assert naive and run.queries[: len(naive)].tolist() == naive


def test_the_last_part_asks_what_was_passed_over_too_early():
    """0 and 1 look alike; 2 is unlike 0, and is passed over. In the order 0, 2, 1 node ordering itself never comes back
    to 2; the odds of 0 and 1 with 2 are 30/8 once 1 has joined."""
    model = cr.SimilarityModel.from_steps([0, 0.5, 0.8, 1], [0.2, 1.0, 3.0], [1.6, 0.6, 0.1])
    w = np.array([0.95, 0.1, 0.9])  # (0, 1), (0, 2), (1, 2): odds 30, 1/8, 30
    first = cr.NodeOrdering(w, ties="index", order=[0, 2, 1])
    run = cr.beyond.Stopping(first, model, delta=0.2, odds=1).run(cr.Truth([0, 0, 0]))
    assert run.queries.tolist() == [[1, 0], [0, 2]]  # a component bears the name of its first record
    assert run.clusters.tolist() == [0, 0, 0] and len(run.declared) == 0


def test_after_a_match_the_likeliest_pair_is_found_anew():
    """Every pair is passed over at first; together they may match. A match changes the evidence of the component."""
    rng, met = np.random.default_rng(1), 0
    for _ in range(10):
        stopping = stop("edge", rng.choice([0.1, 0.3, 0.6], size=15), "slope", 0.3, odds=0.1)
        while (pair := stopping.ask()) is not None and met < 20:
            now, met = stopping.resolution, met + 1
            assert list(pair) == now.declared[np.argsort(now.chance, kind="stable")[-1]].tolist()
            stopping.tell(pair, True)
    assert met > 10
