"""An ordering for a crowd that errs: it revises, it ends, it is exact with a perfect crowd; `resolve`."""

from itertools import combinations

import numpy as np
import pytest
from shared import f1

import crowder as cr
from crowder.beyond import noisy
from crowder.beyond.clustering import correlation, most, sums_tell, tally
from crowder.beyond.noisy import CORRELATIONS
from crowder.crowds import replay


def invented(sizes, seed, model=None):
    return cr.datasets.synthetic(sizes, model or cr.dist2(0.2), rng=seed, shuffle=True)


def erring(labels, false_yes, false_no, seed):
    """A crowd whose errors stay with a pair."""
    rng = np.random.default_rng(seed)
    wrong = rng.random((len(labels), len(labels)))

    def answer(i, j):
        i, j = min(i, j), max(i, j)
        same = bool(labels[i] == labels[j])
        return same != bool(wrong[i, j] < (false_no if same else false_yes))

    return answer


def test_with_a_perfect_crowd_it_is_exact():
    """And asks hardly more than edge ordering: the price of finding out that the crowd is perfect."""
    learned, by_edge = 0, 0
    for seed in range(2):
        data = invented([40, 30, 20, 10, 5, 2, 1], seed, cr.dist1(0.3))
        ordering = cr.beyond.NoisyOrdering(data.similarity, rng=seed)
        assert f1(ordering.run(cr.Truth(data.labels)), data.labels) == 1.0
        learned += ordering.n_answers
        by_edge += cr.edge_ordering(data.similarity, cr.Truth(data.labels), rng=seed).n_queries
    assert learned <= 1.2 * by_edge


def test_errors_that_stay_with_a_pair_are_outvoted_by_other_pairs():
    found, by_edge = [], []
    for seed in range(4):
        data = invented([20, 12, 8, 4, 2, 1], seed)
        crowd = erring(data.labels, 0.05, 0.2, seed)
        found.append(f1(cr.beyond.NoisyOrdering(data.similarity, rng=seed).run(crowd), data.labels))
        by_edge.append(f1(cr.edge_ordering(data.similarity, crowd, rng=seed).clusters, data.labels))
    assert np.mean(found) > 0.95 > 0.8 > np.mean(by_edge)


def test_sums_are_kept_while_answers_come():
    data = invented([8, 6, 4, 2], 2)
    ordering, crowd = cr.beyond.NoisyOrdering(data.similarity, rng=2), erring(data.labels, 0.1, 0.2, 2)
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, crowd(*pair))
        np.testing.assert_array_equal(ordering._size, np.bincount(ordering._labels, minlength=20))
        for values, sums in (
            (ordering._s, ordering._answered), (ordering._e, ordering._similar),
            (ordering._free, ordering._unasked),
        ):  # fmt: skip
            apart = ~np.eye(20, dtype=bool)  # what a cluster has with itself is not used
            np.testing.assert_allclose(sums[apart], tally(values, ordering._labels)[apart], atol=1e-9)


def test_a_vote_counts_with_the_rates_of_its_worker():
    """Eve guesses and ann hardly errs: at once, not only when rates are learned again."""
    rates = cr.beyond.ErrorRates(0.01, 0.1, {"ann": (0.01, 0.02), "eve": (0.48, 0.49)})
    ordering = cr.beyond.NoisyOrdering([0.5] * 3, errors=rates, rng=1)
    said, workers = [True, False, False], ["eve", "ann", None]
    for count in range(1, 4):
        ordering.learn((1, 0), said[count - 1], workers[count - 1])
        expected = rates.of_votes(said[:count], workers[:count])
        assert ordering._s[0, 1] == ordering._s[1, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("by_sums", "least"), [(True, np.log(4 / 3)), (False, np.log(2 / 1))])
def test_of_two_cuts_the_larger_is_asked_about_unless_it_is_surer(by_sums, least):
    """A cluster of four records in a row. If its middle is wrong, four pairs and two records are; if its first record
    is, three pairs and one record. So the middle is asked about until it is surer by the logarithm of the ratio, by the
    most similar pair across the cut."""
    for more, expected in ((least - 0.09, {1, 2}), (least + 0.11, {0, 1})):
        ordering = cr.beyond.NoisyOrdering([0.9, 0.1, 0.1, 0.8, 0.1, 0.1], rng=1)
        ordering._labels[:], ordering._e[:], ordering._base, ordering._by_sums = 0, 0.0, 0.0, by_sums
        for (i, j), evidence in {(0, 1): 2.0, (1, 2): 2.0 + more, (2, 3): 9.0}.items():
            ordering._s[i, j] = ordering._s[j, i] = evidence
        ordering._tally()
        assert set(ordering._inside(-np.inf)) == expected


