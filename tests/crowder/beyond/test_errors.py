"""The model of errors: evidence by enumeration, and the rates that are learned."""

from itertools import product
from math import comb, gamma, log

import numpy as np
import pytest

from crowder.beyond import errors
from crowder.beyond.answers import Answers
from crowder.beyond.errors import PRIOR, ErrorRates, informative, learn_errors

RATES = ErrorRates(0.03, 0.2, {"ann": (0.05, 0.1), "bob": (0.3, 0.25)}, (0.15, 0.02), (0.1, 0.25), 0.4)


def by_look(rates, worker):
    """P("yes") of a worker to a pair that looks the same, different, unclear."""
    a, b = rates.workers.get(worker, rates.vote)
    return 1 - b, a, rates.unclear_yes


def chances(rates):
    """P(look), of a match and of a non-match, in the same order."""
    e, f, (u, v) = rates.false_yes, rates.false_no, rates.unclear
    return (1 - f - v, f, v), (e, 1 - e - u, u)


def enumerated(yes, workers, rates):
    """P(votes | match) and P(votes | non-match) by the definition: the sum over the looks, without logarithms."""
    given = []
    for looks in chances(rates):
        total = 0.0
        for look, chance in enumerate(looks):
            for said, worker in zip(yes, workers, strict=True):
                says_yes = by_look(rates, worker)[look]
                chance *= says_yes if said else 1 - says_yes
            total += chance
        given.append(total)
    return given


def test_evidence_is_what_enumeration_of_the_look_gives():
    answers, expected = Answers(), []
    for number, votes in enumerate(v for size in (1, 2, 3) for v in product([True, False], repeat=size)):
        workers = ["ann", "bob", "eve"][: len(votes)]  # of eve nothing is known
        for said, worker in zip(votes, workers, strict=True):
            answers.add(0, number + 1, said, worker)
        match, non_match = enumerated(votes, workers, RATES)
        expected.append(log(match / non_match))
        assert RATES.of_votes(votes, workers) == pytest.approx(expected[-1], abs=1e-12)
    assert RATES.evidence(answers) == pytest.approx(expected, abs=1e-12)


def test_the_limits_of_evidence():
    """No vote is no evidence; many tell the look, and no more."""
    e, f = 0.03, 0.2
    for rates, u, v in ((ErrorRates(e, f, vote=(0.15, 0.02)), 0, 0), (RATES, 0.1, 0.25)):
        assert rates.of_votes([], []) == pytest.approx(0)
        assert rates.of_votes([True] * 5000, ["eve"] * 5000) == pytest.approx(log((1 - f - v) / e))
        assert rates.of_votes([False] * 5000, ["eve"] * 5000) == pytest.approx(log(f / (1 - e - u)))
        assert rates.evidence(Answers.read([(0, 1, True)] * 5000))[0] == pytest.approx(log((1 - f - v) / e))
    divided = [True, False, False, True, False] * 1000  # two in five say "yes", as to unclear pairs
    assert RATES.of_votes(divided, ["eve"] * 5000) == pytest.approx(log(0.25 / 0.1))


def test_majorities_are_what_enumeration_gives():
    for votes in (1, 3, 5):
        wrong = [0.0, 0.0]
        for said in product([True, False], repeat=votes):
            match, non_match = enumerated(said, ["eve"] * votes, RATES)
            wrong[0] += non_match * (sum(said) > votes / 2)
            wrong[1] += match * (sum(said) < votes / 2)
        assert RATES.majority(votes) == pytest.approx(wrong)


# --- learning ---------------------------------------------------------------------------------------------------------


def crowd(rng, p, workers, rates, votes, matches=0.3):
    """Pairs (0, k), whether each is a match, and so many votes of random workers on each, by the model."""
    same = rng.random(p) < matches
    match, non_match = (rng.choice(3, p, p=looks) for looks in chances(rates))
    looks = np.where(same, match, non_match)
    answers = Answers()
    for k in range(p):
        for w in rng.choice(len(workers), votes, replace=len(workers) == 1):
            answers.add(0, k + 1, bool(rng.random() < by_look(rates, workers[w])[looks[k]]), workers[w])
    return answers, same


