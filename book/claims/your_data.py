"""Claims of the chapter *Your own data*."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

import crowder as cr
from book.companion import naive
from book.companion.claims import agreement, also, exceeds, of_chapter
from book.companion.empirical import mean_and_error
from crowder.people import people
from crowder.practice.batch import STRATEGIES, ordering_with_answers, waste_free_questions
from crowder.practice.planner import clusterings, cuts
from crowder.practice.planner.planner import Plan
from crowder.practice.votes import settle

claim, check = of_chapter(__name__)

BEYOND, TESTS, BATCHES = "beyond the paper", "test_planner_parts.py::test_", "test_batch.py::test_"
IN_WORDS = {4: "four", 5: "five"}


@claim("B141", place=BEYOND, status="holds", basis="simulated",
       statement="""On generated data sets, the interval of the plan for the questions of edge ordering, computed
           without labels from the similarities and possibly some answers, contains the actual number clearly more often
           than not (nominally nine times in ten).""",
       code=[Plan, cuts.fit_cut, clusterings.PlausibleClusterings],
       test=TESTS + "the_interval_holds_nearly_as_often_as_it_says")  # fmt: skip
def coverage_of_the_interval(held=None, smallest=None, three=None, seed=1):
    """`held`: for each plan, whether its interval contains the actual number. `smallest`: some plans, and their actual
    runs. `three`: three different records."""
    if held is None:
        held, smallest = _trials()
    three = people([1, 1, 1], rng=1) if three is None else three
    held = np.array(held)
    yield exceeds(f"share of intervals that contain the actual number, {held.sum()} of {len(held)}: above one half",
                  *mean_and_error(held), 0.5, size=len(held), limit=2)  # fmt: skip
    counted = []
    for planned, actual in smallest:
        # All pairs in the order of edge ordering, from a run in which no two records match.
        every_pair = cr.EdgeOrdering(planned.condensed, rng=0).run(cr.Truth(range(planned.n))).queries
        labels = np.unique(planned.records["label"], return_inverse=True)[1]
        naive = _one_by_one([(min(pair), max(pair)) for pair in every_pair.tolist()], labels)
        counted.append((actual.n_queries, len(naive), sum(naive.values()), planned.n - len(set(labels.tolist()))))
    counted = np.array(counted)
    yield also(agreement("actual runs of the two smallest sets against naive edge ordering: questions, and "
                         "matches among them", counted[:, [0, 3]], counted[:, [1, 2]]))  # fmt: skip
    cost = cr.Plan(three, votes=3, price=0.25, rng=seed).table["cost to"]
    yield also(agreement("three different records, three votes at 0.25 each: cost", cost, [9 / 4] * 3))


@claim("B142", place=BEYOND, status="holds", basis="exact",
       statement="""No question of a batch is implied by any answers to the others, if each was open on the assumption
           that all before it in the batch match.""",
       code=waste_free_questions,
       test=BATCHES + "no_question_of_a_batch_is_implied_by_answers_to_the_others")  # fmt: skip
def no_question_of_a_batch_is_implied(records=4, seed=1):
    rng, bad, tried, runs = np.random.default_rng(seed), 0, 0, 0
    for labels, values in _every(records, rng):
        for size, way in product((2, 4), STRATEGIES):
            more, number = _wasted(_in_batches(way, values, labels, size)[1], records)
            bad, tried, runs = bad + more, tried + number, runs + 1
    yield agreement(f"questions implied by answers to the rest of their batch ({tried:,} combinations of answers, "
                    f"{runs:,} runs on {IN_WORDS[records]} records)", bad, 0)  # fmt: skip


@claim("B143", place=BEYOND, status="holds", basis="exact",
       statement="""In batches chosen on the assumption that all earlier open pairs match, edge ordering asks exactly
           the questions that it asks one by one.""",
       code=waste_free_questions, test=BATCHES + "edge_ordering_in_batches_asks_what_it_asks_one_by_one")  # fmt: skip
def edge_in_batches(records=4, seed=1):
    rng, small, larger = np.random.default_rng(seed), [], []
    every = _every(records, rng)
    for labels, values in every:
        plain = _one_by_one(_by_similarity(values, records), labels)
        small += [len(set(plain) ^ set(_in_batches("edge", values, labels, size)[0])) for size in (2, 4)]
    for size in (1, 3, 8, 50):
        crowd = cr.datasets.synthetic([6, 4, 3, 1, 1], cr.dist1(0.4), rng=rng)
        plain = _one_by_one(_by_similarity(crowd.condensed, crowd.n), crowd.labels)
        larger.append(len(set(plain) ^ set(_in_batches("edge", crowd.condensed, crowd.labels, size)[0])))
    yield agreement(f"questions asked only in batches or only one by one: all {len(every)} clusterings of "
                    f"{IN_WORDS[records]} records and {len(larger)} of fifteen, with two and four batch sizes",
                    [sum(small), sum(larger)], [0, 0])  # fmt: skip


# --- naive versions --------------------------------------------------------------------------------------------------


def _implied(known, i, j, n):
    """The answer about (i, j) implied by known answers {pair: same}, or None, by search from record i."""

    def spread(group):
        while (step := group | _beside(known, group, n, True)) != group:
            group = step
        return group

    group = spread({i})
    apart = spread(_beside(known, group, n, False))
    return True if j in group else False if j in apart else None


def _beside(known, group, n, answer):
    """The records with this answer to a question about one of the group."""
    return {b for a, b in product(group, range(n)) if known.get((min(a, b), max(a, b))) is answer}


def _one_by_one(order, labels):
    """Edge ordering: asks about the pairs in order, unless they are implied."""
    known = {}
    for i, j in order:
        if _implied(known, i, j, len(labels)) is None:
            known[i, j] = bool(labels[i] == labels[j])
    return known


def _by_similarity(values, n):
    i, j = np.triu_indices(n, 1)
    order = np.argsort(-values)
    return list(zip(i[order].tolist(), j[order].tolist(), strict=True))


def _wasted(batches, n):
    """The number of questions implied by some answers to the others of their batch, and of combinations tried."""
    bad = tried = 0
    for known, chosen in batches:
        for q, (i, j) in enumerate(chosen):
            rest = chosen[:q] + chosen[q + 1 :]
            for said in product([True, False], repeat=len(rest)):
                tried += 1
                bad += _implied(known | dict(zip(rest, said, strict=True)), i, j, n) is not None
    return bad, tried


# --- runs ------------------------------------------------------------------------------------------------------------


def _every(n, rng):
    """All clusterings of n records, each with different random similarities."""
    pairs = n * (n - 1) // 2
    return [(labels, rng.permutation(pairs) / pairs + 0.05) for labels in naive.clusterings(n)]


def _in_batches(way, values, labels, size):
    """Ask in batches until no pair is open: the answers, and the known answers before each batch."""
    known, batches = {}, []
    while chosen := waste_free_questions(
        ordering_with_answers(way, values, list(known), list(known.values()), rng=7), size
    ):
        chosen = [(min(pair), max(pair)) for pair in chosen]
        batches.append((dict(known), chosen))
        known |= {(i, j): bool(labels[i] == labels[j]) for i, j in chosen}
    return known, batches


@cache
def _trials(data_sets=4):
    """Plans for generated data, before and after some answers; the last two plans, and their actual runs."""
    held, pairs = [], []
    for rng in np.random.default_rng(1).spawn(data_sets):
        invented, answers = people(rng.choice([1, 1, 2, 3], size=10), rng=rng), None
        for _ in range(2):
            planned = cr.Plan(invented, answers=answers, strategies=("edge",), rng=0)
            actual = planned.actual_runs["edge"]
            low, _, high = planned.questions("edge")
            held.append(low <= actual.n_queries <= high)
            told = list(zip(actual.queries.tolist(), actual.answers.tolist(), strict=True))[:30]
            answers = settle(len(invented), [(i, j, same, None) for (i, j), same in told])
        pairs.append((planned, actual))
    return held, pairs[-2:]
