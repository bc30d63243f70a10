"""Noisy queries: what the constants require, exact recovery where they allow it, and none where they do not."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import crowder as cr
from crowder.beyond.noisy_queries import NoisyQueries
from crowder.beyond.noisy_query_counts import least_records, published_counts

#: Records and clusters of gym, allsports and cora, and the largest cluster.
DATA = {"gym": (94, 12, 15), "allsports": (200, 64, 5), "cora": (1879, 191, 236)}


def drawn(n, seed):
    """A similarity that is independent of the labels."""
    return np.random.default_rng(seed).random(n * (n - 1) // 2)


def exactly(clusters, labels):
    return cr.Resolution([], [], clusters).clusters.tolist() == cr.Resolution([], [], labels).clusters.tolist()


@pytest.mark.parametrize("error", [0, 0.05, 0.1, 0.2, 0.45])
@pytest.mark.parametrize("name", DATA)
def test_the_counts_in_decimals_of_fifty_digits(name, error):
    """A second computation: fractions for the constants, and the logarithm of the decimal module."""
    getcontext().prec = 50
    n, k, _ = DATA[name]
    gap = (1 - 2 * Fraction(str(error))) ** 2
    logarithm = Decimal(n).ln()

    def times_log(fraction):
        return math.ceil(Decimal(fraction.numerator) / Decimal(fraction.denominator) * logarithm)

    votes = times_log(16 / gap)
    expected = (votes, times_log(64 * k**2 / gap**2), n * k * votes, math.comb(n, 2))
    assert published_counts(n, k, error) == expected


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("error", [0, 0.05, 0.1, 0.2])
def test_at_the_sizes_of_our_data_the_published_constants_save_next_to_nothing(name, error):
    """No cluster of gym and allsports is as large as the number of votes, even if no answer is wrong. One or two of
    cora's are, if at most one answer in ten is wrong, but the bound is above all pairs. The sample exceeds the records
    even with the constant 1 instead of 64."""
    n, k, largest = DATA[name]
    counts = published_counts(n, k, error)
    assert (counts.votes > largest) == (name != "cora" or error > 0.1)
    assert counts.bound > counts.pairs and published_counts(n, k, error, sample=1).sample > n


@pytest.mark.parametrize("error", [0.05, 0.1, 0.2])
def test_what_the_constants_are_for(error):
    """The probability of a wrong majority against n^-8, exactly; and the expected neighbours in the sample."""
    n, k = 200, 64
    counts = published_counts(n, k, error)
    wrong = binom.sf(math.ceil(counts.votes / 2) - 1, counts.votes, error)
    assert wrong <= math.exp(-2 * counts.votes * (0.5 - error) ** 2) <= n**-8.0
    spread = math.sqrt(counts.sample * math.log(n))
    assert (1 - 2 * error) * counts.sample / k == pytest.approx(8 / (1 - 2 * error) * spread, rel=1e-4)


@pytest.mark.parametrize("k", [2, 12, 64, 190])
@pytest.mark.parametrize("error", [0, 0.1])
def test_from_how_many_records_on_the_constants_guarantee_a_saving(k, error):
    """The definition at the number found and one below it; it grows at least in proportion to k."""
    bound, sample = least_records(k, error)
    for n, saves in ((bound, True), (bound - 1, False)):
        assert (published_counts(n, k, error).bound < math.comb(n, 2)) is saves
    for n, saves in ((sample, True), (sample - 1, False)):
        assert (published_counts(n, k, error).sample < n) is saves
    assert bound > 2 * 16 * k and sample > 64 * k**2


@pytest.mark.parametrize("k", [None, 12])
def test_the_published_constants_ask_about_every_pair_of_94_records(k):
    """The size of gym, with a perfect crowd: 73 votes are needed, and no cluster has as many records."""
    labels = np.random.default_rng(1).integers(0, 12, 94)
    strategy = NoisyQueries(drawn(94, 1), error=0, k=k, rng=1)
    assert exactly(strategy.run(cr.Truth(labels)), labels)
    assert strategy.threshold == 73 and strategy.n_answers == 94 * 93 // 2 and strategy.active == []


@pytest.mark.parametrize("n", [10, 40, 100])
def test_the_questions_about_a_single_cluster_with_a_perfect_crowd(n):
    """s records all pairs of which are asked, and then the majority of s, which is reached after s//2 + 1 answers."""
    strategy = NoisyQueries(drawn(n, n), error=0, votes=2, rng=1)
    s = math.ceil(2 * math.log(n))
    assert strategy.run(cr.Truth([0] * n)).tolist() == [0] * n
    assert strategy.threshold == s and strategy.n_answers == s * (s - 1) // 2 + (n - s) * (s // 2 + 1)


