"""Audits whose questions are asked side by side, or on paper: the order in which answers come in changes nothing."""

from math import isnan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import crowder as cr
from crowder.pairs import candidates
from crowder_tool import LearnedOrdering, people
from crowder_tool.audit import Audit, OwnAudited, ReplayedAudit
from crowder_tool.scored import ScoredOrdering

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


def test_at_least_so_many_answers_are_needed_if_they_find_no_match():
    """Of a hundred records ten pairs match and are known; the audit finds none more."""
    pairs = candidates(np.zeros(100 * 99 // 2))
    before, since, drawn = [((2 * k, 2 * k + 1), True) for k in range(10)], [], []
    run = ReplayedAudit(pairs, before, since, drawn, recall=0.9, rng=1)
    expected = run.least()
    while chosen := run.draws(300):
        drawn += chosen
        since += [(pair, False) for pair in chosen]
        run = ReplayedAudit(pairs, before, since, drawn, recall=0.9, rng=1)
    assert run.least() == 0 and abs(run.resolution.audited - expected) < 0.1 * expected + 50


# --- side by side -----------------------------------------------------------------------------------------------------


def audit(seed, **how):
    return Audit(ScoredOrdering(PAIRS, rng=seed), rng=seed, **how)


def side_by_side(run, crowd, size, order=None):
    """Ask in batches of this size, answered in a random order; after each answer, what is found, missed and certified.
    About questions that were not drawn, the first worker asked is unsure in one case of four."""
    unsure = set()
    while pairs := run.batch(size):
        assert len(pairs) <= size and not any(run.settled(*pair) for pair in pairs)
        drawn = run.auditing
        if order is not None:
            order.shuffle(pairs)
        for pair in pairs:
            doubted = order is not None and not drawn and frozenset(pair) not in unsure and order.random() < 0.25
            unsure.add(frozenset(pair))
            run.learn(pair, None if doubted else crowd(pair))
            yield run.resolution


def test_in_batches_of_one_the_questions_are_those_of_one_by_one():
    for seed in range(10):
        alone, run = audit(seed), audit(seed)
        alone.run(cr.Truth(LABELS))
        *_, last = side_by_side(run, same, 1)
        assert last.queries.tolist() == alone.resolution.queries.tolist() and limits(run) == limits(alone)
        assert run.batch(1) == [] and run.resolution.reason == alone.resolution.reason


def test_a_draw_is_used_after_those_before_it_and_handed_out_until_it_has_an_answer():
    """Nobody found that 80 records differ; the audit's questions are answered from the last to the first."""
    run = Audit(ScoredOrdering(candidates(np.zeros(80 * 79 // 2)), rng=1), rng=1)
    while (pair := run.ask()) and not run.auditing:
        run.tell(pair, False)
    first, *others = run.batch(6)
    for pair in others[::-1]:
        run.learn(pair, False)
    assert run.resolution.audited == 0 and run.batch(2)[0] == first
    run.learn(first, False)
    assert run.resolution.audited == 6


def test_unsure_leaves_a_question_of_the_ordering_open_but_no_pair_that_was_drawn():
    run = audit(1)
    while (pair := run.ask()) and not run.auditing:
        run.tell(pair, None)
        assert run.ask() != pair
    with pytest.raises(TypeError, match=r"not None \(unsure\): ask somebody else"):
        run.tell(pair, None)
    assert run.ask() == pair and run.run(cr.Truth(LABELS)).certified >= 0.95


@pytest.mark.parametrize("first", [True, None])
def test_a_question_of_the_ordering_that_is_drawn_before_it_has_an_answer_is_a_draw(first):
    """Record 0 matches 1, which the ordering asks first; nobody answers until the audit has drawn this pair. If that is
    unsure, it was about the ordering's question, and somebody else is asked about the draw."""
    run, late = audit(3), (0, 1)
    assert run.batch(1) == [late]
    run._patience, run._question = 0, None  # the ordering has gone on to others, and is dry
    drawn = run.batch(len(PAIRS.listed()[1]))
    assert run.auditing and late in drawn
    for pair in drawn[: drawn.index(late)]:
        run.learn(pair, False)
    run.learn(late, first)
    assert first or run.batch(1) == [late]
    run.learn(late, True)
    assert run.resolution.discovered == 1


def test_a_run_goes_on_where_all_that_the_ordering_asks_next_has_answers_from_elsewhere():
    ordering = LearnedOrdering(people([2] * 6, rng=1), rng=7)
    run = Audit(ordering, rng=7)
    first, *others = run.batch(4)
    for pair in others:
        run._handed_out.clear()
        run.learn(pair, False)
    ordering.batch = lambda n: others
    assert run.batch(3) == [first]


def test_the_limit_holds_side_by_side(runs=200 if NIGHTLY else 60, confidence=0.8):
    """Batches of three, answered in any order, some of them unsure: at every moment of at least 80 % of the runs no
    more is missed than the limit says. One false alarm in ten thousand is allowed."""
    matches, wrong, several = sum(same((i, j)) for i in range(len(LABELS)) for j in range(i)), 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        labels = rng.permutation(LABELS)
        run = audit(seed, confidence=confidence, recall=0.7)
        course = list(side_by_side(run, lambda pair, labels=labels: same(pair, labels), 3, rng))
        wrong += max(matches - now.found - now.missed for now in course) > 0
        several += course[-1].audited > 3
    assert wrong <= binom.ppf(1 - 1e-4, runs, 1 - confidence) and several > runs / 2


# --- what a certificate says ------------------------------------------------------------------------------------------


def test_a_certificate_says_what_it_assumes():
    """The truth of the answers, and the candidate pairs, always; what else the run has relied on, where it has."""
    records = people([2] * 12 + [1] * 8, rng=3)
    records = pd.concat([records, records], ignore_index=True)
    crowd = cr.Truth(records["label"])
    found = Audit(LearnedOrdering(records, rng=7), rng=7).run(crowd)
    true, text, counted = found.assumes
    assert (true, text.split()[:4]) == ("all answers are true", ["records", "with", "one", "text"])
    assert f"not among the {found.candidates:,} candidate pairs" in counted
    two = records.drop_duplicates("label", ignore_index=True).assign(file=[*"ab"] * 10)
    for ordering in (LearnedOrdering(two, table="file", accept=True, rng=7), LearnedOrdering(two, table="file", rng=7)):
        run = ordering if ordering.accept else Audit(ordering, rng=7)
        assert run.run(cr.Truth(two["label"])).assumes[1] == "no two records of one table match"
    assert len(audit(1).run(cr.Truth(LABELS)).assumes) == 2


def test_without_candidates_nothing_is_certified_and_before_learning_nothing_is_expected():
    records = pd.DataFrame({"name": ["ann", "bob", "cy"]})
    found = Audit(LearnedOrdering(records, rng=7), rng=7).run(cr.Truth([0, 0, 1]))
    assert (found.candidates, found.certified, found.n_queries) == (0, 0.0, 0)
    accepted = LearnedOrdering(records, accept=True, rng=7).run(cr.Truth([0, 0, 1]))
    assert accepted.certified_precision is None and accepted.certified_recall is None
    assert not ReplayedAudit(candidates(np.zeros(0)), [], [], [], rng=1).certified
    ordering = LearnedOrdering(people([2] * 30, rng=1), rng=7)
    for _ in range(20):
        ordering.tell(ordering.ask(), False)
    assert isnan(ordering.expected)


def test_it_says_its_price_before_it_begins_and_at_any_time():
    """With no match found, draws go on until one match is unlikely to be left; a match found makes it cheaper."""
    run = audit(1)
    before = run.cost()
    assert before.most == len(PAIRS.listed()[1]) and 0 < before.expected < before.most
    result = run.run(cr.Truth(LABELS))
    assert isinstance(result, OwnAudited) and run.cost().expected < before.expected