def objective(answers, same, rates):
    """What EM maximises with one worker, from the definitions."""
    total = 0.0
    for k in range(len(same)):
        yes = answers.yes[answers.pair == k]
        match, non_match = enumerated(yes, [None] * len(yes), rates)
        total += same[k] * log(match) + (1 - same[k]) * log(non_match)
    for found, (looks_same, different) in zip(chances(rates), (PRIOR.false_no[::-1], PRIOR.false_yes), strict=True):
        total += np.dot(np.log(found), [looks_same, different, PRIOR.unclear])
    priors = [(rates.unclear_yes, PRIOR.unclear_yes), (rates.vote[0], PRIOR.vote_yes), (rates.vote[1], PRIOR.vote_no)]
    return total + sum(alpha * log(x) + beta * log(1 - x) for x, (alpha, beta) in priors)


def test_every_round_of_em_increases_what_it_maximises(monkeypatch):
    answers, same = crowd(np.random.default_rng(5), 120, [None], RATES, 3)
    soft, found = np.where(same, 0.9, 0.2), []
    for rounds in range(1, 30):
        monkeypatch.setattr(errors, "ROUNDS", rounds)
        found.append(objective(answers, soft, learn_errors(answers, soft)))
    assert np.diff(found).min() > -1e-9 and found[-1] - found[0] > 0.1


def test_planted_unclear_pairs_are_recovered():
    """1,500 pairs, 8 votes each; within four standard errors of a count with the truth known, which is a little less
    than that of the estimate. 1,050 non-matches and 450 matches, a tenth and a quarter of them unclear."""
    rates = ErrorRates(0.03, 0.2, {}, (0.05, 0.1), (0.1, 0.25), 0.4)
    answers, same = crowd(np.random.default_rng(15), 1500, list("abcdefgh"), rates, 8)
    learned = learn_errors(answers, same)
    for found, true, n in (
        (learned.false_yes, 0.03, 1050), (learned.false_no, 0.2, 450), (learned.unclear[0], 0.1, 1050),
        (learned.unclear[1], 0.25, 450), (learned.unclear_yes, 0.4, 8 * 210), (learned.vote[0], 0.05, 8 * 1000),
        (learned.vote[1], 0.1, 8 * 280),
    ):  # fmt: skip
        assert abs(found - true) < 4 * np.sqrt(true * (1 - true) / n)


def test_impossible_looks_stay_impossible():
    """Thousands of divided votes, which only an unclear pair explains, where none is unclear: as the sum over two."""
    rates = ErrorRates(0.03, 0.2, {}, (0.05, 0.02))
    votes = [True, False] * 3000
    expected = log(0.2 / 0.97)  # 3000 ln(0.05 · 0.95) exceeds 3000 ln(0.02 · 0.98) by 2,655: it looks different
    assert rates.of_votes(votes, votes) == pytest.approx(expected)
    assert rates.evidence(Answers.read([(0, 1, vote) for vote in votes]))[0] == pytest.approx(expected)


def test_single_votes_are_stable_and_the_errors_stay_with_the_pairs():
    """Only the total rates are in such answers; ten elevenths of each go to the pairs, as `Prior` says."""
    rng = np.random.default_rng(8)
    answers, same = crowd(rng, 5000, [None], ErrorRates(0.03, 0.1, {}, (0.02, 0.1)), 1)
    learned = learn_errors(answers, same)
    seen = answers.yes[~same].mean(), (~answers.yes)[same].mean()
    assert learned.majority(1) == pytest.approx(seen, rel=0.05)
    assert 0.85 < learned.false_yes / seen[0] < 0.97 and 0.85 < learned.false_no / seen[1] < 0.98


@pytest.mark.parametrize("votes", [1, 3])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_an_uninformative_truth_does_not_break_learning(value, votes):
    """With 1/2 everywhere, matches and non-matches have the same votes; a vote is then hardly evidence."""
    answers, _ = crowd(np.random.default_rng(9), 300, ["ann", "bob", "eve"], RATES, votes)
    learned = learn_errors(answers, np.full(300, value))
    rates = np.array([learned.false_yes, learned.false_no, *learned.vote, *np.ravel(list(learned.workers.values()))])
    assert ((1e-4 <= rates) & (rates <= 0.49)).all()
    if value == 0.5:
        assert np.abs(learned.evidence(answers)).max() < 1.0


