"""Answers as evidence: the table of answers, the model of errors, what is learned, and what does not fit."""

from itertools import product
from math import log

import numpy as np
import pandas as pd
import pytest

from crowder.beyond.answer_fit import Check, Fit
from crowder.beyond.answer_model import (
    PRIOR,
    ErrorRates,
    _learn,
    _patterns,
    _Rates,
    _Votes,
    dawid_skene,
    learn_errors,
)
from crowder.beyond.answers import Answers

# --- the table --------------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {"left": [0, 2, 1], "right": [1, 1, 0], "answer": ["Yes", "no ", "UNSURE"], "worker": ["ann", "ann", "bob"]}
)


def test_a_data_frame_and_tuples_give_the_same_table():
    tuples = Answers.read([(0, 1, True, "ann"), (2, 1, np.False_, "ann"), (1, 0, None, "bob")])
    for answers in (Answers.read(FRAME), tuples):
        assert (len(answers), answers.n, answers.n_unsure, answers.workers) == (3, 3, 1, ["ann", "bob"])
        assert answers.pairs.tolist() == [[0, 1], [1, 2]] and answers.pairs.dtype == np.int64
        assert (answers.pair.tolist(), answers.yes.tolist(), answers.worker.tolist()) == ([0, 1], [True, False], [0, 0])


@pytest.mark.parametrize("said", [True, "yes", "YES", 1, 1.0, np.True_, np.int64(1), "1", "y", "true"])
def test_every_way_to_say_yes(said):
    answers = Answers()
    answers.add(4, 2, said)
    assert answers.yes.tolist() == [True] and answers.pairs.tolist() == [[2, 4]] and answers.workers == [None]


def test_contradictions_and_repetitions_are_kept():
    answers = Answers(2)
    for said in (1, 0, 1, None, 1):
        answers.add(0, 1, said, "ann")
    assert answers.yes.tolist() == [True, False, True, True] and len(answers) == 5 and len(answers.pairs) == 1


def test_a_refused_answer_changes_nothing():
    answers = Answers(3)
    answers.add(0, 1, "yes", "ann")
    for bad in ((0, 3, "yes", "bob"), (1, 1, "no", "bob"), (0, 2, "perhaps", "bob"), (0, 2, "no", ["bob"]),
                (-1, 2, "no", "bob"), (0.0, 2, "no", "bob"), (0, 2, "no", float("nan"))):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            answers.add(*bad)
        assert (len(answers), answers.pairs.tolist(), answers.workers) == (1, [[0, 1]], ["ann"])


@pytest.mark.parametrize("blank", [None, float("nan"), pd.NA, pd.NaT, " "])
@pytest.mark.parametrize("column", ["left", "answer", "worker"])
def test_a_missing_cell_is_named(column, blank):
    frame = FRAME.astype(object)
    frame.at[1, column] = blank
    with pytest.raises(ValueError, match=rf"row 1, .*: {column} is missing"):
        Answers.read(frame)


def test_names_of_records():
    # Names in the order of ids, in a table and in tuples; 1 and 1.0 are one name.
    frame = pd.DataFrame({"left": ["r9", "r1"], "right": ["r1", "r5"], "answer": [1, 0]})
    answers = Answers.read(frame, ids=["r1", "r5", "r9", "r11"])
    assert answers.pairs.tolist() == [[0, 2], [0, 1]] and answers.n == 4
    assert Answers.read([(1, 3, True), (2.0, 1, False)], ids=[1, 2, 3]).pairs.tolist() == [[0, 2], [0, 1]]


def test_numbers_that_a_missing_cell_made_floats():
    frame = pd.DataFrame({"left": [0, None], "right": [1, 2], "answer": ["yes", "no"]})
    with pytest.raises(ValueError, match=r"row 1, \(nan, 2, 'no'\): left is missing; fill it in"):
        Answers.read(frame)
    assert Answers.read(frame[:1]).pairs.tolist() == [[0, 1]]
    assert Answers.read(np.array([[0, 1, 1], [1, 2, 0]])).pairs.tolist() == [[0, 1], [1, 2]]  # rows of an array