def test_the_questions_about_two_clusters_that_come_one_after_the_other():
    """The first cluster as above. The second is first denied by the majority of s members, which takes s - s//2
    answers, and compared with the sample; once it is active, it is compared first, because it is more similar."""
    labels = np.repeat([0, 1], [20, 15])
    square = np.where(labels[:, None] == labels, 0.6, 0.0) + 0.01 * (labels == 0) * (labels == 0)[:, None]
    strategy = NoisyQueries(square, error=0, votes=2, rng=1)
    assert exactly(strategy.run(cr.Truth(labels)), labels)
    s = math.ceil(2 * math.log(35))
    first = s * (s - 1) // 2 + (20 - s) * (s // 2 + 1)
    second = s * (s - s // 2) + s * (s - 1) // 2 + (15 - s) * (s // 2 + 1)
    assert strategy.n_answers == first + second


def test_half_of_the_votes_is_no_majority():
    """Four votes decide, and about record 7 the first two are "same", the others "different": it stays alone."""
    said = iter([True, True, False, False])
    similarity = 1 - np.arange(28) / 100  # by falling pairs (0, 1), (0, 2), ...: record 7 comes last
    strategy = NoisyQueries(similarity, error=0, votes=1.9, rng=1)
    assert strategy.threshold == 4
    clusters = strategy.run(lambda i, j: next(said) if 7 in (i, j) else True)
    assert clusters.tolist() == [0] * 7 + [1] and next(said, None) is None


def test_a_record_of_which_nobody_is_sure_is_not_taken_into_a_cluster():
    """Record 0 comes first, and is in the sample when a cluster of four records is found there."""
    strategy = NoisyQueries(1 - np.arange(28) / 100, error=0, votes=1.9, rng=1)
    assert strategy.run(lambda i, j: True if i and j else None).tolist() == [0] + [1] * 7
    assert strategy.answers[0][2] is None and len(strategy.active) == 1


def test_large_clusters_are_recovered_exactly_from_answers_that_err():
    """Three clusters of 80 records; a tenth of the answers is wrong and stays so. A quarter of the published constant
    gives 35 votes, a majority of which is wrong less than once in a million times: 20 of 20 runs are exact."""
    labels = np.repeat(np.arange(3), 80)
    asked = []
    for seed in range(20):
        strategy = NoisyQueries(drawn(240, seed), error=0.1, votes=4, rng=seed)
        crowd = cr.Faulty(cr.Truth(labels), 0.1, rng=seed, persistent=True)
        assert exactly(strategy.run(crowd), labels)
        asked.append(strategy.n_answers)
    assert max(asked) < 0.5 * math.comb(240, 2)


def test_with_too_few_votes_or_too_many_errors_the_guarantee_is_lost():
    """As many answers, three times as wrong; and votes of three members. Each fails in most of ten runs."""
    labels = np.repeat(np.arange(3), 40)
    for settings, error in (({"error": 0.1, "votes": 2}, 0.35), ({"error": 0.1, "votes": 0.4}, 0.1)):
        failed = 0
        for seed in range(10):
            crowd = cr.Faulty(cr.Truth(labels), error, rng=seed, persistent=True)
            failed += not exactly(NoisyQueries(drawn(120, seed), rng=seed, **settings).run(crowd), labels)
        assert failed > 5


def test_no_pair_is_asked_twice_and_clusters_can_be_read_at_any_time():
    labels = np.repeat(np.arange(3), [20, 10, 2])
    strategy = NoisyQueries(drawn(32, 3), error=0.1, votes=1, rng=3)
    crowd = cr.Faulty(cr.Truth(labels), 0.1, rng=3, persistent=True)
    assert strategy.clusters.tolist() == list(range(32))
    for budget in range(0, 500, 25):
        assert strategy.run(crowd, budget).shape == (32,) and strategy.n_answers <= budget
    pairs = [frozenset(answer[:2]) for answer in strategy.answers]
    assert len(pairs) == len(set(pairs)) and strategy.ask() is None


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_ask(n):
    strategy = NoisyQueries(np.zeros((n, n)), rng=1)
    assert strategy.ask() is None and strategy.clusters.tolist() == [0] * n


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"error": 0.5}, "error must be below 0.5"),
        ({"error": -1}, "error must be in"),
        ({"votes": 0}, "votes must be a positive number"),
        ({"sample": [1, 2]}, "sample must be a positive number"),
        ({"k": 0}, "k must be at least 1"),
        ({"rng": None}, "pass rng="),
    ],
)
def test_wrong_settings_are_named(wrong, error):
    with pytest.raises(ValueError, match=error):
        NoisyQueries([0.5, 0.4, 0.3], **({"rng": 1} | wrong))