@pytest.mark.parametrize("always", [True, False])
def test_a_worker_who_always_says_the_same_is_no_evidence(always):
    """Rates above 0.49 are reduced together: neither a "yes" nor a "no" of eve's must be taken for evidence."""
    rng = np.random.default_rng(10)
    answers, same = crowd(rng, 600, ["ann", "bob", "cem"], ErrorRates(0.02, 0.1, {}, (0.05, 0.05)), 2)
    for k in range(300):
        answers.add(*answers.pairs[k].tolist(), always, "eve")
    learned = learn_errors(answers, same)
    a, b = learned.workers["eve"]
    worth = log((1 - b) / a) if always else log((1 - a) / b)
    assert (a if always else b) == 0.49 and abs(worth) < 0.1


def test_the_rates_of_an_unknown_worker_are_the_mean_over_votes():
    """Ann has cast 300 votes and eve 30, so an unknown worker is ten times as much like ann."""
    rng = np.random.default_rng(16)
    answers, same = crowd(rng, 300, ["ann"], ErrorRates(0.01, 0.01, {}, (0.02, 0.02)), 1)
    for k in range(30):
        answers.add(*answers.pairs[k].tolist(), bool(rng.random() < 0.5), "eve")
    learned = learn_errors(answers, same)
    ann, eve = np.array([learned.workers["ann"], learned.workers["eve"]])
    assert learned.vote == pytest.approx((10 * ann + eve) / 11) and abs(eve - ann).min() > 0.1
    answers.add(*answers.pairs[0].tolist(), not same[0], "bob")  # his one vote counts little beside ten of all others
    rates = learn_errors(answers, same).workers["bob"]
    assert max(rates) < 0.2 and max(rates) > max(learned.vote)


def test_without_answers_there_is_the_prior():
    assert len(ErrorRates(0.01, 0.1).evidence(Answers())) == 0
    assert learn_errors(Answers(), []).false_yes == pytest.approx(0.5 / 25.05)


# --- noise ------------------------------------------------------------------------------------------------------------


def beta(a, b):
    return gamma(a) * gamma(b) / gamma(a + b)


def test_how_likely_it_is_that_the_crowd_sees_the_clusters_by_the_definition():
    """Of a few answers, with products instead of logarithms; each of the three minima is taken on either side."""
    taken, (a, b), (c, d) = set(), PRIOR.false_no, PRIOR.false_yes
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        clusters = rng.integers(0, rng.integers(1, n + 1), n)
        pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < rng.choice([0.3, 1.0])] or [(1, 0)]
        rows = [(i, j, bool(rng.random() < (0.2, 0.5, 0.95)[seed % 3])) for i, j in pairs for _ in range(seed % 4 + 1)]
        within = [said for i, j, said in rows if clusters[i] == clusters[j]]
        across = {
            frozenset((clusters[i], clusters[j])) for i, j, said in rows if clusters[i] != clusters[j] and not said
        }
        y, Y, N, S = sum(within), sum(row[2] for row in rows), len(rows), len(across)
        records = {record for pair in pairs for record in pair}
        k = len(records)
        joined = k - len({clusters[record] for record in records})
        J, q = min(joined, y), (Y + 1) / (N + 2)
        ways = comb(len(pairs), J), comb(k, J) * max(k - J, 1) ** J
        defining = q**J * (1 - q) ** S, 1 / min(ways)
        ratio = beta(len(within) - y + a, y - J + b) / beta(a, b) * min(defining)
        ratio *= beta(Y - y + c, N - len(within) - (Y - y) - S + d) / beta(c, d) / q**Y / (1 - q) ** (N - Y)
        found = informative(Answers.read(rows), clusters)
        assert found == pytest.approx(1 / (1 + 0.2 / 0.8 / ratio))
        if abs(found - 0.5) < 0.49:  # elsewhere the other side would hardly change it
            two = (defining[0] < defining[1], ways[0] < ways[1], joined < y)
            taken |= {*enumerate(two)} if ways[0] != ways[1] and joined != y else {(0, two[0])}
    assert taken == set(product(range(3), (False, True)))