def test_no_answers():
    answers = Answers()
    assert (len(answers), answers.n, answers.pairs.shape, answers.yes.dtype) == (0, 0, (0, 2), bool)
    assert len(ErrorRates(0.01, 0.1).evidence(answers)) == 0
    assert learn_errors(answers, []).false_yes == pytest.approx(0.5 / 25.05)  # nothing but the prior
    assert ErrorRates(0.01, 0.1).surprise(answers, []).rates_fit


# --- evidence ---------------------------------------------------------------------------------------------------------

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
    """No vote is no evidence; one vote counts both kinds of errors; many tell the look, and no more."""
    e, f, (a, b) = 0.03, 0.2, (0.15, 0.02)
    for rates, u, v in ((ErrorRates(e, f, vote=(a, b)), 0, 0), (RATES, 0.1, 0.25)):
        assert rates.of_votes([], []) == pytest.approx(0)
        single = [looks @ np.array([1 - b, a, 0.4]) for looks in ([1 - f - v, f, v], [e, 1 - e - u, u])]
        assert rates.of_votes([True], ["eve"]) == pytest.approx(log(single[0] / single[1]))
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
        for w in rng.choice(len(workers), votes, replace=False):
            answers.add(0, k + 1, bool(rng.random() < by_look(rates, workers[w])[looks[k]]), workers[w])
    return answers, same


def objective(answers, same, rates, prior_votes):
    """What EM maximises, from the definitions."""
    total = 0.0
    for k in range(len(same)):
        mine = answers.pair == k
        names = [answers.workers[w] for w in answers.worker[mine]]
        match, non_match = enumerated(answers.yes[mine], names, rates)
        total += same[k] * log(match) + (1 - same[k]) * log(non_match)
    for found, (same_, different), unclear in zip(
        chances(rates), (PRIOR.false_no[::-1], PRIOR.false_yes), [PRIOR.unclear] * 2, strict=True
    ):
        total += np.dot(np.log(found), [same_, different, unclear])
    priors = [(rates.unclear_yes, PRIOR.unclear_yes)]
    for two in rates.workers.values() if rates.workers else [rates.vote]:
        priors += list(zip(two, prior_votes, strict=True))
    return total + sum(alpha * log(x) + beta * log(1 - x) for x, (alpha, beta) in priors)


LOOKS = np.array(
    [*np.transpose([PRIOR.false_no[::-1], PRIOR.false_yes]), [PRIOR.unclear] * 2]
)  # pseudo-counts of matches and non-matches


def test_every_round_of_em_increases_what_it_maximises():
    rng = np.random.default_rng(5)
    answers, same = crowd(rng, 120, ["ann", "bob", "eve"], RATES, 3)
    soft = np.where(same, 0.9, 0.2)
    votes = (PRIOR.vote_yes, PRIOR.vote_no)
    one = Answers.read([(*answers.pairs[k].tolist(), bool(y)) for k, y in zip(answers.pair, answers.yes, strict=True)])
    found = [objective(one, soft, learn_errors(one, soft, rounds=k), votes) for k in range(1, 30)]
    assert np.diff(found).min() > -1e-9 and found[-1] - found[0] > 0.1
    # with workers: the second fit, whose prior is the common rate
    rates = _Rates(np.array([[0.8, 0.1], [0.1, 0.8], [0.1, 0.1]]), np.full((3, 2), 0.1), 0.5)
    data = _Votes(answers.pair, answers.yes, answers.worker, np.ones(len(answers.yes)))
    prior = np.array([[1.0, 9.0], [2.0, 8.0]])
    found = []
    for _ in range(30):
        rates = _learn(data, np.array([soft, 1 - soft]), rates, LOOKS, prior, PRIOR.unclear_yes, 1)
        (_, e), (f, _), (v, u) = rates.looks
        workers = dict(zip(answers.workers, map(tuple, rates.vote), strict=True))
        found.append(objective(answers, soft, ErrorRates(e, f, workers, (0.1, 0.1), (u, v), rates.unclear_yes), prior))
    assert np.diff(found).min() > -1e-9 and found[-1] - found[0] > 0.1


