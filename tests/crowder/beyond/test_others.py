"""The strategies that noisy ordering is compared with: each against a plain form of it, and with a crowd that errs."""

from itertools import combinations
from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import clusterings, components
from reference import ask_in_order, edge_order

import crowder as cr
from crowder.beyond import edge_then_noisy, hybrid_ordering, member_votes, most_similar_once
from crowder.beyond.errors import PRIOR
from crowder.beyond.others import MemberVotes

ALL = [hybrid_ordering, member_votes, edge_then_noisy, most_similar_once]


class Log:
    """A crowd that errs about one pair in six, always the same ones, and knows which pairs it was asked about."""

    def __init__(self, labels, seed):
        self.crowd, self.pairs = cr.Faulty(cr.Truth(labels), 1 / 6, rng=seed, persistent=True), []

    def __call__(self, i, j):
        self.pairs.append((i, j))
        return self.crowd(i, j)


def drawn(seed, n=9, k=4):
    """Labels of k clusters at most, and similarities without ties."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n).tolist(), rng.random(n * (n - 1) // 2)


def square(w, n):
    found = [[0.0] * n for _ in range(n)]
    for (i, j), value in zip(combinations(range(n), 2), w.tolist(), strict=True):
        found[i][j] = found[j][i] = value
    return found


def as_sets(pairs):
    return [frozenset(pair) for pair in pairs]


@pytest.mark.parametrize("strategy", ALL)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_true_answers_lead_to_the_truth(strategy, labels, seed):
    """From every record alone; whatever the similarities, and for a single record, too."""
    w = np.random.default_rng(seed).random(len(labels) * (len(labels) - 1) // 2).round(1)
    first, *_, last = [*strategy(w, cr.Truth(labels), rng=seed)] * 2
    assert first.tolist() == list(range(len(labels)))
    assert cr.Resolution([], [], last).clusters.tolist() == cr.Resolution([], [], labels).clusters.tolist()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("theta", [0.2, 0.3, 0.5])
def test_hybrid_ordering_places_records_and_asks_about_the_rest(theta, seed):
    labels, w = drawn(seed, k=9)
    n, log_of, clusters, placed = len(labels), Log(labels, seed), [], []
    *_, found = hybrid_ordering(w, log_of, theta=theta, rng=seed)
    w = square(w, n)
    for v in sorted(range(n), key=lambda v: -sum(w[v])):
        near = [c for c in clusters if sum(w[v][u] for u in c) / len(c) >= theta]
        near.sort(key=lambda c: -sum(w[v][u] for u in c))
        for cluster in near[: ceil(log2(n))]:
            placed.append((v, max(cluster, key=lambda u: w[v][u])))
            if log_of.crowd(*placed[-1]):
                cluster.append(v)
                break
        else:
            clusters.append([v])
    answers = ask_in_order([*placed, *edge_order(w, w)], n, log_of.crowd)  # no two are equally similar
    assert as_sets(log_of.pairs) == as_sets(answers)
    joined = components(range(n), [pair for pair, same in answers.items() if same])
    assert sorted(map(sorted, joined)) == [np.flatnonzero(found == c).tolist() for c in range(len(joined))]


@pytest.mark.parametrize("votes", [1, 5])
def test_member_votes_are_edge_ordering_and_two_second_looks(votes):
    labels, w = drawn(3)
    log_of, crowd = Log(labels, 3), Log(labels, 3)
    *_, before, once, twice = member_votes(w, log_of, votes=votes, rng=5)
    ordering, rng = cr.EdgeOrdering(w, rng=5), np.random.default_rng(5)
    members = MemberVotes(crowd, votes, ordering, early=False)
    assert before.tolist() == ordering.run(members).clusters.tolist()
    for found in (once, twice):
        before = members.second_look(before, rng=rng)
        assert found.tolist() == before.tolist()
    assert log_of.pairs == crowd.pairs


def test_noisy_ordering_starts_where_edge_ordering_ends():
    labels, w = drawn(1, n=12)
    log_of = Log(labels, 1)
    yielded = list(edge_then_noisy(w, log_of, rng=5))
    edge, noisy = cr.edge_ordering(w, log_of.crowd, rng=5), cr.beyond.NoisyOrdering(w, rng=5)
    noisy.take(cr.beyond.Answers.read([*zip(*edge.queries.T.tolist(), edge.answers.tolist(), strict=True)]))
    assert yielded[edge.n_queries].tolist() == edge.clusters.tolist()
    assert yielded[edge.n_queries + 1].tolist() == noisy.clusters.tolist()
    noisy.run(log_of.crowd)
    assert [(i, j) for i, j, *_ in noisy.answers] == log_of.pairs
    assert yielded[-1].tolist() == noisy.clusters.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("unasked", [-0.05, -1.0])
def test_most_similar_once_has_the_likeliest_clusters(unasked, seed):
    """Of six records, after each number of answers: the best of all 203 clusterings, under rates learned twice."""
    labels, w = drawn(seed, n=6)
    log_of, n = Log(labels, seed), 6
    _, *yielded = most_similar_once(w, log_of, unasked=unasked, rng=seed)
    pairs = edge_order(square(w, n), square(w, n))
    assert as_sets(log_of.pairs) == as_sets(pairs) and len(yielded) == 6  # after 10, ..., 15 answers

    def fit(clusters, said, false_yes, false_no):
        """The sum of evidence within clusters."""
        value = {True: log((1 - false_no) / false_yes), False: log(false_no / (1 - false_yes)), None: unasked}
        return sum(value[said.get(pair)] for pair in pairs if clusters[pair[0]] == clusters[pair[1]])

    for k, found in enumerate(yielded, start=10):
        said = {pair: log_of.crowd(*pair) for pair in pairs[:k]}
        prior = {True: PRIOR.false_no, False: PRIOR.false_yes}  # of matches and of non-matches: wrong, right
        rates = [prior[same][0] / sum(prior[same]) for same in (False, True)]
        for _ in range(2):
            used, best = rates, max(clusterings(n), key=lambda c: fit(c, said, *rates))
            together = {pair: best[pair[0]] == best[pair[1]] for pair in said}
            rates = [
                (sum(said[p] != same for p in said if together[p] == same) + prior[same][0])
                / (sum(together[p] == same for p in said) + sum(prior[same]))
                for same in (False, True)
            ]
            rates = [min(max(rate, 1e-4), 0.49) for rate in rates]
        assert fit(found, said, *used) == pytest.approx(fit(best, said, *used))
