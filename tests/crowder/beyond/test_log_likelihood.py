"""Summed evidence: the compiled summed against one that is added up anew, pair by pair, before every question."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import without_compilation

from crowder.beyond.log_likelihood import (
    ALPHA,
    FAR,
    FEW,
    GRAIN,
    RECENT,
    SETTLED,
    STALE,
    UNIT,
    Lead,
    _sort,
    absorb,
    credit,
    log_ratios,
    next_pair,
    question,
    reweigh,
    sum_evidence,
)


class Naive:
    """The same rule in plain words: components as lists of records, nothing kept from one question to the next."""

    def __init__(self, evidence, tau, by_arrival, rho):
        self.evidence, self.tau, self.by_arrival, self.rho = evidence.tolist(), tau, by_arrival, rho
        self.components = {i: [i] for i in range(len(evidence))}  # by name
        self.different, self.opened, self.newcomer = set(), set(), None

    def weight(self, a, b):
        """Evidence in nats, or None if the two are known to differ (or are one)."""
        if a == b or frozenset((a, b)) in self.different:
            return None
        terms = [self.evidence[i][j] for i in self.components[a] for j in self.components[b]]
        return sum(terms) / UNIT / (1 + self.rho * (len(terms) - 1))

    def clusters_of(self, v):
        """What v could still belong to: (log weight, cluster)."""
        prior = [0.0 if self.by_arrival else 0.5 * math.log(len(members)) for members in self.components.values()]
        weighed = [(self.weight(v, c), p, c) for (c, p) in zip(self.components, prior, strict=True) if c in self.opened]
        return [(w + p, c) for w, p, c in weighed if w is not None]

    def vain(self, v):
        """Expected number of clusters tried in vain, and the chance of the likeliest."""
        top = max([math.log(ALPHA), *(w for w, _ in self.clusters_of(v))])
        chances = sorted((math.exp(w - top) for w, _ in self.clusters_of(v) if w > top - FAR), reverse=True)
        whole = sum([math.exp(math.log(ALPHA) - top), *chances])
        sure = chances[0] / whole if chances else 0.0
        return round(GRAIN * sum(r * c / whole for r, c in enumerate(chances))), -sure

    def question(self):
        names = sorted(self.components)
        open_pairs = [(self.weight(a, b), a, b) for a in names for b in names if self.weight(a, b) is not None]
        if not open_pairs:
            return None
        most, a, b = max(open_pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
        loose = [v for v in names if v not in self.opened]
        while loose and most < self.tau:
            if not self.opened:
                self.opened.add(0 if self.by_arrival else a)
                loose = [v for v in names if v not in self.opened]
            if self.newcomer not in loose:
                self.newcomer = loose[0] if self.by_arrival else min(loose, key=lambda v: (*self.vain(v), v))
            choice = self.clusters_of(self.newcomer)
            if choice:
                return self.newcomer, max(choice, key=lambda wc: (wc[0], -wc[1]))[1]
            self.opened.add(self.newcomer)
            loose.remove(self.newcomer)
        return a, b

    def absorb(self, a, b, same):
        if not same:
            self.different.add(frozenset((a, b)))
            return
        keep, gone = sorted((a, b), key=lambda c: (-len(self.components[c]), c))
        self.components[keep] += self.components.pop(gone)
        self.opened |= {keep}
        self.opened.discard(gone)
        renamed = (frozenset(keep if c == gone else c for c in pair) for pair in self.different)
        self.different = set(renamed)


def symmetric(values, n):
    matrix = np.zeros((n, n), np.int64)
    matrix[np.triu_indices(n, 1)] = values
    return matrix + matrix.T


@given(st.integers(1, 8), st.sampled_from([-np.inf, 0.5, 2.0, np.inf]), st.sampled_from([0.0, 0.3]), st.data())
@settings(max_examples=200, deadline=None)
def test_questions_are_those_of_the_naive_version(n, tau, rho, data):
    by_arrival = data.draw(st.booleans())
    # Multiples of a quarter nat: ties abound. Now and then a pair is certain.
    quarter = st.integers(-8, 8).map(lambda k: k * UNIT // 4) | st.sampled_from([1 << 36, -(1 << 36)])
    m = n * (n - 1) // 2
    evidence = symmetric(data.draw(st.lists(quarter, min_size=m, max_size=m)), n)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    naive, summed = Naive(evidence, tau, by_arrival, rho), sum_evidence(evidence.copy())
    summed.dependence[0] = rho
    steps, ratio = np.unique(evidence, return_inverse=True)
    reweigh(summed, ratio.reshape(n, n), steps)  # with this ρ
    for _ in range(m + 1):
        code, expected = question(summed, tau, by_arrival), naive.question()
        if expected is None:
            break
        i, j = code >> 32, code & 0xFFFFFFFF
        assert (i, j) == expected
        assert question(summed, tau, by_arrival) == code  # asking again asks the same
        absorb(summed, i, j, labels[i] == labels[j])
        naive.absorb(i, j, labels[i] == labels[j])
    assert code == -1
    named = summed.name.tolist()
    assert [[a == b for a in named] for b in named] == [[a == b for a in labels] for b in labels]


def lead(pairs):
    return Lead(np.array([i << 32 | j for i, j in pairs], np.int64), np.zeros(1, np.int64), np.zeros(4))


@given(st.integers(2, 8), st.booleans(), st.data())
@settings(max_examples=100, deadline=None)
def test_edge_ordering_and_the_sums_take_turns_by_their_shares_of_matches(n, relearned, data):
    """Against shares that are counted from the list of all answers, and a walk that starts again at every question."""
    pairs = data.draw(st.permutations([(i, j) for i in range(n) for j in range(i)]))
    evidence = symmetric(data.draw(st.lists(st.integers(-3, 3), min_size=len(pairs), max_size=len(pairs))), n) * UNIT
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    naive, summed, both = Naive(evidence, 1.0, False, 0.0), sum_evidence(evidence.copy()), lead(pairs)
    of = {i: i for i in range(n)}  # the component of each record
    by_edge, by_sum, turns = [], [], set()
    for turn in range(len(pairs) + 1):
        if relearned and turn % 5 == 4:
            both.found[2:], by_sum = 0, []
        weights = [0.9**age for age in range(len(by_edge))][::-1]
        matches = sum(weight * same for weight, same in zip(weights, by_edge, strict=True))
        edge = (matches + 0.5) / (sum(weights) + 0.5) >= (sum(by_sum) + 5) / (len(by_sum) + 10)
        left = [(i, j) for i, j in pairs if naive.weight(of[i], of[j]) is not None]
        expected = (left or [None])[0] if edge else naive.question()
        code = next_pair(summed, both, 1.0, False)
        if expected is None:
            break
        i, j = code >> 32, code & 0xFFFFFFFF
        assert (i, j) == expected
        same = labels[i] == labels[j]
        turns.add(edge)
        (by_edge if edge else by_sum).append(same)
        credit(both, same)
        absorb(summed, i, j, same)
        naive.absorb(of[i], of[j], same)
        of = {v: name for name, members in naive.components.items() for v in members}
    assert code == -1 and True in turns and RECENT == 0.9


def test_shares_of_matches_by_hand():
    """Edge ordering finds one match, then all answers are no. Without evidence the sums ask about small numbers first.

    The shares are 1 and 1/2 at first. Edge ordering has 1.5/1.5 after the match, 1.4/2.4 = 0.58 after a no and
    1.31/3.21 = 0.41 after another. The sums fall from 5/10 to 5/13 = 0.38, edge ordering then to 1.229/3.939 = 0.312,
    and the sums to 5/17 = 0.29. So it is the turn of edge ordering, until updated densities count as untried.
    """
    summed, both = (
        sum_evidence(np.zeros((9, 9), np.int64)),
        lead([(i, j) for j in range(9)[::-1] for i in range(j)[::-1]]),
    )
    turns = ""
    for same in [True] + [False] * 10:
        code = next_pair(summed, both, -np.inf, False)
        turns += "s" if code == question(summed, -np.inf, False) else "e"
        credit(both, same)
        absorb(summed, code >> 32, code & 0xFFFFFFFF, same)
    assert turns == "eeesssessss" and next_pair(summed, both, -np.inf, False) != question(summed, -np.inf, False)
    both.found[2:] = 0
    assert next_pair(summed, both, -np.inf, False) == question(summed, -np.inf, False)
    assert next_pair(summed, lead([]), -np.inf, False) == question(summed, -np.inf, False)  # the sums alone


def test_evidence_is_divided_by_the_design_effect_of_its_pairs():
    """Two clusters of three have nine pairs: with ρ = 0.3 they count as 9 / (1 + 0.3 · 8) = 2.6, less than three."""
    evidence = np.full((8, 8), -50 * UNIT)
    evidence[:3, :3] = evidence[3:6, 3:6] = 100 * UNIT
    evidence[:3, 3:6] = evidence[3:6, :3] = UNIT
    evidence[6, 7] = evidence[7, 6] = 3 * UNIT
    labels = [0, 0, 0, 1, 1, 1, 2, 2]
    summed = sum_evidence(evidence.copy())
    summed.dependence[0] = 0.3
    steps, ratio = np.unique(evidence, return_inverse=True)
    reweigh(summed, ratio.reshape(8, 8), steps)
    for _ in range(5):  # two questions join each three, and then:
        code = question(summed, -np.inf, False)
        i, j = code >> 32, code & 0xFFFFFFFF
        absorb(summed, i, j, labels[i] == labels[j])
    assert {i, j} == {6, 7}


@given(st.integers(2, 8), st.data())
@settings(max_examples=100, deadline=None)
def test_rows_that_were_added_are_sums_over_records(n, data):
    """Whatever order answers come in, an open entry is the sum of the evidence across the two components."""
    m = n * (n - 1) // 2
    steps = symmetric(data.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)), n)
    first, second = (np.array(data.draw(st.lists(st.integers(-99, 99), min_size=4, max_size=4))) for _ in range(2))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    summed, ratio = sum_evidence(first[steps]), first
    for i, j in data.draw(st.permutations([(u, v) for u in range(n) for v in range(u)])):
        if data.draw(st.integers(0, 4)) == 0:  # now and then the densities are learned anew
            ratio = second
            reweigh(summed, steps, ratio)
        a, b = summed.name[i], summed.name[j]
        if a == b or summed.total[a, b] == SETTLED:
            continue
        absorb(summed, i, j, labels[i] == labels[j])
        alive = np.flatnonzero(summed.size)
        for a in alive:
            for b in alive:
                if a != b and summed.total[a, b] != SETTLED:
                    across = np.ix_(summed.name == a, summed.name == b)
                    assert summed.total[a, b] == ratio[steps][across].sum()
            if (summed.total[a] != SETTLED).any():
                most = summed.total[a].max() / UNIT
                assert summed.most[a] >= most  # a bound, or the maximum itself
                if summed.best[a] != STALE:
                    assert summed.best[a] == np.argmax(summed.total[a]) and summed.most[a] == most
    assert np.array_equal(summed.size, np.bincount(summed.name, minlength=n))


def test_log_ratios_by_hand():
    """ln 3 = 1.098612…, in multiples of 2⁻²⁰; certain where one density vanishes; none where both do."""
    got = log_ratios([[1.5, 0.5], [1.0, 0.0]], [[0.5, 1.5], [0.0, 1.0]])
    assert got.tolist() == [[round(math.log(3) * 2**20), -round(math.log(3) * 2**20)], [2**36, -(2**36)]]
    assert log_ratios([0.0], [0.0]).tolist() == [0]
    # No sum of certain pairs leaves 63 bits, or comes near the mark of the settled: 2²⁴ pairs are 4,096 by 4,096.
    assert 2**36 * 2**24 < -SETTLED < 2**63


def test_the_expected_number_of_vain_questions_by_hand():
    """Two clusters of two records and two loose records; the one whose place is surer comes first.

    Record 4 is as likely in either cluster: chances √2 : √2 : ALPHA, so 1.414/7.828 expected in vain. Record 5 has
    evidence ln 8 for the second: 8√2 : √2 : ALPHA, in vain 1.414/17.73. It is placed first, and tries that cluster.
    """
    evidence = np.zeros((6, 6), np.int64)
    for i in (2, 3):
        evidence[i, 5] = evidence[5, i] = round(math.log(8) / 2 * UNIT)
    summed = sum_evidence(evidence.copy())
    for i, j, same in [(0, 1, True), (2, 3, True), (0, 2, False)]:
        absorb(summed, i, j, same)
    assert divmod(int(question(summed, 2.1, False)), 2**32) == (5, 2)  # ln 8 = 2.08 nats are not enough for the pair
    assert divmod(int(question(summed, 2.0, False)), 2**32) == (2, 5)  # here they are, and pairs go by their first name
    assert divmod(int(question(sum_evidence(evidence.copy()), np.inf, True)), 2**32) == (1, 0)  # by arrival


@pytest.mark.parametrize(("more", "cluster"), [(0.6, 0), (0.8, 4)])
def test_a_cluster_counts_by_the_square_root_of_its_size(more, cluster):
    """Four records against one: ½ ln 4 = 0.69 nats, so 0.6 more for the single record are too few, and 0.8 enough."""
    evidence = np.zeros((6, 6), np.int64)
    evidence[4, 5] = evidence[5, 4] = round(more * UNIT)
    summed = sum_evidence(evidence)
    for i, j, same in [(0, 1, True), (0, 2, True), (0, 3, True), (0, 4, False)]:
        absorb(summed, i, j, same)
    summed.opened[4], summed.at[1] = True, 1  # differs from every cluster, so it is one
    assert divmod(int(question(summed, 2.0, False)), 2**32) == (5, cluster)
    summed.at[0] = -1
    assert divmod(int(question(summed, np.inf, True)), 2**32) == (5, 4)  # by arrival: evidence alone


@pytest.mark.parametrize(("large", "single", "newcomer"), [(0.0, math.log(2), 5), (-math.log(3), 0.0, 6)])
def test_the_size_also_counts_in_the_choice_of_the_newcomer(large, single, newcomer):
    """Clusters of four and of one; records 5 and 6 are loose, and only 6 has evidence.

    Chances are 2 : 1 : ALPHA for record 5, in vain 1/8. For record 6 they are 2 : 2 : ALPHA, in vain 2/9; or, in the
    second case, 2/3 : 1 : ALPHA, in vain 1/10. (Were sizes not counted, the first case would have 1/7 against 1/8;
    counted whole, the second would have 1/10 against 1/7.3.)
    """
    evidence = np.zeros((7, 7), np.int64)
    evidence[4, 6] = evidence[6, 4] = round(single * UNIT)
    evidence[:4, 6] = evidence[6, :4] = round(large / 4 * UNIT)
    summed = sum_evidence(evidence)
    for i, j, same in [(0, 1, True), (0, 2, True), (0, 3, True), (0, 4, False)]:
        absorb(summed, i, j, same)
    summed.opened[4], summed.at[1] = True, 2
    assert question(summed, 2.0, False) >> 32 == newcomer
    assert ALPHA == 5


def test_without_compilation_the_same_questions():
    program = """