def test_joining_pairs_of_equal_votes_changes_nothing():
    """The first fit sees how many pairs have which votes; the same rounds on all votes give the same rates."""
    rng = np.random.default_rng(6)
    answers, same = crowd(rng, 200, ["ann", "bob", "eve"], RATES, 3)
    soft = np.where(same, 0.8, 0.1)
    rates = _Rates(np.array([[0.8, 0.1], [0.1, 0.8], [0.1, 0.1]]), np.array([[0.1, 0.2]]), 0.5)
    start = rates, LOOKS, np.full((2, 2), 1.0), (1.0, 1.0), 20
    each = _Votes(answers.pair, answers.yes, np.zeros_like(answers.worker), np.ones(len(answers.yes)))
    joined, single = _learn(*_patterns(answers, soft), *start), _learn(each, np.array([soft, 1 - soft]), *start)
    for one, two in zip(joined, single, strict=True):
        assert one == pytest.approx(two, abs=1e-12)


def test_planted_rates_and_workers_are_recovered():
    """2,000 pairs, 8 votes each; within four standard errors of a count with the truth known, which is a little less
    than that of the estimate."""
    rng = np.random.default_rng(7)
    names = list("abcdefghij")
    planted = {name: (0.02 + 0.03 * k, 0.3 - 0.025 * k) for k, name in enumerate(names)}
    rates = ErrorRates(0.04, 0.15, planted)
    answers, same = crowd(rng, 2000, names, rates, 8)
    learned = learn_errors(answers, same)

    def near(found, true, n):
        return abs(found - true) < 4 * np.sqrt(true * (1 - true) / n)

    assert near(learned.false_yes, 0.04, 1400) and near(learned.false_no, 0.15, 600)
    looks_same = 600 * 0.85 + 1400 * 0.04
    for name, (a, b) in planted.items():
        assert near(learned.workers[name][0], a, 0.8 * (2000 - looks_same)), name
        assert near(learned.workers[name][1], b, 0.8 * looks_same), name


def test_planted_unclear_pairs_are_recovered():
    """As above, with one rate for all; 1,050 non-matches and 450 matches, a tenth and a quarter of them unclear."""
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
    again = learn_errors(answers, same, before=learned)
    assert again.majority(1) == pytest.approx(learned.majority(1), rel=0.01)


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


# --- what does not fit ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted():
    """Twenty workers, one of whom guesses; most are good, and six are not."""
    rng = np.random.default_rng(11)
    names = [f"w{k}" for k in range(20)]
    rates = {name: (0.02, 0.05) if k < 13 else (0.15, 0.2) for k, name in enumerate(names)} | {"w19": (0.49, 0.49)}
    return (*crowd(rng, 1500, names, ErrorRates(0.02, 0.12, rates), 3), rates)


def test_learned_rates_fit_and_workers_differ(planted):
    answers, same, _ = planted
    fit = learn_errors(answers, same).surprise(answers, same)
    assert fit.rates_fit and fit.workers_differ and fit.uninformative == ["w19"] and fit.gain > 100
    assert "rates fit\nworkers differ" in str(fit) and "no information in the answers of w19" in str(fit)


