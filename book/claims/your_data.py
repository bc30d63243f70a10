"""Claims of the chapter *Your own data*."""

from __future__ import annotations

from functools import cache
from itertools import combinations, compress, product

import numpy as np
from scipy.sparse import coo_array

import crowder as cr
from book.companion import naive
from book.companion.claims import agreement, exceeds, of_chapter
from book.companion.empirical import mean_and_error
from crowder.pairs import candidates, constrained
from crowder.people import people
from crowder.practice.batch import STRATEGIES, ordering_with_answers, waste_free_questions
from crowder.practice.draws import draw_clusterings
from crowder.practice.plan import Plan

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
IN_WORDS = {4: "four", 5: "five"}


@claim("B141")
def coverage_of_the_interval(held=None):
    """`held`: for each plan, whether its interval contains the actual number."""
    held = np.array(_trials() if held is None else held)
    yield exceeds(f"share of intervals that contain the actual number, {held.sum()} of {len(held)}: above one half",
                  *mean_and_error(held), 0.5, size=len(held), limit=2)  # fmt: skip


@claim("B142")
def no_question_of_a_batch_is_implied(records=4, seed=1):
    rng, bad, tried, runs = np.random.default_rng(seed), 0, 0, 0
    for labels, values in _every(records, rng):
        for size, way in product((2, 4), STRATEGIES):
            more, number = _wasted(_in_batches(way, values, labels, size)[1], records)
            bad, tried, runs = bad + more, tried + number, runs + 1
    yield agreement(f"questions implied by answers to the rest of their batch ({tried:,} combinations of answers, "
                    f"{runs:,} runs on {IN_WORDS[records]} records)", bad, 0)  # fmt: skip


@claim("B143")
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


@claim("B205")
def asked_if_both_answers_are_possible(seed=1):
    rng, wrong, runs, every = np.random.default_rng(seed), 0, 0, list(combinations(range(4), 2))
    for tables, known in product([(0, 0, 1, 1), (0, 1, 0, 2), (0, 1, 2, 3)], [{}, {(0, 3): True}, {(1, 2): False}]):
        possible = [labels for labels in naive.clusterings(4) if _allows(labels, tables, known)]
        given = (list(known), list(known.values())) if known else None
        for kept, truth in product(product([False, True], repeat=len(every)), possible):
            pool, values = list(compress(every, kept)), rng.permutation(1 + np.arange(len(every))) / 10
            listed = coo_array((values[list(kept)], np.reshape(pool, (-1, 2)).T), shape=(4, 4))
            pairs = constrained(candidates(values if all(kept) else listed), given, tables)
            for asking in (cr.EdgeOrdering(pairs, rng=seed), cr.NodeOrdering(pairs, rng=seed)):
                left = possible
                while (pair := asking.ask()) is not None:
                    wrong += not _open(pair, left)
                    left = [labels for labels in left if _same(pair, labels) == _same(pair, truth)]
                    asking.tell(pair, _same(pair, truth))
                wrong, runs = wrong + sum(_open(pair, left) for pair in pool), runs + 1
    yield agreement(f"questions with one possible answer, and candidate pairs that are left with two ({runs:,} runs on "
                    f"four records, of which all pairs or any of them are candidates)", wrong, 0)  # fmt: skip


def _same(pair, labels):
    return bool(labels[pair[0]] == labels[pair[1]])


def _open(pair, clusterings):
    """Whether both answers are possible."""
    return len({_same(pair, labels) for labels in clusterings}) == 2


def _allows(labels, tables, known):
    """Whether a clustering agrees with the known answers, and has no two records of one table together."""
    apart = not any(_same(pair, labels) for pair in combinations(range(4), 2) if _same(pair, tables))
    return apart and all(_same(pair, labels) == answer for pair, answer in known.items())


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
    """Whether the plan's interval holds for generated data, before and after some answers."""
    return [line["held"] for rng in np.random.default_rng(1).spawn(data_sets) for line in trial(rng, 30)]


def trial(rng, answered=60):
    """A row for the plan of invented people before any answer, and one for that after a batch of answers."""
    sizes = rng.choice([1, 1, 1, 2, 2, 3, 4, 6], size=int(rng.integers(12, 45)))
    invented = people(sizes, mistakes=float(rng.choice([0.5, 1.0, 2.0])), rng=rng)
    similarity, told, rows = str(rng.choice(list(cr.similarity.SIMILARITIES))), ((), ()), []
    labels = np.unique(invented["label"], return_inverse=True)[1]
    for _ in range(2):
        plan = cr.Plan(invented, similarity, ordering="edge", answers=told, rng=0)
        row, actual = plan.table.iloc[0], int(plan.actual(labels)["questions"].iloc[0])
        held = bool(row["from"] <= actual <= row["to"])
        rows.append({"similarity": similarity, **row, "answers": len(told[0]), "actual": actual, "held": held})
        asked = np.array(plan.batch(answered))
        told = asked, labels[asked[:, 0]] == labels[asked[:, 1]]
    return rows