import json, warnings
warnings.simplefilter("error")
import numpy as np, crowder as cr
data = cr.datasets.synthetic([12, 8, 4, 1], cr.dist1(0.4), rng=11)
out = {}
for form in ("auto", "pairs", "records"):
    for model in (cr.dist1(0.4), None):
        got = cr.evidence_ordering(data.similarity, cr.Truth(data.labels), model, form=form, rng=3)
        out[f"{form}-{model is None}"] = got.queries.tolist()
print(json.dumps(out))
"""
    assert len(without_compilation(program)["auto-False"]) >= 24


@pytest.mark.parametrize("size", [0, 1, FEW, FEW + 1, 200])
def test_few_numbers_and_many_are_sorted(size):
    values = np.random.default_rng(size).integers(9, size=size) / 8
    expected = np.sort(values)
    _sort(values)
    assert np.array_equal(values, expected)


def test_nothing_to_ask():
    for n in (0, 1):
        assert question(sum_evidence(np.zeros((n, n), np.int64)), 2.0, False) == -1
        assert question(sum_evidence(np.zeros((n, n), np.int64)), np.inf, True) == -1


@pytest.mark.parametrize("tau", [-np.inf, 2.0, np.inf])
def test_certain_evidence_outweighs_every_finite_sum(tau):
    """One pair that f_g alone allows beats fifty that favour another cluster at 100 to one each."""
    n = 52
    evidence = np.full((n, n), round(math.log(100) * UNIT))
    evidence[0, 51] = evidence[51, 0] = 1 << 36
    summed = sum_evidence(evidence)
    summed.total[51, 1:51] = summed.total[1:51, 51] = evidence[1, 2]
    for j in range(2, 51):
        absorb(summed, 1, j, True)
    assert sorted(divmod(int(question(summed, min(tau, 100.0), False)), 2**32)) == [0, 51]