@pytest.mark.parametrize("by_sums", [True, False])
def test_a_cut_is_left_alone_by_the_number_of_wrong_pairs_expected(by_sums):
    """In its middle the cluster is wrong with probability e^-2, and then about four pairs of records."""
    for doubt, asks in ((3.9 * np.exp(-2), True), (4.1 * np.exp(-2), False)):
        ordering = cr.beyond.NoisyOrdering([0.9, 0.1, 0.1, 0.8, 0.1, 0.1], doubt=doubt, rng=1)
        ordering._labels[:], ordering._e[:], ordering._base, ordering._by_sums = 0, 0.0, 0.0, by_sums
        for (i, j), evidence in {(0, 1): 9.0, (1, 2): 2.0, (2, 3): 9.0}.items():
            ordering._s[i, j] = ordering._s[j, i] = evidence
        ordering._tally()
        assert (ordering._inside(-np.inf) is not None) == asks


@pytest.mark.parametrize("misleading", [True, False])
def test_where_sums_mislead_the_most_similar_pair_counts(misleading, monkeypatch):
    """Entities of fifteen records in a row, each most similar to its neighbours; or as similar to all others of its
    entity. In the first case most of its entity is less similar to it than the records of another entity are."""
    rng = np.random.default_rng(1)
    labels, places = np.repeat(np.arange(4), 15), np.tile(np.arange(15), 4)
    same, gap = labels[:, None] == labels, abs(places[:, None] - places)
    high = same & (gap <= 2) if misleading else same
    similarity = 0.6 * rng.random((60, 60)) + 0.15 * (labels[:, None] // 2 == labels // 2) * ~same
    similarity = np.triu(np.where(high, 0.5 + 0.5 * rng.random((60, 60)), similarity), 1)
    similarity += similarity.T + np.eye(60)
    ordering, by_sums = cr.beyond.NoisyOrdering(similarity, rng=1), []

    def told(values, free, clusters, rho):
        np.testing.assert_array_equal(free, ordering._free)
        return sums_tell(values, free, clusters, rho)

    monkeypatch.setattr(noisy, "sums_tell", told)
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, bool(labels[pair[0]] == labels[pair[1]]))
        by_sums.append(ordering._by_sums)
        if not by_sums[-1]:
            apart = ~np.eye(60, dtype=bool)
            largest = most(ordering._e, ordering._labels)
            np.testing.assert_array_equal(ordering._nearest[apart], largest[apart])
    assert f1(ordering.clusters, labels) == 1.0
    assert (not all(by_sums)) == misleading


def test_answers_may_be_taken_while_a_question_is_open():
    """They may have settled it: then it is not asked again."""
    ordering = cr.beyond.NoisyOrdering([0.5] * 3, doubt=0, rng=1)
    assert ordering.ask() is not None
    ordering.take(cr.beyond.Answers.read([(0, 1, "yes"), (1, 2, "no"), (0, 2, "no")]))
    assert ordering.ask() is None and ordering.n_answers == 3


@pytest.mark.parametrize(("said", "clusters"), [(True, 1), (False, 10), (None, 10)])
def test_without_doubt_every_pair_is_asked_about_once(said, clusters):
    """Of unsure answers nothing follows; within a budget, a run can be continued."""
    whole, parts = (cr.beyond.NoisyOrdering(np.linspace(0.9, 0.1, 45), doubt=0, rng=0) for _ in range(2))
    assert len(set(whole.run(lambda i, j: said))) == clusters
    parts.run(lambda i, j: said, budget=7)
    assert parts.n_answers == 7
    parts.run(lambda i, j: said)
    assert parts.answers == whole.answers and len({frozenset(row[:2]) for row in whole.answers}) == 45
    assert whole.n_answers == 45
    assert repr(whole) == "NoisyOrdering(10 records, 45 answers)"


