"""Clusters from answers that exist already."""

from itertools import combinations

import numpy as np
import pytest
from shared import f1

import crowder as cr


def voted(labels, rates, seed, *, share=1.0):
    """Rows of answers: each worker answers a share of the pairs, with errors of their own at these rates."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(labels), 1)
    rows = []
    for worker, rate in rates.items():
        for at in np.flatnonzero(rng.random(len(i)) < share):
            said = (labels[i[at]] == labels[j[at]]) != (rng.random() < rate)
            rows.append((int(i[at]), int(j[at]), bool(said), worker))
    return rows


LABELS = np.repeat(np.arange(6), [8, 6, 4, 3, 2, 1])


def test_it_finds_the_clusters_and_who_errs():
    rows = voted(LABELS, {"ann": 0.02, "bob": 0.1, "eve": 0.35}, 1)
    result = cr.beyond.resolve(rows, rng=1)
    assert f1(result.clusters, LABELS) == 1.0
    wrong = {worker: sum(rates) / 2 for worker, rates in result.errors.workers.items()}
    assert wrong["ann"] < wrong["bob"] < wrong["eve"]
    assert result.n_answers == len(rows)
    assert cr.beyond.resolve([*rows, (0, 1, "unsure", "ann")], rng=1).n_answers == len(rows) + 1  # it was paid for, too


def candidate_rows(seed):
    """Thirty entities of two records; asked about are the matches and twice as many others. Three votes a pair.

    To everybody, an eighth of the matches look different, and one in twenty non-matches looks the same.
    """
    rng = np.random.default_rng(seed)
    others = rng.integers(60, size=(90, 2))
    pairs = [(2 * k, 2 * k + 1) for k in range(30)] + [(i, j) for i, j in others.tolist() if i // 2 != j // 2][:60]
    looks = [(i // 2 == j // 2) != (rng.random() < (0.125 if i // 2 == j // 2 else 0.05)) for i, j in pairs]
    rows = [(i, j, bool(look)) for (i, j), look in zip(pairs, looks, strict=True) for _ in range(3)]
    return [rows[at] for at in rng.permutation(len(rows))]


def test_it_is_not_lost_where_every_yes_is_taken_for_an_error():
    # One in three of the pairs asked about is a match, and one in sixty of all pairs. With the latter as the prior of
    # the former, "yes" was taken for an error ever more often: for seeds 0 to 3 about twice as often as it is, and for
    # seed 17 until all records were alone.
    labels = np.repeat(np.arange(30), 2)
    for seed in (0, 1, 2, 3, 17):
        result = cr.beyond.resolve(cr.beyond.Answers.read(candidate_rows(seed), 60), rng=seed)
        assert f1(result.clusters, labels) > 0.6
        assert result.errors.false_yes < (0.16 if seed == 17 else 0.06)  # it is 0.05


def test_similarities_decide_where_answers_are_missing():
    # Nobody was asked about record 23; it is similar to the records of its cluster alone.
    labels = np.append(np.repeat([0, 1, 2], 8)[:23], 2)
    rows = [row for row in voted(labels, {"ann": 0.02}, 1) if 23 not in row[:2]]
    similarity = np.where(labels[:, None] == labels, 0.9, 0.1)
    alone = cr.beyond.resolve(rows, n=24, rng=1)
    assert alone.clusters.tolist().count(3) == 1
    similar = cr.beyond.resolve(rows, similarity, rng=1)
    assert similar.clusters.tolist() == labels.tolist() and similar.given_others[23] > 0.9


def test_no_answers_and_few_records():
    assert cr.beyond.resolve([], rng=1).clusters.tolist() == []
    assert cr.beyond.resolve([], n=3, rng=1).clusters.tolist() == [0, 1, 2]
    assert cr.beyond.resolve([(0, 1, "unsure")], rng=1).clusters.tolist() == [0, 1]
    for rows in ([(0, 1, "yes")], cr.beyond.Answers.read([(0, 1, "yes")])):  # a table that names records 0 and 1 alone
        for n in (2, 4):
            assert cr.beyond.resolve(rows, n=n, rng=1).clusters.tolist() == [0, 0, 1, 2][:n]


def coins(records, votes, seed):
    rng = np.random.default_rng(seed)
    pairs = combinations(range(records), 2)
    return [(i, j, bool(rng.random() < 0.5)) for i, j in pairs for _ in range(votes)]


NOISE = {
    "one yes and one no": [(0, 1, "yes"), (0, 1, "no")],
    **{f"{n} records, {v} votes, seed {s}": coins(n, v, s) for n, v in ((10, 1), (20, 1), (12, 3)) for s in range(3)},
}


@pytest.mark.parametrize("rows", NOISE.values(), ids=NOISE)
def test_of_noise_nothing_is_sure(rows):
    # Coin flips are explained as well by a crowd that sees nothing.
    assert cr.beyond.resolve(rows, rng=1).given_others.max() < 0.7


def test_two_yes_do_not_outweigh_a_hundred_no():
    # 15 records, 102 pairs; two of them said to match.
    rows = [(i, j, at in (5, 70)) for at, (i, j) in enumerate(list(combinations(range(15), 2))[:102])]
    assert np.bincount(cr.beyond.resolve(rows, rng=1).clusters).max() <= 2 + 1


@pytest.mark.parametrize("seed", range(3))
def test_where_answers_suffice_they_are_believed(seed):
    """Forty pairs of 200 records with five yes each, and 400 no about random others: no contradiction, no similarity.

    The clusters are right. How well a record of a pair is said to fit was 0.80 at least on the first of these: a *no*
    rarely says much about two records that nobody would have taken for one.
    """
    rng = np.random.default_rng(seed)
    pairs = [(2 * k, 2 * k + 1) for k in range(40)]
    others = {tuple(sorted(rng.choice(200, 2, replace=False).tolist())) for _ in range(500)} - set(pairs)
    apart = rng.permutation(sorted(others))[:400].tolist()
    rows = [(i, j, "yes") for i, j in pairs for _ in range(5)] + [(i, j, "no") for i, j in apart]
    result = cr.beyond.resolve(rows, n=200, rng=1)
    np.testing.assert_array_equal(result.clusters, np.append(np.repeat(np.arange(40), 2), np.arange(40, 160)))
    assert result.given_others[:80].min() > 0.75


@pytest.mark.parametrize(("name", "votes", "least"), [("gym", 1, 0.95), ("gym", 5, 0.95), ("allsports", 1, 0.99)])
def test_all_answers_of_real_crowds(real_crowds, name, votes, least):
    # Correlation clustering of everything reaches 0.96 on gym and 1.00 on allsports with rates set by hand.
    crowd = real_crowds[name]
    i, j = np.triu_indices(len(crowd.labels), 1)
    rows = [(a, b, bool(v)) for a, b, of in zip(i.tolist(), j.tolist(), crowd.votes[:, :votes], strict=True)
            for v in of if v == v]  # fmt: skip
    result = cr.beyond.resolve(rows, crowd.similarity, rng=1)
    assert f1(result.clusters, crowd.labels) >= least
