"""The audit: that its limits are ever wrong no more often than stated, and that it works like any other ordering."""

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, log

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import poisson

import crowder as cr
from crowder.beyond.audit import audit_cost, limits

MODEL = cr.dist1(0.25)
DATA = cr.datasets.synthetic([12, 8, 5, 3, 2, 2, 1, 1, 1, 1], MODEL, rng=3)
PAIRS = np.triu_indices(DATA.n, 1)


def edge(seed=7, similarity=DATA.condensed):
    return cr.EdgeOrdering(similarity, rng=seed)


class Started(cr.beyond.Audit):
    """Turns to the audit for good after so many questions of the ordering."""

    def __init__(self, ordering, *, start, **settings):
        super().__init__(ordering, **settings)
        self.start = start

    def _due(self):
        return self.ordering.n_queries - self._audited >= self.start


def audit(seed=7, **settings):
    return (Started if "start" in settings else cr.beyond.Audit)(edge(seed), rng=seed, **settings)


def matching(labels):
    sizes = np.bincount(labels)
    return int((sizes * (sizes - 1) // 2).sum())


# --- the limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-200])
def test_the_limits_of_hundreds_of_discoveries_leave_nothing_out(alpha):
    """The recursion, with every number of points: chances below 1e-300 are left out, and with α = 1e-200 hundreds of
    points are likely before the first limit."""
    chance, last, shares = np.eye(1, 300)[0], 0.0, []
    for k, limit in enumerate(limits(alpha, 300)):
        chance = np.convolve(chance, poisson.pmf(np.arange(300), limit - last))[:300]
        shares.append(chance[k])
        chance[k], last = 0.0, limit
    k = np.arange(300)
    np.testing.assert_allclose(shares, alpha * (1 / (k + 1) ** 2 - 1 / (k + 2) ** 2), rtol=1e-9)


# --- the guarantee ----------------------------------------------------------------------------------------------------


class Listed:
    """A generator whose permutation is given."""

    def __init__(self, order):
        self.order = order

    def permutation(self, codes):
        return codes[list(self.order)]


def test_every_truth_and_every_order_of_draws_of_four_records(confidence=0.6):
    """Six pairs in 720 orders, with an audit from the start: `missed` is ever too small in at most 40 % of the orders.
    All orders being tried, it does not matter which records match, only how many; without a match nothing can be
    missed. Of the orders that differ by the names of records alone, and these are equally many, one is enough."""
    worst, pairs = Fraction(0), list(combinations(range(4), 2))
    for labels in ((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1), (0, 0, 1, 2)):
        others = []  # where the pairs go if records get other names, and the clusters stay clusters
        for names in permutations(range(4)):
            if all((labels[i] == labels[j]) == (labels[names[i]] == labels[names[j]]) for i, j in pairs):
                others.append([pairs.index((min(x), max(x))) for x in ((names[i], names[j]) for i, j in pairs)])
        orders = [p for p in permutations(range(6)) if p == min(tuple(to[x] for x in p) for to in others)]
        assert len(orders) == 720 / len(others)
        wrong = 0
        for order in orders:
            run = Started(edge(similarity=[0.5] * 6), recall=0.7, confidence=confidence, start=0, rng=1)
            run._rng = Listed(order)
            bad = False
            while (pair := run.ask()) is not None and not bad:
                run.tell(pair, labels[pair[0]] == labels[pair[1]])
                now = run.resolution
                bad = now.found + now.missed < matching(np.array(labels))
            wrong += bad
        worst = max(worst, Fraction(wrong, len(orders)))
    assert worst <= 1 - confidence
    assert worst > 0  # not for the trivial reason that nothing is ever rejected


@pytest.mark.parametrize(("make", "settings"), [
    (cr.EdgeOrdering, {}), (cr.NodeOrdering, {}), (cr.beyond.EvidenceOrdering, {}),
    (cr.EdgeOrdering, {"start": 20}), (cr.EdgeOrdering, {"start": 0}),  # which asks nothing of the ordering
])  # fmt: skip
def test_the_recall_is_hardly_ever_below_what_is_certified(make, settings):
    """150 runs at confidence 0.8, with similarities that mislead: 30 may be wrong, and 3 standard errors are 15."""
    rng, wrong = np.random.default_rng(9), 0
    for seed in range(150):
        similarity = rng.permutation(DATA.condensed)
        kind = Started if settings else cr.beyond.Audit
        run = kind(make(similarity, rng=seed), recall=0.8, confidence=0.8, rng=seed, **settings)
        result = run.run(cr.Truth(DATA.labels))
        wrong += result.recall(DATA.labels)[-1] < result.certified
        assert result.certified >= 0.8 and result.reason in ("recall", "settled")
    assert wrong <= 45


def test_the_limit_is_that_of_the_definition():
    """`missed` by adding up draws one by one: the largest number of matches that is not rejected."""
    run, labels, audited, hits = audit(recall=0.8, start=60), DATA.labels, 0, 0
    while (pair := run.ask()) is not None:
        drawn = run.auditing
        run.tell(pair, same := bool(labels[pair[0]] == labels[pair[1]]))
        audited, hits = audited + drawn, hits + (drawn and same)
    # Every run of draws with one number of matches found is the hypergeometric probability of finding none.
    result = run.resolution
    for g in (result.found + result.missed, result.found + result.missed + 1):
        exposure = 0.0
        for found, pairs, missed in run._draws.runs:
            exposure += sum(-log(1 - (g - found) / (pairs - s)) for s in range(missed))
        assert (exposure >= limits(0.05, 16)[hits]) == (g > result.found + result.missed)
    assert (result.audited, result.discovered) == (audited, hits)


def test_without_a_match_the_limit_is_hypergeometric():
    """28 pairs, none of which match: d draws miss all of g matches with probability C(28 - g, d)/C(28, d), and g is
    rejected once that is at most 0.75 α. `missed` is the largest g that is not, after every draw; it is 0 after 27."""
    run, drawn = Started(edge(similarity=[0.5] * 28), start=0, rng=1), 0
    while (pair := run.ask()) is not None:
        left = [g for g in range(29) if comb(28 - g, drawn) > 0.75 * 0.05 * comb(28, drawn)]
        assert run.resolution.missed == max(left)
        run.tell(pair, False)
        drawn += 1
    assert drawn == 27 and run.resolution.missed == 0


def test_with_nothing_left_it_costs_what_was_expected():
    """All matches are among the first questions; the mean of 60 audits is the expected number to a few per cent."""
    labels = np.repeat(np.arange(30), 5)
    similarity = np.where(np.equal.outer(labels, labels), 0.9, 0.1)
    runs = [
        Started(cr.EdgeOrdering(similarity, rng=1), recall=0.8, start=120, rng=seed).run(cr.Truth(labels))
        for seed in range(60)
    ]
    assert all(run.discovered == 0 and run.found == matching(labels) for run in runs)
    expected = audit_cost([5] * 30, 0.8)  # 120 questions are the spanning trees: no non-match is known
    assert runs[0].expected == expected.expected and expected.most == comb(30, 2)
    assert np.mean([run.audited for run in runs]) == pytest.approx(expected.expected, rel=0.04)


# --- candidates -------------------------------------------------------------------------------------------------------


def test_with_candidates_the_recall_is_that_among_them():
    i, j = PAIRS
    kept = DATA.condensed >= 0.3
    i, j = i[kept], j[kept]
    similarity = sparse.coo_array((DATA.condensed[kept], (i, j)), shape=(DATA.n, DATA.n))
    for seed in range(20):
        result = cr.beyond.Audit(edge(seed, similarity), recall=0.9, rng=seed).run(cr.Truth(DATA.labels))
        assert result.found == (result.clusters[i] == result.clusters[j]).sum() and result.among == "candidate pairs"
        assert result.certified >= 0.9 and result.found + result.missed <= len(i)
        if result.reason == "settled":
            assert result.found == (DATA.labels[i] == DATA.labels[j]).sum() and result.missed == 0
    nothing = cr.beyond.Audit(edge(7, sparse.coo_array((4, 4))), recall=0.5, rng=7).run(cr.Truth([0, 1, 2, 3]))
    assert (nothing.n_queries, nothing.missed, nothing.certified) == (0, 0, 1)


# --- an ordering like any other ---------------------------------------------------------------------------------------


class Careless(cr.Ordering):
    """Asks three pairs and ends."""

    def next_question(self):
        return next((pair for pair in ((0, 1), (2, 3), (4, 5)) if not self.settled(*pair)), None)


@pytest.mark.parametrize("wrapped", [
    lambda: edge(),
    lambda: cr.NodeOrdering(DATA.condensed, rng=7),
    lambda: cr.beyond.EvidenceOrdering(DATA.condensed, rng=7),
    lambda: cr.beyond.Stopping(edge(), MODEL, delta=0.2),
    lambda: Careless(DATA.condensed),
])  # fmt: skip
def test_every_ordering_can_be_audited(wrapped):
    """Its first questions are those of the ordering alone, and none is settled before its answer."""
    run = cr.beyond.Audit(wrapped(), recall=0.9, rng=7)
    while (pair := run.ask()) is not None:
        assert pair == run.ask() and not run.settled(*pair)
        run.tell(pair, bool(DATA.labels[pair[0]] == DATA.labels[pair[1]]))
    assert run.ask() is None and run.resolution.certified >= 0.9
    alone = wrapped().run(cr.Truth(DATA.labels)).queries[:3]
    assert run.resolution.queries[: len(alone)].tolist() == alone.tolist()


def test_answers_learned_early_change_no_draw():
    """All of a run's answers, learned in reverse: the run is over at once, with the same draws and the same limit."""
    whole, again = audit(start=25), audit(start=25)
    result = whole.run(cr.Truth(DATA.labels))
    for pair, same in zip(result.queries[::-1].tolist(), result.answers[::-1].tolist(), strict=True):
        again.learn(tuple(pair), same)
    assert again.ask() is None
    assert again._draws.runs == whole._draws.runs
    assert again.resolution.missed == result.missed and again.resolution.reason == result.reason


def test_nothing_is_certified_by_a_crowd_that_errs():
    result = audit().run(cr.MajorityVote(cr.Faulty(cr.Truth(DATA.labels), 0.05, rng=7), 3))
    assert result.crowd_errs and not hasattr(result, "certified")
    with pytest.raises(AttributeError, match="no recall is certified: the crowd is known to err"):
        _ = result.certified


def test_a_target_is_read_as_it_is_written():
    """19 of 20 matching pairs are exactly 0.95, which no float is."""
    assert audit(recall=0.95).target == Fraction(19, 20) == audit(recall=Fraction(19, 20)).target