def test_who_contradicts_everybody_is_named():
    """Five workers, of whom one says the opposite and one always yes: the first knows as much as the others do."""
    names = ["ann", "bob", "cem", "eve", "yes"]
    rates = {name: (0.05, 0.1) for name in names[:3]} | {"eve": (0.05, 0.1), "yes": (0.49, 0.1)}
    answers, same = crowd(np.random.default_rng(16), 400, names, ErrorRates(1e-4, 1e-4, rates), 5)
    rows = zip(answers.pairs[answers.pair].tolist(), answers.yes.tolist(), answers.worker.tolist(), strict=True)
    said = {"eve": lambda yes: not yes, "yes": lambda yes: True}
    told = [(i, j, said.get(answers.workers[w], bool)(yes), answers.workers[w]) for (i, j), yes, w in rows]
    answers = Answers.read(told)
    fit = learn_errors(answers, same).surprise(answers, same)
    assert fit.contrary == ["eve"] and fit.uninformative == ["yes"]
    assert "the answers of eve contradict those of the others; reverse them" in str(fit)
    assert "no information in the answers of yes; leave them out" in str(fit)


def test_a_few_answers_do_not_say_that_rates_fit():
    rates, pairs = ErrorRates(0.01, 0.1), range(1, 30)
    for more, says in ((0, "too few answers to tell whether rates fit"), (1, "rates fit")):
        answers = Answers.read([(0, k, False) for k in (*pairs, *[30] * more)])
        assert str(rates.surprise(answers, [0] * (29 + more))) == says


def shuffled(answers, seed):
    """The same answers with the column of workers shuffled."""
    worker = np.random.default_rng(seed).permutation(answers.worker)
    rows = zip(answers.pairs[answers.pair].tolist(), answers.yes.tolist(), worker, strict=True)
    return Answers.read([(i, j, said, answers.workers[w]) for (i, j), said, w in rows])


def test_shuffled_workers_do_not_differ(planted):
    """Ten shuffles: at a p-value of 0.001, one of them would be called different in one of a hundred tests."""
    answers, same, rates = planted
    for seed in range(10):
        mixed = shuffled(answers, seed)
        learned = learn_errors(mixed, same)
        fit = learned.surprise(mixed, same)
        assert not fit.workers_differ and fit.uninformative == [] and "workers do not differ" in str(fit), seed
        # with the rates that the workers had before they were shuffled
        told = ErrorRates(learned.false_yes, learned.false_no, rates, learned.vote).surprise(mixed, same)
        assert "the rates of the workers fit worse than one for all" in str(told)


def test_workers_with_few_votes_are_compared_together():
    """300 workers of whom less than one error is expected each, and ann: a chi-square of two groups."""
    names, rates = [f"w{k}" for k in range(300)], ErrorRates(0.02, 0.1, {}, (0.05, 0.1))
    answers, same = crowd(np.random.default_rng(17), 600, names, rates, 1)
    fit = rates.surprise(answers, same)
    assert max(worker.common for worker in fit.workers.values()) < 1
    assert (fit.freedom, fit.p_value, len(fit.workers)) == (0, 1.0, len(answers.workers))
    for (i, j), match in zip(answers.pairs.tolist(), same.tolist(), strict=True):
        answers.add(i, j, match, "ann")
    assert rates.surprise(answers, same).freedom == 1


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ((0.2, 0.12, (0.05, 0.08)), 'rates do not fit: "yes" on non-matches: expected'),
        ((0.02, 0.4, (0.05, 0.08)), 'rates do not fit: "no" on matches: expected'),
        ((0.02, 0.12, (0.0005, 0.0005)), "rates do not fit: pairs whose votes disagree: expected"),
    ],
)
def test_a_wrong_rate_is_named_with_what_was_seen(planted, rates, says):
    answers, same, _ = planted
    fit = ErrorRates(rates[0], rates[1], {}, rates[2]).surprise(answers, same)
    assert says in str(fit) and not fit.rates_fit


def test_a_rate_fits_within_three_standard_errors_on_either_side():
    for seen, fits in ((34, False), (35, True), (65, True), (66, False)):  # expected: 50, with a standard error of 5
        fit = Fit((Check('"no" on matches', seen, 50.0, 5.0, 100.0),), {}, 0.0, 0, 1.0, 0.0)
        assert fit.rates_fit == fits and ("rates do not fit" in str(fit)) != fits