def test_an_oracle_with_votes_is_asked_for_the_first_and_may_name_workers():
    """Of each pair once, also where the answer is unsure."""

    class Crowd:
        def vote(self, i, j, number):
            return None if i + j == 1 else False, f"worker {number} of {i + j}"

    ordering = cr.beyond.NoisyOrdering([0.5] * 3, doubt=0, rng=1)
    ordering.run(Crowd())
    said = {(i + j, same, worker) for i, j, same, worker in ordering.answers}
    assert said == {(1, None, "worker 0 of 1"), (2, False, "worker 0 of 2"), (3, False, "worker 0 of 3")}
    assert ordering.n_answers == 3


@pytest.mark.parametrize("bad", [(True,), (True, "ann", 3), ("no", "ann"), (True, ["ann"]), (True, np.nan)])
def test_another_form_of_answer_or_worker_changes_nothing(bad):
    said = iter([False, None, bad])
    ordering = cr.beyond.NoisyOrdering(np.linspace(0.9, 0.1, 10), doubt=0, rng=1)
    with pytest.raises((TypeError, ValueError), match=r"the answer to \(\d, \d\) must|the worker"):
        ordering.run(lambda i, j: next(said))
    pair = ordering.ask()
    assert [row[2] for row in ordering.answers] == [False, None] and ordering.n_answers == 2
    ordering.run(lambda i, j: (True, "ann"))  # goes on with the question that was open
    assert ordering.answers[2] == (*pair, True, "ann") and ordering.n_answers == 10


def test_after_answers_from_elsewhere_it_asks_what_is_least_certain():
    """Records 0 to 3 are one cluster by all pairs, 4 to 7 too; between them one yes, one no. A third pair is asked."""
    rows = [(i, j, "yes") for group in (range(4), range(4, 8)) for i, j in combinations(group, 2)]
    ordering = cr.beyond.NoisyOrdering(np.zeros((8, 8)), rng=1)
    ordering.take(cr.beyond.Answers.read([*rows, (0, 4, "yes"), (1, 5, "no")]))
    low, high = sorted(ordering.ask())
    assert low < 4 <= high and (low, high) not in {(0, 4), (1, 5)}


def test_equal_similarities_have_equal_odds():
    ordering = cr.beyond.NoisyOrdering([0.5, 0.5, 0.9, 0.5, 0.5, 0.5], rng=1)
    by_similarity = {0.5: {round(ordering._e[p], 12) for p in combinations(range(4), 2) if p != (0, 3)}}
    assert len(by_similarity[0.5]) == 1 and ordering._e[0, 3] > max(by_similarity[0.5])


@pytest.mark.parametrize(("similarity", "asks"), [(0.9, True), (0.1, False)])
def test_before_it_ends_it_asks_about_halves_that_only_answers_keep_apart(similarity, asks):
    """Two clusters of twelve, nine times "no" between them. If their records are alike, one entity may have been split
    so that these nine lie across: then it asks on. cora with gym's errors ended with two entities in halves."""
    half, other = list(range(12)), list(range(12, 24))
    w = np.full((36, 36), 0.1)
    w[:24, :24] = similarity
    w[:12, :12] = w[12:24, 12:24] = 0.9
    rows = [(*pair, "yes") for group in (half, other) for pair in combinations(group, 2)]
    rows += [(i, 12 + i, "no") for i in range(9)] + [(i, j, "no") for j in range(24, 36) for i in range(j)]
    rates = cr.beyond.ErrorRates(0.05, 0.2)
    ordering = cr.beyond.NoisyOrdering(w, errors=rates, rng=1)
    ordering.take(cr.beyond.Answers.read(rows))
    asked = ordering.ask()
    assert ordering.errors is rates  # those given are kept
    assert np.bincount(ordering.clusters)[:2].tolist() == [12, 12]
    assert (asked is not None and {record < 12 for record in asked} == {True, False}) == asks


