"""An audit that is replayed from answers on disk: the order in which people hand them in changes nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import crowder as cr
from crowder.pairs import candidates
from crowder_tool.audit import ReplayedAudit

from .support import NIGHTLY, examples

LABELS = np.repeat(np.arange(8), [4, 3, 2, 2, 1, 1, 1, 1])
PAIRS = candidates(np.linspace(1, 0, len(LABELS) * (len(LABELS) - 1) // 2))


def same(pair, labels=LABELS):
    return bool(labels[pair[0]] == labels[pair[1]])


def limits(run):
    told = run.resolution
    return told.found, told.missed, told.audited, told.discovered


@given(st.integers(0, 99), st.integers(1, 12), st.randoms())
@examples(10, night=100)
def test_draws_count_in_the_order_in_which_they_were_drawn(seed, number, order):
    before = [((0, 1), True), ((4, 5), True), ((0, 4), False)]
    drawn = ReplayedAudit(PAIRS, before, [], [], rng=seed).draws(number)
    since = [(pair, same(pair)) for pair in drawn]
    straight = limits(ReplayedAudit(PAIRS, before, since, drawn, rng=seed))
    order.shuffle(since)
    assert limits(ReplayedAudit(PAIRS, before, since, drawn, rng=seed)) == straight


def test_other_answers_wait_until_no_draw_is_missing_before_one_that_is_answered():
    first, second, third = ReplayedAudit(PAIRS, [], [], [], rng=1).draws(3)
    other = next(pair for pair in [(0, 1), (4, 5), (7, 8), (9, 10)] if pair not in (first, second, third))
    told = [(second, same(second)), (other, same(other))]
    early = ReplayedAudit(PAIRS, [], told, [first, second, third], rng=1)
    assert early.resolution.audited == 0 and not early.ordering.settled(*other)
    assert early.draws(1) == [first]  # what is missing is asked first
    late = ReplayedAudit(PAIRS, [], [*told, (first, same(first))], [first, second, third], rng=1)
    assert late.resolution.audited == 2 and late.ordering.settled(*other)


def test_the_limit_holds_while_the_ordering_goes_on_in_between(runs=120 if NIGHTLY else 40, confidence=0.8):
    """Sheets of three draws, handed in matches first, and two questions of edge ordering after each: at every moment of
    at least 80 % of the runs no more is missed than the limit says. One false alarm in ten thousand is allowed."""
    matches = sum(same((i, j)) for i in range(len(LABELS)) for j in range(i))
    wrong = 0
    for seed in range(runs):
        labels = np.random.default_rng(seed).permutation(LABELS)
        ordering, since, drawn, worst = cr.EdgeOrdering(PAIRS, rng=seed), [], [], 0
        while True:
            run = ReplayedAudit(PAIRS, [], since, drawn, confidence=confidence, recall=0.9, rng=seed)
            worst = max(worst, matches - run.resolution.found - run.resolution.missed)
            if not (pairs := run.draws(3)):
                break
            drawn += pairs
            since += sorted(((pair, same(pair, labels)) for pair in pairs), key=lambda one: not one[1])
            for pair, answer in since:
                ordering.learn(pair, answer)
            for _ in range(2):
                if (pair := ordering.ask()) is not None:
                    ordering.tell(pair, same(pair, labels))
                    since.append((pair, same(pair, labels)))
        wrong += worst > 0
    assert wrong <= binom.ppf(1 - 1e-4, runs, 1 - confidence)


@pytest.mark.parametrize("found", [1, 10])
def test_at_least_so_many_answers_are_needed_if_they_find_no_match(found):
    """Of a hundred records `found` pairs match and are known; the audit finds none more."""
    pairs = candidates(np.zeros(100 * 99 // 2))
    before, since, drawn = [((2 * k, 2 * k + 1), True) for k in range(found)], [], []
    run = ReplayedAudit(pairs, before, since, drawn, recall=0.9, rng=1)
    expected = run.least()
    while chosen := run.draws(300):
        drawn += chosen
        since += [(pair, False) for pair in chosen]
        run = ReplayedAudit(pairs, before, since, drawn, recall=0.9, rng=1)
    assert run.least() == 0 and abs(run.resolution.audited - expected) < 0.1 * expected + 50