def test_the_standard_errors_of_the_checks_are_those_of_simulations():
    """Under the true rates, the standardised numbers have mean 0 and variance 1: 300 simulations."""
    rng, names = np.random.default_rng(12), ["ann", "bob", "eve"]
    z = []
    for _ in range(300):
        answers, same = crowd(rng, 60, names, RATES, 3)
        z.append([check.z for check in RATES.surprise(answers, same).checks])
    assert np.abs(np.mean(z, axis=0)).max() < 4 / np.sqrt(300)
    assert np.std(z, axis=0) == pytest.approx([1, 1, 1], rel=0.2)


# --- Dawid and Skene --------------------------------------------------------------------------------------------------

#: Twelve pairs; eve errs often, dan has not answered all.
SAID = {"ann": "110101001101", "bob": "110100011001", "eve": "011101101001", "dan": "11-1-1-0--01"}
ROWS = [(0, k + 1, int(said[k]), name) for k in range(12) for name, said in SAID.items() if said[k] != "-"]
#: From crowd-kit 1.4.2: DawidSkene(n_iter=7, tol=-inf), P(match) of each pair.
CROWD_KIT = [0.999999975, 0.999999995, 7.6434e-05, 0.999999995, 1.5354e-05, 0.999999934, 7.6434e-05, 0.0, 0.993588705,
             0.707229728, 0.0, 0.999999995]  # fmt: skip


def naive_dawid_skene(rows, rounds):
    """The algorithm in the words of the paper: tables in dictionaries, probabilities without logarithms."""
    tasks, workers = sorted({r[1] for r in rows}), {r[3] for r in rows}
    match = {t: np.mean([r[2] for r in rows if r[1] == t]) for t in tasks}
    for _ in range(rounds):
        prior = np.mean(list(match.values()))
        table = {}
        for w, truth in product(workers, (1, 0)):
            weight = {t: match[t] if truth else 1 - match[t] for t in tasks}
            mine = [r for r in rows if r[3] == w]
            total = sum(weight[r[1]] for r in mine)
            for said in (1, 0):
                table[w, truth, said] = sum(weight[r[1]] for r in mine if r[2] == said) / total
        for t in tasks:
            chance = {
                truth: (prior if truth else 1 - prior) * np.prod([table[r[3], truth, r[2]] for r in rows if r[1] == t])
                for truth in (1, 0)
            }
            match[t] = chance[1] / (chance[0] + chance[1])
    return [match[t] for t in tasks]


def test_dawid_skene_is_what_a_naive_implementation_and_crowd_kit_give():
    found, confusion, prior = dawid_skene(Answers.read(ROWS), rounds=7)
    assert found == pytest.approx(naive_dawid_skene(ROWS, 7), abs=1e-8)
    assert found == pytest.approx(CROWD_KIT, abs=1e-8)
    assert prior == pytest.approx(np.mean(CROWD_KIT), abs=1e-8)
    assert list(confusion) == ["ann", "bob", "eve", "dan"]


@pytest.mark.filterwarnings("ignore")  # theirs
def test_dawid_skene_is_what_crowd_kit_gives_now():
    crowd_kit = pytest.importorskip("crowdkit.aggregation")
    rng = np.random.default_rng(13)
    answers, _ = crowd(rng, 100, list("abcdef"), ErrorRates(0.001, 0.001, {}, (0.2, 0.3)), 4)
    columns = {"task": answers.pair, "worker": answers.worker, "label": answers.yes.astype(int)}
    theirs = crowd_kit.DawidSkene(n_iter=20, tol=-np.inf).fit(pd.DataFrame(columns))
    ours, confusion, prior = dawid_skene(answers, rounds=20, tolerance=0)
    assert ours == pytest.approx(theirs.probas_.sort_index()[1].to_numpy(), abs=1e-7)
    assert prior == pytest.approx(theirs.priors_[1], abs=1e-7)
    for code, worker in enumerate(answers.workers):
        both = theirs.errors_.loc[code, 1][0], theirs.errors_.loc[code, 0][1]
        assert confusion[worker] == pytest.approx(both, abs=1e-6)