def test_the_correlation_stays_within_its_limits():
    """The estimate is above one where large clusters differ most."""
    labels = np.repeat(np.arange(5), [10, 10, 2, 2, 2])
    between = np.full((5, 5), 0.1)
    between[0, 1] = between[1, 0] = 0.6
    np.fill_diagonal(between, 0.9)
    ordering, estimates = cr.beyond.NoisyOrdering(between[np.ix_(labels, labels)], rng=1), []
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, bool(labels[pair[0]] == labels[pair[1]]))
        estimates.append(correlation(ordering._e, ordering.clusters))
        assert CORRELATIONS[0] <= ordering.correlation <= CORRELATIONS[1]
    assert max(estimates) > 1.05
    np.testing.assert_array_equal(ordering.clusters, labels)


def test_with_errors_it_does_not_lag_behind_edge_ordering():
    """On average over six crowds it is at no number of answers behind by more than 0.05. On a single crowd it may be:
    one answer that joins two large clusters changes F1 by more."""
    lags = []
    for seed in range(20, 26):
        data = invented([20, 14, 9, 6, 4], seed)
        crowd = erring(data.labels, 0.05, 0.2, seed)
        edge, noisy = (
            replay(made(data.similarity, rng=seed), crowd, data.labels)["F1"].reindex(range(400), method="ffill")
            for made in (cr.EdgeOrdering, cr.beyond.NoisyOrdering)
        )
        lags.append(edge - noisy)
    assert np.mean(lags, axis=0).max() <= 0.05


def test_on_cora_a_perfect_crowd_is_asked_little_more_than_by_edge_ordering():
    """Until F1 reaches 0.95, as the docstring states: 0.65 to 1.25 times as many questions on 21 samples."""
    data = cr.datasets.cora()
    drawn = np.random.default_rng(1).choice(data.n, 300, replace=False)
    similarity, labels = np.asarray(data.similarity)[np.ix_(drawn, drawn)], data.labels[drawn]
    crowd = cr.Truth(labels)
    run = cr.edge_ordering(similarity, crowd, rng=1)
    precision, recall = run.precision(labels), run.recall(labels)
    reached = int(np.argmax(2 * precision * recall >= 0.95 * (precision + recall).clip(1e-9)))
    assert f1(cr.beyond.NoisyOrdering(similarity, rng=1).run(crowd, int(1.25 * reached)), labels) >= 0.95


# --- clusters from answers that exist already -------------------------------------------------------------------------


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
    # the former, "yes" was taken for an error ever more often: for seed 2 about twice as often as it is, and for seed
    # 17 until all records were alone.
    labels = np.repeat(np.arange(30), 2)
    for seed in (2, 17):
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


@pytest.mark.parametrize(("records", "votes"), [(10, 1), (12, 3)])
def test_of_noise_nothing_is_sure(records, votes):
    """Coin flips are explained as well by a crowd that sees nothing. Clusters are copies that cannot be changed."""
    rng = np.random.default_rng(1)
    rows = [(i, j, bool(rng.random() < 0.5)) for i, j in combinations(range(records), 2) for _ in range(votes)]
    result = cr.beyond.resolve(rows, rng=1)
    assert result.given_others.max() < 0.7
    for array in (result.clusters, result.given_others):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_two_yes_do_not_outweigh_a_hundred_no():
    # 15 records, 102 pairs; two of them said to match.
    rows = [(i, j, at in (5, 70)) for at, (i, j) in enumerate(list(combinations(range(15), 2))[:102])]
    assert np.bincount(cr.beyond.resolve(rows, rng=1).clusters).max() <= 2 + 1


def test_where_answers_suffice_they_are_believed():
    """Forty pairs of 200 records with five yes each, and 400 no about random others: no contradiction, no similarity.

    The clusters are right. How well a record of a pair is said to fit was 0.80 at least: a *no* rarely says much about
    two records that nobody would have taken for one.
    """
    rng = np.random.default_rng(0)
    pairs = [(2 * k, 2 * k + 1) for k in range(40)]
    others = {tuple(sorted(rng.choice(200, 2, replace=False).tolist())) for _ in range(500)} - set(pairs)
    apart = rng.permutation(sorted(others))[:400].tolist()
    rows = [(i, j, "yes") for i, j in pairs for _ in range(5)] + [(i, j, "no") for i, j in apart]
    result = cr.beyond.resolve(rows, n=200, rng=1)
    np.testing.assert_array_equal(result.clusters, np.append(np.repeat(np.arange(40), 2), np.arange(40, 160)))
    assert result.given_others[:80].min() > 0.75