def test_dawid_skene_leaves_out_pairs_about_which_nobody_is_sure():
    """Ten pairs with unsure answers alone change nothing; what is known of them is the share of matches."""
    plain, unsure = Answers.read(ROWS), Answers.read(ROWS + [(1, k, None, "ann") for k in range(20, 30)])
    found, confusion, prior = dawid_skene(plain, rounds=7)
    more = dawid_skene(unsure, rounds=7)
    assert more[0][:12] == pytest.approx(found, abs=1e-12) and more[1:] == (confusion, prior)
    assert more[0][12:] == pytest.approx(dawid_skene(plain, rounds=6)[2])  # the share before the last round


def test_dawid_skene_finds_the_workers():
    rng = np.random.default_rng(14)
    rates = {name: (0.05 + 0.05 * k, 0.1 + 0.04 * k) for k, name in enumerate("abcdef")}
    answers, same = crowd(rng, 3000, list("abcdef"), ErrorRates(1e-6, 1e-6, rates), 5)
    match, confusion, prior = dawid_skene(answers)
    # No classifier beats the one that knows the rates; the learned one comes near.
    known = ErrorRates(1e-6, 1e-6, rates).evidence(answers) + log(0.3 / 0.7) > 0
    assert np.mean((match > 0.5) == same) > np.mean(known == same) - 0.01
    assert prior == pytest.approx(same.mean(), abs=0.03)
    for name, two in rates.items():
        assert confusion[name] == pytest.approx(two, abs=0.04)  # four standard errors of 750 votes at 0.1


# --- real crowds ------------------------------------------------------------------------------------------------------


def answers_of(read, votes):
    """The answers of a real crowd, so many votes a pair, and whether each pair is a match."""
    i, j = np.triu_indices(len(read.labels), 1)
    cast = read.votes[:, :votes].tolist()
    rows = [(a, b, v) for a, b, vs in zip(i.tolist(), j.tolist(), cast, strict=True) for v in vs if v == v]
    return Answers.read(rows, n=len(read.labels)), read.labels[i] == read.labels[j]


def test_single_votes_of_real_crowds(real_crowds):
    """The rates of single votes are those counted: the first votes of gym, and the answers of allsports."""
    for name, counted in (("gym", (0.051, 0.212)), ("allsports", (0.0020, 0.048))):
        answers, same = answers_of(real_crowds[name], 1)
        learned = learn_errors(answers, same)
        number = np.array([(1 - same).sum(), same.sum()])
        wrong, right = np.array([PRIOR.false_yes, PRIOR.false_no]).T  # count like so many more pairs
        expected = (counted * number + wrong) / (number + wrong + right)
        assert learned.majority(1) == pytest.approx(expected, rel=0.05), name
        assert learned.surprise(answers, same).rates_fit


def test_five_votes_of_a_real_crowd(real_crowds):
    """Counted on gym: single votes 5.2 % and 21.3 %, majorities 1.2 % and 12.5 %.

    Without unclear pairs, the model would have too many pairs whose five votes disagree; see the last line.
    """
    answers, same = answers_of(real_crowds["gym"], 5)
    learned = learn_errors(answers, same)
    assert learned.majority(1) == pytest.approx((0.052, 0.213), rel=0.03)
    assert learned.majority(5) == pytest.approx((0.012, 0.125), abs=0.01)
    assert learned.surprise(answers, same).rates_fit
    without = ErrorRates(0.010, 0.039, {}, (0.046, 0.203))  # the likeliest
    assert "rates do not fit: pairs whose votes disagree" in str(without.surprise(answers, same))
